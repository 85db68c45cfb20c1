/* Proves which run of per-channel operators is cut out for an operator: as long as each reads the one before and nobody
 * else does, in both directions; and that what it reads from others becomes an input. */
#include "plan/cut.h"

#include "graph/text.h"
#include "support/work.h"

/* x - Mul m - Add a - Softmax - Mul p - Relu r -> y; what Mul q makes is read twice. */
static const char network[] = "stride0-graph 1\ninput x float32[1,2,3]\n"
                              "const s float32[3] = 1 2 3\n"
                              "value m1 float32[1,2,3]\nvalue a1 float32[1,2,3]\nvalue f1 float32[1,2,3]\n"
                              "value p1 float32[1,2,3]\nvalue y float32[1,2,3]\nvalue q1 float32[1,2,3]\n"
                              "value r1 float32[1,2,3]\nvalue r2 float32[1,2,3]\n"
                              "value w1 float32[1,2,3]\n"
                              "node Mul m: x s -> m1\nnode Add a: m1 s -> a1\nnode Softmax f: a1 -> f1 axis=-1\n"
                              "node Mul p: f1 s -> p1\nnode Relu r: p1 -> y\n"
                              "node Mul q: f1 s -> q1\nnode Relu q2: q1 -> r1\nnode Relu q3: q1 -> r2\n"
                              "node Sub w: x s -> w1\n"
                              "output y\noutput r1\noutput r2\noutput w1\n";

static Graph *read_network(Work *work) {
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)network, sizeof network - 1}, STR("g"));
    assert_true(graph != NULL && graph_inline(graph, work) && graph_bind_dims(graph, NULL, 0, work) &&
                graph_infer(graph, work) && graph_assign_names(graph, NULL, 0, work));
    return graph;
}

static NodeId find(const Graph *graph, const char *name) {
    for (uint32_t k = 0; k < graph->node_count; k++) {
        if (str_eq(graph->nodes[k].name, str_from(name))) {
            return (NodeId){k};
        }
    }
    fail_msg("no node %s", name);
    return NO_NODE;
}

static const char *names_of(const Graph *graph, const ValueId *ids, uint32_t count, Arena *arena) {
    const char *text = "";
    for (uint32_t k = 0; k < count; k++) {
        text = arena_text(arena, "%s%s" STR_FMT, text, k == 0 ? "" : " ", STR_ARG(graph_value(graph, ids[k])->name));
    }
    return text;
}

static void test_chains(Work *work) {
    static const struct {
        const char *node, *nodes, *input, *output;
    } row[] = {{"m", "m a", "x", "a1"}, {"a", "m a", "x", "a1"},  {"p", "p r", "f1", "y"},  {"r", "p r", "f1", "y"},
               {"q", "q", "f1", "q1"},  {"q2", "q2", "q1", "r1"}, {"q3", "q3", "q1", "r2"}, {"w", "w", "x", "w1"}};
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        Graph *graph = read_network(work);
        const char *why = NULL, *nodes = "";
        assert_true(plan_cut_chain(graph, find(graph, row[k].node), work, &why));
        const Block *block = graph_main(graph);
        for (uint32_t n = 0; n < block->node_count; n++) {
            nodes = arena_text(&work->keep, "%s%s" STR_FMT, nodes, n == 0 ? "" : " ",
                               STR_ARG(graph_node(graph, block->nodes[n])->name));
        }
        assert_string_equal(nodes, row[k].nodes);
        assert_string_equal(names_of(graph, block->inputs, block->input_count, &work->keep), row[k].input);
        assert_string_equal(names_of(graph, block->outputs, block->output_count, &work->keep), row[k].output);
        assert_true(graph_value(graph, block->inputs[0])->is_input && graph_value(graph, block->outputs[0])->is_output);
        assert_false(is_node(graph_value(graph, block->inputs[0])->producer));
        assert_true(graph_check(graph, work));
    }
}

static void test_refused(Work *work) {
    Graph *graph = read_network(work);
    const char *why = NULL;
    assert_false(plan_cut_chain(graph, find(graph, "f"), work, &why));
    assert_non_null(why);
    assert_int_equal(graph_main(graph)->output_count, 4);
}

static void test_first_nodes(Work *work) {
    const Graph *graph = read_network(work);
    static const char *const expected[] = {"m", "p", "q", "q2", "q3", "w"};
    NodeId first[8];
    assert_int_equal(plan_find_chains(graph, first, 8, &work->scratch), 6);
    for (size_t k = 0; k < 6; k++) {
        assert_int_equal(first[k].index, find(graph, expected[k]).index);
    }
    assert_int_equal(plan_find_chains(graph, first, 2, &work->scratch), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_chains), WORK_TEST(test_refused), WORK_TEST(test_first_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
