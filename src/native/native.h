/* A prepared affine on this processor: its parameters, the walk over its maps, kernels, threads. */
#ifndef S0_NATIVE_NATIVE_H
#define S0_NATIVE_NATIVE_H

#include "native/pool.h"
#include "native/walk.h"
#include "native/wide.h"
#include "prepare/node16.h"
#include "prepare/node8.h"

typedef struct Native Native;

/* Matrices of the walk, one for each of `planes` channels from `channel` on, `plane_bytes` apart; or one of all its
 * columns' channels. */
typedef struct {
    S0Rows rows; /* the first */
    uint64_t channel, planes, plane_bytes;
} NativeStack;

typedef void (*NativeRun)(const Native *native, const NativeStack *stack);

/* One row of elements of the patched column number `patch`, in place. */
typedef void (*NativePatch)(const Native *native, const S0Rows *row, size_t patch);

struct Native {
    const S0Kernels *kernels;
    Pool *pool; /* null: none */
    Walk walk;
    uint32_t bits;        /* of an element */
    uint64_t map_bytes;   /* of x, and of y */
    uint64_t cache_bytes; /* maps that are larger together are written past the caches */
    NativeRun run;
    Wide wide;      /* channel last */
    NativeRun rows; /* rows of one pixel or several; `channel` is the number of their first parameters */

    const size_t *patch_column; /* native/patch.h */
    size_t patch_count;
    NativeRun pixels;
    NativePatch patch;

    union {
        S0Floats floats;   /* all channels */
        Node8First first;  /* codes of 8 bits, channel first */
        Node8Last last;    /* channel last */
        Node16 codes16;    /* codes of 16 bits */
        S0Tables4 nibbles; /* packed codes of 4 bits */
    };
};

/* Sets `run` for what stands in the union; `kernels`, `walk` and `bits` are told. */
void native_take_floats(Native *native, const S0Floats *floats, bool is_half, Arena *arena);
void native_take_codes8(Native *native, const Node8Reference *reference, Arena *arena);
void native_take_codes16(Native *native, const Chain *chain, size_t channels, Arena *arena);
void native_take_nibbles(Native *native, const S0Tables4 *tables);

/* All of the map. */
void native_run(const Native *native, const void *x, void *y, uint32_t threads);

#endif
