/* Fixed-point exponentials and quotients, bit for bit as gemmlowp computes them. A number of n integer bits is its raw
 * integer times 2^(n - 31). Freestanding C99.
 *
 * Source   gemmlowp fixedpoint/fixedpoint.h (exp_on_negative_values, one_over_one_plus_x_for_x_in_0_1,
 *          one_minus_x_over_one_plus_x_for_x_in_0_1) */
#ifndef S0_KERN_EXPONENTIAL_H
#define S0_KERN_EXPONENTIAL_H

#include "kern/fixed.h"

/* e^a of a <= 0 with `integer_bits`, 1 to 5; the result has none. */
int32_t s0_exp(int32_t a, int32_t integer_bits);

/* 1 / (1 + a) and (1 - a) / (1 + a) of 0 <= a < 1; none has integer bits. */
int32_t s0_reciprocal(int32_t a);
int32_t s0_quotient(int32_t a);

#endif
