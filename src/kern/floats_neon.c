/* Reals by channel with NEON. See floats.h.
 *
 * float16 goes by float32: its product is exact there, and its sum, rounded to float32 and then to float16, is the real
 * sum rounded to float16 (24 bits are twice 11 and two more). */
#include "kern/floats.h"

#if defined(__aarch64__)
#include "kern/rows_neon.h"

typedef struct {
    const float *scale, *bias;
} Arrays;

typedef struct {
    float32x4_t scale, bias;
} Lanes;

S0_INLINE Lanes lanes_at(const void *arrays, size_t first) {
    const Arrays *at = (const Arrays *)arrays;
    return (Lanes){vld1q_f32(at->scale + first), vld1q_f32(at->bias + first)};
}

S0_INLINE void store32(const uint8_t *x, uint8_t *y, Lanes lanes) {
    const float32x4_t product = vmulq_f32(vreinterpretq_f32_u8(vld1q_u8(x)), lanes.scale);
    vst1q_u8(y, vreinterpretq_u8_f32(vaddq_f32(product, lanes.bias)));
}

S0_INLINE void pixels32(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    for (size_t k = 0; k < n; k += 4) {
        store32(x + 4 * k, y + 4 * k, lanes_at(arrays, first + k));
    }
}

S0_INLINE void plane32(const uint8_t *x, uint8_t *y, size_t n, const void *lanes, size_t first) {
    for (size_t k = first; k < n; k += 4) {
        store32(x + 4 * k, y + 4 * k, *(const Lanes *)lanes);
    }
}

S0_INLINE float16x4_t half(float16x4_t x, Lanes lanes) {
    const float16x4_t product = vcvt_f16_f32(vmulq_f32(vcvt_f32_f16(x), lanes.scale));
    return vcvt_f16_f32(vaddq_f32(vcvt_f32_f16(product), lanes.bias));
}

S0_INLINE void store16(const uint8_t *x, uint8_t *y, Lanes low, Lanes high) {
    const float16x8_t halves = vreinterpretq_f16_u8(vld1q_u8(x));
    const float16x8_t both = vcombine_f16(half(vget_low_f16(halves), low), half(vget_high_f16(halves), high));
    vst1q_u8(y, vreinterpretq_u8_f16(both));
}

S0_INLINE void pixels16(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    for (size_t k = 0; k < n; k += 8) {
        store16(x + 2 * k, y + 2 * k, lanes_at(arrays, first + k), lanes_at(arrays, first + k + 4));
    }
}

S0_INLINE void plane16(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    const Lanes lanes = *(const Lanes *)of;
    for (size_t k = first; k < n; k += 8) {
        store16(x + 2 * k, y + 2 * k, lanes, lanes);
    }
}

S0_INLINE void run(const S0Rows *rows, const S0Floats *floats, S0Form form) {
    const Lanes lanes = {vdupq_n_f32(floats->scale[0]), vdupq_n_f32(floats->bias[0])};
    const Arrays whole = {floats->scale, floats->bias};
    float scale[S0_SEAM], bias[S0_SEAM];
    form.channels = floats->channels;
    if (form.channels == 1) {
        form.whole = &lanes;
        s0_rows_neon(rows, &form);
        return;
    }
    const Arrays seam = {(const float *)s0_seam_of(scale, floats->scale, form.channels, sizeof(float)),
                         (const float *)s0_seam_of(bias, floats->bias, form.channels, sizeof(float))};
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_neon(rows, &form);
}

void s0_f32_neon(const S0Rows *rows, const S0Floats *floats) {
    if (s0_has_blocks(rows, sizeof(float))) {
        run(rows, floats, (S0Form){.pixels = pixels32, .plane = plane32, .element_bytes = sizeof(float)});
    } else {
        s0_f32_portable(rows, floats);
    }
}

void s0_f32_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Floats *floats) {
    s0_each_plane_f32(first, plane_bytes, floats, s0_f32_neon);
}

void s0_f16_neon(const S0Rows *rows, const S0Floats *floats) {
    if (s0_has_blocks(rows, sizeof(uint16_t))) {
        run(rows, floats, (S0Form){.pixels = pixels16, .plane = plane16, .element_bytes = sizeof(uint16_t)});
    } else {
        s0_f16_portable(rows, floats);
    }
}
#endif
