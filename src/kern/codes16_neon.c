/* Codes of 16 bits by channel with NEON. See codes16.h. */
#include "kern/codes16.h"

#if defined(__aarch64__)
#include "kern/rows_neon.h"

enum { LANES = 8, PARAMETERS = 4 };

typedef struct {
    const float *of[PARAMETERS]; /* weight, offset, scale, bias */
    float seam[PARAMETERS][2 * LANES];
    int32x4_t zero_point, lo, hi;
} Reals;

typedef struct {
    float32x4_t of[PARAMETERS][2];
    int32x4_t zero_point, lo, hi;
} Lanes;

S0_INLINE void load_real(void *to, const void *parameters, const S0Wrap *wrap, size_t channel) {
    Lanes *lanes = (Lanes *)to;
    const Reals *from = (const Reals *)parameters;
    for (int p = 0; p < PARAMETERS; p++) {
        const float *at = (const float *)s0_wrap_at(wrap, from->seam[p], from->of[p], sizeof(float), channel);
        lanes->of[p][0] = vld1q_f32(at);
        lanes->of[p][1] = vld1q_f32(at + 4);
    }
    lanes->zero_point = from->zero_point;
    lanes->lo = from->lo;
    lanes->hi = from->hi;
}

/* The conversion saturates and makes NaN 0, as s0_round_half_even does; a saturated sum is limited as the sum. */
S0_INLINE int16x4_t real4(int16x4_t x, const Lanes *lanes, int k) {
    const float32x4_t product = vmulq_f32(vcvtq_f32_s32(vmovl_s16(x)), lanes->of[0][k]);
    const float32x4_t scaled = vmulq_f32(vaddq_f32(product, lanes->of[1][k]), lanes->of[2][k]);
    const int32x4_t rounded = vcvtnq_s32_f32(vaddq_f32(scaled, lanes->of[3][k]));
    const int32x4_t y = vqaddq_s32(rounded, lanes->zero_point);
    return vmovn_s32(vminq_s32(vmaxq_s32(y, lanes->lo), lanes->hi));
}

S0_INLINE uint8x16_t apply_real(uint8x16_t codes, const void *of) {
    const Lanes *lanes = (const Lanes *)of;
    const int16x8_t x = vreinterpretq_s16_u8(codes);
    const int16x4_t low = real4(vget_low_s16(x), lanes, 0), high = real4(vget_high_s16(x), lanes, 1);
    return vreinterpretq_u8_s16(vcombine_s16(low, high));
}

void s0_real16_neon(const S0Rows *rows, const S0Reals16 *reals) {
    if (!s0_has_vectors(rows, sizeof(int16_t))) {
        s0_real16_portable(rows, reals);
        return;
    }
    const S0Wrap wrap = s0_wrap(reals->channels, LANES);
    Reals parameters = {.of = {reals->weight, reals->offset, reals->scale, reals->bias},
                        .zero_point = vdupq_n_s32(reals->codes.zero_point),
                        .lo = vdupq_n_s32(reals->codes.lo),
                        .hi = vdupq_n_s32(reals->codes.hi)};
    Lanes lanes;
    for (int p = 0; p < PARAMETERS; p++) {
        s0_wrap_fill(&wrap, parameters.seam[p], parameters.of[p], sizeof(float));
    }
    s0_rows_neon(rows, &wrap, &(S0FormNeon){load_real, apply_real, &lanes, &parameters});
}
#endif
