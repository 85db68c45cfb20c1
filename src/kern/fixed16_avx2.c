/* Codes of 16 bits in fixed point, with AVX2.
 *
 * y = limit(round((x * weight + offset) * multiplier / 2^exponent) + zero_point, lo, hi), exponent = 31 - shift. The
 * product is of 64 bits, two of a pair of lanes one after the other. What is added to it before it is shifted comes as
 * one number: offset * multiplier and half of 2^exponent. The lower 32 bits of a logical shift are those of the
 * quotient where exponent <= 32; else 2^63 is added as well, so that the sum is positive, and what that leaves, 2^(63 -
 * exponent), is taken off with the zero point, in 32 bits.
 *
 * DOUBLE and CMSIS with a shift to the right: the exponent is 31, then high = the rounded product is divided by
 * 2^right, ties away from zero: (high + half - (high < 0)) >> right, where half has already been added as half * 2^31.
 *
 * All that is done where nothing passes 32 bits; else, and for few rows of many channels, the portable way is taken. */
#include "kern/codes16.h"
#include "kern/codes16_avx2.h"

#if defined(__x86_64__)

enum {
    TWICE = 1, /* there is a second rounding */
    CODED = 2, /* something to add in 32 bits, or limits within those of int16 */
    LEFT = 4,  /* exponent <= 32: what comes from odd lanes is shifted to the left, to its place */
};

/* One channel. */
typedef struct {
    int32_t weight, multiplier;
    uint64_t addend;
    int32_t exponent;
    int32_t half;  /* what is less was negative before half was added; INT32_MIN where there is no second rounding */
    int32_t right; /* the second shift */
    int32_t zero;
} Channel;

static uint64_t magnitude(int64_t x) {
    return (uint64_t)(x < 0 ? -x : x);
}

static int has_second(const S0Fixed16 *fixed, S0Multiplier factor) {
    return fixed->rounding != S0_ROUND_SINGLE && factor.shift < 0;
}

/* Whether nothing of channel c passes 32 bits, for any code. */
static int is_usual(const S0Fixed16 *fixed, size_t c) {
    const S0Multiplier factor = fixed->factor[c];
    const uint64_t acc = 32768 * magnitude(fixed->weight[c]) + magnitude(fixed->offset[c]);
    if (factor.shift < -31 || factor.shift > 15 || magnitude(fixed->weight[c]) > INT16_MAX) {
        return 0;
    }
    const uint64_t half = has_second(fixed, factor) ? UINT64_C(1) << (-factor.shift - 1) : 0;
    return acc + half <= INT32_MAX && (acc * magnitude(factor.multiplier)) >> (31 - factor.shift) < UINT64_C(1) << 30;
}

static int is_near(S0Codes codes) {
    return codes.zero_point >= -(1 << 28) && codes.zero_point <= 1 << 28;
}

static Channel channel_of(const S0Fixed16 *fixed, size_t c) {
    const S0Multiplier factor = fixed->factor[c];
    const int is_twice = has_second(fixed, factor);
    const uint64_t base = (uint64_t)((int64_t)fixed->offset[c] * factor.multiplier);
    Channel channel = {fixed->weight[c], factor.multiplier, base, 31, INT32_MIN, 0, fixed->codes.zero_point};
    if (is_twice) {
        channel.right = -factor.shift;
        channel.half = (int32_t)1 << (channel.right - 1);
        channel.addend += (UINT64_C(1) << 30) + ((uint64_t)channel.half << 31);
    } else {
        channel.exponent = 31 - factor.shift;
        channel.addend += UINT64_C(1) << (channel.exponent - 1);
    }
    if (channel.exponent > 32) {
        channel.addend += UINT64_C(1) << 63;
        channel.zero -= (int32_t)1 << (63 - channel.exponent);
    }
    return channel;
}

typedef struct {
    __m256i lo, hi;
} Limits;

static Limits limits_of(S0Codes codes) {
    const Limits limits = {_mm256_set1_epi16((int16_t)codes.lo), _mm256_set1_epi16((int16_t)codes.hi)};
    return limits;
}

S0_INLINE __m256i limit_codes(__m256i codes, const Limits *limits) {
    return _mm256_min_epi16(_mm256_max_epi16(codes, limits->lo), limits->hi);
}

/* ---- one channel */

typedef struct {
    __m256i even, odd; /* weights, in pairs of 16 bits with 0 */
    __m256i multiplier, addend, half, zero;
    __m128i exponent, to_odd, right;
    Limits limits;
} Plane;

/* Products of every second code, in pairs of 32 bits, rounded. */
S0_INLINE __m256i plane_round(__m256i acc, const Plane *p, int steps) {
    __m256i first = _mm256_mul_epi32(acc, p->multiplier);
    __m256i second = _mm256_mul_epi32(_mm256_srli_epi64(acc, 32), p->multiplier);
    first = _mm256_srl_epi64(_mm256_add_epi64(first, p->addend), p->exponent);
    second = _mm256_add_epi64(second, p->addend);
    second = steps & LEFT ? _mm256_sll_epi64(second, p->to_odd) : _mm256_srl_epi64(second, p->to_odd);
    __m256i code = _mm256_blend_epi32(first, second, 0xAA);
    if (steps & TWICE) {
        code = _mm256_sra_epi32(_mm256_add_epi32(code, _mm256_cmpgt_epi32(p->half, code)), p->right);
    }
    return steps & CODED ? _mm256_add_epi32(code, p->zero) : code;
}

S0_INLINE __m256i plane_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Plane *plane = (const Plane *)parameters;
    const __m256i even = plane_round(_mm256_madd_epi16(x, plane->even), plane, steps);
    const __m256i odd = plane_round(_mm256_madd_epi16(x, plane->odd), plane, steps);
    const __m256i codes = s0_pack16(even, odd);
    (void)column;
    return steps & CODED ? limit_codes(codes, &plane->limits) : codes;
}

S0_INLINE Plane plane_of(const Channel *c, S0Codes codes) {
    const Plane plane = {
        .even = _mm256_set1_epi32(c->weight & 0xFFFF),
        .odd = _mm256_slli_epi32(_mm256_set1_epi32(c->weight), 16),
        .multiplier = _mm256_set1_epi32(c->multiplier),
        .addend = _mm256_set1_epi64x((int64_t)c->addend),
        .half = _mm256_set1_epi32(c->half),
        .zero = _mm256_set1_epi32(c->zero),
        .exponent = _mm_cvtsi32_si128(c->exponent),
        .to_odd = _mm_cvtsi32_si128(c->exponent <= 32 ? 32 - c->exponent : c->exponent - 32),
        .right = _mm_cvtsi32_si128(c->right),
        .limits = limits_of(codes),
    };
    return plane;
}

S0_INLINE void run_plane_as(S0Rows left, const Channel *channel, S0Codes codes, int steps) {
    const Plane plane = plane_of(channel, codes);
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk16(s0_span16(&left, left.columns), plane_codes, &plane, steps);
    }
}

static void run_narrow_plane(S0Rows left, const Channel *channel, S0Codes codes) {
    const Plane plane = plane_of(channel, codes);
    for (; left.rows > 0; s0_rows_step(&left)) {
        const S0Span16 span = s0_span16(&left, left.columns);
        if (channel->exponent > 32) {
            s0_walk_few16(span, plane_codes, &plane, CODED);
        } else {
            s0_walk_few16(span, plane_codes, &plane, LEFT | TWICE | CODED);
        }
    }
}

static void run_plane(const S0Rows *rows, const S0Fixed16 *fixed) {
    const S0Codes codes = fixed->codes;
    const Channel channel = channel_of(fixed, 0);
    const S0Rows left = s0_rows_joined(rows, rows->columns * sizeof(int16_t));
    const int is_coded = channel.zero != 0 || codes.lo != INT16_MIN || codes.hi != INT16_MAX;
    if (left.columns < S0_LANES16) {
        run_narrow_plane(left, &channel, codes);
    } else if (channel.exponent > 32) {
        run_plane_as(left, &channel, codes, CODED);
    } else if (channel.right > 0 && is_coded) {
        run_plane_as(left, &channel, codes, LEFT | TWICE | CODED);
    } else if (channel.right > 0) {
        run_plane_as(left, &channel, codes, LEFT | TWICE);
    } else if (is_coded) {
        run_plane_as(left, &channel, codes, LEFT | CODED);
    } else {
        run_plane_as(left, &channel, codes, LEFT);
    }
}

/* ---- a channel a column */

enum {
    TILE = 128,                    /* columns whose parameters are prepared together */
    FOURTH = TILE + S0_LANES16 / 4 /* they are repeated, see S0Span16 */
};

/* Of the columns that are 0 modulo 4, then 1, 2 and 3: every fourth of them is a vector, for the products of 64 bits.
 */
typedef struct {
    uint64_t number[4 * FOURTH];
} __attribute__((aligned(64))) Fourths;

/* Of even columns, then of odd ones. */
typedef struct {
    int32_t number[4 * FOURTH];
} __attribute__((aligned(64))) Halves;

typedef struct {
    Fourths multiplier, addend, exponent;
    Halves half, right, zero;
    int16_t weight[4 * FOURTH];
    Limits limits;
    int steps;
} Tile;

/* What some column of a tile needs. */
enum {
    SECOND = 1, /* a second rounding */
    SHIFTS = 2, /* an exponent other than 31 */
};

static inline size_t fourth_of(size_t column) {
    return column / 4 + column % 4 * FOURTH;
}

static inline size_t half_of(size_t column) {
    return column / 2 + column % 2 * 2 * FOURTH;
}

static void put_channel(Tile *tile, size_t column, const Channel *channel) {
    const size_t fourth = fourth_of(column), half = half_of(column);
    tile->multiplier.number[fourth] = (uint32_t)channel->multiplier;
    tile->addend.number[fourth] = channel->addend;
    tile->exponent.number[fourth] = (uint32_t)channel->exponent;
    tile->half.number[half] = channel->half;
    tile->right.number[half] = channel->right;
    tile->zero.number[half] = channel->zero;
    tile->weight[column] = (int16_t)channel->weight;
    tile->steps |= (channel->right != 0 ? SECOND : 0) | (channel->exponent != 31 ? SHIFTS : 0);
}

/* Columns [first, first + count), the parameters of which are wanted up to column `all`. */
static void prepare_tile(Tile *tile, const S0Fixed16 *fixed, size_t first, size_t count, size_t all) {
    size_t i, c;
    tile->steps = 0;
    tile->limits = limits_of(fixed->codes);
    for (i = 0, c = 0; i < all; i++, c = c + 1 == count ? 0 : c + 1) {
        const Channel channel = channel_of(fixed, first + c);
        put_channel(tile, i, &channel);
    }
}

/* Of an aligned column, every part of it is no more than an address. */
S0_INLINE __m256i load_fourths(const Fourths *fourths, size_t column, size_t next, int steps) {
    const size_t at = steps & S0_ALIGNED16 ? column / 4 + next * FOURTH : fourth_of(column + next);
    return _mm256_loadu_si256((const __m256i *)(const void *)(fourths->number + at));
}

S0_INLINE __m256i load_halves(const Halves *halves, size_t column, size_t next, int steps) {
    const size_t at = steps & S0_ALIGNED16 ? column / 2 + next * 2 * FOURTH : half_of(column + next);
    return _mm256_loadu_si256((const __m256i *)(const void *)(halves->number + at));
}

/* Products of columns column + next, column + next + 4 and so on, rounded, in the lower or the upper 32 bits. */
S0_INLINE __m256i tile_product(__m256i acc, const Tile *tile, size_t column, size_t next, int steps) {
    const __m256i product = _mm256_mul_epi32(acc, load_fourths(&tile->multiplier, column, next, steps));
    const __m256i sum = _mm256_add_epi64(product, load_fourths(&tile->addend, column, next, steps));
    if (!(steps & SHIFTS)) {
        return next < 2 ? _mm256_srli_epi64(sum, 31) : _mm256_slli_epi64(sum, 1);
    }
    const __m256i code = _mm256_srlv_epi64(sum, load_fourths(&tile->exponent, column, next, steps));
    return next < 2 ? code : _mm256_slli_epi64(code, 32);
}

/* Codes of columns column + next, column + next + 2 and so on. */
S0_INLINE __m256i tile_round(__m256i acc, const Tile *tile, size_t column, size_t next, int steps) {
    const __m256i first = tile_product(acc, tile, column, next, steps);
    const __m256i second = tile_product(_mm256_srli_epi64(acc, 32), tile, column, next + 2, steps);
    __m256i code = _mm256_blend_epi32(first, second, 0xAA);
    if (steps & SECOND) {
        code = _mm256_add_epi32(code, _mm256_cmpgt_epi32(load_halves(&tile->half, column, next, steps), code));
        code = _mm256_srav_epi32(code, load_halves(&tile->right, column, next, steps));
    }
    return _mm256_add_epi32(code, load_halves(&tile->zero, column, next, steps));
}

S0_INLINE __m256i tile_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Tile *tile = (const Tile *)parameters;
    const __m256i low = _mm256_set1_epi32(0xFFFF);
    const __m256i weight = _mm256_loadu_si256((const __m256i *)(const void *)(tile->weight + column));
    const __m256i even = _mm256_madd_epi16(x, _mm256_and_si256(weight, low));
    const __m256i odd = _mm256_madd_epi16(x, _mm256_andnot_si256(low, weight));
    return limit_codes(s0_pack16(tile_round(even, tile, column, 0, steps), tile_round(odd, tile, column, 1, steps)),
                       &tile->limits);
}

S0_INLINE void run_tile_as(S0Rows left, const Tile *tile, size_t period, int steps) {
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk16(s0_span16(&left, period), tile_codes, tile, steps);
    }
}

static void run_narrow_tile(S0Rows left, const Tile *tile, size_t period) {
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_walk_few16(s0_span16(&left, period), tile_codes, tile, SECOND | SHIFTS);
    }
}

static void run_tile(const S0Rows *rows, const S0Fixed16 *fixed, size_t first, size_t count) {
    const size_t period = s0_period16(count, 4);
    const S0Rows left = s0_columns16(rows, first, count);
    Tile tile;
    prepare_tile(&tile, fixed, first, count, period + S0_LANES16);
    if (left.columns < S0_LANES16) {
        run_narrow_tile(left, &tile, period);
    } else if (tile.steps == SECOND) {
        run_tile_as(left, &tile, period, SECOND);
    } else if (tile.steps == SHIFTS) {
        run_tile_as(left, &tile, period, SHIFTS);
    } else {
        run_tile_as(left, &tile, period, SECOND | SHIFTS);
    }
}

static int all_usual(const S0Fixed16 *fixed) {
    int all = is_near(fixed->codes);
    size_t c;
    for (c = 0; all && c < fixed->channels; c++) {
        all = is_usual(fixed, c);
    }
    return all;
}

void s0_fixed16_avx2(const S0Rows *rows, const S0Fixed16 *fixed) {
    size_t first, count;
    if ((fixed->channels > 1 && rows->rows < 4) || !all_usual(fixed)) {
        s0_fixed16_portable(rows, fixed);
    } else if (fixed->channels == 1) {
        run_plane(rows, fixed);
    } else {
        for (first = 0; first < rows->columns; first += count) {
            count = s0_tile_columns16(rows->columns - first, TILE);
            run_tile(rows, fixed, first, count);
        }
    }
}
#endif
