/* Proves what a chain is refused for, and that no parameter whatever makes an undefined operation (run with
 * -fsanitize=undefined). The limits are those of docs/semantics.md, worked out by hand. */
#include "affine/draw.h"

#include <string.h>

/* ---- faults */

typedef struct {
    const char *part; /* of the message; null: the chain has a value */
    const char *name;
    Semantics semantics;
    Stage stage;
} Faulty;

#define INTEGER(k, type, ...)                                                                                          \
    {                                                                                                                  \
        .kind = (k), .from = (type), .to = (type), .integer = {.lo = -8, .hi = 7, __VA_ARGS__ }                        \
    }
#define REAL(k, ...)                                                                                                   \
    { .kind = (k), .from = DTYPE_F32, .to = DTYPE_F32, __VA_ARGS__ }

static const Faulty faulty[] = {
    {"not finite", "a NaN factor", S0_SEM_ONNX, REAL(STAGE_MUL, .number = NAN)},
    {"not finite", "an infinite bias", S0_SEM_ONNX, REAL(STAGE_ADD, .number = INFINITY)},
    {"division by zero", "DIV by 0", S0_SEM_ONNX, REAL(STAGE_DIV, .number = -0.0f)},
    {"not positive", "D2: variance + epsilon is 0", S0_SEM_ONNX,
     REAL(STAGE_NORM, .norm = {.variance = -1e-5f, .epsilon = 1e-5f, .gamma = 1})},
    {"not positive", "D2: negative", S0_SEM_ONNX,
     REAL(STAGE_NORM, .norm = {.variance = -1, .epsilon = 1e-5f, .gamma = 1})},
    {NULL, "D2: negative variance, positive sum", S0_SEM_ONNX,
     REAL(STAGE_NORM, .norm = {.variance = -9e-6f, .epsilon = 1e-5f, .gamma = 1})},
    {"not finite", "a NaN mean", S0_SEM_ONNX, REAL(STAGE_NORM, .norm = {.mean = NAN, .variance = 1, .gamma = 1})},
    {"not finite", "variance + epsilon is infinite", S0_SEM_ONNX,
     REAL(STAGE_NORM, .norm = {.variance = 3e38f, .epsilon = 3e38f, .gamma = 1})},
    {"limit", "a NaN limit", S0_SEM_ONNX, REAL(STAGE_CLIP, .clip = {NAN, 1})},
    {NULL, "a limit may be infinite", S0_SEM_ONNX, REAL(STAGE_CLIP, .clip = {0, INFINITY})},
    {"not finite",
     "a NaN scale",
     S0_SEM_ONNX,
     {.kind = STAGE_DEQUANTIZE, .from = DTYPE_I8, .to = DTYPE_F32, .code = {NAN, 0}}},
    {NULL,
     "a negative scale is a real",
     S0_SEM_ONNX,
     {.kind = STAGE_DEQUANTIZE, .from = DTYPE_I8, .to = DTYPE_F32, .code = {-1, 0}}},
    {"range of float32",
     "codes become infinite",
     S0_SEM_ONNX,
     {.kind = STAGE_DEQUANTIZE, .from = DTYPE_I8, .to = DTYPE_F32, .code = {3e38f, 0}}},
    {"zero point",
     "int32 in ONNX",
     S0_SEM_ONNX,
     {.kind = STAGE_DEQUANTIZE, .from = DTYPE_I32, .to = DTYPE_F32, .code = {1, 1}}},
    {"not positive",
     "QUANTIZE by a negative scale",
     S0_SEM_ONNX,
     {.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = DTYPE_I8, .code = {-1, 0}}},
    {"no such operation",
     "to uint32",
     S0_SEM_ONNX,
     {.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = DTYPE_U32, .code = {1, 0}}},
    {"float32 and float16",
     "float64",
     S0_SEM_ONNX,
     {.kind = STAGE_MUL, .from = DTYPE_F64, .to = DTYPE_F64, .number = 1}},
    {"below 2^-32", "SCALE_TINY", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {0x1p-33f, 0}, .out = {1, 0})},
    {NULL, "2^-32 is kept", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {0x1p-32f, 0}, .out = {1, 0})},
    {NULL, "ONNX has no least factor", S0_SEM_ONNX,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {0x1p-33f, 0}, .out = {1, 0})},
    {"above 2^30", "SCALE_BIG: K3", S0_SEM_TFLITE_SINGLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {0x1.8p31f, 0}, .out = {1, 0})},
    {"passes 32 bits", "SCALE_BIG: 1e9 times 128", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {1e9f, 0}, .out = {1, 0})},
    {"passes 32 bits", "SCALE_BIG: single", S0_SEM_TFLITE_SINGLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {1e9f, 0}, .out = {1, 0})},
    {NULL, "1e7 times 128 fits", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {1e7f, 0}, .out = {1, 0})},
    {"passes 32 bits", "the zero point's sum", S0_SEM_TFLITE_SINGLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {1, 0}, .out = {1, INT32_MAX})},
    {"negative", "NEG_MULT", S0_SEM_TFLITE_SINGLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {-1, 0}, .out = {1, 0})},
    {"negative", "NEG_MULT", S0_SEM_CMSIS, INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {-1, 0}, .out = {1, 0})},
    {NULL, "double rounding knows signs", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {-1, 0}, .out = {1, 0})},
    {"not positive", "an output's scale of 0", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {1, 0}, .out = {0, 0})},
    {"not positive", "an input's scale of 0", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I8, .in = {0, 0}, .out = {1, 0})},
    {"not finite", "an infinite scale", S0_SEM_ONNX,
     INTEGER(STAGE_CODE_MUL, DTYPE_I8, .in = {1, 0}, .constant = {INFINITY, 0}, .out = {1, 0})},
    {"zero point", "ZP16 in", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I16, .in = {1, 1}, .out = {1, 0})},
    {"zero point", "ZP16 out", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I16, .in = {1, 0}, .out = {1, 1})},
    {NULL, "int16 zero points in ONNX", S0_SEM_ONNX,
     INTEGER(STAGE_CODE_REQUANTIZE, DTYPE_I16, .in = {1, 1}, .out = {1, 0})},
    {"ADD needs", "ADD_ABORT", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_ADD, DTYPE_I8, .in = {1, 0}, .constant = {0x1p19f, 0}, .out = {1, 0})},
    {NULL, "just below ADD_ABORT", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_ADD, DTYPE_I8, .in = {1, 0}, .constant = {0x1.fffffep18f, 0}, .out = {1, 0})},
    {"ADD needs", "ADD_ABORT of int16", S0_SEM_TFLITE_SINGLE,
     INTEGER(STAGE_CODE_ADD, DTYPE_I16, .in = {1.5f, 0}, .constant = {0x1p14f, 0}, .out = {1, 0})},
    {"differ", "int16 ADD of powers of two", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_ADD, DTYPE_I16, .in = {1, 0}, .constant = {.5f, 0}, .out = {2, 0})},
    {"not positive", "ADD by a negative scale", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_ADD, DTYPE_I8, .in = {-1, 0}, .constant = {1, 0}, .out = {1, 0})},
    {"accumulator", "BIAS_OVF", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_SCALE, DTYPE_I8, .in = {.1f, 0}, .constant = {.1f, 0}, .out = {1, 0}, .value = 127,
             .bias = INT32_MAX - 127 * 126)},
    {NULL, "just below BIAS_OVF", S0_SEM_TFLITE_DOUBLE,
     INTEGER(STAGE_CODE_SCALE, DTYPE_I8, .in = {.1f, 0}, .constant = {.1f, 0}, .out = {1, 0}, .value = 127,
             .bias = INT32_MAX - 127 * 127)},
    {"no range",
     "limits that cross",
     S0_SEM_TFLITE_DOUBLE,
     {.kind = STAGE_CODE_REQUANTIZE, .from = DTYPE_I8, .to = DTYPE_I8, .integer = {.lo = 1, .hi = 0}}},
    {"no range",
     "limits beyond int8",
     S0_SEM_TFLITE_DOUBLE,
     {.kind = STAGE_CODE_CLIP, .from = DTYPE_I8, .to = DTYPE_I8, .integer = {.lo = -129, .hi = 0}}},
};

static void test_faults(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT(faulty); i++) {
        StageFault fault = fault_of(&faulty[i].stage, 1, faulty[i].semantics);
        bool as_told =
            fault == NULL || faulty[i].part == NULL ? fault == faulty[i].part : strstr(fault, faulty[i].part) != NULL;
        if (!as_told) {
            fail_msg("%s: %s", faulty[i].name, fault == NULL ? "no fault" : fault);
        }
    }
    Stage apart[] = {dequantize_stage(DTYPE_I8, 1, 0), dequantize_stage(DTYPE_I8, 1, 0)};
    assert_non_null(fault_of(apart, 2, S0_SEM_ONNX));
}

static void test_check(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    Stage acc = accumulator_stage(1e5f, (StageCode){1, 0}); /* numerics.md 1.1: 32385 leaves 32 bits */
    Chain chain = bind_chain(&acc, 1, S0_SEM_TFLITE_DOUBLE, &work);
    assert_null(chain_check(&chain, -16384, 16383));
    assert_non_null(chain_check(&chain, 0, 16384)); /* 2^14 * 2^17 = 2^31 */
    assert_non_null(chain_check(&chain, -16385, 0));
    assert_non_null(chain_check(&chain, 0, INT64_MAX));
    acc.integer.in.scale = .001f;
    chain = bind_chain(&acc, 1, S0_SEM_TFLITE_SINGLE, &work);
    assert_null(chain_check(&chain, INT32_MIN, INT32_MAX));
    assert_non_null(chain_check(&chain, (int64_t)INT32_MIN - 1, 0));
    acc.integer.in.scale = 1.5f; /* only double rounding shifts first */
    chain = bind_chain(&acc, 1, S0_SEM_TFLITE_SINGLE, &work);
    assert_null(chain_check(&chain, 0, 1200000000));
    assert_non_null(chain_check(&chain, 0, 1500000000));
    chain = bind_chain(&acc, 1, S0_SEM_TFLITE_DOUBLE, &work);
    assert_non_null(chain_check(&chain, 0, 1200000000));
    Stage reals[] = {dequantize_stage(DTYPE_I8, 1e30f, 0), number_stage(STAGE_MUL, 1e6f),
                     number_stage(STAGE_MUL, 1e-9f)};
    chain = bind_chain(reals, 2, S0_SEM_ONNX, &work);
    assert_null(chain_check(&chain, -128, 127));
    reals[1].number = 1e7f; /* infinite in the middle */
    assert_non_null(fault_of(reals, 3, S0_SEM_ONNX));
    Stage large[] = {dequantize_stage(DTYPE_I8, 1e8f, 0), quantize_stage(DTYPE_I8, 1e-3f, 0)};
    assert_non_null(fault_of(large, 2, S0_SEM_TFLITE_DOUBLE)); /* casts 1e13 to an integer */
    assert_null(fault_of(large, 2, S0_SEM_ONNX));              /* saturates */
    work_free(&work);
}

static float draw_any_float(uint64_t *seed) {
    uint32_t bits = (uint32_t)random_next(seed);
    float x;
    memcpy(&x, &bits, sizeof x);
    return random_below(seed, 4) == 0 ? x : draw_scale(seed);
}

static int32_t draw_any_int(uint64_t *seed) {
    static const int32_t ends[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    return random_below(seed, 2) != 0 ? ends[random_below(seed, COUNT(ends))] : (int32_t)(uint32_t)random_next(seed);
}

/* Whatever the bits of a stage are: a fault, or a value for every code. */
static void test_any_parameter(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 26;
    int bound = 0;
    for (int i = 0; i < 300000; i++) {
        static const DType dtypes[] = {DTYPE_I8, DTYPE_I16, DTYPE_I32, DTYPE_U8, DTYPE_F32, DTYPE_F16};
        Stage stage = codes_stage((StageKind)random_below(&seed, STAGE_ACC_REQUANTIZE + 1), DTYPE_I32, DTYPE_I32);
        stage.from = dtypes[random_below(&seed, COUNT(dtypes))];
        stage.to = dtypes[random_below(&seed, COUNT(dtypes))];
        stage.integer.in = (StageCode){draw_any_float(&seed), draw_any_int(&seed)};
        stage.integer.constant = (StageCode){draw_any_float(&seed), draw_any_int(&seed)};
        stage.integer.out = (StageCode){draw_any_float(&seed), draw_any_int(&seed)};
        stage.integer.value = draw_any_int(&seed);
        stage.integer.bias = draw_any_int(&seed);
        stage.integer.negate = draw_between(&seed, -1, 3);
        (void)stage_code_range(stage.to, &stage.integer.lo, &stage.integer.hi);
        Chain chain;
        if (chain_bind(&stage, 1, (Semantics)(i % S0_SEM_COUNT), &work.keep, &chain) == NULL) {
            bound++;
            (void)chain_code(&chain, draw_any_int(&seed));
            (void)chain_real(&chain, draw_any_float(&seed));
            (void)chain_check(&chain, draw_any_int(&seed), draw_any_int(&seed));
            (void)chain_direction(&chain);
        }
        arena_reset(&work.keep);
    }
    assert_in_range(bound, 10000, 300000);
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults), cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_any_parameter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
