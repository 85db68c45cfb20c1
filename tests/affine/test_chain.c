/* Proves bound chains: whole domains of random channels against a reference that is written here from the formulas of
 * docs/semantics.md in exact fractions and doubles; that a checked chain is monotone; and that many codes at once are
 * the same as one by one. */
#include "affine/draw.h"
#include "kern/exact.h"

/* ---- the reference. A float operation on floats is the double operation rounded to float: 53 bits are more than twice
 * 24 and 2 (Figueroa 1995). */

static float f32(double x) {
    return (float)x;
}

static Wide limited(Wide code, const Stage *stage) {
    return code < stage->integer.lo ? stage->integer.lo : code > stage->integer.hi ? stage->integer.hi : code;
}

static Wide rescaled(Wide x, double factor, Semantics semantics) {
    int shift;
    int32_t multiplier = exact_multiplier(factor, &shift);
    return semantics == S0_SEM_TFLITE_SINGLE ? exact_single(x, multiplier, shift) : exact_double(x, multiplier, shift);
}

/* Half to even, of a double that holds a float. */
static Wide quantised(double steps, int32_t zero_point, bool zero_first, const Stage *stage) {
    double moved = zero_first ? (double)f32(steps + zero_point) : steps;
    double code = nearbyint(moved) + (zero_first ? 0 : zero_point);
    return limited(code > 1e9 ? 1000000000 : code < -1e9 ? -1000000000 : (Wide)code, stage);
}

static Wide reference_tflite(const Stage *s, Semantics semantics, int32_t code) {
    double in = (double)s->integer.in.scale, c = (double)s->integer.constant.scale, out = (double)s->integer.out.scale;
    Wide x = (Wide)code - s->integer.in.zero_point;
    Wide value = (Wide)s->integer.value - s->integer.constant.zero_point;
    Wide result;
    if (s->kind == STAGE_CODE_ADD) {
        int left = s->to == DTYPE_I16 ? 15 : 20;
        double twice = 2 * fmax(in, c);
        Wide a = rescaled(x * exact_power(left), in / twice, semantics);
        Wide b = rescaled(value * exact_power(left), c / twice, semantics);
        Wide sum = s->integer.negate == 0 ? a + b : s->integer.negate == 1 ? a - b : b - a;
        result = rescaled(sum, twice / (ldexp(1, left) * out), semantics);
    } else if (s->kind == STAGE_CODE_MUL) {
        bool is_f32 = semantics == S0_SEM_TFLITE_DOUBLE_F32;
        result = rescaled(x * value, is_f32 ? (double)f32((double)f32(in * c) / out) : in * c / out, semantics);
    } else if (s->kind == STAGE_CODE_SCALE) {
        result = rescaled(x * value + s->integer.bias, in * c / out, semantics);
    } else if (s->kind == STAGE_ACC_REQUANTIZE) {
        result = rescaled(code, in * c / out, semantics);
    } else {
        result = rescaled(x, in / out, semantics);
    }
    return limited(result + s->integer.out.zero_point, s);
}

static Wide reference_onnx(const Stage *s, Semantics semantics, int32_t code) {
    double in = (double)s->integer.in.scale, c = (double)s->integer.constant.scale, out = (double)s->integer.out.scale;
    double x = (double)code - s->integer.in.zero_point;
    double value = (double)s->integer.value - s->integer.constant.zero_point;
    double factor = (double)f32((double)f32(in * c) / out), steps;
    bool zero_first = semantics == S0_SEM_ORT_MLAS && (s->kind == STAGE_CODE_ADD || s->kind == STAGE_CODE_MUL);
    if (s->kind == STAGE_CODE_ADD) {
        double a = (double)f32(x * in), b = (double)f32(value * c);
        double sum = s->integer.negate == 0 ? a + b : s->integer.negate == 1 ? a - b : b - a;
        steps = (double)f32((double)f32(sum) / out);
    } else if (s->kind == STAGE_CODE_MUL) {
        steps = (double)f32((double)f32(x * value) * factor);
    } else if (s->kind == STAGE_CODE_SCALE) {
        steps = (double)f32((double)f32(x * value + s->integer.bias) * factor);
    } else if (s->kind == STAGE_ACC_REQUANTIZE) {
        steps = (double)f32((double)f32(code) * factor);
    } else {
        steps = (double)f32((double)f32(x * in) / out);
    }
    return quantised(steps, s->integer.out.zero_point, zero_first, s);
}

static Wide reference(const Stage *stage, Semantics semantics, int32_t code) {
    return s0_semantics_format(semantics) == S0_FORMAT_TFLITE ? reference_tflite(stage, semantics, code)
                                                              : reference_onnx(stage, semantics, code);
}

/* False where the stage has a fault: tests/affine/test_chain_faults.c. */
static bool expect_reference(const Stage *stage, Semantics semantics, int32_t first, uint32_t count, Work *work) {
    Chain chain;
    if (chain_bind(stage, 1, semantics, &work->scratch, &chain) != NULL) {
        return false;
    }
    int32_t *codes = arena_array(&work->scratch, int32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        codes[i] = first + (int32_t)i;
    }
    chain_codes(&chain, codes, count);
    for (uint32_t i = 0; i < count; i++) {
        Wide expected = reference(stage, semantics, first + (int32_t)i);
        if (codes[i] != expected) {
            fail_msg("%s, kind %d, code %d: %d, not %d", s0_semantics_name(semantics), (int)stage->kind,
                     (int)(first + (int32_t)i), (int)codes[i], (int)expected);
        }
    }
    return true;
}

static void test_bytes(void **state) {
    (void)state;
    static const DType dtypes[] = {DTYPE_I8, DTYPE_U8, DTYPE_I4, DTYPE_U4};
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 21;
    int compared = 0;
    for (int i = 0; i < 20000; i++) {
        int32_t lo, hi;
        DType dtype = dtypes[random_below(&seed, i % 4 == 0 ? 4 : 2)];
        (void)stage_code_range(dtype, &lo, &hi);
        Stage stage = draw_stage(&seed, dtype);
        compared += expect_reference(&stage, (Semantics)(i % S0_SEM_COUNT), lo, (uint32_t)(hi - lo + 1), &work);
        arena_reset(&work.scratch);
    }
    assert_in_range(compared, 19000, 20000);
    work_free(&work);
}

static void test_words(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 22;
    int compared = 0;
    for (int i = 0; i < 60; i++) {
        Stage stage = draw_stage(&seed, DTYPE_I16);
        stage.integer.out.scale *= stage.kind == STAGE_CODE_MUL ? 9999 : 1;
        compared += expect_reference(&stage, (Semantics)(i % S0_SEM_COUNT), INT16_MIN, 65536, &work);
        arena_reset(&work.scratch);
    }
    assert_in_range(compared, 45, 60);
    work_free(&work);
}

static void test_accumulators(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 23;
    for (int i = 0; i < 3000; i++) {
        Stage stage = accumulator_stage(draw_scale(&seed), draw_code(&seed, DTYPE_I8));
        stage.integer.constant.scale = draw_scale(&seed);
        stage.integer.in.zero_point = 5; /* an accumulator has none, nor a bias; the mean of one element is none */
        stage.integer.value = i % 2;
        stage.integer.bias = 9;
        Semantics semantics = (Semantics)(i % S0_SEM_COUNT);
        assert_true(expect_reference(&stage, semantics, draw_between(&seed, -30000, 30000), 300, &work));
        assert_true(expect_reference(&stage, semantics, draw_between(&seed, -(1 << 23), 1 << 23), 20, &work));
        arena_reset(&work.scratch);
    }
    work_free(&work);
}

/* DQ, float operations, Q: every code. */
static double apply(const Stage *stage, double x) {
    switch (stage->kind) {
    case STAGE_MUL:
        return (double)f32(x * (double)stage->number);
    case STAGE_ADD:
        return (double)f32(x + (double)stage->number);
    case STAGE_SUB:
        return (double)f32(x - (double)stage->number);
    case STAGE_RSUB:
        return (double)f32((double)stage->number - x);
    case STAGE_DIV:
        return (double)f32(x / (double)stage->number);
    default:
        break;
    }
    double spread = (double)f32((double)stage->norm.variance + (double)stage->norm.epsilon);
    double unit = (double)f32((double)f32(x - (double)stage->norm.mean) / (double)f32(sqrt(spread)));
    double scaled = (double)f32(unit * (double)stage->norm.gamma);
    return (double)f32(scaled + (double)stage->norm.beta);
}

static void test_reals(void **state) {
    (void)state;
    uint64_t seed = 24;
    Work work;
    WORK_BEGIN(&work);
    for (int i = 0; i < 10000; i++) {
        StageCode in = draw_code(&seed, DTYPE_I8), out = draw_code(&seed, DTYPE_I8);
        Stage stages[] = {dequantize_stage(DTYPE_I8, in.scale, in.zero_point), draw_real_stage(&seed),
                          draw_real_stage(&seed), quantize_stage(DTYPE_I8, out.scale, out.zero_point)};
        Semantics semantics = (Semantics)(i % S0_SEM_COUNT);
        Chain chain = bind_chain(stages, 4, semantics, &work);
        for (int32_t q = -128; q < 128; q++) {
            double x = (double)f32((double)(q - in.zero_point) * (double)in.scale);
            double steps = (double)f32(apply(&stages[2], apply(&stages[1], x)) / (double)out.scale);
            bool is_onnx = s0_semantics_format(semantics) == S0_FORMAT_ONNX;
            double code = (is_onnx ? nearbyint(steps) : round(steps)) + out.zero_point;
            assert_int_equal(chain_code(&chain, q), (int)fmax(-128, fmin(127, code)));
        }
        arena_reset(&work.keep);
    }
    work_free(&work);
}

/* ---- properties */

static Chain draw_chain(uint64_t *seed, Stage *stages, uint32_t *count, Work *work) {
    Chain chain;
    for (;;) {
        Semantics semantics = (Semantics)random_below(seed, S0_SEM_COUNT);
        stages[0] = draw_stage(seed, DTYPE_I8);
        stages[1] = draw_stage(seed, DTYPE_I8);
        *count = 2;
        if (random_below(seed, 2) != 0) {
            StageCode in = draw_code(seed, DTYPE_I8), out = draw_code(seed, DTYPE_I8);
            stages[1] = dequantize_stage(DTYPE_I8, in.scale, in.zero_point);
            stages[2] = draw_real_stage(seed);
            stages[3] = quantize_stage(DTYPE_I8, out.scale, out.zero_point);
            *count = 4;
        }
        if (chain_bind(stages, *count, semantics, &work->keep, &chain) == NULL) {
            return chain;
        }
    }
}

static void test_monotone(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 25;
    int falling = 0;
    for (int i = 0; i < 5000; i++) {
        Stage stages[4];
        uint32_t count;
        Chain chain = draw_chain(&seed, stages, &count, &work);
        int32_t codes[700];
        for (int k = 0; k < 700; k++) {
            codes[k] = -128 + k % 256;
        }
        chain_codes(&chain, codes, 700);
        falling += chain_direction(&chain) < 0;
        for (int k = 0; k < 700; k++) {
            assert_int_equal(codes[k], chain_code(&chain, -128 + k % 256));
            bool is_step = k % 256 != 0 && (codes[k] - codes[k - 1]) * chain_direction(&chain) < 0;
            assert_false(is_step);
        }
        arena_reset(&work.keep);
    }
    assert_in_range(falling, 1000, 4000);
    work_free(&work);
}

static void test_direction(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    Stage flip = requantize_stage(DTYPE_I8, (StageCode){-.5f, 0}, DTYPE_I8, (StageCode){1, 0});
    Stage twice[] = {flip, flip};
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        if (s != S0_SEM_TFLITE_SINGLE && s != S0_SEM_CMSIS) { /* these refuse negative factors */
            Chain once = bind_chain(twice, 1, (Semantics)s, &work), both = bind_chain(twice, 2, (Semantics)s, &work);
            assert_int_equal(chain_direction(&once), -1);
            assert_int_equal(chain_code(&once, 100), -50);
            assert_int_equal(chain_direction(&both), 1);
        }
    }
    work_free(&work);
}

/* ---- equality: each field that has a meaning tells two stages apart, and no other. */

static void test_equality(void **state) {
    (void)state;
    Stage a = with_constant(STAGE_CODE_ADD, (StageCode){1, 2}, (StageCode){3, 4}, 5, (StageCode){6, 7});
    Stage b = a;
    assert_true(stage_eq(&a, &b));
    b.integer.bias = 9;
    assert_true(stage_eq(&a, &b)); /* ADD has no bias */
    b.integer.negate = 1;
    assert_false(stage_eq(&a, &b));
    const StageKind kinds[] = {STAGE_CODE_MUL, STAGE_CODE_SCALE, STAGE_CODE_ADD};
    for (uint32_t i = 0; i < COUNT(kinds); i++) {
        a.kind = kinds[i];
        Stage changed[6] = {a, a, a, a, a, a};
        changed[0].integer.in.scale = 9;
        changed[1].integer.constant.zero_point = 9;
        changed[2].integer.out.scale = 9;
        changed[3].integer.value = 9;
        changed[4].integer.hi = 9;
        changed[5].to = DTYPE_U8;
        for (uint32_t k = 0; k < COUNT(changed); k++) {
            assert_false(stage_eq(&a, &changed[k]));
        }
    }
    Stage zero = number_stage(STAGE_ADD, 0), minus = number_stage(STAGE_ADD, -0.0f), nan = number_stage(STAGE_ADD, NAN);
    assert_false(stage_eq(&zero, &minus));
    assert_true(stage_eq(&nan, &nan));
    minus.kind = STAGE_SUB;
    assert_false(stage_eq(&zero, &minus));
    Stage norm = {.kind = STAGE_NORM, .from = DTYPE_F32, .to = DTYPE_F32};
    Stage other = norm;
    other.norm.beta = 1;
    assert_false(stage_eq(&norm, &other));
}

/* Which references agree: for two that chain_eq calls the same, every code is. */
static void test_chain_equality(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    uint64_t seed = 27;
    int same = 0;
    for (int i = 0; i < 20000; i++) {
        Stage stages[4];
        uint32_t count;
        Chain a = draw_chain(&seed, stages, &count, &work), b;
        Stage *changed = &stages[random_below(&seed, count)];
        if (random_below(&seed, 2) != 0 && changed->kind >= STAGE_CODE_MUL) {
            *changed = draw_stage(&seed, DTYPE_I8);
        }
        if (chain_bind(stages, count, (Semantics)random_below(&seed, S0_SEM_COUNT), &work.keep, &b) == NULL &&
            chain_eq(&a, &b)) {
            same++;
            for (int32_t q = -128; q < 128; q++) {
                assert_int_equal(chain_code(&a, q), chain_code(&b, q));
            }
        }
        arena_reset(&work.keep);
    }
    assert_in_range(same, 2000, 18000);
    Stage stage = draw_stage(&seed, DTYPE_I8);
    stage.kind = STAGE_CODE_SCALE;
    stage.integer.in.scale = stage.integer.constant.scale = stage.integer.out.scale = .1f;
    Chain by[S0_SEM_COUNT];
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        by[s] = bind_chain(&stage, 1, (Semantics)s, &work);
    }
    assert_true(chain_eq(&by[S0_SEM_TFLITE_DOUBLE], &by[S0_SEM_CMSIS]));
    assert_true(chain_eq(&by[S0_SEM_TFLITE_DOUBLE], &by[S0_SEM_TFLITE_DOUBLE_F32]));
    assert_true(chain_eq(&by[S0_SEM_ONNX], &by[S0_SEM_ORT_MLAS]));
    assert_false(chain_eq(&by[S0_SEM_TFLITE_DOUBLE], &by[S0_SEM_TFLITE_SINGLE]));
    assert_false(chain_eq(&by[S0_SEM_TFLITE_DOUBLE], &by[S0_SEM_ONNX]));
    work_free(&work);
}

static void test_ranges(void **state) {
    (void)state;
    static const struct {
        DType dtype;
        int32_t lo, hi;
    } rows[] = {
        {DTYPE_I2, -2, 1},     {DTYPE_U4, 0, 15},          {DTYPE_I4, -8, 7},     {DTYPE_U8, 0, 255},
        {DTYPE_I8, -128, 127}, {DTYPE_I16, -32768, 32767}, {DTYPE_U16, 0, 65535}, {DTYPE_I32, INT32_MIN, INT32_MAX}};
    int32_t lo, hi;
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        assert_true(stage_code_range(rows[i].dtype, &lo, &hi));
        assert_int_equal(lo, rows[i].lo);
        assert_int_equal(hi, rows[i].hi);
    }
    const DType none[] = {DTYPE_NONE, DTYPE_U32, DTYPE_I64, DTYPE_BOOL, DTYPE_F32, DTYPE_STRING};
    for (uint32_t i = 0; i < COUNT(none); i++) {
        assert_false(stage_code_range(none[i], &lo, &hi));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),    cmocka_unit_test(test_words),          cmocka_unit_test(test_accumulators),
        cmocka_unit_test(test_reals),    cmocka_unit_test(test_monotone),       cmocka_unit_test(test_direction),
        cmocka_unit_test(test_equality), cmocka_unit_test(test_chain_equality), cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
