/* What the sources of this room share: which parts a command and a stage have, and what texts call them. */
#ifndef S0_CMD_PARTS_H
#define S0_CMD_PARTS_H

#include "cmd/command.h"

enum { CMD_STAGES = STAGE_KINDS, CMD_CARRIES = CMD_CARRY_INPUT + 1 };

static inline bool cmd_has_src(CmdOp op) {
    return op != CMD_FILL;
}

static inline bool cmd_has_stages(CmdOp op) {
    return op >= CMD_MUL && op != CMD_PAD;
}

static inline bool cmd_has_code(CmdOp op) {
    return op == CMD_FILL || op == CMD_PAD;
}

static inline bool cmd_has_window(CmdOp op) {
    return op >= CMD_CONV;
}

/* By the DMA. */
static inline bool cmd_is_move(CmdOp op) {
    return op == CMD_LOAD || op == CMD_STORE;
}

/* The same command with zero, or no buffer, in whatever its operation does not have. */
Command cmd_canonical(const Command *command);

/* One number of a stage: all are 32 bits. */
typedef struct {
    const char *name; /* "in.scale" */
    size_t offset;    /* in Stage */
    bool is_real;
} CmdField;

enum { CMD_MAX_FIELDS = 11 };

const CmdField *cmd_fields(StageKind kind, uint32_t *count);
uint32_t cmd_field_bits(const Stage *stage, const CmdField *field);
void cmd_set_field(Stage *stage, const CmdField *field, uint32_t bits);

/* One number of a window: all are 64 bits. Texts leave out those that are `usual`. */
typedef struct {
    const char *name; /* "h.stride" */
    size_t offset;    /* in CmdWindow */
    bool is_signed;
    uint64_t usual;
} CmdWindowField;

enum { CMD_WINDOW_FIELDS = 15 };
extern const CmdWindowField cmd_window_fields[CMD_WINDOW_FIELDS];

uint64_t cmd_window_bits(const CmdWindow *window, uint32_t field);
void cmd_set_window(CmdWindow *window, uint32_t field, uint64_t bits);
CmdWindow cmd_usual_window(void); /* without scales */

const char *cmd_stage_name(StageKind kind);    /* "CODE_MUL" */
const char *cmd_param_name(CmdParamKind kind); /* "zero" */
const char *cmd_carry_name(CmdCarry carry);    /* "workspace" */
char cmd_axis_letter(uint32_t axis);           /* 'n' */

/* The parameters that a stage may have: a bit each. */
uint32_t cmd_params_of(StageKind kind);

#endif
