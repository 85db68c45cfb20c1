/* The public API on the examples: figures, messages, every n-th allocation failing, and equal bytes twice.
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
    s0_plan_options options = {.model = EXAMPLE("affine.tflite"), .device = "teach"};
    assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_DONE);
    assert_true(s0_plan_totals(plan, &totals));
    assert_int_equal(totals.peak_live_bytes, 8960 + 16 + 16);
    assert_int_equal(totals.placed_bytes, totals.peak_live_bytes);
    assert_int_equal(totals.capacity_bytes, 16384);
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
            .model = EXAMPLE("affine.tflite"), .device = "teach", .budget_bytes = rows[i].budget_bytes};
        assert_int_equal(s0_plan_new(&options, NULL, &plan), rows[i].status);
        assert_true(s0_plan_totals(plan, &totals));
        assert_int_equal(totals.capacity_bytes, rows[i].budget_bytes);
        s0_plan_free(plan);
    }
}

/* What a FILE was written, as text; free with free(). */
static char *messages_of(const s0_plan *plan) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    s0_plan_print_messages(plan, out);
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
        char *text = messages_of(plan);
        assert_non_null(strstr(text, rows[i].part));
        free(text);
        s0_plan_free(plan);
    }
}

static char *json_of(s0_plan *plan) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(s0_plan_write_json(plan, out), S0_DONE);
    fclose(out);
    return text;
}

static void test_same_bytes(void **state) {
    (void)state;
    char *text[2];
    for (int run = 0; run < 2; run++) {
        s0_plan *plan;
        s0_plan_options options = {.model = EXAMPLE("separable.onnx"), .device = "mcu-cm"};
        assert_int_equal(s0_plan_new(&options, NULL, &plan), S0_DONE);
        text[run] = json_of(plan);
        s0_plan_free(plan);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
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
            s0_plan_options options = {.model = models[m], .device = "mcu-cm"};
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
        cmocka_unit_test(test_figures),    cmocka_unit_test(test_budget),        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
