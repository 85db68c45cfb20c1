/* Extents that are known, and extents that are the same, whatever a model's free dimensions are.
 *
 * Two bindings that agree prove nothing: min(n, 128) and n / 1000 are the same at many n. So both facts are derived
 * from what operators do, from the inputs on: an axis keeps the extent of the axis it comes from, by the operator's
 * definition; what no rule speaks of is neither fixed nor like any other. */
#ifndef S0_AFFINE_EXTENTS_H
#define S0_AFFINE_EXTENTS_H

#include "graph/graph.h"

typedef struct {
    uint32_t value_count;
    uint32_t (*ids)[SHAPE_MAX_RANK]; /* value, axis -> 0 where it is fixed; else equal ids are equal extents */
    bool *is_bound;                  /* value -> a constant that was computed from an extent that is not fixed */
} Extents;

/* needs   shapes, of the same model with other values of its free dimensions too: inputs differ where they are free */
Extents extents_find(const Graph *graph, const Graph *other, Arena *arena);

#endif
