/* Codes of 8 bits by channel with Helium. See codes8.h.
 *
 * Codes are widened as they are loaded and narrowed as they are stored. A flip of the highest bit is a sum, of which
 * what is carried is lost: x + 0x80 modulo 256. */
#include "kern/codes8.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/rows_helium.h"

enum { LANES = 8, QUAD = 4 };

typedef struct {
    S0Products8 of;
    S0Wrap wrap;
    int16_t multiplier[2 * LANES], addend[2 * LANES], divisor[2 * LANES];
    int8_t odd_code[2 * LANES], odd_step[2 * LANES];
} Products;

S0_INLINE int16x8_t load16(const Products *from, const int16_t *seam, const int16_t *parameters, size_t channel) {
    return vldrhq_s16((const int16_t *)s0_wrap_at(&from->wrap, seam, parameters, sizeof(int16_t), channel));
}

/* Both products are doubled and their upper halves taken: the first one rounded, as (2ab + 2^15) >> 16 is
 * (ab + 2^14) >> 15; the second one by half the divisor. Neither saturates. */
S0_INLINE int16x8_t product_of_plane(int16x8_t x, const S0Products8 *of) {
    const int16x8_t high = vqrdmulhq_n_s16(x, of->multiplier[0]);
    return vqdmulhq_n_s16(vqaddq_n_s16(high, of->addend[0]), (int16_t)(of->divisor[0] / 2));
}

S0_INLINE int16x8_t product_of_pixels(int16x8_t x, const Products *from, size_t channel) {
    const int16x8_t high = vqrdmulhq_s16(x, load16(from, from->multiplier, from->of.multiplier, channel));
    const int16x8_t divisor = load16(from, from->divisor, from->of.divisor, channel);
    const int16x8_t sum = vqaddq_s16(high, load16(from, from->addend, from->of.addend, channel));
    return vqdmulhq_s16(sum, vshrq_n_s16(divisor, 1));
}

/* y and its step where x, times 256, is the odd code. */
S0_INLINE int16x8_t step_odd(int16x8_t y, int16x8_t x, const Products *from, size_t channel) {
    const void *code = s0_wrap_at(&from->wrap, from->odd_code, from->of.odd_code, 1, channel);
    const void *step = s0_wrap_at(&from->wrap, from->odd_step, from->of.odd_step, 1, channel);
    const int16x8_t odd = vshlq_n_s16(vldrbq_s16((const int8_t *)code), 8);
    return vaddq_m_s16(y, y, vldrbq_s16((const int8_t *)step), vcmpeqq_s16(x, odd));
}

S0_INLINE uint16x8_t product8(uint16x8_t codes, const Products *from, size_t channel, int odd) {
    const S0Bytes *bytes = &from->of.bytes;
    const uint16x8_t high = vaddq_n_u16(vshlq_n_u16(codes, 8), (uint16_t)(bytes->x_flip << 8));
    const int16x8_t x = vreinterpretq_s16_u16(high);
    int16x8_t y = from->wrap.channels == 1 ? product_of_plane(x, &from->of) : product_of_pixels(x, from, channel);
    y = vminq_s16(vmaxq_s16(y, vdupq_n_s16(bytes->lo)), vdupq_n_s16(bytes->hi));
    y = odd ? step_odd(y, x, from, channel) : y;
    return vreinterpretq_u16_s16(vaddq_n_s16(y, bytes->y_flip));
}

S0_INLINE void product_run(const uint8_t *x, uint8_t *y, size_t n, const Products *from, int odd) {
    size_t i = 0, channel = 0;
    for (; i + LANES <= n; i += LANES) {
        vstrbq_u16(y + i, product8(vldrbq_u16(x + i), from, channel, odd));
        channel = s0_wrap_next(&from->wrap, channel);
    }
    if (i < n) {
        const mve_pred16_t mask = vctp16q((uint32_t)(n - i));
        vstrbq_p_u16(y + i, product8(vldrbq_z_u16(x + i, mask), from, channel, odd), mask);
    }
}

void s0_product8_helium(const S0Rows *rows, const S0Products8 *products) {
    const int odd = products->odd_code != 0 && products->odd_step != 0;
    Products parameters = {.of = *products, .wrap = s0_wrap(products->channels, LANES)};
    S0Rows left = s0_rows_joined(rows, rows->columns);
    s0_wrap_fill(&parameters.wrap, parameters.multiplier, products->multiplier, sizeof(int16_t));
    s0_wrap_fill(&parameters.wrap, parameters.addend, products->addend, sizeof(int16_t));
    s0_wrap_fill(&parameters.wrap, parameters.divisor, products->divisor, sizeof(int16_t));
    if (odd) {
        s0_wrap_fill(&parameters.wrap, parameters.odd_code, products->odd_code, 1);
        s0_wrap_fill(&parameters.wrap, parameters.odd_step, products->odd_step, 1);
    }
    for (; left.rows > 0; s0_rows_step(&left)) {
        if (odd) {
            product_run((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, &parameters, 1);
        } else {
            product_run((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, &parameters, 0);
        }
    }
}

typedef struct {
    S0Rounds8 of;
    S0Wrap wrap;
    float scale[2 * QUAD], bias[2 * QUAD];
} Rounds;

/* x * scale + bias. Vectors take subnormal numbers as 0. Here that changes no result: a product that is 0 instead of
 * less than 2^-118 changes a sum of less than 2^-89 only, and such sums are 0 when rounded; so are subnormal sums. */
S0_INLINE float32x4_t real4(float32x4_t x, const Rounds *from, size_t channel) {
    if (from->wrap.channels == 1) {
        return vaddq_n_f32(vmulq_n_f32(x, from->of.scale[0]), from->of.bias[0]);
    }
    const void *scale = s0_wrap_at(&from->wrap, from->scale, from->of.scale, sizeof(float), channel);
    const void *bias = s0_wrap_at(&from->wrap, from->bias, from->of.bias, sizeof(float), channel);
    return vaddq_f32(vmulq_f32(x, vldrwq_f32((const float *)scale)), vldrwq_f32((const float *)bias));
}

/* Codes become the highest bytes of integers with 24 bits of a fraction. */
S0_INLINE uint32x4_t round4(uint32x4_t codes, const Rounds *from, size_t channel) {
    const S0Bytes *bytes = &from->of.bytes;
    const uint32x4_t high = vaddq_n_u32(vshlq_n_u32(codes, 24), (uint32_t)bytes->x_flip << 24);
    const float32x4_t x = vcvtq_n_f32_s32(vreinterpretq_s32_u32(high), 24);
    int32x4_t y = vcvtnq_s32_f32(real4(x, from, channel));
    y = vminq_s32(vmaxq_s32(y, vdupq_n_s32(bytes->lo)), vdupq_n_s32(bytes->hi));
    return vreinterpretq_u32_s32(vaddq_n_s32(y, bytes->y_flip));
}

S0_INLINE void round_run(const uint8_t *x, uint8_t *y, size_t n, const Rounds *from) {
    size_t i = 0, channel = 0;
    for (; i + QUAD <= n; i += QUAD) {
        vstrbq_u32(y + i, round4(vldrbq_u32(x + i), from, channel));
        channel = s0_wrap_next(&from->wrap, channel);
    }
    if (i < n) {
        const mve_pred16_t mask = vctp32q((uint32_t)(n - i));
        vstrbq_p_u32(y + i, round4(vldrbq_z_u32(x + i, mask), from, channel), mask);
    }
}

void s0_round8_helium(const S0Rows *rows, const S0Rounds8 *rounds) {
    Rounds parameters = {.of = *rounds, .wrap = s0_wrap(rounds->channels, QUAD)};
    S0Rows left = s0_rows_joined(rows, rows->columns);
    s0_wrap_fill(&parameters.wrap, parameters.scale, rounds->scale, sizeof(float));
    s0_wrap_fill(&parameters.wrap, parameters.bias, rounds->bias, sizeof(float));
    for (; left.rows > 0; s0_rows_step(&left)) {
        round_run((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, &parameters);
    }
}
#endif
