/* The kernels of reals, y = x * scale + bias by channel: the entries f32 and f16 of the tables in affine.h. */
#ifndef S0_KERN_FLOATS_H
#define S0_KERN_FLOATS_H

#include "kern/affine.h"

void s0_f32_portable(const S0Rows *rows, const S0Floats *floats);
void s0_f16_portable(const S0Rows *rows, const S0Floats *floats);

#if defined(__x86_64__)
void s0_f32_avx2(const S0Rows *rows, const S0Floats *floats);
void s0_f16_avx2(const S0Rows *rows, const S0Floats *floats);
#endif

#if defined(__aarch64__)
void s0_f32_neon(const S0Rows *rows, const S0Floats *floats);
void s0_f16_neon(const S0Rows *rows, const S0Floats *floats);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_f32_helium(const S0Rows *rows, const S0Floats *floats);
#endif

#endif
