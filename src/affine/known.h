/* Operators as this house knows them: only of such a node is anything derived.
 *
 * A later opset or another attribute can give an operator another meaning: DequantizeLinear's output_dtype of opset 23
 * makes float16 of what was float32. Such a node stays, takes part in no proof, and what it makes of constants is none
 * that a rule reads; that it is given the same values in other tensors, or that nobody reads it, needs no meaning. */
#ifndef S0_AFFINE_KNOWN_H
#define S0_AFFINE_KNOWN_H

#include "graph/graph.h"

/* Null, or why the node may mean what is not known here. TFLite's fields and versions import checks. */
const char *known_why_not(const Graph *graph, const Node *node, Arena *arena);

static inline bool known_is(const Graph *graph, const Node *node, Arena *arena) {
    return known_why_not(graph, node, arena) == NULL;
}

#endif
