/* From nodes to stages: ONNX's operators on integers that stand for themselves, and QLinearAdd and QLinearMul. */
#include "node/reader.h"

/* ---- Integers that stand for themselves */

static bool is_of_type(const Value *value, DType dtype) {
    return value != NULL && value->dtype == dtype;
}

static bool read_arithmetic(NodeReader *r) {
    uint32_t other = 1 - r->stages->data_input;
    OpId op = r->node->op;
    if (!is_of_type(node_input(r->graph, r->node, other), r->data->dtype) || r->out->dtype != r->data->dtype) {
        return reader_fail(r, "its operands have different types");
    }
    StageKind kind = op == OP_MUL   ? STAGE_INT_MUL
                     : op == OP_ADD ? STAGE_INT_ADD
                     : op == OP_DIV ? STAGE_INT_DIV
                     : other == 1   ? STAGE_INT_SUB
                                    : STAGE_INT_RSUB;
    NodeStage *added = reader_add(r, kind, r->data->dtype, r->data->dtype);
    added->param[added->param_count++] = (StageParam){.gives = GIVES_VALUE, .input = other};
    return true;
}

static bool clip_limit(NodeReader *r, NodeStage *clip, Gives gives, int32_t *limit) {
    double number = *limit;
    bool is_given;
    bool is_read = reader_limit(r, clip, gives, &number, &is_given);
    *limit = is_given ? 0 : (int32_t)number;
    return is_read;
}

/* The type's own limits where there are no others. */
static bool read_clip(NodeReader *r) {
    NodeStage *clip = reader_add(r, STAGE_CODE_CLIP, r->data->dtype, r->data->dtype);
    int32_t lo, hi;
    (void)stage_code_range(r->data->dtype, &lo, &hi);
    if (r->node->op == OP_CLIP && !(clip_limit(r, clip, GIVES_LO, &lo) && clip_limit(r, clip, GIVES_HI, &hi))) {
        return false;
    }
    clip->stage.integer.lo = r->node->op == OP_RELU && lo < 0 ? 0 : lo;
    clip->stage.integer.hi = hi;
    return true;
}

/* ---- Codes of QLinear operators */

/* Inputs `at` and `at` + 1: numbers that are part of the graph. A zero point may be absent. */
static bool read_code(NodeReader *r, uint32_t at, DType dtype, StageCode *code) {
    const Value *scale = node_input(r->graph, r->node, at), *zero = node_input(r->graph, r->node, at + 1);
    double number = 0, zero_point = 0;
    if (!is_of_type(scale, DTYPE_F32) || !reader_number(scale, &number) ||
        (zero != NULL && (zero->dtype != dtype || !reader_number(zero, &zero_point)))) {
        return reader_fail(r, "its scales and zero points are not known constants of one number");
    }
    *code = (StageCode){(float)number, (int32_t)zero_point};
    return true;
}

static bool read_qlinear(NodeReader *r) {
    uint32_t data = r->stages->data_input, other = 3 - data;
    DType dtype = r->data->dtype;
    bool is_sum = r->node->op == OP_QLINEAR_ADD;
    if (!is_of_type(node_input(r->graph, r->node, other), dtype) || r->out->dtype != dtype || dtype_bits(dtype) != 8) {
        return reader_fail(r, "its operands are not of one type of 8 bits");
    }
    NodeStage *added = reader_add(r, is_sum ? STAGE_CODE_ADD : STAGE_CODE_MUL, dtype, dtype);
    Stage *stage = &added->stage;
    (void)stage_code_range(dtype, &stage->integer.lo, &stage->integer.hi);
    added->param[added->param_count++] = (StageParam){.gives = GIVES_VALUE, .input = other};
    return read_code(r, data + 1, dtype, &stage->integer.in) &&
           read_code(r, other + 1, dtype, &stage->integer.constant) && read_code(r, 6, dtype, &stage->integer.out);
}

bool reader_integers(NodeReader *r) {
    int32_t lo, hi;
    OpId op = r->node->op;
    if (!stage_code_range(r->data->dtype, &lo, &hi)) {
        return reader_fail(
            r, "it computes in a type that is neither float32 nor float16 nor of integers that int32 holds");
    }
    if (op == OP_QLINEAR_ADD || op == OP_QLINEAR_MUL) {
        return read_qlinear(r);
    }
    if (op == OP_CLIP || op == OP_RELU) {
        return read_clip(r);
    }
    bool is_arithmetic = op == OP_MUL || op == OP_ADD || op == OP_SUB || op == OP_DIV;
    return is_arithmetic ? read_arithmetic(r) : reader_fail(r, "no reference of the operator on integers is known");
}
