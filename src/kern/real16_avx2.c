/* Codes of 16 bits by float32, with AVX2.
 *
 * y = limit(round((x * weight + offset) * scale + bias) + zero_point, lo, hi). Products with 1 and sums with 0, which
 * change no result, are left out; an x * weight + offset of integers, where that is the same, is computed in integers.
 */
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

/* Eight codes in 32 bits each, or their products with whole weights, to what is rounded. Limits of 2^30 change no
 * result: what is beyond saturates. */
S0_INLINE __m256i round_codes(__m256i x, Factors f, int steps) {
    __m256 real;
    if (steps & WHOLE) {
        real = _mm256_cvtepi32_ps(_mm256_add_epi32(x, _mm256_castps_si256(f.offset)));
    } else {
        real = _mm256_mul_ps(_mm256_cvtepi32_ps(x), f.weight);
    }
    real = steps & SUM1 ? _mm256_add_ps(real, f.offset) : real;
    real = steps & MUL2 ? _mm256_mul_ps(real, f.scale) : real;
    real = steps & SUM2 ? _mm256_add_ps(real, f.bias) : real;
    if (steps & FAR) {
        real = _mm256_min_ps(real, _mm256_set1_ps(0x1p30F));
    }
    if ((steps & FAR) && (steps & CODED)) { /* else INT32_MIN, for what is below, is as good */
        real = _mm256_max_ps(real, _mm256_set1_ps(-0x1p30F));
    }
    return _mm256_cvtps_epi32(real);
}

/* The zero point is added before codes are limited to 16 bits. */
S0_INLINE __m256i add_zero(__m256i codes, const Limits *limits, int steps) {
    return steps & CODED ? _mm256_add_epi32(codes, limits->zero) : codes;
}

S0_INLINE __m256i limit_codes(__m256i codes, const Limits *limits, int steps) {
    return steps & CODED ? _mm256_min_epi16(_mm256_max_epi16(codes, limits->lo), limits->hi) : codes;
}

/* ---- what parameters leave to do */

/* Of channels: any of them does so. */
enum {
    WEIGHT = 1,   /* is not 1 */
    OFFSET = 2,   /* is not 0 */
    SCALE = 4,    /* is not 1 */
    BIAS = 8,     /* is not 0 */
    DISTANT = 16, /* a real may pass 2^30 */
    BROKEN = 32,  /* x * weight + offset is not the same in integers */
    FIRST = WEIGHT | OFFSET,
    SECOND = SCALE | BIAS,
};

typedef struct {
    float weight, offset, scale, bias;
} Channel;

static inline Channel channel_at(const S0Reals16 *reals, size_t c) {
    const Channel channel = {reals->weight[c], reals->offset[c], reals->scale[c], reals->bias[c]};
    return channel;
}

static inline float magnitude(float x) {
    return _mm_cvtss_f32(_mm_andnot_ps(_mm_set_ss(-0.0F), _mm_set_ss(x)));
}

/* All but BROKEN. */
static inline int needs_of(Channel c) {
    const __m128 nothing = _mm_setr_ps(1, 0, 1, 0), given = _mm_setr_ps(c.weight, c.offset, c.scale, c.bias);
    const float first = 32768 * magnitude(c.weight) + magnitude(c.offset);
    const int is_distant = !(first * magnitude(c.scale) + magnitude(c.bias) < 0x1p30F);
    return _mm_movemask_ps(_mm_cmpneq_ps(given, nothing)) | is_distant * DISTANT;
}

static inline int is_integer(float x, float most) {
    return magnitude(x) <= most && (float)(int32_t)x == x;
}

/* The product is below 2^24, where float32 is exact; the sum is rounded once, as an integer is that becomes a float. */
static inline int is_whole(Channel c) {
    return is_integer(c.weight, 511) && is_integer(c.offset, 0x1p30F);
}

static inline int has_both(int needs) {
    return (needs & FIRST) != 0 && (needs & SECOND) != 0;
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

static inline Form form_of(int needs, S0Codes codes) {
    int form;
    if (needs & DISTANT) {
        return FORM_any;
    }
    if (!has_both(needs)) {
        form = needs & (OFFSET | BIAS) ? FORM_line : FORM_product;
    } else if (!(needs & BROKEN)) {
        form = needs & BIAS ? FORM_whole_line : FORM_whole;
    } else {
        form = needs & OFFSET ? FORM_lines : FORM_product_line;
    }
    return (Form)(s0_is_plain16(codes) ? form : form + FORM_coded_product);
}

/* ---- one channel */

typedef struct {
    Factors factors;
    __m256i even, odd; /* weights of pairs of codes, one of which is 0 */
    Limits limits;
} Plane;

S0_INLINE __m256i plane_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Plane *plane = (const Plane *)parameters;
    const __m256i even = round_codes(_mm256_madd_epi16(x, plane->even), plane->factors, steps);
    const __m256i odd = round_codes(_mm256_madd_epi16(x, plane->odd), plane->factors, steps);
    (void)column;
    return limit_codes(s0_pack16(add_zero(even, &plane->limits, steps), add_zero(odd, &plane->limits, steps)),
                       &plane->limits, steps);
}

S0_INLINE Plane plane_of(Channel c, S0Codes codes, int steps) {
    const int32_t weight = steps & WHOLE ? (int32_t)c.weight : 1;
    Plane plane = {
        .factors = {_mm256_set1_ps(c.weight), _mm256_set1_ps(c.offset), _mm256_set1_ps(c.scale),
                    _mm256_set1_ps(c.bias)},
        .even = _mm256_set1_epi32(weight & 0xFFFF),
        .odd = _mm256_slli_epi32(_mm256_set1_epi32(weight), 16),
        .limits = limits_of(codes),
    };
    if (steps & WHOLE) {
        plane.factors.offset = _mm256_castsi256_ps(_mm256_set1_epi32((int32_t)c.offset));
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
    needs |= !has_both(needs) || is_whole(c) ? 0 : BROKEN;
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

enum {
    TILE = 256,              /* columns whose parameters are prepared together */
    HALF = TILE + S0_LANES16 /* they are repeated, see S0Span16 */
};

/* The parameters of even columns, then those of odd ones: of 16 columns from any on, every second is a vector. */
typedef union {
    float real[2 * HALF];
    int32_t whole[2 * HALF];
} __attribute__((aligned(64))) Numbers;

/* Of whole weights there are two: those of the lower and of the upper halves of 32 bits. */
typedef struct {
    Numbers weight, upper, offset, scale, bias;
    Limits limits;
    Form form;
} Tile;

static inline size_t place_of(size_t column) {
    return column / 2 + column % 2 * HALF;
}

/* Numbers of `count` columns, up to column `all`. */
static void fill(Numbers *numbers, const float *from, size_t count, size_t all) {
    size_t i, c;
    for (i = 0, c = 0; i < all; i++, c = c + 1 == count ? 0 : c + 1) {
        numbers->real[place_of(i)] = from[c];
    }
}

static void make_whole(Tile *tile, size_t all) {
    size_t c;
    for (c = 0; c < all; c++) {
        const size_t i = place_of(c);
        const int32_t weight = (int32_t)tile->weight.real[i];
        tile->upper.whole[i] = weight * 65536;
        tile->weight.whole[i] = weight & 0xFFFF;
        tile->offset.whole[i] = (int32_t)tile->offset.real[i];
    }
}

static int is_whole_form(Form form) {
    return form == FORM_whole || form == FORM_whole_line || form == FORM_coded_whole || form == FORM_coded_whole_line;
}

static int needs_of_columns(const S0Reals16 *reals, size_t first, size_t count) {
    int needs = 0;
    size_t c;
    for (c = first; c < first + count; c++) {
        needs |= needs_of(channel_at(reals, c)) | (is_whole(channel_at(reals, c)) ? 0 : BROKEN);
    }
    return needs;
}

/* Columns [first, first + count), the parameters of which are wanted up to column `all`. */
static void prepare_tile(Tile *tile, const S0Reals16 *reals, size_t first, size_t count, size_t all) {
    const int needs = needs_of_columns(reals, first, count);
    tile->form = form_of(needs, reals->codes);
    const int is_moved = !(needs & FIRST) && tile->form != FORM_any;
    tile->limits = limits_of(reals->codes);
    fill(&tile->weight, (is_moved ? reals->scale : reals->weight) + first, count, all);
    fill(&tile->offset, (is_moved ? reals->bias : reals->offset) + first, count, all);
    fill(&tile->scale, reals->scale + first, count, all);
    fill(&tile->bias, reals->bias + first, count, all);
    if (is_whole_form(tile->form)) {
        make_whole(tile, all);
    }
}

/* Every second number from a column on. Of an even column, half the column is no more than an address. */
S0_INLINE __m256 every_second(const Numbers *numbers, size_t column, int steps) {
    const char *from = (const char *)numbers->real;
    const size_t at = steps & S0_ALIGNED16 ? column * (sizeof(float) / 2) : place_of(column) * sizeof(float);
    return _mm256_loadu_ps((const float *)(const void *)(from + at));
}

S0_INLINE Factors tile_factors(const Tile *tile, size_t column, int steps) {
    const Factors factors = {every_second(&tile->weight, column, steps), every_second(&tile->offset, column, steps),
                             every_second(&tile->scale, column, steps), every_second(&tile->bias, column, steps)};
    return factors;
}

S0_INLINE __m256i tile_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Tile *tile = (const Tile *)parameters;
    const size_t next = steps & S0_ALIGNED16 ? column + 2 * HALF : column + 1; /* odd columns follow even ones */
    const Factors first = tile_factors(tile, column, steps), second = tile_factors(tile, next, steps);
    __m256i even = _mm256_set1_epi32(1), odd = _mm256_set1_epi32(65536);
    if (steps & WHOLE) {
        even = _mm256_castps_si256(first.weight);
        odd = _mm256_castps_si256(every_second(&tile->upper, next, steps));
    }
    even = add_zero(round_codes(_mm256_madd_epi16(x, even), first, steps), &tile->limits, steps);
    odd = add_zero(round_codes(_mm256_madd_epi16(x, odd), second, steps), &tile->limits, steps);
    return limit_codes(s0_pack16(even, odd), &tile->limits, steps);
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
    const size_t period = s0_period16(count, 2);
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
    const float *weight, *offset, *scale, *bias;
    Limits limits;
} Given;

/* Eight columns. */
S0_INLINE __m256i given_codes8(__m128i x, const Given *g, size_t column, int steps) {
    const Factors factors = {_mm256_loadu_ps(g->weight + column), _mm256_loadu_ps(g->offset + column),
                             _mm256_loadu_ps(g->scale + column), _mm256_loadu_ps(g->bias + column)};
    return add_zero(round_codes(_mm256_cvtepi16_epi32(x), factors, steps), &g->limits, steps);
}

S0_INLINE __m256i given_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Given *given = (const Given *)parameters;
    const __m256i low = given_codes8(_mm256_castsi256_si128(x), given, column, steps);
    const __m256i high = given_codes8(_mm256_extracti128_si256(x, 1), given, column + 8, steps);
    const __m256i codes = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
    return limit_codes(codes, &given->limits, steps);
}

S0_INLINE void run_given_as(S0Rows left, const S0Reals16 *r, int steps) {
    const Given given = {r->weight, r->offset, r->scale, r->bias, limits_of(r->codes)};
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk16(s0_span16(&left, left.columns), given_codes, &given, steps);
    }
}

static void run_given(const S0Rows *rows, const S0Reals16 *reals) {
    if (s0_is_plain16(reals->codes)) {
        run_given_as(*rows, reals, ANY & ~CODED);
    } else {
        run_given_as(*rows, reals, ANY);
    }
}

void s0_real16_avx2(const S0Rows *rows, const S0Reals16 *reals) {
    size_t first, count;
    if (!s0_is_near16(reals->codes)) {
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

void s0_real16_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    s0_each_plane16(first, plane_bytes, reals, s0_real16_avx2);
}
#endif
