/* Which command computes a node; and operators that move elements. */
#include "plan/node_command.h"

#include "graph/box.h"

static bool fail(const char **why, const char *text) {
    *why = text;
    return false;
}

/* A copy, element by element, in another order or under another shape. */
bool node_move(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why) {
    const Value *in = node_input(graph, node, node_data_input(node)), *out = node_output(graph, node, 0);
    bool is_permuted = op_info(node->op)->kind == KIND_TRANSPOSE;
    uint64_t from, to;
    if (in == NULL || out == NULL || node->output_count != 1 || !in->has_shape || !out->has_shape) {
        return fail(why, "its shapes are not known");
    }
    if (dtype_bits(in->dtype) != dtype_bits(out->dtype) || !shape_elements(&in->shape, &from) ||
        !shape_elements(&out->shape, &to) || from != to) {
        return fail(why, "its elements before and after are not the same ones");
    }
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        if (k != node_data_input(node) && value != NULL && value->constant == NULL) {
            return fail(why, "how it moves its elements is told when it runs");
        }
    }
    *command = (NodeCommand){.op = CMD_COPY};
    for (uint32_t k = 0; k < SHAPE_MAX_RANK; k++) {
        command->perm[k] = k;
    }
    return !is_permuted || node_permutation(graph, node, arena, command->perm) ||
           fail(why, "the order of its axes is not known");
}

bool node_command(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why) {
    *why = NULL;
    switch (op_info(node->op)->kind) {
    case KIND_RESHAPE:
    case KIND_TRANSPOSE:
        return node_move(graph, node, arena, command, why);
    default:
        return node_window(graph, node, arena, command, why);
    }
}
