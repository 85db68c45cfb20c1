/* Parts of commands and stages: tables of their fields and names. */
#include "cmd/parts.h"

#include <stddef.h>
#include <string.h>

Command cmd_canonical(const Command *command) {
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    Command result = *command;
    result.waits = command->wait_count > 0 ? command->waits : NULL;
    result.stages = command->stage_count > 0 ? command->stages : NULL;
    if (!cmd_has_src(command->op)) {
        result.src = none;
    }
    if (!cmd_has_code(command->op)) {
        result.code = 0;
    }
    if (command->op != CMD_LUT) {
        result.table = none;
    }
    if (!cmd_has_stages(command->op)) {
        result.semantics = 0;
        result.carry = CMD_CARRY_NONE;
    }
    if (!cmd_has_window(command->op)) {
        result.window = NULL;
    }
    if (command->op != CMD_CONV) {
        result.weights = none;
    }
    if (command->op != CMD_CONV || result.bias.buffer == CMD_NONE) {
        result.bias = none;
    }
    if (result.carry != CMD_CARRY_WORKSPACE) {
        result.scratch = none;
    }
    return result;
}

/* ---- Numbers of a stage */

#define REAL(name, member)                                                                                             \
    { name, offsetof(Stage, member), true }
#define WHOLE(name, member)                                                                                            \
    { name, offsetof(Stage, member), false }

static const CmdField number_fields[] = {REAL("number", number)};
static const CmdField norm_fields[] = {REAL("mean", norm.mean), REAL("variance", norm.variance),
                                       REAL("epsilon", norm.epsilon), REAL("gamma", norm.gamma),
                                       REAL("beta", norm.beta)};
static const CmdField clip_fields[] = {REAL("lo", clip.lo), REAL("hi", clip.hi)};
static const CmdField code_fields[] = {REAL("scale", code.scale), WHOLE("zero", code.zero_point)};
static const CmdField value_fields[] = {WHOLE("value", integer.value)};
static const CmdField integer_fields[] = {
    REAL("in.scale", integer.in.scale),
    WHOLE("in.zero", integer.in.zero_point),
    REAL("constant.scale", integer.constant.scale),
    WHOLE("constant.zero", integer.constant.zero_point),
    REAL("out.scale", integer.out.scale),
    WHOLE("out.zero", integer.out.zero_point),
    WHOLE("value", integer.value),
    WHOLE("bias", integer.bias),
    WHOLE("lo", integer.lo),
    WHOLE("hi", integer.hi),
    WHOLE("negate", integer.negate),
};

#define FIELDS(table) (*count = sizeof(table) / sizeof(table)[0], (table))

const CmdField *cmd_fields(StageKind kind, uint32_t *count) {
    switch (kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_DIV:
        return FIELDS(number_fields);
    case STAGE_NORM:
        return FIELDS(norm_fields);
    case STAGE_CLIP:
        return FIELDS(clip_fields);
    case STAGE_DEQUANTIZE:
    case STAGE_QUANTIZE:
        return FIELDS(code_fields);
    case STAGE_INT_MUL:
    case STAGE_INT_ADD:
    case STAGE_INT_SUB:
    case STAGE_INT_RSUB:
    case STAGE_INT_DIV:
        return FIELDS(value_fields);
    case STAGE_CAST:
        *count = 0;
        return NULL;
    default:
        return FIELDS(integer_fields);
    }
}

uint32_t cmd_field_bits(const Stage *stage, const CmdField *field) {
    uint32_t bits;
    memcpy(&bits, (const char *)stage + field->offset, sizeof bits);
    return bits;
}

void cmd_set_field(Stage *stage, const CmdField *field, uint32_t bits) {
    memcpy((char *)stage + field->offset, &bits, sizeof bits);
}

uint32_t cmd_params_of(StageKind kind) {
    switch (kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_DIV:
        return 1u << CMD_PARAM_NUMBER;
    case STAGE_CODE_MUL:
    case STAGE_CODE_ADD:
    case STAGE_INT_MUL:
    case STAGE_INT_ADD:
    case STAGE_INT_SUB:
    case STAGE_INT_RSUB:
    case STAGE_INT_DIV:
        return 1u << CMD_PARAM_VALUE;
    case STAGE_CLIP:
    case STAGE_CODE_CLIP:
        return 1u << CMD_PARAM_LO | 1u << CMD_PARAM_HI;
    case STAGE_NORM:
        return 1u << CMD_PARAM_GAMMA | 1u << CMD_PARAM_BETA | 1u << CMD_PARAM_MEAN | 1u << CMD_PARAM_VARIANCE;
    case STAGE_DEQUANTIZE:
    case STAGE_QUANTIZE:
        return 1u << CMD_PARAM_SCALE | 1u << CMD_PARAM_ZERO_POINT;
    default:
        return 0;
    }
}

/* ---- Numbers of a window */

#define SLIDE(axis)                                                                                                    \
    {#axis ".taps", offsetof(CmdWindow, axis.taps), false, 1},                                                         \
        {#axis ".stride", offsetof(CmdWindow, axis.stride), false, 1},                                                 \
        {#axis ".dilation", offsetof(CmdWindow, axis.dilation), false, 1},                                             \
        {#axis ".before", offsetof(CmdWindow, axis.before), true, 0}, {                                                \
#axis ".extent", offsetof(CmdWindow, axis.extent), false, 1                                                    \
    }

const CmdWindowField cmd_window_fields[CMD_WINDOW_FIELDS] = {
    SLIDE(h),
    SLIDE(w),
    {"group.src", offsetof(CmdWindow, group_src), false, 1},
    {"group.dst", offsetof(CmdWindow, group_dst), false, 1},
    {"group.first", offsetof(CmdWindow, group_first), false, 0},
    {"src.zero", offsetof(CmdWindow, src_zero), true, 0},
    {"weights.zero", offsetof(CmdWindow, weights_zero), true, 0},
};

uint64_t cmd_window_bits(const CmdWindow *window, uint32_t field) {
    uint64_t bits;
    memcpy(&bits, (const char *)window + cmd_window_fields[field].offset, sizeof bits);
    return bits;
}

void cmd_set_window(CmdWindow *window, uint32_t field, uint64_t bits) {
    memcpy((char *)window + cmd_window_fields[field].offset, &bits, sizeof bits);
}

CmdWindow cmd_usual_window(void) {
    CmdWindow window = {.scale_count = 0};
    for (uint32_t k = 0; k < CMD_WINDOW_FIELDS; k++) {
        cmd_set_window(&window, k, cmd_window_fields[k].usual);
    }
    return window;
}

/* ---- Names */

const char *cmd_stage_name(StageKind kind) {
    static const char *const name[CMD_STAGES] = {"MUL",       "ADD",        "SUB",
                                                 "RSUB",      "DIV",        "NORM",
                                                 "CLIP",      "DEQUANTIZE", "QUANTIZE",
                                                 "CODE_MUL",  "CODE_ADD",   "CODE_REQUANTIZE",
                                                 "CODE_CLIP", "CODE_SCALE", "ACC_REQUANTIZE",
                                                 "INT_MUL",   "INT_ADD",    "INT_SUB",
                                                 "INT_RSUB",  "INT_DIV",    "CAST"};
    return name[kind];
}

const char *cmd_param_name(CmdParamKind kind) {
    static const char *const name[CMD_PARAM_KINDS] = {"number",   "value", "gamma", "beta", "mean",
                                                      "variance", "scale", "zero",  "lo",   "hi"};
    return name[kind];
}

const char *cmd_carry_name(CmdCarry carry) {
    static const char *const name[CMD_CARRIES] = {"none", "workspace", "output", "input"};
    return name[carry];
}

char cmd_axis_letter(uint32_t axis) {
    return "nchwoi"[axis];
}
