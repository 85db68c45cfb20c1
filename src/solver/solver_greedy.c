/* Greedy placements of any problem. What has no gaps, pins or groups is left to place_solve, which is built for many.
 * Otherwise pins are first, then each buffer in turn goes to the lowest offset where it fits, in several orders. That
 * looks at all pairs that meet: where those are too many, gaps are filled, groups live as one, all that is free lies
 * above the pins, and place_solve does the rest. */
#include "solver/solver_greedy.h"

#include "base/checked.h"
#include "place/pack.h"
#include "solver/spans.h"

#include <stdlib.h>
#include <string.h>

/* Pairs looked at, after which no further order is tried. */
static const uint64_t MOST_WORK = 20000000;
static const uint64_t MOST_WORK_A_BUFFER = 400;

enum { PLACED_A_LOOK = 1024 };

typedef struct {
    SolverCase *problem;
    const SolverBuffer *buffer;
    size_t count;
    Pack pack; /* the lives, gaps filled: item i is buffer i */
    Overlap overlap;
    GroupMember *member; /* member_count; of buffer i those of its group begin at member_at[i], placed or not */
    size_t *member_at, member_count;
    size_t *order, *found;
    Block *taken, *block; /* of each buffer, an end of 0 where it is not placed; scratch */
    uint64_t work, most_work;
} Greed;

/* ---- The lowest of all */

static void keep(SolverCase *problem, const Block *taken, const char *method) {
    uint64_t height = 0;
    for (size_t i = 0; i < problem->count; i++) {
        height = taken[i].end > height ? taken[i].end : height;
    }
    if (problem->is_placed && problem->height <= height) {
        return;
    }
    problem->is_placed = true;
    problem->height = height;
    problem->method = method;
    for (size_t i = 0; i < problem->count; i++) {
        problem->offset[i] = taken[i].offset;
    }
}

/* An end of 0 where it is beyond 64 bits. */
static Block block_at(const SolverCase *problem, size_t i, uint64_t offset) {
    uint64_t end = 0;
    bool fits = checked_add(offset, problem->buffer[i].size, &end) &&
                checked_round_up(end, problem->options->align_bytes, &end);
    return (Block){offset, fits ? end : 0};
}

/* ---- Who meets whom */

static bool spans_meet(const SolverBuffer *a, const SolverBuffer *b) {
    uint64_t low = a->first > b->first ? a->first : b->first;
    uint64_t high = a->last < b->last ? a->last : b->last;
    for (size_t i = 0, j = 0; low < high;) {
        bool in_a = i < a->gap_count && a->gap[i].first <= low;
        bool in_b = j < b->gap_count && b->gap[j].first <= low;
        if (!in_a && !in_b) {
            return true;
        }
        uint64_t end = in_a ? a->gap[i++].last : b->gap[j++].last;
        low = end > low ? end : low;
    }
    return false;
}

static int compare_blocks(const void *left, const void *right) {
    const Block *a = left;
    const Block *b = right;
    int order = (a->offset > b->offset) - (a->offset < b->offset);
    return order != 0 ? order : (a->end > b->end) - (a->end < b->end);
}

/* What is placed and may not share a byte with buffer `i`, by offset. */
static size_t list_blocks(Greed *greed, size_t i) {
    const SolverBuffer *buffer = &greed->buffer[i];
    const size_t found = overlap_find(&greed->overlap, i, greed->found);
    size_t count = 0;
    for (size_t k = 0; k < found; k++) {
        const size_t other = greed->found[k];
        const SolverBuffer *beside = &greed->buffer[other];
        bool is_apart = buffer->apart != 0 && buffer->apart == beside->apart;
        if (!is_apart && spans_meet(buffer, beside)) {
            greed->block[count++] = greed->taken[other];
        }
    }
    greed->work += found + 1;
    for (size_t k = greed->member_at[i]; k < greed->member_count && greed->member[k].apart == buffer->apart; k++) {
        const Block *taken = &greed->taken[greed->member[k].buffer];
        greed->work++;
        if (taken->end > 0) {
            greed->block[count++] = *taken;
        }
    }
    if (count > 0) {
        qsort(greed->block, count, sizeof *greed->block, compare_blocks);
    }
    return count;
}

static void list_groups(Greed *greed, Arena *scratch) {
    greed->member = arena_array(scratch, GroupMember, greed->count);
    greed->member_at = arena_array(scratch, size_t, greed->count);
    greed->member_count = group_members(greed->buffer, greed->count, greed->member);
    for (size_t k = 0, begin = 0; k < greed->member_count; k++) {
        begin = greed->member[k].apart == greed->member[begin].apart ? begin : k;
        greed->member_at[greed->member[k].buffer] = begin;
    }
}

/* ---- Orders */

/* The kinds of order, largest first. */
typedef enum {
    GREED_SIZE,
    GREED_AREA,
    GREED_LIFETIME,
    GREED_FIRST,
    GREED_COUNT,
} GreedKind;

static const char *const GREED_NAME[] = {"size", "area", "lifetime", "first"};

typedef struct {
    bool is_pinned;
    Wide key;
    size_t index;
} Keyed;

static int compare_keys(const void *left, const void *right) {
    const Keyed *a = left;
    const Keyed *b = right;
    int order = (int)b->is_pinned - (int)a->is_pinned;
    order = order != 0 ? order : (a->key < b->key) - (a->key > b->key);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static Wide key_of(const SolverBuffer *buffer, GreedKind kind) {
    const uint64_t life = buffer->last - buffer->first;
    switch (kind) {
    case GREED_SIZE:
        return buffer->size;
    case GREED_AREA:
        return (Wide)buffer->size * life;
    case GREED_LIFETIME:
        return life;
    default:
        return UINT64_MAX - buffer->first;
    }
}

static void order_by(Greed *greed, GreedKind kind, Keyed *keyed) {
    for (size_t i = 0; i < greed->count; i++) {
        const SolverBuffer *buffer = &greed->buffer[i];
        keyed[i] = (Keyed){buffer->is_pinned, key_of(buffer, kind), i};
    }
    qsort(keyed, greed->count, sizeof *keyed, compare_keys);
    for (size_t k = 0; k < greed->count; k++) {
        greed->order[k] = keyed[k].index;
    }
}

/* False where no offset of 64 bits is left. */
static bool place_next(Greed *greed, size_t i) {
    const SolverBuffer *buffer = &greed->buffer[i];
    uint64_t low = buffer->offset;
    if (!buffer->is_pinned) {
        const size_t count = list_blocks(greed, i);
        uint64_t size, align;
        low = 0;
        if (!checked_round_up(buffer->size, greed->problem->options->align_bytes, &size) ||
            !checked_common_multiple(buffer->align, greed->problem->options->align_bytes, &align)) {
            return false;
        }
        for (size_t k = 0; k < count; k++) {
            const Block *block = &greed->block[k];
            bool is_beside = block->end <= low || (block->offset >= low && block->offset - low >= size);
            if (!is_beside && !checked_round_up(block->end, align, &low)) {
                return false;
            }
        }
    }
    greed->taken[i] = block_at(greed->problem, i, low);
    overlap_add(&greed->overlap, i);
    return greed->taken[i].end > 0;
}

/* False where it is given up. */
static bool place_in_order(Greed *greed) {
    overlap_reset(&greed->overlap);
    memset(greed->taken, 0, greed->count * sizeof *greed->taken);
    for (size_t k = 0; k < greed->count; k++) {
        if (greed->work >= greed->most_work || (k % PLACED_A_LOOK == 0 && solver_is_over(greed->problem)) ||
            !place_next(greed, greed->order[k])) {
            return false;
        }
    }
    return true;
}

static void greed_init(Greed *greed, SolverCase *problem, Arena *scratch) {
    const size_t count = problem->count;
    *greed = (Greed){.problem = problem,
                     .buffer = problem->buffer,
                     .count = count,
                     .pack = {.item = arena_array(scratch, PackItem, count), .count = count},
                     .order = arena_array(scratch, size_t, count),
                     .found = arena_array(scratch, size_t, count),
                     .taken = arena_array(scratch, Block, count),
                     .block = arena_array(scratch, Block, count),
                     .most_work = MOST_WORK + count * MOST_WORK_A_BUFFER};
    for (size_t i = 0; i < count; i++) {
        greed->pack.item[i] = (PackItem){.first = problem->buffer[i].first, .last = problem->buffer[i].last};
    }
    overlap_init(&greed->overlap, &greed->pack, scratch);
    list_groups(greed, scratch);
}

/* False where not one order came to its end. */
static bool place_in_orders(SolverCase *problem) {
    Greed greed;
    bool is_found = false;
    greed_init(&greed, problem, problem->scratch);
    Keyed *keyed = arena_array(problem->scratch, Keyed, problem->count);
    for (GreedKind kind = 0; kind < GREED_COUNT && !(is_found && problem->height == problem->bound); kind++) {
        order_by(&greed, kind, keyed);
        if (place_in_order(&greed)) {
            keep(problem, greed.taken, GREED_NAME[kind]);
            is_found = true;
        }
    }
    return is_found;
}

/* ---- Without a look at pairs */

/* Each on top of the one before, all above the pins. */
static void place_in_a_stack(SolverCase *problem) {
    Block *taken = arena_array(problem->scratch, Block, problem->count);
    uint64_t top = 0;
    for (size_t i = 0; i < problem->count; i++) {
        if (problem->buffer[i].is_pinned) {
            taken[i] = block_at(problem, i, problem->buffer[i].offset);
            top = taken[i].end > top ? taken[i].end : top;
        }
    }
    for (size_t i = 0; i < problem->count; i++) {
        uint64_t align, offset = top;
        if (!problem->buffer[i].is_pinned) {
            (void)(checked_common_multiple(problem->buffer[i].align, problem->options->align_bytes, &align) &&
                   checked_round_up(top, align, &offset)); /* the sum of all fits 64 bits: so the caller */
            taken[i] = block_at(problem, i, offset);
            top = taken[i].end;
        }
    }
    keep(problem, taken, "stack");
}

/* An offset above the pins that every alignment divides; false where there is none of 64 bits. */
static bool find_base(const SolverCase *problem, uint64_t *base) {
    uint64_t align = problem->options->align_bytes;
    bool has_align = true;
    *base = 0;
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *buffer = &problem->buffer[i];
        const uint64_t end = buffer->is_pinned ? block_at(problem, i, buffer->offset).end : 0;
        *base = end > *base ? end : *base;
        has_align = has_align && checked_common_multiple(align, buffer->align, &align);
    }
    return *base == 0 || (has_align && checked_round_up(*base, align, base));
}

/* Members of a group live whenever one of them does, so that they all meet. */
static void widen_groups(const SolverCase *problem, PlaceBuffer *plain) {
    GroupMember *member = arena_array(problem->scratch, GroupMember, problem->count);
    const size_t count = group_members(problem->buffer, problem->count, member);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        uint64_t first = UINT64_MAX, last = 0;
        for (end = begin; end < count && member[end].apart == member[begin].apart; end++) {
            const PlaceBuffer *one = &plain[member[end].buffer];
            first = one->first < first ? one->first : first;
            last = one->last > last ? one->last : last;
        }
        for (size_t k = begin; k < end; k++) {
            plain[member[k].buffer].first = first;
            plain[member[k].buffer].last = last;
        }
    }
}

static PlaceProblem coarse_problem(const SolverCase *problem) {
    PlaceProblem plain = {.buffer = arena_array(problem->scratch, PlaceBuffer, problem->count),
                          .align_bytes = problem->options->align_bytes};
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *from = &problem->buffer[i];
        plain.buffer[i] =
            (PlaceBuffer){.size = from->size, .align = from->align, .first = from->first, .last = from->last};
    }
    widen_groups(problem, plain.buffer);
    for (size_t i = 0; i < problem->count; i++) {
        if (!problem->buffer[i].is_pinned) {
            plain.buffer[plain.count++] = plain.buffer[i];
        }
    }
    return plain;
}

static void place_coarsely(SolverCase *problem) {
    uint64_t base;
    if (!find_base(problem, &base)) {
        return;
    }
    PlaceProblem plain = coarse_problem(problem);
    bool fits = place_solve(&plain, problem->scratch);
    Block *taken = arena_array(problem->scratch, Block, problem->count);
    for (size_t i = 0, next = 0; i < problem->count && fits; i++) {
        uint64_t offset = problem->buffer[i].offset;
        fits = problem->buffer[i].is_pinned || checked_add(base, plain.buffer[next++].offset, &offset);
        taken[i] = block_at(problem, i, offset);
        fits = fits && taken[i].end > 0;
    }
    if (fits) {
        keep(problem, taken, plain.method);
    }
}

/* ---- All of it */

bool solver_is_plain(const SolverBuffer *buffer, size_t count) {
    bool is_plain = true;
    for (size_t i = 0; i < count && is_plain; i++) {
        is_plain = buffer[i].gap_count == 0 && buffer[i].apart == 0 && !buffer[i].is_pinned;
    }
    return is_plain;
}

void solver_greedy(SolverCase *problem) {
    const ArenaMark mark = arena_mark(problem->scratch);
    bool is_done = !solver_is_plain(problem->buffer, problem->count) && place_in_orders(problem);
    if (!is_done && !solver_is_over(problem)) {
        place_coarsely(problem);
    }
    if (!problem->is_placed) {
        place_in_a_stack(problem);
    }
    arena_back(problem->scratch, mark);
}
