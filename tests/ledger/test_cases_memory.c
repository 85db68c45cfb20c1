/* Cases F, G4, H1 to H3 and M1 to M6 from the field, on the simulated device: whole plans of operators of any kind,
 * replayed byte by byte (replay.h).
 *
 * Proves: that a plan with exactly the figure of the case runs in exactly that many bytes and in none less; that the
 * faults that were reported, put into the plan one at a time - a buffer on top of another, an alias without a reason or
 * against a later reader, a start that is not aligned - are found at the operator, tensor and byte. Figures follow by
 * hand from the sizes in the graphs: maps are dense, and where it is not said otherwise a byte is the unit. */
#include "ledger/replay.h"
#include "place/judge.h"
#include "program/program.h"

#include "plan/cases.h"
#include "support/random.h"

#include <inttypes.h>

typedef enum { UNBROKEN, MOVED, ALIASED, WITHOUT_REASON } Break;

typedef struct {
    const char *what;
    const char *text;
    uint64_t placed_bytes[EXTENTS_COUNT];
    uint64_t align_bytes; /* 1 by default */
    bool is_scratchpad, pin_inputs;
    uint64_t copied_bytes; /* by steps that are copies; 0: not looked at */

    /* What is then done to it, and who must be blamed. */
    Break broken;
    const char *moved, *onto; /* tensors */
    uint64_t by_bytes;        /* behind the start of `onto` */
    SimFaultKind kind;
    const char *node, *tensor; /* of the first fault, at the first byte of the tensor */
} Row;

#define SLICE(map, part)                                                                                               \
    "format tflite\ninput X int8" map "\nconst b int32[4] = 0 1 0 0\nconst z int32[4] = 1 2 -1 -1\nvalue t int8" map   \
    "\nvalue v int8" part "\nvalue Y int8" part "\nnode Custom r: X -> t\nnode SLICE c: t b z -> v\nnode Custom n: v " \
    "-> Y\noutput Y\n"

#define TRANSPOSED(shape)                                                                                              \
    "format onnx 13\ninput X int8" shape "\nnode MaxPool p: X -> x kernel_shape=[1,1]\n"                               \
    "node Transpose swap: x -> y perm=[0,2,3,1]\nnode MaxPool q: y -> Y kernel_shape=[1,1]\noutput Y\n"

#define F1                                                                                                             \
    "format onnx 13\ninput b float32[2]\nconst k float32[1] = 10\nconst l float32[1] = 3\nnode Add op2: b k -> c\n"    \
    "node Mul op1: b l -> d\noutput c\noutput d\n"
#define F2 "input X int8[64]\nvalue O1 int8[64]\nvalue O2 int8[64]\nnode Custom two: X -> O1 O2\noutput O1\n"
#define F5                                                                                                             \
    "input A int8[64]\nvalue t int8[64]\nvalue u int8[64]\nvalue Y int8[64]\nnode Custom op0: A -> t\n"                \
    "node Custom op1: t -> u\nnode Custom op2: u -> Y\noutput Y\n"
#define F6 "format onnx 13\ninput X int8[2,48]\nconst k int64[2] = 4 24\nnode Reshape flat: X k -> Y\noutput Y\n"
#define F9                                                                                                             \
    "format onnx 13\ninput X int8[4,8]\nconst k int64[1] = 32\nvalue a int8[4,8]\nvalue Y int8[32]\n"                  \
    "node Custom make: X -> a\nnode Reshape flat: a k -> v\nnode Relu over: v -> w\nnode Custom end: w -> Y\noutput "  \
    "Y\n"
#define G4                                                                                                             \
    "input P int8[300]\nvalue t int8[640]\nvalue r int8[500]\nnode Custom prepare: P -> t\n"                           \
    "node Custom invoke: P -> r\noutput r\n"
#define H1 "input a int8[70]\nvalue c int8[80]\nnode Custom grow: a -> c\noutput c\n"
#define M3                                                                                                             \
    "input X int8[4096]\nvalue t int8[6144]\nvalue Y int8[4096]\nnode Custom up: X -> t\nnode Custom down: t -> Y\n"   \
    "output Y\n"

static const Row rows[] = {
    {"F1: an operator in place before another reader", F1, .placed_bytes = {16, 16}, .broken = ALIASED, .moved = "c",
     .onto = "b", .kind = FAULT_FOREIGN, .node = "op1", .tensor = "b"},
    {"F1: over a later reader, and no alias", F1, .placed_bytes = {16, 16}, .broken = MOVED, .moved = "c", .onto = "b",
     .kind = FAULT_FOREIGN, .node = "op2", .tensor = "b"},
    {"F2: an output that nobody reads, in the place of the input", F2, .placed_bytes = {192, 192}, .broken = MOVED,
     .moved = "O2", .onto = "X", .kind = FAULT_FOREIGN, .node = "two", .tensor = "X"},
    {"F2: in the place of the other output", F2, .placed_bytes = {192, 192}, .broken = MOVED, .moved = "O2",
     .onto = "O1", .kind = FAULT_FOREIGN, .node = "two", .tensor = "O1"},
    {"F2: the same where it is loaded and stored", F2, .placed_bytes = {192, 192}, .is_scratchpad = true,
     .broken = MOVED, .moved = "O2", .onto = "O1", .kind = FAULT_FOREIGN, .node = "two", .tensor = "O1"},
    {"F4: a change of layout in place", TRANSPOSED("[1,2,3,3]"), .placed_bytes = {36, 36}, .copied_bytes = 18,
     .broken = MOVED, .moved = "y", .onto = "x", .kind = FAULT_FOREIGN, .node = "swap", .tensor = "x"},
    {"F4: of other extents", TRANSPOSED("[1,B,C,D]"), .placed_bytes = {2 * 105, 2 * 64}, .broken = MOVED, .moved = "y",
     .onto = "x", .kind = FAULT_FOREIGN, .node = "swap", .tensor = "x"},
    {"F4: element by element it is one buffer",
     "format onnx 13\ninput X int8[1,2,3,3]\nconst s int8[2,1,1] = 3 4\nnode Mul n: X s -> Y\noutput Y\n",
     .placed_bytes = {18, 18}},
    {"F5: the input serves again", F5, .placed_bytes = {128, 128}},
    {"F5: a pinned input does not", F5, .placed_bytes = {192, 192}, .pin_inputs = true, .broken = MOVED, .moved = "Y",
     .onto = "A", .kind = FAULT_FOREIGN, .node = "the caller", .tensor = "A"},
    {"F6: an output is no other name of an input", F6, .placed_bytes = {192, 192}, .copied_bytes = 96, .broken = MOVED,
     .moved = "Y", .onto = "X", .kind = FAULT_FOREIGN, .node = "flat", .tensor = "X"},
    {"F9: one address for two tensors, and no reason", F9, .placed_bytes = {64, 64}, .broken = WITHOUT_REASON,
     .moved = "w", .onto = "v", .kind = FAULT_FOREIGN, .node = "over", .tensor = "v"},
    {"G4: what two phases need beside what stays", G4, .placed_bytes = {940, 940}, .pin_inputs = true, .broken = MOVED,
     .moved = "r", .onto = "P", .kind = FAULT_FOREIGN, .node = "invoke", .tensor = "P"},
    {"H1: two sizes, each rounded to 16", H1, .placed_bytes = {160, 160}, .align_bytes = 16, .broken = MOVED,
     .moved = "c", .onto = "a", .by_bytes = 70, .kind = FAULT_MISALIGNED, .tensor = "c"},
    {"H3: a slice at 4 that is read in place", SLICE("[1,4,2,2]", "[1,2,2,2]"), .placed_bytes = {32, 32},
     .align_bytes = 16, .copied_bytes = 8, .broken = MOVED, .moved = "v", .onto = "t", .by_bytes = 4,
     .kind = FAULT_MISALIGNED, .tensor = "v"},
    {"H3: at 1", SLICE("[1,4,1,1]", "[1,2,1,1]"), .placed_bytes = {32, 32}, .align_bytes = 16, .copied_bytes = 2,
     .broken = MOVED, .moved = "v", .onto = "t", .by_bytes = 1, .kind = FAULT_MISALIGNED, .tensor = "v"},
    {"H3: at 16 it is a view", SLICE("[1,4,2,8]", "[1,2,2,8]"), .placed_bytes = {128, 128}, .align_bytes = 16},
    {"M1: the copy that changes a layout", TRANSPOSED("[1,3,64,64]"), .placed_bytes = {2 * 12288, 2 * 12288},
     .copied_bytes = 12288},
    {"M1: where it is loaded and stored", TRANSPOSED("[1,3,64,64]"), .placed_bytes = {2 * 12288, 2 * 12288},
     .is_scratchpad = true, .copied_bytes = 12288},
    {"M3: inputs and outputs inside the arena", M3, .placed_bytes = {10240, 10240}},
    {"M3: and in far memory, with local copies", M3, .placed_bytes = {10240, 10240}, .is_scratchpad = true},
    {"M4: three operands",
     "input a int8[1500]\ninput b int8[1500]\nvalue c int8[1200]\nnode Custom n: a b -> c\noutput c\n",
     .placed_bytes = {4200, 4200}, .is_scratchpad = true},
    {"M6: one tensor", "input X int8[5000]\nnode Relu n: X -> Y\noutput Y\n", .placed_bytes = {5000, 5000},
     .is_scratchpad = true},
};

static const Device *device_of(const Row *row, Work *work) {
    unsigned align = row->align_bytes == 0 ? 1 : (unsigned)row->align_bytes;
    const char *text =
        arena_text(&work->keep,
                   "[device]\nname = dense\nkind = %s\n[memory local]\nbytes = 1M @ test\nalign_bytes = %u @ test\n"
                   "[memory %s]\nbytes = unbounded @ test\nalign_bytes = %u @ test\n"
                   "[contract]\nactivation = N H W C @ test\nweight = O H W I @ test\nparameter = N H W C @ test\n"
                   "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n",
                   row->is_scratchpad ? "scratchpad" : "arena", align, row->is_scratchpad ? "far" : "flash", align);
    return device_parse(work, str_from(text), STR("dense.ini"));
}

static Plan *plan_of(const Row *row, Extents extents, uint64_t budget_bytes, Work *work) {
    const char *text = case_text(&work->keep, row->text, extents);
    const PlanCase passes = {.graph = text};
    const PlanOptions options = {
        .in_place = true, .whole_tiles = true, .pin_inputs = row->pin_inputs, .budget_bytes = budget_bytes};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *device = device_of(row, work);
    if (graph == NULL || device == NULL || !planned_passes(graph, &passes, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s", row->what);
    }
    Plan *plan = plan_make(graph, device, &options, work);
    assert_non_null(plan);
    return plan;
}

/* ---- As planned: exactly enough */

/* What it says of the buffer that ends highest: a fault of its own. */
static void expect_capacity(Replay *replay, uint64_t bytes, Work *work) {
    uint64_t end = replay_end(replay);
    const char *said =
        arena_text(&work->keep, "the buffer ends at %" PRIu64 ", %" PRIu64 " behind its memory", end, end - bytes);
    replay->device.memory[REPLAY_LOCAL].bytes = bytes;
    const SimResult *result = replay_run(replay, work);
    assert_true(result->fault_count > 0);
    assert_int_equal(result->fault[0].kind, FAULT_CAPACITY);
    assert_int_equal(result->fault[0].byte, bytes);
    uint32_t highest = 0;
    while (highest < result->kept_faults && strcmp(result->fault[highest].text, said) != 0) {
        highest++;
    }
    assert_true(highest < result->kept_faults);
}

/* Runs in what was placed, and in no byte less. */
static void check_exactly_enough(const Row *row, const Plan *plan, Work *work) {
    Replay replay = replay_of(plan, work);
    const SimResult *result = replay_must_run(row->what, &replay, work);
    if (row->copied_bytes > 0) {
        assert_int_equal(result->column[CMD_COLUMN_COPY].read_bytes, row->copied_bytes);
        assert_int_equal(result->column[CMD_COLUMN_COPY].written_bytes, row->copied_bytes);
    }
    assert_int_equal(replay_placed(&replay), plan->placed_bytes);
    expect_capacity(&replay, replay_end(&replay) - 1, work);
}

/* The planner says the same of a budget. */
static void check_budget(const Row *row, Extents extents) {
    for (uint64_t less = 0; less < 2; less++) {
        Work work;
        WORK_BEGIN(&work);
        Plan *plan = plan_of(row, extents, row->placed_bytes[extents] - less, &work);
        assert_int_equal(plan_local_fits(plan), less == 0);
        work_free(&work);
    }
}

/* ---- Broken: who is blamed */

static void break_plan(const Row *row, Plan *plan, Work *work) {
    const Replay names = replay_of(plan, work);
    uint32_t onto = replay_find(&names, row->onto);
    Buffer *moved = &plan->buffers[replay_find(&names, row->moved)];
    moved->offset = plan->buffers[onto].offset + row->by_bytes;
    moved->alias_reason = row->broken == ALIASED ? ALIAS_IN_PLACE : ALIAS_NONE;
    moved->alias_of = row->broken == ALIASED ? (BufferId){onto} : NO_BUFFER;
    moved->storage =
        row->broken == ALIASED ? plan->buffers[onto].storage : (BufferId){(uint32_t)(moved - plan->buffers)};
}

static void check_broken(const Row *row, Plan *plan, Work *work) {
    break_plan(row, plan, work);
    Replay replay = replay_of(plan, work);
    replay.device.memory[REPLAY_LOCAL].bytes = plan->capacity_bytes;
    const SimResult *result = replay_run(&replay, work);
    assert_true(result->fault_count > 0);
    const SimFault *fault = &result->fault[0];
    const CmdBuffer *buffer = &replay.buffers[fault->buffer];
    Str node = fault->command == CMD_NONE ? STR("") : replay.nodes[replay.commands[fault->command].node];
    if (fault->kind != row->kind || !str_eq(buffer->name, str_from(row->tensor)) ||
        (row->node != NULL && !str_eq(node, str_from(row->node))) || fault->byte != buffer->offset_bytes) {
        fail_msg("%s: %s at '" STR_FMT "', tensor '" STR_FMT "', byte %" PRIu64 ": %s", row->what,
                 sim_fault_name(fault->kind), STR_ARG(node), STR_ARG(buffer->name), fault->byte, fault->text);
    }
}

static void check_row(const Row *row, Extents extents) {
    Work work;
    WORK_BEGIN(&work);
    Plan *plan = plan_of(row, extents, 0, &work);
    if (plan->placed_bytes != row->placed_bytes[extents]) {
        fail_msg("%s: placed %" PRIu64, row->what, plan->placed_bytes);
    }
    check_exactly_enough(row, plan, &work);
    if (row->broken != UNBROKEN) {
        check_broken(row, plan, &work);
    }
    work_free(&work);
    check_budget(row, extents);
}

static void test_rows(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        check_row(&rows[k], ALL_DIFFERENT);
        check_row(&rows[k], ALL_EQUAL);
    }
}

/* ---- F1: the numbers */

static uint32_t find_local(const CmdProgram *program, const Device *device, const char *name) {
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        if (program->buffers[k].memory == device->local && str_eq(program->buffers[k].name, str_from(name))) {
            return k;
        }
    }
    fail_msg("no local buffer '%s'", name);
    return 0;
}

/* What is in c and d after the run of a program for b = [1, 2]. */
static const SimResult *run_numbers(const BuiltProgram *built, const CmdProgram *program, const Device *device,
                                    float out[2][2], Work *work) {
    static const float b[] = {1, 2};
    Sim *sim = sim_new(program, device, work);
    assert_true(sim_write(sim, built->inputs[0].buffer, (Span){(const uint8_t *)b, sizeof b}));
    const SimResult *result = sim_run(sim);
    for (uint32_t k = 0; k < 2; k++) {
        uint64_t unwritten;
        memcpy(out[k], sim_read(sim, built->outputs[k].buffer, &work->keep, &unwritten).ptr, sizeof out[k]);
        assert_int_equal(unwritten, 0);
    }
    return result;
}

/* c = b + 10 and d = b * 3; where c lies in the place of b the device blames op1, and d is 33 and 36. */
static void test_numbers(Work *work) {
    const char *text = "stride0-graph 1\n" F1;
    const PlanCase test = {.graph = text, .device = "teach", .options = {.in_place = true}};
    const Plan *plan = planned_run(&test, work);
    assert_non_null(plan);
    const BuiltProgram *built = program_build(plan, S0_SEM_ONNX, work);
    float out[2][2];
    assert_int_equal(run_numbers(built, built->program, plan->device, out, work)->fault_count, 0);
    assert_true(out[0][0] == 11 && out[0][1] == 12 && out[1][0] == 3 && out[1][1] == 6);
    CmdProgram program = *built->program;
    CmdBuffer *buffers = arena_array(&work->keep, CmdBuffer, program.buffer_count);
    memcpy(buffers, program.buffers, program.buffer_count * sizeof *buffers);
    program.buffers = buffers;
    uint32_t b = find_local(&program, plan->device, "b"), c = find_local(&program, plan->device, "c");
    buffers[c].offset_bytes = buffers[b].offset_bytes;
    const SimResult *result = run_numbers(built, &program, plan->device, out, work);
    assert_true(result->fault_count > 0 && result->fault[0].kind == FAULT_FOREIGN);
    assert_int_equal(result->fault[0].buffer, b);
    assert_true(str_eq(program.nodes[program.commands[result->fault[0].command].node], STR("op1")));
    assert_true(out[1][0] == 33 && out[1][1] == 36);
}

/* ---- G4: phases as live ranges; M4, M6: what is too much in 4096 */

static void test_phases(Work *work) {
    PlaceBuffer buffer[] = {{.size = 300, .align = 1, .first = 0, .last = 2},
                            {.size = 640, .align = 1, .first = 0, .last = 1},
                            {.size = 500, .align = 1, .first = 1, .last = 2}};
    PlaceProblem problem = {.buffer = buffer, .count = 3, .align_bytes = 1};
    assert_true(place_solve(&problem, &work->scratch));
    assert_int_equal(problem.height, 940);
    assert_int_equal(problem.bound, 940);
    assert_int_equal(place_judge(&problem, &work->scratch).verdict, JUDGE_RIGHT);
    problem.height = 300 + 500;
    assert_int_equal(place_judge(&problem, &work->scratch).verdict, JUDGE_TOO_HIGH);
}

/* The figures of the three misfits: what is needed beyond a memory, by the plan and by the first byte that is not
 * there.
 */
static void test_misfits(Work *work) {
    static const struct {
        const char *text;
        uint64_t capacity, excess_bytes;
    } misfits[] = {
        {G4, 800, 140},
        {"input a int8[1500]\ninput b int8[1500]\nvalue c int8[1200]\nnode Custom n: a b -> c\noutput c\n", 4096, 104},
        {"input X int8[5000]\nnode Relu n: X -> Y\noutput Y\n", 4096, 904},
        {"input X int8[1150464]\nvalue Y int8[1150464]\nnode Custom n: X -> Y\noutput Y\n", 2097152, 203776},
    };
    for (size_t k = 0; k < sizeof misfits / sizeof misfits[0]; k++) {
        const Row row = {.text = misfits[k].text, .is_scratchpad = true};
        Plan *plan = plan_of(&row, ALL_DIFFERENT, misfits[k].capacity, work);
        assert_false(plan_local_fits(plan));
        assert_int_equal(plan->placed_bytes - plan->capacity_bytes, misfits[k].excess_bytes);
        Replay replay = replay_of(plan, work);
        expect_capacity(&replay, misfits[k].capacity, work);
    }
}

/* M3: with inputs and outputs outside, both memories together. */
static void test_inputs_outside(Work *work) {
    const Row row = {.text = M3, .is_scratchpad = true};
    const Plan *plan = plan_of(&row, ALL_DIFFERENT, 0, work);
    assert_int_equal(plan->placed_bytes, 10240);
    assert_int_equal(plan->placed_bytes + plan->backing_bytes, 18432);
}

/* ---- H1, H2: a start that is not aligned */

/* 160 bytes that begin at `start`: rounded up to 16 some are lost, and what is left is too small unless none are. With
 * 175 each start will do. */
static void test_starts(Work *work) {
    const Row row = {.text = H1, .align_bytes = 16};
    const Plan *plan = plan_of(&row, ALL_DIFFERENT, 0, work);
    for (uint64_t start = 0; start < 16; start++) {
        uint64_t lost = (16 - start) % 16;
        Replay replay = replay_of(plan, work);
        for (uint32_t k = 0; k < plan->buffer_count; k++) {
            replay.buffers[k].offset_bytes += start + lost;
        }
        replay.device.memory[REPLAY_LOCAL].bytes = start + 175;
        replay_must_run("H1", &replay, work);
        replay.device.memory[REPLAY_LOCAL].bytes = start + 160;
        assert_int_equal(replay_run(&replay, work)->fault_count > 0, lost > 0);
        for (uint32_t k = 0; k < plan->buffer_count; k++) {
            replay.buffers[k].offset_bytes -= lost; /* not rounded up */
        }
        const SimResult *result = replay_run(&replay, work);
        assert_int_equal(result->fault_count > 0, lost > 0);
        assert_true(lost == 0 || result->fault[0].kind == FAULT_MISALIGNED);
        if (start == 4) {
            assert_string_equal(result->fault[0].text,
                                "the buffer starts 4 behind a multiple of 16, 12 before the next");
        }
    }
}

/* ---- M5: random networks */

/* Every node reads two of the values before it. */
static const char *network_text(Work *work, uint64_t *random) {
    enum { NODES = 12 };
    char *all = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&all, &length);
    fprintf(out, "input v0 int8[%u]\n", 1 + (unsigned)random_below(random, 300));
    for (unsigned k = 1; k <= NODES; k++) {
        fprintf(out, "value v%u int8[%u]\n", k, 1 + (unsigned)random_below(random, 300));
        fprintf(out, "node Custom n%u: v%u v%u -> v%u\n", k, k - 1, (unsigned)random_below(random, k), k);
    }
    fprintf(out, "output v%d\n", NODES);
    fclose(out);
    const char *text = arena_str(&work->keep, (Str){all, length}).ptr;
    free(all);
    return text;
}

static void test_exactly_enough(void **state) {
    (void)state;
    uint64_t random = 11;
    for (unsigned k = 0; k < 120; k++) {
        static const uint64_t aligns[] = {1, 4, 16, 64};
        Work work;
        WORK_BEGIN(&work);
        const Row row = {.what = "M5",
                         .text = network_text(&work, &random),
                         .align_bytes = aligns[k % 4],
                         .is_scratchpad = k % 3 == 0,
                         .pin_inputs = k % 5 == 0};
        check_exactly_enough(&row, plan_of(&row, ALL_DIFFERENT, 0, &work), &work);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        WORK_TEST(test_numbers),
        WORK_TEST(test_phases),
        WORK_TEST(test_misfits),
        WORK_TEST(test_inputs_outside),
        WORK_TEST(test_starts),
        cmocka_unit_test(test_exactly_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
