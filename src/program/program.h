/* A plan as a program: its sweeps and whole loads and stores as commands for the simulated device.
 *
 * Every address of a command comes from the layout contract by the plan's own views, every wait from what sweep_walk
 * says; constants are stored by the contract too. A plan has a program if each of its operators is a per-channel one,
 * or one that node/command.h knows and that goes as a sweep. */
#ifndef S0_PROGRAM_PROGRAM_H
#define S0_PROGRAM_PROGRAM_H

#include "cmd/command.h"
#include "plan/plan.h"

/* A buffer of far memory that the host fills or reads. */
typedef struct {
    ValueId value;
    uint32_t buffer; /* of the program */
} HostBuffer;

typedef struct {
    const CmdProgram *program;
    uint32_t input_count, output_count;
    const HostBuffer *inputs, *outputs; /* in the order of the graph's */
    const uint32_t *of_buffer;          /* buffer of the plan -> of the program; CMD_NONE */
    const uint64_t *footprint_bytes;    /* buffer -> what the contract gives the tensors that commands address there;
                                           of one lane, in far memory of all. Not of workspace, which is no tensor */
} BuiltProgram;

/* Does the device load and store, and has each operator of the plan a command? */
bool program_is_possible(const Plan *plan);

/* `semantics` is the one reference that the device computes by. Null with a diagnostic: a scratchpad is needed; an
 * operator can't run (its name, why, and the hint to run one chain with --node); more commands than
 * PROGRAM_MOST_COMMANDS. */
enum { PROGRAM_MOST_COMMANDS = 4 * 1000 * 1000 };
const BuiltProgram *program_build(const Plan *plan, Semantics semantics, Work *work);

/* The commands that a step becomes: a sweep's are those of each of its steps. */
typedef struct {
    uint64_t first, count; /* from 0, as `run --trace` numbers them; the first that would be, where count is 0 */
} StepCommands;

/* Of each step, without writing them. Null where the plan has no program, or one of too many commands. */
const StepCommands *program_step_commands(const Plan *plan, Work *work);

#endif
