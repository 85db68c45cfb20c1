/* Walking rows with AVX-512; for the files *_avx512.c only. A row ends with a vector whose other lanes are masked: they
 * are neither read nor written, whatever page they are on. */
#ifndef S0_KERN_ROWS_AVX512_H
#define S0_KERN_ROWS_AVX512_H

#if defined(__x86_64__)
#include "kern/rows.h"

#include <immintrin.h>

#define S0_INLINE static inline __attribute__((always_inline))

/* The first n lanes: of all there are where n is more. */
S0_INLINE __mmask64 s0_first_of_64(size_t n) {
    return _bzhi_u64(~0ULL, n < 64 ? (unsigned)n : 64);
}

S0_INLINE __mmask32 s0_first_of_32(size_t n) {
    return (__mmask32)s0_first_of_64(n < 32 ? n : 32);
}

S0_INLINE __mmask16 s0_first_of_16(size_t n) {
    return (__mmask16)s0_first_of_64(n < 16 ? n : 16);
}

/* How far on the elements of the upper lanes of a vector are: not at all where there are none, as no pointer is to pass
 * the end of its array. */
S0_INLINE size_t s0_upper(__mmask64 upper_lanes, size_t elements) {
    return upper_lanes != 0 ? elements : 0;
}

enum { S0_LINE_BYTES = 64 };

/* Bytes from y to the next line of the cache, where stores past it can begin; `most` if it has no more. Such stores end
 * with _mm_sfence. */
S0_INLINE size_t s0_bytes_to_line(const void *y, size_t most) {
    const size_t bytes = (size_t)(-(uintptr_t)y % S0_LINE_BYTES);
    return bytes < most ? bytes : most;
}

#endif
#endif
