/* Edits of TFLite models for tests: a draft that starts as "nothing edited" and is changed by hand or at random. */
#ifndef TESTS_EMIT_TFLITE_EDIT_H
#define TESTS_EMIT_TFLITE_EDIT_H

#include "base/work.h"
#include "graph/edit.h"
#include "support/random.h"

#include <string.h>

enum { DRAFT_MOST = 8 };

typedef struct {
    Work *work;
    Graph *graph;
    ModelEdit edit;
    NodeFate *fates;
    bool *is_dropped, *is_requantised;
    bool *was_named; /* by file value: some node of the file named it */
    bool *is_main;   /* by file value: a node of the main graph named it */
    AddedNode nodes[DRAFT_MOST];
    ValueId values[DRAFT_MOST];
} Draft;

static inline void draft_name(const Node *node, uint32_t values, bool *is_named) {
    for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
        ValueId id = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
        if (is_value(id) && id.index < values) {
            is_named[id.index] = true;
        }
    }
}

static inline void draft_init(Draft *draft, Work *work, Graph *graph) {
    const Block *main = graph_main(graph);
    *draft = (Draft){.work = work, .graph = graph};
    draft->fates = arena_array(&work->keep, NodeFate, main->node_count);
    draft->is_dropped = arena_array(&work->keep, bool, graph->value_count);
    draft->is_requantised = arena_array(&work->keep, bool, graph->value_count);
    draft->was_named = arena_array(&work->keep, bool, graph->value_count);
    draft->edit = (ModelEdit){.graph = graph,
                              .file_node_count = main->node_count,
                              .file_nodes = main->nodes,
                              .fates = draft->fates,
                              .file_value_count = graph->value_count,
                              .is_dropped = draft->is_dropped,
                              .is_requantised = draft->is_requantised};
    draft->is_main = arena_array(&work->keep, bool, graph->value_count);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        draft_name(&graph->nodes[n], graph->value_count, draft->was_named);
    }
    for (uint32_t k = 0; k < main->node_count; k++) {
        draft_name(graph_node(graph, main->nodes[k]), graph->value_count, draft->is_main);
    }
}

/* To be called last: values that lost all who named them are dropped. */
static inline const ModelEdit *draft_done(Draft *draft) {
    bool *is_named = arena_array(&draft->work->keep, bool, draft->edit.file_value_count);
    bool *is_gone = arena_array(&draft->work->keep, bool, draft->graph->node_count);
    for (uint32_t k = 0; k < draft->edit.file_node_count; k++) {
        is_gone[draft->edit.file_nodes[k].index] = draft->fates[k] == NODE_DROPPED;
    }
    for (uint32_t n = 0; n < draft->graph->node_count; n++) {
        if (!is_gone[n]) {
            draft_name(&draft->graph->nodes[n], draft->edit.file_value_count, is_named);
        }
    }
    for (uint32_t v = 0; v < draft->edit.file_value_count; v++) {
        const Value *value = &draft->graph->values[v];
        draft->is_dropped[v] =
            draft->was_named[v] && !is_named[v] && !value->is_input && !value->is_output && !value->is_state;
    }
    draft->edit.added_nodes = draft->nodes;
    draft->edit.added_values = draft->values;
    return &draft->edit;
}

static inline Node *draft_node(const Draft *draft, uint32_t position) {
    return graph_node(draft->graph, draft->edit.file_nodes[position]);
}

static inline void draft_rewire(Draft *draft, uint32_t position, uint32_t input, ValueId value) {
    draft_node(draft, position)->inputs[input] = value;
    draft->fates[position] = NODE_REWIRED;
}

static inline ValueId draft_add_value(Draft *draft, Value value) {
    ValueId id = graph_add_value(draft->graph, &draft->work->keep, value);
    draft->values[draft->edit.added_value_count++] = id;
    return id;
}

/* A constant whose bytes count from `first`. */
static inline ValueId draft_add_constant(Draft *draft, const char *name, DType dtype, Shape shape, uint8_t first) {
    uint64_t len = 0;
    shape_packed_bytes(&shape, dtype, &len);
    uint8_t *bytes = arena_array(&draft->work->keep, uint8_t, len);
    for (uint64_t k = 0; k < len; k++) {
        bytes[k] = (uint8_t)(first + k);
    }
    Const *constant = arena_new(&draft->work->keep, Const);
    *constant = (Const){.stored = shape, .bytes = {bytes, (size_t)len}, .is_known = true};
    return draft_add_value(draft, (Value){.name = arena_str(&draft->work->keep, str_from(name)),
                                          .dtype = dtype,
                                          .has_shape = true,
                                          .shape = shape,
                                          .constant = constant,
                                          .producer = NO_NODE});
}

static inline Quant *draft_quant(Draft *draft, uint32_t count, float scale, int64_t zero_point, int32_t axis) {
    float *scales = arena_array(&draft->work->keep, float, count);
    int64_t *zero_points = arena_array(&draft->work->keep, int64_t, count);
    Quant *quant = arena_new(&draft->work->keep, Quant);
    for (uint32_t k = 0; k < count; k++) {
        scales[k] = scale / (float)(1u << k % 8);
        zero_points[k] = zero_point;
    }
    *quant = (Quant){.count = count, .scale = scales, .zero_point = zero_point == 0 ? NULL : zero_points, .axis = axis};
    return quant;
}

/* output = op(x, y) before file node `before`; nodes must be added by rising `before`. */
static inline Node *draft_add_node(Draft *draft, uint32_t before, OpId op, const ValueId *inputs, uint32_t count,
                                   ValueId output) {
    Node node = {.name = STR("added"), .op = op, .version = 2, .input_count = count, .output_count = 1};
    node.inputs = arena_array(&draft->work->keep, ValueId, count);
    node.outputs = arena_new(&draft->work->keep, ValueId);
    memcpy(node.inputs, inputs, count * sizeof *inputs);
    node.outputs[0] = output;
    NodeId id = graph_add_node(draft->graph, &draft->work->keep, node);
    draft->nodes[draft->edit.added_node_count++] = (AddedNode){id, before};
    return graph_node(draft->graph, id);
}

static inline void draft_add_attr(Draft *draft, Node *node, Attr attr) {
    Attr *attrs = arena_array(&draft->work->keep, Attr, (size_t)node->attr_count + 1);
    if (node->attr_count > 0) {
        memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    }
    attrs[node->attr_count++] = attr;
    node->attrs = attrs;
}

/* ---- At random */

/* Variables tie operators together: a node that handles one, or whose result such a node reads. */
static inline bool draft_is_rigid(const Draft *draft, uint32_t position) {
    const Node *node = draft_node(draft, position);
    bool is_rigid = op_info(node->op)->kind == KIND_STATE;
    for (uint32_t p = 0; p < draft->edit.file_node_count; p++) {
        const Node *reader = draft_node(draft, p);
        for (uint32_t k = 0; k < reader->input_count && node->output_count > 0; k++) {
            is_rigid = is_rigid ||
                       (op_info(reader->op)->kind == KIND_STATE && reader->inputs[k].index == node->outputs[0].index);
        }
    }
    return is_rigid;
}

/* Drops a node: who read its output 0 reads its input 0. False where that can't be. */
static inline bool draft_bypass(Draft *draft, uint32_t position) {
    const Node *node = draft_node(draft, position);
    if (draft_is_rigid(draft, position) || node->input_count == 0 || node->output_count == 0 ||
        !is_value(node->inputs[0]) || draft->fates[position] == NODE_DROPPED) {
        return false;
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        if (!is_value(node->outputs[k]) || graph_value(draft->graph, node->outputs[k])->is_output ||
            (k > 0 && draft->was_named[node->outputs[k].index])) {
            return false;
        }
    }
    for (uint32_t p = 0; p < draft->edit.file_node_count; p++) {
        Node *reader = draft_node(draft, p);
        for (uint32_t k = 0; p != position && k < reader->input_count; k++) {
            if (reader->inputs[k].index == node->outputs[0].index) {
                draft_rewire(draft, p, k, node->inputs[0]);
            }
        }
    }
    draft->fates[position] = NODE_DROPPED;
    return true;
}

static inline Shape draft_shape(uint64_t *seed) {
    Shape shape = {.rank = (uint32_t)random_below(seed, 5)};
    for (uint32_t k = 0; k < shape.rank; k++) {
        shape.dim[k] = (int64_t)random_below(seed, 5) + 1;
    }
    return shape;
}

static inline ValueId draft_random_constant(Draft *draft, uint64_t *seed) {
    static const DType dtypes[] = {DTYPE_I8, DTYPE_I32, DTYPE_F32, DTYPE_I16, DTYPE_U8};
    Shape shape = draft_shape(seed);
    Str name = arena_format(&draft->work->keep, "added/%u", (unsigned)draft->edit.added_value_count);
    ValueId id = draft_add_constant(draft, name.ptr, dtypes[random_below(seed, 5)], shape, (uint8_t)*seed);
    if (shape.rank > 0 && random_below(seed, 2) == 0) {
        int32_t axis = (int32_t)random_below(seed, shape.rank);
        graph_value(draft->graph, id)->quant = draft_quant(draft, (uint32_t)shape.dim[axis], 0.5F, 0, axis);
    }
    return id;
}

/* A new ADD, MUL or QUANTIZE of what an operator reads, in front of it. */
static inline void draft_random_node(Draft *draft, uint64_t *seed) {
    static const OpId ops[] = {OP_ADD, OP_MUL, OP_QUANTIZE};
    uint32_t position = (uint32_t)random_below(seed, draft->edit.file_node_count);
    const Node *reader = draft_node(draft, position);
    if (draft->fates[position] == NODE_DROPPED || draft_is_rigid(draft, position) || reader->input_count == 0 ||
        !is_value(reader->inputs[0]) || graph_value(draft->graph, reader->inputs[0])->is_state) {
        return;
    }
    ValueId inputs[2] = {reader->inputs[0], NO_VALUE};
    OpId op = ops[random_below(seed, 3)];
    if (op != OP_QUANTIZE) {
        inputs[1] = draft_random_constant(draft, seed);
    }
    Value value = *graph_value(draft->graph, inputs[0]);
    value.name = STR("added/between");
    value.constant = NULL;
    value.is_input = value.is_output = false;
    ValueId output = draft_add_value(draft, value);
    draft_add_node(draft, position, op, inputs, op == OP_QUANTIZE ? 1 : 2, output);
    draft_rewire(draft, position, 0, output);
}

static inline void draft_random_requant(Draft *draft, uint64_t *seed) {
    uint32_t v = (uint32_t)random_below(seed, draft->edit.file_value_count + 1);
    if (v == draft->edit.file_value_count) {
        return;
    }
    Value *value = &draft->graph->values[v];
    bool is_inner = draft->is_main[v] && !value->is_input && !value->is_output && !value->is_state;
    if (is_inner && value->quant != NULL && value->quant->count == 1) {
        value->quant = draft_quant(draft, 1, 0.25F, random_below(seed, 2) == 0 ? 0 : 3, -1);
        draft->is_requantised[v] = true;
    }
}

static inline const ModelEdit *draft_random(Draft *draft, uint64_t *seed) {
    uint32_t count = draft->edit.file_node_count;
    for (uint64_t k = random_below(seed, 4); k > 0 && count > 0; k--) {
        draft_bypass(draft, (uint32_t)random_below(seed, count));
    }
    for (uint64_t k = random_below(seed, 3); k > 0; k--) {
        draft_random_constant(draft, seed);
    }
    for (uint64_t k = random_below(seed, 4); k > 0; k--) {
        draft_random_requant(draft, seed);
    }
    if (count > 0 && random_below(seed, 2) == 0) {
        draft_random_node(draft, seed);
    }
    return draft_done(draft);
}

#endif
