/* Inside the solver: a placement of any problem, quickly, however high. */
#ifndef S0_SOLVER_SOLVER_GREEDY_H
#define S0_SOLVER_SOLVER_GREEDY_H

#include "solver/solver_core.h"

/* Keeps the lowest of several greedy placements where that is lower than what there is. Pins can all be kept, and sizes
 * with what alignment may add fit 64 bits: there is always one. The work is bounded by the count of buffers; the clock
 * and the caller end it early. */
void solver_greedy(SolverCase *problem);

/* Has none of them gaps, a group or a pin? */
bool solver_is_plain(const SolverBuffer *buffer, size_t count);

#endif
