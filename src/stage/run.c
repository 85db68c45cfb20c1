/* Evaluates bound stages, over an array of codes or of reals.
 *
 * Each float operation is one C operation whose result is stored: with FLT_EVAL_METHOD 0 and no contraction that rounds
 * it once to float32, and half_round then to float16. Integers are widened to 64 bits and saturated: where bound_check
 * accepts the input, nothing saturates that the reference would not. */
#include "base/fault.h"
#include "kern/affine.h"
#include "stage/bound.h"
#include "stage/half.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "float arithmetic must be evaluated in float: on x86 of 32 bits compile with -msse2 -mfpmath=sse"
#endif

static float rounded(const BoundStage *stage, float x) {
    return stage->is_half ? half_round(x) : x;
}

static float norm(const BoundStage *stage, float x) {
    float centred = rounded(stage, x - stage->norm.mean);
    float unit = rounded(stage, centred / stage->norm.deviation);
    float scaled = rounded(stage, unit * stage->norm.gamma);
    return rounded(stage, scaled + stage->norm.beta);
}

/* A product and a sum, each rounded to float32: what the kernels of affines compute. Where it is one of the two, the
 * other changes nothing: a product with 1, a sum with -0. */
static bool run_affine(const BoundStage *stage, float *x, uint32_t count) {
    static const float ONE = 1, NOTHING = -0.0F;
    float taken = -stage->number;
    S0Floats floats = {.channels = 1, .scale = &ONE, .bias = &NOTHING};
    switch (stage->kind) {
    case BOUND_MUL:
        floats.scale = &stage->number;
        break;
    case BOUND_ADD:
        floats.bias = &stage->number;
        break;
    case BOUND_SUB:
        floats.bias = &taken;
        break;
    case BOUND_FOLDED_NORM:
        floats.scale = &stage->folded.factor;
        floats.bias = &stage->folded.addend;
        break;
    default:
        return false;
    }
    S0Rows row = {.x = x, .y = x, .rows = 1, .columns = count};
    s0_kernels_portable.f32(&row, &floats);
    return true;
}

static float folded_norm(const BoundStage *stage, float x) {
    float scaled = rounded(stage, x * stage->folded.factor);
    return rounded(stage, scaled + stage->folded.addend);
}

static float clip(const BoundStage *stage, float x) { /* a NaN stays */
    float raised = x < stage->clip.lo ? stage->clip.lo : x;
    return raised > stage->clip.hi ? stage->clip.hi : raised;
}

/* A stage from reals to reals. */
static void run_reals(const BoundStage *stage, float *x, uint32_t count) {
    const float number = stage->number;
    if (!stage->is_half && run_affine(stage, x, count)) {
        return;
    }
#define EACH(expression)                                                                                               \
    for (uint32_t i = 0; i < count; i++) {                                                                             \
        x[i] = (expression);                                                                                           \
    }                                                                                                                  \
    break
    switch (stage->kind) {
    case BOUND_MUL:
        EACH(rounded(stage, x[i] * number));
    case BOUND_ADD:
        EACH(rounded(stage, x[i] + number));
    case BOUND_SUB:
        EACH(rounded(stage, x[i] - number));
    case BOUND_RSUB:
        EACH(rounded(stage, number - x[i]));
    case BOUND_DIV:
        EACH(rounded(stage, x[i] / number));
    case BOUND_NORM:
        EACH(norm(stage, x[i]));
    case BOUND_FOLDED_NORM:
        EACH(folded_norm(stage, x[i]));
    case BOUND_CLIP:
        EACH(clip(stage, x[i]));
    case BOUND_CAST:
        EACH(rounded(stage, x[i]));
    default:
        CHECK(stage->kind <= BOUND_CLIP);
    }
#undef EACH
}

static int32_t less(int32_t code, int32_t zero) {
    return s0_saturate((int64_t)code - zero);
}

static int32_t accumulate(const BoundStage *stage, int32_t code) {
    int64_t product = (int64_t)less(code, stage->scaled.zero) * stage->scaled.weight;
    return s0_saturate(product + stage->scaled.bias);
}

static float dequantize(const BoundStage *stage, int32_t code) {
    int32_t steps = less(code, stage->code.zero_point);
    if (stage->kind == BOUND_DEQUANTIZE_F64) {
        return rounded(stage, (float)((double)stage->code.scale * (double)steps));
    }
    float value = rounded(stage, (float)steps);
    return rounded(stage, value * stage->code.scale);
}

static bool is_int32(int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX;
}

/* (code - zero) * factor + addend */
typedef struct {
    int32_t zero, factor, addend;
} Line;

static bool fits(Line line, int32_t code) {
    int64_t steps = (int64_t)code - line.zero;
    return is_int32(steps) && is_int32(steps * line.factor) && is_int32(steps * line.factor + line.addend);
}

/* Between two codes for which nothing passes 32 bits nothing does, and then nothing is saturated. */
static void run_line(Line line, int32_t *code, uint32_t count) {
    int32_t least = code[0], most = code[0];
    for (uint32_t i = 1; i < count; i++) {
        least = code[i] < least ? code[i] : least;
        most = code[i] > most ? code[i] : most;
    }
    if (fits(line, least) && fits(line, most)) {
        for (uint32_t i = 0; i < count; i++) {
            code[i] = (code[i] - line.zero) * line.factor + line.addend;
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        code[i] = s0_saturate((int64_t)less(code[i], line.zero) * line.factor + line.addend);
    }
}

/* To the common scale of a sum, whose shift to the left keeps the bits that rounding would lose. */
static void rescale(const BoundStage *stage, int32_t *code, uint32_t count) {
    run_line((Line){stage->fixed_sum.zero, 1 << stage->fixed_sum.left, 0}, code, count);
    s0_multiply_all(code, count, stage->fixed_sum.in, stage->rounding);
}

static void fixed_sum(const BoundStage *stage, int32_t *code, uint32_t count) {
    rescale(stage, code, count);
    run_line((Line){0, stage->fixed_sum.sign, stage->fixed_sum.addend}, code, count);
    s0_requantise_all(code, count, stage->fixed_sum.out, stage->rounding, stage->codes);
}

static void fixed(const BoundStage *stage, int32_t *code, uint32_t count) {
    run_line((Line){stage->scaled.zero, stage->scaled.weight, stage->scaled.bias}, code, count);
    s0_requantise_all(code, count, stage->scaled.factor, stage->rounding, stage->codes);
}

static float scaled(const BoundStage *stage, int32_t code) {
    return (float)accumulate(stage, code) * stage->scaled.scale;
}

static float scaled_sum(const BoundStage *stage, int32_t code) {
    float value = (float)less(code, stage->scaled_sum.zero) * stage->scaled_sum.scale;
    float sum = (float)stage->scaled_sum.sign * value + stage->scaled_sum.addend;
    return sum / stage->scaled_sum.divisor;
}

static int32_t code_clip(const BoundStage *stage, int32_t code) {
    int32_t raised = code < stage->codes.lo ? stage->codes.lo : code;
    return raised > stage->codes.hi ? stage->codes.hi : raised;
}

/* Modulo 2^bits of the type. */
static int32_t wrap(S0Codes codes, int64_t value) {
    int64_t count = (int64_t)codes.hi - codes.lo + 1; /* a power of two */
    int64_t low = value & (count - 1);
    return (int32_t)(low > codes.hi ? low - count : low);
}

/* No product or sum of two numbers of 32 bits passes 64 bits. */
static int32_t plain(const BoundStage *stage, int64_t code) {
    switch (stage->kind) {
    case BOUND_INT_MUL:
        return wrap(stage->codes, code * stage->value);
    case BOUND_INT_ADD:
        return wrap(stage->codes, code + stage->value);
    case BOUND_INT_SUB:
        return wrap(stage->codes, code - stage->value);
    case BOUND_INT_RSUB:
        return wrap(stage->codes, stage->value - code);
    default:
        return wrap(stage->codes, code / stage->value);
    }
}

/* What is a real goes in or out through x. */
void bound_run(const BoundStage *stage, int32_t *code, float *x, uint32_t count) {
#define EACH(result, expression)                                                                                       \
    for (uint32_t i = 0; i < count; i++) {                                                                             \
        result[i] = (expression);                                                                                      \
    }                                                                                                                  \
    break
#define UNITS(expression) /* of the output's scale */                                                                  \
    for (uint32_t i = 0; i < count; i++) {                                                                             \
        x[i] = (expression);                                                                                           \
    }                                                                                                                  \
    s0_requantise_real_all(x, code, count, stage->rounding, stage->codes);                                             \
    break
    switch (stage->kind) {
    case BOUND_DEQUANTIZE:
    case BOUND_DEQUANTIZE_F64:
        EACH(x, dequantize(stage, code[i]));
    case BOUND_QUANTIZE:
        UNITS(rounded(stage, x[i] / stage->code.scale));
    case BOUND_CODE_CLIP:
        EACH(code, code_clip(stage, code[i]));
    case BOUND_FIXED:
        fixed(stage, code, count);
        break;
    case BOUND_FIXED_SUM:
        fixed_sum(stage, code, count);
        break;
    case BOUND_SCALED:
        UNITS(scaled(stage, code[i]));
    case BOUND_SCALED_SUM:
        UNITS(scaled_sum(stage, code[i]));
    case BOUND_INT_MUL:
    case BOUND_INT_ADD:
    case BOUND_INT_SUB:
    case BOUND_INT_RSUB:
    case BOUND_INT_DIV:
        EACH(code, plain(stage, code[i]));
    default:
        run_reals(stage, x, count);
    }
#undef UNITS
#undef EACH
}

static const char passes_32_bits[] = "an integer of the kernel passes 32 bits";

/* FIXED: of the accumulator, of what it is shifted to and of the sum with the zero point, at one code. */
static StageFault check_fixed(const BoundStage *stage, int32_t code) {
    int64_t steps = (int64_t)code - stage->scaled.zero;
    if (!is_int32(steps) || !is_int32(steps * stage->scaled.weight + stage->scaled.bias)) {
        return "the accumulator can pass 32 bits";
    }
    if (stage->kind == BOUND_SCALED) {
        return isfinite(scaled(stage, code)) ? NULL : "a value passes the range of float32";
    }
    int32_t acc = accumulate(stage, code);
    int32_t left =
        stage->rounding != S0_ROUND_SINGLE && stage->scaled.factor.shift > 0 ? stage->scaled.factor.shift : 0;
    int32_t product = s0_multiply(acc, stage->scaled.factor, stage->rounding);
    bool is_saturated = product == INT32_MAX || product == INT32_MIN;
    bool fits = is_int32(acc * ((int64_t)1 << left)) && !is_saturated;
    return fits && is_int32((int64_t)product + stage->codes.zero_point) ? NULL : passes_32_bits;
}

static StageFault check_fixed_sum(const BoundStage *stage, int32_t code) {
    int64_t steps = (int64_t)code - stage->fixed_sum.zero;
    if (!is_int32(steps) || !is_int32(steps * ((int64_t)1 << stage->fixed_sum.left))) {
        return passes_32_bits;
    }
    rescale(stage, &code, 1);
    int64_t sum = (int64_t)code * stage->fixed_sum.sign + stage->fixed_sum.addend;
    if (!is_int32(sum)) {
        return passes_32_bits;
    }
    int32_t product = s0_multiply((int32_t)sum, stage->fixed_sum.out, stage->rounding);
    return is_int32((int64_t)product + stage->codes.zero_point) ? NULL : passes_32_bits;
}

/* Of TFLite, which casts the quotient; ONNX saturates. */
static StageFault check_quantize(const BoundStage *stage, float x) {
    double steps = (double)rounded(stage, x / stage->code.scale);
    bool is_cast = stage->rounding == S0_ROUND_HALF_AWAY;
    bool fits = fabs(steps) < 2147483647.0 && is_int32((int64_t)s0_round_half_away(steps) + stage->code.zero_point);
    return !is_cast || fits ? NULL : passes_32_bits;
}

StageFault bound_check(const BoundStage *stage, int32_t code, float x) {
    switch (stage->kind) {
    case BOUND_FIXED:
    case BOUND_SCALED:
        return check_fixed(stage, code);
    case BOUND_FIXED_SUM:
        return check_fixed_sum(stage, code);
    case BOUND_SCALED_SUM:
        return isfinite(scaled_sum(stage, code)) ? NULL : "a value passes the range of float32";
    case BOUND_QUANTIZE:
        return check_quantize(stage, x);
    case BOUND_DEQUANTIZE:
    case BOUND_DEQUANTIZE_F64:
        return is_int32((int64_t)code - stage->code.zero_point) ? NULL : passes_32_bits;
    default:
        return NULL;
    }
}
