/* Codes of 16 bits by channel with Helium. See codes16.h, and rows_helium.h for what happens to subnormal numbers. */
#include "kern/codes16.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/rows_helium.h"

enum { WEIGHT, OFFSET, SCALE, BIAS, PARAMETERS };

typedef struct {
    const float *of[PARAMETERS];
    const S0Codes *codes;
} Arrays;

S0_INLINE float32x4_t quad_at(const int16_t *x, size_t n, size_t k) {
    return vcvtq_f32_s32(n == S0_BLOCK ? vldrhq_s32(x + 4 * k) : vldrhq_z_s32(x + 4 * k, s0_quad_mask(n, k)));
}

/* The conversion saturates and makes NaN 0, as s0_round_half_even does; a saturated sum is limited as the sum. */
S0_INLINE void store(int16_t *y, size_t n, const S0Codes *codes, const S0Quads *quads) {
    for (size_t k = 0; k < S0_QUADS; k++) {
        const int32x4_t sum = vqaddq_n_s32(vcvtnq_s32_f32(quads->of[k]), codes->zero_point);
        const int32x4_t code = vminq_s32(vmaxq_s32(sum, vdupq_n_s32(codes->lo)), vdupq_n_s32(codes->hi));
        if (n == S0_BLOCK) {
            vstrhq_s32(y + 4 * k, code);
        } else {
            vstrhq_p_s32(y + 4 * k, code, s0_quad_mask(n, k));
        }
    }
}

/* `step`: from an element's parameters to the next one's. */
static __attribute__((noinline)) void one_by_one(const int16_t *x, int16_t *y, size_t n, const Arrays *at,
                                                 size_t step) {
    for (size_t i = 0, c = 0; i < n; i++, c += step) {
        const float product = s0_alone((float)x[i] * at->of[WEIGHT][c]);
        const float sum = s0_alone(product + at->of[OFFSET][c]);
        const float real = s0_alone(s0_alone(sum * at->of[SCALE][c]) + at->of[BIAS][c]);
        y[i] = (int16_t)s0_requantise_real(real, S0_ROUND_HALF_EVEN, *at->codes);
    }
    s0_flush_begin();
}

S0_INLINE void pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    Arrays at = *(const Arrays *)arrays;
    S0Quads quads;
    for (int p = 0; p < PARAMETERS; p++) {
        at.of[p] += first;
    }
    for (size_t k = 0; k < S0_QUADS; k++) {
        const float32x4_t product = vmulq_f32(quad_at((const int16_t *)x, n, k), vldrwq_f32(at.of[WEIGHT] + 4 * k));
        const float32x4_t sum = vaddq_f32(product, vldrwq_f32(at.of[OFFSET] + 4 * k));
        const float32x4_t scaled = vmulq_f32(sum, vldrwq_f32(at.of[SCALE] + 4 * k));
        quads.of[k] = vaddq_f32(scaled, vldrwq_f32(at.of[BIAS] + 4 * k));
    }
    if (s0_flushed(&quads)) {
        one_by_one((const int16_t *)x, (int16_t *)y, n, &at, 1);
    } else {
        store((int16_t *)y, n, at.codes, &quads);
    }
}

S0_INLINE void plane(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    const Arrays *at = (const Arrays *)arrays;
    const float weight = at->of[WEIGHT][first], offset = at->of[OFFSET][first];
    const float scale = at->of[SCALE][first], bias = at->of[BIAS][first];
    S0Quads quads;
    for (size_t k = 0; k < S0_QUADS; k++) {
        const float32x4_t product = vmulq_n_f32(quad_at((const int16_t *)x, n, k), weight);
        quads.of[k] = vaddq_n_f32(vmulq_n_f32(vaddq_n_f32(product, offset), scale), bias);
    }
    if (s0_flushed(&quads)) {
        one_by_one((const int16_t *)x, (int16_t *)y, n, at, 0);
    } else {
        store((int16_t *)y, n, at->codes, &quads);
    }
}

/* Vectors of 16-bit elements must begin at even addresses. */
static int is_even(const S0Rows *rows) {
    return (((uintptr_t)rows->x | (uintptr_t)rows->y | rows->x_pitch_bytes | rows->y_pitch_bytes) & 1) == 0;
}

static void run(const S0Rows *rows, const S0Reals16 *reals) {
    const Arrays whole = {{reals->weight, reals->offset, reals->scale, reals->bias}, &reals->codes};
    Arrays seam = whole;
    float copies[PARAMETERS][S0_SEAM];
    for (int p = 0; p < PARAMETERS; p++) {
        seam.of[p] = (const float *)s0_seam_of(copies[p], whole.of[p], reals->channels, sizeof(float));
    }
    const uint32_t before = s0_flush_begin();
    s0_rows_helium(rows, &(S0Form){.pixels = pixels,
                                   .plane = plane,
                                   .whole = &whole,
                                   .seam = &seam,
                                   .channels = reals->channels,
                                   .element_bytes = sizeof(int16_t)});
    s0_flush_end(before);
}

void s0_real16_helium(const S0Rows *rows, const S0Reals16 *reals) {
    if (is_even(rows)) {
        run(rows, reals);
    } else {
        s0_real16_portable(rows, reals);
    }
}

void s0_real16_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    s0_each_plane16(first, plane_bytes, reals, s0_real16_helium);
}
#endif
