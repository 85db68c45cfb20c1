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
    Pool *pool;           /* null: none */
    uint64_t cache_bytes; /* maps that are larger together are written past the caches */

    /* native_lay_out */
    Walk walk;
    Wide wide;                /* channel last */
    uint32_t bits;            /* of an element */
    uint64_t map_bytes;       /* of x, and of y */
    bool is_one_stack;        /* which `run` takes as it is: */
    NativeStack whole;        /* but for its pointers */
    size_t whole_begin_bytes; /* in x, and in y */

    NativeRun run;
    NativeRun rows; /* channel last, one pixel or several a row; `channel` is the number of their first parameters */

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

/* Of a map without banks; `kernels` are told. Floats are read at multiples of `align_bytes`. */
void native_lay_out(Native *native, const View *view, uint64_t align_bytes);

/* Sets `run` for what stands in the union, of a map that is laid out. */
void native_take_floats(Native *native, const S0Floats *floats, bool is_half, Arena *arena);
void native_take_codes8(Native *native, const Node8Reference *reference, Arena *arena);
void native_take_codes16(Native *native, const Chain *chain, size_t channels, Arena *arena);
void native_take_nibbles(Native *native, const S0Tables4 *tables);

/* All of the map. */
void native_run(const Native *native, const void *x, void *y, uint32_t threads);

#endif
