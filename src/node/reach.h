/* Reach: which part of each input an operator reads to make a part of its output.
 *
 * It follows from the operators' definitions, axis by axis. An operator that is not known here, or that makes more than
 * one output, reads all of every input and is not cut. */
#ifndef S0_NODE_REACH_H
#define S0_NODE_REACH_H

#include "graph/graph.h"

enum { REACH_NO_AXIS = -1 };

/* Of one axis of an input: a window of `window` elements, which begins at index * stride - before of axis `axis` of the
 * output. REACH_NO_AXIS: all of it is read, whatever part of the output is made. */
typedef struct {
    int32_t axis;
    uint64_t stride;
    int64_t before; /* negative where the window begins further on */
    uint64_t window;
} AxisReach;

typedef struct {
    bool is_known;   /* the definition says what parts need; else all of every input is read */
    uint32_t cut;    /* set of axes of output 0 along which parts may be made one after another */
    uint64_t macs;   /* products that an element of the output is the sum of; 0 where it is none */
    uint64_t passes; /* elements of an input that one of the output is made of, where it is no sum of products */
    AxisReach (*input)[SHAPE_MAX_RANK]; /* of each input; constants that are broadcast go along by their names */
} NodeReach;

/* Number `k` of an attribute that lists one for each spatial axis, none of them negative. */
uint64_t node_spatial_number(const Node *node, const char *name, uint32_t k, uint64_t absent);

/* needs   shapes, names */
NodeReach node_reach(const Graph *graph, const Node *node, Arena *arena);

#endif
