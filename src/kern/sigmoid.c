/* The logistic function and the hyperbolic tangent. See sigmoid.h. */
#include "kern/sigmoid.h"

#include "kern/exponential.h"

enum { INTEGER_BITS = 4, FRACTION_BITS = 27 };

int s0_sigmoid_bind(double scale, S0Rounding rounding, S0Sigmoid *sigmoid) {
    double factor = scale * (double)(1 << FRACTION_BITS);
    if (!(factor > 1 && scale < 8)) {
        return 0;
    }
    sigmoid->rounding = rounding == S0_ROUND_SINGLE ? S0_ROUND_SINGLE : S0_ROUND_DOUBLE;
    sigmoid->factor = s0_quantise_multiplier(factor, sigmoid->rounding);
    sigmoid->radius = (int32_t)((((int64_t)1 << INTEGER_BITS) - 1) << FRACTION_BITS >> sigmoid->factor.shift);
    return sigmoid->factor.shift <= 30;
}

/* With INTEGER_BITS, of a number of steps inside the radius. */
static int32_t real_of(const S0Sigmoid *sigmoid, int32_t steps) {
    return s0_multiply(steps, sigmoid->factor, sigmoid->rounding);
}

static int32_t limited(int32_t x, int32_t lo, int32_t hi) {
    return x < lo ? lo : x > hi ? hi : x;
}

/* Of what is negative: 1 less that of the opposite. */
int32_t s0_logistic(const S0Sigmoid *sigmoid, int32_t steps) {
    if (steps <= -sigmoid->radius || steps >= sigmoid->radius) {
        return steps < 0 ? 0 : 255;
    }
    int32_t real = real_of(sigmoid, steps);
    int32_t positive = s0_reciprocal(s0_exp(real > 0 ? -real : real, INTEGER_BITS));
    int32_t result = real == 0 ? 1 << 30 : real > 0 ? positive : INT32_MAX - positive;
    return limited(s0_rdbpot(result, 31 - 8), 0, 255);
}

/* (1 - e^-2x) / (1 + e^-2x): twice x has the same raw number with one integer bit more. */
int32_t s0_tanh(const S0Sigmoid *sigmoid, int32_t steps) {
    if (steps <= -sigmoid->radius || steps >= sigmoid->radius) {
        return steps < 0 ? -128 : 127;
    }
    int32_t real = real_of(sigmoid, steps);
    int32_t size = s0_quotient(s0_exp(real > 0 ? -real : real, INTEGER_BITS + 1));
    int32_t result = real == 0 ? 0 : real > 0 ? size : -size;
    return limited(s0_rdbpot(result, 31 - 7), -128, 127);
}
