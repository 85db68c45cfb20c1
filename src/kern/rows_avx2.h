/* Walking rows with AVX2: parameters at the seam of two rows, stores past the caches. For the files *_avx2.c only. */
#ifndef S0_KERN_ROWS_AVX2_H
#define S0_KERN_ROWS_AVX2_H

#if defined(__x86_64__)
#include "kern/rows.h"

#include <immintrin.h>
#include <stdint.h>

enum { S0_VECTOR_BYTES = 32 };

/* Parameters of pixels that lie one after the other, for the vector that holds the end of one and the beginning of the
 * next. With `c` parameters of `size` bytes, L = 32 / size and c >= L, the L parameters from number c - L + k on, 0 <=
 * k <= L, and round to number 0, are at byte k * size. */
typedef struct {
    uint8_t bytes[2 * S0_VECTOR_BYTES];
} S0Seam;

/* `parameter_bytes`: c * size, 32 or more. */
static inline void s0_seam_fill(S0Seam *seam, const void *parameters, size_t parameter_bytes) {
    const uint8_t *from = (const uint8_t *)parameters;
    __m256i last = _mm256_loadu_si256((const __m256i *)(const void *)(from + parameter_bytes - S0_VECTOR_BYTES));
    __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)from);
    _mm256_storeu_si256((__m256i *)(void *)seam->bytes, last);
    _mm256_storeu_si256((__m256i *)(void *)(seam->bytes + S0_VECTOR_BYTES), first);
}

/* Bytes from y to the next address that stores past the caches can begin at: 0 to 31. Such stores end with _mm_sfence.
 */
static inline size_t s0_stream_lead_bytes(const void *y) {
    return (size_t)(-(uintptr_t)y % S0_VECTOR_BYTES);
}

#endif
#endif
