/* An order of the operators that has less alive at once than the order of the file. */
#ifndef S0_PLAN_REORDER_H
#define S0_PLAN_REORDER_H

#include "plan/builder.h"

typedef struct {
    const Graph *graph; /* in the order that was found, in `keep`; null where sums do not fit */
    uint32_t moved;     /* operators, or sweeps, that stand at another place */
    bool has_choice;    /* there is more than one order, or may be */
    bool is_bound;      /* whatever the order, a plan with the draft's views has `bound_bytes` alive at a step */
    uint64_t bound_bytes, peak_bytes, given_peak_bytes; /* as the search counts them */
} Reordering;

/* Of a plan in the order of the file, with all maps in local memory. */
Reordering reorder(const Plan *draft, Work *work);

#endif
