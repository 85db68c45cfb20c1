/* Reals by channel with NEON. See floats.h.
 *
 * float16 goes by float32: its product is exact there, its sum is rounded to the same float16 as the real sum (24 bits
 * are twice 11 and two more), so that two roundings are one. */
#include "kern/floats.h"

#if defined(__aarch64__)
#include "kern/rows_neon.h"

enum { LANES32 = 4, LANES16 = 8 };

typedef struct {
    const float *scale, *bias;
    float scale_seam[2 * LANES16], bias_seam[2 * LANES16];
} Parameters;

typedef struct {
    float32x4_t scale[2], bias[2]; /* the first alone for float32 */
} Lanes;

S0_INLINE void fill(Parameters *parameters, const S0Wrap *wrap, const S0Floats *floats) {
    parameters->scale = floats->scale;
    parameters->bias = floats->bias;
    s0_wrap_fill(wrap, parameters->scale_seam, floats->scale, sizeof(float));
    s0_wrap_fill(wrap, parameters->bias_seam, floats->bias, sizeof(float));
}

S0_INLINE void load(Lanes *lanes, const Parameters *from, const S0Wrap *wrap, size_t channel, int quads) {
    const float *scale = (const float *)s0_wrap_at(wrap, from->scale_seam, from->scale, sizeof(float), channel);
    const float *bias = (const float *)s0_wrap_at(wrap, from->bias_seam, from->bias, sizeof(float), channel);
    for (int k = 0; k < quads; k++) {
        lanes->scale[k] = vld1q_f32(scale + 4 * k);
        lanes->bias[k] = vld1q_f32(bias + 4 * k);
    }
}

S0_INLINE void load32(void *lanes, const void *parameters, const S0Wrap *wrap, size_t channel) {
    load((Lanes *)lanes, (const Parameters *)parameters, wrap, channel, 1);
}

S0_INLINE uint8x16_t apply32(uint8x16_t x, const void *of) {
    const Lanes *lanes = (const Lanes *)of;
    const float32x4_t product = vmulq_f32(vreinterpretq_f32_u8(x), lanes->scale[0]);
    return vreinterpretq_u8_f32(vaddq_f32(product, lanes->bias[0]));
}

S0_INLINE void load16(void *lanes, const void *parameters, const S0Wrap *wrap, size_t channel) {
    load((Lanes *)lanes, (const Parameters *)parameters, wrap, channel, 2);
}

S0_INLINE float16x4_t half(float16x4_t x, float32x4_t scale, float32x4_t bias) {
    const float16x4_t product = vcvt_f16_f32(vmulq_f32(vcvt_f32_f16(x), scale));
    return vcvt_f16_f32(vaddq_f32(vcvt_f32_f16(product), bias));
}

S0_INLINE uint8x16_t apply16(uint8x16_t x, const void *of) {
    const Lanes *lanes = (const Lanes *)of;
    const float16x8_t halves = vreinterpretq_f16_u8(x);
    const float16x4_t low = half(vget_low_f16(halves), lanes->scale[0], lanes->bias[0]);
    const float16x4_t high = half(vget_high_f16(halves), lanes->scale[1], lanes->bias[1]);
    return vreinterpretq_u8_f16(vcombine_f16(low, high));
}

void s0_f32_neon(const S0Rows *rows, const S0Floats *floats) {
    if (!s0_has_vectors(rows, sizeof(float))) {
        s0_f32_portable(rows, floats);
        return;
    }
    const S0Wrap wrap = s0_wrap(floats->channels, LANES32);
    Parameters parameters;
    Lanes lanes;
    fill(&parameters, &wrap, floats);
    s0_rows_neon(rows, &wrap, &(S0FormNeon){load32, apply32, &lanes, &parameters});
}

void s0_f16_neon(const S0Rows *rows, const S0Floats *floats) {
    if (!s0_has_vectors(rows, sizeof(uint16_t))) {
        s0_f16_portable(rows, floats);
        return;
    }
    const S0Wrap wrap = s0_wrap(floats->channels, LANES16);
    Parameters parameters;
    Lanes lanes;
    fill(&parameters, &wrap, floats);
    s0_rows_neon(rows, &wrap, &(S0FormNeon){load16, apply16, &lanes, &parameters});
}
#endif
