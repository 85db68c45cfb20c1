/* Codes of 8 bits by a product of 16 bits, with AVX2.
 *
 * Bytes of zero are laid below those of x, which makes words of x * 256 with their signs, in two vectors: codes 0-7,
 * 16-23 and codes 8-15, 24-31 of 32. Packing the words of the two undoes that. Words of parameters lie the same way.
 * With nothing beside it that is nine operations for 32 codes: two of them lay out, two multiply, two add, two divide,
 * one packs. Multiplications, additions with a limit and shifts share two of the units of many processors, so where the
 * parameters allow it others do some of that. */
#include "kern/codes8.h"
#include "kern/codes8_avx2.h"

#if defined(__x86_64__)

/* Beside those of all forms. */
enum {
    ODD = S0_FORM,       /* a code of a channel differs */
    SHIFT = 2 * S0_FORM, /* a shift in place of a divisor */
    FREE = 4 * S0_FORM,  /* no sum leaves 16 bits: it needs no limit */
    TOP = 8 * S0_FORM,   /* the divisor is 256: the high bytes are gathered */
    BOTH = S0_FLIPS | S0_LIMITS,
};

/* Which of the flags of the form are set. */
typedef enum { KIND_BARE, KIND_FREE, KIND_TOP, KIND_ODD, KIND_TOP_ODD, KINDS } Kind;

/* Two vectors of words each, and two of bytes. */
enum { MULTIPLIER = 0, ADDEND = 2, DIVISOR = 4, ODD_CODE = 6, ODD_STEP = 7 };

enum { TOP_DIVISOR = 256 };

S0_INLINE __m256i sum_half(__m256i words, const S0Lanes8 *lanes, int half, int flags) {
    __m256i high = _mm256_mulhrs_epi16(words, lanes->of[MULTIPLIER + half]);
    __m256i addend = lanes->of[ADDEND + half];
    return (flags & FREE) != 0 ? _mm256_add_epi16(high, addend) : _mm256_adds_epi16(high, addend);
}

S0_INLINE __m256i divide_half(__m256i sum, const S0Lanes8 *lanes, int half, int flags) {
    __m256i divisor = lanes->of[DIVISOR + half];
    return (flags & SHIFT) != 0 ? _mm256_sra_epi16(sum, _mm256_castsi256_si128(divisor))
                                : _mm256_mulhi_epi16(sum, divisor);
}

S0_INLINE __m256i high_bytes(__m256i low, __m256i high) {
    const __m256i to_low = _mm256_setr_epi64x(0x0f0d0b0907050301, -1, 0x0f0d0b0907050301, -1);
    const __m256i to_high = _mm256_setr_epi64x(-1, 0x0f0d0b0907050301, -1, 0x0f0d0b0907050301);
    return _mm256_or_si256(_mm256_shuffle_epi8(low, to_low), _mm256_shuffle_epi8(high, to_high));
}

S0_INLINE __m256i quotients(__m256i low, __m256i high, const S0Lanes8 *lanes, int flags) {
    return _mm256_packs_epi16(divide_half(low, lanes, 0, flags), divide_half(high, lanes, 1, flags));
}

S0_INLINE __m256i apply(__m256i codes, const S0Lanes8 *lanes, int flags) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i x = s0_enter8(codes, lanes, flags);
    __m256i low = sum_half(_mm256_unpacklo_epi8(zero, x), lanes, 0, flags);
    __m256i high = sum_half(_mm256_unpackhi_epi8(zero, x), lanes, 1, flags);
    __m256i y = (flags & TOP) != 0 ? high_bytes(low, high) : quotients(low, high, lanes, flags);
    y = s0_limit8(y, lanes, flags);
    if ((flags & ODD) != 0) {
        __m256i is_odd = _mm256_cmpeq_epi8(x, lanes->of[ODD_CODE]);
        y = _mm256_add_epi8(y, _mm256_and_si256(is_odd, lanes->of[ODD_STEP]));
    }
    return s0_leave8(y, lanes, flags);
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
#define RUNS(name, flags)                                                                                              \
    RUN(name, s0_run8, flags)                                                                                          \
    RUN(name##_flips, s0_run8, (flags) | S0_FLIPS)                                                                     \
    RUN(name##_limits, s0_run8, (flags) | S0_LIMITS)                                                                   \
    RUN(name##_both, s0_run8, (flags) | BOTH)
#define NAMES(name)                                                                                                    \
    { name, name##_flips, name##_limits, name##_both }

RUNS(run_bare, 0)
RUNS(run_free, FREE)
RUNS(run_top, TOP)
RUNS(run_odd, ODD)
RUNS(run_top_odd, TOP | ODD)
RUN(stream, s0_stream8, BOTH)
RUN(stream_odd, s0_stream8, ODD | BOTH)
RUN(few, s0_few8, BOTH)
RUN(few_odd, s0_few8, ODD | BOTH)

static Run *const runs[KINDS][BOTH + 1] = {
    [KIND_BARE] = NAMES(run_bare), [KIND_FREE] = NAMES(run_free),       [KIND_TOP] = NAMES(run_top),
    [KIND_ODD] = NAMES(run_odd),   [KIND_TOP_ODD] = NAMES(run_top_odd),
};

static int has_odd_step(const S0Products8 *products) {
    return s0_has_odd(products) && products->odd_step[0] != 0;
}

static Kind kind_of_plane(const S0Products8 *products) {
    int top = products->divisor[0] == TOP_DIVISOR;
    if (has_odd_step(products)) {
        return top ? KIND_TOP_ODD : KIND_ODD;
    }
    return top ? KIND_TOP : is_free(products->multiplier[0], products->addend[0]) ? KIND_FREE : KIND_BARE;
}

__attribute__((noinline)) static void any_plane(const S0Rows *rows, const S0Products8 *products) {
    Run *run = runs[kind_of_plane(products)][s0_flags8(&products->bytes)];
    if (rows->columns < S0_VECTOR_BYTES) {
        run = has_odd_step(products) ? few_odd : few;
    } else if (rows->streams) {
        run = has_odd_step(products) ? stream_odd : stream;
    }
    run((const uint8_t *)rows->x, (uint8_t *)rows->y, rows->columns, products);
}

/* Planes may be so short that choosing takes as long as they do: the plainest are chosen at once. */
S0_INLINE void plane(const S0Rows *rows, const S0Products8 *products) {
    int plain = s0_is_plain8(&products->bytes) && !has_odd_step(products);
    int whole = rows->columns >= S0_VECTOR_BYTES && !rows->streams;
    if (plain && whole && products->divisor[0] == TOP_DIVISOR) {
        run_top((const uint8_t *)rows->x, (uint8_t *)rows->y, rows->columns, products);
    } else if (plain && whole && is_free(products->multiplier[0], products->addend[0])) {
        run_free((const uint8_t *)rows->x, (uint8_t *)rows->y, rows->columns, products);
    } else {
        any_plane(rows, products);
    }
}

__attribute__((noinline)) static void planes(const S0Rows *rows, const S0Products8 *products) {
    S0Rows left = s0_rows_joined(rows, rows->columns);
    for (; left.rows > 0; s0_rows_step(&left)) {
        plane(&left, products);
    }
}

/* Channel last */

S0_INLINE void load_words(__m256i *lanes, const uint8_t *words) {
    __m256i first = s0_load8(words), second = s0_load8(words + S0_VECTOR_BYTES);
    lanes[0] = _mm256_permute2x128_si256(first, second, 0x20);
    lanes[1] = _mm256_permute2x128_si256(first, second, 0x31);
}

enum { MULTIPLIERS, ADDENDS, DIVISORS, ODD_CODES, ODD_STEPS };

S0_INLINE void load(S0Lanes8 *lanes, const S0Arrays8 *arrays, size_t channel, int flags) {
    load_words(&lanes->of[MULTIPLIER], s0_at8(arrays, MULTIPLIERS, channel, 2));
    load_words(&lanes->of[ADDEND], s0_at8(arrays, ADDENDS, channel, 2));
    if ((flags & TOP) == 0) {
        load_words(&lanes->of[DIVISOR], s0_at8(arrays, DIVISORS, channel, 2));
    }
    if ((flags & ODD) != 0) {
        lanes->of[ODD_CODE] = s0_load8(s0_at8(arrays, ODD_CODES, channel, 1));
        lanes->of[ODD_STEP] = s0_load8(s0_at8(arrays, ODD_STEPS, channel, 1));
    }
}

#define WALK(name, flags)                                                                                              \
    static void name(const S0Strips8 *strips, int count, const S0Arrays8 *arrays) {                                    \
        s0_walk_strips8(strips, count, arrays, load, apply, flags);                                                    \
    }
#define WALKS(name, flags)                                                                                             \
    WALK(name, flags)                                                                                                  \
    WALK(name##_both, (flags) | BOTH)

WALKS(walk_bare, 0)
WALKS(walk_free, FREE)
WALKS(walk_top, TOP)
WALKS(walk_odd, ODD)
WALKS(walk_top_odd, TOP | ODD)
WALK(walk_stream, BOTH | S0_STREAMS)
WALK(walk_stream_odd, ODD | BOTH | S0_STREAMS)

static S0Walk8 *const walks[KINDS][2] = {
    [KIND_BARE] = {walk_bare, walk_bare_both},
    [KIND_FREE] = {walk_free, walk_free_both},
    [KIND_TOP] = {walk_top, walk_top_both},
    [KIND_ODD] = {walk_odd, walk_odd_both},
    [KIND_TOP_ODD] = {walk_top_odd, walk_top_odd_both},
};

/* Looks at all channels. */
static Kind kind_of_all(const S0Products8 *products) {
    enum { WORDS = S0_VECTOR_BYTES / 2 };
    __m256i sums = _mm256_setzero_si256(), others = sums;
    size_t c = 0, channels = products->channels;
    for (; c + WORDS <= channels; c += WORDS) {
        __m256i multipliers = _mm256_abs_epi16(s0_load8(products->multiplier + c));
        __m256i addends = _mm256_abs_epi16(s0_load8(products->addend + c)); /* of -32768: 2^15 without a sign */
        __m256i divisors = s0_load8(products->divisor + c);
        sums = _mm256_or_si256(sums, _mm256_add_epi16(multipliers, addends));
        others = _mm256_or_si256(others, _mm256_xor_si256(divisors, _mm256_set1_epi16(TOP_DIVISOR)));
    }
    int free = _mm256_testz_si256(sums, _mm256_set1_epi16(INT16_MIN)), top = _mm256_testz_si256(others, others);
    for (; c < channels; c++) {
        free &= is_free(products->multiplier[c], products->addend[c]);
        top &= products->divisor[c] == TOP_DIVISOR;
    }
    if (s0_has_odd(products)) {
        return top ? KIND_TOP_ODD : KIND_ODD;
    }
    return top ? KIND_TOP : free ? KIND_FREE : KIND_BARE;
}

/* Of few rows, looking takes longer than it saves. */
static Kind kind_of(const S0Rows *rows, const S0Products8 *products) {
    enum { FEW = 8 };
    if (rows->rows >= FEW) {
        return kind_of_all(products);
    }
    return s0_has_odd(products) ? KIND_ODD : KIND_BARE;
}

__attribute__((noinline)) static void pixels(const S0Rows *rows, const S0Products8 *products) {
    S0Seam8 seams[S0_ARRAYS];
    S0Arrays8 arrays = {.seams = seams};
    Kind kind = kind_of(rows, products);
    int odd = s0_has_odd(products), framed = s0_flags8(&products->bytes) != 0;
    s0_arrays8(&arrays, rows, products->channels, &products->bytes);
    s0_array8(&arrays, MULTIPLIERS, products->multiplier, 2);
    s0_array8(&arrays, ADDENDS, products->addend, 2);
    if (rows->streams || (kind != KIND_TOP && kind != KIND_TOP_ODD)) {
        s0_array8(&arrays, DIVISORS, products->divisor, 2);
    }
    if (odd) {
        s0_array8(&arrays, ODD_CODES, products->odd_code, 1);
        s0_array8(&arrays, ODD_STEPS, products->odd_step, 1);
    }
    s0_walk8(rows, &arrays, walks[kind][framed], odd ? walk_stream_odd : walk_stream);
}

void s0_product8_avx2(const S0Rows *rows, const S0Products8 *products) {
    if (products->channels == 1 && rows->rows == 1) {
        plane(rows, products);
    } else if (products->channels == 1) {
        planes(rows, products);
    } else if (rows->rows > 0 && products->channels > 0) {
        pixels(rows, products);
    }
}

/* Channel first, many planes. */

S0_INLINE int is_top(const S0Products8 *products, size_t c) {
    return products->divisor[c] == TOP_DIVISOR && (!s0_has_odd(products) || products->odd_step[c] == 0);
}

/* Nothing is called between two short planes of the kind that nearly all are. */
static void whole_planes(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    const uint8_t *x = (const uint8_t *)first->x;
    uint8_t *y = (uint8_t *)first->y;
    const S0Products8 given = *products;
    const size_t bytes = first->columns;
    S0Lanes8 lanes;
    S0Products8 one = given;
    for (size_t c = 0; c < given.channels; c++) {
        if (!is_top(&given, c)) {
            s0_plane_of8(first, plane_bytes, products, c, s0_product8_avx2);
            continue;
        }
        one.multiplier = given.multiplier + c;
        one.addend = given.addend + c;
        splat(&lanes, &one, TOP);
        s0_run8(x + c * plane_bytes, y + c * plane_bytes, bytes, apply, TOP | SHIFT, &lanes);
    }
}

void s0_product8_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    const S0Rows joined = s0_rows_joined(first, first->columns);
    const int is_whole = joined.rows == 1 && joined.columns >= S0_VECTOR_BYTES && !joined.streams;
    if (is_whole && s0_is_plain8(&products->bytes)) {
        whole_planes(&joined, plane_bytes, products);
    } else {
        s0_each_plane8(first, plane_bytes, products, s0_product8_avx2);
    }
}
#endif
