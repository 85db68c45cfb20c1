/* Evaluates bound chains: one pass a stage over an array of codes, or of reals.
 *
 * Each float operation is one C operation whose result is stored: with FLT_EVAL_METHOD 0 and no contraction that rounds
 * it once to float32, and half_round then to float16. Integers are widened to 64 bits and saturated: where chain_check
 * accepts the input, nothing saturates that the reference would not. */
#include "affine/bound.h"
#include "affine/half.h"
#include "base/fault.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "float arithmetic must be evaluated in float: on x86 of 32 bits compile with -msse2 -mfpmath=sse"
#endif

#define BLOCK 256 /* codes evaluated together: the reals between two stages lie on the stack */

static float rounded(const BoundStage *stage, float x) {
    return stage->is_half ? half_round(x) : x;
}

static float norm(const BoundStage *stage, float x) {
    float centred = rounded(stage, x - stage->norm.mean);
    float unit = rounded(stage, centred / stage->norm.deviation);
    float scaled = rounded(stage, unit * stage->norm.gamma);
    return rounded(stage, scaled + stage->norm.beta);
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

/* A stage that starts or ends with codes. What is a real goes in or out through x. */
static void run_codes(const BoundStage *stage, int32_t *code, float *x, uint32_t count) {
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
    default:
        run_reals(stage, x, count);
    }
#undef UNITS
#undef EACH
}

void chain_codes(const Chain *chain, int32_t *codes, uint32_t count) {
    float reals[BLOCK];
    for (uint32_t first = 0; first < count; first += BLOCK) {
        uint32_t block = count - first < BLOCK ? count - first : BLOCK;
        for (uint32_t k = 0; k < chain->count; k++) {
            run_codes(&chain->stage[k], codes + first, reals, block);
        }
    }
}

int32_t chain_code(const Chain *chain, int32_t code) {
    float real = 0;
    for (uint32_t k = 0; k < chain->count; k++) {
        run_codes(&chain->stage[k], &code, &real, 1);
    }
    return code;
}

float chain_real(const Chain *chain, float x) {
    int32_t code = 0;
    for (uint32_t k = 0; k < chain->count; k++) {
        run_codes(&chain->stage[k], &code, &x, 1);
    }
    return x;
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

/* Before the stage is evaluated at `code` or `x`. */
static StageFault check_before(const BoundStage *stage, int32_t code, float x) {
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

/* Every stage is monotone, so that what lies between the ends stays between what they become. */
StageFault chain_check(const Chain *chain, int64_t lo, int64_t hi) {
    if (!is_int32(lo) || !is_int32(hi)) {
        return passes_32_bits;
    }
    int32_t code[2] = {(int32_t)lo, (int32_t)hi};
    float x[2] = {0, 0};
    for (uint32_t k = 0; k < chain->count; k++) {
        const BoundStage *stage = &chain->stage[k];
        for (int end = 0; end < 2; end++) {
            StageFault fault = check_before(stage, code[end], x[end]);
            if (fault != NULL) {
                return fault;
            }
        }
        run_codes(stage, code, x, 2);
        if (!isfinite(x[0]) || !isfinite(x[1])) {
            return stage->is_half ? "a value passes the range of float16" : "a value passes the range of float32";
        }
    }
    return NULL;
}

static int sign_of(float x) {
    return x < 0 ? -1 : 1;
}

static int direction(const BoundStage *stage) {
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

int chain_direction(const Chain *chain) {
    int all = 1;
    for (uint32_t k = 0; k < chain->count; k++) {
        all *= direction(&chain->stage[k]);
    }
    return all;
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
    default:
        return same_float(a->number, b->number);
    }
}

bool chain_eq(const Chain *a, const Chain *b) {
    bool same = a->count == b->count;
    for (uint32_t k = 0; same && k < a->count; k++) {
        const BoundStage *x = &a->stage[k], *y = &b->stage[k];
        same = x->kind == y->kind && x->is_half == y->is_half && x->rounding == y->rounding &&
               x->codes.zero_point == y->codes.zero_point && x->codes.lo == y->codes.lo && x->codes.hi == y->codes.hi &&
               same_operands(x, y);
    }
    return same;
}
