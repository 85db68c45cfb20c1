/* Codes of 8 bits by float32, with AVX-512.
 *
 * As with AVX2, bytes of x become the high bytes of words of 32 bits: x * 2^24, so scales are taken times 2^-24. Both
 * are exact, except for scales below 2^-102, whose products no bias and no rounding to integers lets anybody see. */
#include "kern/codes8.h"
#include "kern/codes8_avx512.h"

#if defined(__x86_64__)

/* Four vectors of each, of 16 codes one after the other. */
enum { SCALE = 0, BIAS = 4, QUARTERS = 4, QUARTER = 16, BOTH = S0_FLIPS | S0_LIMITS };

/* Where the high bytes of a quarter come from. */
S0_INLINE __m512i quarter_bytes(int quarter) {
    const __m512i high_bytes =
        _mm512_setr_epi32(0 << 24, 1 << 24, 2 << 24, 3 << 24, 4 << 24, 5 << 24, 6 << 24, 7 << 24, 8 << 24, 9 << 24,
                          10 << 24, 11 << 24, 12 << 24, 13 << 24, 14 << 24, 15 << 24);
    return _mm512_add_epi32(high_bytes, _mm512_set1_epi32(quarter * (QUARTER << 24)));
}

S0_INLINE __m512i round_quarter(__m512i x, const S0Lanes8 *lanes, int quarter) {
    const __mmask64 high_bytes = 0x8888888888888888;
    __m512 real = _mm512_cvtepi32_ps(_mm512_maskz_permutexvar_epi8(high_bytes, quarter_bytes(quarter), x));
    real = _mm512_mul_ps(real, _mm512_castsi512_ps(lanes->of[SCALE + quarter]));
    return _mm512_cvtps_epi32(_mm512_add_ps(real, _mm512_castsi512_ps(lanes->of[BIAS + quarter])));
}

/* Packing takes four words at a time of each vector. */
S0_INLINE __m512i apply(__m512i codes, const S0Lanes8 *lanes, int flags) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i x = s0_enter8(codes, lanes, flags);
    __m512i low = _mm512_packs_epi32(round_quarter(x, lanes, 0), round_quarter(x, lanes, 1));
    __m512i high = _mm512_packs_epi32(round_quarter(x, lanes, 2), round_quarter(x, lanes, 3));
    __m512i y = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
    return s0_leave8(s0_limit8(y, lanes, flags), lanes, flags);
}

S0_INLINE __m512i reduced(__m512 scales) {
    return _mm512_castps_si512(_mm512_mul_ps(scales, _mm512_set1_ps(0x1p-24F)));
}

typedef void Run(const S0Rows *rows, const S0Rounds8 *rounds);

/* ---- One channel */

S0_INLINE void splat(S0Lanes8 *lanes, const S0Rounds8 *rounds) {
    const __m512i scale = reduced(_mm512_set1_ps(rounds->scale[0]));
    const __m512i bias = _mm512_castps_si512(_mm512_set1_ps(rounds->bias[0]));
    s0_share8(lanes, &rounds->bytes);
    for (int k = 0; k < QUARTERS; k++) {
        lanes->of[SCALE + k] = scale;
        lanes->of[BIAS + k] = bias;
    }
}

#define PLANE(name, flags)                                                                                             \
    static void name(const S0Rows *rows, const S0Rounds8 *rounds) {                                                    \
        S0Lanes8 lanes;                                                                                                \
        splat(&lanes, rounds);                                                                                         \
        s0_plane8(rows, apply, flags, &lanes);                                                                         \
    }

PLANE(plane_bare, 0)
PLANE(plane_both, BOTH)
PLANE(plane_streams, BOTH | S0_STREAMS)

/* ---- Channel last */

S0_INLINE void load(S0Lanes8 *lanes, const void *parameters, size_t column, __mmask64 mask, int flags) {
    const S0Rounds8 *rounds = (const S0Rounds8 *)parameters;
    (void)flags;
    for (int k = 0; k < QUARTERS; k++) {
        const __mmask16 some = (__mmask16)(mask >> (QUARTER * k));
        const size_t at = column + s0_upper(some, (size_t)(QUARTER * k));
        lanes->of[SCALE + k] = reduced(_mm512_maskz_loadu_ps(some, rounds->scale + at));
        lanes->of[BIAS + k] = _mm512_castps_si512(_mm512_maskz_loadu_ps(some, rounds->bias + at));
    }
}

#define PIXELS(name, flags)                                                                                            \
    static void name(const S0Rows *rows, const S0Rounds8 *rounds) {                                                    \
        const S0Form8 form = {&rounds->bytes, rounds, load, apply};                                                    \
        s0_pixels8(rows, &form, flags);                                                                                \
    }

PIXELS(pixels_bare, 0)
PIXELS(pixels_both, BOTH)
PIXELS(pixels_streams, BOTH | S0_STREAMS)

void s0_round8_avx512(const S0Rows *rows, const S0Rounds8 *rounds) {
    static Run *const runs[2][3] = {{plane_bare, plane_both, plane_streams},
                                    {pixels_bare, pixels_both, pixels_streams}};
    const int kind = rows->streams ? 2 : s0_flags8(&rounds->bytes) != 0;
    runs[rounds->channels != 1][kind](rows, rounds);
}
#endif
