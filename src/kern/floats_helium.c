/* Reals by channel with Helium. See floats.h, and rows_helium.h for what happens to subnormal numbers. */
#include "kern/floats.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/rows_helium.h"

typedef struct {
    const float *scale, *bias;
} Arrays;

/* x and y as bytes: they need no alignment. */
S0_INLINE float32x4_t quad_at(const uint8_t *x, size_t n, size_t k) {
    return vreinterpretq_f32_u8(n == S0_BLOCK ? vldrbq_u8(x + 16 * k) : vldrbq_z_u8(x + 16 * k, s0_quad_mask(n, k)));
}

S0_INLINE void store(uint8_t *y, size_t n, const S0Quads *quads) {
    for (size_t k = 0; k < S0_QUADS; k++) {
        if (n == S0_BLOCK) {
            vstrbq_u8(y + 16 * k, vreinterpretq_u8_f32(quads->of[k]));
        } else {
            vstrbq_p_u8(y + 16 * k, vreinterpretq_u8_f32(quads->of[k]), s0_quad_mask(n, k));
        }
    }
}

/* `step`: from an element's parameters to the next one's. */
static __attribute__((noinline)) void one_by_one(const uint8_t *x, uint8_t *y, size_t n, const Arrays *at,
                                                 size_t step) {
    for (size_t i = 0; i < n; i++) {
        float value;
        __builtin_memcpy(&value, x + i * sizeof value, sizeof value);
        const float product = s0_alone(value * at->scale[i * step]);
        value = s0_alone(product + at->bias[i * step]);
        __builtin_memcpy(y + i * sizeof value, &value, sizeof value);
    }
    s0_flush_begin();
}

S0_INLINE void pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    const Arrays *from = (const Arrays *)arrays;
    const Arrays at = {from->scale + first, from->bias + first};
    S0Quads quads;
    for (size_t k = 0; k < S0_QUADS; k++) {
        const float32x4_t product = vmulq_f32(quad_at(x, n, k), vldrwq_f32(at.scale + 4 * k));
        quads.of[k] = vaddq_f32(product, vldrwq_f32(at.bias + 4 * k));
    }
    if (s0_flushed(&quads)) {
        one_by_one(x, y, n, &at, 1);
    } else {
        store(y, n, &quads);
    }
}

S0_INLINE void plane(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    const Arrays *from = (const Arrays *)arrays;
    const float scale = from->scale[first], bias = from->bias[first];
    S0Quads quads;
    for (size_t k = 0; k < S0_QUADS; k++) {
        quads.of[k] = vaddq_n_f32(vmulq_n_f32(quad_at(x, n, k), scale), bias);
    }
    if (s0_flushed(&quads)) {
        one_by_one(x, y, n, from, 0);
    } else {
        store(y, n, &quads);
    }
}

void s0_f32_helium(const S0Rows *rows, const S0Floats *floats) {
    const Arrays whole = {floats->scale, floats->bias};
    const size_t channels = floats->channels;
    float scale[S0_SEAM], bias[S0_SEAM];
    const Arrays seam = {(const float *)s0_seam_of(scale, floats->scale, channels, sizeof(float)),
                         (const float *)s0_seam_of(bias, floats->bias, channels, sizeof(float))};
    const uint32_t before = s0_flush_begin();
    s0_rows_helium(rows, &(S0Form){.pixels = pixels,
                                   .plane = plane,
                                   .whole = &whole,
                                   .seam = &seam,
                                   .channels = channels,
                                   .element_bytes = sizeof(float)});
    s0_flush_end(before);
}

void s0_f32_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Floats *floats) {
    s0_each_plane_f32(first, plane_bytes, floats, s0_f32_helium);
}
#endif
