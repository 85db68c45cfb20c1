/* Cuts a chain of per-channel operators out of a network. */
#include "plan/cut.h"

static const Node *stages_of(const Graph *graph, NodeId id, NodeStages *stages, const char **why) {
    const Node *node = graph_node(graph, id);
    *why = "its output is a constant";
    return !node->is_constant && node_stages(graph, node, stages, why) ? node : NULL;
}

/* Does node `id` compute per channel, of the map `map`? */
static bool is_next(const Graph *graph, NodeId id, ValueId map) {
    NodeStages stages;
    const char *why;
    const Node *node = stages_of(graph, id, &stages, &why);
    return node != NULL && node->inputs[stages.data_input].index == map.index;
}

static bool is_between(const Graph *graph, const GraphUses *uses, ValueId id) {
    return !graph_value(graph, id)->is_output && uses->first[id.index + 1] - uses->first[id.index] == 1;
}

static NodeId find_next(const Graph *graph, const GraphUses *uses, NodeId id) {
    ValueId out = graph_node(graph, id)->outputs[0];
    if (!is_between(graph, uses, out)) {
        return NO_NODE;
    }
    NodeId reader = uses->use[uses->first[out.index]];
    return is_next(graph, reader, out) ? reader : NO_NODE;
}

static NodeId find_before(const Graph *graph, const GraphUses *uses, NodeId id) {
    NodeStages stages;
    const char *why;
    const Node *node = stages_of(graph, id, &stages, &why);
    NodeId producer = node == NULL ? NO_NODE : graph_value(graph, node->inputs[stages.data_input])->producer;
    bool is_chained = is_node(producer) && stages_of(graph, producer, &stages, &why) != NULL &&
                      find_next(graph, uses, producer).index == id.index;
    return is_chained ? producer : NO_NODE;
}

/* ---- Cutting */

/* What the block's nodes read and none of them writes. */
static void find_inputs(const Graph *graph, Block *block, Arena *keep) {
    bool *is_known = arena_array(keep, bool, graph->value_count);
    size_t capacity = 0;
    block->inputs = NULL;
    block->input_count = 0;
    for (uint32_t n = 0; n < block->node_count; n++) {
        const Node *node = graph_node(graph, block->nodes[n]);
        for (uint32_t k = 0; k < node->input_count; k++) {
            ValueId id = node->inputs[k];
            if (!is_value(id) || is_known[id.index] || graph_value(graph, id)->constant != NULL) {
                continue;
            }
            is_known[id.index] = true;
            block->inputs = arena_grow(keep, block->inputs, block->input_count, &capacity, sizeof *block->inputs);
            block->inputs[block->input_count++] = id;
        }
        for (uint32_t k = 0; k < node->output_count; k++) {
            if (is_value(node->outputs[k])) {
                is_known[node->outputs[k].index] = true;
            }
        }
    }
}

static void mark_ends(Graph *graph, const Block *block) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        graph->values[v].is_input = graph->values[v].is_output = graph->values[v].is_state = false;
    }
    for (uint32_t k = 0; k < block->input_count; k++) {
        graph_value(graph, block->inputs[k])->is_input = true;
        graph_value(graph, block->inputs[k])->producer = NO_NODE;
    }
    graph_value(graph, block->outputs[0])->is_output = true;
}

bool plan_cut_chain(Graph *graph, NodeId id, Work *work, const char **why) {
    GraphUses uses = graph_uses(graph, &work->scratch);
    NodeStages stages;
    Block *block = graph_main(graph);
    size_t capacity = 0;
    if (stages_of(graph, id, &stages, why) == NULL) {
        return false;
    }
    for (NodeId before = id; is_node(before); before = find_before(graph, &uses, id)) {
        id = before;
    }
    block->nodes = NULL;
    block->node_count = 0;
    block->outputs = arena_array(&work->keep, ValueId, 1);
    block->output_count = 1;
    for (; is_node(id); id = find_next(graph, &uses, id)) {
        block->nodes = arena_grow(&work->keep, block->nodes, block->node_count, &capacity, sizeof *block->nodes);
        block->nodes[block->node_count++] = id;
        block->outputs[0] = graph_node(graph, id)->outputs[0];
    }
    find_inputs(graph, block, &work->keep);
    mark_ends(graph, block);
    return true;
}

uint32_t plan_find_chains(const Graph *graph, NodeId *first, uint32_t most, Arena *scratch) {
    GraphUses uses = graph_uses(graph, scratch);
    const Block *block = graph_main(graph);
    uint32_t count = 0;
    for (uint32_t k = 0; k < block->node_count && count < most; k++) {
        NodeStages stages;
        const char *why;
        NodeId id = block->nodes[k];
        if (stages_of(graph, id, &stages, &why) != NULL && !is_node(find_before(graph, &uses, id))) {
            first[count++] = id;
        }
    }
    return count;
}
