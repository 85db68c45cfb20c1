/* Codes of 16 bits by float32, with AVX-512.
 *
 * y = limit(round((x * weight + offset) * scale + bias) + zero_point, lo, hi). Products with 1 and sums with 0, which
 * change no result, are left out. Codes are widened by putting zeros below them, which makes them 65536 times as much;
 * the first factor is as much smaller, which changes no rounding: neither passes what float32 holds. */
#include "kern/codes16_avx512.h"

#if defined(__x86_64__)

/* What is left to do but * scale, which always is; and S0_CODED16. */
enum {
    MUL1 = 4,     /* * weight */
    SUM1 = 8,     /* + offset */
    SUM2 = 16,    /* + bias */
    SCALED = 32,  /* by parameters: a scale is not 1 */
    UNUSUAL = 64, /* a real may pass 2^30, or a factor is too near 0, or too large, for another by 65536 */
};

/* ---- What parameters leave to do */

S0_INLINE __mmask16 differs(__mmask16 mask, __m512 x, float from) {
    return _mm512_mask_cmp_ps_mask(mask, x, _mm512_set1_ps(from), _CMP_NEQ_UQ);
}

S0_INLINE __mmask16 reaches(__mmask16 mask, __m512 x, float limit) {
    return _mm512_mask_cmp_ps_mask(mask, x, _mm512_set1_ps(limit), _CMP_NLT_UQ);
}

/* Not 0, but nearly. */
S0_INLINE __mmask16 is_tiny(__mmask16 mask, __m512 magnitude) {
    return _mm512_mask_cmp_ps_mask(differs(mask, magnitude, 0), magnitude, _mm512_set1_ps(0x1p-100F), _CMP_LT_OQ);
}

S0_INLINE __mmask16 is_unusual(__mmask16 mask, __m512 weight, __m512 offset, __m512 scale, __m512 bias) {
    weight = _mm512_abs_ps(weight);
    scale = _mm512_abs_ps(scale);
    const __m512 first = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(32768), weight), _mm512_abs_ps(offset));
    const __m512 most = _mm512_add_ps(_mm512_mul_ps(first, scale), _mm512_abs_ps(bias));
    return (__mmask16)(reaches(mask, most, 0x1p30F) | reaches(mask, first, 0x1p100F) | is_tiny(mask, weight) |
                       is_tiny(mask, scale));
}

/* Of channels: any of them does so. */
static int needs_of(const S0Reals16 *reals) {
    unsigned weighted = 0, offset_given = 0, scaled = 0, biased = 0, unusual = 0;
    for (size_t c = 0; c < reals->channels; c += 16) {
        const __mmask16 mask = s0_first_of_16(reals->channels - c);
        const __m512 weight = _mm512_maskz_loadu_ps(mask, reals->weight + c);
        const __m512 offset = _mm512_maskz_loadu_ps(mask, reals->offset + c);
        const __m512 scale = _mm512_maskz_loadu_ps(mask, reals->scale + c);
        const __m512 bias = _mm512_maskz_loadu_ps(mask, reals->bias + c);
        weighted |= differs(mask, weight, 1);
        offset_given |= differs(mask, offset, 0);
        scaled |= differs(mask, scale, 1);
        biased |= differs(mask, bias, 0);
        unusual |= is_unusual(mask, weight, offset, scale, bias);
    }
    return (weighted ? MUL1 : 0) | (offset_given ? SUM1 : 0) | (scaled ? SCALED : 0) | (biased ? SUM2 : 0) |
           (unusual ? UNUSUAL : 0);
}

/* The steps that are needed, and parameters for them: of one line alone, it is the second. */
typedef struct {
    int steps;
    S0Reals16 reals;
} Form;

static Form form_of(const S0Reals16 *reals) {
    const int needs = needs_of(reals), coded = s0_is_plain16(reals->codes) ? 0 : S0_CODED16;
    Form form = {(needs & (MUL1 | SUM1 | SUM2)) | coded, *reals};
    if (needs & UNUSUAL) {
        form.steps = UNUSUAL;
    } else if (!(needs & (SCALED | SUM2))) {
        form.reals.scale = reals->weight;
        form.reals.bias = reals->offset;
        form.steps = (needs & SUM1 ? SUM2 : 0) | coded;
    }
    return form;
}

/* Every constant that steps can be, but UNUSUAL. */
#define EACH_STEPS(CASE)                                                                                               \
    CASE(0)                                                                                                            \
    CASE(SUM2)                                                                                                         \
    CASE(SUM1)                                                                                                         \
    CASE(SUM1 | SUM2)                                                                                                  \
    CASE(MUL1)                                                                                                         \
    CASE(MUL1 | SUM2)                                                                                                  \
    CASE(MUL1 | SUM1)                                                                                                  \
    CASE(MUL1 | SUM1 | SUM2)                                                                                           \
    CASE(S0_CODED16)                                                                                                   \
    CASE(S0_CODED16 | SUM2)                                                                                            \
    CASE(S0_CODED16 | SUM1)                                                                                            \
    CASE(S0_CODED16 | SUM1 | SUM2)                                                                                     \
    CASE(S0_CODED16 | MUL1)                                                                                            \
    CASE(S0_CODED16 | MUL1 | SUM2)                                                                                     \
    CASE(S0_CODED16 | MUL1 | SUM1)                                                                                     \
    CASE(S0_CODED16 | MUL1 | SUM1 | SUM2)

/* ---- 32 codes */

/* Of 16. */
typedef struct {
    __m512 weight, offset, scale, bias;
} Factors;

/* What the parameters are multiplied with, as codes are 65536 times as much up to the first product. */
static const float WEIGHT_PART = 0x1p-16F;

S0_INLINE float offset_part(int steps) {
    return steps & MUL1 ? 1 : 0x1p16F;
}

S0_INLINE float scale_part(int steps) {
    return steps & MUL1 ? 1 : 0x1p-16F;
}

/* 1, which no compiler knows to be so. */
S0_INLINE __m512 one(void) {
    __m512 ones = _mm512_set1_ps(1);
    __asm__("" : "+v"(ones));
    return ones;
}

/* 65536 times the codes to what is rounded. The second sum is a product with 1 fused with a sum, which rounds alike: it
 * is computed where products are, as conversions are busy where sums are. */
S0_INLINE __m512i round_codes(__m512i x, const Factors *f, __m512 ones, int steps) {
    __m512 real = _mm512_cvtepi32_ps(x);
    real = steps & MUL1 ? _mm512_mul_ps(real, f->weight) : real;
    real = steps & SUM1 ? _mm512_add_ps(real, f->offset) : real;
    real = _mm512_mul_ps(real, f->scale);
    real = steps & SUM2 ? _mm512_fmadd_ps(real, ones, f->bias) : real;
    return _mm512_cvtps_epi32(real);
}

/* Of each eight codes `low` has the first four, `high` the others. */
typedef struct {
    Factors low, high;
} Pair;

S0_INLINE __m512i pair_codes(__m512i x, const Pair *pair, const S0Limits16 *limits, __m512 ones, int steps) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i low = round_codes(_mm512_unpacklo_epi16(zero, x), &pair->low, ones, steps);
    const __m512i high = round_codes(_mm512_unpackhi_epi16(zero, x), &pair->high, ones, steps);
    return s0_pack16(low, high, limits, steps);
}

/* ---- One channel, and many planes of one each */

typedef struct {
    Pair pair;
    S0Limits16 limits;
    __m512 ones;
} Plane;

S0_INLINE __m512i plane_codes(__m512i x, const void *parameters, size_t column, __mmask32 mask, int steps) {
    const Plane *plane = (const Plane *)parameters;
    (void)column;
    (void)mask;
    return pair_codes(x, &plane->pair, &plane->limits, plane->ones, steps);
}

S0_INLINE Pair pair_of_channel(const S0Reals16 *reals, size_t c, int steps) {
    const Factors factors = {_mm512_set1_ps(reals->weight[c] * WEIGHT_PART),
                             _mm512_set1_ps(reals->offset[c] * offset_part(steps)),
                             _mm512_set1_ps(reals->scale[c] * scale_part(steps)), _mm512_set1_ps(reals->bias[c])};
    const Pair pair = {factors, factors};
    return pair;
}

S0_INLINE void run_planes_as(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals, int steps) {
    Plane plane;
    plane.limits = s0_limits16(reals->codes);
    plane.ones = one();
    for (size_t c = 0; c < reals->channels; c++) {
        S0Rows left = *first;
        left.x = (const char *)left.x + c * plane_bytes;
        left.y = (char *)left.y + c * plane_bytes;
        plane.pair = pair_of_channel(reals, c, steps);
        s0_walk_rows16(left, plane_codes, &plane, steps);
    }
    if (first->streams) {
        _mm_sfence();
    }
}

static void exact_rows(const S0Rows *rows, const S0Reals16 *reals) {
    s0_exact16(rows, reals, 0, 0);
}

/* Where one is unusual, the others go by themselves. */
static void run_unusual_planes(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    if (reals->channels == 1) {
        exact_rows(first, reals);
    } else {
        s0_each_plane16(first, plane_bytes, reals, s0_real16_avx512);
    }
}

static void run_planes(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    const S0Rows joined = s0_rows_joined(first, first->columns * sizeof(int16_t));
    const Form form = form_of(reals);
    switch (form.steps) {
#define CASE(constant)                                                                                                 \
    case constant:                                                                                                     \
        run_planes_as(&joined, plane_bytes, &form.reals, constant);                                                    \
        break;
        EACH_STEPS(CASE)
#undef CASE
    default:
        run_unusual_planes(first, plane_bytes, reals);
    }
}

void s0_real16_planes_avx512(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    if (s0_is_near16(reals->codes)) {
        run_planes(first, plane_bytes, reals);
    } else {
        s0_each_plane16(first, plane_bytes, reals, s0_real16_portable);
    }
}

/* ---- Channel last */

enum {
    TILE = 512, /* columns whose parameters are prepared together */
    FEW = 8,    /* rows for which nothing is prepared */
};

/* Of each 32 columns the numbers for `low`, then those for `high`. */
typedef struct {
    float weight[TILE], offset[TILE], scale[TILE], bias[TILE];
    S0Limits16 limits;
} __attribute__((aligned(S0_LINE_BYTES))) Tile;

static void fill(float *to, const float *from, size_t count, float part) {
    for (size_t c = 0; c < count; c += S0_LANES16) {
        const __mmask32 mask = s0_first_of_32(count - c);
        const __mmask16 upper = (__mmask16)(mask >> 16);
        const __m512 a = _mm512_maskz_loadu_ps((__mmask16)mask, from + c);
        const __m512 b = _mm512_maskz_loadu_ps(upper, from + c + s0_upper(upper, 16));
        const __m512 parts = _mm512_set1_ps(part);
        _mm512_store_ps(to + c, _mm512_mul_ps(_mm512_shuffle_f32x4(a, b, 0x88), parts));
        _mm512_store_ps(to + c + 16, _mm512_mul_ps(_mm512_shuffle_f32x4(a, b, 0xDD), parts));
    }
}

/* With what the steps need. */
S0_INLINE void fill_tile(Tile *tile, const S0Reals16 *reals, int steps) {
    tile->limits = s0_limits16(reals->codes);
    fill(tile->scale, reals->scale, reals->channels, scale_part(steps));
    if (steps & MUL1) {
        fill(tile->weight, reals->weight, reals->channels, WEIGHT_PART);
    }
    if (steps & SUM1) {
        fill(tile->offset, reals->offset, reals->channels, offset_part(steps));
    }
    if (steps & SUM2) {
        fill(tile->bias, reals->bias, reals->channels, 1);
    }
}

S0_INLINE Pair pair_of_columns(const Tile *tile, size_t column) {
    const size_t c = column, d = column + 16;
    const Pair pair = {{_mm512_load_ps(tile->weight + c), _mm512_load_ps(tile->offset + c),
                        _mm512_load_ps(tile->scale + c), _mm512_load_ps(tile->bias + c)},
                       {_mm512_load_ps(tile->weight + d), _mm512_load_ps(tile->offset + d),
                        _mm512_load_ps(tile->scale + d), _mm512_load_ps(tile->bias + d)}};
    return pair;
}

S0_INLINE void group_codes(__m512i *codes, size_t count, const void *parameters, size_t column, int steps) {
    const Tile *tile = (const Tile *)parameters;
    const Pair pair = pair_of_columns(tile, column);
    const __m512 ones = one();
#pragma GCC unroll 4
    for (size_t k = 0; k < count; k++) {
        codes[k] = pair_codes(codes[k], &pair, &tile->limits, ones, steps);
    }
}

S0_INLINE void run_tile_as(const S0Rows *rows, const S0Reals16 *reals, int steps) {
    Tile tile;
    fill_tile(&tile, reals, steps);
    s0_walk_tile16(*rows, group_codes, &tile, steps);
}

static void run_tile(const S0Rows *rows, const S0Reals16 *reals) {
    const Form form = form_of(reals);
    switch (form.steps) {
#define CASE(constant)                                                                                                 \
    case constant:                                                                                                     \
        run_tile_as(rows, &form.reals, constant);                                                                      \
        break;
        EACH_STEPS(CASE)
#undef CASE
    default:
        exact_rows(rows, reals);
    }
}

static void run_columns(const S0Rows *rows, const S0Reals16 *reals, size_t first, size_t count) {
    const S0Rows part = s0_columns16(rows, first, count);
    S0Reals16 given = *reals;
    given.channels = count;
    given.weight += first;
    given.offset += first;
    given.scale += first;
    given.bias += first;
    run_tile(&part, &given);
}

void s0_real16_avx512(const S0Rows *rows, const S0Reals16 *reals) {
    if (!s0_is_near16(reals->codes)) {
        s0_real16_portable(rows, reals);
    } else if (reals->channels == 1) {
        run_planes(rows, 0, reals);
    } else if (rows->rows < FEW) {
        exact_rows(rows, reals);
    } else {
        for (size_t first = 0; first < rows->columns; first += TILE) {
            const size_t left = rows->columns - first;
            run_columns(rows, reals, first, left < TILE ? left : TILE);
        }
    }
}
#endif
