/* What qdq.c and qdq_move.c share. */
#ifndef S0_GRAPH_QDQ_H
#define S0_GRAPH_QDQ_H

#include "graph/passes.h"

/* Are scale and zero point that the Quantize or Dequantize `coder` is given those that `coded` carries? */
bool qdq_coding_is_its_own(const Graph *graph, const Node *coder, const Value *coded, Arena *scratch);

/* Of one dtype, scale and zero point? */
bool qdq_same_codes(const Value *a, const Value *b);

/* Is input `k` data, whose codes could take its place? */
bool qdq_is_operand(const Node *node, uint32_t k);

/* The elements of the outputs are elements of the inputs: there is no arithmetic to requantise in. */
bool qdq_only_moves(OpId op);

/* Dequantize goes below, Quantize above, operators that only move elements. */
void qdq_move(Graph *graph, Work *work);

#endif
