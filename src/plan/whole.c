/* Why an operator works on whole maps. What stands in its own way is told first, then what the plan had no need of. */
#include "plan/whole.h"

#include "node/input.h"
#include "node/reach.h"
#include "plan/builder.h"

const char *whole_reason_name(WholeReason reason) {
    static const char *const name[] = {
        [WHOLE_NONE] = NULL,         [WHOLE_ROOM] = "room",         [WHOLE_OPTION] = "option",
        [WHOLE_OUTPUTS] = "outputs", [WHOLE_INPUTS] = "inputs",     [WHOLE_STATE] = "state",
        [WHOLE_MAP] = "map",         [WHOLE_OPERATOR] = "operator", [WHOLE_ELEMENTS] = "elements",
        [WHOLE_LAYOUT] = "layout",   [WHOLE_GAIN] = "gain"};
    return name[reason];
}

/* ---- What stands in the way of any plan */

/* Has it a map, and elements in all that it reads? */
static bool reads_maps(const Graph *graph, const Node *node) {
    bool has_map = false, has_all = true;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        has_map = has_map || value_is_map(value);
        has_all = has_all && (value == NULL || value->constant != NULL || value_has_elements(value));
    }
    return has_map && has_all;
}

WholeReason operator_obstacle(const Graph *graph, NodeId id) {
    const Node *node = graph_node(graph, id);
    OpKind kind = op_info(node->op)->kind;
    if (kind == KIND_CONTROL || kind == KIND_STATE) {
        return WHOLE_STATE;
    }
    if (node->output_count != 1) {
        return WHOLE_OUTPUTS;
    }
    if (node->input_count > SWEEP_MOST_PARAMS && kind != KIND_CONCAT) {
        return WHOLE_INPUTS;
    }
    if (node_output(graph, node, 0) != NULL && node_output(graph, node, 0)->is_state) {
        return WHOLE_STATE;
    }
    bool has_map = kind != KIND_CONSTANT && !node->is_constant && value_has_elements(node_output(graph, node, 0)) &&
                   reads_maps(graph, node);
    return has_map ? WHOLE_NONE : WHOLE_MAP;
}

/* Along which axes of more than one index does its definition let it be cut? */
static WholeReason reach_obstacle(const Graph *graph, const Node *node, Arena *scratch) {
    const NodeReach reach = node_reach(graph, node, scratch);
    const Value *out = node_output(graph, node, 0);
    for (uint32_t axis = 0; out != NULL && axis < out->shape.rank; axis++) {
        if ((reach.cut >> axis & 1) != 0 && out->shape.dim[axis] > 1) {
            return WHOLE_NONE;
        }
    }
    return reach.is_known ? WHOLE_ELEMENTS : WHOLE_OPERATOR;
}

/* ---- Of a plan */

bool step_is_operator(const Plan *plan, const Step *step) {
    return is_node(step->node) && !column_is_transfer(step->column) &&
           step->column == column_of(graph_node(plan->graph, step->node));
}

static WholeReason sweep_reason(const Plan *plan, const PlannedSweep *planned, Arena *scratch) {
    const Sweep *sweep = &planned->sweep;
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        if ((sweep->cut >> d & 1) != 0 && sweep->out.shape.extent[d] > 1) {
            return plan->options.whole_tiles ? WHOLE_OPTION : WHOLE_NONE;
        }
    }
    if (planned->stages != NULL) {
        return sweep->in.is_far || sweep->out.is_far ? WHOLE_LAYOUT : WHOLE_ROOM;
    }
    WholeReason obstacle = reach_obstacle(plan->graph, graph_node(plan->graph, planned->nodes[0]), scratch);
    return obstacle == WHOLE_NONE ? WHOLE_LAYOUT : obstacle;
}

static WholeReason step_reason(const Plan *plan, const Step *step, Arena *scratch) {
    WholeReason obstacle = operator_obstacle(plan->graph, step->node);
    if (obstacle == WHOLE_NONE) {
        obstacle = reach_obstacle(plan->graph, graph_node(plan->graph, step->node), scratch);
    }
    if (obstacle != WHOLE_NONE) {
        return obstacle;
    }
    if (plan->has_no_tile[step->node.index]) {
        return WHOLE_LAYOUT;
    }
    return plan->options.whole_tiles                  ? WHOLE_OPTION
           : step->live_bytes <= plan->capacity_bytes ? WHOLE_ROOM
                                                      : WHOLE_GAIN;
}

WholeReason plan_whole_reason(const Plan *plan, const Step *step, Arena *scratch) {
    if (plan->device->kind != DEVICE_SCRATCHPAD || !step_is_operator(plan, step)) {
        return WHOLE_NONE;
    }
    return step->sweep == NOT_IN_SWEEP ? step_reason(plan, step, scratch)
                                       : sweep_reason(plan, &plan->sweeps[step->sweep], scratch);
}
