/* What the engine does at a step over whole maps, outside any sweep: the rules of docs/simulator.md. Private to the
 * room. */
#ifndef S0_PLAN_WHOLE_COST_H
#define S0_PLAN_WHOLE_COST_H

#include "plan/plan.h"

/* Cycles of the stages of an operator over all that it makes, without any issue. `is_assumed`: how much work it is, is
 * not known, and it counts as one pass over its outputs. False where it does not fit 64 bits. */
bool whole_work(const Plan *plan, const Node *node, Arena *scratch, uint64_t *cycles, bool *is_assumed);

/* Is the work of an operator that goes as a sweep assumed so? */
bool whole_work_is_assumed(const Graph *graph, const Node *node, Arena *scratch);

#endif
