/* Stacks of matrices of each type of element, by the kernels.
 *
 * Channel first, each plane is one call with the parameters of its channel: planes may be short, so that little is done
 * between two calls. */
#include "native/patch.h"

#include <string.h>

static void next_plane(S0Rows *rows, uint64_t plane_bytes) {
    rows->x = (const uint8_t *)rows->x + plane_bytes;
    rows->y = (uint8_t *)rows->y + plane_bytes;
}

/* Rows of several pixels each, from pixel `first` of the stack on. Field by field: what was just written by eights of
 * bytes is slow to read by more. */
static void some_rows(const Native *native, const NativeStack *stack, size_t first, size_t rows, size_t pixels) {
    const Wide *wide = &native->wide;
    NativeStack some = {.rows = {.x = (const uint8_t *)stack->rows.x + first * wide->pixel_bytes,
                                 .y = (uint8_t *)stack->rows.y + first * wide->pixel_bytes,
                                 .rows = rows,
                                 .columns = pixels * wide->block,
                                 .x_pitch_bytes = pixels * wide->pixel_bytes,
                                 .y_pitch_bytes = pixels * wide->pixel_bytes,
                                 .streams = stack->rows.streams},
                        .channel = stack->channel * wide->pixels,
                        .planes = 1};
    native->rows(native, &some);
}

/* Channel last: `rows` over the pixels of a stack, several in one where they touch, then over those that are left. */
static void wide(const Native *native, const NativeStack *stack) {
    size_t pixels = stack->rows.rows, together = native->wide.pixels, left = pixels % together;
    if (stack->rows.columns != native->wide.block) { /* the last block: they do not touch */
        NativeStack some = *stack;
        some.channel *= together;
        native->rows(native, &some);
        return;
    }
    if (pixels >= together) {
        some_rows(native, stack, 0, pixels / together, together);
    }
    if (left > 0) {
        some_rows(native, stack, pixels - left, 1, left);
    }
}

/* What `run` or `pixels` is. */
static NativeRun take_rows(Native *native, NativeRun rows) {
    native->rows = rows;
    return native->wide.pixels > 1 ? wide : rows;
}

/* ---- Reals */

static S0Floats floats_at(const Native *native, uint64_t channel, uint64_t channels) {
    return (S0Floats){
        .channels = (size_t)channels, .scale = native->floats.scale + channel, .bias = native->floats.bias + channel};
}

static void single_rows(const Native *native, const NativeStack *stack) {
    S0Floats floats = floats_at(native, stack->channel, stack->rows.columns);
    native->kernels->f32(&stack->rows, &floats);
}

static void half_rows(const Native *native, const NativeStack *stack) {
    S0Floats floats = floats_at(native, stack->channel, stack->rows.columns);
    native->kernels->f16(&stack->rows, &floats);
}

static void single_planes(const Native *native, const NativeStack *stack) {
    S0Floats floats = floats_at(native, stack->channel, stack->planes);
    native->kernels->f32_planes(&stack->rows, (size_t)stack->plane_bytes, &floats);
}

static void half_planes(const Native *native, const NativeStack *stack) {
    S0Rows rows = stack->rows;
    S0Floats floats = floats_at(native, stack->channel, 1);
    for (uint64_t plane = 0; plane < stack->planes; plane++) {
        native->kernels->f16(&rows, &floats);
        next_plane(&rows, stack->plane_bytes);
        floats.scale++;
        floats.bias++;
    }
}

void native_take_floats(Native *native, const S0Floats *floats, bool is_half, Arena *arena) {
    native->floats = *floats;
    if (!native->walk.is_channel_last) {
        native->run = is_half ? half_planes : single_planes;
        return;
    }
    native->floats.scale = wide_array(&native->wide, floats->scale, sizeof(float), arena);
    native->floats.bias = wide_array(&native->wide, floats->bias, sizeof(float), arena);
    native->run = take_rows(native, is_half ? half_rows : single_rows);
}

/* ---- Codes of 4 bits */

enum { CODES4 = 16 };

static void nibbles(const Native *native, const NativeStack *stack) {
    S0Rows rows = stack->rows;
    S0Tables4 tables = {.channels = native->walk.is_channel_last ? rows.columns : 1,
                        .table = native->nibbles.table + CODES4 * stack->channel};
    for (uint64_t plane = 0; plane < stack->planes; plane++) {
        native->kernels->table4(&rows, &tables);
        next_plane(&rows, stack->plane_bytes);
        tables.table += CODES4;
    }
}

void native_take_nibbles(Native *native, const S0Tables4 *tables) {
    native->nibbles = *tables;
    native->run = nibbles;
}

/* ---- Codes of 8 bits, channel first */

static void plane8(const S0Kernels *kernels, const S0Rows *rows, const Form8 *form) {
    if (form->kind == FORM8_PRODUCT || form->kind == FORM8_ODD) {
        S0Products8 products = form8_products(form);
        kernels->product8(rows, &products);
    } else if (form->kind == FORM8_ROUND) {
        S0Rounds8 rounds = form8_rounds(form);
        kernels->round8(rows, &rounds);
    } else {
        S0Tables8 tables = form8_tables(form);
        kernels->table8(rows, &tables);
    }
}

static S0Products8 products_at(const S0Products8 *products, uint64_t channel, size_t channels) {
    S0Products8 given = *products;
    given.channels = channels;
    given.multiplier += channel;
    given.addend += channel;
    given.divisor += channel;
    if (given.odd_code != NULL) {
        given.odd_code += channel;
        given.odd_step += channel;
    }
    return given;
}

/* As many as are computed alike, at most `planes`; how many these were. */
static size_t some_planes8(const Native *native, const S0Rows *rows, uint64_t channel, uint64_t planes,
                           uint64_t plane_bytes) {
    const Node8First *node = &native->first;
    size_t together = node->together[channel];
    if (together == 0) {
        plane8(native->kernels, rows, &node->form[channel]);
        return 1;
    }
    together = together < planes ? together : (size_t)planes;
    S0Products8 given = products_at(&node->products, channel, together);
    native->kernels->product8_planes(rows, (size_t)plane_bytes, &given);
    return together;
}

static void planes8(const Native *native, const NativeStack *stack) {
    S0Rows rows = stack->rows;
    for (uint64_t plane = 0; plane < stack->planes;) {
        size_t count = some_planes8(native, &rows, stack->channel + plane, stack->planes - plane, stack->plane_bytes);
        next_plane(&rows, count * stack->plane_bytes);
        plane += count;
    }
}

/* ---- Codes of 8 bits, channel last */

static void product_rows(const Native *native, const NativeStack *stack) {
    S0Products8 given = products_at(&native->last.products, stack->channel, stack->rows.columns);
    native->kernels->product8(&stack->rows, &given);
}

static void round_rows(const Native *native, const NativeStack *stack) {
    S0Rounds8 given = native->last.rounds;
    given.channels = stack->rows.columns;
    given.scale += stack->channel;
    given.bias += stack->channel;
    native->kernels->round8(&stack->rows, &given);
}

/* A table is more than a row: none is kept twice. */
static void tables(const Native *native, const NativeStack *stack) {
    S0Tables8 given = {.channels = stack->rows.columns,
                       .table = native->last.tables.table + FORM8_CODES * stack->channel};
    native->kernels->table8(&stack->rows, &given);
}

static void patch_by_table(const Native *native, const S0Rows *row, size_t patch) {
    S0Tables8 table = {.channels = 1, .table = node8_patch(&native->last, patch)};
    native->kernels->table8(row, &table);
}

static void widen_products(const Wide *wide, S0Products8 *products, Arena *arena) {
    products->multiplier = wide_array(wide, products->multiplier, sizeof(int16_t), arena);
    products->addend = wide_array(wide, products->addend, sizeof(int16_t), arena);
    products->divisor = wide_array(wide, products->divisor, sizeof(int16_t), arena);
    if (products->odd_code != NULL) {
        products->odd_code = wide_array(wide, products->odd_code, sizeof(int8_t), arena);
        products->odd_step = wide_array(wide, products->odd_step, sizeof(int8_t), arena);
    }
}

static void take_last8(Native *native, Arena *arena) {
    Node8Last *last = &native->last;
    if (last->way == NODE8_TABLES) {
        native->run = tables;
        return;
    }
    if (last->way == NODE8_ROUNDS) {
        last->rounds.scale = wide_array(&native->wide, last->rounds.scale, sizeof(float), arena);
        last->rounds.bias = wide_array(&native->wide, last->rounds.bias, sizeof(float), arena);
        native->run = take_rows(native, round_rows);
        return;
    }
    widen_products(&native->wide, &last->products, arena);
    native->run = take_rows(native, product_rows);
    if (last->way == NODE8_PATCHED) {
        patch_take(native, last->patch_column, last->patch_count, native->run, patch_by_table);
    }
}

/* Rows that do not touch, of fewer codes than a vector has: a look-up each is faster there. */
static bool has_short_rows(const Walk *walk) {
    enum { VECTOR = 32 };
    return walk->column.extent < VECTOR && walk->row.extent > 1 && walk->row.stride_bits != walk->column.extent * 8;
}

void native_take_codes8(Native *native, const Node8Reference *reference, Arena *arena) {
    bool is_short = has_short_rows(&native->walk);
    if (native->walk.is_channel_last) {
        (is_short ? node8_last_tables : node8_last)(reference, arena, &native->last);
        take_last8(native, arena);
    } else {
        if (is_short) {
            node8_first_tables(reference, arena, &native->first);
        } else {
            node8_first(reference, native->kernels->table8_is_fast, arena, &native->first);
        }
        native->run = planes8;
    }
}

/* ---- Codes of 16 bits */

/* Codes that a chain takes at a time. */
enum { CODES_A_BLOCK = 256 };

static void chain_row(const Chain *chain, const uint8_t *x, uint8_t *y, size_t count) {
    int32_t code[CODES_A_BLOCK];
    int16_t narrow[CODES_A_BLOCK];
    for (size_t first = 0; first < count; first += CODES_A_BLOCK) {
        size_t block = count - first < CODES_A_BLOCK ? count - first : CODES_A_BLOCK;
        memcpy(narrow, x + first * sizeof *narrow, block * sizeof *narrow);
        for (size_t k = 0; k < block; k++) {
            code[k] = narrow[k];
        }
        chain_codes(chain, code, (uint32_t)block);
        for (size_t k = 0; k < block; k++) {
            narrow[k] = (int16_t)code[k];
        }
        memcpy(y + first * sizeof *narrow, narrow, block * sizeof *narrow);
    }
}

static void chain_rows(const Chain *chain, const S0Rows *rows) {
    for (size_t row = 0; row < rows->rows; row++) {
        chain_row(chain, (const uint8_t *)rows->x + row * rows->x_pitch_bytes,
                  (uint8_t *)rows->y + row * rows->y_pitch_bytes, rows->columns);
    }
}

static void plane16(const Native *native, const S0Rows *rows, uint64_t channel) {
    const Form16 *form = &native->codes16.form[channel];
    if (form->kind == FORM16_REAL) {
        S0Reals16 reals = form16_reals(form);
        native->kernels->real16(rows, &reals);
    } else if (form->kind == FORM16_QUOTIENT) {
        S0Quotients16 quotients = form16_quotients(form);
        native->kernels->quotient16(rows, &quotients);
    } else if (form->kind == FORM16_FIXED) {
        S0Fixed16 fixed = form16_fixed(form);
        native->kernels->fixed16(rows, &fixed);
    } else {
        chain_rows(&native->codes16.chain[channel], rows);
    }
}

static S0Reals16 reals_at(S0Reals16 given, uint64_t channel, size_t channels) {
    given.channels = channels;
    given.weight += channel;
    given.offset += channel;
    given.scale += channel;
    given.bias += channel;
    return given;
}

/* As many as are computed alike, at most `planes`; how many these were. */
static size_t some_planes16(const Native *native, const S0Rows *rows, uint64_t channel, uint64_t planes,
                            uint64_t plane_bytes) {
    const Node16 *node = &native->codes16;
    size_t together = node->together[channel];
    if (together == 0) {
        plane16(native, rows, channel);
        return 1;
    }
    together = together < planes ? together : (size_t)planes;
    S0Reals16 given = reals_at(node->planes, channel, together);
    given.codes = node->form[channel].codes;
    native->kernels->real16_planes(rows, (size_t)plane_bytes, &given);
    return together;
}

static void planes16(const Native *native, const NativeStack *stack) {
    S0Rows rows = stack->rows;
    for (uint64_t plane = 0; plane < stack->planes;) {
        size_t count = some_planes16(native, &rows, stack->channel + plane, stack->planes - plane, stack->plane_bytes);
        next_plane(&rows, count * stack->plane_bytes);
        plane += count;
    }
}

static void real_rows(const Native *native, const NativeStack *stack) {
    S0Reals16 given = reals_at(native->codes16.reals, stack->channel, stack->rows.columns);
    native->kernels->real16(&stack->rows, &given);
}

static void quotient_rows(const Native *native, const NativeStack *stack) {
    S0Quotients16 given = {.reals = reals_at(native->codes16.quotients.reals, stack->channel, stack->rows.columns),
                           .divisor = native->codes16.quotients.divisor + stack->channel};
    native->kernels->quotient16(&stack->rows, &given);
}

static void fixed_rows(const Native *native, const NativeStack *stack) {
    S0Fixed16 given = native->codes16.fixed;
    given.channels = stack->rows.columns;
    given.weight += stack->channel;
    given.offset += stack->channel;
    given.factor += stack->channel;
    native->kernels->fixed16(&stack->rows, &given);
}

/* All columns are patched. */
static void nothing(const Native *native, const NativeStack *stack) {
    (void)native;
    (void)stack;
}

static void patch_by_form(const Native *native, const S0Rows *row, size_t patch) {
    plane16(native, row, native->patch_column[patch]);
}

static void widen_reals(const Wide *wide, S0Reals16 *reals, Arena *arena) {
    reals->weight = wide_array(wide, reals->weight, sizeof(float), arena);
    reals->offset = wide_array(wide, reals->offset, sizeof(float), arena);
    reals->scale = wide_array(wide, reals->scale, sizeof(float), arena);
    reals->bias = wide_array(wide, reals->bias, sizeof(float), arena);
}

static void widen_fixed(const Wide *wide, S0Fixed16 *fixed, Arena *arena) {
    fixed->weight = wide_array(wide, fixed->weight, sizeof(int32_t), arena);
    fixed->offset = wide_array(wide, fixed->offset, sizeof(int32_t), arena);
    fixed->factor = wide_array(wide, fixed->factor, sizeof(S0Multiplier), arena);
}

/* What computes the columns that are not patched. */
static NativeRun take_shared16(Native *native, Arena *arena) {
    const Wide *given = &native->wide;
    Node16 *node = &native->codes16;
    switch (node->shared) {
    case FORM16_REAL:
        widen_reals(given, &node->reals, arena);
        return take_rows(native, real_rows);
    case FORM16_QUOTIENT:
        widen_reals(given, &node->quotients.reals, arena);
        node->quotients.divisor = wide_array(given, node->quotients.divisor, sizeof(float), arena);
        return take_rows(native, quotient_rows);
    case FORM16_FIXED:
        widen_fixed(given, &node->fixed, arena);
        return take_rows(native, fixed_rows);
    default:
        return nothing;
    }
}

static void take_last16(Native *native, Arena *arena) {
    const Node16 *node = &native->codes16;
    native->run = take_shared16(native, arena);
    if (node->patch_count > 0) {
        patch_take(native, node->patch_column, node->patch_count, native->run, patch_by_form);
    }
}

void native_take_codes16(Native *native, const Chain *chain, size_t channels, Arena *arena) {
    node16_find(chain, channels, arena, &native->codes16);
    if (native->walk.is_channel_last) {
        take_last16(native, arena);
    } else {
        node16_join(&native->codes16, arena);
        native->run = planes16;
    }
}
