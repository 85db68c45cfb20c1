/* From nodes to stages: coders, and operators that compute on codes. */
#include "node/reader.h"

#include <math.h>

/* ---- Quantize and Dequantize */

/* Which inputs of a node give a coder's scale and zero point; 0 is none, for the map is no parameter of a coder. */
typedef struct {
    uint32_t scale, zero;
} Given;

/* The coder's own, and behind them those of a Dequantize in front of it whose codes carry others (graph_fold_qdq). A
 * zero point may be absent. */
static void find_given(const NodeReader *r, Given given[2]) {
    uint32_t at = 1;
    given[0] = given[1] = (Given){0, 0};
    for (uint32_t k = 0; k < 2 && value_is_float(node_input(r->graph, r->node, at)); k++) {
        given[k].scale = at++;
        if (at < r->node->input_count && !value_is_float(node_input(r->graph, r->node, at))) {
            given[k].zero = is_value(r->node->inputs[at]) ? at : 0;
            at++;
        }
    }
}

/* Several scales go along an axis that is an attribute, which ai.onnx has since opset 13. */
static bool has_axis(const NodeReader *r, const Value *scale) {
    const Shape *map = &r->data->shape;
    int64_t axis = node_int(r->node, "axis", 1);
    axis += axis < 0 ? (int64_t)map->rank : 0;
    Str op = r->node->op_name;
    bool is_standard = str_eq(op, STR("QuantizeLinear")) || str_eq(op, STR("DequantizeLinear"));
    return (r->node->version >= 13 || !is_standard) && scale->shape.rank == 1 && axis >= 0 && axis < (int64_t)map->rank;
}

static void add_given(NodeStage *stage, Gives gives, uint32_t input) {
    stage->param[stage->param_count++] = (StageParam){.gives = gives, .input = input};
}

static bool read_zero(NodeReader *r, const Value *coded, uint32_t input, uint64_t scales, NodeStage *stage) {
    const Value *zero = node_input(r->graph, r->node, input);
    uint64_t count;
    double number;
    if (zero->dtype != coded->dtype || !shape_elements(&zero->shape, &count) || count != scales) {
        return reader_fail(r, "its zero points do not go with its codes and scales");
    }
    if (reader_number(zero, &number)) {
        stage->stage.code.zero_point = (int32_t)number;
    } else {
        add_given(stage, GIVES_ZERO_POINT, input);
    }
    return true;
}

/* What the operator is given: what the codes carry may be another operator's word. */
static bool read_given(NodeReader *r, const Value *coded, Given given, NodeStage *stage) {
    const Value *scale = node_input(r->graph, r->node, given.scale);
    uint64_t count;
    double number;
    if (node_int(r->node, "block_size", 0) != 0) {
        return reader_fail(r, "its scales go by blocks");
    }
    int64_t precision = node_int(r->node, "precision", 0);
    if (scale->dtype != r->reals || (precision != 0 && dtype_from_onnx(precision) != r->reals)) {
        return reader_fail(r, "its scale has another type than its reals");
    }
    if (!shape_elements(&scale->shape, &count) || (count != 1 && !has_axis(r, scale))) {
        return reader_fail(r, "its scales do not go along an axis of its map");
    }
    if (reader_number(scale, &number)) {
        stage->stage.code.scale = (float)number;
    } else {
        add_given(stage, GIVES_SCALE, given.scale);
    }
    return given.zero == 0 || read_zero(r, coded, given.zero, count, stage);
}

static bool add_coder(NodeReader *r, StageKind kind, const Value *coded, Given given) {
    bool is_quantize = kind == STAGE_QUANTIZE;
    int32_t lo, hi;
    if (is_quantize ? !reader_is_code(coded->dtype) : !stage_code_range(coded->dtype, &lo, &hi)) {
        return reader_fail(r, "its codes are of a type that is not computed");
    }
    NodeStage *stage =
        reader_add(r, kind, is_quantize ? r->reals : coded->dtype, is_quantize ? coded->dtype : r->reals);
    return given.scale != 0 ? read_given(r, coded, given, stage) : reader_own_code(r, coded, &stage->stage.code);
}

/* ---- TFLite's operators on codes */

/* The limits of reals as codes: divided in float32, rounded half away from zero. */
static bool limit_codes(const float limit[2], Stage *stage, const char **why) {
    StageCode code = stage->integer.out;
    double least = (double)code.zero_point + (double)roundf(limit[0] / code.scale);
    double most = (double)code.zero_point + (double)roundf(limit[1] / code.scale);
    double lo = fmax(least, (double)stage->integer.lo), hi = fmin(most, (double)stage->integer.hi);
    if (!(lo <= hi)) {
        *why = "its limits leave no code";
        return false;
    }
    stage->integer.lo = (int32_t)lo;
    stage->integer.hi = (int32_t)hi;
    return true;
}

bool node_limit_codes(const Node *node, Stage *stage, const char **why) {
    float limit[2];
    bool is_there;
    return reader_activation(node, limit, &is_there, why) && (!is_there || limit_codes(limit, stage, why));
}

/* With the codes of the map, before and after, and all that the type has. */
static NodeStage *add_integer(NodeReader *r, StageKind kind) {
    StageCode in, out;
    int32_t lo, hi;
    if (r->graph->format != FORMAT_TFLITE || (r->data->quant == NULL && r->out->quant == NULL)) {
        reader_fail(r, "it computes on plain integers");
        return NULL;
    }
    bool is_wide = r->data->dtype == DTYPE_I32 || r->out->dtype == DTYPE_I32; /* only TFLite's QUANTIZE */
    if (!stage_code_range(r->data->dtype, &lo, &hi) || !stage_code_range(r->out->dtype, &lo, &hi) ||
        (is_wide && r->node->op != OP_QUANTIZE)) {
        reader_fail(r, "its codes are of a type that is not computed");
        return NULL;
    }
    if (!reader_own_code(r, r->data, &in) || !reader_own_code(r, r->out, &out)) {
        return NULL;
    }
    NodeStage *added = reader_add(r, kind, r->data->dtype, r->out->dtype);
    added->stage.integer.in = in;
    added->stage.integer.out = out;
    added->stage.integer.lo = lo;
    added->stage.integer.hi = hi;
    return added;
}

static bool read_code_arithmetic(NodeReader *r) {
    uint32_t other = 1 - r->stages->data_input;
    const Value *constant = node_input(r->graph, r->node, other);
    OpId op = r->node->op;
    if (op == OP_DIV) {
        return reader_fail(r, "no reference of a division of codes is known");
    }
    NodeStage *added = add_integer(r, op == OP_MUL ? STAGE_CODE_MUL : STAGE_CODE_ADD);
    if (added == NULL || !reader_own_code(r, constant, &added->stage.integer.constant)) {
        return false;
    }
    if (constant->dtype != r->data->dtype || r->out->dtype != r->data->dtype) {
        return reader_fail(r, "its operands have different types of codes");
    }
    added->stage.integer.negate = op != OP_SUB ? 0 : other == 1 ? 1 : 2;
    add_given(added, GIVES_VALUE, other);
    return node_limit_codes(r->node, &added->stage, &r->why);
}

static bool same_code(StageCode a, StageCode b) {
    return a.scale == b.scale && a.zero_point == b.zero_point;
}

/* Requantised and limited in one. TFLite divides the scales in float32 here (kernels/activations.cc, ReluPrepare; not
 * so in QUANTIZE), which the quotient tells as the scale of codes that go to those of scale 1. */
static bool read_code_relu(NodeReader *r) {
    float limit[2];
    NodeStage *added = add_integer(r, STAGE_CODE_REQUANTIZE);
    if (added == NULL) {
        return false;
    }
    Stage *stage = &added->stage;
    if (!reader_relu(r->node->op, limit)) {
        return reader_fail(r, "no reference of the operator on codes is known");
    }
    if (r->out->dtype != r->data->dtype) {
        return reader_fail(r, "its result has another type than its map");
    }
    if (!limit_codes(limit, stage, &r->why)) {
        return false;
    }
    if (same_code(stage->integer.in, stage->integer.out)) {
        stage->kind = STAGE_CODE_CLIP;
    } else {
        stage->integer.in.scale /= stage->integer.out.scale;
        stage->integer.out.scale = 1;
    }
    return true;
}

bool reader_code_operator(NodeReader *r) {
    if (r->graph->format != FORMAT_TFLITE) {
        return reader_integers(r);
    }
    switch (r->node->op) {
    case OP_MUL:
    case OP_ADD:
    case OP_SUB:
    case OP_DIV:
        return read_code_arithmetic(r);
    default:
        return read_code_relu(r);
    }
}

bool reader_coder(NodeReader *r) {
    Given given[2];
    bool is_quantize = r->node->op == OP_QUANTIZE;
    find_given(r, given);
    if (r->is_folded) {
        return add_coder(r, STAGE_DEQUANTIZE, r->data, given[1]) && add_coder(r, STAGE_QUANTIZE, r->out, given[0]);
    }
    if (r->reals == DTYPE_NONE) {
        return add_integer(r, STAGE_CODE_REQUANTIZE) != NULL;
    }
    return add_coder(r, is_quantize ? STAGE_QUANTIZE : STAGE_DEQUANTIZE, is_quantize ? r->out : r->data, given[0]);
}
