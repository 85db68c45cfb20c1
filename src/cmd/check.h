/* Checks of a program's parts, for check*.c only. Each returns null, or one clause that tells what is wrong. */
#ifndef S0_CMD_CHECK_H
#define S0_CMD_CHECK_H

#include "cmd/command.h"

typedef struct {
    const CmdProgram *program;
    Arena *arena; /* of clauses */
} CmdCheck;

static inline bool cmd_is_dtype(DType dtype) {
    return (uint32_t)dtype < DTYPE_COUNT && dtype_bits(dtype) > 0;
}

/* `fault` with what it is about before it; null where there is none. */
const char *cmd_fault_of(const CmdCheck *check, const char *what, const char *fault);

/* An operand whose elements have `element_bits`, 0 for those of its buffer, over all indices of `box`. The buffers of
 * the program are sound. */
const char *cmd_check_operand(const CmdCheck *check, const CmdOperand *operand, const CmdBox *box,
                              uint32_t element_bits);

/* Bits of the widest element that one stage hands to the next. */
uint32_t cmd_carried_bits(const Command *command);

/* Window, weights, bias, stage and semantics of a command that has a window and whose dst is sound; and its src. */
const char *cmd_check_window(const CmdCheck *check, const Command *command);

/* Stages, semantics and carry of a command that has stages and whose src and dst are sound. */
const char *cmd_check_stages(const CmdCheck *check, const Command *command);

#endif
