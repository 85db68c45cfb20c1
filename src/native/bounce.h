/* Layouts whose rows no kernel can read: packed codes that begin inside a byte, floats off their alignment. */
#ifndef S0_NATIVE_BOUNCE_H
#define S0_NATIVE_BOUNCE_H

#include "native/native.h"

/* The matrices of a stack, whose pointers and bytes are not told: the first begins at bit `bit` of x and of y, a row
 * lies `row_bits` behind the one before, a plane `plane_bits`. */
typedef struct {
    const uint8_t *x;
    uint8_t *y;
    uint64_t bit, row_bits, plane_bits;
} BounceBits;

/* Some elements at a time are taken to where kernels can read them, computed there, and put back. */
void bounce_run(const Native *native, const NativeStack *stack, const BounceBits *bits);

#endif
