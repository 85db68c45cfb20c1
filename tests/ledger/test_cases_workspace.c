/* Cases G and H from the field where a kernel runs: what its contract declares, what the simulated device sees it use,
 * and what the audit says of the two.
 *
 * Proves, on plans that became programs and ran: that workspace is declared as the case says and used to the last byte;
 * that one byte less, or none, is a fault at the operator and at the first byte that is not there, and whatever is
 * declared too much is told in bytes; that workspace costs nothing in far memory or flash; that padding is reserved and
 * never touched, and that a buffer of the logical size is too small. A Dequantize hands floats to the Mul behind it:
 * where the map ends as codes they need a line of 4 * C * W bytes, where it ends as floats none, for the output's own
 * bytes carry them. These are the two variants of the cases. */
#include "ledger/audit.h"
#include "ledger/replay.h"

#include "graph/passes.h"
#include "graph/text.h"
#include "support/work.h"

#include <inttypes.h>

typedef struct {
    uint64_t n, c, h, w;
} Extents;

typedef struct {
    Extents map;
    bool ends_as_floats;
    const char *contract; /* of activations; dense by default */
    uint64_t align_bytes; /* 16 by default */
    uint64_t lanes;       /* 1 by default */
    uint64_t budget_bytes;
    bool in_tiles; /* as many as it likes; else one */
    bool has_mul;
} Case;

typedef struct {
    Device device;
    Plan *plan;
    const BuiltProgram *built;
    CmdProgram program; /* a copy, to be changed */
    CmdBuffer *buffers;
    Audit audit;
} Ran;

static const char *device_text(const Case *c, Work *work) {
    unsigned align = c->align_bytes == 0 ? 16 : (unsigned)c->align_bytes;
    return arena_text(
        &work->keep,
        "[device]\nname = blocks\nkind = scratchpad\n[memory local]\nbytes = 16M @ test\n"
        "align_bytes = %u @ test\nlanes = %u @ test\n[memory far]\nbytes = unbounded @ test\nalign_bytes = 16 @ test\n"
        "[contract]\nactivation = %s @ test\nweight = O H W I @ test\nparameter = N H W C @ test\n"
        "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n",
        align, c->lanes == 0 ? 1 : (unsigned)c->lanes, c->contract == NULL ? "N H W C" : c->contract);
}

static const char *graph_text(const Case *c, Work *work) {
    const char *map = arena_text(&work->keep, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", c->map.n, c->map.c,
                                 c->map.h, c->map.w);
    const char *list = "";
    for (uint64_t k = 0; k < c->map.c && c->has_mul; k++) {
        list = arena_text(&work->keep, "%s %" PRIu64, list, k % 7 + 1);
    }
    const char *mul = c->has_mul ? arena_text(&work->keep,
                                              "const m float32[%" PRIu64 ",1,1] =%s\nvalue g float32%s\n"
                                              "node Mul mul: f m -> g\n",
                                              c->map.c, list, map)
                                 : "";
    const char *last = c->ends_as_floats
                           ? arena_text(&work->keep, "node Relu last: %s -> Y\n", c->has_mul ? "g" : "f")
                           : arena_text(&work->keep, "node QuantizeLinear last: %s t z -> Y\n", c->has_mul ? "g" : "f");
    return arena_text(&work->keep,
                      "stride0-graph 1\nformat onnx 13\ninput X int8%s scale=0.5 zero=0\nconst s float32[] = 0.5\n"
                      "const t float32[] = 2\nconst z int8[] = 0\nvalue f float32%s\nvalue Y %s%s\n"
                      "node DequantizeLinear first: X s z -> f\n%s%soutput Y\n",
                      map, map, c->ends_as_floats ? "float32" : "int8", map, mul, last);
}

/* Plans it and makes the program. */
static Ran build(const Case *c, Work *work) {
    const char *text = graph_text(c, work);
    const Device *device = device_parse(work, str_from(device_text(c, work)), STR("blocks.ini"));
    const LayoutBinding layout = {.tensor = STR("X"), .is_channel_second = true};
    const PlanOptions options = {
        .in_place = true, .schedule = SCHEDULE_FUSED, .whole_tiles = !c->in_tiles, .budget_bytes = c->budget_bytes};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("case"));
    LayoutBinding bindings[] = {layout};
    if (graph == NULL || device == NULL || !graph_inline(graph, work) || !graph_bind_dims(graph, NULL, 0, work) ||
        !graph_infer(graph, work) || !graph_assign_names(graph, bindings, 1, work) || !graph_fold_qdq(graph, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s", text);
    }
    Ran ran = {.device = *device, .plan = plan_make(graph, device, &options, work)};
    assert_non_null(ran.plan);
    ran.built = program_build(ran.plan, S0_SEM_ONNX, work);
    if (ran.built == NULL) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s", text);
    }
    ran.program = *ran.built->program;
    ran.buffers = arena_array(&work->keep, CmdBuffer, ran.program.buffer_count + 1);
    memcpy(ran.buffers, ran.program.buffers, ran.program.buffer_count * sizeof *ran.buffers);
    ran.program.buffers = ran.buffers;
    return ran;
}

/* Runs the program as it now stands. */
static const Audit *run(Ran *ran, Work *work) {
    assert_null(cmd_check(&ran->program, &work->scratch));
    Sim *sim = sim_new(&ran->program, &ran->device, work);
    assert_non_null(sim);
    const HostTensor input = audit_tensor(ran->plan->graph, ran->built->inputs[0].value);
    assert_true(sim_write(sim, ran->built->inputs[0].buffer, host_seeded(&input, 1, &work->keep)));
    ran->audit =
        (Audit){.program = &ran->program, .footprint_bytes = ran->built->footprint_bytes, .result = sim_run(sim)};
    audit_gather(&ran->audit, ran->plan, &work->keep);
    return &ran->audit;
}

/* Of that kind in local memory; null where there is none. */
static CmdBuffer *find(const Ran *ran, CmdBufferKind kind) {
    for (uint32_t k = 0; k < ran->program.buffer_count; k++) {
        if (ran->buffers[k].kind == kind && ran->buffers[k].memory == ran->device.local) {
            return &ran->buffers[k];
        }
    }
    return NULL;
}

static void expect_foreign(const Ran *ran, const CmdBuffer *buffer, uint64_t offset, const char *node) {
    const SimResult *result = ran->audit.result;
    assert_false(ran->audit.is_exact);
    assert_true(result->fault_count > 0);
    const SimFault *fault = &result->fault[0];
    assert_string_equal(sim_fault_name(fault->kind), "foreign");
    assert_ptr_equal(&ran->buffers[fault->buffer], buffer);
    assert_int_equal(fault->byte - buffer->offset_bytes, offset);
    assert_true(str_eq(ran->program.nodes[ran->program.commands[fault->command].node], str_from(node)));
}

/* ---- G1, G2, G3, G8: declared and used */

typedef struct {
    const char *what;
    Case test;
    uint64_t workspace_bytes; /* declared and used */
} Declared;

/* A line: 4 bytes for each channel and column; in blocks as far as the last of them reaches. */
static const Declared rows[] = {
    {"G1: 13 channels", {{1, 13, 1, 1}, .has_mul = true}, 52},
    {"G2: 12 channels", {{1, 12, 1, 1}, .has_mul = true}, 48},
    {"G2: 12 channels that end as floats", {{1, 12, 1, 1}, .has_mul = true, .ends_as_floats = true}, 0},
    {"G1: 13 channels that end as floats", {{1, 13, 1, 1}, .has_mul = true, .ends_as_floats = true}, 0},
    {"G3: 256 channels", {{1, 256, 1, 1}, .has_mul = true}, 1024},
    {"G3: 257 channels", {{1, 257, 1, 1}, .has_mul = true}, 1028},
    {"G8: 64 bytes", {{1, 16, 1, 1}, .has_mul = true}, 64},
    {"all extents different", {{2, 13, 3, 5}, .has_mul = true}, 4 * 13 * 5},
    {"all extents equal", {{4, 4, 4, 4}, .has_mul = true}, 4 * 4 * 4},
    {"all extents different, blocks of 16",
     {{2, 13, 3, 5}, .has_mul = true, .contract = "N C/16 H W C%16"},
     4 * (4 * 16 + 13)},
    {"all extents equal, rows to 16", {{4, 4, 4, 4}, .has_mul = true, .contract = "N C H W@16"}, 4 * 4 * 4},
};

static void check_declared(const Declared *row, Work *work) {
    Case in_tiles = row->test;
    in_tiles.in_tiles = true;
    Ran ran = build(&in_tiles, work);
    assert_true(run(&ran, work)->is_exact);
    Replay replay = replay_of(ran.plan, work);
    replay_must_run(row->what, &replay, work);
    ran = build(&row->test, work);
    replay = replay_of(ran.plan, work);
    replay_must_run(row->what, &replay, work);
    const Audit *audit = run(&ran, work);
    if (!audit->is_exact || audit->declared_bytes != row->workspace_bytes ||
        audit->used_bytes != row->workspace_bytes) {
        fail_msg("%s: declared %" PRIu64 ", used %" PRIu64, row->what, audit->declared_bytes, audit->used_bytes);
    }
}

/* The first byte that is not declared is where the fault is. */
static void check_too_little(const Declared *row, uint64_t declared_bytes, Work *work) {
    Ran ran = build(&row->test, work);
    CmdBuffer *workspace = find(&ran, CMD_BUFFER_WORKSPACE);
    assert_null(cmd_check_extents(&ran.program, &work->scratch));
    workspace->bytes = declared_bytes;
    assert_non_null(cmd_check_extents(&ran.program, &work->scratch)); /* before anything runs */
    run(&ran, work);
    expect_foreign(&ran, workspace, declared_bytes, "first");
}

/* What is declared beyond what is used is told, in bytes, and is no fault of the device. */
static void check_too_much(const Declared *row, uint64_t excess_bytes, Work *work) {
    Ran ran = build(&row->test, work);
    find(&ran, CMD_BUFFER_WORKSPACE)->bytes += excess_bytes;
    const Audit *audit = run(&ran, work);
    assert_false(audit->is_exact);
    assert_int_equal(audit->result->fault_count, 0);
    assert_int_equal(audit->difference_count, 1);
    assert_string_equal(audit->differences[0].what, "used workspace");
    assert_int_equal(audit->differences[0].planned - audit->differences[0].measured, excess_bytes);
    assert_int_equal(audit->declared_bytes - audit->used_bytes, excess_bytes);
}

/* A buffer that says it lies in lanes that nobody touches. */
static void check_too_many_lanes(Work *work) {
    const Case c = {{1, 13, 1, 1}, .has_mul = true, .contract = "bank[C%8] N H W C/8", .lanes = 16};
    for (int kind = 0; kind < CMD_BUFFER_KINDS; kind++) {
        Ran ran = build(&c, work);
        CmdBuffer *buffer = find(&ran, (CmdBufferKind)kind);
        if (buffer == NULL) {
            continue;
        }
        uint64_t lanes = buffer->lanes;
        assert_true(run(&ran, work)->is_exact);
        buffer->lanes++;
        const Audit *audit = run(&ran, work);
        assert_int_equal(audit->result->fault_count, 0);
        assert_int_equal(audit->difference_count, 1);
        assert_string_equal(audit->differences[0].what, "lanes");
        assert_int_equal(audit->differences[0].planned, lanes + 1);
        assert_int_equal(audit->differences[0].measured, lanes);
        assert_false(audit->is_exact);
    }
}

/* 13 channels in lanes of their own: 8 of 16, and of 5 channels 5. */
static void test_lanes(Work *work) {
    const Case many = {{1, 13, 1, 1}, .has_mul = true, .contract = "bank[C%8] N H W C/8", .lanes = 16};
    const Case few = {{1, 5, 1, 1}, .has_mul = true, .contract = "bank[C%8] N H W C/8", .lanes = 16};
    Ran ran = build(&many, work);
    assert_int_equal(find(&ran, CMD_BUFFER_WORKSPACE)->lanes, 8);
    ran = build(&few, work);
    assert_int_equal(find(&ran, CMD_BUFFER_WORKSPACE)->lanes, 5);
    assert_true(run(&ran, work)->is_exact);
    check_too_many_lanes(work);
}

static void test_declared_is_used(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        Work work;
        WORK_BEGIN(&work);
        check_declared(&rows[k], &work);
        if (rows[k].workspace_bytes > 0) {
            check_too_little(&rows[k], rows[k].workspace_bytes - 1, &work);
            check_too_little(&rows[k], 0, &work);
            check_too_much(&rows[k], 1, &work);
        }
        work_free(&work);
    }
}

/* G1: reserved at a multiple of 16, 52 bytes take 64. With 13 bytes of codes in 16 and 52 of numbers in 64 that is all.
 */
static void test_reserved(Work *work) {
    const Case c = {{1, 13, 1, 1}, .has_mul = true};
    const Ran ran = build(&c, work);
    assert_int_equal(ran.plan->placed_bytes, 64 + 16 + 64);
    assert_int_equal(ran.plan->lower_bound_bytes, 64 + 16 + 64);
}

/* G2: 48 bytes for a variant that needs none. */
static void test_needless(Work *work) {
    const Case c = {{1, 12, 1, 1}, .has_mul = true, .ends_as_floats = true};
    Ran ran = build(&c, work);
    assert_null(find(&ran, CMD_BUFFER_WORKSPACE));
    CmdBuffer *more = &ran.buffers[ran.program.buffer_count++];
    *more = (CmdBuffer){.kind = CMD_BUFFER_WORKSPACE,
                        .name = STR("scratch"),
                        .dtype = DTYPE_F32,
                        .bytes = 48,
                        .memory = ran.device.local,
                        .offset_bytes = 4096,
                        .lanes = 1,
                        .view = CMD_NONE};
    more->data = ran.program.buffer_count;
    const Audit *audit = run(&ran, work);
    assert_int_equal(audit->result->fault_count, 0);
    const AuditDifference *found = &audit->differences[0];
    assert_int_equal(audit->difference_count, 1);
    assert_true(str_eq(found->where, STR("scratch")));
    assert_int_equal(found->planned, 48);
    assert_int_equal(found->measured, 0);
}

/* G3: 1,024 bytes hold 256 numbers and not 257, whether they are handed on or given. */
static void test_fixed_array(Work *work) {
    for (uint64_t c = 256; c <= 257; c++) {
        for (CmdBufferKind kind = CMD_BUFFER_PARAMETER; kind <= CMD_BUFFER_WORKSPACE; kind++) {
            const Case test = {{1, c, 1, 1}, .has_mul = true};
            Ran ran = build(&test, work);
            CmdBuffer *array = find(&ran, kind);
            assert_int_equal(array->bytes, 4 * c);
            array->bytes = 1024;
            run(&ran, work);
            if (c == 256) {
                assert_true(ran.audit.is_exact);
            } else {
                expect_foreign(&ran, array, 1024, kind == CMD_BUFFER_PARAMETER ? "mul" : "first");
            }
        }
    }
}

/* ---- G5: a budget */

/* 28,760 channels of 16 columns as codes in 16 * 28,768 bytes, and as floats in a line of 16 * 28,760 * 4: 2,300,928.
 */
static const Case large = {{1, 28760, 1, 16}, .contract = "N H W C@16"};

static void test_budget(Work *work) {
    Ran ran = build(&large, work);
    assert_int_equal(ran.plan->placed_bytes, 2300928);
    assert_int_equal(find(&ran, CMD_BUFFER_WORKSPACE)->bytes, 1840640);
    assert_int_equal(ran.plan->backing_bytes, 2 * 460288);
    ran.device.memory[ran.device.local].bytes = 2300928;
    assert_true(run(&ran, work)->is_exact);
    ran.device.memory[ran.device.local].bytes = 2097152;
    const SimResult *result = run(&ran, work)->result;
    assert_true(result->fault_count > 0);
    assert_string_equal(sim_fault_name(result->fault[0].kind), "capacity");
    assert_int_equal(result->fault[0].byte, 2097152);
}

/* Cut into tiles it fits, and far memory holds the same. */
static void test_budget_in_tiles(Work *work) {
    Case c = large;
    c.in_tiles = true;
    c.budget_bytes = 2097152;
    Ran ran = build(&c, work);
    assert_true(plan_fits(ran.plan));
    assert_true(run(&ran, work)->is_exact);
    assert_int_equal(ran.plan->backing_bytes, 2 * 460288);
}

/* ---- H4, H7: padding */

typedef struct {
    const char *what;
    Case test;
    uint64_t logical_bytes, physical_bytes;
} Padded;

static const Padded padded[] = {
    {"H4: 21 channels in blocks of 16", {{1, 21, 5, 7}, .contract = "N C/16 H W C%16"}, 735, 1120},
    {"H4: rows of 21 to 16", {{1, 3, 9, 21}, .contract = "N C H W@16"}, 567, 864},
    {"H4: all equal", {{7, 7, 7, 7}, .contract = "N C H W@16"}, 2401, 7 * 7 * 7 * 16},
    {"H7: tiles of 32 by 32, all different", {{2, 13, 3, 5}, .contract = "N C H^32 W^32"}, 390, 2 * 13 * 1024},
    {"H7: all equal", {{4, 4, 4, 4}, .contract = "N C H^32 W^32"}, 256, 4 * 4 * 1024},
    {"H7: 1,000 in a tile", {{1, 1000, 1, 1}, .contract = "N H W^32 C@32"}, 1000, 32768},
};

static void test_padding(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof padded / sizeof padded[0]; k++) {
        Work work;
        WORK_BEGIN(&work);
        Ran ran = build(&padded[k].test, &work);
        CmdBuffer *map = find(&ran, CMD_BUFFER_INPUT);
        if (!run(&ran, &work)->is_exact || map->bytes != padded[k].physical_bytes ||
            ran.audit.result->buffer[map - ran.buffers].touched_bytes != padded[k].logical_bytes) {
            fail_msg("%s: %" PRIu64 " reserved, %" PRIu64 " touched", padded[k].what, map->bytes,
                     ran.audit.result->buffer[map - ran.buffers].touched_bytes);
        }
        /* In a buffer of the logical size elements stand behind its end, where padding lies between them. */
        map->bytes = padded[k].logical_bytes;
        const SimResult *result = run(&ran, &work)->result;
        bool is_between = padded[k].test.map.c != 1000;
        assert_int_equal(result->fault_count > 0, is_between);
        assert_true(!is_between || result->fault[0].kind == FAULT_FOREIGN);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declared_is_used),
        WORK_TEST(test_lanes),
        WORK_TEST(test_reserved),
        WORK_TEST(test_needless),
        WORK_TEST(test_fixed_array),
        WORK_TEST(test_budget),
        WORK_TEST(test_budget_in_tiles),
        cmocka_unit_test(test_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
