/* y = x * scale + bias with parameters by channel: the kernels, a table of them for each kind of processor.
 *
 * A kernel goes over rows of a matrix. The element of column c takes the parameters number c, or number 0 where there
 * is one channel only:
 *
 *     channels == columns   channel last: a row is one pixel (rows that lie one after the other are read as one stream)
 *     channels == 1         channel first: the matrix is a plane, or a part of it
 *
 * Parameters are read as they are, `channels` of each and nothing behind them. Reals in x and y are aligned to their
 * elements and no more, codes not even so; x and y are the same matrix, with the same pitch, or have no byte in common.
 * What lies between rows is neither read nor written. Every table computes the same, bit for bit; only which NaN a NaN
 * is, is open. Nothing here can fail, allocates or checks: who prepares the parameters does. */
#ifndef S0_KERN_AFFINE_H
#define S0_KERN_AFFINE_H

#include "kern/fixed.h"

#include <stddef.h>

typedef struct {
    const void *x;
    void *y;
    size_t rows, columns;                /* elements */
    size_t x_pitch_bytes, y_pitch_bytes; /* from a row to the next */
    int streams; /* 1: y is larger than the caches and not read soon, so stores may go past them */
} S0Rows;

/* Reals. y = x * scale, rounded, then + bias, rounded: to float32, or of float16 maps to float16 each time. The
 * parameters of float16 maps are float16 numbers kept in floats. */
typedef struct {
    size_t channels;
    const float *scale, *bias;
} S0Floats;

/* What all channels of codes of 8 bits share. Codes of uint8 count from 128: `x_flip`, `y_flip` are 0x80 for uint8, 0
 * for int8, and the operations below see code ^ flip as an int8. */
typedef struct {
    uint8_t x_flip, y_flip;
    int8_t lo, hi; /* lo <= hi */
} S0Bytes;

/* Codes of 8 bits by a product of 16:
 *     h = ((x * 256) * multiplier + 2^14) >> 15                       in 16 bits
 *     y = limit(limit16(h + addend) * divisor >> 16, lo, hi)          rounded down
 *     y = y + odd_step where x == odd_code                            modulo 256, where the two are given
 * multiplier -32767 to 32767, divisor a power of 2 from 2^8 to 2^14: a shift by 8 to 2. */
typedef struct {
    size_t channels;
    const int16_t *multiplier, *addend, *divisor;
    const int8_t *odd_code, *odd_step; /* both or none (null) */
    S0Bytes bytes;
} S0Products8;

/* Codes of 8 bits by float32: y = limit(round(x * scale + bias), lo, hi), product and sum rounded each, then to the
 * nearest, ties to even. |x * scale + bias| < 2^22. */
typedef struct {
    size_t channels;
    const float *scale, *bias;
    S0Bytes bytes;
} S0Rounds8;

/* Any function of a code: y = table[256 * channel + x], x read as unsigned. */
typedef struct {
    size_t channels;
    const uint8_t *table;
} S0Tables8;

/* Packed codes of 4 bits, the first of a byte in its low half; a row begins with a byte, and the half that an odd row
 * leaves over is kept as it is in y. y = table[16 * channel + x], 0 to 15. */
typedef struct {
    size_t channels;
    const uint8_t *table;
} S0Tables4;

/* Codes of 16 bits (int16) by float32, each operation rounded:
 *     y = limit(round((x * weight + offset) * scale + bias) + zero_point, lo, hi), ties to even
 * All finite. */
typedef struct {
    size_t channels;
    const float *weight, *offset, *scale, *bias;
    S0Codes codes;
} S0Reals16;

/* The same with a quotient, which is no product where the reciprocal is not exact:
 *     y = limit(round(((x * weight + offset) * scale + bias) / divisor) + zero_point, lo, hi)
 * All finite, no divisor 0. */
typedef struct {
    S0Reals16 reals;
    const float *divisor;
} S0Quotients16;

/* Codes of 16 bits (int16) in fixed point: y = s0_requantise(x * weight + offset, factor, rounding, codes); the
 * accumulator fits 32 bits. */
typedef struct {
    size_t channels;
    const int32_t *weight, *offset;
    const S0Multiplier *factor;
    S0Rounding rounding; /* DOUBLE, SINGLE or CMSIS */
    S0Codes codes;
} S0Fixed16;

typedef struct {
    const char *name;    /* "portable", "avx2", "avx512", "neon", "helium" */
    size_t vector_bytes; /* of x: channel last, rows that end where one ends go fastest; 0: any rows that touch do */
    int table8_is_fast;  /* of one channel: faster than round8 */
    void (*f32)(const S0Rows *rows, const S0Floats *floats);
    void (*f16)(const S0Rows *rows, const S0Floats *floats);
    void (*product8)(const S0Rows *rows, const S0Products8 *products);
    void (*round8)(const S0Rows *rows, const S0Rounds8 *rounds);
    void (*table8)(const S0Rows *rows, const S0Tables8 *tables);
    void (*table4)(const S0Rows *rows, const S0Tables4 *tables);
    void (*real16)(const S0Rows *rows, const S0Reals16 *reals);
    void (*quotient16)(const S0Rows *rows, const S0Quotients16 *quotients);
    void (*fixed16)(const S0Rows *rows, const S0Fixed16 *fixed);
    /* Channel first, many short planes: matrix number c, c * plane_bytes behind the first, takes the parameters number
     * c, for each of `channels`. */
    void (*f32_planes)(const S0Rows *first, size_t plane_bytes, const S0Floats *floats);
    void (*product8_planes)(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
    void (*real16_planes)(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals);
} S0Kernels;

extern const S0Kernels s0_kernels_portable;

/* For processors that have the instructions; ask native/variant.h which this one has. */
#if defined(__x86_64__)
extern const S0Kernels s0_kernels_avx2;   /* AVX2, F16C */
extern const S0Kernels s0_kernels_avx512; /* the same, and AVX-512 F, BW, DQ, VL, VBMI, BMI2 */
#endif
#if defined(__aarch64__)
extern const S0Kernels s0_kernels_neon;
#endif
#if defined(__ARM_FEATURE_MVE)
extern const S0Kernels s0_kernels_helium; /* with vectors of floats */
#endif

#endif
