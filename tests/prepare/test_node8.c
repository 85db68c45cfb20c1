/* Nodes of 8-bit codes, ready for the kernels: whatever way a node goes, each channel is what its reference is for all
 * 256 codes, seen by formula.h and by the kernels themselves; and nodes go the ways they should. */
#include "affine/stages.h"
#include "native/variant.h"
#include "prepare/channels.h"
#include "prepare/formula.h"

enum { MOST_CHANNELS = 160, NODES = 400 };

/* What a channel of a node is made of. */
typedef enum {
    MADE_LINE,  /* by chance, as models have them */
    MADE_TIES,  /* halves, to even: a line in float32 only */
    MADE_NOISE, /* nothing but a table */
    MADE_KINDS
} Made;

typedef struct {
    size_t channels;
    DType from, to;
    uint8_t table[MOST_CHANNELS * FORM8_CODES]; /* what is handed over */
    uint8_t copy[MOST_CHANNELS * FORM8_CODES];
} Node;

static Node8Reference reference_of(const Node *node) {
    return (Node8Reference){node->channels, node->table, channel_flip(node->from), channel_flip(node->to)};
}

/* ---- tables of chains */

/* The limits of a node are those of all its channels: here none but the type's. */
static bool draw_line(uint64_t *seed, const Node *node, Work *work, Channel *channel, Chain *chain) {
    static const ChannelSlopes slopes = {0.02, 4, true};
    arena_reset(&work->scratch);
    *channel = channel_draw(seed, (ChannelKind)random_below(seed, CHANNEL_MUL), &slopes);
    const Stage *stage = &channel->stage[0];
    bool is_limited = stage->kind == STAGE_CODE_SCALE && stage->integer.hi - stage->integer.lo < FORM8_CODES - 1;
    return !is_limited && channel->from == node->from && channel->to == node->to &&
           chain_bind(channel->stage, channel->count, S0_SEM_ONNX, &work->scratch, chain) == NULL;
}

static void test_tables(Work *work) {
    static const DType types[] = {DTYPE_I8, DTYPE_U8};
    uint64_t seed = 21;
    for (int k = 0; k < 200; k++) {
        Node node = {.from = types[k % 2], .to = types[k / 2 % 2]};
        Channel channel;
        Chain chain;
        uint8_t table[FORM8_CODES];
        while (!draw_line(&seed, &node, work, &channel, &chain)) {
        }
        node8_table(&chain, node.from, table);
        int32_t lo, hi;
        assert_true(stage_code_range(node.from, &lo, &hi));
        for (int32_t code = lo; code <= hi; code++) {
            assert_int_equal(table[(uint8_t)code], (uint8_t)chain_code(&chain, code));
        }
    }
}

/* ---- nodes by chance */

static void make_ties(uint64_t *seed, const Node *node, uint8_t *table) {
    S0Bytes flips = {.x_flip = channel_flip(node->from), .y_flip = channel_flip(node->to)};
    int offset = channel_between(seed, -40, 40);
    for (int code = 0; code < FORM8_CODES; code++) {
        table[code] = formula_out(flips, nearbyint(formula_in(flips, (uint8_t)code) * 0.5 + offset));
    }
}

static void make_noise(uint64_t *seed, uint8_t *table) {
    for (int code = 0; code < FORM8_CODES; code++) {
        table[code] = (uint8_t)random_below(seed, FORM8_CODES);
    }
}

static void make_channel(uint64_t *seed, Made made, Node *node, size_t c, Work *work) {
    uint8_t *table = node->table + c * FORM8_CODES;
    Channel channel;
    Chain chain;
    if (made == MADE_TIES) {
        make_ties(seed, node, table);
    } else if (made == MADE_NOISE) {
        make_noise(seed, table);
    } else {
        while (!draw_line(seed, node, work, &channel, &chain)) {
        }
        node8_table(&chain, node->from, table);
    }
}

/* `made` counts channels; they are mixed. */
static void make_node(uint64_t *seed, const size_t made[MADE_KINDS], Node *node, Work *work) {
    size_t left[MADE_KINDS];
    memcpy(left, made, sizeof left);
    node->channels = made[MADE_LINE] + made[MADE_TIES] + made[MADE_NOISE];
    node->from = random_below(seed, 2) != 0 ? DTYPE_I8 : DTYPE_U8;
    node->to = random_below(seed, 2) != 0 ? DTYPE_I8 : DTYPE_U8;
    for (size_t c = 0; c < node->channels; c++) {
        size_t kind = random_below(seed, MADE_KINDS);
        while (left[kind] == 0) {
            kind = (kind + 1) % MADE_KINDS;
        }
        left[kind]--;
        make_channel(seed, (Made)kind, node, c, work);
    }
    memcpy(node->copy, node->table, sizeof node->table);
}

/* ---- what a node makes */

static uint8_t made_by_form(const Form8 *form, uint8_t code) {
    S0Products8 products = form8_products(form);
    S0Rounds8 rounds = form8_rounds(form);
    switch (form->kind) {
    case FORM8_TABLE:
        return form8_tables(form).table[code];
    case FORM8_ROUND:
        return formula_round(&rounds, 0, code);
    default:
        assert_true(formula_takes_product(&products, 0));
        return formula_product(&products, 0, code);
    }
}

static void check_first(const Node *node, const Node8First *first) {
    size_t count[FORM8_KINDS] = {0};
    assert_int_equal(first->channels, node->channels);
    for (size_t c = 0; c < node->channels; c++) {
        count[first->form[c].kind]++;
        for (int code = 0; code < FORM8_CODES; code++) {
            assert_int_equal(made_by_form(&first->form[c], (uint8_t)code), node->copy[c * FORM8_CODES + (size_t)code]);
        }
    }
    assert_memory_equal(count, first->count, sizeof count);
}

/* By the column's table where it is patched; `patch` counts those passed. */
static uint8_t made_by_last(const Node8Last *last, size_t c, size_t patch, uint8_t code) {
    if (last->way == NODE8_TABLES) {
        return last->tables.table[c * FORM8_CODES + code];
    }
    if (last->way == NODE8_ROUNDS) {
        assert_true(formula_takes_round(&last->rounds, c));
        return formula_round(&last->rounds, c, code);
    }
    assert_true(formula_takes_product(&last->products, c));
    bool is_patched = patch < last->patch_count && last->patch_column[patch] == c;
    return is_patched ? node8_patch(last, patch)[code] : formula_product(&last->products, c, code);
}

static void check_last(const Node *node, const Node8Last *last) {
    size_t patch = 0;
    assert_int_equal(last->channels, node->channels);
    assert_true(last->patch_count == 0 || last->way == NODE8_PATCHED);
    for (size_t c = 0; c < node->channels; c++) {
        for (int code = 0; code < FORM8_CODES; code++) {
            assert_int_equal(made_by_last(last, c, patch, (uint8_t)code), node->copy[c * FORM8_CODES + (size_t)code]);
        }
        patch += patch < last->patch_count && last->patch_column[patch] == c;
    }
    assert_int_equal(patch, last->patch_count); /* rising, and each a channel */
    assert_int_equal(last->count[0] + last->count[1] + last->count[2] + last->count[3], node->channels);
    assert_int_equal(last->products.odd_code != NULL,
                     last->count[FORM8_ODD] > 0 && (last->way == NODE8_PRODUCTS || last->way == NODE8_PATCHED));
}

/* ---- what the kernels make */

/* All codes by all channels, channel last: row r is code r of each. */
static void run_last(const S0Kernels *kernels, const Node8Last *last, const uint8_t *x, uint8_t *y) {
    S0Rows rows = {x, y, FORM8_CODES, last->channels, last->channels, last->channels, 0};
    uint8_t column[FORM8_CODES];
    if (last->way == NODE8_TABLES) {
        kernels->table8(&rows, &last->tables);
    } else if (last->way == NODE8_ROUNDS) {
        kernels->round8(&rows, &last->rounds);
    } else {
        kernels->product8(&rows, &last->products);
    }
    for (size_t k = 0; k < last->patch_count; k++) {
        for (int row = 0; row < FORM8_CODES; row++) {
            column[row] = (uint8_t)row;
        }
        S0Tables8 table = {1, node8_patch(last, k)};
        S0Rows patch = {column, y + last->patch_column[k], FORM8_CODES, 1, 1, last->channels, 0};
        kernels->table8(&patch, &table);
    }
}

static void run_first(const S0Kernels *kernels, const Form8 *form, const uint8_t *x, uint8_t *y) {
    S0Rows plane = {x, y, 1, FORM8_CODES, FORM8_CODES, FORM8_CODES, 0};
    S0Products8 products = form8_products(form);
    S0Rounds8 rounds = form8_rounds(form);
    S0Tables8 tables = form8_tables(form);
    switch (form->kind) {
    case FORM8_TABLE:
        kernels->table8(&plane, &tables);
        return;
    case FORM8_ROUND:
        kernels->round8(&plane, &rounds);
        return;
    default:
        kernels->product8(&plane, &products);
    }
}

static void check_kernels(const S0Kernels *kernels, const Node *node, const Node8First *first, const Node8Last *last) {
    static uint8_t x[MOST_CHANNELS * FORM8_CODES], y[MOST_CHANNELS * FORM8_CODES];
    for (size_t i = 0; i < node->channels * FORM8_CODES; i++) {
        x[i] = (uint8_t)(i / node->channels);
    }
    run_last(kernels, last, x, y);
    for (size_t i = 0; i < node->channels * FORM8_CODES; i++) {
        assert_int_equal(y[i], node->copy[i % node->channels * FORM8_CODES + i / node->channels]);
    }
    for (int code = 0; code < FORM8_CODES; code++) {
        x[code] = (uint8_t)code;
    }
    for (size_t c = 0; c < node->channels; c++) {
        run_first(kernels, &first->form[c], x, y);
        assert_memory_equal(y, node->copy + c * FORM8_CODES, FORM8_CODES);
    }
}

static void check_all_kernels(const Node *node, const Node8First *first, const Node8Last *last) {
    for (const S0Kernels *const *kernels = variant_list(); *kernels != NULL; kernels++) {
        check_kernels(*kernels, node, first, last);
    }
}

/* What it was made from is overwritten before it is looked at. */
static Node8Way run_node(Node *node, Work *work) {
    Node8First first, without_rounds;
    Node8Last last;
    Node8Reference reference = reference_of(node);
    arena_reset(&work->keep);
    node8_first(&reference, false, &work->keep, &first);
    node8_first(&reference, true, &work->keep, &without_rounds);
    node8_last(&reference, &work->keep, &last);
    memset(node->table, 0x5A, sizeof node->table);
    check_first(node, &first);
    check_first(node, &without_rounds);
    check_last(node, &last);
    check_all_kernels(node, &first, &last);
    check_all_kernels(node, &without_rounds, &last);
    assert_int_equal(without_rounds.count[FORM8_ROUND], 0);
    assert_int_equal(without_rounds.count[FORM8_TABLE], first.count[FORM8_TABLE] + first.count[FORM8_ROUND]);
    return last.way;
}

static void test_nodes(Work *work) {
    static Node node;
    uint64_t seed = 77;
    size_t ways[4] = {0};
    for (int k = 0; k < NODES; k++) {
        size_t made[MADE_KINDS] = {1 + random_below(&seed, 60)};
        made[MADE_TIES] = random_below(&seed, 2) * random_below(&seed, 10);
        made[MADE_NOISE] = random_below(&seed, 2) * random_below(&seed, 20);
        make_node(&seed, made, &node, work);
        ways[run_node(&node, work)]++;
    }
    print_message("%zu products, %zu rounds, %zu patched, %zu tables\n", ways[0], ways[1], ways[2], ways[3]);
    for (int way = 0; way < 4; way++) {
        assert_true(ways[way] > 20);
    }
}

static void test_ways(Work *work) {
    static const struct {
        size_t made[MADE_KINDS];
        Node8Way way;
    } rows[] = {
        {{1, 0, 0}, NODE8_PRODUCTS},  {{150, 0, 0}, NODE8_PRODUCTS}, {{0, 1, 0}, NODE8_ROUNDS},
        {{0, 40, 0}, NODE8_ROUNDS},   {{40, 10, 0}, NODE8_ROUNDS},   {{100, 1, 0}, NODE8_PATCHED},
        {{40, 0, 10}, NODE8_PATCHED}, {{0, 40, 1}, NODE8_TABLES},    {{0, 0, 1}, NODE8_TABLES},
        {{10, 10, 10}, NODE8_TABLES}, {{2, 0, 40}, NODE8_TABLES},
    };
    static Node node;
    uint64_t seed = 5;
    for (size_t r = 0; r < COUNT(rows); r++) {
        make_node(&seed, rows[r].made, &node, work);
        assert_int_equal(run_node(&node, work), rows[r].way);
    }
}

/* A channel of its own limits is a product where with those of others it is none: the first is cut off at 10. */
static void test_limits(Work *work) {
    static Node node = {.channels = 6, .from = DTYPE_I8, .to = DTYPE_I8};
    for (int i = 0; i < 6 * FORM8_CODES; i++) {
        int x = (int8_t)i;
        node.table[i] = (uint8_t)(i < FORM8_CODES && x > 10 ? 10 : x);
    }
    memcpy(node.copy, node.table, sizeof node.table);
    Node8First first;
    Node8Last last;
    Node8Reference reference = reference_of(&node);
    node8_first(&reference, false, &work->keep, &first);
    node8_last(&reference, &work->keep, &last);
    assert_int_equal(first.count[FORM8_PRODUCT], 6);
    assert_int_equal(last.count[FORM8_PRODUCT], 5);
    assert_int_equal(last.products.bytes.lo, -128);
    assert_int_equal(last.products.bytes.hi, 127);
    check_first(&node, &first);
    check_last(&node, &last);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_tables),
        WORK_TEST(test_ways),
        WORK_TEST(test_limits),
        WORK_TEST(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
