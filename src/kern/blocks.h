/* Rows in blocks of 16 elements: what the kernels for NEON and Helium share. For the files *_neon.c and *_helium.c.
 *
 * A kernel is a form: how a block is computed, for one channel and channel last. Everything here is inlined where a
 * form is constant, so nothing is called in a loop.
 *
 * Channel last, a block that begins with channel c takes the parameters number c, c + 1, ..., and after the last one
 * number 0 again, as pixels lie one after the other. They are read where they are as long as no end comes between, else
 * from a seam: a copy of those around the end, or of all where a block has more elements than there are channels.
 *
 *     parameters      0  1  2 ... C-16 ... C-1
 *     seam                        C-16 ... C-1  0 ... 15        C >= 16
 *                     0 ... C-1  0 ... C-1  0 ...               C < 16
 */
#ifndef S0_KERN_BLOCKS_H
#define S0_KERN_BLOCKS_H

#include "kern/rows.h"

#define S0_INLINE static inline __attribute__((always_inline))

enum { S0_BLOCK = 16, S0_SEAM = 2 * S0_BLOCK };

/* n elements, S0_BLOCK or fewer, with the parameters from number `first` on of `arrays`, which are of the form's own
 * type. x and y are of any alignment that their elements may have. */
typedef void S0Block(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first);

typedef struct {
    S0Block *pixels, *plane;
    const void *whole, *seam; /* arrays of pixels; of a plane, `whole` */
    size_t channels, element_bytes;
} S0Form;

/* The channel that a seam begins with. */
S0_INLINE size_t s0_seam_begin(size_t channels) {
    return channels > S0_BLOCK ? channels - S0_BLOCK : 0;
}

/* Copies S0_SEAM parameters of `size` bytes. */
S0_INLINE const void *s0_seam_of(void *seam, const void *parameters, size_t channels, size_t size) {
    size_t channel = s0_seam_begin(channels);
    for (size_t k = 0; k < S0_SEAM; k++) {
        __builtin_memcpy((char *)seam + k * size, (const char *)parameters + channel * size, size);
        channel = channel + 1 == channels ? 0 : channel + 1;
    }
    return seam;
}

/* The channel of the next block. */
S0_INLINE size_t s0_next_channel(const S0Form *form, size_t channel) {
    const size_t channels = form->channels;
    const size_t short_step = channels > 1 ? S0_BLOCK % channels : 0;
    const size_t next = channel + (channels > S0_BLOCK ? S0_BLOCK : short_step);
    return next < channels ? next : next - channels;
}

/* A block of n elements that begins with a channel, one or many. */
S0_INLINE void s0_block(const uint8_t *x, uint8_t *y, size_t n, const S0Form *form, size_t channel) {
    if (form->channels == 1) {
        form->plane(x, y, n, form->whole, 0);
    } else if (channel + S0_BLOCK <= form->channels) {
        form->pixels(x, y, n, form->whole, channel);
    } else {
        form->pixels(x, y, n, form->seam, channel - s0_seam_begin(form->channels));
    }
}

S0_INLINE void s0_plane(const uint8_t *x, uint8_t *y, size_t n, const S0Form *form) {
    const size_t size = form->element_bytes;
    for (size_t i = 0; i + S0_BLOCK <= n; i += S0_BLOCK) {
        form->plane(x + i * size, y + i * size, S0_BLOCK, form->whole, 0);
    }
}

/* The result is the channel after the last whole block. */
S0_INLINE size_t s0_pixels(const uint8_t *x, uint8_t *y, size_t n, const S0Form *form) {
    const size_t channels = form->channels, size = form->element_bytes;
    size_t i = 0, channel = 0;
    while (i + S0_BLOCK <= n) {
        const size_t left = channels - channel < n - i ? channels - channel : n - i;
        const size_t end = i + left / S0_BLOCK * S0_BLOCK;
        for (; i < end; i += S0_BLOCK, channel += S0_BLOCK) {
            form->pixels(x + i * size, y + i * size, S0_BLOCK, form->whole, channel);
        }
        channel = channel < channels ? channel : 0;
        if (channel + S0_BLOCK > channels && i + S0_BLOCK <= n) {
            form->pixels(x + i * size, y + i * size, S0_BLOCK, form->seam, channel - s0_seam_begin(channels));
            channel = s0_next_channel(form, channel);
            i += S0_BLOCK;
        }
    }
    return channel;
}

/* The whole blocks of n elements that begin with channel 0. The result is the channel after them. */
S0_INLINE size_t s0_blocks(const uint8_t *x, uint8_t *y, size_t n, const S0Form *form) {
    if (form->channels == 1) {
        s0_plane(x, y, n, form);
        return 0;
    }
    return s0_pixels(x, y, n, form);
}

#endif
