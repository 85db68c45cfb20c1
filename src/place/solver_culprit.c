/* Why nothing fits: buffers are left out, many at a time and then one by one, as long as the rest does not fit. What
 * remains can't be placed together, and without any one of it it can: as far as a search could tell.
 *
 * source  delta debugging, Zeller & Hildebrandt 2002 */
#include "place/solver_core.h"

#include "base/checked.h"
#include "place/solver_bound.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const SolverCase *problem;
    Arena *arena; /* of one trial */
    size_t *set, *trial;
    size_t count;
    uint64_t most_nodes;
} Filter;

/* Is it proven that the buffers of trial[0, count) do not fit together? */
static bool is_infeasible(const Filter *filter, size_t count) {
    const SolverCase *whole = filter->problem;
    SolverOptions options = *whole->options;
    options.is_minimised = false;
    options.most_nodes = filter->most_nodes;
    options.tell = NULL;
    arena_reset(filter->arena);
    SolverBuffer *buffer = arena_array(filter->arena, SolverBuffer, count);
    for (size_t k = 0; k < count; k++) {
        buffer[k] = whole->buffer[filter->trial[k]];
    }
    SolverCase part = {.buffer = buffer,
                       .count = count,
                       .options = &options,
                       .deadline_ms = whole->deadline_ms,
                       .scratch = filter->arena,
                       .offset = arena_array(filter->arena, uint64_t, count)};
    SolverOutcome outcome;
    return solver_solve(&part, &outcome) && outcome == SOLVER_INFEASIBLE;
}

/* Leaves out set[from, to) if the rest still does not fit. */
static bool leave_out(Filter *filter, size_t from, size_t to) {
    memcpy(filter->trial, filter->set, from * sizeof *filter->trial);
    memcpy(filter->trial + from, filter->set + to, (filter->count - to) * sizeof *filter->trial);
    size_t rest = filter->count - (to - from);
    if (rest == 0 || !is_infeasible(filter, rest)) {
        return false;
    }
    memcpy(filter->set, filter->trial, rest * sizeof *filter->set);
    filter->count = rest;
    return true;
}

typedef struct {
    uint64_t size; /* rounded up to the unit */
    size_t buffer;
} Alive;

static int compare_alive(const void *left, const void *right) {
    const Alive *a = left;
    const Alive *b = right;
    if (a->size != b->size) {
        return a->size > b->size ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* Where more is alive at one step than fits: the largest of those, just so many that they do not fit. No fewer do, and
 * none of them can be spared of the sum. */
static void keep_live(Filter *filter, uint64_t step) {
    const SolverCase *problem = filter->problem;
    Alive *alive = arena_array(problem->scratch, Alive, problem->count);
    size_t count = 0;
    for (size_t i = 0; i < problem->count; i++) {
        if (solver_lives_at(&problem->buffer[i], step)) {
            alive[count].buffer = i;
            (void)checked_round_up(problem->buffer[i].size, problem->options->align_bytes, &alive[count].size);
            count++;
        }
    }
    qsort(alive, count, sizeof *alive, compare_alive);
    uint64_t left = problem->options->capacity;
    size_t kept = 0;
    for (; kept < count && alive[kept].size <= left; kept++) {
        left -= alive[kept].size;
    }
    filter->count = kept < count ? kept + 1 : count;
    for (size_t k = 0; k < filter->count; k++) {
        filter->set[k] = alive[k].buffer;
    }
}

/* May each lie on top of another wherever that ends? Then what fits by its sum fits. */
static bool can_be_stacked(const Filter *filter) {
    const SolverCase *problem = filter->problem;
    for (size_t k = 0; k < filter->count; k++) {
        const SolverBuffer *buffer = &problem->buffer[filter->set[k]];
        if (buffer->is_pinned || problem->options->align_bytes % buffer->align != 0) {
            return false;
        }
    }
    return true;
}

static void leave_out_all(Filter *filter) {
    for (size_t chunk = (filter->count + 1) / 2; chunk > 0; chunk /= 2) {
        for (size_t at = 0; at < filter->count;) {
            size_t end = at + chunk < filter->count ? at + chunk : filter->count;
            at = leave_out(filter, at, end) ? at : end;
        }
    }
}

size_t solver_find_culprit(const SolverCase *problem, size_t *culprit) {
    Filter filter = {.problem = problem,
                     .set = culprit,
                     .trial = arena_array(problem->scratch, size_t, problem->count),
                     .count = problem->count,
                     .most_nodes = 16 * problem->nodes + 100000};
    for (size_t i = 0; i < problem->count; i++) {
        culprit[i] = i;
    }
    uint64_t step;
    uint64_t bound =
        solver_bound(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch, &step);
    if (bound > problem->options->capacity && step != UINT64_MAX) {
        keep_live(&filter, step);
        if (can_be_stacked(&filter)) {
            return filter.count;
        }
    }
    Arena arena;
    jmp_buf escape;
    arena_init(&arena, problem->scratch->allocator, &escape);
    if (setjmp(escape) != 0) { /* out of memory: nothing of this one may stay */
        arena_free(&arena);
        longjmp(*problem->scratch->escape, 1);
    }
    filter.arena = &arena;
    leave_out_all(&filter);
    arena_free(&arena);
    return filter.count;
}
