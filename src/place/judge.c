/* The judge: a sweep over the steps with the live buffers kept in a tree by offset.
 *
 * Each buffer has its leaf, from left to right by offset; a node holds how many buffers live below it. The tree is
 * implicit in an array, the children of node v are 2v and 2v+1.
 *
 * Invariant: the live buffers are disjoint (the sweep ends at the first that are not), so a buffer that goes live can
 * only meet the one below and the one above its place. Nothing here is shared with the packer. */
#include "place/judge.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t step;
    size_t buffer;
    bool starts;
} Event;

typedef struct {
    const PlaceBuffer *buffer;
    size_t *by_offset; /* numbers of the buffers */
    size_t *leaf;      /* node of each buffer */
    size_t *live;      /* of each node */
    size_t leaves;     /* a power of two, at least the count of buffers */
} Sweep;

typedef struct {
    uint64_t offset;
    size_t buffer;
} Lying;

/* At one step the ends come before the starts: ranges are half-open. */
static int compare_events(const void *left, const void *right) {
    const Event *a = left;
    const Event *b = right;
    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    return (int)a->starts - (int)b->starts;
}

static Event *sorted_events(const PlaceProblem *problem, Arena *scratch) {
    Event *event = arena_array(scratch, Event, 2 * problem->count);
    for (size_t i = 0; i < problem->count; i++) {
        event[2 * i] = (Event){problem->buffer[i].first, i, true};
        event[2 * i + 1] = (Event){problem->buffer[i].last, i, false};
    }
    if (problem->count > 0) {
        qsort(event, 2 * problem->count, sizeof *event, compare_events);
    }
    return event;
}

static int compare_offsets(const void *left, const void *right) {
    const Lying *a = left;
    const Lying *b = right;
    if (a->offset != b->offset) {
        return a->offset < b->offset ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static Sweep sweep_of(const PlaceProblem *problem, Arena *scratch) {
    Sweep sweep = {.buffer = problem->buffer, .leaves = 1};
    while (sweep.leaves < problem->count) {
        sweep.leaves *= 2;
    }
    sweep.by_offset = arena_array(scratch, size_t, problem->count);
    sweep.leaf = arena_array(scratch, size_t, problem->count);
    sweep.live = arena_array(scratch, size_t, 2 * sweep.leaves);
    Lying *lying = arena_array(scratch, Lying, problem->count);
    for (size_t i = 0; i < problem->count; i++) {
        lying[i] = (Lying){problem->buffer[i].offset, i};
    }
    if (problem->count > 0) {
        qsort(lying, problem->count, sizeof *lying, compare_offsets);
    }
    for (size_t i = 0; i < problem->count; i++) {
        sweep.by_offset[i] = lying[i].buffer;
        sweep.leaf[lying[i].buffer] = sweep.leaves + i;
    }
    return sweep;
}

/* The live buffer next to `id` in the order of offsets, below for side 0 and above for side 1; `id` where none is. */
static size_t neighbour(const Sweep *sweep, size_t id, size_t side) {
    size_t v = sweep->leaf[id];
    while (v > 1 && (v % 2 == side || sweep->live[v ^ 1] == 0)) {
        v /= 2;
    }
    if (v == 1) {
        return id;
    }
    v ^= 1;
    while (v < sweep->leaves) {
        v = 2 * v + (sweep->live[2 * v + 1 - side] == 0 ? side : 1 - side);
    }
    return sweep->by_offset[v - sweep->leaves];
}

static bool ends_above(const PlaceBuffer *buffer, uint64_t offset) {
    return buffer->offset + buffer->size > offset;
}

/* Takes buffer `id` among the live ones; the buffer it meets, or `id` itself where it meets none. */
static size_t go_live(Sweep *sweep, size_t id) {
    const PlaceBuffer *buffer = sweep->buffer;
    size_t below = neighbour(sweep, id, 0);
    if (below != id && ends_above(&buffer[below], buffer[id].offset)) {
        return below;
    }
    size_t above = neighbour(sweep, id, 1);
    if (above != id && ends_above(&buffer[id], buffer[above].offset)) {
        return above;
    }
    for (size_t v = sweep->leaf[id]; v > 0; v /= 2) {
        sweep->live[v]++;
    }
    return id;
}

static void go_dead(Sweep *sweep, size_t id) {
    for (size_t v = sweep->leaf[id]; v > 0; v /= 2) {
        sweep->live[v]--;
    }
}

static Judgement judge_overlap(const PlaceProblem *problem, const Event *event, Arena *scratch) {
    Sweep sweep = sweep_of(problem, scratch);
    for (size_t i = 0; i < 2 * problem->count; i++) {
        if (!event[i].starts) {
            go_dead(&sweep, event[i].buffer);
            continue;
        }
        size_t met = go_live(&sweep, event[i].buffer);
        if (met != event[i].buffer) {
            return (Judgement){JUDGE_OVERLAP, met, event[i].buffer};
        }
    }
    return (Judgement){.verdict = JUDGE_RIGHT};
}

/* Each buffer by itself, and whether one reaches the height. */
static Judgement judge_extent(const PlaceProblem *problem) {
    uint64_t highest = 0;
    for (size_t i = 0; i < problem->count; i++) {
        const PlaceBuffer *buffer = &problem->buffer[i];
        if (buffer->offset % buffer->align != 0 || buffer->offset % problem->align_bytes != 0) {
            return (Judgement){JUDGE_MISALIGNED, i, i};
        }
        uint64_t end;
        if (!checked_add(buffer->offset, buffer->size, &end) || !checked_round_up(end, problem->align_bytes, &end) ||
            end > problem->height) {
            return (Judgement){JUDGE_TOO_HIGH, i, i};
        }
        highest = end > highest ? end : highest;
    }
    return (Judgement){.verdict = highest == problem->height ? JUDGE_RIGHT : JUDGE_WRONG_HEIGHT};
}

/* The live sum after each event is exact as all sizes fit below the height; it is largest after some start. */
static Judgement judge_bound(const PlaceProblem *problem, const Event *event) {
    uint64_t live = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < 2 * problem->count; i++) {
        uint64_t size = problem->buffer[event[i].buffer].size;
        uint64_t rest = size % problem->align_bytes;
        size += rest == 0 ? 0 : problem->align_bytes - rest;
        live = event[i].starts ? live + size : live - size;
        most = live > most ? live : most;
    }
    return (Judgement){.verdict = most == problem->bound ? JUDGE_RIGHT : JUDGE_WRONG_BOUND};
}

Judgement place_judge(const PlaceProblem *problem, Arena *scratch) {
    Judgement judgement = judge_extent(problem);
    if (judgement.verdict != JUDGE_RIGHT) {
        return judgement;
    }
    const Event *event = sorted_events(problem, scratch);
    judgement = judge_overlap(problem, event, scratch);
    if (judgement.verdict != JUDGE_RIGHT) {
        return judgement;
    }
    return judge_bound(problem, event);
}

const char *judge_text(JudgeVerdict verdict) {
    static const char *const TEXT[] = {
        [JUDGE_RIGHT] = "the placement is right",
        [JUDGE_OVERLAP] = "two buffers share a byte",
        [JUDGE_MISALIGNED] = "an offset is not a multiple of its alignment",
        [JUDGE_TOO_HIGH] = "a buffer ends above the height",
        [JUDGE_WRONG_HEIGHT] = "no buffer reaches the height",
        [JUDGE_WRONG_BOUND] = "the bound is not the largest sum of live sizes",
    };
    return TEXT[verdict];
}
