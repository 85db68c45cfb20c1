/* Sweeps: a run of per-channel operators, or any one operator whose output can be made part by part, that goes over a
 * map, tile by tile, on a device that loads and stores.
 *
 *     prologue   parameters that stay are loaded
 *     a tile     load input, load parameters, expand them, compute, store
 * What is chosen: how the map is cut, in which order the operators go over a tile, where the product is carried, and
 * whether parameters stay. The choice costs the fewest cycles of those that fit; sweep_walk tells what then happens in
 * which order, and whoever counts cycles, writes steps or writes commands listens to it. */
#ifndef S0_SWEEP_SWEEP_H
#define S0_SWEEP_SWEEP_H

#include "device/device.h"
#include "layout/runs.h"
#include "sweep/timeline.h"

typedef enum { SCHEDULE_AUTO, SCHEDULE_FUSED, SCHEDULE_SPLIT, SCHEDULE_PIPELINED, SCHEDULE_COUNT } Schedule;

const char *schedule_name(Schedule schedule); /* "fused" */

/* Where a stage leaves what the next one takes. With SCHEDULE_SPLIT: the next one of its node; for what nodes hand on
 * there are maps of the tile's shape. */
typedef enum {
    CARRY_NONE,      /* there is one stage */
    CARRY_OUTPUT,    /* in the output's tile */
    CARRY_INPUT,     /* over the input's */
    CARRY_WORKSPACE, /* in a line of workspace */
} Carry;

#define REACH_ALL DIM_COUNT

/* Which indices of one dimension belong to a part of the map: those that a window of `window` elements covers, which
 * begins at index * stride - before, as far as the dimension has them. No such index passes 63 bits. */
typedef struct {
    uint32_t of; /* dimension of the map that the window moves along; REACH_ALL: every index, whatever the part */
    uint64_t stride;
    int64_t before; /* negative where the window begins further on */
    uint64_t window;
    uint64_t grain; /* a part begins at a multiple of it: view_grain of the operand */
} Reach;

/* A map or a parameter that the sweep reads or writes. A parameter that the engine reads in a larger form than it is
 * stored in is loaded as it is stored; the engine makes the form of it, as large as a tile. */
typedef struct SweepOperand {
    LayoutShape shape; /* whole: extents of 1 repeat */
    Reach reach[DIM_COUNT];
    Role role;
    uint64_t grain_bytes;            /* see view_widen */
    bool is_map;                     /* changes from run to run: no constant */
    bool is_far;                     /* loaded or stored tile by tile; else all of it lies in local memory */
    View whole;                      /* where it is far: as it lies in far memory, flattened; else in local memory */
    bool is_number;                  /* a constant of one number: a form of it is filled, and nothing is loaded */
    bool is_form;                    /* made for each tile of what another operand holds */
    const struct SweepOperand *form; /* of a parameter: what is made of it; null: it is read as it is loaded */
} SweepOperand;

/* What a sweep is, before anything is chosen. The map that is cut into tiles is `out`; where operators are per-channel
 * `in` has its extents. */
typedef struct {
    const Device *device;
    SweepOperand in, out;
    uint32_t param_count;
    const SweepOperand *params; /* what else is read: constants, and further maps */
    uint32_t node_count;
    const uint32_t *stage_count;  /* of each node */
    const uint32_t *stage_bits;   /* of all stages, in order: the wider of what goes in and comes out */
    const uint32_t *between_bits; /* node_count - 1: elements that a node hands to the next */
    uint32_t carried_bits;        /* widest that one stage hands to the next; 0 where there is one stage */
    uint32_t inner_bits;          /* widest that one stage of a node hands to the next of it; 0 where each has one */
    uint64_t macs, passes;        /* of an operator that is not per-channel: products for an element of the map; where
                                     there are none, how often the vector engine goes over it. 0 else */
    bool is_copy;                 /* an operator that moves elements: their bytes count */
    uint32_t cut;                 /* set of dimensions, bit d, along which the map may be cut */
    bool may_write_over;          /* each element of the map needs that one of `in` only */
    bool in_is_param;             /* a stage reads `in` as its parameter too: nothing is written over it */
    uint64_t workspace_bytes;     /* of one operator, as the device file declares it; 0 else */
    uint64_t align_bytes;         /* of what it works on, as that declares it; 0 else */
} Sweep;

typedef struct {
    uint64_t tile[DIM_COUNT]; /* of a full tile; those at the end of a dimension may be smaller */
    Schedule schedule;
    Carry carry;
    bool over_input;  /* the output takes the place of the input's local copy */
    bool is_resident; /* parameters stay whole; else the part that a tile reads is loaded when it changes */
} SweepChoice;

bool sweep_same_choice(const SweepChoice *a, const SweepChoice *b);

typedef struct {
    uint64_t bytes, commands, descriptors, bursts, cycles; /* bytes of elements */
} ColumnCost;

typedef enum {
    SWEEP_LOAD_INPUT,
    SWEEP_LOAD_PARAM,
    SWEEP_COPY, /* a parameter's form out of what was loaded */
    SWEEP_FILL, /* or out of its number */
    SWEEP_COMPUTE,
    SWEEP_STORE,
    SWEEP_KINDS
} SweepKind;

typedef struct {
    uint64_t tiles, cycles, syncs;
    ColumnCost column[SWEEP_KINDS];
} SweepCost;

/* ---- tile.c: shapes and sizes */

/* Is the map cut along dimension `d`? */
bool sweep_is_cut(const Sweep *sweep, const SweepChoice *choice, uint32_t d);

uint32_t sweep_slots(const SweepChoice *choice); /* copies of what belongs to a tile: 2 where two are in flight */

/* Has the parameter, in each dimension, one element or as many as the map? One that goes along some of the axes that
 * make one dimension has not, and there is no box of it for a tile. */
bool sweep_fits_map(const LayoutShape *param, const LayoutShape *map);

/* The operand goes along with the map: index for index where their extents are equal; else all of it is read. */
void sweep_follow(SweepOperand *operand, const LayoutShape *map);

/* Is dimension `d` of the operand one of the map, index for index? */
bool reach_is_same(const Reach *reach);

/* The largest extents that the operand's part of a tile has. False: there are too many kinds of parts. */
bool sweep_part_extent(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand,
                       uint64_t extent[DIM_COUNT]);

/* What the engine reads of a parameter: its form, or itself. */
const SweepOperand *sweep_read(const SweepOperand *param);

/* Is it loaded, whole or by parts? A number that fills a form is not. */
bool sweep_is_loaded(const SweepOperand *param);

/* Does the parameter stay whole for all tiles? A form never does. */
bool sweep_stays(const SweepChoice *choice, const Sweep *sweep, const SweepOperand *param);

/* Is a part of a parameter loaded for tiles, of one that could as well stay whole? */
bool sweep_reloads(const SweepChoice *choice, const Sweep *sweep);

/* The box of the operand that belongs to a box of the map. */
ViewBox sweep_box(const SweepOperand *operand, const ViewBox *map_box);

/* What a parameter's form holds for a box of the map: from where in the parameter on, and how large. */
ViewBox sweep_form_box(const SweepOperand *param, const ViewBox *map_box);

/* Bytes of the operand's elements in a box of it, rounded up once. */
uint64_t sweep_box_bytes(const SweepOperand *operand, const ViewBox *box);

/* How the operand's part of a tile lies in local memory: a tensor of the part's shape, or a box of what lies there
 * whole. False where the contract has no layout for it. */
bool sweep_local_view(const Sweep *sweep, const SweepOperand *operand, const uint64_t extent[DIM_COUNT], View *view);

/* Bytes that a buffer for the operand's part of any tile reserves, of one lane. False where there is no layout. */
bool sweep_operand_bytes(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, uint64_t *bytes);

/* ---- walk.c: what happens, in which order */

/* In which order tiles go through the dimensions of the map, the slowest first. */
enum { SWEEP_ORDER_COUNT = DIM_COUNT };
extern const Dim sweep_order[SWEEP_ORDER_COUNT];

/* What a later event may wait for: the last one of a kind and slot. */
enum {
    WAIT_LOAD_0 = 1,
    WAIT_LOAD_1 = 2,
    WAIT_COMPUTE_0 = 4,
    WAIT_COMPUTE_1 = 8,
    WAIT_STORE_0 = 16,
    WAIT_STORE_1 = 32,
    WAIT_KEYS = TIMELINE_KEYS,
};

enum { SWEEP_MOST_STAGES = 16 }; /* of one command: CMD_MAX_STAGES */
enum { SWEEP_MOST_PARAMS = 64, SWEEP_ALL_DIMS = (1 << DIM_COUNT) - 1 };

#define SWEEP_ALL_NODES UINT32_MAX

typedef struct {
    SweepKind kind;
    uint32_t which; /* LOAD_PARAM, COPY, FILL: the parameter; COMPUTE: the node, or all at once */
    uint32_t slot, queue;
    uint32_t waits; /* set of WAIT_… of other queues */
    uint32_t key;   /* WAIT_… that this event is */
    uint32_t tails; /* set of dimensions, bit d, along which the box is the last and smaller one */
    ViewBox box;    /* of the map; of a load, of what is loaded; of COPY and FILL, sweep_form_box */
} SweepEvent;

/* Rounds of the walk that are to come: `count` rounds of `tiles` tiles. Each has the events of each of the rounds since
 * the last time that `level` was asked for, but for the place of their boxes. */
typedef struct {
    uint32_t level; /* of sweep_order: the dimension that goes on from round to round */
    uint64_t tiles, count;
} SweepRounds;

typedef struct {
    void (*hear)(void *context, const SweepEvent *event);
    bool (*skip)(void *context, const SweepRounds *rounds); /* true: they are left out. Null: every tile is told of */
    void *context;
} SweepListener;

void sweep_walk(const Sweep *sweep, const SweepChoice *choice, SweepListener listener);

/* ---- cost.c: cycles and traffic, as docs/simulator.md counts them */

/* No sweep of that choice takes fewer cycles, from an idle device on. */
uint64_t sweep_least_cycles(const Sweep *sweep, const SweepChoice *choice);

/* Of the stages of one node over `elements` of the map, without any issue. */
uint64_t sweep_node_cycles(const Sweep *sweep, uint32_t node, uint64_t elements);

/* A move of one sweep: which, and what it costs. That depends on the extents of its box, not on where that is: boxes
 * begin where blocks do. */
typedef struct {
    bool is_used, ok;
    SweepKind kind;
    uint32_t which;
    uint64_t extent[DIM_COUNT];
    uint64_t bytes;
    RunCost runs;
} SweepMove;

/* Moves of one sweep that are known, whatever is chosen. Begins as zeros; sweep_cost adds to it. */
enum { SWEEP_MOVES = 256 };
typedef struct {
    SweepMove known[SWEEP_MOVES];
} SweepMoves;

/* False where a sum does not fit 64 bits. `timeline` goes on from the sweep before. */
bool sweep_cost(const Sweep *sweep, const SweepChoice *choice, SweepMoves *moves, Timeline *timeline, SweepCost *cost);

/* ---- choose.c */

/* Whether parameters stay whole for all tiles: --parameters. */
typedef enum { PARAMETERS_AUTO, PARAMETERS_RESIDENT, PARAMETERS_RELOADED } Parameters;

typedef struct {
    Schedule schedule; /* SCHEDULE_AUTO: any */
    Parameters parameters;
    uint64_t rows, channels; /* --tile ROWSxCHANNELS; 0: any */
    bool is_whole;           /* --tile none */
    bool may_write_over;     /* --inplace auto */
    uint64_t budget_bytes;   /* of local memory */
} SweepTerms;

/* A choice that was looked at, with what it costs. */
typedef struct {
    SweepChoice choice;
    uint64_t need_bytes;
    SweepCost cost;
} SweepOption;

enum { SWEEP_MOST_OPTIONS = 2 * (SCHEDULE_COUNT - 1) };

typedef struct {
    bool fits; /* else `best` is the one that needs the fewest bytes */
    SweepOption best;
    uint32_t other_count; /* the best of each schedule, and of parameters that stay or not, that are not `best` */
    SweepOption other[SWEEP_MOST_OPTIONS];
} SweepChosen;

/* False where there is no layout for any tile. */
bool sweep_choose(const Sweep *sweep, const SweepTerms *terms, SweepChosen *chosen);

#endif
