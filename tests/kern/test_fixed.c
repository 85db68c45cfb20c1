/* Proves the fixed-point primitives: the shared table of vectors, cases of the field, and agreement with exact
 * fractions on random and extreme arguments, those included for which the references are undefined. */
#include "kern/exact.h"
#include "kern/vectors.h"
#include "support/random.h"

#include "kern/fixed.h"

#include <fenv.h>

/* ---- facts/numerics-vectors.csv */

static int32_t multiply_neon(int32_t x, S0Multiplier factor) {
    int32_t left = factor.shift > 0 ? factor.shift : 0;
    int32_t high = s0_srdhm((int32_t)(x * ((int64_t)1 << left)), factor.multiplier);
    return s0_shift_half_up(high, left - factor.shift);
}

static int check_vector(const VectorRow *row) {
    int last = row->count - 1;
    if (strcmp(row->operation, "srdhm") == 0) {
        assert_int_equal(s0_srdhm(vectors_int(row, 0), vectors_int(row, 1)), vectors_int(row, last));
    } else if (strcmp(row->operation, "rdbpot") == 0) {
        assert_int_equal(s0_rdbpot(vectors_int(row, 0), vectors_int(row, 1)), vectors_int(row, last));
    } else if (strcmp(row->operation, "rshl_halfup") == 0) {
        assert_int_equal(s0_shift_half_up(vectors_int(row, 0), vectors_int(row, 1)), vectors_int(row, last));
    } else if (strcmp(row->operation, "quantize_multiplier") == 0) {
        S0Multiplier factor = s0_quantise_multiplier(vectors_real(row, 0), S0_ROUND_DOUBLE);
        assert_int_equal(factor.multiplier, vectors_int(row, 1));
        assert_int_equal(factor.shift, vectors_int(row, 2));
    } else if (strncmp(row->operation, "mbqm_", 5) == 0) {
        S0Multiplier factor = {vectors_int(row, 1), vectors_int(row, 2)};
        int32_t x = vectors_int(row, 0);
        int32_t got = strcmp(row->operation, "mbqm_neon") == 0
                          ? multiply_neon(x, factor)
                          : s0_multiply(x, factor,
                                        strcmp(row->operation, "mbqm_single") == 0 ? S0_ROUND_SINGLE : S0_ROUND_DOUBLE);
        assert_int_equal(got, vectors_int(row, last));
    } else {
        return 0;
    }
    return 1;
}

static void test_vectors(void **state) {
    (void)state;
    assert_int_equal(vectors_run(check_vector), 322); /* the others are of whole operators: tests/affine */
}

/* ---- single values */

typedef struct {
    const char *name;
    int32_t x;
    S0Multiplier factor;
    int32_t by_double, by_single, by_cmsis;
} Product;

static const Product products[] = {
    {"TF 25087", 7984, {1583594044, -9}, 12, 11, 12},
    {"K1 1/32 of 15", 15, {1 << 30, -4}, 1, 0, 1},
    {"K1 1/32 of -16", -16, {1 << 30, -4}, -1, 0, -1},
    {"K1 1/32 of -80", -80, {1 << 30, -4}, -3, -2, -3},
    {"K3 1.5 * 2^31 of 1", 1, {1610612736, 32}, INT32_MAX, INT32_MAX, INT32_MAX},
    {"K3 1.5 * 2^31 of -1", -1, {1610612736, 32}, INT32_MIN, INT32_MIN, INT32_MIN},
    {"K3 1.5 * 2^31 of 0", 0, {1610612736, 32}, 0, 0, 0},
    {"K3 2^-33 of the largest", INT32_MAX, {1 << 30, -32}, 0, 0, 0},
    {"K3 2^-33 of the smallest", INT32_MIN, {1 << 30, -32}, 0, 0, 0},
    {"2^-32 of the largest", INT32_MAX, {1 << 30, -31}, 1, 0, 1},
    {"2^-32 of the smallest", INT32_MIN, {1 << 30, -31}, -1, 0, -1},
    {"K4 1.3 of 10", 10, {1395864371, 1}, 13, 13, 13},
    {"K4 1.3 of -7", -7, {1395864371, 1}, -9, -9, -9},
    {"K4 1.3 of 33", 33, {1395864371, 1}, 43, 43, 43},
    {"K4 2.0 of -7", -7, {1 << 30, 2}, -14, -14, -14},
    {"K4 3.7 of 33", 33, {1986422374, 2}, 122, 122, 122},
    {"K4 3.7 of 10", 10, {1986422374, 2}, 37, 37, 37},
    {"a factor of 1e5 leaves 32 bits", 32385, {1638400000, 17}, INT32_MAX, INT32_MAX, INT32_MAX},
    {"the smallest with itself", INT32_MIN, {INT32_MIN, 0}, INT32_MAX, INT32_MAX, INT32_MIN},
    {"the smallest with itself, halved", INT32_MIN, {INT32_MIN, -1}, 1 << 30, 1 << 30, -(1 << 30)},
    {"shifted to the smallest, with itself", -(1 << 30), {INT32_MIN, 1}, INT32_MAX, INT32_MAX, INT32_MIN},
    {"no shift is too small", INT32_MIN, {INT32_MIN, INT32_MIN}, 0, 0, 0},
    {"no shift is too large", INT32_MIN, {INT32_MIN, INT32_MAX}, INT32_MAX, INT32_MAX, INT32_MAX},
};

static void test_products(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const Product *p = &products[i];
        print_message("%s\n", p->name);
        assert_int_equal(s0_multiply(p->x, p->factor, S0_ROUND_DOUBLE), p->by_double);
        assert_int_equal(s0_multiply(p->x, p->factor, S0_ROUND_SINGLE), p->by_single);
        assert_int_equal(s0_multiply(p->x, p->factor, S0_ROUND_CMSIS), p->by_cmsis);
    }
}

static void test_shifts(void **state) {
    (void)state;
    static const struct {
        int32_t x, exponent, away, up;
    } rows[] = {
        {-7, 1, -4, -3},
        {-5, 1, -3, -2},
        {7, 1, 4, 4},
        {-6, 2, -2, -1},
        {-2, 2, -1, 0},
        {6, 2, 2, 2},
        {1 << 30, 31, 1, 1},
        {-(1 << 30), 31, -1, 0},
        {INT32_MIN, 31, -1, -1},
        {INT32_MAX, 31, 1, 1},
        {INT32_MIN, 32, -1, 0},
        {INT32_MAX, 32, 0, 0},
        {INT32_MIN, 33, 0, 0},
        {INT32_MIN, INT32_MAX, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(s0_rdbpot(rows[i].x, rows[i].exponent), rows[i].away);
        assert_int_equal(s0_shift_half_up(rows[i].x, rows[i].exponent), rows[i].up);
    }
    assert_int_equal(s0_rdbpot(-3, INT32_MIN), -3);
    assert_int_equal(s0_shift_half_up(-3, -2), -12);
    assert_int_equal(s0_shift_half_up(-3, INT32_MIN), INT32_MIN);
    assert_int_equal(s0_shift_half_up(0, INT32_MIN), 0);
    assert_int_equal(s0_shift_half_up(INT64_MAX, 1), INT32_MAX);
    assert_int_equal(s0_shift_half_up(INT64_MIN, 1), INT32_MIN);
    assert_int_equal(s0_shift_half_up(INT64_MAX, 63), 1);
    assert_int_equal(s0_shift_half_up(INT64_MIN, 63), -1);
    assert_int_equal(s0_shift_half_up(INT64_MIN, 64), 0);
}

/* ---- against exact fractions */

/* Mostly near the ends, powers of two and zero, where roundings and overflows are. */
static int32_t draw_int(uint64_t *seed) {
    int64_t centre = 0;
    switch (random_below(seed, 4)) {
    case 0:
        return (int32_t)(uint32_t)random_next(seed);
    case 1:
        centre = random_below(seed, 2) != 0 ? INT32_MIN : INT32_MAX;
        break;
    case 2:
        centre = (int64_t)1 << random_below(seed, 32);
        break;
    default:
        break;
    }
    int64_t value = centre + (int64_t)random_below(seed, 9) - 4;
    value = random_below(seed, 2) != 0 ? -value : value;
    return (int32_t)exact_saturate(value);
}

static Wide exact_cmsis(int32_t x, S0Multiplier factor) {
    Wide shifted = factor.shift > 0 ? (Wide)x * exact_power(factor.shift) : x;
    if (shifted == INT32_MIN && factor.multiplier == INT32_MIN) {
        return factor.shift < 0 ? exact_half_away(INT32_MIN, exact_power(-factor.shift)) : INT32_MIN;
    }
    return exact_double(x, factor.multiplier, factor.shift);
}

static void test_products_exact(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 2000000; i++) {
        int32_t x = draw_int(&seed), m = draw_int(&seed);
        S0Multiplier factor = {m, (int32_t)random_below(&seed, 127) - 63};
        assert_true(s0_multiply(x, factor, S0_ROUND_SINGLE) == exact_single(x, m, factor.shift));
        assert_true(s0_multiply(x, factor, S0_ROUND_DOUBLE) == exact_double(x, m, factor.shift));
        assert_true(s0_multiply(x, factor, S0_ROUND_CMSIS) == exact_cmsis(x, factor));
        assert_true(s0_srdhm(x, m) == exact_saturate(exact_half_up((Wide)x * m, exact_power(31))));
    }
}

static void test_shifts_exact(void **state) {
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < 1000000; i++) {
        int32_t x = draw_int(&seed), exponent = (int32_t)random_below(&seed, 70);
        int64_t wide = (int64_t)x * draw_int(&seed);
        assert_true(s0_rdbpot(x, exponent) == exact_half_away(x, exact_power(exponent)));
        assert_true(s0_shift_half_up(wide, exponent) == exact_saturate(exact_half_up(wide, exact_power(exponent))));
        assert_true(s0_shift_half_up(wide, -exponent) ==
                    exact_saturate(wide * exact_power(exponent > 33 ? 33 : exponent)));
    }
}

static double draw_double(uint64_t *seed) {
    uint64_t bits = random_next(seed);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (random_below(seed, 4) != 0) {
        x = ldexp(1 + (double)random_below(seed, UINT64_C(1) << 52) * 0x1p-52, (int)random_below(seed, 80) - 40);
        x = random_below(seed, 2) != 0 ? x : -x;
    }
    return x;
}

static void test_multipliers(void **state) {
    (void)state;
    uint64_t seed = 14;
    for (int i = 0; i < 1000000; i++) {
        double factor = draw_double(&seed);
        if (!isfinite(factor)) {
            continue;
        }
        int shift;
        int32_t multiplier = exact_multiplier(factor, &shift);
        S0Multiplier got = s0_quantise_multiplier(factor, S0_ROUND_DOUBLE);
        assert_true(got.multiplier == multiplier && got.shift == shift);
        assert_true(s0_multiplier_fits(factor) == (multiplier != 0 && shift <= 30));
        S0Multiplier single = s0_quantise_multiplier(factor, S0_ROUND_SINGLE);
        assert_true(shift > 30 ? single.shift == 30 : single.shift == shift && single.multiplier == multiplier);
    }
}

static void test_multiplier_edges(void **state) {
    (void)state;
    static const struct {
        double factor;
        int32_t multiplier, shift;
    } rows[] = {
        {0, 0, 0},
        {1, 1 << 30, 1},
        {1 - 0x1p-33, 1 << 30, 1},
        {1 - 0x1p-31, 2147483647, 0},
        {0x1p-32, 1 << 30, -31},
        {0x1p-33, 0, 0},
        {0x1.fffffffffffffp-33, 1 << 30, -31}, /* rounds up to 2^-32 */
        {-0.7, -1503238554, 0},
        {0.5 + 0x1p-32, 1073741825, 0},
        {-1 + 0x1p-40, INT32_MIN, 0},
        {0x1p31, 1 << 30, 32},
        {NAN, 0, 0},
        {0x1p-1074, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        S0Multiplier got = s0_quantise_multiplier(rows[i].factor, S0_ROUND_DOUBLE);
        assert_int_equal(got.multiplier, rows[i].multiplier);
        assert_int_equal(got.shift, rows[i].shift);
    }
    S0Multiplier large = s0_quantise_multiplier(0x1p31, S0_ROUND_SINGLE);
    assert_int_equal(large.multiplier, INT32_MAX);
    assert_int_equal(large.shift, 30);
    assert_false(s0_multiplier_fits(INFINITY));
    assert_false(s0_multiplier_fits(-INFINITY));
    assert_true(s0_multiplier_fits(0x1p30 - 1));
    assert_false(s0_multiplier_fits(0x1p30));
}

/* ---- reals */

static int32_t saturated(double x) {
    return isnan(x) ? 0 : x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}

static void test_round(void **state) {
    (void)state;
    assert_int_equal(fegetround(), FE_TONEAREST);
    uint64_t seed = 15;
    for (int i = 0; i < 1000000; i++) {
        double x = draw_double(&seed);
        double tie = (double)draw_int(&seed) + 0.5;
        assert_int_equal(s0_round_half_even(x), saturated(nearbyint(x)));
        assert_int_equal(s0_round_half_away(x), saturated(round(x)));
        assert_int_equal(s0_round_half_even(tie), saturated(nearbyint(tie)));
        assert_int_equal(s0_round_half_away(tie), saturated(round(tie)));
    }
    const double edges[] = {NAN,          INFINITY,      -INFINITY,           2147483647.5,  2147483647.4999998,
                            2147483648.0, -2147483648.5, -2147483648.4999995, -2147483649.0, 0.49999999999999994,
                            -0.0};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        assert_int_equal(s0_round_half_even(edges[i]), saturated(nearbyint(edges[i])));
        assert_int_equal(s0_round_half_away(edges[i]), saturated(round(edges[i])));
    }
}

/* Whether the zero point is added before rounding shows where it is odd: numerics.md 1.4, K5. */
static void test_order_of_zero_point(void **state) {
    (void)state;
    static const struct {
        float value;
        int32_t zero, onnx, mlas, tflite;
    } rows[] = {
        {0.5f, 0, 0, 0, 1},        {0.5f, 1, 1, 2, 2},
        {-1.5f, 0, -2, -2, -2},    {-1.5f, 1, -1, 0, -1},
        {2.5f, 0, 2, 2, 3},        {2.5f, 1, 3, 4, 4},
        {3.5f, 1, 5, 4, 5},        {3.5f, 43, 47, 46, 47},
        {1e30f, 1, 127, 127, 127}, {-1e30f, 1, -128, -128, -128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        S0Codes codes = {rows[i].zero, -128, 127};
        assert_int_equal(s0_requantise_real(rows[i].value, S0_ROUND_HALF_EVEN, codes), rows[i].onnx);
        assert_int_equal(s0_requantise_real(rows[i].value, S0_ROUND_MLAS, codes), rows[i].mlas);
        assert_int_equal(s0_requantise_real(rows[i].value, S0_ROUND_HALF_AWAY, codes), rows[i].tflite);
    }
}

static void test_requantise(void **state) {
    (void)state;
    S0Multiplier quarter = {1 << 30, -1};
    assert_int_equal(s0_requantise(100, quarter, S0_ROUND_DOUBLE, (S0Codes){0, -128, 127}), 25); /* K8 */
    assert_int_equal(s0_requantise(100, quarter, S0_ROUND_DOUBLE, (S0Codes){110, -128, 127}), 127);
    S0Codes ends = {INT32_MAX, INT32_MIN, INT32_MAX};
    S0Multiplier largest = {INT32_MAX, 30};
    assert_int_equal(s0_requantise(INT32_MAX, largest, S0_ROUND_SINGLE, ends), INT32_MAX);
    ends.zero_point = INT32_MIN;
    assert_int_equal(s0_requantise(INT32_MIN, largest, S0_ROUND_SINGLE, ends), INT32_MIN);
    static const double factors[] = {.01, .02, .04}; /* K10 */
    for (int c = 0; c < 3; c++) {
        S0Multiplier factor = s0_quantise_multiplier(factors[c], S0_ROUND_DOUBLE);
        assert_int_equal(s0_requantise(1000, factor, S0_ROUND_DOUBLE, (S0Codes){0, -128, 127}), 10 << c);
    }
}

/* Many at once are what each is alone. */
static void test_many(void **state) {
    enum { MANY = 40 };
    static const S0Rounding roundings[] = {S0_ROUND_DOUBLE, S0_ROUND_SINGLE, S0_ROUND_CMSIS};
    (void)state;
    uint64_t seed = 14;
    for (int round = 0; round < 30000; round++) {
        int32_t x[MANY], product[MANY], code[MANY];
        S0Rounding rounding = roundings[round % 3];
        S0Multiplier factor = {draw_int(&seed), (int32_t)random_below(&seed, 140) - 70};
        S0Codes codes = {draw_int(&seed), -128, 127};
        if (random_below(&seed, 2) == 0) { /* as kernels have them */
            factor.multiplier &= INT32_MAX;
            factor.shift = -(int32_t)random_below(&seed, 34);
            codes.zero_point = (int32_t)random_below(&seed, 256) - 128;
        }
        for (int k = 0; k < MANY; k++) {
            x[k] = draw_int(&seed);
            product[k] = x[k];
            code[k] = x[k];
        }
        s0_multiply_all(product, MANY, factor, rounding);
        s0_requantise_all(code, MANY, factor, rounding, codes);
        for (int k = 0; k < MANY; k++) {
            assert_int_equal(product[k], s0_multiply(x[k], factor, rounding));
            assert_int_equal(code[k], s0_requantise(x[k], factor, rounding, codes));
        }
    }
}

/* Some blocks of values that all fit int32, ties among them, and some with others. */
static float draw_real(uint64_t *seed, int fits) {
    switch (random_below(seed, fits ? 3 : 4)) {
    case 0:
        return (float)((int32_t)random_below(seed, 600) - 300) / 2;
    case 1:
        return (float)draw_int(seed) / 512;
    case 2:
        return (float)((int32_t)random_below(seed, 1 << 25) - (1 << 24)) + 0.5F;
    default: {
        static const float others[] = {NAN, INFINITY, -INFINITY, 2147483648.0F, -2147483904.0F, 1e30F, -0.0F};
        return others[random_below(seed, sizeof others / sizeof *others)];
    }
    }
}

static void test_many_reals(void **state) {
    enum { MANY = 40 };
    static const S0Rounding roundings[] = {S0_ROUND_HALF_EVEN, S0_ROUND_MLAS, S0_ROUND_HALF_AWAY};
    (void)state;
    uint64_t seed = 16;
    for (int round = 0; round < 30000; round++) {
        float x[MANY], spent[MANY];
        int32_t code[MANY];
        S0Rounding rounding = roundings[round % 3];
        int is_small = random_below(&seed, 2) == 0;
        S0Codes codes = {is_small ? (int32_t)random_below(&seed, 256) - 128 : draw_int(&seed), -128, 127};
        codes.lo = random_below(&seed, 4) == 0 ? INT32_MIN : codes.lo;
        codes.hi = random_below(&seed, 4) == 0 ? INT32_MAX : codes.hi;
        for (int k = 0; k < MANY; k++) {
            spent[k] = x[k] = draw_real(&seed, round % 2 == 0);
        }
        s0_requantise_real_all(spent, code, MANY, rounding, codes);
        for (int k = 0; k < MANY; k++) {
            assert_int_equal(code[k], s0_requantise_real(x[k], rounding, codes));
        }
    }
}

/* ---- Means */

/* The definition: m * 2^k / n towards zero, k the bits that n has, 32 and 31 + shift at most. */
static void means_are_divided_behind_their_bits(void **state) {
    (void)state;
    static const int32_t counts[] = {1, 2, 3, 4, 9, 49, 64, 125, 1000, 65535, 65536, INT32_MAX};
    for (int32_t shift = -31; shift <= 30; shift++) {
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            S0Multiplier factor = {1 << 30 | 0x123457, shift}, got = s0_mean_multiplier(factor, counts[k]);
            int32_t bits = 0;
            for (int64_t half = counts[k]; half > 1; half /= 2) {
                bits++;
            }
            bits = bits > 31 + shift ? 31 + shift : bits;
            int64_t wide = factor.multiplier * ((int64_t)1 << bits); /* below 2^62 */
            assert_int_equal(got.multiplier, wide / counts[k]);
            assert_int_equal(got.shift, shift - bits);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_divided_behind_their_bits),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_products_exact),
        cmocka_unit_test(test_shifts_exact),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_multipliers),
        cmocka_unit_test(test_multiplier_edges),
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_order_of_zero_point),
        cmocka_unit_test(test_requantise),
        cmocka_unit_test(test_many_reals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
