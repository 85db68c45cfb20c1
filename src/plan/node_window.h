/* Nodes that go over windows: what a convolution, a pool or a fully connected layer on codes computes, as CONV, MAXPOOL
 * and AVGPOOL do. Definitions: docs/semantics.md. */
#ifndef S0_PLAN_NODE_WINDOW_H
#define S0_PLAN_NODE_WINDOW_H

#include "cmd/command.h"
#include "graph/graph.h"

enum { WINDOW_WEIGHTS = 1, WINDOW_BIAS = 2 }; /* inputs of the node */

typedef struct {
    CmdOp op;
    CmdWindow window; /* of the whole map, with the scales of all its channels */
    Stage stage;
} NodeWindow;

/* needs   shapes, names
 * False where no command computes the node: `why` tells, in one clause; null where it is no such operator at all. */
bool node_window(const Graph *graph, const Node *node, Arena *arena, NodeWindow *window, const char **why);

#endif
