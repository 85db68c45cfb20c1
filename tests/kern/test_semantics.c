/* Proves the table of references: every name is found again and nothing else is, and the set of a format is its own. */
#include "kern/semantics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    S0Format format;
    S0Rounding rounding;
    S0Product product;
} promised[] = {
    {"tflite-double", S0_FORMAT_TFLITE, S0_ROUND_DOUBLE, S0_PRODUCT_F64},
    {"tflite-single", S0_FORMAT_TFLITE, S0_ROUND_SINGLE, S0_PRODUCT_F64},
    {"tflite-double-f32", S0_FORMAT_TFLITE, S0_ROUND_DOUBLE, S0_PRODUCT_F32},
    {"cmsis", S0_FORMAT_TFLITE, S0_ROUND_CMSIS, S0_PRODUCT_F64},
    {"onnx", S0_FORMAT_ONNX, S0_ROUND_HALF_EVEN, S0_PRODUCT_F32},
    {"ort-mlas", S0_FORMAT_ONNX, S0_ROUND_MLAS, S0_PRODUCT_F32},
};

static void test_table(void **state) {
    (void)state;
    uint32_t sets[2] = {0, 0};
    assert_int_equal(sizeof promised / sizeof *promised, S0_SEM_COUNT);
    for (size_t i = 0; i < S0_SEM_COUNT; i++) {
        Semantics found = S0_SEM_COUNT;
        assert_true(s0_semantics_find(promised[i].name, strlen(promised[i].name), &found));
        assert_string_equal(s0_semantics_name(found), promised[i].name);
        assert_int_equal(s0_semantics_format(found), promised[i].format);
        assert_int_equal(s0_semantics_rounding(found), promised[i].rounding);
        assert_int_equal(s0_semantics_product(found), promised[i].product);
        assert_int_equal(sets[promised[i].format] & S0_SEM_BIT(found), 0);
        sets[promised[i].format] |= S0_SEM_BIT(found);
    }
    assert_int_equal(s0_semantics_of(S0_FORMAT_TFLITE), sets[S0_FORMAT_TFLITE]);
    assert_int_equal(s0_semantics_of(S0_FORMAT_ONNX), sets[S0_FORMAT_ONNX]);
    assert_int_equal(sets[0] | sets[1], (1 << S0_SEM_COUNT) - 1);
}

static void test_unknown(void **state) {
    (void)state;
    static const char *const names[] = {"", "onn", "onnxx", "ONNX", "tflite", "tflite-double-", "cmsis "};
    Semantics found = S0_SEM_ONNX;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_false(s0_semantics_find(names[i], strlen(names[i]), &found));
    }
    assert_int_equal(found, S0_SEM_ONNX);
    assert_true(s0_semantics_find("cmsis,onnx", 5, &found)); /* the length ends the name */
    assert_int_equal(found, S0_SEM_CMSIS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
