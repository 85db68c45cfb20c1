/* Proves forms: cases of the field whose forms were worked out by hand; and, for each form, random channels whose
 * rewrite and whose form are held against brute force. */
#include "affine/brute.h"
#include "affine/draw.h"

#include "affine/form.h"

#include <string.h>

static const uint32_t all_tflite = S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE) | S0_SEM_BIT(S0_SEM_TFLITE_SINGLE) |
                                   S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE_F32) | S0_SEM_BIT(S0_SEM_CMSIS);
static const uint32_t all_onnx = S0_SEM_BIT(S0_SEM_ONNX) | S0_SEM_BIT(S0_SEM_ORT_MLAS);
static const Domain int8 = {-128, 127, "int8"};

/* ---- Cases */

typedef struct {
    const char *name;
    uint32_t semantics, count;
    Stage stages[4];
    AffineForm form;
    double a, b;
    int32_t shift;
} FormCase;

static FormCase real_case(const char *name, StageCode in, Stage first, Stage second, StageCode out, AffineForm form,
                          double a, double b, int32_t shift) {
    FormCase row = {name, all_onnx, 4, {{0}}, form, a, b, shift};
    row.stages[0] = dequantize_stage(DTYPE_I8, in.scale, in.zero_point);
    row.stages[1] = first;
    row.stages[2] = second;
    row.stages[3] = quantize_stage(DTYPE_I8, out.scale, out.zero_point);
    return row;
}

static Stage norm_stage(float gamma, float beta, float mean, float variance, float epsilon) {
    Stage stage = {.kind = STAGE_NORM, .from = DTYPE_F32, .to = DTYPE_F32};
    stage.norm.gamma = gamma;
    stage.norm.beta = beta;
    stage.norm.mean = mean;
    stage.norm.variance = variance;
    stage.norm.epsilon = epsilon;
    return stage;
}

static Stage clip_stage(float lo, float hi) {
    return (Stage){.kind = STAGE_CLIP, .from = DTYPE_F32, .to = DTYPE_F32, .clip = {lo, hi}};
}

static Stage code_clip_stage(int32_t lo, int32_t hi) {
    Stage stage = codes_stage(STAGE_CODE_CLIP, DTYPE_I8, DTYPE_I8);
    stage.integer.lo = lo;
    stage.integer.hi = hi;
    return stage;
}

static Stage rescale_stage(float in, float out) {
    return requantize_stage(DTYPE_I8, (StageCode){in, 0}, DTYPE_I8, (StageCode){out, 0});
}

static void check_case(const FormCase *row, Work *work) {
    ChannelForm got = affine_channel_form(row->stages, row->count, int8, row->semantics, work);
    if (got.form != row->form) {
        fail_msg("%s: %s, not %s (%s)", row->name, affine_form_name(got.form), affine_form_name(row->form),
                 got.why == NULL ? "" : got.why);
    }
    assert_true((got.why == NULL) == (got.form == AFFINE_REMOVE));
    assert_true((got.fits & (UINT32_C(1) << got.form)) != 0);
    if (row->form != AFFINE_REFUSE) {
        assert_true(fabs(got.a - row->a) < 1e-6 && fabs(got.b - row->b) < 1e-6);
        assert_int_equal(got.shift, row->shift);
    }
}

static void test_real_cases(Work *work) {
    const StageCode unit = {1, 0}, tenth = {0.1f, 0};
    const Stage times1 = number_stage(STAGE_MUL, 1), plus0 = number_stage(STAGE_ADD, 0);
    const FormCase rows[] = {
        real_case("E11 channel 0", tenth, times1, number_stage(STAGE_ADD, 0.4f), tenth, AFFINE_ADD_INT, 1, .4, 4),
        real_case("E11 channel 1", tenth, times1, number_stage(STAGE_ADD, -.2f), tenth, AFFINE_ADD_INT, 1, -.2, -2),
        real_case("nothing", tenth, times1, plus0, tenth, AFFINE_REMOVE, 1, 0, 0),
        real_case("near one", tenth, number_stage(STAGE_MUL, 1.003f), plus0, tenth, AFFINE_REMOVE, 1.003f, 0, 0),
        real_case("not near enough", tenth, number_stage(STAGE_MUL, 1.005f), plus0, tenth, AFFINE_REQUANT, 1.005f, 0,
                  0),
        real_case("halved, onto coarser codes", (StageCode){0.5f, 0}, number_stage(STAGE_MUL, 0.5f), plus0,
                  (StageCode){0.0625f, 0}, AFFINE_SHIFT, 0.5, 0, 2),
        real_case("a bias", (StageCode){0.25f, 0}, times1, number_stage(STAGE_ADD, 0.3f), (StageCode){0.125f, 0},
                  AFFINE_BIAS, 1, .3, 0),
        real_case("D7 channel 0", tenth, number_stage(STAGE_MUL, .5f), number_stage(STAGE_ADD, .13f),
                  (StageCode){.11f, 5}, AFFINE_MULADD, .5, .13, 0),
        real_case("D7 channel 2", tenth, number_stage(STAGE_MUL, -1), number_stage(STAGE_ADD, .31f),
                  (StageCode){.11f, 5}, AFFINE_MULADD, -1, .31, 0),
        real_case("D8", (StageCode){.5f, 4}, number_stage(STAGE_MUL, .25f), number_stage(STAGE_ADD, 1),
                  (StageCode){.11f, -10}, AFFINE_MULADD, .25, 1, 0),
        real_case("D1 channel 0", (StageCode){.03f, 0}, norm_stage(4, 10, 1, 3, 1), plus0, (StageCode){.11f, 0},
                  AFFINE_MULADD, 2, 8, 0),
        real_case("D2 channel 3", unit, norm_stage(1, 0, 0, -1e-5f, 1e-5f), plus0, unit, AFFINE_REFUSE, 0, 0, 0),
        real_case("a limit between", tenth, clip_stage(0, 6), number_stage(STAGE_ADD, -1), tenth, AFFINE_ADD_INT, 1, -1,
                  -10),
        real_case("a constant", tenth, number_stage(STAGE_MUL, 0), number_stage(STAGE_ADD, .5f), tenth, AFFINE_MULADD,
                  0, .5, 0),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_case(&rows[i], work);
    }
}

static void test_code_cases(Work *work) {
    const StageCode unit = {1, 0};
    Stage accumulator = accumulator_stage(0.5f, unit);
    accumulator.integer.constant.scale = .0625f;
    const FormCase rows[] = {
        {"K1", all_tflite, 1, {rescale_stage(0.03125f, 1)}, AFFINE_SHIFT, 1, 0, -5},
        {"requantise", all_tflite, 1, {rescale_stage(.03f, 1)}, AFFINE_REQUANT, 1, 0, 0},
        {"limit", all_tflite, 1, {code_clip_stage(-5, 9)}, AFFINE_ADD_INT, 1, 0, 0},
        {"limit of nothing", all_tflite, 1, {code_clip_stage(-128, 127)}, AFFINE_REMOVE, 1, 0, 0},
        {"add 0",
         all_tflite,
         1,
         {with_constant(STAGE_CODE_ADD, unit, (StageCode){2, 7}, 7, unit)},
         AFFINE_REMOVE,
         1,
         0,
         0},
        {"add", all_tflite, 1, {with_constant(STAGE_CODE_ADD, unit, unit, -9, unit)}, AFFINE_ADD_INT, 1, -9, -9},
        {"V4, single",
         S0_SEM_BIT(S0_SEM_TFLITE_SINGLE),
         1,
         {with_constant(STAGE_CODE_ADD, unit, (StageCode){.5f, 0}, 1, unit)},
         AFFINE_ADD_INT,
         1,
         .5,
         1},
        {"V4, all",
         all_tflite,
         1,
         {with_constant(STAGE_CODE_ADD, unit, (StageCode){.5f, 0}, 1, unit)},
         AFFINE_BIAS,
         1,
         .5,
         0},
        {"V1: the middle is limited",
         all_tflite,
         2,
         {with_constant(STAGE_CODE_MUL, unit, unit, 4, unit),
          with_constant(STAGE_CODE_ADD, unit, (StageCode){4, 0}, -75, unit)},
         AFFINE_MULADD,
         4,
         -300,
         0},
        {"codes that mean something else to the next stage",
         all_tflite,
         2,
         {rescale_stage(1, 1), rescale_stage(2, 1)},
         AFFINE_SHIFT,
         2,
         0,
         1},
        {"an accumulator in units of two scales", all_tflite, 1, {accumulator}, AFFINE_SHIFT, .0625, 0, -5},
        {"steps of 16", all_tflite, 2, {rescale_stage(.0625f, 1), rescale_stage(1, .0625f)}, AFFINE_LUT, 1, 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_case(&rows[i], work);
    }
    assert_int_equal(affine_channel_form(NULL, 0, int8, all_tflite, work).form, AFFINE_REMOVE);
    assert_int_equal(affine_channel_form(rows[0].stages, 1, int8, 0, work).form, AFFINE_REFUSE);
}

/* Half of 1 is 1 where ties go up, and 0 where they go to even. */
static void test_every_reference(Work *work) {
    Stage half = rescale_stage(.5f, 1);
    Domain two = {0, 1, "drawn"};
    uint32_t up = S0_SEM_BIT(S0_SEM_TFLITE_DOUBLE), even = S0_SEM_BIT(S0_SEM_ONNX);
    assert_int_equal(affine_channel_form(&half, 1, two, up, work).form, AFFINE_REMOVE);
    assert_int_equal(affine_channel_form(&half, 1, two, up | even, work).form, AFFINE_SHIFT);
}

/* ---- Nodes */

static void test_nodes(Work *work) {
    const StageCode tenth = {0.1f, 0};
    FormCase e11[3] = {
        real_case("", tenth, number_stage(STAGE_MUL, 1), number_stage(STAGE_ADD, .4f), tenth, 0, 0, 0, 0),
        real_case("", tenth, number_stage(STAGE_MUL, 1), number_stage(STAGE_ADD, -.2f), tenth, 0, 0, 0, 0),
        real_case("", tenth, number_stage(STAGE_MUL, .26f), number_stage(STAGE_ADD, 0), tenth, 0, 0, 0, 0)};
    ChannelForm channels[3];
    for (int c = 0; c < 3; c++) {
        channels[c] = affine_channel_form(e11[c].stages, 4, int8, all_onnx, work);
    }
    assert_int_equal(channels[2].form, AFFINE_REQUANT);
    NodeForm node = affine_node_form(channels, 3, &work->keep);
    assert_int_equal(node.form, AFFINE_MULADD); /* a factor alone moves no code */
    assert_int_equal(node.best, AFFINE_ADD_INT);
    assert_int_equal(node.blocked_count, 1);
    assert_int_equal(node.blocked[0], 2);
    assert_int_equal(affine_node_form(channels, 2, &work->keep).form, AFFINE_ADD_INT);

    /* Codes that move as the zero point does are a requantise by one. */
    Stage moved = requantize_stage(DTYPE_I8, (StageCode){1, 0}, DTYPE_I8, (StageCode){1, 3});
    channels[0] = affine_channel_form(&moved, 1, int8, all_tflite, work);
    moved.integer.in.scale = 0.3f;
    channels[1] = affine_channel_form(&moved, 1, int8, all_tflite, work);
    assert_int_equal(channels[0].form, AFFINE_ADD_INT);
    assert_int_equal(affine_node_form(channels, 2, &work->keep).form, AFFINE_REQUANT);
    assert_int_equal(affine_node_form(channels, 0, &work->keep).form, AFFINE_REMOVE);
}

/* Half of x on codes of half the size moves codes by what is added; beside a bias, whose factor is 1, it needs its own
 * factor. With equal scales it does not. */
static void test_bias_and_translation(Work *work) {
    const StageCode coarse = {.5f, 0}, fine = {.25f, 0};
    const Stage half = number_stage(STAGE_MUL, .5f), one = number_stage(STAGE_MUL, 1);
    FormCase rows[] = {
        real_case("", coarse, half, number_stage(STAGE_ADD, .5f), fine, 0, 0, 0, 0),
        real_case("", coarse, one, number_stage(STAGE_ADD, .3f), fine, 0, 0, 0, 0),
        real_case("", coarse, one, number_stage(STAGE_ADD, .5f), coarse, 0, 0, 0, 0),
    };
    ChannelForm channels[3];
    for (int c = 0; c < 3; c++) {
        channels[c] = affine_channel_form(rows[c].stages, 4, int8, all_onnx, work);
        assert_int_equal(channels[c].form, c == 1 ? AFFINE_BIAS : AFFINE_ADD_INT);
    }
    assert_int_equal(affine_node_form(channels, 2, &work->keep).form, AFFINE_MULADD);
    assert_int_equal(affine_node_form(channels + 1, 2, &work->keep).form, AFFINE_BIAS);
}

/* ---- Random channels, form by form */

typedef struct {
    Stage before[4], after[1];
    uint32_t before_count, after_count;
} Drawn;

typedef void Draw(uint64_t *seed, DType dtype, Drawn *drawn);

static StageCode draw_small_code(uint64_t *seed) {
    return (StageCode){draw_scale(seed), draw_between(seed, -8, 7)};
}

static void set_real(Drawn *drawn, DType dtype, StageCode in, const Stage *middle, uint32_t count, StageCode out) {
    drawn->before[0] = dequantize_stage(dtype, in.scale, in.zero_point);
    for (uint32_t k = 0; k < count; k++) {
        drawn->before[1 + k] = middle[k];
    }
    drawn->before[1 + count] = quantize_stage(dtype, out.scale, out.zero_point);
    drawn->before_count = count + 2;
}

static void draw_remove(uint64_t *seed, DType dtype, Drawn *drawn) {
    StageCode code = draw_small_code(seed), near = code;
    near.scale *= 1 + (float)draw_between(seed, -1000, 1000) * (dtype == DTYPE_I4 ? 1e-4f : 5e-6f);
    Stage factor = number_stage(STAGE_MUL, near.scale / code.scale);
    if (random_below(seed, 2) != 0) {
        set_real(drawn, dtype, code, &factor, 1, code);
    } else {
        drawn->before[0] = requantize_stage(dtype, near, dtype, code);
        drawn->before_count = 1;
    }
    drawn->after_count = 0;
}

static void draw_add_int(uint64_t *seed, DType dtype, Drawn *drawn) {
    StageCode code = draw_small_code(seed);
    int32_t moved = draw_between(seed, -9, 9);
    if (random_below(seed, 2) != 0) {
        Stage addend = number_stage(STAGE_ADD, (float)moved * code.scale);
        set_real(drawn, dtype, code, &addend, 1, code);
    } else {
        Stage add = codes_stage(STAGE_CODE_ADD, dtype, dtype);
        add.integer.in = add.integer.constant = add.integer.out = code;
        add.integer.constant.zero_point = 3;
        add.integer.value = 3 + moved;
        drawn->before[0] = add;
        drawn->before_count = 1;
    }
    drawn->after[0] = requantize_stage(dtype, (StageCode){1, 0}, dtype, (StageCode){1, moved});
    drawn->after_count = 1;
}

/* x * factor + addend on codes, with eight bits below them. */
static Stage scaled(DType dtype, StageCode in, float factor, float addend, StageCode out) {
    Stage stage = codes_stage(STAGE_CODE_SCALE, dtype, dtype);
    stage.integer.in = in;
    stage.integer.out = out;
    stage.integer.constant.scale = fabsf(factor) / 256;
    stage.integer.value = factor < 0 ? -256 : 256;
    stage.integer.bias = s0_round_half_away((double)addend / ((double)in.scale * (double)stage.integer.constant.scale));
    return stage;
}

static void draw_bias(uint64_t *seed, DType dtype, Drawn *drawn) {
    StageCode in = draw_small_code(seed), out = {in.scale * 1.5f, 1};
    Stage addend = number_stage(STAGE_ADD, 4 * draw_scale(seed) - in.scale);
    set_real(drawn, dtype, in, &addend, 1, out);
    drawn->after[0] = scaled(dtype, in, 1, addend.number, out);
    drawn->after_count = 1;
}

static void draw_requant(uint64_t *seed, DType dtype, Drawn *drawn) {
    StageCode in = draw_small_code(seed), out = draw_small_code(seed);
    float factor = 30 * draw_scale(seed);
    Stage mul = number_stage(STAGE_MUL, random_below(seed, 4) == 0 ? -factor : factor);
    if (random_below(seed, 2) != 0) {
        set_real(drawn, dtype, in, &mul, 1, out);
        drawn->after[0] = scaled(dtype, in, mul.number, 0, out);
    } else {
        Stage code_mul = codes_stage(STAGE_CODE_MUL, dtype, dtype);
        code_mul.integer.in = in;
        code_mul.integer.constant = (StageCode){factor / 5, 0};
        code_mul.integer.value = draw_between(seed, -7, 7);
        code_mul.integer.out = out;
        drawn->before[0] = drawn->after[0] = code_mul;
        drawn->before_count = 1;
        drawn->after[0].kind = STAGE_CODE_SCALE;
        drawn->after[0].integer.bias = 0;
    }
    drawn->after_count = 1;
}

static void draw_shift(uint64_t *seed, DType dtype, Drawn *drawn) {
    StageCode in = draw_small_code(seed), out = draw_small_code(seed);
    float power = ldexpf(1, draw_between(seed, -3, 2));
    out.scale = in.scale / power;
    drawn->before[0] = requantize_stage(dtype, in, dtype, out);
    drawn->before_count = 1;
    drawn->after[0] = scaled(dtype, (StageCode){1, in.zero_point}, power, 0, (StageCode){1, out.zero_point});
    drawn->after_count = 1;
}

/* MUL and ADD of codes as one MUL with a moved zero point; or of reals. */
static void draw_muladd(uint64_t *seed, DType dtype, Drawn *drawn) {
    StageCode in = draw_small_code(seed), middle = draw_small_code(seed);
    if (random_below(seed, 2) != 0) {
        Stage affine[2] = {number_stage(STAGE_MUL, 30 * draw_scale(seed)),
                           number_stage(STAGE_ADD, 9 * draw_scale(seed))};
        set_real(drawn, dtype, in, affine, 2, middle);
        drawn->after[0] = scaled(dtype, in, affine[0].number, affine[1].number, middle);
    } else {
        Stage mul = codes_stage(STAGE_CODE_MUL, dtype, dtype), add = codes_stage(STAGE_CODE_ADD, dtype, dtype);
        int32_t moved = draw_between(seed, -6, 6), lo = mul.integer.lo + moved, hi = mul.integer.hi + moved;
        mul.integer.in = in;
        mul.integer.constant = (StageCode){draw_scale(seed) * 8, 0};
        mul.integer.value = draw_between(seed, 1, 7);
        mul.integer.out = add.integer.in = add.integer.constant = add.integer.out = middle;
        add.integer.value = middle.zero_point + moved;
        drawn->before[0] = drawn->after[0] = mul;
        drawn->before[1] = add;
        drawn->before_count = 2;
        drawn->after[0].integer.out.zero_point += moved;
        drawn->after[0].integer.lo = lo > mul.integer.lo ? lo : mul.integer.lo;
        drawn->after[0].integer.hi = hi < mul.integer.hi ? hi : mul.integer.hi;
    }
    drawn->after_count = 1;
}

/* multiplier, bias, zero points, limits: one of them by one. */
static void mutate(uint64_t *seed, Drawn *drawn) {
    Stage *after = &drawn->after[0];
    int32_t by = random_below(seed, 2) != 0 ? 1 : -1;
    int32_t *const numbers[] = {&after->integer.value,          &after->integer.bias, &after->integer.in.zero_point,
                                &after->integer.out.zero_point, &after->integer.lo,   &after->integer.hi};
    uint64_t which = random_below(seed, 8);
    if (which < 6) {
        *numbers[which] += by;
    } else if (which == 6) {
        after->integer.constant.scale = nextafterf(after->integer.constant.scale, by < 0 ? 0 : 1);
    } else {
        after->integer.in.scale = nextafterf(after->integer.in.scale, by < 0 ? 0 : 1);
    }
}

typedef struct {
    const char *name;
    AffineForm form;
    Draw *draw;
} FormRow;

static const FormRow form_rows[] = {
    {"remove", AFFINE_REMOVE, draw_remove}, {"add_int", AFFINE_ADD_INT, draw_add_int},
    {"bias", AFFINE_BIAS, draw_bias},       {"requant", AFFINE_REQUANT, draw_requant},
    {"shift", AFFINE_SHIFT, draw_shift},    {"muladd", AFFINE_MULADD, draw_muladd},
};

typedef struct {
    uint64_t channels, equal, refused, found;
} Tally;

/* What brute force knows of one channel under all references. */
typedef struct {
    bool is_faulty, is_equal, is_identity, is_translation;
} Truth;

/* Does the chain do min(max(code + shift, lo), hi) with lo < hi? Any shift, if none is given. */
static bool translates(const Chain *chain, Domain domain, const int32_t *given) {
    int32_t first = chain_code(chain, (int32_t)domain.lo), last = chain_code(chain, (int32_t)domain.hi);
    for (int32_t shift = given == NULL ? -64 : *given; shift <= (given == NULL ? 64 : *given); shift++) {
        bool holds = first < last;
        for (int64_t x = domain.lo; holds && x <= domain.hi; x++) {
            int64_t y = x + shift < first ? first : x + shift > last ? last : x + shift;
            holds = chain_code(chain, (int32_t)x) == y;
        }
        if (holds) {
            return true;
        }
    }
    return false;
}

static Truth find_truth(const Claim *claim, uint32_t semantics, const int32_t *shift, Work *work) {
    Truth truth = {false, true, true, true};
    const Chain nothing = {.count = 0};
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        Chain before, after;
        if ((semantics & S0_SEM_BIT(s)) == 0) {
            continue;
        }
        if (chain_bind(claim->before, claim->before_count, (Semantics)s, &work->keep, &before) != NULL) {
            return (Truth){.is_faulty = true};
        }
        bool is_bound = chain_bind(claim->after, claim->after_count, (Semantics)s, &work->keep, &after) == NULL;
        truth.is_equal = truth.is_equal && is_bound && brute_compare(&before, &after, claim->domain).mismatches == 0;
        truth.is_identity = truth.is_identity && brute_compare(&before, &nothing, claim->domain).mismatches == 0;
        truth.is_translation = truth.is_translation && translates(&before, claim->domain, shift);
    }
    return truth;
}

static void check_channel(const FormRow *row, const Drawn *drawn, Domain domain, uint32_t semantics, Tally *tally,
                          Work *work) {
    Claim claim = {drawn->before, drawn->after, drawn->before_count, drawn->after_count, domain};
    ProofTerms terms = {row->name, semantics, 0, false};
    Certificate certificate = prove_channels(&claim, 1, &terms, work);
    ChannelForm form = affine_channel_form(claim.before, claim.before_count, domain, semantics, work);
    bool moves = form.form == AFFINE_ADD_INT;
    Truth truth = find_truth(&claim, semantics, moves ? &form.shift : NULL, work);
    tally->channels++;
    if (truth.is_faulty) {
        assert_int_equal(certificate.class, PROOF_REFUSED);
        assert_int_equal(form.form, AFFINE_REFUSE);
        return;
    }
    assert_int_equal(certificate.class != PROOF_REFUSED, truth.is_equal);
    assert_int_equal(form.form == AFFINE_REMOVE, truth.is_identity);
    assert_true(!moves || truth.is_translation);
    bool is_single = (semantics & (semantics - 1)) == 0; /* several may each move by another shift */
    assert_true(!is_single || !truth.is_translation || form.form <= AFFINE_ADD_INT);
    tally->equal += truth.is_equal;
    tally->refused += !truth.is_equal;
    tally->found += form.form <= row->form;
}

static void test_random_channels(Work *work) {
    uint64_t seed = 29, total = brute_channels(100000);
    for (size_t f = 0; f < COUNT(form_rows); f++) {
        Tally tally = {0};
        while (tally.channels < total) {
            Drawn drawn;
            memset(&drawn, 0, sizeof drawn);
            arena_reset(&work->keep);
            arena_reset(&work->scratch);
            DType dtype = random_below(&seed, 32) == 0 ? DTYPE_I8 : DTYPE_I4;
            form_rows[f].draw(&seed, dtype, &drawn);
            if (drawn.after_count != 0 && random_below(&seed, 2) != 0) {
                mutate(&seed, &drawn);
            }
            Domain domain = int8;
            if (dtype == DTYPE_I4) {
                domain = (Domain){-8, 7, "int4"};
            }
            uint32_t all = random_below(&seed, 2) != 0 ? all_onnx : all_tflite;
            uint32_t some = all & (uint32_t)random_next(&seed);
            check_channel(&form_rows[f], &drawn, domain, some == 0 ? all : some, &tally, work);
        }
        print_message("%-8s %8llu channels: %8llu proven, %8llu refused, %8llu of the form or a cheaper one\n",
                      form_rows[f].name, (unsigned long long)tally.channels, (unsigned long long)tally.equal,
                      (unsigned long long)tally.refused, (unsigned long long)tally.found);
        assert_true(tally.equal > total / 20 && tally.refused > total / 20);
        assert_true(tally.found > total / 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_real_cases),           WORK_TEST(test_code_cases), WORK_TEST(test_every_reference),
        WORK_TEST(test_bias_and_translation), WORK_TEST(test_nodes),      WORK_TEST(test_random_channels),
    };
    return cmocka_run_group_tests_name("form", tests, NULL, NULL);
}
