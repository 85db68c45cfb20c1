/* Element-wise operators on cells. */
#ifndef S0_GRAPH_FOLD_ELEMENT_H
#define S0_GRAPH_FOLD_ELEMENT_H

#include "graph/fold_tensor.h"

/* Are the element types such that `node`, of operands `x`, is evaluated to elements of `to`? */
bool fold_element_fits(const Node *node, const Tensor *x, uint32_t count, DType to);

/* Evaluates `node` (an element-wise operator) on its inputs' cells, one of each, all of dtype `dtype`. False where the
 * operator is not evaluated here or has no value (division by 0, a cast out of range). */
bool fold_element(const Node *node, DType dtype, const Cell *x, uint32_t count, Cell *out);

/* x of dtype `from` as dtype `to`. False where it is out of range. */
bool fold_cast(DType from, DType to, Cell x, Cell *out);

#endif
