/* Proves single values of chains: the shared vectors of ADD, cases of the field by their number in the shared list of
 * cases, and figures of numerics.md, all worked out elsewhere. tests/affine/test_chain.c compares whole domains. */
#include "affine/stages.h"
#include "kern/vectors.h"

#include <math.h>

/* ---- facts/numerics-vectors.csv */

static int check_add(const VectorRow *row) {
    if (strncmp(row->operation, "add8_", 5) != 0) {
        return 0;
    }
    Semantics semantics = strcmp(row->operation, "add8_single") == 0 ? S0_SEM_TFLITE_SINGLE : S0_SEM_TFLITE_DOUBLE;
    StageCode in = {(float)vectors_real(row, 2), vectors_int(row, 3)};
    StageCode constant = {(float)vectors_real(row, 4), vectors_int(row, 5)};
    StageCode out = {(float)vectors_real(row, 6), vectors_int(row, 7)};
    Stage add = with_constant(STAGE_CODE_ADD, in, constant, vectors_int(row, 1), out);
    assert_int_equal(code_of(&add, 1, semantics, vectors_int(row, 0)), vectors_int(row, 8));
    return 1;
}

static void test_add_vectors(void **state) {
    (void)state;
    assert_int_equal(vectors_run(check_add), 64); /* the other 322 are in tests/kern */
}

/* ---- accumulators */

typedef struct {
    const char *name;
    float scale;
    int32_t zero_point, acc;
    int32_t by_double, by_single, by_onnx;
} Accumulator;

static const Accumulator accumulators[] = {
    {"K1", 1.0f / 32, 0, 15, 1, 0, 0},
    {"K1", 1.0f / 32, 0, -16, -1, 0, 0},
    {"K1", 1.0f / 32, 0, -80, -3, -2, -2},
    {"K2: the product is 6.5 in float32, more in float64", 1.0f / 90, -126, 585, -119, -119, -120},
    {"K4 1.3", 1.3f, 0, 10, 13, 13, 13},
    {"K4 1.3", 1.3f, 0, -7, -9, -9, -9},
    {"K4 1.3", 1.3f, 0, 33, 43, 43, 43},
    {"K4 2.0", 2.0f, 0, 10, 20, 20, 20},
    {"K4 2.0", 2.0f, 0, -7, -14, -14, -14},
    {"K4 2.0", 2.0f, 0, 33, 66, 66, 66},
    {"K4 3.7", 3.7f, 0, 10, 37, 37, 37},
    {"K4 3.7", 3.7f, 0, -7, -26, -26, -26},
    {"K4 3.7", 3.7f, 0, 33, 122, 122, 122},
    {"K8", 0.25f, 0, 100, 25, 25, 25},
    {"K10", .01f, 0, 1000, 10, 10, 10},
    {"K10", .02f, 0, 1000, 20, 20, 20},
    {"K10", .04f, 0, 1000, 40, 40, 40},
    {"numerics 5", .00037f, 0, -350000, -128, -128, -128},
    {"saturates", 1, 0, INT32_MAX / 2, 127, 127, 127},
    {"saturates", 1, 0, INT32_MIN / 2, -128, -128, -128},
    {"saturates where the kernel would overflow", 4, 0, INT32_MAX, 127, 127, 127},
    {"saturates where the kernel would overflow", 4, 0, INT32_MIN, -128, -128, -128},
};

static void test_accumulators(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT(accumulators); i++) {
        const Accumulator *row = &accumulators[i];
        print_message("%s\n", row->name);
        Stage stage = accumulator_stage(row->scale, (StageCode){1, row->zero_point});
        assert_int_equal(code_of(&stage, 1, S0_SEM_TFLITE_DOUBLE, row->acc), row->by_double);
        assert_int_equal(code_of(&stage, 1, S0_SEM_TFLITE_DOUBLE_F32, row->acc), row->by_double);
        assert_int_equal(code_of(&stage, 1, S0_SEM_CMSIS, row->acc), row->by_double);
        assert_int_equal(code_of(&stage, 1, S0_SEM_TFLITE_SINGLE, row->acc), row->by_single);
        assert_int_equal(code_of(&stage, 1, S0_SEM_ONNX, row->acc), row->by_onnx);
        assert_int_equal(code_of(&stage, 1, S0_SEM_ORT_MLAS, row->acc), row->by_onnx);
    }
}

/* E1: what lies between two requantisations is limited to int8. */
static void test_rescale_pair(void **state) {
    (void)state;
    static const struct {
        float scale;
        int32_t zero_point, acc, expected;
    } rows[] = {
        {1, 3, 100, 100}, {1, 3, 200, 124}, {1, 3, -300, -131}, {2, 0, 90, 90}, {2, 0, 300, 254}, {2, 0, -700, -256},
    };
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        StageCode wide = {1, 0}, narrow = {rows[i].scale, rows[i].zero_point};
        Stage pair[] = {requantize_stage(DTYPE_I32, wide, DTYPE_I8, narrow),
                        requantize_stage(DTYPE_I8, narrow, DTYPE_I32, wide)};
        for (int s = 0; s < S0_SEM_COUNT; s++) {
            assert_int_equal(code_of(pair, 2, (Semantics)s, rows[i].acc), rows[i].expected);
        }
    }
}

/* ---- codes with constants */

/* The same of every reference. */
static void expect_all(const Stage *stage, uint32_t count, int32_t code, int32_t expected) {
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        assert_int_equal(code_of(stage, count, (Semantics)s, code), expected);
    }
}

static void test_constants(void **state) {
    (void)state;
    static const int32_t x[] = {10, -20, 30, 40, -50, 60}, bias[] = {5, -5, 100}, sum[] = {6, -10, 52, 18, -22, 64};
    for (uint32_t i = 0; i < COUNT(x); i++) { /* A5: period 3 */
        Stage add =
            with_constant(STAGE_CODE_ADD, (StageCode){.1f, 0}, (StageCode){.1f, 0}, bias[i % 3], (StageCode){.25f, 0});
        expect_all(&add, 1, x[i], sum[i]);
    }
    Stage k9 = with_constant(STAGE_CODE_MUL, (StageCode){.1f, 3}, (StageCode){.2f, -5}, 5, (StageCode){.05f, 10});
    expect_all(&k9, 1, 13, 50);
    Stage c3 = codes_stage(STAGE_CODE_SCALE, DTYPE_I8, DTYPE_I8); /* C3: one bias for both */
    c3.integer.in = c3.integer.out = (StageCode){1, 0};
    c3.integer.value = 1;
    c3.integer.bias = 3;
    expect_all(&c3, 1, 13, 16);
    expect_all(&c3, 1, 16, 19);
    Stage k8 = requantize_stage(DTYPE_I8, (StageCode){0x1p-7f, 0}, DTYPE_I8, (StageCode){0x1p-5f, 0});
    expect_all(&k8, 1, 100, 25);
}

static void test_add_and_subtract(void **state) {
    (void)state;
    StageCode unit = {.5f, 2};
    static const int32_t expected[] = {2 + (10 - 2) + (30 - 2), 2 + (10 - 2) - (30 - 2), 2 + (30 - 2) - (10 - 2)};
    for (int32_t negate = 0; negate < 3; negate++) {
        Stage stage = with_constant(STAGE_CODE_ADD, unit, unit, 30, unit);
        stage.integer.negate = negate;
        expect_all(&stage, 1, 10, expected[negate]);
    }
}

/* numerics.md 1.2: three scales whose product differs in float32 and float64; 209 * 211 = 44099. */
static void test_product_of_scales(void **state) {
    (void)state;
    Stage mul = with_constant(STAGE_CODE_MUL, (StageCode){0x1.f6b25ep-6f, -128}, (StageCode){0x1.fe2e06p-11f, -128},
                              211 - 128, (StageCode){0x1.9eda0ep-3f, 0});
    assert_int_equal(code_of(&mul, 1, S0_SEM_TFLITE_DOUBLE, 209 - 128), 6);
    assert_int_equal(code_of(&mul, 1, S0_SEM_TFLITE_SINGLE, 209 - 128), 6);
    assert_int_equal(code_of(&mul, 1, S0_SEM_CMSIS, 209 - 128), 6);
    assert_int_equal(code_of(&mul, 1, S0_SEM_TFLITE_DOUBLE_F32, 209 - 128), 7);
}

/* numerics.md 1.4 and K5: v = 3.5 with an odd zero point. */
static void test_zero_point_order(void **state) {
    (void)state;
    Stage mul =
        with_constant(STAGE_CODE_MUL, (StageCode){.0546875f, 0}, (StageCode){.125f, 0}, -2, (StageCode){.015625f, 43});
    assert_int_equal(code_of(&mul, 1, S0_SEM_ORT_MLAS, -4), 46);
    assert_int_equal(code_of(&mul, 1, S0_SEM_ONNX, -4), 47);
    Stage quantize[] = {dequantize_stage(DTYPE_I8, .5f, 0), quantize_stage(DTYPE_I8, 1, 1)};
    assert_int_equal(code_of(quantize, 2, S0_SEM_ONNX, 5), 3);
    assert_int_equal(code_of(quantize, 2, S0_SEM_ORT_MLAS, 5), 3); /* QuantizeLinear adds it afterwards */
    assert_int_equal(code_of(quantize, 2, S0_SEM_TFLITE_DOUBLE, 5), 4);
    assert_int_equal(code_of(quantize, 2, S0_SEM_ONNX, 7), 5);
    Stage add = with_constant(STAGE_CODE_ADD, (StageCode){.5f, 0}, (StageCode){.5f, 0}, 0, (StageCode){1, 1});
    assert_int_equal(code_of(&add, 1, S0_SEM_ONNX, 5), 3);
    assert_int_equal(code_of(&add, 1, S0_SEM_ORT_MLAS, 5), 4);
}

/* numerics.md 6, V1 to V4: a MUL to units of 1, then an ADD. */
static void test_mul_then_add(void **state) {
    (void)state;
    static const struct {
        const char *name;
        float mul_scale, add_scale;
        int32_t mul_code, add_code, lo, x, by_double, by_single;
    } rows[] = {
        {"V1", 1, 4, 4, -75, -128, 31, -128, -128}, {"V1", 1, 4, 4, -75, -128, 100, -128, -128},
        {"V1", 1, 4, 4, -75, -128, 0, -128, -128},  {"V2", .5f, .5f, 1, 1, -128, -2, -1, 0},
        {"V2", .5f, .5f, 1, 1, -128, -1, 1, 1},     {"V2", .5f, .5f, 1, 1, -128, 1, 2, 2},
        {"V2", .5f, .5f, 1, 1, -128, 5, 4, 4},      {"V3", 1, 1, 2, -10, 0, -4, -10, -10},
        {"V3", 1, 1, 2, -10, 0, 100, 117, 117},     {"V4", 1, .5f, 1, 1, -128, -1, -1, 0},
        {"V4", 1, .5f, 1, 1, -128, 0, 1, 1},
    };
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        StageCode unit = {1, 0};
        Stage pair[] = {
            with_constant(STAGE_CODE_MUL, unit, (StageCode){rows[i].mul_scale, 0}, rows[i].mul_code, unit),
            with_constant(STAGE_CODE_ADD, unit, (StageCode){rows[i].add_scale, 0}, rows[i].add_code, unit),
        };
        pair[0].integer.lo = rows[i].lo;
        print_message("%s, x = %d\n", rows[i].name, rows[i].x);
        assert_int_equal(code_of(pair, 2, S0_SEM_TFLITE_DOUBLE, rows[i].x), rows[i].by_double);
        assert_int_equal(code_of(pair, 2, S0_SEM_TFLITE_SINGLE, rows[i].x), rows[i].by_single);
    }
}

/* ---- reals */

static void test_batch_norm(void **state) {
    (void)state;
    static const float scale[] = {.5f, 2, -1}, shift[] = {.1f, -.2f, .3f};
    static const int32_t expected[] = {16, 43, -12};
    for (uint32_t c = 0; c < 3; c++) { /* D7: as MUL and ADD, and as a BatchNormalization */
        Stage chain[] = {dequantize_stage(DTYPE_I8, .1f, 0), number_stage(STAGE_MUL, scale[c]),
                         number_stage(STAGE_ADD, shift[c]), quantize_stage(DTYPE_I8, .1f, 5)};
        Stage norm[] = {chain[0], {.kind = STAGE_NORM, .from = DTYPE_F32, .to = DTYPE_F32}, chain[3]};
        norm[1].norm.variance = 1;
        norm[1].norm.gamma = scale[c];
        norm[1].norm.beta = shift[c];
        expect_all(chain, 4, 20, expected[c]);
        expect_all(norm, 3, 20, expected[c]);
    }
    Stage d8[] = {dequantize_stage(DTYPE_I8, .5f, 4), number_stage(STAGE_MUL, .25f), number_stage(STAGE_ADD, 1),
                  quantize_stage(DTYPE_I8, .1f, -10)};
    expect_all(d8, 4, 20, 20);
    /* numerics.md 2.2: in the operator's order, and folded into x * a + b */
    Stage norm = {.kind = STAGE_NORM, .from = DTYPE_F32, .to = DTYPE_F32};
    norm.norm.mean = 10000;
    norm.norm.variance = 9;
    norm.norm.gamma = 1;
    assert_true(real_of(&norm, 1, S0_SEM_ONNX, 10001) == 0.333333343f);
    assert_true(real_of(&norm, 1, S0_SEM_ORT_MLAS, 10001) == 0.333251953f);
    norm.norm.mean = 0;
    norm.norm.variance = -1e-6f; /* 2.3: negative, but not with epsilon */
    norm.norm.epsilon = 1e-5f;
    assert_float_equal(real_of(&norm, 1, S0_SEM_ONNX, 1), 333.333f, .01f);
}

static void test_unit_scale(void **state) { /* E11 */
    (void)state;
    StageCode tenth = {.1f, 0};
    static const float shift[] = {.4f, -.2f};
    static const int32_t x[] = {126, -127}, expected[] = {127, -128};
    for (uint32_t c = 0; c < 2; c++) {
        Stage chain[] = {dequantize_stage(DTYPE_I8, .1f, 0), number_stage(STAGE_MUL, 1),
                         number_stage(STAGE_ADD, shift[c]), quantize_stage(DTYPE_I8, .1f, 0)};
        expect_all(chain, 4, x[c], expected[c]);
    }
    Stage half = with_constant(STAGE_CODE_MUL, tenth, (StageCode){.5f, 0}, 1, tenth);
    assert_int_equal(code_of(&half, 1, S0_SEM_ONNX, 21), 10);
    assert_int_equal(code_of(&half, 1, S0_SEM_TFLITE_SINGLE, 21), 11);
    assert_int_equal(code_of(&half, 1, S0_SEM_TFLITE_DOUBLE, 21), 11);
    /* As DequantizeLinear and QuantizeLinear it is no tie: 21 * .1 is above 2.1 in float32. */
    Stage pair = requantize_stage(DTYPE_I8, tenth, DTYPE_I8, (StageCode){.2f, 0});
    assert_int_equal(code_of(&pair, 1, S0_SEM_ONNX, 21), 11);
}

static void test_real_values(void **state) {
    (void)state;
    Stage e2[] = {quantize_stage(DTYPE_I8, .1f, 2), dequantize_stage(DTYPE_I8, .1f, 2)};
    assert_float_equal(real_of(e2, 2, S0_SEM_ONNX, .237f), .2f, 1e-6f);
    assert_float_equal(real_of(e2, 2, S0_SEM_ONNX, 20), 12.5f, 1e-6f);
    assert_float_equal(real_of(e2, 2, S0_SEM_ONNX, -20), -13, 1e-6f);
    Stage rsub = number_stage(STAGE_RSUB, 0), sub = number_stage(STAGE_SUB, 1), div = number_stage(STAGE_DIV, 4);
    assert_true(real_of(&rsub, 1, S0_SEM_ONNX, 2) == -2); /* E5 */
    assert_true(real_of(&sub, 1, S0_SEM_ONNX, 2) == 1);
    assert_true(real_of(&div, 1, S0_SEM_ONNX, 7) == 1.75f); /* C6 */
    Stage zero = number_stage(STAGE_MUL, 0);                /* E8 */
    assert_true(real_of(&zero, 1, S0_SEM_ONNX, INFINITY) != real_of(&zero, 1, S0_SEM_ONNX, INFINITY));
    Stage clip = {.kind = STAGE_CLIP, .from = DTYPE_F32, .to = DTYPE_F32};
    clip.clip.hi = 6;
    assert_true(real_of(&clip, 1, S0_SEM_ONNX, -1) == 0 && real_of(&clip, 1, S0_SEM_ONNX, 7) == 6);
    float nan = real_of(&clip, 1, S0_SEM_ONNX, NAN);
    assert_true(nan != nan);
    assert_true(real_of(NULL, 0, S0_SEM_ONNX, 3) == 3);
    assert_int_equal(code_of(NULL, 0, S0_SEM_ONNX, 3), 3);
}

/* 2^24 + 1, times 3: TFLite multiplies in double, ONNX converts to float32 first. */
static void test_wide_dequantize(void **state) {
    (void)state;
    Stage pair[] = {dequantize_stage(DTYPE_I32, 3, 0), quantize_stage(DTYPE_I32, 1, 0)};
    assert_int_equal(code_of(pair, 2, S0_SEM_TFLITE_DOUBLE, 16777217), 50331652);
    assert_int_equal(code_of(pair, 2, S0_SEM_ONNX, 16777217), 50331648);
}

/* ---- integers that stand for themselves */

static int32_t plain_of(StageKind kind, DType dtype, int32_t x, int32_t value) {
    Stage stage = {.kind = kind, .from = dtype, .to = dtype};
    BoundStage bound;
    float unused = 0;
    stage.integer.value = value;
    assert_null(stage_bind(&stage, S0_SEM_ONNX, &bound));
    bound_run(&bound, &x, &unused, 1);
    return x;
}

/* The conversions of C to a type of 8 bits: of an unsigned one they are modulo 256. */
static void test_all_bytes(void **state) {
    (void)state;
    for (int32_t a = -128; a < 128; a++) {
        for (int32_t b = -128; b < 128; b++) {
            assert_int_equal(plain_of(STAGE_INT_MUL, DTYPE_I8, a, b), (int8_t)(uint8_t)(a * b));
            assert_int_equal(plain_of(STAGE_INT_ADD, DTYPE_I8, a, b), (int8_t)(uint8_t)(a + b));
            assert_int_equal(plain_of(STAGE_INT_SUB, DTYPE_I8, a, b), (int8_t)(uint8_t)(a - b));
            int32_t x = a + 128, y = b + 128;
            assert_int_equal(plain_of(STAGE_INT_MUL, DTYPE_U8, x, y), (uint8_t)(x * y));
            assert_int_equal(plain_of(STAGE_INT_RSUB, DTYPE_U8, x, y), (uint8_t)(y - x));
            if (b != 0) {
                assert_int_equal(plain_of(STAGE_INT_DIV, DTYPE_I8, a, b), (int8_t)(uint8_t)(a / b));
            }
        }
    }
}

static void test_wide_integers(void **state) {
    (void)state;
    static const struct {
        StageKind kind;
        DType dtype;
        int32_t x, value, expected;
    } rows[] = {{STAGE_INT_MUL, DTYPE_I32, 65536, 65536, 0},
                {STAGE_INT_MUL, DTYPE_I32, INT32_MIN, -1, INT32_MIN},
                {STAGE_INT_ADD, DTYPE_I32, INT32_MAX, 1, INT32_MIN},
                {STAGE_INT_SUB, DTYPE_I32, INT32_MIN, 1, INT32_MAX},
                {STAGE_INT_RSUB, DTYPE_I32, INT32_MIN, 0, INT32_MIN},
                {STAGE_INT_DIV, DTYPE_I32, INT32_MIN, -1, INT32_MIN},
                {STAGE_INT_DIV, DTYPE_I32, -7, 2, -3},
                {STAGE_INT_ADD, DTYPE_U16, 65535, 2, 1},
                {STAGE_INT_ADD, DTYPE_I4, 7, 1, -8},
                {STAGE_INT_MUL, DTYPE_U4, 15, 15, 1}};
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plain_of(rows[i].kind, rows[i].dtype, rows[i].x, rows[i].value), rows[i].expected);
    }
    Stage by_zero = {.kind = STAGE_INT_DIV, .from = DTYPE_I32, .to = DTYPE_I32};
    BoundStage bound;
    assert_non_null(stage_bind(&by_zero, S0_SEM_ONNX, &bound));
}

/* To float16 to the nearest, ties to even; from it as it is. */
static void test_cast(void **state) {
    (void)state;
    Stage narrow = {.kind = STAGE_CAST, .from = DTYPE_F32, .to = DTYPE_F16};
    Stage wide = {.kind = STAGE_CAST, .from = DTYPE_F16, .to = DTYPE_F32};
    assert_true(real_of(&narrow, 1, S0_SEM_ONNX, 2049) == 2048);
    assert_true(real_of(&narrow, 1, S0_SEM_ONNX, 2051) == 2052);
    assert_true(real_of(&narrow, 1, S0_SEM_ONNX, 65520) == INFINITY);
    assert_true(real_of(&wide, 1, S0_SEM_ONNX, 2052) == 2052);
}

/* ---- whole domains whose figures numerics.md states */

static int differing(const Stage *stage, int32_t *most) {
    int count = 0;
    *most = 0;
    for (int32_t q = -128; q < 128; q++) {
        int32_t distance = abs(code_of(stage, 1, S0_SEM_TFLITE_DOUBLE, q) - q);
        count += distance != 0;
        *most = distance > *most ? distance : *most;
    }
    return count;
}

static void test_near_one(void **state) { /* 2.4 */
    (void)state;
    static const struct {
        float scale;
        int32_t zero;
        int count;
    } rows[] = {{1 - .003906f, 0, 0},   {1 - .0039065f, 0, 1},   {1 + .003937f, 0, 0}, {1 + .003938f, 0, 1},
                {1 + .00196f, -128, 0}, {1 + .001969f, -128, 1}, {1 + .005f, 0, 53},   {1 + .005f, -128, 154}};
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        int32_t most;
        StageCode out = {1, rows[i].zero};
        Stage stage = requantize_stage(DTYPE_I8, (StageCode){rows[i].scale, rows[i].zero}, DTYPE_I8, out);
        assert_int_equal(differing(&stage, &most), rows[i].count);
        assert_int_equal(most, rows[i].count > 0);
    }
}

static void test_near_one_by_constant(void **state) { /* 2.4 */
    (void)state;
    int32_t most;
    StageCode unit = {1, 0}, low = {1, -128};
    Stage unity = with_constant(STAGE_CODE_MUL, unit, (StageCode){1 / 127.0f, 0}, 127, unit);
    assert_int_equal(differing(&unity, &most), 0);
    unity.integer.constant.scale = .01f;
    unity.integer.value = 100;
    assert_int_equal(differing(&unity, &most), 0);
    Stage near = with_constant(STAGE_CODE_MUL, low, (StageCode){1 / 126.7f, 0}, 127, low);
    assert_int_equal(differing(&near, &most), 47);
    assert_int_equal(most, 1);
    Stage nothing = with_constant(STAGE_CODE_ADD, (StageCode){.3f, 7}, (StageCode){.9f, -4}, -4, (StageCode){.3f, 7});
    assert_int_equal(differing(&nothing, &most), 0);
}

static void test_translations(void **state) {
    (void)state;
    Stage add = with_constant(STAGE_CODE_ADD, (StageCode){.37f, 5}, (StageCode){.37f, -9}, 40, (StageCode){.37f, -3});
    Stage flip = requantize_stage(DTYPE_I8, (StageCode){.7f, -1}, DTYPE_U8, (StageCode){.7f, 127});
    for (int32_t q = -128; q < 128; q++) {
        int32_t sum = q + (40 + 9) + (-3 - 5);
        int32_t limited = sum > 127 ? 127 : sum < -128 ? -128 : sum;
        assert_int_equal(code_of(&add, 1, S0_SEM_TFLITE_DOUBLE, q), limited); /* numerics.md 1.2 */
        assert_int_equal(code_of(&add, 1, S0_SEM_TFLITE_SINGLE, q), limited);
        assert_int_equal(code_of(&flip, 1, S0_SEM_TFLITE_DOUBLE, q), (uint8_t)q ^ 0x80);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_vectors),
        cmocka_unit_test(test_accumulators),
        cmocka_unit_test(test_rescale_pair),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_add_and_subtract),
        cmocka_unit_test(test_product_of_scales),
        cmocka_unit_test(test_zero_point_order),
        cmocka_unit_test(test_mul_then_add),
        cmocka_unit_test(test_batch_norm),
        cmocka_unit_test(test_unit_scale),
        cmocka_unit_test(test_real_values),
        cmocka_unit_test(test_wide_dequantize),
        cmocka_unit_test(test_near_one),
        cmocka_unit_test(test_near_one_by_constant),
        cmocka_unit_test(test_all_bytes),
        cmocka_unit_test(test_wide_integers),
        cmocka_unit_test(test_cast),
        cmocka_unit_test(test_translations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
