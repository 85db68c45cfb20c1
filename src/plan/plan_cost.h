/* What all steps of a plan cost, one after another on the clocks of the device's queues: docs/simulator.md. */
#ifndef S0_PLAN_PLAN_COST_H
#define S0_PLAN_PLAN_COST_H

#include "plan/plan.h"

typedef struct {
    ColumnCost column[COLUMN_COUNT]; /* one command of several operators: its issue is the first's, stages are each's */
    uint64_t syncs, cycles;
    uint64_t unbooked_steps; /* what computes outside a sweep, and moves that are not known: not in the figures */
} PlanCost;

/* False where a sum does not fit 64 bits. */
bool plan_cost(const Plan *plan, PlanCost *cost);

/* The same where buffers hold their constants already, which are not loaded: `is_held`, one a buffer. */
bool plan_cost_held(const Plan *plan, const bool *is_held, Arena *scratch, PlanCost *cost);

/* Of one sweep, as if it were alone. */
bool plan_cost_of_sweep(const Plan *plan, const PlannedSweep *planned, PlanCost *cost);

/* False where a sum does not fit 64 bits. */
bool column_cost_add(ColumnCost *sum, const ColumnCost *column);

#endif
