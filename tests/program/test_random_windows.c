/* Proves by chance that networks of operators on windows (convolutions, depthwise ones, fully connected layers, pools,
 * softmax, on codes of 8 bits as TFLite has them) run on the simulated device as they are defined: for random shapes,
 * strides, paddings, dilations, groups, scales and limits, layouts, budgets and schedules, so that there are tiles,
 * halos and blocks of channels
 *   - the outputs are those of loops over TFLite's formulas, bit for bit: window_reference.h;
 *   - no byte is read or written that may not be: no fault;
 *   - the audit holds, as in test_random_sweeps.c.
 * A case that fails is told by its seed, and again made as small as it goes: chance.h. */
#include "program/window_coverage.h"

#include "program/chance.h"
#include "program/executed.h"
#include "program/window_reference.h"

static Semantics semantics_of(const Drawn *drawn) {
    static const Semantics all[] = {S0_SEM_TFLITE_DOUBLE, S0_SEM_TFLITE_SINGLE, S0_SEM_CMSIS, S0_SEM_TFLITE_DOUBLE_F32};
    return all[drawn->genes->gene[GENE_SALT] % 4];
}

static Span pack_codes(const Drawn *drawn, const int32_t *codes, uint64_t count) {
    uint8_t *packed = arena_array(&drawn->work->keep, uint8_t, count);
    for (uint64_t k = 0; k < count; k++) {
        packed[k] = (uint8_t)codes[k];
    }
    return (Span){packed, (size_t)count};
}

static void find_outputs(const Drawn *drawn, int32_t *const *codes, HostTensors *tensors) {
    const DrawnWindows *windows = drawn->windows;
    for (uint32_t k = 0; k < windows->count; k++) {
        uint64_t elements = map_elements(&windows->map[k + 1]);
        if (window_is_output(drawn, k)) {
            tensors->outputs[tensors->output_count++] =
                (HostTensor){.name = str_from(window_map_name(drawn, k + 1)),
                             .dtype = windows->dtype,
                             .elements = elements,
                             .packed = pack_codes(drawn, codes[k + 1], elements)};
        }
    }
}

static const Plan *run_drawn(Drawn *drawn, Verdict *verdict) {
    const DrawnWindows *windows = drawn->windows;
    int32_t *codes[MOST_WINDOWS + 1];
    uint64_t bytes;
    const uint8_t *packed = pack(drawn, windows->dtype, map_elements(&windows->map[0]), 1, false, &bytes);
    HostTensor input = {.name = STR("x"), .packed = {packed, (size_t)bytes}}, outputs[MOST_WINDOWS];
    HostTensors tensors = {.input_count = 1, .inputs = &input, .outputs = outputs};
    Graph *graph = read_graph(drawn, drawn->work);
    if (graph == NULL) {
        decide_by_messages(verdict, FAILED, drawn->work, "the case is wrong");
        return NULL;
    }
    if (!compute_windows(drawn, packed, semantics_of(drawn), codes)) {
        decide(verdict, NO_VALUE_THERE, "a sum passes 32 bits");
        return NULL;
    }
    find_outputs(drawn, codes, &tensors);
    return execute(drawn, graph, semantics_of(drawn), &tensors, verdict);
}

static void test_random(void **state) {
    (void)state;
    run_property(&(Property){.default_cases = 3000,
                             .covered_cases = 3000,
                             .most_nodes = MOST_WINDOWS,
                             .node_genes = WINDOW_GENES,
                             .draw = draw_windows,
                             .run = run_drawn,
                             .cover = cover_case});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
