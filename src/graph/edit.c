/* Names that nothing has yet. */
#include "graph/edit.h"

#include <inttypes.h>

TakenNames graph_taken_names(const Graph *graph, Arena *arena) {
    TakenNames names = {.next = name_map(arena)};
    for (uint32_t v = 0; v < graph->value_count; v++) {
        graph_take_name(&names, graph->values[v].name);
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        graph_take_name(&names, graph->nodes[n].name);
    }
    graph_take_name(&names, STR("")); /* is no name */
    return names;
}

/* A number is met once a stem: the next search begins behind it. */
Str graph_fresh_name(TakenNames *names, Str stem, Arena *keep) {
    uint32_t *next = name_map_find(&names->next, stem);
    Str name = stem;
    while (name_map_find(&names->next, name) != NULL) {
        name = arena_format(keep, STR_FMT "%" PRIu32, STR_ARG(stem), *next);
        *next += name_map_find(&names->next, name) != NULL;
    }
    return name;
}

void graph_take_name(TakenNames *names, Str name) {
    name_map_add(&names->next, name, 0);
}
