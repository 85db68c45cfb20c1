/* Tables of codes of 8 and of 4 bits, with AVX2: one channel. With tables by channel, element by element.
 *
 * A table of 16 bytes is one instruction; a larger index whose high bit is set finds 0. The 256 bytes of a table are
 * eight steps in each half: step k holds how bytes 16k to 16k + 15 differ from the 16 before them. Of a code whose low
 * 7 bits are i the steps 0 to i / 16 are looked up, at i - 16k, which is below 0 afterwards, and what they differ by
 * adds up to the result. Both halves are looked up, and the code's high bit chooses. */
#include "kern/codes8.h"
#include "kern/codes8_avx2.h"

#if defined(__x86_64__)

enum { STEPS = 8, SHORT = 64 };

/* Two halves of 16 bytes a step, in memory: there are more than registers. */
S0_INLINE __m256i step_of(const S0Lanes8 *lanes, int step, int half) {
    const __m128i *steps = (const __m128i *)(const void *)lanes->of;
    return _mm256_broadcastsi128_si256(_mm_load_si128(&steps[2 * step + half]));
}

S0_INLINE __m256i look_up8(__m256i x, const S0Lanes8 *lanes, int flags) {
    __m256i index = _mm256_and_si256(x, _mm256_set1_epi8(0x7f));
    __m256i low = _mm256_shuffle_epi8(step_of(lanes, 0, 0), index);
    __m256i high = _mm256_shuffle_epi8(step_of(lanes, 0, 1), index);
    (void)flags;
    for (int k = 1; k < STEPS; k++) {
        index = _mm256_sub_epi8(index, _mm256_set1_epi8(16));
        low = _mm256_xor_si256(low, _mm256_shuffle_epi8(step_of(lanes, k, 0), index));
        high = _mm256_xor_si256(high, _mm256_shuffle_epi8(step_of(lanes, k, 1), index));
    }
    return _mm256_blendv_epi8(low, high, x);
}

static void fill_steps(S0Lanes8 *lanes, const uint8_t *table) {
    __m128i *steps = (__m128i *)(void *)lanes->of;
    for (int half = 0; half < 2; half++) {
        __m128i before = _mm_setzero_si128();
        for (int k = 0; k < STEPS; k++) {
            __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(table + 128 * half + 16 * k));
            _mm_store_si128(&steps[2 * k + half], _mm_xor_si128(part, before));
            before = part;
        }
    }
}

void s0_table8_avx2(const S0Rows *rows, const S0Tables8 *tables) {
    S0Rows joined = s0_rows_joined(rows, rows->columns);
    S0Lanes8 lanes = {.of = {_mm256_setzero_si256()}};
    if (tables->channels != 1 || joined.columns < SHORT) {
        s0_table8_portable(rows, tables);
        return;
    }
    fill_steps(&lanes, tables->table);
    s0_plane8(&joined, look_up8, 0, &lanes);
}

S0_INLINE __m256i look_up4(__m256i x, const S0Lanes8 *lanes, int flags) {
    const __m256i half = _mm256_set1_epi8(0x0f);
    __m256i low = _mm256_shuffle_epi8(lanes->of[0], _mm256_and_si256(x, half));
    __m256i high = _mm256_shuffle_epi8(lanes->of[1], _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
    (void)flags;
    return _mm256_or_si256(low, high);
}

void s0_table4_avx2(const S0Rows *rows, const S0Tables4 *tables) {
    S0Rows bytes = *rows;
    S0Lanes8 lanes;
    if (tables->channels != 1) {
        s0_table4_portable(rows, tables);
        return;
    }
    __m128i table = _mm_loadu_si128((const __m128i *)(const void *)tables->table);
    lanes.of[0] = _mm256_broadcastsi128_si256(table);
    lanes.of[1] = _mm256_slli_epi16(lanes.of[0], 4); /* of 0 to 15: nothing comes over from the next */
    bytes.columns = rows->columns / 2;
    s0_plane8(&bytes, look_up4, 0, &lanes);
    s0_finish_rows4(rows, tables);
}
#endif
