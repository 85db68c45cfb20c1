/* Sweeps of per-channel operators, and what every sweep ends with: the choice, its buffers and steps. */
#include "plan/making.h"

#include "base/fault.h"
#include "node/input.h"

#include <string.h>

/* ---- What may be a sweep */

/* Is it what another operator makes? Other parameters are constants, or the caller gives them: in far memory. */
static bool is_made(const Value *value) {
    return value->constant == NULL && !value->is_input;
}

/* Does what other operators make go along with the map by the names of its own axes? */
static bool has_named_params(const Graph *graph, const Node *node, const NodeStages *stages) {
    bool is_named = true;
    for (uint32_t s = 0; s < stages->count; s++) {
        for (uint32_t p = 0; p < stages->stage[s].param_count; p++) {
            uint32_t input = stages->stage[s].param[p].input;
            const Value *value = node_input(graph, node, input);
            uint8_t read[SHAPE_MAX_RANK];
            node_input_names(graph, node, input, read);
            for (uint32_t k = 0; is_made(value) && k < value->shape.rank; k++) {
                is_named = is_named && (value->shape.dim[k] == 1 || value->dims[k] == read[k]);
            }
        }
    }
    return is_named;
}

bool sweep_is_possible(const Builder *builder, const NodeId *nodes, uint32_t count) {
    const Graph *graph = builder->plan->graph;
    uint32_t stages = 0;
    NodeStages of;
    const char *why;
    for (uint32_t i = 0; i < count; i++) {
        const Node *node = graph_node(graph, nodes[i]);
        if (!node_stages(graph, node, &of, &why) || !value_has_elements(graph_value(graph, node->outputs[0])) ||
            !has_named_params(graph, node, &of) ||
            (of.is_spread && (i > 0 || !sweep_loads(builder, node->inputs[of.data_input])))) {
            return false;
        }
        stages += of.count;
    }
    return stages <= SWEEP_MOST_STAGES;
}

/* ---- Parameters */

/* Is it the same constant in the same form as one that is there? */
static bool find_param(const Making *making, const SweepParam *param, const Buffer *read, uint32_t *at) {
    const PlannedSweep *planned = making->planned;
    for (*at = 0; *at < planned->sweep.param_count; ++*at) {
        const Buffer *other = &making->param_read[*at];
        if (planned->params[*at].far.index == param->far.index && other->broadcast == read->broadcast &&
            other->varies == read->varies && other->physical_bytes == read->physical_bytes &&
            shape_eq(&other->stored, &read->stored) && memcmp(other->dims, read->dims, read->stored.rank) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_map(Making *making, SweepParam param) {
    PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    uint32_t at = planned->sweep.param_count++;
    param.far = NO_BUFFER;
    bool is_added =
        make_param_map(making, graph_node(graph, planned->nodes[param.node])->inputs[param.input], at, &param);
    planned->uses[planned->use_count++] = (SweepUse){param.node, at};
    planned->params[at] = param;
    return is_added;
}

/* Is it the map that goes in? It is there already. */
static bool is_map_again(const Making *making, uint32_t node, uint32_t input) {
    const PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    ValueId map = graph_node(graph, planned->nodes[0])->inputs[planned->stages[0].data_input];
    return !planned->stages[0].is_spread && graph_node(graph, planned->nodes[node])->inputs[input].index == map.index;
}

static bool add_param(Making *making, uint32_t node, uint32_t input) {
    PlannedSweep *planned = making->planned;
    Builder *builder = making->builder;
    SweepParam param = {.node = node, .input = input, .local = {NO_BUFFER, NO_BUFFER}, .form = NO_BUFFER};
    Buffer copy, read;
    uint32_t at;
    if (is_map_again(making, node, input)) {
        planned->uses[planned->use_count++] = (SweepUse){node, MAP_AS_PARAM};
        planned->sweep.in_is_param = true;
        return true;
    }
    if (is_made(node_input(builder->plan->graph, graph_node(builder->plan->graph, planned->nodes[node]), input))) {
        return add_map(making, param);
    }
    if (!lower_copy(builder, planned->nodes[node], input, &param.far, &copy, &read)) {
        return false;
    }
    bool is_new = !find_param(making, &param, &read, &at);
    planned->uses[planned->use_count++] = (SweepUse){node, at};
    if (is_new) {
        planned->params[at] = param;
        making->param_copy[at] = copy;
        making->param_read[at] = read;
        planned->sweep.param_count++;
    }
    return !is_new || make_param(making, &param, &making->param_copy[at], &read, &making->params[at]);
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

void init_params(Making *making, uint32_t most) {
    PlannedSweep *planned = making->planned;
    Arena *keep = &making->builder->work->keep;
    planned->params = arena_array(keep, SweepParam, most);
    planned->uses = arena_array(keep, SweepUse, most);
    making->params = arena_array(keep, SweepOperand, most);
    making->param_copy = arena_array(keep, Buffer, most);
    making->param_read = arena_array(keep, Buffer, most);
    planned->sweep.params = making->params;
}

/* The map that goes in where it repeats along axes of the result: a parameter, of which the engine reads the form that
 * it can. The tile of the result is that of the map. */
static bool add_spread(Making *making) {
    PlannedSweep *planned = making->planned;
    Sweep *sweep = &planned->sweep;
    sweep->in =
        (SweepOperand){.shape = sweep->out.shape, .role = ROLE_ACTIVATION, .is_map = true, .whole = sweep->out.whole};
    if (!add_param(making, 0, planned->stages[0].data_input)) {
        return false;
    }
    planned->in_param = 0;
    planned->use_count = 0; /* no stage's */
    making->params[0].is_map = true;
    sweep->in.shape.bits = making->params[0].shape.bits;
    return true;
}

static bool add_params(Making *making) {
    const PlannedSweep *planned = making->planned;
    init_params(making, planned->node_count * NODE_MOST_STAGES * STAGE_MOST_PARAMS + 1);
    bool done = !planned->stages[0].is_spread || add_spread(making);
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
    sweep->stage_count = counts;
    sweep->stage_bits = bits;
    sweep->between_bits = between;
}

/* ---- A sweep */

SweepTerms plan_sweep_terms(const PlanOptions *options, uint64_t budget_bytes) {
    return (SweepTerms){.schedule = options->schedule,
                        .parameters = options->parameters,
                        .rows = options->tile_rows,
                        .channels = options->tile_channels,
                        .is_whole = options->whole_tiles,
                        .may_write_over = options->in_place,
                        .budget_bytes = budget_bytes};
}

static SweepTerms terms_of(const Builder *builder, NodeId node) {
    const Plan *plan = builder->plan;
    return plan_sweep_terms(&plan->options,
                            builder->budgets != NULL ? builder->budgets[node.index] : plan->capacity_bytes);
}

void init_planned(const Builder *builder, const NodeId *nodes, uint32_t count, PlannedSweep *planned) {
    NodeId *ids = arena_array(&builder->work->keep, NodeId, count);
    *planned = (PlannedSweep){.node_count = count, .nodes = ids, .in_param = NO_PARAM};
    planned->in_far = planned->out_far = NO_BUFFER;
    for (uint32_t slot = 0; slot < 2; slot++) {
        planned->in_local[slot] = planned->out_local[slot] = planned->workspace[slot] = NO_BUFFER;
    }
    memcpy(ids, nodes, count * sizeof *nodes);
    planned->sweep.device = builder->plan->device;
    planned->sweep.node_count = count;
}

static void find_stages(const Builder *builder, PlannedSweep *planned) {
    const Graph *graph = builder->plan->graph;
    NodeStages *stages = arena_array(&builder->work->keep, NodeStages, planned->node_count);
    const char *why;
    for (uint32_t i = 0; i < planned->node_count; i++) {
        CHECK(node_stages(graph, graph_node(graph, planned->nodes[i]), &stages[i], &why));
    }
    planned->stages = stages;
}

/* A tile may be cut where each parameter has, in each dimension, one element or the map's. Maps that are whole in local
 * memory gain nothing by it. */
static bool may_cut(const PlannedSweep *planned) {
    const Sweep *sweep = &planned->sweep;
    bool may = sweep->in.is_far || sweep->out.is_far || planned->in_param != NO_PARAM;
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        may = may && sweep_fits_map(&sweep_read(&sweep->params[i])->shape, &sweep->out.shape);
    }
    return may;
}

static void follow_map(const Making *making) {
    Sweep *sweep = &making->planned->sweep;
    sweep_follow(&sweep->in, &sweep->out.shape);
    sweep_follow(&sweep->out, &sweep->out.shape);
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        sweep_follow(&making->params[i], &sweep->out.shape);
    }
    sweep->may_write_over = true;
    sweep->cut = may_cut(making->planned) ? SWEEP_ALL_DIMS : 0;
}

/* Is it the sweep that was chosen for before, with the same operands on the same terms? */
static bool is_same_sweep(const PlannedSweep *a, const PlannedSweep *b) {
    bool same = a->node_count == b->node_count && a->budget_bytes == b->budget_bytes &&
                a->sweep.in.is_far == b->sweep.in.is_far && a->sweep.out.is_far == b->sweep.out.is_far &&
                a->sweep.param_count == b->sweep.param_count && (a->stages == NULL) == (b->stages == NULL) &&
                memcmp(a->sweep.out.shape.extent, b->sweep.out.shape.extent, sizeof a->sweep.out.shape.extent) == 0;
    for (uint32_t i = 0; same && i < a->sweep.param_count; i++) {
        same = a->sweep.params[i].is_far == b->sweep.params[i].is_far;
    }
    return same;
}

bool choose_sweep(Making *making) {
    const Builder *builder = making->builder;
    PlannedSweep *planned = making->planned;
    SweepTerms terms = terms_of(builder, planned->nodes[0]);
    planned->budget_bytes = terms.budget_bytes;
    uint32_t at = builder->before == NULL ? UINT32_MAX : builder->sweep_at[planned->nodes[0].index];
    if (at != UINT32_MAX && is_same_sweep(planned, &builder->before->sweeps[at])) {
        planned->chosen = builder->before->sweeps[at].chosen;
        return true;
    }
    return sweep_choose(&planned->sweep, &terms, &planned->chosen);
}

bool add_sweep(Making *making, ValueId out) {
    Builder *builder = making->builder;
    Plan *plan = builder->plan;
    PlannedSweep *planned = making->planned;
    add_buffers(making);
    list_sweep(builder, planned);
    if (is_value(out) && !planned->sweep.out.is_far &&
        !store_whole(builder, planned->nodes[planned->node_count - 1], out)) {
        return false;
    }
    plan->sweeps =
        arena_grow(&builder->work->keep, plan->sweeps, plan->sweep_count, &plan->sweep_capacity, sizeof *plan->sweeps);
    plan->sweeps[plan->sweep_count++] = *planned;
    return true;
}

bool finish_sweep(Making *making, ValueId out, bool *is_sweep) {
    *is_sweep = choose_sweep(making);
    return !*is_sweep || add_sweep(making, out);
}

bool build_sweep(Builder *builder, const NodeId *nodes, uint32_t count, bool *is_sweep) {
    const Graph *graph = builder->plan->graph;
    PlannedSweep planned;
    Making making = {.builder = builder, .planned = &planned};
    init_planned(builder, nodes, count, &planned);
    find_stages(builder, &planned);
    ValueId in = graph_node(graph, nodes[0])->inputs[planned.stages[0].data_input];
    ValueId out = graph_node(graph, nodes[count - 1])->outputs[0];
    bool is_made = planned.stages[0].is_spread || make_map(&making, in, sweep_loads(builder, in), &planned.in_far,
                                                           &planned.in_local[0], &planned.sweep.in);
    if (!is_made ||
        !make_map(&making, out, sweep_stores(builder, out), &planned.out_far, &planned.out_local[0],
                  &planned.sweep.out) ||
        !add_params(&making)) {
        *is_sweep = false;
        return making.is_too_deep;
    }
    describe_stages(&making);
    follow_map(&making);
    return finish_sweep(&making, out, is_sweep);
}
