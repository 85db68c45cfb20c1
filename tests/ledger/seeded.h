/* A small network on a device: its plan, its program and a run, each of which a test may spoil in between.
 *
 * All networks compute x * s[c] + b[c] of small integers, or a part of it, so the reference is one line of whole
 * numbers that shares nothing with what it judges. Extents differ, none is a multiple of an alignment, and values
 * depend on their position. */
#ifndef S0_TESTS_LEDGER_SEEDED_H
#define S0_TESTS_LEDGER_SEEDED_H

#include "ledger/audit.h"
#include "plan/planned.h"

#include <inttypes.h>

enum { CHANNELS = 5, ROWS = 9, COLUMNS = 11, ELEMENTS = CHANNELS * ROWS * COLUMNS };

typedef enum {
    NET_CODES,   /* int8: Mul, Add on codes; carried in int8 */
    NET_REALS,   /* int8: Dequantize, Mul, Add, Quantize; carried in float32 */
    NET_ONE,     /* int8: Mul on codes */
    NET_NIBBLES, /* int4 in, int8 out: Dequantize, Mul, Quantize */
    NET_READER,  /* as NET_CODES, and a second output by a second reader of x: x * b */
} Net;

/* Of the network: text, the order of x, which reference, whether b is added. */
typedef struct {
    const char *text, *layout;
    Semantics semantics;
    bool is_channel_last, adds, is_nibbles;
} NetText;

#define NHWC  "[1,9,11,5]"
#define NCHW  "[1,5,9,11]"
#define CODES "stride0-graph 1\nformat tflite\ninput x int8" NHWC " scale=0.5\nconst s int8[5] scale=0.5 = 1 2 3 4 5\n"
#define REALS(type)                                                                                                    \
    "stride0-graph 1\nformat onnx 21\ninput x " type NCHW "\nconst s float32[1,5,1,1] = 1 2 3 4 5\n"                   \
    "const b float32[1,5,1,1] = 19 7 13 11 17\nconst one float32[] = 1\nconst zero int8[] = 0\n"

static inline const NetText *net_text(Net net) {
    static const NetText text[] = {
        [NET_CODES] = {.text = CODES "const b int8[5] scale=0.25 = 19 7 13 11 17\nvalue t int8" NHWC " scale=0.25\n"
                                     "value y int8" NHWC " scale=0.25\nnode Mul m: x s -> t\nnode Add a: t b -> y\n"
                                     "output y\n",
                       .semantics = S0_SEM_TFLITE_DOUBLE,
                       .is_channel_last = true,
                       .adds = true},
        [NET_REALS] = {.text = REALS("int8") "value y int8" NCHW "\nnode DequantizeLinear@21 d: x one zero -> t\n"
                                             "node Mul m: t s -> u\nnode Add a: u b -> v\n"
                                             "node QuantizeLinear@21 q: v one zero -> y\noutput y\n",
                       .layout = "x=NCHW",
                       .semantics = S0_SEM_ONNX,
                       .adds = true},
        [NET_ONE] = {.text = CODES "value y int8" NHWC " scale=0.25\nnode Mul m: x s -> y\noutput y\n",
                     .semantics = S0_SEM_TFLITE_DOUBLE,
                     .is_channel_last = true},
        [NET_NIBBLES] = {.text = REALS("int4") "const none int4[] = 0\nvalue y int8" NCHW "\n"
                                               "node DequantizeLinear@21 d: x one none -> t\nnode Mul m: t s -> u\n"
                                               "node QuantizeLinear@21 q: u one zero -> y\noutput y\n",
                         .layout = "x=NCHW",
                         .semantics = S0_SEM_ONNX,
                         .is_nibbles = true},
        [NET_READER] = {.text = CODES
                        "const b int8[5] scale=0.25 = 19 7 13 11 17\nconst k int8[5] scale=0.5 = 19 7 13 11 17\n"
                        "value t int8" NHWC " scale=0.25\nvalue y int8" NHWC " scale=0.25\n"
                        "value z int8" NHWC " scale=0.25\nnode Mul m: x s -> t\nnode Add a: t b -> y\n"
                        "node Mul r: x k -> z\noutput y\noutput z\n",
                        .semantics = S0_SEM_TFLITE_DOUBLE,
                        .is_channel_last = true,
                        .adds = true},
    };
    return &text[net];
}

static const char *const scratchpads[] = {"teach", "nvdla-small", "sophgo-bm1684x", "k210-kpu", "hexagon-v73"};

enum { SCRATCHPADS = sizeof scratchpads / sizeof scratchpads[0] };

/* ---- Values */

static inline int32_t input_at(const NetText *net, uint32_t k) {
    uint32_t hash = k * UINT32_C(2654435761) >> 16;
    return net->is_nibbles ? (int32_t)(hash % 16) - 8 : (int32_t)(hash % 23) - 11;
}

static inline int8_t output_at(const NetText *net, bool is_second, uint32_t k) {
    static const int32_t s[CHANNELS] = {1, 2, 3, 4, 5}, b[CHANNELS] = {19, 7, 13, 11, 17};
    uint32_t c = net->is_channel_last ? k % CHANNELS : k / (ROWS * COLUMNS);
    int32_t y = input_at(net, k) * (is_second ? b[c] : s[c]) + (net->adds && !is_second ? b[c] : 0);
    return (int8_t)(y > INT8_MAX ? INT8_MAX : y < INT8_MIN ? INT8_MIN : y);
}

static inline Span packed_input(const NetText *net, Arena *arena) {
    uint8_t *packed = arena_array(arena, uint8_t, ELEMENTS);
    for (uint32_t k = 0; k < ELEMENTS; k++) {
        uint32_t code = (uint32_t)input_at(net, k);
        if (net->is_nibbles) {
            packed[k / 2] |= (uint8_t)((code & 15) << k % 2 * 4);
        } else {
            packed[k] = (uint8_t)code;
        }
    }
    return (Span){packed, net->is_nibbles ? (ELEMENTS + 1) / 2 : ELEMENTS};
}

/* ---- From a network to what was measured */

typedef struct {
    Work *work;
    const NetText *net;
    Plan *plan;
    const BuiltProgram *built;
    CmdProgram program; /* a copy of what was built, whose parts are these: to be spoiled */
    CmdView *views;     /* one more than there are */
    CmdBuffer *buffers;
    Command *commands;
    Audit audit;
    uint32_t wrong_elements; /* of outputs: not as the reference has them */
} Seeded;

static inline Seeded seeded_plan(Net net, const char *device, PlanOptions options, Work *work) {
    Seeded seeded = {.work = work, .net = net_text(net)};
    const PlanCase test = {seeded.net->text, device, seeded.net->layout, options};
    seeded.plan = planned_run(&test, work);
    if (seeded.plan == NULL || !plan_fits(seeded.plan)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("no plan on %s", device);
    }
    return seeded;
}

static inline void *copy_of(Arena *arena, const void *from, size_t count, size_t size) {
    void *to = arena_alloc(arena, count + 1, size);
    memcpy(to, from, count * size);
    return to;
}

static inline void seeded_build(Seeded *seeded) {
    Arena *keep = &seeded->work->keep;
    seeded->built = program_build(seeded->plan, seeded->net->semantics, seeded->work);
    assert_non_null(seeded->built);
    seeded->program = *seeded->built->program;
    CmdProgram *program = &seeded->program;
    program->views = seeded->views = copy_of(keep, program->views, program->view_count, sizeof *program->views);
    program->buffers = seeded->buffers =
        copy_of(keep, program->buffers, program->buffer_count, sizeof *program->buffers);
    program->commands = seeded->commands =
        copy_of(keep, program->commands, program->command_count, sizeof *program->commands);
}

static inline void read_output(Seeded *seeded, const Sim *sim, uint32_t k) {
    const HostBuffer *output = &seeded->built->outputs[k];
    AuditTensor *tensor = &seeded->audit.outputs[k];
    tensor->tensor = audit_tensor(seeded->plan->graph, output->value);
    tensor->packed = sim_read(sim, output->buffer, &seeded->work->keep, &tensor->unwritten);
    assert_int_equal(tensor->packed.len, ELEMENTS);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        int8_t expected = output_at(seeded->net, str_eq(tensor->tensor.name, STR("z")), i);
        seeded->wrong_elements += (int8_t)tensor->packed.ptr[i] != expected;
    }
}

static inline void seeded_run(Seeded *seeded) {
    Work *work = seeded->work;
    const BuiltProgram *built = seeded->built;
    assert_null(cmd_check(&seeded->program, &work->keep));
    Sim *sim = sim_new(&seeded->program, seeded->plan->device, work);
    assert_non_null(sim);
    assert_int_equal(built->input_count, 1);
    assert_true(sim_write(sim, built->inputs[0].buffer, packed_input(seeded->net, &work->keep)));
    seeded->audit = (Audit){.program = &seeded->program,
                            .footprint_bytes = built->footprint_bytes,
                            .result = sim_run(sim),
                            .output_count = built->output_count};
    seeded->audit.outputs = arena_array(&work->keep, AuditTensor, built->output_count);
    seeded->wrong_elements = 0;
    for (uint32_t k = 0; k < built->output_count; k++) {
        read_output(seeded, sim, k);
    }
    audit_gather(&seeded->audit, seeded->plan, &work->keep);
}

/* The buffer of the program. */
static inline uint32_t seeded_number(const Seeded *seeded, BufferId id) {
    return is_buffer(id) ? seeded->built->of_buffer[id.index] : CMD_NONE;
}

/* ---- Who has found something */

enum {
    FOUND_UNWRITTEN = 1 << FAULT_UNWRITTEN,
    FOUND_FOREIGN = 1 << FAULT_FOREIGN,
    FOUND_RACE = 1 << FAULT_RACE,
    FOUND_OTHER_FAULT = 1 << FAULT_KINDS,
    FOUND_TOUCHED = 2 << FAULT_KINDS,   /* estimated and touched bytes of a buffer */
    FOUND_WORKSPACE = 4 << FAULT_KINDS, /* declared and used workspace */
    FOUND_RESERVED = 8 << FAULT_KINDS,  /* reserved bytes, and those that the contract gives what is addressed */
    FOUND_TRAFFIC = 16 << FAULT_KINDS,  /* what is booked and measured of a column, or cycles */
    FOUND_MISSING = 32 << FAULT_KINDS,  /* elements of an output that nobody wrote */
    FOUND_OUTPUT = 64 << FAULT_KINDS,   /* an output is not the reference's */
};

static inline uint32_t found_by_difference(const AuditDifference *difference) {
    static const struct {
        const char *what;
        uint32_t found;
    } rows[] = {{"touched bytes", FOUND_TOUCHED},
                {"used workspace", FOUND_WORKSPACE},
                {"reserved bytes", FOUND_RESERVED},
                {"unwritten elements", FOUND_MISSING}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (strcmp(rows[k].what, difference->what) == 0) {
            return rows[k].found;
        }
    }
    return FOUND_TRAFFIC;
}

static inline uint32_t seeded_found(const Seeded *seeded) {
    const Audit *audit = &seeded->audit;
    uint32_t found = seeded->wrong_elements > 0 ? FOUND_OUTPUT : 0;
    for (uint32_t k = 0; k < audit->result->kept_faults; k++) {
        SimFaultKind kind = audit->result->fault[k].kind;
        found |= kind <= FAULT_RACE ? 1u << kind : FOUND_OTHER_FAULT;
    }
    for (uint32_t k = 0; k < audit->difference_count; k++) {
        found |= found_by_difference(&audit->differences[k]);
    }
    assert_true(audit->is_exact == ((found & ~(uint32_t)FOUND_OUTPUT) == 0));
    return found;
}

/* What is found where nothing is spoiled: nothing. */
static inline void seeded_expect_clean(Net net, const char *device, PlanOptions options) {
    Work work;
    WORK_BEGIN(&work);
    Seeded seeded = seeded_plan(net, device, options, &work);
    seeded_build(&seeded);
    seeded_run(&seeded);
    for (uint32_t k = 0; k < seeded.audit.difference_count; k++) {
        const AuditDifference *found = &seeded.audit.differences[k];
        print_error("%s of " STR_FMT ": %" PRIu64 ", measured %" PRIu64 "\n", found->what, STR_ARG(found->where),
                    found->planned, found->measured);
    }
    assert_int_equal(seeded_found(&seeded), 0);
    work_free(&work);
}

#endif
