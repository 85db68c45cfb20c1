/* Walking rows with Helium, the vectors of Armv8.1-M; for the files *_helium.c. Ends of rows are masked.
 *
 * Vectors of floats take subnormal numbers as 0 and give 0 for them, whatever the processor's mode is; floats that are
 * no vectors do not. What this did is told by two bits of the status register, which stay set. So a kernel computes a
 * block, asks for them, and computes it again one by one where they are set, before anything is stored. */
#ifndef S0_KERN_ROWS_HELIUM_H
#define S0_KERN_ROWS_HELIUM_H

#include "kern/rows_wrap.h"

#include <arm_mve.h>

enum {
    S0_HELIUM_QUADS = 4,                    /* vectors of four elements in a block */
    S0_HELIUM_BLOCK = 4 * S0_HELIUM_QUADS,  /* elements */
    S0_FLUSHED = UINT32_C(1) << 7 | 1 << 3, /* a subnormal operand, result */
};

typedef struct {
    float32x4_t of[S0_HELIUM_QUADS];
} S0Quads;

/* Forgets what happened. The result is the status before, for s0_flush_end. No block is loaded before. */
S0_INLINE uint32_t s0_flush_begin(void) {
    uint32_t before;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(before) : : "memory");
    __asm__ volatile("vmsr fpscr, %0" : : "r"(before & ~(uint32_t)S0_FLUSHED) : "memory");
    return before;
}

/* Whether anything was flushed until the block was computed. */
S0_INLINE int s0_flushed(const S0Quads *block) {
    uint32_t status;
    __asm__ volatile("vmrs %0, fpscr"
                     : "=r"(status)
                     : "w"(block->of[0]), "w"(block->of[1]), "w"(block->of[2]), "w"(block->of[3])
                     : "memory");
    return (status & S0_FLUSHED) != 0;
}

/* The flags are as they were. */
S0_INLINE void s0_flush_end(uint32_t before) {
    uint32_t status;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(status) : : "memory");
    status &= ~(uint32_t)S0_FLUSHED;
    __asm__ volatile("vmsr fpscr, %0" : : "r"(status | (before & S0_FLUSHED)) : "memory");
}

/* A float that no compiler makes part of a vector. */
S0_INLINE float s0_alone(float x) {
    __asm__("" : "+t"(x));
    return x;
}

/* Elements of quad k among n of a block. */
S0_INLINE mve_pred16_t s0_quad_mask(size_t n, size_t k) {
    return vctp32q(n > 4 * k ? (uint32_t)(n - 4 * k) : 0);
}

#endif
