/* The lower bound: the largest sum of live sizes.
 *
 * Starts and ends are swept apart, each sorted by step; the load is largest right after a start. */
#include "place/place.h"

#include "base/checked.h"

#include <stdlib.h>

typedef struct {
    uint64_t step, size;
} Edge;

static int compare_edges(const void *left, const void *right) {
    uint64_t a = ((const Edge *)left)->step;
    uint64_t b = ((const Edge *)right)->step;
    return a < b ? -1 : a > b;
}

/* Adds all that starts at one step. False on overflow. */
static bool add_starts(const Edge *start, size_t count, size_t *next, uint64_t *live) {
    uint64_t step = start[*next].step;
    for (; *next < count && start[*next].step == step; ++*next) {
        if (!checked_add(*live, start[*next].size, live)) {
            return false;
        }
    }
    return true;
}

bool place_bound(const PlaceProblem *problem, Arena *scratch, uint64_t *bound_bytes, uint64_t *step) {
    size_t count = problem->count;
    Edge *start = arena_array(scratch, Edge, count);
    Edge *end = arena_array(scratch, Edge, count);
    for (size_t i = 0; i < count; i++) {
        const PlaceBuffer *buffer = &problem->buffer[i];
        uint64_t size;
        if (!checked_round_up(buffer->size, problem->align_bytes, &size)) {
            return false;
        }
        start[i] = (Edge){buffer->first, size};
        end[i] = (Edge){buffer->last, size};
    }
    if (count > 0) {
        qsort(start, count, sizeof *start, compare_edges);
        qsort(end, count, sizeof *end, compare_edges);
    }
    uint64_t live = 0;
    uint64_t most = 0;
    uint64_t most_step = 0;
    size_t ended = 0;
    for (size_t started = 0; started < count;) {
        uint64_t now = start[started].step;
        for (; end[ended].step <= now; ended++) {
            live -= end[ended].size;
        }
        if (!add_starts(start, count, &started, &live)) {
            return false;
        }
        most_step = live > most ? now : most_step;
        most = live > most ? live : most;
    }
    *bound_bytes = most;
    if (step != NULL) {
        *step = most_step;
    }
    return true;
}
