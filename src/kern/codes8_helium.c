/* Codes of 8 bits by channel with Helium. See codes8.h.
 *
 * Codes are widened as they are loaded and narrowed as they are stored. A flip of the highest bit is a sum, of which
 * what is carried is lost: x + 0x80 modulo 256. */
#include "kern/codes8.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/codes8_blocks.h"
#include "kern/rows_helium.h"

typedef struct {
    const int16_t *multiplier, *addend, *divisor;
    const int8_t *odd_code, *odd_step;
    const S0Bytes *bytes;
} Products;

/* Of the one channel. */
typedef struct {
    int16_t multiplier, addend, half_divisor;
    int16_t odd_x, odd_step; /* where they are given; odd_x is times 256 */
    S0Bytes bytes;
} Product;

/* Both products are doubled and their upper halves taken: the first one rounded, as (2ab + 2^15) >> 16 is
 * (ab + 2^14) >> 15; the second one by half the divisor. Neither saturates. */
S0_INLINE int16x8_t product_of_plane(int16x8_t x, const Product *of) {
    const int16x8_t high = vqrdmulhq_n_s16(x, of->multiplier);
    return vqdmulhq_n_s16(vqaddq_n_s16(high, of->addend), of->half_divisor);
}

S0_INLINE int16x8_t product_of_pixels(int16x8_t x, const Products *at, size_t first) {
    const int16x8_t high = vqrdmulhq_s16(x, vldrhq_s16(at->multiplier + first));
    const int16x8_t half_divisor = vshrq_n_s16(vldrhq_s16(at->divisor + first), 1);
    return vqdmulhq_s16(vqaddq_s16(high, vldrhq_s16(at->addend + first)), half_divisor);
}

/* y and its step where x, times 256, is the odd code. */
S0_INLINE int16x8_t odd_of_pixels(int16x8_t y, int16x8_t x, const Products *at, size_t first) {
    const int16x8_t odd = vshlq_n_s16(vldrbq_s16(at->odd_code + first), 8);
    return vaddq_m_s16(y, y, vldrbq_s16(at->odd_step + first), vcmpeqq_s16(x, odd));
}

S0_INLINE int16x8_t times_256(uint16x8_t codes, const S0Bytes *bytes) {
    return vreinterpretq_s16_u16(vaddq_n_u16(vshlq_n_u16(codes, 8), (uint16_t)(bytes->x_flip << 8)));
}

S0_INLINE int16x8_t limit16(int16x8_t y, const S0Bytes *bytes) {
    return vminq_s16(vmaxq_s16(y, vdupq_n_s16(bytes->lo)), vdupq_n_s16(bytes->hi));
}

/* Eight codes. */
S0_INLINE uint16x8_t plane_codes(uint16x8_t codes, const Product *of, int odd) {
    const int16x8_t x = times_256(codes, &of->bytes);
    int16x8_t y = limit16(product_of_plane(x, of), &of->bytes);
    y = odd ? vaddq_m_n_s16(y, y, of->odd_step, vcmpeqq_n_s16(x, of->odd_x)) : y;
    return vreinterpretq_u16_s16(vaddq_n_s16(y, of->bytes.y_flip));
}

S0_INLINE uint16x8_t pixel_codes(uint16x8_t codes, const Products *at, size_t first, int odd) {
    const int16x8_t x = times_256(codes, at->bytes), y = limit16(product_of_pixels(x, at, first), at->bytes);
    return vreinterpretq_u16_s16(vaddq_n_s16(odd ? odd_of_pixels(y, x, at, first) : y, at->bytes->y_flip));
}

S0_INLINE uint16x8_t codes8_at(const uint8_t *x, size_t n, mve_pred16_t mask) {
    return n == S0_BLOCK ? vldrbq_u16(x) : vldrbq_z_u16(x, mask);
}

S0_INLINE void store8(uint8_t *y, size_t n, mve_pred16_t mask, uint16x8_t codes) {
    if (n == S0_BLOCK) {
        vstrbq_u16(y, codes);
    } else {
        vstrbq_p_u16(y, codes, mask);
    }
}

S0_INLINE mve_pred16_t mask8(size_t n, size_t k) {
    return vctp16q(n > k ? (uint32_t)(n - k) : 0);
}

S0_INLINE void pixels_any(const uint8_t *x, uint8_t *y, size_t n, const Products *at, size_t first, int odd) {
    for (size_t k = 0; k < S0_BLOCK; k += 8) {
        const mve_pred16_t mask = mask8(n, k);
        store8(y + k, n, mask, pixel_codes(codes8_at(x + k, n, mask), at, first + k, odd));
    }
}

S0_INLINE void plane_any(const uint8_t *x, uint8_t *y, size_t n, const Product *of, int odd) {
    for (size_t k = 0; k < S0_BLOCK; k += 8) {
        const mve_pred16_t mask = mask8(n, k);
        store8(y + k, n, mask, plane_codes(codes8_at(x + k, n, mask), of, odd));
    }
}

S0_INLINE void pixels_product(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    pixels_any(x, y, n, (const Products *)arrays, first, 0);
}

S0_INLINE void pixels_odd(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    pixels_any(x, y, n, (const Products *)arrays, first, 1);
}

S0_INLINE void plane_product(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    (void)first;
    plane_any(x, y, n, (const Product *)of, 0);
}

S0_INLINE void plane_odd(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    (void)first;
    plane_any(x, y, n, (const Product *)of, 1);
}

S0_INLINE Product product_of(const S0Products8 *products, int odd) {
    return (Product){.multiplier = products->multiplier[0],
                     .addend = products->addend[0],
                     .half_divisor = (int16_t)(products->divisor[0] / 2),
                     .odd_x = (int16_t)(odd ? products->odd_code[0] * 256 : 0),
                     .odd_step = odd ? products->odd_step[0] : 0,
                     .bytes = products->bytes};
}

S0_INLINE Products arrays_of(const S0Products8 *products, const S0Bytes *bytes) {
    return (Products){products->multiplier, products->addend,   products->divisor,
                      products->odd_code,   products->odd_step, bytes};
}

S0_INLINE void run_products(const S0Rows *rows, const S0Products8 *products, S0Form form, int odd) {
    const S0Bytes bytes = products->bytes;
    const Product one = product_of(products, odd);
    const Products whole = arrays_of(products, &bytes);
    S0ProductSeam copies;
    form.channels = products->channels;
    form.element_bytes = 1;
    if (form.channels == 1) {
        form.whole = &one;
        s0_rows_helium(rows, &form);
        return;
    }
    const S0Products8 around = s0_products_seam(&copies, products, odd);
    const Products seam = arrays_of(&around, &bytes);
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_helium(rows, &form);
}

void s0_product8_helium(const S0Rows *rows, const S0Products8 *products) {
    if (s0_has_odd(products)) {
        run_products(rows, products, (S0Form){.pixels = pixels_odd, .plane = plane_odd}, 1);
    } else {
        run_products(rows, products, (S0Form){.pixels = pixels_product, .plane = plane_product}, 0);
    }
}

void s0_product8_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    s0_each_plane8(first, plane_bytes, products, s0_product8_helium);
}

typedef struct {
    const float *scale, *bias;
    const S0Bytes *bytes;
} Rounds;

/* Codes become the highest bytes of integers with 24 bits of a fraction. */
S0_INLINE float32x4_t real4_at(const uint8_t *x, size_t n, size_t k, const S0Bytes *bytes) {
    const uint32x4_t codes = n == S0_BLOCK ? vldrbq_u32(x + 4 * k) : vldrbq_z_u32(x + 4 * k, s0_quad_mask(n, k));
    const uint32x4_t high = vaddq_n_u32(vshlq_n_u32(codes, 24), (uint32_t)bytes->x_flip << 24);
    return vcvtq_n_f32_s32(vreinterpretq_s32_u32(high), 24);
}

S0_INLINE void store4(uint8_t *y, size_t n, size_t k, const S0Bytes *bytes, float32x4_t real) {
    const int32x4_t rounded = vmaxq_s32(vcvtnq_s32_f32(real), vdupq_n_s32(bytes->lo));
    const int32x4_t codes = vaddq_n_s32(vminq_s32(rounded, vdupq_n_s32(bytes->hi)), bytes->y_flip);
    if (n == S0_BLOCK) {
        vstrbq_u32(y + 4 * k, vreinterpretq_u32_s32(codes));
    } else {
        vstrbq_p_u32(y + 4 * k, vreinterpretq_u32_s32(codes), s0_quad_mask(n, k));
    }
}

/* That vectors take subnormal numbers as 0 changes no result here: a product that is 0 instead of less than 2^-118
 * changes a sum of less than 2^-89 only, and such sums are 0 when rounded; so are subnormal sums. */
S0_INLINE void pixels_round(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    const Rounds *at = (const Rounds *)arrays;
    for (size_t k = 0; k < S0_QUADS; k++) {
        const float32x4_t scale = vldrwq_f32(at->scale + first + 4 * k), bias = vldrwq_f32(at->bias + first + 4 * k);
        store4(y, n, k, at->bytes, vaddq_f32(vmulq_f32(real4_at(x, n, k, at->bytes), scale), bias));
    }
}

S0_INLINE void plane_round(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    const Rounds *at = (const Rounds *)arrays;
    const float scale = at->scale[first], bias = at->bias[first];
    for (size_t k = 0; k < S0_QUADS; k++) {
        store4(y, n, k, at->bytes, vaddq_n_f32(vmulq_n_f32(real4_at(x, n, k, at->bytes), scale), bias));
    }
}

void s0_round8_helium(const S0Rows *rows, const S0Rounds8 *rounds) {
    const S0Bytes bytes = rounds->bytes;
    const size_t channels = rounds->channels;
    const Rounds whole = {rounds->scale, rounds->bias, &bytes};
    float scale[S0_SEAM], bias[S0_SEAM];
    const Rounds seam = {(const float *)s0_seam_of(scale, rounds->scale, channels, sizeof(float)),
                         (const float *)s0_seam_of(bias, rounds->bias, channels, sizeof(float)), &bytes};
    s0_rows_helium(rows, &(S0Form){.pixels = pixels_round,
                                   .plane = plane_round,
                                   .whole = &whole,
                                   .seam = &seam,
                                   .channels = channels,
                                   .element_bytes = 1});
}
#endif
