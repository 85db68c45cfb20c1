/* Codes of 16 bits by float32 and a true quotient, with AVX2.
 *
 * y = limit(round(((x * weight + offset) * scale + bias) / divisor) + zero_point, lo, hi), always all of it: what
 * divides takes most of the time. */
#include "kern/codes16.h"
#include "kern/codes16_avx2.h"

#if defined(__x86_64__)

/* A step that may be left out: a zero point, and limits within those of int16. */
enum { CODED = 1 };

typedef struct {
    __m256 weight, offset, scale, bias, divisor;
} Factors;

typedef struct {
    __m256i zero, lo, hi;
} Limits;

static Limits limits_of(S0Codes codes) {
    const Limits limits = {_mm256_set1_epi32(codes.zero_point), _mm256_set1_epi16((int16_t)codes.lo),
                           _mm256_set1_epi16((int16_t)codes.hi)};
    return limits;
}

/* Eight codes, in 32 bits each. Limits of 2^30 change no result: what is beyond saturates. */
S0_INLINE __m256i eight_codes(__m128i x, Factors f, const Limits *limits, int steps) {
    __m256 real = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(x)), f.weight);
    real = _mm256_add_ps(real, f.offset);
    real = _mm256_add_ps(_mm256_mul_ps(real, f.scale), f.bias);
    real = _mm256_min_ps(_mm256_div_ps(real, f.divisor), _mm256_set1_ps(0x1p30F));
    if (steps & CODED) { /* else INT32_MIN, for what is below, is as good */
        real = _mm256_max_ps(real, _mm256_set1_ps(-0x1p30F));
        return _mm256_add_epi32(_mm256_cvtps_epi32(real), limits->zero);
    }
    return _mm256_cvtps_epi32(real);
}

S0_INLINE __m256i sixteen_codes(__m256i x, Factors low, Factors high, const Limits *limits, int steps) {
    const __m256i first = eight_codes(_mm256_castsi256_si128(x), low, limits, steps);
    const __m256i second = eight_codes(_mm256_extracti128_si256(x, 1), high, limits, steps);
    const __m256i codes = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xD8);
    return steps & CODED ? _mm256_min_epi16(_mm256_max_epi16(codes, limits->lo), limits->hi) : codes;
}

/* ---- one channel */

typedef struct {
    Factors factors;
    Limits limits;
} Plane;

S0_INLINE __m256i plane_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Plane *plane = (const Plane *)parameters;
    (void)column;
    return sixteen_codes(x, plane->factors, plane->factors, &plane->limits, steps);
}

/* ---- a channel a column */

/* Parameters can be read as far as S0Span16 has it. */
typedef struct {
    const float *weight, *offset, *scale, *bias, *divisor;
    Limits limits;
} Columns;

S0_INLINE Factors factors_at(const Columns *columns, size_t c) {
    const Factors factors = {_mm256_loadu_ps(columns->weight + c), _mm256_loadu_ps(columns->offset + c),
                             _mm256_loadu_ps(columns->scale + c), _mm256_loadu_ps(columns->bias + c),
                             _mm256_loadu_ps(columns->divisor + c)};
    return factors;
}

S0_INLINE __m256i column_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Columns *columns = (const Columns *)parameters;
    return sixteen_codes(x, factors_at(columns, column), factors_at(columns, column + 8), &columns->limits, steps);
}

/* ---- rows */

S0_INLINE void walk_rows(S0Rows left, size_t period, S0Compute16 compute, const void *parameters, int steps) {
    const int is_narrow = left.columns < S0_LANES16;
    for (; left.rows > 0; s0_rows_step(&left)) {
        if (is_narrow) {
            s0_walk_few16(s0_span16(&left, period), compute, parameters, steps);
        } else {
            s0_walk16(s0_span16(&left, period), compute, parameters, steps);
        }
    }
}

static void run_plane(const S0Rows *rows, const S0Quotients16 *quotients) {
    const S0Reals16 *reals = &quotients->reals;
    const S0Rows left = s0_rows_joined(rows, rows->columns * sizeof(int16_t));
    const Plane plane = {{_mm256_set1_ps(reals->weight[0]), _mm256_set1_ps(reals->offset[0]),
                          _mm256_set1_ps(reals->scale[0]), _mm256_set1_ps(reals->bias[0]),
                          _mm256_set1_ps(quotients->divisor[0])},
                         limits_of(reals->codes)};
    if (s0_is_plain16(reals->codes)) {
        walk_rows(left, left.columns, plane_codes, &plane, 0);
    } else {
        walk_rows(left, left.columns, plane_codes, &plane, CODED);
    }
}

static void run_columns(S0Rows left, size_t period, const Columns *columns, S0Codes codes) {
    if (s0_is_plain16(codes)) {
        walk_rows(left, period, column_codes, columns, 0);
    } else {
        walk_rows(left, period, column_codes, columns, CODED);
    }
}

/* Few rows take the parameters as they are. */
static void run_given(const S0Rows *rows, const S0Quotients16 *quotients) {
    const S0Reals16 *reals = &quotients->reals;
    const Columns columns = {reals->weight, reals->offset,      reals->scale,
                             reals->bias,   quotients->divisor, limits_of(reals->codes)};
    run_columns(*rows, rows->columns, &columns, reals->codes);
}

enum {
    TILE = 256,              /* columns whose parameters are copied together */
    MOST = TILE + S0_LANES16 /* they are repeated, see S0Span16 */
};

/* The numbers of columns [first, first + count), repeated up to column `all`. */
static const float *repeat(float *numbers, const float *from, size_t count, size_t all) {
    size_t i, c;
    for (i = 0, c = 0; i < all; i++, c = c + 1 == count ? 0 : c + 1) {
        numbers[i] = from[c];
    }
    return numbers;
}

static void run_tile(const S0Rows *rows, const S0Quotients16 *quotients, size_t first, size_t count) {
    const S0Reals16 *reals = &quotients->reals;
    const size_t period = s0_period16(count, 1), all = period + S0_LANES16;
    float numbers[5][MOST];
    const Columns columns = {repeat(numbers[0], reals->weight + first, count, all),
                             repeat(numbers[1], reals->offset + first, count, all),
                             repeat(numbers[2], reals->scale + first, count, all),
                             repeat(numbers[3], reals->bias + first, count, all),
                             repeat(numbers[4], quotients->divisor + first, count, all),
                             limits_of(reals->codes)};
    run_columns(s0_columns16(rows, first, count), period, &columns, reals->codes);
}

void s0_quotient16_avx2(const S0Rows *rows, const S0Quotients16 *quotients) {
    size_t first, count;
    if (!s0_is_near16(quotients->reals.codes)) {
        s0_quotient16_portable(rows, quotients);
    } else if (quotients->reals.channels == 1) {
        run_plane(rows, quotients);
    } else if (rows->rows < 4 && rows->columns >= S0_LANES16) {
        run_given(rows, quotients);
    } else {
        for (first = 0; first < rows->columns; first += count) {
            count = s0_tile_columns16(rows->columns - first, TILE);
            run_tile(rows, quotients, first, count);
        }
    }
}
#endif
