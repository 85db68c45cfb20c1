/* Stages as records: the codes of a type, and whether two stages are the same. */
#include "stage/bound.h"

bool stage_code_range(DType dtype, int32_t *lo, int32_t *hi) {
    uint32_t bits = dtype_bits(dtype);
    DTypeKind kind = dtype_kind(dtype);
    bool is_signed = kind == DTYPE_KIND_SIGNED && bits <= 32;
    bool is_unsigned = kind == DTYPE_KIND_UNSIGNED && bits < 32;
    if (bits == 0 || !(is_signed || is_unsigned)) {
        return false;
    }
    uint32_t value_bits = is_signed ? bits - 1 : bits;
    *hi = (int32_t)((UINT32_C(1) << value_bits) - 1);
    *lo = is_signed ? -*hi - 1 : 0;
    return true;
}

static bool same_code(StageCode a, StageCode b) {
    return same_float(a.scale, b.scale) && a.zero_point == b.zero_point;
}

static bool same_integer(const Stage *a, const Stage *b) {
    bool same = a->integer.lo == b->integer.lo && a->integer.hi == b->integer.hi;
    if (a->kind == STAGE_CODE_CLIP) {
        return same;
    }
    same = same && same_code(a->integer.in, b->integer.in) && same_code(a->integer.out, b->integer.out);
    if (a->kind == STAGE_CODE_REQUANTIZE) {
        return same;
    }
    same = same && same_code(a->integer.constant, b->integer.constant);
    bool same_value = a->integer.value == b->integer.value;
    switch (a->kind) {
    case STAGE_CODE_ADD:
        return same && same_value && a->integer.negate == b->integer.negate;
    case STAGE_CODE_SCALE:
        return same && same_value && a->integer.bias == b->integer.bias;
    case STAGE_CODE_MUL:
        return same && same_value;
    default:
        return same;
    }
}

bool stage_eq(const Stage *a, const Stage *b) {
    if (a->kind != b->kind || a->from != b->from || a->to != b->to) {
        return false;
    }
    switch (a->kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_DIV:
        return same_float(a->number, b->number);
    case STAGE_NORM:
        return same_float(a->norm.mean, b->norm.mean) && same_float(a->norm.variance, b->norm.variance) &&
               same_float(a->norm.epsilon, b->norm.epsilon) && same_float(a->norm.gamma, b->norm.gamma) &&
               same_float(a->norm.beta, b->norm.beta);
    case STAGE_CLIP:
        return same_float(a->clip.lo, b->clip.lo) && same_float(a->clip.hi, b->clip.hi);
    case STAGE_DEQUANTIZE:
    case STAGE_QUANTIZE:
        return same_code(a->code, b->code);
    case STAGE_INT_MUL:
    case STAGE_INT_ADD:
    case STAGE_INT_SUB:
    case STAGE_INT_RSUB:
    case STAGE_INT_DIV:
        return a->integer.value == b->integer.value;
    case STAGE_CAST:
        return true;
    default:
        return same_integer(a, b);
    }
}

bool stages_eq(const Stage *a, uint32_t a_count, const Stage *b, uint32_t b_count) {
    bool same = a_count == b_count;
    for (uint32_t k = 0; same && k < a_count; k++) {
        same = stage_eq(&a[k], &b[k]);
    }
    return same;
}
