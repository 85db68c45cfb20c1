/* An ONNX file, its graph, and an edit that a test fills in. Set up with nothing to edit. */
#ifndef TESTS_EMIT_EDITED_H
#define TESTS_EMIT_EDITED_H

#include "emit/emit.h"
#include "graph/text.h"
#include "import/import.h"
#include "import/onnx_bytes.h"
#include "support/work.h"

enum { MOST_ADDED = 32 };

typedef struct {
    Work *work;
    ModelFiles files;
    Span file;
    Graph *graph;
    NodeId *file_nodes;
    NodeFate *fates;
    bool *is_dropped, *is_requantised;
    AddedNode added_nodes[MOST_ADDED];
    ValueId added_values[MOST_ADDED];
    ModelEdit edit; /* made of the arrays above */
} Edited;

/* As a rewriter does it: positions of the main graph's nodes, before anything is changed. */
static inline void edited_begin(Edited *t) {
    const Block *block = graph_main(t->graph);
    Arena *keep = &t->work->keep;
    uint32_t count = 0;
    for (uint32_t k = 0; k < block->node_count; k++) {
        uint32_t position = graph_node(t->graph, block->nodes[k])->source_index;
        count = position >= count ? position + 1 : count;
    }
    t->file_nodes = arena_array(keep, NodeId, count);
    t->fates = arena_array(keep, NodeFate, count);
    for (uint32_t k = 0; k < count; k++) {
        t->file_nodes[k] = NO_NODE;
    }
    for (uint32_t k = 0; k < block->node_count; k++) {
        t->file_nodes[graph_node(t->graph, block->nodes[k])->source_index] = block->nodes[k];
    }
    t->is_dropped = arena_array(keep, bool, t->graph->value_count);
    t->is_requantised = arena_array(keep, bool, t->graph->value_count);
    t->edit = (ModelEdit){.graph = t->graph,
                          .file_node_count = count,
                          .file_nodes = t->file_nodes,
                          .fates = t->fates,
                          .added_nodes = t->added_nodes,
                          .file_value_count = t->graph->value_count,
                          .is_dropped = t->is_dropped,
                          .is_requantised = t->is_requantised,
                          .added_values = t->added_values};
}

/* False where the file is refused. */
static inline bool edited_import(Edited *t, Work *work, Span file) {
    *t = (Edited){.work = work, .file = file};
    t->graph = import_onnx(work, file, "folder/model.onnx", &t->files);
    if (t->graph == NULL || !graph_check(t->graph, work)) {
        return false;
    }
    edited_begin(t);
    return true;
}

/* The first value of the name: in these tests, that of the main graph. */
static inline ValueId edited_value(const Edited *t, const char *name) {
    for (uint32_t v = 0; v < t->graph->value_count; v++) {
        if (str_eq(t->graph->values[v].name, str_from(name))) {
            return (ValueId){v};
        }
    }
    fail_msg("no value '%s'", name);
    return NO_VALUE;
}

/* The names, separated by blanks; `_` is an absent one. */
static inline ValueId *edited_values(const Edited *t, const char *names, uint32_t *count) {
    ValueId *ids = arena_array(&t->work->keep, ValueId, strlen(names) + 1);
    Str rest = str_from(names);
    *count = 0;
    while (rest.len > 0) {
        const char *name = arena_str(&t->work->keep, str_cut(&rest, ' ')).ptr;
        ids[(*count)++] = strcmp(name, "_") == 0 ? NO_VALUE : edited_value(t, name);
    }
    return ids;
}

static inline void edited_drop_values(Edited *t, const char *names) {
    uint32_t count;
    const ValueId *ids = edited_values(t, names, &count);
    for (uint32_t k = 0; k < count; k++) {
        t->is_dropped[ids[k].index] = true;
    }
}

static inline void edited_drop_node(Edited *t, uint32_t position) {
    t->fates[position] = NODE_DROPPED;
}

static inline void edited_rewire(Edited *t, uint32_t position, const char *inputs, const char *outputs) {
    Node *node = graph_node(t->graph, t->file_nodes[position]);
    t->fates[position] = NODE_REWIRED;
    node->inputs = edited_values(t, inputs, &node->input_count);
    node->outputs = edited_values(t, outputs, &node->output_count);
}

static inline ValueId edited_add_value(Edited *t, Value value) {
    value.producer = NO_NODE;
    ValueId id = graph_add_value(t->graph, &t->work->keep, value);
    t->added_values[t->edit.added_value_count++] = id;
    return id;
}

/* Constants made of bytes in hex. */
static inline Value edited_constant(const Edited *t, const char *name, DType dtype, Shape shape, const char *hex) {
    OnnxBytes bytes = {.len = 0};
    put_hex(&bytes, hex);
    uint8_t *copy = arena_array(&t->work->keep, uint8_t, bytes.len);
    memcpy(copy, bytes.data, bytes.len);
    Const *constant = arena_new(&t->work->keep, Const);
    *constant = (Const){.stored = shape, .bytes = {copy, bytes.len}, .is_known = true};
    return (Value){.name = str_from(name), .dtype = dtype, .has_shape = true, .shape = shape, .constant = constant};
}

static inline void edited_add_node(Edited *t, uint32_t before, Node node, const char *inputs, const char *outputs) {
    node.inputs = edited_values(t, inputs, &node.input_count);
    node.outputs = edited_values(t, outputs, &node.output_count);
    NodeId id = graph_add_node(t->graph, &t->work->keep, node);
    t->added_nodes[t->edit.added_node_count++] = (AddedNode){.id = id, .before = before};
}

#endif
