/* The facts beside the plan. Proves: traffic of loads, stores, copies, slices and expanded parameters, against sums
 * derived by hand; graph inputs that are overwritten, against a memory that is stamped step by step, on random
 * networks; the cost of pinning; which layouts are reported as swollen. */
#include "plan/planned.h"

#include "ledger/facts.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

static const Facts *gather(Planned *planned, const PlanCase *test) {
    assert_true(planned_make(planned, test));
    return facts_gather("test", planned->plan, NULL, false, &planned->work);
}

typedef struct {
    const char *name;
    PlanCase plan;
    Moved load_input, load_param, store, copy, fill;
} TrafficCase;

#define MAP "[1,4,4,3]" /* 48 elements */
#define AFFINE                                                                                                         \
    "stride0-graph 1\nformat tflite\ninput X int8" MAP "\nconst s int8[3] = 1 2 3\nvalue Y int8" MAP                   \
    "\nnode Mul m: X s -> Y\noutput Y\n"

static const TrafficCase traffic_cases[] = {
    {"compact: 48 in, 3 of parameters, 48 out",
     {AFFINE, "teach", NULL, {.in_place = true}},
     .load_input = {48, 48, 1},
     .load_param = {3, 3, 1},
     .store = {48, 48, 1}},
    {"expanded: 3 elements are loaded, and repeated until there are 48",
     {AFFINE, "teach", NULL, {.in_place = true, .strategy = STRATEGY_FULL}},
     .load_input = {48, 48, 1},
     .load_param = {3, 3, 1},
     .copy = {48, 48, 1},
     .store = {48, 48, 1}},
    {"an arena reads parameters where they lie", {AFFINE, "mcu-cm", NULL, {.in_place = true}}, .load_param = {0, 0, 0}},
    {"an arena fills what is expanded",
     {AFFINE, "mcu-cm", NULL, {.in_place = true, .strategy = STRATEGY_FULL}},
     .fill = {3, 48, 1}},
    {"a reshape from input to output is a copy: 96 read, 96 written",
     {"stride0-graph 1\ninput X int8[2,48]\nconst to int64[2] = 4 24\nvalue Y int8[4,24]\nnode Reshape r: X to -> Y\n"
      "output Y\n",
      "mcu-cm",
      NULL,
      {.in_place = true}},
     .copy = {96, 96, 1}},
    {"of a slice's source only the slice is read: rows 1 and 2 of 8 columns",
     {"stride0-graph 1\ninput X int8[4,8]\nconst b int64[1] = 1\nconst e int64[1] = 3\nconst a int64[1] = 1\n"
      "value Y int8[4,2]\nnode Slice s: X b e a -> Y\noutput Y\n",
      "mcu-cm",
      NULL,
      {.in_place = true}},
     .copy = {8, 8, 1}},
    {"an assignment writes all of its variable and reads nothing of it",
     {"stride0-graph 1\nformat tflite\ninput X int8[48]\nstate v int8[48]\nvalue Y int8[48]\nvalue h resource[]\n"
      "node tflite.VAR_HANDLE n: -> h\nnode Relu r: X -> Y\nnode tflite.ASSIGN_VARIABLE a: h Y v ->\noutput Y\n",
      "mcu-cm",
      NULL,
      {.in_place = true}},
     .copy = {48, 48, 1}},
    {"no elements, no traffic",
     {"stride0-graph 1\ninput X int8[1,0,4]\nvalue Y int8[1,0,4]\nnode Relu r: X -> Y\noutput Y\n",
      "teach",
      NULL,
      {.in_place = true}},
     .load_input = {0, 0, 0}},
};

static void check_moved(const char *name, const Facts *facts, Column column, Moved expected) {
    const Moved *found = &facts->traffic.by_column[column];
    if (found->read_bytes != expected.read_bytes || found->written_bytes != expected.written_bytes ||
        found->transfers != expected.transfers) {
        fail_msg("%s: %s: %llu read, %llu written, %llu transfers", name, column_name(column),
                 (unsigned long long)found->read_bytes, (unsigned long long)found->written_bytes,
                 (unsigned long long)found->transfers);
    }
}

static void test_traffic(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof traffic_cases / sizeof *traffic_cases; i++) {
        const TrafficCase *test = &traffic_cases[i];
        Planned planned;
        const Facts *facts = gather(&planned, &test->plan);
        check_moved(test->name, facts, COLUMN_LOAD_INPUT, test->load_input);
        check_moved(test->name, facts, COLUMN_LOAD_PARAM, test->load_param);
        check_moved(test->name, facts, COLUMN_STORE, test->store);
        check_moved(test->name, facts, COLUMN_COPY, test->copy);
        check_moved(test->name, facts, COLUMN_FILL, test->fill);
        assert_int_equal(facts->traffic.param_bytes, test->load_param.written_bytes);
        assert_int_equal(facts->traffic.all.read_bytes, test->load_input.read_bytes + test->load_param.read_bytes +
                                                            test->store.read_bytes + test->copy.read_bytes +
                                                            test->fill.read_bytes);
        assert_int_equal(facts->copy_count, test->copy.transfers);
        planned_free(&planned);
    }
}

/* ---- Overwritten inputs: a second method */

enum { MOST_NODES = 12, MOST_INPUTS = 4, GRAPH_TEXT = 4096 };

/* A network of operators of unknown kind and of Relus over random earlier values, sizes 1 to 100. */
static void draw_graph(uint64_t *seed, char *text, size_t room) {
    int sizes[MOST_INPUTS + MOST_NODES];
    int inputs = 1 + (int)random_below(seed, MOST_INPUTS);
    int nodes = 1 + (int)random_below(seed, MOST_NODES);
    size_t used = (size_t)snprintf(text, room, "stride0-graph 1\n");
    for (int i = 0; i < inputs; i++) {
        sizes[i] = 1 + (int)random_below(seed, 100);
        used += (size_t)snprintf(text + used, room - used, "input v%d int8[%d]\n", i, sizes[i]);
    }
    for (int n = inputs; n < inputs + nodes; n++) {
        int a = (int)random_below(seed, (uint64_t)n);
        int b = (int)random_below(seed, (uint64_t)n);
        bool is_relu = random_below(seed, 2) == 0;
        sizes[n] = is_relu ? sizes[a] : 1 + (int)random_below(seed, 100);
        used += (size_t)snprintf(text + used, room - used, "value v%d int8[%d]\n", n, sizes[n]);
        used += is_relu ? (size_t)snprintf(text + used, room - used, "node Relu n%d: v%d -> v%d\n", n, a, n)
                        : (size_t)snprintf(text + used, room - used, "node Custom n%d: v%d v%d -> v%d\n", n, a, b, n);
    }
    snprintf(text + used, room - used, "output v%d\n", inputs + nodes - 1);
}

/* The first step that writes a byte of [begin, end) to local memory, or UINT32_MAX. */
static uint32_t first_stamp(const Plan *plan, uint64_t begin, uint64_t end) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        for (uint32_t k = 0; k < plan->steps[s].write_count; k++) {
            const Buffer *written = plan_buffer(plan, plan->steps[s].writes[k]);
            for (uint64_t byte = begin; byte < end; byte++) {
                if (written->memory == plan->device->local && byte >= written->offset &&
                    byte < written->offset + written->physical_bytes) {
                    return s;
                }
            }
        }
    }
    return UINT32_MAX;
}

static uint32_t told_step(const Facts *facts, BufferId input) {
    for (uint32_t i = 0; i < facts->overwrite_count; i++) {
        if (facts->overwrites[i].input.index == input.index) {
            return facts->overwrites[i].step;
        }
    }
    return UINT32_MAX;
}

static void check_overwrites(const Facts *facts, const char *text) {
    const Plan *plan = facts->plan;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer->kind != BUFFER_INPUT || buffer->memory != plan->device->local) {
            continue;
        }
        uint32_t expected = first_stamp(plan, buffer->offset, buffer->offset + buffer->physical_bytes);
        if (told_step(facts, (BufferId){i}) != expected) {
            fail_msg("buffer %u: told %u, found %u in\n%s", i, told_step(facts, (BufferId){i}), expected, text);
        }
    }
}

static void test_overwrites(void **state) {
    (void)state;
    uint64_t seed = 20261129;
    uint32_t overwritten = 0;
    for (int round = 0; round < 300; round++) {
        char text[GRAPH_TEXT];
        Planned planned;
        bool pin = round % 5 == 4;
        draw_graph(&seed, text, sizeof text);
        PlanCase test = {text, "mcu-cm", NULL, {.in_place = round % 2 == 0, .pin_inputs = pin}};
        const Facts *facts = gather(&planned, &test);
        check_overwrites(facts, text);
        assert_true(!pin || facts->overwrite_count == 0);
        assert_true(facts->overwrite_count == 0 || facts->pinned->peak_live_bytes >= planned.plan->peak_live_bytes);
        overwritten += facts->overwrite_count;
        planned_free(&planned);
    }
    assert_true(overwritten > 100); /* the drawing finds what it looks for */
}

/* ---- Layouts that take several times their data */

typedef struct {
    const char *shape;
    uint64_t logical_bytes, padding_bytes; /* pixels of one channel pair on teach: 2 of 16 bytes are data */
    bool is_swollen;
} SwollenCase;

static const SwollenCase swollen_cases[] = {
    {"[1,16,16,2]", 512, 16 * 16 * 14, true},   /* 8 times, 3584 bytes */
    {"[1,16,16,4]", 1024, 16 * 16 * 12, true},  /* exactly 4 times, 3072 bytes */
    {"[1,16,16,5]", 1280, 16 * 16 * 11, false}, /* 3.2 times */
    {"[1,4,4,2]", 32, 4 * 4 * 14, false},       /* 8 times, but 224 bytes are not worth a line */
};

static void test_swollen(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof swollen_cases / sizeof *swollen_cases; i++) {
        const SwollenCase *test = &swollen_cases[i];
        char text[256];
        Planned planned;
        snprintf(text, sizeof text,
                 "stride0-graph 1\nformat tflite\ninput X int8%s\nvalue Y int8%s\nnode Relu r: X -> Y\noutput Y\n",
                 test->shape, test->shape);
        PlanCase plan = {text, "teach", NULL, {.in_place = true}};
        const Facts *facts = gather(&planned, &plan);
        assert_int_equal(planned_buffer(&planned, "X")->logical_bytes, test->logical_bytes);
        assert_int_equal(facts->paddings.top[0].bytes, test->padding_bytes);
        assert_int_equal(facts->swollen.count, test->is_swollen);
        assert_int_equal(planned.work.diags.count[DIAG_WARNING], test->is_swollen);
        planned_free(&planned);
    }
}

/* ---- Names */

static void test_names(void **state) {
    (void)state;
    Planned planned;
    PlanCase test = {AFFINE, "teach", NULL, {.in_place = true}};
    const Facts *facts = gather(&planned, &test);
    Str nearest = {0};
    assert_true(facts_find_buffer(facts, STR("s"), &nearest));
    assert_true(is_node(facts_find_node(facts, STR("m"), &nearest)));
    assert_false(facts_find_buffer(facts, STR("YY"), &nearest));
    assert_true(str_eq(nearest, STR("Y")));
    assert_false(is_node(facts_find_node(facts, STR("entirely different"), &nearest)));
    assert_int_equal(nearest.len, 0);
    planned_free(&planned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_overwrites),
        cmocka_unit_test(test_swollen),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
