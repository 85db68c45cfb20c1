/* Random stages whose scales, zero points and limits are those of models, ties among them. */
#ifndef TESTS_AFFINE_DRAW_H
#define TESTS_AFFINE_DRAW_H

#include "affine/stages.h"
#include "support/random.h"

#include <math.h>

static inline int32_t draw_between(uint64_t *seed, int64_t lo, int64_t hi) {
    return (int32_t)(lo + (int64_t)random_below(seed, (uint64_t)(hi - lo + 1)));
}

/* Mostly of one decade; at times a power of two, where ties are. */
static inline float draw_scale(uint64_t *seed) {
    if (random_below(seed, 3) == 0) {
        return ldexpf(1, draw_between(seed, -8, -3));
    }
    return ldexpf((float)draw_between(seed, 1 << 20, 1 << 24), draw_between(seed, -30, -27));
}

static inline StageCode draw_code(uint64_t *seed, DType dtype) {
    int32_t lo, hi;
    (void)stage_code_range(dtype, &lo, &hi);
    return (StageCode){draw_scale(seed), dtype == DTYPE_I16 ? 0 : draw_between(seed, lo, hi)};
}

static inline Stage draw_stage(uint64_t *seed, DType dtype) {
    Stage stage = codes_stage((StageKind)(STAGE_CODE_MUL + random_below(seed, 3)), dtype, dtype);
    stage.kind = stage.kind == STAGE_CODE_REQUANTIZE && random_below(seed, 2) != 0 ? STAGE_CODE_SCALE : stage.kind;
    stage.integer.in = draw_code(seed, dtype);
    stage.integer.constant = draw_code(seed, dtype);
    stage.integer.out = draw_code(seed, dtype);
    stage.integer.value = draw_between(seed, stage.integer.lo, stage.integer.hi);
    stage.integer.negate = draw_between(seed, 0, 2);
    stage.integer.bias = draw_between(seed, -5000, 5000);
    if (stage.kind == STAGE_CODE_SCALE) {
        stage.integer.out.scale *= 40;
    }
    if (random_below(seed, 4) == 0) {
        int32_t hi = stage.integer.hi;
        stage.integer.lo = draw_between(seed, stage.integer.lo, hi);
        stage.integer.hi = draw_between(seed, stage.integer.lo, hi);
    }
    return stage;
}

static inline Stage draw_real_stage(uint64_t *seed) {
    StageKind kind = (StageKind)(STAGE_MUL + random_below(seed, 6));
    float sign = random_below(seed, 2) != 0 ? -1 : 1;
    Stage stage = number_stage(kind, sign * 20 * draw_scale(seed));
    if (kind == STAGE_NORM) {
        stage.norm.mean = sign * draw_scale(seed);
        stage.norm.variance = draw_scale(seed);
        stage.norm.epsilon = 1e-5f;
        stage.norm.gamma = sign * 5 * draw_scale(seed);
        stage.norm.beta = draw_scale(seed);
    }
    return stage;
}

#endif
