/* Why nothing fits: buffers are left out, many at a time and then one by one, as long as the rest does not fit. What
 * remains can't be placed together. Where of each trial of one buffer it was found that the rest fits, so do all fewer.
 *
 * source  delta debugging, Zeller & Hildebrandt 2002 */
#include "solver/solver_core.h"

#include "base/checked.h"
#include "base/fault.h"
#include "solver/solver_bound.h"
#include "solver/spans.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    SolverCase *problem;
    size_t *set, *trial;
    size_t count;
    uint64_t nodes, most_nodes, most_nodes_a_trial;
    bool is_least; /* without any one that was tried alone and kept, the rest fits */
} Filter;

/* Nodes of one trial: some for each that the problem took, and of all trials. */
enum { NODES_A_NODE = 16, LEAST_NODES = 100000, MOST_TRIALS = 40 };

/* Where nodes are limited, so many times the limit. */
enum { MOST_LIMITS = 4 };

/* Do the buffers of trial[0, count) fit together? */
static SolverOutcome decide(Filter *filter, size_t count) {
    SolverCase *whole = filter->problem;
    SolverOptions options = *whole->options;
    if (filter->nodes >= filter->most_nodes || solver_is_over(whole)) {
        return SOLVER_STOPPED;
    }
    options.is_minimised = false;
    options.is_mere_decision = true;
    options.most_nodes = at_most(filter->most_nodes_a_trial, filter->most_nodes - filter->nodes);
    options.tell = NULL;
    const ArenaMark mark = arena_mark(whole->scratch);
    SolverBuffer *buffer = arena_array(whole->scratch, SolverBuffer, count);
    for (size_t k = 0; k < count; k++) {
        buffer[k] = whole->buffer[filter->trial[k]];
    }
    SolverCase part = {.buffer = buffer,
                       .count = count,
                       .options = &options,
                       .deadline_ms = whole->deadline_ms,
                       .scratch = whole->scratch,
                       .offset = arena_array(whole->scratch, uint64_t, count)};
    SolverOutcome outcome;
    CHECK(solver_solve(&part, &outcome)); /* sums of fewer are less */
    filter->nodes += part.nodes;
    arena_back(whole->scratch, mark);
    return outcome;
}

/* Leaves out set[from, to) if the rest still does not fit. */
static bool leave_out(Filter *filter, size_t from, size_t to) {
    memcpy(filter->trial, filter->set, from * sizeof *filter->trial);
    memcpy(filter->trial + from, filter->set + to, (filter->count - to) * sizeof *filter->trial);
    const size_t rest = filter->count - (to - from);
    const SolverOutcome outcome = rest == 0 ? SOLVER_FOUND : decide(filter, rest);
    if (outcome != SOLVER_INFEASIBLE) {
        filter->is_least = filter->is_least && (to - from > 1 || outcome == SOLVER_FOUND);
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

static bool is_of(const SolverBuffer *buffer, const SolverBound *bound) {
    return bound->kind == BOUND_GROUP ? buffer->apart == bound->apart : life_has(buffer, bound->step);
}

/* Where more is alive at one step, or in one group, than fits: the largest of those, just so many that they do not fit.
 * No fewer do, and none of them can be spared of the sum. */
static void keep_largest(Filter *filter, const SolverBound *bound) {
    const SolverCase *problem = filter->problem;
    Alive *alive = arena_array(problem->scratch, Alive, problem->count);
    size_t count = 0;
    for (size_t i = 0; i < problem->count; i++) {
        if (is_of(&problem->buffer[i], bound)) {
            alive[count].buffer = i;
            CHECK(checked_round_up(problem->buffer[i].size, problem->options->align_bytes, &alive[count].size));
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

/* Of the pins that clash the one that ends too high alone, or both. */
static void keep_clash(Filter *filter) {
    const SolverCase *problem = filter->problem;
    const size_t pair[] = {problem->clash.a, problem->clash.b};
    filter->count = 0;
    for (size_t k = 0; k < (pair[0] == pair[1] ? 1 : 2); k++) {
        const SolverBuffer *buffer = &problem->buffer[pair[k]];
        uint64_t end = 0;
        CHECK(checked_add(buffer->offset, buffer->size, &end));
        CHECK(checked_round_up(end, problem->options->align_bytes, &end));
        if (end > problem->options->capacity) {
            filter->set[0] = pair[k];
            filter->count = 1;
            return;
        }
        filter->set[filter->count++] = pair[k];
    }
}

/* What is to blame at first sight; true where none of that can be spared. */
static bool keep_suspects(Filter *filter) {
    const SolverCase *problem = filter->problem;
    if (problem->clash.is_found) {
        keep_clash(filter);
        return true;
    }
    const SolverBound bound =
        solver_bound(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch);
    if (bound.bytes <= problem->options->capacity) {
        return false;
    }
    if (bound.kind == BOUND_ALONE) {
        filter->set[0] = bound.buffer;
        filter->count = 1;
        return true;
    }
    keep_largest(filter, &bound);
    return can_be_stacked(filter);
}

Culprits solver_find_culprits(SolverCase *problem) {
    Filter filter = {.problem = problem,
                     .set = arena_array(problem->scratch, size_t, problem->count),
                     .trial = arena_array(problem->scratch, size_t, problem->count),
                     .count = problem->count,
                     .most_nodes_a_trial = NODES_A_NODE * problem->nodes + LEAST_NODES,
                     .is_least = true};
    const uint64_t limit = problem->options->most_nodes < UINT64_MAX / MOST_LIMITS ? problem->options->most_nodes : 0;
    filter.most_nodes = MOST_TRIALS * filter.most_nodes_a_trial;
    filter.most_nodes = limit > 0 ? at_most(filter.most_nodes, MOST_LIMITS * limit) : filter.most_nodes;
    for (size_t i = 0; i < problem->count; i++) {
        filter.set[i] = i;
    }
    if (!keep_suspects(&filter)) {
        leave_out_all(&filter);
    }
    problem->nodes += filter.nodes;
    return (Culprits){filter.set, filter.count, filter.is_least};
}
