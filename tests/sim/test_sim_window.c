/* Proves that CONV, SUM, MAXPOOL, AVGPOOL and PAD compute what their definition says, in any layout, with windows that
 * stride, dilate and begin in padding, with groups cut anywhere: against a second computation of one element at a time,
 * by integers of 64 bits and the formulas of docs/semantics.md. That each reads the elements that its windows cover and
 * no others, what it costs, and which faults it has. */
#include "sim/expect.h"
#include "support/random.h"

#include <math.h>

enum { MOST_BYTES = 1 << 14, SRC = 0, DST, WEIGHTS, BIAS, O = 4, I = 5 };

typedef struct {
    CmdOp op;
    uint64_t n, c;
    CmdSlide slide[2]; /* h, w */
    uint64_t outputs[2];
    uint64_t channels, group_src, group_dst, group_first;
    DType src, weights, dst;
    int32_t src_zero, weights_zero, out_zero, lo, hi;
    float in, out, scales[16];
    bool has_bias, is_per_channel;
    int32_t mean_of; /* SUM: 0, or how many it makes the mean of */
    uint8_t code;    /* PAD */
    Semantics semantics;
} Case;

static uint64_t seed;
static CmdWindow window;
static uint8_t bytes[4][MOST_BYTES]; /* packed, as the host writes them */

static uint64_t below(uint64_t count) {
    return random_below(&seed, count);
}

/* ---- Cases */

static CmdSlide draw_slide(uint64_t outputs) {
    CmdSlide slide = {1 + below(4), 1 + below(3), 1 + below(2), 0, 1 + below(7)};
    slide.before = (int64_t)below(4) - (int64_t)below(2);
    uint64_t end = (outputs - 1) * slide.stride + (slide.taps - 1) * slide.dilation + 1;
    slide.extent = below(2) == 0 ? end + below(2) : slide.extent; /* else windows leave src behind its end */
    return slide;
}

static DType draw_code(void) {
    return below(2) == 0 ? DTYPE_I8 : DTYPE_U8;
}

static int32_t least_of(DType dtype) {
    return dtype == DTYPE_I8 ? -128 : 0;
}

static void draw_groups(Case *c) {
    c->group_src = 1 + below(3);
    c->group_dst = below(3) == 0 ? 16 : 1 + below(3);
    c->group_first = below(c->group_dst);
    c->channels = ((c->group_first + c->c - 1) / c->group_dst + 1) * c->group_src;
}

/* Those whose sums are requantised. */
static bool sums(const Case *c) {
    return c->op == CMD_CONV || c->op == CMD_SUM;
}

static Case draw_case(void) {
    static const CmdOp ops[] = {CMD_CONV, CMD_SUM, CMD_MAXPOOL, CMD_AVGPOOL, CMD_PAD};
    Case c = {.op = ops[below(5)], .n = 1 + below(2), .c = 1 + below(6)};
    for (int k = 0; k < 2; k++) {
        c.outputs[k] = 1 + below(4);
        c.slide[k] = draw_slide(c.outputs[k]);
    }
    c.group_src = c.group_dst = 1;
    c.channels = c.c;
    c.src = draw_code();
    for (int k = 0; c.op == CMD_PAD && k < 2; k++) {
        c.slide[k] = (CmdSlide){1, 1, 1, c.slide[k].before, c.slide[k].extent};
    }
    c.code = (uint8_t)below(256);
    c.mean_of = c.op == CMD_SUM && below(3) > 0 ? (int32_t)below(300) : 0;
    c.dst = sums(&c) ? draw_code() : c.src;
    c.weights = draw_code();
    c.lo = least_of(c.dst) + (int32_t)below(20);
    c.hi = c.lo + 100 + (int32_t)below(100);
    if (sums(&c)) {
        draw_groups(&c);
        c.src_zero = least_of(c.src) + (int32_t)below(256);
        c.weights_zero = least_of(c.weights) + (int32_t)below(256);
        c.out_zero = c.lo + (int32_t)below(50);
        c.has_bias = below(2) == 0;
        c.is_per_channel = below(2) == 0;
        c.semantics = (Semantics)below(S0_SEM_COUNT);
    }
    c.in = (float)(1 + below(100)) / 977;
    c.out = (float)(1 + below(100)) / 7;
    for (int k = 0; k < 16; k++) {
        c.scales[k] = (float)(1 + below(1000)) / 9973;
        c.scales[k] = below(8) == 0 ? 0x1p-100f : c.scales[k]; /* of a dead channel */
    }
    return c;
}

/* ---- Layouts */

/* Axes in any order, each with room behind it; channels may be in blocks of two. */
static uint32_t draw_view(const uint64_t extent[CMD_AXES], uint32_t bits, uint64_t *room) {
    CmdView view = {.level_count = 0};
    uint32_t left = 0x3F;
    uint64_t stride = bits;
    while (left != 0) {
        uint8_t axis = (uint8_t)below(CMD_AXES);
        if ((left >> axis & 1) == 0) {
            continue;
        }
        bool is_blocked = axis == C && below(3) == 0;
        left &= ~(1u << axis);
        if (is_blocked) {
            view.level[view.level_count++] = (CmdLevel){axis, 1, 2, stride, 0};
            stride *= 2;
        }
        uint64_t digits = is_blocked ? (extent[axis] + 1) / 2 : extent[axis];
        view.level[view.level_count++] = (CmdLevel){axis, is_blocked ? 2 : 1, 0, stride, 0};
        stride = stride * digits + bits * below(3);
    }
    *room = stride / 8;
    return made_view(&made, view);
}

/* The host orders its axes n c h w o i. */
static void add_tensor(DType dtype, const uint64_t extent[CMD_AXES]) {
    static uint64_t end;
    uint64_t room, elements = 1;
    uint32_t number = made.program.buffer_count;
    uint32_t view = draw_view(extent, dtype_bits(dtype), &room);
    end = number == 0 ? 0 : end;
    made_buffer(&made, LOCAL, dtype, end, room);
    made.buffers[number].view = view;
    made.buffers[number].order = (CmdOrder){CMD_AXES, {0}, {0, 1, 2, 3, 4, 5}};
    memcpy(made.buffers[number].order.extent, extent, CMD_AXES * sizeof *extent);
    for (int axis = 0; axis < CMD_AXES; axis++) {
        elements *= extent[axis];
    }
    assert_true(elements * 4 <= MOST_BYTES);
    for (uint64_t k = 0; k < elements * dtype_bits(dtype) / 8; k++) {
        bytes[number][k] = (uint8_t)random_next(&seed);
    }
    for (uint64_t k = 0; dtype == DTYPE_I32 && k < elements; k++) { /* of the size of other sums */
        int32_t bias = (int32_t)below(20001) - 10000;
        memcpy(&bytes[number][k * 4], &bias, sizeof bias);
    }
    end += room;
}

static CmdOperand operand(uint32_t number) {
    return (CmdOperand){number, made.buffers[number].view, 0};
}

static Command *make(const Case *c) {
    made_init(&made);
    made.device.memory[LOCAL].bytes = UINT64_MAX;
    made.device.issue_cycles = made_cost(5);
    made.device.mac_cycle = made_cost(3);
    made.device.vector_bytes_cycle = made_cost(2);
    add_tensor(c->src, (uint64_t[]){c->n, c->channels, c->slide[0].extent, c->slide[1].extent, 1, 1});
    add_tensor(c->dst, (uint64_t[]){c->n, c->c, c->outputs[0], c->outputs[1], 1, 1});
    window = (CmdWindow){.h = c->slide[0], .w = c->slide[1], c->group_src, c->group_dst, c->group_first};
    Command *command = made_command(&made, c->op, CMD_COLUMN_COMPUTE, 0);
    Stage stage = {.kind = sums(c) ? STAGE_ACC_REQUANTIZE : STAGE_CODE_CLIP, .from = c->src, .to = c->dst};
    stage.from = sums(c) ? DTYPE_I32 : c->src;
    stage.integer.constant.scale = 1;
    stage.integer.value = c->mean_of;
    stage.integer.in = (StageCode){c->in, c->src_zero};
    stage.integer.out = (StageCode){c->out, c->out_zero};
    stage.integer.lo = c->lo;
    stage.integer.hi = c->hi;
    if (c->op == CMD_CONV) {
        add_tensor(c->weights, (uint64_t[]){1, 1, c->slide[0].taps, c->slide[1].taps, c->c, c->group_src});
        add_tensor(DTYPE_I32, (uint64_t[]){1, c->c, 1, 1, 1, 1});
        command->weights = operand(WEIGHTS);
        command->bias = c->has_bias ? operand(BIAS) : command->bias;
        window.weights_zero = c->weights_zero;
        window.scale_count = c->is_per_channel ? (uint32_t)c->c : 1;
        window.scales = c->scales;
    }
    window.src_zero = sums(c) ? c->src_zero : 0;
    command->src = operand(SRC);
    command->dst = operand(DST);
    command->box = (CmdBox){{c->n, c->c, c->outputs[0], c->outputs[1], 1, 1}};
    command->window = &window;
    command->semantics = c->semantics;
    command->code = c->op == CMD_PAD ? c->code : 0;
    if (c->op != CMD_PAD) {
        made_stage(&made, command, stage);
    }
    return command;
}

/* ---- The second computation */

static int64_t code_at(uint32_t number, uint64_t place) {
    int8_t code;
    memcpy(&code, &bytes[number][place], sizeof code);
    return made.buffers[number].dtype == DTYPE_I8 ? code : bytes[number][place];
}

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Of a factor below 2; of a mean of `count` the multiplier is divided behind as many bits as the count has. */
static int64_t requantise_tflite(int64_t sum, double factor, int32_t count, bool is_single) {
    int exponent;
    if (factor < 0x1p-32) {
        return 0;
    }
    int64_t multiplier = (int64_t)floor(frexp(factor, &exponent) * 2147483648.0 + 0.5);
    if (count > 1) {
        int bits = (int)floor(log2(count));
        bits = bits < 31 + exponent ? bits : 31 + exponent;
        multiplier = (int64_t)floor(ldexp((double)multiplier, bits) / count);
        exponent -= bits;
    }
    if (is_single) {
        return floor_div(sum * multiplier + ((int64_t)1 << (30 - exponent)), (int64_t)1 << (31 - exponent));
    }
    int64_t high =
        floor_div(sum * ((int64_t)1 << (exponent > 0 ? exponent : 0)) * multiplier + (1 << 30), (int64_t)1 << 31);
    int64_t part = (int64_t)1 << (exponent < 0 ? -exponent : 0);
    int64_t magnitude = high < 0 ? -high : high;
    magnitude = (magnitude + part / 2) / part;
    return high < 0 ? -magnitude : magnitude;
}

static int64_t requantise(const Case *c, int64_t sum, float scale) {
    if (c->semantics == S0_SEM_ONNX || c->semantics == S0_SEM_ORT_MLAS) {
        float divisor = c->mean_of > 1 ? c->out * (float)c->mean_of : c->out;
        float product = c->in * scale, factor = product / divisor;
        return (int64_t)nearbyintf((float)sum * factor);
    }
    double factor = (double)c->in * (double)scale / (double)c->out;
    return requantise_tflite(sum, factor, c->mean_of, c->semantics == S0_SEM_TFLITE_SINGLE);
}

typedef struct {
    int64_t sum, largest, count;
} Gathered;

static void gather_tap(const Case *c, const uint64_t at[4], uint64_t i, const uint64_t tap[2], uint8_t *touched,
                       Gathered *g) {
    uint64_t group = (c->group_first + at[1]) / c->group_dst, place = at[0] * c->channels;
    place += sums(c) ? group * c->group_src + i : at[1];
    for (int k = 0; k < 2; k++) {
        int64_t index = (int64_t)(at[2 + k] * c->slide[k].stride + tap[k] * c->slide[k].dilation) - c->slide[k].before;
        if (index < 0 || index >= (int64_t)c->slide[k].extent) {
            return;
        }
        place = place * c->slide[k].extent + (uint64_t)index;
    }
    int64_t code = code_at(SRC, place);
    touched[place] = 1;
    g->largest = code > g->largest ? code : g->largest;
    g->count++;
    if (c->op == CMD_CONV) { /* weights stand as h w o i */
        uint64_t weight = ((tap[0] * c->slide[1].taps + tap[1]) * c->c + at[1]) * c->group_src + i;
        code = (code - c->src_zero) * (code_at(WEIGHTS, weight) - c->weights_zero);
    }
    code -= c->op == CMD_SUM ? c->src_zero : 0;
    g->sum += code;
}

static int64_t expected_at(const Case *c, const uint64_t at[4], uint8_t *touched, int64_t *count) {
    Gathered g = {0, INT64_MIN, 0};
    int64_t result;
    for (uint64_t i = 0; i < c->group_src; i++) {
        for (uint64_t k = 0; k < c->slide[0].taps * c->slide[1].taps; k++) {
            const uint64_t tap[] = {k / c->slide[1].taps, k % c->slide[1].taps};
            gather_tap(c, at, i, tap, touched, &g);
        }
    }
    *count = g.count;
    if (c->op == CMD_CONV) {
        int32_t bias = 0;
        if (c->has_bias) {
            memcpy(&bias, &bytes[BIAS][at[1] * 4], sizeof bias);
        }
        result = requantise(c, g.sum + bias, c->scales[c->is_per_channel ? at[1] : 0]) + c->out_zero;
    } else if (c->op == CMD_SUM) {
        result = requantise(c, g.sum, 1) + c->out_zero;
    } else if (c->op == CMD_PAD) {
        return g.count > 0 ? g.sum : c->src == DTYPE_I8 ? (int8_t)c->code : c->code;
    } else if (c->op == CMD_MAXPOOL) {
        result = g.largest;
    } else {
        result = g.count == 0 ? 0 : (int64_t)round((double)g.sum / (double)g.count);
    }
    return result < c->lo ? c->lo : result > c->hi ? c->hi : result;
}

/* Every element of dst; how many windows have nothing but padding. */
static uint64_t compare(const Case *c, Span read, uint64_t *touched_bytes) {
    static uint8_t touched[MOST_BYTES];
    uint64_t empty = 0, place = 0, at[4];
    memset(touched, 0, sizeof touched);
    for (at[0] = 0; at[0] < c->n; at[0]++) {
        for (at[1] = 0; at[1] < c->c; at[1]++) {
            for (at[2] = 0; at[2] < c->outputs[0]; at[2]++) {
                for (at[3] = 0; at[3] < c->outputs[1]; at[3]++, place++) {
                    int64_t count, expected = expected_at(c, at, touched, &count);
                    int64_t got = c->dst == DTYPE_I8 ? (int8_t)read.ptr[place] : read.ptr[place];
                    empty += count == 0;
                    if (got != expected && (count > 0 || sums(c) || c->op == CMD_PAD)) {
                        fail_msg("%s, element %d: expected %d, got %d", cmd_op_name(c->op), (int)place, (int)expected,
                                 (int)got);
                    }
                }
            }
        }
    }
    *touched_bytes = 0;
    for (size_t k = 0; k < sizeof touched; k++) {
        *touched_bytes += touched[k];
    }
    return empty;
}

static uint64_t cycles_of(const Case *c) {
    uint64_t elements = c->n * c->c * c->outputs[0] * c->outputs[1];
    uint64_t taps = c->slide[0].taps * c->slide[1].taps;
    return 5 +
           (c->op == CMD_CONV ? (elements * taps * c->group_src + 2) / 3 : taps * c->group_src * ((elements + 1) / 2));
}

static void run_case(const Case *c) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    make(c);
    const char *wrong = cmd_check(&made.program, &work.keep);
    assert_null(wrong);
    Sim *sim = sim_new(&made.program, &made.device, &work);
    assert_non_null(sim);
    for (uint32_t k = 0; k < made.program.buffer_count; k++) {
        uint64_t elements = 1;
        for (int axis = 0; axis < CMD_AXES; axis++) {
            elements *= made.buffers[k].order.extent[axis];
        }
        size_t count = (size_t)(elements * dtype_bits(made.buffers[k].dtype) / 8);
        assert_true(k == DST || sim_write(sim, k, (Span){bytes[k], count}));
    }
    const SimResult *result = sim_run(sim);
    uint64_t unwritten, touched, empty;
    Span read = sim_read(sim, DST, &work.keep, &unwritten);
    assert_int_equal(unwritten, 0);
    empty = compare(c, read, &touched);
    bool needs_some = c->op == CMD_MAXPOOL || c->op == CMD_AVGPOOL;
    assert_int_equal(result->fault_count, needs_some && empty > 0);
    assert_int_equal(result->buffer[SRC].touched_bytes, touched);
    assert_int_equal(result->buffer[SRC].read_bytes, touched);
    assert_int_equal(result->buffer[DST].written_bytes, read.len);
    assert_int_equal(result->column[CMD_COLUMN_COMPUTE].cycles, cycles_of(c));
    assert_int_equal(result->cycles, cycles_of(c));
    work_free(&work);
}

static void random_windows_equal_their_definition(void **state) {
    (void)state;
    for (uint64_t k = 0; k < 4000; k++) {
        seed = k * 2 + 1;
        random_next(&seed);
        Case c = draw_case();
        run_case(&c);
    }
}

/* ---- Faults */

static const Case plain = {.op = CMD_CONV,
                           .n = 1,
                           .c = 1,
                           .slide = {{1, 1, 1, 0, 1}, {3, 1, 1, 0, 5}},
                           .outputs = {1, 3},
                           .channels = 1,
                           .group_src = 1,
                           .group_dst = 1,
                           .src = DTYPE_I8,
                           .weights = DTYPE_I8,
                           .dst = DTYPE_I8,
                           .lo = -128,
                           .hi = 127,
                           .in = 0.5f,
                           .out = 1,
                           .scales = {0.25f},
                           .has_bias = true,
                           .semantics = S0_SEM_TFLITE_DOUBLE};

/* The first fault of the plain product; `skip` is a buffer that nobody writes. */
static const SimFault *fault_of(Work *work, uint32_t skip) {
    static const size_t sizes[] = {5, 3, 3, 4};
    Sim *sim = sim_new(&made.program, &made.device, work);
    assert_non_null(sim);
    for (uint32_t k = 0; k < 4; k++) {
        assert_true(k == DST || k == skip || sim_write(sim, k, (Span){bytes[k], sizes[k]}));
    }
    const SimResult *result = sim_run(sim);
    assert_true(result->fault_count > 0);
    return &result->fault[0];
}

static void set_bias(int32_t bias) {
    memcpy(bytes[BIAS], &bias, sizeof bias);
    memset(bytes[SRC], 1, 5);
    memset(bytes[WEIGHTS], 1, 3);
}

typedef struct {
    const char *name;
    void (*change)(Command *command);
    uint32_t skip;
    SimFaultKind kind;
    uint32_t buffer;
} Fault;

static void no_change(Command *command) {
    (void)command;
}

static void pass_32_bits(Command *command) {
    (void)command;
    set_bias(INT32_MAX - 2);
}

static void scale_of_0(Command *command) {
    static const float none[] = {0};
    command->window = &window;
    window.scales = none;
}

static void far_weights(Command *command) {
    (void)command;
    made.buffers[WEIGHTS].memory = FAR;
}

static void no_int8(Command *command) {
    made.device.dtypes = UINT64_C(1) << DTYPE_U8;
    (void)command;
}

static void behind_src(Command *command) {
    (void)command;
    window.w.extent = 6;
    window.w.before = -1; /* the last tap is one behind the buffer */
}

static const Fault faults[] = {
    {"src is unwritten", no_change, SRC, FAULT_UNWRITTEN, SRC},
    {"weights are unwritten", no_change, WEIGHTS, FAULT_UNWRITTEN, WEIGHTS},
    {"the bias is unwritten", no_change, BIAS, FAULT_UNWRITTEN, BIAS},
    {"the sum passes 32 bits", pass_32_bits, CMD_NONE, FAULT_NUMBER, DST},
    {"a scale is 0", scale_of_0, CMD_NONE, FAULT_NUMBER, DST},
    {"weights are in far memory", far_weights, CMD_NONE, FAULT_BURST, WEIGHTS},
    {"the engine has no int8", no_int8, CMD_NONE, FAULT_BURST, WEIGHTS},
    {"a tap lies behind src", behind_src, CMD_NONE, FAULT_FOREIGN, SRC},
};

static Command *make_plain(void) {
    seed = 3;
    Command *command = make(&plain);
    for (uint32_t k = 0; k < 4; k++) { /* dense, apart */
        made.views[made.buffers[k].view] = (CmdView){3, {{W, 1, 0, 8, 0}, {H, 1, 0, 64, 0}, {C, 1, 0, 64, 0}}};
        made.buffers[k].offset_bytes = k * 64;
        made.buffers[k].bytes = k == SRC ? 5 : k == BIAS ? 4 : 3;
    }
    set_bias(7);
    return command;
}

static void faults_are_found(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        Work work;
        work_init(&work, &system_allocator);
        if (setjmp(work.escape)) {
            fail();
        }
        faults[k].change(make_plain());
        const SimFault *fault = fault_of(&work, faults[k].skip);
        if (fault->kind != faults[k].kind || fault->buffer != faults[k].buffer || fault->command != 0) {
            fail_msg("%s: got %s of buffer %d: %s", faults[k].name, sim_fault_name(fault->kind), (int)fault->buffer,
                     fault->text);
        }
        work_free(&work);
    }
}

/* A load that nobody waits for. */
static void races_are_found(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        Work work;
        work_init(&work, &system_allocator);
        if (setjmp(work.escape)) {
            fail();
        }
        Command conv = *make_plain();
        uint32_t far = made_buffer(&made, FAR, DTYPE_I8, 0, 3);
        made_host(&made, far, made.buffers[WEIGHTS].view, 3);
        made.buffers[WEIGHTS].data = far;
        CmdOperand from = {far, made.buffers[WEIGHTS].view, 0}, to = {WEIGHTS, made.buffers[WEIGHTS].view, 0};
        made.program.command_count = 0;
        made_move(&made, CMD_LOAD, from, to, 3);
        Command *command = made_command(&made, CMD_CONV, CMD_COLUMN_COMPUTE, 0);
        conv.waits = command->waits;
        conv.wait_count = 0;
        *command = conv;
        if (waits == 1) {
            made_wait(&made, command, 0);
        }
        Sim *sim = sim_new(&made.program, &made.device, &work);
        assert_non_null(sim);
        assert_true(sim_write(sim, SRC, (Span){bytes[SRC], 5}) && sim_write(sim, BIAS, (Span){bytes[BIAS], 4}) &&
                    sim_write(sim, far, (Span){bytes[WEIGHTS], 3}));
        const SimResult *result = sim_run(sim);
        assert_int_equal(result->fault_count, 1 - waits);
        assert_true(waits == 1 || (result->fault[0].kind == FAULT_RACE && result->fault[0].buffer == WEIGHTS));
        work_free(&work);
    }
}

/* Programs that cmd_check takes, but nobody could run. */
static void hostile_windows_are_refused(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        Work work;
        work_init(&work, &system_allocator);
        if (setjmp(work.escape)) {
            fail();
        }
        Command *command = make_plain();
        made.views[made.buffers[SRC].view] = made.views[made.buffers[WEIGHTS].view] = (CmdView){.level_count = 0};
        uint64_t *number[] = {&window.h.taps, &window.w.taps, &window.group_src, &command->box.extent[C]};
        *number[k] = UINT64_C(1) << 40;
        window.w.extent = window.h.extent = UINT64_C(1) << 60;
        assert_null(cmd_check(&made.program, &work.keep));
        assert_null(sim_new(&made.program, &made.device, &work));
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_windows_equal_their_definition),
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(races_are_found),
        cmocka_unit_test(hostile_windows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
