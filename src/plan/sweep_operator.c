/* Any one operator as a sweep: its output is the map that is cut; of each input it reads what node_reach says. */
#include "plan/making.h"

#include "base/fault.h"
#include "node/input.h"
#include "node/reach.h"
#include "node/table.h"
#include "plan/declared.h"
#include "plan/whole.h"

#include <string.h>

/* ---- Reach, by dimension */

/* Is the axis all there is of its dimension? Others of more than one index may be stored as the same one. */
static bool is_alone(const Tensor *tensor, uint32_t axis) {
    for (uint32_t other = 0; other < tensor->shape->rank; other++) {
        if (other != axis && tensor->shape->dim[other] > 1 && tensor_dim(tensor, other) == tensor_dim(tensor, axis)) {
            return false;
        }
    }
    return true;
}

static void read_all(SweepOperand *operand) {
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        operand->reach[d] = (Reach){.of = REACH_ALL, .stride = 1, .window = 1};
    }
}

/* Where several axes are one dimension, of either side, all of it is read. */
static void set_reach(const Tensor *tensor, const Tensor *map, const AxisReach *axes, SweepOperand *operand) {
    read_all(operand);
    for (uint32_t axis = 0; axis < tensor->shape->rank; axis++) {
        uint32_t d = (uint32_t)tensor_dim(tensor, axis);
        if (tensor->shape->dim[axis] <= 1 || axes[axis].axis == REACH_NO_AXIS || !is_alone(tensor, axis) ||
            !is_alone(map, (uint32_t)axes[axis].axis)) {
            continue;
        }
        operand->reach[d] = (Reach){.of = (uint32_t)tensor_dim(map, (uint32_t)axes[axis].axis),
                                    .stride = axes[axis].stride,
                                    .before = axes[axis].before,
                                    .window = axes[axis].window,
                                    .grain = view_grain(&operand->whole, (Dim)d)};
    }
}

/* Operators that work element by element go along by the names of the dimensions. */
void reach_operand(const Making *making, const AxisReach *axes, const Tensor *tensor, SweepOperand *operand) {
    const Graph *graph = making->builder->plan->graph;
    const Node *node = graph_node(graph, making->planned->nodes[0]);
    const Tensor map = tensor_of_value(node_output(graph, node, 0), ROLE_ACTIVATION);
    if (node_is_elementwise(node)) {
        sweep_follow(operand, &making->planned->sweep.out.shape);
    } else {
        set_reach(tensor, &map, axes, operand);
    }
}

static uint32_t cut_dims(const Tensor *map, uint32_t axes) {
    uint32_t cut = SWEEP_ALL_DIMS;
    for (uint32_t axis = 0; axis < map->shape->rank; axis++) {
        bool is_free = (axes >> axis & 1) != 0 || map->shape->dim[axis] <= 1;
        cut &= is_free ? SWEEP_ALL_DIMS : ~(1u << tensor_dim(map, axis));
    }
    return cut;
}

/* ---- Operands */

static bool add_state(Making *making, ValueId id) {
    PlannedSweep *planned = making->planned;
    return lower_value(making->builder, id, &planned->states[planned->state_count++]);
}

/* As parameter `at`. */
static bool add_constant(Making *making, uint32_t k, uint32_t at, SweepParam *param) {
    Buffer *copy = &making->param_copy[at], *read = &making->param_read[at];
    return lower_copy(making->builder, making->planned->nodes[0], k, &param->far, copy, read) &&
           make_param(making, param, copy, read, &making->params[at]);
}

/* What the operator reads beside its first map. */
static bool add_input(Making *making, const NodeReach *reach, uint32_t k) {
    PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    ValueId id = graph_node(graph, planned->nodes[0])->inputs[k];
    uint32_t at = planned->sweep.param_count;
    SweepParam param = {.input = k, .far = NO_BUFFER, .local = {NO_BUFFER, NO_BUFFER}, .form = NO_BUFFER};
    bool is_constant = graph_value(graph, id)->constant != NULL;
    if (!(is_constant ? add_constant(making, k, at, &param) : make_param_map(making, id, at, &param))) {
        return false;
    }
    if (k == TABLE_INPUT && node_has_table(graph, graph_node(graph, planned->nodes[0]))) {
        read_all(&making->params[at]); /* whatever the tile */
    } else {
        const Tensor tensor = tensor_of_buffer(graph, &making->param_copy[at]);
        reach_operand(making, reach->input[k], &tensor, &making->params[at]);
    }
    planned->params[at] = param;
    planned->uses[planned->use_count++] = (SweepUse){0, at};
    planned->sweep.param_count++;
    return true;
}

static bool add_inputs(Making *making, const NodeReach *reach, uint32_t first) {
    const Graph *graph = making->builder->plan->graph;
    const Node *node = graph_node(graph, making->planned->nodes[0]);
    bool done = true;
    for (uint32_t k = 0; done && k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        if (value == NULL || k == first || dtype_bits(value->dtype) == 0) {
            continue;
        }
        if (value->constant != NULL && is_configuration(making->builder, node, k)) {
            count_configuration(making->builder, node->inputs[k]);
        } else {
            done = value->is_state ? add_state(making, node->inputs[k]) : add_input(making, reach, k);
        }
    }
    return done;
}

/* ---- The operator */

void describe_operator(const Making *making, const NodeReach *reach) {
    Sweep *sweep = &making->planned->sweep;
    Arena *keep = &making->builder->work->keep;
    const Graph *graph = making->builder->plan->graph;
    const Node *node = graph_node(graph, making->planned->nodes[0]);
    const Tensor map = tensor_of_value(node_output(graph, node, 0), ROLE_ACTIVATION);
    uint32_t *count = arena_new(keep, uint32_t), *bits = arena_new(keep, uint32_t);
    *count = 1;
    *bits = sweep->in.shape.bits > sweep->out.shape.bits ? sweep->in.shape.bits : sweep->out.shape.bits;
    sweep->stage_count = count;
    sweep->stage_bits = bits;
    sweep->macs = reach->macs;
    sweep->passes = reach->passes;
    sweep->is_copy = column_of(node) == COLUMN_COPY;
    sweep->cut = cut_dims(&map, reach->cut);
    const DeviceOperator *declared = declared_operator(making->builder->plan, node);
    sweep->workspace_bytes = declared_workspace_bytes(making->builder->plan, node);
    sweep->align_bytes = declared == NULL ? 0 : declared->align_bytes;
    sweep->may_write_over = node_is_elementwise(node) ||
                            (declared_may_alias(making->builder->plan, node) && node_first_map(graph, node) == 0);
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        sweep->may_write_over = sweep->may_write_over && sweep->in.shape.extent[d] == sweep->out.shape.extent[d];
    }
}

bool build_operator(Builder *builder, NodeId id, bool *is_sweep) {
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, id);
    uint32_t first = (uint32_t)node_first_map(graph, node); /* operator_takes_parts: there is one */
    PlannedSweep planned;
    Making making = {.builder = builder, .planned = &planned};
    *is_sweep = false;
    bool ok = op_info(node->op)->kind != KIND_CONCAT || build_concat(builder, id, is_sweep);
    if (!ok || *is_sweep || node->input_count > SWEEP_MOST_PARAMS) {
        return ok;
    }
    NodeReach reach = node_reach(graph, node, &builder->work->scratch);
    init_planned(builder, &id, 1, &planned);
    init_params(&making, node->input_count);
    planned.states = arena_array(&builder->work->keep, BufferId, node->input_count);
    ValueId in = node->inputs[first], out = node->outputs[0];
    bool stores = sweep_stores(builder, out) && !node_has_state(graph, node);
    if (!make_map(&making, in, sweep_loads(builder, in), &planned.in_far, &planned.in_local[0], &planned.sweep.in) ||
        !make_map(&making, out, stores, &planned.out_far, &planned.out_local[0], &planned.sweep.out) ||
        !add_inputs(&making, &reach, first)) {
        *is_sweep = false;
        return making.is_too_deep;
    }
    const Tensor tensor = tensor_of_value(graph_value(graph, in), ROLE_ACTIVATION);
    reach_operand(&making, reach.input[first], &tensor, &planned.sweep.in);
    sweep_follow(&planned.sweep.out, &planned.sweep.out.shape);
    describe_operator(&making, &reach);
    return finish_sweep(&making, out, is_sweep);
}
