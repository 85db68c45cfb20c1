/* The binary form, read. Nothing in it is trusted: every count is held against the bytes that are left before memory
 * is taken for it, so that memory stays below 1 KiB a byte of input (the dearest is a view without levels, of one
 * byte).
 *
 * A fault is told once, at its byte; from then on every number reads as 0, and whoever counts stops. */
#include "cmd/code.h"
#include "cmd/parts.h"
#include "cmd/wire.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    size_t at, end;
    Work *work;
    const char *place;
    bool failed;
} Reader;

static void tell(Reader *r, size_t at, const char *what, const char *got, const char *expected) {
    Arena *arena = r->work->diags.arena;
    if (!r->failed) {
        diag_error(&r->work->diags, (DiagText){.place = arena_text(arena, "%s: byte %zu", r->place, at),
                                               .what = what,
                                               .got = got,
                                               .expected = expected});
    }
    r->failed = true;
}

static size_t bytes_left(const Reader *r) {
    return r->end - r->at;
}

/* ---- Numbers and bytes */

static uint8_t take_byte(Reader *r) {
    if (r->failed || bytes_left(r) == 0) {
        tell(r, r->at, "the program ends inside its body", NULL, NULL);
        return 0;
    }
    return r->bytes[r->at++];
}

/* At most 64 bits, in as few bytes as hold them. */
static uint64_t take_number(Reader *r) {
    size_t begin = r->at;
    uint64_t number = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        uint8_t byte = take_byte(r);
        bool is_last = byte < 0x80;
        if (r->failed) {
            return 0;
        }
        if ((shift == 63 && byte > 1) || (is_last && byte == 0 && shift > 0)) {
            break;
        }
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (is_last) {
            return number;
        }
    }
    tell(r, begin, "no number", NULL, "at most 64 bits, seven a byte, without leading zeros");
    return 0;
}

static uint64_t held_to(Reader *r, size_t begin, uint64_t number, uint64_t most, const char *what) {
    if (number > most) {
        Arena *arena = r->work->diags.arena;
        tell(r, begin, what, arena_text(arena, "%" PRIu64, number), arena_text(arena, "at most %" PRIu64, most));
        return 0;
    }
    return number;
}

static uint64_t take_at_most(Reader *r, uint64_t most, const char *what) {
    size_t begin = r->at;
    return held_to(r, begin, take_number(r), most, what);
}

static uint32_t take_u32(Reader *r) {
    return (uint32_t)take_at_most(r, UINT32_MAX, "a number is too large");
}

/* A number of things that take `bytes` each at least. */
static size_t take_length(Reader *r, size_t bytes) {
    size_t begin = r->at;
    uint64_t count = take_number(r);
    return (size_t)held_to(r, begin, count, bytes_left(r) / bytes, "a count is larger than what follows can hold");
}

static uint32_t take_count(Reader *r, size_t bytes) {
    size_t begin = r->at;
    return (uint32_t)held_to(r, begin, take_length(r, bytes), UINT32_MAX, "a number is too large");
}

static uint64_t take_step(Reader *r, uint64_t last) {
    uint64_t step = take_number(r);
    return last + (step >> 1 ^ (UINT64_C(0) - (step & 1)));
}

static uint32_t take_short_step(Reader *r, uint32_t last) {
    uint32_t step = take_u32(r);
    return last + (step >> 1 ^ (0u - (step & 1)));
}

static Span take_bytes(Reader *r) {
    size_t count = take_length(r, 1);
    Span bytes = {r->bytes + r->at, count};
    r->at += count;
    return bytes;
}

static Str take_str(Reader *r) {
    Span bytes = take_bytes(r);
    return (Str){(const char *)bytes.ptr, bytes.len};
}

static DType take_dtype(Reader *r) {
    size_t begin = r->at;
    uint32_t number = (uint32_t)take_at_most(r, INT32_MAX, "no type of elements");
    DType dtype = dtype_from_onnx(number);
    if (dtype_bits(dtype) == 0) {
        tell(r, begin, "no type of elements", arena_text(r->work->diags.arena, "%" PRIu32, number),
             "a TensorProto.DataType that has bits");
        return DTYPE_I8;
    }
    return dtype;
}

/* ---- Views and buffers */

static void take_view(Reader *r, CmdView *view) {
    view->level_count = (uint32_t)take_at_most(r, CMD_MAX_LEVELS, "a view has too many levels");
    for (uint32_t k = 0; !r->failed && k < view->level_count; k++) {
        CmdLevel *level = &view->level[k];
        level->axis = (uint8_t)take_at_most(r, CMD_AXES - 1, "there is no such axis");
        level->div = take_number(r);
        level->mod = take_number(r);
        level->stride_bits = take_number(r);
        level->stride_lanes = take_number(r);
    }
}

static void take_tensor(Reader *r, CmdBuffer *buffer) {
    buffer->view_offset_bits = take_number(r);
    buffer->order.rank = (uint32_t)take_at_most(r, CMD_MAX_RANK, "the rank is too large");
    for (uint32_t k = 0; !r->failed && k < buffer->order.rank; k++) {
        buffer->order.axis[k] = (uint8_t)take_at_most(r, CMD_AXES - 1, "there is no such axis");
        buffer->order.extent[k] = take_number(r);
    }
    if (take_at_most(r, 1, "a constant is there or not") == 1) {
        Span bytes = take_bytes(r);
        buffer->constant_bytes = bytes.len;
        buffer->constant = bytes.ptr;
    }
}

static void take_buffer(Reader *r, CmdBuffer *buffer) {
    buffer->kind = (CmdBufferKind)take_at_most(r, CMD_BUFFER_KINDS - 1, "there is no such kind of buffer");
    buffer->name = take_str(r);
    buffer->node = take_str(r);
    buffer->dtype = take_dtype(r);
    buffer->memory = take_u32(r);
    buffer->offset_bytes = take_number(r);
    buffer->bytes = take_number(r);
    buffer->lanes = take_number(r);
    buffer->data = take_u32(r);
    buffer->estimated_bytes = take_number(r);
    buffer->view = take_u32(r) - 1; /* 0 becomes CMD_NONE */
    if (!r->failed && buffer->view != CMD_NONE) {
        take_tensor(r, buffer);
    }
}

/* ---- Commands */

static void take_operand(Reader *r, CmdOperand *operand) {
    operand->buffer = take_short_step(r, operand->buffer);
    operand->view = take_short_step(r, operand->view);
    operand->offset_bits = take_step(r, operand->offset_bits);
}

static void take_waits(Reader *r, Command *command, uint32_t number) {
    command->wait_count = (uint32_t)take_at_most(r, CMD_MAX_WAITS, "too many waits");
    uint32_t *waits = NULL;
    if (command->wait_count > 0) {
        waits = arena_array(&r->work->keep, uint32_t, command->wait_count);
    }
    for (uint32_t k = 0; k < command->wait_count; k++) {
        waits[k] = number - (uint32_t)take_at_most(r, number, "a wait goes back before the first command");
    }
    command->waits = waits;
}

/* The waits of the last one, as far back from this command. */
static void repeat_waits(Reader *r, Command *command, uint32_t number, uint32_t last_number) {
    if (command->wait_count == 0) {
        return;
    }
    const uint32_t *last = command->waits;
    uint32_t *waits = arena_array(&r->work->keep, uint32_t, command->wait_count);
    for (uint32_t k = 0; k < command->wait_count; k++) {
        waits[k] = number - (last_number - last[k]);
    }
    command->waits = waits;
}

static void take_box(Reader *r, CmdBox *box) {
    uint32_t axes = (uint32_t)take_at_most(r, (1u << CMD_AXES) - 1, "a box has axes that there are not");
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        if ((axes >> axis & 1) != 0) {
            box->extent[axis] = take_number(r);
        }
    }
}

static void take_numbers(Reader *r, Stage *stage) {
    uint32_t count;
    memset(stage, 0, sizeof *stage);
    stage->kind = (StageKind)take_at_most(r, CMD_STAGES - 1, "there is no such kind of stage");
    stage->from = take_dtype(r);
    stage->to = take_dtype(r);
    const CmdField *field = cmd_fields(stage->kind, &count);
    for (uint32_t k = 0; k < count; k++) {
        cmd_set_field(stage, &field[k], take_u32(r));
    }
}

/* The kinds once more are those of codes. */
static void take_param(Reader *r, CmdParam *param) {
    uint32_t kind = (uint32_t)take_at_most(r, 2 * CMD_PARAM_KINDS - 1, "there is no such kind of parameter");
    take_operand(r, &param->from);
    param->kind = (CmdParamKind)(kind % CMD_PARAM_KINDS);
    param->is_coded = kind >= CMD_PARAM_KINDS;
    if (param->is_coded) {
        uint32_t scale = take_u32(r), zero = take_u32(r);
        memcpy(&param->code.scale, &scale, sizeof scale);
        memcpy(&param->code.zero_point, &zero, sizeof zero);
    }
}

static void take_stage(Reader *r, const CmdStage *last, CmdStage *stage) {
    stage->stage = last->stage;
    if (take_at_most(r, 1, "a stage is new or not") == 1) {
        take_numbers(r, &stage->stage);
    }
    stage->param_count = (uint32_t)take_at_most(r, CMD_MAX_PARAMS, "a stage has too many parameters");
    for (uint32_t k = 0; !r->failed && k < stage->param_count; k++) {
        stage->param[k] = (CmdParam){.from = cmd_wire_param(last, k).from};
        take_param(r, &stage->param[k]);
    }
}

/* `command` still has the stages of the last one. */
static void take_stages(Reader *r, Command *command) {
    uint32_t count = (uint32_t)take_at_most(r, CMD_MAX_STAGES, "a command has too many stages");
    CmdStage *stages = count == 0 ? NULL : arena_array(&r->work->keep, CmdStage, count);
    for (uint32_t k = 0; !r->failed && k < count; k++) {
        CmdStage last = cmd_wire_stage(command, k);
        take_stage(r, &last, &stages[k]);
    }
    command->stage_count = count;
    command->stages = stages;
}

static void take_scales(Reader *r, CmdWindow *window) {
    uint32_t count = take_count(r, 1);
    float *scales = count == 0 ? NULL : arena_array(&r->work->keep, float, count);
    for (uint32_t k = 0; !r->failed && k < count; k++) {
        uint32_t bits = take_u32(r);
        memcpy(&scales[k], &bits, sizeof bits);
    }
    window->scale_count = count;
    window->scales = scales;
}

/* `command` still has the window of the last one. */
static void take_window(Reader *r, Command *command) {
    CmdWindow *window = arena_new(&r->work->keep, CmdWindow);
    *window = cmd_wire_window(command);
    for (uint32_t k = 0; k < CMD_WINDOW_FIELDS; k++) {
        cmd_set_window(window, k, take_step(r, cmd_window_bits(window, k)));
    }
    if (take_at_most(r, 1, "scales are new or not") == 1) {
        take_scales(r, window);
    }
    command->window = window;
}

/* Of what goes over windows, and of tables. */
static void take_more_groups(Reader *r, Command *command, uint32_t set) {
    if ((set & WIRE_WINDOW) != 0) {
        take_window(r, command);
    }
    if ((set & WIRE_WEIGHTS) != 0) {
        take_operand(r, &command->weights);
    }
    if ((set & WIRE_BIAS) != 0) {
        take_operand(r, &command->bias);
    }
    if ((set & WIRE_TABLE) != 0) {
        take_operand(r, &command->table);
    }
}

static void take_groups(Reader *r, Command *command, uint32_t set) {
    if ((set & WIRE_BOX) != 0) {
        take_box(r, &command->box);
    }
    if ((set & WIRE_STAGES) != 0) {
        take_stages(r, command);
    }
    if ((set & WIRE_NODE) != 0) {
        command->node = take_u32(r);
    }
    if ((set & WIRE_PLACE) != 0) {
        command->column = (CmdColumn)take_at_most(r, CMD_COLUMNS - 1, "there is no such column");
        command->queue = (uint8_t)take_at_most(r, CMD_MAX_QUEUES - 1, "there is no such queue");
    }
    if ((set & WIRE_CODE) != 0) {
        command->code = take_number(r);
    }
    if ((set & WIRE_COMPUTE) != 0) {
        command->semantics = (Semantics)take_at_most(r, S0_SEM_COUNT - 1, "there are no such semantics");
        command->carry = (CmdCarry)take_at_most(r, CMD_CARRIES - 1, "there is no such carry");
    }
    if ((set & WIRE_SCRATCH) != 0) {
        take_operand(r, &command->scratch);
    }
    take_more_groups(r, command, set);
}

static Command take_command(Reader *r, uint32_t number, WireLast *all) {
    uint32_t op = (uint32_t)take_at_most(r, CMD_OPS - 1, "there is no such operation");
    uint32_t set = (uint32_t)take_at_most(r, WIRE_ALL, "a command has parts that there are not");
    Command command = all->command[op];
    if ((set & WIRE_SRC) != 0) {
        take_operand(r, &command.src);
    }
    if ((set & WIRE_DST) != 0) {
        take_operand(r, &command.dst);
    }
    if ((set & WIRE_WAITS) != 0) {
        take_waits(r, &command, number);
    } else {
        repeat_waits(r, &command, number, all->number[op]);
    }
    take_groups(r, &command, set);
    command = cmd_canonical(&command);
    all->command[op] = command;
    all->number[op] = number;
    return command;
}

/* ---- Programs */

static void take_tables(Reader *r, CmdProgram *program) {
    enum { VIEW_BYTES = 1, BUFFER_BYTES = 11 };
    Arena *keep = &r->work->keep;
    program->node_count = take_count(r, 1);
    Str *nodes = arena_array(keep, Str, program->node_count);
    for (uint32_t k = 0; !r->failed && k < program->node_count; k++) {
        nodes[k] = take_str(r);
    }
    program->view_count = take_count(r, VIEW_BYTES);
    CmdView *views = arena_array(keep, CmdView, program->view_count);
    for (uint32_t k = 0; !r->failed && k < program->view_count; k++) {
        take_view(r, &views[k]);
    }
    program->buffer_count = take_count(r, BUFFER_BYTES);
    CmdBuffer *buffers = arena_array(keep, CmdBuffer, program->buffer_count);
    for (uint32_t k = 0; !r->failed && k < program->buffer_count; k++) {
        take_buffer(r, &buffers[k]);
    }
    program->nodes = nodes;
    program->views = views;
    program->buffers = buffers;
}

static void take_program(Reader *r, CmdProgram *program) {
    enum { COMMAND_BYTES = 2 };
    program->device = take_str(r);
    program->model = take_str(r);
    program->queue_count = take_u32(r);
    program->booked_cycles = take_number(r);
    take_tables(r, program);
    WireLast last = cmd_wire_start();
    program->command_count = take_count(r, COMMAND_BYTES);
    Command *commands = arena_array(&r->work->keep, Command, program->command_count);
    for (uint32_t k = 0; !r->failed && k < program->command_count; k++) {
        commands[k] = take_command(r, k, &last);
    }
    program->commands = commands;
    if (!r->failed && bytes_left(r) > 0) {
        tell(r, r->at, "bytes behind the last command", NULL, NULL);
    }
}

static uint32_t u32_le(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* What stands around the body. */
static bool check_frame(Reader *r, Span bytes) {
    Arena *arena = r->work->diags.arena;
    if (bytes.len < CMD_HEAD_BYTES + CMD_SUM_BYTES) {
        tell(r, bytes.len, "too short for a program", arena_text(arena, "%zu bytes", bytes.len), "at least 12");
        return false;
    }
    r->end = bytes.len - CMD_SUM_BYTES;
    uint32_t version = u32_le(bytes.ptr + CMD_MAGIC_BYTES);
    uint32_t sum = cmd_crc32(bytes.ptr, r->end);
    if (memcmp(bytes.ptr, CMD_MAGIC, CMD_MAGIC_BYTES) != 0) {
        tell(r, 0, "no program of commands", NULL, "'" CMD_MAGIC "'");
    } else if (version != CMD_VERSION) {
        tell(r, CMD_MAGIC_BYTES, "a program of another version", arena_text(arena, "%" PRIu32, version),
             arena_text(arena, "%d", (int)CMD_VERSION));
    } else if (u32_le(bytes.ptr + r->end) != sum) {
        tell(r, r->end, "the checksum is wrong: the program is cut off or was changed",
             arena_text(arena, "%08" PRIx32, u32_le(bytes.ptr + r->end)), arena_text(arena, "%08" PRIx32, sum));
    }
    return !r->failed;
}

const CmdProgram *cmd_decode(Span bytes, const char *place, Work *work) {
    Reader r = {.bytes = bytes.ptr, .at = CMD_HEAD_BYTES, .work = work, .place = place};
    CmdProgram *program = arena_new(&work->keep, CmdProgram);
    if (!check_frame(&r, bytes)) {
        return NULL;
    }
    take_program(&r, program);
    if (r.failed) {
        return NULL;
    }
    const char *fault = cmd_check(program, work->diags.arena);
    if (fault != NULL) {
        diag_error(&work->diags, (DiagText){.place = place, .what = fault});
        return NULL;
    }
    return program;
}
