/* Who reads what: for each value the nodes of the main block that read it, in node order. */
#include "graph/graph.h"

GraphUses graph_uses(const Graph *graph, Arena *arena) {
    GraphUses uses = {.first = arena_array(arena, uint32_t, (size_t)graph->value_count + 1)};
    const Block *block = graph_main(graph);
    /* Counts stand one place to the right, so that their running sums are the starts. */
    size_t total = 0;
    for (uint32_t n = 0; n < block->node_count; n++) {
        const Node *node = graph_node(graph, block->nodes[n]);
        for (uint32_t k = 0; k < node->input_count; k++) {
            if (is_value(node->inputs[k])) {
                uses.first[node->inputs[k].index + 1]++;
                total++;
            }
        }
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        uses.first[v + 1] += uses.first[v];
    }
    uses.use = arena_array(arena, NodeId, total);
    uint32_t *next = arena_array(arena, uint32_t, graph->value_count);
    for (uint32_t n = 0; n < block->node_count; n++) {
        const Node *node = graph_node(graph, block->nodes[n]);
        for (uint32_t k = 0; k < node->input_count; k++) {
            if (is_value(node->inputs[k])) {
                uint32_t v = node->inputs[k].index;
                uses.use[uses.first[v] + next[v]++] = block->nodes[n];
            }
        }
    }
    return uses;
}
