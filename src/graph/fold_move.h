/* Operators that move, join, repeat or reduce small constants, and those that generate them. */
#ifndef S0_GRAPH_FOLD_MOVE_H
#define S0_GRAPH_FOLD_MOVE_H

#include "graph/fold_tensor.h"

typedef struct {
    const Graph *graph;
    Arena *scratch;
    const Node *node;
    uint64_t *budget_elems;
} Fold;

/* Evaluates output `k`, whose shape the operator's rule gave as `out->shape`, into its cells. False where the operator
 * is not one of these, or an input's elements are not known. */
bool fold_move(const Fold *fold, uint32_t k, Tensor *out);

#endif
