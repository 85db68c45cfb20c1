/* Proves that the softmax of codes is within one code of the real one in units of 1/256, that no larger code gets a
 * smaller share, and that shares known in advance are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it */
#include <cmocka.h>

#include "kern/softmax.h"
#include "support/random.h"

#include <math.h>

enum { MOST = 40 };

static void check_row(const int32_t *row, uint32_t count, double scale, S0Rounding rounding) {
    S0Softmax softmax;
    int32_t code[MOST];
    double sum = 0, largest = -1000;
    for (uint32_t k = 0; k < count; k++) {
        code[k] = row[k];
        largest = fmax(largest, row[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
        sum += exp(scale * (row[k] - largest));
    }
    assert_true(s0_softmax_bind(scale, rounding, &softmax));
    s0_softmax(&softmax, code, count);
    for (uint32_t k = 0; k < count; k++) {
        double share = fmin(255, 256 * exp(scale * (row[k] - largest)) / sum);
        if (fabs(code[k] - share) > 1) {
            fail_msg("code %d of %u, scale %g: %d instead of %g", (int)row[k], (unsigned)count, scale, (int)code[k],
                     share);
        }
        for (uint32_t j = 0; j < count; j++) {
            assert_true(row[j] < row[k] || code[j] >= code[k]);
        }
    }
}

static void random_rows_are_near(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < 20000; k++) {
        int32_t row[MOST];
        uint32_t count = 1 + (uint32_t)random_below(&seed, MOST), spread = 1 + (uint32_t)random_below(&seed, 256);
        double scale = ldexp(1 + (double)random_below(&seed, 1000) / 1000, (int)random_below(&seed, 14) - 12);
        for (uint32_t i = 0; i < count; i++) {
            row[i] = (int32_t)random_below(&seed, spread) - 128;
        }
        check_row(row, count, scale, k % 2 == 0 ? S0_ROUND_DOUBLE : S0_ROUND_SINGLE);
    }
}

/* One code has all, two or four equal ones a half or a quarter; what is far below has nothing. */
static void known_shares(void **state) {
    (void)state;
    S0Softmax softmax;
    int32_t one[] = {-5}, two[] = {7, 7}, four[] = {-128, -128, -128, -128}, far[] = {-128, 127};
    assert_true(s0_softmax_bind(0.5, S0_ROUND_DOUBLE, &softmax));
    s0_softmax(&softmax, one, 1);
    s0_softmax(&softmax, two, 2);
    s0_softmax(&softmax, four, 4);
    s0_softmax(&softmax, far, 2);
    assert_int_equal(one[0], 255);
    assert_true(two[0] == 128 && two[1] == 128);
    assert_true(four[0] == 64 && four[3] == 64);
    assert_true(far[0] == 0 && far[1] == 255);
}

static void other_scales_are_refused(void **state) {
    static const double scales[] = {0, -1, 0x1p-26, 16, NAN, INFINITY};
    S0Softmax softmax;
    (void)state;
    for (int k = 0; k < 6; k++) {
        assert_false(s0_softmax_bind(scales[k], S0_ROUND_DOUBLE, &softmax));
    }
    assert_true(s0_softmax_bind(0x1p-25, S0_ROUND_DOUBLE, &softmax));
    int32_t row[] = {-128, 127, 0};
    s0_softmax(&softmax, row, 3); /* all but equal */
    assert_true(row[0] == 85 && row[1] == 85);
    assert_true(s0_softmax_bind(15, S0_ROUND_DOUBLE, &softmax));
    int32_t steep[] = {-128, 127, 126};
    s0_softmax(&softmax, steep, 3);
    assert_true(steep[0] == 0 && steep[1] == 255 && steep[2] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rows_are_near),
        cmocka_unit_test(known_shares),
        cmocka_unit_test(other_scales_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
