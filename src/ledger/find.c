/* Names: which tensor or node was meant. */
#include "ledger/facts.h"

#include "device/nearest.h"

static Str nearest_of(Str typed, const char *const *names, size_t count) {
    return str_from(device_nearest(typed, names, count));
}

static bool has_buffer(const Facts *facts, Str name) {
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        const Buffer *buffer = &facts->plan->buffers[i];
        if (is_value(buffer->value) && str_eq(graph_value(facts->graph, buffer->value)->name, name)) {
            return true;
        }
    }
    return false;
}

bool facts_find_buffer(const Facts *facts, Str name, Arena *arena, Str *nearest) {
    if (has_buffer(facts, name)) {
        return true;
    }
    const char **names = arena_array(arena, const char *, facts->plan->buffer_count);
    size_t count = 0;
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        const Buffer *buffer = &facts->plan->buffers[i];
        if (is_value(buffer->value)) {
            names[count++] = arena_str(arena, graph_value(facts->graph, buffer->value)->name).ptr;
        }
    }
    *nearest = nearest_of(name, names, count);
    return false;
}

NodeId facts_find_node(const Facts *facts, Str name, Arena *arena, Str *nearest) {
    const Graph *graph = facts->graph;
    const Block *block = graph_main(graph);
    for (uint32_t at = 0; at < block->node_count; at++) {
        if (str_eq(graph_node(graph, block->nodes[at])->name, name)) {
            return block->nodes[at];
        }
    }
    const char **names = arena_array(arena, const char *, graph->node_count);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (str_eq(graph->nodes[n].name, name)) {
            return (NodeId){n};
        }
        names[n] = arena_str(arena, graph->nodes[n].name).ptr;
    }
    *nearest = nearest_of(name, names, graph->node_count);
    return NO_NODE;
}
