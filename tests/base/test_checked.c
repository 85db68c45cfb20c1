/* Proves: checked sums, products and roundings are the true ones where they fit 64 bits and are refused, with nothing
 * written, where they do not; judged by 128-bit arithmetic on edge values and random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checked.h"
#include "support/random.h"

__extension__ typedef unsigned __int128 Wide;

enum { UNTOUCHED = 77 };

static void expect_result(bool done, uint64_t result, Wide truth) {
    assert_int_equal(done, truth <= UINT64_MAX);
    assert_int_equal(result, done ? (uint64_t)truth : UNTOUCHED);
}

static void expect_pair(uint64_t a, uint64_t b) {
    uint64_t sum = UNTOUCHED;
    uint64_t product = UNTOUCHED;
    uint64_t rounded = UNTOUCHED;
    bool done = checked_add(a, b, &sum);
    expect_result(done, sum, (Wide)a + b);
    done = checked_mul(a, b, &product);
    expect_result(done, product, (Wide)a * b);
    if (b == 0) {
        return;
    }
    done = checked_round_up(a, b, &rounded);
    expect_result(done, rounded, ((Wide)a + b - 1) / b * b);
    assert_int_equal(ceil_div(a, b), (uint64_t)(((Wide)a + b - 1) / b));
}

static void expect_bytes(uint64_t bits) {
    assert_int_equal(bytes_from_bits(bits), (uint64_t)(((Wide)bits + 7) / 8));
}

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 7,
                                 8,
                                 9,
                                 15,
                                 16,
                                 255,
                                 UINT32_MAX,
                                 (uint64_t)UINT32_MAX + 1,
                                 (uint64_t)1 << 63,
                                 UINT64_MAX - 8,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};

static void test_edges(void **state) {
    (void)state;
    size_t count = sizeof edges / sizeof edges[0];
    for (size_t i = 0; i < count; i++) {
        expect_bytes(edges[i]);
        for (size_t j = 0; j < count; j++) {
            expect_pair(edges[i], edges[j]);
        }
    }
}

/* Operands of every length in bits, so that about half of the products overflow. */
static void test_random(void **state) {
    (void)state;
    uint64_t seed = 2024;
    for (int i = 0; i < 20000; i++) {
        uint64_t a = random_next(&seed) >> random_below(&seed, 64);
        uint64_t b = random_next(&seed) >> random_below(&seed, 64);
        expect_pair(a, b);
        expect_bytes(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
