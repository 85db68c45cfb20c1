/* Forms of channels of 8-bit codes: each is what the channel's reference is for all 256 codes, seen by formula.h; the
 * channels that models have are nearly all products; what is made as a form is found again.
 *
 * The environment tells S0_CASES, how many channels to draw of each reference, and S0_SEED, where to begin. */
#include "affine/stages.h"
#include "prepare/channels.h"
#include "prepare/formula.h"

#include <inttypes.h>

#ifdef __OPTIMIZE__
enum { CASES = 200000 };
#else
enum { CASES = 10000 };
#endif

static uint64_t number_of(const char *name, uint64_t absent) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? absent : strtoull(text, NULL, 10);
}

/* ---- what a form makes */

static uint8_t made_by(const Form8 *form, uint8_t code) {
    if (form->kind == FORM8_TABLE) {
        return form8_tables(form).table[code];
    }
    if (form->kind == FORM8_ROUND) {
        S0Rounds8 rounds = form8_rounds(form);
        return formula_round(&rounds, 0, code);
    }
    S0Products8 products = form8_products(form);
    return formula_product(&products, 0, code);
}

static bool is_taken(const Form8 *form) {
    S0Products8 products = form8_products(form);
    S0Rounds8 rounds = form8_rounds(form);
    return form->kind == FORM8_TABLE ||
           (form->kind == FORM8_ROUND ? formula_takes_round(&rounds, 0) : formula_takes_product(&products, 0));
}

/* How many codes the form makes as the reference does. */
static int right_of(const Form8 *form, const uint8_t *table) {
    int right = 0;
    if (form->kind == FORM8_PRODUCT || form->kind == FORM8_ODD) {
        S0Products8 products = form8_products(form);
        for (int code = 0; code < FORM8_CODES; code++) {
            right += formula_product(&products, 0, (uint8_t)code) == table[code];
        }
        return right;
    }
    for (int code = 0; code < FORM8_CODES; code++) {
        right += made_by(form, (uint8_t)code) == table[code];
    }
    return right;
}

static void check_form(const Form8 *form, const uint8_t *table) {
    if (!is_taken(form)) {
        fail_msg("%s: parameters that the kernel does not take", form8_name(form->kind));
    }
    int right = right_of(form, table);
    if (right != FORM8_CODES || form8_agrees(form, table) != right) {
        fail_msg("%s: right for %d codes of 256, form8_agrees says %d", form8_name(form->kind), right,
                 form8_agrees(form, table));
    }
}

static Form8Kind found(const uint8_t *table, uint8_t x_flip, uint8_t y_flip, Form8 *form) {
    form8_find(table, form8_limits(table, x_flip, y_flip), form);
    check_form(form, table);
    return form->kind;
}

/* ---- channels of models */

enum { RANGES = 2 };

static const ChannelSlopes ranges[RANGES] = {{0.01, 1, true}, {1, 8, true}};

typedef struct {
    uint64_t channels, count[FORM8_KINDS];
} Share;

/* What two roundings made is no line: those are proven like all others, but counted apart. */
static bool is_rounded_once(ChannelKind kind) {
    return kind != CHANNEL_MUL_ADD;
}

static void run_channel(uint64_t *seed, Semantics semantics, ChannelKind kind, Work *work, Share shares[RANGES]) {
    Form8 form;
    Chain chain;
    uint8_t table[FORM8_CODES];
    size_t range = random_below(seed, RANGES);
    Channel channel = channel_draw(seed, kind, &ranges[range]);
    arena_reset(&work->scratch);
    if (chain_bind(channel.stage, channel.count, semantics, &work->scratch, &chain) != NULL) {
        return;
    }
    node8_table(&chain, channel.from, table);
    Form8Kind form_kind = found(table, channel_flip(channel.from), channel_flip(channel.to), &form);
    if (is_rounded_once(kind)) {
        shares[range].channels++;
        shares[range].count[form_kind]++;
    }
}

static double percent(uint64_t part, uint64_t all) {
    return 100.0 * (double)part / (double)all;
}

/* One channel in fifty is rounded twice: the search for what does not exist takes long. */
static ChannelKind draw_kind(uint64_t *seed) {
    static const ChannelKind kinds[] = {CHANNEL_SCALE, CHANNEL_REALS, CHANNEL_NORM, CHANNEL_MUL, CHANNEL_RESCALE};
    return random_below(seed, 50) == 0 ? CHANNEL_MUL_ADD : kinds[random_below(seed, sizeof kinds / sizeof *kinds)];
}

static void run_reference(Semantics semantics, Work *work) {
    static const double least_share[RANGES] = {99, 97};
    Share shares[RANGES] = {0};
    uint64_t cases = number_of("S0_CASES", CASES), seed = number_of("S0_SEED", 1) * 88172645463325252U + semantics;
    for (uint64_t k = 0; k < cases; k++) {
        run_channel(&seed, semantics, draw_kind(&seed), work, shares);
    }
    for (int range = 0; range < RANGES; range++) {
        const Share *share = &shares[range];
        uint64_t all = share->channels;
        double products = percent(share->count[FORM8_PRODUCT] + share->count[FORM8_ODD], all);
        assert_true(all * 5 > cases); /* of the cases 49 in 50 are of two ranges, few have no value */
        print_message("%-18s |S| %g to %g: %" PRIu64 " channels, %.3f %% products, %.3f %% with an odd input, %.3f %% "
                      "rounds, %.3f %% tables\n",
                      s0_semantics_name(semantics), ranges[range].least, ranges[range].most, all,
                      percent(share->count[FORM8_PRODUCT], all), percent(share->count[FORM8_ODD], all),
                      percent(share->count[FORM8_ROUND], all), percent(share->count[FORM8_TABLE], all));
        if (semantics == S0_SEM_ONNX || semantics == S0_SEM_ORT_MLAS || semantics == S0_SEM_TFLITE_SINGLE) {
            assert_true(products >= least_share[range]);
        }
    }
}

static void test_channels(Work *work) {
    for (int semantics = 0; semantics < S0_SEM_COUNT; semantics++) {
        run_reference((Semantics)semantics, work);
    }
}

/* ---- what is made as a form */

static const uint8_t flips[] = {0, 0x80};

static int32_t draw_multiplier(uint64_t *seed) {
    int32_t most = 1 << channel_between(seed, 4, 15);
    return channel_between(seed, -most + 1, most - 1);
}

/* A product by chance whose outputs are not all alike. */
static void draw_product(uint64_t *seed, Form8 *form, uint8_t *table) {
    bool varies = false;
    while (!varies) {
        *form = (Form8){.kind = FORM8_PRODUCT};
        form->bytes.x_flip = flips[random_below(seed, 2)];
        form->bytes.y_flip = flips[random_below(seed, 2)];
        form->multiplier = (int16_t)draw_multiplier(seed);
        form->addend = (int16_t)channel_between(seed, INT16_MIN, INT16_MAX);
        form->divisor = (int16_t)(256 << random_below(seed, 7));
        form->bytes.lo = (int8_t)channel_between(seed, -128, 127);
        form->bytes.hi = (int8_t)channel_between(seed, form->bytes.lo, 127);
        for (int code = 0; code < FORM8_CODES; code++) {
            table[code] = made_by(form, (uint8_t)code);
            varies = varies || table[code] != table[0];
        }
    }
}

static void test_products_are_found(void **state) {
    uint64_t seed = 7, count[FORM8_KINDS] = {0};
    (void)state;
    for (int k = 0; k < CASES / 10; k++) {
        Form8 made, form;
        uint8_t table[FORM8_CODES];
        draw_product(&seed, &made, table);
        count[found(table, made.bytes.x_flip, made.bytes.y_flip, &form)]++;
    }
    print_message("of products: %.3f %% products, %.3f %% with an odd input, %.3f %% rounds, %.3f %% tables\n",
                  percent(count[0], CASES / 10), percent(count[1], CASES / 10), percent(count[2], CASES / 10),
                  percent(count[3], CASES / 10));
    assert_true(percent(count[FORM8_PRODUCT], CASES / 10) > 99.5);
}

/* A product of which one output is a code further, but not beyond the limits. */
static bool draw_odd(uint64_t *seed, Form8 *form, uint8_t *table) {
    draw_product(seed, form, table);
    uint8_t *odd = &table[random_below(seed, FORM8_CODES)];
    int y = formula_in((S0Bytes){.x_flip = form->bytes.y_flip}, *odd) + (random_below(seed, 2) != 0 ? 1 : -1);
    *odd = formula_out(form->bytes, y);
    return y >= form->bytes.lo && y <= form->bytes.hi;
}

static void test_odd_inputs_are_found(void **state) {
    uint64_t seed = 9, channels = 0, count[FORM8_KINDS] = {0};
    (void)state;
    while (channels < CASES / 10) {
        Form8 made, form;
        uint8_t table[FORM8_CODES];
        if (draw_odd(&seed, &made, table)) {
            form8_find(table, made.bytes, &form);
            check_form(&form, table);
            count[form.kind]++;
            channels++;
        }
    }
    print_message("of products with an odd input: %.3f %% products, %.3f %% with an odd input, %.3f %% rounds, %.3f %% "
                  "tables\n",
                  percent(count[0], channels), percent(count[1], channels), percent(count[2], channels),
                  percent(count[3], channels));
    assert_true(percent(count[FORM8_PRODUCT] + count[FORM8_ODD], channels) > 95);
}

/* form8_computes is not taken at its own word: forms that were not searched for, right or wrong. */
static void test_computes(void **state) {
    uint64_t seed = 5;
    (void)state;
    for (int k = 0; k < CASES / 50; k++) {
        Form8 form;
        uint8_t table[FORM8_CODES];
        draw_product(&seed, &form, table);
        if (random_below(&seed, 3) == 0) {
            form.kind = FORM8_ODD;
            form.odd_code = (int8_t)channel_between(&seed, -128, 127);
            form.odd_step = (int8_t)channel_between(&seed, -128, 127);
        } else if (random_below(&seed, 2) == 0) {
            form.kind = FORM8_ROUND;
            form.scale = (float)ldexp(channel_between(&seed, -100, 100), channel_between(&seed, -8, 0));
            form.bias = (float)ldexp(channel_between(&seed, -1000, 1000), channel_between(&seed, -8, 0));
        }
        for (int code = 0; code < FORM8_CODES; code++) {
            assert_int_equal(form8_computes(&form, (uint8_t)code), made_by(&form, (uint8_t)code));
        }
    }
}

/* Half to even: 1/2 becomes 0 and 3/2 becomes 2, which only that slope and float32 do. */
static void test_ties(void **state) {
    static const double slopes[] = {0.5, -0.5, 0.25, 0.75, 1.5, -2.5, 0.125};
    (void)state;
    for (size_t s = 0; s < sizeof slopes / sizeof *slopes; s++) {
        for (int offset = -100; offset <= 100; offset += 25) {
            uint8_t table[FORM8_CODES];
            Form8 form;
            for (int code = 0; code < FORM8_CODES; code++) {
                double y = nearbyint((int8_t)code * slopes[s] + offset);
                table[code] = (uint8_t)(int)fmin(fmax(y, -128), 127);
            }
            assert_in_range(found(table, 0, 0, &form), FORM8_PRODUCT, FORM8_ROUND);
        }
    }
}

static void test_nothing_fits(void **state) {
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < 200; k++) {
        uint8_t table[FORM8_CODES];
        Form8 form;
        for (int code = 0; code < FORM8_CODES; code++) {
            table[code] = (uint8_t)random_below(&seed, FORM8_CODES);
        }
        assert_int_equal(found(table, flips[k & 1], flips[k >> 1 & 1], &form), FORM8_TABLE);
        assert_ptr_equal(form.table, table);
    }
}

/* Constants, and the identity with any codes cut off, are products: whatever the types. */
static void test_plain(void **state) {
    (void)state;
    for (int lo = 0; lo < FORM8_CODES; lo++) {
        for (int hi = lo; hi < FORM8_CODES; hi += 3) {
            uint8_t table[FORM8_CODES];
            Form8 form;
            for (int code = 0; code < FORM8_CODES; code++) {
                table[code] = (uint8_t)(code < lo ? lo : code > hi ? hi : code);
            }
            assert_int_equal(found(table, 0x80, 0x80, &form), FORM8_PRODUCT);
        }
    }
}

/* Wider limits than a table needs still allow what is between them; narrower ones none but the table. */
static void test_limits(void **state) {
    uint8_t table[FORM8_CODES];
    Form8 form;
    (void)state;
    for (int code = 0; code < FORM8_CODES; code++) {
        table[code] = (uint8_t)((int8_t)code / 4);
    }
    memset(table, 5, 64); /* int8 0 to 63 */
    S0Bytes own = form8_limits(table, 0, 0);
    assert_int_equal(own.lo, -32);
    assert_int_equal(own.hi, 31);
    own = form8_limits(table, 0, 0x80); /* as uint8: codes 0 to 255, less 128 */
    assert_int_equal(own.lo, -128);
    assert_int_equal(own.hi, 127);
    S0Bytes both = form8_join((S0Bytes){0, 0, -3, 7}, (S0Bytes){0, 0, -1, 9});
    assert_int_equal(both.lo, -3);
    assert_int_equal(both.hi, 9);
    memset(table, 5, sizeof table);
    form8_find(table, (S0Bytes){0, 0, -128, 127}, &form);
    check_form(&form, table);
    assert_int_equal(form.kind, FORM8_PRODUCT);
    form8_find(table, (S0Bytes){0, 0, 6, 127}, &form);
    assert_int_equal(form.kind, FORM8_TABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_computes),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_products_are_found),
        cmocka_unit_test(test_odd_inputs_are_found),
        WORK_TEST(test_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
