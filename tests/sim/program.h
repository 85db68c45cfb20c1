/* Programs made by hand or by a generator, for tests of the simulated device: tables that grow, and a device whose
 * costs are told. */
#ifndef S0_TESTS_SIM_PROGRAM_H
#define S0_TESTS_SIM_PROGRAM_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "sim/sim.h"

#include <string.h>

enum { MADE_VIEWS = 64, MADE_BUFFERS = 32, MADE_COMMANDS = 32, LOCAL = 0, FAR = 1, N = 0, C = 1, H = 2, W = 3 };

typedef struct {
    CmdProgram program;
    CmdView views[MADE_VIEWS];
    CmdBuffer buffers[MADE_BUFFERS];
    Command commands[MADE_COMMANDS];
    uint32_t waits[MADE_COMMANDS][CMD_MAX_WAITS];
    CmdStage stages[MADE_COMMANDS][4];
    Str nodes[1];
    Device device;
} Made;

static inline DeviceCost made_cost(uint64_t value) {
    return (DeviceCost){.value = value};
}

static inline void made_init(Made *made) {
    memset(made, 0, sizeof *made);
    made->nodes[0] = str_from("node");
    made->program = (CmdProgram){.queue_count = 3,
                                 .node_count = 1,
                                 .nodes = made->nodes,
                                 .views = made->views,
                                 .buffers = made->buffers,
                                 .commands = made->commands};
    made->device = (Device){.kind = DEVICE_SCRATCHPAD, .memory_count = 2, .local = LOCAL, .backing = FAR};
    made->device.memory[LOCAL] = (DeviceMemory){.bytes = 4096, .align_bytes = 1, .lanes = 4, .banks = 1};
    made->device.memory[FAR] = (DeviceMemory){.bytes = UINT64_MAX, .align_bytes = 1, .lanes = 1, .banks = 1};
    made->device.dma_channels = made_cost(2);
    made->device.dtypes = UINT64_MAX;
}

static inline uint32_t made_view(Made *made, CmdView view) {
    assert_true(made->program.view_count < MADE_VIEWS);
    made->views[made->program.view_count] = view;
    return made->program.view_count++;
}

/* Along one axis, `stride_bits` from element to element. */
static inline uint32_t made_line(Made *made, uint8_t axis, uint64_t stride_bits) {
    return made_view(made, (CmdView){1, {{axis, 1, 0, stride_bits, 0}}});
}

/* Holds data of its own number; the host does not see it. */
static inline uint32_t made_buffer(Made *made, uint32_t memory, DType dtype, uint64_t offset, uint64_t bytes) {
    uint32_t number = made->program.buffer_count++;
    assert_true(number < MADE_BUFFERS);
    made->buffers[number] = (CmdBuffer){.kind = CMD_BUFFER_ACTIVATION,
                                        .name = str_from("tensor"),
                                        .node = str_from("node"),
                                        .dtype = dtype,
                                        .memory = memory,
                                        .offset_bytes = offset,
                                        .bytes = bytes,
                                        .lanes = 1,
                                        .data = number,
                                        .view = CMD_NONE};
    return number;
}

/* The host sees a vector of `count` elements along axis W, in view `view`. */
static inline void made_host(Made *made, uint32_t buffer, uint32_t view, uint64_t count) {
    made->buffers[buffer].view = view;
    made->buffers[buffer].order = (CmdOrder){1, {count}, {W}};
}

static inline Command *made_command(Made *made, CmdOp op, CmdColumn column, uint8_t queue) {
    uint32_t number = made->program.command_count++;
    assert_true(number < MADE_COMMANDS);
    Command *command = &made->commands[number];
    *command = (Command){.op = op, .column = column, .queue = queue, .box = {{1, 1, 1, 1, 1, 1}}};
    command->src.buffer = command->dst.buffer = command->scratch.buffer = command->table.buffer = CMD_NONE;
    command->weights.buffer = command->bias.buffer = CMD_NONE;
    command->waits = made->waits[number];
    command->stages = made->stages[number];
    return command;
}

/* `count` elements along W. */
static inline Command *made_move(Made *made, CmdOp op, CmdOperand src, CmdOperand dst, uint64_t count) {
    CmdColumn column = op == CMD_LOAD    ? CMD_COLUMN_LOAD_INPUT
                       : op == CMD_STORE ? CMD_COLUMN_STORE
                       : op == CMD_COPY  ? CMD_COLUMN_COPY
                                         : CMD_COLUMN_FILL;
    Command *command = made_command(made, op, column, op == CMD_LOAD ? 1 : op == CMD_STORE ? 2 : 0);
    command->src = src;
    command->dst = dst;
    command->box.extent[W] = count;
    return command;
}

static inline void made_wait(Made *made, Command *command, uint32_t other) {
    (void)made;
    uint32_t *waits = made->waits[command - made->commands];
    waits[command->wait_count++] = other;
}

static inline CmdStage *made_stage(Made *made, Command *command, Stage stage) {
    CmdStage *to = &made->stages[command - made->commands][command->stage_count++];
    *to = (CmdStage){.stage = stage};
    return to;
}

static inline void made_param(CmdStage *stage, CmdParamKind kind, CmdOperand from) {
    stage->param[stage->param_count++] = (CmdParam){.kind = kind, .from = from};
}

/* int8 to int8, times a code: code * value * 0.5 * 0.5 / 0.25, so the product of both codes. */
static inline Stage stage_of_product(int32_t value) {
    Stage stage = {.kind = STAGE_CODE_MUL, .from = DTYPE_I8, .to = DTYPE_I8};
    stage.integer.in.scale = 0.5f;
    stage.integer.constant.scale = 0.5f;
    stage.integer.out.scale = 0.25f;
    stage.integer.value = value;
    stage.integer.lo = -128;
    stage.integer.hi = 127;
    return stage;
}

#endif
