/* float16 in C99: what the processor's own conversions give, but that a signalling NaN may stay one. Loops of these are
 * vectorised by compilers. */
#ifndef S0_KERN_HALF_H
#define S0_KERN_HALF_H

#include <stdint.h>

typedef union {
    float real;
    uint32_t bits;
} S0FloatBits;

/* The float that a float16 is. */
static inline float s0_half_widen(uint16_t half) {
    const uint32_t magnitude = half & UINT32_C(0x7FFF);
    S0FloatBits finite = {.bits = magnitude << 13}; /* 2^112 too small, subnormal or not */
    finite.real *= 0x1p112f;
    S0FloatBits result = {.bits = magnitude < 0x7C00 ? finite.bits : magnitude << 13 | UINT32_C(0x7F800000)};
    result.bits |= (uint32_t)(half & 0x8000) << 16;
    return result.real;
}

/* The nearest float16, ties to even; infinite from 65520 on. A NaN keeps the front of its payload, and never becomes
 * infinite. */
static inline uint16_t s0_half_narrow(float x) {
    const S0FloatBits all = {.real = x};
    const S0FloatBits magnitude = {.bits = all.bits & UINT32_C(0x7FFFFFFF)};
    const uint32_t normal = (magnitude.bits - (UINT32_C(112) << 23) + 0xFFF + (magnitude.bits >> 13 & 1)) >> 13;
    const S0FloatBits half = {.real = 0.5f}, tiny = {.real = magnitude.real + 0.5f}; /* 0.5's last place is 2^-24 */
    const uint32_t payload = magnitude.bits >> 13 & 0x3FF;
    uint32_t result = magnitude.real < 0x1p-14f ? tiny.bits - half.bits : normal;
    result = magnitude.real < 65520.0f ? result : 0x7C00;
    result = magnitude.bits <= UINT32_C(0x7F800000) ? result : 0x7C00 | (payload == 0 ? 0x200 : payload);
    return (uint16_t)(all.bits >> 16 & 0x8000) | (uint16_t)result;
}

#endif
