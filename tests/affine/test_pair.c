/* Proves that pairs of chains are told apart exactly: chains with one number changed are compared with brute force, by
 * enumeration and by steps; the unit lemma and the bounds between inputs are held against it too. */
#include "affine/brute.h"
#include "affine/draw.h"

#include "affine/lemma.h"
#include "affine/pair.h"
#include "stage/bound.h"

#include <string.h>

/* ---- Mutations of what is bound */

typedef enum {
    NO_MUTATION,
    MULTIPLIER,
    BIAS,
    TIE_RULE,
    ZERO_POINT,
    ZERO_POINT_ORDER,
    CLAMP,
    CLAMP_ORDER,
    OTHER_REFERENCE,
    MUTATIONS
} Mutation;

static const char *const mutation_names[] = {
    "none", "multiplier", "bias", "tie rule", "zero point", "zero point order", "clamp", "clamp order", "reference"};

static S0Rounding other_rounding(S0Rounding rounding) {
    switch (rounding) {
    case S0_ROUND_DOUBLE:
    case S0_ROUND_CMSIS:
        return S0_ROUND_SINGLE;
    case S0_ROUND_SINGLE:
        return S0_ROUND_DOUBLE;
    case S0_ROUND_HALF_EVEN:
        return S0_ROUND_HALF_AWAY;
    default:
        return S0_ROUND_HALF_EVEN;
    }
}

static void mutate_multiplier(BoundStage *stage, int32_t by) {
    if (stage->kind == BOUND_FIXED) {
        stage->scaled.factor.multiplier = s0_saturate((int64_t)stage->scaled.factor.multiplier + by);
    } else if (stage->kind == BOUND_FIXED_SUM) {
        stage->fixed_sum.in.multiplier = s0_saturate((int64_t)stage->fixed_sum.in.multiplier + by);
    } else if (stage->kind == BOUND_SCALED) {
        stage->scaled.scale = nextafterf(stage->scaled.scale, by < 0 ? 0 : INFINITY);
    } else if (stage->kind == BOUND_SCALED_SUM) {
        stage->scaled_sum.scale = nextafterf(stage->scaled_sum.scale, by < 0 ? 0 : INFINITY);
    }
}

static void mutate_bias(BoundStage *stage, int32_t by) {
    if (stage->kind == BOUND_FIXED || stage->kind == BOUND_SCALED) {
        stage->scaled.bias = s0_saturate((int64_t)stage->scaled.bias + by);
    } else if (stage->kind == BOUND_FIXED_SUM) {
        stage->fixed_sum.addend = s0_saturate((int64_t)stage->fixed_sum.addend + by);
    } else if (stage->kind == BOUND_SCALED_SUM) {
        stage->scaled_sum.addend = nextafterf(stage->scaled_sum.addend, by < 0 ? -INFINITY : INFINITY);
    }
}

static void mutate(BoundStage *stage, Mutation mutation, uint64_t *seed) {
    int32_t by = random_below(seed, 2) != 0 ? 1 : -1;
    if (mutation == MULTIPLIER) {
        mutate_multiplier(stage, by);
    } else if (mutation == BIAS) {
        mutate_bias(stage, by);
    } else if (mutation == TIE_RULE) {
        stage->rounding = other_rounding(stage->rounding);
    } else if (mutation == ZERO_POINT) {
        stage->codes.zero_point += by;
    } else if (mutation == ZERO_POINT_ORDER && stage->rounding >= S0_ROUND_HALF_EVEN) {
        stage->rounding = stage->rounding == S0_ROUND_MLAS ? S0_ROUND_HALF_EVEN : S0_ROUND_MLAS;
    } else if (mutation == CLAMP) {
        int32_t *limit = random_below(seed, 2) != 0 ? &stage->codes.lo : &stage->codes.hi;
        *limit += stage->codes.lo < stage->codes.hi ? by : 0;
    }
}

/* One or two stages and a limit; `after` is the same but for one number. False where a reference has no value. */
static bool draw_pair(uint64_t *seed, Semantics semantics, DType dtype, Mutation mutation, Chain chains[2],
                      Work *work) {
    Chain *before = &chains[0], *after = &chains[1];
    Stage stages[3] = {draw_stage(seed, dtype), draw_stage(seed, dtype), codes_stage(STAGE_CODE_CLIP, dtype, dtype)};
    int32_t hi = stages[2].integer.hi;
    stages[2].integer.lo = draw_between(seed, stages[2].integer.lo, hi);
    stages[2].integer.hi = draw_between(seed, stages[2].integer.lo, hi);
    uint32_t count = 1 + (uint32_t)random_below(seed, 3);
    uint32_t first = count == 2 && random_below(seed, 2) != 0 ? 1 : 0; /* a limit last, or none */
    Semantics other = semantics;
    if (mutation == OTHER_REFERENCE) {
        other = (Semantics)(semantics <= S0_SEM_CMSIS ? random_below(seed, 4) : 4 + random_below(seed, 2));
    }
    if (chain_bind(stages + first, count, semantics, &work->keep, before) != NULL) {
        return false;
    }
    Stage swapped[3] = {stages[first], stages[first + (count > 1)], stages[2]};
    if (mutation == CLAMP_ORDER && count >= 2) {
        swapped[count - 1] = stages[first + count - 2];
        swapped[count - 2] = stages[first + count - 1];
    }
    if (chain_bind(swapped, count, other, &work->keep, after) != NULL) {
        return false;
    }
    BoundStage *bound = arena_array(&work->keep, BoundStage, count);
    memcpy(bound, after->stage, count * sizeof *bound);
    mutate(&bound[random_below(seed, count)], mutation, seed);
    after->stage = bound;
    return true;
}

static void assert_as_brute(const Pair *pair, const Comparison *got, ProofClass class) {
    bool is_large = pair->domain.hi - pair->domain.lo > 255;
    Brute want = (is_large ? brute_compare_many : brute_compare)(pair->before, pair->after, pair->domain);
    assert_int_equal(got->class, class);
    assert_int_equal(got->mismatches, want.mismatches);
    assert_int_equal(got->max_error_lsb, want.max_error);
    assert_int_equal(got->has_witness, want.mismatches != 0);
    if (want.mismatches != 0) {
        assert_int_equal(got->input, want.input);
        assert_int_equal(got->before, want.before);
        assert_int_equal(got->after, want.after);
    }
}

static Domain draw_domain(uint64_t *seed, DType dtype) {
    int32_t lo, hi;
    (void)stage_code_range(dtype, &lo, &hi);
    if (random_below(seed, 3) == 0) {
        lo = draw_between(seed, lo, hi);
        hi = draw_between(seed, lo, hi);
    }
    return (Domain){lo, hi, "drawn"};
}

static void test_mutations(Work *work) {
    uint64_t seed = 11, tried[MUTATIONS] = {0}, unequal[MUTATIONS] = {0}, total = brute_channels(100000);
    for (uint64_t i = 0; i < total; i++) {
        Mutation mutation = (Mutation)random_below(&seed, MUTATIONS);
        Semantics semantics = (Semantics)random_below(&seed, S0_SEM_COUNT);
        DType dtype = random_below(&seed, 4) == 0 ? DTYPE_I8 : DTYPE_I4;
        PairRoom room = {.arena = &work->scratch};
        Chain chains[2];
        arena_reset(&work->keep);
        if (!draw_pair(&seed, semantics, dtype, mutation, chains, work)) {
            continue;
        }
        Pair pair = {&chains[0], &chains[1], draw_domain(&seed, dtype), 0};
        Comparison result = pair_compare(&pair, &room);
        if (result.fault == NULL) {
            assert_as_brute(&pair, &result, PROOF_ENUMERATION);
            tried[mutation]++;
            unequal[mutation] += result.mismatches != 0;
        }
    }
    for (int m = 0; m < MUTATIONS; m++) {
        print_message("%-17s %7llu pairs, %7llu unequal\n", mutation_names[m], (unsigned long long)tried[m],
                      (unsigned long long)unequal[m]);
        assert_true(tried[m] > total / 40);
        assert_true((unequal[m] == 0) == (m == NO_MUTATION));
    }
}

/* ---- Steps: pairs on 2^20 inputs each, 300 of them where many channels are asked for */

static bool draw_accumulators(uint64_t *seed, Chain *before, Chain *after, Work *work) {
    DType to = random_below(seed, 8) == 0 ? DTYPE_I16 : DTYPE_I8;
    StageCode out = {draw_scale(seed), to == DTYPE_I16 ? 0 : draw_between(seed, -128, 127)};
    Stage stages[2] = {accumulator_stage(draw_scale(seed) * ldexpf(1, draw_between(seed, -14, -6)), out),
                       codes_stage(STAGE_CODE_ADD, to, to)};
    stages[0].to = to;
    (void)stage_code_range(to, &stages[0].integer.lo, &stages[0].integer.hi);
    stages[1].integer.in = stages[1].integer.out = stages[1].integer.constant = (StageCode){0.05f, 0};
    stages[1].integer.value = draw_between(seed, -20, 20);
    stages[1].integer.negate = draw_between(seed, 0, 2);
    Semantics semantics = (Semantics)random_below(seed, S0_SEM_COUNT);
    uint32_t count = 1 + (uint32_t)random_below(seed, 2);
    if (chain_bind(stages, count, semantics, &work->keep, before) != NULL) {
        return false;
    }
    *after = *before;
    BoundStage *bound = arena_array(&work->keep, BoundStage, count);
    memcpy(bound, before->stage, count * sizeof *bound);
    mutate(&bound[0], (Mutation)random_below(seed, CLAMP_ORDER), seed);
    after->stage = bound;
    return true;
}

static void test_steps(Work *work) {
    uint64_t seed = 5, unequal = 0, total = brute_channels(60) < 300 ? brute_channels(60) : 300;
    for (uint64_t done = 0; done < total;) {
        PairRoom room = {.arena = &work->scratch};
        Chain before, after;
        arena_reset(&work->keep);
        arena_reset(&work->scratch);
        if (!draw_accumulators(&seed, &before, &after, work)) {
            continue;
        }
        int64_t lo = draw_between(&seed, -(1 << 20), 0);
        Pair pair = {&before, &after, {lo, lo + (1 << 20) - 1, "drawn"}, 0};
        Comparison result = pair_compare(&pair, &room);
        if (result.fault == NULL) {
            assert_as_brute(&pair, &result, PROOF_THRESHOLDS);
            unequal += result.mismatches != 0;
            done++;
        }
    }
    print_message("%llu pairs on 2^20 inputs, %llu unequal\n", (unsigned long long)total, (unsigned long long)unequal);
    assert_true(unequal > total / 5 && unequal < total / 5 * 4);
}

/* The whole of int32, where mistakes of 32-bit arithmetic would show: double rounding and single rounding of
 * acc * 0.00037 differ at -350000 (facts/numerics.md 5), half a code away from a step. */
static void test_whole_int32(Work *work) {
    PairRoom room = {.arena = &work->scratch};
    Stage stage = accumulator_stage(0.00037f, (StageCode){1, 0});
    Chain before = bind_chain(&stage, 1, S0_SEM_TFLITE_DOUBLE, work);
    Chain after = bind_chain(&stage, 1, S0_SEM_TFLITE_SINGLE, work);
    Pair pair = {&before, &after, {INT32_MIN, INT32_MAX, "int32"}, 0};
    Comparison result = pair_compare(&pair, &room);
    assert_int_equal(result.class, PROOF_THRESHOLDS);
    pair.domain = (Domain){-400000, 400000, "where nothing is limited"};
    Brute want = brute_compare_many(&before, &after, pair.domain);
    assert_true(want.mismatches > 0);
    assert_int_equal(result.mismatches, want.mismatches);
    assert_int_equal(result.input, want.input);
    assert_int_equal(result.max_error_lsb, 1);
    pair.domain = (Domain){INT32_MIN, INT32_MAX, "int32"};
    pair.after = &before;
    assert_int_equal(pair_compare(&pair, &room).mismatches, 0);
}

/* Opposite directions: one falls where the other rises. */
static void test_directions(Work *work) {
    PairRoom room = {.arena = &work->scratch};
    Stage stages[2] = {accumulator_stage(0.01f, (StageCode){1, 0}),
                       with_constant(STAGE_CODE_MUL, (StageCode){1, 0}, (StageCode){1, 0}, -1, (StageCode){1, 0})};
    Chain rising = bind_chain(stages, 1, S0_SEM_TFLITE_DOUBLE, work);
    Chain falling = bind_chain(stages, 2, S0_SEM_TFLITE_DOUBLE, work);
    Pair pair = {&falling, &rising, {-50000, 40000, "drawn"}, 0};
    Comparison result = pair_compare(&pair, &room);
    assert_as_brute(&pair, &result, PROOF_THRESHOLDS);
    pair = (Pair){&falling, &falling, {-50000, 40000, "drawn"}, 0};
    result = pair_compare(&pair, &room);
    assert_as_brute(&pair, &result, PROOF_THRESHOLDS);
}

/* ---- Lemmas, tested where everything can be counted */

static Stage draw_unit(uint64_t *seed) {
    StageCode in = {0.25f, draw_between(seed, -30, 30)}, out = {0.25f, draw_between(seed, -30, 30)};
    bool is_clip = random_below(seed, 2) != 0;
    Stage stage =
        is_clip ? codes_stage(STAGE_CODE_CLIP, DTYPE_I32, DTYPE_I32) : requantize_stage(DTYPE_I32, in, DTYPE_I32, out);
    stage.integer.lo = draw_between(seed, -60, 20);
    stage.integer.hi = draw_between(seed, stage.integer.lo, 60);
    return stage;
}

static void test_unit_lemma(Work *work) {
    uint64_t seed = 3;
    int equal = 0;
    for (int i = 0; i < 20000; i++) {
        Stage stages[2][3];
        Chain chain[2];
        arena_reset(&work->keep);
        uint32_t count[2] = {1 + (uint32_t)random_below(&seed, 3), 1 + (uint32_t)random_below(&seed, 3)};
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3; k++) {
                stages[side][k] = draw_unit(&seed);
            }
        }
        if (random_below(&seed, 3) == 0) { /* the same, with a further limit that may not show */
            count[0] = 1;
            count[1] = 2;
            stages[1][0] = stages[0][0];
            stages[1][1].kind = STAGE_CODE_CLIP;
            stages[1][1].integer.lo -= 60;
            stages[1][1].integer.hi += 60;
        }
        Semantics semantics = (Semantics)random_below(&seed, S0_SEM_CMSIS + 1);
        chain[0] = bind_chain(stages[0], count[0], semantics, work);
        chain[1] = bind_chain(stages[1], count[1], semantics, work);
        Domain domain = {draw_between(&seed, -150, 20), draw_between(&seed, 20, 150), "drawn"};
        bool same = brute_compare(&chain[0], &chain[1], domain).mismatches == 0;
        assert_int_equal(lemma_unit(&chain[0], &chain[1], &domain), same);
        equal += same;
    }
    assert_in_range(equal, 2000, 18000);
}

/* References whose numbers are the same give the same codes, faults included. */
static void test_equal_chains(Work *work) {
    uint64_t seed = 17;
    int same = 0;
    for (int i = 0; i < 20000; i++) {
        arena_reset(&work->keep);
        Stage stages[2] = {draw_stage(&seed, DTYPE_I4), draw_stage(&seed, DTYPE_I4)};
        Semantics a = (Semantics)random_below(&seed, S0_SEM_COUNT), b = (Semantics)random_below(&seed, S0_SEM_COUNT);
        Chain chain[2];
        bool is_bound = chain_bind(stages, 2, a, &work->keep, &chain[0]) == NULL &&
                        chain_bind(stages, 2, b, &work->keep, &chain[1]) == NULL;
        if (is_bound && a != b && chain_eq(&chain[0], &chain[1])) {
            Domain domain = {-2000, 2000, "beyond the type"};
            assert_int_equal(brute_compare(&chain[0], &chain[1], domain).mismatches, 0);
            assert_ptr_equal(chain_check(&chain[0], INT32_MIN, INT32_MAX),
                             chain_check(&chain[1], INT32_MIN, INT32_MAX));
            same++;
        }
    }
    assert_true(same > 500);
}

/* CMSIS-NN's one exception: INT32_MIN times INT32_MIN. */
static void test_cmsis_is_no_double(void **state) {
    (void)state;
    BoundStage stage[2];
    memset(stage, 0, sizeof stage);
    for (int i = 0; i < 2; i++) {
        stage[i].kind = BOUND_FIXED;
        stage[i].rounding = i == 0 ? S0_ROUND_DOUBLE : S0_ROUND_CMSIS;
        stage[i].codes = (S0Codes){0, INT32_MIN, INT32_MAX};
        stage[i].scaled.weight = 1;
        stage[i].scaled.factor = (S0Multiplier){INT32_MIN, 0};
    }
    Chain a = {S0_SEM_TFLITE_DOUBLE, 1, &stage[0]}, b = {S0_SEM_CMSIS, 1, &stage[1]};
    assert_int_not_equal(chain_code(&a, INT32_MIN), chain_code(&b, INT32_MIN));
    assert_false(chain_eq(&a, &b));
}

/* ---- Bounds between inputs: more codes than steps are compared for */

static Stage wide_stage(double factor, int32_t zero_point) {
    Stage stage = codes_stage(STAGE_CODE_REQUANTIZE, DTYPE_I32, DTYPE_I32);
    stage.integer.in = (StageCode){(float)factor, 0};
    stage.integer.out = (StageCode){1, zero_point};
    return stage;
}

typedef struct {
    const char *name;
    double before, after; /* factors */
    int32_t moved;        /* zero point of `after` */
    uint64_t tolerance;
    ProofClass class;
} Bound;

static const Bound bounds[] = {
    {"the same", 0.5, 0.5, 0, 1, PROOF_INTERVAL},
    {"one code apart", 0.5, 0.5, 1, 1, PROOF_INTERVAL},
    {"two codes apart", 0.5, 0.5, 2, 1, PROOF_REFUSED},
    {"1.5 apart at the ends", 0.5, 0.500005, 0, 2, PROOF_INTERVAL},
    {"and that is not one", 0.5, 0.500005, 0, 1, PROOF_REFUSED},
    {"no tolerance", 0.5, 0.5, 0, 0, PROOF_REFUSED},
};

static void test_bounds(Work *work) {
    PairRoom room = {.arena = &work->scratch};
    for (size_t i = 0; i < COUNT(bounds); i++) {
        const Bound *row = &bounds[i];
        Stage stages[2] = {wide_stage(row->before, 0), wide_stage(row->after, row->moved)};
        Chain before = bind_chain(&stages[0], 1, S0_SEM_TFLITE_DOUBLE, work);
        Chain after = bind_chain(&stages[1], 1, S0_SEM_TFLITE_DOUBLE, work);
        Pair pair = {&before, &after, {-300000, 300000, "drawn"}, row->tolerance};
        Comparison result = pair_compare(&pair, &room);
        print_message("%s: %s, %llu evaluations, %llu LSB\n", row->name, proof_class_name(result.class),
                      (unsigned long long)result.evaluations, (unsigned long long)result.max_error_lsb);
        assert_int_equal(result.class, row->class);
        if (row->class == PROOF_INTERVAL) {
            assert_true(result.max_error_lsb <= row->tolerance);
            assert_true(brute_compare_many(&before, &after, pair.domain).max_error <= result.max_error_lsb);
        }
    }
}

/* Equal at both ends and in the middle, and 25 000 apart between: x / 2, and x / 2 to the nearest 50 000. */
static void test_bound_inside(Work *work) {
    PairRoom room = {.arena = &work->scratch};
    Stage fine = wide_stage(0.5, 0), coarse[2] = {wide_stage(1e-5, 0), wide_stage(50000, 0)};
    Chain before = bind_chain(&fine, 1, S0_SEM_TFLITE_DOUBLE, work);
    Chain after = bind_chain(coarse, 2, S0_SEM_TFLITE_DOUBLE, work);
    Pair pair = {&before, &after, {-300000, 300000, "drawn"}, 24000};
    assert_int_equal(brute_compare_many(&before, &after, pair.domain).max_error, 25000);
    assert_int_equal(pair_compare(&pair, &room).class, PROOF_REFUSED);
    pair.tolerance_lsb = 25000;
    Comparison result = pair_compare(&pair, &room);
    assert_int_equal(result.class, PROOF_INTERVAL);
    assert_int_equal(result.max_error_lsb, 25000);
}

/* 10^9 codes, each within the tolerance, take more cells than are allowed: it is not claimed. */
static void test_bound_ends(Work *work) {
    PairRoom room = {.arena = &work->scratch};
    Stage stage = wide_stage(0.5, 0);
    Chain chain = bind_chain(&stage, 1, S0_SEM_TFLITE_DOUBLE, work);
    Pair pair = {&chain, &chain, {-1000000000, 1000000000, "drawn"}, 1};
    Comparison result = pair_compare(&pair, &room);
    assert_int_equal(result.class, PROOF_REFUSED);
    assert_string_equal(result.fault, "too many inputs and codes to compare");
    assert_int_equal(result.evaluations, PAIR_MOST_CELLS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_mutations),
        WORK_TEST(test_steps),
        WORK_TEST(test_whole_int32),
        WORK_TEST(test_directions),
        WORK_TEST(test_unit_lemma),
        WORK_TEST(test_equal_chains),
        cmocka_unit_test(test_cmsis_is_no_double),
        WORK_TEST(test_bounds),
        WORK_TEST(test_bound_inside),
        WORK_TEST(test_bound_ends),
    };
    return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
