/* Stages: what a per-channel operator computes of one element, as the model states it. Proofs, plans and the simulated
 * device all mean the same by them; stage/bound.h evaluates them.
 *
 * All float arithmetic is float32 (float16 where the stage says so), each operation rounded once; no contraction. */
#ifndef S0_STAGE_STAGE_H
#define S0_STAGE_STAGE_H

#include "base/dtype.h"
#include "kern/semantics.h"

typedef enum {
    /* reals to reals */
    STAGE_MUL,  /* x * number */
    STAGE_ADD,  /* x + number */
    STAGE_SUB,  /* x - number */
    STAGE_RSUB, /* number - x */
    STAGE_DIV,  /* x / number */
    STAGE_NORM, /* (x - mean) / sqrt(variance + epsilon) * gamma + beta; in which order, the reference says */
    STAGE_CLIP, /* min(max(x, lo), hi) */
    /* codes to reals and back */
    STAGE_DEQUANTIZE, /* (code - zero_point) * scale */
    STAGE_QUANTIZE,   /* saturate(round(x / scale) + zero_point): half to even in ONNX, half away in TFLite */
    /* codes to codes, as TFLite's integer kernels and ONNX's QLinear operators do */
    STAGE_CODE_MUL,        /* by a constant code */
    STAGE_CODE_ADD,        /* of a constant code; `negate` 1: minus the code; 2: the code minus x */
    STAGE_CODE_REQUANTIZE, /* from one scale and zero point to another */
    STAGE_CODE_CLIP,       /* codes limited to [lo, hi] */
    STAGE_CODE_SCALE,      /* one weight and one bias a channel: requantise((code - zero) * weight + bias) */
    STAGE_ACC_REQUANTIZE,  /* an int32 accumulator of a convolution to codes */
    /* integers that stand for themselves, modulo 2^bits of their type: not monotone, so no chain of affine/ has one */
    STAGE_INT_MUL,
    STAGE_INT_ADD,
    STAGE_INT_SUB,  /* x - value */
    STAGE_INT_RSUB, /* value - x */
    STAGE_INT_DIV,  /* x / value, towards zero */
    /* a real to another type of reals */
    STAGE_CAST,
    STAGE_KINDS
} StageKind;

typedef struct {
    float scale;
    int32_t zero_point;
} StageCode;

typedef struct {
    StageKind kind;
    DType from, to; /* of what goes in and comes out */
    union {
        float number;
        struct {
            float mean, variance, epsilon, gamma, beta;
        } norm;
        struct {
            float lo, hi;
        } clip;
        StageCode code; /* (DE)QUANTIZE */
        struct {
            StageCode in, constant, out; /* `constant` is the weight of CODE_SCALE and ACC_REQUANTIZE */
            int32_t value;  /* the constant's code; the weight; the number of INT_…; of ACC_REQUANTIZE how
                               many elements it makes the mean of, 0 and 1: none */
            int32_t bias;   /* CODE_SCALE: in units of in.scale * constant.scale */
            int32_t lo, hi; /* codes the output is limited to: the dtype's, or a fused activation's */
            int32_t negate;
        } integer;
    };
} Stage;

/* Why a reference has no value for a stage, or a rewrite may not be made; kept in words for people. */
typedef const char *StageFault;

/* The codes of an integer type of at most 32 bits; false for other types, and for uint32. */
bool stage_code_range(DType dtype, int32_t *lo, int32_t *hi);

/* Are they the same operations, bit for bit? */
bool stage_eq(const Stage *a, const Stage *b);
bool stages_eq(const Stage *a, uint32_t a_count, const Stage *b, uint32_t b_count);

#endif
