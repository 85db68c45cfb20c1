/* The bridge from the heuristics to the search: plans are placed by rule of thumb, and what is left open is searched.
 */
#include "solver/solver.h"

#include "base/fault.h"

void solver_tighten(PlaceProblem *problem, uint64_t most_nodes, Arena *scratch) {
    if (problem->height == problem->bound) {
        return;
    }
    SolverBuffer *buffer = arena_array(scratch, SolverBuffer, problem->count);
    for (size_t i = 0; i < problem->count; i++) {
        const PlaceBuffer *from = &problem->buffer[i];
        buffer[i] = (SolverBuffer){.size = from->size, .align = from->align, .first = from->first, .last = from->last};
    }
    const SolverOptions options = {.capacity = UINT64_MAX,
                                   .is_minimised = true,
                                   .align_bytes = problem->align_bytes,
                                   .most_nodes = most_nodes,
                                   .threads = 1};
    SolverResult result;
    bool is_sized = solver_run(buffer, problem->count, &options, scratch, scratch, &result);
    CHECK(is_sized && result.outcome == SOLVER_FOUND && result.bound >= problem->bound &&
          result.bound <= result.height);
    problem->bound = result.bound;
    if (result.height >= problem->height) {
        return;
    }
    problem->height = result.height;
    problem->method = result.method;
    for (size_t i = 0; i < problem->count; i++) {
        problem->buffer[i].offset = buffer[i].offset;
    }
}
