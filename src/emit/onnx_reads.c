/* What a node that stays reads, in its subgraphs too: none of it may be dropped.
 *
 * Inlining shows the rewriter what called subgraphs read; a subgraph that nothing calls is seen only here. Import has
 * bounded how deep subgraphs nest. */
#include "emit/onnx.h"

typedef struct ReadScope ReadScope;
struct ReadScope {
    const ReadScope *outer; /* null in the main graph */
    NameMap own;            /* names that the subgraph defines itself */
};

typedef struct {
    const OnnxEdit *e;
    Span node; /* of the main graph, for messages */
} Reads;

static bool is_own(const ReadScope *scope, Str name) {
    for (; scope != NULL; scope = scope->outer) {
        if (name_map_find(&scope->own, name) != NULL) {
            return true;
        }
    }
    return false;
}

static bool check_read(const Reads *reads, const ReadScope *scope, Str name) {
    if (!onnx_is_dropped(reads->e, name) || is_own(scope, name)) {
        return true;
    }
    Str node;
    onnx_find_name(reads->e, ONNX_NODE, reads->node, ONNX_NODE_NAME, &node);
    return onnx_refuse(&reads->e->reader, reads->node.ptr,
                       (DiagText){.node = node,
                                  .tensor = name,
                                  .what = scope == NULL ? "the node reads a tensor that would be removed"
                                                        : "a subgraph of the node reads a tensor that would be removed",
                                  .expected = "tensors that nothing reads",
                                  .hint = "keep the model as it is, or give the tensor a second name by Identity"});
}

/* ---- Names of a subgraph */

static bool note_outputs(const Reads *reads, Span node, NameMap *own) {
    Wire wire = wire_open(&reads->e->reader.file, ONNX_NODE, node);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_NODE_OUTPUT) {
            name_map_add(own, field_str(&field), 0);
        }
    }
    return wire_done(&wire);
}

static bool note_field(const Reads *reads, const Field *field, NameMap *own) {
    Str name;
    bool sound;
    switch (field->number) {
    case ONNX_GRAPH_NODE:
        return note_outputs(reads, field->bytes, own);
    case ONNX_GRAPH_INITIALIZER:
        sound = onnx_find_name(reads->e, ONNX_TENSOR, field->bytes, ONNX_TENSOR_NAME, &name);
        break;
    case ONNX_GRAPH_SPARSE_INITIALIZER:
        sound = onnx_sparse_name(reads->e, field->bytes, &name);
        break;
    case ONNX_GRAPH_INPUT:
        sound = onnx_find_name(reads->e, ONNX_VALUE_INFO, field->bytes, ONNX_VALUE_INFO_NAME, &name);
        break;
    default:
        return true;
    }
    name_map_add(own, name, 0);
    return sound;
}

static bool note_own(const Reads *reads, Span graph, NameMap *own) {
    Wire wire = wire_open(&reads->e->reader.file, ONNX_GRAPH, graph);
    Field field;
    bool sound = true;
    while (wire_next(&wire, &field)) {
        sound = note_field(reads, &field, own) && sound;
    }
    return wire_done(&wire) && sound;
}

/* ---- Reads */

static bool check_node(const Reads *reads, const ReadScope *scope, Span node);

static bool check_result(const Reads *reads, const ReadScope *scope, Span value_info) {
    Str name;
    return onnx_find_name(reads->e, ONNX_VALUE_INFO, value_info, ONNX_VALUE_INFO_NAME, &name) &&
           check_read(reads, scope, name);
}

static bool check_graph(const Reads *reads, const ReadScope *outer, Span graph) {
    ReadScope scope = {.outer = outer, .own = name_map(&reads->e->reader.work->scratch)};
    bool sound = note_own(reads, graph, &scope.own);
    Wire wire = wire_open(&reads->e->reader.file, ONNX_GRAPH, graph);
    Field field;
    while (sound && wire_next(&wire, &field)) {
        if (field.number == ONNX_GRAPH_NODE) {
            sound = check_node(reads, &scope, field.bytes);
        } else if (field.number == ONNX_GRAPH_OUTPUT) {
            sound = check_result(reads, &scope, field.bytes);
        }
    }
    return wire_done(&wire) && sound;
}

static bool check_attribute(const Reads *reads, const ReadScope *scope, Span attribute) {
    Span graph;
    return onnx_find_bytes(reads->e, ONNX_ATTRIBUTE, attribute, ONNX_ATTRIBUTE_G, &graph) &&
           (graph.len == 0 || check_graph(reads, scope, graph));
}

static bool check_node(const Reads *reads, const ReadScope *scope, Span node) {
    Wire wire = wire_open(&reads->e->reader.file, ONNX_NODE, node);
    Field field;
    bool sound = true;
    while (sound && wire_next(&wire, &field)) {
        if (field.number == ONNX_NODE_INPUT) {
            sound = check_read(reads, scope, field_str(&field));
        } else if (field.number == ONNX_NODE_ATTRIBUTE) {
            sound = check_attribute(reads, scope, field.bytes);
        }
    }
    return wire_done(&wire) && sound;
}

bool onnx_check_reads(const OnnxEdit *e, Span node) {
    const Reads reads = {.e = e, .node = node};
    return !e->drops_values || check_node(&reads, NULL, node);
}
