/* The judge: a sweep over the steps with the live bodies kept in a tree by memory and offset.
 *
 * Each body has its leaf, from left to right by memory and offset; a node holds how many bodies live below it. The tree
 * is implicit in an array, the children of node v are 2v and 2v+1.
 *
 * Invariant: the live bodies are disjoint (the sweep ends at the first that are not), so a body that goes live can only
 * meet the one below and the one above its place. Nothing here is shared with the packer. */
#include "place/judge_sweep.h"

#include <stdlib.h>

typedef struct {
    const Body *body;
    size_t *by_place; /* numbers of the bodies */
    size_t *leaf;     /* node of each body */
    size_t *live;     /* of each node */
    size_t leaves;    /* a power of two, at least the count of bodies */
} Sweep;

typedef struct {
    uint32_t memory;
    uint64_t offset;
    size_t body;
} Lying;

static int compare_events(const void *left, const void *right) {
    const Event *a = left;
    const Event *b = right;
    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    return (int)a->starts - (int)b->starts;
}

void judge_sort_events(Event *event, size_t count) {
    if (count > 0) {
        qsort(event, count, sizeof *event, compare_events);
    }
}

static int compare_places(const void *left, const void *right) {
    const Lying *a = left;
    const Lying *b = right;
    if (a->memory != b->memory) {
        return a->memory < b->memory ? -1 : 1;
    }
    if (a->offset != b->offset) {
        return a->offset < b->offset ? -1 : 1;
    }
    return a->body < b->body ? -1 : a->body > b->body;
}

static Sweep sweep_of(const Body *body, size_t count, Arena *scratch) {
    Sweep sweep = {.body = body, .leaves = 1};
    while (sweep.leaves < count) {
        sweep.leaves *= 2;
    }
    sweep.by_place = arena_array(scratch, size_t, count);
    sweep.leaf = arena_array(scratch, size_t, count);
    sweep.live = arena_array(scratch, size_t, 2 * sweep.leaves);
    Lying *lying = arena_array(scratch, Lying, count);
    for (size_t i = 0; i < count; i++) {
        lying[i] = (Lying){body[i].memory, body[i].offset, i};
    }
    if (count > 0) {
        qsort(lying, count, sizeof *lying, compare_places);
    }
    for (size_t i = 0; i < count; i++) {
        sweep.by_place[i] = lying[i].body;
        sweep.leaf[lying[i].body] = sweep.leaves + i;
    }
    return sweep;
}

/* The live body next to `id` in the order of places, below for side 0 and above for side 1; `id` where none is. */
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
    return sweep->by_place[v - sweep->leaves];
}

/* `below` does not lie above `above`. */
static bool meet(const Body *below, const Body *above) {
    return below->memory == above->memory && below->offset + below->size > above->offset;
}

/* Takes body `id` among the live ones; the body it meets, or `id` itself where it meets none. */
static size_t go_live(Sweep *sweep, size_t id) {
    const Body *body = sweep->body;
    size_t below = neighbour(sweep, id, 0);
    if (below != id && meet(&body[below], &body[id])) {
        return below;
    }
    size_t above = neighbour(sweep, id, 1);
    if (above != id && meet(&body[id], &body[above])) {
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

bool judge_sweep(const Body *body, size_t count, const Event *event, size_t event_count, Arena *scratch,
                 size_t met[2]) {
    Sweep sweep = sweep_of(body, count, scratch);
    size_t *lives = arena_array(scratch, size_t, count);
    for (size_t i = 0; i < event_count; i++) {
        const size_t id = event[i].body;
        if (!event[i].starts) {
            lives[id]--;
            if (lives[id] == 0) {
                go_dead(&sweep, id);
            }
            continue;
        }
        lives[id]++;
        size_t other = lives[id] == 1 ? go_live(&sweep, id) : id;
        if (other != id) {
            met[0] = other;
            met[1] = id;
            return true;
        }
    }
    return false;
}
