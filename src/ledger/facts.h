/* The facts: every figure that a report prints, computed once.
 *
 * Terminal, JSON and HTML are views of this record; none of them adds, divides or decides. */
#ifndef S0_LEDGER_FACTS_H
#define S0_LEDGER_FACTS_H

#include "ledger/simplification.h"
#include "plan/plan_cost.h"
#include "plan/whole.h"
#include "program/program.h"

/* A buffer and the figure it is listed for. */
typedef struct {
    BufferId buffer;
    uint64_t bytes;
} Ranked;

typedef struct {
    uint32_t count; /* of `top` */
    uint32_t all;   /* that there are; `top` holds the first of them */
    uint64_t all_bytes;
    Ranked *top; /* most bytes first, ties in the order of the plan */
} Ranking;

/* A graph input whose bytes are used again in the same run: written in place, or given to another buffer (cases F5). */
typedef struct {
    BufferId input;
    BufferId writer_output; /* the first that is written there */
    uint32_t step;
} Overwrite;

/* A constant that the file holds larger than needed: bit-identical in `stored_bytes`, for which flash or far memory
 * keeps `planned_bytes` (cases A2). */
typedef struct {
    ValueId value;
    uint64_t file_bytes, stored_bytes, planned_bytes;
} Collapsible;

/* What a compact parameter would occupy expanded, for one buffer of `kept_compact`. Physical bytes of all banks: a form
 * that lies in one bank and one that is spread over many are comparable so. UINT64_MAX where the device has no layout
 * for it. */
typedef struct {
    BufferId buffer;
    uint64_t compact_bytes, row_bytes, full_bytes;
    uint64_t full_logical_bytes;
} CompactCost;

/* What steps move, in logical bytes; UINT64_MAX where a sum does not fit 64 bits. */
typedef struct {
    uint64_t read_bytes, written_bytes;
    uint64_t transfers; /* buffers that are written */
} Moved;

/* Steps that move data and compute nothing: loads, stores, copies, fills. What operators read and write where it lies
 * is not traffic. */
typedef struct {
    Moved by_column[COLUMN_COUNT];
    Moved all;
    uint64_t param_bytes; /* written by load_param */
} Traffic;

/* One run on the clocks of a device that loads and stores: docs/simulator.md. */
typedef struct {
    PlanCost cost;
    ColumnCost moves;     /* sums over loads and stores */
    uint64_t burst_bytes; /* that bursts move; UINT64_MAX where they are unbounded */
    double efficiency;    /* of what bursts move, the part that is elements; NaN where it is not known */
    Moved moved;          /* by steps that only move data */
    uint64_t param_bytes; /* of them, written by load_param */
} RunTotals;

/* What stays in local memory from one run to the next: see steady.c. */
typedef struct {
    RunTotals run; /* the second one, and all later */
    uint32_t held_count;
    BufferId *held;             /* in the order of the plan */
    uint64_t held_bytes;        /* each rounded up to the memory's alignment */
    uint64_t alive_bytes;       /* the most that is then alive at one step, each rounded up */
    Moved saved;                /* not moved again: loads, and the copies and fills of what is held */
    uint64_t saved_param_bytes; /* of that, loaded */
} Steady;

/* A way to go over a sweep's map that was not taken. */
typedef struct {
    SweepChoice choice;
    uint64_t need_bytes, cycles; /* of the sweep alone */
    bool fits;                   /* in what local memory has for the sweep, beside what else is alive */
    bool has_chosen_tile;        /* no other tile was looked at: it is the chosen one under another schedule */
} SweepOther;

/* What a sweep would cost with its parameters as they are not. */
typedef struct {
    SweepChoice choice;
    uint64_t param_bytes; /* that are loaded */
    uint64_t need_bytes, cycles;
    bool fits;
} ParamPrice;

/* A sweep with its parameters in another form. */
typedef struct {
    Form form;
    ParamPrice made;   /* by the engine, of what was loaded */
    bool has_before;   /* there is a layout for it in far memory */
    ParamPrice before; /* --expand before: far memory holds the form, and it is loaded as large as it is */
} FormPrice;

typedef struct {
    const PlannedSweep *planned;
    bool has_cost; /* its sums fit 64 bits */
    PlanCost cost; /* of the sweep alone */
    uint32_t other_count, form_count;
    SweepOther *others; /* those that fit first, the fewest cycles first; then the fewest bytes */
    FormPrice form[FORM_COUNT];
} SweepFacts;

/* A node that is only a rule in the model, but moves bytes here (cases F6, M1). */
typedef struct {
    uint32_t step;
    BufferId output;
    BufferId explained_by; /* the output, or the part of it, whose `refused_alias` says why; NO_BUFFER */
    Moved moved;
} Copy;

/* Local storages that occupy several times what they hold (cases H7). */
typedef struct {
    uint32_t count;
    uint64_t padding_bytes;
    Ranked worst; /* most padding */
} Swollen;

/* Of a step: what the storages of local memory take that it reads or writes; and if an operator runs there, why it
 * works on whole maps. */
typedef struct {
    WholeReason reason;
    uint64_t own_bytes;
} WholeStep;

/* A step at which more is alive than local memory holds. */
typedef struct {
    uint32_t step;
    uint64_t live_bytes;
} Crowded;

typedef enum { BLAME_BROADCAST_FORM, BLAME_SCHEDULE, BLAME_WORKSPACE, BLAME_PARAMETER_LIFETIME } BlameKind;

/* What of the peak need not be there: `bytes`, where `instead_bytes` would do. */
typedef struct {
    BlameKind kind;
    NodeId node;     /* NO_NODE where it is none's */
    BufferId buffer; /* NO_BUFFER of a schedule, whose bytes are all that the sweep needs */
    uint64_t bytes, instead_bytes;
    const char *hint;
} Blame;

const char *blame_name(BlameKind kind); /* "broadcast_form" */

/* A map of the peak's operator that another one can't do with parts of. */
typedef struct {
    ValueId value;
    NodeId by;
} NeededWhole;

#define NO_STEP UINT32_MAX

/* Beside the peak: empty where the memory it is about fits. */
typedef struct {
    uint32_t crowded_count;
    Crowded *crowded; /* all steps but the peak's, most bytes first, ties in order of time */
    uint64_t backing_excess_bytes;
    uint32_t backing_step;       /* the first at which most is alive in flash or far memory; NO_STEP: all stays there */
    uint64_t backing_live_bytes; /* that are */
    uint64_t backing_stay_bytes; /* of them: constants, graph inputs and outputs, which stay for the whole run */
    Ranking backing;             /* storages alive there, by the bytes they take, largest 10 */

    WholeReason whole;     /* of the peak's operator: why it is not cut */
    uint32_t needed_count; /* where that is WHOLE_GAIN */
    NeededWhole *needed;
    uint64_t own_bytes;     /* of the peak: storages that its node reads or writes */
    uint64_t waiting_bytes; /* and the others, which are there for other steps */
    uint32_t waiting_count;
    BufferId *waiting; /* most bytes first */
    uint32_t blame_count;
    Blame *blame; /* what saves most first */

    /* A memory in which nothing lies, and that would help: with its overflow the memory that it is for would fit; or
     * `weights` of a scratchpad, where local memory would do without the weights. Null where there is none. */
    const DeviceMemory *unused;
    const DeviceMemory *unused_for; /* the memory that it helps */
    bool unused_is_for_weights;
} Misfit;

typedef struct {
    const char *file; /* the model's path as given */
    const Plan *plan;
    const Graph *graph;
    const Device *device;

    bool reads_qdq_as_float; /* --qdq float was given */
    const Plan *other;       /* in the other reading of Quantize/Dequantize pairs; null where there are none */

    Ranking at_peak;           /* storages alive at the peak step, by physical bytes; all of them */
    Ranking paddings;          /* local storages by physical bytes of all banks less logical bytes, largest 10 */
    uint32_t compact_count;    /* of kept_compact */
    CompactCost *kept_compact; /* parameters that stay a rule, by what `full` would cost more, largest first */
    uint64_t compact_bytes, compact_as_row_bytes, compact_as_full_bytes; /* sums over those with a layout for all */
    Ranking refused;      /* local storages that an element-wise operator or a copy might have put into
                             another's bytes, by physical bytes, largest 6 */
    uint32_t *idle_steps; /* of each constant in local memory: steps at which it is alive, and not loaded or read */
    Ranking idle_at_peak; /* those that wait there, and are used at no step with as much alive: all of them */
    uint32_t overwrite_count;
    Overwrite *overwrites;
    const Plan *pinned; /* with --pin-inputs, where an input is overwritten; else null */
    uint32_t collapsible_count;
    Collapsible *collapsibles;
    uint64_t expanded_file_bytes, expanded_planned_bytes; /* sums over them */
    uint32_t materialised_count;
    BufferId *materialised;
    Traffic traffic;
    bool has_costs; /* of a scratchpad whose sums fit 64 bits */
    RunTotals first_run;
    uint64_t file_order_cycles;   /* of a first run in the order of the file; UINT64_MAX where it is not known */
    uint64_t sweeps_alone_cycles; /* sum over sweeps, each as if it were alone; UINT64_MAX past 64 bits */
    uint32_t untold_count;
    const char **untold; /* keys of the device file that cycles depend on and it does not have */
    Steady steady;
    SweepFacts *sweeps;  /* plan->sweep_count */
    uint32_t *costliest; /* all of them, by the cycles of each alone, ties in order of time */
    uint32_t copy_count;
    Copy *copies; /* most bytes first */
    Swollen swollen;
    WholeStep *whole;             /* step -> */
    const StepCommands *commands; /* step -> ; null where no program runs the plan, or the plan does not fit */
    Ranking far_maps;             /* storages that local memory has no room for, by the bytes they take: all of them */
    Ranking overflow;             /* storages in memories that take another's overflow, by their bytes: all of them */
    uint64_t backing_stay_bytes; /* of flash or far memory less the maps that come and go there: what else lies there */
    uint64_t spare_bytes, excess_bytes; /* local capacity less what is placed, and the other way round; else 0 */
    Misfit misfit;
    uint64_t anywhere_bytes;      /* enough at a start of any alignment; UINT64_MAX past 64 bits (cases H1) */
    const Diags *diags;           /* refusals and warnings */
    const Simplified *simplified; /* what was rewritten before planning; null where nothing may be */
    const OutputRange *outputs;   /* `before`, in the order of the graph: what each can hold */
    const char *request_device;   /* as -d had it; null where nobody said */
    const char *const *options;   /* what was asked for, as the command line says it, ended by null; null like that */
} Facts;

/* needs  a finished plan; `other` is the plan of the other Q/DQ reading, or null. */
Facts *facts_gather(const char *file, const Plan *plan, const Plan *other, bool reads_qdq_as_float, Work *work);

/* Logical, physical and at-peak bytes over all kinds: what by_kind sums to. */
KindTotals facts_totals(const Facts *facts);

/* Why the buffer's map lies in far memory; null where it does not, or always would. */
const FarReason *facts_why_far(const Plan *plan, BufferId id);

/* Operand `k` of a sweep, from 0, its first map, to its `param_count`, if each tile reads all of it, and that is more
 * than one element; else NO_BUFFER. In far memory, where it is loaded from there. */
BufferId facts_reads_whole(const PlannedSweep *planned, uint32_t k);

/* Are parameters asked to be reloaded, of a sweep whose tiles each read all of its constants? */
bool facts_reloads_none(const Plan *plan, const PlannedSweep *planned);

/* Dimensions of the map, bit d, of more than one index along which the sweep is never cut. */
uint32_t facts_uncut_dims(const Sweep *sweep);

/* The steps of one column of a sweep, as one. */
typedef struct {
    uint64_t repeat, moved_bytes, live_bytes;
    uint32_t fullest; /* the first step at which most is alive; NO_STEP where the sweep has no such column */
} SweepRow;

SweepRow facts_sweep_row(const Plan *plan, const PlannedSweep *planned, Column column);

/* What the step moves; nothing where it computes. */
Moved facts_step_moves(const Plan *plan, const Step *step);

/* Physical bytes of all banks for one logical byte. 1 where there are none. */
double facts_padding_ratio(const Buffer *buffer);

/* Layout of a buffer: the case of its contract that holds, counted from 0. False where the plan does not tell it (an
 * engine's parameter records, grains). */
bool facts_layout_case(const Facts *facts, BufferId id, uint32_t *which);

/* Which form the engine makes there: that of a map is full. Null where it makes none. */
const char *facts_form_name(const Buffer *buffer);

/* The name of a buffer for people: its value's, with "(local copy)" where far memory holds another, "(row form)" where
 * the engine makes that of a local copy. */
Str facts_buffer_name(const Facts *facts, BufferId id, Arena *arena);

/* The node of a step for people; "(model output)" where there is none. */
Str facts_step_title(const Facts *facts, const Step *step, Arena *arena);

/* ---- find.c: what a name stands for */

/* The rewrite that took a tensor of that name away; null where none did. */
const Rewrite *facts_find_gone(const Facts *facts, Str name);

/* Has a buffer a tensor of that name, or did a rewrite take it away? Else the nearest name that has, empty where none
 * is near. */
bool facts_find_buffer(const Facts *facts, Str name, Str *nearest);

/* The node of that name, also one that makes no step of its own; NO_NODE and the nearest name. */
NodeId facts_find_node(const Facts *facts, Str name, Str *nearest);

#endif
