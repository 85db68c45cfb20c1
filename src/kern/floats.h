/* The kernels of reals, y = x * scale + bias by channel: the entries f32 and f16 of the tables in affine.h. */
#ifndef S0_KERN_FLOATS_H
#define S0_KERN_FLOATS_H

#include "kern/affine.h"

/* One after the other by the kernel of one. */
static inline void s0_each_plane_f32(const S0Rows *first, size_t plane_bytes, const S0Floats *floats,
                                     void (*kernel)(const S0Rows *rows, const S0Floats *floats)) {
    S0Rows rows = *first;
    S0Floats one = *floats;
    one.channels = 1;
    for (size_t c = 0; c < floats->channels; c++) {
        kernel(&rows, &one);
        rows.x = (const char *)rows.x + plane_bytes;
        rows.y = (char *)rows.y + plane_bytes;
        one.scale++;
        one.bias++;
    }
}

void s0_f32_portable(const S0Rows *rows, const S0Floats *floats);
void s0_f32_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Floats *floats);
void s0_f16_portable(const S0Rows *rows, const S0Floats *floats);

#if defined(__x86_64__)
void s0_f32_avx2(const S0Rows *rows, const S0Floats *floats);
void s0_f32_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Floats *floats);
void s0_f16_avx2(const S0Rows *rows, const S0Floats *floats);
void s0_f32_avx512(const S0Rows *rows, const S0Floats *floats);
void s0_f32_planes_avx512(const S0Rows *first, size_t plane_bytes, const S0Floats *floats);
void s0_f16_avx512(const S0Rows *rows, const S0Floats *floats);
#endif

#if defined(__aarch64__)
void s0_f32_neon(const S0Rows *rows, const S0Floats *floats);
void s0_f32_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Floats *floats);
void s0_f16_neon(const S0Rows *rows, const S0Floats *floats);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_f32_helium(const S0Rows *rows, const S0Floats *floats);
void s0_f32_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Floats *floats);
#endif

#endif
