/* Forms of channels of 16-bit codes: what the kernel makes of every code is what the chain makes of it, for channels by
 * chance under every reference; and channels that have a form are seen to get it. */
#include "affine/draw.h"
#include "kern/rows_case.h"
#include "support/sanitized.h"

#include "prepare/node16.h"

enum {
    CODES = 65536,
    MOST_STAGES = 16,
    CHANNELS = S0_SANITIZED ? 200 : 2000, /* by chance, of each reference */
};

typedef struct {
    Stage stage[MOST_STAGES];
    uint32_t count;
} Channel;

static void add(Channel *channel, Stage stage) {
    assert_true(channel->count < MOST_STAGES);
    channel->stage[channel->count++] = stage;
}

/* ---- what the kernels make of it */

static void run_form(const S0Kernels *kernels, const Form16 *form, int16_t codes[CODES]) {
    const S0Rows rows = {codes, codes, 1, CODES, CODES * sizeof *codes, CODES * sizeof *codes, 0};
    if (form->kind == FORM16_REAL) {
        const S0Reals16 reals = form16_reals(form);
        kernels->real16(&rows, &reals);
    } else if (form->kind == FORM16_QUOTIENT) {
        const S0Quotients16 quotients = form16_quotients(form);
        kernels->quotient16(&rows, &quotients);
    } else {
        const S0Fixed16 fixed = form16_fixed(form);
        kernels->fixed16(&rows, &fixed);
    }
}

static void check_form(const Chain *chain, const Form16 *form) {
    static int32_t want[CODES];
    static int16_t codes[CODES];
    const S0Kernels *tables[ROWS_TABLES];
    int count = rows_tables(tables);
    for (int32_t i = 0; i < CODES; i++) {
        want[i] = INT16_MIN + i;
    }
    chain_codes(chain, want, CODES);
    for (int t = 0; t < count; t++) {
        for (int32_t i = 0; i < CODES; i++) {
            codes[i] = (int16_t)(INT16_MIN + i);
        }
        run_form(tables[t], form, codes);
        for (int32_t i = 0; i < CODES; i++) {
            if (codes[i] != want[i]) {
                fail_msg("%s, %s: %d gives %d, not %d", tables[t]->name, form16_name(form->kind), INT16_MIN + i,
                         codes[i], want[i]);
            }
        }
    }
}

/* ---- by chance */

static Stage clip_stage(int32_t lo, int32_t hi) {
    Stage stage = codes_stage(STAGE_CODE_CLIP, DTYPE_I16, DTYPE_I16);
    stage.integer.lo = lo;
    stage.integer.hi = hi;
    return stage;
}

static int32_t draw_zero_point(uint64_t *seed, S0Format format) {
    bool has_one = format == S0_FORMAT_ONNX && random_below(seed, 3) == 0;
    return has_one ? draw_between(seed, -3000, 3000) : 0;
}

static void draw_integer(uint64_t *seed, S0Format format, Channel *channel) {
    Stage stage = draw_stage(seed, DTYPE_I16);
    stage.integer.in.zero_point = draw_zero_point(seed, format);
    stage.integer.out.zero_point = draw_zero_point(seed, format);
    if (random_below(seed, 2) != 0) { /* few bits, as weights have them */
        stage.integer.value = draw_between(seed, -127, 127);
    }
    if (random_below(seed, 4) == 0) {
        stage.integer.bias = 0;
    }
    if (random_below(seed, 2) != 0 && stage.kind != STAGE_CODE_SCALE) {
        stage.integer.out.scale *= 16;
    }
    add(channel, stage);
}

static Stage draw_clip(uint64_t *seed) {
    Stage stage = number_stage(STAGE_CLIP, 0);
    stage.clip.lo = random_below(seed, 2) != 0 ? 0 : -draw_scale(seed) * 1000;
    stage.clip.hi = random_below(seed, 2) != 0 ? INFINITY : draw_scale(seed) * 1000;
    return stage;
}

static void draw_reals(uint64_t *seed, S0Format format, Channel *channel) {
    add(channel, dequantize_stage(DTYPE_I16, draw_scale(seed) / 256, draw_zero_point(seed, format)));
    for (uint64_t k = random_below(seed, 4); k-- > 0;) {
        add(channel, random_below(seed, 20) == 0 ? draw_clip(seed) : draw_real_stage(seed));
    }
    if (random_below(seed, 4) == 0) {
        add(channel, draw_clip(seed));
    }
    float scale = random_below(seed, 2) != 0 ? ldexpf(1, draw_between(seed, -15, -8)) : draw_scale(seed) / 128;
    add(channel, quantize_stage(DTYPE_I16, scale, draw_zero_point(seed, format)));
}

static void draw_channel(uint64_t *seed, S0Format format, Channel *channel) {
    channel->count = 0;
    switch (random_below(seed, 8)) {
    case 0: /* clips alone, or nothing */
        break;
    case 1:
    case 2:
    case 3:
        draw_integer(seed, format, channel);
        break;
    default:
        draw_reals(seed, format, channel);
    }
    if (random_below(seed, 20) == 0) { /* one after the other */
        draw_integer(seed, format, channel);
    }
    if (random_below(seed, 20) == 0) {
        draw_reals(seed, format, channel);
    }
    for (uint64_t k = random_below(seed, 3); k-- > 0;) {
        int32_t lo = draw_between(seed, INT16_MIN, 20000);
        add(channel, clip_stage(lo, draw_between(seed, random_below(seed, 8) == 0 ? INT16_MIN : lo, INT16_MAX)));
    }
}

static void check_random(Work *work, Semantics semantics) {
    uint64_t seed = 1 + (uint64_t)semantics;
    uint32_t found[FORM16_KINDS] = {0}, compared = 0;
    for (uint32_t k = 0; k < CHANNELS;) {
        Channel channel;
        Chain chain;
        Form16 form;
        arena_reset(&work->keep);
        draw_channel(&seed, s0_semantics_format(semantics), &channel);
        if (chain_bind(channel.stage, channel.count, semantics, &work->keep, &chain) != NULL) {
            continue;
        }
        form16_find(&chain, &form);
        if (form.kind != FORM16_CHAIN) {
            check_form(&chain, &form);
        }
        found[form.kind]++;
        compared += form.is_compared;
        k++;
    }
    print_message("%s: %u real, %u quotients (%u compared), %u fixed, %u chains\n", s0_semantics_name(semantics),
                  found[FORM16_REAL], found[FORM16_QUOTIENT], compared, found[FORM16_FIXED], found[FORM16_CHAIN]);
    bool is_onnx = s0_semantics_format(semantics) == S0_FORMAT_ONNX;
    assert_true(found[FORM16_REAL] > (is_onnx ? CHANNELS / 4 : CHANNELS / 40));
    assert_true(is_onnx ? found[FORM16_FIXED] == 0 : found[FORM16_FIXED] > CHANNELS / 10);
}

static void test_random(Work *work) {
    for (int semantics = 0; semantics < S0_SEM_COUNT; semantics++) {
        check_random(work, (Semantics)semantics);
    }
}

/* ---- by hand */

static Channel made_of(const Stage *stage, uint32_t count) {
    Channel channel = {.count = 0};
    for (uint32_t k = 0; k < count; k++) {
        add(&channel, stage[k]);
    }
    return channel;
}

static Form16 form_of(Work *work, Semantics semantics, const Stage *stage, uint32_t count) {
    Channel channel = made_of(stage, count);
    Chain chain = bind_chain(channel.stage, channel.count, semantics, work);
    Form16 form;
    form16_find(&chain, &form);
    if (form.kind != FORM16_CHAIN) {
        check_form(&chain, &form);
    }
    return form;
}

/* Products, sums, one by one; the scale of the output is a power of 2. */
static void test_reals(Work *work) {
    const Stage stage[] = {
        dequantize_stage(DTYPE_I16, 0.0003f, 0), number_stage(STAGE_MUL, 1.7f), number_stage(STAGE_ADD, -0.4f),
        quantize_stage(DTYPE_I16, 0x1p-11f, 0),  clip_stage(0, 20000),
    };
    Form16 form = form_of(work, S0_SEM_ONNX, stage, 5);
    assert_int_equal(form.kind, FORM16_REAL);
    assert_false(form.is_compared);
    assert_true(form.weight == 0.0003f && form.offset == 0 && form.scale == 1.7f * 2048 && form.bias == -0.4f * 2048);
    assert_int_equal(form.codes.lo, 0);
    assert_int_equal(form.codes.hi, 20000);

    const Stage shifted[] = {dequantize_stage(DTYPE_I16, 0x1p-7f, 100), number_stage(STAGE_MUL, 0.3f),
                             number_stage(STAGE_RSUB, 5), quantize_stage(DTYPE_I16, 0x1p-8f, -7)};
    form = form_of(work, S0_SEM_ORT_MLAS, shifted, 4);
    assert_int_equal(form.kind, FORM16_REAL);
    assert_false(form.is_compared);
    assert_true(form.weight == 1 && form.offset == -100 && form.scale == -0.6f && form.bias == 1280);
    assert_int_equal(form.codes.zero_point, -7);
}

/* Of a deviation that is a power of 2; and float16 is rounded otherwise. */
static void test_norms(Work *work) {
    Stage stage[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), number_stage(STAGE_NORM, 0),
                     quantize_stage(DTYPE_I16, 0x1p-12f, 0)};
    stage[1].norm.mean = 0.75f;
    stage[1].norm.variance = 0.25f;
    stage[1].norm.gamma = 1.3f;
    stage[1].norm.beta = -0.1f;
    Form16 form = form_of(work, S0_SEM_ONNX, stage, 3);
    assert_int_equal(form.kind, FORM16_REAL);
    assert_false(form.is_compared);
    assert_true(form.offset == -1.5f && form.scale == 1.3f * 4096 && form.bias == -0.1f * 4096);
    for (int k = 0; k < 3; k++) {
        stage[k].from = k > 0 ? DTYPE_F16 : DTYPE_I16;
        stage[k].to = k < 2 ? DTYPE_F16 : DTYPE_I16;
    }
    stage[2].code.scale = 0x1p-9f;
    assert_int_equal(form_of(work, S0_SEM_ONNX, stage, 3).kind, FORM16_CHAIN);
}

/* A quotient is no product; but where its reciprocal is nearly exact, no code may be so near to a tie that it matters.
 */
static void test_quotients(Work *work) {
    const Stage stage[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), quantize_stage(DTYPE_I16, 0.0004f, 0)};
    assert_int_equal(form_of(work, S0_SEM_ONNX, stage, 2).kind, FORM16_QUOTIENT);
    const Stage near[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), quantize_stage(DTYPE_I16, 0.00037f, 0)};
    Form16 form = form_of(work, S0_SEM_ONNX, near, 2);
    assert_int_equal(form.kind, FORM16_REAL);
    assert_true(form.is_compared);
    const Stage divided[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), number_stage(STAGE_DIV, 0.00037f),
                             quantize_stage(DTYPE_I16, 2, 0)};
    assert_int_equal(form_of(work, S0_SEM_ONNX, divided, 3).kind, FORM16_REAL);
    form = form_of(work, S0_SEM_TFLITE_SINGLE, near, 2);
    assert_int_equal(form.kind, FORM16_REAL);
    const Stage ties[] = {dequantize_stage(DTYPE_I16, 0.25f, 0), quantize_stage(DTYPE_I16, 0.5f, 0)};
    assert_int_equal(form_of(work, S0_SEM_TFLITE_SINGLE, ties, 2).kind, FORM16_CHAIN);
    assert_int_equal(form_of(work, S0_SEM_ONNX, ties, 2).kind, FORM16_REAL);
}

/* A scale whose reciprocal is not exact. */
static float draw_inexact(uint64_t *seed) {
    return ldexpf((float)(draw_between(seed, 1 << 22, (1 << 23) - 1) * 2 + 1), -34);
}

/* Where no real16 has the same codes, the chain of most models is quotient16 by argument. With a zero point, the first
 * sum is taken by it. */
static void test_quantised_chains(Work *work) {
    uint64_t seed = 19;
    uint32_t found[FORM16_KINDS] = {0};
    for (uint32_t k = 0; k < CHANNELS / 2; k++) {
        arena_reset(&work->keep);
        const bool is_shifted = k % 4 == 0;
        const float out = draw_inexact(&seed);
        Channel channel = {.count = 0};
        add(&channel, dequantize_stage(DTYPE_I16, draw_inexact(&seed), is_shifted ? draw_between(&seed, 1, 3000) : 0));
        if (!is_shifted) {
            add(&channel, number_stage(STAGE_MUL, draw_inexact(&seed) * 1000));
        }
        add(&channel, number_stage(STAGE_ADD, draw_inexact(&seed) * 10));
        add(&channel, quantize_stage(DTYPE_I16, out, is_shifted ? draw_between(&seed, -3000, 3000) : 0));
        Form16 form = form_of(work, S0_SEM_ONNX, channel.stage, channel.count);
        found[form.kind]++;
        assert_true(form.is_compared == (form.kind == FORM16_REAL));
        assert_true(form.divisor == (form.kind == FORM16_QUOTIENT ? out : 1));
    }
    print_message("%u real, %u quotients\n", found[FORM16_REAL], found[FORM16_QUOTIENT]);
    assert_int_equal(found[FORM16_CHAIN] + found[FORM16_FIXED], 0);
    assert_true(found[FORM16_QUOTIENT] > CHANNELS / 8);
}

/* More operations than the kernel has: a zero point and a product, two quotients, or MLAS's sum behind one. */
static void test_no_quotients(Work *work) {
    const Stage shifted[] = {dequantize_stage(DTYPE_I16, 0.0003f, 77), number_stage(STAGE_MUL, 1.7f),
                             number_stage(STAGE_ADD, 0.1f), quantize_stage(DTYPE_I16, 0.0004f, 0)};
    assert_int_equal(form_of(work, S0_SEM_ONNX, shifted, 4).kind, FORM16_CHAIN);
    const Stage divided[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), number_stage(STAGE_MUL, 0.3f),
                             number_stage(STAGE_DIV, 0.7f), quantize_stage(DTYPE_I16, 0.0004f, 0)};
    assert_int_equal(form_of(work, S0_SEM_ONNX, divided, 4).kind, FORM16_CHAIN);
    uint64_t seed = 20;
    uint32_t chains = 0;
    for (int k = 0; k < 20; k++) {
        Stage added = codes_stage(STAGE_CODE_ADD, DTYPE_I16, DTYPE_I16);
        added.integer.value = 1234;
        added.integer.in.scale = draw_inexact(&seed);
        added.integer.constant.scale = draw_inexact(&seed);
        added.integer.out = (StageCode){draw_inexact(&seed), 5};
        Form16Kind kind = form_of(work, S0_SEM_ORT_MLAS, &added, 1).kind;
        assert_true(kind == FORM16_REAL || kind == FORM16_CHAIN);
        chains += kind == FORM16_CHAIN;
    }
    assert_true(chains > 0);
}

static Stage scale_stage(int32_t weight, int32_t bias, float out) {
    Stage stage = codes_stage(STAGE_CODE_SCALE, DTYPE_I16, DTYPE_I16);
    stage.integer.in.scale = 0.01f;
    stage.integer.constant.scale = 0.02f;
    stage.integer.value = weight;
    stage.integer.bias = bias;
    stage.integer.out.scale = out;
    return stage;
}

static void test_integers(Work *work) {
    Stage stage = scale_stage(-111, 4000, 0.03f);
    for (int semantics = 0; semantics < S0_SEM_COUNT; semantics++) {
        Form16 form = form_of(work, (Semantics)semantics, &stage, 1);
        bool is_onnx = s0_semantics_format((Semantics)semantics) == S0_FORMAT_ONNX;
        assert_int_equal(form.kind, is_onnx ? FORM16_REAL : FORM16_FIXED);
        assert_false(form.is_compared);
    }
    stage = scale_stage(600, 4001, 0.3f); /* passes 2^24 */
    assert_int_equal(form_of(work, S0_SEM_ONNX, &stage, 1).kind, FORM16_CHAIN);
    stage = scale_stage(30001, 0, 5); /* so does this, but it is rounded as a product is */
    assert_int_equal(form_of(work, S0_SEM_ONNX, &stage, 1).kind, FORM16_REAL);
}

/* TFLite's ADD rescales the input of the smaller scale, with a rounding of its own. */
static void test_sums(Work *work) {
    Stage stage = codes_stage(STAGE_CODE_ADD, DTYPE_I16, DTYPE_I16);
    stage.integer.in.scale = 0.011f;
    stage.integer.constant.scale = 0.007f;
    stage.integer.value = 1234;
    stage.integer.out.scale = 0.013f;
    assert_int_equal(form_of(work, S0_SEM_TFLITE_DOUBLE, &stage, 1).kind, FORM16_FIXED);
    stage.integer.negate = 2;
    assert_int_equal(form_of(work, S0_SEM_TFLITE_SINGLE, &stage, 1).kind, FORM16_FIXED);
    stage.integer.constant.scale = 0.023f;
    assert_int_equal(form_of(work, S0_SEM_TFLITE_DOUBLE, &stage, 1).kind, FORM16_CHAIN);
    stage.integer.in.scale = stage.integer.constant.scale / 8; /* nothing is rounded: 15 bits were shifted in */
    assert_int_equal(form_of(work, S0_SEM_TFLITE_DOUBLE, &stage, 1).kind, FORM16_FIXED);
    stage.integer.in.scale = stage.integer.constant.scale / 65536;
    assert_int_equal(form_of(work, S0_SEM_TFLITE_DOUBLE, &stage, 1).kind, FORM16_CHAIN);
}

static void test_joins(Work *work) {
    Stage a = scale_stage(5, 100, 0.03f), b = scale_stage(-9, 0, 0.04f), c = b;
    c.integer.hi = 1000;
    Form16 form[] = {form_of(work, S0_SEM_ONNX, &a, 1), form_of(work, S0_SEM_ONNX, &b, 1),
                     form_of(work, S0_SEM_ONNX, &c, 1), form_of(work, S0_SEM_TFLITE_SINGLE, &b, 1),
                     form_of(work, S0_SEM_TFLITE_DOUBLE, &b, 1)};
    assert_true(form16_joins(&form[0], &form[1]));
    assert_false(form16_joins(&form[1], &form[2]));
    assert_false(form16_joins(&form[1], &form[3]));
    assert_false(form16_joins(&form[3], &form[4]));
    const Stage stage[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), quantize_stage(DTYPE_I16, 0.0004f, 0)};
    const Form16 quotient = form_of(work, S0_SEM_ONNX, stage, 2);
    assert_true(form16_joins(&form[0], &quotient));
    assert_false(form16_joins(&quotient, &form[0]));
    assert_false(form16_joins(&form[2], &quotient));
}

/* A product that gives few codes is a real16, and goes with the quotients of the others. */
static void test_mixed_node(Work *work) {
    static const float factor[] = {1.7f, 1e-6f, -0.3f};
    Chain chain[3];
    for (int c = 0; c < 3; c++) {
        const Stage stage[] = {dequantize_stage(DTYPE_I16, 0.0003f, 0), number_stage(STAGE_MUL, factor[c]),
                               number_stage(STAGE_ADD, 0.1f), quantize_stage(DTYPE_I16, 0.0004f, 0)};
        assert_null(chain_bind(stage, 4, S0_SEM_ONNX, &work->keep, &chain[c]));
    }
    Node16 node;
    node16_find(chain, 3, &work->keep, &node);
    assert_int_equal(node.count[FORM16_REAL], 1);
    assert_int_equal(node.count[FORM16_QUOTIENT], 2);
    assert_int_equal(node.shared, FORM16_QUOTIENT);
    assert_int_equal(node.patch_count, 0);
    for (size_t c = 0; c < 3; c++) {
        assert_true(node.quotients.divisor[c] == (c == 1 ? 1 : 0.0004f));
        assert_true(node.quotients.reals.weight[c] == node.form[c].weight);
        assert_true(node.quotients.reals.scale[c] == node.form[c].scale);
        assert_true(node.quotients.reals.bias[c] == node.form[c].bias);
    }
}

/* Neighbours go together while they are real16 and share their codes. */
static void test_join(Work *work) {
    enum { PLANES = 6 };
    Stage plain = scale_stage(5, 100, 0.03f), other = scale_stage(-9, 0, 0.04f), limited = other;
    limited.integer.hi = 1000;
    const Stage *const stage[PLANES] = {&plain, &other, &plain, &limited, &limited, &plain};
    static const size_t together[PLANES] = {2, 1, 0, 2, 1, 1};
    Chain chain[PLANES];
    for (int c = 0; c < PLANES; c++) {
        Semantics semantics = together[c] == 0 ? S0_SEM_TFLITE_SINGLE : S0_SEM_ONNX;
        assert_null(chain_bind(stage[c], 1, semantics, &work->keep, &chain[c]));
    }
    Node16 node;
    node16_find(chain, PLANES, &work->keep, &node);
    node16_join(&node, &work->keep);
    for (size_t c = 0; c < PLANES; c++) {
        assert_int_equal(node.together[c], together[c]);
        if (together[c] > 0) {
            assert_true(node.planes.weight[c] == node.form[c].weight);
            assert_true(node.planes.offset[c] == node.form[c].offset);
            assert_true(node.planes.scale[c] == node.form[c].scale);
            assert_true(node.planes.bias[c] == node.form[c].bias);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_random),       WORK_TEST(test_reals),
        WORK_TEST(test_norms),        WORK_TEST(test_quotients),
        WORK_TEST(test_integers),     WORK_TEST(test_sums),
        WORK_TEST(test_joins),        WORK_TEST(test_quantised_chains),
        WORK_TEST(test_no_quotients), WORK_TEST(test_mixed_node),
        WORK_TEST(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
