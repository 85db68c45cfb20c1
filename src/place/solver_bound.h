/* Inside the solver: the largest sum of live sizes, and who lives then. */
#ifndef S0_PLACE_SOLVER_BOUND_H
#define S0_PLACE_SOLVER_BOUND_H

#include "place/solver.h"

/* No placement is lower: sizes rounded up to `align_bytes`, gaps left out, and the ends of pins. `step` is the first at
 * which as much is alive; no step where a pin or a group is higher. Sums fit 64 bits. cost O(n log n) */
uint64_t solver_bound(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch, uint64_t *step);

bool solver_lives_at(const SolverBuffer *buffer, uint64_t step);

#endif
