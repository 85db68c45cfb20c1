/* Proves that the logistic function and the tangent of codes are the real ones to the nearest unit, but where those are
 * a tie within what gemmlowp's own tests allow, and from the kernel's radius on, where they are the ends; that no
 * larger code gets a smaller result, and what is known in advance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it */
#include <cmocka.h>

#include "kern/sigmoid.h"

#include <math.h>

enum { LARGEST_STEP = 255 };

/* Errors of exponential and quotient, in the fixed point of the kernel: below 3.1e-7 of the whole. */
static int is_near(int32_t code, double real, double lo, double hi) {
    double limited = fmin(fmax(real, lo), hi);
    return fabs((double)code - limited) <= 0.5 + 256 * 3.1e-7;
}

static void check_scale(double scale, S0Rounding rounding) {
    S0Sigmoid sigmoid;
    int32_t last_logistic = 0, last_tanh = -128;
    int exponent;
    (void)frexp(scale, &exponent);
    double radius = floor(ldexp(15, -exponent)); /* of 4 integer bits, in steps of the scale's power of two */
    assert_true(s0_sigmoid_bind(scale, rounding, &sigmoid));
    for (int32_t steps = -LARGEST_STEP; steps <= LARGEST_STEP; steps++) {
        double x = fabs((double)steps) < radius ? scale * steps : (double)steps * (double)INFINITY;
        int32_t logistic = s0_logistic(&sigmoid, steps), tangent = s0_tanh(&sigmoid, steps);
        if (!is_near(logistic, 256 / (1 + exp(-x)), 0, 255) || !is_near(tangent, 128 * tanh(x), -128, 127)) {
            fail_msg("x %g: %d and %d", x, (int)logistic, (int)tangent);
        }
        assert_true(logistic >= last_logistic && tangent >= last_tanh);
        last_logistic = logistic;
        last_tanh = tangent;
    }
    assert_int_equal(s0_logistic(&sigmoid, 0), 128);
    assert_int_equal(s0_tanh(&sigmoid, 0), 0);
}

static void results_are_nearest(void **state) {
    (void)state;
    for (int k = 0; k < 3000; k++) {
        double scale = ldexp(1 + (double)(k * 7919 % 1000) / 1000, k % 20 - 17);
        check_scale((double)(float)scale, k % 3 == 0 ? S0_ROUND_SINGLE : S0_ROUND_DOUBLE);
    }
}

/* From 7.5 on all is 1 where the scale is a power of two. */
static void ends(void **state) {
    (void)state;
    S0Sigmoid sigmoid;
    assert_true(s0_sigmoid_bind(0.125, S0_ROUND_DOUBLE, &sigmoid));
    assert_int_equal(sigmoid.radius, 60);
    assert_true(s0_logistic(&sigmoid, 60) == 255 && s0_logistic(&sigmoid, -60) == 0);
    assert_true(s0_tanh(&sigmoid, 255) == 127 && s0_tanh(&sigmoid, -255) == -128);
}

static void other_scales_are_refused(void **state) {
    static const double scales[] = {0, -1, 0x1p-27, 8, NAN, INFINITY};
    S0Sigmoid sigmoid;
    (void)state;
    for (int k = 0; k < 6; k++) {
        assert_false(s0_sigmoid_bind(scales[k], S0_ROUND_DOUBLE, &sigmoid));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_nearest), cmocka_unit_test(ends),
                                       cmocka_unit_test(other_scales_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
