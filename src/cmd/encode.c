/* The binary form, written. The same program gives the same bytes. */
#include "cmd/code.h"
#include "cmd/parts.h"
#include "cmd/wire.h"

#include <string.h>

typedef struct {
    Arena *arena;
    uint8_t *bytes;
    size_t count, capacity;
} Writer;

/* ---- Numbers and bytes */

static void put_byte(Writer *w, uint8_t byte) {
    w->bytes = arena_grow(w->arena, w->bytes, w->count, &w->capacity, 1);
    w->bytes[w->count++] = byte;
}

static void put_bytes(Writer *w, const void *bytes, size_t count) {
    for (size_t k = 0; k < count; k++) {
        put_byte(w, ((const uint8_t *)bytes)[k]);
    }
}

static void put_number(Writer *w, uint64_t number) {
    while (number >= 0x80) {
        put_byte(w, (uint8_t)(number | 0x80));
        number >>= 7;
    }
    put_byte(w, (uint8_t)number);
}

/* A difference of either sign, small where it is near 0. It may wrap around: so does its sum. */
static void put_step(Writer *w, uint64_t number, uint64_t last) {
    uint64_t step = number - last;
    put_number(w, step << 1 ^ (UINT64_C(0) - (step >> 63)));
}

/* In 32 bits: from CMD_NONE to 0 it is 1. */
static void put_short_step(Writer *w, uint32_t number, uint32_t last) {
    uint32_t step = number - last;
    put_number(w, step << 1 ^ (0u - (step >> 31)));
}

static void put_u32_le(Writer *w, uint32_t number) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        put_byte(w, (uint8_t)(number >> shift));
    }
}

static void put_str(Writer *w, Str text) {
    put_number(w, text.len);
    put_bytes(w, text.ptr, text.len);
}

static void put_dtype(Writer *w, DType dtype) {
    put_number(w, (uint64_t)dtype_to_onnx(dtype)); /* all that have bits are there */
}

/* ---- Views and buffers */

static void put_view(Writer *w, const CmdView *view) {
    put_number(w, view->level_count);
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        put_number(w, level->axis);
        put_number(w, level->div);
        put_number(w, level->mod);
        put_number(w, level->stride_bits);
        put_number(w, level->stride_lanes);
    }
}

static void put_tensor(Writer *w, const CmdBuffer *buffer) {
    put_number(w, buffer->view_offset_bits);
    put_number(w, buffer->order.rank);
    for (uint32_t k = 0; k < buffer->order.rank; k++) {
        put_number(w, buffer->order.axis[k]);
        put_number(w, buffer->order.extent[k]);
    }
    put_byte(w, buffer->constant != NULL);
    if (buffer->constant != NULL) {
        put_number(w, buffer->constant_bytes);
        put_bytes(w, buffer->constant, (size_t)buffer->constant_bytes);
    }
}

static void put_buffer(Writer *w, const CmdBuffer *buffer) {
    put_number(w, buffer->kind);
    put_str(w, buffer->name);
    put_str(w, buffer->node);
    put_dtype(w, buffer->dtype);
    put_number(w, buffer->memory);
    put_number(w, buffer->offset_bytes);
    put_number(w, buffer->bytes);
    put_number(w, buffer->lanes);
    put_number(w, buffer->data);
    put_number(w, buffer->estimated_bytes);
    put_number(w, buffer->view == CMD_NONE ? 0 : (uint64_t)buffer->view + 1);
    if (buffer->view != CMD_NONE) {
        put_tensor(w, buffer);
    }
}

/* ---- What differs */

static bool same_operand(const CmdOperand *a, const CmdOperand *b) {
    return a->buffer == b->buffer && a->view == b->view && a->offset_bits == b->offset_bits;
}

static bool same_waits(const Command *a, uint32_t a_number, const Command *b, uint32_t b_number) {
    bool same = a->wait_count == b->wait_count;
    for (uint32_t k = 0; same && k < a->wait_count; k++) {
        same = a_number - a->waits[k] == b_number - b->waits[k];
    }
    return same;
}

static bool same_numbers(const Stage *a, const Stage *b) {
    uint32_t count;
    const CmdField *field = cmd_fields(a->kind, &count);
    bool same = a->kind == b->kind && a->from == b->from && a->to == b->to;
    for (uint32_t k = 0; same && k < count; k++) {
        same = cmd_field_bits(a, &field[k]) == cmd_field_bits(b, &field[k]);
    }
    return same;
}

static uint32_t float_bits(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static bool same_code(const CmdParam *a, const CmdParam *b) {
    return float_bits(a->code.scale) == float_bits(b->code.scale) && a->code.zero_point == b->code.zero_point;
}

static bool same_param(const CmdParam *a, const CmdParam *b) {
    return a->kind == b->kind && same_operand(&a->from, &b->from) && a->is_coded == b->is_coded &&
           (!a->is_coded || same_code(a, b));
}

static bool same_stage(const CmdStage *a, const CmdStage *b) {
    bool same = same_numbers(&a->stage, &b->stage) && a->param_count == b->param_count;
    for (uint32_t k = 0; same && k < a->param_count; k++) {
        same = same_param(&a->param[k], &b->param[k]);
    }
    return same;
}

static bool same_stages(const Command *a, const Command *b) {
    bool same = a->stage_count == b->stage_count;
    for (uint32_t k = 0; same && a->stages != b->stages && k < a->stage_count; k++) {
        same = same_stage(&a->stages[k], &b->stages[k]);
    }
    return same;
}

static bool same_scales(const CmdWindow *a, const CmdWindow *b) {
    return a->scale_count == b->scale_count &&
           (a->scale_count == 0 || memcmp(a->scales, b->scales, a->scale_count * sizeof *a->scales) == 0);
}

static bool same_window(const Command *a, const Command *b) {
    if (a->window == b->window) {
        return true;
    }
    const CmdWindow x = cmd_wire_window(a), y = cmd_wire_window(b);
    bool same = a->window != NULL && b->window != NULL && same_scales(&x, &y);
    for (uint32_t k = 0; same && k < CMD_WINDOW_FIELDS; k++) {
        same = cmd_window_bits(&x, k) == cmd_window_bits(&y, k);
    }
    return same;
}

static uint32_t differences(const Command *a, uint32_t a_number, const Command *b, uint32_t b_number) {
    uint32_t set = 0;
    set |= same_operand(&a->src, &b->src) ? 0 : WIRE_SRC;
    set |= same_operand(&a->dst, &b->dst) ? 0 : WIRE_DST;
    set |= same_waits(a, a_number, b, b_number) ? 0 : WIRE_WAITS;
    set |= memcmp(&a->box, &b->box, sizeof a->box) == 0 ? 0 : WIRE_BOX;
    set |= same_stages(a, b) ? 0 : WIRE_STAGES;
    set |= a->node == b->node ? 0 : WIRE_NODE;
    set |= a->column == b->column && a->queue == b->queue ? 0 : WIRE_PLACE;
    set |= a->code == b->code ? 0 : WIRE_CODE;
    set |= a->semantics == b->semantics && a->carry == b->carry ? 0 : WIRE_COMPUTE;
    set |= same_operand(&a->scratch, &b->scratch) ? 0 : WIRE_SCRATCH;
    set |= same_window(a, b) ? 0 : WIRE_WINDOW;
    set |= same_operand(&a->weights, &b->weights) ? 0 : WIRE_WEIGHTS;
    set |= same_operand(&a->bias, &b->bias) ? 0 : WIRE_BIAS;
    set |= same_operand(&a->table, &b->table) ? 0 : WIRE_TABLE;
    return set;
}

/* ---- Commands */

static void put_operand(Writer *w, const CmdOperand *operand, const CmdOperand *last) {
    put_short_step(w, operand->buffer, last->buffer);
    put_short_step(w, operand->view, last->view);
    put_step(w, operand->offset_bits, last->offset_bits);
}

static void put_waits(Writer *w, const Command *command, uint32_t number) {
    put_number(w, command->wait_count);
    for (uint32_t k = 0; k < command->wait_count; k++) {
        put_number(w, number - command->waits[k]);
    }
}

static void put_box(Writer *w, const CmdBox *box, const CmdBox *last) {
    uint8_t axes = 0;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        axes |= (uint8_t)((box->extent[axis] != last->extent[axis]) << axis);
    }
    put_byte(w, axes);
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        if ((axes >> axis & 1) != 0) {
            put_number(w, box->extent[axis]);
        }
    }
}

static void put_numbers(Writer *w, const Stage *stage) {
    uint32_t count;
    const CmdField *field = cmd_fields(stage->kind, &count);
    put_number(w, stage->kind);
    put_dtype(w, stage->from);
    put_dtype(w, stage->to);
    for (uint32_t k = 0; k < count; k++) {
        put_number(w, cmd_field_bits(stage, &field[k]));
    }
}

static void put_param(Writer *w, const CmdParam *param, const CmdParam *last) {
    put_number(w, param->kind + (param->is_coded ? CMD_PARAM_KINDS : 0));
    put_operand(w, &param->from, &last->from);
    if (param->is_coded) {
        put_number(w, float_bits(param->code.scale));
        put_number(w, (uint32_t)param->code.zero_point);
    }
}

static void put_stages(Writer *w, const Command *command, const Command *last_command) {
    put_number(w, command->stage_count);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        const CmdStage *stage = &command->stages[s];
        CmdStage last = cmd_wire_stage(last_command, s);
        bool is_new = !same_numbers(&stage->stage, &last.stage);
        put_byte(w, is_new);
        if (is_new) {
            put_numbers(w, &stage->stage);
        }
        put_number(w, stage->param_count);
        for (uint32_t k = 0; k < stage->param_count; k++) {
            CmdParam last_param = cmd_wire_param(&last, k);
            put_param(w, &stage->param[k], &last_param);
        }
    }
}

static void put_window(Writer *w, const CmdWindow *window, const CmdWindow *last) {
    bool is_new = !same_scales(window, last);
    for (uint32_t k = 0; k < CMD_WINDOW_FIELDS; k++) {
        put_step(w, cmd_window_bits(window, k), cmd_window_bits(last, k));
    }
    put_byte(w, is_new);
    if (is_new) {
        put_number(w, window->scale_count);
    }
    for (uint32_t k = 0; is_new && k < window->scale_count; k++) {
        put_number(w, float_bits(window->scales[k]));
    }
}

/* Of what goes over windows, and of tables. */
static void put_more_groups(Writer *w, const Command *command, const Command *last, uint32_t set) {
    if ((set & WIRE_WINDOW) != 0) {
        const CmdWindow last_window = cmd_wire_window(last);
        put_window(w, command->window, &last_window);
    }
    if ((set & WIRE_WEIGHTS) != 0) {
        put_operand(w, &command->weights, &last->weights);
    }
    if ((set & WIRE_BIAS) != 0) {
        put_operand(w, &command->bias, &last->bias);
    }
    if ((set & WIRE_TABLE) != 0) {
        put_operand(w, &command->table, &last->table);
    }
}

static void put_groups(Writer *w, const Command *command, const Command *last, uint32_t set) {
    if ((set & WIRE_BOX) != 0) {
        put_box(w, &command->box, &last->box);
    }
    if ((set & WIRE_STAGES) != 0) {
        put_stages(w, command, last);
    }
    if ((set & WIRE_NODE) != 0) {
        put_number(w, command->node);
    }
    if ((set & WIRE_PLACE) != 0) {
        put_number(w, command->column);
        put_number(w, command->queue);
    }
    if ((set & WIRE_CODE) != 0) {
        put_number(w, command->code);
    }
    if ((set & WIRE_COMPUTE) != 0) {
        put_number(w, command->semantics);
        put_number(w, command->carry);
    }
    if ((set & WIRE_SCRATCH) != 0) {
        put_operand(w, &command->scratch, &last->scratch);
    }
    put_more_groups(w, command, last, set);
}

static void put_command(Writer *w, const Command *given, uint32_t number, WireLast *all) {
    Command command = cmd_canonical(given);
    Command *last = &all->command[command.op];
    uint32_t set = differences(&command, number, last, all->number[command.op]);
    put_number(w, command.op);
    put_number(w, set);
    if ((set & WIRE_SRC) != 0) {
        put_operand(w, &command.src, &last->src);
    }
    if ((set & WIRE_DST) != 0) {
        put_operand(w, &command.dst, &last->dst);
    }
    if ((set & WIRE_WAITS) != 0) {
        put_waits(w, &command, number);
    }
    put_groups(w, &command, last, set);
    *last = command;
    all->number[command.op] = number;
}

/* ---- Programs */

static void put_body(Writer *w, const CmdProgram *program) {
    put_str(w, program->device);
    put_str(w, program->model);
    put_number(w, program->queue_count);
    put_number(w, program->booked_cycles);
    put_number(w, program->node_count);
    for (uint32_t k = 0; k < program->node_count; k++) {
        put_str(w, program->nodes[k]);
    }
    put_number(w, program->view_count);
    for (uint32_t k = 0; k < program->view_count; k++) {
        put_view(w, &program->views[k]);
    }
    put_number(w, program->buffer_count);
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        put_buffer(w, &program->buffers[k]);
    }
    WireLast last = cmd_wire_start();
    put_number(w, program->command_count);
    for (uint32_t k = 0; k < program->command_count; k++) {
        put_command(w, &program->commands[k], k, &last);
    }
}

Span cmd_encode(const CmdProgram *program, Arena *arena) {
    Writer w = {.arena = arena};
    put_bytes(&w, CMD_MAGIC, CMD_MAGIC_BYTES);
    put_u32_le(&w, CMD_VERSION);
    put_body(&w, program);
    put_u32_le(&w, cmd_crc32(w.bytes, w.count));
    return (Span){w.bytes, w.count};
}
