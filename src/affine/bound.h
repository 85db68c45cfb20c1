/* A stage whose reference is fixed: what bind.c computes once and chain.c evaluates. */
#ifndef S0_AFFINE_BOUND_H
#define S0_AFFINE_BOUND_H

#include "affine/stage.h"

#include <string.h>

typedef enum {
    BOUND_MUL,
    BOUND_ADD,
    BOUND_SUB,
    BOUND_RSUB,
    BOUND_DIV,
    BOUND_NORM,
    BOUND_FOLDED_NORM, /* one product and one sum */
    BOUND_CLIP,
    BOUND_DEQUANTIZE,
    BOUND_DEQUANTIZE_F64, /* the product is rounded once, from a double */
    BOUND_QUANTIZE,
    BOUND_CODE_CLIP,
    BOUND_FIXED,      /* requantise((code - zero) * weight + bias) by a multiplier and a shift */
    BOUND_FIXED_SUM,  /* requantise(rescale((code - zero) << left) * sign + addend): TFLite's ADD */
    BOUND_SCALED,     /* as FIXED, by a float */
    BOUND_SCALED_SUM, /* (scale * (code - zero) * sign + addend) / divisor: QLinearAdd */
} BoundKind;

struct BoundStage {
    BoundKind kind;
    bool is_half; /* each float operation is rounded to float16 */
    S0Rounding rounding;
    S0Codes codes; /* of what comes out */
    union {
        float number;
        struct {
            float mean, deviation, gamma, beta;
        } norm;
        struct {
            float factor, addend;
        } folded;
        struct {
            float lo, hi;
        } clip;
        StageCode code;
        struct {
            int32_t zero, weight, bias;
            S0Multiplier factor;
            float scale;
        } scaled;
        struct {
            int32_t zero, sign, left, addend;
            S0Multiplier in, out;
        } fixed_sum;
        struct {
            int32_t zero, sign;
            float scale, addend, divisor;
        } scaled_sum;
    };
};

/* Bit for bit: a NaN is itself, 0 is not -0. */
static inline bool same_float(float a, float b) {
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

#endif
