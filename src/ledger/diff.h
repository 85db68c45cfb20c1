/* Why the peak of memory changed: causes that sum to the difference exactly.
 *
 * A comparison is a chain of plans: the first is A, the last is B, and from one to the next one thing is changed and
 * all is planned again. What the peak does there is the effect of that change, with no rest: the sum telescopes. Most
 * changes are one cause (an option). Some are several at once (another model; a plan that only a file holds): what they
 * did is told apart by blend.c, by a chain of its own.
 *
 * Invariant: causes sum to peak_live_bytes of B less that of A, and with packing to the difference of placed_bytes. */
#ifndef S0_LEDGER_DIFF_H
#define S0_LEDGER_DIFF_H

#include "ledger/side.h"

/* In the order of the report; docs/diff.md says what each is. */
typedef enum {
    CAUSE_CONSTANTS, /* weights and parameters are smaller or larger, went or came */
    CAUSE_MAPS,      /* tensors have another shape or dtype */
    CAUSE_FORM,      /* the form in which parameters lie in memory */
    CAUSE_LAYOUT,    /* padding: contract, alignment, lanes */
    CAUSE_LIFETIME,  /* operators, and with them temporaries, went or came; what stays lives shorter or longer */
    CAUSE_ALIASES,   /* what shares another's bytes */
    CAUSE_WORKSPACE,
    CAUSE_TILES,   /* tile, schedule, and what they are chosen by */
    CAUSE_PACKING, /* placed_bytes less peak_live_bytes */
    CAUSE_COUNT,
    CAUSE_SEVERAL = CAUSE_COUNT /* of a change: to be told apart */
} Cause;

const char *cause_name(Cause cause); /* "lifetime" */

/* A change, and the plan that it leads to. */
typedef struct {
    Cause cause;
    const char *what; /* "model", "--strategy auto to full" */
    const Side *side;
} DiffChange;

typedef struct {
    Cause cause;
    const char *what;
    uint64_t peak_live_bytes, placed_bytes; /* after it */
    int64_t causes[CAUSE_COUNT];
} DiffStep;

/* A tensor that one side has and the other has not, or has in another size, or has in local memory alone. */
typedef struct {
    Str name; /* of workspace that of its node */
    bool is_constant, is_workspace;
    bool is_in_a, is_in_b;
    bool is_local_in_a, is_local_in_b;
    uint64_t a_bytes, b_bytes;             /* physical, the most that one buffer of it takes */
    uint64_t a_local_bytes, b_local_bytes; /* the most that one in local memory takes */
} DiffTensor;

typedef struct {
    const SideOutput *a, *b; /* null: that side has no output of that name */
    bool is_known;           /* ranges of both are */
    bool is_same;            /* dtype, shape, scale, zero point and range */
} DiffOutput;

typedef struct {
    const Side *a, *b;
    uint32_t step_count, tensor_count, output_count;
    const DiffStep *steps;
    int64_t causes[CAUSE_COUNT];
    int64_t peak_live_bytes, placed_bytes, backing_bytes; /* of B less A */
    const DiffTensor *tensors;                            /* largest difference first */
    const DiffOutput *outputs;                            /* in the order of A, then of B */
    bool outputs_stay;                                    /* all are the same */
} Diff;

/* needs  at least one change; the last leads to B. */
const Diff *diff_make(const Side *a, const DiffChange *changes, uint32_t count, Work *work);

/* ---- blend.c */

/* What took the peak of `from` to that of `to`, by cause: adds to `causes`, packing apart. */
void blend_causes(const Side *from, const Side *to, int64_t *causes, Work *work);

#endif
