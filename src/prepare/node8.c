/* The channels of a node together: what they share, and which way they go where one call goes over all. */
#include "prepare/node8.h"

#include <string.h>

void node8_table(const Chain *chain, DType from, uint8_t table[FORM8_CODES]) {
    int32_t codes[FORM8_CODES];
    for (int i = 0; i < FORM8_CODES; i++) {
        codes[i] = from == DTYPE_I8 && i > INT8_MAX ? i - 256 : i;
    }
    chain_codes(chain, codes, FORM8_CODES);
    for (int i = 0; i < FORM8_CODES; i++) {
        table[i] = (uint8_t)codes[i];
    }
}

static const uint8_t *table_of(const Node8Reference *reference, size_t channel) {
    return reference->table + channel * FORM8_CODES;
}

static S0Bytes limits_of(const Node8Reference *reference, size_t channel) {
    return form8_limits(table_of(reference, channel), reference->x_flip, reference->y_flip);
}

/* All codes: a limit that no code passes costs operations. */
static S0Bytes no_limits(const Node8Reference *reference) {
    return (S0Bytes){reference->x_flip, reference->y_flip, INT8_MIN, INT8_MAX};
}

/* ---- products of many channels */

typedef struct {
    int16_t *multiplier, *addend, *divisor;
    int8_t *odd_code, *odd_step;
} Products;

static Products products_of(size_t channels, Arena *arena) {
    return (Products){.multiplier = arena_array(arena, int16_t, channels),
                      .addend = arena_array(arena, int16_t, channels),
                      .divisor = arena_array(arena, int16_t, channels),
                      .odd_code = arena_array(arena, int8_t, channels),
                      .odd_step = arena_array(arena, int8_t, channels)};
}

/* Of a form that is no product, some parameters that the kernel takes. */
static void products_set(Products *products, size_t c, const Form8 *form) {
    bool is_product = form->kind == FORM8_PRODUCT || form->kind == FORM8_ODD;
    products->multiplier[c] = is_product ? form->multiplier : 0;
    products->addend[c] = is_product ? form->addend : 0;
    products->divisor[c] = is_product ? form->divisor : 256;
    products->odd_code[c] = is_product ? form->odd_code : 0;
    products->odd_step[c] = is_product ? form->odd_step : 0;
}

static S0Products8 products_given(const Products *products, size_t channels, bool has_odd, S0Bytes bytes) {
    return (S0Products8){.channels = channels,
                         .multiplier = products->multiplier,
                         .addend = products->addend,
                         .divisor = products->divisor,
                         .odd_code = has_odd ? products->odd_code : NULL,
                         .odd_step = has_odd ? products->odd_step : NULL,
                         .bytes = bytes};
}

/* ---- channel first */

static const uint8_t *kept(const uint8_t *table, size_t count, Arena *arena) {
    uint8_t *copy = arena_alloc(arena, count, FORM8_CODES);
    memcpy(copy, table, count * FORM8_CODES);
    return copy;
}

static bool is_plain(const Form8 *form) {
    bool is_product = form->kind == FORM8_PRODUCT || form->kind == FORM8_ODD;
    return is_product && form->bytes.lo == INT8_MIN && form->bytes.hi == INT8_MAX;
}

/* Neighbours that are products without limits, for one call. */
static void join_products(Node8First *node, const Node8Reference *reference, Arena *arena) {
    Products given = products_of(node->channels, arena);
    size_t *together = arena_array(arena, size_t, node->channels);
    for (size_t c = node->channels; c-- > 0;) {
        products_set(&given, c, &node->form[c]);
        size_t behind = c + 1 < node->channels ? together[c + 1] : 0;
        together[c] = is_plain(&node->form[c]) ? 1 + behind : 0;
    }
    node->together = together;
    node->products = products_given(&given, node->channels, node->count[FORM8_ODD] > 0, no_limits(reference));
}

static void find_first(const Node8Reference *reference, size_t c, bool prefers_tables, Form8 *form) {
    const uint8_t *table = table_of(reference, c);
    if (form8_find_product(table, no_limits(reference), form)) {
        return;
    }
    S0Bytes limits = limits_of(reference, c);
    if (!prefers_tables) {
        form8_find(table, limits, form);
    } else if (!form8_find_product(table, limits, form)) {
        *form = (Form8){.kind = FORM8_TABLE, .bytes = limits, .table = table};
    }
}

void node8_first(const Node8Reference *reference, bool prefers_tables, Arena *arena, Node8First *node) {
    Form8 *form = arena_array(arena, Form8, reference->channels);
    *node = (Node8First){.channels = reference->channels, .form = form};
    for (size_t c = 0; c < reference->channels; c++) {
        find_first(reference, c, prefers_tables, &form[c]);
        node->count[form[c].kind]++;
        if (form[c].kind == FORM8_TABLE) {
            form[c].table = kept(form[c].table, 1, arena);
        }
    }
    join_products(node, reference, arena);
}

void node8_first_tables(const Node8Reference *reference, Arena *arena, Node8First *node) {
    Form8 *form = arena_array(arena, Form8, reference->channels);
    const uint8_t *table = kept(reference->table, reference->channels, arena);
    *node = (Node8First){.channels = reference->channels,
                         .form = form,
                         .together = arena_array(arena, size_t, reference->channels),
                         .count = {[FORM8_TABLE] = reference->channels}};
    for (size_t c = 0; c < reference->channels; c++) {
        form[c] = (Form8){.kind = FORM8_TABLE, .table = table + c * FORM8_CODES};
    }
}

/* ---- channel last */

/* What each channel is alone; products are kept at once, they are what nearly all are. */
typedef struct {
    const Node8Reference *reference;
    Arena *arena;
    S0Bytes bytes;
    uint8_t *kind; /* by channel */
    Products products;
} Channels;

static S0Bytes shared_limits(const Node8Reference *reference) {
    S0Bytes bytes = limits_of(reference, 0);
    for (size_t c = 1; c < reference->channels; c++) {
        bytes = form8_join(bytes, limits_of(reference, c));
    }
    return bytes;
}

static void channels_begin(const Node8Reference *reference, Arena *arena, Channels *channels) {
    size_t count = reference->channels;
    *channels = (Channels){.reference = reference,
                           .arena = arena,
                           .kind = arena_array(arena, uint8_t, count),
                           .products = products_of(count, arena)};
}

static void channels_find(Channels *channels, size_t c) {
    Form8 form;
    form8_find(table_of(channels->reference, c), channels->bytes, &form);
    channels->kind[c] = (uint8_t)form.kind;
    products_set(&channels->products, c, &form);
}

static bool is_patched(const Channels *channels, size_t c) {
    return channels->kind[c] == FORM8_ROUND || channels->kind[c] == FORM8_TABLE;
}

static void take_products(const Channels *channels, Node8Last *node) {
    node->products = products_given(&channels->products, node->channels, node->count[FORM8_ODD] > 0, channels->bytes);
}

static void take_patches(const Channels *channels, size_t count, Node8Last *node) {
    size_t *column = arena_array(channels->arena, size_t, count);
    uint8_t *table = arena_alloc(channels->arena, count, FORM8_CODES);
    for (size_t c = 0; c < node->channels; c++) {
        if (is_patched(channels, c)) {
            memcpy(table + node->patch_count * FORM8_CODES, table_of(channels->reference, c), FORM8_CODES);
            column[node->patch_count++] = c;
        }
    }
    node->way = NODE8_PATCHED;
    node->patch_column = column;
    node->tables = (S0Tables8){.channels = count, .table = table};
    take_products(channels, node);
}

/* False where a channel is no line in float32. */
static bool take_rounds(const Channels *channels, Node8Last *node) {
    float *scale = arena_array(channels->arena, float, node->channels);
    float *bias = arena_array(channels->arena, float, node->channels);
    Form8 form;
    for (size_t c = 0; c < node->channels; c++) {
        if (!form8_find_round(table_of(channels->reference, c), channels->bytes, &form)) {
            return false;
        }
        scale[c] = form.scale;
        bias[c] = form.bias;
    }
    node->way = NODE8_ROUNDS;
    node->rounds = (S0Rounds8){.channels = node->channels, .scale = scale, .bias = bias, .bytes = channels->bytes};
    return true;
}

static void take_tables(const Channels *channels, Node8Last *node) {
    node->way = NODE8_TABLES;
    node->tables = (S0Tables8){.channels = node->channels,
                               .table = kept(channels->reference->table, node->channels, channels->arena)};
}

/* Measured with AVX2, ns an element: product 0.04, round 0.09, table 0.38; a patched one 0.9 to 1.9 more. So patches
 * are worth it for one channel in 25 instead of rounds, one in 5 instead of tables. */
enum { PATCHED_NOT_ROUNDS = 25, PATCHED_NOT_TABLES = 5 };

static void choose(const Channels *channels, Node8Last *node) {
    size_t patches = node->count[FORM8_ROUND] + node->count[FORM8_TABLE];
    bool is_few = patches * PATCHED_NOT_ROUNDS <= node->channels, can_round = node->count[FORM8_TABLE] == 0;
    if (patches == 0) {
        take_products(channels, node);
    } else if (!is_few && can_round && take_rounds(channels, node)) {
        return;
    } else if (patches * PATCHED_NOT_TABLES <= node->channels) {
        take_patches(channels, patches, node);
    } else {
        take_tables(channels, node);
    }
}

/* All channels under these limits; false, at the first that is no product. */
static bool are_products(Channels *channels, S0Bytes bytes) {
    channels->bytes = bytes;
    for (size_t c = 0; c < channels->reference->channels; c++) {
        channels_find(channels, c);
        if (is_patched(channels, c)) {
            return false;
        }
    }
    return true;
}

void node8_last(const Node8Reference *reference, Arena *arena, Node8Last *node) {
    Channels channels;
    channels_begin(reference, arena, &channels);
    *node = (Node8Last){.way = NODE8_PRODUCTS, .channels = reference->channels};
    if (!are_products(&channels, no_limits(reference))) {
        channels.bytes = shared_limits(reference);
        for (size_t c = 0; c < reference->channels; c++) {
            channels_find(&channels, c);
        }
    }
    for (size_t c = 0; c < reference->channels; c++) {
        node->count[channels.kind[c]]++;
    }
    choose(&channels, node);
}

void node8_last_tables(const Node8Reference *reference, Arena *arena, Node8Last *node) {
    *node = (Node8Last){
        .way = NODE8_TABLES,
        .channels = reference->channels,
        .count = {[FORM8_TABLE] = reference->channels},
        .tables = {.channels = reference->channels, .table = kept(reference->table, reference->channels, arena)}};
}
