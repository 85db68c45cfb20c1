/* stride0: plans the memory of a neural network on a device with a small local memory.
 *
 * This header is the manual of the library. Every handle is opaque; `new` and `free` belong together; strings are
 * UTF-8 and end in NUL; sizes are 64-bit and carry their unit in the name. The library keeps no global state: two
 * threads may work on two handles at once. */
#ifndef STRIDE0_H
#define STRIDE0_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What came of a call; the command's exit status is the same number, with NO_MEMORY and INTERNAL reported as 1. */
typedef enum {
    S0_DONE = 0,      /* done, and where memory was planned, it fits */
    S0_BAD_INPUT = 1, /* unreadable or malformed file, or a bad option: e.g. a tensor's data ends past the file */
    S0_NO_FIT = 2,    /* the plan is larger than the device's memory or the budget */
    S0_REFUSED = 3,   /* understood but not decidable or not supported: an ambiguous axis, an unknown operator */
    S0_NO_MEMORY = 4, /* the host's allocator said no */
} s0_status;

/* The one way to memory. `resize(ctx, NULL, 0, n)` allocates n bytes, `resize(ctx, p, n, 0)` frees, and the third
 * form moves a block; sizes passed back are the sizes asked for. NULL means out of memory: the call that needed it
 * ends in S0_NO_MEMORY and leaks nothing. */
typedef struct {
    void *(*resize)(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
    void *ctx;
} s0_allocator;

#ifdef __cplusplus
}
#endif
#endif
