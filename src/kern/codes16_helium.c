/* Codes of 16 bits by channel with Helium. See codes16.h, and rows_helium.h for what happens to subnormal numbers. */
#include "kern/codes16.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/rows_helium.h"

enum { LANES = 4, WEIGHT = 0, OFFSET, SCALE, BIAS, PARAMETERS };

typedef struct {
    S0Wrap wrap;
    const float *of[PARAMETERS];
    float seam[PARAMETERS][2 * LANES];
    S0Codes codes;
} Reals;

S0_INLINE float32x4_t load(const Reals *from, int parameter, size_t channel) {
    const void *at = s0_wrap_at(&from->wrap, from->seam[parameter], from->of[parameter], sizeof(float), channel);
    return vldrwq_f32((const float *)at);
}

S0_INLINE float32x4_t real4(float32x4_t x, const Reals *from, size_t channel) {
    if (from->wrap.channels == 1) {
        const float32x4_t sum = vaddq_n_f32(vmulq_n_f32(x, from->of[WEIGHT][0]), from->of[OFFSET][0]);
        return vaddq_n_f32(vmulq_n_f32(sum, from->of[SCALE][0]), from->of[BIAS][0]);
    }
    const float32x4_t sum = vaddq_f32(vmulq_f32(x, load(from, WEIGHT, channel)), load(from, OFFSET, channel));
    return vaddq_f32(vmulq_f32(sum, load(from, SCALE, channel)), load(from, BIAS, channel));
}

/* The conversion saturates and makes NaN 0, as s0_round_half_even does; a saturated sum is limited as the sum. */
S0_INLINE int32x4_t codes4(float32x4_t real, const S0Codes *codes) {
    const int32x4_t y = vqaddq_n_s32(vcvtnq_s32_f32(real), codes->zero_point);
    return vminq_s32(vmaxq_s32(y, vdupq_n_s32(codes->lo)), vdupq_n_s32(codes->hi));
}

static void one_by_one(const int16_t *x, int16_t *y, size_t n, const Reals *from, size_t channel) {
    for (size_t i = 0; i < n; i++) {
        const float product = s0_alone((float)x[i] * from->of[WEIGHT][channel]);
        const float sum = s0_alone(product + from->of[OFFSET][channel]);
        const float real = s0_alone(s0_alone(sum * from->of[SCALE][channel]) + from->of[BIAS][channel]);
        y[i] = (int16_t)s0_requantise_real(real, S0_ROUND_HALF_EVEN, from->codes);
        channel = channel + 1 == from->wrap.channels ? 0 : channel + 1;
    }
}

/* A block of n elements. Returns the next block's channel. */
S0_INLINE size_t block(const int16_t *x, int16_t *y, size_t n, const Reals *from, size_t channel) {
    const size_t first = channel;
    S0Quads quads;
    for (size_t k = 0; k < S0_HELIUM_QUADS; k++) {
        const mve_pred16_t mask = s0_quad_mask(n, k);
        const int32x4_t wide = n == S0_HELIUM_BLOCK ? vldrhq_s32(x + 4 * k) : vldrhq_z_s32(x + 4 * k, mask);
        quads.of[k] = real4(vcvtq_f32_s32(wide), from, channel);
        channel = s0_wrap_next(&from->wrap, channel);
    }
    if (s0_flushed(&quads)) {
        one_by_one(x, y, n, from, first);
        s0_flush_begin();
        return channel;
    }
    for (size_t k = 0; k < S0_HELIUM_QUADS; k++) {
        if (n == S0_HELIUM_BLOCK) {
            vstrhq_s32(y + 4 * k, codes4(quads.of[k], &from->codes));
        } else {
            vstrhq_p_s32(y + 4 * k, codes4(quads.of[k], &from->codes), s0_quad_mask(n, k));
        }
    }
    return channel;
}

S0_INLINE void run(const int16_t *x, int16_t *y, size_t n, const Reals *from) {
    size_t i = 0, channel = 0;
    for (; i + S0_HELIUM_BLOCK <= n; i += S0_HELIUM_BLOCK) {
        channel = block(x + i, y + i, S0_HELIUM_BLOCK, from, channel);
    }
    if (i < n) {
        block(x + i, y + i, n - i, from, channel);
    }
}

/* Vectors of 16-bit elements must begin at even addresses. */
static int is_even(const S0Rows *rows) {
    return (((uintptr_t)rows->x | (uintptr_t)rows->y | rows->x_pitch_bytes | rows->y_pitch_bytes) & 1) == 0;
}

void s0_real16_helium(const S0Rows *rows, const S0Reals16 *reals) {
    if (!is_even(rows)) {
        s0_real16_portable(rows, reals);
        return;
    }
    Reals parameters = {.wrap = s0_wrap(reals->channels, LANES),
                        .of = {reals->weight, reals->offset, reals->scale, reals->bias},
                        .codes = reals->codes};
    S0Rows left = s0_rows_joined(rows, rows->columns * sizeof(int16_t));
    for (int p = 0; p < PARAMETERS; p++) {
        s0_wrap_fill(&parameters.wrap, parameters.seam[p], parameters.of[p], sizeof(float));
    }
    const uint32_t before = s0_flush_begin();
    for (; left.rows > 0; s0_rows_step(&left)) {
        run((const int16_t *)left.x, (int16_t *)left.y, left.columns, &parameters);
    }
    s0_flush_end(before);
}
#endif
