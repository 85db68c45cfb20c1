/* The facts: every figure that a report prints, computed once.
 *
 * Terminal, JSON and HTML are views of this record; none of them adds, divides or decides. */
#ifndef S0_LEDGER_FACTS_H
#define S0_LEDGER_FACTS_H

#include "plan/plan.h"

/* A buffer and the figure it is listed for. */
typedef struct {
    BufferId buffer;
    uint64_t bytes;
} Ranked;

typedef struct {
    uint32_t count; /* of `top` */
    uint32_t all;   /* that there are; `top` holds the first of them */
    uint64_t all_bytes;
    Ranked *top;    /* most bytes first, ties in the order of the plan */
} Ranking;

/* A graph input whose bytes an operator writes over (cases F5). */
typedef struct {
    BufferId input;
    BufferId writer_output;
    uint32_t step;
} Overwrite;

/* A constant that the file holds larger than needed: bit-identical in `stored_bytes` (cases A2). */
typedef struct {
    ValueId value;
    uint64_t file_bytes, stored_bytes;
} Collapsible;

/* What a whole map of a compact parameter would occupy, for one buffer of `kept_compact`. */
typedef struct {
    BufferId buffer;
    uint64_t compact_bytes, row_bytes, full_bytes; /* physical, local; UINT64_MAX where the device has no layout for it */
    uint64_t full_logical_bytes;
} CompactCost;

typedef struct {
    const char *file; /* the model's path as given */
    const Plan *plan;
    const Graph *graph;
    const Device *device;

    bool has_qdq;               /* Quantize/Dequantize pairs: two readings */
    bool reads_qdq_as_float;    /* --qdq float was given */
    uint64_t other_peak_live_bytes, other_placed_bytes; /* of the reading that was not chosen */

    Ranking at_peak;            /* storages alive at the peak step, by physical bytes; all of them */
    Ranking paddings;           /* local storages by physical bytes of all banks less logical bytes, largest 10 */
    uint32_t compact_count;     /* of kept_compact */
    CompactCost *kept_compact;  /* parameters that stay a rule, by what `full` would cost more, largest first */
    uint64_t compact_bytes, compact_as_row_bytes, compact_as_full_bytes; /* sums over those with a layout for all */
    uint32_t overwrite_count;
    Overwrite *overwrites;
    uint32_t collapsible_count;
    Collapsible *collapsibles;
    uint32_t materialised_count;
    BufferId *materialised;
    const Diags *diags;         /* refusals and warnings */
} Facts;

/* needs  a finished plan; `other` is the plan of the other Q/DQ reading, or null. */
const Facts *facts_gather(const char *file, const Plan *plan, const Plan *other, bool reads_qdq_as_float, Work *work);

/* Logical, physical and at-peak bytes over all kinds: what by_kind sums to. */
KindTotals facts_totals(const Facts *facts);

/* The name of a buffer for people: its value's, with "(local copy)" where far memory holds another. */
Str facts_buffer_name(const Facts *facts, BufferId id, Arena *arena);

/* The node of a step for people; "(model output)" where there is none. */
Str facts_step_title(const Facts *facts, const Step *step, Arena *arena);

#endif
