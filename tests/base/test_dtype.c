/* Proves that dtype_float gives the number of every float16 and of every bfloat16, as IEEE 754 and the definition of
 * bfloat16 (the upper half of a float32) compose it of sign, exponent and fraction. */
#include "base/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

static double composed(uint32_t code, int fraction_bits, int exponent_bits) {
    uint32_t fraction = code & ((1u << fraction_bits) - 1);
    uint32_t most = (1u << exponent_bits) - 1;
    uint32_t exponent = code >> fraction_bits & most;
    int bias = (int)(most >> 1);
    double size = exponent == most && fraction != 0 ? NAN
                  : exponent == most                ? INFINITY
                  : exponent == 0                   ? ldexp(fraction, 1 - bias - fraction_bits)
                                  : ldexp(fraction + (1u << fraction_bits), (int)exponent - bias - fraction_bits);
    return copysign(size, code >> (fraction_bits + exponent_bits) != 0 ? -1 : 1);
}

static void gives_every_float_of_16_bits(void **state) {
    static const struct {
        DType dtype;
        int fraction_bits, exponent_bits;
    } types[] = {{DTYPE_F16, 10, 5}, {DTYPE_BF16, 7, 8}};
    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        for (uint32_t code = 0; code < 65536; code++) {
            double expected = composed(code, types[k].fraction_bits, types[k].exponent_bits);
            double got = dtype_float(types[k].dtype, code);
            bool is_same = isnan(expected) ? isnan(got) != 0 : got == expected && signbit(got) == signbit(expected);
            if (!is_same) {
                fail_msg("%s %04x: got %g, expected %g", dtype_name(types[k].dtype), (unsigned)code, got, expected);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_every_float_of_16_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
