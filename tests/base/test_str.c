/* Proves: strings compare by bytes, cut at separators, and read numbers and byte counts only where all of the text is
 * one; against tables derived by hand and against the C library on random numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *text;
    bool is_number;
    uint64_t value;
} NumberCase;

static void test_to_u64(void **state) {
    (void)state;
    static const NumberCase cases[] = {
        {"0", true, 0},
        {"007", true, 7},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999", false, 0},
        {"", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"0x10", false, 0},
        {"1e3", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 0;
        assert_int_equal(str_to_u64(str_from(cases[i].text), &value), cases[i].is_number);
        assert_int_equal(value, cases[i].value);
    }
}

static void test_to_i64(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
        int64_t value;
    } cases[] = {
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"-0", true, 0},
        {"-", false, 0},
        {"--1", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 0;
        assert_int_equal(str_to_i64(str_from(cases[i].text), &value), cases[i].is_number);
        assert_int_equal(value, cases[i].value);
    }
}

static void test_numbers_read_back(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 2000; i++) {
        char text[32];
        uint64_t number = random_next(&seed) >> random_below(&seed, 64);
        uint64_t unsigned_value = 0;
        int64_t signed_value = 0;
        snprintf(text, sizeof text, "%" PRIu64, number);
        assert_true(str_to_u64(str_from(text), &unsigned_value));
        assert_int_equal(unsigned_value, number);
        int64_t negative = -(int64_t)(number >> 1);
        snprintf(text, sizeof text, "%" PRId64, negative);
        assert_true(str_to_i64(str_from(text), &signed_value));
        assert_int_equal(signed_value, negative);
    }
}

static void test_to_bytes(void **state) {
    (void)state;
    static const NumberCase cases[] = {
        {"0", true, 0},
        {"512", true, 512},
        {"1K", true, 1024},
        {"3M", true, 3145728},
        {"2G", true, 2147483648},
        {"17179869183G", true, 18446744072635809792u}, /* (2^34 - 1) * 2^30 */
        {"17179869184G", false, 0},
        {"1k", false, 0},
        {"1KB", false, 0},
        {"1T", false, 0},
        {"K", false, 0},
        {"1.5M", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 0;
        assert_int_equal(str_to_bytes(str_from(cases[i].text), &value), cases[i].is_number);
        assert_int_equal(value, cases[i].value);
    }
}

static void test_compare(void **state) {
    (void)state;
    Str nothing = {NULL, 0};
    assert_true(str_eq(nothing, STR("")));
    assert_true(str_eq(str_from(NULL), nothing));
    assert_false(str_eq(STR("ab"), STR("abc")));
    assert_true(str_order(STR("ab"), STR("abc")) < 0);
    assert_true(str_order(STR("b"), STR("abc")) > 0);
    assert_true(str_order(STR("\xff"), STR("a")) > 0); /* bytes, not signed characters */
    assert_int_equal(str_order(nothing, STR("")), 0);
    assert_true(str_starts(STR("model.onnx"), STR("mod")));
    assert_true(str_starts(STR("model"), nothing));
    assert_false(str_starts(STR("mo"), STR("mod")));
    assert_true(str_ends(STR("a.ini"), STR(".ini")));
    assert_false(str_ends(STR("ini"), STR(".ini")));
}

/* printf takes a precision as an int, and a negative one as none at all. */
static void test_printed(void **state) {
    (void)state;
    assert_int_equal(str_printed_bytes((Str){"abc", 3}), 3);
    assert_int_equal(str_printed_bytes((Str){"", INT_MAX}), INT_MAX);
    assert_int_equal(str_printed_bytes((Str){"", (size_t)INT_MAX + 1}), 0);
    assert_int_equal(str_printed_bytes((Str){"", SIZE_MAX}), 0);
}

static void test_trim(void **state) {
    (void)state;
    assert_true(str_eq(str_trim(STR(" \t a b \r\n")), STR("a b")));
    assert_int_equal(str_trim(STR(" \t\n\v\f\r ")).len, 0);
    assert_true(str_eq(str_trim(STR("\xc2\xa0")), STR("\xc2\xa0"))); /* not ASCII: kept */
}

/* The parts joined again are the text, also with empty parts at either end. */
static void test_cut(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *part[4];
        size_t count;
    } cases[] = {
        {"", {""}, 1}, {"a", {"a"}, 1}, {"a,b", {"a", "b"}, 2}, {",", {"", ""}, 2}, {",a,,", {"", "a", "", ""}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Str rest = str_from(cases[i].text);
        size_t count = 0;
        while (rest.ptr != NULL) {
            assert_true(count < cases[i].count);
            assert_true(str_eq(str_cut(&rest, ','), str_from(cases[i].part[count])));
            count++;
        }
        assert_int_equal(count, cases[i].count);
    }
}

/* Published test vectors of FNV-1a, 64 bits (Fowler, Noll, Vo: draft-eastlake-fnv). */
static void test_hash(void **state) {
    (void)state;
    assert_true(str_hash(STR(""), 0) == 0xcbf29ce484222325u);
    assert_true(str_hash(STR("a"), 0) == 0xaf63dc4c8601ec8cu);
    assert_true(str_hash(STR("foobar"), 0) == 0x85944171f73967e8u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_u64),   cmocka_unit_test(test_to_i64),  cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_to_bytes), cmocka_unit_test(test_compare), cmocka_unit_test(test_trim),
        cmocka_unit_test(test_cut),      cmocka_unit_test(test_hash),    cmocka_unit_test(test_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
