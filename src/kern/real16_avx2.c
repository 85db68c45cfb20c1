/* Codes of 16 bits by float32, with AVX2.
 *
 * y = limit(round((x * weight + offset) * scale + bias) + zero_point, lo, hi). Products with 1 and sums with 0, which
 * change no result, are left out; an x * weight + offset of small integers, which is exact, is computed in integers. */
#include "kern/codes16.h"
#include "kern/codes16_avx2.h"

#if defined(__x86_64__)

/* What is left to do. */
enum {
    SUM1 = 1,                               /* + offset */
    MUL2 = 2,                               /* * scale */
    SUM2 = 4,                               /* + bias */
    WHOLE = 8,                              /* weight and offset are integers, kept as such; with MUL2, without SUM1 */
    CODED = 16,                             /* a zero point, or limits within those of int16 */
    FAR = 32,                               /* the real may pass 2^30 */
    ANY = FAR | CODED | SUM1 | MUL2 | SUM2, /* all of it */
};

typedef struct {
    __m256 weight, offset, scale, bias;
} Factors;

typedef struct {
    __m256i zero, lo, hi;
} Limits;

static Limits limits_of(S0Codes codes) {
    const Limits limits = {_mm256_set1_epi32(codes.zero_point), _mm256_set1_epi16((int16_t)codes.lo),
                           _mm256_set1_epi16((int16_t)codes.hi)};
    return limits;
}

/* Eight codes, each in 32 bits, to what is rounded. Limits of 2^30 change no result: what is beyond saturates. */
S0_INLINE __m256i round_codes(__m256i x, Factors f, int steps) {
    __m256 real;
    if (steps & WHOLE) { /* of pairs of 16 bits the upper half of x or of the weight is 0 */
        const __m256i product = _mm256_madd_epi16(x, _mm256_castps_si256(f.weight));
        real = _mm256_cvtepi32_ps(_mm256_add_epi32(product, _mm256_castps_si256(f.offset)));
    } else {
        real = _mm256_mul_ps(_mm256_cvtepi32_ps(x), f.weight);
    }
    real = steps & SUM1 ? _mm256_add_ps(real, f.offset) : real;
    real = steps & MUL2 ? _mm256_mul_ps(real, f.scale) : real;
    real = steps & SUM2 ? _mm256_add_ps(real, f.bias) : real;
    if (steps & FAR) {
        real = _mm256_max_ps(_mm256_min_ps(real, _mm256_set1_ps(0x1p30F)), _mm256_set1_ps(-0x1p30F));
    }
    return _mm256_cvtps_epi32(real);
}

/* The packed codes; the zero point is added before they are limited to 16 bits. */
S0_INLINE __m256i pack_codes(__m256i low, __m256i high, const Limits *limits, int steps) {
    if (steps & CODED) {
        low = _mm256_add_epi32(low, limits->zero);
        high = _mm256_add_epi32(high, limits->zero);
    }
    return _mm256_packs_epi32(low, high);
}

S0_INLINE __m256i limit_codes(__m256i codes, const Limits *limits, int steps) {
    return steps & CODED ? _mm256_min_epi16(_mm256_max_epi16(codes, limits->lo), limits->hi) : codes;
}

/* ---- what parameters leave to do */

/* Of channels: any of them does so. */
enum {
    FIRST = 1,    /* weight and offset change something */
    SECOND = 2,   /* scale and bias do */
    OFFSET = 4,   /* is not 0 */
    BIAS = 8,     /* is not 0 */
    UNUSUAL = 16, /* a real may pass 2^30, or a factor is so small that 2^-16 may not go into it */
    BROKEN = 32,  /* x * weight + offset cannot be computed in integers, and be exact both ways */
};

typedef struct {
    float weight, offset, scale, bias;
} Channel;

static inline Channel channel_at(const S0Reals16 *reals, size_t c) {
    const Channel channel = {reals->weight[c], reals->offset[c], reals->scale[c], reals->bias[c]};
    return channel;
}

static inline float magnitude(float x) {
    return x < 0 ? -x : x;
}

/* Whether a zero point may be added in 32 bits. */
static int is_near(S0Codes codes) {
    return codes.zero_point >= -(1 << 29) && codes.zero_point <= 1 << 29;
}

/* All but BROKEN. */
static inline int needs_of(Channel c) {
    const float weight = magnitude(c.weight), scale = magnitude(c.scale);
    const float first = 32768 * weight + magnitude(c.offset), second = first * scale + magnitude(c.bias);
    const int is_usual = (first < 0x1p30F) & (second < 0x1p30F) & (weight > 0x1p-100F) & (scale > 0x1p-100F);
    const int offset = c.offset != 0, bias = c.bias != 0;
    return ((c.weight != 1) | offset) * FIRST | ((c.scale != 1) | bias) * SECOND | offset * OFFSET | bias * BIAS |
           !is_usual * UNUSUAL;
}

static int is_integer(float x) {
    return magnitude(x) < 0x1p24F && (float)(int32_t)x == x;
}

static int is_whole(Channel c) {
    return is_integer(c.weight) && is_integer(c.offset) && magnitude(c.weight) <= INT16_MAX &&
           32768 * magnitude(c.weight) + magnitude(c.offset) < 0x1p24F;
}

/* FORM(name, steps): the loops there are. */
#define FORMS                                                                                                          \
    FORM(product, 0)                                                                                                   \
    FORM(line, SUM1)                                                                                                   \
    FORM(whole, WHOLE | MUL2)                                                                                          \
    FORM(whole_line, WHOLE | MUL2 | SUM2)                                                                              \
    FORM(product_line, MUL2 | SUM2)                                                                                    \
    FORM(lines, SUM1 | MUL2 | SUM2)                                                                                    \
    FORM(coded_product, CODED)                                                                                         \
    FORM(coded_line, CODED | SUM1)                                                                                     \
    FORM(coded_whole, CODED | WHOLE | MUL2)                                                                            \
    FORM(coded_whole_line, CODED | WHOLE | MUL2 | SUM2)                                                                \
    FORM(coded_product_line, CODED | MUL2 | SUM2)                                                                      \
    FORM(coded_lines, CODED | SUM1 | MUL2 | SUM2)                                                                      \
    FORM(any, ANY)

typedef enum {
#define FORM(name, steps) FORM_##name,
    FORMS
#undef FORM
} Form;

static int is_plain(S0Codes codes) {
    return (codes.zero_point == 0) & (codes.lo == INT16_MIN) & (codes.hi == INT16_MAX);
}

static inline Form form_of(int needs, S0Codes codes) {
    int form;
    if (needs & UNUSUAL) {
        return FORM_any;
    }
    if ((needs & (FIRST | SECOND)) != (FIRST | SECOND)) {
        form = needs & (OFFSET | BIAS) ? FORM_line : FORM_product;
    } else if (!(needs & BROKEN)) {
        form = needs & BIAS ? FORM_whole_line : FORM_whole;
    } else {
        form = needs & OFFSET ? FORM_lines : FORM_product_line;
    }
    return (Form)(is_plain(codes) ? form : form + FORM_coded_product);
}

/* ---- one channel */

typedef struct {
    Factors factors;
    Limits limits;
} Plane;

/* Interleaved with zeros, the halves of a vector are in an order that the pack takes back: below the codes for
 * integers, above them else, where they are x * 2^16 and the weight is by 2^-16 less. */
S0_INLINE __m256i plane_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Plane *plane = (const Plane *)parameters;
    const __m256i none = _mm256_setzero_si256();
    __m256i low = steps & WHOLE ? _mm256_unpacklo_epi16(x, none) : _mm256_unpacklo_epi16(none, x);
    __m256i high = steps & WHOLE ? _mm256_unpackhi_epi16(x, none) : _mm256_unpackhi_epi16(none, x);
    if (steps & FAR) {
        low = _mm256_srai_epi32(low, 16);
        high = _mm256_srai_epi32(high, 16);
    }
    (void)column;
    return limit_codes(pack_codes(round_codes(low, plane->factors, steps), round_codes(high, plane->factors, steps),
                                  &plane->limits, steps),
                       &plane->limits, steps);
}

S0_INLINE Plane plane_of(Channel c, S0Codes codes, int steps) {
    Plane plane = {
        {_mm256_set1_ps(c.weight), _mm256_set1_ps(c.offset), _mm256_set1_ps(c.scale), _mm256_set1_ps(c.bias)},
        limits_of(codes)};
    if (steps & WHOLE) {
        plane.factors.weight = _mm256_castsi256_ps(_mm256_set1_epi32((int32_t)c.weight));
        plane.factors.offset = _mm256_castsi256_ps(_mm256_set1_epi32((int32_t)c.offset));
    } else if (!(steps & FAR)) {
        plane.factors.weight = _mm256_set1_ps(c.weight * 0x1p-16F);
    }
    return plane;
}

S0_INLINE void run_plane_as(S0Rows left, Channel c, S0Codes codes, int steps) {
    const Plane plane = plane_of(c, codes, steps);
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk16(s0_span16(&left, left.columns), plane_codes, &plane, steps);
    }
}

static void run_narrow_plane(S0Rows left, Channel c, S0Codes codes) {
    const Plane plane = plane_of(c, codes, ANY);
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk_few16(s0_span16(&left, left.columns), plane_codes, &plane, ANY);
    }
}

static void run_plane(const S0Rows *rows, const S0Reals16 *reals) {
    const S0Codes codes = reals->codes;
    const S0Rows left = s0_rows_joined(rows, rows->columns * sizeof(int16_t));
    Channel c = channel_at(reals, 0);
    int needs = needs_of(c);
    if (left.columns < S0_LANES16) {
        run_narrow_plane(left, c, codes);
        return;
    }
    needs |= is_whole(c) ? 0 : BROKEN;
    const Form form = form_of(needs, codes);
    if (!(needs & FIRST) && form != FORM_any) {
        c.weight = c.scale;
        c.offset = c.bias;
    }
    switch (form) {
#define FORM(name, steps)                                                                                              \
    case FORM_##name:                                                                                                  \
        run_plane_as(left, c, codes, steps);                                                                           \
        break;
        FORMS
#undef FORM
    }
}

/* ---- a channel a column */

enum { TILE = 256 }; /* columns whose parameters are prepared together */

/* The parameters of columns, and once more from the first on: see S0Span16. */
typedef union {
    float real[TILE + S0_LANES16];
    int32_t whole[TILE + S0_LANES16];
} Numbers;

typedef struct {
    Numbers weight, offset, scale, bias;
    Limits limits;
    Form form;
} Tile;

/* `count` numbers, repeated up to `all` of them. */
static void repeat(Numbers *numbers, size_t count, size_t all) {
    size_t i;
    for (i = count; i < all; i++) {
        numbers->whole[i] = numbers->whole[i - count];
    }
}

static void fill(Numbers *numbers, const float *from, size_t count, size_t all) {
    size_t i;
    for (i = 0; i < count; i++) {
        numbers->real[i] = from[i];
    }
    repeat(numbers, count, all);
}

static void fill_whole(Numbers *numbers, const float *from, size_t count, size_t all) {
    size_t i;
    for (i = 0; i < count; i++) {
        numbers->whole[i] = (int32_t)from[i];
    }
    repeat(numbers, count, all);
}

static int needs_of_columns(const S0Reals16 *reals, size_t first, size_t count) {
    int needs = 0;
    size_t c;
    for (c = first; c < first + count; c++) {
        needs |= needs_of(channel_at(reals, c)) | (is_whole(channel_at(reals, c)) ? 0 : BROKEN);
    }
    return needs;
}

static void fill_whole_tile(Tile *tile, const S0Reals16 *reals, size_t first, size_t count, size_t all) {
    size_t i;
    fill_whole(&tile->weight, reals->weight + first, count, all);
    fill_whole(&tile->offset, reals->offset + first, count, all);
    for (i = 0; i < all; i++) {
        tile->weight.whole[i] &= 0xFFFF;
    }
}

/* Columns [first, first + count), the parameters of which are wanted up to column `all`. */
static void prepare_tile(Tile *tile, const S0Reals16 *reals, size_t first, size_t count, size_t all) {
    const int needs = needs_of_columns(reals, first, count);
    tile->form = form_of(needs, reals->codes);
    tile->limits = limits_of(reals->codes);
    fill(&tile->scale, reals->scale + first, count, all);
    fill(&tile->bias, reals->bias + first, count, all);
    if (tile->form == FORM_whole || tile->form == FORM_coded_whole || tile->form == FORM_whole_line ||
        tile->form == FORM_coded_whole_line) {
        fill_whole_tile(tile, reals, first, count, all);
    } else if (tile->form == FORM_any || (needs & FIRST)) {
        fill(&tile->weight, reals->weight + first, count, all);
        fill(&tile->offset, reals->offset + first, count, all);
    } else {
        tile->weight = tile->scale;
        tile->offset = tile->bias;
    }
}

typedef struct {
    const float *weight, *offset, *scale, *bias;
} Columns;

static inline Factors factors_at(Columns from, size_t column) {
    const Factors factors = {_mm256_loadu_ps(from.weight + column), _mm256_loadu_ps(from.offset + column),
                             _mm256_loadu_ps(from.scale + column), _mm256_loadu_ps(from.bias + column)};
    return factors;
}

S0_INLINE __m256i column_codes(__m256i x, Columns from, size_t column, const Limits *limits, int steps) {
    const __m256i low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(x));
    const __m256i high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(x, 1));
    const __m256i codes = pack_codes(round_codes(low, factors_at(from, column), steps),
                                     round_codes(high, factors_at(from, column + 8), steps), limits, steps);
    return limit_codes(_mm256_permute4x64_epi64(codes, 0xD8), limits, steps);
}

S0_INLINE __m256i tile_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Tile *tile = (const Tile *)parameters;
    const Columns from = {tile->weight.real, tile->offset.real, tile->scale.real, tile->bias.real};
    return column_codes(x, from, column, &tile->limits, steps);
}

S0_INLINE void run_tile_as(S0Rows left, const Tile *tile, size_t period, int steps) {
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk16(s0_span16(&left, period), tile_codes, tile, steps);
    }
}

static void run_narrow_tile(S0Rows left, const S0Reals16 *reals, size_t period) {
    Tile tile;
    tile.limits = limits_of(reals->codes);
    fill(&tile.weight, reals->weight, reals->channels, S0_LANES16);
    fill(&tile.offset, reals->offset, reals->channels, S0_LANES16);
    fill(&tile.scale, reals->scale, reals->channels, S0_LANES16);
    fill(&tile.bias, reals->bias, reals->channels, S0_LANES16);
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk_few16(s0_span16(&left, period), tile_codes, &tile, ANY);
    }
}

static void run_tile(const S0Rows *rows, const S0Reals16 *reals, size_t first, size_t count) {
    const size_t period = s0_period16(count);
    const S0Rows left = s0_columns16(rows, first, count);
    Tile tile;
    if (left.columns < S0_LANES16) {
        run_narrow_tile(left, reals, period);
        return;
    }
    prepare_tile(&tile, reals, first, count, period + S0_LANES16);
    switch (tile.form) {
#define FORM(name, steps)                                                                                              \
    case FORM_##name:                                                                                                  \
        run_tile_as(left, &tile, period, steps);                                                                       \
        break;
        FORMS
#undef FORM
    }
}

/* Few rows take the parameters as they are. */
typedef struct {
    Columns from;
    Limits limits;
} Given;

S0_INLINE __m256i given_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Given *given = (const Given *)parameters;
    return column_codes(x, given->from, column, &given->limits, steps);
}

static void run_given(const S0Rows *rows, const S0Reals16 *reals) {
    const Given given = {{reals->weight, reals->offset, reals->scale, reals->bias}, limits_of(reals->codes)};
    S0Rows left = *rows;
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk16(s0_span16(&left, left.columns), given_codes, &given, ANY);
    }
}

void s0_real16_avx2(const S0Rows *rows, const S0Reals16 *reals) {
    size_t first, count;
    if (!is_near(reals->codes)) {
        s0_real16_portable(rows, reals);
    } else if (reals->channels == 1) {
        run_plane(rows, reals);
    } else if (rows->rows < 4 && rows->columns >= S0_LANES16) {
        run_given(rows, reals);
    } else {
        for (first = 0; first < rows->columns; first += count) {
            count = s0_tile_columns16(rows->columns - first, TILE);
            run_tile(rows, reals, first, count);
        }
    }
}
#endif
