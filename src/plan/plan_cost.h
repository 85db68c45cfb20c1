/* What all steps of a plan cost, one after another on the clocks of the device's queues: docs/simulator.md. */
#ifndef S0_PLAN_PLAN_COST_H
#define S0_PLAN_PLAN_COST_H

#include "plan/plan.h"

typedef struct {
    ColumnCost column[COLUMN_COUNT]; /* one command of several operators: its issue is the first's, stages are each's */
    uint64_t syncs, cycles;
    uint64_t unbooked_steps; /* whose moves are not known: not in the figures */
    uint64_t assumed_steps;  /* of operators whose work is not known: one pass over what they make */
} PlanCost;

/* Buffers that hold their constants already are not loaded: `is_held`, one a buffer; null: none is. False where a sum
 * does not fit 64 bits. */
bool plan_cost(const Plan *plan, const bool *is_held, Arena *scratch, PlanCost *cost);

/* Of one sweep, as if it were alone. */
bool plan_cost_of_sweep(const Plan *plan, const PlannedSweep *planned, PlanCost *cost);

/* False where a sum does not fit 64 bits. */
bool column_cost_add(ColumnCost *sum, const ColumnCost *column);

#endif
