/* A sweep while it is made. Private to sweep_*.c. */
#ifndef S0_PLAN_MAKING_H
#define S0_PLAN_MAKING_H

#include "node/reach.h"
#include "plan/builder.h"
#include "sweep/kernel.h"

typedef struct {
    Builder *builder;
    PlannedSweep *planned;
    Buffer *param_copy, *param_read; /* whole local copies, as records: as they are stored, and as they are read */
    SweepOperand *params;
    KernelContract kernel; /* when the choice is made */
    bool is_too_deep;      /* a view can't tell it: too many levels, or a part of several axes that are one dimension */
} Making;

/* ---- sweep_operands.c */

/* Does the sweep read it from far memory, or write it there, tile by tile? Then no other step has it in local memory.
 */
bool sweep_loads(const Builder *builder, ValueId id);
bool sweep_stores(const Builder *builder, ValueId id);

/* A map that goes in or comes out: tile by tile from or to far memory, or whole in local memory. False with a
 * diagnostic, or is_too_deep. */
bool make_map(Making *making, ValueId id, bool is_far, BufferId *far, BufferId *local, SweepOperand *operand);

/* The parameter as it is loaded, and the form that is made of it where the engine reads a larger one; `copy` and `read`
 * are whole local copies of both. */
bool make_param(Making *making, const SweepParam *param, Buffer *copy, const Buffer *read, SweepOperand *operand);

/* A further map, as parameter `at`; `param_copy` has its record. As make_map. */
bool make_param_map(Making *making, ValueId id, uint32_t at, SweepParam *param);

/* ---- sweep_build.c */

void init_planned(const Builder *builder, const NodeId *nodes, uint32_t count, PlannedSweep *planned);
void init_params(Making *making, uint32_t most);

/* How the sweep goes. False where no tile has a layout, or the map is longer than a transfer and is not to be cut. */
bool choose_sweep(Making *making);

/* Adds what was chosen to the plan: buffers, steps, and a store of `out` where it lies whole in local memory. */
bool add_sweep(Making *making, ValueId out);

/* Both. As build_sweep. */
bool finish_sweep(Making *making, ValueId out, bool *is_sweep);

/* ---- sweep_operator.c */

/* Which part of an operand belongs to a part of the map, axis by axis of the tensor. */
void reach_operand(const Making *making, const AxisReach *axes, const Tensor *tensor, SweepOperand *operand);

/* What the operator does, of which the maps are known. */
void describe_operator(const Making *making, const NodeReach *reach);

/* ---- sweep_concat.c */

/* A concat as a sweep for each of its inputs, which copies it into its box of the output. As build_operator. */
bool build_concat(Builder *builder, NodeId id, bool *is_sweep);

/* ---- sweep_buffers.c */

void add_buffers(Making *making);

/* ---- sweep_steps.c */

/* Lists the steps of a sweep that has its buffers; fills its steps and holds. */
void list_sweep(Builder *builder, PlannedSweep *planned);

#endif
