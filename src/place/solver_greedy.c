/* A greedy placement of buffers that have gaps, pins or groups: pins first, then each in turn at the lowest offset
 * where it fits. What has none of these is left to place_solve, which is built for many. */
#include "place/solver_greedy.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t offset, end;
} Taken;

typedef struct {
    const SolverBuffer *buffer;
    size_t count;
    uint64_t align_bytes;
    size_t *order;
    Taken *taken, *block; /* of each buffer; scratch */
} Greed;

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

bool solver_meet(const SolverBuffer *a, const SolverBuffer *b) {
    return (a->apart != 0 && a->apart == b->apart) || spans_meet(a, b);
}

static int compare_taken(const void *left, const void *right) {
    const Taken *a = left;
    const Taken *b = right;
    int order = (a->offset > b->offset) - (a->offset < b->offset);
    return order != 0 ? order : (a->end > b->end) - (a->end < b->end);
}

/* What the first `placed` of the order take of a buffer's steps, sorted. */
static size_t list_blocks(const Greed *greed, size_t placed, const SolverBuffer *buffer) {
    size_t count = 0;
    for (size_t k = 0; k < placed; k++) {
        if (solver_meet(buffer, &greed->buffer[greed->order[k]])) {
            greed->block[count++] = greed->taken[greed->order[k]];
        }
    }
    if (count > 0) {
        qsort(greed->block, count, sizeof *greed->block, compare_taken);
    }
    return count;
}

static bool place_next(const Greed *greed, size_t placed) {
    size_t index = greed->order[placed];
    const SolverBuffer *buffer = &greed->buffer[index];
    size_t count = list_blocks(greed, placed, buffer);
    uint64_t size, align, low = 0;
    if (!checked_round_up(buffer->size, greed->align_bytes, &size) ||
        !checked_common_multiple(buffer->align, greed->align_bytes, &align)) {
        return false;
    }
    low = buffer->is_pinned ? buffer->offset : 0;
    for (size_t k = 0; k < count; k++) {
        const Taken *block = &greed->block[k];
        if (block->end <= low || (block->offset >= low && block->offset - low >= size)) {
            continue;
        }
        if (buffer->is_pinned || !checked_round_up(block->end, align, &low)) {
            return false;
        }
    }
    greed->taken[index] = (Taken){low, low + size};
    return low % align == 0 && checked_add(low, size, &low);
}

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
    long double key;
    size_t index;
} Keyed;

static int compare_keys(const void *left, const void *right) {
    const Keyed *a = left;
    const Keyed *b = right;
    int order = (a->key < b->key) - (a->key > b->key);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static long double key_of(const SolverBuffer *buffer, GreedKind kind) {
    long double life = (long double)(buffer->last - buffer->first);
    switch (kind) {
    case GREED_SIZE:
        return (long double)buffer->size;
    case GREED_AREA:
        return (long double)buffer->size * life;
    case GREED_LIFETIME:
        return life;
    default:
        return -(long double)buffer->first;
    }
}

static void order_by(Greed *greed, GreedKind kind, Arena *scratch) {
    Keyed *keyed = arena_array(scratch, Keyed, greed->count);
    size_t pins = 0;
    for (size_t i = 0; i < greed->count; i++) {
        if (greed->buffer[i].is_pinned) {
            greed->order[pins++] = i;
        }
    }
    size_t free_count = 0;
    for (size_t i = 0; i < greed->count; i++) {
        if (!greed->buffer[i].is_pinned) {
            keyed[free_count++] = (Keyed){key_of(&greed->buffer[i], kind), i};
        }
    }
    if (free_count > 0) {
        qsort(keyed, free_count, sizeof *keyed, compare_keys);
    }
    for (size_t k = 0; k < free_count; k++) {
        greed->order[pins + k] = keyed[k].index;
    }
}

bool solver_greedy(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch,
                   GreedyAnswer *answer) {
    Greed greed = {.buffer = buffer,
                   .count = count,
                   .align_bytes = align_bytes,
                   .order = arena_array(scratch, size_t, count),
                   .taken = arena_array(scratch, Taken, count),
                   .block = arena_array(scratch, Taken, count)};
    bool is_found = false;
    for (GreedKind kind = 0; kind < GREED_COUNT; kind++) {
        order_by(&greed, kind, scratch);
        uint64_t most = 0;
        size_t placed = 0;
        while (placed < count && place_next(&greed, placed)) {
            uint64_t end = greed.taken[greed.order[placed++]].end;
            most = end > most ? end : most;
        }
        if (placed < count || (is_found && most >= answer->height)) {
            continue;
        }
        is_found = true;
        answer->height = most;
        answer->method = GREED_NAME[kind];
        for (size_t i = 0; i < count; i++) {
            answer->offset[i] = greed.taken[i].offset;
        }
    }
    return is_found;
}

static bool pins_overlap(const SolverBuffer *a, const SolverBuffer *b, uint64_t align_bytes) {
    const SolverBuffer *lower = a->offset <= b->offset ? a : b;
    uint64_t between = a->offset <= b->offset ? b->offset - a->offset : a->offset - b->offset;
    uint64_t size = 0;
    return !checked_round_up(lower->size, align_bytes, &size) || between < size;
}

bool solver_pins_hold(const SolverBuffer *buffer, size_t count, uint64_t align_bytes) {
    for (size_t i = 0; i < count; i++) {
        const SolverBuffer *a = &buffer[i];
        if (a->is_pinned && (a->offset % align_bytes != 0 || a->offset % a->align != 0)) {
            return false;
        }
        for (size_t j = 0; j < i && a->is_pinned; j++) {
            const SolverBuffer *b = &buffer[j];
            if (b->is_pinned && pins_overlap(a, b, align_bytes) && solver_meet(a, b)) {
                return false;
            }
        }
    }
    return true;
}
