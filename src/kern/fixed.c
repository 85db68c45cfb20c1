/* Fixed-point arithmetic of quantised kernels, and rounding of reals. See fixed.h.
 *
 * Products of two int32 are at most 2^62, so int64 holds them with their rounding terms. Right shifts of negative
 * numbers are written so that C99 defines them. */
#include "kern/fixed.h"

/* floor(x / 2^bits), 1 <= bits <= 63: of x + 2^63, which is not negative, less what that adds */
static int64_t shift_floor(int64_t x, int32_t bits) {
    const uint64_t lift = UINT64_C(1) << 63;
    return (int64_t)(((uint64_t)x + lift) >> bits) - (int64_t)(lift >> bits);
}

int32_t s0_srdhm(int32_t a, int32_t b) {
    return s0_saturate(shift_floor((int64_t)a * b + ((int64_t)1 << 30), 31));
}

int32_t s0_rdbpot(int32_t x, int32_t exponent) {
    if (exponent <= 0) {
        return x;
    }
    if (exponent > 32) {
        return 0;
    }
    int64_t half = (int64_t)1 << (exponent - 1);
    int64_t magnitude = x < 0 ? -(int64_t)x : x;
    int64_t rounded = (magnitude + half) >> exponent;
    return (int32_t)(x < 0 ? -rounded : rounded);
}

/* x * 2^bits, saturated */
static int32_t shift_left(int64_t x, int32_t bits) {
    int64_t narrow = s0_saturate(x);
    return s0_saturate(bits < 32 ? narrow * ((int64_t)1 << bits) : narrow * ((int64_t)1 << 32));
}

int32_t s0_shift_half_up(int64_t x, int32_t exponent) {
    if (exponent <= 0) {
        return shift_left(x, exponent < -32 ? 32 : -exponent);
    }
    if (exponent > 63) { /* |x| / 2^64 is 1/2 at most, and -1/2 goes up to 0 */
        return 0;
    }
    return s0_saturate(shift_floor(x, exponent) + (int64_t)((uint64_t)x >> (exponent - 1) & 1));
}

static int32_t multiply_cmsis(int32_t x, S0Multiplier factor) {
    int32_t left = factor.shift > 0 ? factor.shift : 0;
    if (factor.multiplier == INT32_MIN && left < 32 && x * ((int64_t)1 << left) == INT32_MIN) {
        return s0_rdbpot(INT32_MIN, factor.shift < -63 ? 63 : left - factor.shift);
    }
    return s0_multiply(x, factor, S0_ROUND_DOUBLE);
}

/* The rounded product of S0_ROUND_SINGLE, and of DOUBLE where nothing is shifted to the right. */
static int32_t multiply_once(int32_t x, S0Multiplier factor) {
    int32_t shift = factor.shift < -63 ? -63 : factor.shift > 63 ? 63 : factor.shift;
    int32_t exponent = 31 - shift;
    int64_t product = (int64_t)x * factor.multiplier; /* 2^62 at most, so half of 2^62 may be added */
    if (exponent >= 1 && exponent <= 62) {
        return s0_saturate(shift_floor(product + ((int64_t)1 << (exponent - 1)), exponent));
    }
    return s0_shift_half_up(product, exponent);
}

int32_t s0_multiply(int32_t x, S0Multiplier factor, S0Rounding rounding) {
    if (rounding == S0_ROUND_CMSIS) {
        return multiply_cmsis(x, factor);
    }
    if (rounding == S0_ROUND_DOUBLE && factor.shift < 0) {
        return s0_rdbpot(s0_srdhm(x, factor.multiplier), factor.shift < -63 ? 63 : -factor.shift);
    }
    /* With a shift to the left the second rounding has nothing to do: double rounding is single rounding. */
    return multiply_once(x, factor);
}

/* The factors of most kernels: 0 <= multiplier and -31 <= shift <= 0. Their products stay within 32 bits, so nothing is
 * saturated, and both sides of the product are made unsigned: x * m is (x + 2^31) * m - 2^31 * m. What a sum lacks to
 * be positive is added with the rounding term, and taken off again once it is shifted. */
static int is_small(S0Multiplier factor) {
    return factor.multiplier >= 0 && factor.shift <= 0 && factor.shift >= -31;
}

static uint64_t small_product(int32_t x, uint32_t multiplier) {
    return (uint64_t)((uint32_t)x ^ UINT32_C(1) << 31) * multiplier;
}

static void multiply_small_once(int32_t *x, uint32_t count, S0Multiplier factor) {
    const uint32_t multiplier = (uint32_t)factor.multiplier;
    const int32_t exponent = 31 - factor.shift;
    const uint64_t lift = UINT64_C(1) << 63;
    const uint64_t addend = lift - ((uint64_t)multiplier << 31) + (UINT64_C(1) << (exponent - 1));
    const int64_t taken = (int64_t)(lift >> exponent);
    uint32_t i;
    for (i = 0; i < count; i++) {
        x[i] = (int32_t)((int64_t)((small_product(x[i], multiplier) + addend) >> exponent) - taken);
    }
}

/* Ties go away from zero in the second rounding: up, where the high product is not negative. It is lifted by 2^32, and
 * so that is its bit 32. */
static void multiply_small_twice(int32_t *x, uint32_t count, S0Multiplier factor) {
    const uint32_t multiplier = (uint32_t)factor.multiplier;
    const int32_t exponent = -factor.shift;
    const uint64_t addend = (UINT64_C(1) << 63) - ((uint64_t)multiplier << 31) + (UINT64_C(1) << 30);
    const uint64_t below_half = (UINT64_C(1) << (exponent - 1)) - 1;
    const int64_t taken = (int64_t)((UINT64_C(1) << 32) >> exponent);
    uint32_t i;
    for (i = 0; i < count; i++) {
        uint64_t high = (small_product(x[i], multiplier) + addend) >> 31;
        x[i] = (int32_t)((int64_t)((high + below_half + (high >> 32)) >> exponent) - taken);
    }
}

void s0_multiply_all(int32_t *x, uint32_t count, S0Multiplier factor, S0Rounding rounding) {
    uint32_t i;
    if (is_small(factor) && factor.shift < 0 && (rounding == S0_ROUND_DOUBLE || rounding == S0_ROUND_CMSIS)) {
        multiply_small_twice(x, count, factor);
    } else if (is_small(factor)) {
        multiply_small_once(x, count, factor);
    } else {
        for (i = 0; i < count; i++) {
            x[i] = s0_multiply(x[i], factor, rounding);
        }
    }
}

static uint64_t bits_of(double x) {
    union {
        double real;
        uint64_t bits;
    } pun;
    pun.real = x;
    return pun.bits;
}

S0Multiplier s0_quantise_multiplier(double factor, S0Rounding rounding) {
    uint64_t bits = bits_of(factor);
    int32_t exponent = (int32_t)(bits >> 52 & 0x7FF);
    uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int is_negative = (int)(bits >> 63);
    S0Multiplier zero = {0, 0};
    if (factor != factor) {
        return zero;
    }
    /* |factor| = significand / 2^53 * 2^shift, the first in [1/2, 1); subnormals are far below 2^-32 */
    int64_t multiplier = (int64_t)((significand + (1 << 21)) >> 22);
    S0Multiplier result = {0, exponent - 1022};
    if (multiplier == (int64_t)1 << 31 && !is_negative) {
        multiplier /= 2;
        result.shift++;
    }
    if (result.shift < -31) {
        return zero;
    }
    if (rounding == S0_ROUND_SINGLE && result.shift > 30) {
        result.shift = 30;
        multiplier = INT32_MAX;
    }
    result.multiplier = (int32_t)(is_negative ? -multiplier : multiplier);
    return result;
}

S0Multiplier s0_mean_multiplier(S0Multiplier factor, int32_t count) {
    int32_t up = 0, most = factor.shift < 1 ? 31 + factor.shift : 32;
    while (up < most && count >> (up + 1) > 0) {
        up++;
    }
    return (S0Multiplier){(int32_t)(((int64_t)factor.multiplier * ((int64_t)1 << up)) / count), factor.shift - up};
}

int s0_multiplier_fits(double factor) {
    S0Multiplier exact = s0_quantise_multiplier(factor, S0_ROUND_DOUBLE);
    return exact.multiplier != 0 && exact.shift <= 30;
}

/* x = whole + fraction, |x| < 2^31: both exact. Else the fraction is 0 and the whole part saturates. */
typedef struct {
    int64_t whole;
    double fraction;
} Parts;

static Parts split(double x) {
    Parts parts = {0, 0.0};
    if (x >= 2147483648.0) {
        parts.whole = INT32_MAX;
    } else if (x <= -2147483649.0) {
        parts.whole = INT32_MIN;
    } else if (x == x) {
        parts.whole = (int64_t)x;
        parts.fraction = x - (double)parts.whole;
    }
    return parts;
}

int32_t s0_round_half_even(double x) {
    Parts parts = split(x);
    int is_odd = parts.whole % 2 != 0;
    int64_t up = parts.fraction > 0.5 || (parts.fraction == 0.5 && is_odd);
    int64_t down = parts.fraction < -0.5 || (parts.fraction == -0.5 && is_odd);
    return s0_saturate(parts.whole + up - down);
}

int32_t s0_round_half_away(double x) {
    Parts parts = split(x);
    int64_t up = parts.fraction >= 0.5;
    int64_t down = parts.fraction <= -0.5;
    return s0_saturate(parts.whole + up - down);
}

static int32_t limit(int64_t value, S0Codes codes) {
    int64_t raised = value < codes.lo ? codes.lo : value;
    return (int32_t)(raised > codes.hi ? codes.hi : raised);
}

int32_t s0_requantise(int32_t acc, S0Multiplier factor, S0Rounding rounding, S0Codes codes) {
    return limit((int64_t)s0_multiply(acc, factor, rounding) + codes.zero_point, codes);
}

/* Adds the zero point and limits. Limits that fit 32 bits without the zero point are applied before it is added. */
static void limit_all(int32_t *value, uint32_t count, S0Codes codes) {
    const int64_t lo = (int64_t)codes.lo - codes.zero_point, hi = (int64_t)codes.hi - codes.zero_point;
    uint32_t i;
    if (s0_saturate(lo) == lo && s0_saturate(hi) == hi) {
        const int32_t least = (int32_t)lo, most = (int32_t)hi;
        for (i = 0; i < count; i++) {
            int32_t raised = value[i] < least ? least : value[i];
            value[i] = (raised > most ? most : raised) + codes.zero_point;
        }
    } else {
        for (i = 0; i < count; i++) {
            value[i] = limit((int64_t)value[i] + codes.zero_point, codes);
        }
    }
}

void s0_requantise_all(int32_t *acc, uint32_t count, S0Multiplier factor, S0Rounding rounding, S0Codes codes) {
    s0_multiply_all(acc, count, factor, rounding);
    limit_all(acc, count, codes);
}

int32_t s0_requantise_real(float value, S0Rounding rounding, S0Codes codes) {
    if (rounding == S0_ROUND_MLAS) {
        float moved = value + (float)codes.zero_point;
        return limit(s0_round_half_even((double)moved), codes);
    }
    int32_t rounded =
        rounding == S0_ROUND_HALF_AWAY ? s0_round_half_away((double)value) : s0_round_half_even((double)value);
    return limit((int64_t)rounded + codes.zero_point, codes);
}

static int all_fit(const float *x, uint32_t count) {
    int fit = 1;
    uint32_t i;
    for (i = 0; i < count; i++) {
        fit &= (x[i] >= -2147483648.0F) & (x[i] < 2147483648.0F);
    }
    return fit;
}

/* Of reals that fit int32: whole part and fraction are exact in float32, and one of 2^24 or more has no fraction. */
static void round_fitting(const float *x, int32_t *result, uint32_t count, S0Rounding rounding) {
    const int32_t always = rounding == S0_ROUND_HALF_AWAY; /* a tie leaves the whole part, even where that is even */
    uint32_t i;
    for (i = 0; i < count; i++) {
        int32_t whole = (int32_t)x[i];
        float fraction = x[i] - (float)whole;
        int32_t leaves = (whole & 1) | always;
        int32_t up = (fraction > 0.5F) | ((fraction == 0.5F) & leaves);
        int32_t down = (fraction < -0.5F) | ((fraction == -0.5F) & leaves);
        result[i] = whole + up - down;
    }
}

void s0_requantise_real_all(float *value, int32_t *code, uint32_t count, S0Rounding rounding, S0Codes codes) {
    uint32_t i;
    if (rounding == S0_ROUND_MLAS) {
        for (i = 0; i < count; i++) {
            value[i] += (float)codes.zero_point;
        }
        codes.zero_point = 0;
    }
    if (all_fit(value, count)) {
        round_fitting(value, code, count, rounding);
        limit_all(code, count, codes);
    } else {
        for (i = 0; i < count; i++) {
            code[i] = s0_requantise_real(value[i], rounding == S0_ROUND_MLAS ? S0_ROUND_HALF_EVEN : rounding, codes);
        }
    }
}
