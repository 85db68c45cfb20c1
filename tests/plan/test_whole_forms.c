/* Forms of parameters of operators that work on whole maps: the parameter is loaded as it is stored, the engine makes
 * the form of it in a step of its own, or fills it with a number that is known, and both are alive meanwhile. Figures
 * are counted by hand from the layout of `teach`: pixels of 3 channels take 16 bytes, a map of 4 x 4 pixels 256, and a
 * list of 3 numbers 16. */
#include "planned.h"

#include "plan/plan_cost.h"

typedef struct {
    Column column;
    const char *reads, *writes; /* names of the tensors; null where there is none */
    uint64_t live_bytes;
} Row;

enum { MOST_ROWS = 9 };

typedef struct {
    const char *name;
    const char *nodes;
    PlanOptions options;
    Row rows[MOST_ROWS];
    uint64_t copies, fills; /* commands */
    uint64_t operators;     /* over whole maps, each of one stage */
} WholeCase;

#define FULL .strategy = STRATEGY_FULL, .in_place = true
#define HEAD                                                                                                           \
    "stride0-graph 1\nformat tflite\ninput X int8[1,4,4,3]\nconst s int8[3] = 1 2 3\nconst b int8[3] = 4 5 6\n"        \
    "const one int8[1] = 7\nvalue t int8[1,4,4,3]\nvalue u int8[1,4,4,3]\nvalue Y int8[1,4,4,3]\noutput Y\n"

enum { PIXELS = 256, LIST = 16, ELEMENTS = 48 };

static const WholeCase cases[] = {
    {"compact: what is read is loaded",
     "node Mul m: X s -> Y\n",
     {.in_place = true},
     {{COLUMN_LOAD_INPUT, "X", "X", PIXELS},
      {COLUMN_LOAD_PARAM, "s", "s", PIXELS + LIST},
      {COLUMN_MULTIPLY, "X", "Y", PIXELS + LIST},
      {COLUMN_STORE, "Y", "Y", PIXELS}},
     0,
     0,
     1},
    {"a list becomes a map, before the input is there",
     "node Mul m: X s -> Y\n",
     {FULL},
     {{COLUMN_LOAD_PARAM, "s", "s", LIST},
      {COLUMN_COPY, "s", "s", LIST + PIXELS},
      {COLUMN_LOAD_INPUT, "X", "X", 2 * PIXELS},
      {COLUMN_MULTIPLY, "X", "Y", 2 * PIXELS},
      {COLUMN_STORE, "Y", "Y", PIXELS}},
     1,
     0,
     1},
    {"a number fills a map and is not loaded",
     "node Mul m: X one -> Y\n",
     {FULL},
     {{COLUMN_FILL, NULL, "one", PIXELS},
      {COLUMN_LOAD_INPUT, "X", "X", 2 * PIXELS},
      {COLUMN_MULTIPLY, "X", "Y", 2 * PIXELS},
      {COLUMN_STORE, "Y", "Y", PIXELS}},
     0,
     1,
     1},
    {"two readers of a group share a form",
     "node Mul m: X s -> t\nnode Add a: t s -> Y\n",
     {FULL},
     {{COLUMN_LOAD_PARAM, "s", "s", LIST},
      {COLUMN_COPY, "s", "s", LIST + PIXELS},
      {COLUMN_LOAD_INPUT, "X", "X", 2 * PIXELS},
      {COLUMN_MULTIPLY, "X", "t", 2 * PIXELS},
      {COLUMN_ADD, "t", "Y", 2 * PIXELS},
      {COLUMN_STORE, "Y", "Y", PIXELS}},
     1,
     0,
     2},
    {"two parameters: the one that was copied leaves, the other waits",
     "node Mul m: X s -> t\nnode Add a: t b -> Y\n",
     {FULL},
     {{COLUMN_LOAD_PARAM, "s", "s", 2 * LIST},
      {COLUMN_COPY, "s", "s", 2 * LIST + PIXELS},
      {COLUMN_COPY, "b", "b", LIST + 2 * PIXELS},
      {COLUMN_LOAD_INPUT, "X", "X", 3 * PIXELS},
      {COLUMN_MULTIPLY, "X", "t", 3 * PIXELS},
      {COLUMN_ADD, "t", "Y", 2 * PIXELS},
      {COLUMN_STORE, "Y", "Y", PIXELS}},
     2,
     0,
     2},
};

static bool is_of(const Plan *plan, const BufferId *ids, uint32_t count, const char *name) {
    if (name == NULL) {
        return count == 0;
    }
    const Value *value = count == 0 ? NULL : graph_value(plan->graph, plan_buffer(plan, ids[0])->value);
    return value != NULL && str_eq(value->name, str_from(name));
}

static void check_steps(const WholeCase *test, const Plan *plan) {
    uint32_t count = 0;
    while (count < MOST_ROWS && test->rows[count].live_bytes > 0) {
        count++;
    }
    for (uint32_t s = 0; s < plan->step_count && s < count; s++) {
        const Step *step = &plan->steps[s];
        const Row *row = &test->rows[s];
        if (step->column != row->column || step->live_bytes != row->live_bytes ||
            !is_of(plan, step->reads, step->read_count, row->reads) ||
            !is_of(plan, step->writes, step->write_count, row->writes)) {
            fail_msg("%s: step %u is %s with %llu bytes alive", test->name, (unsigned)s, column_name(step->column),
                     (unsigned long long)step->live_bytes);
        }
    }
    assert_int_equal(plan->step_count, count);
}

/* A form: one stage over its elements. What is loaded costs what its own bytes do. */
static void check_costs(const WholeCase *test, const Plan *plan, Arena *scratch) {
    const Device *device = plan->device;
    uint64_t rate = device->vector_bytes_cycle.value, once = device->issue_cycles.value;
    PlanCost cost;
    assert_true(rate > 0);
    once += (ELEMENTS + rate - 1) / rate;
    assert_true(plan_cost(plan, NULL, scratch, &cost));
    assert_int_equal(cost.column[COLUMN_COPY].commands, test->copies);
    assert_int_equal(cost.column[COLUMN_COPY].bytes, test->copies * ELEMENTS);
    assert_int_equal(cost.column[COLUMN_COPY].cycles, test->copies * once);
    assert_int_equal(cost.column[COLUMN_FILL].commands, test->fills);
    assert_int_equal(cost.column[COLUMN_FILL].bytes, test->fills * ELEMENTS);
    assert_int_equal(cost.column[COLUMN_FILL].cycles, test->fills * once);
    assert_int_equal(cost.column[COLUMN_MULTIPLY].commands + cost.column[COLUMN_ADD].commands, test->operators);
    assert_int_equal(cost.column[COLUMN_MULTIPLY].cycles + cost.column[COLUMN_ADD].cycles, test->operators * once);
    assert_int_equal(cost.unbooked_steps + cost.assumed_steps, 0);
    assert_true(cost.column[COLUMN_LOAD_PARAM].bytes <= 6);
}

/* Each form has its reason, the list that it is made of has none, and only the form tells what forms cost. */
static void check_reasons(const WholeCase *test, const Plan *plan) {
    uint64_t forms = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        bool is_local_parameter = buffer->memory == plan->device->local && buffer->kind == BUFFER_PARAMETER;
        if (is_local_parameter && test->copies + test->fills > 0) {
            assert_int_equal(buffer->is_form, buffer->materialised_reason != NULL);
            assert_int_equal(buffer->is_form, buffer->costs != NULL);
            assert_int_equal(buffer->is_form, buffer->physical_bytes == PIXELS);
        }
        forms += buffer->is_form;
    }
    assert_int_equal(forms, test->copies + test->fills);
}

static void test_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        Planned planned;
        snprintf(text, sizeof text, "%s%s", HEAD, cases[i].nodes);
        const PlanCase test = {text, "teach", NULL, cases[i].options};
        assert_true(planned_make(&planned, &test));
        check_steps(&cases[i], planned.plan);
        check_costs(&cases[i], planned.plan, &planned.work.scratch);
        check_reasons(&cases[i], planned.plan);
        planned_free(&planned);
    }
}

/* The time of a form is time of the plan: a device whose engine issues more slowly takes as much longer. */
static void test_time(void **state) {
    (void)state;
    char text[1024];
    uint64_t cycles[2];
    for (int k = 0; k < 2; k++) {
        Planned planned;
        PlanCost cost;
        snprintf(text, sizeof text, "%snode Mul m: X s -> Y\n", HEAD);
        const PlanCase test = {text, "teach", NULL, {FULL}};
        assert_true(planned_make(&planned, &test));
        Device slower = *planned.plan->device;
        slower.issue_cycles.value += k == 0 ? 0 : 1000;
        planned.plan->device = &slower;
        assert_true(plan_cost(planned.plan, NULL, &planned.work.scratch, &cost));
        cycles[k] = cost.cycles;
        planned_free(&planned);
    }
    assert_int_equal(cycles[1] - cycles[0], 2 * 1000); /* of the form, and of what reads it */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
