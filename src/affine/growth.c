/* Growth: what goes with a constant, and with a node, from constant to maker to constant. */
#include "affine/growth.h"

enum {
    MOST_DEPTH = 16,
    TFLITE_NODE_BYTES = 32,   /* the least that an operator takes: a table, its lists of inputs and outputs */
    TFLITE_TENSOR_BYTES = 32, /* a buffer's table and its data's alignment; the tensor takes the place of another */
    TENSOR_BYTES = 8,         /* the least that an ONNX initializer takes beside its name and its numbers */
    NODE_BYTES = 4,           /* of an ONNX node beside its operator and names */
    NAME_BYTES = 2,           /* in front of each name */
    PLACE_BYTES = 16,         /* the least that names a place in another file */
};

uint64_t growth_stored_bytes(const Value *value) {
    const Const *constant = value->constant;
    return constant == NULL ? 0 : constant->is_external ? PLACE_BYTES : constant->bytes.len;
}

uint64_t growth_tensor_bytes(const Rewriter *rw, uint64_t bytes, Str name) {
    return bytes + (rw->graph->format == FORMAT_ONNX ? name.len + TENSOR_BYTES : TFLITE_TENSOR_BYTES);
}

uint64_t growth_data_bytes(const Rewriter *rw, ValueId id) {
    const FileNote *note = rw->note;
    const Value *value = graph_value(rw->graph, id);
    uint64_t bytes = growth_stored_bytes(value);
    if (id.index >= note->value_count) {
        return bytes;
    }
    bool is_kept = value->is_kept_data;
    for (uint32_t v = note->next[id.index]; v != id.index && !is_kept; v = note->next[v]) {
        is_kept = graph_value(rw->graph, (ValueId){v})->is_kept_data || !rewrite_is_unread(rw, (ValueId){v});
    }
    return is_kept ? 0 : bytes;
}

uint64_t growth_name_bytes(const Rewriter *rw, Str name) {
    return rw->graph->format == FORMAT_ONNX ? NAME_BYTES + name.len : 0;
}

static uint64_t names_bytes(const Rewriter *rw, const ValueId *ids, uint32_t count) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < count; k++) {
        bytes += growth_name_bytes(rw, is_value(ids[k]) ? graph_value(rw->graph, ids[k])->name : (Str){0});
    }
    return bytes;
}

uint64_t growth_node_bytes(const Rewriter *rw, const Node *node) {
    if (rw->graph->format != FORMAT_ONNX) {
        return TFLITE_NODE_BYTES;
    }
    return NODE_BYTES + node->op_name.len + names_bytes(rw, node->inputs, node->input_count) +
           names_bytes(rw, node->outputs, node->output_count);
}

static uint64_t freed_with(const Rewriter *rw, ValueId id, uint32_t depth);

static uint64_t freed_with_inputs(const Rewriter *rw, const Node *node, uint32_t depth) {
    uint64_t freed = 0;
    for (uint32_t k = 0; k < node->input_count; k++) {
        ValueId input = node->inputs[k];
        bool is_again = false;
        for (uint32_t j = 0; j < k; j++) {
            is_again = is_again || node->inputs[j].index == input.index;
        }
        if (!is_again && is_value(input) && input.index < rw->use_values &&
            graph_value(rw->graph, input)->constant != NULL &&
            rw->reader_count[input.index] == rewrite_times_read(node, input)) {
            freed += freed_with(rw, input, depth);
        }
    }
    return freed;
}

static uint64_t freed_with(const Rewriter *rw, ValueId id, uint32_t depth) {
    const Value *value = graph_value(rw->graph, id);
    uint64_t own = growth_data_bytes(rw, id);
    if (!rewrite_is_internal(rw, id)) {
        return 0;
    }
    if (!is_node(value->producer)) {
        return value->name.len > 0 ? growth_tensor_bytes(rw, own, value->name) : 0;
    }
    const Node *node = graph_node(rw->graph, value->producer);
    if (!rewrite_may_change(rw, value->producer) || node->output_count != 1 || depth == MOST_DEPTH) {
        return 0;
    }
    return growth_node_bytes(rw, node) + (node->op == OP_CONSTANT ? own : 0) + freed_with_inputs(rw, node, depth + 1);
}

uint64_t growth_freed_with(const Rewriter *rw, ValueId id) {
    return freed_with(rw, id, 0);
}

uint64_t growth_freed_with_node(const Rewriter *rw, const Node *node) {
    return growth_node_bytes(rw, node) + freed_with_inputs(rw, node, 0);
}
