/* What the public API of affines refuses, and how it says so; nothing to run, no memory. */
#include "stride0/stride0.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int32_t addend[2];
static const float scale[] = {0.5F, -1, 0.3F, 2, 0.7F}, bias[] = {1, 0, -2, 0.1F, 3};

static s0_affine *prepare(const s0_affine_options *options, s0_affine_facts *facts) {
    s0_affine *affine;
    assert_int_equal(s0_affine_new(options, NULL, &affine), S0_DONE);
    assert_true(s0_affine_facts_of(affine, facts));
    return affine;
}

typedef struct {
    s0_affine_options options;
    s0_status status;
    const char *said;
} Refusal;

static const float not_finite[] = {1, NAN};

static const Refusal REFUSALS[] = {
    {{.n = 1, .c = 1, .h = 1, .w = 1}, S0_BAD_INPUT, "option dtype"},
    {{.dtype = "int32", .n = 1, .c = 1, .h = 1, .w = 1}, S0_BAD_INPUT, "int32"},
    {{.dtype = "float32", .layout = "N C Q", .n = 1, .c = 1, .h = 1, .w = 1}, S0_BAD_INPUT, "column 5"},
    {{.dtype = "float32", .n = UINT64_MAX, .c = 3, .h = 1, .w = 1}, S0_BAD_INPUT, "64 bits"},
    {{.dtype = "float32", .n = 1, .c = 2, .h = 1, .w = 1, .scale = not_finite}, S0_BAD_INPUT, "scale[1]"},
    {{.dtype = "float32", .n = 1, .c = 2, .h = 1, .w = 1, .bias = not_finite}, S0_BAD_INPUT, "bias[1]"},
    {{.dtype = "float32", .n = 1, .c = 1, .h = 1, .w = 1, .threads = 5000}, S0_BAD_INPUT, "got       5000"},
    {{.dtype = "float32", .n = 1, .c = 1, .h = 1, .w = 1, .is_limited = true}, S0_BAD_INPUT, "option is_limited"},
    {{.dtype = "float32", .layout = "NHWC", .n = 1, .c = 1, .h = 2, .w = 1}, S0_BAD_INPUT, "put blanks between levels"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1, .hi = 6},
     S0_BAD_INPUT,
     "is_limited = true"},
    {{.dtype = "float32", .layout = "N C", .n = 1, .c = 1, .h = 2, .w = 1}, S0_BAD_INPUT, "a level for H"},
    {{.dtype = "int16",
      .n = 1,
      .c = 1,
      .h = 1,
      .w = 1,
      .x_scale = 1,
      .y_scale = 1,
      .y_zero_point = 5,
      .semantics = "tflite-single"},
     S0_REFUSED,
     "has none of int16"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1, .x_zero_point = INT32_MIN},
     S0_BAD_INPUT,
     "-2147483648"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .y_scale = 1}, S0_BAD_INPUT, "x_scale"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = -1}, S0_BAD_INPUT, "y_scale"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1, .x_zero_point = 200},
     S0_BAD_INPUT,
     "-128 to 127"},
    {{.dtype = "int8",
      .n = 1,
      .c = 1,
      .h = 1,
      .w = 1,
      .x_scale = 1,
      .y_scale = 1,
      .is_limited = true,
      .lo = 3,
      .hi = 2},
     S0_BAD_INPUT,
     "lo, hi"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1, .semantics = "best"},
     S0_BAD_INPUT,
     "semantics"},
    {{.dtype = "int8", .n = 1, .c = 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1, .addend = addend},
     S0_BAD_INPUT,
     "addend"},
    {{.dtype = "int8", .n = 1, .c = 2, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1, .scale = not_finite},
     S0_BAD_INPUT,
     "scale[1]"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof REFUSALS / sizeof REFUSALS[0]; k++) {
        s0_affine *affine;
        s0_affine_facts facts;
        assert_int_equal(s0_affine_new(&REFUSALS[k].options, NULL, &affine), REFUSALS[k].status);
        assert_non_null(affine);
        assert_false(s0_affine_facts_of(affine, &facts));
        s0_affine_run(affine, NULL, NULL, 1);
        char text[1000] = {0};
        FILE *file = fmemopen(text, sizeof text - 1, "w");
        assert_int_equal(s0_affine_print_messages(affine, file), S0_DONE);
        fclose(file);
        if (strstr(text, REFUSALS[k].said) == NULL) {
            fail_msg("row %zu: %s", k, text);
        }
        s0_affine_free(affine);
    }
}

static void test_nothing_to_run(void **state) {
    (void)state;
    const s0_affine_options none[] = {{.dtype = "float32", .n = 0, .c = 3, .h = 4, .w = 5},
                                      {.dtype = "int8", .n = 1, .c = 0, .h = 4, .w = 5, .x_scale = 1, .y_scale = 1},
                                      {.dtype = "float32", .layout = "N H W C", .n = 1, .c = 3, .h = 0, .w = 5}};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        s0_affine_facts facts;
        s0_affine *affine = prepare(&none[k], &facts);
        assert_int_equal(facts.x_bytes, 0);
        s0_affine_run(affine, NULL, NULL, 1);
        s0_affine_free(affine);
    }
    s0_affine_free(NULL);
    s0_affine_run(NULL, NULL, NULL, 1);
}

/* Maps that fit 64 bits, or have no element, whose tables do not: 256 results a channel, or 16. */
static void test_tables_past_64_bits(void **state) {
    (void)state;
    const s0_affine_options large[] = {
        {.dtype = "int8", .n = 1, .c = UINT64_C(1) << 56, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1},
        {.dtype = "uint8", .n = 0, .c = (UINT64_C(1) << 63) + 1, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1},
        {.dtype = "int4", .n = 1, .c = UINT64_C(1) << 60, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1},
        {.dtype = "uint4", .n = 0, .c = UINT64_C(1) << 62, .h = 1, .w = 1, .x_scale = 1, .y_scale = 1},
    };
    for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
        s0_affine *affine;
        assert_int_equal(s0_affine_new(&large[k], NULL, &affine), S0_NO_MEMORY);
        assert_null(affine);
    }
}

/* An allocator whose n-th call fails; counts what is out. */
typedef struct {
    uint64_t calls, failing;
    int64_t bytes;
} Fickle;

static void *fickle_resize(void *context, void *memory, size_t old_bytes, size_t new_bytes) {
    Fickle *fickle = context;
    if (new_bytes > 0 && fickle->calls++ == fickle->failing) {
        return NULL;
    }
    fickle->bytes += (int64_t)new_bytes - (int64_t)old_bytes;
    if (new_bytes == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, new_bytes);
}

static void test_no_memory(void **state) {
    (void)state;
    s0_affine_options options = {.dtype = "int8",
                                 .n = 1,
                                 .c = 5,
                                 .h = 3,
                                 .w = 3,
                                 .scale = scale,
                                 .bias = bias,
                                 .x_scale = 0.1F,
                                 .y_scale = 0.1F,
                                 .threads = 2};
    s0_status status = S0_NO_MEMORY;
    for (uint64_t failing = 0; status == S0_NO_MEMORY; failing++) {
        assert_true(failing < 1000);
        Fickle fickle = {.failing = failing};
        s0_allocator allocator = {fickle_resize, &fickle};
        s0_affine *affine;
        status = s0_affine_new(&options, &allocator, &affine);
        assert_int_equal(affine == NULL, status == S0_NO_MEMORY);
        s0_affine_free(affine);
        assert_int_equal(fickle.bytes, 0);
    }
    assert_int_equal(status, S0_DONE);
}

static void test_named_kernels(void **state) {
    (void)state;
    const s0_affine_options options = {.dtype = "float32", .n = 1, .c = 1, .h = 1, .w = 1};
    s0_affine_facts facts;
    setenv("STRIDE0_CPU", "portable", 1);
    s0_affine *affine = prepare(&options, &facts);
    assert_string_equal(facts.kernels, "portable");
    s0_affine_free(affine);
    setenv("STRIDE0_CPU", "pdp11", 1);
    assert_int_equal(s0_affine_new(&options, NULL, &affine), S0_BAD_INPUT);
    s0_affine_free(affine);
    unsetenv("STRIDE0_CPU");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nothing_to_run),
        cmocka_unit_test(test_tables_past_64_bits),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_named_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
