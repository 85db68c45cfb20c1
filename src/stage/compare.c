/* Bound stages compared, and which way they go. */
#include "stage/bound.h"

static int sign_of(float x) {
    return x < 0 ? -1 : 1;
}

int bound_direction(const BoundStage *stage) {
    switch (stage->kind) {
    case BOUND_MUL:
    case BOUND_DIV:
        return sign_of(stage->number);
    case BOUND_RSUB:
        return -1;
    case BOUND_NORM:
        return sign_of(stage->norm.gamma);
    case BOUND_FOLDED_NORM:
        return sign_of(stage->folded.factor);
    case BOUND_DEQUANTIZE:
    case BOUND_DEQUANTIZE_F64:
        return sign_of(stage->code.scale);
    case BOUND_FIXED:
        return (stage->scaled.weight < 0) != (stage->scaled.factor.multiplier < 0) ? -1 : 1;
    case BOUND_SCALED:
        return (stage->scaled.weight < 0) != (stage->scaled.scale < 0) ? -1 : 1;
    case BOUND_FIXED_SUM:
        return stage->fixed_sum.sign;
    case BOUND_SCALED_SUM:
        return stage->scaled_sum.sign * sign_of(stage->scaled_sum.scale);
    default:
        return 1;
    }
}

static bool same_factor(S0Multiplier a, S0Multiplier b) {
    return a.multiplier == b.multiplier && a.shift == b.shift;
}

static bool same_scaled(const BoundStage *a, const BoundStage *b) {
    return a->scaled.zero == b->scaled.zero && a->scaled.weight == b->scaled.weight &&
           a->scaled.bias == b->scaled.bias && same_factor(a->scaled.factor, b->scaled.factor) &&
           same_float(a->scaled.scale, b->scaled.scale);
}

static bool same_fixed_sum(const BoundStage *a, const BoundStage *b) {
    return a->fixed_sum.zero == b->fixed_sum.zero && a->fixed_sum.sign == b->fixed_sum.sign &&
           a->fixed_sum.left == b->fixed_sum.left && a->fixed_sum.addend == b->fixed_sum.addend &&
           same_factor(a->fixed_sum.in, b->fixed_sum.in) && same_factor(a->fixed_sum.out, b->fixed_sum.out);
}

static bool same_scaled_sum(const BoundStage *a, const BoundStage *b) {
    return a->scaled_sum.zero == b->scaled_sum.zero && a->scaled_sum.sign == b->scaled_sum.sign &&
           same_float(a->scaled_sum.scale, b->scaled_sum.scale) &&
           same_float(a->scaled_sum.addend, b->scaled_sum.addend) &&
           same_float(a->scaled_sum.divisor, b->scaled_sum.divisor);
}

static bool same_norm(const BoundStage *a, const BoundStage *b) {
    return same_float(a->norm.mean, b->norm.mean) && same_float(a->norm.deviation, b->norm.deviation) &&
           same_float(a->norm.gamma, b->norm.gamma) && same_float(a->norm.beta, b->norm.beta);
}

static bool same_operands(const BoundStage *a, const BoundStage *b) {
    switch (a->kind) {
    case BOUND_NORM:
        return same_norm(a, b);
    case BOUND_FOLDED_NORM:
        return same_float(a->folded.factor, b->folded.factor) && same_float(a->folded.addend, b->folded.addend);
    case BOUND_CLIP:
        return same_float(a->clip.lo, b->clip.lo) && same_float(a->clip.hi, b->clip.hi);
    case BOUND_DEQUANTIZE:
    case BOUND_DEQUANTIZE_F64:
    case BOUND_QUANTIZE:
        return same_float(a->code.scale, b->code.scale) && a->code.zero_point == b->code.zero_point;
    case BOUND_CODE_CLIP:
        return true;
    case BOUND_FIXED:
    case BOUND_SCALED:
        return same_scaled(a, b);
    case BOUND_FIXED_SUM:
        return same_fixed_sum(a, b);
    case BOUND_SCALED_SUM:
        return same_scaled_sum(a, b);
    case BOUND_INT_MUL:
    case BOUND_INT_ADD:
    case BOUND_INT_SUB:
    case BOUND_INT_RSUB:
    case BOUND_INT_DIV:
        return a->value == b->value;
    case BOUND_CAST:
        return true;
    default:
        return same_float(a->number, b->number);
    }
}

bool bound_eq(const BoundStage *a, const BoundStage *b) {
    return a->kind == b->kind && a->is_half == b->is_half && a->rounding == b->rounding &&
           a->codes.zero_point == b->codes.zero_point && a->codes.lo == b->codes.lo && a->codes.hi == b->codes.hi &&
           same_operands(a, b);
}
