/* Walking rows with Helium, the vectors of Armv8.1-M; for the files *_helium.c. A block is of four quads of elements;
 * what ends a row is a block of fewer, whose vectors are masked.
 *
 * Vectors of floats take subnormal numbers as 0 and give 0 for them, whatever the processor's mode is; floats that are
 * no vectors do not. That this happened is told by two bits of the status register, which stay set. So a kernel
 * computes a block, asks for them, and where they are set it computes the block again, one by one, before anything is
 * stored. */
#ifndef S0_KERN_ROWS_HELIUM_H
#define S0_KERN_ROWS_HELIUM_H

#include "kern/blocks.h"

#include <arm_mve.h>

enum {
    S0_QUADS = S0_BLOCK / 4,
    S0_FLUSHED = 1 << 7 | 1 << 3, /* a subnormal operand, a subnormal result */
};

typedef struct {
    float32x4_t of[S0_QUADS];
} S0Quads;

/* Forgets what happened. The result is the status before, for s0_flush_end. */
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

/* Elements of quad k of a block of n. */
S0_INLINE mve_pred16_t s0_quad_mask(size_t n, size_t k) {
    return vctp32q(n > 4 * k ? (uint32_t)(n - 4 * k) : 0);
}

/* All rows. */
S0_INLINE void s0_rows_helium(const S0Rows *rows, const S0Form *form) {
    const size_t size = form->element_bytes;
    S0Rows left = s0_rows_joined(rows, rows->columns * size);
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        const size_t rest = left.columns % S0_BLOCK, whole = left.columns - rest;
        const size_t channel = s0_blocks(x, y, left.columns, form);
        if (rest > 0) {
            s0_block(x + whole * size, y + whole * size, rest, form, channel);
        }
    }
}

#endif
