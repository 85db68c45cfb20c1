/* Codes of 16 bits in fixed point, with AVX-512.
 *
 * y = limit(round((x * weight + offset) * multiplier / 2^(31 - shift)) + zero_point, lo, hi). The product, of 64 bits,
 * is taken twice, so that the upper half of a sum is what a shift by 31 leaves: a shift to the left is in weight and
 * offset, one to the right is done in 32 bits. What is added before that comes as one number: offset * multiplier,
 * and half of what the shifts divide by.
 *
 * DOUBLE and CMSIS with a shift to the right: the upper half is the rounded product, which is divided by 2^right, ties
 * away from zero: (high + half - (high < 0)) >> right, where half has already been added.
 *
 * All that is done where nothing passes 32 bits, nor a weight 16; else the way of AVX2 is taken. */
#include "kern/codes16_avx512.h"

#if defined(__x86_64__)

enum { TWICE = 4 }; /* there may be a second rounding; or S0_CODED16 */

/* ---- Whether nothing passes */

S0_INLINE __mmask16 passes(__m512i magnitude, uint32_t most, __m512i up) {
    const __m512i limit = _mm512_srlv_epi32(_mm512_set1_epi32((int32_t)most), up);
    return _mm512_cmpgt_epu32_mask(magnitude, limit);
}

/* The numbers of 16 columns, or of every second one of 32. */
typedef struct {
    __m512i weight, offset, multiplier, shift;
} Numbers;

/* 2 * (x * weight + offset), shifted to the left, stays below 2^31, and 2 * weight below 2^15; by 15 or more, only
 * where the weight is 0. */
S0_INLINE int are_usual(const Numbers *n) {
    const __m512i up = _mm512_max_epi32(n->shift, _mm512_setzero_si512());
    const __mmask16 far = _mm512_cmplt_epi32_mask(n->shift, _mm512_set1_epi32(-30));
    return (far | passes(_mm512_abs_epi32(n->weight), (1U << 14) - 1, up) |
            passes(_mm512_abs_epi32(n->offset), (1U << 29) - 1, up)) == 0;
}

/* Every second number of 32, from number `from` on. */
S0_INLINE __m512i every_second(__m512i low, __m512i high, int from) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_epi32(low, _mm512_add_epi32(even, _mm512_set1_epi32(from)), high);
}

/* Of columns that the mask leaves out: 0. */
S0_INLINE Numbers numbers_at(const S0Fixed16 *fixed, size_t c, __mmask16 mask) {
    const __m512i a = _mm512_maskz_loadu_epi64((__mmask8)mask, fixed->factor + c);
    const __mmask8 upper = (__mmask8)(mask >> 8);
    const __m512i b = _mm512_maskz_loadu_epi64(upper, fixed->factor + c + s0_upper(upper, 8));
    const Numbers numbers = {_mm512_maskz_loadu_epi32(mask, fixed->weight + c),
                             _mm512_maskz_loadu_epi32(mask, fixed->offset + c), every_second(a, b, 0),
                             every_second(a, b, 1)};
    return numbers;
}

/* Of one channel. */
S0_INLINE Numbers splat(const S0Fixed16 *fixed) {
    const Numbers numbers = {_mm512_set1_epi32(fixed->weight[0]), _mm512_set1_epi32(fixed->offset[0]),
                             _mm512_set1_epi32(fixed->factor[0].multiplier), _mm512_set1_epi32(fixed->factor[0].shift)};
    return numbers;
}

/* ---- 32 codes */

/* Of every second code: pairs of weights of which one is 0; then what is of the even ones of these, and of the odd. */
typedef struct {
    __m512i weight;
    __m512i multiplier[2], addend[2];
    __m512i half; /* what is less was negative before half was added; INT32_MIN where there is no second rounding */
    __m512i right;
} Half;

typedef struct {
    Half even, odd;
} Pair;

S0_INLINE __m512i round_codes(__m512i x, const Half *h, int steps) {
    const __m512i acc = _mm512_madd_epi16(x, h->weight);
    const __m512i first = _mm512_add_epi64(_mm512_mul_epi32(acc, h->multiplier[0]), h->addend[0]);
    const __m512i next = _mm512_mul_epi32(_mm512_srli_epi64(acc, 32), h->multiplier[1]);
    const __m512 second = _mm512_castsi512_ps(_mm512_add_epi64(next, h->addend[1]));
    __m512i code = _mm512_castps_si512(_mm512_mask_movehdup_ps(second, 0x5555, _mm512_castsi512_ps(first)));
    if (steps & TWICE) {
        const __mmask16 was_negative = _mm512_cmplt_epi32_mask(code, h->half);
        code = _mm512_mask_sub_epi32(code, was_negative, code, _mm512_set1_epi32(1));
    }
    return _mm512_srav_epi32(code, h->right);
}

S0_INLINE __m512i pair_codes(__m512i x, const Pair *pair, const S0Limits16 *limits, int steps) {
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m512i even = round_codes(x, &pair->even, steps), odd = round_codes(x, &pair->odd, steps);
    return _mm512_shuffle_epi8(s0_pack16(even, odd, limits, steps), order);
}

/* Of even or of odd columns; `is_once`: there is one rounding. */
S0_INLINE Half half_of(Numbers n, int is_odd, int is_once) {
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    const __m512i lower = _mm512_set1_epi64(0xFFFFFFFF), top = _mm512_set1_epi32(INT32_MIN);
    const __m512i left = _mm512_add_epi32(_mm512_max_epi32(n.shift, zero), one);
    const __m512i right = _mm512_max_epi32(_mm512_sub_epi32(zero, n.shift), zero);
    const __m512i weight = _mm512_sllv_epi32(n.weight, left), offset = _mm512_sllv_epi32(n.offset, left);
    /* half of 2^right in the upper half of an addend; or half of 1, which is in the lower one */
    const __mmask16 is_shifted = _mm512_cmpgt_epi32_mask(right, zero);
    const __m512i half = _mm512_sllv_epi32(one, _mm512_sub_epi32(right, one));
    const __m512i below = is_once ? _mm512_mask_mov_epi32(top, is_shifted, zero) : top;
    const __m512i first = _mm512_or_si512(_mm512_slli_epi64(half, 32), _mm512_and_si512(below, lower));
    const __m512i second = _mm512_or_si512(_mm512_andnot_si512(lower, half), _mm512_srli_epi64(below, 32));
    const __m512i multiplier = _mm512_srli_epi64(n.multiplier, 32);
    const Half numbers = {
        is_odd ? _mm512_slli_epi32(weight, 16) : _mm512_and_si512(weight, _mm512_set1_epi32(0xFFFF)),
        {n.multiplier, multiplier},
        {_mm512_add_epi64(_mm512_mul_epi32(offset, n.multiplier), first),
         _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(offset, 32), multiplier), second)},
        _mm512_mask_mov_epi32(top, is_shifted, half),
        right,
    };
    return numbers;
}

S0_INLINE int is_once(const S0Fixed16 *fixed) {
    return fixed->rounding == S0_ROUND_SINGLE;
}

S0_INLINE int steps_of(const S0Fixed16 *fixed) {
    return (is_once(fixed) ? 0 : TWICE) | (s0_is_plain16(fixed->codes) ? 0 : S0_CODED16);
}

#define EACH_STEPS(CASE)                                                                                               \
    CASE(0)                                                                                                            \
    CASE(TWICE)                                                                                                        \
    CASE(S0_CODED16)                                                                                                   \
    CASE(S0_CODED16 | TWICE)

/* ---- One channel */

typedef struct {
    Pair pair;
    S0Limits16 limits;
} Plane;

S0_INLINE __m512i plane_codes(__m512i x, const void *parameters, size_t column, __mmask32 mask, int steps) {
    const Plane *plane = (const Plane *)parameters;
    (void)column;
    (void)mask;
    return pair_codes(x, &plane->pair, &plane->limits, steps);
}

S0_INLINE void run_plane_as(const S0Rows *rows, const S0Fixed16 *fixed, int steps) {
    Plane plane;
    plane.limits = s0_limits16(fixed->codes);
    plane.pair.even = plane.pair.odd = half_of(splat(fixed), 0, is_once(fixed));
    plane.pair.odd.weight = _mm512_slli_epi32(plane.pair.even.weight, 16);
    s0_walk_rows16(s0_rows_joined(rows, rows->columns * sizeof(int16_t)), plane_codes, &plane, steps);
    if (rows->streams) {
        _mm_sfence();
    }
}

static void run_plane(const S0Rows *rows, const S0Fixed16 *fixed) {
    const Numbers numbers = splat(fixed);
    if (!are_usual(&numbers)) {
        s0_fixed16_avx2(rows, fixed);
        return;
    }
    switch (steps_of(fixed)) {
#define CASE(constant)                                                                                                 \
    case constant:                                                                                                     \
        run_plane_as(rows, fixed, constant);                                                                           \
        break;
        EACH_STEPS(CASE)
#undef CASE
    }
}

/* ---- Channel last */

enum { TILE = 256 }; /* columns whose parameters are prepared together */

typedef struct {
    Pair pair[TILE / S0_LANES16];
    S0Limits16 limits;
} Tile;

S0_INLINE Numbers second_of(const Numbers *a, const Numbers *b, int from) {
    const Numbers numbers = {every_second(a->weight, b->weight, from), every_second(a->offset, b->offset, from),
                             every_second(a->multiplier, b->multiplier, from), every_second(a->shift, b->shift, from)};
    return numbers;
}

/* Whether the 32 columns from c on, or those that there are, are usual. */
static int prepare_pair(Pair *pair, const S0Fixed16 *fixed, size_t c) {
    const __mmask32 mask = s0_first_of_32(fixed->channels - c);
    const __mmask16 upper = (__mmask16)(mask >> 16);
    const Numbers a = numbers_at(fixed, c, (__mmask16)mask), b = numbers_at(fixed, c + s0_upper(upper, 16), upper);
    pair->even = half_of(second_of(&a, &b, 0), 0, is_once(fixed));
    pair->odd = half_of(second_of(&a, &b, 1), 1, is_once(fixed));
    return are_usual(&a) && are_usual(&b);
}

S0_INLINE void group_codes(__m512i *codes, size_t count, const void *parameters, size_t column, int steps) {
    const Tile *tile = (const Tile *)parameters;
    const Pair pair = tile->pair[column / S0_LANES16];
#pragma GCC unroll 4
    for (size_t k = 0; k < count; k++) {
        codes[k] = pair_codes(codes[k], &pair, &tile->limits, steps);
    }
}

static void run_tile(const S0Rows *rows, const S0Fixed16 *fixed) {
    Tile tile;
    int usual = 1;
    tile.limits = s0_limits16(fixed->codes);
    for (size_t c = 0; usual && c < fixed->channels; c += S0_LANES16) {
        usual = prepare_pair(&tile.pair[c / S0_LANES16], fixed, c);
    }
    if (!usual) {
        s0_fixed16_avx2(rows, fixed);
        return;
    }
    switch (steps_of(fixed)) {
#define CASE(constant)                                                                                                 \
    case constant:                                                                                                     \
        s0_walk_tile16(*rows, group_codes, &tile, constant);                                                           \
        break;
        EACH_STEPS(CASE)
#undef CASE
    }
}

static void run_columns(const S0Rows *rows, const S0Fixed16 *fixed, size_t first, size_t count) {
    const S0Rows part = s0_columns16(rows, first, count);
    S0Fixed16 given = *fixed;
    given.channels = count;
    given.weight += first;
    given.offset += first;
    given.factor += first;
    run_tile(&part, &given);
}

void s0_fixed16_avx512(const S0Rows *rows, const S0Fixed16 *fixed) {
    if (!s0_is_near16(fixed->codes)) {
        s0_fixed16_portable(rows, fixed);
    } else if (fixed->channels == 1) {
        run_plane(rows, fixed);
    } else {
        for (size_t first = 0; first < rows->columns; first += TILE) {
            const size_t left = rows->columns - first;
            run_columns(rows, fixed, first, left < TILE ? left : TILE);
        }
    }
}
#endif
