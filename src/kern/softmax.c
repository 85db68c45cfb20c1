/* Softmax in fixed point. See softmax.h. */
#include "kern/softmax.h"

#include "kern/exponential.h"

enum { INTEGER_BITS = 5, FRACTION_BITS = 26, SUM_BITS = 12, CODE_BITS = 8 };

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
    return s0_exp(s0_multiply(difference, softmax->factor, softmax->rounding), INTEGER_BITS);
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
    int32_t scale = s0_reciprocal((int32_t)(((uint32_t)sum << headroom) - ((uint32_t)1 << 31)));
    for (uint32_t k = 0; k < count; k++) {
        int32_t share = code[k] < softmax->least ? 0 : s0_srdhm(scale, exp_at(softmax, code[k]));
        int32_t result = s0_rdbpot(share, SUM_BITS - headroom + 31 - CODE_BITS);
        code[k] = result < 0 ? 0 : result > 255 ? 255 : result;
    }
}
