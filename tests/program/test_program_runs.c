/* Proves of small programs, each the smallest where something once went wrong, that the simulated device finds no fault
 * in them and touches what was estimated, in as many lanes; or that they are refused. */
#include "graph/passes.h"
#include "graph/text.h"
#include "program/program.h"
#include "sim/sim.h"

#include "support/work.h"

typedef struct {
    const char *name;
    const char *graph;      /* behind the first line */
    const char *maps;       /* contract of maps */
    const char *parameters; /* of parameters, where it is another */
    const char *local;      /* bytes of local memory */
    const char *far_align;  /* bytes */
    const char *most_bytes; /* of a transfer */
    const char *refused;    /* else it runs */
    bool in_place;
    Strategy strategy;
    Schedule schedule;
} Row;

static const Row rows[] = {
    {.name = "lanes of several digits: some between those that hold elements are empty",
     .graph = "input x float32[1,2,1,1]\nnode Relu r: x -> y\noutput y\n",
     .maps = "bank[C%2 H/16%2] N C/2 H/32 W H%16"},
    {.name = "digits of one dimension, not all of which go together",
     .graph = "input x float32[1,1,1,4]\nnode Relu r: x -> y\noutput y\n",
     .maps = "bank[W%3 W/3%2] N W/6 C H"},
    {.name = "a base that is no multiple of the memory's alignment",
     .graph = "input x float32[1,1,1,1]\nnode Relu r: x -> y\noutput y\n",
     .maps = "N C H W base@24",
     .far_align = "16"},
    {.name = "over the input, where a byte holds elements of two lines",
     .graph = "format tflite\ninput x int4[1,2,1,1] scale=0.25 zero=1\nvalue y int4[1,2,1,1] scale=0.5 zero=0\n"
              "node tflite.RELU6 r: x -> y\noutput y\n",
     .maps = "N C H W",
     .in_place = true},
    {.name = "a number expanded to channels, whose local copy has blocks of two: no tile begins inside one",
     .graph = "format tflite\ninput x float32[1,2,3,33]\nconst c float32[] = 2\nnode Mul m: x c -> y\noutput y\n",
     .maps = "N C H W",
     .parameters = "N^3@4 C/2@1+1 H@12 W+3 C%2",
     .most_bytes = "512",
     .strategy = STRATEGY_CHANNEL},
    {.name = "a map that stays whole, of blocks larger than a transfer",
     .graph = "input x int8[1,33,2,3]\nconst s float32[] = 0.25\nconst z int8[] = 1\nvalue v float32[1,33,2,3]\n"
              "value y int8[1,33,2,3]\nnode DequantizeLinear@21 d: x s z -> v\nnode QuantizeLinear@21 q: v s z -> y\n"
              "output v\noutput y\n",
     .maps = "N C/32 H/8 W/3 C/16%2 H%8 W%3 C%16",
     .parameters = "N C H W",
     .most_bytes = "512",
     .refused = "a block of its layout is more than a transfer"},
    {.name = "of two maps in far memory one is stored while the other is loaded, part by part",
     .graph = "input x int8[1,2,8,8]\nconst s float32[] = 0.25\nconst q int8[] = 1\nvalue v int8[1,2,8,8]\n"
              "value w float32[1,2,8,8]\nvalue y int8[1,2,8,8]\nvalue z float32[1,2,8,8]\n"
              "value u float32[1,2,8,8]\nnode Relu a: x -> v\nnode Relu b: v -> y\n"
              "node DequantizeLinear@21 c: v s q -> w\nnode Relu d: w -> z\nnode Relu e: w -> u\n"
              "output y\noutput z\noutput u\n",
     .maps = "N C H W",
     .local = "100"},
    {.name = "workspace of a line: the rows are a digit of the lane's number between others",
     .graph = "input x int8[1,1,2,2]\nconst s float32[] = 0.25\nconst z int8[] = 1\nvalue v float32[1,1,2,2]\n"
              "value y int8[1,1,2,2]\nnode DequantizeLinear@21 d: x s z -> v\nnode QuantizeLinear@21 q: v s z -> y\n"
              "output y\n",
     .maps = "bank[H%3 W%2 H/3%2 C%2] W/2 C/2 N H/6"},
    {.name = "a view of the input, of which a pool reads every other row",
     .graph = "format tflite\ninput x int8[1,4,3,2] scale=0.1 zero=3\nconst p int32[4] = 0 2 1 3\n"
              "value t int8[1,3,4,2] scale=0.1 zero=3\nvalue y int8[1,2,4,2] scale=0.1 zero=3\n"
              "node Transpose(TRANSPOSE) a: x p -> t\n"
              "node MaxPool(MAX_POOL_2D) b: t -> y kernel_shape=[1,1] strides=[2,1] auto_pad=\"VALID\"\noutput y\n",
     .maps = "N H W C"},
    {.name = "a view of the input in lanes, of which a convolution reads nothing but padding",
     .graph = "input x int8[1,2,1,2] scale=0.5 zero=3\nvalue h int8[1,2,1,2] scale=0.5 zero=3\n"
              "value t int8[1,2,2,1] scale=0.5 zero=3\nconst w int8[1,2,1,1] scale=0.5 zero=0 = 1 2\n"
              "value y int8[1,1,2,1] scale=0.5 zero=3\nnode Relu r: x -> h\nnode Transpose a: h -> t perm=[0,1,3,2]\n"
              "node Conv c: t w -> y reals=\"float32\" kernel_shape=[1,1] strides=[1,2] pads=[0,1,0,0]\noutput y\n",
     .maps = "bank[C%4] N C/4 H W"},
    {.name = "a square does not take the place of its map, which is its parameter as well",
     .graph = "input x float32[1,2,1,4]\nnode Relu a: x -> v\nnode Mul m: v v -> w\nnode Relu b: w -> y\n"
              "node Relu c: w -> z\noutput y\noutput z\n",
     .maps = "N C H W",
     .in_place = true},
};

static const char *device_of(const Row *row, Work *work) {
    return arena_text(&work->keep,
                      "[device]\nname = box\nkind = scratchpad\n"
                      "[memory local]\nbytes = %s @ test\nalign_bytes = 1 @ test\nlanes = 32 @ test\n"
                      "[memory far]\nbytes = unbounded @ test\nalign_bytes = %s @ test\n"
                      "[contract]\nactivation = %s @ test\nweight = O I H W @ test\nparameter = %s @ test\n"
                      "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"
                      "[engine]\nvector_bytes_cycle = 16 @ test\nissue_cycles = 10 @ test\n"
                      "descriptor_cycles = 10 @ test\nsync_cycles = 20 @ test\n"
                      "[dma]\nbytes_cycle = 8 @ test\nsetup_cycles = 50 @ test\nmax_bytes = %s @ test\n",
                      row->local == NULL ? "256K" : row->local, row->far_align == NULL ? "1" : row->far_align,
                      row->maps, row->parameters == NULL ? row->maps : row->parameters,
                      row->most_bytes == NULL ? "64K" : row->most_bytes);
}

static const BuiltProgram *build(const Row *row, Work *work, const Device **device) {
    const char *graph_text = arena_text(&work->keep, "stride0-graph 1\n%s", row->graph);
    Str text = str_from(device_of(row, work));
    PlanOptions options = {.in_place = row->in_place, .strategy = row->strategy, .schedule = row->schedule};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)graph_text, strlen(graph_text)}, STR("runs"));
    LayoutBinding layout = {.tensor = STR("x"), .is_channel_second = true};
    *device = device_parse(work, text, STR("box.ini"));
    assert_true(graph != NULL && *device != NULL && graph_check(graph, work) && graph_infer(graph, work) &&
                graph_assign_names(graph, &layout, graph->channels_last ? 0 : 1, work));
    const Plan *plan = plan_make(graph, *device, &options, work);
    assert_non_null(plan);
    return program_build(plan, graph->channels_last ? S0_SEM_TFLITE_DOUBLE : S0_SEM_ONNX, work);
}

static void check(Work *work, const void *argument) {
    const Row *row = argument;
    static const uint8_t input[1024] = {0};
    const Device *device;
    const BuiltProgram *built = build(row, work, &device);
    if (row->refused != NULL) {
        assert_true(built == NULL && was_told(work, row->refused));
        return;
    }
    assert_non_null(built);
    const CmdProgram *program = built->program;
    Sim *sim = sim_new(program, device, work);
    assert_non_null(sim);
    const CmdOrder *order = &program->buffers[built->inputs[0].buffer].order;
    uint64_t elements = 1;
    for (uint32_t k = 0; k < order->rank; k++) {
        elements *= order->extent[k];
    }
    uint64_t bits = elements * dtype_bits(program->buffers[built->inputs[0].buffer].dtype);
    assert_true(sim_write(sim, built->inputs[0].buffer, (Span){input, (size_t)((bits + 7) / 8)}));
    const SimResult *result = sim_run(sim);
    if (result->fault_count > 0) {
        fail_msg("%s: %s", row->name, result->fault[0].text);
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        uint64_t lanes = result->buffer[k].used_lanes;
        assert_int_equal(result->buffer[k].touched_bytes, program->buffers[k].estimated_bytes);
        assert_int_equal(lanes == 0 ? 1 : lanes, program->buffers[k].lanes);
    }
}

static void test_runs(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check, &rows[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
