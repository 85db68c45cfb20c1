/* What all steps of a plan cost, one after another on the clocks of the device's queues: docs/simulator.md. */
#ifndef S0_PLAN_PLAN_COST_H
#define S0_PLAN_PLAN_COST_H

#include "plan/plan.h"

typedef struct {
    ColumnCost column[SWEEP_KINDS]; /* of all sweeps; whole loads and stores too */
    uint64_t syncs, cycles;
    bool is_complete; /* all steps are of sweeps, or move whole tensors: others are not booked */
} PlanCost;

/* False where a sum does not fit 64 bits. */
bool plan_cost(const Plan *plan, PlanCost *cost);

#endif
