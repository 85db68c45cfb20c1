/* Fixed-point exponentials and quotients. See exponential.h. */
#include "kern/exponential.h"

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

/* A quarter is left over, each bit above it is a factor. */
int32_t s0_exp(int32_t a, int32_t integer_bits) {
    static const int32_t factor[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t quarter_bits = 31 - integer_bits - 2, quarter = 1 << quarter_bits;
    if (a == 0) {
        return INT32_MAX;
    }
    int32_t rest = (int32_t)((uint32_t)a & (uint32_t)(quarter - 1)) - quarter;
    int32_t whole = (int32_t)((int64_t)rest - a);
    int32_t result = exp_of_quarter(shift_left(rest, integer_bits));
    for (int32_t k = 0; k < integer_bits + 2; k++) { /* e^-(2^(k - 2)) */
        result = (whole >> (quarter_bits + k) & 1) != 0 ? times(result, factor[k]) : result;
    }
    return result;
}

/* 2 / (1 + a), with two integer bits: three steps of Newton. */
static int32_t twice_reciprocal(int32_t a) {
    const int32_t one = 1 << 29;
    int32_t half = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = 1515870810 + times(half, -1010580540); /* 48/17 - 32/17 * half */
    for (int step = 0; step < 3; step++) {
        x += shift_left(times(x, one - times(half, x)), 2);
    }
    return x;
}

int32_t s0_reciprocal(int32_t a) {
    return shift_left(twice_reciprocal(a), 1);
}

int32_t s0_quotient(int32_t a) {
    return shift_left(twice_reciprocal(a) - (1 << 29), 2);
}
