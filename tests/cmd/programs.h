/* Programs for tests: a small one with each operation, random ones that cmd_check accepts, a long one of regular tiles,
 * and whether two are the same. Random ones mean nothing: their addresses run where they like. */
#ifndef TESTS_CMD_PROGRAMS_H
#define TESTS_CMD_PROGRAMS_H

#include "cmd/command.h"

#include "support/random.h"

#include <string.h>

/* ---- A small program whose every number can be changed */

enum { SMALL_VIEWS = 3, SMALL_BUFFERS = 6, SMALL_COMMANDS = 9, SMALL_AFFINE = 2 };

typedef struct {
    CmdProgram program;
    Str node[1];
    CmdView view[SMALL_VIEWS];
    CmdBuffer buffer[SMALL_BUFFERS];
    Command command[SMALL_COMMANDS];
    uint32_t affine_wait[2], store_wait[1];
    CmdStage affine[3], mul[1], add[1], requant[1];
    uint8_t constant[16];
} SmallProgram;

static inline void small_buffers(SmallProgram *s) {
    const CmdOrder map = {3, {1, 4, 3}, {0, 1, 3}}, channels = {1, {4}, {1}};
    s->view[0] = (CmdView){2, {{.axis = 3, .div = 1, .stride_bits = 32}, {.axis = 1, .div = 1, .stride_bits = 8}}};
    s->view[1] = (CmdView){1, {{.axis = 1, .div = 1, .stride_bits = 32}}};
    s->view[2] = (CmdView){2,
                           {{.axis = 1, .div = 3, .stride_bits = 96},
                            {.axis = 1, .div = 1, .mod = 3, .stride_bits = 32, .stride_lanes = 1}}};
    s->buffer[0] = (CmdBuffer){CMD_BUFFER_INPUT, STR("x"), {0}, DTYPE_I8, 0, 0, 12, 1, 0, 12, 0, 0, map, NULL, 0};
    s->buffer[1] =
        (CmdBuffer){CMD_BUFFER_ACTIVATION, STR("x"), {0}, DTYPE_I8, 1, 0, 12, 1, 0, 12, CMD_NONE, 0, {0}, NULL, 0};
    s->buffer[2] = (CmdBuffer){
        CMD_BUFFER_WORKSPACE, STR("w"), STR("Mul"), DTYPE_F32, 1, 16, 16, 3, 2, 16, CMD_NONE, 0, {0}, NULL, 0};
    s->buffer[3] = (CmdBuffer){CMD_BUFFER_PARAMETER, STR("s"), {0}, DTYPE_F32, 0, 16, 16, 1, 3, 16, 1, 0, channels,
                               s->constant,          16};
    s->buffer[4] =
        (CmdBuffer){CMD_BUFFER_OUTPUT, STR("y"), STR("Mul"), DTYPE_I8, 0, 32, 12, 1, 4, 12, 0, 0, map, NULL, 0};
    s->buffer[5] =
        (CmdBuffer){CMD_BUFFER_PARAMETER, STR("s"), {0}, DTYPE_F32, 1, 32, 16, 1, 3, 16, CMD_NONE, 0, {0}, NULL, 0};
}

static inline void small_stages(SmallProgram *s) {
    s->affine[0].stage = (Stage){.kind = STAGE_DEQUANTIZE, .from = DTYPE_I8, .to = DTYPE_F32, .code = {0.5f, 3}};
    s->affine[1] = (CmdStage){
        {.kind = STAGE_MUL, .from = DTYPE_F32, .to = DTYPE_F32}, 1, {{.kind = CMD_PARAM_NUMBER, .from = {5, 1, 0}}}};
    s->affine[2].stage = (Stage){.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = DTYPE_I8, .code = {0.25f, -1}};
    Stage code = {.from = DTYPE_I8, .to = DTYPE_I8};
    code.integer.in = code.integer.constant = code.integer.out = (StageCode){0.5f, 1};
    code.integer.value = 7;
    code.integer.lo = -128;
    code.integer.hi = 127;
    s->mul[0].stage = s->add[0].stage = s->requant[0].stage = code;
    s->mul[0].stage.kind = STAGE_CODE_MUL;
    s->add[0].stage.kind = STAGE_CODE_ADD;
    s->requant[0].stage.kind = STAGE_CODE_REQUANTIZE;
}

static inline Command small_command(CmdOp op, CmdColumn column, CmdOperand src, CmdOperand dst) {
    return (Command){.op = op,
                     .column = column,
                     .queue = op == CMD_LOAD || op == CMD_STORE,
                     .box = {{1, 4, 1, 3, 1, 1}},
                     .src = src,
                     .dst = dst,
                     .scratch = {CMD_NONE, CMD_NONE, 0}};
}

static inline void small_commands(SmallProgram *s) {
    const CmdOperand far = {0, 0, 0}, near = {1, 0, 0}, constant = {3, 1, 0}, loaded = {5, 1, 0}, out = {4, 0, 0};
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    s->command[0] = small_command(CMD_LOAD, CMD_COLUMN_LOAD_INPUT, far, near);
    s->command[1] = small_command(CMD_LOAD, CMD_COLUMN_LOAD_PARAM, constant, loaded);
    s->command[2] = small_command(CMD_AFFINE, CMD_COLUMN_MULTIPLY, near, near);
    s->command[2].carry = CMD_CARRY_WORKSPACE;
    s->command[2].scratch = (CmdOperand){2, 2, 0};
    s->command[3] = small_command(CMD_COPY, CMD_COLUMN_COPY, near, near);
    s->command[4] = small_command(CMD_FILL, CMD_COLUMN_FILL, none, near);
    s->command[4].code = 0x80;
    s->command[5] = small_command(CMD_MUL, CMD_COLUMN_MULTIPLY, near, near);
    s->command[6] = small_command(CMD_ADD, CMD_COLUMN_ADD, near, near);
    s->command[7] = small_command(CMD_REQUANT, CMD_COLUMN_REQUANTIZE, near, near);
    s->command[8] = small_command(CMD_STORE, CMD_COLUMN_STORE, near, out);
}

static inline void small_tie(SmallProgram *s) {
    const struct {
        uint32_t command, count;
        const CmdStage *stages;
    } stages[] = {{2, 3, s->affine}, {5, 1, s->mul}, {6, 1, s->add}, {7, 1, s->requant}};
    for (size_t k = 0; k < 4; k++) {
        s->command[stages[k].command].stage_count = stages[k].count;
        s->command[stages[k].command].stages = stages[k].stages;
    }
    s->affine_wait[1] = 1;
    s->command[2].waits = s->affine_wait;
    s->command[2].wait_count = 2;
    s->store_wait[0] = 7;
    s->command[8].waits = s->store_wait;
    s->command[8].wait_count = 1;
    s->node[0] = STR("Mul");
    s->program = (CmdProgram){.device = STR("teach"),
                              .model = STR("small"),
                              .queue_count = 2,
                              .node_count = 1,
                              .view_count = SMALL_VIEWS,
                              .buffer_count = SMALL_BUFFERS,
                              .command_count = SMALL_COMMANDS,
                              .nodes = s->node,
                              .views = s->view,
                              .buffers = s->buffer,
                              .commands = s->command,
                              .booked_cycles = 1234};
}

/* It must not move afterwards. */
static inline void small_program(SmallProgram *s) {
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < sizeof s->constant; k++) {
        s->constant[k] = (uint8_t)(k * 17);
    }
    small_buffers(s);
    small_stages(s);
    small_commands(s);
    small_tie(s);
}

/* ---- Random programs */

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
        command.box.extent[draw_below(d, CMD_AXES)] = draw_below(d, 9);
        break;
    case 3:
        command.semantics = before->stage_count > 0 ? (Semantics)draw_below(d, S0_SEM_COUNT) : before->semantics;
        break;
    default:
        if (before->stage_count > 0) {
            change_stage(d, &command);
        }
    }
    return command;
}

static inline Command draw_new(Drawing *d) {
    Command command = {.node = draw_below(d, d->program->node_count),
                       .src = {CMD_NONE, CMD_NONE, 0},
                       .scratch = {CMD_NONE, CMD_NONE, 0}};
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        command.box.extent[axis] = draw_below(d, 30) == 0 ? 0 : 1 + (draw_below(d, 2) == 0 ? 0 : draw_size(d, 8));
    }
    if (draw_below(d, 2) == 0) {
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

/* ---- A long regular program: tiles of rows through two places of local memory */

enum { TILE_COMMANDS = 5, TILE_BITS = 8 * 16 * 28 * 4 };

static inline void tile_commands(SmallProgram *s, Command *command, uint32_t *wait, uint32_t tile) {
    static const uint32_t from[TILE_COMMANDS] = {0, 2, 5, 7, 8};
    uint32_t first = tile * TILE_COMMANDS;
    uint64_t here = tile % 2 * TILE_BITS, far = (uint64_t)tile * TILE_BITS;
    for (uint32_t k = 0; k < TILE_COMMANDS; k++) {
        command[k] = s->command[from[k]];
        command[k].box = (CmdBox){{1, 16, 4, 28, 1, 1}};
        command[k].src.offset_bits = k == 0 ? far : here;
        command[k].dst.offset_bits = k == TILE_COMMANDS - 1 ? far : here;
        command[k].waits = &wait[k];
        command[k].wait_count = k == 1 || k == TILE_COMMANDS - 1 || (k == 0 && tile > 1);
    }
    wait[0] = first - TILE_COMMANDS - 1; /* the store of the tile before the last */
    wait[1] = first;
    wait[TILE_COMMANDS - 1] = first + TILE_COMMANDS - 2;
}

/* `s` holds its tables, and must live as long. */
static inline const CmdProgram *tile_program(Arena *arena, SmallProgram *s, uint32_t tiles) {
    Command *commands = arena_array(arena, Command, (size_t)tiles * TILE_COMMANDS);
    uint32_t *waits = arena_array(arena, uint32_t, (size_t)tiles * TILE_COMMANDS);
    small_program(s);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        tile_commands(s, &commands[tile * TILE_COMMANDS], &waits[tile * TILE_COMMANDS], tile);
    }
    s->program.commands = commands;
    s->program.command_count = tiles * TILE_COMMANDS;
    return &s->program;
}

/* ---- Are two programs the same, bit for bit? */

static inline bool same_operand(CmdOperand a, CmdOperand b) {
    return a.buffer == b.buffer && a.view == b.view && a.offset_bits == b.offset_bits;
}

static inline bool same_view(const CmdView *a, const CmdView *b) {
    bool same = a->level_count == b->level_count;
    for (uint32_t k = 0; same && k < a->level_count; k++) {
        const CmdLevel *x = &a->level[k], *y = &b->level[k];
        same = x->axis == y->axis && x->div == y->div && x->mod == y->mod && x->stride_bits == y->stride_bits &&
               x->stride_lanes == y->stride_lanes;
    }
    return same;
}

static inline bool same_order(const CmdOrder *a, const CmdOrder *b) {
    bool same = a->rank == b->rank;
    for (uint32_t k = 0; same && k < a->rank; k++) {
        same = a->extent[k] == b->extent[k] && a->axis[k] == b->axis[k];
    }
    return same;
}

static inline bool same_buffer(const CmdBuffer *a, const CmdBuffer *b) {
    bool same_bytes = a->constant_bytes == b->constant_bytes && (a->constant == NULL) == (b->constant == NULL) &&
                      (a->constant_bytes == 0 || memcmp(a->constant, b->constant, (size_t)a->constant_bytes) == 0);
    return same_bytes && a->kind == b->kind && str_eq(a->name, b->name) && str_eq(a->node, b->node) &&
           a->dtype == b->dtype && a->memory == b->memory && a->offset_bytes == b->offset_bytes &&
           a->bytes == b->bytes && a->lanes == b->lanes && a->data == b->data &&
           a->estimated_bytes == b->estimated_bytes && a->view == b->view &&
           a->view_offset_bits == b->view_offset_bits && same_order(&a->order, &b->order);
}

/* All numbers are made from zeroed stages, which have no padding. */
static inline bool same_stage(const CmdStage *a, const CmdStage *b) {
    _Static_assert(sizeof(Stage) == 3 * sizeof(int) + 11 * sizeof(int32_t), "a stage has padding");
    bool same = memcmp(&a->stage, &b->stage, sizeof a->stage) == 0 && a->param_count == b->param_count;
    for (uint32_t k = 0; same && k < a->param_count; k++) {
        same = a->param[k].kind == b->param[k].kind && same_operand(a->param[k].from, b->param[k].from) &&
               a->param[k].is_coded == b->param[k].is_coded &&
               memcmp(&a->param[k].code, &b->param[k].code, sizeof a->param[k].code) == 0;
    }
    return same;
}

static inline bool same_command(const Command *a, const Command *b) {
    bool same = a->op == b->op && a->column == b->column && a->queue == b->queue && a->node == b->node &&
                memcmp(&a->box, &b->box, sizeof a->box) == 0 && same_operand(a->src, b->src) &&
                same_operand(a->dst, b->dst) && a->wait_count == b->wait_count && a->code == b->code &&
                a->semantics == b->semantics && a->carry == b->carry && same_operand(a->scratch, b->scratch) &&
                a->stage_count == b->stage_count;
    for (uint32_t k = 0; same && k < a->wait_count; k++) {
        same = a->waits[k] == b->waits[k];
    }
    for (uint32_t k = 0; same && k < a->stage_count; k++) {
        same = same_stage(&a->stages[k], &b->stages[k]);
    }
    return same;
}

static inline bool same_program(const CmdProgram *a, const CmdProgram *b) {
    bool same = str_eq(a->device, b->device) && str_eq(a->model, b->model) && a->queue_count == b->queue_count &&
                a->node_count == b->node_count && a->view_count == b->view_count &&
                a->buffer_count == b->buffer_count && a->command_count == b->command_count &&
                a->booked_cycles == b->booked_cycles;
    for (uint32_t k = 0; same && k < a->node_count; k++) {
        same = str_eq(a->nodes[k], b->nodes[k]);
    }
    for (uint32_t k = 0; same && k < a->view_count; k++) {
        same = same_view(&a->views[k], &b->views[k]);
    }
    for (uint32_t k = 0; same && k < a->buffer_count; k++) {
        same = same_buffer(&a->buffers[k], &b->buffers[k]);
    }
    for (uint32_t k = 0; same && k < a->command_count; k++) {
        same = same_command(&a->commands[k], &b->commands[k]);
    }
    return same;
}

#endif
