/* Codes of 8 bits by a product of 16 bits, with AVX-512.
 *
 * As with AVX2: bytes of zero are laid below those of x, which makes words of x * 256 in two vectors, of the lower and
 * of the upper eight codes of each 16. Where every divisor is 256 the results are the high bytes of the sums, which one
 * permutation gathers; else words are shifted and packed. */
#include "kern/codes8.h"
#include "kern/codes8_avx512.h"

#if defined(__x86_64__)

/* Beside those of all forms. */
enum {
    ODD = S0_FORM,     /* a code of a channel differs */
    TOP = 2 * S0_FORM, /* every divisor is 256 */
    BOTH = S0_FLIPS | S0_LIMITS,
};

/* Two vectors of words each, one of where high bytes are, and two of bytes. */
enum { MULTIPLIER = 0, ADDEND = 2, SHIFT = 4, HIGH_BYTES = SHIFT, ODD_CODE = 6, ODD_STEP = 7 };

enum { TOP_DIVISOR = 256 };

S0_INLINE __m512i sum_half(__m512i words, const S0Lanes8 *lanes, int half) {
    return _mm512_adds_epi16(_mm512_mulhrs_epi16(words, lanes->of[MULTIPLIER + half]), lanes->of[ADDEND + half]);
}

S0_INLINE __m512i quotients(__m512i low, __m512i high, const S0Lanes8 *lanes, int flags) {
    if ((flags & TOP) != 0) {
        return _mm512_permutex2var_epi8(low, lanes->of[HIGH_BYTES], high);
    }
    return _mm512_packs_epi16(_mm512_srav_epi16(low, lanes->of[SHIFT]), _mm512_srav_epi16(high, lanes->of[SHIFT + 1]));
}

S0_INLINE __m512i apply(__m512i codes, const S0Lanes8 *lanes, int flags) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i x = s0_enter8(codes, lanes, flags);
    __m512i low = sum_half(_mm512_unpacklo_epi8(zero, x), lanes, 0);
    __m512i high = sum_half(_mm512_unpackhi_epi8(zero, x), lanes, 1);
    __m512i y = s0_limit8(quotients(low, high, lanes, flags), lanes, flags);
    if ((flags & ODD) != 0) {
        y = _mm512_mask_add_epi8(y, _mm512_cmpeq_epi8_mask(x, lanes->of[ODD_CODE]), y, lanes->of[ODD_STEP]);
    }
    return s0_leave8(y, lanes, flags);
}

/* Of each 16 codes the lower eight are of the first vector of words, the upper eight of the second. */
S0_INLINE __m512i high_bytes(void) {
    return _mm512_setr_epi64(0x0f0d0b0907050301, 0x4f4d4b4947454341, 0x1f1d1b1917151311, 0x5f5d5b5957555351,
                             0x2f2d2b2927252321, 0x6f6d6b6967656361, 0x3f3d3b3937353331, 0x7f7d7b7977757371);
}

/* A divisor of 2^8 to 2^14 in each word, as a shift by 8 to 2: looked up by its high byte, modulo 64. */
S0_INLINE __m512i shifts(__m512i divisors) {
    const __m512i by_byte =
        _mm512_setr_epi32(0x00070802, 0x00000006, 0x00000005, 0, 0x00000004, 0, 0, 0, 0x00000003, 0, 0, 0, 0, 0, 0, 0);
    const __mmask64 low_bytes = 0x5555555555555555;
    return _mm512_maskz_permutexvar_epi8(low_bytes, _mm512_srli_epi16(divisors, 8), by_byte);
}

/* ---- One channel */

typedef void Run(const S0Rows *rows, const S0Products8 *products);

S0_INLINE void splat(S0Lanes8 *lanes, const S0Products8 *products, int flags) {
    s0_share8(lanes, &products->bytes);
    lanes->of[MULTIPLIER] = lanes->of[MULTIPLIER + 1] = _mm512_set1_epi16(products->multiplier[0]);
    lanes->of[ADDEND] = lanes->of[ADDEND + 1] = _mm512_set1_epi16(products->addend[0]);
    lanes->of[SHIFT] = lanes->of[SHIFT + 1] = shifts(_mm512_set1_epi16(products->divisor[0]));
    if ((flags & TOP) != 0) {
        lanes->of[HIGH_BYTES] = high_bytes();
    }
    if ((flags & ODD) != 0) {
        lanes->of[ODD_CODE] = _mm512_set1_epi8(products->odd_code[0]);
        lanes->of[ODD_STEP] = _mm512_set1_epi8(products->odd_step[0]);
    }
}

#define PLANE(name, flags)                                                                                             \
    static void name(const S0Rows *rows, const S0Products8 *products) {                                                \
        S0Lanes8 lanes;                                                                                                \
        splat(&lanes, products, flags);                                                                                \
        s0_plane8(rows, apply, flags, &lanes);                                                                         \
    }

/* Of each kind without and with flips or limits; past the caches with all that costs nothing there. */
#define KINDS(EACH, name)                                                                                              \
    EACH(name##_bare, 0)                                                                                               \
    EACH(name##_both, BOTH)                                                                                            \
    EACH(name##_odd, ODD)                                                                                              \
    EACH(name##_odd_both, ODD | BOTH)                                                                                  \
    EACH(name##_top, TOP)                                                                                              \
    EACH(name##_top_both, TOP | BOTH)                                                                                  \
    EACH(name##_top_odd, TOP | ODD)                                                                                    \
    EACH(name##_top_odd_both, TOP | ODD | BOTH)                                                                        \
    EACH(name##_past, BOTH | S0_STREAMS)                                                                               \
    EACH(name##_past_odd, ODD | BOTH | S0_STREAMS)

KINDS(PLANE, plane)

/* ---- Channel last */

S0_INLINE void load_words(__m512i *lanes, const int16_t *words, __mmask64 mask) {
    const __mmask32 upper = (__mmask32)(mask >> 32);
    __m512i first = _mm512_maskz_loadu_epi16((__mmask32)mask, words);
    __m512i second = _mm512_maskz_loadu_epi16(upper, words + s0_upper(upper, 32));
    lanes[0] = _mm512_shuffle_i64x2(first, second, 0x88); /* every other eight words */
    lanes[1] = _mm512_shuffle_i64x2(first, second, 0xdd);
}

S0_INLINE void load(S0Lanes8 *lanes, const void *parameters, size_t column, __mmask64 mask, int flags) {
    const S0Products8 *products = (const S0Products8 *)parameters;
    load_words(&lanes->of[MULTIPLIER], products->multiplier + column, mask);
    load_words(&lanes->of[ADDEND], products->addend + column, mask);
    if ((flags & TOP) != 0) {
        lanes->of[HIGH_BYTES] = high_bytes();
    } else {
        load_words(&lanes->of[SHIFT], products->divisor + column, mask);
        lanes->of[SHIFT] = shifts(lanes->of[SHIFT]);
        lanes->of[SHIFT + 1] = shifts(lanes->of[SHIFT + 1]);
    }
    if ((flags & ODD) != 0) {
        lanes->of[ODD_CODE] = _mm512_maskz_loadu_epi8(mask, products->odd_code + column);
        lanes->of[ODD_STEP] = _mm512_maskz_loadu_epi8(mask, products->odd_step + column);
    }
}

#define PIXELS(name, flags)                                                                                            \
    static void name(const S0Rows *rows, const S0Products8 *products) {                                                \
        const S0Form8 form = {&products->bytes, products, load, apply};                                                \
        s0_pixels8(rows, &form, flags);                                                                                \
    }

KINDS(PIXELS, pixels)

/* ---- Which of them */

/* Any divisors, or TOP ones, or past the caches. */
enum { WAY_TOP = 1, WAY_PAST = 2, WAYS = 3 };

/* By way, whether codes are mended, and whether there are flips or limits. */
#define RUNS(name)                                                                                                     \
    {                                                                                                                  \
        {{name##_bare, name##_both}, {name##_odd, name##_odd_both}},                                                   \
            {{name##_top, name##_top_both}, {name##_top_odd, name##_top_odd_both}},                                    \
            {{name##_past, name##_past}, {name##_past_odd, name##_past_odd}},                                          \
    }

static int are_top(const S0Products8 *products) {
    const __m512i top = _mm512_set1_epi16(TOP_DIVISOR);
    __mmask32 others = 0;
    for (size_t c = 0; c < products->channels; c += 32) {
        const __mmask32 mask = s0_first_of_32(products->channels - c);
        others |= _mm512_mask_cmpneq_epi16_mask(mask, _mm512_maskz_loadu_epi16(mask, products->divisor + c), top);
    }
    return others == 0;
}

static int way_of(const S0Rows *rows, int top) {
    return rows->streams ? WAY_PAST : top ? WAY_TOP : 0;
}

void s0_product8_avx512(const S0Rows *rows, const S0Products8 *products) {
    static Run *const planes[WAYS][2][2] = RUNS(plane), *const pixels[WAYS][2][2] = RUNS(pixels);
    const int both = s0_flags8(&products->bytes) != 0;
    Run *run;
    if (products->channels == 1) {
        const int odd = s0_has_odd(products) && products->odd_step[0] != 0;
        run = planes[way_of(rows, products->divisor[0] == TOP_DIVISOR)][odd][both];
    } else {
        run = pixels[way_of(rows, are_top(products))][s0_has_odd(products)][both];
    }
    run(rows, products);
}

/* ---- Channel first, many planes */

/* Nothing is called between two short planes, where no code is mended. */
static void whole_planes(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    const uint8_t *x = (const uint8_t *)first->x;
    uint8_t *y = (uint8_t *)first->y;
    const S0Products8 given = *products;
    const size_t bytes = first->columns;
    S0Lanes8 lanes;
    s0_share8(&lanes, &given.bytes);
    lanes.of[HIGH_BYTES] = high_bytes();
    for (size_t c = 0; c < given.channels; c++, x += plane_bytes, y += plane_bytes) {
        if (s0_has_odd(&given) && given.odd_step[c] != 0) {
            s0_plane_of8(first, plane_bytes, products, c, s0_product8_avx512);
            continue;
        }
        lanes.of[MULTIPLIER] = lanes.of[MULTIPLIER + 1] = _mm512_set1_epi16(given.multiplier[c]);
        lanes.of[ADDEND] = lanes.of[ADDEND + 1] = _mm512_set1_epi16(given.addend[c]);
        if (given.divisor[c] == TOP_DIVISOR) {
            s0_run8(x, y, bytes, apply, TOP, &lanes);
        } else {
            S0Lanes8 shifted = lanes;
            shifted.of[SHIFT] = shifted.of[SHIFT + 1] = shifts(_mm512_set1_epi16(given.divisor[c]));
            s0_run8(x, y, bytes, apply, 0, &shifted);
        }
    }
}

void s0_product8_planes_avx512(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    const S0Rows joined = s0_rows_joined(first, first->columns);
    if (joined.rows == 1 && !joined.streams && s0_flags8(&products->bytes) == 0) {
        whole_planes(&joined, plane_bytes, products);
    } else {
        s0_each_plane8(first, plane_bytes, products, s0_product8_avx512);
    }
}
#endif
