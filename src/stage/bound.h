/* A stage whose reference is fixed: multipliers and shifts are computed once, then it is evaluated, bit for bit as that
 * reference does. This is the one source of truth: every rewrite is proven against it, and the simulated device
 * computes by it. */
#ifndef S0_STAGE_BOUND_H
#define S0_STAGE_BOUND_H

#include "stage/stage.h"

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
    BOUND_INT_MUL,
    BOUND_INT_ADD,
    BOUND_INT_SUB,
    BOUND_INT_RSUB,
    BOUND_INT_DIV,
    BOUND_CAST,
} BoundKind;

typedef struct {
    BoundKind kind;
    bool is_half; /* each float operation is rounded to float16 */
    S0Rounding rounding;
    S0Codes codes; /* of what comes out */
    union {
        float number;
        int32_t value; /* INT_… */
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
} BoundStage;

/* Null where the reference defines the stage; else why not: a parameter that is not finite, variance + epsilon <= 0, a
 * scale out of the kernel's range. Whether an accumulator can pass 32 bits depends on the input: ask bound_check. */
StageFault stage_bind(const Stage *stage, Semantics semantics, BoundStage *bound);

/* Evaluates `count` elements in place: codes in `code`, reals in `x`; a coder takes them from one to the other. Both
 * have room for `count`, whatever the stage. Any int32 is defined: where the reference is not, integers saturate and a
 * NaN is quantised to the zero point. */
void bound_run(const BoundStage *bound, int32_t *code, float *x, uint32_t count);

/* Null where the reference defines the stage of this code or real, whichever it takes: no integer passes 32 bits. */
StageFault bound_check(const BoundStage *bound, int32_t code, float x);

/* 1: no larger input gives a smaller result; -1: no larger input gives a larger one. */
int bound_direction(const BoundStage *bound);

/* Do both compute the same of every input, with the same faults? */
bool bound_eq(const BoundStage *a, const BoundStage *b);

/* Bit for bit: a NaN is itself, 0 is not -0. */
static inline bool same_float(float a, float b) {
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

#endif
