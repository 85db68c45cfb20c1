/* Fixes the reference of a stage: multipliers, shifts and factors as that reference computes them, and the faults for
 * which it would abort, flush a factor to zero or leave 32 bits. Sources of each rule: docs/semantics.md. */
#include "stage/bound.h"
#include "stage/half.h"

#include <math.h>

static const char not_finite[] = "a parameter is not finite";
static const char not_positive[] = "a scale is not positive";
static const char wrong_type[] = "the reference has no such operation on this type";

static bool all_finite(const float *x, size_t count) {
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        finite = finite && isfinite(x[i]);
    }
    return finite;
}

static bool is_real(DType dtype) {
    return dtype == DTYPE_F32 || dtype == DTYPE_F16;
}

static bool is_code(DType dtype) {
    int32_t lo, hi;
    return stage_code_range(dtype, &lo, &hi);
}

/* ---- reals */

static float in_type(const BoundStage *bound, float x) {
    return bound->is_half ? half_round(x) : x;
}

static StageFault bind_number(const Stage *stage, BoundStage *bound) {
    static const BoundKind kinds[] = {
        [STAGE_MUL] = BOUND_MUL,   [STAGE_ADD] = BOUND_ADD, [STAGE_SUB] = BOUND_SUB,
        [STAGE_RSUB] = BOUND_RSUB, [STAGE_DIV] = BOUND_DIV,
    };
    bound->kind = kinds[stage->kind];
    bound->number = in_type(bound, stage->number);
    if (!isfinite(bound->number)) {
        return not_finite;
    }
    return stage->kind == STAGE_DIV && bound->number == 0 ? "a division by zero" : NULL;
}

/* The parameters are first rounded to the type, epsilon as well. */
/* ONNX Runtime folds the parameters before it sees an element. */
static void fold_norm(const float p[5], float deviation, BoundStage *bound) {
    float inverse = in_type(bound, 1 / deviation);
    float factor = in_type(bound, inverse * p[3]);
    float shift = in_type(bound, p[0] * factor);
    bound->kind = BOUND_FOLDED_NORM;
    bound->folded.factor = factor;
    bound->folded.addend = in_type(bound, p[4] - shift);
}

static StageFault bind_norm(const Stage *stage, Semantics semantics, BoundStage *bound) {
    const float given[] = {stage->norm.mean, stage->norm.variance, stage->norm.epsilon, stage->norm.gamma,
                           stage->norm.beta};
    float p[5];
    for (size_t i = 0; i < 5; i++) {
        p[i] = in_type(bound, given[i]);
    }
    if (!all_finite(p, 5)) {
        return not_finite;
    }
    float spread = in_type(bound, p[1] + p[2]);
    if (!(spread > 0)) {
        return "variance + epsilon is not positive";
    }
    float deviation = in_type(bound, sqrtf(spread));
    if (semantics == S0_SEM_ORT_MLAS) {
        fold_norm(p, deviation, bound);
        return isfinite(bound->folded.factor) && isfinite(bound->folded.addend) ? NULL : not_finite;
    }
    bound->kind = BOUND_NORM;
    bound->norm.mean = p[0];
    bound->norm.deviation = deviation;
    bound->norm.gamma = p[3];
    bound->norm.beta = p[4];
    return isfinite(spread) ? NULL : not_finite;
}

static StageFault bind_clip(const Stage *stage, BoundStage *bound) {
    bound->kind = BOUND_CLIP;
    bound->clip.lo = in_type(bound, stage->clip.lo);
    bound->clip.hi = in_type(bound, stage->clip.hi);
    return isnan(stage->clip.lo) || isnan(stage->clip.hi) ? "a limit is not a number" : NULL;
}

static StageFault bind_real(const Stage *stage, Semantics semantics, BoundStage *bound) {
    if (!is_real(stage->from) || stage->to != stage->from) {
        return "only float32 and float16 are evaluated";
    }
    switch (stage->kind) {
    case STAGE_NORM:
        return bind_norm(stage, semantics, bound);
    case STAGE_CLIP:
        return bind_clip(stage, bound);
    default:
        return bind_number(stage, bound);
    }
}

/* ---- codes to reals and back */

static StageFault bind_dequantize(const Stage *stage, S0Format format, BoundStage *bound) {
    if (!is_code(stage->from) || !is_real(stage->to) || (format == S0_FORMAT_TFLITE && bound->is_half)) {
        return wrong_type;
    }
    if (format == S0_FORMAT_ONNX && stage->from == DTYPE_I32 && stage->code.zero_point != 0) {
        return "an int32 code has a zero point";
    }
    bound->kind = format == S0_FORMAT_ONNX ? BOUND_DEQUANTIZE : BOUND_DEQUANTIZE_F64;
    bound->code = stage->code;
    bound->code.scale = in_type(bound, stage->code.scale);
    return isfinite(bound->code.scale) ? NULL : not_finite;
}

static StageFault bind_quantize(const Stage *stage, S0Format format, BoundStage *bound) {
    if (!is_real(stage->from) || (format == S0_FORMAT_TFLITE && bound->is_half)) {
        return wrong_type;
    }
    if (!stage_code_range(stage->to, &bound->codes.lo, &bound->codes.hi)) {
        return wrong_type;
    }
    bound->kind = BOUND_QUANTIZE;
    bound->rounding = format == S0_FORMAT_ONNX ? S0_ROUND_HALF_EVEN : S0_ROUND_HALF_AWAY;
    bound->codes.zero_point = stage->code.zero_point;
    bound->code = stage->code;
    bound->code.scale = in_type(bound, stage->code.scale);
    if (!isfinite(bound->code.scale)) {
        return not_finite;
    }
    return bound->code.scale > 0 ? NULL : not_positive;
}

/* ---- codes to codes */

static bool uses_constant(StageKind kind) {
    return kind != STAGE_CODE_REQUANTIZE;
}

static bool has_zero_point(const Stage *stage) {
    bool in =
        stage->from == DTYPE_I16 && (stage->integer.in.zero_point != 0 || stage->integer.constant.zero_point != 0);
    return in || (stage->to == DTYPE_I16 && stage->integer.out.zero_point != 0);
}

/* The factor of one multiplication and one rounding; see bind_scaled. */
static double real_factor(const Stage *stage, Semantics semantics) {
    float in = stage->integer.in.scale, out = stage->integer.out.scale, constant = stage->integer.constant.scale;
    if (!uses_constant(stage->kind)) {
        return (double)in / (double)out;
    }
    if (s0_semantics_product(semantics) == S0_PRODUCT_F32 && stage->kind == STAGE_CODE_MUL) {
        float product = in * constant;
        float quotient = product / out;
        return (double)quotient;
    }
    return (double)in * (double)constant / (double)out;
}

/* Of a factor that TFLite turns into a multiplier and a shift. */
static StageFault check_factor(double factor, S0Rounding rounding) {
    if (factor < 0 && rounding != S0_ROUND_DOUBLE) {
        return "the factor is negative, the kernel's multiplier must not be";
    }
    if (!s0_multiplier_fits(factor)) {
        return fabs(factor) < 1 ? "the factor is below 2^-32, the kernel flushes it to zero"
                                : "the factor is above 2^30, the kernel's shift has no value";
    }
    return NULL;
}

/* CMSIS-NN differs from DOUBLE only where both factors are INT32_MIN, and its multipliers are not negative. */
static S0Rounding plain_rounding(S0Rounding rounding) {
    return rounding == S0_ROUND_CMSIS ? S0_ROUND_DOUBLE : rounding;
}

static void bind_accumulator(const Stage *stage, BoundStage *bound) {
    bound->scaled.zero = stage->kind == STAGE_ACC_REQUANTIZE ? 0 : stage->integer.in.zero_point;
    bound->scaled.weight = 1;
    if (stage->kind == STAGE_CODE_MUL || stage->kind == STAGE_CODE_SCALE) {
        bound->scaled.weight = s0_saturate((int64_t)stage->integer.value - stage->integer.constant.zero_point);
    }
    bound->scaled.bias = stage->kind == STAGE_CODE_SCALE ? stage->integer.bias : 0;
}

static bool makes_mean(const Stage *stage) {
    return stage->kind == STAGE_ACC_REQUANTIZE && stage->integer.value > 1;
}

/* (code - zero) * weight + bias, times in * constant / out: MUL, REQUANTIZE and convolutions of one tap. */
static StageFault bind_fixed(const Stage *stage, Semantics semantics, BoundStage *bound) {
    bound->kind = BOUND_FIXED;
    bound->rounding = s0_semantics_rounding(semantics);
    bind_accumulator(stage, bound);
    double factor = real_factor(stage, semantics);
    bound->scaled.factor = s0_quantise_multiplier(factor, bound->rounding);
    if (makes_mean(stage)) {
        bound->scaled.factor = s0_mean_multiplier(bound->scaled.factor, stage->integer.value);
    }
    StageFault fault = check_factor(factor, bound->rounding);
    bound->rounding = plain_rounding(bound->rounding);
    return fault;
}

/* The smaller-than-one factors of ADD: TFLite aborts elsewhere. */
static StageFault bind_small_factor(double factor, S0Rounding rounding, S0Multiplier *result) {
    *result = s0_quantise_multiplier(factor, rounding);
    if (!(factor < 1)) {
        return "ADD needs 2 * the larger input scale to be less than 2^20 (int16: 2^15) times the output's";
    }
    return check_factor(factor, rounding);
}

static bool is_power_of_two(float scale) {
    int exponent;
    return frexpf(scale, &exponent) == 0.5f;
}

/* TFLite has a second int16 kernel for these, TFLite Micro has not: they round differently. */
static bool has_two_kernels(const Stage *stage) {
    return stage->to == DTYPE_I16 && is_power_of_two(stage->integer.in.scale) &&
           is_power_of_two(stage->integer.constant.scale) && is_power_of_two(stage->integer.out.scale);
}

static StageFault bind_fixed_sum(const Stage *stage, Semantics semantics, BoundStage *bound) {
    double in = (double)stage->integer.in.scale, constant = (double)stage->integer.constant.scale;
    double twice = 2 * (in > constant ? in : constant);
    int32_t left = stage->to == DTYPE_I16 ? 15 : 20;
    double out = twice / ((double)(1 << left) * (double)stage->integer.out.scale);
    S0Rounding rounding = s0_semantics_rounding(semantics);
    if (stage->from == DTYPE_I32 || stage->to == DTYPE_I32) {
        return wrong_type;
    }
    if (!(in > 0 && constant > 0)) {
        return not_positive;
    }
    if (has_two_kernels(stage)) {
        return "int16 ADD of power-of-two scales: TFLite and TFLite Micro differ";
    }
    bound->kind = BOUND_FIXED_SUM;
    bound->rounding = plain_rounding(rounding);
    bound->fixed_sum.zero = stage->integer.in.zero_point;
    bound->fixed_sum.sign = stage->integer.negate == 2 ? -1 : 1;
    bound->fixed_sum.left = left;
    S0Multiplier second;
    StageFault faults[] = {bind_small_factor(in / twice, rounding, &bound->fixed_sum.in),
                           bind_small_factor(constant / twice, rounding, &second),
                           bind_small_factor(out, rounding, &bound->fixed_sum.out)};
    int64_t shifted = ((int64_t)stage->integer.value - stage->integer.constant.zero_point) * ((int64_t)1 << left);
    int32_t addend = s0_multiply(s0_saturate(shifted), second, rounding);
    bound->fixed_sum.addend = stage->integer.negate == 1 ? s0_saturate(-(int64_t)addend) : addend;
    for (size_t i = 0; i < 3; i++) {
        if (faults[i] != NULL) {
            return faults[i];
        }
    }
    return shifted == s0_saturate(shifted) ? NULL : "the constant's code passes 32 bits";
}

static StageFault bind_tflite_integer(const Stage *stage, Semantics semantics, BoundStage *bound) {
    if (has_zero_point(stage)) {
        return "an int16 code has a zero point";
    }
    float in = stage->integer.in.scale, constant = stage->integer.constant.scale;
    if (in == 0 || (uses_constant(stage->kind) && constant == 0)) {
        return not_positive;
    }
    return stage->kind == STAGE_CODE_ADD ? bind_fixed_sum(stage, semantics, bound)
                                         : bind_fixed(stage, semantics, bound);
}

/* Without a zero point it does not matter when it is added. */
static S0Rounding real_rounding(const Stage *stage, Semantics semantics) {
    return stage->integer.out.zero_point == 0 ? S0_ROUND_HALF_EVEN : s0_semantics_rounding(semantics);
}

/* QLinearMul, and QLinearConv of one tap: the factor in float32. Only the former adds the zero point before rounding.
 */
static StageFault bind_scaled(const Stage *stage, Semantics semantics, BoundStage *bound) {
    bound->kind = BOUND_SCALED;
    bound->rounding = stage->kind == STAGE_CODE_MUL ? real_rounding(stage, semantics) : S0_ROUND_HALF_EVEN;
    bind_accumulator(stage, bound);
    float product = stage->integer.in.scale * stage->integer.constant.scale;
    float divisor = stage->integer.out.scale;
    if (makes_mean(stage)) {
        divisor *= (float)stage->integer.value;
    }
    bound->scaled.scale = product / divisor;
    return isfinite(bound->scaled.scale) ? NULL : "the factor passes the range of float32";
}

/* QLinearAdd; and, without a constant, DequantizeLinear and QuantizeLinear. */
static StageFault bind_scaled_sum(const Stage *stage, Semantics semantics, BoundStage *bound) {
    bound->kind = BOUND_SCALED_SUM;
    bound->rounding = S0_ROUND_HALF_EVEN;
    bound->scaled_sum.zero = stage->integer.in.zero_point;
    bound->scaled_sum.scale = stage->integer.in.scale;
    bound->scaled_sum.sign = 1;
    bound->scaled_sum.addend = 0;
    bound->scaled_sum.divisor = stage->integer.out.scale;
    if (stage->kind == STAGE_CODE_ADD) {
        int32_t steps = s0_saturate((int64_t)stage->integer.value - stage->integer.constant.zero_point);
        float addend = (float)steps * stage->integer.constant.scale;
        bound->rounding = real_rounding(stage, semantics);
        bound->scaled_sum.sign = stage->integer.negate == 2 ? -1 : 1;
        bound->scaled_sum.addend = stage->integer.negate == 1 ? -addend : addend;
    }
    return isfinite(bound->scaled_sum.addend) ? NULL : "a value passes the range of float32";
}

static StageFault bind_onnx_integer(const Stage *stage, Semantics semantics, BoundStage *bound) {
    if (stage->kind == STAGE_CODE_ADD || stage->kind == STAGE_CODE_REQUANTIZE) {
        return bind_scaled_sum(stage, semantics, bound);
    }
    return bind_scaled(stage, semantics, bound);
}

/* ---- integers that stand for themselves */

static StageFault bind_plain(const Stage *stage, BoundStage *bound) {
    static const BoundKind kinds[] = {BOUND_INT_MUL, BOUND_INT_ADD, BOUND_INT_SUB, BOUND_INT_RSUB, BOUND_INT_DIV};
    bound->kind = kinds[stage->kind - STAGE_INT_MUL];
    bound->value = stage->integer.value;
    if (!stage_code_range(stage->from, &bound->codes.lo, &bound->codes.hi) || stage->to != stage->from) {
        return wrong_type;
    }
    return stage->kind == STAGE_INT_DIV && bound->value == 0 ? "a division by zero" : NULL;
}

static StageFault bind_integer(const Stage *stage, Semantics semantics, BoundStage *bound) {
    int32_t lo, hi;
    if (!is_code(stage->from) || !stage_code_range(stage->to, &lo, &hi)) {
        return wrong_type;
    }
    bound->codes = (S0Codes){stage->integer.out.zero_point, stage->integer.lo, stage->integer.hi};
    bool is_range = bound->codes.lo <= bound->codes.hi || stage->kind == STAGE_CODE_CLIP; /* else all become hi */
    if (!is_range || bound->codes.lo < lo || bound->codes.hi > hi) {
        return "the limits are no range of the type's codes";
    }
    if (stage->kind == STAGE_CODE_CLIP) {
        bound->kind = BOUND_CODE_CLIP;
        return NULL;
    }
    const float scales[] = {stage->integer.in.scale, stage->integer.out.scale, stage->integer.constant.scale};
    if (!all_finite(scales, uses_constant(stage->kind) ? 3 : 2)) {
        return not_finite;
    }
    if (!(stage->integer.out.scale > 0)) {
        return not_positive;
    }
    return s0_semantics_format(semantics) == S0_FORMAT_ONNX ? bind_onnx_integer(stage, semantics, bound)
                                                            : bind_tflite_integer(stage, semantics, bound);
}

StageFault stage_bind(const Stage *stage, Semantics semantics, BoundStage *bound) {
    bound->is_half = stage->from == DTYPE_F16 || stage->to == DTYPE_F16;
    switch (stage->kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_DIV:
    case STAGE_NORM:
    case STAGE_CLIP:
        return bind_real(stage, semantics, bound);
    case STAGE_DEQUANTIZE:
        return bind_dequantize(stage, s0_semantics_format(semantics), bound);
    case STAGE_QUANTIZE:
        return bind_quantize(stage, s0_semantics_format(semantics), bound);
    case STAGE_INT_MUL:
    case STAGE_INT_ADD:
    case STAGE_INT_SUB:
    case STAGE_INT_RSUB:
    case STAGE_INT_DIV:
        return bind_plain(stage, bound);
    case STAGE_CAST:
        bound->kind = BOUND_CAST;
        return is_real(stage->from) && is_real(stage->to) ? NULL : wrong_type;
    default:
        return bind_integer(stage, semantics, bound);
    }
}
