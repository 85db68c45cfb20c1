/* Proves of single operators that are not per-channel, drawn with maps, layouts and room of all kinds, that what the
 * planner makes of them computes on the simulated device what their definition says, by loops over the file's order:
 * each element, without a fault, with the bytes that were estimated and the cycles that were booked. What has no
 * command is refused in one of few ways, and most of each family runs. */
#include "graph/passes.h"
#include "graph/text.h"
#include "program/operator.h"
#include "program/program.h"
#include "sim/sim.h"

enum { DRAWS = 400 };

typedef struct {
    const char *name;
    void (*draw)(Operator *o);
    CmdOp op;
    uint32_t most_refused, least_by_op; /* of 100 drawn, of 100 that ran; moves may be views */
} Family;

static const Family families[] = {
    {"Reshape", draw_reshape, CMD_COPY, 40, 30},
    {"Transpose", draw_transpose, CMD_COPY, 10, 0},
    {"Transpose of a Transpose", draw_transposes, CMD_COPY, 20, 0},
    {"Pad", draw_pad, CMD_PAD, 10, 100},
    {"ReduceMean", draw_mean, CMD_SUM, 30, 100},
    {"ReduceSum", draw_sum, CMD_SUM, 30, 100},
    {"ReduceMax", draw_max, CMD_MAXPOOL, 50, 100},
    {"FULLY_CONNECTED of an image", draw_flat, CMD_CONV, 20, 100},
    {"Conv of codes", draw_qdq_conv, CMD_CONV, 10, 100},
    {"Gemm of codes", draw_qdq_gemm, CMD_CONV, 10, 100},
    {"AveragePool of codes", draw_qdq_mean, CMD_SUM, 10, 100},
    {"MaxPool of codes", draw_qdq_max, CMD_MAXPOOL, 10, 100},
    {"Softmax of codes", draw_qdq_softmax, CMD_SOFTMAX, 10, 100},
};

static const char *const layouts[] = {
    "N C H W",         "N H W C",       "N H W C@16",          "N C H W@8",
    "N H C/16 W C%16", "N C/8 H W C%8", "bank[C%4] N C/4 H W", "when C==1: N H W@16 C | N H W C@16",
};

static const char *const refusals[] = {
    "no view reads in another order",
    "no tile of it has a layout",
    "no view reads as windows",
    "no view reads by the axes of its output",
    "it does not reduce whole rows, columns or channels",
    "it goes over channels",
    "a tile begins inside a block of what it reads",
    "a tile begins inside a block of its factors",
};

static const char *draw_device(Operator *o) {
    static const char *const room[] = {"64K", "8K", "1K", "300"};
    return arena_text(
        &o->work->keep,
        "[device]\nname = box\nkind = scratchpad\n"
        "[memory local]\nbytes = %s @ test\nalign_bytes = %u @ test\nlanes = 8 @ test\n"
        "[memory far]\nbytes = unbounded @ test\nalign_bytes = 1 @ test\n"
        "[contract]\nactivation = %s @ test\nweight = %s @ test\nparameter = N C H W @ test\n"
        "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"
        "[engine]\nvector_bytes_cycle = %u @ test\nmac_cycle = 8 @ test\nissue_cycles = 10 @ test\n"
        "descriptor_cycles = 10 @ test\nsync_cycles = 20 @ test\n"
        "[dma]\nbytes_cycle = 8 @ test\nsetup_cycles = 50 @ test\nmax_bytes = %s @ test\nchannels = %u @ test\n",
        room[below(o, 4)], one_in(o, 2) ? 1 : 16, layouts[below(o, sizeof layouts / sizeof layouts[0])],
        one_in(o, 2) ? "O I H W" : "O H W I", (unsigned)(1 + below(o, 16)), one_in(o, 3) ? "512" : "64K",
        (unsigned)(1 + below(o, 2)));
}

static const Device *read_device(Operator *o) {
    const Device *device = device_parse(o->work, str_from(draw_device(o)), STR("box.ini"));
    assert_non_null(device);
    return device;
}

static Graph *read_graph(Operator *o) {
    const char *text = arena_text(&o->work->keep, "stride0-graph 1\n%s", o->graph);
    Graph *graph = graph_parse_text(o->work, (Span){(const uint8_t *)text, strlen(text)}, STR("operators"));
    if (graph == NULL || !graph_check(graph, o->work) || !graph_infer(graph, o->work) ||
        !graph_assign_names(graph, NULL, 0, o->work)) {
        fail_msg("%s\n%s", messages_of(o->work), o->graph);
    }
    return graph;
}

static bool is_known_refusal(const Work *work) {
    bool is_known = false;
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        is_known = is_known || was_told(work, refusals[k]);
    }
    return is_known;
}

static void check_run(Operator *o, const BuiltProgram *built, const Device *device, const char *name) {
    const CmdProgram *program = built->program;
    uint64_t unwritten;
    assert_null(cmd_check_extents(program, &o->work->keep));
    Sim *sim = sim_new(program, device, o->work);
    assert_non_null(sim);
    assert_true(sim_write(sim, built->inputs[0].buffer, (Span){(const uint8_t *)o->in, o->in_count}));
    const SimResult *result = sim_run(sim);
    if (result->fault_count > 0) {
        fail_msg("%s: %s\n%s", name, result->fault[0].text, o->graph);
    }
    Span out = sim_read(sim, built->outputs[0].buffer, &o->work->keep, &unwritten);
    assert_int_equal(unwritten, 0);
    assert_int_equal(out.len, o->out_count);
    for (uint32_t k = 0; k < o->out_count; k++) {
        if ((int8_t)out.ptr[k] != o->out[k]) {
            fail_msg("%s: element %u is %d, not %d\n%s", name, k, (int8_t)out.ptr[k], o->out[k], o->graph);
        }
    }
    if (result->cycles != program->booked_cycles) {
        fail_msg("%s: %llu cycles, booked %llu\n%s", name, (unsigned long long)result->cycles,
                 (unsigned long long)program->booked_cycles, o->graph);
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        assert_int_equal(result->buffer[k].touched_bytes, program->buffers[k].estimated_bytes);
    }
}

typedef struct {
    uint32_t ran, refused, unfit, has_op; /* has_op: of those that ran, how many have the family's command */
} Count;

static bool has_op(const CmdProgram *program, CmdOp op) {
    bool has = false;
    for (uint32_t k = 0; k < program->command_count; k++) {
        has = has || program->commands[k].op == op;
    }
    return has;
}

static void check_draw(const Family *family, Operator *o, Count *count) {
    static const Schedule schedules[] = {SCHEDULE_AUTO, SCHEDULE_FUSED, SCHEDULE_PIPELINED};
    family->draw(o);
    const Device *device = read_device(o);
    PlanOptions options = {
        .in_place = one_in(o, 2), .tile_rows = one_in(o, 3) ? 1 + below(o, 4) : 0, .schedule = schedules[below(o, 3)]};
    const Plan *plan = plan_make(read_graph(o), device, &options, o->work);
    if (plan == NULL) {
        fail_msg("%s: %s\n%s", family->name, messages_of(o->work), o->graph);
    }
    const BuiltProgram *built = program_build(plan, o->is_onnx ? S0_SEM_ONNX : S0_SEM_TFLITE_DOUBLE, o->work);
    if (built == NULL && !is_known_refusal(o->work)) {
        fail_msg("%s: %s\n%s", family->name, messages_of(o->work), o->graph);
    }
    if (built == NULL) {
        count->refused++;
    } else if (!plan_fits(plan)) {
        count->unfit++;
    } else {
        count->ran++;
        count->has_op += has_op(built->program, family->op);
        check_run(o, built, device, family->name);
    }
}

static void test_family(void **state) {
    const Family *family = *state;
    uint64_t seed = UINT64_C(0x5EED0009);
    Count count = {0};
    for (uint32_t k = 0; k < DRAWS; k++) {
        Operator *o = calloc(1, sizeof *o);
        Work work;
        assert_non_null(o);
        WORK_BEGIN(&work);
        o->seed = &seed;
        o->work = &work;
        check_draw(family, o, &count);
        work_free(&work);
        free(o);
    }
    print_message("%s: %u ran, %u of them by %s, %u refused, %u do not fit\n", family->name, count.ran, count.has_op,
                  cmd_op_name(family->op), count.refused, count.unfit);
    assert_true(count.refused * 100 <= family->most_refused * DRAWS && count.ran > DRAWS / 4);
    assert_true(count.has_op * 100 >= family->least_by_op * count.ran);
}

int main(void) {
    enum { FAMILIES = sizeof families / sizeof families[0] };
    struct CMUnitTest tests[FAMILIES];
    for (size_t k = 0; k < FAMILIES; k++) {
        tests[k] = (struct CMUnitTest){families[k].name, test_family, NULL, NULL, (void *)(uintptr_t)&families[k]};
    }
    return _cmocka_run_group_tests("operators", tests, FAMILIES, NULL, NULL);
}
