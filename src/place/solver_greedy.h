/* Inside the solver: a placement of any problem, quickly, however high. */
#ifndef S0_PLACE_SOLVER_GREEDY_H
#define S0_PLACE_SOLVER_GREEDY_H

#include "place/solver.h"

/* Writes to offset[] the lowest of several greedy placements of the buffers, and its height. False where pins can't
 * all be kept. Sizes and what alignment may add fit 64 bits. */
bool solver_greedy(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch, uint64_t *offset,
                   uint64_t *height, const char **method);

/* Can all pins be kept, however much room there is? */
bool solver_pins_hold(const SolverBuffer *buffer, size_t count, uint64_t align_bytes);

/* Do two share a step, or must they lie apart? */
bool solver_meet(const SolverBuffer *a, const SolverBuffer *b);

#endif
