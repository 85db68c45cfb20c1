/* What the tests of the graph share: graphs from text, and values by name. */
#ifndef TESTS_GRAPH_SUPPORT_H
#define TESTS_GRAPH_SUPPORT_H

#include "graph/text.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `body` behind the first line. Null with diagnostics where it is wrong. */
static inline Graph *parse_text(Work *work, const char *body) {
    const char *text = arena_text(&work->keep, "stride0-graph 1\n%s", body);
    return graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
}

/* The same, where the text is right and the graph is sound. */
static inline Graph *parse_sound(Work *work, const char *body) {
    Graph *graph = parse_text(work, body);
    if (graph == NULL || !graph_check(graph, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("the graph of the test is wrong:\n%s", body);
    }
    return graph;
}

static inline ValueId find_value(const Graph *graph, const char *name) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (str_eq(graph->values[v].name, str_from(name))) {
            return (ValueId){v};
        }
    }
    fail_msg("no value '%s'", name);
    return NO_VALUE;
}

static inline Value *value_of(const Graph *graph, const char *name) {
    return graph_value(graph, find_value(graph, name));
}

/* The graph in text form, in `work->keep`. */
static inline const char *print_text(Work *work, const Graph *graph) {
    char *all = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&all, &length);
    graph_print_text(graph, &work->scratch, memory);
    fclose(memory);
    const char *kept = arena_str(&work->keep, (Str){all, length}).ptr;
    free(all);
    return kept;
}

/* "Op in in -> out" a line, for every node of the main block. */
static inline const char *list_nodes(Work *work, const Graph *graph) {
    char *all = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&all, &length);
    const Block *main = graph_main(graph);
    for (uint32_t n = 0; n < main->node_count; n++) {
        const Node *node = graph_node(graph, main->nodes[n]);
        fprintf(out, "%s", op_info(node->op)->name);
        for (uint32_t k = 0; k < node->input_count; k++) {
            const Value *value = node_input(graph, node, k);
            fprintf(out, " " STR_FMT, STR_ARG(value == NULL ? STR("_") : value->name));
        }
        fprintf(out, " ->");
        for (uint32_t k = 0; k < node->output_count; k++) {
            const Value *value = node_output(graph, node, k);
            fprintf(out, " " STR_FMT, STR_ARG(value == NULL ? STR("_") : value->name));
        }
        fputc('\n', out);
    }
    fclose(out);
    const char *kept = arena_str(&work->keep, (Str){all, length}).ptr;
    free(all);
    return kept;
}

#endif
