/* A sweep while its commands are written. Private to sweep.c and operator.c. */
#ifndef S0_PROGRAM_WRITING_H
#define S0_PROGRAM_WRITING_H

#include "node/command.h"
#include "program/builder.h"
#include "sweep/kernel.h"

/* The part of an operand that a tile's buffer holds, as it lies there. Tiles of one shape follow one another. */
typedef struct {
    bool is_known;
    uint64_t extent[DIM_COUNT];
    View view;
} LocalPart;

enum { COMMAND_SLOTS = 2 };

typedef struct {
    ProgramBuilder *builder;
    const PlannedSweep *planned;
    const SweepChoice *choice;
    KernelContract kernel;
    uint32_t last_of_key[WAIT_KEYS];
    LocalPart in, out, *params;   /* params: one for each */
    LocalPart *forms;             /* of each parameter */
    const CmdStage **last_stages; /* node, or all nodes; slot -> stages of the last command */
    const NodeCommand *command;   /* of an operator that is not per-channel */
    const CmdStage *command_stage;
    const char *why; /* a tile has no command; else null */
} Writing;

/* ---- sweep.c */

/* From `first` on of the part of an operand that lies there for a tile, of `extent`. */
CmdOperand writing_part(Writing *writing, const SweepOperand *operand, LocalPart *part, uint32_t buffer,
                        const uint64_t extent[DIM_COUNT], const uint64_t first[DIM_COUNT]);

/* Of a map in local memory: a tile of its own, or a box of what lies there whole. */
CmdOperand writing_map(Writing *writing, bool is_in, uint32_t slot, const ViewBox *box);

/* Of a parameter: the part of a tile, or a box of one that stays. `box` is of the parameter. */
CmdOperand writing_param(Writing *writing, uint32_t i, uint32_t slot, const ViewBox *box);

Command writing_command(const SweepEvent *event, const ViewBox *box);
void writing_add(Writing *writing, Command command, const SweepEvent *event);

/* ---- operator.c: of an operator that is not per-channel */

/* Finds its command. False with a diagnostic. */
bool operator_find(Writing *writing);

/* The command of a tile; `why` is set where it has none. */
void operator_write(Writing *writing, const SweepEvent *event);

/* A diagnostic: no command runs the operator, for `why`. False. */
bool operator_refuse(const Writing *writing, const char *why);

#endif
