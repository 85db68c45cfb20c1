/* Codes of 8 bits by float32, with AVX2.
 *
 * Bytes of x become the high bytes of words of 32 bits: x * 2^24, with its sign and without a widening that would cross
 * the halves of a vector. So scales are taken times 2^-24. Both are exact, except for scales below 2^-102, whose
 * products no bias and no rounding to integers lets anybody see. */
#include "kern/codes8.h"
#include "kern/codes8_avx2.h"

#if defined(__x86_64__)

/* Four vectors each: of codes 4k to 4k + 3 and 16 + 4k to 16 + 4k + 3. */
enum { SCALE = 0, BIAS = 4, QUARTERS = 4, BOTH = S0_FLIPS | S0_LIMITS };

/* Where the bytes of a quarter go. */
S0_INLINE __m256i quarter_bytes(int quarter) {
    const __m256i first = _mm256_setr_epi32(0x00808080, 0x01808080, 0x02808080, 0x03808080, 0x00808080, 0x01808080,
                                            0x02808080, 0x03808080);
    return _mm256_add_epi32(first, _mm256_set1_epi32(quarter * 0x04000000));
}

S0_INLINE __m256i round_quarter(__m256i x, const S0Lanes8 *lanes, int quarter) {
    __m256 high_bytes = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(x, quarter_bytes(quarter)));
    __m256 product = _mm256_mul_ps(high_bytes, _mm256_castsi256_ps(lanes->of[SCALE + quarter]));
    return _mm256_cvtps_epi32(_mm256_add_ps(product, _mm256_castsi256_ps(lanes->of[BIAS + quarter])));
}

S0_INLINE __m256i apply(__m256i codes, const S0Lanes8 *lanes, int flags) {
    __m256i x = s0_enter8(codes, lanes, flags);
    __m256i low = _mm256_packs_epi32(round_quarter(x, lanes, 0), round_quarter(x, lanes, 1));
    __m256i high = _mm256_packs_epi32(round_quarter(x, lanes, 2), round_quarter(x, lanes, 3));
    __m256i y = _mm256_packs_epi16(low, high);
    return s0_leave8(s0_limit8(y, lanes, flags), lanes, flags);
}

S0_INLINE __m256i reduced(__m256i scales) {
    return _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(scales), _mm256_set1_ps(0x1p-24F)));
}

/* One channel */

S0_INLINE void splat(S0Lanes8 *lanes, const S0Rounds8 *rounds) {
    __m256i scale = reduced(_mm256_castps_si256(_mm256_set1_ps(rounds->scale[0])));
    __m256i bias = _mm256_castps_si256(_mm256_set1_ps(rounds->bias[0]));
    s0_share8(lanes, &rounds->bytes);
    for (int k = 0; k < QUARTERS; k++) {
        lanes->of[SCALE + k] = scale;
        lanes->of[BIAS + k] = bias;
    }
}

typedef void Run(const uint8_t *x, uint8_t *y, size_t bytes, const S0Rounds8 *rounds);

#define RUN(name, run, flags)                                                                                          \
    static void name(const uint8_t *x, uint8_t *y, size_t bytes, const S0Rounds8 *rounds) {                            \
        S0Lanes8 lanes;                                                                                                \
        splat(&lanes, rounds);                                                                                         \
        run(x, y, bytes, apply, flags, &lanes);                                                                        \
    }

RUN(run_bare, s0_run8, 0)
RUN(run_both, s0_run8, BOTH)
RUN(run_streams, s0_stream8, BOTH)
RUN(run_few, s0_few8, BOTH)

__attribute__((noinline)) static void planes(const S0Rows *rows, const S0Rounds8 *rounds) {
    S0Rows left = s0_rows_joined(rows, rows->columns);
    Run *run = s0_flags8(&rounds->bytes) == 0 ? run_bare : run_both;
    if (left.columns < S0_VECTOR_BYTES) {
        run = run_few;
    } else if (left.streams) {
        run = run_streams;
    }
    for (; left.rows > 0; s0_rows_step(&left)) {
        run((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, rounds);
    }
}

/* Channel last */

enum { SCALES, BIASES };

/* Vectors of 8 parameters each, in the order of the quarters. */
S0_INLINE void load_quarters(__m256i *lanes, const uint8_t *floats) {
    __m256i a = s0_load8(floats), b = s0_load8(floats + S0_VECTOR_BYTES);
    __m256i c = s0_load8(floats + (size_t)2 * S0_VECTOR_BYTES), d = s0_load8(floats + (size_t)3 * S0_VECTOR_BYTES);
    lanes[0] = _mm256_permute2x128_si256(a, c, 0x20);
    lanes[1] = _mm256_permute2x128_si256(a, c, 0x31);
    lanes[2] = _mm256_permute2x128_si256(b, d, 0x20);
    lanes[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

S0_INLINE void load(S0Lanes8 *lanes, const S0Arrays8 *arrays, size_t channel, int flags) {
    (void)flags;
    load_quarters(&lanes->of[SCALE], s0_at8(arrays, SCALES, channel, sizeof(float)));
    load_quarters(&lanes->of[BIAS], s0_at8(arrays, BIASES, channel, sizeof(float)));
    for (int k = 0; k < QUARTERS; k++) {
        lanes->of[SCALE + k] = reduced(lanes->of[SCALE + k]);
    }
}

#define WALK(name, flags)                                                                                              \
    static void name(const S0Strips8 *strips, int count, const S0Arrays8 *arrays) {                                    \
        s0_walk_strips8(strips, count, arrays, load, apply, flags);                                                    \
    }

WALK(walk_bare, 0)
WALK(walk_both, BOTH)
WALK(walk_streams, BOTH | S0_STREAMS)

__attribute__((noinline)) static void pixels(const S0Rows *rows, const S0Rounds8 *rounds) {
    S0Seam8 seams[BIASES + 1];
    S0Arrays8 arrays = {.seams = seams};
    s0_arrays8(&arrays, rows, rounds->channels, &rounds->bytes);
    s0_array8(&arrays, SCALES, rounds->scale, sizeof(float));
    s0_array8(&arrays, BIASES, rounds->bias, sizeof(float));
    s0_walk8(rows, &arrays, s0_flags8(&rounds->bytes) == 0 ? walk_bare : walk_both, walk_streams);
}

void s0_round8_avx2(const S0Rows *rows, const S0Rounds8 *rounds) {
    int plain = s0_is_plain8(&rounds->bytes) && !rows->streams;
    if (rounds->channels == 1 && rows->rows == 1 && plain && rows->columns >= S0_VECTOR_BYTES) {
        run_bare((const uint8_t *)rows->x, (uint8_t *)rows->y, rows->columns, rounds);
    } else if (rounds->channels == 1) {
        planes(rows, rounds);
    } else if (rows->rows > 0 && rounds->channels > 0) {
        pixels(rows, rounds);
    }
}
#endif
