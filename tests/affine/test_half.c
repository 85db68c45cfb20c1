/* Proves float16: half_round against a search in the list of all float16 values, at every tie and beside it; and that
 * each operation of a float16 stage is rounded once. */
#include "affine/stages.h"
#include "stage/half.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

/* Every positive finite float16, in order; one more stands for 2^16, to which all above the last tie belong. */
enum { VALUES = 0x7C00 };
static double value_of[VALUES + 1];

static int fill_values(void **state) {
    (void)state;
    for (int bits = 0; bits <= VALUES; bits++) {
        int exponent = bits >> 10, fraction = bits & 0x3FF;
        value_of[bits] = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    }
    return 0;
}

static double nearest(double x) {
    double magnitude = fabs(x);
    int lo = 0, hi = VALUES;
    if (isnan(x)) {
        return x;
    }
    while (lo + 1 < hi) {
        int middle = (lo + hi) / 2;
        *(value_of[middle] <= magnitude ? &lo : &hi) = middle;
    }
    double below = magnitude - value_of[lo], above = value_of[hi] - magnitude;
    int choice = below < above || (below == above && lo % 2 == 0) ? lo : hi;
    return copysign(choice == VALUES ? INFINITY : value_of[choice], x);
}

static bool same(float a, double b) {
    float narrow = (float)b;
    return (isnan(a) && isnan(narrow)) || memcmp(&a, &narrow, sizeof a) == 0;
}

static void test_round(void **state) {
    (void)state;
    for (int bits = 0; bits < VALUES; bits++) {
        float tie = (float)((value_of[bits] + value_of[bits + 1]) / 2);
        const float beside[] = {(float)value_of[bits], tie, nextafterf(tie, 0), nextafterf(tie, INFINITY)};
        for (uint32_t i = 0; i < COUNT(beside); i++) {
            assert_true(same(half_round(beside[i]), nearest((double)beside[i])));
            assert_true(same(half_round(-beside[i]), nearest(-(double)beside[i])));
        }
    }
    const float ends[] = {INFINITY, -INFINITY, NAN, 65519.996f, 65520, 1e30f, 1e-30f, -1e-30f};
    for (uint32_t i = 0; i < COUNT(ends); i++) {
        assert_true(same(half_round(ends[i]), nearest((double)ends[i])));
    }
}

static float draw_half(uint64_t *seed) {
    double value = value_of[random_below(seed, VALUES)];
    return (float)(random_below(seed, 2) != 0 ? value : -value);
}

/* A double has more than twice the digits of a float16: the quotient rounded twice is the quotient rounded once. */
static double operate(StageKind kind, double x, double number) {
    switch (kind) {
    case STAGE_MUL:
        return x * number;
    case STAGE_ADD:
        return x + number;
    case STAGE_SUB:
        return x - number;
    case STAGE_RSUB:
        return number - x;
    default:
        return x / number;
    }
}

static void test_operations(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 31;
    for (int i = 0; i < 20000; i++) {
        StageKind kind = (StageKind)(STAGE_MUL + random_below(&seed, 5));
        Stage stage = {.kind = kind, .from = DTYPE_F16, .to = DTYPE_F16, .number = draw_half(&seed)};
        if (stage.number == 0) {
            continue;
        }
        Chain chain = bind_chain(&stage, 1, S0_SEM_ONNX, &work);
        for (int k = 0; k < 20; k++) {
            float x = draw_half(&seed);
            assert_true(same(chain_real(&chain, x), nearest(operate(kind, (double)x, (double)stage.number))));
        }
    }
    work_free(&work);
}

static void test_norm(void **state) {
    (void)state;
    uint64_t seed = 32;
    for (int i = 0; i < 20000; i++) {
        Stage norm = {.kind = STAGE_NORM, .from = DTYPE_F16, .to = DTYPE_F16};
        double mean = (double)(norm.norm.mean = draw_half(&seed));
        double variance = (double)(norm.norm.variance = fabsf(draw_half(&seed)));
        double gamma = (double)(norm.norm.gamma = draw_half(&seed));
        double beta = (double)(norm.norm.beta = draw_half(&seed));
        norm.norm.epsilon = 1e-5f;
        double spread = nearest(variance + nearest(1e-5));
        if (isinf(spread)) {
            assert_non_null(fault_of(&norm, 1, S0_SEM_ONNX));
            continue;
        }
        float x = draw_half(&seed);
        double unit = nearest(nearest((double)x - mean) / nearest(sqrt(spread)));
        assert_true(same(real_of(&norm, 1, S0_SEM_ONNX, x), nearest(nearest(unit * gamma) + beta)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_operations),
                                       cmocka_unit_test(test_norm)};
    return cmocka_run_group_tests(tests, fill_values, NULL);
}
