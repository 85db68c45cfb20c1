/* What the files of graph_assign_names share. */
#ifndef S0_GRAPH_NAMES_H
#define S0_GRAPH_NAMES_H

#include "graph/passes.h"

enum { AXIS_NONE = -1 };

/* Outputs [first, last) whose axes input `k` of the node shares; empty where it shares none. */
void names_outputs_of(const Node *node, uint32_t k, uint32_t *first, uint32_t *last);

/* For each axis of input `k` the axis of output `o` that is the same dimension, by the operator's definition and by
 * aligned position; AXIS_NONE where there is none. False where the operator relates no axis of the two. */
bool names_align(const Graph *graph, const Node *node, uint32_t k, uint32_t o, Arena *scratch, int to[SHAPE_MAX_RANK]);

/* Names by rule: channel second N C H W, right-aligned N H W C. */
void names_channel_second(uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]);
void names_right_aligned(uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]);

/* Names of the data of a node with OP_CHANNEL_SECOND: channel second, but where a normalisation states its channel
 * axis. */
void names_of_map(const Node *node, uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]);

/* Names of weights, input `k` of role w, by the operator's definition. */
void names_of_weights(const Graph *graph, const Node *node, uint32_t k, uint8_t dims[SHAPE_MAX_RANK]);

/* The map's channels, when names are assigned: the axis that is called C, where exactly one is; else what the format
 * defines (ONNX 1, TFLite the last). */
int32_t names_channel_axis(const Graph *graph, const Value *map);

#endif
