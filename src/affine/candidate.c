/* Builds candidates. See candidate.h.
 *
 * Their types are int32, whatever the chain's: they are an intermediate function, their limits are the chain's. */
#include "affine/candidate.h"

#include <math.h>
#include <stddef.h>

static Stage stage_of(StageKind kind, const RealForm *real, CodeRange range) {
    Stage stage = {.kind = kind, .from = DTYPE_I32, .to = DTYPE_I32};
    stage.integer.in = real->in;
    stage.integer.constant.scale = 1;
    stage.integer.out = real->out;
    stage.integer.lo = range.lo;
    stage.integer.hi = range.hi;
    return stage;
}

Candidate candidate_translation(int32_t shift, CodeRange range) {
    RealForm unit = {1, 0, {1, 0}, {1, shift}};
    return (Candidate){stage_of(STAGE_CODE_REQUANTIZE, &unit, range), S0_SEM_TFLITE_DOUBLE};
}

bool candidate_head(const Stage *stage, uint32_t count, int64_t moved, CodeRange range, Candidate *candidate) {
    StageKind kind = stage[0].kind;
    bool is_scaling = kind == STAGE_CODE_MUL || kind == STAGE_CODE_REQUANTIZE || kind == STAGE_CODE_SCALE ||
                      kind == STAGE_ACC_REQUANTIZE;
    if (!is_scaling || count < 2) {
        return false;
    }
    *candidate = (Candidate){stage[0], S0_SEM_COUNT};
    Stage *head = &candidate->stage;
    head->from = DTYPE_I32;
    head->to = DTYPE_I32;
    head->integer.out.zero_point = s0_saturate(head->integer.out.zero_point + moved);
    head->integer.lo = range.lo;
    head->integer.hi = range.hi;
    return true;
}

/* round(x), saturated: what is out of range makes no candidate that could be proven. */
static int32_t nearest(double x) {
    return s0_round_half_away(x);
}

/* The accumulator in units of 2^-bits codes: sums stay below `limit`. The scales are the chain's own, so that a factor
 * that is a float stays what it is. False where there is no such stage. */
static bool scale_by(const RealForm *real, int bits, double limit, double reach, Stage *stage) {
    double parts = ldexp(1, bits);
    float scale = real_code_factor(real) == 0 ? 1 : (float)(fabs(real->a) / parts);
    double unit = (double)real->in.scale * (double)scale; /* real of one accumulator */
    double bias = nearbyint(real->b / unit);
    double weight = real_code_factor(real) == 0 ? 0 : real->a < 0 ? -parts : parts;
    bool fits = fabs(weight) * reach + fabs(bias) < limit && unit / (double)real->out.scale >= ldexp(1, -32);
    if (!fits) { /* a NaN does not either */
        return false;
    }
    stage->integer.value = (int32_t)weight;
    stage->integer.bias = nearest(bias);
    stage->integer.constant.scale = scale;
    return true;
}

/* The most bits that `limit` allows, and none. */
static uint32_t add_scales(const RealForm *real, double reach, double limit, const Stage *base, Semantics kernel,
                           Candidate *candidate) {
    uint32_t count = 0;
    int bits = 30;
    candidate[0] = (Candidate){*base, kernel};
    while (bits >= 0 && !scale_by(real, bits, limit, reach, &candidate[0].stage)) {
        bits--;
    }
    if (bits >= 0) {
        count++;
    }
    if (bits > 0) {
        candidate[1] = (Candidate){*base, kernel};
        count += scale_by(real, 0, limit, reach, &candidate[1].stage);
    }
    return count;
}

/* What lies between Dequantize and Quantize goes into the former: a scale and a zero point of its own. */
static bool rescale(const RealForm *real, CodeRange range, Candidate *candidate) {
    double scale = real->a * (double)real->in.scale;
    double zero = scale == 0 ? 0 : (double)real->in.zero_point - nearbyint(real->b / scale);
    *candidate = (Candidate){stage_of(STAGE_CODE_REQUANTIZE, real, range), S0_SEM_COUNT};
    candidate->stage.integer.in = (StageCode){(float)scale, nearest(zero)};
    return scale > 0;
}

uint32_t candidate_scales(const RealForm *real, double reach, double own_limit, CodeRange range, Candidate *candidate) {
    const double integers = 2147483648;
    Stage base = stage_of(STAGE_CODE_SCALE, real, range);
    uint32_t count = rescale(real, range, candidate);
    count += add_scales(real, reach, own_limit, &base, S0_SEM_COUNT, candidate + count);
    count += add_scales(real, reach, integers, &base, S0_SEM_TFLITE_SINGLE, candidate + count);
    count += add_scales(real, reach, integers, &base, S0_SEM_TFLITE_DOUBLE, candidate + count);
    return count;
}

bool candidate_fused(const Stage *stage, const RealForm *real, CodeRange range, Candidate *candidate) {
    if (stage[0].kind != STAGE_CODE_MUL) {
        return false;
    }
    double unit = (double)stage[0].integer.in.scale * (double)stage[0].integer.constant.scale;
    *candidate = (Candidate){stage[0], S0_SEM_COUNT};
    Stage *fused = &candidate->stage;
    fused->kind = STAGE_CODE_SCALE;
    fused->from = DTYPE_I32;
    fused->to = DTYPE_I32;
    fused->integer.bias = nearest(real->b / unit);
    fused->integer.out = real->out;
    fused->integer.lo = range.lo;
    fused->integer.hi = range.hi;
    return true;
}
