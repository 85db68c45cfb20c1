/* Inside the solver: the largest sum of live sizes. */
#ifndef S0_SOLVER_SOLVER_BOUND_H
#define S0_SOLVER_SOLVER_BOUND_H

#include "solver/solver.h"

typedef enum {
    BOUND_LIVE,  /* what lives at `step`, the first at which as much does */
    BOUND_GROUP, /* what is in group `apart` */
    BOUND_ALONE, /* the end of `buffer`, which is pinned, or lives in no step */
} BoundKind;

typedef struct {
    uint64_t bytes;
    BoundKind kind;
    uint64_t step;
    uint32_t apart;
    size_t buffer;
} SolverBound;

/* No placement is lower: sizes rounded up to `align_bytes`, gaps left out, and the ends of pins. Sums fit 64 bits.
 * cost  O(n log n) */
SolverBound solver_bound(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch);

#endif
