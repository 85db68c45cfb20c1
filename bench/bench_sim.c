/* How fast the simulated device runs: bytes that commands read and write, per second of sim_run; a row a command, its
 * map and its layout. Best of several runs. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 5,
    COMMANDS = 64,
    N = 0,
    C = 1,
    H = 2,
    W = 3,
    LOCAL = 0,
    FAR = 1,
    MAP = 0,
    OTHER = 1,
    PARAM = 2,
    TEMP = 3
};

typedef enum { PIXELS, PLANES, BLOCKS } Layout; /* H W C; C H W; H C/16 W C%16 */

typedef enum { MOVE, MULTIPLY, CHAIN, REAL_CHAIN } Work_;

typedef struct {
    const char *name;
    Work_ work;
    DType dtype;
    Layout layout;
    uint64_t c, h, w;
} Row;

static const Row rows[] = {
    {"LOAD, STORE  int8    whole map 64x28x28", MOVE, DTYPE_I8, PIXELS, 64, 28, 28},
    {"LOAD, STORE  int8    H W C to blocks of 16, and back", MOVE, DTYPE_I8, BLOCKS, 64, 28, 28},
    {"LOAD, STORE  float32 whole map 64x28x28", MOVE, DTYPE_F32, PIXELS, 64, 28, 28},
    {"MUL          int8    64x28x28 H W C", MULTIPLY, DTYPE_I8, PIXELS, 64, 28, 28},
    {"MUL          int8    64x28x28 C H W", MULTIPLY, DTYPE_I8, PLANES, 64, 28, 28},
    {"MUL          int8    64x28x28 blocks of 16", MULTIPLY, DTYPE_I8, BLOCKS, 64, 28, 28},
    {"MUL          int8    16x16x16 H W C", MULTIPLY, DTYPE_I8, PIXELS, 16, 16, 16},
    {"MUL          int8    16x16x16 C H W", MULTIPLY, DTYPE_I8, PLANES, 16, 16, 16},
    {"MUL          float32 64x28x28 H W C", MULTIPLY, DTYPE_F32, PIXELS, 64, 28, 28},
    {"MUL          float32 64x28x28 C H W", MULTIPLY, DTYPE_F32, PLANES, 64, 28, 28},
    {"AFFINE       int8    MUL ADD, 64x28x28 H W C", CHAIN, DTYPE_I8, PIXELS, 64, 28, 28},
    {"AFFINE       int8    MUL ADD, 64x28x28 C H W", CHAIN, DTYPE_I8, PLANES, 64, 28, 28},
    {"AFFINE       float32 MUL ADD, 64x28x28 H W C", CHAIN, DTYPE_F32, PIXELS, 64, 28, 28},
    {"AFFINE       int8    as reals, 64x28x28 H W C", REAL_CHAIN, DTYPE_I8, PIXELS, 64, 28, 28},
    {"LOAD, STORE  int8    tiles of one row, 64x1x28", MOVE, DTYPE_I8, PIXELS, 64, 1, 28},
    {"MUL          int8    tiles of one row, 64x1x28 H W C", MULTIPLY, DTYPE_I8, PIXELS, 64, 1, 28},
    {"AFFINE       int8    tiles of one row, 64x1x28 C H W", CHAIN, DTYPE_I8, PLANES, 64, 1, 28},
};

typedef struct {
    CmdView view[3]; /* of the map, of its parameters, of a line; of the far map */
    CmdBuffer buffer[4];
    Command command[COMMANDS];
    CmdStage stage[4];
    uint32_t wait[COMMANDS];
    CmdProgram program;
    Device device;
    uint64_t map_bytes;
} Bench;

static CmdLevel level(uint8_t axis, uint64_t div, uint64_t mod, uint64_t stride_bits) {
    return (CmdLevel){axis, div, mod, stride_bits, 0};
}

static CmdView view_of(const Row *row, uint64_t h) {
    uint64_t bits = dtype_bits(row->dtype), c = row->c, w = row->w;
    switch (row->layout) {
    case PIXELS:
        return (CmdView){3, {level(H, 1, 0, w * c * bits), level(W, 1, 0, c * bits), level(C, 1, 0, bits)}};
    case PLANES:
        return (CmdView){3, {level(C, 1, 0, h * w * bits), level(H, 1, 0, w * bits), level(W, 1, 0, bits)}};
    default:
        return (CmdView){4,
                         {level(H, 1, 0, c * w * bits), level(C, 16, 0, w * 16 * bits), level(W, 1, 0, 16 * bits),
                          level(C, 1, 16, bits)}};
    }
}

static void add_buffer(Bench *bench, uint32_t number, uint32_t memory, DType dtype, uint64_t bytes) {
    uint64_t offset = 0;
    for (uint32_t k = 0; k < number; k++) {
        offset += bench->buffer[k].memory == memory ? bench->buffer[k].bytes : 0;
    }
    bench->buffer[number] = (CmdBuffer){.kind = CMD_BUFFER_ACTIVATION,
                                        .dtype = dtype,
                                        .memory = memory,
                                        .offset_bytes = offset,
                                        .bytes = bytes,
                                        .lanes = 1,
                                        .data = number == OTHER && memory == FAR ? MAP : number,
                                        .view = CMD_NONE};
}

static Stage code_stage(StageKind kind) {
    Stage stage = {.kind = kind, .from = DTYPE_I8, .to = DTYPE_I8};
    stage.integer.in.scale = stage.integer.out.scale = 0.05f;
    stage.integer.constant.scale = 0.01f;
    stage.integer.lo = -128;
    stage.integer.hi = 127;
    return stage;
}

static void add_stage(Command *command, CmdStage *stages, Stage stage, bool has_param) {
    CmdStage *to = &stages[command->stage_count++];
    CmdParamKind kind =
        stage.kind == STAGE_CODE_MUL || stage.kind == STAGE_CODE_ADD ? CMD_PARAM_VALUE : CMD_PARAM_NUMBER;
    *to = (CmdStage){.stage = stage};
    if (has_param) {
        to->param_count = 1;
        to->param[0] = (CmdParam){.kind = kind, .from = {PARAM, 1, 0}};
    }
}

static void add_stages(Bench *bench, const Row *row, Command *command) {
    bool is_code = row->dtype == DTYPE_I8 && row->work != REAL_CHAIN;
    if (row->work == REAL_CHAIN) {
        add_stage(command, bench->stage,
                  (Stage){.kind = STAGE_DEQUANTIZE, .from = DTYPE_I8, .to = DTYPE_F32, .code = {0.05f, 0}}, false);
    }
    Stage first = is_code ? code_stage(STAGE_CODE_MUL) : (Stage){.kind = STAGE_MUL, .from = DTYPE_F32, .to = DTYPE_F32};
    Stage second =
        is_code ? code_stage(STAGE_CODE_ADD) : (Stage){.kind = STAGE_ADD, .from = DTYPE_F32, .to = DTYPE_F32};
    add_stage(command, bench->stage, first, true);
    if (row->work != MULTIPLY) {
        add_stage(command, bench->stage, second, true);
    }
    if (row->work == REAL_CHAIN) {
        add_stage(command, bench->stage,
                  (Stage){.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = DTYPE_I8, .code = {0.05f, 0}}, false);
    }
    command->stages = bench->stage;
    command->carry = command->stage_count > 1 ? CMD_CARRY_WORKSPACE : CMD_CARRY_NONE;
    command->scratch = (CmdOperand){command->stage_count > 1 ? TEMP : CMD_NONE, 2, 0};
}

/* To and fro between two maps, each command after the one before. */
static void add_command(Bench *bench, const Row *row, uint32_t number) {
    Command *command = &bench->command[number];
    uint32_t from = row->work == MOVE && number % 2 == 1 ? OTHER : MAP;
    *command = (Command){.op = CMD_AFFINE, .column = CMD_COLUMN_MULTIPLY, .box = {{1, row->c, row->h, row->w, 1, 1}}};
    command->src = (CmdOperand){from, from == MAP && row->work == MOVE ? 2 : 0, 0};
    command->dst = (CmdOperand){from == MAP ? OTHER : MAP, from == OTHER ? 2 : 0, 0};
    command->scratch.buffer = CMD_NONE;
    if (row->work == MOVE) {
        command->op = from == MAP ? CMD_LOAD : CMD_STORE;
        command->column = from == MAP ? CMD_COLUMN_LOAD_INPUT : CMD_COLUMN_STORE;
        command->queue = 1;
    } else {
        add_stages(bench, row, command);
    }
}

static void make(Bench *bench, const Row *row, const uint8_t *params) {
    memset(bench, 0, sizeof *bench);
    uint64_t bits = dtype_bits(row->dtype);
    DType param = row->work == REAL_CHAIN ? DTYPE_F32 : row->dtype;
    bench->map_bytes = row->c * row->h * row->w * bits / 8;
    bench->view[0] = view_of(row, row->h);
    bench->view[1] = (CmdView){1, {level(C, 1, 0, dtype_bits(param))}};
    Row line = *row;
    line.dtype = param;
    bench->view[2] = view_of(&line, 1);
    bench->view[2].level[row->layout == PLANES].stride_bits = 0; /* lines take one another's place */
    if (row->work == MOVE) {
        line.layout = PIXELS;
        bench->view[2] = view_of(&line, row->h);
    }
    add_buffer(bench, MAP, row->work == MOVE ? FAR : LOCAL, row->dtype, bench->map_bytes);
    add_buffer(bench, OTHER, LOCAL, row->dtype, bench->map_bytes);
    add_buffer(bench, PARAM, LOCAL, param, row->c * dtype_bits(param) / 8);
    add_buffer(bench, TEMP, LOCAL, param, row->c * row->w * dtype_bits(param) / 8);
    bench->buffer[MAP].view = 0;
    bench->buffer[MAP].order = (CmdOrder){3, {row->h, row->w, row->c}, {H, W, C}};
    bench->buffer[PARAM].view = 1;
    bench->buffer[PARAM].order = (CmdOrder){1, {row->c}, {C}};
    bench->buffer[PARAM].kind = CMD_BUFFER_PARAMETER;
    bench->buffer[PARAM].constant = params;
    bench->buffer[PARAM].constant_bytes = bench->buffer[PARAM].bytes;
    bench->buffer[OTHER].data = row->work == MOVE ? MAP : OTHER;
    for (uint32_t k = 0; k < COMMANDS; k++) {
        bench->stage[0].param_count = 0;
        add_command(bench, row, k);
    }
    bench->program = (CmdProgram){.queue_count = 2,
                                  .node_count = 1,
                                  .view_count = 3,
                                  .buffer_count = 4,
                                  .command_count = COMMANDS,
                                  .nodes = &(Str){"node", 4},
                                  .views = bench->view,
                                  .buffers = bench->buffer,
                                  .commands = bench->command};
    bench->device =
        (Device){.kind = DEVICE_SCRATCHPAD, .memory_count = 2, .local = LOCAL, .backing = FAR, .dtypes = UINT64_MAX};
    bench->device.memory[LOCAL] = (DeviceMemory){.bytes = UINT64_MAX, .align_bytes = 1, .lanes = 1, .banks = 1};
    bench->device.memory[FAR] = bench->device.memory[LOCAL];
}

static double now_s(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* MB/s; 0 where the program has a fault. */
static double run(const Bench *bench, const uint8_t *map) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        work_free(&work);
        return 0;
    }
    Sim *sim = sim_new(&bench->program, &bench->device, &work);
    if (sim == NULL || !sim_write(sim, MAP, (Span){map, bench->map_bytes})) {
        diags_print(&work.diags, "bench_sim", stderr);
        work_free(&work);
        return 0;
    }
    double begin = now_s();
    const SimResult *result = sim_run(sim);
    double seconds = now_s() - begin;
    double bytes = 0;
    for (uint32_t k = 0; k < bench->program.buffer_count; k++) {
        bytes += (double)(result->buffer[k].read_bytes + result->buffer[k].written_bytes);
    }
    double rate = result->fault_count == 0 ? bytes / seconds / 1e6 : 0;
    if (result->fault_count > 0) {
        fprintf(stderr, "bench_sim: %s: %s\n", sim_fault_name(result->fault[0].kind), result->fault[0].text);
    }
    work_free(&work);
    return rate;
}

int main(void) {
    enum { MAP_BYTES = 1 << 20, PARAM_BYTES = 1 << 10 };
    static uint8_t map[MAP_BYTES];
    static float reals[PARAM_BYTES / sizeof(float)];
    static uint8_t codes[PARAM_BYTES];
    int status = EXIT_SUCCESS;
    for (uint32_t k = 0; k < MAP_BYTES; k++) {
        map[k] = (uint8_t)((k * 2654435761U) >> 16 & 0x3F); /* as float32 small and positive */
    }
    for (uint32_t k = 0; k < PARAM_BYTES; k++) {
        codes[k] = (uint8_t)(k * 7 % 100 + 1);
        reals[k / sizeof(float)] = 0.5f + (float)(k / sizeof(float)) / 256;
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        static Bench bench;
        bool is_code = rows[k].dtype == DTYPE_I8 && rows[k].work != REAL_CHAIN;
        double best = 0;
        make(&bench, &rows[k], is_code ? codes : (const uint8_t *)reals);
        for (int r = 0; r < RUNS; r++) {
            double rate = run(&bench, map);
            best = rate > best ? rate : best;
        }
        printf("%-56s %8.0f MB/s\n", rows[k].name, best);
        status = best > 0 ? status : EXIT_FAILURE;
    }
    return status;
}
