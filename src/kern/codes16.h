/* The kernels of codes of 16 bits, of each table of affine.h. */
#ifndef S0_KERN_CODES16_H
#define S0_KERN_CODES16_H

#include "kern/affine.h"

/* Neither a zero point, nor limits within those of int16. */
static inline int s0_is_plain16(S0Codes codes) {
    return (codes.zero_point == 0) & (codes.lo == INT16_MIN) & (codes.hi == INT16_MAX);
}

/* Whether a zero point may be added in 32 bits to what is limited to 2^30. */
static inline int s0_is_near16(S0Codes codes) {
    return codes.zero_point >= -(1 << 29) && codes.zero_point <= 1 << 29;
}

/* One after the other by the kernel of one. */
static inline void s0_each_plane16(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals,
                                   void (*kernel)(const S0Rows *rows, const S0Reals16 *reals)) {
    S0Rows rows = *first;
    S0Reals16 one = *reals;
    one.channels = 1;
    for (size_t c = 0; c < reals->channels; c++) {
        kernel(&rows, &one);
        rows.x = (const char *)rows.x + plane_bytes;
        rows.y = (char *)rows.y + plane_bytes;
        one.weight++;
        one.offset++;
        one.scale++;
        one.bias++;
    }
}

void s0_real16_portable(const S0Rows *rows, const S0Reals16 *reals);
void s0_real16_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals);
void s0_quotient16_portable(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_portable(const S0Rows *rows, const S0Fixed16 *fixed);

#if defined(__x86_64__)
void s0_real16_avx2(const S0Rows *rows, const S0Reals16 *reals);
void s0_real16_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals);
void s0_quotient16_avx2(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_avx2(const S0Rows *rows, const S0Fixed16 *fixed);

void s0_real16_avx512(const S0Rows *rows, const S0Reals16 *reals);
void s0_real16_planes_avx512(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals);
void s0_quotient16_avx512(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_avx512(const S0Rows *rows, const S0Fixed16 *fixed);
#endif

#if defined(__aarch64__)
void s0_real16_neon(const S0Rows *rows, const S0Reals16 *reals);
void s0_real16_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals);
void s0_quotient16_neon(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_neon(const S0Rows *rows, const S0Fixed16 *fixed);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_real16_helium(const S0Rows *rows, const S0Reals16 *reals);
void s0_real16_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals);
#endif

#endif
