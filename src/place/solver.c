/* The solver's one page: buffers in an order of their own, bound, greedy placement, search; and where nothing fits,
 * why.
 */
#include "place/solver_core.h"

#include "base/fault.h"

#include <stdlib.h>

const char *inference_name(Inference inference) {
    static const char *const NAME[] = {"sections", "canonical", "dominance", "symmetry",
                                       "floors",   "bounds",    "restarts"};
    CHECK(inference < INFER_COUNT);
    return NAME[inference];
}

static int compare_places(const void *left, const void *right) {
    const SolverBuffer *a = *(SolverBuffer *const *)left;
    const SolverBuffer *b = *(SolverBuffer *const *)right;
    int order = model_compare(a, b);
    return order != 0 ? order : (a > b) - (a < b);
}

/* The caller's buffers in the order of model_compare. */
static SolverBuffer **sort_places(SolverBuffer *buffer, size_t count, Arena *scratch) {
    SolverBuffer **place = arena_array(scratch, SolverBuffer *, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(buffer[i].size > 0 && buffer[i].align > 0 && buffer[i].first < buffer[i].last);
        place[i] = &buffer[i];
    }
    if (count > 0) {
        qsort(place, count, sizeof(SolverBuffer *), compare_places);
    }
    return place;
}

static void explain(const SolverCase *problem, SolverBuffer *const *place, const SolverBuffer *buffer, Arena *keep,
                    SolverResult *result) {
    result->culprit = arena_array(keep, size_t, problem->count);
    result->culprit_count = solver_find_culprit(problem, result->culprit);
    for (size_t k = 0; k < result->culprit_count; k++) {
        result->culprit[k] = (size_t)(place[result->culprit[k]] - buffer);
    }
}

bool solver_run(SolverBuffer *buffer, size_t count, const SolverOptions *options, Arena *keep, Arena *scratch,
                SolverResult *result) {
    CHECK(options->align_bytes > 0 && options->threads > 0);
    SolverBuffer **place = sort_places(buffer, count, scratch);
    SolverBuffer *sorted = arena_array(scratch, SolverBuffer, count);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = *place[i];
    }
    SolverCase problem = {.buffer = sorted,
                          .count = count,
                          .options = options,
                          .deadline_ms = options->most_ms == 0 ? 0 : race_clock_ms() + options->most_ms,
                          .scratch = scratch,
                          .offset = arena_array(scratch, uint64_t, count)};
    SolverOutcome outcome;
    if (!solver_solve(&problem, &outcome)) {
        return false;
    }
    *result = (SolverResult){.outcome = outcome,
                             .height = problem.height,
                             .bound = problem.bound,
                             .nodes = problem.nodes,
                             .method = problem.method,
                             .proof = problem.proof,
                             .is_optimal = problem.is_placed && problem.height == problem.bound};
    for (size_t i = 0; i < count && problem.is_placed; i++) {
        place[i]->offset = problem.offset[i];
    }
    if (outcome == SOLVER_INFEASIBLE) {
        explain(&problem, place, buffer, keep, result);
    }
    return true;
}
