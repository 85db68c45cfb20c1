/* What runs cost, on a device that loads and stores. Proves: the worked example of the README, whole maps, fused, to
 * the cycle against sums by hand, and of operators over whole maps; columns of many sweeps against what the simulated
 * device measures of their commands, and the steady state against a run whose loads of held constants are taken out of
 * the commands; which constants are held, by hand; that alternatives are what planning with them costs. */
#include "plan/planned.h"

#include "host/host.h"
#include "ledger/facts.h"
#include "program/program.h"
#include "sim/sim.h"

#include <stdio.h>

static const Facts *gather(Planned *planned, const PlanCase *test) {
    assert_true(planned_make(planned, test));
    return facts_gather("test", planned->plan, NULL, false, &planned->work);
}

#define CHAIN_OF(map, channels, s, b)                                                                                  \
    "stride0-graph 1\nformat tflite\ninput X int8" map " scale=0.05 zero=3\nconst s int8[" channels                    \
    "] scale=0.02 zero=-1 = " s "\nconst b int8[" channels "] scale=0.07 zero=4 = " b "\nvalue t int8" map             \
    " scale=0.04 zero=-5\nvalue Y int8" map                                                                            \
    " scale=0.09 zero=7\nnode Mul m: X s -> t\nnode Add a: t b -> Y\noutput Y\n"

#define CHAIN(map, channels, numbers) CHAIN_OF(map, channels, numbers, numbers)

#define WORKED CHAIN("[1,20,28,12]", "12", "2 30 -40 5 60 70 -8 90 100 -110 12 13")

/* ---- The worked example, by hand */

/* teach: a transfer costs 50, a descriptor 10, 8 bytes a cycle in bursts of 64; the engine 10 and 16 bytes a cycle; a
 * wait 20. A pixel of 12 bytes is a run of its own in 16, on both sides. */
enum {
    PIXELS = 20 * 28,
    MAP_BYTES = PIXELS * 12,
    MOVE_CYCLES = 50 + PIXELS * 10 + PIXELS * 64 / 8, /* 10,130 */
    PARAM_CYCLES = 50 + 10 + 64 / 8,                  /* 68 */
    STAGE_CYCLES = MAP_BYTES / 16,                    /* 420 */
    WAIT = 20,
};

static void check_column(const PlanCost *cost, Column column, ColumnCost want) {
    const ColumnCost *found = &cost->column[column];
    assert_int_equal(found->bytes, want.bytes);
    assert_int_equal(found->commands, want.commands);
    assert_int_equal(found->descriptors, want.descriptors);
    assert_int_equal(found->bursts, want.bursts);
    assert_int_equal(found->cycles, want.cycles);
}

static void test_worked_example(void **state) {
    (void)state;
    Planned planned;
    const PlanCase test = {WORKED, "teach", NULL, {.in_place = true, .whole_tiles = true}};
    const Facts *facts = gather(&planned, &test);
    const RunTotals *first = &facts->first_run, *later = &facts->steady.run;
    assert_true(facts->has_costs);
    check_column(&first->cost, COLUMN_LOAD_INPUT, (ColumnCost){MAP_BYTES, 1, PIXELS, PIXELS, MOVE_CYCLES});
    check_column(&first->cost, COLUMN_LOAD_PARAM, (ColumnCost){24, 2, 2, 2, 2 * PARAM_CYCLES});
    check_column(&first->cost, COLUMN_MULTIPLY, (ColumnCost){0, 1, 0, 0, 10 + STAGE_CYCLES}); /* one command of both */
    check_column(&first->cost, COLUMN_ADD, (ColumnCost){0, 0, 0, 0, STAGE_CYCLES});
    check_column(&first->cost, COLUMN_STORE, (ColumnCost){MAP_BYTES, 1, PIXELS, PIXELS, MOVE_CYCLES});
    assert_int_equal(first->cost.unbooked_steps, 0);
    assert_int_equal(first->cost.syncs, 2); /* the engine for the loads, the store for the engine */
    const uint64_t rest = 2 * MOVE_CYCLES + 10 + 2 * STAGE_CYCLES + 2 * WAIT;
    assert_int_equal(first->cost.cycles, rest + 2 * PARAM_CYCLES); /* 21,286 */
    assert_int_equal(first->burst_bytes, (2 * PIXELS + 2) * 64);
    assert_true(first->efficiency == 12.0 / 64);
    assert_int_equal(first->moved.written_bytes, 2 * MAP_BYTES + 24);
    /* Both parameters are there beside the map anyway. */
    assert_int_equal(facts->steady.held_count, 2);
    assert_int_equal(facts->steady.held_bytes, 32);
    assert_int_equal(facts->steady.alive_bytes, 8992);
    assert_int_equal(later->cost.cycles, rest);
    assert_int_equal(later->moved.written_bytes, 2 * MAP_BYTES);
    assert_int_equal(later->moved.transfers, 2);
    assert_int_equal(later->param_bytes, 0);
    planned_free(&planned);
}

/* ---- Whole maps, by hand */

/* c: 48 sums of 2 products, 64 a cycle. t copies 48 bytes. p: 4 passes over 12 bytes, each one vector. Nobody knows
 * what q does: one pass; nor what axes Y has, so that it is 3 * 2 pixels of 2. Each waits for the loads; the store for
 * them and for the engine. */
#define WHOLE                                                                                                          \
    "stride0-graph 1\nformat onnx 13\ninput X int8[1,2,4,4]\nconst W int8[3,2,1,1] = 1 2 3 4 5 6\n"                    \
    "value Y int8[1,3,2,2]\nnode Conv c: X W -> x kernel_shape=[1,1]\nnode Transpose t: x -> y perm=[0,1,3,2]\n"       \
    "node MaxPool p: y -> z kernel_shape=[2,2] strides=[2,2]\nnode Custom q: z -> Y\noutput Y\n"

static void test_whole_maps(void **state) {
    (void)state;
    Planned planned;
    const PlanCase test = {WHOLE, "teach", NULL, {.in_place = true}};
    const Facts *facts = gather(&planned, &test);
    const PlanCost *cost = &facts->first_run.cost;
    const uint64_t run = 10 + 64 / 8, copy = 10 + 48 / 16;
    assert_true(facts->has_costs);
    check_column(cost, COLUMN_LOAD_INPUT, (ColumnCost){32, 1, 16, 16, 50 + 16 * run});
    check_column(cost, COLUMN_LOAD_PARAM, (ColumnCost){6, 1, 1, 1, PARAM_CYCLES});
    check_column(cost, COLUMN_COPY, (ColumnCost){48, 1, 0, 0, copy});
    check_column(cost, COLUMN_COMPUTE, (ColumnCost){0, 3, 0, 0, (10 + 2) + (10 + 4) + (10 + 1)});
    check_column(cost, COLUMN_STORE, (ColumnCost){12, 1, 6, 6, 50 + 6 * run});
    assert_int_equal(cost->unbooked_steps, 0);
    assert_int_equal(cost->assumed_steps, 1);
    assert_int_equal(cost->syncs, 4 + 2);
    const uint64_t all = 50 + 16 * run + PARAM_CYCLES + copy + 12 + 14 + 11 + 50 + 6 * run + 6 * WAIT;
    assert_int_equal(cost->cycles, all);
    assert_int_equal(facts->steady.run.cost.cycles, all - PARAM_CYCLES);
    assert_int_equal(facts->untold_count, 0);
    planned_free(&planned);
}

/* ---- Columns, against commands that run */

static HostTensor host_tensor(const Graph *graph, ValueId id) {
    const Value *value = graph_value(graph, id);
    return (HostTensor){value->name, value->dtype, value->shape};
}

static bool is_held(const Facts *facts, const CmdBuffer *into) {
    bool is_held = false;
    for (uint32_t h = 0; h < facts->steady.held_count; h++) {
        const Buffer *held = plan_buffer(facts->plan, facts->steady.held[h]);
        is_held = is_held || (into->memory == held->memory && into->offset_bytes == held->offset);
    }
    return is_held;
}

/* It does nothing: neither waits for another, nor is waited for. */
static void drop_making(CmdProgram *program, Command *commands, uint32_t number, Work *work) {
    memset(commands[number].box.extent, 0, sizeof commands[number].box.extent);
    commands[number].wait_count = 0;
    for (uint32_t k = number + 1; k < program->command_count; k++) {
        uint32_t *waits = arena_array(&work->keep, uint32_t, commands[k].wait_count + 1), count = 0;
        for (uint32_t w = 0; w < commands[k].wait_count; w++) {
            waits[count] = commands[k].waits[w];
            count += waits[count] != number;
        }
        commands[k].waits = waits;
        commands[k].wait_count = count;
    }
}

/* Loads and copies into the buffer of what is held, and into what that is made of. */
static void drop_held(const Facts *facts, CmdProgram *program, Command *commands, Work *work) {
    for (uint32_t k = 0; k < program->command_count; k++) {
        bool is_making = commands[k].op == CMD_COPY || commands[k].op == CMD_FILL;
        if (!is_held(facts, &program->buffers[commands[k].dst.buffer]) || (!is_making && commands[k].op != CMD_LOAD)) {
            continue;
        }
        memset(commands[k].box.extent, 0, sizeof commands[k].box.extent);
        for (uint32_t l = 0; l < k && commands[k].op == CMD_COPY; l++) {
            if (commands[l].op == CMD_LOAD && commands[l].dst.buffer == commands[k].src.buffer) {
                memset(commands[l].box.extent, 0, sizeof commands[l].box.extent);
            }
        }
        if (is_making) {
            drop_making(program, commands, k, work);
        }
    }
}

/* What the commands cost; those that load into a held buffer have their box emptied, and so do nothing. */
static SimResult measure(Planned *planned, const Facts *facts, bool is_later) {
    Work *work = &planned->work;
    const BuiltProgram *built = program_build(planned->plan, S0_SEM_TFLITE_DOUBLE, work);
    assert_non_null(built);
    CmdProgram program = *built->program;
    Command *commands = arena_array(&work->keep, Command, program.command_count);
    memcpy(commands, program.commands, program.command_count * sizeof *commands);
    program.commands = commands;
    if (is_later) {
        drop_held(facts, &program, commands, work);
    }
    Sim *sim = sim_new(&program, planned->plan->device, work);
    const HostTensor input = host_tensor(planned->plan->graph, built->inputs[0].value);
    assert_true(sim_write(sim, built->inputs[0].buffer, host_seeded(&input, 0, &work->keep)));
    return *sim_run(sim);
}

static void check_measured(const char *name, const PlanCost *cost, const SimResult *found) {
    static const struct {
        CmdColumn measured;
        Column booked;
    } moves[] = {{CMD_COLUMN_LOAD_INPUT, COLUMN_LOAD_INPUT},
                 {CMD_COLUMN_LOAD_PARAM, COLUMN_LOAD_PARAM},
                 {CMD_COLUMN_STORE, COLUMN_STORE},
                 {CMD_COLUMN_COPY, COLUMN_COPY},
                 {CMD_COLUMN_FILL, COLUMN_FILL}};
    for (size_t k = 0; k < sizeof moves / sizeof moves[0]; k++) {
        const SimColumn *measured = &found->column[moves[k].measured];
        const ColumnCost *booked = &cost->column[moves[k].booked];
        if (measured->written_bytes != booked->bytes || measured->descriptors != booked->descriptors ||
            measured->bursts != booked->bursts || measured->cycles != booked->cycles) {
            fail_msg("%s: %s: booked %llu bytes, %llu descriptors, %llu bursts, %llu cycles", name,
                     column_name(moves[k].booked), (unsigned long long)booked->bytes,
                     (unsigned long long)booked->descriptors, (unsigned long long)booked->bursts,
                     (unsigned long long)booked->cycles);
        }
    }
    uint64_t engine = 0, booked = 0;
    for (int k = CMD_COLUMN_MULTIPLY; k <= CMD_COLUMN_REQUANTIZE; k++) {
        engine += found->column[k].cycles;
    }
    for (int k = COLUMN_MULTIPLY; k <= COLUMN_COMPUTE; k++) {
        booked += cost->column[k].cycles;
    }
    assert_int_equal(engine, booked);
    assert_int_equal(found->cycles, cost->cycles);
    assert_int_equal(found->syncs, cost->syncs);
}

typedef struct {
    const char *name, *graph, *device;
    PlanOptions options;
} RunCase;

#define WIDE CHAIN("[2,9,7,20]", "20", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20")

/* The second is one number. */
#define SPLAT                                                                                                          \
    CHAIN_OF("[1,9,7,20]", "20", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",                                 \
             "3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3")

static const RunCase run_cases[] = {
    {"tiles, as chosen", WIDE, "teach", {.in_place = true}},
    {"fused, rows of 2", WIDE, "teach", {.tile_rows = 2, .schedule = SCHEDULE_FUSED}},
    {"split", WIDE, "teach", {.tile_rows = 3, .schedule = SCHEDULE_SPLIT}},
    {"pipelined, an odd number of tiles", WIDE, "teach", {.tile_rows = 4, .schedule = SCHEDULE_PIPELINED}},
    {"parameters as rows", WIDE, "teach", {.tile_rows = 4, .strategy = STRATEGY_ROW}},
    {"parameters as maps", WIDE, "teach", {.tile_rows = 4, .strategy = STRATEGY_FULL, .in_place = true}},
    {"maps of one tile, one of them of a number", SPLAT, "teach", {.whole_tiles = true, .strategy = STRATEGY_FULL}},
    {"two tiles in flight read one map",
     SPLAT,
     "teach",
     {.schedule = SCHEDULE_PIPELINED, .tile_rows = 4, .strategy = STRATEGY_FULL}},
    {"little memory", WIDE, "teach", {.budget_bytes = 400}},
    {"lanes", WIDE, "sophgo-bm1684x", {.in_place = true}},
    {"bytes, two channels", WIDE, "gap8", {.tile_rows = 4}},
    {"blocks of 8 channels", WIDE, "nvdla-small", {.tile_rows = 4}},
};

static uint64_t moved_bytes(const RunTotals *run) {
    return run->moves.bytes + run->cost.column[COLUMN_COPY].bytes + run->cost.column[COLUMN_FILL].bytes;
}

static void test_measured_columns(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof run_cases / sizeof run_cases[0]; i++) {
        Planned planned;
        PlanCase test = {run_cases[i].graph, run_cases[i].device, NULL, run_cases[i].options};
        const Facts *facts = gather(&planned, &test);
        SimResult first = measure(&planned, facts, false), later = measure(&planned, facts, true);
        assert_true(facts->has_costs && first.fault_count == 0);
        check_measured(run_cases[i].name, &facts->first_run.cost, &first);
        check_measured(run_cases[i].name, &facts->steady.run.cost, &later);
        assert_int_equal(moved_bytes(&facts->first_run), facts->first_run.moved.written_bytes);
        assert_int_equal(moved_bytes(&facts->steady.run), facts->steady.run.moved.written_bytes);
        assert_int_equal(facts->steady.run.param_bytes, facts->steady.run.cost.column[COLUMN_LOAD_PARAM].bytes);
        planned_free(&planned);
    }
}

/* ---- Who stays, by hand */

static void print_numbers(FILE *out, const char *name, uint32_t count) {
    fprintf(out, "const %s int8[%u] =", name, count);
    for (uint32_t k = 0; k < count; k++) {
        fprintf(out, " %u", k % 100);
    }
    fputc('\n', out);
}

typedef struct {
    uint32_t p, q, t, u, Y; /* elements; X has 64 */
    uint64_t budget_bytes;
    bool holds_p, holds_q;
    uint64_t alive_bytes;
} HoldCase;

/* First: alive at most X + p + t = 64 + 112 + 128, then t + q + u = 128 + 208 + 16 = 352. To hold q, who saves 200 of
 * 208, takes 304 + 208 = 512; to hold p, who saves 100 of 112, takes 352 + 112 = 464; both 512.
 * Second: X + p + t = 64 + 112 + 64, as many bytes with q, then u + Y = 64 + 240 = 304. To hold one takes 416, both
 * 528; q saves more of as much. Third: as much, and p comes first. */
static const HoldCase hold_cases[] = {
    {100, 200, 128, 16, 16, 463, false, false, 352}, {100, 200, 128, 16, 16, 464, true, false, 464},
    {100, 200, 128, 16, 16, 511, true, false, 464},  {100, 200, 128, 16, 16, 512, true, true, 512},
    {97, 112, 64, 64, 240, 527, false, true, 416},   {97, 112, 64, 64, 240, 528, true, true, 528},
    {112, 112, 64, 64, 240, 527, true, false, 416},
};

static void print_graph(const HoldCase *test, char *text, size_t room) {
    FILE *out = fmemopen(text, room, "w");
    assert_non_null(out);
    fputs("stride0-graph 1\nformat tflite\ninput X int8[64]\n", out);
    print_numbers(out, "p", test->p);
    print_numbers(out, "q", test->q);
    fprintf(out, "value t int8[%u]\nvalue u int8[%u]\nvalue Y int8[%u]\n", test->t, test->u, test->Y);
    fputs("node Custom a: X p -> t\nnode Custom b: t q -> u\nnode Custom c: u -> Y\noutput Y\n", out);
    fclose(out);
}

static bool holds(Planned *planned, const Facts *facts, const char *tensor) {
    bool is_held = false;
    for (uint32_t k = 0; k < facts->steady.held_count; k++) {
        is_held = is_held || plan_buffer(planned->plan, facts->steady.held[k]) == planned_buffer(planned, tensor);
    }
    return is_held;
}

/* A load costs 50 + 10, and 8 for each burst of 64. */
static void check_steady(const HoldCase *test, const Facts *facts) {
    const RunTotals *later = &facts->steady.run;
    uint64_t p = test->holds_p ? 0 : test->p, q = test->holds_q ? 0 : test->q;
    uint64_t bursts = (p + 63) / 64 + (q + 63) / 64, loads = (p > 0 ? 1u : 0u) + (q > 0 ? 1u : 0u);
    check_column(&later->cost, COLUMN_LOAD_PARAM,
                 (ColumnCost){p + q, loads, loads, bursts, loads * (50 + 10) + bursts * 8});
    assert_int_equal(later->param_bytes, p + q);
    assert_int_equal(later->moved.written_bytes, 64 + p + q + test->Y);
    assert_int_equal(later->moved.transfers, 2 + loads);
    assert_int_equal(facts->steady.alive_bytes, test->alive_bytes);
    assert_int_equal(facts->steady.held_bytes,
                     (test->holds_p ? (test->p + 15) / 16 * 16 : 0) + (test->holds_q ? (test->q + 15) / 16 * 16 : 0));
}

static void test_holds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hold_cases / sizeof hold_cases[0]; i++) {
        const HoldCase *hold = &hold_cases[i];
        Planned planned;
        char text[2048];
        print_graph(hold, text, sizeof text);
        const PlanCase test = {text, "teach", NULL, {.in_place = true, .budget_bytes = hold->budget_bytes}};
        const Facts *facts = gather(&planned, &test);
        assert_int_equal(holds(&planned, facts, "p"), hold->holds_p);
        assert_int_equal(holds(&planned, facts, "q"), hold->holds_q);
        check_steady(hold, facts);
        planned_free(&planned);
    }
}

/* ---- Alternatives, against plans that are asked for them */

static const SweepOption *planned_option(Planned *planned, const PlanCase *test) {
    assert_true(planned_make(planned, test));
    assert_int_equal(planned->plan->sweep_count, 1);
    return &planned->plan->sweeps[0].chosen.best;
}

static void check_schedules(const PlanCase *test, const SweepFacts *sweep) {
    Schedule taken = sweep->planned->chosen.best.choice.schedule;
    for (Schedule schedule = SCHEDULE_FUSED; schedule < SCHEDULE_COUNT; schedule++) {
        uint64_t fewest = UINT64_MAX;
        bool is_there = false;
        for (uint32_t k = 0; k < sweep->other_count; k++) {
            const SweepOther *other = &sweep->others[k];
            bool is_own = other->choice.schedule == schedule;
            is_there = is_there || is_own;
            fewest = is_own && other->fits && other->cycles < fewest ? other->cycles : fewest;
        }
        bool is_fused =
            schedule == SCHEDULE_PIPELINED && sweep->planned->chosen.best.cost.tiles == 1; /* by another name */
        assert_true(is_there || schedule == taken || is_fused);
        if (schedule != taken && fewest != UINT64_MAX) {
            Planned asked;
            PlanCase with = *test;
            with.options.schedule = schedule;
            assert_int_equal(planned_option(&asked, &with)->cost.cycles, fewest);
            planned_free(&asked);
        }
    }
}

static void check_form(const PlanCase *test, const ParamPrice *price) {
    Planned asked;
    const SweepOption *option = planned_option(&asked, test);
    assert_int_equal(price->cycles, option->cost.cycles);
    assert_int_equal(price->need_bytes, option->need_bytes);
    assert_int_equal(price->param_bytes, option->cost.column[SWEEP_LOAD_PARAM].bytes);
    assert_int_equal(price->fits, asked.plan->sweeps[0].chosen.fits);
    planned_free(&asked);
}

/* Made by the engine, and expanded before. */
static void check_forms(const PlanCase *test, const SweepFacts *sweep) {
    static const Strategy strategy[] = {
        [FORM_CHANNEL] = STRATEGY_CHANNEL, [FORM_ROW] = STRATEGY_ROW, [FORM_FULL] = STRATEGY_FULL};
    for (uint32_t k = 0; k < sweep->form_count; k++) {
        const FormPrice *price = &sweep->form[k];
        PlanCase with = *test;
        with.options.strategy = strategy[price->form];
        with.options.schedule = sweep->planned->chosen.best.choice.schedule;
        check_form(&with, &price->made);
        with.options.expand_before = true;
        assert_true(price->has_before);
        check_form(&with, &price->before);
    }
}

/* The best that reloads is no worse than an asked tile of half of the channels; and what reloads nothing is none. */
static void test_reloaded(void **state) {
    (void)state;
    const PlanCase auto_case = {WORKED, "teach", NULL, {.in_place = true}};
    const PlanCase bare = {"stride0-graph 1\nformat tflite\ninput X int8[1,20,28,12] scale=0.05 zero=3\nvalue Y "
                           "int8[1,20,28,12] scale=0.05 zero=3\nnode Relu r: X -> Y\noutput Y\n",
                           "teach",
                           NULL,
                           {.in_place = true, .parameters = PARAMETERS_RELOADED}};
    Planned planned;
    const Facts *facts = gather(&planned, &auto_case);
    const SweepFacts *sweep = &facts->sweeps[0];
    uint32_t reloading = 0;
    for (uint32_t k = 0; k < sweep->other_count; k++) {
        if (!sweep->others[k].choice.is_resident) {
            PlanCase with = auto_case;
            Planned asked;
            with.options.schedule = sweep->others[k].choice.schedule;
            with.options.parameters = PARAMETERS_RELOADED;
            with.options.tile_rows = 2;
            with.options.tile_channels = 6;
            assert_true(sweep->others[k].cycles <= planned_option(&asked, &with)->cost.cycles);
            planned_free(&asked);
            reloading++;
        }
    }
    assert_int_equal(reloading, 3);
    planned_free(&planned);
    facts = gather(&planned, &bare);
    assert_int_equal(planned.plan->sweep_count, 1);
    assert_true(planned.plan->sweeps[0].chosen.best.choice.is_resident);
    assert_false(facts_reloads_none(planned.plan, &planned.plan->sweeps[0])); /* there is nothing to reload */
    for (uint32_t k = 0; k < facts->sweeps[0].other_count; k++) {
        assert_true(facts->sweeps[0].others[k].choice.is_resident);
    }
    planned_free(&planned);
}

static void test_alternatives(void **state) {
    (void)state;
    static const PlanOptions options[] = {{.in_place = true},
                                          {.tile_rows = 4},
                                          {.budget_bytes = 2000, .in_place = true},
                                          {.whole_tiles = true, .in_place = true}};
    static const char *const devices[] = {"teach", "nvdla-small"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
            Planned planned;
            PlanCase test = {WORKED, devices[d], NULL, options[i]};
            const Facts *facts = gather(&planned, &test);
            assert_int_equal(planned.plan->sweep_count, 1);
            check_schedules(&test, &facts->sweeps[0]);
            check_forms(&test, &facts->sweeps[0]);
            assert_true(facts->sweeps[0].form_count == (d == 0 ? 2 : 1)); /* nvdla-small reads no rows */
            planned_free(&planned);
        }
    }
}

/* ---- What was asked for */

/* 20 rows in tiles of 6, 12 channels in tiles of 8: 8 tiles, all rows of 8 channels first. Each of two parameters comes
 * whole, or as 8 channels and 4. */
static void test_asked_tiles(void **state) {
    (void)state;
    static const struct {
        Parameters parameters;
        ColumnCost param;
    } row[] = {{PARAMETERS_RESIDENT, {24, 2, 2, 2, 2 * PARAM_CYCLES}},
               {PARAMETERS_RELOADED, {24, 4, 4, 4, 4 * PARAM_CYCLES}}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        Planned planned;
        const PlanCase test = {
            WORKED,
            "teach",
            NULL,
            {.tile_rows = 6, .tile_channels = 8, .schedule = SCHEDULE_FUSED, .parameters = row[k].parameters}};
        const Facts *facts = gather(&planned, &test);
        const SweepChoice *choice = &planned.plan->sweeps[0].chosen.best.choice;
        assert_int_equal(choice->tile[DIM_H], 6);
        assert_int_equal(choice->tile[DIM_C], 8);
        assert_int_equal(choice->is_resident, row[k].parameters == PARAMETERS_RESIDENT);
        check_column(&facts->first_run.cost, COLUMN_LOAD_PARAM, row[k].param);
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worked_example),   cmocka_unit_test(test_whole_maps),
                                       cmocka_unit_test(test_measured_columns), cmocka_unit_test(test_holds),
                                       cmocka_unit_test(test_alternatives),     cmocka_unit_test(test_reloaded),
                                       cmocka_unit_test(test_asked_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
