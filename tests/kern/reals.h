/* What y = x * scale + bias is in float32 and float16, by double and libm: shares nothing with src/kern. */
#ifndef TESTS_KERN_REALS_H
#define TESTS_KERN_REALS_H

#include <math.h>
#include <stdint.h>

/* A product and a sum of two floats, rounded to a float, are those of doubles rounded once more. */
static inline float f32_result(float x, float scale, float bias) {
    float product = (float)((double)x * (double)scale);
    return (float)((double)product + (double)bias);
}

static inline double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
    double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) {
        magnitude = fraction == 0 ? (double)INFINITY : (double)NAN;
    }
    return bits >> 15 != 0 ? -magnitude : magnitude;
}

static inline uint16_t half_bits(double value) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value)) {
        return 0x7E00;
    }
    if (magnitude >= 65520) {
        return sign | 0x7C00;
    }
    int exponent = magnitude < 0x1p-14 ? -14 : ilogb(magnitude);
    long units = lrint(ldexp(magnitude, 10 - exponent)); /* 1024 is 1, and begins the next exponent where it is 2048 */
    return (uint16_t)(sign + units + (long)(exponent + 14) * 1024);
}

/* Both are exact in double before they are rounded. */
static inline uint16_t f16_result(uint16_t x, float scale, float bias) {
    uint16_t product = half_bits(half_value(x) * (double)scale);
    return half_bits(half_value(product) + (double)bias);
}

#endif
