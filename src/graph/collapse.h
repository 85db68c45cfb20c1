/* Constants that repeat along axes, stored once: the form is bit-identical, -0 and NaN included. */
#ifndef S0_GRAPH_COLLAPSE_H
#define S0_GRAPH_COLLAPSE_H

#include "graph/graph.h"

/* The smallest shape that holds the same bits as the constant's bytes: extents that repeat become 1. */
Shape const_smallest(const Value *value);

/* The elements of a known constant that its smallest shape `smallest` keeps, packed. */
Span const_collapse(const Value *value, const Shape *smallest, Arena *keep);

#endif
