/* Proves that a fresh name is one that no value and no node of the graph has, whatever names a file holds: names that
 * end in numbers, numbers with zeros in front, the largest numbers. Each answer is compared with all names and is one
 * of them when the next is asked for. Case L2: a copy of bias `b` beside an existing `b0`. */
#include "support.h"

#include "graph/edit.h"
#include "support/random.h"

static bool is_taken(const Graph *graph, Str name) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (str_eq(graph->values[v].name, name)) {
            return true;
        }
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (str_eq(graph->nodes[n].name, name)) {
            return true;
        }
    }
    return false;
}

static Str take_fresh(Work *work, Graph *graph, TakenNames *names, const char *stem) {
    Str name = graph_fresh_name(names, str_from(stem), &work->keep);
    assert_true(name.len > 0 && str_starts(name, str_from(stem)));
    assert_false(is_taken(graph, name));
    assert_true(str_eq(name, graph_fresh_name(names, str_from(stem), &work->keep))); /* is not taken by being asked */
    graph_add_value(graph, &work->keep, (Value){.name = name, .producer = NO_NODE});
    graph_take_name(names, name);
    return name;
}

/* ---- Names of a file */

typedef struct {
    const char *body, *stem, *first, *second;
} Row;

static const Row rows[] = {
    {.body = "input b int8[1]\n", .stem = "c", .first = "c", .second = "c0"},
    {.body = "input b int8[1]\n", .stem = "b", .first = "b0", .second = "b1"},
    {.body = "input b int8[1]\ninput b0 int8[1]\n", .stem = "b", .first = "b1", .second = "b2"}, /* L2 */
    {.body = "input x int8[1]\nnode Relu b: x -> b0\n", .stem = "b", .first = "b1", .second = "b2"},
    {.body = "input b int8[1]\ninput b007 int8[1]\n", .stem = "b", .first = "b0", .second = "b1"},
    {.body = "input b int8[1]\ninput b7x int8[1]\n", .stem = "b", .first = "b0", .second = "b1"},
    {.body = "input b int8[1]\ninput b0 int8[1]\ninput b1 int8[1]\ninput b3 int8[1]\n",
     .stem = "b",
     .first = "b2",
     .second = "b4"},
    {.body = "input b int8[1]\ninput b18446744073709551615 int8[1]\n", .stem = "b", .first = "b0", .second = "b1"},
    {.body = "input b int8[1]\n", .stem = "", .first = "0", .second = "1"},
};

static void check_row(Work *work, const void *argument) {
    const Row *row = argument;
    Graph *graph = parse_sound(work, row->body);
    TakenNames names = graph_taken_names(graph, &work->scratch);
    Str first = take_fresh(work, graph, &names, row->stem);
    Str second = take_fresh(work, graph, &names, row->stem);
    if (!str_eq(first, str_from(row->first)) || !str_eq(second, str_from(row->second))) {
        fail_msg("%sgot " STR_FMT " and " STR_FMT, row->body, STR_ARG(first), STR_ARG(second));
    }
}

static void test_rows(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_row, &rows[k]);
    }
}

/* ---- Random names of few letters, so that they meet */

static void test_random(Work *work) {
    uint64_t seed = 7;
    Graph *graph = graph_new(&work->keep, STR(""), FORMAT_ONNX);
    TakenNames names = graph_taken_names(graph, &work->scratch);
    for (int k = 0; k < 2000; k++) {
        char stem[8] = {0};
        size_t len = (size_t)random_below(&seed, 4) + 1;
        for (size_t i = 0; i < len; i++) {
            stem[i] = "b019"[random_below(&seed, 4)];
        }
        take_fresh(work, graph, &names, arena_text(&work->keep, "%s", stem));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        WORK_TEST(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
