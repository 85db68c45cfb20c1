/* Codes of 8 bits by a product of 16 bits, with AVX2.
 *
 * Bytes of zero are laid below those of x, which makes words of x * 256 with their signs, in two vectors: codes 0-7,
 * 16-23 and codes 8-15, 24-31 of 32. Packing the words of the two undoes that. Words of parameters lie the same way.
 * With nothing beside it that is nine operations for 32 codes. */
#include "kern/codes8.h"
#include "kern/codes8_avx2.h"

#if defined(__x86_64__)

/* Beside those of all forms. */
enum {
    ODD = S0_FORM,       /* a code of a channel differs */
    FREE = 2 * S0_FORM,  /* no sum leaves 16 bits: adding without a limit runs on more units */
    SHIFT = 4 * S0_FORM, /* a shift in place of a divisor */
    BOTH = S0_FLIPS | S0_LIMITS,
};

/* Two vectors of words each, and two of bytes. */
enum { MULTIPLIER = 0, ADDEND = 2, DIVISOR = 4, ODD_CODE = 6, ODD_STEP = 7 };

S0_INLINE __m256i apply_half(__m256i words, const S0Lanes8 *lanes, int half, int flags) {
    __m256i high = _mm256_mulhrs_epi16(words, lanes->of[MULTIPLIER + half]);
    __m256i addend = lanes->of[ADDEND + half], divisor = lanes->of[DIVISOR + half];
    __m256i sum = (flags & FREE) != 0 ? _mm256_add_epi16(high, addend) : _mm256_adds_epi16(high, addend);
    return (flags & SHIFT) != 0 ? _mm256_sra_epi16(sum, _mm256_castsi256_si128(divisor))
                                : _mm256_mulhi_epi16(sum, divisor);
}

S0_INLINE __m256i apply(__m256i codes, const S0Lanes8 *lanes, int flags) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i x = s0_enter8(codes, lanes, flags);
    __m256i low = apply_half(_mm256_unpacklo_epi8(zero, x), lanes, 0, flags);
    __m256i high = apply_half(_mm256_unpackhi_epi8(zero, x), lanes, 1, flags);
    __m256i y = s0_limit8(_mm256_packs_epi16(low, high), lanes, flags);
    if ((flags & ODD) != 0) {
        __m256i is_odd = _mm256_cmpeq_epi8(x, lanes->of[ODD_CODE]);
        y = _mm256_add_epi8(y, _mm256_and_si256(is_odd, lanes->of[ODD_STEP]));
    }
    return s0_leave8(y, lanes, flags);
}

static int is_odd_given(const S0Products8 *products) {
    return products->odd_code != 0 && products->odd_step != 0;
}

/* Whether no multiplier and addend together leave 16 bits: |h| <= |multiplier|. */
static int is_free(int16_t multiplier, int16_t addend) {
    int32_t m = multiplier, b = addend;
    return (m < 0 ? -m : m) + (b < 0 ? -b : b) <= INT16_MAX;
}

/* One channel */

typedef void Run(const uint8_t *x, uint8_t *y, size_t bytes, const S0Products8 *products);

S0_INLINE void splat(S0Lanes8 *lanes, const S0Products8 *products, int flags) {
    int shift = 16 - __builtin_ctz((unsigned)products->divisor[0]);
    s0_share8(lanes, &products->bytes);
    lanes->of[MULTIPLIER] = lanes->of[MULTIPLIER + 1] = _mm256_set1_epi16(products->multiplier[0]);
    lanes->of[ADDEND] = lanes->of[ADDEND + 1] = _mm256_set1_epi16(products->addend[0]);
    lanes->of[DIVISOR] = lanes->of[DIVISOR + 1] = _mm256_castsi128_si256(_mm_cvtsi32_si128(shift));
    lanes->of[ODD_CODE] = _mm256_set1_epi8((flags & ODD) != 0 ? products->odd_code[0] : 0);
    lanes->of[ODD_STEP] = _mm256_set1_epi8((flags & ODD) != 0 ? products->odd_step[0] : 0);
}

#define RUN(name, run, flags)                                                                                          \
    static void name(const uint8_t *x, uint8_t *y, size_t bytes, const S0Products8 *products) {                        \
        S0Lanes8 lanes;                                                                                                \
        splat(&lanes, products, flags);                                                                                \
        run(x, y, bytes, apply, (flags) | SHIFT, &lanes);                                                              \
    }

RUN(run_bare, s0_run8, 0)
RUN(run_flips, s0_run8, S0_FLIPS)
RUN(run_limits, s0_run8, S0_LIMITS)
RUN(run_both, s0_run8, BOTH)
RUN(run_free, s0_run8, FREE)
RUN(run_free_flips, s0_run8, FREE | S0_FLIPS)
RUN(run_free_limits, s0_run8, FREE | S0_LIMITS)
RUN(run_free_both, s0_run8, FREE | BOTH)
RUN(run_odd, s0_run8, ODD | BOTH)
RUN(run_streams, s0_stream8, BOTH)
RUN(run_streams_odd, s0_stream8, ODD | BOTH)
RUN(run_few, s0_few8, BOTH)
RUN(run_few_odd, s0_few8, ODD | BOTH)

__attribute__((noinline)) static Run *choose_run(size_t bytes, int streams, const S0Products8 *products) {
    static Run *const plain[] = {
        run_bare, run_flips, run_limits, run_both, run_free, run_free_flips, run_free_limits, run_free_both,
    };
    int odd = is_odd_given(products) && products->odd_step[0] != 0;
    if (bytes < S0_VECTOR_BYTES) {
        return odd ? run_few_odd : run_few;
    }
    if (streams) {
        return odd ? run_streams_odd : run_streams;
    }
    int free = is_free(products->multiplier[0], products->addend[0]);
    return odd ? run_odd : plain[4 * free + s0_flags8(&products->bytes)];
}

/* Planes are short, and instructions are what bounds them: the plainest comes first. */
S0_INLINE void plane(const uint8_t *x, uint8_t *y, size_t bytes, int streams, const S0Products8 *products) {
    if (s0_flags8(&products->bytes) == 0 && bytes >= S0_VECTOR_BYTES && !streams && products->odd_code == 0 &&
        is_free(products->multiplier[0], products->addend[0])) {
        run_free(x, y, bytes, products);
    } else {
        choose_run(bytes, streams, products)(x, y, bytes, products);
    }
}

__attribute__((noinline)) static void planes(const S0Rows *rows, const S0Products8 *products) {
    S0Rows left = s0_rows_joined(rows, rows->columns);
    for (; left.rows > 0; s0_rows_step(&left)) {
        plane((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, left.streams, products);
    }
}

/* Channel last */

S0_INLINE void load_words(__m256i *lanes, const char *words) {
    __m256i first = s0_load8(words), second = s0_load8(words + S0_VECTOR_BYTES);
    lanes[0] = _mm256_permute2x128_si256(first, second, 0x20);
    lanes[1] = _mm256_permute2x128_si256(first, second, 0x31);
}

enum { MULTIPLIERS, ADDENDS, DIVISORS, ODD_CODES, ODD_STEPS };

S0_INLINE void load(S0Lanes8 *lanes, const S0Arrays8 *arrays, size_t channel) {
    load_words(&lanes->of[MULTIPLIER], s0_at8(arrays, MULTIPLIERS, channel, 2));
    load_words(&lanes->of[ADDEND], s0_at8(arrays, ADDENDS, channel, 2));
    load_words(&lanes->of[DIVISOR], s0_at8(arrays, DIVISORS, channel, 2));
}

S0_INLINE void load_odd(S0Lanes8 *lanes, const S0Arrays8 *arrays, size_t channel) {
    load(lanes, arrays, channel);
    lanes->of[ODD_CODE] = s0_load8(s0_at8(arrays, ODD_CODES, channel, 1));
    lanes->of[ODD_STEP] = s0_load8(s0_at8(arrays, ODD_STEPS, channel, 1));
}

#define WALK(name, load, flags)                                                                                        \
    static void name(const S0Strips8 *strips, int count, const S0Arrays8 *arrays) {                                    \
        s0_walk_strips8(strips, count, arrays, load, apply, flags);                                                    \
    }

WALK(walk_bare, load, 0)
WALK(walk_both, load, BOTH)
WALK(walk_free, load, FREE)
WALK(walk_free_both, load, FREE | BOTH)
WALK(walk_odd, load_odd, ODD | BOTH)
WALK(walk_streams, load, BOTH | S0_STREAMS)
WALK(walk_streams_odd, load_odd, ODD | BOTH | S0_STREAMS)

/* Looks at all channels, or, where that would take longer than it saves, at none. */
static int are_free(const S0Rows *rows, const S0Products8 *products) {
    enum { ENOUGH = 8, WORDS = S0_VECTOR_BYTES / 2 };
    __m256i sums = _mm256_setzero_si256();
    size_t c = 0, channels = products->channels;
    int free = rows->rows >= ENOUGH;
    for (; free && c + WORDS <= channels; c += WORDS) {
        __m256i multipliers = _mm256_abs_epi16(s0_load8(products->multiplier + c));
        __m256i addends = _mm256_abs_epi16(s0_load8(products->addend + c)); /* of -32768: 2^15 without a sign */
        sums = _mm256_or_si256(sums, _mm256_add_epi16(multipliers, addends));
    }
    free &= _mm256_testz_si256(sums, _mm256_set1_epi16(INT16_MIN));
    for (; free && c < channels; c++) {
        free = is_free(products->multiplier[c], products->addend[c]);
    }
    return free;
}

__attribute__((noinline)) static void product_last(const S0Rows *rows, const S0Products8 *products) {
    S0Seam8 seams[S0_ARRAYS];
    S0Arrays8 arrays = {.seams = seams};
    s0_arrays8(&arrays, rows, products->channels, &products->bytes);
    s0_array8(&arrays, MULTIPLIERS, products->multiplier, 2);
    s0_array8(&arrays, ADDENDS, products->addend, 2);
    s0_array8(&arrays, DIVISORS, products->divisor, 2);
    if (is_odd_given(products)) {
        s0_array8(&arrays, ODD_CODES, products->odd_code, 1);
        s0_array8(&arrays, ODD_STEPS, products->odd_step, 1);
        s0_walk8(rows, &arrays, walk_odd, walk_streams_odd);
        return;
    }
    int free = are_free(rows, products);
    if (s0_flags8(&products->bytes) == 0) {
        s0_walk8(rows, &arrays, free ? walk_free : walk_bare, walk_streams);
    } else {
        s0_walk8(rows, &arrays, free ? walk_free_both : walk_both, walk_streams);
    }
}

void s0_product8_avx2(const S0Rows *rows, const S0Products8 *products) {
    if (products->channels == 1 && rows->rows == 1) {
        plane((const uint8_t *)rows->x, (uint8_t *)rows->y, rows->columns, rows->streams, products);
    } else if (products->channels == 1) {
        planes(rows, products);
    } else if (rows->rows > 0 && products->channels > 0) {
        product_last(rows, products);
    }
}
#endif
