/* Products of 8-bit codes in blocks of 16: their seam. For codes8_neon.c and codes8_helium.c. */
#ifndef S0_KERN_CODES8_BLOCKS_H
#define S0_KERN_CODES8_BLOCKS_H

#include "kern/blocks.h"

/* Room for it. */
typedef struct {
    int16_t multiplier[S0_SEAM], addend[S0_SEAM], divisor[S0_SEAM];
    int8_t odd_code[S0_SEAM], odd_step[S0_SEAM];
} S0ProductSeam;

/* The parameters around the last channel. `odd`: those of odd codes are given. */
S0_INLINE S0Products8 s0_products_seam(S0ProductSeam *to, const S0Products8 *of, int odd) {
    S0Products8 seam = *of;
    const size_t channels = of->channels;
    seam.multiplier = (const int16_t *)s0_seam_of(to->multiplier, of->multiplier, channels, sizeof(int16_t));
    seam.addend = (const int16_t *)s0_seam_of(to->addend, of->addend, channels, sizeof(int16_t));
    seam.divisor = (const int16_t *)s0_seam_of(to->divisor, of->divisor, channels, sizeof(int16_t));
    if (odd) {
        seam.odd_code = (const int8_t *)s0_seam_of(to->odd_code, of->odd_code, channels, 1);
        seam.odd_step = (const int8_t *)s0_seam_of(to->odd_step, of->odd_step, channels, 1);
    }
    return seam;
}

#endif
