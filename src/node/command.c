/* Which command computes a node. */
#include "node/command.h"

#include "node/table.h"

bool node_command(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why) {
    *why = NULL;
    if (node_has_table(graph, node)) {
        *command = (NodeCommand){.op = CMD_LUT};
        return true;
    }
    if (node->op == OP_PAD) {
        return node_pad(graph, node, arena, command, why);
    }
    switch (op_info(node->op)->kind) {
    case KIND_RESHAPE:
    case KIND_TRANSPOSE:
        return node_move(graph, node, arena, command, why);
    default:
        return node_window(graph, node, arena, command, why);
    }
}
