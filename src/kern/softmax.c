/* Fixed-point exponentials and reciprocals. A number of n integer bits is its raw integer times 2^(n - 31). */
#include "kern/softmax.h"

enum { INTEGER_BITS = 5, FRACTION_BITS = 26, SUM_BITS = 12, CODE_BITS = 8 };

/* The product of raw numbers has the integer bits of both together. */
static int32_t times(int32_t a, int32_t b) {
    return s0_srdhm(a, b);
}

static int32_t shift_left(int32_t x, int32_t bits) {
    return s0_saturate((int64_t)x * ((int64_t)1 << bits));
}

/* e^a of -1/4 <= a < 0, both without integer bits: a polynomial of degree 4 around -1/8. */
static int32_t exp_of_quarter(int32_t a) {
    const int32_t at_eighth = 1895147668, third = 715827883; /* e^(-1/8), 1/3 */
    int32_t x = a + (1 << 28);
    int32_t square = times(x, x);
    int32_t cube = times(square, x), fourth = times(square, square);
    int32_t sum = times(s0_rdbpot(fourth, 2) + cube, third) + square;
    return at_eighth + times(at_eighth, x + s0_rdbpot(sum, 1));
}

/* e^a of a <= 0 with INTEGER_BITS, without integer bits: a quarter is left over, each bit above it is a factor. */
static int32_t exp_of(int32_t a) {
    static const int32_t factor[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t quarter = 1 << (FRACTION_BITS - 2);
    if (a == 0) {
        return INT32_MAX;
    }
    int32_t rest = (int32_t)((uint32_t)a & (uint32_t)(quarter - 1)) - quarter;
    int32_t whole = (int32_t)((int64_t)rest - a);
    int32_t result = exp_of_quarter(shift_left(rest, INTEGER_BITS));
    for (int32_t k = 0; k < 7; k++) { /* e^-(2^(k - 2)) */
        result = (whole >> (FRACTION_BITS - 2 + k) & 1) != 0 ? times(result, factor[k]) : result;
    }
    return result;
}

/* 1 / (1 + a) of 0 <= a < 1, both without integer bits: three steps of Newton with two integer bits. */
static int32_t reciprocal(int32_t a) {
    const int32_t one = 1 << 29;
    int32_t half = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = 1515870810 + times(half, -1010580540); /* 48/17 - 32/17 * half */
    for (int step = 0; step < 3; step++) {
        x += shift_left(times(x, one - times(half, x)), 2);
    }
    return shift_left(x, 1);
}

static int32_t leading_zeros(uint32_t x) {
    int32_t count = 0;
    while (count < 32 && (x >> (31 - count)) == 0) {
        count++;
    }
    return count;
}

int s0_softmax_bind(double scale, S0Rounding rounding, S0Softmax *softmax) {
    double factor = scale * (double)(1 << FRACTION_BITS);
    if (!(factor > 1 && scale < 16)) {
        return 0;
    }
    softmax->rounding = rounding == S0_ROUND_SINGLE ? S0_ROUND_SINGLE : S0_ROUND_DOUBLE;
    softmax->factor = s0_quantise_multiplier(factor, softmax->rounding);
    int64_t radius = ((int64_t)((1 << INTEGER_BITS) - 1) << FRACTION_BITS) >> softmax->factor.shift;
    softmax->least = -s0_saturate(radius);
    return softmax->factor.shift <= 30;
}

static int32_t exp_at(const S0Softmax *softmax, int32_t difference) {
    return exp_of(s0_multiply(difference, softmax->factor, softmax->rounding));
}

void s0_softmax(const S0Softmax *softmax, int32_t *code, uint32_t count) {
    int32_t largest = code[0], sum = 0;
    for (uint32_t k = 1; k < count; k++) {
        largest = code[k] > largest ? code[k] : largest;
    }
    for (uint32_t k = 0; k < count; k++) {
        code[k] = s0_saturate((int64_t)code[k] - largest);
        sum =
            code[k] < softmax->least ? sum : s0_saturate((int64_t)sum + s0_rdbpot(exp_at(softmax, code[k]), SUM_BITS));
    }
    int32_t headroom = leading_zeros((uint32_t)sum); /* the sum is at least 1: the largest code's own */
    int32_t scale = reciprocal((int32_t)(((uint32_t)sum << headroom) - ((uint32_t)1 << 31)));
    for (uint32_t k = 0; k < count; k++) {
        int32_t share = code[k] < softmax->least ? 0 : times(scale, exp_at(softmax, code[k]));
        int32_t result = s0_rdbpot(share, SUM_BITS - headroom + 31 - CODE_BITS);
        code[k] = result < 0 ? 0 : result > 255 ? 255 : result;
    }
}
