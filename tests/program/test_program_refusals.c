/* Proves what is told of a plan that has no program: which operator, tensor or device, why, and what to do. */
#include "node/table.h"
#include "plan/planned.h"
#include "program/program.h"

typedef struct {
    const char *name;
    const char *graph; /* behind the first line */
    const char *device;
    const char *expected[3];
    Strategy strategy;
    bool whole_tiles;
} Row;

static const Row rows[] = {
    {.name = "a device that loads nothing",
     .graph = "input x float32[1,3,4,5]\nnode Relu: x -> y\noutput y\n",
     .device = "mcu-cm",
     .expected = {"only a device that loads and stores runs commands", "arena", "-d teach"}},
    {.name = "two maps of which neither has the shape of the result",
     .graph = "input x float32[1,3,1,1]\ninput z float32[1,1,4,5]\nnode Relu: x -> a\nnode Relu: z -> b\n"
              "node Add both: a b -> y\noutput y\n",
     .device = "teach",
     .expected = {"node 'both'", "its map does not keep its shape", "--node"}},
    {.name = "an operator that is none of stages",
     .graph = "input x float32[1,3,4,5]\nnode Sigmoid s: x -> y\noutput y\n",
     .device = "teach",
     .expected = {"node 's'", "it is no per-channel operator that is executed", "--node"}},
    {.name = "a constant without bytes",
     .graph = "input x float32[1,3,4,5]\nconst c float32[1,3,1,1] = unknown\nnode Mul m: x c -> y\noutput y\n",
     .device = "teach",
     .expected = {"tensor 'c'", "the file does not hold the numbers of this constant", NULL}},
    {.name = "a parameter along a part of a dimension",
     .graph = "format tflite\ninput x float32[2,3,4,4,5]\nconst c float32[3,1,1,1] = 1 2 3\nnode Mul m: x c -> "
              "y\noutput y\n",
     .device = "teach",
     .expected = {"node 'm'", "tensor 'c'", "some of the axes that are one dimension"}},
    {.name = "the same, expanded to a row",
     .graph = "format tflite\ninput x float32[2,3,4,4,5]\nconst c float32[3,1,1,1] = 1 2 3\nnode Mul m: x c -> y\n"
              "output y\n",
     .device = "teach",
     .strategy = STRATEGY_ROW,
     .expected = {"node 'm'", "no command runs this operator", NULL}},
    {.name = "an operator on a type that the device file does not list",
     .graph = "input x float32[1,3,4,5]\nconst c float32[] = 2\nnode Mul m: x c -> y\noutput y\n",
     .device = S0_SOURCE_DIR "/tests/program/codes_only.ini",
     .expected = {"node 'm'", "float32", "int8 uint8 int32"}},
    {.name = "the same between two stages",
     .graph = "input x int8[1,3,4,5]\nconst s float32[] = 0.5\nnode DequantizeLinear d: x s -> f\n"
              "value y int8[1,3,4,5]\nconst z int8[] = 0\nnode QuantizeLinear q: f s z -> y\noutput y\n",
     .device = S0_SOURCE_DIR "/tests/program/codes_only.ini",
     .expected = {"node 'd'", "float32", "dtypes of the device file"}},
    {.name = "a table that is longer than a transfer",
     .graph =
         "format tflite\ninput x int8[1,4,4,3] scale=0.1 zero=3\nvalue y int8[1,4,4,3] scale=0.00390625 zero=-128\n"
         "node Sigmoid(LOGISTIC) p: x -> y\noutput y\n",
     .device = S0_SOURCE_DIR "/tests/program/int8_only.ini",
     .expected = {"node 'p'", "its table of 256 bytes", "longer than a transfer"}},
    {.name = "a window on codes of another type",
     .graph = "input x uint8[1,3,4,5]\nnode MaxPool p: x -> y kernel_shape=[2,2]\noutput y\n",
     .device = S0_SOURCE_DIR "/tests/program/int8_only.ini",
     .expected = {"node 'p'", "uint8", "dtypes of the device file"}},
    {.name = "a map without elements",
     .graph = "input x float32[1,0,4,5]\nconst c float32[] = 2\nnode Mul m: x c -> y\noutput y\n",
     .device = "teach",
     .expected = {"node 'm'", "its result has no elements", NULL}},
    {.name = "a map that --tile none leaves longer than a transfer, of 65,536 bytes",
     .graph = "input x float32[1,1,1,20000]\nconst c float32[] = 2\nnode Mul m: x c -> y\noutput y\n",
     .device = "teach",
     .whole_tiles = true,
     .expected = {"node 'm'", "--tile none leaves its map whole", NULL}},
};

static void check(Work *work, const Row *row) {
    const char *text = arena_text(&work->keep, "stride0-graph 1\n%s", row->graph);
    const PlanCase test = {.options = {.strategy = row->strategy, .in_place = true, .whole_tiles = row->whole_tiles}};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *device = device_load(work, str_from(row->device));
    assert_true(graph != NULL && device != NULL && planned_passes(graph, &test, work));
    node_add_tables(graph, S0_SEM_TFLITE_DOUBLE, &work->keep);
    const Plan *plan = plan_make(graph, device, &test.options, work);
    assert_non_null(plan);
    assert_null(program_build(plan, S0_SEM_ONNX, work));
    for (size_t k = 0; k < 3 && row->expected[k] != NULL; k++) {
        if (!was_told(work, row->expected[k])) {
            diags_print(&work->diags, "", stderr);
            fail_msg("%s: not told: %s", row->name, row->expected[k]);
        }
    }
}

static void test_refusals(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        Work work;
        WORK_BEGIN(&work);
        check(&work, &rows[k]);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
