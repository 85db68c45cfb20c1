/* Commands by name, and what a stage is as a command. */
#include "cmd/command.h"

const char *cmd_op_name(CmdOp op) {
    static const char *const name[] = {"LOAD",   "STORE", "COPY",    "FILL",    "LUT",     "MUL", "ADD", "REQUANT",
                                       "AFFINE", "CONV",  "MAXPOOL", "AVGPOOL", "SOFTMAX", "SUM", "PAD"};
    return name[op];
}

const char *cmd_column_name(CmdColumn column) {
    static const char *const name[] = {"load_input", "load_param", "multiply", "add",    "requantize",
                                       "store",      "copy",       "fill",     "compute"};
    return name[column];
}

const char *cmd_kind_name(CmdBufferKind kind) {
    static const char *const name[] = {"input", "activation", "output", "parameter", "workspace"};
    return name[kind];
}

CmdOp cmd_op_of(StageKind kind) {
    switch (kind) {
    case STAGE_MUL:
    case STAGE_DIV:
    case STAGE_CODE_MUL:
    case STAGE_INT_MUL:
    case STAGE_INT_DIV:
        return CMD_MUL;
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_CODE_ADD:
    case STAGE_INT_ADD:
    case STAGE_INT_SUB:
    case STAGE_INT_RSUB:
        return CMD_ADD;
    case STAGE_NORM:
    case STAGE_CODE_SCALE:
        return CMD_AFFINE;
    default:
        return CMD_REQUANT;
    }
}

CmdColumn cmd_column_of(StageKind kind) {
    switch (cmd_op_of(kind)) {
    case CMD_ADD:
        return CMD_COLUMN_ADD;
    case CMD_REQUANT:
        return CMD_COLUMN_REQUANTIZE;
    default:
        return CMD_COLUMN_MULTIPLY;
    }
}
