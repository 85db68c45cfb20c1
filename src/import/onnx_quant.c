/* Constant scales of quantise operators become the quantisation of the integer values they belong to.
 *
 * The axis is the operator's word: the attribute of QuantizeLinear and DequantizeLinear, the output channels of a
 * QLinearConv's weights, rows and columns of a QLinearMatMul. One scale is per tensor. A value keeps the first
 * quantisation that is found, which is its producer's. Scales that are computed while the model runs set nothing. */
#include "import/onnx.h"

#include "layout/packed.h"

#include <inttypes.h>
#include <string.h>

typedef enum { AXIS_TENSOR, AXIS_FIRST, AXIS_LAST, AXIS_BEFORE_LAST, AXIS_STATED } AxisRule;

/* Which input or output (value, from 0) has its scale and zero point in which inputs. */
typedef struct {
    OpId op;
    bool is_output;
    uint32_t value, scale, zero_point;
    AxisRule axis;
} QuantRule;

/* onnx/docs/Operators.md and onnxruntime/docs/ContribOperators.md: the order of inputs. */
static const QuantRule rules[] = {
    {OP_QUANTIZE, true, 0, 1, 2, AXIS_STATED},
    {OP_DEQUANTIZE, false, 0, 1, 2, AXIS_STATED},
    {OP_QLINEAR_CONV, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_CONV, false, 3, 4, 5, AXIS_FIRST},
    {OP_QLINEAR_CONV, true, 0, 6, 7, AXIS_TENSOR},
    {OP_QLINEAR_MATMUL, false, 0, 1, 2, AXIS_BEFORE_LAST},
    {OP_QLINEAR_MATMUL, false, 3, 4, 5, AXIS_LAST},
    {OP_QLINEAR_MATMUL, true, 0, 6, 7, AXIS_BEFORE_LAST},
    {OP_MATMUL_INTEGER_TO_FLOAT, false, 0, 2, 4, AXIS_BEFORE_LAST},
    {OP_MATMUL_INTEGER_TO_FLOAT, false, 1, 3, 5, AXIS_LAST},
    {OP_QLINEAR_ADD, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_ADD, false, 3, 4, 5, AXIS_TENSOR},
    {OP_QLINEAR_ADD, true, 0, 6, 7, AXIS_TENSOR},
    {OP_QLINEAR_MUL, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_MUL, false, 3, 4, 5, AXIS_TENSOR},
    {OP_QLINEAR_MUL, true, 0, 6, 7, AXIS_TENSOR},
    {OP_QLINEAR_AVERAGE_POOL, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_AVERAGE_POOL, true, 0, 3, 4, AXIS_TENSOR},
    {OP_QLINEAR_GLOBAL_AVERAGE_POOL, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_GLOBAL_AVERAGE_POOL, true, 0, 3, 4, AXIS_TENSOR},
    {OP_QLINEAR_LEAKY_RELU, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_LEAKY_RELU, true, 0, 3, 4, AXIS_TENSOR},
    {OP_QLINEAR_SIGMOID, false, 0, 1, 2, AXIS_TENSOR},
    {OP_QLINEAR_SIGMOID, true, 0, 3, 4, AXIS_TENSOR},
    {OP_QLINEAR_CONCAT, true, 0, 0, 1, AXIS_TENSOR}, /* its inputs: set_concat_inputs */
};

enum { FIRST_AXIS_VERSION = 13, DEFAULT_AXIS = 1 };

/* Decoded scales and zero points of a constant, so that one that many nodes share is decoded once. */
typedef struct {
    const float *scale;
    const int64_t *zero_point;
} Decoded;

typedef struct {
    Onnx *onnx;
    Decoded *decoded; /* by value */
    const Node *node;
    QuantRule rule;
} QuantReader;

static bool quant_error(const QuantReader *r, const Value *value, const char *what, const char *got,
                        const char *expected) {
    return diag_error(
        &r->onnx->work->diags,
        (DiagText){.node = r->node->name, .tensor = value->name, .what = what, .got = got, .expected = expected});
}

/* ---- Numbers of a constant */

/* Of a type that is_scale takes. */
static float float_at(const Value *value, uint32_t k) {
    return (float)dtype_float(value->dtype, packed_read(value->constant->bytes.ptr, k, dtype_bits(value->dtype)));
}

static int64_t int_at(const Value *value, uint32_t k) {
    uint32_t bits = dtype_bits(value->dtype);
    uint64_t code = packed_read(value->constant->bytes.ptr, k, bits);
    uint64_t top = (uint64_t)1 << (bits - 1);
    if (dtype_kind(value->dtype) != DTYPE_KIND_SIGNED || code < top) {
        return (int64_t)code; /* zero points are of 32 bits at most */
    }
    return -(int64_t)(~code & (top - 1)) - 1;
}

static bool is_scale(const Value *value) {
    return value != NULL && value->constant != NULL && value->constant->is_known &&
           (value->dtype == DTYPE_F32 || value->dtype == DTYPE_F16 || value->dtype == DTYPE_BF16);
}

static const float *scales_of(QuantReader *r, uint32_t index, uint32_t count) {
    Decoded *decoded = &r->decoded[index];
    if (decoded->scale == NULL) {
        float *scale = arena_array(&r->onnx->work->keep, float, count);
        for (uint32_t k = 0; k < count; k++) {
            scale[k] = float_at(&r->onnx->graph->values[index], k);
        }
        decoded->scale = scale;
    }
    return decoded->scale;
}

static const int64_t *zero_points_of(QuantReader *r, uint32_t index, uint32_t count) {
    Decoded *decoded = &r->decoded[index];
    if (decoded->zero_point == NULL) {
        int64_t *zero_point = arena_array(&r->onnx->work->keep, int64_t, count);
        for (uint32_t k = 0; k < count; k++) {
            zero_point[k] = int_at(&r->onnx->graph->values[index], k);
        }
        decoded->zero_point = zero_point;
    }
    return decoded->zero_point;
}

/* ---- One value */

static bool is_integer(DType dtype) {
    return dtype_kind(dtype) == DTYPE_KIND_SIGNED || dtype_kind(dtype) == DTYPE_KIND_UNSIGNED;
}

/* False with a diagnostic where the zero points do not go with the scales; none at all are zeros. */
static bool read_zero_points(QuantReader *r, const Value *value, Quant *quant) {
    const Value *zero = node_input(r->onnx->graph, r->node, r->rule.zero_point);
    if (zero == NULL || zero->constant == NULL || !zero->constant->is_known) {
        return true;
    }
    uint64_t count;
    if (!shape_elements(&zero->shape, &count)) {
        return true;
    }
    if (!is_integer(zero->dtype) || dtype_bits(zero->dtype) > 32) {
        return !is_integer(value->dtype) || /* an 8-bit float: its zero point is 0 */
               quant_error(r, zero, "the zero point has another type than the tensor it belongs to",
                           dtype_name(zero->dtype), dtype_name(value->dtype));
    }
    if (count != quant->count) {
        Arena *keep = &r->onnx->work->keep;
        return quant_error(r, zero, "scales and zero points do not go together",
                           arena_text(keep, "%" PRIu64 " zero points", count),
                           arena_text(keep, "%" PRIu32 ", as many as there are scales", quant->count));
    }
    quant->zero_point = zero_points_of(r, r->node->inputs[r->rule.zero_point].index, quant->count);
    return true;
}

/* Before version 13 ai.onnx has one scale a tensor only. */
static bool has_axis(const Node *node) {
    bool is_standard = str_eq(node->op_name, STR("QuantizeLinear")) || str_eq(node->op_name, STR("DequantizeLinear"));
    return !is_standard || node->version >= FIRST_AXIS_VERSION;
}

static bool stated_axis(QuantReader *r, const Value *value, uint32_t rank, int64_t *axis) {
    Arena *keep = &r->onnx->work->keep;
    if (!has_axis(r->node)) {
        return quant_error(r, value, "several scales, but this version of the operator has no axis",
                           arena_text(keep, "version %" PRId32, r->node->version), "one scale, or version 13");
    }
    *axis = node_int(r->node, "axis", DEFAULT_AXIS);
    if (*axis >= -(int64_t)rank && *axis < (int64_t)rank) {
        *axis += *axis < 0 ? rank : 0;
        return true;
    }
    return quant_error(r, value, "the quantisation axis lies outside the tensor",
                       arena_text(keep, "axis %" PRId64, *axis),
                       arena_text(keep, "-%" PRIu32 " to %" PRId64, rank, (int64_t)rank - 1));
}

static bool find_axis(QuantReader *r, const Value *value, uint32_t rank, Quant *quant) {
    int64_t axis = 0;
    switch (r->rule.axis) {
    case AXIS_STATED:
        if (!stated_axis(r, value, rank, &axis)) {
            return false;
        }
        break;
    case AXIS_FIRST:
        break;
    case AXIS_LAST:
        axis = (int64_t)rank - 1;
        break;
    case AXIS_BEFORE_LAST:
        axis = (int64_t)rank - 2;
        break;
    case AXIS_TENSOR:
        return quant_error(r, value, "several scales where the operator takes one",
                           arena_text(&r->onnx->work->keep, "%" PRIu32 " scales", quant->count), "1");
    }
    int64_t block = node_int(r->node, "block_size", 0);
    quant->axis = axis < 0 ? 0 : (int32_t)axis;
    quant->block = block > 0 && block <= UINT32_MAX ? (uint32_t)block : 0;
    return true;
}

/* The rank of the value, or of what the node makes of it or it of: quantising keeps the shape. */
static bool find_rank(const QuantReader *r, const Value *value, uint32_t *rank) {
    const Value *input = node_input(r->onnx->graph, r->node, 0);
    const Value *output = node_output(r->onnx->graph, r->node, 0);
    bool is_same_shape = r->rule.axis == AXIS_STATED;
    const Value *known = value->has_shape                                       ? value
                         : is_same_shape && input != NULL && input->has_shape   ? input
                         : is_same_shape && output != NULL && output->has_shape ? output
                                                                                : NULL;
    *rank = known == NULL ? 0 : known->shape.rank;
    return known != NULL;
}

static bool set_quant(QuantReader *r) {
    const Graph *graph = r->onnx->graph;
    const Node *node = r->node;
    Value *value = r->rule.is_output ? node_output(graph, node, r->rule.value) : node_input(graph, node, r->rule.value);
    const Value *scale = node_input(graph, node, r->rule.scale);
    uint64_t count;
    if (value == NULL || value->quant != NULL || !is_scale(scale) || !shape_elements(&scale->shape, &count) ||
        count == 0 || count > UINT32_MAX) {
        return true;
    }
    Quant *quant = arena_new(&r->onnx->work->keep, Quant);
    *quant = (Quant){.count = (uint32_t)count, .axis = -1};
    uint32_t rank;
    if (count > 1 && !find_rank(r, value, &rank)) {
        return true;
    }
    if ((count > 1 && !find_axis(r, value, rank, quant)) || !read_zero_points(r, value, quant)) {
        return false;
    }
    quant->scale = scales_of(r, node->inputs[r->rule.scale].index, quant->count);
    value->quant = quant;
    return true;
}

/* QLinearConcat: output scale and zero point, then input, scale, zero point for each. */
static bool set_concat_inputs(QuantReader *r) {
    bool sound = true;
    for (uint32_t k = 2; k + 2 < r->node->input_count; k += 3) {
        r->rule = (QuantRule){OP_QLINEAR_CONCAT, false, k, k + 1, k + 2, AXIS_TENSOR};
        sound = set_quant(r) && sound;
    }
    return sound;
}

bool onnx_set_quant(Onnx *onnx) {
    QuantReader r = {.onnx = onnx, .decoded = arena_array(&onnx->work->scratch, Decoded, onnx->graph->value_count)};
    bool sound = true;
    for (uint32_t n = 0; n < onnx->graph->node_count; n++) {
        r.node = &onnx->graph->nodes[n];
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            if (rules[k].op == r.node->op) {
                r.rule = rules[k];
                sound = set_quant(&r) && sound;
            }
        }
        sound = (r.node->op != OP_QLINEAR_CONCAT || set_concat_inputs(&r)) && sound;
    }
    return sound;
}
