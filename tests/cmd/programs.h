/* Programs for tests: a small one with each operation, a long one of regular tiles, random ones (draw.h), and whether
 * two are the same. */
#ifndef TESTS_CMD_PROGRAMS_H
#define TESTS_CMD_PROGRAMS_H

#include "cmd/draw.h"

#include <string.h>

/* ---- A small program whose every number can be changed */

enum { SMALL_VIEWS = 4, SMALL_BUFFERS = 9, SMALL_COMMANDS = 16, SMALL_AFFINE = 2 };

typedef struct {
    CmdProgram program;
    Str node[1];
    CmdView view[SMALL_VIEWS];
    CmdBuffer buffer[SMALL_BUFFERS];
    Command command[SMALL_COMMANDS];
    uint32_t affine_wait[2], store_wait[1];
    CmdStage affine[3], mul[1], add[1], requant[1], conv[1], pool[1], sum[1];
    CmdWindow conv_window, pool_window, softmax_window, sum_window, pad_window;
    float scales[4];
    uint8_t constant[16];
} SmallProgram;

static inline void small_buffers(SmallProgram *s) {
    const CmdOrder map = {3, {1, 4, 3}, {0, 1, 3}}, channels = {1, {4}, {1}};
    s->view[0] = (CmdView){2, {{.axis = 3, .div = 1, .stride_bits = 32}, {.axis = 1, .div = 1, .stride_bits = 8}}};
    s->view[1] = (CmdView){1, {{.axis = 1, .div = 1, .stride_bits = 32}}};
    s->view[2] = (CmdView){2,
                           {{.axis = 1, .div = 3, .stride_bits = 96},
                            {.axis = 1, .div = 1, .mod = 3, .stride_bits = 32, .stride_lanes = 1}}};
    s->view[3] = (CmdView){3,
                           {{.axis = 4, .div = 1, .stride_bits = 48},
                            {.axis = 3, .div = 1, .stride_bits = 16},
                            {.axis = 5, .div = 1, .stride_bits = 8}}};
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
    s->buffer[6] =
        (CmdBuffer){CMD_BUFFER_PARAMETER, STR("k"), {0}, DTYPE_I8, 1, 48, 24, 1, 6, 24, CMD_NONE, 0, {0}, NULL, 0};
    s->buffer[7] =
        (CmdBuffer){CMD_BUFFER_PARAMETER, STR("b"), {0}, DTYPE_I32, 1, 72, 16, 1, 7, 16, CMD_NONE, 0, {0}, NULL, 0};
    s->buffer[8] =
        (CmdBuffer){CMD_BUFFER_PARAMETER, STR("t"), {0}, DTYPE_I8, 1, 88, 256, 1, 8, 256, CMD_NONE, 0, {0}, NULL, 0};
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
    code.integer.value = 0;
    code.integer.constant = (StageCode){0, 0};
    s->conv[0].stage = s->pool[0].stage = code;
    s->conv[0].stage.kind = STAGE_ACC_REQUANTIZE;
    s->conv[0].stage.from = DTYPE_I32;
    s->pool[0].stage.kind = STAGE_CODE_CLIP;
    s->sum[0] = s->conv[0];
    s->sum[0].stage.integer.constant.scale = 1;
    s->sum[0].stage.integer.value = 12;
}

/* Two groups of two channels, three taps along w with one of padding; a pool of three columns. */
static inline void small_windows(SmallProgram *s) {
    const CmdSlide one = {1, 1, 1, 0, 1}, three = {3, 1, 1, 1, 3}, pooled = {3, 2, 1, -1, 9};
    for (size_t k = 0; k < 4; k++) {
        s->scales[k] = (float)(k + 1) / 8;
    }
    s->conv_window = (CmdWindow){one, three, 2, 2, 0, 3, -1, 4, s->scales};
    s->pool_window = (CmdWindow){one, pooled, 1, 1, 0, 0, 0, 0, NULL};
    for (size_t k = 9; k <= 14; k++) {
        s->command[k].window = k == 9 ? &s->conv_window : &s->pool_window;
    }
    s->softmax_window = (CmdWindow){one, three, 4, 4, 0, 0, 0, 1, s->scales};
    s->softmax_window.w.taps = 1;
    s->softmax_window.w.before = 0;
    s->command[12].window = &s->softmax_window;
    s->sum_window = (CmdWindow){one, three, 4, 1, 0, 3, 0, 0, NULL};
    s->command[13].window = &s->sum_window;
    s->pad_window = (CmdWindow){one, {1, 1, 1, 1, 2}, 1, 1, 0, 0, 0, 0, NULL};
    s->command[14].window = &s->pad_window;
    s->command[9].weights = (CmdOperand){6, 3, 0};
    s->command[9].bias = (CmdOperand){7, 1, 0};
}

static inline Command small_command(CmdOp op, CmdColumn column, CmdOperand src, CmdOperand dst) {
    return (Command){.op = op,
                     .column = column,
                     .queue = op == CMD_LOAD || op == CMD_STORE,
                     .box = {{1, 4, 1, 3, 1, 1}},
                     .src = src,
                     .dst = dst,
                     .table = {CMD_NONE, CMD_NONE, 0},
                     .scratch = {CMD_NONE, CMD_NONE, 0},
                     .weights = {CMD_NONE, CMD_NONE, 0},
                     .bias = {CMD_NONE, CMD_NONE, 0}};
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
    s->command[9] = small_command(CMD_CONV, CMD_COLUMN_COMPUTE, near, near);
    s->command[10] = small_command(CMD_MAXPOOL, CMD_COLUMN_COMPUTE, near, near);
    s->command[11] = small_command(CMD_AVGPOOL, CMD_COLUMN_COMPUTE, near, near);
    s->command[12] = small_command(CMD_SOFTMAX, CMD_COLUMN_COMPUTE, near, near);
    s->command[13] = small_command(CMD_SUM, CMD_COLUMN_COMPUTE, near, near);
    s->command[14] = small_command(CMD_PAD, CMD_COLUMN_COMPUTE, near, near);
    s->command[14].code = 0x80;
    s->command[15] = small_command(CMD_LUT, CMD_COLUMN_COMPUTE, near, near);
    s->command[15].table = (CmdOperand){8, 0, 0};
}

static inline void small_tie(SmallProgram *s) {
    const struct {
        uint32_t command, count;
        const CmdStage *stages;
    } stages[] = {{2, 3, s->affine}, {5, 1, s->mul},   {6, 1, s->add},   {7, 1, s->requant}, {9, 1, s->conv},
                  {10, 1, s->pool},  {11, 1, s->pool}, {12, 1, s->pool}, {13, 1, s->sum}};
    for (size_t k = 0; k < sizeof stages / sizeof stages[0]; k++) {
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
    small_windows(s);
    small_tie(s);
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

static inline bool same_slide(const CmdSlide *a, const CmdSlide *b) {
    return a->taps == b->taps && a->stride == b->stride && a->dilation == b->dilation && a->before == b->before &&
           a->extent == b->extent;
}

static inline bool same_window(const CmdWindow *a, const CmdWindow *b) {
    return same_slide(&a->h, &b->h) && same_slide(&a->w, &b->w) && a->group_src == b->group_src &&
           a->group_dst == b->group_dst && a->group_first == b->group_first && a->src_zero == b->src_zero &&
           a->weights_zero == b->weights_zero && a->scale_count == b->scale_count &&
           (a->scale_count == 0 || memcmp(a->scales, b->scales, a->scale_count * sizeof *a->scales) == 0);
}

static inline bool same_command(const Command *a, const Command *b) {
    bool same = a->op == b->op && a->column == b->column && a->queue == b->queue && a->node == b->node &&
                memcmp(&a->box, &b->box, sizeof a->box) == 0 && same_operand(a->src, b->src) &&
                same_operand(a->dst, b->dst) && a->wait_count == b->wait_count && a->code == b->code &&
                a->semantics == b->semantics && a->carry == b->carry && same_operand(a->scratch, b->scratch) &&
                same_operand(a->table, b->table) && a->stage_count == b->stage_count &&
                same_operand(a->weights, b->weights) && same_operand(a->bias, b->bias) &&
                (a->window == NULL) == (b->window == NULL) && (a->window == NULL || same_window(a->window, b->window));
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
