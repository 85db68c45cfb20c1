/* Random programs that cmd_check accepts. They mean nothing: their addresses run where they like. */
#ifndef TESTS_CMD_DRAW_H
#define TESTS_CMD_DRAW_H

#include "cmd/command.h"

#include "support/random.h"

#include <string.h>

typedef struct {
    uint64_t seed;
    Arena *arena;
    CmdProgram *program;
} Drawing;

static const DType drawn_dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_U8,
                                     DTYPE_I16, DTYPE_I32, DTYPE_I4, DTYPE_U4};
enum { DRAWN_DTYPES = sizeof drawn_dtypes / sizeof drawn_dtypes[0] };

static inline uint32_t draw_below(Drawing *d, uint64_t below) {
    return (uint32_t)random_below(&d->seed, below);
}

/* Mostly small; of up to `bits` bits. */
static inline uint64_t draw_size(Drawing *d, uint32_t bits) {
    return random_next(&d->seed) >> 1 >> (63 - draw_below(d, bits + 1));
}

static inline Str draw_name(Drawing *d) {
    size_t length = draw_below(d, 9);
    char *text = arena_alloc(d->arena, length + 1, 1);
    for (size_t k = 0; k < length; k++) {
        text[k] = (char)(unsigned char)(draw_below(d, 3) == 0 ? draw_below(d, 256) : 'a' + draw_below(d, 26));
    }
    return (Str){text, length};
}

static inline CmdView draw_view(Drawing *d) {
    CmdView view = {.level_count = draw_below(d, 10) == 0 ? CMD_MAX_LEVELS : draw_below(d, 5)};
    for (uint32_t k = 0; k < view.level_count; k++) {
        view.level[k] = (CmdLevel){.axis = (uint8_t)draw_below(d, CMD_AXES),
                                   .div = 1 + draw_size(d, 5),
                                   .mod = draw_size(d, 6),
                                   .stride_bits = draw_size(d, 40),
                                   .stride_lanes = draw_below(d, 3) == 0 ? draw_size(d, 8) : 0};
    }
    return view;
}

static inline CmdOrder draw_order(Drawing *d, uint64_t *elements) {
    CmdOrder order = {.rank = draw_below(d, 5)};
    *elements = 1;
    for (uint32_t k = 0; k < order.rank; k++) {
        order.extent[k] = draw_below(d, 20) == 0 ? 0 : 1 + draw_below(d, 4);
        order.axis[k] = (uint8_t)draw_below(d, CMD_AXES);
        *elements *= order.extent[k];
    }
    return order;
}

static inline CmdBuffer draw_buffer(Drawing *d, uint32_t number) {
    CmdBuffer buffer = {.kind = number == 0 ? CMD_BUFFER_WORKSPACE : (CmdBufferKind)draw_below(d, CMD_BUFFER_KINDS),
                        .name = draw_name(d),
                        .node = draw_name(d),
                        .dtype = drawn_dtypes[number % DRAWN_DTYPES],
                        .memory = draw_below(d, 3),
                        .offset_bytes = draw_size(d, 44),
                        .bytes = draw_size(d, 40),
                        .lanes = 1 + draw_size(d, 6),
                        .data = draw_below(d, 8),
                        .estimated_bytes = draw_size(d, 63),
                        .view = CMD_NONE};
    uint64_t elements;
    if (draw_below(d, 2) == 0) {
        return buffer;
    }
    buffer.view = draw_below(d, d->program->view_count);
    buffer.view_offset_bits = draw_size(d, 40);
    buffer.order = draw_order(d, &elements);
    if (buffer.kind == CMD_BUFFER_PARAMETER) {
        buffer.constant_bytes = (elements * dtype_bits(buffer.dtype) + 7) / 8;
        uint8_t *bytes = arena_alloc(d->arena, (size_t)buffer.constant_bytes + 1, 1);
        for (size_t k = 0; k < buffer.constant_bytes; k++) {
            bytes[k] = (uint8_t)draw_below(d, 256);
        }
        buffer.constant = bytes;
    }
    return buffer;
}

/* A buffer of this type; each type has one. */
static inline uint32_t draw_buffer_of(Drawing *d, DType dtype) {
    uint32_t count = d->program->buffer_count, k = draw_below(d, count);
    while (d->program->buffers[k].dtype != dtype) {
        k = (k + 1) % count;
    }
    return k;
}

static inline CmdOperand draw_operand(Drawing *d, uint32_t buffer) {
    return (CmdOperand){buffer, draw_below(d, d->program->view_count), draw_size(d, 50)};
}

static inline StageKind draw_kind(Drawing *d, bool from_real) {
    static const StageKind real[] = {STAGE_MUL,  STAGE_ADD,  STAGE_SUB,      STAGE_RSUB, STAGE_DIV,
                                     STAGE_NORM, STAGE_CLIP, STAGE_QUANTIZE, STAGE_CAST};
    static const StageKind code[] = {STAGE_CODE_MUL,   STAGE_CODE_ADD,       STAGE_CODE_REQUANTIZE, STAGE_CODE_CLIP,
                                     STAGE_CODE_SCALE, STAGE_ACC_REQUANTIZE, STAGE_DEQUANTIZE,      STAGE_INT_MUL,
                                     STAGE_INT_ADD,    STAGE_INT_SUB,        STAGE_INT_RSUB,        STAGE_INT_DIV};
    return from_real ? real[draw_below(d, 9)] : code[draw_below(d, 12)];
}

static inline bool drawn_is_real(DType dtype) {
    return dtype == DTYPE_F32 || dtype == DTYPE_F16;
}

static inline DType draw_type_to(Drawing *d, StageKind kind, DType from) {
    bool is_plain = kind >= STAGE_INT_MUL && kind <= STAGE_INT_DIV;
    bool is_coder = kind == STAGE_DEQUANTIZE || kind == STAGE_CAST;
    if (is_plain || is_coder || (drawn_is_real(from) && kind != STAGE_QUANTIZE)) {
        return is_coder ? drawn_dtypes[draw_below(d, 2)] : from;
    }
    return drawn_dtypes[2 + draw_below(d, DRAWN_DTYPES - 2)];
}

/* Any bits: NaNs of all kinds, infinities, -0. */
static inline float draw_float(Drawing *d) {
    static const uint32_t telling[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345, 1, 0x3F000000};
    uint32_t bits = draw_below(d, 2) == 0 ? telling[draw_below(d, 8)] : (uint32_t)random_next(&d->seed);
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline void draw_numbers(Drawing *d, Stage *stage) {
    if (stage->kind == STAGE_NORM) {
        stage->norm.mean = draw_float(d);
        stage->norm.variance = draw_float(d);
        stage->norm.epsilon = draw_float(d);
        stage->norm.gamma = draw_float(d);
        stage->norm.beta = draw_float(d);
    } else if (stage->kind == STAGE_CLIP) {
        stage->clip.lo = draw_float(d);
        stage->clip.hi = draw_float(d);
    } else if (stage->kind == STAGE_DEQUANTIZE || stage->kind == STAGE_QUANTIZE) {
        stage->code = (StageCode){draw_float(d), (int32_t)draw_below(d, 256) - 128};
    } else if (stage->kind < STAGE_NORM) {
        stage->number = draw_float(d);
    } else if (stage->kind >= STAGE_INT_MUL && stage->kind <= STAGE_INT_DIV) {
        stage->integer.value = (int32_t)random_next(&d->seed);
    } else if (stage->kind != STAGE_CAST) {
        stage->integer.in = (StageCode){draw_float(d), (int32_t)draw_below(d, 256) - 128};
        stage->integer.constant = (StageCode){draw_float(d), INT32_MIN};
        stage->integer.out = (StageCode){draw_float(d), INT32_MAX};
        stage->integer.value = (int32_t)draw_below(d, 4000) - 2000;
        stage->integer.bias = (int32_t)draw_below(d, 4000) - 2000;
        stage->integer.lo = -(int32_t)draw_below(d, 200);
        stage->integer.hi = (int32_t)draw_below(d, 200);
        stage->integer.negate = (int32_t)draw_below(d, 3);
    }
}

static inline void draw_params(Drawing *d, CmdStage *stage) {
    static const struct {
        StageKind stage;
        CmdParamKind param;
    } all[] = {{STAGE_MUL, CMD_PARAM_NUMBER},       {STAGE_DIV, CMD_PARAM_NUMBER},
               {STAGE_CODE_MUL, CMD_PARAM_VALUE},   {STAGE_CODE_ADD, CMD_PARAM_VALUE},
               {STAGE_NORM, CMD_PARAM_VARIANCE},    {STAGE_NORM, CMD_PARAM_GAMMA},
               {STAGE_NORM, CMD_PARAM_MEAN},        {STAGE_NORM, CMD_PARAM_BETA},
               {STAGE_QUANTIZE, CMD_PARAM_SCALE},   {STAGE_QUANTIZE, CMD_PARAM_ZERO_POINT},
               {STAGE_DEQUANTIZE, CMD_PARAM_SCALE}, {STAGE_DEQUANTIZE, CMD_PARAM_ZERO_POINT},
               {STAGE_CLIP, CMD_PARAM_LO},          {STAGE_CLIP, CMD_PARAM_HI},
               {STAGE_CODE_CLIP, CMD_PARAM_LO},     {STAGE_CODE_CLIP, CMD_PARAM_HI},
               {STAGE_INT_DIV, CMD_PARAM_VALUE}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (all[k].stage == stage->stage.kind && draw_below(d, 2) == 0) {
            bool is_code = all[k].param == CMD_PARAM_VALUE || all[k].param == CMD_PARAM_ZERO_POINT ||
                           all[k].stage == STAGE_CODE_CLIP;
            bool is_coded = !is_code && draw_below(d, 3) == 0;
            DType dtype = is_code || is_coded ? drawn_dtypes[2 + draw_below(d, DRAWN_DTYPES - 2)]
                                              : drawn_dtypes[draw_below(d, 2)];
            CmdParam *param = &stage->param[stage->param_count++];
            *param = (CmdParam){.kind = all[k].param, .from = draw_operand(d, draw_buffer_of(d, dtype))};
            param->is_coded = is_coded;
            if (is_coded) {
                param->code = (StageCode){draw_float(d), (int32_t)draw_below(d, 256) - 128};
            }
        }
    }
}

/* Behind the parameters stands what nobody may look at. */
static inline void spoil_unused_params(CmdStage *stage) {
    for (uint32_t k = stage->param_count; k < CMD_MAX_PARAMS; k++) {
        stage->param[k] = (CmdParam){CMD_PARAM_ZERO_POINT, {77, 88, 99}, true, {5, 6}};
    }
}

static inline void draw_stages(Drawing *d, Command *command) {
    uint32_t count = draw_below(d, 2) == 0 ? 1 : draw_below(d, 20) == 0 ? CMD_MAX_STAGES : 2 + draw_below(d, 3);
    CmdStage *stages = arena_array(d->arena, CmdStage, count);
    DType from = drawn_dtypes[draw_below(d, DRAWN_DTYPES)];
    uint32_t widest = 0;
    command->src = draw_operand(d, draw_buffer_of(d, from));
    uint32_t src_bits = dtype_bits(from);
    for (uint32_t k = 0; k < count; k++) {
        Stage *stage = &stages[k].stage;
        stage->kind = draw_kind(d, drawn_is_real(from));
        stage->from = from;
        stage->to = from = draw_type_to(d, stage->kind, from);
        draw_numbers(d, stage);
        draw_params(d, &stages[k]);
        spoil_unused_params(&stages[k]);
        widest = k + 1 < count && dtype_bits(from) > widest ? dtype_bits(from) : widest;
    }
    command->dst = draw_operand(d, draw_buffer_of(d, from));
    command->op = count == 1 && draw_below(d, 2) == 0 ? cmd_op_of(stages[0].stage.kind) : CMD_AFFINE;
    command->column = cmd_column_of(stages[0].stage.kind);
    command->semantics = (Semantics)draw_below(d, S0_SEM_COUNT);
    command->stage_count = count;
    command->stages = stages;
    if (count > 1) {
        command->carry = widest <= dtype_bits(from) ? CMD_CARRY_OUTPUT
                         : widest <= src_bits       ? CMD_CARRY_INPUT
                                                    : CMD_CARRY_WORKSPACE;
        command->carry = draw_below(d, 2) == 0 ? CMD_CARRY_WORKSPACE : command->carry;
    }
    if (command->carry == CMD_CARRY_WORKSPACE) {
        command->scratch = draw_operand(d, 0);
    }
}

static inline CmdSlide draw_slide(Drawing *d) {
    return (CmdSlide){1 + draw_size(d, 6), 1 + draw_size(d, 6), 1 + draw_size(d, 6),
                      (int64_t)draw_size(d, 7) - (int64_t)draw_size(d, 7), draw_size(d, 8)};
}

static inline const float *draw_scales(Drawing *d, uint32_t count) {
    float *scales = arena_array(d->arena, float, count);
    for (uint32_t k = 0; k < count; k++) {
        scales[k] = draw_float(d);
    }
    return scales;
}

static inline void draw_conv(Drawing *d, Command *command, CmdWindow *window) {
    static const DType weights[] = {DTYPE_I8, DTYPE_U8, DTYPE_I4, DTYPE_U4};
    window->group_src = 1 + draw_size(d, 6);
    window->group_dst = 1 + draw_size(d, 6);
    window->group_first = draw_below(d, window->group_dst);
    window->src_zero = (int64_t)draw_below(d, 8);
    window->weights_zero = (int64_t)draw_below(d, 8);
    window->scale_count = draw_below(d, 2) == 0 ? 1 : (uint32_t)command->box.extent[1];
    window->scales = window->scale_count == 0 ? NULL : draw_scales(d, window->scale_count);
    command->weights = draw_operand(d, draw_buffer_of(d, weights[draw_below(d, 4)]));
    command->bias = (CmdOperand){CMD_NONE, CMD_NONE, 0};
    if (draw_below(d, 2) == 0) {
        command->bias = draw_operand(d, draw_buffer_of(d, DTYPE_I32));
    }
}

static inline void draw_softmax(Drawing *d, Command *command, CmdWindow *window) {
    window->h = (CmdSlide){1, 1, 1, 0, command->box.extent[2] + 8}; /* draw_like makes it 8 at most */
    window->w = (CmdSlide){1, 1, 1, 0, command->box.extent[3]};
    window->group_src = window->group_dst = 1 + draw_below(d, 4);
    command->box.extent[1] = window->group_dst * draw_below(d, 3);
    window->scale_count = 1;
    window->scales = draw_scales(d, 1);
}

static inline void draw_sum(Drawing *d, CmdWindow *window) {
    window->group_src = 1 + draw_below(d, 4);
    window->group_dst = 1 + draw_below(d, 4);
    window->group_first = draw_below(d, (uint32_t)window->group_dst);
    window->src_zero = (int64_t)draw_below(d, 128);
}

/* It has no stage. */
static inline void draw_pad(Drawing *d, Command *command, CmdWindow *window) {
    window->h.taps = window->w.taps = 1;
    command->code = draw_below(d, 256);
    command->window = window;
}

static inline void draw_window(Drawing *d, Command *command) {
    DType src = draw_below(d, 2) == 0 ? DTYPE_I8 : DTYPE_U8;
    CmdWindow *window = arena_new(d->arena, CmdWindow);
    CmdStage *stage = arena_new(d->arena, CmdStage);
    *window = (CmdWindow){.h = draw_slide(d), .w = draw_slide(d), .group_src = 1, .group_dst = 1};
    command->op = (CmdOp)(CMD_CONV + draw_below(d, CMD_OPS - CMD_CONV));
    command->column = CMD_COLUMN_COMPUTE;
    command->box.extent[4] = command->box.extent[5] = 1;
    command->src = draw_operand(d, draw_buffer_of(d, src));
    command->dst = draw_operand(d, draw_buffer_of(d, src));
    if (command->op == CMD_PAD) {
        draw_pad(d, command, window);
        return;
    }
    stage->stage = (Stage){.kind = STAGE_CODE_CLIP, .from = src, .to = src};
    if (command->op == CMD_CONV) {
        draw_conv(d, command, window);
    }
    if (command->op == CMD_SUM) {
        draw_sum(d, window);
    }
    if (command->op == CMD_CONV || command->op == CMD_SUM) {
        stage->stage.kind = STAGE_ACC_REQUANTIZE;
        stage->stage.from = DTYPE_I32;
    }
    if (command->op == CMD_SOFTMAX) {
        draw_softmax(d, command, window);
    }
    draw_numbers(d, &stage->stage);
    command->semantics = (Semantics)draw_below(d, S0_SEM_COUNT);
    command->window = window;
    command->stage_count = 1;
    command->stages = stage;
}

static inline void draw_move(Drawing *d, Command *command) {
    static const CmdColumn column[] = {CMD_COLUMN_LOAD_INPUT, CMD_COLUMN_STORE, CMD_COLUMN_COPY, CMD_COLUMN_FILL};
    DType dtype = drawn_dtypes[draw_below(d, DRAWN_DTYPES)];
    bool is_by_dma = d->program->queue_count > 1;
    command->op = (CmdOp)(is_by_dma ? draw_below(d, 4) : 2 + draw_below(d, 2));
    command->column = column[command->op];
    if (command->op == CMD_LOAD && draw_below(d, 2) == 0) {
        command->column = CMD_COLUMN_LOAD_PARAM;
    }
    if (command->op <= CMD_STORE) {
        command->queue = (uint8_t)(1 + draw_below(d, d->program->queue_count - 1));
    }
    command->dst = draw_operand(d, draw_buffer_of(d, dtype));
    if (command->op == CMD_FILL) {
        command->code = random_next(&d->seed) >> (64 - dtype_bits(dtype));
    } else {
        command->src = draw_operand(d, draw_buffer_of(d, dtype));
    }
}

static inline void draw_lookup(Drawing *d, Command *command) {
    static const DType codes[] = {DTYPE_I8, DTYPE_U8, DTYPE_I4, DTYPE_U4};
    DType dst = drawn_dtypes[draw_below(d, DRAWN_DTYPES)];
    command->op = CMD_LUT;
    command->column = CMD_COLUMN_COMPUTE;
    command->src = draw_operand(d, draw_buffer_of(d, codes[draw_below(d, 4)]));
    command->dst = draw_operand(d, draw_buffer_of(d, dst));
    command->table = draw_operand(d, draw_buffer_of(d, dst));
}

/* One number of one stage. */
static inline void change_stage(Drawing *d, Command *command) {
    CmdStage *stages = arena_array(d->arena, CmdStage, command->stage_count);
    memcpy(stages, command->stages, command->stage_count * sizeof *stages);
    CmdStage *stage = &stages[draw_below(d, command->stage_count)];
    if (stage->stage.kind == STAGE_NORM && stage->param_count == 1) {
        stage->param[0].kind = (CmdParamKind)(CMD_PARAM_GAMMA + draw_below(d, 4));
    } else if (stage->param_count > 0 && stage->param[0].is_coded && draw_below(d, 2) == 0) {
        stage->param[0].code.zero_point ^= (int32_t)draw_below(d, 64);
    } else if (stage->param_count > 0 && draw_below(d, 2) == 0) {
        stage->param[0].from.offset_bits ^= draw_below(d, 64);
    } else if (stage->stage.kind >= STAGE_CODE_MUL && stage->stage.kind <= STAGE_ACC_REQUANTIZE) {
        stage->stage.integer.negate = (int32_t)draw_below(d, 3);
    } else {
        draw_numbers(d, &stage->stage);
    }
    command->stages = stages;
}

/* A command before this one with one thing changed, as tiles are. */
static inline Command draw_like(Drawing *d, const Command *before) {
    Command command = *before;
    switch (draw_below(d, 5)) {
    case 0:
        command.dst.offset_bits ^= draw_below(d, 64);
        break;
    case 1:
        command.node = draw_below(d, d->program->node_count);
        break;
    case 2:
        command.box.extent[before->window == NULL ? draw_below(d, CMD_AXES) : 2] = draw_below(d, 9);
        break;
    case 3:
        command.semantics = before->stage_count > 0 ? (Semantics)draw_below(d, S0_SEM_COUNT) : before->semantics;
        break;
    default:
        if (before->window != NULL) {
            CmdWindow *window = arena_new(d->arena, CmdWindow);
            *window = *before->window;
            window->h.before ^= command.op == CMD_SOFTMAX ? 0 : (int64_t)draw_below(d, 2);
            command.window = window;
        } else if (before->stage_count > 0) {
            change_stage(d, &command);
        }
    }
    return command;
}

static inline Command draw_new(Drawing *d) {
    Command command = {.node = draw_below(d, d->program->node_count),
                       .src = {CMD_NONE, CMD_NONE, 0},
                       .table = {CMD_NONE, CMD_NONE, 0},
                       .scratch = {CMD_NONE, CMD_NONE, 0},
                       .weights = {CMD_NONE, CMD_NONE, 0},
                       .bias = {CMD_NONE, CMD_NONE, 0}};
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        command.box.extent[axis] = draw_below(d, 30) == 0 ? 0 : 1 + (draw_below(d, 2) == 0 ? 0 : draw_size(d, 8));
    }
    if (draw_below(d, 5) == 0) {
        draw_window(d, &command);
    } else if (draw_below(d, 8) == 0) {
        draw_lookup(d, &command);
    } else if (draw_below(d, 2) == 0) {
        draw_move(d, &command);
    } else {
        draw_stages(d, &command);
    }
    return command;
}

static inline Command draw_command(Drawing *d, const Command *all, uint32_t number) {
    bool is_like = number > 0 && draw_below(d, 2) == 0;
    Command command = is_like ? draw_like(d, &all[draw_below(d, number)]) : draw_new(d);
    uint32_t most = number < CMD_MAX_WAITS ? number : CMD_MAX_WAITS;
    command.wait_count = draw_below(d, 2) == 0 ? 0 : draw_below(d, most + 1);
    uint32_t *waits = command.wait_count == 0 ? NULL : arena_array(d->arena, uint32_t, command.wait_count);
    for (uint32_t k = 0; k < command.wait_count; k++) {
        waits[k] = draw_below(d, number);
    }
    command.waits = waits;
    return command;
}

static inline const CmdProgram *random_program(Arena *arena, uint64_t seed) {
    CmdProgram *program = arena_new(arena, CmdProgram);
    Drawing d = {seed * 2 + 1, arena, program};
    random_next(&d.seed);
    *program = (CmdProgram){.device = draw_name(&d),
                            .model = draw_name(&d),
                            .queue_count = 1 + draw_below(&d, CMD_MAX_QUEUES),
                            .node_count = 1 + draw_below(&d, 3),
                            .view_count = 1 + draw_below(&d, 4),
                            .booked_cycles = draw_size(&d, 63)};
    Str *nodes = arena_array(arena, Str, program->node_count);
    CmdView *views = arena_array(arena, CmdView, program->view_count);
    uint32_t buffer_count = DRAWN_DTYPES + draw_below(&d, 3), command_count = draw_below(&d, 12);
    CmdBuffer *buffers = arena_array(arena, CmdBuffer, buffer_count);
    Command *commands = arena_array(arena, Command, command_count);
    for (uint32_t k = 0; k < program->node_count; k++) {
        nodes[k] = draw_name(&d);
    }
    for (uint32_t k = 0; k < program->view_count; k++) {
        views[k] = draw_view(&d);
    }
    for (uint32_t k = 0; k < buffer_count; k++) {
        buffers[k] = draw_buffer(&d, k);
    }
    program->nodes = nodes;
    program->views = views;
    program->buffers = buffers;
    program->commands = commands;
    program->buffer_count = buffer_count;
    for (uint32_t k = 0; k < command_count; k++) {
        commands[k] = draw_command(&d, commands, k);
    }
    program->command_count = command_count;
    return program;
}

#endif
