/* Codes of 8 and 4 bits by channel with NEON. See codes8.h. */
#include "kern/codes8.h"

#if defined(__aarch64__)
#include "kern/codes8_blocks.h"
#include "kern/rows_neon.h"

/* What all channels share. */
typedef struct {
    uint8x16_t x_flip, y_flip;
    int8x16_t lo, hi;
} Shared;

S0_INLINE Shared share(const S0Bytes *bytes) {
    return (Shared){vdupq_n_u8(bytes->x_flip), vdupq_n_u8(bytes->y_flip), vdupq_n_s8(bytes->lo), vdupq_n_s8(bytes->hi)};
}

S0_INLINE int8x16_t codes_at(const uint8_t *x, const Shared *shared) {
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(x), shared->x_flip));
}

S0_INLINE uint8x16_t limit(int8x8_t low, int8x8_t high, const Shared *shared) {
    return vreinterpretq_u8_s8(vminq_s8(vmaxq_s8(vcombine_s8(low, high), shared->lo), shared->hi));
}

typedef struct {
    const int16_t *multiplier, *addend, *divisor;
    const int8_t *odd_code, *odd_step;
    const Shared *shared;
} Products;

typedef struct {
    int16x8_t multiplier[2], addend[2], half_divisor[2];
    int8x16_t odd_code, odd_step; /* where they are given */
    Shared shared;
} ProductLanes;

S0_INLINE ProductLanes product_lanes_at(const void *arrays, size_t first, int odd) {
    const Products *at = (const Products *)arrays;
    ProductLanes lanes;
    for (int k = 0; k < 2; k++, first += 8) {
        lanes.multiplier[k] = vld1q_s16(at->multiplier + first);
        lanes.addend[k] = vld1q_s16(at->addend + first);
        lanes.half_divisor[k] = vshrq_n_s16(vld1q_s16(at->divisor + first), 1);
    }
    lanes.odd_code = odd ? vld1q_s8(at->odd_code + first - S0_BLOCK) : vdupq_n_s8(0);
    lanes.odd_step = odd ? vld1q_s8(at->odd_step + first - S0_BLOCK) : vdupq_n_s8(0);
    lanes.shared = *at->shared;
    return lanes;
}

S0_INLINE ProductLanes product_lanes(const S0Products8 *of, const Shared *shared, int odd) {
    const int16x8_t multiplier = vdupq_n_s16(of->multiplier[0]), addend = vdupq_n_s16(of->addend[0]);
    const int16x8_t half_divisor = vdupq_n_s16((int16_t)(of->divisor[0] / 2));
    return (ProductLanes){.multiplier = {multiplier, multiplier},
                          .addend = {addend, addend},
                          .half_divisor = {half_divisor, half_divisor},
                          .odd_code = vdupq_n_s8(odd ? of->odd_code[0] : 0),
                          .odd_step = vdupq_n_s8(odd ? of->odd_step[0] : 0),
                          .shared = *shared};
}

/* x: codes times 256. Both products are doubled and their upper halves taken: the first one rounded, as (2ab + 2^15) >>
 * 16 is (ab + 2^14) >> 15; the second one by half the divisor. Neither saturates. */
S0_INLINE int8x8_t product(int8x16_t x, const ProductLanes *lanes, int k) {
    const int16x8_t high = vqrdmulhq_s16(vreinterpretq_s16_s8(x), lanes->multiplier[k]);
    return vqmovn_s16(vqdmulhq_s16(vqaddq_s16(high, lanes->addend[k]), lanes->half_divisor[k]));
}

/* Bytes of zero below those of x: x times 256. */
S0_INLINE void store_products(const uint8_t *from, uint8_t *to, const ProductLanes *lanes, int odd) {
    const int8x16_t x = codes_at(from, &lanes->shared), zero = vdupq_n_s8(0);
    const int8x8_t low = product(vzip1q_s8(zero, x), lanes, 0), high = product(vzip2q_s8(zero, x), lanes, 1);
    uint8x16_t y = limit(low, high, &lanes->shared);
    if (odd) {
        y = vaddq_u8(y, vandq_u8(vceqq_s8(x, lanes->odd_code), vreinterpretq_u8_s8(lanes->odd_step)));
    }
    vst1q_u8(to, veorq_u8(y, lanes->shared.y_flip));
}

S0_INLINE void pixels_product(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    (void)n;
    const ProductLanes lanes = product_lanes_at(arrays, first, 0);
    store_products(x, y, &lanes, 0);
}

S0_INLINE void pixels_odd(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    (void)n;
    const ProductLanes lanes = product_lanes_at(arrays, first, 1);
    store_products(x, y, &lanes, 1);
}

S0_INLINE void plane_product(const uint8_t *x, uint8_t *y, size_t n, const void *lanes, size_t first) {
    (void)n;
    (void)first;
    store_products(x, y, (const ProductLanes *)lanes, 0);
}

S0_INLINE void plane_odd(const uint8_t *x, uint8_t *y, size_t n, const void *lanes, size_t first) {
    (void)n;
    (void)first;
    store_products(x, y, (const ProductLanes *)lanes, 1);
}

S0_INLINE Products arrays_of(const S0Products8 *products, const Shared *shared) {
    return (Products){products->multiplier, products->addend,   products->divisor,
                      products->odd_code,   products->odd_step, shared};
}

S0_INLINE void run_products(const S0Rows *rows, const S0Products8 *products, S0Form form, int odd) {
    const Shared shared = share(&products->bytes);
    const ProductLanes lanes = product_lanes(products, &shared, odd);
    const Products whole = arrays_of(products, &shared);
    S0ProductSeam copies;
    form.channels = products->channels;
    form.element_bytes = 1;
    if (form.channels == 1) {
        form.whole = &lanes;
        s0_rows_neon(rows, &form);
        return;
    }
    const S0Products8 around = s0_products_seam(&copies, products, odd);
    const Products seam = arrays_of(&around, &shared);
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_neon(rows, &form);
}

void s0_product8_neon(const S0Rows *rows, const S0Products8 *products) {
    if (!s0_has_blocks(rows, 1)) {
        s0_product8_portable(rows, products);
    } else if (s0_has_odd(products)) {
        run_products(rows, products, (S0Form){.pixels = pixels_odd, .plane = plane_odd}, 1);
    } else {
        run_products(rows, products, (S0Form){.pixels = pixels_product, .plane = plane_product}, 0);
    }
}

void s0_product8_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    s0_each_plane8(first, plane_bytes, products, s0_product8_neon);
}

typedef struct {
    const float *scale, *bias;
    const Shared *shared;
} Rounds;

typedef struct {
    float32x4_t scale[4], bias[4];
    Shared shared;
} RoundLanes;

S0_INLINE int16x4_t round4(int16x4_t x, const RoundLanes *lanes, int k) {
    const float32x4_t product = vmulq_f32(vcvtq_f32_s32(vmovl_s16(x)), lanes->scale[k]);
    return vqmovn_s32(vcvtnq_s32_f32(vaddq_f32(product, lanes->bias[k])));
}

S0_INLINE int8x8_t round8(int8x8_t x, const RoundLanes *lanes, int k) {
    const int16x8_t wide = vmovl_s8(x);
    const int16x4_t low = round4(vget_low_s16(wide), lanes, k), high = round4(vget_high_s16(wide), lanes, k + 1);
    return vqmovn_s16(vcombine_s16(low, high));
}

S0_INLINE void store_rounds(const uint8_t *from, uint8_t *to, const RoundLanes *lanes) {
    const int8x16_t x = codes_at(from, &lanes->shared);
    const int8x8_t low = round8(vget_low_s8(x), lanes, 0), high = round8(vget_high_s8(x), lanes, 2);
    vst1q_u8(to, veorq_u8(limit(low, high, &lanes->shared), lanes->shared.y_flip));
}

S0_INLINE void pixels_round(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    const Rounds *at = (const Rounds *)arrays;
    RoundLanes lanes = {.shared = *at->shared};
    for (size_t k = 0; k < n / 4; k++) {
        lanes.scale[k] = vld1q_f32(at->scale + first + 4 * k);
        lanes.bias[k] = vld1q_f32(at->bias + first + 4 * k);
    }
    store_rounds(x, y, &lanes);
}

S0_INLINE void plane_round(const uint8_t *x, uint8_t *y, size_t n, const void *lanes, size_t first) {
    (void)n;
    (void)first;
    store_rounds(x, y, (const RoundLanes *)lanes);
}

S0_INLINE RoundLanes round_lanes(const S0Rounds8 *of, const Shared *shared) {
    const float32x4_t scale = vdupq_n_f32(of->scale[0]), bias = vdupq_n_f32(of->bias[0]);
    return (RoundLanes){.scale = {scale, scale, scale, scale}, .bias = {bias, bias, bias, bias}, .shared = *shared};
}

S0_INLINE void run_rounds(const S0Rows *rows, const S0Rounds8 *rounds) {
    const Shared shared = share(&rounds->bytes);
    const RoundLanes lanes = round_lanes(rounds, &shared);
    const Rounds whole = {rounds->scale, rounds->bias, &shared};
    float scale[S0_SEAM], bias[S0_SEAM];
    S0Form form = {.pixels = pixels_round,
                   .plane = plane_round,
                   .whole = &lanes,
                   .channels = rounds->channels,
                   .element_bytes = 1};
    if (form.channels == 1) {
        s0_rows_neon(rows, &form);
        return;
    }
    const Rounds seam = {(const float *)s0_seam_of(scale, rounds->scale, form.channels, sizeof(float)),
                         (const float *)s0_seam_of(bias, rounds->bias, form.channels, sizeof(float)), &shared};
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_neon(rows, &form);
}

void s0_round8_neon(const S0Rows *rows, const S0Rounds8 *rounds) {
    if (s0_has_blocks(rows, 1)) {
        run_rounds(rows, rounds);
    } else {
        s0_round8_portable(rows, rounds);
    }
}

/* Both codes of a byte are looked up in a register. */
S0_INLINE void plane_table(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    (void)n;
    (void)first;
    const uint8x16_t codes = vld1q_u8(x), table = *(const uint8x16_t *)of;
    const uint8x16_t low = vqtbl1q_u8(table, vandq_u8(codes, vdupq_n_u8(15)));
    const uint8x16_t high = vqtbl1q_u8(table, vshrq_n_u8(codes, 4));
    vst1q_u8(y, vsliq_n_u8(low, high, 4));
}

/* One channel, where rows end with a byte: the matrix is one of bytes then. */
void s0_table4_neon(const S0Rows *rows, const S0Tables4 *tables) {
    S0Rows bytes = *rows;
    bytes.columns = rows->columns / 2;
    if (tables->channels != 1 || rows->columns % 2 != 0 || !s0_has_blocks(&bytes, 1)) {
        s0_table4_portable(rows, tables);
        return;
    }
    const uint8x16_t table = vld1q_u8(tables->table);
    s0_rows_neon(
        &bytes,
        &(S0Form){.pixels = plane_table, .plane = plane_table, .whole = &table, .channels = 1, .element_bytes = 1});
}
#endif
