/* Channel last: pixels that touch, several of them as one row.
 *
 *     pixels of 3 channels    c0 c1 c2 | c0 c1 c2 | c0 c1 c2 | c0 c1 c2 | c0 c1 c2 | c0 c1 c2
 *     rows of 4 pixels        c0 c1 c2   c0 c1 c2   c0 c1 c2   c0 c1 c2 | c0 c1 c2   c0 c1 c2
 *
 * so that rows end where vectors do and are of some length, whatever the channels; what is left of the pixels is one
 * row more. Parameters are kept repeated as often: those of channels in blocks (N C/16 H W C%16) block by block. */
#ifndef S0_NATIVE_WIDE_H
#define S0_NATIVE_WIDE_H

#include "base/arena.h"
#include "kern/affine.h"
#include "native/walk.h"

typedef struct {
    size_t pixels; /* of a row; 1: each is given as its own */
    size_t pixel_bytes;
    size_t block; /* channels of a pixel */
    size_t channels;
} Wide;

/* Pixels of a row where `count` of them touch, by the other fields of `wide`. `vector_bytes`: those of the kernels, a
 * power of 2; or 0, which leaves each pixel a row. */
size_t wide_pixels(const Wide *wide, uint64_t count, size_t vector_bytes);

/* Of a walk over elements of so many bits. Where a row has several pixels, all stacks of the walk begin with a block.
 */
void wide_find(const Walk *walk, uint32_t bits, size_t vector_bytes, Wide *wide);

/* One parameter of `bytes` bytes a channel, repeated; on a cache line. Those of a stack that begins with channel c
 * begin with number c * pixels. */
void *wide_array(const Wide *wide, const void *parameters, size_t bytes, Arena *arena);

#endif
