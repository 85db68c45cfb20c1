/* The public API on the examples: figures, options, messages, the misfit, every n-th allocation failing, and equal
 * bytes twice.
 *
 * Figures of examples/affine.tflite on `teach` are those of README.md: a map of 20 * 28 * 16 = 8 960 bytes, two
 * parameters of 16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stride0/stride0.h"
#include "support/allocator.h"

#define EXAMPLE(name) S0_SOURCE_DIR "/examples/" name

static void test_figures(void **state) {
    (void)state;
    s0_plan *plan;
    s0_totals totals;
    s0_plan_options options = {.model = EXAMPLE("affine.tflite"), .device = "teach", .tile = "none"};
    assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_DONE);
    assert_true(s0_plan_totals(plan, &totals));
    assert_int_equal(totals.peak_live_bytes, 8960 + 16 + 16);
    assert_int_equal(totals.placed_bytes, totals.peak_live_bytes);
    assert_int_equal(totals.capacity_bytes, 16384);
    assert_int_equal(totals.align_bytes, 16);
    assert_int_equal(totals.anywhere_bytes, totals.placed_bytes + 15);
    s0_plan_free(plan);
}

static void test_budget(void **state) {
    (void)state;
    const struct {
        uint64_t budget_bytes;
        s0_status status;
    } rows[] = {{8992, S0_DONE}, {8991, S0_NO_FIT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s0_plan *plan;
        s0_totals totals;
        s0_plan_options options = {
            .model = EXAMPLE("affine.tflite"), .device = "teach", .tile = "none", .budget_bytes = rows[i].budget_bytes};
        assert_int_equal(s0_plan_new(&options, NULL, &plan), rows[i].status);
        assert_true(s0_plan_totals(plan, &totals));
        assert_int_equal(totals.capacity_bytes, rows[i].budget_bytes);
        s0_plan_free(plan);
    }
}

/* What is written of the plan; free with free(). */
static char *text_of(s0_plan *plan, s0_status (*write)(s0_plan *plan, FILE *out)) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(write(plan, out), S0_DONE);
    fclose(out);
    return text;
}

static void test_messages(void **state) {
    (void)state;
    const struct {
        s0_plan_options options;
        s0_status status;
        const char *part;
    } rows[] = {
        {{.model = EXAMPLE("absent.onnx"), .device = "teach"}, S0_BAD_INPUT, "absent.onnx"},
        {{.model = EXAMPLE("affine.tflite"), .device = "teech"}, S0_BAD_INPUT, "teach"},
        {{.model = EXAMPLE("README.md"), .device = "teach"}, S0_BAD_INPUT, "expected"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s0_plan *plan;
        s0_totals totals;
        assert_int_equal(s0_plan_new(&rows[i].options, NULL, &plan), rows[i].status);
        assert_false(s0_plan_totals(plan, &totals));
        char *text = text_of(plan, s0_plan_print_messages);
        assert_non_null(strstr(text, rows[i].part));
        free(text);
        s0_plan_free(plan);
    }
}

/* What the options may say, and what they may not: each field reaches the planner, each bad value a message. */
static void test_options(void **state) {
    (void)state;
    static const char *const one[] = {"x=NCHW", NULL}, *const no_order[] = {"x=CHW", NULL};
    static const char *const axis[] = {"scaled_c=3", NULL}, *const other_axis[] = {"scaled_c=1", NULL};
    static const char *const no_axis[] = {"scaled_c", NULL}, *const no_dim[] = {"x", NULL};
    const struct {
        s0_plan_options options;
        s0_status status;
        const char *part; /* of the messages */
    } rows[] = {
        {{.model = NULL, .device = "teach"}, S0_BAD_INPUT, "the model is missing"},
        {{.model = EXAMPLE("affine.tflite")}, S0_BAD_INPUT, "the device is missing"},
        {{.strategy = "full", .tile = "none"}, S0_NO_FIT, "compact_parameters"},
        {{.strategy = "full", .tile = "auto"}, S0_DONE, ""},
        {{.tile = "7"}, S0_DONE, ""},
        {{.tile = "0"}, S0_BAD_INPUT, "auto, none, ROWS or ROWSxCHANNELS, each from 1 to 18446744073709551615"},
        {{.tile = "-1"}, S0_BAD_INPUT, "auto, none, ROWS or ROWSxCHANNELS, each from 1 to 18446744073709551615"},
        {{.schedule = "split"}, S0_DONE, ""},
        {{.schedule = "late"}, S0_BAD_INPUT, "auto, fused, split, pipelined"},
        {{.strategy = "channel"}, S0_DONE, ""},
        {{.strategy = "huge"}, S0_BAD_INPUT, "auto, scalar, channel, row, full"},
        {{.layouts = one}, S0_DONE, ""},
        {{.layouts = no_order}, S0_BAD_INPUT, "TENSOR=NCHW or TENSOR=NHWC"},
        {{.axes = axis}, S0_DONE, ""},
        {{.axes = other_axis}, S0_REFUSED, "expected  axis 3"},
        {{.axes = no_axis}, S0_BAD_INPUT, "TENSOR=K"},
        {{.dims = no_dim}, S0_BAD_INPUT, "NAME=VALUE"},
        {{.axis_heuristic = "size"}, S0_DONE, "two such axes are refused"},
        {{.axis_heuristic = "luck"}, S0_BAD_INPUT, "expected  size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s0_plan *plan;
        s0_plan_options options = rows[i].options;
        bool is_whole = options.model == NULL && options.device == NULL;
        options.model = is_whole ? EXAMPLE("affine.tflite") : options.model;
        options.device = is_whole ? "teach" : options.device;
        assert_int_equal(s0_plan_new(&options, NULL, &plan), rows[i].status);
        char *text = text_of(plan, s0_plan_print_messages);
        assert_non_null(strstr(text, rows[i].part));
        free(text);
        s0_plan_free(plan);
    }
    s0_plan *plan;
    assert_int_equal(s0_plan_new(NULL, NULL, &plan), S0_BAD_INPUT);
    s0_plan_free(plan);
}

/* The texts of the options are gone when messages and ledger are asked for. */
static void test_texts_are_copied(void **state) {
    (void)state;
    char model[] = EXAMPLE("affine.tflite");
    char device[] = "teach";
    char layout[] = "X=NHWC";
    const char *layouts[] = {layout, NULL};
    s0_plan *plan;
    s0_plan_options options = {.model = model, .device = device, .layouts = layouts};
    assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_BAD_INPUT);
    memset(model, '#', sizeof model - 1);
    memset(device, '#', sizeof device - 1);
    memset(layout, '#', sizeof layout - 1);
    char *text = text_of(plan, s0_plan_print_messages);
    assert_non_null(strstr(text, "tensor 'X'"));
    assert_null(strchr(text, '#'));
    free(text);
    s0_plan_free(plan);
}

/* The misfit of the worked example as README.md tells it: three maps of 8 960 bytes are 26 880, 10 496 more than there
 * are. */
static void test_misfit(void **state) {
    (void)state;
    static const char *const parts[] = {
        "does not fit: needs 26,880 bytes, local memory of teach has 16,384: 10,496 too many\n",
        "'MUL#0' (MUL)",
        "8,960",
        "scaled_c",
        "26,880  in all",
        "remedies, each alone:",
        "larger_memory"};
    s0_plan *plan;
    s0_plan_options options = {
        .model = EXAMPLE("affine.tflite"), .device = "teach", .tile = "none", .strategy = "full"};
    assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_NO_FIT);
    char *text = text_of(plan, s0_plan_print_messages);
    char *again = text_of(plan, s0_plan_print_messages);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_non_null(strstr(text, parts[i]));
    }
    assert_string_equal(text, again);
    free(text);
    free(again);
    s0_plan_free(plan);
}

/* On a microcontroller the MUL writes over the input: the caller must know. */
static void test_overwritten_input(void **state) {
    (void)state;
    for (int pinned = 0; pinned < 2; pinned++) {
        s0_plan *plan;
        s0_plan_options options = {.model = EXAMPLE("affine.tflite"), .device = "mcu-cm", .pin_inputs = pinned == 1};
        assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_DONE);
        char *text = text_of(plan, s0_plan_print_messages);
        assert_true((strstr(text, "graph input 'x' is overwritten at step 0") != NULL) == (pinned == 0));
        free(text);
        s0_plan_free(plan);
    }
}

static void test_same_bytes(void **state) {
    (void)state;
    char *text[2];
    for (int run = 0; run < 2; run++) {
        s0_plan *plan;
        s0_plan_options options = {.model = EXAMPLE("separable.onnx"), .device = "mcu-cm"};
        assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_DONE);
        text[run] = text_of(plan, s0_plan_write_json);
        s0_plan_free(plan);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

/* The manual's own example passes on what s0_plan_new left, whatever came of it. */
static void test_no_plan(void **state) {
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    s0_totals totals;
    FILE *out = open_memstream(&text, &bytes);
    assert_false(s0_plan_totals(NULL, &totals));
    assert_int_equal(s0_plan_write_json(NULL, out), S0_NO_MEMORY);
    fflush(out);
    assert_int_equal(bytes, 0);
    assert_int_equal(s0_plan_print_messages(NULL, out), S0_NO_MEMORY);
    fclose(out);
    assert_non_null(strstr(text, "out of memory"));
    free(text);
    s0_plan_free(NULL);
}

/* Every allocation fails once: the call says so, and everything is given back. */
static void test_out_of_memory(void **state) {
    (void)state;
    static const char *const models[] = {EXAMPLE("separable.onnx"), EXAMPLE("streaming.tflite")};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        s0_status status = S0_NO_MEMORY;
        size_t failed = 0;
        while (status == S0_NO_MEMORY) {
            CountingAllocator counter = {.fail_at = failed + 1};
            s0_allocator allocator = counting_allocator(&counter);
            s0_plan_options options = {.model = models[m], .device = "mcu-cm", .order = "memory"};
            s0_plan *plan;
            status = s0_plan_new(&options, &allocator, &plan);
            assert_true((plan == NULL) == (status == S0_NO_MEMORY));
            s0_plan_free(plan);
            assert_int_equal(counter.live_bytes, 0);
            assert_false(counter.told_wrong_size);
            failed += status == S0_NO_MEMORY;
        }
        assert_int_equal(status, S0_DONE);
        print_message("%s: %zu allocations, each failed once\n", models[m], failed);
        assert_true(failed > 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),           cmocka_unit_test(test_budget),
        cmocka_unit_test(test_messages),          cmocka_unit_test(test_options),
        cmocka_unit_test(test_texts_are_copied),  cmocka_unit_test(test_misfit),
        cmocka_unit_test(test_overwritten_input), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_no_plan),           cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
