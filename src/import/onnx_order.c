/* The order in which the nodes of one graph are read.
 *
 * ONNX wants nodes in topological order, but real files break the rule and runtimes sort them, so this does too, with a
 * warning: a node that reads what a later one produces is preceded by that one, all others stay where the file has
 * them. What the subgraphs of a node read counts as read by the node. A cycle is an error. */
#include "import/onnx.h"

#include <inttypes.h>

typedef struct {
    Onnx *onnx;
    OnnxScope *scope;
    NameMap producers;  /* name -> node */
    uint32_t node;      /* the one whose reads are collected */
    uint32_t *edge_end; /* edges of node n: edge[edge_end[n - 1]] … edge[edge_end[n] - 1], each a node it reads from */
    uint32_t *edge;
    size_t edge_count, edge_capacity;
    bool is_sorted;
} Orderer;

static bool note_outputs(Orderer *o, uint32_t n) {
    Wire wire = wire_open(&o->onnx->file, ONNX_NODE, o->scope->nodes[n]);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_NODE_OUTPUT && field.bytes.len > 0) {
            name_map_add(&o->producers, field_str(&field), n);
        }
    }
    return wire_done(&wire);
}

/* What is defined already needs no node, so the nodes that were read stay first. */
static void note_read(Orderer *o, Str name) {
    const uint32_t *producer = name.len == 0 ? NULL : name_map_find(&o->producers, name);
    if (producer == NULL || is_value(onnx_find_value(o->scope, name))) {
        return;
    }
    o->edge = arena_grow(&o->onnx->work->scratch, o->edge, o->edge_count, &o->edge_capacity, sizeof *o->edge);
    o->edge[o->edge_count++] = *producer;
    o->is_sorted = o->is_sorted && *producer < o->node;
}

/* ---- What a node reads, its subgraphs included */

static bool note_graph(Orderer *o, Span message, uint32_t depth);

static bool note_attribute(Orderer *o, Span message, uint32_t depth) {
    Wire wire = wire_open(&o->onnx->file, ONNX_ATTRIBUTE, message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_ATTRIBUTE_G && depth < ONNX_MAX_DEPTH && !note_graph(o, field.bytes, depth + 1)) {
            return false;
        }
    }
    return wire_done(&wire);
}

static bool note_node(Orderer *o, Span message, uint32_t depth) {
    Wire wire = wire_open(&o->onnx->file, ONNX_NODE, message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_NODE_INPUT) {
            note_read(o, field_str(&field));
        } else if (field.number == ONNX_NODE_ATTRIBUTE && !note_attribute(o, field.bytes, depth)) {
            return false;
        }
    }
    return wire_done(&wire);
}

static bool note_graph_output(Orderer *o, Span message) {
    Wire wire = wire_open(&o->onnx->file, ONNX_VALUE_INFO, message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_VALUE_INFO_NAME) {
            note_read(o, field_str(&field));
        }
    }
    return wire_done(&wire);
}

static bool note_graph(Orderer *o, Span message, uint32_t depth) {
    Wire wire = wire_open(&o->onnx->file, ONNX_GRAPH, message);
    Field field;
    bool sound = true;
    while (sound && wire_next(&wire, &field)) {
        if (field.number == ONNX_GRAPH_NODE) {
            sound = note_node(o, field.bytes, depth);
        } else if (field.number == ONNX_GRAPH_OUTPUT) {
            sound = note_graph_output(o, field.bytes);
        }
    }
    return wire_done(&wire) && sound;
}

/* ---- Sorting: depth first, with a stack of our own */

typedef struct {
    uint32_t node, next; /* edge to follow next */
} Step;

typedef enum { NEW, OPEN, DONE } Mark;

static bool cycle(const Orderer *o, uint32_t n) {
    Wire wire = wire_open(&o->onnx->file, ONNX_NODE, o->scope->nodes[n]);
    Field field;
    Str name = {0};
    Str op_type = {0};
    Str output = {0};
    while (wire_next(&wire, &field)) {
        name = field.number == ONNX_NODE_NAME ? field_str(&field) : name;
        op_type = field.number == ONNX_NODE_OP_TYPE ? field_str(&field) : op_type;
        output = field.number == ONNX_NODE_OUTPUT ? field_str(&field) : output;
    }
    Arena *keep = &o->onnx->work->keep;
    return onnx_error(o->onnx, o->scope->nodes[n].ptr,
                      (DiagText){.node = name.len > 0 ? name : onnx_numbered(keep, op_type, n),
                                 .tensor = output,
                                 .what = "the nodes form a cycle",
                                 .got = "a node that reads what is computed from its own output",
                                 .expected = "nodes in topological order",
                                 .hint = "the file is damaged: export it again"});
}

/* Appends `root` to `order`, and before it all it reads from that is not there yet. */
static bool visit(const Orderer *o, uint32_t root, Step *stack, uint8_t *mark, uint32_t *order) {
    size_t depth = 0;
    stack[depth++] = (Step){root, root == 0 ? 0 : o->edge_end[root - 1]};
    mark[root] = OPEN;
    while (depth > 0) {
        Step *step = &stack[depth - 1];
        if (step->next == o->edge_end[step->node]) {
            mark[step->node] = DONE;
            o->scope->order[(*order)++] = step->node;
            depth--;
            continue;
        }
        uint32_t producer = o->edge[step->next++];
        if (mark[producer] == OPEN) {
            return cycle(o, producer);
        }
        if (mark[producer] == NEW) {
            mark[producer] = OPEN; /* each node is on the stack once, so it has room */
            stack[depth++] = (Step){producer, producer == 0 ? 0 : o->edge_end[producer - 1]};
        }
    }
    return true;
}

static bool sort(const Orderer *o) {
    Arena *scratch = &o->onnx->work->scratch;
    Step *stack = arena_array(scratch, Step, o->scope->node_count);
    uint8_t *mark = arena_array(scratch, uint8_t, o->scope->node_count);
    uint32_t ordered = 0;
    for (uint32_t n = 0; n < o->scope->node_count; n++) {
        if (mark[n] == NEW && !visit(o, n, stack, mark, &ordered)) {
            return false;
        }
    }
    diag_warn(&o->onnx->work->diags,
              (DiagText){.what = "the nodes are not in topological order, as ONNX wants them; they were sorted"});
    return true;
}

/* ---- The common case: nothing to sort */

static bool has_graph(const Onnx *onnx, Span attribute) {
    Wire wire = wire_open(&onnx->file, ONNX_ATTRIBUTE, attribute);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_ATTRIBUTE_G) {
            return true;
        }
    }
    return false;
}

bool onnx_is_ready(const Onnx *onnx, const OnnxScope *scope, uint32_t index) {
    Wire wire = wire_open(&onnx->file, ONNX_NODE, scope->nodes[index]);
    Field field;
    bool is_ready = true;
    while (is_ready && wire_next(&wire, &field)) {
        if (field.number == ONNX_NODE_INPUT) {
            is_ready = field.bytes.len == 0 || is_value(onnx_find_value(scope, field_str(&field)));
        } else if (field.number == ONNX_NODE_ATTRIBUTE) {
            is_ready = !has_graph(onnx, field.bytes);
        }
    }
    return is_ready;
}

bool onnx_order_nodes(Onnx *onnx, OnnxScope *scope) {
    Arena *scratch = &onnx->work->scratch;
    Orderer o = {.onnx = onnx, .scope = scope, .producers = name_map(scratch), .is_sorted = true};
    o.edge_end = arena_array(scratch, uint32_t, scope->node_count);
    for (uint32_t n = 0; n < scope->node_count; n++) {
        if (!note_outputs(&o, n)) {
            return false;
        }
    }
    for (uint32_t n = 0; n < scope->node_count; n++) {
        o.node = n;
        if (!note_node(&o, scope->nodes[n], scope->depth)) {
            return false;
        }
        o.edge_end[n] = (uint32_t)o.edge_count; /* below the bytes of a message, which nanopb bounds by 32 bits */
    }
    return o.is_sorted || sort(&o);
}
