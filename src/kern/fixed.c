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

void s0_multiply_all(int32_t *x, uint32_t count, S0Multiplier factor, S0Rounding rounding) {
    uint32_t i;
    if (rounding == S0_ROUND_CMSIS) {
        for (i = 0; i < count; i++) {
            x[i] = multiply_cmsis(x[i], factor);
        }
    } else if (rounding == S0_ROUND_DOUBLE && factor.shift < 0) {
        const int32_t exponent = factor.shift < -63 ? 63 : -factor.shift;
        for (i = 0; i < count; i++) {
            x[i] = s0_rdbpot(s0_srdhm(x[i], factor.multiplier), exponent);
        }
    } else {
        for (i = 0; i < count; i++) {
            x[i] = multiply_once(x[i], factor);
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

void s0_requantise_all(int32_t *acc, uint32_t count, S0Multiplier factor, S0Rounding rounding, S0Codes codes) {
    uint32_t i;
    s0_multiply_all(acc, count, factor, rounding);
    for (i = 0; i < count; i++) {
        acc[i] = limit((int64_t)acc[i] + codes.zero_point, codes);
    }
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
