/* The kernels of codes of 8 and 4 bits, for the tables of affine.h. */
#ifndef S0_KERN_CODES8_H
#define S0_KERN_CODES8_H

#include "kern/affine.h"

void s0_product8_portable(const S0Rows *rows, const S0Products8 *products);
void s0_round8_portable(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_portable(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_portable(const S0Rows *rows, const S0Tables4 *tables);

#if defined(__x86_64__)
void s0_product8_avx2(const S0Rows *rows, const S0Products8 *products);
void s0_round8_avx2(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_avx2(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_avx2(const S0Rows *rows, const S0Tables4 *tables);
#endif

#if defined(__aarch64__)
void s0_product8_neon(const S0Rows *rows, const S0Products8 *products);
void s0_round8_neon(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table4_neon(const S0Rows *rows, const S0Tables4 *tables);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_product8_helium(const S0Rows *rows, const S0Products8 *products);
void s0_round8_helium(const S0Rows *rows, const S0Rounds8 *rounds);
#endif

#endif
