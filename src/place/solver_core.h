/* Inside the solver: one problem whose buffers are sorted, and what is known of it. */
#ifndef S0_PLACE_SOLVER_CORE_H
#define S0_PLACE_SOLVER_CORE_H

#include "place/race.h"
#include "place/solver.h"

typedef struct {
    const SolverBuffer *buffer; /* sorted by model_compare */
    size_t count;
    const SolverOptions *options;
    uint64_t deadline_ms; /* a reading of race_clock_ms, 0: none */
    Arena *scratch;
    uint64_t *offset; /* out: bytes, of each buffer; the best there is, if any */
    bool is_placed;   /* out: there is one */
    uint64_t height, bound, nodes;
    bool pins_clash; /* out: no capacity is enough */
    bool is_stopped;
    const char *method, *proof;
} SolverCase;

/* Looks for a placement within the capacity, and for the lowest where that is asked for. False where sizes do not fit
 * 64 bits. */
bool solver_solve(SolverCase *problem, SolverOutcome *outcome);

/* Of an infeasible problem: which buffers can't be placed together, none of which can be spared. Returns how many. */
size_t solver_find_culprit(const SolverCase *problem, size_t *culprit);

#endif
