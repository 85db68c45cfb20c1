/* The invariants of what a command computes: types follow from stage to stage, parameters are those of the stage, and
 * what is handed on has a place. */
#include "cmd/check.h"
#include "cmd/parts.h"

#include <inttypes.h>

static bool is_real(DType dtype) {
    return dtype == DTYPE_F32 || dtype == DTYPE_F16;
}

static bool is_code(DType dtype) {
    int32_t lo, hi;
    return stage_code_range(dtype, &lo, &hi);
}

/* ---- One stage */

static bool takes_types(const Stage *stage) {
    switch (stage->kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_DIV:
    case STAGE_NORM:
    case STAGE_CLIP:
        return is_real(stage->from) && stage->to == stage->from;
    case STAGE_DEQUANTIZE:
        return is_code(stage->from) && is_real(stage->to);
    case STAGE_QUANTIZE:
        return is_real(stage->from) && is_code(stage->to);
    case STAGE_INT_MUL:
    case STAGE_INT_ADD:
    case STAGE_INT_SUB:
    case STAGE_INT_RSUB:
    case STAGE_INT_DIV:
        return is_code(stage->from) && stage->to == stage->from;
    case STAGE_CAST:
        return is_real(stage->from) && is_real(stage->to);
    default:
        return is_code(stage->from) && is_code(stage->to);
    }
}

static const char *check_stage(const Stage *stage) {
    if ((uint32_t)stage->kind >= CMD_STAGES) {
        return "it is of no kind";
    }
    if (!cmd_is_dtype(stage->from) || !cmd_is_dtype(stage->to) || !takes_types(stage)) {
        return "it has no operation on these types";
    }
    bool is_sound = stage->kind != STAGE_CODE_ADD || (stage->integer.negate >= 0 && stage->integer.negate <= 2);
    return is_sound ? NULL : "negate is not 0, 1 or 2";
}

static bool wants_code(const CmdStage *stage, const CmdParam *param) {
    return param->kind == CMD_PARAM_VALUE || param->kind == CMD_PARAM_ZERO_POINT ||
           stage->stage.kind == STAGE_CODE_CLIP;
}

static bool holds_param(DType dtype, const CmdStage *stage, const CmdParam *param) {
    return wants_code(stage, param) || param->is_coded ? is_code(dtype) : is_real(dtype);
}

static const char *check_coded(const CmdStage *stage, const CmdParam *param) {
    return param->is_coded && wants_code(stage, param) ? "what is a code itself is not dequantised" : NULL;
}

static const char *check_params(const CmdCheck *check, const CmdStage *stage, const CmdBox *box) {
    uint32_t free_kinds = cmd_params_of(stage->stage.kind);
    if (stage->param_count > CMD_MAX_PARAMS) {
        return "too many parameters";
    }
    for (uint32_t k = 0; k < stage->param_count; k++) {
        const CmdParam *param = &stage->param[k];
        if ((uint32_t)param->kind >= CMD_PARAM_KINDS || (free_kinds >> param->kind & 1) == 0) {
            return "a parameter that the stage has not, or has twice";
        }
        free_kinds &= ~(1u << param->kind);
        const char *fault = cmd_check_operand(check, &param->from, box, 0);
        fault = fault != NULL ? fault : check_coded(stage, param);
        if (fault == NULL && !holds_param(check->program->buffers[param->from.buffer].dtype, stage, param)) {
            fault = "elements of this type can't be this parameter";
        }
        if (fault != NULL) {
            return cmd_fault_of(check, cmd_param_name(param->kind), fault);
        }
    }
    return NULL;
}

/* ---- From stage to stage */

static const char *check_chain(const CmdCheck *check, const Command *command) {
    DType given = check->program->buffers[command->src.buffer].dtype;
    for (uint32_t k = 0; k < command->stage_count; k++) {
        const CmdStage *stage = &command->stages[k];
        const char *fault = check_stage(&stage->stage);
        if (fault == NULL && stage->stage.from != given) {
            fault =
                arena_text(check->arena, "it takes %s, but gets %s", dtype_name(stage->stage.from), dtype_name(given));
        }
        fault = fault != NULL ? fault : check_params(check, stage, &command->box);
        if (fault != NULL) {
            return arena_text(check->arena, "stage %" PRIu32 ": %s", k, fault);
        }
        given = stage->stage.to;
    }
    DType wanted = check->program->buffers[command->dst.buffer].dtype;
    return given == wanted ? NULL
                           : arena_text(check->arena, "the last stage gives %s, but dst holds %s", dtype_name(given),
                                        dtype_name(wanted));
}

static const char *check_count(const CmdCheck *check, const Command *command) {
    uint32_t most = command->op == CMD_AFFINE ? CMD_MAX_STAGES : 1;
    if (command->stage_count == 0 || command->stage_count > most || command->stages == NULL) {
        return arena_text(check->arena, "%s has %" PRIu32 " stages, at least 1 and at most %" PRIu32,
                          cmd_op_name(command->op), command->stage_count, most);
    }
    StageKind kind = command->stages[0].stage.kind;
    bool is_of_op = command->op == CMD_AFFINE || (uint32_t)kind >= CMD_STAGES || cmd_op_of(kind) == command->op;
    return is_of_op ? NULL
                    : arena_text(check->arena, "%s has a stage %s", cmd_op_name(command->op), cmd_stage_name(kind));
}

/* ---- Carry */

uint32_t cmd_carried_bits(const Command *command) {
    uint32_t widest = 0;
    for (uint32_t k = 0; k + 1 < command->stage_count; k++) {
        uint32_t bits = dtype_bits(command->stages[k].stage.to);
        widest = bits > widest ? bits : widest;
    }
    return widest;
}

static const char *check_scratch(const CmdCheck *check, const Command *command, uint32_t widest) {
    if (command->carry != CMD_CARRY_WORKSPACE) {
        return command->scratch.buffer == CMD_NONE ? NULL : "a buffer that this carry does not use";
    }
    const char *fault = cmd_check_operand(check, &command->scratch, &command->box, widest);
    if (fault != NULL) {
        return fault;
    }
    return check->program->buffers[command->scratch.buffer].kind == CMD_BUFFER_WORKSPACE ? NULL : "it is no workspace";
}

static const char *check_carry(const CmdCheck *check, const Command *command) {
    const CmdBuffer *buffers = check->program->buffers;
    uint32_t widest = cmd_carried_bits(command);
    if ((uint32_t)command->carry >= CMD_CARRIES) {
        return "its carry is none of those there are";
    }
    if ((command->carry == CMD_CARRY_NONE) != (command->stage_count == 1)) {
        return command->stage_count == 1 ? "one stage carries nothing" : "several stages need a carry";
    }
    if (command->carry == CMD_CARRY_OUTPUT && widest > dtype_bits(buffers[command->dst.buffer].dtype)) {
        return "what is handed on does not fit an element of dst";
    }
    if (command->carry == CMD_CARRY_INPUT && widest > dtype_bits(buffers[command->src.buffer].dtype)) {
        return "what is handed on does not fit an element of src";
    }
    return cmd_fault_of(check, "scratch", check_scratch(check, command, widest));
}

const char *cmd_check_stages(const CmdCheck *check, const Command *command) {
    if ((uint32_t)command->semantics >= S0_SEM_COUNT) {
        return "its semantics are none of those there are";
    }
    const char *fault = check_count(check, command);
    fault = fault != NULL ? fault : check_chain(check, command);
    return fault != NULL ? fault : check_carry(check, command);
}
