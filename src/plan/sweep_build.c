/* Sweeps in a plan: operands, the choice, buffers of a tile. sweep_steps.c lists the steps. */
#include "plan/builder.h"

#include "base/checked.h"
#include "base/fault.h"

#include <string.h>

typedef struct {
    Builder *builder;
    PlannedSweep *planned;
    Buffer *param_copy; /* whole local copies, as records */
    SweepOperand *params;
    bool is_too_deep; /* a view can't tell it: too many levels, or a part of several axes that are one dimension */
} Making;

/* ---- What may be a sweep */

/* No operator of another sweep or step reads it in local memory: it is loaded, or it only goes out. */
static bool is_far_input(const Builder *builder, ValueId id) {
    const Value *value = graph_value(builder->plan->graph, id);
    uint32_t readers = builder->uses.first[id.index + 1] - builder->uses.first[id.index];
    return value->is_input && value->constant == NULL && !value->is_output && readers == 1 &&
           !is_buffer(builder->plan->of_value[id.index]);
}

static bool is_far_output(const Builder *builder, ValueId id) {
    return graph_value(builder->plan->graph, id)->is_output &&
           builder->uses.first[id.index + 1] == builder->uses.first[id.index];
}

/* Does the parameter have, in each dimension, one element or as many as the map? */
static bool fits_map(const LayoutShape *param, const LayoutShape *map) {
    bool fits = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        fits = fits && (param->extent[d] == 1 || param->extent[d] == map->extent[d]);
    }
    return fits;
}

static bool has_elements(const Value *value) {
    uint64_t elements;
    bool has_bytes = !value->is_sequence && value->has_shape && dtype_bits(value->dtype) > 0;
    return has_bytes && shape_elements(&value->shape, &elements) && elements > 0;
}

/* Parameters are constants, or the caller gives them: what another operator makes is in local memory. */
static bool has_far_params(const Graph *graph, const Node *node, const NodeStages *stages) {
    bool far = true;
    for (uint32_t s = 0; s < stages->count; s++) {
        for (uint32_t p = 0; p < stages->stage[s].param_count; p++) {
            const Value *value = node_input(graph, node, stages->stage[s].param[p].input);
            far = far && (value->constant != NULL || value->is_input);
        }
    }
    return far;
}

bool sweep_is_possible(const Builder *builder, const NodeId *nodes, uint32_t count) {
    const Graph *graph = builder->plan->graph;
    uint32_t stages = 0;
    NodeStages of;
    const char *why;
    for (uint32_t i = 0; i < count; i++) {
        const Node *node = graph_node(graph, nodes[i]);
        if (!node_stages(graph, node, &of, &why) || !has_elements(graph_value(graph, node->outputs[0])) ||
            !has_far_params(graph, node, &of) ||
            (of.is_spread && (i > 0 || !is_far_input(builder, node->inputs[of.data_input])))) {
            return false;
        }
        stages += of.count;
    }
    return stages <= SWEEP_MOST_STAGES;
}

/* ---- Operands */

static bool whole_view(Making *making, const Buffer *buffer, bool is_far, View *view) {
    const Plan *plan = making->builder->plan;
    Tensor tensor = tensor_of_buffer(plan->graph, buffer);
    if (!tensor_view(plan->device, &tensor, &making->builder->work->diags, view)) {
        return false;
    }
    making->is_too_deep = is_far && !view_flatten(view);
    return !making->is_too_deep;
}

/* The map that goes in or comes out: tile by tile from or to far memory, or whole in local memory. */
static bool make_map(Making *making, ValueId id, bool is_far, BufferId *far, BufferId *local, SweepOperand *operand) {
    Builder *builder = making->builder;
    const Value *value = graph_value(builder->plan->graph, id);
    Tensor tensor = tensor_of_value(value, ROLE_ACTIVATION);
    *operand = (SweepOperand){.role = ROLE_ACTIVATION, .is_far = is_far};
    bool is_loaded = is_far || !value->is_input || load_whole(builder, making->planned->nodes[0], id);
    if (!is_loaded || !(is_far ? lower_backing(builder, id, far) : lower_value(builder, id, local))) {
        return false;
    }
    CHECK(tensor_extents(&tensor, &operand->shape));
    return whole_view(making, plan_buffer(builder->plan, is_far ? *far : *local), is_far, &operand->whole);
}

/* Dimension of the view -> what the reader calls it. Those that have one element take the names that are left. False
 * where axes are folded together for one of both only. */
static bool find_names(const Buffer *stored, const uint8_t *read, Dim to[DIM_COUNT]) {
    bool is_named[DIM_COUNT] = {false}, is_taken[DIM_COUNT] = {false};
    for (uint32_t k = 0; k < stored->stored.rank; k++) {
        uint8_t own = stored->dims[k];
        if (stored->stored.dim[k] == 1 || (is_named[own] && to[own] == (Dim)read[k])) {
            continue;
        }
        if (is_named[own] || is_taken[read[k]]) {
            return false;
        }
        to[own] = (Dim)read[k];
        is_named[own] = is_taken[read[k]] = true;
    }
    for (int d = 0, free = 0; d < DIM_COUNT; d++) {
        if (!is_named[d]) {
            free = is_taken[d] ? free : d;
            while (is_taken[free]) {
                free = (free + 1) % DIM_COUNT;
            }
            to[d] = (Dim)free;
            is_taken[free] = true;
        }
    }
    return true;
}

/* A constant lies there as its first reader calls its axes; this one may read it along others. */
static bool rename_view(View *view, const Buffer *stored, const uint8_t *read) {
    LayoutShape shape = view->shape;
    Dim to[DIM_COUNT];
    if (!find_names(stored, read, to)) {
        return false;
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        view->shape.extent[to[d]] = shape.extent[d];
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        view->level[k].dim = to[view->level[k].dim];
    }
    return true;
}

/* The parameter as the engine reads it; `copy` is its whole local copy. */
static bool make_param(Making *making, const SweepParam *param, const Buffer *copy, SweepOperand *operand) {
    Builder *builder = making->builder;
    const Graph *graph = builder->plan->graph;
    const Buffer *far = plan_buffer(builder->plan, param->far);
    Tensor tensor = tensor_of_buffer(graph, copy);
    uint8_t read[SHAPE_MAX_RANK];
    operand_names(graph, graph_node(graph, making->planned->nodes[param->node]), param->input, read);
    *operand = (SweepOperand){.role = copy->role, .is_far = true, .grain_bytes = form_grain(builder, copy)};
    if (!tensor_extents(&tensor, &operand->shape) || !whole_view(making, far, true, &operand->whole)) {
        return false;
    }
    making->is_too_deep = !rename_view(&operand->whole, far, read) || !view_broadcast(&operand->whole, &operand->shape);
    return !making->is_too_deep;
}

/* A map that repeats along axes of `out`: it is loaded as a parameter is that takes the form of the whole map. */
static bool make_spread(Making *making, ValueId id, ValueId out, BufferId *far, SweepOperand *operand) {
    const Plan *plan = making->builder->plan;
    const Value *whole = graph_value(plan->graph, out);
    if (!lower_backing(making->builder, id, far)) {
        return false;
    }
    SweepParam as_param = {.node = 0, .input = making->planned->stages[0].data_input, .far = *far};
    Buffer copy = *plan_buffer(plan, *far);
    copy.stored = whole->shape;
    memcpy(copy.dims, whole->dims, sizeof copy.dims);
    bool is_made = make_param(making, &as_param, &copy, operand);
    operand->grain_bytes = 0;
    return is_made;
}

/* Is it the same constant in the same form as one that is there? */
static bool find_param(const Making *making, const SweepParam *param, const Buffer *copy, uint32_t *at) {
    const PlannedSweep *planned = making->planned;
    for (*at = 0; *at < planned->sweep.param_count; ++*at) {
        const Buffer *other = &making->param_copy[*at];
        if (planned->params[*at].far.index == param->far.index && other->broadcast == copy->broadcast &&
            other->varies == copy->varies && other->physical_bytes == copy->physical_bytes &&
            shape_eq(&other->stored, &copy->stored) && memcmp(other->dims, copy->dims, copy->stored.rank) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_param(Making *making, uint32_t node, uint32_t input) {
    PlannedSweep *planned = making->planned;
    Builder *builder = making->builder;
    SweepParam param = {.node = node, .input = input, .local = {NO_BUFFER, NO_BUFFER}};
    Buffer copy;
    uint32_t at;
    if (!lower_copy(builder, planned->nodes[node], input, &param.far, &copy)) {
        return false;
    }
    bool is_new = !find_param(making, &param, &copy, &at);
    planned->uses[planned->use_count++] = (SweepUse){node, at};
    if (is_new) {
        planned->params[at] = param;
        making->param_copy[at] = copy;
        planned->sweep.param_count++;
    }
    return !is_new || make_param(making, &param, &making->param_copy[at], &making->params[at]);
}

static bool add_node_params(Making *making, uint32_t n) {
    const NodeStages *node = &making->planned->stages[n];
    bool done = true;
    for (uint32_t s = 0; done && s < node->count; s++) {
        for (uint32_t p = 0; done && p < node->stage[s].param_count; p++) {
            done = add_param(making, n, node->stage[s].param[p].input);
        }
    }
    return done;
}

static bool add_params(Making *making) {
    PlannedSweep *planned = making->planned;
    Arena *keep = &making->builder->work->keep;
    uint32_t most = planned->node_count * NODE_MOST_STAGES * STAGE_MOST_PARAMS;
    planned->params = arena_array(keep, SweepParam, most);
    planned->uses = arena_array(keep, SweepUse, most);
    making->params = arena_array(keep, SweepOperand, most);
    making->param_copy = arena_array(keep, Buffer, most);
    planned->sweep.params = making->params;
    bool done = true;
    for (uint32_t n = 0; done && n < planned->node_count; n++) {
        done = add_node_params(making, n);
    }
    return done;
}

/* ---- Stages */

static void describe_stages(const Making *making) {
    PlannedSweep *planned = making->planned;
    Sweep *sweep = &planned->sweep;
    Arena *keep = &making->builder->work->keep;
    uint32_t *counts = arena_array(keep, uint32_t, planned->node_count);
    uint32_t *bits = arena_array(keep, uint32_t, SWEEP_MOST_STAGES);
    uint32_t *between = arena_array(keep, uint32_t, planned->node_count);
    uint32_t at = 0;
    for (uint32_t n = 0; n < planned->node_count; n++) {
        const NodeStages *node = &planned->stages[n];
        counts[n] = node->count;
        for (uint32_t s = 0; s < node->count; s++, at++) {
            uint32_t from = dtype_bits(node->stage[s].stage.from), to = dtype_bits(node->stage[s].stage.to);
            bool is_last = n + 1 == planned->node_count && s + 1 == node->count;
            bits[at] = from > to ? from : to;
            sweep->carried_bits = !is_last && to > sweep->carried_bits ? to : sweep->carried_bits;
            sweep->inner_bits = s + 1 < node->count && to > sweep->inner_bits ? to : sweep->inner_bits;
            between[n] = to;
        }
    }
    sweep->node_count = planned->node_count;
    sweep->stage_count = counts;
    sweep->stage_bits = bits;
    sweep->between_bits = between;
}

/* ---- Buffers of a tile */

static void tile_shape(const uint8_t *dims, const uint64_t extent[DIM_COUNT], Shape *shape) {
    for (uint32_t k = 0; k < shape->rank; k++) {
        uint64_t own = extent[dims[k]];
        shape->dim[k] = (uint64_t)shape->dim[k] > own ? (int64_t)own : shape->dim[k];
    }
}

/* `bytes` of one lane, for the part of a tile that `view` shows. */
static BufferId add_tile_buffer(const Making *making, Buffer buffer, const View *view, uint64_t bytes) {
    const Device *device = making->builder->plan->device;
    buffer.memory = device->local;
    buffer.logical_bytes = view_logical_bytes(view);
    buffer.physical_bytes = bytes;
    buffer.banks_used = view->banks_used;
    buffer.align_bytes = tensor_align_bytes(device, device->local, view);
    return add_buffer(making->builder, buffer);
}

/* A map that goes in repeating has the shape of what comes out. */
static Buffer map_record(const Making *making, BufferId far, const SweepOperand *operand) {
    const PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    Buffer buffer = *plan_buffer(making->builder->plan, far);
    if (operand == &planned->sweep.in && planned->stages[0].is_spread) {
        const Value *out = graph_value(graph, graph_node(graph, planned->nodes[planned->node_count - 1])->outputs[0]);
        buffer.stored = out->shape;
        memcpy(buffer.dims, out->dims, sizeof buffer.dims);
        buffer.materialised_reason = "it repeats along axes of the result, as it is loaded";
    }
    return buffer;
}

static BufferId add_map_tile(const Making *making, BufferId far, const SweepOperand *operand) {
    const PlannedSweep *planned = making->planned;
    const SweepChoice *choice = &planned->chosen.best.choice;
    Buffer buffer = map_record(making, far, operand);
    View view;
    uint64_t bytes;
    tile_shape(buffer.dims, choice->tile, &buffer.stored);
    CHECK(sweep_local_view(&planned->sweep, operand, choice->tile, &view) &&
          sweep_operand_bytes(&planned->sweep, choice, operand, &bytes));
    return add_tile_buffer(making, buffer, &view, bytes);
}

static BufferId add_param_tile(const Making *making, uint32_t i) {
    const PlannedSweep *planned = making->planned;
    const SweepChoice *choice = &planned->chosen.best.choice;
    const SweepOperand *operand = &making->params[i];
    bool stays = sweep_stays(choice, &planned->sweep, operand);
    ViewBox box = {.first = {0}};
    Buffer buffer = making->param_copy[i];
    View view;
    uint64_t bytes;
    memcpy(box.extent, stays ? operand->shape.extent : choice->tile, sizeof box.extent);
    box = sweep_box(operand, &box);
    for (uint32_t k = 0; k < buffer.stored.rank; k++) {
        uint64_t own = box.extent[buffer.dims[k]];
        buffer.stored.dim[k] = (uint64_t)buffer.stored.dim[k] > own ? (int64_t)own : buffer.stored.dim[k];
    }
    CHECK(sweep_local_view(&planned->sweep, operand, box.extent, &view) &&
          sweep_operand_bytes(&planned->sweep, choice, operand, &bytes));
    return add_tile_buffer(making, buffer, &view, bytes);
}

/* As far as the tiles of a slot reach: workspace is declared to the byte. */
typedef struct {
    const Sweep *sweep;
    uint32_t slot, bits;
    bool is_line;
    uint32_t seen[2]; /* sets of tails, of 6 bits: of those below 32, and others */
    View view;        /* of the tile that reaches farthest */
    uint64_t bytes;
} Reach;

static void find_reach(void *context, const SweepEvent *event) {
    Reach *reach = context;
    uint32_t *seen = &reach->seen[event->tails / 32], bit = 1u << event->tails % 32;
    View view;
    uint64_t bytes;
    if (event->kind != SWEEP_COMPUTE || event->slot != reach->slot || (*seen & bit) != 0) {
        return;
    }
    *seen |= bit;
    CHECK(sweep_workspace(reach->sweep, event->box.extent, reach->bits, reach->is_line, &view, &bytes));
    if (bytes > reach->bytes) {
        reach->view = view;
        reach->bytes = bytes;
    }
}

static BufferId add_workspace(const Making *making, Buffer buffer, Reach reach) {
    const PlannedSweep *planned = making->planned;
    sweep_walk(&planned->sweep, &planned->chosen.best.choice, (SweepListener){find_reach, &reach});
    buffer.kind = BUFFER_WORKSPACE;
    BufferId id = add_tile_buffer(making, buffer, &reach.view, reach.bytes);
    plan_buffer(making->builder->plan, id)->logical_bytes = reach.bytes;
    return id;
}

/* What node `n` hands on, as a buffer without bytes yet. */
static Buffer handed_buffer(const Making *making, uint32_t n) {
    const PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    ValueId id = graph_node(graph, planned->nodes[n])->outputs[0];
    const Value *value = graph_value(graph, id);
    Buffer buffer = {.value = id,
                     .node = planned->nodes[n],
                     .kind = BUFFER_ACTIVATION,
                     .dtype = value->dtype,
                     .role = ROLE_ACTIVATION,
                     .memory = making->builder->plan->device->local,
                     .stored = value->shape,
                     .axis = -1};
    memcpy(buffer.dims, value->dims, sizeof buffer.dims);
    tile_shape(value->dims, planned->chosen.best.choice.tile, &buffer.stored);
    return buffer;
}

/* It lies in the output's tile, over the input's, or in workspace. */
static BufferId add_carried(const Making *making, uint32_t n, BufferId carrier) {
    Plan *plan = making->builder->plan;
    Buffer buffer = handed_buffer(making, n);
    const Buffer *storage = plan_buffer(plan, carrier);
    buffer.logical_bytes = storage->logical_bytes;
    buffer.physical_bytes = storage->physical_bytes;
    buffer.banks_used = storage->banks_used;
    buffer.align_bytes = storage->align_bytes;
    BufferId id = add_buffer(making->builder, buffer);
    plan_buffer(plan, id)->alias_of = carrier;
    plan_buffer(plan, id)->alias_reason = ALIAS_IN_PLACE;
    return id;
}

static BufferId carrier_of(const PlannedSweep *planned, uint32_t slot) {
    switch (planned->chosen.best.choice.carry) {
    case CARRY_OUTPUT:
        return planned->out_local[planned->sweep.out.is_far ? slot : 0];
    case CARRY_INPUT:
        return planned->in_local[slot];
    default:
        return planned->workspace[slot];
    }
}

static void add_handed(const Making *making, uint32_t slot) {
    PlannedSweep *planned = making->planned;
    bool is_split = planned->chosen.best.choice.schedule == SCHEDULE_SPLIT;
    for (uint32_t n = 0; n + 1 < planned->node_count; n++) {
        Reach map = {.sweep = &planned->sweep, .slot = slot, .bits = planned->sweep.between_bits[n]};
        planned->handed[2 * n + slot] = is_split ? add_workspace(making, handed_buffer(making, n), map)
                                                 : add_carried(making, n, carrier_of(planned, slot));
    }
}

/* What stays whole in local memory may die here or not: build_in_place finds out. */
static void note_over_input(const Making *making, uint32_t slot) {
    const PlannedSweep *planned = making->planned;
    Buffer *out = plan_buffer(making->builder->plan, planned->out_local[slot]);
    if (planned->chosen.best.choice.over_input) {
        out->alias_of = planned->in_local[slot];
        out->alias_reason = ALIAS_IN_PLACE;
    } else if (planned->sweep.in.is_far && planned->sweep.in.shape.bits != planned->sweep.out.shape.bits) {
        out->refused_alias = REFUSED_DTYPE;
        out->refused_candidate = planned->in_local[slot];
    }
}

static void add_buffers(const Making *making) {
    PlannedSweep *planned = making->planned;
    const SweepChoice *choice = &planned->chosen.best.choice;
    planned->handed = arena_array(&making->builder->work->keep, BufferId, 2 * (size_t)planned->node_count);
    uint32_t slots = planned->cost.tiles > 1 ? sweep_slots(choice) : 1;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (planned->sweep.in.is_far) {
            planned->in_local[slot] = add_map_tile(making, planned->in_far, &planned->sweep.in);
        }
        if (planned->sweep.out.is_far) {
            planned->out_local[slot] = add_map_tile(making, planned->out_far, &planned->sweep.out);
        }
        if (planned->sweep.out.is_far || slot == 0) {
            note_over_input(making, slot);
        }
        if (choice->carry == CARRY_WORKSPACE) {
            const Buffer of_line = {.value = NO_VALUE, .node = planned->nodes[0], .role = ROLE_ACTIVATION, .axis = -1};
            const Reach line = {.sweep = &planned->sweep,
                                .slot = slot,
                                .bits = sweep_carried_bits(&planned->sweep, choice->schedule),
                                .is_line = true};
            planned->workspace[slot] = add_workspace(making, of_line, line);
        }
        for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
            if (slot == 0 || !sweep_stays(choice, &planned->sweep, &making->params[i])) {
                planned->params[i].local[slot] = add_param_tile(making, i);
            }
        }
        add_handed(making, slot);
    }
}

/* ---- A sweep */

static SweepTerms terms_of(const Builder *builder) {
    const Plan *plan = builder->plan;
    const PlanOptions *options = &plan->options;
    return (SweepTerms){.schedule = options->schedule,
                        .rows = options->tile_rows,
                        .is_whole = options->whole_tiles,
                        .may_write_over = options->in_place,
                        .budget_bytes =
                            builder->budgets != NULL ? builder->budgets[plan->sweep_count] : plan->capacity_bytes};
}

static void init_planned(const Builder *builder, const NodeId *nodes, uint32_t count, PlannedSweep *planned) {
    const Graph *graph = builder->plan->graph;
    NodeId *ids = arena_array(&builder->work->keep, NodeId, count);
    NodeStages *stages = arena_array(&builder->work->keep, NodeStages, count);
    const char *why;
    *planned = (PlannedSweep){.node_count = count, .nodes = ids, .stages = stages};
    planned->in_far = planned->out_far = NO_BUFFER;
    for (uint32_t slot = 0; slot < 2; slot++) {
        planned->in_local[slot] = planned->out_local[slot] = planned->workspace[slot] = NO_BUFFER;
    }
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = nodes[i];
        CHECK(node_stages(graph, graph_node(graph, nodes[i]), &stages[i], &why));
    }
    planned->sweep.device = builder->plan->device;
}

/* A tile may be cut where each parameter has, in each dimension, one element or the map's. Maps that are whole in local
 * memory gain nothing by it. */
static bool may_cut(const Sweep *sweep) {
    bool may = sweep->in.is_far || sweep->out.is_far;
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        may = may && fits_map(&sweep->params[i].shape, &sweep->in.shape);
    }
    return may;
}

bool build_sweep(Builder *builder, const NodeId *nodes, uint32_t count, bool *is_sweep) {
    Plan *plan = builder->plan;
    PlannedSweep planned;
    Making making = {.builder = builder, .planned = &planned};
    Timeline timeline = {0};
    init_planned(builder, nodes, count, &planned);
    ValueId in = graph_node(plan->graph, nodes[0])->inputs[planned.stages[0].data_input];
    ValueId out = graph_node(plan->graph, nodes[count - 1])->outputs[0];
    if (!(planned.stages[0].is_spread ? make_spread(&making, in, out, &planned.in_far, &planned.sweep.in)
                                      : make_map(&making, in, is_far_input(builder, in), &planned.in_far,
                                                 &planned.in_local[0], &planned.sweep.in)) ||
        !make_map(&making, out, is_far_output(builder, out), &planned.out_far, &planned.out_local[0],
                  &planned.sweep.out) ||
        !add_params(&making)) {
        *is_sweep = false;
        return making.is_too_deep;
    }
    describe_stages(&making);
    planned.sweep.may_cut = may_cut(&planned.sweep);
    SweepTerms terms = terms_of(builder);
    if (!sweep_choose(&planned.sweep, &terms, &planned.chosen) ||
        !sweep_cost(&planned.sweep, &planned.chosen.best.choice, &timeline, &planned.cost)) {
        *is_sweep = false; /* no tile has a layout, or the map is longer than a transfer and is not to be cut */
        return true;
    }
    *is_sweep = true;
    add_buffers(&making);
    list_sweep(builder, &planned);
    if (!planned.sweep.out.is_far && !store_whole(builder, nodes[count - 1], out)) {
        return false;
    }
    plan->sweeps =
        arena_grow(&builder->work->keep, plan->sweeps, plan->sweep_count, &plan->sweep_capacity, sizeof *plan->sweeps);
    plan->sweeps[plan->sweep_count++] = planned;
    return true;
}
