/* Channel last as one stream: which parameters a vector takes, at the seam of two pixels too. For the files *_neon.c
 * and *_helium.c.
 *
 * A vector that begins with channel c takes the parameters number c, c + 1, ..., and after the last one number 0 again.
 * They are read where they are as long as no end comes between, else from a seam: a copy of those around the end, or of
 * all where a vector has more lanes than there are channels.
 *
 *     parameters      0  1  2 ... C-L ... C-1
 *     seam                        C-L ... C-1  0 ... L-1        C >= L
 *                     0 ... C-1  0 ... C-1  0 ...               C < L
 */
#ifndef S0_KERN_ROWS_WRAP_H
#define S0_KERN_ROWS_WRAP_H

#include "kern/rows.h"

#define S0_INLINE static inline __attribute__((always_inline))

typedef struct {
    size_t channels, lanes;
    size_t begin; /* channel that the seam begins with */
    size_t step;  /* from a vector's channel to the next one's, which may pass the end once */
} S0Wrap;

S0_INLINE S0Wrap s0_wrap(size_t channels, size_t lanes) {
    return (S0Wrap){.channels = channels,
                    .lanes = lanes,
                    .begin = channels > lanes ? channels - lanes : 0,
                    .step = channels > lanes ? lanes : lanes % channels};
}

/* Of parameters of `size` bytes: 2 * lanes of them. */
S0_INLINE void s0_wrap_fill(const S0Wrap *wrap, void *seam, const void *parameters, size_t size) {
    size_t channel = wrap->begin;
    for (size_t k = 0; k < 2 * wrap->lanes; k++) {
        __builtin_memcpy((char *)seam + k * size, (const char *)parameters + channel * size, size);
        channel = channel + 1 == wrap->channels ? 0 : channel + 1;
    }
}

/* The `lanes` parameters from a channel on. */
S0_INLINE const void *s0_wrap_at(const S0Wrap *wrap, const void *seam, const void *parameters, size_t size,
                                 size_t channel) {
    return channel + wrap->lanes <= wrap->channels ? (const char *)parameters + channel * size
                                                   : (const char *)seam + (channel - wrap->begin) * size;
}

/* The channel of the next vector. */
S0_INLINE size_t s0_wrap_next(const S0Wrap *wrap, size_t channel) {
    size_t next = channel + wrap->step;
    return next >= wrap->channels ? next - wrap->channels : next;
}

#endif
