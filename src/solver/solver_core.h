/* Inside the solver: one problem whose buffers are sorted, and what is known of it. */
#ifndef S0_SOLVER_SOLVER_CORE_H
#define S0_SOLVER_SOLVER_CORE_H

#include "solver/race.h"
#include "solver/solver_pins.h"

typedef struct {
    const SolverBuffer *buffer; /* sorted by model_compare, but for more plain ones than are searched */
    size_t count;
    const SolverOptions *options;
    uint64_t deadline_ms; /* a reading of race_clock_ms, 0: none */
    Arena *scratch;
    uint64_t *offset; /* out: bytes, of each buffer; the best there is, if any */
    bool is_placed;   /* out: there is one */
    uint64_t height, bound, nodes;
    PinClash clash; /* out: where one is found no capacity is enough */
    bool is_stopped;
    const char *method, *proof;
} SolverCase;

/* Looks for a placement within the capacity, and for the lowest where that is asked for. False where sizes do not fit
 * 64 bits. */
bool solver_solve(SolverCase *problem, SolverOutcome *outcome);

/* Shall the search end, by the clock or the caller? */
bool solver_is_over(SolverCase *problem);

typedef struct {
    size_t *set; /* of an infeasible problem: buffers that can't be placed together */
    size_t count;
    bool is_least; /* and each of them left out, the others can: proven */
} Culprits;

/* In scratch memory. The nodes it takes are added to those of the problem. */
Culprits solver_find_culprits(SolverCase *problem);

#endif
