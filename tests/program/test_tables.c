/* Proves that operators that a table computes run, in one tile and in several: each code of the output is what TFLite's
 * definitions give, written here a second time in exact integers or reals; the table is loaded and counted, no access
 * is a fault, and bytes and cycles are as the plan counts them. What no reference says is refused by name. */
#include "graph/passes.h"
#include "graph/text.h"
#include "node/table.h"
#include "program/program.h"
#include "sim/sim.h"

#include "support/random.h"
#include "support/work.h"

#include <math.h>

enum { MOST_ELEMENTS = 4 * 5 * 300 };

typedef struct {
    const char *name;
    const char *op;    /* of the text form, with its attributes */
    const char *shape; /* of both maps */
    uint32_t count;    /* of elements */
    float in, out;     /* scales */
    int32_t in_zero, out_zero;
    float slope;         /* of LeakyRelu */
    const char *refused; /* else it runs */
    Semantics semantics;
} Row;

static const Row rows[] = {
    {"logistic", "Sigmoid", "1,4,5,3", 60, 0.0625f, 1.0f / 256, -3, -128, 0, NULL, S0_SEM_TFLITE_DOUBLE},
    {"logistic, rounded once", "Sigmoid", "1,4,5,256", 5120, 0.11f, 1.0f / 256, 12, -128, 0, NULL,
     S0_SEM_TFLITE_SINGLE},
    {"tangent", "Tanh", "1,4,5,256", 5120, 0.03f, 1.0f / 128, 5, 0, 0, NULL, S0_SEM_TFLITE_DOUBLE},
    {"tangent as CMSIS", "Tanh", "300", 300, 0.5f, 1.0f / 128, 5, 0, 0, NULL, S0_SEM_CMSIS},
    {"leaky of as many channels as codes", "LeakyRelu", "1,1,1,256", 256, 0.1f, 0.07f, -20, 30, 0.3f, NULL,
     S0_SEM_TFLITE_DOUBLE},
    {"leaky", "LeakyRelu", "1,4,5,3", 60, 0.1f, 0.07f, -20, 30, 0.3f, NULL, S0_SEM_TFLITE_DOUBLE},
    {"leaky, rounded once", "LeakyRelu", "1,4,5,256", 5120, 0.1f, 0.1f, 7, 7, 0.01f, NULL, S0_SEM_TFLITE_SINGLE},
    {"leaky without a slope", "LeakyRelu", "1,4,5,3", 60, 0.1f, 0.05f, 1, 2, 0, NULL, S0_SEM_TFLITE_DOUBLE_F32},
    {"logistic in other units", "Sigmoid", "1,4,5,3", 60, 0.0625f, 1.0f / 128, -3, -128, 0,
     "its result is not in units of 1/256 from the least code on", S0_SEM_TFLITE_DOUBLE},
    {"tangent from another zero point", "Tanh", "1,4,5,3", 60, 0.0625f, 1.0f / 128, -3, 1, 0,
     "its result is not in units of 1/128 from 0 on", S0_SEM_TFLITE_DOUBLE},
    {"logistic of TFLite", "Sigmoid", "1,4,5,3", 60, 0.0625f, 1.0f / 256, -3, -128, 0,
     "float32 functions, which this reference does not say", S0_SEM_TFLITE_DOUBLE_F32},
    {"logistic of codes as large as 8", "Sigmoid", "1,4,5,3", 60, 8, 1.0f / 256, -3, -128, 0,
     "the kernel's factor has no value for the scale of its input", S0_SEM_TFLITE_DOUBLE},
    {"leaky downwards", "LeakyRelu", "1,4,5,3", 60, 0.1f, 0.05f, 1, 2, -0.5f,
     "the kernel's factor is negative, or has no value", S0_SEM_TFLITE_DOUBLE},
    {"what no reference is known of", "Elu", "1,4,5,3", 60, 0.1f, 0.05f, 1, 2, 0,
     "it is no per-channel operator that is executed", S0_SEM_TFLITE_DOUBLE},
};

/* ---- The second computation */

static int64_t floor_half(int64_t x, int bits) {
    int64_t unit = INT64_C(1) << bits, sum = x + unit / 2;
    return sum / unit - (sum % unit < 0);
}

/* round(steps * factor), in one rounding or in two. */
static int64_t requantised(int64_t steps, float factor, bool is_once) {
    int exponent;
    double fraction = frexp((double)factor, &exponent);
    int64_t multiplier = (int64_t)(fraction * 2147483648.0); /* exact: a float has 24 bits */
    if (is_once) {
        return floor_half(steps * multiplier, 31 - exponent);
    }
    int left = exponent > 0 ? exponent : 0, right = exponent < 0 ? -exponent : 0;
    int64_t first = floor_half(steps * (INT64_C(1) << left) * multiplier, 31);
    int64_t size = ((first < 0 ? -first : first) + (right > 0 ? INT64_C(1) << (right - 1) : 0)) >> right;
    return first < 0 ? -size : size;
}

static bool is_leaky_code(const Row *row, int32_t code, int32_t got) {
    int32_t steps = code - row->in_zero;
    float product = row->in * (steps < 0 ? row->slope : 1);
    float factor = product / row->out;
    int64_t result = row->out_zero + requantised(steps, factor, row->semantics == S0_SEM_TFLITE_SINGLE);
    return got == (result < -128 ? -128 : result > 127 ? 127 : result);
}

/* To the nearest, but where the kernel's own error decides. */
static bool is_expected(const Row *row, int32_t code, int32_t got) {
    double x = (double)row->in * (code - row->in_zero);
    double real = row->op[0] == 'S' ? 256 / (1 + exp(-x)) - 128 : 128 * tanh(x);
    return row->op[0] == 'L' ? is_leaky_code(row, code, got)
                             : fabs(got - fmin(fmax(real, -128), 127)) <= 0.5 + 256 * 3.1e-7;
}

/* ---- A run */

static const Device *device_of(const char *bytes, Work *work) {
    const char *text =
        arena_text(&work->keep,
                   "[device]\nname = box\nkind = scratchpad\n"
                   "[memory local]\nbytes = %s @ test\nalign_bytes = 4 @ test\nlanes = 8 @ test\n"
                   "[memory far]\nbytes = unbounded @ test\nalign_bytes = 4 @ test\n"
                   "[contract]\nactivation = N H W C @ test\nweight = O I H W @ test\n"
                   "parameter = bank[C%%8] N H W C/8 @ test\n"
                   "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"
                   "[engine]\nvector_bytes_cycle = 16 @ test\nissue_cycles = 10 @ test\n"
                   "descriptor_cycles = 10 @ test\nsync_cycles = 20 @ test\n"
                   "[dma]\nbytes_cycle = 8 @ test\nsetup_cycles = 50 @ test\nmax_bytes = 64K @ test\n",
                   bytes);
    const Device *device = device_parse(work, str_from(text), STR("box.ini"));
    assert_non_null(device);
    return device;
}

/* A clip goes before it, so that it reads what another operator made. */
static const Plan *plan_of(const Row *row, const Device *device, Schedule schedule, Work *work) {
    const char *slope = row->op[0] == 'L' ? arena_text(&work->keep, " alpha=%.9g", (double)row->slope) : "";
    const char *text = arena_text(&work->keep,
                                  "stride0-graph 1\nformat tflite\ninput x int8[%s] scale=%.9g zero=%d\n"
                                  "value a int8[%s] scale=%.9g zero=%d\nvalue y int8[%s] scale=%.9g zero=%d\n"
                                  "node Relu: x -> a\nnode %s f: a -> y%s\noutput y\n",
                                  row->shape, (double)row->in, (int)row->in_zero, row->shape, (double)row->in,
                                  (int)row->in_zero, row->shape, (double)row->out, (int)row->out_zero, row->op, slope);
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("tables"));
    PlanOptions options = {.in_place = true, .schedule = schedule};
    assert_true(graph != NULL && graph_check(graph, work) && graph_infer(graph, work) &&
                graph_assign_names(graph, NULL, 0, work));
    node_add_tables(graph, row->semantics, &work->keep);
    return plan_make(graph, device, &options, work);
}

static void check_codes(const Row *row, const int8_t *given, Span got) {
    assert_int_equal(got.len, row->count);
    for (uint32_t k = 0; k < row->count; k++) {
        int32_t code = given[k] < row->in_zero ? row->in_zero : given[k];
        if (!is_expected(row, code, (int8_t)got.ptr[k])) {
            fail_msg("%s: code %d became %d", row->name, (int)code, (int)(int8_t)got.ptr[k]);
        }
    }
}

static void run(const Row *row, const Plan *plan, Work *work) {
    static int8_t given[MOST_ELEMENTS];
    uint64_t seed = row->count, unwritten;
    const BuiltProgram *built = program_build(plan, row->semantics, work);
    if (row->refused != NULL) {
        assert_true(built == NULL && was_told(work, row->refused));
        return;
    }
    assert_non_null(built);
    assert_null(cmd_check_extents(built->program, &work->scratch));
    for (uint32_t k = 0; k < row->count; k++) {
        given[k] = (int8_t)random_below(&seed, 256);
    }
    Sim *sim = sim_new(built->program, plan->device, work);
    assert_non_null(sim);
    assert_true(sim_write(sim, built->inputs[0].buffer, (Span){(const uint8_t *)given, row->count}));
    const SimResult *result = sim_run(sim);
    if (result->fault_count > 0) {
        fail_msg("%s: %s: %s", row->name, sim_fault_name(result->fault[0].kind), result->fault[0].text);
    }
    for (uint32_t k = 0; k < built->program->buffer_count; k++) {
        assert_int_equal(result->buffer[k].touched_bytes, built->program->buffers[k].estimated_bytes);
    }
    assert_int_equal(result->cycles, built->program->booked_cycles);
    check_codes(row, given, sim_read(sim, built->outputs[0].buffer, &work->keep, &unwritten));
    assert_int_equal(unwritten, 0);
}

static uint32_t tiles_of(const Plan *plan) {
    uint64_t tiles = 0;
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        tiles += plan->sweeps[s].chosen.best.cost.tiles;
    }
    return (uint32_t)tiles;
}

/* Each row with room for all, and with room for a part of the larger maps. */
static void test_tables(void **state) {
    (void)state;
    static const char *const bytes[] = {"64K", "2K", "400"};
    uint32_t cut = 0;
    for (size_t k = 0; k < 3 * sizeof rows / sizeof rows[0]; k++) {
        const Row *row = &rows[k / 3];
        Work work;
        WORK_BEGIN(&work);
        const Plan *plan = plan_of(row, device_of(bytes[k % 3], &work), (Schedule)(k % SCHEDULE_COUNT), &work);
        assert_true(plan != NULL && plan_fits(plan));
        cut += row->refused == NULL && tiles_of(plan) > plan->sweep_count;
        run(row, plan, &work);
        work_free(&work);
    }
    assert_true(cut >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
