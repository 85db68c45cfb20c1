/* stride0: plans the memory of a neural network on a device with a small local memory.
 *
 * This header is the manual of the library. Every handle is opaque; `new` and `free` belong together; strings are
 * UTF-8 and end in NUL; sizes are 64-bit and carry their unit in the name. The library keeps no global state: two
 * threads may work on two handles at once. */
#ifndef STRIDE0_H
#define STRIDE0_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of this header; the number is major * 10000 + minor * 100 + patch. */
#define S0_VERSION        "0.1.0"
#define S0_VERSION_NUMBER 100

#ifdef __cplusplus
extern "C" {
#endif

/* What came of a call; the command's exit status is the same number, but 1 where memory ran out. A fault of stride0
 * itself is no status: it ends the process with a message and a request to report it. */
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

/* ---- Planning: a model and a device in, a memory ledger out.
 *
 *     s0_plan *plan;
 *     s0_plan_options options = {.model = "net.tflite", .device = "mcu-cm"};
 *     s0_status status = s0_plan_new(&options, NULL, &plan);
 *     s0_totals totals;
 *     if (plan != NULL && s0_plan_totals(plan, &totals)) { ... totals.placed_bytes ... }
 *     s0_plan_print_messages(plan, stderr);
 *     s0_plan_free(plan); */

/* What to plan. The first two fields are needed; zero is the default of every other, and fields are only ever added at
 * the end: set with designated initialisers, a program that is compiled anew keeps its meaning. Texts have the format
 * of the command's option of that name, which messages call them by; a list is ended by NULL; all are read during the
 * call only. What can't be read is S0_BAD_INPUT with a message. */
typedef struct {
    const char *model;            /* path of an ONNX or TFLite file */
    const char *device;           /* name of a preset, or path of a device file */
    const char *const *dims;      /* --dim: "NAME=VALUE" or "INPUT:AXIS=VALUE": values of free dimensions */
    uint64_t budget_bytes;        /* in place of the local memory's capacity */
    bool no_in_place;             /* operators do not write over their inputs */
    bool pin_inputs, pin_outputs; /* inputs, outputs keep their bytes during the whole run */
    bool qdq_float;               /* Quantize/Dequantize pairs as written, not as integer operators */
    const char *const *axes;      /* --axis: "TENSOR=K": a parameter goes along axis K of the map, counted from 0 */
    const char *const *layouts;   /* --layout: "TENSOR=NCHW" or "TENSOR=NHWC": the order of a tensor's axes */
    const char *strategy;         /* smallest form of per-channel parameters: auto, scalar, channel, row or full */
    const char *axis_heuristic;   /* "size": what only its size could tell is read by it, ties are refused */
    bool as_filed;        /* --simplify none: the operators of the file, without the exact rewrites before planning */
    const char *tile;     /* operators by tiles: auto, none (whole maps), a number of rows, or "ROWSxCHANNELS" */
    const char *schedule; /* operators over a tile: auto, fused, split or pipelined */
    const char
        *parameters;    /* for all tiles: auto, resident (they stay whole), or reloaded (by part, where it changes) */
    const char *expand; /* larger forms of constants: auto (by the engine, for a tile), or before (in far memory) */
    const char *order;  /* of operators: file, or memory (another one, where that needs less local memory) */
} s0_plan_options;

typedef struct s0_plan s0_plan;

/* Bytes of local memory, but for `backing`. peak_live <= lower_bound <= placed <= anywhere. Reserve `placed` at a
 * multiple of `align`, or `anywhere` where you can't choose the start. Offsets count from the aligned start. */
typedef struct {
    uint64_t logical_bytes;     /* elements * bits, over all storages */
    uint64_t physical_bytes;    /* after alignment, padding, blocking, packing, over all storages */
    uint64_t peak_live_bytes;   /* the most that is alive at one step */
    uint64_t lower_bound_bytes; /* no placement is lower */
    uint64_t placed_bytes;      /* this placement's size: enough, and the least there is where it is lower_bound */
    uint64_t capacity_bytes;    /* of the device, or the budget */
    uint64_t backing_bytes;     /* flash of a microcontroller, far memory of an accelerator */
    uint64_t align_bytes;       /* the start of the memory is a multiple of it: any integer */
    uint64_t anywhere_bytes;    /* placed and align - 1: enough wherever it starts. UINT64_MAX past 64 bits */
} s0_totals;

/* S0_DONE, S0_NO_FIT, S0_REFUSED or S0_BAD_INPUT, with `*plan` to be freed: it holds the messages, and in the first two
 * cases the figures. S0_NO_MEMORY: `*plan` is NULL, which every call below takes. `allocator` NULL is the C library's;
 * it must outlive the plan. */
s0_status s0_plan_new(const s0_plan_options *options, const s0_allocator *allocator, s0_plan **plan);
void s0_plan_free(s0_plan *plan); /* NULL is fine */

/* False where planning ended in an error or a refusal, and of NULL. */
bool s0_plan_totals(const s0_plan *plan, s0_totals *totals);

/* For people, as the command says it: errors, refusals and warnings, one a paragraph; after S0_NO_FIT why it does not
 * fit: step, node, everything alive there, need, capacity, excess and remedies; and inputs whose bytes the run
 * overwrites. Nothing where there is nothing to say. S0_NO_MEMORY where memory ran out on the way, and of NULL, of
 * which it says that. */
s0_status s0_plan_print_messages(s0_plan *plan, FILE *out);

/* The whole ledger as JSON (docs/json.md). S0_REFUSED where there is none, S0_NO_MEMORY where memory ran out while it
 * was written: what is in `out` then is not whole. Of NULL: S0_NO_MEMORY, and nothing is written. */
s0_status s0_plan_write_json(s0_plan *plan, FILE *out);

/* ---- Per-channel affines: y = x * scale[c] + bias[c], prepared once and run many times.
 *
 *     s0_affine *affine;
 *     s0_affine_options options = {
 *         .dtype = "float32", .n = 1, .c = 64, .h = 56, .w = 56, .scale = scale, .bias = bias};
 *     if (s0_affine_new(&options, NULL, &affine) == S0_DONE) {
 *         s0_affine_run(affine, x, y, 1);
 *     }
 *     s0_affine_print_messages(affine, stderr);
 *     s0_affine_free(affine);
 *
 * The floating-point environment is the default one, in both calls: rounding to nearest, subnormal numbers kept. */

/* What to prepare. dtype, n, c, h and w are needed, of codes x_scale and y_scale too. Everything is read during the
 * call only.
 *
 * A layout lists dimensions from the outer to the inner one: "N C H W", "N H W C", with blocks of 16 channels
 * "N C/16 H W C%16", with rows that are padded to 64 bytes "N C H W@64".
 *
 * Floats: y = x * scale[c], rounded to the dtype, then + bias[c], rounded again. Parameters must be finite; those of
 * float16 are rounded to float16 first. What is of codes stays 0: zero points, weight, addend, is_limited. A bias that
 * is not given adds 0, which makes 0 of -0.
 *
 * Codes stand for (code - zero_point) * scale. Of two packed in a byte the first is the lower half. What is computed of
 * them, bit for bit, is what the reference `semantics` says (docs/semantics.md) of one of two things: without `weight`
 * the operators DEQUANTIZE, MUL by scale[c], ADD of bias[c], QUANTIZE with `weight`     one integer operator: the codes
 * weight[c] stand for weight[c] * scale[c], and addend[c] is added to their product with the input in units of x_scale
 * * scale[c]; bias must be NULL */
typedef struct {
    const char *dtype;   /* of x and y: float32, float16, int8, uint8, int16, int4 or uint4 (two codes a byte) */
    const char *layout;  /* of x and y, a contract (docs/contracts.md), banks one after the other; NULL: "N C H W" */
    uint64_t n, c, h, w; /* extents; with 0 there is nothing to run */
    const float *scale, *bias;          /* c of each; NULL: all 1, all 0 */
    float x_scale, y_scale;             /* above 0 */
    int32_t x_zero_point, y_zero_point; /* codes of the dtype */
    const int32_t *weight;              /* NULL, or c codes, -32767 to 32767 */
    const int32_t *addend;              /* c of them with `weight`; NULL: all 0 */
    bool is_limited;                    /* y is limited to the codes lo to hi, else to those of the dtype */
    int32_t lo, hi;
    const char *semantics; /* NULL: "onnx". All say the same of floats */
    uint32_t threads; /* the most that s0_affine_run will be asked to use; 0: 1. The handle keeps one less waiting */
} s0_affine_options;

typedef struct s0_affine s0_affine;

/* How many of the c channels are computed how; every way is exact. */
typedef struct {
    const char *kernels;   /* "portable", "avx2", "avx512", "neon": the best, or as STRIDE0_CPU in the environment */
    uint64_t x_bytes;      /* of x, and of y, with padding; of banks up to the last with an element */
    uint64_t floats;       /* in floating point, as the operands are */
    uint64_t products;     /* 16-bit product, equal to the reference on all 256 codes */
    uint64_t odd_products; /* the same with one code mended */
    uint64_t rounds;       /* float32 product or quotient, rounded; of 8 bits equal on all 256 codes */
    uint64_t fixed;        /* fixed-point product of 64 bits */
    uint64_t tables;       /* table of all codes */
    uint64_t chains;       /* operator by operator */
} s0_affine_facts;

/* S0_DONE, or S0_BAD_INPUT and S0_REFUSED with messages in `*affine`, which is to be freed in each case. S0_NO_MEMORY:
 * `*affine` is NULL, which every call below takes. S0_REFUSED is what the reference has no value for. `allocator` must
 * outlive the handle; NULL is the C library's. Costs some microseconds a channel of codes; of int16 without `weight`
 * up to half a millisecond. */
s0_status s0_affine_new(const s0_affine_options *options, const s0_allocator *allocator, s0_affine **affine);
void s0_affine_free(s0_affine *affine);

/* Errors and refusals, one a paragraph; of NULL that memory ran out. */
s0_status s0_affine_print_messages(const s0_affine *affine, FILE *out);

/* False where s0_affine_new did not end in S0_DONE. */
bool s0_affine_facts_of(const s0_affine *affine, s0_affine_facts *facts);

/* x and y have x_bytes each, aligned to an element and no more; y is x, or has no byte in common with it. Nothing else
 * is read or written, padding is not touched, and no memory is asked for; the stack has 32 KiB to spare. Runs on
 * `threads` threads at most, the caller's among them; on one where x has less than 256 KiB. Several threads may run one
 * handle at the same time: the first takes the waiting threads, the others run alone, and so does a child process,
 * which has no threads of its parent. Needs a handle that s0_affine_new ended in S0_DONE with; with another one,
 * nothing is done. */
void s0_affine_run(const s0_affine *affine, const void *x, void *y, uint32_t threads);

#ifdef __cplusplus
}
#endif
#endif
