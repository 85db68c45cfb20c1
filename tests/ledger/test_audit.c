/* Proves that the audit tells every figure that is not as planned, each alone, and of which buffer or column.
 *
 * A plan is run as it is, which must be exact; then its measured figures are changed one at a time. */
#include "ledger/audit.h"

#include "graph/passes.h"
#include "graph/text.h"
#include "support/work.h"

static const char graph_text[] = "stride0-graph 1\nformat tflite\ninput X float32[1,4,5,6]\n"
                                 "const s float32[6] = 1 2 3 4 5 6\nconst b float32[6] = 6 5 4 3 2 1\n"
                                 "value t float32[1,4,5,6]\nvalue Y float32[1,4,5,6]\n"
                                 "node Mul m: X s -> t\nnode Add a: t b -> Y\noutput Y\n";

/* A run whose product is carried in workspace where it has one. */
static Audit run(Work *work, const Plan **plan) {
    const Span text = {(const uint8_t *)graph_text, sizeof graph_text - 1};
    const Device *device = device_load(work, STR("teach"));
    const PlanOptions options = {.schedule = SCHEDULE_FUSED};
    Graph *graph = graph_parse_text(work, text, STR("g"));
    assert_non_null(device);
    assert_true(graph != NULL && graph_inline(graph, work) && graph_bind_dims(graph, NULL, 0, work) &&
                graph_infer(graph, work) && graph_assign_names(graph, NULL, 0, work));
    *plan = plan_make(graph, device, &options, work);
    assert_non_null(*plan);
    const BuiltProgram *built = program_build(*plan, S0_SEM_TFLITE_DOUBLE, work);
    assert_non_null(built);
    Sim *sim = sim_new(built->program, device, work);
    const HostTensor input = audit_tensor(graph, built->inputs[0].value);
    assert_true(sim_write(sim, built->inputs[0].buffer, host_seeded(&input, 0, &work->keep)));
    return (Audit){.program = built->program, .footprint_bytes = built->footprint_bytes, .result = sim_run(sim)};
}

/* Copies of what was measured, to be changed. */
typedef struct {
    SimResult result;
    CmdProgram program;
    SimBuffer *buffers;
    CmdBuffer *owned;
    uint64_t *footprints;
} Changed;

static Changed changed_of(const Audit *audit, Arena *arena) {
    uint32_t count = audit->program->buffer_count;
    Changed copy = {.result = *audit->result, .program = *audit->program};
    copy.buffers = arena_array(arena, SimBuffer, count);
    copy.owned = arena_array(arena, CmdBuffer, count);
    copy.footprints = arena_array(arena, uint64_t, count);
    memcpy(copy.footprints, audit->footprint_bytes, count * sizeof *copy.footprints);
    memcpy(copy.buffers, audit->result->buffer, count * sizeof *copy.buffers);
    memcpy(copy.owned, audit->program->buffers, count * sizeof *copy.owned);
    return copy;
}

static Audit gather(Changed *copy, const Plan *plan, Arena *arena) {
    Audit audit = {.program = &copy->program, .footprint_bytes = copy->footprints, .result = &copy->result};
    copy->result.buffer = copy->buffers;
    copy->program.buffers = copy->owned;
    audit_gather(&audit, plan, arena);
    return audit;
}

static void expect_one(Changed *copy, const Plan *plan, const char *what, const char *where, Arena *arena) {
    Audit audit = gather(copy, plan, arena);
    assert_int_equal(audit.difference_count, 1);
    assert_string_equal(audit.differences[0].what, what);
    assert_true(str_eq(audit.differences[0].where, str_from(where)));
    assert_int_equal(audit.differences[0].measured, audit.differences[0].planned + 1);
    assert_false(audit.is_exact);
}

static void test_exact(Work *work) {
    const Plan *plan;
    Audit audit = run(work, &plan);
    audit_gather(&audit, plan, &work->keep);
    assert_true(audit.is_exact && audit.has_value);
    assert_int_equal(audit.difference_count, 0);
    /* 120 floats in, out, and in two local copies; two times 6 of parameters, in far and in local memory. */
    assert_int_equal(audit.column[AUDIT_LOAD_INPUT].measured.bytes, 480);
    assert_int_equal(audit.column[AUDIT_LOAD_PARAM].measured.bytes, 48);
    assert_int_equal(audit.column[AUDIT_STORE].booked.bytes, 480);
    assert_true(audit.touched_bytes >= 480 + 480 + 96);
}

static void test_each_figure(Work *work) {
    const Plan *plan;
    const Audit audit = run(work, &plan);
    Arena *arena = &work->keep;
    static const struct {
        size_t offset;
        const char *what;
    } column[] = {{offsetof(SimColumn, read_bytes), "read bytes"},   {offsetof(SimColumn, commands), "commands"},
                  {offsetof(SimColumn, descriptors), "descriptors"}, {offsetof(SimColumn, bursts), "bursts"},
                  {offsetof(SimColumn, cycles), "cycles"},           {offsetof(SimColumn, written_bytes), "bytes"}};
    for (size_t k = 0; k < sizeof column / sizeof column[0]; k++) {
        Changed copy = changed_of(&audit, arena);
        ++*(uint64_t *)((char *)&copy.result.column[CMD_COLUMN_STORE] + column[k].offset);
        expect_one(&copy, plan, column[k].what, "store", arena);
    }
    Changed copy = changed_of(&audit, arena);
    copy.result.cycles++;
    expect_one(&copy, plan, "cycles", "", arena);
    copy = changed_of(&audit, arena);
    copy.result.syncs++;
    expect_one(&copy, plan, "waits", "", arena);
    copy = changed_of(&audit, arena);
    copy.buffers[0].touched_bytes++;
    char name[16];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(audit.program->buffers[0].name));
    expect_one(&copy, plan, "touched bytes", name, arena);
    copy = changed_of(&audit, arena);
    copy.footprints[0]++;
    expect_one(&copy, plan, "reserved bytes", name, arena);
    copy = changed_of(&audit, arena);
    copy.result.column[CMD_COLUMN_FILL].commands++;
    expect_one(&copy, plan, "commands", "fill", arena);
    copy = changed_of(&audit, arena);
    copy.owned[0].kind = CMD_BUFFER_WORKSPACE;
    copy.buffers[0].used_bytes = copy.owned[0].bytes + 1;
    expect_one(&copy, plan, "used workspace", name, arena);
}

/* A number without a value is the input's, every other fault ours. */
static void test_faults(Work *work) {
    const Plan *plan;
    const Audit audit = run(work, &plan);
    for (SimFaultKind kind = 0; kind < FAULT_KINDS; kind++) {
        Changed copy = changed_of(&audit, &work->keep);
        copy.result.fault_count = copy.result.kept_faults = 1;
        copy.result.fault[0].kind = kind;
        Audit found = gather(&copy, plan, &work->keep);
        assert_int_equal(found.is_exact, kind == FAULT_NUMBER);
        assert_int_equal(found.has_value, kind != FAULT_NUMBER);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_exact), WORK_TEST(test_each_figure), WORK_TEST(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
