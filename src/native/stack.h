/* Stacks of matrices: what floats.c, codes8.c and codes16.c share. */
#ifndef S0_NATIVE_STACK_H
#define S0_NATIVE_STACK_H

#include "native/native.h"

/* ---- Channel first: each plane is one call with the parameters of its channel, or is one of several in one call.
 * Planes may be short, so that little is done between two calls. */

static inline void stack_next_plane(S0Rows *rows, uint64_t plane_bytes) {
    rows->x = (const uint8_t *)rows->x + plane_bytes;
    rows->y = (uint8_t *)rows->y + plane_bytes;
}

/* The plane `rows` of a channel; it and those after it, of `count` channels, in one call. */
typedef void StackOne(const Native *native, const S0Rows *rows, uint64_t channel);
typedef void StackMany(const Native *native, const S0Rows *rows, uint64_t channel, size_t count, uint64_t plane_bytes);

/* `together`, by channel: how many from it on `many` computes alike; 0: it goes alone. */
static inline void stack_planes(const Native *native, const NativeStack *stack, const size_t *together, StackOne *one,
                                StackMany *many) {
    S0Rows rows = stack->rows;
    for (uint64_t plane = 0; plane < stack->planes;) {
        uint64_t channel = stack->channel + plane, left = stack->planes - plane;
        size_t count = together[channel] < left ? together[channel] : (size_t)left;
        if (count > 0) {
            many(native, &rows, channel, count, stack->plane_bytes);
        } else {
            one(native, &rows, channel);
            count = 1;
        }
        stack_next_plane(&rows, count * stack->plane_bytes);
        plane += count;
    }
}

/* ---- Channel last */

/* Keeps `rows` in `native`, for parameters that wide_array repeated: what `run` or `pixels` is. */
NativeRun stack_take_rows(Native *native, NativeRun rows);

#endif
