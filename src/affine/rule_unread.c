/* Unread: nodes whose outputs nobody reads. They go from the last to the first, so that a chain goes whole. */
#include "affine/rewrite.h"

static bool is_read(const Rewriter *rw, const Node *node) {
    for (uint32_t k = 0; k < node->output_count; k++) {
        ValueId id = node->outputs[k];
        if (is_value(id) &&
            (!rewrite_is_internal(rw, id) || id.index >= rw->use_values || rw->reader_count[id.index] > 0)) {
            return true;
        }
    }
    return false;
}

/* Variables, random numbers, custom operators: running it may mean something that no reader shows. */
static bool has_effect(const Node *node) {
    const OpInfo *info = op_info(node->op);
    return (info->flags & OP_IMPURE) != 0 || info->kind == KIND_STATE || info->kind == KIND_CONTROL ||
           info->kind == KIND_OPAQUE || node->output_count == 0;
}

void rule_unread(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = main->node_count; at-- > 0;) {
        NodeId id = main->nodes[at];
        const Node *node = graph_node(rw->graph, id);
        if (!rewrite_may_change(rw, id) || has_effect(node) || is_read(rw, node)) {
            continue;
        }
        rewrite_drop_node(rw, id);
        rewrite_log(rw, (Rewrite){.node = node->name,
                                  .op = node->op_name,
                                  .form = AFFINE_REMOVE,
                                  .certificate = rewrite_lemma(rw, "unread", "every value", 0),
                                  .nodes = 1,
                                  .constant_bytes = -(int64_t)rewrite_node_bytes(rw, id)});
    }
}
