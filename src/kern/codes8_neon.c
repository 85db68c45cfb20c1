/* Codes of 8 and 4 bits by channel with NEON. See codes8.h. */
#include "kern/codes8.h"

#if defined(__aarch64__)
#include "kern/rows_neon.h"

enum { LANES = 16 };

/* What all channels share. */
typedef struct {
    uint8x16_t x_flip, y_flip;
    int8x16_t lo, hi;
} Shared;

S0_INLINE Shared share(const S0Bytes *bytes) {
    return (Shared){vdupq_n_u8(bytes->x_flip), vdupq_n_u8(bytes->y_flip), vdupq_n_s8(bytes->lo), vdupq_n_s8(bytes->hi)};
}

S0_INLINE int8x16_t limit(int8x16_t y, const Shared *shared) {
    return vminq_s8(vmaxq_s8(y, shared->lo), shared->hi);
}

typedef struct {
    const S0Products8 *of;
    int16_t multiplier[2 * LANES], addend[2 * LANES], divisor[2 * LANES];
    int8_t odd_code[2 * LANES], odd_step[2 * LANES];
    Shared shared;
} Products;

typedef struct {
    int16x8_t multiplier[2], addend[2], half_divisor[2];
    int8x16_t odd_code, odd_step;
    Shared shared;
} ProductLanes;

S0_INLINE int has_odd(const S0Products8 *products) {
    return products->odd_code != 0 && products->odd_step != 0;
}

S0_INLINE void load16s(int16x8_t *to, const S0Wrap *wrap, const int16_t *seam, const int16_t *from, size_t channel) {
    const int16_t *at = (const int16_t *)s0_wrap_at(wrap, seam, from, sizeof(int16_t), channel);
    to[0] = vld1q_s16(at);
    to[1] = vld1q_s16(at + 8);
}

S0_INLINE void load_product(void *to, const void *parameters, const S0Wrap *wrap, size_t channel) {
    ProductLanes *lanes = (ProductLanes *)to;
    const Products *from = (const Products *)parameters;
    load16s(lanes->multiplier, wrap, from->multiplier, from->of->multiplier, channel);
    load16s(lanes->addend, wrap, from->addend, from->of->addend, channel);
    load16s(lanes->half_divisor, wrap, from->divisor, from->of->divisor, channel);
    lanes->half_divisor[0] = vshrq_n_s16(lanes->half_divisor[0], 1);
    lanes->half_divisor[1] = vshrq_n_s16(lanes->half_divisor[1], 1);
    lanes->shared = from->shared;
}

S0_INLINE void load_odd(void *to, const void *parameters, const S0Wrap *wrap, size_t channel) {
    ProductLanes *lanes = (ProductLanes *)to;
    const Products *from = (const Products *)parameters;
    load_product(to, parameters, wrap, channel);
    lanes->odd_code = vld1q_s8((const int8_t *)s0_wrap_at(wrap, from->odd_code, from->of->odd_code, 1, channel));
    lanes->odd_step = vld1q_s8((const int8_t *)s0_wrap_at(wrap, from->odd_step, from->of->odd_step, 1, channel));
}

/* x: codes times 256. Both products are doubled and their upper halves taken: the first one rounded, as (2ab + 2^15) >>
 * 16 is (ab + 2^14) >> 15; the second one by half the divisor. Neither saturates. */
S0_INLINE int8x8_t product8(int8x16_t x, const ProductLanes *lanes, int k) {
    const int16x8_t high = vqrdmulhq_s16(vreinterpretq_s16_s8(x), lanes->multiplier[k]);
    return vqmovn_s16(vqdmulhq_s16(vqaddq_s16(high, lanes->addend[k]), lanes->half_divisor[k]));
}

S0_INLINE int8x16_t product16(int8x16_t x, const ProductLanes *lanes) {
    const int8x16_t zero = vdupq_n_s8(0);
    return limit(vcombine_s8(product8(vzip1q_s8(zero, x), lanes, 0), product8(vzip2q_s8(zero, x), lanes, 1)),
                 &lanes->shared);
}

S0_INLINE uint8x16_t apply_product(uint8x16_t codes, const void *of) {
    const ProductLanes *lanes = (const ProductLanes *)of;
    const int8x16_t y = product16(vreinterpretq_s8_u8(veorq_u8(codes, lanes->shared.x_flip)), lanes);
    return veorq_u8(vreinterpretq_u8_s8(y), lanes->shared.y_flip);
}

S0_INLINE uint8x16_t apply_odd(uint8x16_t codes, const void *of) {
    const ProductLanes *lanes = (const ProductLanes *)of;
    const int8x16_t x = vreinterpretq_s8_u8(veorq_u8(codes, lanes->shared.x_flip));
    const uint8x16_t step = vandq_u8(vceqq_s8(x, lanes->odd_code), vreinterpretq_u8_s8(lanes->odd_step));
    return veorq_u8(vaddq_u8(vreinterpretq_u8_s8(product16(x, lanes)), step), lanes->shared.y_flip);
}

S0_INLINE void fill_products(Products *parameters, const S0Wrap *wrap, const S0Products8 *products) {
    parameters->of = products;
    parameters->shared = share(&products->bytes);
    s0_wrap_fill(wrap, parameters->multiplier, products->multiplier, sizeof(int16_t));
    s0_wrap_fill(wrap, parameters->addend, products->addend, sizeof(int16_t));
    s0_wrap_fill(wrap, parameters->divisor, products->divisor, sizeof(int16_t));
    if (has_odd(products)) {
        s0_wrap_fill(wrap, parameters->odd_code, products->odd_code, 1);
        s0_wrap_fill(wrap, parameters->odd_step, products->odd_step, 1);
    }
}

void s0_product8_neon(const S0Rows *rows, const S0Products8 *products) {
    if (!s0_has_vectors(rows, 1)) {
        s0_product8_portable(rows, products);
        return;
    }
    const S0Wrap wrap = s0_wrap(products->channels, LANES);
    Products parameters;
    ProductLanes lanes;
    fill_products(&parameters, &wrap, products);
    if (has_odd(products)) {
        s0_rows_neon(rows, &wrap, &(S0FormNeon){load_odd, apply_odd, &lanes, &parameters});
    } else {
        s0_rows_neon(rows, &wrap, &(S0FormNeon){load_product, apply_product, &lanes, &parameters});
    }
}

typedef struct {
    const S0Rounds8 *of;
    float scale[2 * LANES], bias[2 * LANES];
    Shared shared;
} Rounds;

typedef struct {
    float32x4_t scale[4], bias[4];
    Shared shared;
} RoundLanes;

S0_INLINE void load_round(void *to, const void *parameters, const S0Wrap *wrap, size_t channel) {
    RoundLanes *lanes = (RoundLanes *)to;
    const Rounds *from = (const Rounds *)parameters;
    const float *scale = (const float *)s0_wrap_at(wrap, from->scale, from->of->scale, sizeof(float), channel);
    const float *bias = (const float *)s0_wrap_at(wrap, from->bias, from->of->bias, sizeof(float), channel);
    for (int k = 0; k < 4; k++) {
        lanes->scale[k] = vld1q_f32(scale + 4 * k);
        lanes->bias[k] = vld1q_f32(bias + 4 * k);
    }
    lanes->shared = from->shared;
}

S0_INLINE int16x4_t round4(int16x4_t x, const RoundLanes *lanes, int k) {
    const float32x4_t product = vmulq_f32(vcvtq_f32_s32(vmovl_s16(x)), lanes->scale[k]);
    return vqmovn_s32(vcvtnq_s32_f32(vaddq_f32(product, lanes->bias[k])));
}

S0_INLINE int8x8_t round8(int8x8_t x, const RoundLanes *lanes, int k) {
    const int16x8_t wide = vmovl_s8(x);
    const int16x4_t low = round4(vget_low_s16(wide), lanes, k), high = round4(vget_high_s16(wide), lanes, k + 1);
    return vqmovn_s16(vcombine_s16(low, high));
}

S0_INLINE uint8x16_t apply_round(uint8x16_t codes, const void *of) {
    const RoundLanes *lanes = (const RoundLanes *)of;
    const int8x16_t x = vreinterpretq_s8_u8(veorq_u8(codes, lanes->shared.x_flip));
    const int8x8_t low = round8(vget_low_s8(x), lanes, 0), high = round8(vget_high_s8(x), lanes, 2);
    const int8x16_t y = limit(vcombine_s8(low, high), &lanes->shared);
    return veorq_u8(vreinterpretq_u8_s8(y), lanes->shared.y_flip);
}

void s0_round8_neon(const S0Rows *rows, const S0Rounds8 *rounds) {
    if (!s0_has_vectors(rows, 1)) {
        s0_round8_portable(rows, rounds);
        return;
    }
    const S0Wrap wrap = s0_wrap(rounds->channels, LANES);
    Rounds parameters = {.of = rounds, .shared = share(&rounds->bytes)};
    RoundLanes lanes;
    s0_wrap_fill(&wrap, parameters.scale, rounds->scale, sizeof(float));
    s0_wrap_fill(&wrap, parameters.bias, rounds->bias, sizeof(float));
    s0_rows_neon(rows, &wrap, &(S0FormNeon){load_round, apply_round, &lanes, &parameters});
}

/* Both codes of a byte are looked up in registers. The table is the lanes. */
S0_INLINE void load_table(void *to, const void *parameters, const S0Wrap *wrap, size_t channel) {
    (void)wrap;
    (void)channel;
    *(uint8x16_t *)to = vld1q_u8((const uint8_t *)parameters);
}

S0_INLINE uint8x16_t apply_table(uint8x16_t codes, const void *of) {
    const uint8x16_t table = *(const uint8x16_t *)of;
    const uint8x16_t low = vqtbl1q_u8(table, vandq_u8(codes, vdupq_n_u8(15)));
    const uint8x16_t high = vqtbl1q_u8(table, vshrq_n_u8(codes, 4));
    return vsliq_n_u8(low, high, 4);
}

/* One channel, where rows end with a byte: the matrix is one of bytes then. */
void s0_table4_neon(const S0Rows *rows, const S0Tables4 *tables) {
    S0Rows bytes = *rows;
    bytes.columns = rows->columns / 2;
    if (tables->channels != 1 || rows->columns % 2 != 0 || !s0_has_vectors(&bytes, 1)) {
        s0_table4_portable(rows, tables);
        return;
    }
    const S0Wrap wrap = s0_wrap(1, LANES);
    uint8x16_t lanes;
    s0_rows_neon(&bytes, &wrap, &(S0FormNeon){load_table, apply_table, &lanes, tables->table});
}
#endif
