/* The solver's one page: buffers in an order of their own, bound, greedy placement, search; and where nothing fits,
 * why.
 */
#include "solver/solver_core.h"

#include "base/fault.h"
#include "solver/solver_greedy.h"

#include <stdlib.h>

const char *inference_name(Inference inference) {
    static const char *const NAME[] = {"sections", "canonical", "dominance", "symmetry",
                                       "floors",   "bounds",    "restarts"};
    CHECK(inference < INFER_COUNT);
    return NAME[inference];
}

/* Hints tell buffers apart that are alike: each keeps its own. */
static int compare_hints(const SolverBuffer *a, const SolverBuffer *b) {
    int order = (int)a->has_hint - (int)b->has_hint;
    return order != 0 || !a->has_hint ? order : (a->hint > b->hint) - (a->hint < b->hint);
}

static int compare_places(const void *left, const void *right) {
    const SolverBuffer *a = *(SolverBuffer *const *)left;
    const SolverBuffer *b = *(SolverBuffer *const *)right;
    int order = model_compare(a, b);
    order = order != 0 ? order : compare_hints(a, b);
    return order != 0 ? order : (a > b) - (a < b);
}

/* The buffers in the order that the search and the greedy placement need. */
typedef struct {
    const SolverBuffer *buffer;
    SolverBuffer *const *place; /* of each, the caller's; null: they are the caller's */
} Sorted;

/* By model_compare; place_solve, which is all there is for many plain ones, has an order of its own. */
static Sorted sort_places(SolverBuffer *buffer, size_t count, Arena *scratch) {
    for (size_t i = 0; i < count; i++) {
        CHECK(buffer[i].size > 0 && buffer[i].align > 0 && buffer[i].first < buffer[i].last);
    }
    if (count == 0 || (count > MODEL_MOST_RECTS && solver_is_plain(buffer, count))) {
        return (Sorted){buffer, NULL};
    }
    SolverBuffer **place = arena_array(scratch, SolverBuffer *, count);
    SolverBuffer *sorted = arena_array(scratch, SolverBuffer, count);
    for (size_t i = 0; i < count; i++) {
        place[i] = &buffer[i];
    }
    qsort(place, count, sizeof(SolverBuffer *), compare_places);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = *place[i];
    }
    return (Sorted){sorted, place};
}

static void explain(SolverCase *problem, const Sorted *sorted, const SolverBuffer *buffer, Arena *keep,
                    SolverResult *result) {
    const Culprits culprits = solver_find_culprits(problem);
    result->culprit = arena_array(keep, size_t, culprits.count);
    result->culprit_count = culprits.count;
    result->is_least = culprits.is_least;
    for (size_t k = 0; k < culprits.count; k++) {
        const size_t i = culprits.set[k];
        result->culprit[k] = sorted->place == NULL ? i : (size_t)(sorted->place[i] - buffer);
    }
}

bool solver_run(SolverBuffer *buffer, size_t count, const SolverOptions *options, Arena *keep, Arena *scratch,
                SolverResult *result) {
    CHECK(options->align_bytes > 0 && options->threads > 0);
    const Sorted sorted = sort_places(buffer, count, scratch);
    SolverCase problem = {.buffer = sorted.buffer,
                          .count = count,
                          .options = options,
                          .deadline_ms = race_deadline_ms(options->most_ms),
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
                             .is_placed = problem.is_placed,
                             .is_optimal = problem.is_placed && problem.height == problem.bound};
    for (size_t i = 0; i < count && problem.is_placed; i++) {
        SolverBuffer *place = sorted.place == NULL ? &buffer[i] : sorted.place[i];
        place->offset = problem.offset[i];
    }
    if (outcome == SOLVER_INFEASIBLE && !options->is_mere_decision) {
        explain(&problem, &sorted, buffer, keep, result);
        result->nodes = problem.nodes;
    }
    return true;
}
