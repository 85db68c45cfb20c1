/* Evaluates small graphs of float32 and of 8-bit codes, operator by operator in IEEE float32: what the tests hold the
 * rewritten graphs against. Shares no arithmetic with src/affine.
 *
 * Which zero max(-0, +0) is, the formats do not say: `zeros` chooses. NaN goes through limits. */
#ifndef TESTS_AFFINE_EVALUATE_H
#define TESTS_AFFINE_EVALUATE_H

#include "graph/support.h"

#include <math.h>

#include "layout/packed.h"

/* Elements of a value, row-major; codes are whole numbers. */
typedef struct {
    Shape shape;
    uint32_t count;
    float *at;
} Elements;

typedef struct {
    const Graph *graph;
    Work *work;
    Elements *values; /* by id; `at` is null where the value is not known yet */
    bool limits_win;  /* max(-0, +0) is the limit, not the number */
} Evaluation;

static inline Elements new_elements(Evaluation *e, const Value *value) {
    uint64_t count = 0;
    assert_true(shape_elements(&value->shape, &count) && count <= 4096);
    return (Elements){value->shape, (uint32_t)count, arena_array(&e->work->keep, float, count)};
}

/* Index of the element of `from` that goes with element `index` of `to`, aligned from the right. */
static inline uint32_t aligned_index(const Shape *from, const Shape *to, uint32_t index) {
    uint32_t at = 0, stride = 1;
    for (uint32_t k = 0; k < to->rank; k++) {
        uint32_t axis = to->rank - 1 - k;
        uint32_t here = index % (uint32_t)to->dim[axis];
        index /= (uint32_t)to->dim[axis];
        if (k < from->rank) {
            int64_t extent = from->dim[from->rank - 1 - k];
            at += extent == 1 ? 0 : here * stride;
            stride *= (uint32_t)extent;
        }
    }
    return at;
}

static inline float stored_at(const Value *value, uint32_t index) {
    uint64_t bits = packed_read(value->constant->bytes.ptr, index, dtype_bits(value->dtype));
    if (value->dtype != DTYPE_F32) {
        return value->dtype == DTYPE_I8 && bits > 127 ? (float)bits - 256 : (float)bits;
    }
    uint32_t low = (uint32_t)bits;
    float number;
    memcpy(&number, &low, sizeof number);
    return number;
}

static inline void load_constant(Evaluation *e, uint32_t id) {
    const Value *value = &e->graph->values[id];
    bool is_read = value->dtype == DTYPE_F32 || value->dtype == DTYPE_I8 || value->dtype == DTYPE_U8;
    if (value->constant == NULL || !value->constant->is_known || !is_read) {
        return;
    }
    Elements all = new_elements(e, value);
    for (uint32_t i = 0; i < all.count; i++) {
        all.at[i] = stored_at(value, aligned_index(&value->constant->stored, &value->shape, i));
    }
    e->values[id] = all;
}

static inline float input_at(const Evaluation *e, const Node *node, uint32_t k, const Shape *shape, uint32_t index) {
    const Elements *in = &e->values[node->inputs[k].index];
    assert_non_null(in->at);
    return in->at[aligned_index(&in->shape, shape, index)];
}

static inline float limited(const Evaluation *e, float x, float lo, float hi) {
    if (isnan(x)) {
        return x;
    }
    if (e->limits_win) {
        x = x > lo ? x : lo;
        return x < hi ? x : hi;
    }
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

static inline float clipped(const Evaluation *e, const Node *node, float x, const Shape *shape, uint32_t index) {
    bool has[2] = {node->input_count > 1 && is_value(node->inputs[1]),
                   node->input_count > 2 && is_value(node->inputs[2])};
    float lo = has[0] ? input_at(e, node, 1, shape, index) : -3.40282347e38f;
    float hi = has[1] ? input_at(e, node, 2, shape, index) : 3.40282347e38f;
    return limited(e, x, lo, hi);
}

/* A parameter of the channel along `axis`, or the only one. */
static inline float channel_at(const Evaluation *e, const Node *node, uint32_t k, int64_t axis, uint32_t index) {
    const Elements *x = &e->values[node->inputs[0].index];
    const Elements *parameter = &e->values[node->inputs[k].index];
    uint32_t inner = 1;
    axis += axis < 0 ? (int64_t)x->shape.rank : 0;
    for (uint32_t a = (uint32_t)axis + 1; a < x->shape.rank; a++) {
        inner *= (uint32_t)x->shape.dim[a];
    }
    assert_non_null(parameter->at);
    return parameter->at[parameter->count == 1 ? 0 : index / inner % parameter->count];
}

static inline float normalised(const Evaluation *e, const Node *node, float x, uint32_t index) {
    float gamma = channel_at(e, node, 1, 1, index), beta = channel_at(e, node, 2, 1, index);
    float mean = channel_at(e, node, 3, 1, index), variance = channel_at(e, node, 4, 1, index);
    float root = sqrtf(variance + (float)node_float(node, "epsilon", 1e-5));
    float centred = (x - mean) / root;
    float scaled = centred * gamma;
    return scaled + beta;
}

static inline float coded(const Evaluation *e, const Node *node, float x, uint32_t index) {
    int64_t axis = node_int(node, "axis", 1);
    float scale = channel_at(e, node, 1, axis, index);
    float zero = node->input_count > 2 ? channel_at(e, node, 2, axis, index) : 0;
    if (node->op == OP_DEQUANTIZE) {
        return (x - zero) * scale;
    }
    float quotient = x / scale;
    float code = nearbyintf(quotient) + zero;
    return isnan(code) ? zero : fminf(fmaxf(code, -128), 127);
}

static inline float moved(const Evaluation *e, const Node *node, const Shape *shape, uint32_t index) {
    const Elements *x = &e->values[node->inputs[0].index];
    const Attr *perm = node_attr(node, "perm");
    uint32_t here[SHAPE_MAX_RANK] = {0}, at = 0;
    for (uint32_t k = shape->rank; k-- > 0;) {
        here[perm == NULL ? shape->rank - 1 - k : (uint32_t)perm->ints[k]] = index % (uint32_t)shape->dim[k];
        index /= (uint32_t)shape->dim[k];
    }
    for (uint32_t k = 0; k < x->shape.rank; k++) {
        at = at * (uint32_t)x->shape.dim[k] + here[k];
    }
    return x->at[at];
}

static inline float element_of(const Evaluation *e, const Node *node, const Shape *shape, uint32_t index) {
    float x = node->op == OP_RESHAPE || node->op == OP_TRANSPOSE ? 0 : input_at(e, node, 0, shape, index);
    switch (node->op) {
    case OP_MUL:
        return x * input_at(e, node, 1, shape, index);
    case OP_ADD:
        return x + input_at(e, node, 1, shape, index);
    case OP_SUB:
        return x - input_at(e, node, 1, shape, index);
    case OP_DIV:
        return x / input_at(e, node, 1, shape, index);
    case OP_IDENTITY:
        return x;
    case OP_ABS:
        return fabsf(x);
    case OP_NEG:
        return -x;
    case OP_RELU:
        return limited(e, x, 0, INFINITY);
    case OP_CLIP:
        return clipped(e, node, x, shape, index);
    case OP_BATCH_NORM:
        return normalised(e, node, x, index);
    case OP_QUANTIZE:
    case OP_DEQUANTIZE:
        return coded(e, node, x, index);
    case OP_RESHAPE:
        return e->values[node->inputs[0].index].at[index];
    case OP_TRANSPOSE:
        return moved(e, node, shape, index);
    default:
        fail_msg("the evaluator has no %s", op_info(node->op)->name);
        return 0;
    }
}

/* Inputs of the graph are in `values` already. */
static inline void evaluate(Evaluation *e) {
    const Block *main = graph_main(e->graph);
    for (uint32_t v = 0; v < e->graph->value_count; v++) {
        if (e->values[v].at == NULL && !is_node(e->graph->values[v].producer)) {
            load_constant(e, v);
        }
    }
    for (uint32_t at = 0; at < main->node_count; at++) {
        const Node *node = graph_node(e->graph, main->nodes[at]);
        Elements out = new_elements(e, graph_value(e->graph, node->outputs[0]));
        for (uint32_t i = 0; i < out.count; i++) {
            out.at[i] = element_of(e, node, &out.shape, i);
        }
        e->values[node->outputs[0].index] = out;
    }
}

#endif
