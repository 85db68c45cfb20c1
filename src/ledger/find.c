/* Names: which tensor or node was meant. Only a name that is not there is compared with all others. */
#include "ledger/facts.h"

#include "base/nearest.h"
#include "ledger/simplification.h"

static Str buffer_tensor(const Facts *facts, uint32_t buffer) {
    ValueId value = facts->plan->buffers[buffer].value;
    return is_value(value) ? graph_value(facts->graph, value)->name : (Str){NULL, 0};
}

const Rewrite *facts_find_gone(const Facts *facts, Str name) {
    const Rewrite *rewrite = NULL;
    for (uint32_t v = 0; v < facts->graph->value_count && rewrite == NULL; v++) {
        if (str_eq(facts->graph->values[v].name, name)) {
            rewrite = simplification_of_value(facts->simplified, (ValueId){v});
        }
    }
    return rewrite;
}

bool facts_find_buffer(const Facts *facts, Str name, Str *nearest) {
    Nearest found = {.typed = name};
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        if (is_value(facts->plan->buffers[i].value) && str_eq(buffer_tensor(facts, i), name)) {
            return true;
        }
    }
    if (facts_find_gone(facts, name) != NULL) {
        return true;
    }
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        nearest_offer(&found, buffer_tensor(facts, i));
    }
    *nearest = found.name;
    return false;
}

NodeId facts_find_node(const Facts *facts, Str name, Str *nearest) {
    const Graph *graph = facts->graph;
    const Block *block = graph_main(graph);
    Nearest found = {.typed = name};
    for (uint32_t at = 0; at < block->node_count; at++) {
        if (str_eq(graph_node(graph, block->nodes[at])->name, name)) {
            return block->nodes[at];
        }
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (str_eq(graph->nodes[n].name, name)) {
            return (NodeId){n};
        }
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        nearest_offer(&found, graph->nodes[n].name);
    }
    *nearest = found.name;
    return NO_NODE;
}
