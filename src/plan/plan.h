/* The plan: every buffer of a network on a device, when it is alive, where it lies and why.
 *
 * Time is the step index. A buffer's range is half-open, [first, last). A *storage* is a buffer with no `alias_of` and
 * all buffers that lead to it: it is live over the hull of their ranges, and their bytes lie inside its own.
 *
 * Invariants of a finished plan, checked by plan_check:
 *   - every storage of local memory has an offset, aligned; two that share a step share no byte (the judge);
 *   - peak_live_bytes <= lower_bound_bytes <= placed_bytes;
 *   - reads and writes of a step are live at that step. */
#ifndef S0_PLAN_PLAN_H
#define S0_PLAN_PLAN_H

#include "device/device.h"
#include "graph/passes.h"
#include "node/command.h"
#include "node/stages.h"
#include "sweep/sweep.h"

typedef struct {
    uint32_t index;
} BufferId;

#define NO_BUFFER ((BufferId){UINT32_MAX})

static inline bool is_buffer(BufferId id) {
    return id.index != UINT32_MAX;
}

typedef enum {
    BUFFER_INPUT,
    BUFFER_ACTIVATION,
    BUFFER_OUTPUT,
    BUFFER_WEIGHT,
    BUFFER_PARAMETER,
    BUFFER_STATE,
    BUFFER_WORKSPACE,
    BUFFER_KIND_COUNT
} BufferKind;

typedef enum {
    COLUMN_LOAD_INPUT,
    COLUMN_LOAD_PARAM,
    COLUMN_MULTIPLY,
    COLUMN_ADD,
    COLUMN_REQUANTIZE,
    COLUMN_COMPUTE,
    COLUMN_STORE,
    COLUMN_COPY,
    COLUMN_FILL,
    COLUMN_COUNT
} Column;

/* Does the DMA do it? */
static inline bool column_is_transfer(Column column) {
    return column == COLUMN_LOAD_INPUT || column == COLUMN_LOAD_PARAM || column == COLUMN_STORE;
}

/* Does it only move elements? */
static inline bool column_only_moves(Column column) {
    return column_is_transfer(column) || column == COLUMN_COPY || column == COLUMN_FILL;
}

typedef enum { ALIAS_NONE, ALIAS_VIEW, ALIAS_IN_PLACE, ALIAS_CONCAT, ALIAS_SPLIT, ALIAS_INTO_CONSUMER } AliasReason;

/* Why a buffer that could have shared another's bytes does not. */
typedef enum {
    REFUSED_NONE, /* it does, or there was no candidate */
    REFUSED_LATER_READER,
    REFUSED_GRAPH_OUTPUT,
    REFUSED_PINNED,
    REFUSED_CONSTANT,
    REFUSED_DTYPE,
    REFUSED_LAYOUT,
    REFUSED_ELEMENT_ORDER,
    REFUSED_BROADCAST,
    REFUSED_SMALLER,
    REFUSED_STATE,
    REFUSED_OPERATOR,
} AliasRefusal;

/* How a stored parameter repeats over the map it is read at. CHANNEL has one axis, which need not be C; PARTIAL has
 * several, but not all, or one number a block or a group. */
typedef enum {
    BROADCAST_NONE,
    BROADCAST_SCALAR,
    BROADCAST_CHANNEL,
    BROADCAST_ROW,
    BROADCAST_FULL,
    BROADCAST_PARTIAL
} Broadcast;

/* What a parameter would occupy in local memory, as it is stored and in each form: physical bytes; UINT64_MAX where the
 * form does not hold it, or the device has no layout for it. */
typedef struct {
    uint64_t compact_bytes, channel_bytes, row_bytes, full_bytes;
    uint64_t all_row_bytes, all_full_bytes; /* of all banks */
} FormCosts;

typedef struct {
    ValueId value; /* NO_VALUE for workspace */
    NodeId node;   /* that writes it; for a constant, its first reader; NO_NODE for a graph input */
    BufferKind kind;
    DType dtype;
    uint32_t record_bits;         /* of an element that stands for several constants of one channel; else 0 */
    Role role;                    /* which contract lays it out */
    uint32_t memory;              /* index of the device's memory */
    Shape stored;                 /* what is stored: the value's shape, or the smaller or larger form of a parameter */
    uint8_t dims[SHAPE_MAX_RANK]; /* Dim of each axis of `stored` */
    Broadcast broadcast;
    int32_t axis;           /* of a parameter whose numbers go along one axis of the map: which; -1 where it has none */
    int32_t start;          /* of an expanded one: axis of `stored` that its own axes go along from; -1: not told */
    uint32_t varies;        /* of an expanded parameter: set of axes of the map along which its numbers may differ */
    bool is_formless;       /* of a parameter: its numbers go along axes as in none of the device's forms */
    const FormCosts *costs; /* parameters only, else null */
    BufferId next_form;     /* of a constant in flash or far memory: the same in another form that a node reads */

    uint64_t logical_bytes, physical_bytes; /* of one bank */
    uint64_t banks_used;
    uint64_t align_bytes; /* that its layout and operators ask for, whatever memory it is in: see buffer_start_bytes */
    uint64_t repeat;      /* tiles that lie in it one after another: of what a step writes more than once; else 1 */
    uint64_t offset;      /* from the start of the memory */
    uint32_t first, last; /* steps: its own range */

    BufferId storage;                     /* the root of the aliases it is in; itself where it is one */
    uint32_t storage_first, storage_last; /* of a root: the hull of the ranges of all that lie in it */
    bool holds_output;                    /* of a root: a graph output lies in it, which the caller reads at the end */
    bool holds_input;                     /* of a concat in place: a graph input is one of its parts */
    BufferId alias_of;
    uint64_t alias_offset_bytes; /* from the start of `alias_of` */
    AliasReason alias_reason;
    AliasRefusal refused_alias;
    BufferId refused_candidate;      /* whose bytes it could have shared */
    NodeId refused_by;               /* the later reader, where that is the reason */
    const char *materialised_reason; /* null where nothing was expanded */
    bool is_form; /* of a scratchpad: the engine makes it, by COPY of another local buffer or by FILL */
} Buffer;

typedef struct {
    NodeId node; /* NO_NODE where an output is a constant or an input is only passed on */
    Column column;
    uint32_t read_count, write_count;
    BufferId *reads, *writes;
    uint64_t repeat;      /* how often it is executed: of a sweep, once a tile */
    uint64_t moved_bytes; /* of a load or store of a sweep, over all repeats */
    uint32_t sweep;       /* it is a step of; NOT_IN_SWEEP */
    uint64_t live_bytes;  /* physical bytes of local storages alive at this step */
} Step;

#define NOT_IN_SWEEP UINT32_MAX

/* What a sweep reads beside `in`, however many of its inputs are this one: a constant, or a further map. */
typedef struct {
    uint32_t node, input;   /* the first: input `input` of the sweep's node `node` */
    BufferId far, local[2]; /* the second one where two tiles are in flight and it does not stay */
    BufferId form;          /* that is made of it for a tile, where the engine reads a larger form; NO_BUFFER */
} SweepParam;

/* A parameter that a stage reads; MAP_AS_PARAM: the map that goes in, once more. */
typedef struct {
    uint32_t node, param;
} SweepUse;

#define MAP_AS_PARAM UINT32_MAX
#define NO_PARAM     UINT32_MAX

/* A buffer that is alive longer than the steps that name it: [first, last). */
typedef struct {
    BufferId buffer;
    uint32_t first, last;
} Hold;

/* A sweep with its buffers. What is whole in local memory has no far buffer and one local one. */
typedef struct {
    uint32_t node_count;
    const NodeId *nodes;
    const NodeStages *stages; /* of each node; null where it is one operator that is not per-channel */
    Sweep sweep;
    uint64_t budget_bytes; /* of local memory, that it was chosen for */
    SweepChosen chosen;
    BufferId in_far, out_far, in_local[2], out_local[2];
    uint32_t in_param;     /* the parameter that goes in as a map, repeating along axes of the result; else NO_PARAM */
    BufferId workspace[2]; /* FUSED, PIPELINED: a line for each tile in flight; NO_BUFFER */
    BufferId *handed;      /* node but the last, slot -> what it hands on: a map (SPLIT), or in what carries it */
    SweepParam *params;    /* sweep.param_count */
    uint32_t state_count;
    BufferId *states; /* that the operator goes on from */
    uint32_t use_count;
    SweepUse *uses; /* in the order of the stages and their parameters */
    uint32_t first_step, last_step;
    uint32_t hold_count;
    Hold *holds;
} PlannedSweep;

/* Why a map lies in far memory: what a draft of the plan, which had it in local memory, came to. */
typedef struct {
    NodeId node; /* the operator at whose step it was one too many; NO_NODE of the model's outputs */
    Column column;
    uint64_t live_bytes; /* that were alive at that step, whose room is less */
    uint64_t room_bytes;
    bool is_waiting; /* the operator neither reads nor makes it */
} FarReason;

typedef enum { STRATEGY_AUTO, STRATEGY_SCALAR, STRATEGY_CHANNEL, STRATEGY_ROW, STRATEGY_FULL } Strategy;

/* One --axis TENSOR=K: the parameter `tensor` goes along axis K of the map. */
typedef struct {
    Str tensor;
    int32_t axis;
    bool was_used; /* out */
} AxisBinding;

/* Which of the choices that may lower or raise the peak are taken; plan_make tries them and keeps the best. */
typedef struct {
    bool in_place;    /* element-wise operators write over a dying input */
    bool sub_views;   /* slices and splits are views, concats are written in place */
    bool input_parts; /* also concats of graph inputs */
} AliasChoice;

typedef struct Plan Plan;

/* What --order memory came to. */
typedef struct {
    const Plan *of_file; /* the plan in the order of the file; where that order was kept, it is this plan */
    uint32_t moved;      /* operators, or sweeps, that stand at another place; 0: the order of the file was kept */
    bool has_choice;     /* there is more than one order */
    bool is_lowest;      /* none has less alive at once, before further memories take some, while tensors are views of
                            each other as they are here */
} PlanOrder;

typedef struct {
    Strategy strategy;
    bool expand_before; /* --expand before: on a scratchpad, larger forms of constants lie in far memory */
    bool in_place;      /* --inplace auto; false is none: only another shape of a whole tensor shares its bytes */
    bool whole_tiles;   /* --tile none */
    uint64_t tile_rows, tile_channels; /* --tile ROWSxCHANNELS; 0: auto */
    Schedule schedule;
    Parameters parameters; /* --parameters */
    bool pin_inputs, pin_outputs;
    uint64_t budget_bytes; /* in place of the local capacity; 0 where not given */
    bool order_memory;     /* --order memory: not in the order of the file, if another needs less */
    AxisBinding *axes;
    size_t axis_count;
    bool axis_by_size;       /* --axis-heuristic size */
    const AliasChoice *held; /* another plan's, to be compared with; null where the best is to be found */
} PlanOptions;

typedef struct {
    const char *kind; /* "compact_parameters", "in_place", … */
    uint64_t
        saves_bytes; /* of unspilled_placed_bytes, measured by planning again with it; of "larger_…" those lacking */
    uint32_t memory; /* of "larger_overflow": which */
    bool fits;       /* with it the memory that it is about is large enough */
} Remedy;

/* What lies in a memory that takes the overflow of another. */
typedef struct {
    uint64_t placed_bytes, lower_bound_bytes, physical_bytes; /* the last is the sum of what lies there */
    uint32_t storage_count;
    bool is_cheapest; /* proven: no other choice of what goes where costs less */
} PlanOverflow;

/* Sums over local storages of one kind. */
typedef struct {
    uint64_t logical_bytes, physical_bytes, at_peak_bytes;
} KindTotals;

struct Plan {
    const Graph *graph;
    const Device *device;
    PlanOptions options;
    AliasChoice choice;
    uint32_t buffer_count, step_count;
    size_t buffer_capacity, step_capacity;
    Buffer *buffers;
    Step *steps;
    uint32_t sweep_count;
    size_t sweep_capacity;
    PlannedSweep *sweeps;
    const Shape **smallest;   /* constant -> its smallest bit-identical form, null until a reader asks */
    BufferId *of_value;       /* value -> the buffer its readers read in local memory (arena: or flash); NO_BUFFER */
    const FarReason *why_far; /* value -> why it lies in far memory, where it is a map there; null: none does */
    const NodeId *whole_for;  /* value: the operator that needs all of it in local memory; null: none was found */
    bool *has_no_tile;        /* node: it was to go by tiles, and no tile of it can be */
    uint32_t group_count;     /* of nodes that run together, in the order of time */
    uint32_t *group;          /* node of the main block -> which of them it is in */
    const PlanOrder *order;   /* null where --order memory was not asked for */
    BufferId *backing;        /* value -> its buffer in flash or far memory, the newest form's; NO_BUFFER */
    const NodeCommand *const *command; /* node -> the command that computes it, or null; null but of a scratchpad */

    KindTotals by_kind[BUFFER_KIND_COUNT];
    uint64_t logical_bytes, physical_bytes;
    uint64_t peak_live_bytes, placed_bytes, lower_bound_bytes, capacity_bytes;
    uint64_t unspilled_peak_bytes, unspilled_placed_bytes; /* before further memories took some of it */
    uint64_t lack_bytes, backing_lack_bytes; /* that local, and flash or far memory, would have to be larger; where
                                                others take the overflow, the fewest with which a way was found */
    uint32_t peak_step;
    uint64_t backing_bytes;                     /* flash or far: placed maps, constants, inputs and outputs there */
    uint64_t far_maps_bytes;                    /* of them, at its start, for maps that come and go */
    uint64_t backing_capacity_bytes;            /* of that memory; UINT64_MAX where it is unbounded */
    PlanOverflow overflow[DEVICE_MAX_MEMORIES]; /* of each further memory */
    uint64_t sub_views_placed_bytes; /* with slices as views and concats in place, where that needs more; else 0 */
    uint32_t node_count;             /* of the main block, when it was planned */
    uint64_t planning_only_constants, planning_only_bytes; /* constants that only told the planner a shape */
    uint64_t folded_nodes;                                 /* nodes that are constant and make no step */
    uint64_t view_nodes;                                   /* nodes that are a rule only and make no step */
    uint32_t remedy_count;
    Remedy *remedies;
};

static inline Buffer *plan_buffer(const Plan *plan, BufferId id) {
    return &plan->buffers[id.index];
}

/* The command that computes the node; null where there is none. */
static inline const NodeCommand *plan_command(const Plan *plan, NodeId id) {
    return plan->command == NULL ? NULL : plan->command[id.index];
}

/* What the options say of sweeps, with so much local memory. */
SweepTerms plan_sweep_terms(const PlanOptions *options, uint64_t budget_bytes);

/* needs   all passes of graph/passes.h
 * Null with diagnostics where something is refused. A plan that does not fit is a plan: see plan_fits. */
Plan *plan_make(const Graph *graph, const Device *device, const PlanOptions *options, Work *work);

/* `plan` with other options, without remedies. Null with diagnostics. */
const Plan *plan_with(const Plan *plan, const PlanOptions *options, Work *work);

/* Every --axis must name a parameter that was read in some plan made of `graph` with `options`. False with a
 * diagnostic.
 */
bool plan_check_axes(const Graph *graph, const PlanOptions *options, Diags *diags);

/* Warns where an element-wise operator reads a parameter in a form that the engine does not, or in a smaller one than
 * --strategy asks for. */
void plan_warn_of_forms(const Plan *plan, Work *work);

/* Warns, once, of custom operators that the device file declares nothing of; where there are some, also of each of its
 * sections that declares no operator of the model. */
void plan_warn_of_custom(const Plan *plan, Work *work);

/* The invariants above; one that does not hold is our own fault and ends the program. */
void plan_check(const Plan *plan);

/* Local memory holds what is placed there, and flash or far memory the rest. */
bool plan_fits(const Plan *plan);
bool plan_local_fits(const Plan *plan);
bool plan_backing_fits(const Plan *plan);

/* Would it fit if `memory`, which takes no overflow of `first`, did? */
bool plan_fits_with_overflow(const Plan *plan, uint32_t first, uint32_t memory, Work *work);

/* What is placed in memories that take the overflow of others; UINT64_MAX where the sum does not fit 64 bits. */
uint64_t plan_placed_further(const Plan *plan);

/* Is there a memory that takes the overflow of `first`? */
bool plan_has_overflow(const Plan *plan, uint32_t first);

/* Does local memory hold it, as a storage of its own? Those are what is placed, and what sums count. */
static inline bool buffer_is_local_storage(const Plan *plan, BufferId id) {
    const Buffer *buffer = plan_buffer(plan, id);
    return buffer->storage.index == id.index && buffer->memory == plan->device->local;
}

/* Does the engine work on it: does it lie in local memory, or in one that takes what has no room there? */
static inline bool buffer_is_worked_on(const Plan *plan, const Buffer *buffer) {
    return device_first(plan->device, buffer->memory) == plan->device->local;
}

/* Was it sent to far memory, where only steps of this plan use it? */
static inline bool buffer_is_far_map(const Plan *plan, const Buffer *buffer) {
    return !buffer_is_worked_on(plan, buffer) && buffer->kind == BUFFER_ACTIVATION;
}

/* Does the engine make there the form that an operator reads? */
static inline bool step_makes_form(const Plan *plan, const Step *step) {
    return (step->column == COLUMN_COPY || step->column == COLUMN_FILL) && step->write_count == 1 &&
           plan_buffer(plan, step->writes[0])->is_form;
}

/* Is the storage alive at this step? */
static inline bool storage_is_live(const Buffer *storage, uint32_t step) {
    return storage->storage_first <= step && step < storage->storage_last;
}

/* A multiple of which the offset of a storage is: of its own alignment and its memory's unit. */
uint64_t buffer_start_bytes(const Plan *plan, const Buffer *buffer);

const char *buffer_kind_name(BufferKind kind);
const char *column_name(Column column);
const char *broadcast_name(Broadcast broadcast);
const char *alias_reason_name(AliasReason reason);
const char *alias_refusal_name(AliasRefusal refusal);

#endif
