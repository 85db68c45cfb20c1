/* The kernel contract: what a sweep's kernel takes for a tile in local memory beside its operands, and what it may do
 * with them. The planner reserves by it, the program carves by it, reports quote it:
 *
 *     FUSED       a line of the tile, where a stage leaves what the next one takes
 *     SPLIT       a map of the tile's shape for what each node hands to the next, and a line inside a node
 *     PIPELINED   a line for each of the two tiles in flight
 *     an operator that the device file describes: what [operator NAME] says
 *
 * Of an operand it reads the part that sweep_box tells, of the map it writes the tile's box. Semantics say which
 * numbers come out and not where they lie: what is handed on has the type of its stage, whatever they are, so the
 * contract is the same for each. */
#ifndef S0_SWEEP_KERNEL_H
#define S0_SWEEP_KERNEL_H

#include "sweep/sweep.h"

#define KERNEL_LINE UINT32_MAX

typedef struct {
    const Sweep *sweep;
    const SweepChoice *choice;
    const char *refused;  /* in one clause: why no kernel goes as the choice says; null: one does */
    uint32_t slots;       /* tiles in flight: each has operands and a line of its own */
    uint32_t map_count;   /* from node to node, in workspace: one for all tiles */
    uint32_t line_bits;   /* of an element of the line; 0 where it has none */
    bool has_line;        /* that, or bytes that the device file declares */
    uint64_t align_bytes; /* of operands and workspace, beside what their layouts ask for */
} KernelContract;

/* Widest that one stage hands to the next where it has no map for it: with SPLIT only inside a node. 0: nothing. */
uint32_t kernel_carried_bits(const Sweep *sweep, Schedule schedule);

KernelContract kernel_contract(const Sweep *sweep, const SweepChoice *choice);

/* Workspace for a tile of `extent`: map `which`, or the line. A line has one n and one h, and its place is used again
 * by the next. `bytes` is as far as it reaches. False where it has no layout. */
bool kernel_workspace(const KernelContract *contract, uint32_t which, const uint64_t extent[DIM_COUNT], View *view,
                      uint64_t *bytes);

/* What the sweep needs in local memory at once, operands and workspace, each buffer rounded up to the alignment. False
 * where the contract is refused, or there is no layout. */
bool kernel_need(const Sweep *sweep, const SweepChoice *choice, uint64_t *bytes);

#endif
