/* Walking codes of 16 bits with AVX2, 16 at a time. For the files *16_avx2.c only.
 *
 * A row of n codes ends as kern/rows.h has it: its last vector is read first and written last. So does its first one
 * where stores must begin at a multiple of 32 bytes. */
#ifndef S0_KERN_CODES16_AVX2_H
#define S0_KERN_CODES16_AVX2_H

#if defined(__x86_64__)
#include "kern/rows_avx2.h"

enum { S0_LANES16 = 16 };

/* Codes that lie one after the other. The one at i takes the parameters of column i modulo `period`, 16 or more;
 * parameters can be read up to column period + 15 where i passes the period, or where n < 16. */
typedef struct {
    const char *x;
    char *y;
    size_t n, period;
    int streams;
} S0Span16;

/* What becomes of 16 codes, the first of which is of `column`. `steps` is a constant of the caller, and S0_ALIGNED16
 * where the column is known to be a multiple of 4, or of 2 if the period is one of 2 only. */
enum { S0_ALIGNED16 = 1 << 16 };
typedef __m256i (*S0Compute16)(__m256i x, const void *parameters, size_t column, int steps);

#define S0_INLINE static inline __attribute__((always_inline))

S0_INLINE __m256i s0_load16(const char *x, size_t i) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(x + i * sizeof(int16_t)));
}

S0_INLINE void s0_store16(char *y, size_t i, __m256i codes) {
    _mm256_storeu_si256((__m256i *)(void *)(y + i * sizeof(int16_t)), codes);
}

/* Codes of 32 bits, those of even and of odd numbers, limited to 16 bits and put in order. */
S0_INLINE __m256i s0_pack16(__m256i even, __m256i odd) {
    const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    return _mm256_shuffle_epi8(_mm256_packs_epi32(even, odd), _mm256_broadcastsi128_si256(order));
}

S0_INLINE size_t s0_next_column16(size_t column, size_t period) {
    return column + S0_LANES16 >= period ? column + S0_LANES16 - period : column + S0_LANES16;
}

/* Fewer codes than a vector has: without those of others. */
S0_INLINE void s0_walk_few16(S0Span16 span, S0Compute16 compute, const void *parameters, int steps) {
    char codes[S0_VECTOR_BYTES] = {0};
    size_t i;
    for (i = 0; i < span.n * sizeof(int16_t); i++) {
        codes[i] = span.x[i];
    }
    s0_store16(codes, 0, compute(s0_load16(codes, 0), parameters, 0, steps));
    for (i = 0; i < span.n * sizeof(int16_t); i++) {
        span.y[i] = codes[i];
    }
}

/* Whole vectors from i on, a multiple of 4; then what is left over takes the last vector, which was read before. */
S0_INLINE void s0_walk_on16(S0Span16 span, size_t i, S0Compute16 compute, const void *parameters, int steps) {
    const __m256i last = s0_load16(span.x, span.n - S0_LANES16);
    size_t column = i;
    for (; i + S0_LANES16 <= span.n; i += S0_LANES16) {
        __m256i codes = compute(s0_load16(span.x, i), parameters, column, steps | S0_ALIGNED16);
        if (span.streams) {
            _mm256_stream_si256((__m256i *)(void *)(span.y + i * sizeof(int16_t)), codes);
        } else {
            s0_store16(span.y, i, codes);
        }
        column = s0_next_column16(column, span.period);
    }
    if (i < span.n) {
        const size_t back = i + S0_LANES16 - span.n;
        column = column < back ? column + span.period - back : column - back;
        s0_store16(span.y, span.n - S0_LANES16, compute(last, parameters, column, steps));
    }
}

/* Stores past the caches begin at a multiple of 32 bytes; what is before it takes the first vector. */
S0_INLINE void s0_walk_past16(S0Span16 span, S0Compute16 compute, const void *parameters, int steps) {
    const __m256i first = compute(s0_load16(span.x, 0), parameters, 0, steps | S0_ALIGNED16);
    s0_walk_on16(span, s0_stream_lead_bytes(span.y) / sizeof(int16_t), compute, parameters, steps);
    s0_store16(span.y, 0, first);
    _mm_sfence();
}

/* At least as many codes as a vector has. */
S0_INLINE void s0_walk16(S0Span16 span, S0Compute16 compute, const void *parameters, int steps) {
    if (span.streams) {
        s0_walk_past16(span, compute, parameters, steps);
    } else {
        s0_walk_on16(span, 0, compute, parameters, steps);
    }
}

/* Whether the stores of the first row may go past the caches: a multiple of 4 codes is before them. */
static inline int s0_may_stream16(const S0Rows *rows) {
    return rows->streams && (uintptr_t)rows->y % (4 * sizeof(int16_t)) == 0 && rows->columns >= 4 * S0_LANES16;
}

/* The first row. */
static inline S0Span16 s0_span16(const S0Rows *rows, size_t period) {
    const S0Span16 span = {(const char *)rows->x, (char *)rows->y, rows->columns, period, s0_may_stream16(rows)};
    return span;
}

/* How many of the columns that are left are gone over together: `most` or fewer, but no few at the end. `most` is a
 * multiple of 32. */
static inline size_t s0_tile_columns16(size_t left, size_t most) {
    return left <= most ? left : left < 2 * most ? most / 2 : most;
}

/* A multiple of `count` that is 16 or more and one of `factor`, 1, 2 or 4, as well: less than 30 or `factor` times the
 * count. */
static inline size_t s0_period16(size_t count, size_t factor) {
    size_t period = count;
    while (period < S0_LANES16 || period % factor != 0) {
        period += count;
    }
    return period;
}

/* Columns [first, first + count) of rows. All columns of rows that touch are one row. */
static inline S0Rows s0_columns16(const S0Rows *rows, size_t first, size_t count) {
    S0Rows part = *rows;
    if (count == rows->columns) {
        return s0_rows_joined(rows, count * sizeof(int16_t));
    }
    part.x = (const char *)rows->x + first * sizeof(int16_t);
    part.y = (char *)rows->y + first * sizeof(int16_t);
    part.columns = count;
    return part;
}

#endif
#endif
