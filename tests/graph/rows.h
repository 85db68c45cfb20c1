/* Tables of small graphs: a run goes over all rows and shows every one that fails. */
#ifndef TESTS_GRAPH_ROWS_H
#define TESTS_GRAPH_ROWS_H

#include "support.h"

/* A row and the count of rows that failed: a run shows all of them. */
typedef struct {
    const void *row;
    size_t *wrong;
} Run;

static inline Graph *graph_of_row(Work *work, const char *name, const char *body) {
    Graph *graph = parse_text(work, body);
    if (graph == NULL || !graph_check(graph, work)) {
        diags_print(&work->diags, name, stderr);
        return NULL;
    }
    return graph;
}

#endif
