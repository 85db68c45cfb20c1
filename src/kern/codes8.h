/* The kernels of codes of 8 and 4 bits, for the tables of affine.h. */
#ifndef S0_KERN_CODES8_H
#define S0_KERN_CODES8_H

#include "kern/affine.h"

/* One after the other by the kernel of one. */
static inline void s0_each_plane8(const S0Rows *first, size_t plane_bytes, const S0Products8 *products,
                                  void (*kernel)(const S0Rows *rows, const S0Products8 *products)) {
    S0Rows rows = *first;
    S0Products8 one = *products;
    one.channels = 1;
    for (size_t c = 0; c < products->channels; c++) {
        kernel(&rows, &one);
        rows.x = (const char *)rows.x + plane_bytes;
        rows.y = (char *)rows.y + plane_bytes;
        one.multiplier++;
        one.addend++;
        one.divisor++;
        if (one.odd_code != 0 && one.odd_step != 0) {
            one.odd_code++;
            one.odd_step++;
        }
    }
}

void s0_product8_portable(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_portable(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_portable(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_portable(const S0Rows *rows, const S0Tables4 *tables);

#if defined(__x86_64__)
void s0_product8_avx2(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_avx2(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_avx2(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_avx2(const S0Rows *rows, const S0Tables4 *tables);
#endif

#if defined(__aarch64__)
void s0_product8_neon(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_neon(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table4_neon(const S0Rows *rows, const S0Tables4 *tables);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_product8_helium(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_helium(const S0Rows *rows, const S0Rounds8 *rounds);
#endif

#endif
