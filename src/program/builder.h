/* What the files of this room share while a program is built. Private to the room. */
#ifndef S0_PROGRAM_BUILDER_H
#define S0_PROGRAM_BUILDER_H

#include "program/program.h"

/* A view that a buffer is used with; which elements are there, and so which bytes. */
typedef struct {
    View view;
    uint32_t sweep;           /* whose boxes they are, where they are not all */
    bool *is_used[DIM_COUNT]; /* of each index of the dimension; null: all are */
} Use;

typedef struct {
    uint32_t count;
    size_t capacity;
    Use *use;
    uint64_t reserved_bytes; /* the largest footprint of those views, and of the one that the host sees */
} Uses;

enum { PROGRAM_QUEUES = 3 }; /* the engine, loads, stores; with one DMA channel loads and stores share the second */

typedef struct {
    const Plan *plan;
    Work *work;
    Semantics semantics;
    CmdProgram *program;

    Str *nodes;
    CmdView *views;
    CmdBuffer *buffers;
    Command *commands;
    StepCommands *steps; /* of the plan */
    size_t node_capacity, view_capacity, buffer_capacity, uses_capacity;
    uint32_t *of_node, *of_buffer; /* of the plan's -> of the program; CMD_NONE */
    Uses *uses;                    /* of each buffer of the program */
    uint32_t *view_slot;           /* views by their hash: number + 1, 0 is free */
    uint32_t view_slots;           /* a power of two */

    uint32_t last[PROGRAM_QUEUES];   /* command of each queue; CMD_NONE */
    uint32_t before[PROGRAM_QUEUES]; /* the same, before the step or sweep that is written */
    uint32_t has_begun;              /* set of queues that have a command of it */
    uint32_t begun;                  /* steps and sweeps, with it */
} ProgramBuilder;

/* ---- views.c */

/* The view as commands have it; equal ones have one number. */
uint32_t program_view(ProgramBuilder *builder, const View *view);

/* The axes that elements are counted over, outer first; later ones of a dimension vary faster. */
typedef struct {
    uint32_t rank;
    const ViewAxis *axes;
} ProgramAxes;

/* Reads the operand, which begins at the first element of what `radix` counts, as a tensor of these axes: the k-th
 * element is the k-th; from `box` of it on. False where no view tells that: an axis ends inside a digit. */
bool program_reorder(ProgramBuilder *builder, const ViewRadix *radix, ProgramAxes as, const ViewBox *box,
                     CmdOperand *operand);

/* ---- touched.c */

/* Notes that elements of the view are used. */
void uses_add(Uses *uses, const View *view, Arena *arena);

/* Notes that those of a box are, one of the grid of boxes that `sweep` goes through. */
void uses_add_box(Uses *uses, const View *view, const ViewBox *box, uint32_t sweep, Arena *arena);

/* Indices of one dimension: `count` windows, each `stride` behind the one before, of `taps` indices that stand
 * `dilation` apart, from `first` on; of these, those from `low` to `high`. */
typedef struct {
    int64_t first;
    uint64_t count, stride, taps, dilation;
    int64_t low, high;
} UseWindows;

/* Notes that those in windows along each dimension are. */
void uses_add_windows(Uses *uses, const View *view, const UseWindows along[DIM_COUNT], uint32_t sweep, Arena *arena);

/* Notes the footprint of the view. */
void uses_reserve(Uses *uses, const View *view);

/* Distinct bytes that they address, over all lanes; and how many lanes that takes. */
uint64_t uses_touched_bytes(Uses *uses, Arena *scratch);
uint64_t uses_lanes(const Uses *uses);

/* ---- buffers.c */

/* The buffer of the program; made at the first call. `dtype` is of its elements where it is workspace. */
uint32_t program_buffer(ProgramBuilder *builder, BufferId id, DType dtype);

/* The operand at an address in the view, whose elements are used. */
CmdOperand program_operand(ProgramBuilder *builder, uint32_t buffer, const View *view, const uint64_t first[DIM_COUNT]);

/* The same, of which this sweep only uses the elements of its boxes. */
CmdOperand program_box_operand(ProgramBuilder *builder, uint32_t buffer, const View *view, const ViewBox *box);

/* The same, of which this sweep only uses the elements of its windows. */
CmdOperand program_windows_operand(ProgramBuilder *builder, uint32_t buffer, const View *view,
                                   const UseWindows along[DIM_COUNT], const uint64_t first[DIM_COUNT]);

/* The view of a whole buffer: of far memory flattened. False with a diagnostic. */
bool program_whole_view(const ProgramBuilder *builder, const Buffer *buffer, View *view);

/* Shows the buffer of far memory to the host, whole, with its constant. False with a diagnostic. */
bool program_show(ProgramBuilder *builder, BufferId id);

/* What is known when all commands are. Footprints of all buffers. */
const uint64_t *program_finish_buffers(ProgramBuilder *builder);

/* ---- types.c */

/* Does the device compute every type that the sweep's operators do? */
bool program_has_types(const Plan *plan, const PlannedSweep *planned);

/* The same. False with a diagnostic. */
bool program_check_types(const ProgramBuilder *builder, const PlannedSweep *planned);

/* ---- constant.c */

/* The elements of a constant in the form in which the buffer stores it, packed. False with a diagnostic. */
bool program_constant(const Graph *graph, const Buffer *buffer, Work *work, Span *packed);

/* ---- commands.c */

/* A step or a sweep begins: the first command of each queue waits for what the others have had to do. */
void program_begin(ProgramBuilder *builder);

/* Adds the command; `waits` are `count` commands of this step, of other queues. Returns its number. */
uint32_t program_add(ProgramBuilder *builder, Command command, const uint32_t *waits, uint32_t count);

uint32_t program_node(ProgramBuilder *builder, NodeId id);

/* ---- operator.c */

/* Do constants of it lie in records of the device, which no command reads? */
bool operator_has_records(const Plan *plan, const PlannedSweep *planned);

/* ---- sweep.c */

/* The commands of a sweep. False with a diagnostic. */
bool program_sweep(ProgramBuilder *builder, const PlannedSweep *planned);

/* Why no command runs the node, in one clause. */
const char *program_why_not(const ProgramBuilder *builder, const Node *node);

#endif
