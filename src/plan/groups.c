/* Groups: what runs together, in the file's order, and how: as a sweep, tile by tile, or over whole tensors.
 *
 * An arena runs one node after another, constants are read where they lie. A scratchpad loads what a group of nodes
 * needs, runs the group and stores its outputs; a group is one node, or a run of element-wise operators, each the only
 * reader of the one before. Per-channel operators and those that have a command are sweeps, others where relief asks
 * for it. */
#include "plan/builder.h"

#include "graph/box.h"
#include "node/input.h"
#include "plan/whole.h"

/* ---- What is a group */

static uint32_t data_input_count(const Graph *graph, const Node *node) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        count += value != NULL && value->constant == NULL;
    }
    return count;
}

/* Does the node read or write what lies in far memory? */
static bool touches_far(const Builder *builder, const Node *node) {
    bool touches = false;
    for (uint32_t k = 0; k < node->input_count; k++) {
        touches = touches || (is_value(node->inputs[k]) && value_is_far(builder, node->inputs[k]));
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        touches = touches || (is_value(node->outputs[k]) && value_is_far(builder, node->outputs[k]));
    }
    return touches;
}

static bool goes_in_tiles(const Builder *builder, NodeId id) {
    if (plan_command(builder->plan, id) != NULL) {
        return true;
    }
    return builder->relief != NULL &&
           (builder->relief->in_tiles[id.index] || touches_far(builder, graph_node(builder->plan->graph, id)));
}

/* Does `next` do nothing but go on with what `node` has just written? */
static bool continues(const Builder *builder, const Node *node, const Node *next) {
    const Graph *graph = builder->plan->graph;
    ValueId link = node->output_count == 1 ? node->outputs[0] : NO_VALUE;
    if (!is_value(link) || value_is_far(builder, link) || !node_is_elementwise(node) || !node_is_elementwise(next) ||
        graph_value(graph, link)->is_output || data_input_count(graph, next) != 1) {
        return false;
    }
    uint32_t readers = builder->uses.first[link.index + 1] - builder->uses.first[link.index];
    return readers == 1 && next->inputs[node_data_input(next)].index == link.index;
}

/* How a node runs. Nodes of one group, but for constants, run alike. */
typedef enum {
    RUNS_NOT,    /* a constant: it only counts */
    RUNS_STAGES, /* per channel: a sweep has its stages */
    RUNS_TILES,  /* as a sweep of its own */
    RUNS_WHOLE,
} Running;

static Running running_of(const Builder *builder, NodeId id, uint32_t *stage_count) {
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, id);
    NodeStages stages = {0};
    const char *why;
    bool is_known = !node->is_constant && node_stages(graph, node, &stages, &why);
    *stage_count = is_known ? stages.count : 0;
    return node->is_constant            ? RUNS_NOT
           : *stage_count > 0           ? RUNS_STAGES
           : goes_in_tiles(builder, id) ? RUNS_TILES
                                        : RUNS_WHOLE;
}

/* A group has no more stages than one sweep, and nothing else beside. */
static Group next_group(const Builder *builder, uint32_t first, uint32_t number) {
    const Graph *graph = builder->plan->graph;
    const Block *block = graph_main(graph);
    Group group = {first, first + 1, number};
    if (builder->plan->device->kind != DEVICE_SCRATCHPAD) {
        return group;
    }
    const Node *last = graph_node(graph, block->nodes[first]);
    uint32_t stages, more;
    const Running running = running_of(builder, block->nodes[first], &stages);
    for (; group.last < block->node_count; group.last++) {
        const Node *next = graph_node(graph, block->nodes[group.last]);
        if (next->is_constant) {
            continue;
        }
        if (!continues(builder, last, next) || running == RUNS_TILES ||
            running_of(builder, block->nodes[group.last], &more) != running || stages + more > SWEEP_MOST_STAGES) {
            break;
        }
        stages += more;
        last = next;
    }
    return group;
}

/* ---- How it runs */

/* The nodes of the group that run; constants among them only count. */
static bool group_is_sweep(Builder *builder, Group group, NodeId *nodes, uint32_t *count) {
    const Plan *plan = builder->plan;
    const Block *block = graph_main(plan->graph);
    *count = 0;
    for (uint32_t at = group.first; at < group.last; at++) {
        if (!graph_node(plan->graph, block->nodes[at])->is_constant) {
            nodes[(*count)++] = block->nodes[at];
        }
    }
    return plan->device->kind == DEVICE_SCRATCHPAD && *count > 0 && sweep_is_possible(builder, nodes, *count);
}

/* Is it another shape of its input, in the same bytes? Nothing is moved where both lie in one memory. */
static bool find_view(Builder *builder, NodeId id, bool *is_view) {
    const Node *node = graph_node(builder->plan->graph, id);
    ViewRule rule = {.is_rule = false};
    bool ok = node->output_count != 1 || !is_value(node->outputs[0]) || view_rule(builder, id, 0, &rule);
    *is_view = ok && rule.is_rule && rule.reason == ALIAS_VIEW && op_info(node->op)->kind != KIND_EXPAND &&
               value_is_far(builder, rule.source) == value_is_far(builder, node->outputs[0]);
    return ok;
}

static bool join_far(Builder *builder, const Node *node) {
    BufferId source, output;
    if (!lower_backing(builder, node->inputs[node_data_input(node)], &source) ||
        !lower_backing(builder, node->outputs[0], &output)) {
        return false;
    }
    plan_buffer(builder->plan, output)->alias_of = source;
    plan_buffer(builder->plan, output)->alias_reason = ALIAS_VIEW;
    builder->plan->view_nodes++;
    return true;
}

/* What the node touches has to be in local memory: the plan is made again. */
static void keep_local(const Builder *builder, NodeId id) {
    Relief *relief = builder->relief;
    const Node *node = graph_node(builder->plan->graph, id);
    relief->has_erred = true;
    for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
        ValueId value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
        if (is_value(value)) {
            relief->is_far[value.index] = false;
            relief->stays[value.index] = true;
            relief->whole_for[value.index] =
                is_node(relief->whole_for[value.index]) ? relief->whole_for[value.index] : id;
        }
    }
}

/* One operator, of which parts are made one after another. */
static bool build_in_tiles(Builder *builder, NodeId id, bool *is_built) {
    const Node *node = graph_node(builder->plan->graph, id);
    bool is_view;
    *is_built = false;
    if (!find_view(builder, id, &is_view)) {
        return false;
    }
    if (is_view) {
        *is_built = value_is_far(builder, node->outputs[0]);
        return !*is_built || join_far(builder, node);
    }
    return !operator_takes_parts(builder->plan->graph, id) || build_operator(builder, id, is_built);
}

/* What was tried may be asked for later. */
static void note_no_tile(const Builder *builder, NodeId id, bool is_tried) {
    bool *has_no_tile = &builder->plan->has_no_tile[id.index];
    *has_no_tile = *has_no_tile || is_tried || goes_in_tiles(builder, id);
}

static bool build_group(Builder *builder, Group group) {
    NodeId *nodes = arena_array(&builder->work->scratch, NodeId, group.last - group.first);
    uint32_t count;
    bool is_built = group_is_sweep(builder, group, nodes, &count);
    builder->plan->folded_nodes += group.last - group.first - count;
    bool is_tried = is_built;
    if (is_built && !build_sweep(builder, nodes, count, &is_built)) {
        return false;
    }
    if (!is_built && count == 1 && goes_in_tiles(builder, nodes[0]) && !build_in_tiles(builder, nodes[0], &is_built)) {
        return false;
    }
    for (uint32_t i = 0; i < count && !is_built; i++) {
        note_no_tile(builder, nodes[i], is_tried);
        if (touches_far(builder, graph_node(builder->plan->graph, nodes[i]))) {
            keep_local(builder, nodes[i]);
        }
    }
    return is_built || build_whole(builder, group);
}

/* ---- Outputs that no step writes: constants, and inputs that are passed on */

/* The caller's own copy of a constant, made once: a step of an arena writes it. */
static bool copy_constant(Builder *builder, ValueId id) {
    Plan *plan = builder->plan;
    BufferId source = builder->plan->backing[id.index];
    BufferId output;
    IdList from = {0};
    IdList to = {0};
    if ((!is_buffer(source) && !lower_backing(builder, id, &source)) || !lower_value(builder, id, &output)) {
        return false;
    }
    plan_buffer(plan, output)->kind = BUFFER_OUTPUT;
    list_add(&from, source, &builder->work->keep);
    list_add(&to, output, &builder->work->keep);
    emit_step(builder, graph_value(plan->graph, id)->producer, COLUMN_COPY, &from, &to);
    return true;
}

/* On a scratchpad the caller's tensors are in far memory, where a constant or an input is already. */
static bool build_bare_output(Builder *builder, ValueId id) {
    Plan *plan = builder->plan;
    BufferId buffer;
    if (plan->device->kind == DEVICE_SCRATCHPAD) {
        return is_buffer(builder->plan->backing[id.index]) || lower_backing(builder, id, &buffer);
    }
    if (graph_value(plan->graph, id)->constant == NULL) {
        return lower_value(builder, id, &buffer); /* the caller reads the input it gave */
    }
    return is_buffer(plan->of_value[id.index]) || copy_constant(builder, id);
}

static bool is_bare(const Graph *graph, const Value *value) {
    return value->constant != NULL || !is_node(value->producer) || graph_node(graph, value->producer)->is_constant;
}

static bool build_bare_outputs(Builder *builder) {
    const Graph *graph = builder->plan->graph;
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->output_count; k++) {
        if (is_bare(graph, graph_value(graph, block->outputs[k])) && !build_bare_output(builder, block->outputs[k])) {
            return false;
        }
    }
    return true;
}

/* The caller fills every input of an arena, also one that nobody reads; state keeps its bytes without a step. */
static bool build_residents(Builder *builder) {
    const Graph *graph = builder->plan->graph;
    const Block *block = graph_main(graph);
    BufferId buffer;
    for (uint32_t k = 0; k < block->input_count && builder->plan->device->kind == DEVICE_ARENA; k++) {
        if (graph_value(graph, block->inputs[k])->constant == NULL &&
            !lower_value(builder, block->inputs[k], &buffer)) {
            return false;
        }
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (graph->values[v].is_state && !lower_value(builder, (ValueId){v}, &buffer)) {
            return false;
        }
    }
    return true;
}

static void count_group(Plan *plan, Group group) {
    for (uint32_t at = group.first; at < group.last; at++) {
        plan->group[graph_main(plan->graph)->nodes[at].index] = plan->group_count;
    }
    plan->group_count++;
}

bool build_steps(Builder *builder) {
    const Block *block = graph_main(builder->plan->graph);
    if (!build_residents(builder)) {
        return false;
    }
    uint32_t number = 1;
    for (uint32_t at = 0; at < block->node_count;) {
        Group group = next_group(builder, at, number);
        count_group(builder->plan, group);
        if (!build_group(builder, group)) {
            return false;
        }
        if (builder->relief != NULL && builder->relief->has_erred) {
            return true;
        }
        number += !graph_node(builder->plan->graph, block->nodes[at])->is_constant;
        at = group.last;
    }
    return build_bare_outputs(builder);
}
