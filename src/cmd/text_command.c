/* The line of a command in the text form: its parts in the order in which text_print.c writes them. */
#include "cmd/parts.h"
#include "cmd/text_parse.h"

#include <string.h>

/* ---- Names by number */

static const char *op_name(uint32_t op) {
    return cmd_op_name((CmdOp)op);
}

static const char *column_name(uint32_t column) {
    return cmd_column_name((CmdColumn)column);
}

static const char *semantics_name(uint32_t semantics) {
    return s0_semantics_name((Semantics)semantics);
}

static const char *carry_name(uint32_t carry) {
    return cmd_carry_name((CmdCarry)carry);
}

static const char *stage_name(uint32_t kind) {
    return cmd_stage_name((StageKind)kind);
}

static const char *window_name(uint32_t field) {
    return cmd_window_fields[field].name;
}

static const char *param_name(uint32_t kind) {
    return cmd_param_name((CmdParamKind)kind);
}

/* ---- Stages */

/* NAME=NUMBER where a number of the stage begins here. `had` is set where it stood before. */
static bool accept_number(CmdScan *scan, Stage *stage, uint32_t *had, bool *is_there) {
    uint32_t count, bits;
    const CmdField *field = cmd_fields(stage->kind, &count);
    size_t begin = scan->at;
    *is_there = false;
    for (uint32_t k = 0; k < count; k++) {
        if (!cmd_accept_word(scan, field[k].name) || !cmd_accept_here(scan, "=")) {
            scan->at = begin;
            continue;
        }
        if ((*had >> k & 1) != 0) {
            return cmd_scan_fault(scan, begin, "a number of the stage stands twice", "it once");
        }
        *had |= 1u << k;
        *is_there = true;
        if (!(field[k].is_real ? cmd_take_float(scan, &bits) : cmd_take_i32(scan, &bits))) {
            return false;
        }
        cmd_set_field(stage, &field[k], bits);
        return true;
    }
    return true;
}

/* (SCALE,ZERO) right behind an operand of codes. */
static bool take_code(CmdScan *scan, CmdParam *param) {
    uint32_t scale, zero;
    param->is_coded = cmd_accept_here(scan, "(");
    if (!param->is_coded) {
        return true;
    }
    if (!cmd_take_float(scan, &scale) || !cmd_take_here(scan, ",") || !cmd_take_i32(scan, &zero) ||
        !cmd_take_here(scan, ")")) {
        return false;
    }
    memcpy(&param->code.scale, &scale, sizeof scale);
    memcpy(&param->code.zero_point, &zero, sizeof zero);
    return true;
}

static bool take_param(CmdScan *scan, CmdStage *stage) {
    uint32_t kind;
    cmd_scan_blanks(scan);
    size_t begin = scan->at;
    if (!cmd_take_name(scan, "no number and no parameter of a stage", param_name, CMD_PARAM_KINDS, &kind) ||
        !cmd_take_here(scan, "<-")) {
        return false;
    }
    if (stage->param_count == CMD_MAX_PARAMS) {
        return cmd_scan_too_many(scan, begin, "too many parameters", CMD_MAX_PARAMS);
    }
    CmdParam *param = &stage->param[stage->param_count++];
    param->kind = (CmdParamKind)kind;
    return cmd_take_operand(scan, &param->from) && take_code(scan, param);
}

/* KIND FROM>TO, then its numbers and parameters up to the next | or the end. */
static bool take_stage(CmdScan *scan, CmdStage *stage) {
    uint32_t kind, had = 0;
    bool is_number;
    if (!cmd_take_name(scan, "no kind of stage", stage_name, CMD_STAGES, &kind)) {
        return false;
    }
    stage->stage.kind = (StageKind)kind;
    if (!cmd_take_dtype(scan, &stage->stage.from) || !cmd_take_here(scan, ">") ||
        !cmd_take_dtype(scan, &stage->stage.to)) {
        return false;
    }
    while (!cmd_scan_is_end(scan) && scan->line.ptr[scan->at] != '|') {
        if (!accept_number(scan, &stage->stage, &had, &is_number) || (!is_number && !take_param(scan, stage))) {
            return false;
        }
    }
    return true;
}

static bool take_stages(CmdScan *scan, Command *command) {
    CmdStage stages[CMD_MAX_STAGES];
    uint32_t count = 0;
    memset(stages, 0, sizeof stages);
    while (cmd_accept_mark(scan, "|")) {
        if (count == CMD_MAX_STAGES) {
            return cmd_scan_too_many(scan, scan->at, "too many stages", CMD_MAX_STAGES);
        }
        if (!take_stage(scan, &stages[count++])) {
            return false;
        }
    }
    CmdStage *kept = arena_array(&scan->work->keep, CmdStage, count);
    for (uint32_t k = 0; k < count; k++) {
        kept[k] = stages[k];
    }
    command->stage_count = count;
    command->stages = kept;
    return true;
}

/* as SEMANTICS [carry CARRY [OPERAND]] then the stages. */
static bool take_compute(CmdScan *scan, Command *command) {
    uint32_t semantics, carry = CMD_CARRY_NONE;
    if (!cmd_take_word(scan, "as") || !cmd_take_name(scan, "no semantics", semantics_name, S0_SEM_COUNT, &semantics)) {
        return false;
    }
    if (cmd_accept_word(scan, "carry") && !cmd_take_name(scan, "no carry", carry_name, CMD_CARRIES, &carry)) {
        return false;
    }
    command->semantics = (Semantics)semantics;
    command->carry = (CmdCarry)carry;
    if (carry == CMD_CARRY_WORKSPACE && !cmd_take_operand(scan, &command->scratch)) {
        return false;
    }
    return take_stages(scan, command);
}

/* ---- Windows */

static bool take_window_number(CmdScan *scan, CmdWindow *window, uint32_t *had) {
    uint32_t field;
    uint64_t bits;
    cmd_scan_blanks(scan);
    size_t begin = scan->at;
    if (!cmd_take_name(scan, "no number of a window", window_name, CMD_WINDOW_FIELDS, &field) ||
        !cmd_take_here(scan, "=")) {
        return false;
    }
    if ((*had >> field & 1) != 0) {
        return cmd_scan_fault(scan, begin, "a number of the window stands twice", "it once");
    }
    *had |= 1u << field;
    if (!(cmd_window_fields[field].is_signed ? cmd_take_i64(scan, &bits) : cmd_take_number(scan, UINT64_MAX, &bits))) {
        return false;
    }
    cmd_set_window(window, field, bits);
    return true;
}

/* What computes goes on with `as`; PAD does not. */
static bool ends_window(CmdScan *scan) {
    return cmd_scan_is_end(scan) || cmd_scan_is_word(scan, "as");
}

/* As many floats as stand before the end. */
static bool take_scales(CmdScan *scan, CmdWindow *window) {
    uint32_t *bits = NULL;
    size_t room = 0;
    uint32_t count = 0;
    for (; !ends_window(scan); count++) {
        bits = arena_grow(&scan->work->keep, bits, count, &room, sizeof *bits);
        if (!cmd_take_float(scan, &bits[count])) {
            return false;
        }
    }
    float *scales = arena_array(&scan->work->keep, float, count);
    if (count > 0) {
        memcpy(scales, bits, count * sizeof *bits);
    }
    window->scale_count = count;
    window->scales = scales;
    return true;
}

/* window NAME=NUMBER… [scales FLOAT…] */
static bool take_window(CmdScan *scan, Command *command) {
    uint32_t had = 0;
    CmdWindow *window = arena_new(&scan->work->keep, CmdWindow);
    *window = cmd_usual_window();
    command->window = window;
    if (!cmd_take_word(scan, "window")) {
        return false;
    }
    while (!ends_window(scan)) {
        if (cmd_accept_word(scan, "scales")) {
            return take_scales(scan, window);
        }
        if (!take_window_number(scan, window, &had)) {
            return false;
        }
    }
    return true;
}

/* ---- Commands */

static bool take_queue(CmdScan *scan, Command *command) {
    uint64_t queue;
    if (cmd_accept_word(scan, "engine")) {
        return true;
    }
    if (!cmd_accept_mark(scan, "dma")) {
        return cmd_scan_fault(scan, scan->at, "no queue", "engine, or dma and its number");
    }
    if (!cmd_take_number(scan, CMD_MAX_QUEUES - 1, &queue)) {
        return false;
    }
    command->queue = (uint8_t)queue;
    return true;
}

static bool take_box(CmdScan *scan, CmdBox *box) {
    uint32_t had = 0;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        box->extent[axis] = 1;
    }
    while (cmd_scan_is_axis(scan)) {
        uint8_t axis;
        size_t begin = scan->at;
        if (!cmd_take_axis(scan, &axis) || !cmd_take_number(scan, UINT64_MAX, &box->extent[axis])) {
            return false;
        }
        if ((had >> axis & 1) != 0) {
            return cmd_scan_fault(scan, begin, "an axis stands twice", "it once");
        }
        had |= 1u << axis;
    }
    return true;
}

static bool take_operands(CmdScan *scan, Command *command) {
    if (!cmd_take_operand(scan, &command->dst)) {
        return false;
    }
    if (command->op == CMD_FILL) {
        return cmd_take_mark(scan, "=") && cmd_take_number(scan, UINT64_MAX, &command->code);
    }
    if (!cmd_take_mark(scan, "<-") || !cmd_take_operand(scan, &command->src)) {
        return false;
    }
    if (command->op == CMD_PAD) {
        return cmd_take_mark(scan, "=") && cmd_take_number(scan, UINT64_MAX, &command->code);
    }
    if (command->op == CMD_LUT) {
        return cmd_take_word(scan, "by") && cmd_take_operand(scan, &command->table);
    }
    return command->op != CMD_CONV || (cmd_take_mark(scan, "*") && cmd_take_operand(scan, &command->weights) &&
                                       (!cmd_accept_mark(scan, "+") || cmd_take_operand(scan, &command->bias)));
}

static bool take_waits(CmdScan *scan, Command *command) {
    uint32_t wait[CMD_MAX_WAITS], count = 0;
    if (!cmd_accept_word(scan, "wait")) {
        return true;
    }
    do {
        if (count == CMD_MAX_WAITS) {
            return cmd_scan_too_many(scan, scan->at, "too many waits", CMD_MAX_WAITS);
        }
        if (!cmd_take_u32(scan, &wait[count++])) {
            return false;
        }
        cmd_scan_blanks(scan);
    } while (scan->at < scan->line.len && scan->line.ptr[scan->at] >= '0' && scan->line.ptr[scan->at] <= '9');
    uint32_t *waits = arena_array(&scan->work->keep, uint32_t, count);
    for (uint32_t k = 0; k < count; k++) {
        waits[k] = wait[k];
    }
    command->wait_count = count;
    command->waits = waits;
    return true;
}

bool cmd_take_command(CmdScan *scan, Command *command) {
    uint32_t op, column;
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    *command = (Command){.src = none, .table = none, .scratch = none, .weights = none, .bias = none};
    if (!take_queue(scan, command) || !cmd_take_name(scan, "no operation", op_name, CMD_OPS, &op) ||
        !cmd_take_name(scan, "no column", column_name, CMD_COLUMNS, &column)) {
        return false;
    }
    command->op = (CmdOp)op;
    command->column = (CmdColumn)column;
    if (!take_box(scan, &command->box) || !take_operands(scan, command) || !take_waits(scan, command) ||
        !cmd_take_word(scan, "node") || !cmd_take_u32(scan, &command->node)) {
        return false;
    }
    if (cmd_has_window(command->op) && !take_window(scan, command)) {
        return false;
    }
    return !cmd_has_stages(command->op) || take_compute(scan, command);
}
