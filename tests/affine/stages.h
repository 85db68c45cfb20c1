/* Short ways to write stages and to ask a chain for one value. */
#ifndef TESTS_AFFINE_STAGES_H
#define TESTS_AFFINE_STAGES_H

#include "affine/chain.h"
#include "support/work.h"

/* A stage of codes from `from` to `to` with all codes of `to` allowed. */
static inline Stage codes_stage(StageKind kind, DType from, DType to) {
    Stage stage = {.kind = kind, .from = from, .to = to};
    stage.integer.constant.scale = 1;
    if (!stage_code_range(to, &stage.integer.lo, &stage.integer.hi)) {
        fail_msg("not a type of codes");
    }
    return stage;
}

static inline Stage number_stage(StageKind kind, float number) {
    return (Stage){.kind = kind, .from = DTYPE_F32, .to = DTYPE_F32, .number = number};
}

static inline Stage dequantize_stage(DType from, float scale, int32_t zero_point) {
    return (Stage){.kind = STAGE_DEQUANTIZE, .from = from, .to = DTYPE_F32, .code = {scale, zero_point}};
}

static inline Stage quantize_stage(DType to, float scale, int32_t zero_point) {
    return (Stage){.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = to, .code = {scale, zero_point}};
}

static inline Stage requantize_stage(DType from, StageCode in, DType to, StageCode out) {
    Stage stage = codes_stage(STAGE_CODE_REQUANTIZE, from, to);
    stage.integer.in = in;
    stage.integer.out = out;
    return stage;
}

/* int8 by a constant code: MUL or ADD. */
static inline Stage with_constant(StageKind kind, StageCode in, StageCode constant, int32_t value, StageCode out) {
    Stage stage = codes_stage(kind, DTYPE_I8, DTYPE_I8);
    stage.integer.in = in;
    stage.integer.constant = constant;
    stage.integer.value = value;
    stage.integer.out = out;
    return stage;
}

/* An accumulator in units of `scale` to int8. */
static inline Stage accumulator_stage(float scale, StageCode out) {
    Stage stage = codes_stage(STAGE_ACC_REQUANTIZE, DTYPE_I32, DTYPE_I8);
    stage.integer.in.scale = scale;
    stage.integer.out = out;
    return stage;
}

static inline Chain bind_chain(const Stage *stage, uint32_t count, Semantics semantics, Work *work) {
    Chain chain;
    StageFault fault = chain_bind(stage, count, semantics, &work->keep, &chain);
    if (fault != NULL) {
        fail_msg("%s: %s", s0_semantics_name(semantics), fault);
    }
    return chain;
}

/* What the chain makes of one code. */
static inline int32_t code_of(const Stage *stage, uint32_t count, Semantics semantics, int32_t code) {
    static Work work;
    WORK_BEGIN(&work);
    Chain chain = bind_chain(stage, count, semantics, &work);
    int32_t result = chain_code(&chain, code);
    work_free(&work);
    return result;
}

static inline float real_of(const Stage *stage, uint32_t count, Semantics semantics, float x) {
    static Work work;
    WORK_BEGIN(&work);
    Chain chain = bind_chain(stage, count, semantics, &work);
    float result = chain_real(&chain, x);
    work_free(&work);
    return result;
}

/* Why the stages have no value, or null. */
static inline StageFault fault_of(const Stage *stage, uint32_t count, Semantics semantics) {
    static Work work;
    WORK_BEGIN(&work);
    Chain chain;
    StageFault fault = chain_bind(stage, count, semantics, &work.keep, &chain);
    work_free(&work);
    return fault;
}

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

#endif
