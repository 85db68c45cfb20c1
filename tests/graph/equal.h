/* Two graphs, field by field, independent of how the text form writes them. Where the text has a thing (source,
 * source_index) and how nodes are numbered between blocks is no part of a graph. */
#ifndef TESTS_GRAPH_EQUAL_H
#define TESTS_GRAPH_EQUAL_H

#include "graph/support.h"

static inline bool floats_equal(const float *a, const float *b, size_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static inline bool quants_equal(const Quant *a, const Quant *b) {
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return a->count == b->count && a->axis == b->axis && a->block == b->block &&
           floats_equal(a->scale, b->scale, a->count) && (a->zero_point == NULL) == (b->zero_point == NULL) &&
           (a->zero_point == NULL || memcmp(a->zero_point, b->zero_point, a->count * sizeof(int64_t)) == 0);
}

static inline bool constants_equal(const Const *a, const Const *b) {
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return shape_eq(&a->stored, &b->stored) && a->is_known == b->is_known && a->bytes.len == b->bytes.len &&
           (a->bytes.len == 0 || memcmp(a->bytes.ptr, b->bytes.ptr, a->bytes.len) == 0);
}

static inline Str dim_name_of(const Value *value, uint32_t k) {
    return value->dim_name == NULL ? (Str){0} : value->dim_name[k];
}

static inline bool values_equal(const Value *a, const Value *b) {
    bool equal = str_eq(a->name, b->name) && a->dtype == b->dtype && a->has_shape == b->has_shape &&
                 a->is_input == b->is_input && a->is_output == b->is_output && a->is_state == b->is_state &&
                 a->is_sequence == b->is_sequence && is_node(a->producer) == is_node(b->producer);
    if (equal && a->has_shape) {
        equal = shape_eq(&a->shape, &b->shape) && memcmp(a->dims, b->dims, a->shape.rank) == 0;
        for (uint32_t k = 0; equal && k < a->shape.rank; k++) {
            equal = str_eq(dim_name_of(a, k), dim_name_of(b, k));
        }
    }
    return equal && quants_equal(a->quant, b->quant) && constants_equal(a->constant, b->constant);
}

static inline bool attrs_equal(const Attr *a, const Attr *b) {
    if (!str_eq(a->name, b->name) || a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case ATTR_INT:
        return a->i == b->i;
    case ATTR_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case ATTR_STR:
        return str_eq(a->s, b->s);
    case ATTR_INTS:
        return a->count == b->count && (a->count == 0 || memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0);
    case ATTR_FLOATS:
        return a->count == b->count && floats_equal(a->floats, b->floats, a->count);
    case ATTR_STRS:
        for (uint32_t k = 0; k < a->count && k < b->count; k++) {
            if (!str_eq(a->strs[k], b->strs[k])) {
                return false;
            }
        }
        return a->count == b->count;
    case ATTR_TENSOR:
        return a->tensor.index == b->tensor.index;
    case ATTR_BLOCK:
        return a->block.index == b->block.index;
    }
    return false;
}

static inline bool ids_equal(const ValueId *a, uint32_t a_count, const ValueId *b, uint32_t b_count) {
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

static inline bool nodes_equal(const Node *a, const Node *b) {
    bool equal = str_eq(a->name, b->name) && a->op == b->op && str_eq(a->op_name, b->op_name) &&
                 a->version == b->version && a->is_constant == b->is_constant && a->attr_count == b->attr_count &&
                 ids_equal(a->inputs, a->input_count, b->inputs, b->input_count) &&
                 ids_equal(a->outputs, a->output_count, b->outputs, b->output_count);
    for (uint32_t k = 0; equal && k < a->attr_count; k++) {
        equal = attrs_equal(&a->attrs[k], &b->attrs[k]);
    }
    return equal;
}

static inline bool blocks_equal(const Graph *a, const Graph *b, uint32_t k) {
    const Block *x = &a->blocks[k], *y = &b->blocks[k];
    bool equal = str_eq(x->name, y->name) && ids_equal(x->inputs, x->input_count, y->inputs, y->input_count) &&
                 ids_equal(x->outputs, x->output_count, y->outputs, y->output_count) && x->node_count == y->node_count;
    for (uint32_t n = 0; equal && n < x->node_count; n++) {
        equal = nodes_equal(graph_node(a, x->nodes[n]), graph_node(b, y->nodes[n]));
    }
    return equal;
}

static inline bool graphs_equal(const Graph *a, const Graph *b) {
    bool equal = str_eq(a->name, b->name) && a->format == b->format && a->channels_last == b->channels_last &&
                 a->opset == b->opset && a->value_count == b->value_count && a->block_count == b->block_count;
    for (uint32_t v = 0; equal && v < a->value_count; v++) {
        equal = values_equal(&a->values[v], &b->values[v]);
    }
    for (uint32_t k = 0; equal && k < a->block_count; k++) {
        equal = blocks_equal(a, b, k);
    }
    return equal;
}

#endif
