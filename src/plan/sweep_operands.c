/* The operands of a sweep: maps and parameters, where they lie and how. */
#include "plan/making.h"

#include "base/fault.h"
#include "node/input.h"

#include <string.h>

/* Does one operator read it and no other? One that works element by element may read it twice. */
static bool has_one_reader(const Builder *builder, ValueId id) {
    const GraphUses *uses = &builder->uses;
    uint32_t first = uses->first[id.index], last = uses->first[id.index + 1];
    bool is_one =
        last == first + 1 || (last > first && node_is_elementwise(graph_node(builder->plan->graph, uses->use[first])));
    for (uint32_t k = first; k < last; k++) {
        is_one = is_one && uses->use[k].index == uses->use[first].index;
    }
    return is_one;
}

bool sweep_loads(const Builder *builder, ValueId id) {
    const Value *value = graph_value(builder->plan->graph, id);
    if (value_is_far(builder, id)) {
        return true;
    }
    return value->is_input && value->constant == NULL && !value->is_output && has_one_reader(builder, id) &&
           !is_buffer(builder->plan->of_value[id.index]);
}

bool sweep_stores(const Builder *builder, ValueId id) {
    bool is_read = builder->uses.first[id.index + 1] > builder->uses.first[id.index];
    return value_is_far(builder, id) || (graph_value(builder->plan->graph, id)->is_output && !is_read);
}

/* False with a diagnostic, or is_too_deep: it has a view, but not one without lanes. */
static bool whole_view(Making *making, const Buffer *buffer, View *view) {
    const Plan *plan = making->builder->plan;
    Tensor tensor = tensor_of_buffer(plan->graph, buffer);
    bool is_found = buffer_find_view(plan, buffer, view);
    making->is_too_deep = !is_found && tensor_view(plan->device, &tensor, &making->builder->work->diags, view);
    return is_found;
}

bool make_map(Making *making, ValueId id, bool is_far, BufferId *far, BufferId *local, SweepOperand *operand) {
    Builder *builder = making->builder;
    const Value *value = graph_value(builder->plan->graph, id);
    Tensor tensor = tensor_of_value(value, ROLE_ACTIVATION);
    *operand = (SweepOperand){.role = ROLE_ACTIVATION, .is_map = true, .is_far = is_far};
    bool is_loaded = is_far || !value->is_input || load_whole(builder, making->planned->nodes[0], id);
    if (!is_loaded || !(is_far ? lower_backing(builder, id, far) : lower_value(builder, id, local))) {
        return false;
    }
    CHECK(tensor_extents(&tensor, &operand->shape));
    return whole_view(making, plan_buffer(builder->plan, is_far ? *far : *local), &operand->whole);
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

/* How it lies in far memory, along the axes as its reader calls them. */
static bool far_view(Making *making, const SweepParam *param, View *view) {
    const Graph *graph = making->builder->plan->graph;
    const Buffer *far = plan_buffer(making->builder->plan, param->far);
    uint8_t read[SHAPE_MAX_RANK];
    node_input_names(graph, graph_node(graph, making->planned->nodes[param->node]), param->input, read);
    if (!whole_view(making, far, view)) {
        return false;
    }
    bool is_map_form = far->materialised_reason != NULL; /* with the names of its reader's map */
    making->is_too_deep =
        !is_map_form && memcmp(read, far->dims, far->stored.rank) != 0 && !rename_view(view, far, read);
    return !making->is_too_deep;
}

/* What the engine reads, as whole as the map; it repeats what far memory holds. Blocks of a form are those of operators
 * that go element by element: a bias of a convolution is a plain list. */
static bool make_read(Making *making, const Buffer *read, const View *far, SweepOperand *operand) {
    const Builder *builder = making->builder;
    bool has_form = node_is_elementwise(graph_node(builder->plan->graph, making->planned->nodes[0]));
    Tensor tensor = tensor_of_buffer(builder->plan->graph, read);
    *operand = (SweepOperand){
        .role = read->role, .is_far = true, .grain_bytes = has_form ? form_grain(builder, read) : 1, .whole = *far};
    if (!tensor_extents(&tensor, &operand->shape)) {
        return false;
    }
    making->is_too_deep = !view_broadcast(&operand->whole, &operand->shape);
    return !making->is_too_deep;
}

/* What the engine makes of a parameter, in local memory. */
static const SweepOperand *keep_form(Making *making, const SweepOperand *read) {
    SweepOperand *form = arena_new(&making->builder->work->keep, SweepOperand);
    *form = *read;
    form->is_form = true;
    sweep_follow(form, &making->planned->sweep.out.shape);
    return form;
}

bool make_param(Making *making, const SweepParam *param, Buffer *copy, const Buffer *read, SweepOperand *operand) {
    View far;
    if (!far_view(making, param, &far) || !make_read(making, read, &far, operand)) {
        return false;
    }
    if (memcmp(far.shape.extent, operand->shape.extent, sizeof far.shape.extent) != 0) {
        const SweepOperand *form = keep_form(making, operand);
        copy->costs = NULL; /* what the parameter costs is told of its form */
        *operand = (SweepOperand){.shape = far.shape, .role = copy->role, .is_far = true, .whole = far, .form = form};
    }
    operand->is_number = lower_is_number(making->builder->plan, param->far);
    return true;
}

static bool repeats(const Making *making, uint32_t at) {
    const Graph *graph = making->builder->plan->graph;
    const LayoutShape *own = &making->params[at].shape, *map = &making->planned->sweep.out.shape;
    return node_is_elementwise(graph_node(graph, making->planned->nodes[0])) &&
           memcmp(own->extent, map->extent, sizeof own->extent) != 0 && sweep_fits_map(own, map);
}

/* The form of a map that repeats, where the engine does not read it as it lies. */
static bool make_map_form(Making *making, uint32_t at, const SweepParam *param) {
    Builder *builder = making->builder;
    Buffer *read = &making->param_read[at];
    NodeId node = making->planned->nodes[param->node];
    Operand operand;
    SweepOperand made;
    if (!operand_of(builder->plan, graph_node(builder->plan->graph, node), param->input, builder->work, &operand)) {
        return false;
    }
    *read = making->param_copy[at];
    read->kind = BUFFER_ACTIVATION;
    read->role = ROLE_PARAMETER;
    read->node = node;
    read->broadcast = operand.broadcast;
    read->axis = operand.axis;
    FormChoice choice = form_of_map(builder, &operand, read);
    if (choice.reason == NULL) {
        return true;
    }
    form_store(builder, &operand, choice.form, read);
    read->materialised_reason = choice.reason;
    if (!make_read(making, read, &making->params[at].whole, &made)) {
        return false;
    }
    making->params[at].form = keep_form(making, &made);
    return true;
}

bool make_param_map(Making *making, ValueId id, uint32_t at, SweepParam *param) {
    Builder *builder = making->builder;
    bool is_far = sweep_loads(builder, id);
    if (!make_map(making, id, is_far, &param->far, &param->local[0], &making->params[at])) {
        return false;
    }
    making->param_copy[at] = *plan_buffer(builder->plan, is_far ? param->far : param->local[0]);
    return !repeats(making, at) || make_map_form(making, at, param);
}
