/* Proves certificates: random nodes of several channels against brute force, field by field; what is refused and why;
 * that equal channels are proven once; and that proof_verify tells false certificates from true ones. */
#include "affine/brute.h"
#include "affine/draw.h"

#include <string.h>

enum { MOST_CHANNELS = 6, SIDE_STAGES = 3 };

/* A node of a few channels; `stages[c][side]`. */
typedef struct {
    uint32_t count;
    Claim claims[MOST_CHANNELS];
    Stage stages[MOST_CHANNELS][2][SIDE_STAGES];
} Node;

/* ---- Random nodes */

/* One number of the stage by one, if it is of codes. */
static void nudge(Stage *stage, uint64_t *seed) {
    int32_t by = random_below(seed, 2) != 0 ? 1 : -1;
    int32_t *const numbers[] = {&stage->integer.value, &stage->integer.bias, &stage->integer.out.zero_point,
                                &stage->integer.in.zero_point};
    if (stage->kind < STAGE_CODE_MUL) {
        stage->code.zero_point += stage->kind == STAGE_QUANTIZE ? by : 0;
        return;
    }
    if (random_below(seed, 5) == 0) {
        stage->integer.in.scale = nextafterf(stage->integer.in.scale, by > 0 ? 1 : 0);
        return;
    }
    *numbers[random_below(seed, 4)] += by;
}

/* Dequantize, one operator, Quantize: the third stage of the other side is a limit. */
static void draw_channel(uint64_t *seed, DType dtype, Stage (*stages)[SIDE_STAGES], Claim *claim) {
    uint32_t count = 1 + (uint32_t)random_below(seed, SIDE_STAGES);
    if (count == 3) {
        stages[0][0] = dequantize_stage(dtype, draw_scale(seed), draw_between(seed, -8, 7));
        stages[0][1] = draw_real_stage(seed);
        stages[0][2] = quantize_stage(dtype, draw_scale(seed), draw_between(seed, -8, 7));
    } else {
        stages[0][0] = draw_stage(seed, dtype);
        stages[0][1] = draw_stage(seed, dtype);
    }
    memcpy(stages[1], stages[0], sizeof stages[0]);
    if (random_below(seed, 2) != 0) {
        nudge(&stages[1][random_below(seed, count)], seed);
    }
    bool is_removed = random_below(seed, 10) == 0;
    claim->before_count = count;
    claim->after_count = is_removed ? 0 : count;
}

static void draw_node(uint64_t *seed, Node *node) {
    DType dtype = random_below(seed, 8) == 0 ? DTYPE_I8 : DTYPE_I4;
    int32_t lo, hi;
    (void)stage_code_range(dtype, &lo, &hi);
    node->count = 1 + (uint32_t)random_below(seed, MOST_CHANNELS);
    for (uint32_t c = 0; c < node->count; c++) {
        Claim *claim = &node->claims[c];
        *claim = (Claim){.before = node->stages[c][0], .after = node->stages[c][1], .domain = {lo, hi, "drawn"}};
        if (c > 0 && random_below(seed, 3) == 0) {
            uint32_t like = (uint32_t)random_below(seed, c);
            memcpy(node->stages[c], node->stages[like], sizeof node->stages[c]);
            claim->before_count = node->claims[like].before_count;
            claim->after_count = node->claims[like].after_count;
        } else {
            draw_channel(seed, dtype, node->stages[c], claim);
        }
        if (random_below(seed, 4) == 0) {
            claim->domain.lo = draw_between(seed, lo, hi);
            claim->domain.hi = draw_between(seed, claim->domain.lo, hi);
        }
    }
}

/* ---- What a certificate must say */

typedef struct {
    bool is_faulty, has_witness;
    uint32_t semantics;
    uint64_t mismatches, max_error;
    Witness witness;
} Expected;

static bool bind_both(const Claim *claim, Semantics semantics, Chain *before, Chain *after, Work *work) {
    return chain_bind(claim->before, claim->before_count, semantics, &work->keep, before) == NULL &&
           chain_bind(claim->after, claim->after_count, semantics, &work->keep, after) == NULL &&
           chain_check(before, claim->domain.lo, claim->domain.hi) == NULL &&
           chain_check(after, claim->domain.lo, claim->domain.hi) == NULL;
}

static Expected expect_channel(const Claim *claim, uint32_t channel, uint32_t semantics, uint64_t tolerance,
                               Work *work) {
    Expected want = {0};
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        Chain before, after;
        if ((semantics & S0_SEM_BIT(s)) == 0) {
            continue;
        }
        if (!bind_both(claim, (Semantics)s, &before, &after, work)) {
            want.is_faulty = true;
            continue;
        }
        Brute brute = brute_compare(&before, &after, claim->domain);
        want.semantics |= brute.max_error <= tolerance ? S0_SEM_BIT(s) : 0;
        want.mismatches += brute.mismatches;
        want.max_error = brute.max_error > want.max_error ? brute.max_error : want.max_error;
        if (brute.mismatches != 0 && (!want.has_witness || brute.input < want.witness.input)) {
            want.has_witness = true;
            want.witness = (Witness){channel, brute.input, brute.before, brute.after};
        }
    }
    return want;
}

static void assert_witness(const Certificate *got, const Witness *want) {
    assert_true(got->has_witness);
    assert_int_equal(got->witness.channel, want->channel);
    assert_int_equal(got->witness.input, want->input);
    assert_int_equal(got->witness.before, want->before);
    assert_int_equal(got->witness.after, want->after);
}

static void check_node(const Node *node, const ProofTerms *terms, const Certificate *got, Work *work) {
    uint64_t mismatches = 0, max_error = 0;
    uint32_t semantics = terms->semantics, blocked = 0, proven = 0;
    bool has_witness = false;
    for (uint32_t c = 0; c < node->count; c++) {
        Expected want = expect_channel(&node->claims[c], c, terms->semantics, terms->tolerance_lsb, work);
        semantics &= want.semantics;
        mismatches += want.mismatches;
        max_error = want.max_error > max_error ? want.max_error : max_error;
        proven += want.semantics == terms->semantics;
        if (want.mismatches != 0 || want.is_faulty) {
            assert_true(blocked < got->blocked_count);
            assert_int_equal(got->blocked[blocked++], c);
        }
        if (want.has_witness && !has_witness) {
            has_witness = true;
            assert_witness(got, &want.witness);
        }
    }
    assert_int_equal(got->class == PROOF_REFUSED, proven < node->count);
    assert_int_equal(got->reason != NULL, proven < node->count);
    assert_int_equal(got->has_witness, has_witness);
    assert_int_equal(got->blocked_count, blocked);
    assert_int_equal(got->channels, proven);
    assert_int_equal(got->semantics, semantics);
    assert_int_equal(got->mismatches, mismatches);
    assert_int_equal(got->max_error_lsb, max_error);
}

static void test_random_nodes(Work *work) {
    uint64_t seed = 21, refused = 0, exact = 0, within = 0, channels = 0, total = brute_channels(100000),
             evaluations = 0;
    while (channels < total) {
        static Node node;
        arena_reset(&work->keep);
        arena_reset(&work->scratch);
        draw_node(&seed, &node);
        uint32_t all = s0_semantics_of(random_below(&seed, 2) != 0 ? S0_FORMAT_ONNX : S0_FORMAT_TFLITE);
        uint32_t some = all & (uint32_t)random_next(&seed);
        uint64_t tolerance = random_below(&seed, 3) == 0 ? random_below(&seed, 3) : 0;
        ProofTerms terms = {"drawn", some == 0 || random_below(&seed, 2) != 0 ? all : some, tolerance, false};
        Certificate got = prove_channels(node.claims, node.count, &terms, work);
        check_node(&node, &terms, &got, work);
        assert_true(proof_verify(node.claims, node.count, &got, &evaluations, work));
        channels += node.count;
        refused += got.class == PROOF_REFUSED;
        exact += got.class != PROOF_REFUSED && got.mismatches == 0;
        within += got.class != PROOF_REFUSED && got.mismatches != 0;
    }
    print_message("%llu channels; nodes: %llu exact, %llu within the tolerance, %llu refused\n",
                  (unsigned long long)channels, (unsigned long long)exact, (unsigned long long)within,
                  (unsigned long long)refused);
    assert_true(exact > total / 40 && within > total / 200 && refused > total / 40);
}

/* ---- Refusals */

static Stage near_one(float scale, int32_t zero_point) {
    StageCode in = {scale, zero_point}, out = {1, zero_point};
    return requantize_stage(DTYPE_I8, in, DTYPE_I8, out);
}

typedef struct {
    const char *name, *reason; /* null: proven */
    Stage before[2], after[1];
    uint32_t before_count, after_count;
    Domain domain;
    uint32_t semantics;
} Refusal;

static void test_refusals(Work *work) {
    const uint32_t one = S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE), two = one | S0_SEM_BIT(S0_SEM_TFLITE_SINGLE);
    const Domain int8 = {-128, 127, "int8"};
    const Stage same = near_one(1, 0), more = near_one(1.01f, 0), tiny = near_one(1e-12f, 0);
    const Stage real = number_stage(STAGE_MUL, 1);
    const Stage other = requantize_stage(DTYPE_I8, (StageCode){1, 0}, DTYPE_I16, (StageCode){1, 0});
    const Refusal rows[] = {
        {"identity", NULL, {same}, {same}, 1, 0, int8, two},
        {"nothing by nothing", NULL, {same}, {same}, 0, 0, int8, two},
        {"a code that changes",
         "channel 0, tflite-double: code -128 would become -128 instead of -127",
         {near_one(0.99f, 0)},
         {same},
         1,
         0,
         int8,
         two},
        {"first of 1 % more",
         "channel 0, tflite-double: code -127 would become -127 instead of -128",
         {more},
         {same},
         1,
         0,
         int8,
         one},
        {"fault",
         "channel 0, tflite-double: the factor is below 2^-32, the kernel flushes it to zero",
         {tiny},
         {same},
         1,
         1,
         int8,
         two},
        {"fault of the rewrite",
         "channel 0, tflite-double: the factor is below 2^-32, the kernel flushes it to zero",
         {same},
         {tiny},
         1,
         1,
         int8,
         two},
        {"reals",
         "channel 0: the chain does not start and end with codes of at most 32 bits",
         {real},
         {same},
         1,
         0,
         int8,
         one},
        {"removed, but another type", "channel 0: the type of the codes changes", {other}, {same}, 1, 0, int8, one},
        {"replaced by another type", "channel 0: the type of the codes changes", {other}, {same}, 1, 1, int8, one},
        {"no input", "channel 0, tflite-double: no input can reach the chain", {more}, {same}, 1, 1, {3, 2, ""}, one},
        {"no reference", "no reference is asked for", {same}, {same}, 1, 1, int8, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const Refusal *row = &rows[i];
        Claim claim = {row->before, row->after, row->before_count, row->after_count, row->domain};
        ProofTerms terms = {"row", row->semantics, 0, false};
        Certificate got = prove_channels(&claim, 1, &terms, work);
        print_message("%s\n", row->name);
        assert_int_equal(got.class == PROOF_REFUSED, row->reason != NULL);
        if (row->reason != NULL) {
            assert_string_equal(got.reason, row->reason);
        }
        uint64_t evaluations = 0;
        assert_true(proof_verify(&claim, 1, &got, &evaluations, work));
    }
    ProofTerms terms = {"row", one, 0, false};
    assert_string_equal(prove_channels(NULL, 0, &terms, work).reason, "there is no channel");
}

/* ---- Equal channels */

/* Four kinds of channels, equal and unequal in turn: each is evaluated once, and counted as often as it is there. */
static void test_equal_channels(Work *work) {
    enum { CHANNELS = 1000, KINDS = 4 };
    static Stage stages[CHANNELS];
    static Claim claims[CHANNELS];
    for (uint32_t c = 0; c < CHANNELS; c++) {
        stages[c] = near_one(c % KINDS == 2 ? 1.01f : 1, 10 * (int32_t)(c % KINDS));
        claims[c] = (Claim){&stages[c], NULL, 1, 0, {-128, 127, "int8"}};
    }
    ProofTerms terms = {"identity", S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE), 1000, false};
    Certificate all = prove_channels(claims, CHANNELS, &terms, work);
    Certificate one = prove_channels(claims + 2, 1, &terms, work);
    assert_int_equal(all.evaluations, KINDS * 256);
    assert_int_equal(all.mismatches, CHANNELS / KINDS * one.mismatches);
    assert_int_equal(all.blocked_count, CHANNELS / KINDS);
    for (uint32_t i = 0; i < all.blocked_count; i++) {
        assert_int_equal(all.blocked[i], KINDS * i + 2);
    }
    assert_int_equal(all.witness.channel, 2);
    assert_int_equal(all.channels, CHANNELS);
    assert_int_equal(all.class, PROOF_ENUMERATION);
    terms.tolerance_lsb = 0;
    terms.stops_early = true;
    Certificate stopped = prove_channels(claims, CHANNELS, &terms, work);
    assert_int_equal(stopped.class, PROOF_REFUSED);
    assert_int_equal(stopped.witness.channel, 2);
    assert_int_equal(stopped.evaluations, 3 * 256);
}

/* ---- False certificates */

static void test_verify(Work *work) {
    uint64_t evaluations = 0;
    Stage stage = near_one(1.01f, 0);
    Claim claim = {&stage, NULL, 1, 0, {-128, 127, "int8"}};
    ProofTerms terms = {"identity", s0_semantics_of(S0_FORMAT_TFLITE), 2, false};
    Certificate good = prove_channels(&claim, 1, &terms, work);
    assert_int_equal(good.class, PROOF_ENUMERATION);
    assert_int_equal(good.max_error_lsb, 1);
    assert_true(proof_verify(&claim, 1, &good, &evaluations, work));

    Certificate bad[5] = {good, good, good, good, good};
    bad[0].max_error_lsb = 0;
    bad[1].mismatches--;
    bad[2].domain.lo++;
    bad[3].channels = 0;
    bad[4].class = PROOF_REFUSED;
    bad[4].witness.after++;
    for (int i = 0; i < 5; i++) {
        print_message("false certificate %d\n", i);
        assert_false(proof_verify(&claim, 1, &bad[i], &evaluations, work));
    }
}

/* facts/numerics.md 6, V4: adding 0.5 moves every code by one where ties go up, and not where they go away from zero.
 */
static void test_verify_references(Work *work) {
    uint64_t evaluations = 0;
    const StageCode unit = {1, 0};
    Stage before = with_constant(STAGE_CODE_ADD, unit, (StageCode){0.5f, 0}, 1, unit);
    Stage after = requantize_stage(DTYPE_I8, unit, DTYPE_I8, (StageCode){1, 1});
    Claim claim = {&before, &after, 1, 1, {-128, 127, "int8"}};
    ProofTerms terms = {"translation", S0_SEM_BIT(S0_SEM_TFLITE_SINGLE), 0, false};
    Certificate got = prove_channels(&claim, 1, &terms, work);
    assert_int_equal(got.class, PROOF_ENUMERATION);
    assert_true(proof_verify(&claim, 1, &got, &evaluations, work));
    assert_int_equal(evaluations, 256); /* each code under one reference */
    got.semantics |= S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE);
    assert_false(proof_verify(&claim, 1, &got, &evaluations, work));

    terms.semantics = s0_semantics_of(S0_FORMAT_TFLITE);
    got = prove_channels(&claim, 1, &terms, work);
    assert_int_equal(got.class, PROOF_REFUSED);
    assert_int_equal(got.semantics, S0_SEM_BIT(S0_SEM_TFLITE_SINGLE)); /* what it does hold for */
    assert_int_equal(got.mismatches, 3 * 128);                         /* the negative codes, three references */
    assert_int_equal(got.witness.input, -128);
    assert_int_equal(got.witness.before, -128);
    assert_int_equal(got.witness.after, -127);
}

/* Few inputs of 2^32 differ: steps that are some accumulators late; or the lowest code is never given. */
static void test_verify_steps(Work *work) {
    uint64_t evaluations = 0;
    Stage before = accumulator_stage(1e-7f, (StageCode){1, 0}), after = before;
    after.integer.in.scale = nextafterf(before.integer.in.scale, 1);
    Claim claim = {&before, &after, 1, 1, {INT32_MIN, INT32_MAX, "int32"}};
    ProofTerms terms = {"nudge", S0_SEM_BIT(S0_SEM_TFLITE_SINGLE), 1, false};
    Certificate got = prove_channels(&claim, 1, &terms, work);
    assert_int_equal(got.class, PROOF_THRESHOLDS);
    print_message("%llu of 2^32 inputs differ\n", (unsigned long long)got.mismatches);
    assert_in_range(got.mismatches, 1000, 40000); /* 255 steps that move by 76 at most */
    assert_true(proof_verify(&claim, 1, &got, &evaluations, work));
    got.max_error_lsb = 0;
    assert_false(proof_verify(&claim, 1, &got, &evaluations, work));
    after = before;
    after.integer.lo = -127;
    got.max_error_lsb = 0;
    assert_false(proof_verify(&claim, 1, &got, &evaluations, work));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_random_nodes), WORK_TEST(test_refusals),          WORK_TEST(test_equal_channels),
        WORK_TEST(test_verify),       WORK_TEST(test_verify_references), WORK_TEST(test_verify_steps),
    };
    return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
