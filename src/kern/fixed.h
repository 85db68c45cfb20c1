/* Fixed-point arithmetic of quantised kernels, and rounding of reals, bit for bit as the references do it.
 *
 * Every function is defined for every argument: where its reference overflows or shifts by too much, the result is the
 * real one, rounded the same way and saturated to int32. Freestanding C99: no libc, no libm.
 *
 * Sources (what each computes, with the repositories read: docs/semantics.md)
 *   gemmlowp    fixedpoint/fixedpoint.h
 *   TFLite      lite/kernels/internal/common.cc, quantization_util.cc
 *   CMSIS-NN    Include/arm_nnsupportfunctions.h */
#ifndef S0_KERN_FIXED_H
#define S0_KERN_FIXED_H

#include <stdint.h>

typedef enum {
    S0_ROUND_DOUBLE,    /* to 31 bits, ties up; then to the shift, ties away from zero */
    S0_ROUND_SINGLE,    /* once, ties up */
    S0_ROUND_CMSIS,     /* as DOUBLE, but the doubled high product of INT32_MIN with itself is INT32_MIN */
    S0_ROUND_HALF_EVEN, /* reals: to the nearest, ties to even; then the zero point is added */
    S0_ROUND_MLAS,      /* reals: the zero point is added in float32; then to the nearest, ties to even */
    S0_ROUND_HALF_AWAY, /* reals: to the nearest, ties away from zero; then the zero point is added */
} S0Rounding;

/* The factor multiplier * 2^(shift - 31). */
typedef struct {
    int32_t multiplier;
    int32_t shift;
} S0Multiplier;

/* Codes of an output: the zero point is added, the sum limited to [lo, hi]. */
typedef struct {
    int32_t zero_point;
    int32_t lo, hi;
} S0Codes;

/* Limits to int32. */
static inline int32_t s0_saturate(int64_t value) {
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* round(a * b / 2^31), ties up: gemmlowp's SaturatingRoundingDoublingHighMul and Arm's VQRDMULH. INT32_MIN with itself
 * is INT32_MAX. */
int32_t s0_srdhm(int32_t a, int32_t b);

/* round(x / 2^exponent), ties away from zero: gemmlowp's RoundingDivideByPOT, which is for 0 to 31. A negative exponent
 * counts as 0; from 33 on the result is 0. */
int32_t s0_rdbpot(int32_t x, int32_t exponent);

/* round(x / 2^exponent), ties up: Arm's VRSHL by a negative shift. Saturates for negative exponents. */
int32_t s0_shift_half_up(int64_t x, int32_t exponent);

/* x times a factor: TFLite's MultiplyByQuantizedMultiplier and CMSIS-NN's arm_nn_requantize. DOUBLE's and CMSIS's
 * x * 2^shift may pass 32 bits, where the references overflow; ours saturates the rounded product. S0_ROUND_SINGLE
 * stands for the roundings of reals too. */
int32_t s0_multiply(int32_t x, S0Multiplier factor, S0Rounding rounding);

/* The same of many in place: what does not depend on x is decided once. */
void s0_multiply_all(int32_t *x, uint32_t count, S0Multiplier factor, S0Rounding rounding);

/* TFLite's QuantizeMultiplier: the multiplier has 31 bits, rounded ties away. Factors below 2^-32 and NaN become 0;
 * with S0_ROUND_SINGLE, shifts above 30 become the largest factor. Otherwise the shift may exceed 30: the references
 * then shift by 32 or more, so ask s0_multiplier_fits. */
S0Multiplier s0_quantise_multiplier(double factor, S0Rounding rounding);

/* The factor over a count of at least 1, as TFLite's means have it: the multiplier is shifted up by as many bits as the
 * count has before it is divided, towards zero. */
S0Multiplier s0_mean_multiplier(S0Multiplier factor, int32_t count);

/* 1 where s0_quantise_multiplier would neither flush to 0 nor need a shift above 30. */
int s0_multiplier_fits(double factor);

/* To the nearest integer, saturated to int32; NaN is 0. A float widens to double exactly. */
int32_t s0_round_half_even(double x);
int32_t s0_round_half_away(double x);

/* round(acc * factor) + zero point, limited. */
int32_t s0_requantise(int32_t acc, S0Multiplier factor, S0Rounding rounding, S0Codes codes);

/* The same of many in place. */
void s0_requantise_all(int32_t *acc, uint32_t count, S0Multiplier factor, S0Rounding rounding, S0Codes codes);

/* The same of a real that is already in units of the output's scale: HALF_EVEN, HALF_AWAY or MLAS. */
int32_t s0_requantise_real(float value, S0Rounding rounding, S0Codes codes);

/* The same of many. What the values are afterwards is not said. */
void s0_requantise_real_all(float *value, int32_t *code, uint32_t count, S0Rounding rounding, S0Codes codes);

#endif
