/* The kernels of codes of 16 bits, of each table of affine.h. */
#ifndef S0_KERN_CODES16_H
#define S0_KERN_CODES16_H

#include "kern/affine.h"

void s0_real16_portable(const S0Rows *rows, const S0Reals16 *reals);
void s0_quotient16_portable(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_portable(const S0Rows *rows, const S0Fixed16 *fixed);

#if defined(__x86_64__)
void s0_real16_avx2(const S0Rows *rows, const S0Reals16 *reals);
void s0_quotient16_avx2(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_avx2(const S0Rows *rows, const S0Fixed16 *fixed);
#endif

#if defined(__aarch64__)
void s0_real16_neon(const S0Rows *rows, const S0Reals16 *reals);
void s0_quotient16_neon(const S0Rows *rows, const S0Quotients16 *quotients);
void s0_fixed16_neon(const S0Rows *rows, const S0Fixed16 *fixed);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_real16_helium(const S0Rows *rows, const S0Reals16 *reals);
#endif

#endif
