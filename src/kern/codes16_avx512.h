/* How the kernels of 16-bit codes go over a matrix with AVX-512, 32 codes at a time, and how they are computed with
 * nothing left out; for the files *16_avx512.c.
 *
 * A kernel is what becomes of 32 codes. Its parameters are made ready before: those of one channel once; channel last,
 * those of a tile of columns, in the order that codes are widened in, for groups of rows that share what is loaded of
 * them. Divisions, and matrices of few rows, are not worth that: parameters are read where they lie, row by row. */
#ifndef S0_KERN_CODES16_AVX512_H
#define S0_KERN_CODES16_AVX512_H

#if defined(__x86_64__)
#include "kern/codes16.h"
#include "kern/rows_avx512.h"

enum { S0_LANES16 = 32 };

/* What becomes of 32 codes, the first of which is of `column`; of lanes that the mask leaves out there is neither a
 * code nor a parameter. `steps` is a constant of the caller. */
typedef __m512i (*S0Compute16)(__m512i x, const void *parameters, size_t column, __mmask32 mask, int steps);

/* ---- Row by row */

S0_INLINE void s0_store16(char *y, __m512i codes, int streams) {
    if (streams) {
        _mm512_stream_si512((__m512i *)(void *)y, codes);
    } else {
        _mm512_storeu_si512(y, codes);
    }
}

/* Codes before the first whole line of y, of n. Short rows cross lines. */
S0_INLINE size_t s0_lead16(const char *y, size_t n, int streams) {
    const size_t bytes = -(uintptr_t)y % S0_LINE_BYTES, lead = bytes / sizeof(int16_t);
    const size_t least = streams ? S0_LANES16 : 16 * S0_LANES16;
    return n < least || bytes % sizeof(int16_t) != 0 ? 0 : lead;
}

/* Codes that lie one after the other. */
typedef struct {
    const char *x;
    char *y;
    size_t n;
} S0Span16;

/* n codes from code i of a span on, fewer than a vector has. */
S0_INLINE void s0_walk_few16(S0Span16 span, size_t i, size_t n, S0Compute16 compute, const void *parameters,
                             int steps) {
    const __mmask32 mask = s0_first_of_32(n);
    const __m512i codes = _mm512_maskz_loadu_epi16(mask, span.x + i * sizeof(int16_t));
    _mm512_mask_storeu_epi16(span.y + i * sizeof(int16_t), mask, compute(codes, parameters, i, mask, steps));
}

/* Of columns from 0 on. Who wants stores past the caches fences them. */
S0_INLINE void s0_walk16(S0Span16 span, int streams, S0Compute16 compute, const void *parameters, int steps) {
    size_t i = s0_lead16(span.y, span.n, streams);
    const int past = streams && (uintptr_t)(span.y + i * sizeof(int16_t)) % S0_LINE_BYTES == 0;
    if (i > 0) {
        s0_walk_few16(span, 0, i, compute, parameters, steps);
    }
    for (; i + S0_LANES16 <= span.n; i += S0_LANES16) {
        const __m512i codes = _mm512_loadu_si512(span.x + i * sizeof(int16_t));
        s0_store16(span.y + i * sizeof(int16_t), compute(codes, parameters, i, ~(__mmask32)0, steps), past);
    }
    if (i < span.n) {
        s0_walk_few16(span, i, span.n - i, compute, parameters, steps);
    }
}

S0_INLINE void s0_walk_rows16(S0Rows left, S0Compute16 compute, const void *parameters, int steps) {
    for (; left.rows > 0; s0_rows_step(&left)) {
        const S0Span16 span = {(const char *)left.x, (char *)left.y, left.columns};
        s0_walk16(span, left.streams, compute, parameters, steps);
    }
}

/* ---- Channel last: rows in groups that share what is loaded of parameters */

enum { S0_GROUP16 = 4 };

/* What becomes of the codes of `count` rows, a constant, the first of which are of `column`. */
typedef void (*S0Group16)(__m512i *codes, size_t count, const void *tile, size_t column, int steps);

/* Of each of `count` rows the columns from c on that the mask has; the other codes are 0. */
S0_INLINE void s0_load_group16(const S0Rows *rows, size_t c, __mmask32 mask, __m512i *codes, size_t count) {
    const char *x = (const char *)rows->x + c * sizeof(int16_t);
    size_t k;
#pragma GCC unroll 4
    for (k = 0; k < count; k++) {
        codes[k] = _mm512_maskz_loadu_epi16(mask, x + k * rows->x_pitch_bytes);
    }
}

S0_INLINE void s0_walk_group16(const S0Rows *rows, size_t count, S0Group16 compute, const void *tile, int steps) {
    __m512i codes[S0_GROUP16];
    char *y = (char *)rows->y;
    size_t c = 0, k;
    for (; c + S0_LANES16 <= rows->columns; c += S0_LANES16) {
        s0_load_group16(rows, c, ~(__mmask32)0, codes, count);
        compute(codes, count, tile, c, steps);
#pragma GCC unroll 4
        for (k = 0; k < count; k++) {
            s0_store16(y + c * sizeof(int16_t) + k * rows->y_pitch_bytes, codes[k], rows->streams);
        }
    }
    if (c < rows->columns) {
        const __mmask32 mask = s0_first_of_32(rows->columns - c);
        s0_load_group16(rows, c, mask, codes, count);
        compute(codes, count, tile, c, steps);
#pragma GCC unroll 4
        for (k = 0; k < count; k++) {
            _mm512_mask_storeu_epi16(y + c * sizeof(int16_t) + k * rows->y_pitch_bytes, mask, codes[k]);
        }
    }
}

S0_INLINE void s0_walk_tile16(S0Rows left, S0Group16 compute, const void *tile, int steps) {
    left.streams = left.streams && ((uintptr_t)left.y | left.y_pitch_bytes) % S0_LINE_BYTES == 0;
    for (; left.rows >= S0_GROUP16; left.rows -= S0_GROUP16) {
        s0_walk_group16(&left, S0_GROUP16, compute, tile, steps);
        left.x = (const char *)left.x + S0_GROUP16 * left.x_pitch_bytes;
        left.y = (char *)left.y + S0_GROUP16 * left.y_pitch_bytes;
    }
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk_group16(&left, 1, compute, tile, steps);
    }
    if (left.streams) {
        _mm_sfence();
    }
}

/* Columns [first, first + count). */
static inline S0Rows s0_columns16(const S0Rows *rows, size_t first, size_t count) {
    S0Rows part = *rows;
    part.x = (const char *)rows->x + first * sizeof(int16_t);
    part.y = (char *)rows->y + first * sizeof(int16_t);
    part.columns = count;
    return part;
}

/* ---- From 32 bits to 16 */

/* Steps that parameters allow to leave out. */
enum {
    S0_CODED16 = 1,    /* a zero point, or limits within those of int16 */
    S0_QUOTIENT16 = 2, /* a divisor */
};

typedef struct {
    __m512i zero, lo, hi;
} S0Limits16;

S0_INLINE S0Limits16 s0_limits16(S0Codes codes) {
    const S0Limits16 limits = {_mm512_set1_epi32(codes.zero_point), _mm512_set1_epi16((int16_t)codes.lo),
                               _mm512_set1_epi16((int16_t)codes.hi)};
    return limits;
}

/* Of each eight codes the first four are in `low`, the others in `high`. The zero point is added before codes are
 * limited to 16 bits. */
S0_INLINE __m512i s0_pack16(__m512i low, __m512i high, const S0Limits16 *limits, int steps) {
    if (steps & S0_CODED16) {
        low = _mm512_add_epi32(low, limits->zero);
        high = _mm512_add_epi32(high, limits->zero);
    }
    const __m512i codes = _mm512_packs_epi32(low, high);
    return steps & S0_CODED16 ? _mm512_min_epi16(_mm512_max_epi16(codes, limits->lo), limits->hi) : codes;
}

/* ---- Nothing left out, for all parameters whose zero point is near */

/* Of 16 codes. */
typedef struct {
    __m512 weight, offset, scale, bias, divisor;
} S0Factors16;

/* Limits of 2^30 change no result: what is beyond saturates. */
S0_INLINE __m512i s0_exact_codes16(__m256i x, S0Factors16 f, int steps) {
    __m512 real = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(x)), f.weight);
    real = _mm512_add_ps(real, f.offset);
    real = _mm512_add_ps(_mm512_mul_ps(real, f.scale), f.bias);
    if (steps & S0_QUOTIENT16) {
        real = _mm512_div_ps(real, f.divisor);
    }
    real = _mm512_min_ps(real, _mm512_set1_ps(0x1p30F));
    if (steps & S0_CODED16) { /* else INT32_MIN, for what is below, is as good */
        real = _mm512_max_ps(real, _mm512_set1_ps(-0x1p30F));
    }
    return _mm512_cvtps_epi32(real);
}

/* The parameters of the codes 0 to 15 and of those from 16 on. */
S0_INLINE __m512i s0_exact_pair16(__m512i x, S0Factors16 first, S0Factors16 second, const S0Limits16 *limits,
                                  int steps) {
    const __m512i a = s0_exact_codes16(_mm512_castsi512_si256(x), first, steps);
    const __m512i b = s0_exact_codes16(_mm512_extracti64x4_epi64(x, 1), second, steps);
    const __m512i codes = s0_pack16(a, b, limits, steps);
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), codes);
}

typedef struct {
    S0Reals16 reals;
    const float *divisor; /* where there is one */
    S0Factors16 factors;  /* of the one channel */
    S0Limits16 limits;
} S0Exact16;

/* Masking takes an operation of its own, which not every compiler leaves out by itself. */
S0_INLINE __m512 s0_numbers16(const float *from, __mmask16 mask) {
    return mask == 0xFFFF ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(mask, from);
}

S0_INLINE S0Factors16 s0_factors16(const S0Exact16 *exact, size_t c, __mmask16 mask, int steps) {
    const S0Reals16 *reals = &exact->reals;
    const S0Factors16 factors = {s0_numbers16(reals->weight + c, mask), s0_numbers16(reals->offset + c, mask),
                                 s0_numbers16(reals->scale + c, mask), s0_numbers16(reals->bias + c, mask),
                                 steps & S0_QUOTIENT16 ? s0_numbers16(exact->divisor + c, mask) : _mm512_setzero_ps()};
    return factors;
}

S0_INLINE __m512i s0_exact_columns16(__m512i x, const void *parameters, size_t column, __mmask32 mask, int steps) {
    const S0Exact16 *exact = (const S0Exact16 *)parameters;
    const S0Factors16 first = s0_factors16(exact, column, (__mmask16)mask, steps);
    const __mmask16 upper = (__mmask16)(mask >> 16);
    const S0Factors16 second = s0_factors16(exact, column + s0_upper(upper, 16), upper, steps);
    return s0_exact_pair16(x, first, second, &exact->limits, steps);
}

S0_INLINE __m512i s0_exact_plane16(__m512i x, const void *parameters, size_t column, __mmask32 mask, int steps) {
    const S0Exact16 *exact = (const S0Exact16 *)parameters;
    (void)column;
    (void)mask;
    return s0_exact_pair16(x, exact->factors, exact->factors, &exact->limits, steps);
}

S0_INLINE S0Factors16 s0_splat16(const S0Reals16 *reals, float divisor) {
    const S0Factors16 factors = {_mm512_set1_ps(reals->weight[0]), _mm512_set1_ps(reals->offset[0]),
                                 _mm512_set1_ps(reals->scale[0]), _mm512_set1_ps(reals->bias[0]),
                                 _mm512_set1_ps(divisor)};
    return factors;
}

S0_INLINE void s0_exact_as16(const S0Rows *rows, const S0Reals16 *reals, const float *divisor, int steps) {
    S0Exact16 exact;
    exact.reals = *reals;
    exact.divisor = divisor;
    exact.limits = s0_limits16(reals->codes);
    if (reals->channels == 1) {
        exact.factors = s0_splat16(reals, steps & S0_QUOTIENT16 ? divisor[0] : 1);
        s0_walk_rows16(s0_rows_joined(rows, rows->columns * sizeof(int16_t)), s0_exact_plane16, &exact, steps);
    } else {
        s0_walk_rows16(*rows, s0_exact_columns16, &exact, steps);
    }
}

/* `steps`: QUOTIENT16 or none. */
S0_INLINE void s0_exact16(const S0Rows *rows, const S0Reals16 *reals, const float *divisor, int steps) {
    if (s0_is_plain16(reals->codes)) {
        s0_exact_as16(rows, reals, divisor, steps);
    } else {
        s0_exact_as16(rows, reals, divisor, steps | S0_CODED16);
    }
    if (rows->streams) {
        _mm_sfence();
    }
}

#endif
#endif
