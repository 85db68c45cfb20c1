/* Proves on networks from the field that --order memory is never worse than the order of the file, on an arena and on
 * scratchpads, and that two transformers need less in it on an arena, placed without a gap.
 * Prints what is gained. Skipped where the networks are absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stride0/stride0.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const bert_dims[] = {"batch=1", "max_seq_len_in_batch=8", NULL};
static const char *const gpt2_dims[] = {"batch_size=1", "seq_len=8", NULL};

typedef struct {
    s0_status status;
    s0_totals totals;
} Planned;

static Planned plan(const char *model, const char *device, const char *const *dims, const char *order) {
    s0_plan *plan = NULL;
    const s0_plan_options options = {.model = model, .device = device, .dims = dims, .order = order};
    Planned planned = {.status = s0_plan_new(&options, NULL, &plan)};
    assert_int_equal(s0_plan_totals(plan, &planned.totals), planned.status == S0_DONE || planned.status == S0_NO_FIT);
    s0_plan_free(plan);
    return planned;
}

/* True where the other order needs less. */
static bool check_model(const char *model, const char *device, const char *const *dims, s0_totals *memory) {
    const Planned file = plan(model, device, dims, "file"), other = plan(model, device, dims, "memory");
    bool is_plan = file.status == S0_DONE || file.status == S0_NO_FIT;
    *memory = other.totals;
    if (!is_plan) {
        assert_int_equal(other.status, file.status);
        return false;
    }
    assert_true(other.status == file.status || other.status == S0_DONE);
    bool fits_both = other.status == file.status;
    assert_true(!fits_both || other.totals.placed_bytes <= file.totals.placed_bytes);
    bool is_gain = other.totals.placed_bytes < file.totals.placed_bytes || !fits_both;
    if (is_gain) {
        print_message("%s on %s: placed %" PRIu64 ", peak %" PRIu64 "; in the order of the file %" PRIu64 ", %" PRIu64
                      "\n",
                      model, device, other.totals.placed_bytes, other.totals.peak_live_bytes, file.totals.placed_bytes,
                      file.totals.peak_live_bytes);
    }
    return is_gain;
}

static const struct {
    const char *model;
    const char *const *dims;
    bool is_won; /* on an arena: what reads queries, keys and values can stand between them */
} rows[] = {{"onnx/bert_toy.onnx", bert_dims, true},
            {"onnx/gpt2_toy_nopast.onnx", gpt2_dims, true},
            {"onnx/light_squeezenet.onnx", NULL, false},
            {"onnx/light_densenet121.onnx", NULL, false},
            {"tflite/mcunet_vww.tflite", NULL, false},
            {"tflite/mediapipe_face_short_range_f16.tflite", NULL, false},
            {"tflite/mlperf_ic_resnet8_f32.tflite", NULL, false},
            {"tflite/mww_okay_nabu_v1.tflite", NULL, false},
            {"tflite/mww_okay_nabu_v2.tflite", NULL, false},
            {"tflite/rfb320_f32_mulC_addC.tflite", NULL, false}};

static void test_field(void **state) {
    (void)state;
    static const char *const devices[] = {"mcu-cm", "gap8", "ethos-u55-128"};
    if (S0_SHARED_DIR[0] == '\0') {
        print_message("SKIPPED: test_field: needs models of S0_SHARED\n");
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/models/%s", S0_SHARED_DIR, rows[i].model);
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
            s0_totals totals;
            bool is_gain = check_model(path, devices[d], rows[i].dims, &totals);
            assert_true(d > 0 || is_gain == rows[i].is_won);
            assert_true(d > 0 || totals.placed_bytes == totals.lower_bound_bytes);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
