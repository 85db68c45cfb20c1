/* Stages: the operators of a per-channel chain as the model states them, one channel at a time.
 *
 * A chain of one channel is an array of stages: what goes into stage k + 1 is what came out of stage k. chain_bind
 * fixes the reference (its multipliers and shifts are computed once), chain_code and chain_real then evaluate, bit for
 * bit as that reference does. This is the one source of truth: every rewrite is proven against it.
 *
 * All float arithmetic is float32 (float16 where the stage says so), each operation rounded once; no contraction. */
#ifndef S0_AFFINE_STAGE_H
#define S0_AFFINE_STAGE_H

#include "base/work.h"
#include "graph/dtype.h"
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
            int32_t value;               /* the constant's code; the weight */
            int32_t bias;                /* CODE_SCALE: in units of in.scale * constant.scale */
            int32_t lo, hi;              /* codes the output is limited to: the dtype's, or a fused activation's */
            int32_t negate;
        } integer;
    };
} Stage;

/* Why a reference has no value for a stage, or a rewrite may not be made; kept in words for people. */
typedef const char *StageFault;

/* A chain of one channel under one reference. */
typedef struct BoundStage BoundStage;
typedef struct {
    Semantics semantics;
    uint32_t count;
    const BoundStage *stage; /* in the arena it was bound in */
} Chain;

/* Null where the reference defines the chain for every code of the first stage's type; else why not: a parameter that
 * is not finite, a variance with variance + epsilon <= 0, a scale out of the kernel's range, an accumulator that could
 * pass 32 bits. Types of 32 bits, and reals, are not checked as inputs: ask chain_check for the codes that can reach
 * the chain. No stage at all is the identity. */
StageFault chain_bind(const Stage *stage, uint32_t count, Semantics semantics, Arena *arena, Chain *chain);

/* Null where the reference defines the chain for every code of [lo, hi]: no integer passes 32 bits, no real is
 * infinite. Such a chain is monotone there, see chain_direction. */
StageFault chain_check(const Chain *chain, int64_t lo, int64_t hi);

/* 1: no larger code gives a smaller result; -1: no larger code gives a larger one. On a domain that chain_check
 * accepts. */
int chain_direction(const Chain *chain);

/* Code in, code out: the chain starts and ends with integers. Any int32 input is defined: where the reference is not,
 * integers saturate and a NaN is quantised to the zero point. */
int32_t chain_code(const Chain *chain, int32_t code);

/* The same in place for many codes, stage by stage: several times faster. */
void chain_codes(const Chain *chain, int32_t *codes, uint32_t count);

/* Reals in and out; between them the chain may go through codes. */
float chain_real(const Chain *chain, float x);

/* True only where both compute the same of every input and have the same faults, whatever their references are called:
 * a proof for one is a proof for the other. References often agree on a chain: `cmsis` is `tflite-double` but for one
 * product. */
bool chain_eq(const Chain *a, const Chain *b);

/* The codes of an integer type of at most 32 bits; false for other types, and for uint32. */
bool stage_code_range(DType dtype, int32_t *lo, int32_t *hi);

/* Are they the same operations, bit for bit? */
bool stage_eq(const Stage *a, const Stage *b);
bool stages_eq(const Stage *a, uint32_t a_count, const Stage *b, uint32_t b_count);

#endif
