/* Why an operator works on whole maps where others go tile by tile: docs/tiles.md. */
#ifndef S0_PLAN_WHOLE_H
#define S0_PLAN_WHOLE_H

#include "plan/plan.h"

typedef enum {
    WHOLE_NONE,     /* it goes by tiles, or might, in one; or there are none on this device */
    WHOLE_ROOM,     /* there is room for its whole maps */
    WHOLE_OPTION,   /* --tile none */
    WHOLE_OUTPUTS,  /* it makes more than one output, or none */
    WHOLE_INPUTS,   /* it has more inputs than a sweep takes */
    WHOLE_STATE,    /* it makes state, or other operators run inside it */
    WHOLE_MAP,      /* no input is a map with elements that parts could be loaded of */
    WHOLE_OPERATOR, /* which part of its inputs a part of its output needs is not known */
    WHOLE_ELEMENTS, /* an element of its output may need all of its input */
    WHOLE_LAYOUT,   /* no part of it has a layout, or is as short as a transfer */
    WHOLE_GAIN,     /* it might go by tiles, but the network would need no less */
} WholeReason;

/* Of an operator that makes parts of nothing, whatever the plan; else WHOLE_NONE. */
WholeReason operator_obstacle(const Graph *graph, NodeId node);

/* May parts of its output be made one after another, as far as that depends on no plan? */
static inline bool operator_takes_parts(const Graph *graph, NodeId node) {
    return operator_obstacle(graph, node) == WHOLE_NONE;
}

/* Does an operator run at the step, rather than a load, a store, or the making of a parameter's form? */
bool step_is_operator(const Plan *plan, const Step *step);

/* WHOLE_NONE where no operator runs at the step. */
WholeReason plan_whole_reason(const Plan *plan, const Step *step, Arena *scratch);

const char *whole_reason_name(WholeReason reason); /* "outputs"; null of WHOLE_NONE */

#endif
