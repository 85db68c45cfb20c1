/* Who is to blame for a peak that does not fit, and which constants wait. Proves, on the worked example with whole maps
 * and on chains by hand: forms that --strategy asked for, with the bytes of the smallest; a schedule, with what fused
 * needs; workspace; constants that are alive where nothing uses them, also where the plan fits; and nothing of all this
 * where no byte is too many. */
#include "plan/planned.h"

#include "ledger/facts.h"

#define MAP "[1,20,28,12]"
#define CHAIN                                                                                                          \
    "stride0-graph 1\nformat tflite\ninput X int8" MAP " scale=0.05 zero=3\n"                                          \
    "const s int8[12] scale=0.02 zero=-1 = 2 30 -40 5 60 70 -8 90 100 -110 12 13\n"                                    \
    "const b int8[12] scale=0.07 zero=4 = 3 -4 5 60 -70 8 9 -100 110 12 13 14\n"                                       \
    "value t int8" MAP " scale=0.04 zero=-5\nvalue Y int8" MAP " scale=0.09 zero=7\n"                                  \
    "node Mul m: X s -> t\nnode Add a: t b -> Y\noutput Y\n"

/* A pixel of 12 bytes lies in 16; the last has no padding that anyone reserves for workspace. */
enum { MAP_BYTES = 20 * 28 * 16, HANDED_BYTES = MAP_BYTES - 4, PARAM_BYTES = 16 };

typedef struct {
    BlameKind kind;
    const char *tensor; /* null: of the sweep */
    uint64_t bytes, instead_bytes;
} Expected;

typedef struct {
    const char *name, *graph;
    PlanOptions options;
    uint32_t count;
    Expected blame[4];
} BlameCase;

static const BlameCase blame_cases[] = {
    {"whole maps as parameters: 16 bytes each would do",
     CHAIN,
     {.whole_tiles = true, .in_place = true, .strategy = STRATEGY_FULL},
     2,
     {{BLAME_BROADCAST_FORM, "s", MAP_BYTES, PARAM_BYTES}, {BLAME_BROADCAST_FORM, "b", MAP_BYTES, PARAM_BYTES}}},
    {"fused, compact: nothing that need not be there",
     CHAIN,
     {.whole_tiles = true, .in_place = true, .budget_bytes = 8000},
     0,
     {{0}}},
    {"split: two maps where one would do, b waits while s is used",
     CHAIN,
     {.whole_tiles = true, .in_place = true, .schedule = SCHEDULE_SPLIT},
     3,
     {{BLAME_SCHEDULE, NULL, 2 * MAP_BYTES + 2 * PARAM_BYTES, MAP_BYTES + 2 * PARAM_BYTES},
      {BLAME_WORKSPACE, "t", HANDED_BYTES, 0},
      {BLAME_PARAMETER_LIFETIME, "b", PARAM_BYTES, 0}}},
    {"split and no writing over the input: fused needs both maps as well",
     CHAIN,
     {.whole_tiles = true, .schedule = SCHEDULE_SPLIT},
     2,
     {{BLAME_PARAMETER_LIFETIME, "b", PARAM_BYTES, 0}, {BLAME_WORKSPACE, "t", HANDED_BYTES, HANDED_BYTES}}},
    {"pipelined, a pixel a tile: two of them where one would do",
     CHAIN,
     {.in_place = true, .schedule = SCHEDULE_PIPELINED, .budget_bytes = 40},
     1,
     {{BLAME_SCHEDULE, NULL, 2 * 16 + 2 * PARAM_BYTES, 16 + 2 * PARAM_BYTES}}},
    {"it fits",
     CHAIN,
     {.whole_tiles = true, .in_place = true, .schedule = SCHEDULE_SPLIT, .budget_bytes = 20000},
     0,
     {{0}}},
};

static void check_blame(const BlameCase *test, Planned *planned, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    if (misfit->blame_count != test->count) {
        fail_msg("%s: %u to blame", test->name, misfit->blame_count);
    }
    for (uint32_t k = 0; k < test->count; k++) {
        const Blame *found = &misfit->blame[k];
        const Expected *want = &test->blame[k];
        if (found->kind != want->kind || found->bytes != want->bytes || found->instead_bytes != want->instead_bytes) {
            fail_msg("%s: %s: %llu for %llu", test->name, blame_name(found->kind), (unsigned long long)found->bytes,
                     (unsigned long long)found->instead_bytes);
        }
        assert_int_equal(is_buffer(found->buffer), want->tensor != NULL);
        if (want->tensor != NULL) {
            const Buffer *buffer = plan_buffer(planned->plan, found->buffer);
            Str name = graph_value(planned->plan->graph, buffer->value)->name;
            assert_true(str_eq(name, str_from(want->tensor)) && buffer->physical_bytes == want->bytes);
        }
        assert_true(found->hint != NULL && is_node(found->node));
    }
}

static void test_blame(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof blame_cases / sizeof blame_cases[0]; i++) {
        Planned planned;
        PlanCase test = {blame_cases[i].graph, "teach", NULL, blame_cases[i].options};
        assert_true(planned_make(&planned, &test));
        check_blame(&blame_cases[i], &planned, facts_gather("test", planned.plan, NULL, false, &planned.work));
        planned_free(&planned);
    }
}

/* ---- Constants that wait */

typedef struct {
    const char *name;
    PlanOptions options;
    uint32_t s_steps, b_steps; /* without use */
} WaitCase;

/* Steps: load X, load s and b, multiply, add, store. Whole maps, split: s is used at its load and the multiply, b at
 * its load and the add. Fused: both operators are one. In tiles of 10 rows, what stays is there at the load of X and at
 * the store as well. */
static const WaitCase wait_cases[] = {
    {"split", {.whole_tiles = true, .schedule = SCHEDULE_SPLIT, .budget_bytes = 20000}, 0, 1},
    {"fused", {.whole_tiles = true, .schedule = SCHEDULE_FUSED, .budget_bytes = 20000}, 0, 0},
    {"fused, two tiles", {.tile_rows = 10, .schedule = SCHEDULE_FUSED}, 2, 2},
    {"split, two tiles", {.tile_rows = 10, .schedule = SCHEDULE_SPLIT}, 3, 3},
};

static void test_waits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wait_cases / sizeof wait_cases[0]; i++) {
        Planned planned;
        PlanCase test = {CHAIN, "teach", NULL, wait_cases[i].options};
        assert_true(planned_make(&planned, &test) && plan_local_fits(planned.plan));
        const Facts *facts = facts_gather("test", planned.plan, NULL, false, &planned.work);
        uint32_t s = facts->idle_steps[planned_buffer(&planned, "s") - planned.plan->buffers];
        uint32_t b = facts->idle_steps[planned_buffer(&planned, "b") - planned.plan->buffers];
        if (s != wait_cases[i].s_steps || b != wait_cases[i].b_steps) {
            fail_msg("%s: s waits at %u steps, b at %u", wait_cases[i].name, s, b);
        }
        planned_free(&planned);
    }
}

/* The peak of the first of them is the multiply, where b waits. */
static void test_wait_at_peak(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        Planned planned;
        PlanCase test = {CHAIN, "teach", NULL, wait_cases[i].options};
        assert_true(planned_make(&planned, &test));
        const Facts *facts = facts_gather("test", planned.plan, NULL, false, &planned.work);
        assert_int_equal(facts->idle_at_peak.all, i == 0);
        assert_int_equal(facts->idle_at_peak.all_bytes, i == 0 ? PARAM_BYTES : 0);
        assert_true(i != 0 ||
                    plan_buffer(planned.plan, facts->idle_at_peak.top[0].buffer) == planned_buffer(&planned, "b"));
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blame), cmocka_unit_test(test_waits),
                                       cmocka_unit_test(test_wait_at_peak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
