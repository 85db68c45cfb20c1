/* Tables of codes with AVX-512: the 256 results of an 8-bit channel are four vectors, and a code is looked up in two of
 * them at once. That is as fast as a copy where maps are not in the nearest cache. */
#include "kern/codes8.h"
#include "kern/codes8_avx512.h"

#if defined(__x86_64__)

/* By its seven low bits in both halves of the table; the highest bit says which half it is. */
S0_INLINE __m512i look_up8(__m512i x, const S0Lanes8 *lanes, int flags) {
    const __m512i low = _mm512_permutex2var_epi8(lanes->of[0], x, lanes->of[1]);
    const __m512i high = _mm512_permutex2var_epi8(lanes->of[2], x, lanes->of[3]);
    (void)flags;
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}

S0_INLINE __m512i look_up4(__m512i x, const S0Lanes8 *lanes, int flags) {
    const __m512i half = _mm512_set1_epi8(0x0f);
    const __m512i low = _mm512_shuffle_epi8(lanes->of[0], _mm512_and_si512(x, half));
    const __m512i high = _mm512_shuffle_epi8(lanes->of[1], _mm512_and_si512(_mm512_srli_epi16(x, 4), half));
    (void)flags;
    return _mm512_or_si512(low, high);
}

S0_INLINE void plane(const S0Rows *rows, S0Apply8 *apply, const S0Lanes8 *lanes) {
    if (rows->streams) {
        s0_plane8(rows, apply, S0_STREAMS, lanes);
    } else {
        s0_plane8(rows, apply, 0, lanes);
    }
}

void s0_table8_avx512(const S0Rows *rows, const S0Tables8 *tables) {
    S0Lanes8 lanes = {.of = {_mm512_setzero_si512()}};
    if (tables->channels != 1) {
        s0_table8_portable(rows, tables);
        return;
    }
    for (int k = 0; k < 4; k++) {
        lanes.of[k] = _mm512_loadu_si512(tables->table + k * S0_LANES8);
    }
    plane(rows, look_up8, &lanes);
}

void s0_table4_avx512(const S0Rows *rows, const S0Tables4 *tables) {
    S0Rows bytes = *rows;
    S0Lanes8 lanes = {.of = {_mm512_setzero_si512()}};
    if (tables->channels != 1) {
        s0_table4_portable(rows, tables);
        return;
    }
    lanes.of[0] = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)tables->table));
    lanes.of[1] = _mm512_slli_epi16(lanes.of[0], 4); /* of 0 to 15: nothing comes over from the next */
    bytes.columns = rows->columns / 2;
    plane(&bytes, look_up4, &lanes);
    s0_finish_rows4(rows, tables);
}
#endif
