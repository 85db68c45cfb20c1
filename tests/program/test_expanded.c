/* Larger forms of constants that lie in far memory (--expand before). Proves of forms of lists, numbers, and arrays,
 * along the axis of the operator's definition or by aligned position, that each element is the one that broadcasting
 * gives it, by hand: also where all numbers of a list are the same, which the planner knows as one number. */
#include "graph/passes.h"
#include "graph/text.h"
#include "layout/packed.h"
#include "program/program.h"

#include "support/work.h"

enum { N, C, H, W, AXES };
static const uint64_t map[AXES] = {2, 3, 4, 5};

typedef struct {
    const char *name;
    const char *nodes;     /* x float32[2,3,4,5] to y, with a constant k */
    uint64_t extent[AXES]; /* of k, as its axes go along the map's */
    uint8_t number[16];    /* of k: whole numbers */
} Row;

#define NORM(k)                                                                                                        \
    "const k float32[3] = " k "\nconst o float32[3] = 1 2 3\nnode BatchNormalization@15 n: x o o k o -> y\noutput y\n"

static const Row rows[] = {
    {"a number", "const k float32[] = 7\nnode Mul m: x k -> y\noutput y\n", {1, 1, 1, 1}, {7}},
    {"a list along the columns",
     "const k float32[5] = 1 2 3 4 5\nnode Mul m: x k -> y\noutput y\n",
     {1, 1, 1, 5},
     {1, 2, 3, 4, 5}},
    {"a list of one number, five times",
     "const k float32[5] = 6 6 6 6 6\nnode Mul m: x k -> y\noutput y\n",
     {1, 1, 1, 5},
     {6, 6, 6, 6, 6}},
    {"one a channel", "const k float32[3,1,1] = 1 2 3\nnode Add m: x k -> y\noutput y\n", {1, 3, 1, 1}, {1, 2, 3}},
    {"rows and images",
     "const k float32[2,1,4,1] = 1 2 3 4 5 6 7 8\nnode Add m: x k -> y\noutput y\n",
     {2, 1, 4, 1},
     {1, 2, 3, 4, 5, 6, 7, 8}},
    {"rows and images, rows alike",
     "const k float32[2,1,4,1] = 1 1 1 1 2 2 2 2\nnode Add m: x k -> y\noutput y\n",
     {2, 1, 4, 1},
     {1, 1, 1, 1, 2, 2, 2, 2}},
    {"means of a normalisation", NORM("4 5 6"), {1, 3, 1, 1}, {4, 5, 6}},
    {"means of a normalisation, all the same", NORM("4 4 4"), {1, 3, 1, 1}, {4, 4, 4}},
};

static const char device_text[] =
    "[device]\nname = box\nkind = scratchpad\n[memory local]\nbytes = 64K @ test\nalign_bytes = 1 @ test\n"
    "[memory far]\nbytes = unbounded @ test\nalign_bytes = 1 @ test\n"
    "[contract]\nactivation = N C H W @ test\nweight = O I H W @ test\nparameter = N C H W @ test\n"
    "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"
    "[engine]\nvector_bytes_cycle = 16 @ test\n[dma]\nbytes_cycle = 8 @ test\n";

static const CmdBuffer *far_buffer(const Row *row, Work *work) {
    const char *text = arena_text(
        &work->keep, "stride0-graph 1\nformat onnx 21\ninput x float32[2,3,4,5]\nvalue y float32[2,3,4,5]\n%s",
        row->nodes);
    LayoutBinding layout = {.tensor = STR("x"), .is_channel_second = true};
    const PlanOptions options = {.strategy = STRATEGY_FULL, .expand_before = true};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("row"));
    const Device *device = device_parse(work, str_from(device_text), STR("box.ini"));
    assert_true(graph != NULL && device != NULL && graph_check(graph, work) && graph_infer(graph, work) &&
                graph_assign_names(graph, &layout, 1, work));
    const Plan *plan = plan_make(graph, device, &options, work);
    const BuiltProgram *built = plan == NULL ? NULL : program_build(plan, S0_SEM_ONNX, work);
    assert_non_null(built);
    for (uint32_t k = 0; k < built->program->buffer_count; k++) {
        const CmdBuffer *buffer = &built->program->buffers[k];
        if (str_eq(buffer->name, STR("k")) && buffer->constant != NULL) {
            return buffer;
        }
    }
    fail_msg("%s: no such buffer", row->name);
    return NULL;
}

static float expected(const Row *row, const uint64_t index[AXES]) {
    uint64_t place = 0;
    for (int a = N; a < AXES; a++) {
        place = place * row->extent[a] + (row->extent[a] == 1 ? 0 : index[a]);
    }
    return row->number[place];
}

static void check(Work *work, const void *argument) {
    const Row *row = argument;
    const CmdBuffer *buffer = far_buffer(row, work);
    uint64_t index[AXES], k = 0;
    assert_int_equal(buffer->constant_bytes, map[N] * map[C] * map[H] * map[W] * sizeof(float));
    for (index[N] = 0; index[N] < map[N]; index[N]++) {
        for (index[C] = 0; index[C] < map[C]; index[C]++) {
            for (index[H] = 0; index[H] < map[H]; index[H]++) {
                for (index[W] = 0; index[W] < map[W]; index[W]++, k++) {
                    float got;
                    memcpy(&got, buffer->constant + k * sizeof got, sizeof got);
                    if (got != expected(row, index)) {
                        fail_msg("%s: element %u is %g", row->name, (unsigned)k, (double)got);
                    }
                }
            }
        }
    }
}

static void test_expanded(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check, &rows[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_expanded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
