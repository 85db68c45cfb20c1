/* Codes of 16 bits by channel with NEON. See codes16.h. */
#include "kern/codes16.h"

#if defined(__aarch64__)
#include "kern/rows_neon.h"

enum { WEIGHT, OFFSET, SCALE, BIAS, PARAMETERS };

/* What all channels share. */
typedef struct {
    int32x4_t zero_point, lo, hi;
} Shared;

typedef struct {
    const float *of[PARAMETERS];
    const Shared *shared;
} Arrays;

typedef struct {
    float32x4_t of[PARAMETERS];
    Shared shared;
} Lanes;

S0_INLINE Lanes lanes_at(const void *arrays, size_t first) {
    const Arrays *at = (const Arrays *)arrays;
    return (Lanes){{vld1q_f32(at->of[WEIGHT] + first), vld1q_f32(at->of[OFFSET] + first),
                    vld1q_f32(at->of[SCALE] + first), vld1q_f32(at->of[BIAS] + first)},
                   *at->shared};
}

/* The conversion saturates and makes NaN 0, as s0_round_half_even does; a saturated sum is limited as the sum. */
S0_INLINE int16x4_t real4(int16x4_t x, const Lanes *lanes) {
    const float32x4_t product = vmulq_f32(vcvtq_f32_s32(vmovl_s16(x)), lanes->of[WEIGHT]);
    const float32x4_t scaled = vmulq_f32(vaddq_f32(product, lanes->of[OFFSET]), lanes->of[SCALE]);
    const int32x4_t rounded = vcvtnq_s32_f32(vaddq_f32(scaled, lanes->of[BIAS]));
    const int32x4_t y = vqaddq_s32(rounded, lanes->shared.zero_point);
    return vmovn_s32(vminq_s32(vmaxq_s32(y, lanes->shared.lo), lanes->shared.hi));
}

S0_INLINE void store(const uint8_t *from, uint8_t *to, const Lanes *low, const Lanes *high) {
    const int16x8_t x = vreinterpretq_s16_u8(vld1q_u8(from));
    const int16x8_t y = vcombine_s16(real4(vget_low_s16(x), low), real4(vget_high_s16(x), high));
    vst1q_u8(to, vreinterpretq_u8_s16(y));
}

S0_INLINE void pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    for (size_t k = 0; k < n; k += 8) {
        const Lanes low = lanes_at(arrays, first + k), high = lanes_at(arrays, first + k + 4);
        store(x + 2 * k, y + 2 * k, &low, &high);
    }
}

S0_INLINE void plane(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    const Lanes *lanes = (const Lanes *)of;
    for (size_t k = first; k < n; k += 8) {
        store(x + 2 * k, y + 2 * k, lanes, lanes);
    }
}

S0_INLINE void run(const S0Rows *rows, const S0Reals16 *reals) {
    const Shared shared = {vdupq_n_s32(reals->codes.zero_point), vdupq_n_s32(reals->codes.lo),
                           vdupq_n_s32(reals->codes.hi)};
    const Arrays whole = {{reals->weight, reals->offset, reals->scale, reals->bias}, &shared};
    const Lanes lanes = {{vdupq_n_f32(reals->weight[0]), vdupq_n_f32(reals->offset[0]), vdupq_n_f32(reals->scale[0]),
                          vdupq_n_f32(reals->bias[0])},
                         shared};
    float copies[PARAMETERS][S0_SEAM];
    Arrays seam = whole;
    S0Form form = {.pixels = pixels,
                   .plane = plane,
                   .whole = &lanes,
                   .channels = reals->channels,
                   .element_bytes = sizeof(int16_t)};
    if (form.channels == 1) {
        s0_rows_neon(rows, &form);
        return;
    }
    for (int p = 0; p < PARAMETERS; p++) {
        seam.of[p] = (const float *)s0_seam_of(copies[p], whole.of[p], form.channels, sizeof(float));
    }
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_neon(rows, &form);
}

void s0_real16_neon(const S0Rows *rows, const S0Reals16 *reals) {
    if (s0_has_blocks(rows, sizeof(int16_t))) {
        run(rows, reals);
    } else {
        s0_real16_portable(rows, reals);
    }
}
#endif
