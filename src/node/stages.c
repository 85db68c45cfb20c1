/* From nodes to stages: operators on reals, and which input of a node is the map. */
#include "node/stages.h"

#include "graph/fold.h"
#include "layout/packed.h"
#include "node/reader.h"

#include <float.h>
#include <math.h>

bool reader_fail(NodeReader *r, const char *why) {
    r->why = why;
    return false;
}

NodeStage *reader_add(NodeReader *r, StageKind kind, DType from, DType to) {
    NodeStage *added = &r->stages->stage[r->stages->count++];
    *added = (NodeStage){.stage = {.kind = kind, .from = from, .to = to}};
    return added;
}

bool reader_is_code(DType dtype) {
    int32_t lo, hi;
    uint32_t bits = dtype_bits(dtype);
    return bits >= 2 && bits <= 16 && stage_code_range(dtype, &lo, &hi);
}

bool reader_own_code(NodeReader *r, const Value *coded, StageCode *code) {
    const Quant *quant = coded->quant;
    if (quant == NULL) {
        return reader_fail(r, "the scale of its codes is not known");
    }
    if (quant->count != 1 || quant->block != 0) {
        return reader_fail(r, "its codes have several scales, which no input gives");
    }
    *code = (StageCode){quant->scale[0], (int32_t)quant_zero(quant, 0)};
    return true;
}

bool reader_number(const Value *value, double *number) {
    const Const *constant = value->constant;
    uint64_t count;
    if (constant == NULL || !constant->is_known || value->is_default || !shape_elements(&constant->stored, &count) ||
        count != 1) {
        return false;
    }
    int32_t lo, hi;
    uint64_t code = packed_read(constant->bytes.ptr, 0, dtype_bits(value->dtype));
    if (stage_code_range(value->dtype, &lo, &hi)) {
        *number = (double)code - (code > (uint64_t)hi ? 2 * ((double)hi + 1) : 0);
        return true;
    }
    bool is_real = value->dtype == DTYPE_F32 || value->dtype == DTYPE_F16;
    *number = is_real ? dtype_float(value->dtype, code) : 0;
    return is_real;
}

/* ---- Operators on reals */

/* Does the stage take it as it is? What is float16 is exact in float32. */
static bool is_real_param(const Value *value, DType reals, bool may_widen) {
    return value->dtype == reals || (may_widen && value->dtype == DTYPE_F16 && reals == DTYPE_F32);
}

/* A parameter that the device reads: reals of the stage's type, or codes that stand for them. */
static bool add_param(NodeReader *r, NodeStage *stage, Gives gives, uint32_t input) {
    const Value *value = node_input(r->graph, r->node, input);
    StageParam param = {.gives = gives, .input = input};
    int32_t lo, hi;
    if (value == NULL) {
        return reader_fail(r, "a parameter is absent");
    }
    param.is_coded = stage_code_range(value->dtype, &lo, &hi);
    if (!param.is_coded && !is_real_param(value, stage->stage.from, gives >= GIVES_GAMMA && gives <= GIVES_VARIANCE)) {
        return reader_fail(r, "a parameter has another type than the map");
    }
    if (param.is_coded && value->quant == NULL) {
        return reader_fail(r, "a parameter is of integers without a scale");
    }
    if (param.is_coded && (value->quant->count != 1 || value->quant->block != 0)) {
        return reader_fail(r, "a parameter is of codes with several scales");
    }
    if (param.is_coded && r->reals != DTYPE_F32) {
        return reader_fail(r, "a parameter of float16 is stored as codes");
    }
    if (param.is_coded && !reader_own_code(r, value, &param.code)) {
        return false;
    }
    stage->param[stage->param_count++] = param;
    return true;
}

static bool read_arithmetic(NodeReader *r) {
    uint32_t other = 1 - r->stages->data_input;
    OpId op = r->node->op;
    StageKind kind = op == OP_MUL   ? STAGE_MUL
                     : op == OP_ADD ? STAGE_ADD
                     : op == OP_DIV ? STAGE_DIV
                     : other == 1   ? STAGE_SUB
                                    : STAGE_RSUB;
    return add_param(r, reader_add(r, kind, r->reals, r->reals), GIVES_NUMBER, other);
}

/* By training_mode since opset 14, by the number of outputs from 7 to 13, by is_test = 0 before. */
static bool is_training(const Node *norm) {
    bool is_old = norm->version < 7 && node_int(norm, "is_test", 0) == 0;
    return is_old || norm->output_count > 1 || node_int(norm, "training_mode", 0) != 0;
}

/* Since opset 15 the parameters may have another type than the map: the wider one is computed in. */
static DType type_of_norm(const NodeReader *r) {
    bool is_wide = false;
    for (uint32_t k = 1; k < 5; k++) {
        const Value *param = node_input(r->graph, r->node, k);
        is_wide = is_wide || (param != NULL && param->dtype == DTYPE_F32);
    }
    return is_wide ? DTYPE_F32 : r->reals;
}

static bool read_norm(NodeReader *r) {
    static const Gives gives[] = {GIVES_GAMMA, GIVES_BETA, GIVES_MEAN, GIVES_VARIANCE};
    if (is_training(r->node)) {
        return reader_fail(r, "it takes mean and variance from its input");
    }
    DType type = type_of_norm(r);
    if (type != r->reals) {
        reader_add(r, STAGE_CAST, r->reals, type);
    }
    NodeStage *norm = reader_add(r, STAGE_NORM, type, type);
    norm->stage.norm.epsilon = (float)node_float(r->node, "epsilon", 1e-5);
    for (uint32_t k = 0; k < 4; k++) {
        if (!add_param(r, norm, gives[k], k + 1)) {
            return false;
        }
    }
    if (type != r->reals) {
        reader_add(r, STAGE_CAST, type, r->reals);
    }
    return true;
}

/* ---- Limits */

bool reader_relu(OpId op, float limit[2]) {
    limit[0] = op == OP_RELU_N1_TO_1 ? -1 : 0;
    limit[1] = op == OP_RELU ? INFINITY : op == OP_RELU6 ? 6 : 1;
    return op == OP_RELU || op == OP_RELU6 || op == OP_RELU_N1_TO_1 || op == OP_RELU_0_TO_1;
}

static bool read_word(const Node *node, float limit[2]) {
    Str word = node_str(node, "activation");
    if (str_eq(word, STR("CLIP"))) {
        limit[0] = (float)node_float(node, "activation_min", (double)-INFINITY);
        limit[1] = (float)node_float(node, "activation_max", (double)INFINITY);
        return true;
    }
    OpId op = str_eq(word, STR("RELU"))           ? OP_RELU
              : str_eq(word, STR("RELU6"))        ? OP_RELU6
              : str_eq(word, STR("RELU_N1_TO_1")) ? OP_RELU_N1_TO_1
                                                  : OP_NONE;
    return reader_relu(op, limit);
}

bool reader_activation(const Node *node, float limit[2], bool *is_there, const char **why) {
    Str word = node_str(node, "activation");
    *is_there = word.len > 0 && !str_eq(word, STR("NONE"));
    if (*is_there && !read_word(node, limit)) {
        *why = "its fused activation is not a limit";
        return false;
    }
    return true;
}

bool reader_limit(NodeReader *r, NodeStage *clip, Gives gives, double *number, bool *is_given) {
    uint32_t k = gives == GIVES_LO ? 1 : 2;
    const Value *limit = node_input(r->graph, r->node, k);
    uint64_t count;
    *is_given = limit != NULL && !reader_number(limit, number);
    if (limit != NULL && limit->dtype != clip->stage.from) {
        return reader_fail(r, "a limit has another type than the map");
    }
    if (*is_given && (!limit->has_shape || !shape_elements(&limit->shape, &count) || count != 1)) {
        return reader_fail(r, "a limit is not one number");
    }
    if (*is_given) {
        clip->param[clip->param_count++] = (StageParam){.gives = gives, .input = k};
    }
    return true;
}

/* An input since opset 11, an attribute before; the type's largest finite number where there is neither. */
static bool clip_limit(NodeReader *r, NodeStage *clip, Gives gives, double absent, float *limit) {
    double number = node_float(r->node, gives == GIVES_LO ? "min" : "max", absent);
    bool is_given;
    if (!reader_limit(r, clip, gives, &number, &is_given)) {
        return false;
    }
    *limit = is_given ? 0 : (float)number;
    return !isnan(number) || reader_fail(r, "a limit is not a number");
}

static bool read_clip(NodeReader *r) {
    float limit[2];
    double most = r->reals == DTYPE_F16 ? 65504 : (double)FLT_MAX;
    NodeStage *clip = reader_add(r, STAGE_CLIP, r->reals, r->reals);
    if (!reader_relu(r->node->op, limit) &&
        !(clip_limit(r, clip, GIVES_LO, -most, &limit[0]) && clip_limit(r, clip, GIVES_HI, most, &limit[1]))) {
        return false;
    }
    clip->stage.clip.lo = limit[0];
    clip->stage.clip.hi = limit[1];
    return true;
}

static bool read_fused(NodeReader *r) {
    float limit[2];
    bool is_there;
    if (!reader_activation(r->node, limit, &is_there, &r->why) || !is_there) {
        return !is_there;
    }
    Stage *clip = &reader_add(r, STAGE_CLIP, r->reals, r->reals)->stage;
    clip->clip.lo = limit[0];
    clip->clip.hi = limit[1];
    return true;
}

static bool read_reals(NodeReader *r) {
    switch (r->node->op) {
    case OP_MUL:
    case OP_ADD:
    case OP_SUB:
    case OP_DIV:
        return read_arithmetic(r) && read_fused(r);
    case OP_BATCH_NORM:
        return read_norm(r) && read_fused(r);
    default:
        return read_clip(r) && read_fused(r);
    }
}

/* Dequantize - operator - Quantize, which graph_fold_qdq made one. */
static bool read_folded(NodeReader *r) {
    StageCode in, out;
    int32_t lo, hi;
    if (!stage_code_range(r->data->dtype, &lo, &hi) || !reader_is_code(r->out->dtype)) {
        return reader_fail(r, "its codes are of a type that is not computed");
    }
    if (!reader_own_code(r, r->data, &in) || !reader_own_code(r, r->out, &out)) {
        return false;
    }
    reader_add(r, STAGE_DEQUANTIZE, r->data->dtype, r->reals)->stage.code = in;
    if (!read_reals(r)) {
        return false;
    }
    reader_add(r, STAGE_QUANTIZE, r->reals, r->out->dtype)->stage.code = out;
    return true;
}

/* ---- The map, and what it holds */

static bool is_arithmetic(OpId op) {
    return op == OP_MUL || op == OP_ADD || op == OP_SUB || op == OP_DIV;
}

static bool is_coder(OpId op) {
    return op == OP_QUANTIZE || op == OP_DEQUANTIZE;
}

/* Inputs of an operator that computes on two. */
static bool find_operands(OpId op, uint32_t at[2]) {
    at[0] = 0;
    at[1] = op == OP_QLINEAR_ADD || op == OP_QLINEAR_MUL ? 3 : 1;
    return is_arithmetic(op) || at[1] == 3;
}

static bool is_known_operator(OpId op) {
    float limit[2];
    uint32_t at[2];
    return find_operands(op, at) || is_coder(op) || op == OP_BATCH_NORM || op == OP_CLIP || reader_relu(op, limit);
}

static bool has_map_shape(const NodeReader *r, const Value *value) {
    return value != NULL && value->has_shape && shape_eq(&value->shape, &r->out->shape);
}

static bool is_callers(const Value *value) {
    return value->constant == NULL && value->is_input;
}

/* May operand `k` be the map? A constant is a parameter, however large; so is what a caller or a node gives, where it
 * is smaller than the map. */
static bool is_map(const NodeReader *r, const Value *const operand[2], uint32_t k) {
    return operand[k]->constant == NULL && has_map_shape(r, operand[k]);
}

/* Of two maps one is a parameter: the one that a caller gives, else the second. */
static bool is_second(const NodeReader *r, const Value *const operand[2]) {
    bool is_first = is_map(r, operand, 0);
    return is_map(r, operand, 1) && !(is_first && (is_callers(operand[1]) || !is_callers(operand[0])));
}

/* What a caller gives may repeat to become the map, where no operand is one. */
static bool may_spread(const Value *const operand[2], uint32_t k) {
    const Value *other = operand[1 - k];
    return is_callers(operand[k]) && operand[k]->has_shape && (other->constant != NULL || is_callers(other));
}

/* Which operand is the map: 2 where none is. A quotient has its dividend for the map. */
static uint32_t choose_map(NodeReader *r, const Value *const operand[2]) {
    uint32_t count = r->node->op == OP_DIV ? 1 : 2;
    if (count == 2 && is_second(r, operand)) {
        return 1;
    }
    if (is_map(r, operand, 0)) {
        return 0;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (may_spread(operand, k) && !has_map_shape(r, operand[k])) {
            r->stages->is_spread = true;
            return k;
        }
    }
    return 2;
}

static bool fail_without_map(NodeReader *r, const Value *const operand[2]) {
    bool is_divisor = r->node->op == OP_DIV && (is_map(r, operand, 1) || operand[0]->constant != NULL);
    return reader_fail(r, is_divisor ? "it divides by its map" : "its map does not keep its shape");
}

static bool find_map(NodeReader *r) {
    uint32_t at[2];
    r->data = node_input(r->graph, r->node, 0);
    if (!find_operands(r->node->op, at)) {
        return has_map_shape(r, r->data) || reader_fail(r, "its map does not keep its shape");
    }
    const Value *const operand[2] = {r->data, node_input(r->graph, r->node, at[1])};
    if (operand[0] == NULL || operand[1] == NULL || (at[1] == 1 && r->node->input_count != 2)) {
        return reader_fail(r, "it has not two operands");
    }
    uint32_t k = choose_map(r, operand);
    if (k == 2) {
        return fail_without_map(r, operand);
    }
    r->data = operand[k];
    r->stages->data_input = at[k];
    return true;
}

/* Reals where the map is, or where the codes of the map stand for them. */
static bool find_reals(NodeReader *r) {
    Str folded = node_str(r->node, "reals");
    r->is_folded = folded.len > 0;
    r->reals = r->is_folded ? dtype_find(folded) : r->node->op == OP_DEQUANTIZE ? r->out->dtype : r->data->dtype;
    if (!dtype_is_float(r->reals)) {
        r->reals = DTYPE_NONE;
        return true;
    }
    bool is_known = r->reals == DTYPE_F32 || r->reals == DTYPE_F16;
    return is_known || reader_fail(r, "it computes in a type that is neither float32 nor float16");
}

static bool read_node(NodeReader *r) {
    if (!is_known_operator(r->node->op)) {
        return reader_fail(r, "it is no per-channel operator that is executed");
    }
    if (r->node->is_constant) {
        return reader_fail(r, "its result is a constant");
    }
    r->out = node_output(r->graph, r->node, 0);
    if (r->out == NULL || !r->out->has_shape) {
        return reader_fail(r, "the shape of its result is not known");
    }
    if (!find_map(r) || !find_reals(r)) {
        return false;
    }
    if (is_coder(r->node->op)) {
        return reader_coder(r);
    }
    if (r->reals == DTYPE_NONE) {
        return reader_code_operator(r);
    }
    if (r->is_folded) {
        return read_folded(r);
    }
    return r->out->dtype == r->reals ? read_reals(r) : reader_fail(r, "its result has another type than its map");
}

bool node_stages(const Graph *graph, const Node *node, NodeStages *stages, const char **why) {
    NodeReader reader = {.graph = graph, .node = node, .stages = stages};
    *stages = (NodeStages){0};
    bool is_known = read_node(&reader);
    *why = reader.why;
    return is_known;
}
