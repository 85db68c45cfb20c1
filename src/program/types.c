/* The types that operators compute on, beside those that a device file lists. What only moves has none. */
#include "program/builder.h"

#include "graph/box.h"

static bool computes(const Device *device, DType dtype) {
    return (device->dtypes >> dtype & 1) != 0;
}

/* What goes into a stage and comes out; what a sum has within is the unit's own. */
static DType missing_of_stage(const Device *device, const Stage *stage) {
    bool takes = stage->kind == STAGE_ACC_REQUANTIZE || computes(device, stage->from);
    return !takes ? stage->from : !computes(device, stage->to) ? stage->to : DTYPE_NONE;
}

static DType missing_of_chain(const Device *device, const PlannedSweep *planned, uint32_t *at) {
    for (uint32_t n = 0; n < planned->node_count; n++) {
        for (uint32_t s = 0; s < planned->stages[n].count; s++) {
            DType missing = missing_of_stage(device, &planned->stages[n].stage[s].stage);
            if (missing != DTYPE_NONE) {
                *at = n;
                return missing;
            }
        }
    }
    return DTYPE_NONE;
}

static DType missing_of_command(const Plan *plan, const PlannedSweep *planned) {
    const Node *node = graph_node(plan->graph, planned->nodes[0]);
    const NodeCommand *command = plan_command(plan, planned->nodes[0]);
    const Value *value[] = {node_input(plan->graph, node, node_data_input(node)), node_output(plan->graph, node, 0),
                            node_input(plan->graph, node, WINDOW_WEIGHTS)};
    uint32_t count = command != NULL && command->op == CMD_CONV ? 3 : 2;
    bool moves = command == NULL || command->op == CMD_COPY || command->op == CMD_PAD;
    for (uint32_t k = 0; !moves && k < count; k++) {
        if (value[k] != NULL && !computes(plan->device, value[k]->dtype)) {
            return value[k]->dtype;
        }
    }
    return DTYPE_NONE;
}

/* A type that the device does not compute; DTYPE_NONE: there is none. `at`: of which node of the sweep. */
static DType missing_type(const Plan *plan, const PlannedSweep *planned, uint32_t *at) {
    *at = 0;
    return planned->stages != NULL ? missing_of_chain(plan->device, planned, at) : missing_of_command(plan, planned);
}

bool program_has_types(const Plan *plan, const PlannedSweep *planned) {
    uint32_t at;
    return missing_type(plan, planned, &at) == DTYPE_NONE;
}

bool program_check_types(const ProgramBuilder *builder, const PlannedSweep *planned) {
    const Plan *plan = builder->plan;
    Arena *arena = builder->work->diags.arena;
    uint32_t at;
    DType missing = missing_type(plan, planned, &at);
    if (missing == DTYPE_NONE) {
        return true;
    }
    const DeviceFact *fact = device_fact(plan->device, "engine", "dtypes");
    return diag_refuse(
        &builder->work->diags,
        (DiagText){.node = node_title(arena, graph_node(plan->graph, planned->nodes[at])),
                   .what = "no command runs this operator: it computes on a type that the device does not",
                   .got = dtype_name(missing),
                   .expected = arena_text(arena, "[engine] dtypes of the device file: %.*s", (int)fact->value.len,
                                          fact->value.ptr),
                   .hint = "add the type to dtypes of the device file, or choose another device"});
}
