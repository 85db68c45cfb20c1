/* Proves what the prover says of cases of the field, with values that were worked out by hand or by others: cases E1,
 * E2, E3, E11, K1, D7 and D8 and the near-one intervals of facts/numerics.md 2.4. */
#include "affine/brute.h"
#include "affine/form.h"

#include <math.h>

/* ---- One code in, one code out */

typedef struct {
    const char *name;
    Semantics semantics;
    uint32_t count;
    Stage stages[4];
    int32_t input, want;
} CodeCase;

/* A multiplication by 1 / 32 of an accumulator. */
static Stage by_32nd(void) {
    Stage stage = codes_stage(STAGE_ACC_REQUANTIZE, DTYPE_I32, DTYPE_I8);
    stage.integer.in.scale = 0.03125f;
    stage.integer.out.scale = 1;
    return stage;
}

/* To int8 by `factor` with zero point `zero`, and back to int32. */
static void to_int8_and_back(float factor, int32_t zero, Stage stages[2]) {
    StageCode wide = {factor, 0}, narrow = {1, zero}, back = {factor, 0};
    stages[0] = requantize_stage(DTYPE_I32, wide, DTYPE_I8, narrow);
    stages[1] = requantize_stage(DTYPE_I8, narrow, DTYPE_I32, back);
}

/* Dequantize, scale, shift, Quantize: a normalisation that was folded. */
static void affine_stages(StageCode in, float scale, float shift, StageCode out, Stage stages[4]) {
    stages[0] = dequantize_stage(DTYPE_I8, in.scale, in.zero_point);
    stages[1] = number_stage(STAGE_MUL, scale);
    stages[2] = number_stage(STAGE_ADD, shift);
    stages[3] = quantize_stage(DTYPE_I8, out.scale, out.zero_point);
}

static Stage halved(void) {
    Stage stage = codes_stage(STAGE_CODE_SCALE, DTYPE_I8, DTYPE_I8);
    stage.integer.in.scale = stage.integer.out.scale = 0.1f;
    stage.integer.constant.scale = 0.5f;
    stage.integer.value = 1;
    return stage;
}

static CodeCase affine_case(const char *name, StageCode in, float scale, float shift, StageCode out, int32_t input,
                            int32_t want) {
    CodeCase row = {.name = name, .semantics = S0_SEM_ONNX, .count = 4, .input = input, .want = want};
    affine_stages(in, scale, shift, out, row.stages);
    return row;
}

static CodeCase back_case(const char *name, float factor, int32_t zero, int32_t input, int32_t want) {
    CodeCase row = {.name = name, .semantics = S0_SEM_TFLITE_DOUBLE, .count = 2, .input = input, .want = want};
    to_int8_and_back(factor, zero, row.stages);
    return row;
}

static void test_codes(void **state) {
    (void)state;
    const StageCode tenth = {0.1f, 0}, d7 = {0.1f, 5}, d8_in = {0.5f, 4}, d8_out = {0.1f, -10};
    const CodeCase rows[] = {
        {"K1 double", S0_SEM_TFLITE_DOUBLE, 1, {by_32nd()}, 15, 1},
        {"K1 double", S0_SEM_TFLITE_DOUBLE, 1, {by_32nd()}, -16, -1},
        {"K1 double", S0_SEM_TFLITE_DOUBLE, 1, {by_32nd()}, -80, -3},
        {"K1 single", S0_SEM_TFLITE_SINGLE, 1, {by_32nd()}, 15, 0},
        {"K1 single", S0_SEM_TFLITE_SINGLE, 1, {by_32nd()}, -16, 0},
        {"K1 single", S0_SEM_TFLITE_SINGLE, 1, {by_32nd()}, -80, -2},
        {"K1 even", S0_SEM_ONNX, 1, {by_32nd()}, 15, 0},
        {"K1 even", S0_SEM_ONNX, 1, {by_32nd()}, -16, 0},
        {"K1 even", S0_SEM_ONNX, 1, {by_32nd()}, -80, -2},
        back_case("E1", 1, 3, 100, 100),
        back_case("E1", 1, 3, 200, 124),
        back_case("E1", 1, 3, -300, -131),
        back_case("E1 halved", 0.5f, 0, 90, 90),
        back_case("E1 halved", 0.5f, 0, 300, 254),
        back_case("E1 halved", 0.5f, 0, -700, -256),
        affine_case("E11 channel 0", tenth, 1, 0.4f, tenth, 126, 127),
        affine_case("E11 channel 1", tenth, 1, -0.2f, tenth, -127, -128),
        {"E11 channel 2, even", S0_SEM_ONNX, 1, {halved()}, 21, 10},
        {"E11 channel 2, single", S0_SEM_TFLITE_SINGLE, 1, {halved()}, 21, 11},
        affine_case("D7 channel 0", tenth, 0.5f, 0.1f, d7, 20, 16),
        affine_case("D7 channel 1", tenth, 2, -0.2f, d7, 20, 43),
        affine_case("D7 channel 2", tenth, -1, 0.3f, d7, 20, -12),
        affine_case("D8", d8_in, 0.25f, 1, d8_out, 20, 20),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t got = code_of(rows[i].stages, rows[i].count, rows[i].semantics, rows[i].input);
        if (got != rows[i].want) {
            fail_msg("%s: %d became %d instead of %d", rows[i].name, rows[i].input, got, rows[i].want);
        }
    }
}

/* ---- E1: a pair goes only where nothing is limited */

typedef struct {
    Domain domain;
    float factor;
    int32_t zero;
    ProofClass class;
    uint64_t max_error;
    int64_t input; /* the first that differs */
} PairCase;

static const PairCase pairs[] = {
    {{-131, 124, "inside"}, 1, 3, PROOF_ENUMERATION, 0, 0},
    {{-131, 125, "one above"}, 1, 3, PROOF_REFUSED, 1, 125},
    {{-132, 124, "one below"}, 1, 3, PROOF_REFUSED, 1, -132},
    {{-300, 200, "the case"}, 1, 3, PROOF_REFUSED, 169, -300},
    {{-256, 254, "odd codes lose a bit"}, 0.5f, 0, PROOF_REFUSED, 1, -255},
    {{-1000000000, 1000, "a wide accumulator"}, 1, 3, PROOF_REFUSED, 1000000000 - 131, -1000000000},
};

static void test_pairs(Work *work) {
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const PairCase *row = &pairs[i];
        Stage stages[2];
        to_int8_and_back(row->factor, row->zero, stages);
        Claim claim = {stages, NULL, 2, 0, row->domain};
        ProofTerms terms = {"pair", s0_semantics_of(S0_FORMAT_TFLITE), 0, false};
        Certificate got = prove_channels(&claim, 1, &terms, work);
        print_message("%s: %s\n", row->domain.why, got.reason == NULL ? "proven" : got.reason);
        assert_int_equal(got.class, row->class);
        assert_int_equal(got.has_witness, row->class == PROOF_REFUSED);
        if (row->max_error != 0) {
            assert_int_equal(got.max_error_lsb, row->max_error);
            assert_int_equal(got.witness.input, row->input);
        }
    }
}

/* ---- E2: a float goes through codes and is another float: no proof is about floats */

static void test_reals(Work *work) {
    const Stage stages[2] = {quantize_stage(DTYPE_I8, 0.1f, 2), dequantize_stage(DTYPE_I8, 0.1f, 2)};
    const float rows[][2] = {{0.237f, 0.2f}, {20, 12.5f}, {-20, -13}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        float got = real_of(stages, 2, S0_SEM_ONNX, rows[i][0]);
        assert_true(fabsf(got - rows[i][1]) < 1e-6f);
    }
    Claim claim = {stages, NULL, 2, 0, {-128, 127, "int8"}};
    ProofTerms terms = {"pair", s0_semantics_of(S0_FORMAT_ONNX), 0, false};
    assert_int_equal(prove_channels(&claim, 1, &terms, work).class, PROOF_REFUSED);
    assert_int_equal(affine_channel_form(stages, 2, claim.domain, terms.semantics, work).form, AFFINE_REFUSE);
}

/* ---- E3: x * 0.5 + a as a new scale and zero point: -11 is what 0.7 asks for, 0.66 asks for -10.2 */

static void test_absorbed(Work *work) {
    const struct {
        float addend;
        int32_t zero_point;
        bool is_proven;
    } rows[] = {{0.7f, -11, true}, {0.66f, -10, false}, {0.7f, -10, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        Stage before[4], after[2];
        affine_stages((StageCode){0.1f, 3}, 0.5f, rows[i].addend, (StageCode){0.01f, 0}, before);
        before[3] = quantize_stage(DTYPE_I16, 0.01f, 0);
        after[0] = dequantize_stage(DTYPE_I8, 0.05f, rows[i].zero_point);
        after[1] = before[3];
        Claim claim = {before, after, 4, 2, {-128, 127, "int8"}};
        ProofTerms terms = {"rescale", s0_semantics_of(S0_FORMAT_ONNX), 0, false};
        Certificate got = prove_channels(&claim, 1, &terms, work);
        assert_int_equal(got.class, rows[i].is_proven ? PROOF_ENUMERATION : PROOF_REFUSED);
        if (i == 1) { /* 0.01, one code, everywhere: under both references */
            assert_int_equal(got.max_error_lsb, 1);
            assert_int_equal(got.mismatches, 2 * 256);
        }
    }
}

/* ---- A zero point that is moved, and moved back by a second stage, is the same under every reference */

static void test_moved_back(Work *work) {
    Stage stage = by_32nd();
    Stage after = stage;
    after.integer.out.zero_point = 1;
    const StageCode unit = {1, 0};
    Stage afters[2] = {after, requantize_stage(DTYPE_I8, (StageCode){1, 1}, DTYPE_I8, unit)};
    Claim claim = {&stage, afters, 1, 2, {-1000, 1000, "drawn"}};
    ProofTerms terms = {"moved", s0_semantics_of(S0_FORMAT_TFLITE) | s0_semantics_of(S0_FORMAT_ONNX), 0, false};
    Certificate got = prove_channels(&claim, 1, &terms, work);
    assert_int_equal(got.class, PROOF_ENUMERATION);
    assert_int_equal(got.semantics, terms.semantics);
}

/* ---- facts/numerics.md 2.4: for which s is round(s * v) = v? */

typedef struct {
    const char *name;
    DType dtype;
    int32_t zero_point;
    double below, above; /* s - 1, as printed there */
    double digit;        /* half a unit of the last digit printed */
} NearOne;

static const NearOne near_ones[] = {
    {"int8, z 0", DTYPE_I8, 0, -.00390625, .00393701, 5e-9},
    {"int8, z -128", DTYPE_I8, -128, -.00196078, .0019685, 5e-9},
    {"int8, z 127", DTYPE_I8, 127, -.00196078, .0019685, 5e-9},
    {"uint8, z 128", DTYPE_U8, 128, -.00390625, .00393701, 5e-9},
    {"int16, z 0", DTYPE_I16, 0, -1.52586e-5, 1.52593e-5, 5e-11},
    {"int4, z 0", DTYPE_I4, 0, -.0625, .0714, 5e-5},
};

/* Two floats whose product is the double, to about 2^-40. */
static void factorise(double product, float *a, float *b) {
    double best = 1;
    for (int k = 0; k < 65536 && best > 1e-12; k++) {
        float p = 1 + (float)k / 65536, q = (float)(product / (double)p);
        double error = fabs((double)p * (double)q - product);
        if (error < best) {
            best = error;
            *a = p;
            *b = q;
        }
    }
}

static bool is_identity(const NearOne *row, Semantics semantics, double scale, Work *work) {
    Stage stage = codes_stage(STAGE_CODE_SCALE, row->dtype, row->dtype);
    stage.integer.in.zero_point = row->zero_point;
    factorise(scale, &stage.integer.in.scale, &stage.integer.constant.scale);
    stage.integer.out = (StageCode){1, row->zero_point};
    stage.integer.value = 1;
    arena_reset(&work->scratch);
    arena_reset(&work->keep);
    Claim claim = {&stage, NULL, 1, 0, {stage.integer.lo, stage.integer.hi, row->name}};
    ProofTerms terms = {"identity", S0_SEM_BIT(semantics), 0, false};
    return prove_channels(&claim, 1, &terms, work).class != PROOF_REFUSED;
}

/* The end of the interval between 1 and 1 + 0.1 * sign. */
static double find_end(const NearOne *row, Semantics semantics, double sign, Work *work) {
    double inside = 0, outside = 0.1 * sign;
    for (int i = 0; i < 40; i++) {
        double middle = (inside + outside) / 2;
        if (is_identity(row, semantics, 1 + middle, work)) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    return inside;
}

static void test_near_one(Work *work) {
    const Semantics both[] = {S0_SEM_TFLITE_DOUBLE, S0_SEM_TFLITE_SINGLE};
    for (size_t i = 0; i < COUNT(near_ones); i++) {
        const NearOne *row = &near_ones[i];
        for (int k = 0; k < 2; k++) {
            double below = find_end(row, both[k], -1, work), above = find_end(row, both[k], 1, work);
            print_message("%-12s %-13s [%.9g, %.9g]\n", row->name, s0_semantics_name(both[k]), below, above);
            assert_true(fabs(below - row->below) <= row->digit);
            assert_true(fabs(above - row->above) <= row->digit);
        }
    }
}

/* The same section: 127 * f32(1 / 127) and 100 * f32(0.01) are identities, 127 / 126.7 is not: 47 codes differ. */
static void test_near_one_constants(Work *work) {
    const struct {
        int32_t value, zero_point;
        float scale;
        uint64_t mismatches;
    } rows[] = {{127, 0, 1.0f / 127, 0}, {100, 0, 0.01f, 0}, {127, -128, 1 / 126.7f, 47}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        StageCode code = {1, rows[i].zero_point};
        Stage stage = with_constant(STAGE_CODE_MUL, code, (StageCode){rows[i].scale, 0}, rows[i].value, code);
        Claim claim = {&stage, NULL, 1, 0, {-128, 127, "int8"}};
        ProofTerms terms = {"identity", S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE), 300, false};
        assert_int_equal(prove_channels(&claim, 1, &terms, work).mismatches, rows[i].mismatches);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),       WORK_TEST(test_pairs),      WORK_TEST(test_reals),
        WORK_TEST(test_absorbed),           WORK_TEST(test_moved_back), WORK_TEST(test_near_one),
        WORK_TEST(test_near_one_constants),
    };
    return cmocka_run_group_tests_name("proof_cases", tests, NULL, NULL);
}
