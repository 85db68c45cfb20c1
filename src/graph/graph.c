/* The graph: building it, and reading nodes, attributes and shapes. */
#include "graph/graph.h"

#include "base/checked.h"
#include "base/fault.h"
#include "layout/packed.h"

#include <inttypes.h>
#include <string.h>

Graph *graph_new(Arena *keep, Str name, Format format) {
    Graph *graph = arena_new(keep, Graph);
    *graph = (Graph){.name = name, .format = format, .channels_last = format == FORMAT_TFLITE};
    return graph;
}

ValueId graph_add_value(Graph *graph, Arena *keep, Value value) {
    CHECK(graph->value_count < UINT32_MAX - 1);
    graph->values = arena_grow(keep, graph->values, graph->value_count, &graph->value_capacity, sizeof(Value));
    graph->values[graph->value_count] = value;
    return (ValueId){graph->value_count++};
}

NodeId graph_add_node(Graph *graph, Arena *keep, Node node) {
    CHECK(graph->node_count < UINT32_MAX - 1);
    graph->nodes = arena_grow(keep, graph->nodes, graph->node_count, &graph->node_capacity, sizeof(Node));
    graph->nodes[graph->node_count] = node;
    NodeId id = {graph->node_count++};
    for (uint32_t k = 0; k < node.output_count; k++) {
        if (is_value(node.outputs[k])) {
            graph_value(graph, node.outputs[k])->producer = id;
        }
    }
    return id;
}

BlockId graph_add_block(Graph *graph, Arena *keep, Block block) {
    CHECK(graph->block_count < UINT32_MAX - 1);
    graph->blocks = arena_grow(keep, graph->blocks, graph->block_count, &graph->block_capacity, sizeof(Block));
    graph->blocks[graph->block_count] = block;
    return (BlockId){graph->block_count++};
}

static Value *value_at(const Graph *graph, const ValueId *ids, uint32_t count, uint32_t k) {
    return k < count && is_value(ids[k]) ? graph_value(graph, ids[k]) : NULL;
}

Value *node_input(const Graph *graph, const Node *node, uint32_t k) {
    return value_at(graph, node->inputs, node->input_count, k);
}

Value *node_output(const Graph *graph, const Node *node, uint32_t k) {
    return value_at(graph, node->outputs, node->output_count, k);
}

const Attr *node_attr(const Node *node, const char *name) {
    Str wanted = str_from(name);
    for (uint32_t k = 0; k < node->attr_count; k++) {
        if (str_eq(node->attrs[k].name, wanted)) {
            return &node->attrs[k];
        }
    }
    return NULL;
}

int64_t node_int(const Node *node, const char *name, int64_t absent) {
    const Attr *attr = node_attr(node, name);
    return attr != NULL && attr->kind == ATTR_INT ? attr->i : absent;
}

double node_float(const Node *node, const char *name, double absent) {
    const Attr *attr = node_attr(node, name);
    return attr != NULL && attr->kind == ATTR_FLOAT ? attr->f : absent;
}

Str node_str(const Node *node, const char *name) {
    const Attr *attr = node_attr(node, name);
    return attr != NULL && attr->kind == ATTR_STR ? attr->s : (Str){0};
}

Str node_title(Arena *arena, const Node *node) {
    if (node->name.len == 0) {
        return arena_format(arena, STR_FMT "#%" PRIu32, STR_ARG(node->op_name), node->source_index);
    }
    return arena_format(arena, "'" STR_FMT "' (" STR_FMT ")", STR_ARG(node->name), STR_ARG(node->op_name));
}

bool shape_eq(const Shape *a, const Shape *b) {
    return a->rank == b->rank && (a->rank == 0 || memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0);
}

bool shape_is_whole(const Shape *shape) {
    for (uint32_t k = 0; k < shape->rank; k++) {
        if (shape->dim[k] < 0) {
            return false;
        }
    }
    return true;
}

bool shape_elements(const Shape *shape, uint64_t *elements) {
    uint64_t product = 1;
    bool fits = true;
    for (uint32_t k = 0; k < shape->rank; k++) {
        if (shape->dim[k] < 0) {
            return false;
        }
        if (shape->dim[k] == 0) {
            *elements = 0; /* wins over an overflow of the other extents */
            return shape_is_whole(shape);
        }
        fits = fits && checked_mul(product, (uint64_t)shape->dim[k], &product);
    }
    *elements = product;
    return fits;
}

bool shape_packed_bytes(const Shape *shape, DType dtype, uint64_t *bytes) {
    uint64_t elements;
    return shape_elements(shape, &elements) && packed_bytes(elements, dtype_bits(dtype), bytes);
}

Str shape_text(Arena *arena, const Shape *shape) {
    enum { LONGEST_DIM = 21 };
    char text[SHAPE_MAX_RANK * LONGEST_DIM + 3];
    size_t len = 0;
    text[len++] = '[';
    for (uint32_t k = 0; k < shape->rank; k++) {
        if (k > 0) {
            text[len++] = ',';
        }
        if (shape->dim[k] < 0) {
            text[len++] = '?';
        } else {
            len += (size_t)snprintf(text + len, sizeof text - len, "%" PRId64, shape->dim[k]);
        }
    }
    text[len++] = ']';
    return arena_str(arena, (Str){text, len});
}

bool quant_eq(const Quant *a, const Quant *b) {
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if (a->count != b->count || a->axis != b->axis || a->block != b->block) {
        return false;
    }
    for (uint32_t k = 0; k < a->count; k++) {
        if (a->scale[k] != b->scale[k] || quant_zero(a, k) != quant_zero(b, k)) {
            return false;
        }
    }
    return true;
}
