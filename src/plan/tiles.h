/* What cutting element-wise operators into rows would save: a remedy of a plan that does not fit. */
#ifndef S0_PLAN_TILES_H
#define S0_PLAN_TILES_H

#include "plan/plan.h"

/* The peak where element-wise operators hold one row of each of their maps; the plan's own where there are none. */
uint64_t tiled_peak_bytes(const Plan *plan, Arena *scratch);

#endif
