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

/* Runs the plane `rows`, of `channel`, and those after it that one call computes, at most `planes`; how many it ran. */
typedef size_t StackSome(const Native *native, const S0Rows *rows, uint64_t channel, uint64_t planes,
                         uint64_t plane_bytes);

static inline void stack_planes(const Native *native, const NativeStack *stack, StackSome *some) {
    S0Rows rows = stack->rows;
    for (uint64_t plane = 0; plane < stack->planes;) {
        size_t count = some(native, &rows, stack->channel + plane, stack->planes - plane, stack->plane_bytes);
        stack_next_plane(&rows, count * stack->plane_bytes);
        plane += count;
    }
}

/* ---- Channel last */

/* Keeps `rows` in `native`, for parameters that wide_array repeated: what `run` or `pixels` is. */
NativeRun stack_take_rows(Native *native, NativeRun rows);

#endif
