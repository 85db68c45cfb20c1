/* The text form, written: what cmd_parse reads as the same program. */
#include "cmd/parts.h"
#include "cmd/text.h"
#include "cmd/text_float.h"

#include <inttypes.h>
#include <string.h>

/* Whatever the bytes, what is written is printable ASCII on one line. */
static void print_quoted(Str text, FILE *out) {
    fputc('"', out);
    for (size_t k = 0; k < text.len; k++) {
        unsigned char byte = (unsigned char)text.ptr[k];
        if (byte == '"' || byte == '\\') {
            fprintf(out, "\\%c", byte);
        } else if (byte < 0x20 || byte >= 0x7F) {
            fprintf(out, "\\x%02x", byte);
        } else {
            fputc(byte, out);
        }
    }
    fputc('"', out);
}

/* ---- Views and buffers */

static void print_level(const CmdLevel *level, FILE *out) {
    fprintf(out, " %c", cmd_axis_letter(level->axis));
    if (level->div != 1) {
        fprintf(out, "/%" PRIu64, level->div);
    }
    if (level->mod != 0) {
        fprintf(out, "%%%" PRIu64, level->mod);
    }
    if (level->stride_bits != 0) {
        fprintf(out, "*%" PRIu64, level->stride_bits);
    }
    if (level->stride_lanes != 0) {
        fprintf(out, "#%" PRIu64, level->stride_lanes);
    }
}

static void print_view(uint32_t number, const CmdView *view, FILE *out) {
    fprintf(out, "view v%" PRIu32, number);
    for (uint32_t k = 0; k < view->level_count; k++) {
        print_level(&view->level[k], out);
    }
    fputc('\n', out);
}

static void print_tensor(const CmdBuffer *buffer, FILE *out) {
    fprintf(out, " view v%" PRIu32 "+%" PRIu64 " order", buffer->view, buffer->view_offset_bits);
    for (uint32_t k = 0; k < buffer->order.rank; k++) {
        fprintf(out, " %c%" PRIu64, cmd_axis_letter(buffer->order.axis[k]), buffer->order.extent[k]);
    }
    if (buffer->constant != NULL) {
        fputs(" constant ", out);
        for (uint64_t k = 0; k < buffer->constant_bytes; k++) {
            fprintf(out, "%02x", buffer->constant[k]);
        }
    }
}

static void print_buffer(uint32_t number, const CmdBuffer *buffer, FILE *out) {
    fprintf(out, "buffer b%" PRIu32 " %s %s ", number, cmd_kind_name(buffer->kind), dtype_name(buffer->dtype));
    print_quoted(buffer->name, out);
    if (buffer->node.len > 0) {
        fputs(" node ", out);
        print_quoted(buffer->node, out);
    }
    fprintf(out, " memory %" PRIu32 " at %" PRIu64 " bytes %" PRIu64, buffer->memory, buffer->offset_bytes,
            buffer->bytes);
    if (buffer->lanes != 1) {
        fprintf(out, " lanes %" PRIu64, buffer->lanes);
    }
    fprintf(out, " data %" PRIu32 " touched %" PRIu64, buffer->data, buffer->estimated_bytes);
    if (buffer->view != CMD_NONE) {
        print_tensor(buffer, out);
    }
    fputc('\n', out);
}

/* ---- Commands */

static void print_operand(const CmdOperand *operand, FILE *out) {
    fprintf(out, "b%" PRIu32 ".v%" PRIu32 "+%" PRIu64, operand->buffer, operand->view, operand->offset_bits);
}

/* The numbers that are not zero. */
static void print_numbers(const Stage *stage, FILE *out) {
    uint32_t count;
    const CmdField *field = cmd_fields(stage->kind, &count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t bits = cmd_field_bits(stage, &field[k]);
        char text[CMD_FLOAT_TEXT];
        if (bits != 0 && field[k].is_real) {
            cmd_float_print(bits, text);
            fprintf(out, " %s=%s", field[k].name, text);
        } else if (bits != 0) {
            fprintf(out, " %s=%" PRId32, field[k].name, (int32_t)bits);
        }
    }
}

static void print_code(const CmdParam *param, FILE *out) {
    uint32_t bits;
    char text[CMD_FLOAT_TEXT];
    if (param->is_coded) {
        memcpy(&bits, &param->code.scale, sizeof bits);
        cmd_float_print(bits, text);
        fprintf(out, "(%s,%" PRId32 ")", text, param->code.zero_point);
    }
}

static void print_stage(const CmdStage *stage, FILE *out) {
    fprintf(out, " | %s %s>%s", cmd_stage_name(stage->stage.kind), dtype_name(stage->stage.from),
            dtype_name(stage->stage.to));
    print_numbers(&stage->stage, out);
    for (uint32_t k = 0; k < stage->param_count; k++) {
        fprintf(out, " %s<-", cmd_param_name(stage->param[k].kind));
        print_operand(&stage->param[k].from, out);
        print_code(&stage->param[k], out);
    }
}

static void print_box(const CmdBox *box, FILE *out) {
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        if (box->extent[axis] != 1) {
            fprintf(out, " %c%" PRIu64, cmd_axis_letter(axis), box->extent[axis]);
        }
    }
}

static void print_compute(const Command *command, FILE *out) {
    fprintf(out, " as %s", s0_semantics_name(command->semantics));
    if (command->carry != CMD_CARRY_NONE) {
        fprintf(out, " carry %s", cmd_carry_name(command->carry));
    }
    if (command->carry == CMD_CARRY_WORKSPACE) {
        fputc(' ', out);
        print_operand(&command->scratch, out);
    }
    for (uint32_t k = 0; k < command->stage_count; k++) {
        print_stage(&command->stages[k], out);
    }
}

/* The numbers that are not usual, then the scales. */
static void print_window(const CmdWindow *window, FILE *out) {
    fputs(" window", out);
    for (uint32_t k = 0; k < CMD_WINDOW_FIELDS; k++) {
        const CmdWindowField *field = &cmd_window_fields[k];
        uint64_t bits = cmd_window_bits(window, k);
        int64_t number;
        memcpy(&number, &bits, sizeof number);
        if (bits != field->usual && field->is_signed) {
            fprintf(out, " %s=%" PRId64, field->name, number);
        } else if (bits != field->usual) {
            fprintf(out, " %s=%" PRIu64, field->name, bits);
        }
    }
    for (uint32_t k = 0; k < window->scale_count; k++) {
        uint32_t bits;
        char text[CMD_FLOAT_TEXT];
        memcpy(&bits, &window->scales[k], sizeof bits);
        cmd_float_print(bits, text);
        fprintf(out, "%s%s", k == 0 ? " scales " : " ", text);
    }
}

/* * WEIGHTS [+ BIAS], or: by TABLE */
static void print_factors(const Command *command, FILE *out) {
    if (command->op == CMD_LUT) {
        fputs(" by ", out);
        print_operand(&command->table, out);
    }
    if (command->op != CMD_CONV) {
        return;
    }
    fputs(" * ", out);
    print_operand(&command->weights, out);
    if (command->bias.buffer != CMD_NONE) {
        fputs(" + ", out);
        print_operand(&command->bias, out);
    }
}

static void print_head(uint32_t number, const Command *command, FILE *out) {
    fprintf(out, "@%-5" PRIu32 " ", number);
    if (command->queue == 0) {
        fputs("engine", out);
    } else {
        fprintf(out, "dma%-3u", (unsigned)command->queue);
    }
    fprintf(out, " %-7s %-10s", cmd_op_name(command->op), cmd_column_name(command->column));
}

static void print_command(const CmdProgram *program, uint32_t number, FILE *out) {
    const Command *command = &program->commands[number];
    print_head(number, command, out);
    print_box(&command->box, out);
    fputc(' ', out);
    print_operand(&command->dst, out);
    if (command->op == CMD_FILL) {
        fprintf(out, " = 0x%" PRIx64, command->code);
    } else {
        fputs(" <- ", out);
        print_operand(&command->src, out);
        print_factors(command, out);
        if (command->op == CMD_PAD) {
            fprintf(out, " = 0x%" PRIx64, command->code);
        }
    }
    for (uint32_t k = 0; k < command->wait_count; k++) {
        fprintf(out, "%s%" PRIu32, k == 0 ? " wait " : " ", command->waits[k]);
    }
    fprintf(out, " node %" PRIu32, command->node);
    if (cmd_has_window(command->op)) {
        print_window(command->window, out);
    }
    if (cmd_has_stages(command->op)) {
        print_compute(command, out);
    }
    fputs(" ; ", out);
    print_quoted(program->nodes[command->node], out);
    fputc('\n', out);
}

void cmd_print(const CmdProgram *program, FILE *out) {
    fprintf(out, "stride0-commands %d\ndevice ", CMD_VERSION);
    print_quoted(program->device, out);
    fputs("\nmodel ", out);
    print_quoted(program->model, out);
    fprintf(out, "\nqueues %" PRIu32 "\ncycles %" PRIu64 "\n", program->queue_count, program->booked_cycles);
    for (uint32_t k = 0; k < program->node_count; k++) {
        fprintf(out, "node %" PRIu32 " ", k);
        print_quoted(program->nodes[k], out);
        fputc('\n', out);
    }
    for (uint32_t k = 0; k < program->view_count; k++) {
        print_view(k, &program->views[k], out);
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        print_buffer(k, &program->buffers[k], out);
    }
    for (uint32_t k = 0; k < program->command_count; k++) {
        print_command(program, k, out);
    }
}
