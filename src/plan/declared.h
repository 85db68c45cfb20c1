/* What the device file declares of operators that no specification tells: [operator NAME]. Private to the room. */
#ifndef S0_PLAN_DECLARED_H
#define S0_PLAN_DECLARED_H

#include "plan/builder.h"

/* What is declared of the node; null where it is no custom operator, or nothing is. */
const DeviceOperator *declared_operator(const Plan *plan, const Node *node);

/* Of one lane; 0 where nothing is declared. */
uint64_t declared_workspace_bytes(const Plan *plan, const Node *node);

/* May the node's first output take the place of its first input, where that has the same elements at the same
 * addresses? */
bool declared_may_alias(const Plan *plan, const Node *node);

/* What whoever reads or writes the value declares, in the memory where they do; else 1. */
uint64_t declared_align_bytes(const Builder *builder, ValueId value, uint32_t memory);

/* What a part of a tensor has to lie at a multiple of, so that it and whatever is a view of it is aligned as the nodes
 * of the graph declare; 1 where they declare nothing. */
uint64_t declared_part_align_bytes(const Plan *plan);

#endif
