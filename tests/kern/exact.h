/* Exact arithmetic for the tests: fractions of 128-bit integers, rounded by division with a remainder. Shares nothing
 * with src/kern, which shifts. */
#ifndef TESTS_KERN_EXACT_H
#define TESTS_KERN_EXACT_H

#include <math.h>
#include <stdint.h>

__extension__ typedef __int128 Wide;

static inline Wide exact_power(int exponent) {
    return (Wide)1 << exponent;
}

/* The largest integer that is not above n / d, d > 0. */
static inline Wide exact_floor(Wide n, Wide d) {
    Wide quotient = n / d;
    return n % d < 0 ? quotient - 1 : quotient;
}

static inline Wide exact_half_up(Wide n, Wide d) {
    return exact_floor(2 * n + d, 2 * d);
}

static inline Wide exact_half_away(Wide n, Wide d) {
    return n < 0 ? -exact_half_up(-n, d) : exact_half_up(n, d);
}

static inline Wide exact_saturate(Wide x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

/* x * multiplier * 2^(shift - 31), rounded once; |shift| <= 63 */
static inline Wide exact_single(Wide x, int32_t multiplier, int shift) {
    Wide n = x * multiplier;
    return exact_saturate(shift <= 31 ? exact_half_up(n, exact_power(31 - shift)) : n * exact_power(shift - 31));
}

/* Rounded to 31 bits, and where the shift is to the right once more. */
static inline Wide exact_double(Wide x, int32_t multiplier, int shift) {
    if (shift >= 0) {
        return exact_single(x, multiplier, shift);
    }
    Wide high = exact_saturate(exact_half_up(x * multiplier, exact_power(31)));
    return exact_half_away(high, exact_power(-shift));
}

/* The multiplier of a factor by libm. */
static inline int32_t exact_multiplier(double factor, int *shift) {
    long long q = llround(ldexp(frexp(factor, shift), 31));
    if (q == 2147483648) {
        q /= 2;
        *shift += 1;
    }
    if (factor == 0 || *shift < -31) {
        *shift = 0;
        return 0;
    }
    return (int32_t)q;
}

#endif
