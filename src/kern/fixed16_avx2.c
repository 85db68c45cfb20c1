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
    TILE = 256,                 /* columns whose parameters are prepared together */
    ALL = 2 * TILE + S0_LANES16 /* repeated, see S0Span16 */
};

/* `high`: the upper half of the addend of column c is number c + 1. */
typedef struct {
    int32_t weight[ALL], multiplier[ALL + 1], low[ALL + 1], high[ALL + 1], exponent[ALL + 1], half[ALL], right[ALL],
        zero[ALL];
    Limits limits;
} Tile;

/* Columns [first, first + count), the parameters of which are wanted up to column `all`. */
static void prepare_tile(Tile *tile, const S0Fixed16 *fixed, size_t first, size_t count, size_t all) {
    size_t i, c;
    for (i = 0, c = 0; i < all; i++, c = c + 1 == count ? 0 : c + 1) {
        const Channel channel = channel_of(fixed, first + c);
        tile->weight[i] = channel.weight & 0xFFFF;
        tile->multiplier[i] = channel.multiplier;
        tile->low[i] = (int32_t)(uint32_t)channel.addend;
        tile->high[i + 1] = (int32_t)(uint32_t)(channel.addend >> 32);
        tile->exponent[i] = channel.exponent;
        tile->half[i] = channel.half;
        tile->right[i] = channel.right;
        tile->zero[i] = channel.zero;
    }
    tile->high[0] = tile->multiplier[all] = tile->low[all] = tile->exponent[all] = 0; /* read, and not used */
    tile->limits = limits_of(fixed->codes);
}

S0_INLINE __m256i load8(const int32_t *numbers) {
    return _mm256_loadu_si256((const __m256i *)(const void *)numbers);
}

/* Every second product from column c on, rounded: in the lower halves of pairs of 32 bits. */
S0_INLINE __m256i tile_round(__m256i acc, const Tile *tile, size_t c) {
    const __m256i addend = _mm256_blend_epi32(load8(tile->low + c), load8(tile->high + c), 0xAA);
    const __m256i exponent = _mm256_blend_epi32(load8(tile->exponent + c), _mm256_setzero_si256(), 0xAA);
    const __m256i product = _mm256_mul_epi32(acc, load8(tile->multiplier + c));
    return _mm256_srlv_epi64(_mm256_add_epi64(product, addend), exponent);
}

/* Eight codes, each in 32 bits. */
S0_INLINE __m256i tile_codes8(__m256i x, const Tile *tile, size_t c) {
    const __m256i acc = _mm256_madd_epi16(x, load8(tile->weight + c));
    const __m256i even = tile_round(acc, tile, c);
    const __m256i odd = tile_round(_mm256_srli_epi64(acc, 32), tile, c + 1);
    __m256i code = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
    code = _mm256_add_epi32(code, _mm256_cmpgt_epi32(load8(tile->half + c), code));
    return _mm256_add_epi32(_mm256_srav_epi32(code, load8(tile->right + c)), load8(tile->zero + c));
}

S0_INLINE __m256i tile_codes(__m256i x, const void *parameters, size_t column, int steps) {
    const Tile *tile = (const Tile *)parameters;
    const __m256i low = tile_codes8(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(x)), tile, column);
    const __m256i high = tile_codes8(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(x, 1)), tile, column + 8);
    (void)steps;
    return limit_codes(_mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8), &tile->limits);
}

static void run_tile(const S0Rows *rows, const S0Fixed16 *fixed, size_t first, size_t count) {
    const size_t period = s0_period16(count);
    S0Rows left = s0_columns16(rows, first, count);
    Tile tile;
    prepare_tile(&tile, fixed, first, count, period + S0_LANES16);
    for (; left.rows > 0; s0_rows_step(&left)) {
        const S0Span16 span = s0_span16(&left, period);
        if (span.n < S0_LANES16) {
            s0_walk_few16(span, tile_codes, &tile, 0);
        } else {
            s0_walk16(span, tile_codes, &tile, 0);
        }
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
