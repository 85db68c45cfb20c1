/* Reals by channel with Helium. See floats.h, and rows_helium.h for what happens to subnormal numbers. */
#include "kern/floats.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/rows_helium.h"

enum { LANES = 4 };

typedef struct {
    S0Wrap wrap;
    const float *scale, *bias;
    float scale_seam[2 * LANES], bias_seam[2 * LANES];
} Parameters;

/* Four elements from a channel on. */
S0_INLINE float32x4_t affine(float32x4_t x, const Parameters *from, size_t channel) {
    const S0Wrap *wrap = &from->wrap;
    if (wrap->channels == 1) {
        return vaddq_n_f32(vmulq_n_f32(x, from->scale[0]), from->bias[0]);
    }
    const void *scale = s0_wrap_at(wrap, from->scale_seam, from->scale, sizeof(float), channel);
    const void *bias = s0_wrap_at(wrap, from->bias_seam, from->bias, sizeof(float), channel);
    return vaddq_f32(vmulq_f32(x, vldrwq_f32((const float *)scale)), vldrwq_f32((const float *)bias));
}

/* n elements from a channel on. */
static void one_by_one(const uint8_t *x, uint8_t *y, size_t n, const Parameters *from, size_t channel) {
    for (size_t i = 0; i < n; i++) {
        float value;
        __builtin_memcpy(&value, x + i * sizeof value, sizeof value);
        const float product = s0_alone(value * from->scale[channel]);
        value = s0_alone(product + from->bias[channel]);
        __builtin_memcpy(y + i * sizeof value, &value, sizeof value);
        channel = channel + 1 == from->wrap.channels ? 0 : channel + 1;
    }
}

/* A block of n elements, as bytes: x and y need no alignment. Returns the next block's channel. */
S0_INLINE size_t block(const uint8_t *x, uint8_t *y, size_t n, const Parameters *from, size_t channel) {
    const size_t first = channel;
    S0Quads quads;
    for (size_t k = 0; k < S0_HELIUM_QUADS; k++) {
        const mve_pred16_t mask = s0_quad_mask(n, k);
        const uint8x16_t bytes = n == S0_HELIUM_BLOCK ? vldrbq_u8(x + 16 * k) : vldrbq_z_u8(x + 16 * k, mask);
        quads.of[k] = affine(vreinterpretq_f32_u8(bytes), from, channel);
        channel = s0_wrap_next(&from->wrap, channel);
    }
    if (s0_flushed(&quads)) {
        one_by_one(x, y, n, from, first);
        s0_flush_begin();
        return channel;
    }
    for (size_t k = 0; k < S0_HELIUM_QUADS; k++) {
        if (n == S0_HELIUM_BLOCK) {
            vstrbq_u8(y + 16 * k, vreinterpretq_u8_f32(quads.of[k]));
        } else {
            vstrbq_p_u8(y + 16 * k, vreinterpretq_u8_f32(quads.of[k]), s0_quad_mask(n, k));
        }
    }
    return channel;
}

S0_INLINE void run(const uint8_t *x, uint8_t *y, size_t n, const Parameters *from) {
    size_t i = 0, channel = 0;
    for (; i + S0_HELIUM_BLOCK <= n; i += S0_HELIUM_BLOCK) {
        channel = block(x + i * sizeof(float), y + i * sizeof(float), S0_HELIUM_BLOCK, from, channel);
    }
    if (i < n) {
        block(x + i * sizeof(float), y + i * sizeof(float), n - i, from, channel);
    }
}

void s0_f32_helium(const S0Rows *rows, const S0Floats *floats) {
    Parameters parameters = {.wrap = s0_wrap(floats->channels, LANES), .scale = floats->scale, .bias = floats->bias};
    S0Rows left = s0_rows_joined(rows, rows->columns * sizeof(float));
    s0_wrap_fill(&parameters.wrap, parameters.scale_seam, floats->scale, sizeof(float));
    s0_wrap_fill(&parameters.wrap, parameters.bias_seam, floats->bias, sizeof(float));
    const uint32_t before = s0_flush_begin();
    for (; left.rows > 0; s0_rows_step(&left)) {
        run((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, &parameters);
    }
    s0_flush_end(before);
}
#endif
