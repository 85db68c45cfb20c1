/* A node's inputs: which of them are maps or states, and along which axes of its map they lie. That follows from the
 * operator's definition or from aligned position, never from a size. */
#ifndef S0_NODE_INPUT_H
#define S0_NODE_INPUT_H

#include "graph/graph.h"

/* Is it read as a map: neither a constant nor a state? Null is none. */
static inline bool value_is_map(const Value *value) {
    return value != NULL && value->constant == NULL && !value->is_state;
}

enum { NO_INPUT = -1 };

/* The first input that is a map; NO_INPUT. */
int32_t node_first_map(const Graph *graph, const Node *node);

/* Does it go on from a state, and leave it for the next run? */
bool node_has_state(const Graph *graph, const Node *node);

/* Does it have bytes? Null has none. */
bool value_has_elements(const Value *value);

/* Does it make each element of its output of one element of each input? */
bool node_is_elementwise(const Node *node);

static inline bool node_has_axis(const Value *map, int32_t axis) {
    return axis >= 0 && axis < (int32_t)map->shape.rank;
}

/* Of input `k`, a list of one number a slice: which axis its operator defines. It may be none of the map's: see
 * node_has_axis. */
int32_t node_defined_axis(const Graph *graph, const Node *node, uint32_t k);

/* The axis of the map that axis 0 of an operand is aligned with. */
int32_t node_aligned_start(const Node *node, const Value *map, const Shape *shape);

/* What this reader calls the axes of its input `k`. */
void node_input_names(const Graph *graph, const Node *node, uint32_t k, uint8_t dims[SHAPE_MAX_RANK]);

/* Which axes of input 0 a reduction goes over, a set. False where they are not known. */
bool node_reduced_axes(const Graph *graph, const Node *node, Arena *arena, uint32_t *reduced);

#endif
