/* Do operands stay inside their buffers? Looked at without running: the last index of a command's box is one that it
 * reads or writes, so what lies outside there is wrong, whatever the command computes. Of layouts whose addresses grow
 * with the index that is the farthest byte. The simulated device looks at every one. */
#include "base/checked.h"
#include "cmd/check.h"
#include "cmd/parts.h"

#include <inttypes.h>

/* Where an element ends, from the start of its buffer, and in which lane: inside 64 bits, as cmd_check has seen. */
typedef struct {
    uint64_t end_bits, lane;
} LastElement;

static LastElement last_element(const CmdView *view, const CmdOperand *operand, const CmdBox *box, uint32_t bits) {
    LastElement last = {operand->offset_bits + bits, 0};
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        uint64_t digit = (box->extent[level->axis] - 1) / level->div;
        digit = level->mod != 0 ? digit % level->mod : digit;
        last.end_bits += digit * level->stride_bits;
        last.lane += digit * level->stride_lanes;
    }
    return last;
}

static const char *check_operand(const CmdCheck *check, const char *what, const CmdOperand *operand, const CmdBox *box,
                                 uint32_t bits) {
    const CmdBuffer *buffer = &check->program->buffers[operand->buffer];
    LastElement last =
        last_element(&check->program->views[operand->view], operand, box, bits == 0 ? dtype_bits(buffer->dtype) : bits);
    if (last.lane >= buffer->lanes) {
        return arena_text(check->arena,
                          "%s: lane %" PRIu64 " of buffer %" PRIu32 " ('" STR_FMT "'), which has %" PRIu64, what,
                          last.lane, operand->buffer, STR_ARG(buffer->name), buffer->lanes);
    }
    uint64_t end = bytes_from_bits(last.end_bits);
    return end <= buffer->bytes ? NULL
                                : arena_text(check->arena,
                                             "%s: it reaches %" PRIu64 " bytes into buffer %" PRIu32 " ('" STR_FMT
                                             "'), which has %" PRIu64,
                                             what, end, operand->buffer, STR_ARG(buffer->name), buffer->bytes);
}

static const char *check_command(const CmdCheck *check, const Command *command) {
    const CmdBox *box = &command->box;
    bool has_src = cmd_has_src(command->op) && !cmd_has_window(command->op); /* which has other indices, and padding */
    const char *fault = has_src ? check_operand(check, "src", &command->src, box, 0) : NULL;
    fault = fault != NULL ? fault : check_operand(check, "dst", &command->dst, box, 0);
    if (fault == NULL && command->carry == CMD_CARRY_WORKSPACE && cmd_has_stages(command->op)) {
        fault = check_operand(check, "scratch", &command->scratch, box, cmd_carried_bits(command));
    }
    if (fault == NULL && command->op == CMD_LUT) {
        uint32_t bits = dtype_bits(check->program->buffers[command->src.buffer].dtype);
        CmdBox table = {{1, cmd_table_extent(bits), 1, 1, 1, 1}};
        fault = check_operand(check, "table", &command->table, &table, 0);
    }
    for (uint32_t s = 0; cmd_has_stages(command->op) && s < command->stage_count; s++) {
        const CmdStage *stage = &command->stages[s];
        for (uint32_t p = 0; fault == NULL && p < stage->param_count; p++) {
            fault = check_operand(check, cmd_param_name(stage->param[p].kind), &stage->param[p].from, box, 0);
        }
    }
    return fault;
}

static bool is_empty(const CmdBox *box) {
    bool is_empty = false;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        is_empty = is_empty || box->extent[axis] == 0;
    }
    return is_empty;
}

const char *cmd_check_extents(const CmdProgram *program, Arena *scratch) {
    const CmdCheck check = {program, scratch};
    for (uint32_t k = 0; k < program->command_count; k++) {
        const Command *command = &program->commands[k];
        const char *fault = is_empty(&command->box) ? NULL : check_command(&check, command);
        if (fault != NULL) {
            return arena_text(scratch, "command %" PRIu32 ": %s", k, fault);
        }
    }
    return NULL;
}
