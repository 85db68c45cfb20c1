/* float16 in C99: what the processor's own conversions give, but that widening leaves a signalling NaN one. Loops of
 * these are vectorised by compilers. */
#ifndef S0_KERN_HALF_H
#define S0_KERN_HALF_H

#include <stdint.h>

typedef union {
    float real;
    uint32_t bits;
} S0FloatBits;

/* Written with masks: a compiler that sees a condition over reals may not compute both of its sides. Signed numbers are
 * those that vectors compare. */
static inline uint32_t s0_half_mask(int condition) {
    return 0 - (uint32_t)condition;
}

/* The float that a float16 is. */
static inline float s0_half_widen(uint16_t half) {
    const int32_t magnitude = half & 0x7FFF;
    S0FloatBits result = {.bits = (uint32_t)magnitude << 13}; /* 2^112 too small, subnormal or not */
    result.real *= 0x1p112f;
    result.bits |= s0_half_mask(magnitude >= 0x7C00) & UINT32_C(0x7F800000);
    result.bits |= (uint32_t)(half & 0x8000) << 16;
    return result.real;
}

/* The nearest float16, ties to even; infinite from 65520 on. A NaN becomes a quiet one with the front of its payload.
 */
static inline uint16_t s0_half_narrow(float x) {
    const S0FloatBits all = {.real = x}, half = {.real = 0.5f};
    const uint32_t bits = all.bits & UINT32_C(0x7FFFFFFF);
    const int32_t magnitude = (int32_t)bits;
    const uint32_t is_tiny = s0_half_mask(magnitude < 0x38800000);  /* below 2^-14: subnormal */
    const uint32_t is_large = s0_half_mask(magnitude > 0x477FEFFF); /* from 65520 on */
    const uint32_t is_nan = s0_half_mask(magnitude > 0x7F800000);
    S0FloatBits tiny = {.bits = bits};
    tiny.real += half.real; /* whose last place is 2^-24 */
    uint32_t result = (bits - (UINT32_C(112) << 23) + 0xFFF + (bits >> 13 & 1)) >> 13;
    result = (result & ~is_tiny) | ((tiny.bits - half.bits) & is_tiny);
    result = (result & ~is_large) | (0x7C00 & is_large) | ((0x200 | (bits >> 13 & 0x3FF)) & is_nan);
    return (uint16_t)((all.bits >> 16 & 0x8000) | result);
}

#endif
