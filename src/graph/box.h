/* Boxes: where the outputs of Slice and Split lie in their input, and the inputs of Concat in their output. */
#ifndef S0_GRAPH_BOX_H
#define S0_GRAPH_BOX_H

#include "graph/graph.h"

/* Parts from this one on get no box: each is found by going through those before it. */
enum { BOX_MOST_PARTS = 512 };

/* A part of a tensor: from `begin`, of `extent` elements along each axis, without gaps. */
typedef struct {
    int64_t begin[SHAPE_MAX_RANK];
    Shape extent; /* the part, with the rank of the whole */
} Box;

/* Index of the input that is sliced, split or reshaped: the first with role x or p. */
uint32_t node_data_input(const Node *node);

/* The box of output `k` of a node of KIND_SLICE in its data input. False where it has gaps or runs backwards (steps
 * other than 1), where begin is not a known constant, and from BOX_MOST_PARTS on. */
bool node_slice_box(const Graph *graph, const Node *node, uint32_t k, Arena *scratch, Box *box);

/* The axis of a Concat that names none: ONNX's default was 1, and went with opset 4. */
int64_t concat_axis_absent(const Graph *graph, const Node *node);

/* The box of input `k` of a node of KIND_CONCAT in output 0. False where the axis is not known, and from
 * BOX_MOST_PARTS on. */
bool node_concat_box(const Graph *graph, const Node *node, uint32_t k, Box *box);

/* The permutation of a node of KIND_TRANSPOSE: axis k of the output is axis perm[k] of the input. */
bool node_permutation(const Graph *graph, const Node *node, Arena *scratch, uint32_t perm[SHAPE_MAX_RANK]);

#endif
