/* A side of a comparison: of a plan, what another one is compared with. It comes from a plan, or from the JSON of one.
 *
 * Invariants: a buffer lies in the memory of its storage; the hulls of the storages' ranges lie in the plan's steps;
 * the bytes of local storages alive at one step are at most `peak_live_bytes`, which they are at some step; no sum over
 * the buffers of a side passes 2^62. */
#ifndef S0_LEDGER_SIDE_H
#define S0_LEDGER_SIDE_H

#include "ledger/facts.h"

typedef struct {
    Str name; /* of the tensor; empty for workspace */
    Str node; /* that makes it, of a constant the one that reads it; empty where there is none */
    Str dtype;
    BufferKind kind;
    bool is_local;
    bool is_form; /* the engine makes it, of a copy that was loaded or of a number */
    Shape shape;  /* of the tensor, whatever of it is stored */
    uint64_t logical_bytes, physical_bytes;
    uint32_t first, last; /* its own range */
    uint32_t storage;     /* index of the root; itself where it is one */
} SideBuffer;

typedef struct {
    Str name, dtype;
    Shape shape;
    bool is_ranged; /* what follows is known */
    double lo, hi;  /* reals that it can hold; infinite where nothing limits them */
    double scale;   /* NaN where it has none, or several */
    int64_t zero_point;
} SideOutput;

/* A memory that takes the overflow of another. */
typedef struct {
    Str name;
    uint64_t placed_bytes, capacity_bytes; /* UINT64_MAX: unbounded */
} SideFurther;

typedef struct {
    const char *file;      /* of the model */
    const char *plan_file; /* that holds the plan; null where it was planned */
    Str device;            /* its name */
    uint32_t step_count, buffer_count, output_count;
    SideBuffer *buffers;
    SideOutput *outputs;
    uint64_t nodes, peak_live_bytes, placed_bytes, capacity_bytes;
    Str backing;                                    /* the memory behind the local one: flash or far */
    uint64_t backing_bytes, backing_capacity_bytes; /* UINT64_MAX: unbounded */
    uint32_t further_count;
    SideFurther further[DEVICE_MAX_MEMORIES]; /* in the order of the device file */
    const char *request_device;               /* what was asked for: as -d had it; null where that is not known */
    const char *const *options; /* as they stand on the command line, ended by null; null where they are not known */
} Side;

static inline bool side_local_fits(const Side *side) {
    return side->placed_bytes <= side->capacity_bytes;
}

static inline bool side_backing_fits(const Side *side) {
    return side->backing_bytes <= side->backing_capacity_bytes;
}

static inline bool side_fits(const Side *side) {
    return side_local_fits(side) && side_backing_fits(side);
}

static inline bool side_is_constant(const SideBuffer *buffer) {
    return buffer->kind == BUFFER_WEIGHT || buffer->kind == BUFFER_PARAMETER;
}

/* Null with a refusal where the sums are too large. */
const Side *side_of_facts(const Facts *facts, Work *work);

/* Is it JSON, and no model? */
bool side_is_json(Span bytes);

/* What `stride0 plan --json` wrote into the file at `path`; `bytes` must outlive the side. Null with a diagnostic. */
const Side *side_read(Span bytes, const char *path, Work *work);

/* What is alive at most: 0 where there are no steps. */
uint64_t side_peak(const Side *side, Arena *scratch);

#endif
