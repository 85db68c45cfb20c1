/* Stacks of codes of 8 bits, and of packed codes of 4. */
#include "native/patch.h"
#include "native/stack.h"

/* ---- Codes of 8 bits, channel first */

static void plane8(const Native *native, const S0Rows *rows, uint64_t channel) {
    const S0Kernels *kernels = native->kernels;
    const Form8 *form = &native->first.form[channel];
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

static void some_planes8(const Native *native, const S0Rows *rows, uint64_t channel, size_t count,
                         uint64_t plane_bytes) {
    S0Products8 given = products_at(&native->first.products, channel, count);
    native->kernels->product8_planes(rows, (size_t)plane_bytes, &given);
}

static void planes8(const Native *native, const NativeStack *stack) {
    stack_planes(native, stack, native->first.together, plane8, some_planes8);
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
        native->run = stack_take_rows(native, round_rows);
        return;
    }
    widen_products(&native->wide, &last->products, arena);
    native->run = stack_take_rows(native, product_rows);
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

/* ---- Codes of 4 bits */

enum { CODES4 = 16 };

static void nibbles(const Native *native, const NativeStack *stack) {
    S0Rows rows = stack->rows;
    S0Tables4 tables = {.channels = native->walk.is_channel_last ? rows.columns : 1,
                        .table = native->nibbles.table + CODES4 * stack->channel};
    for (uint64_t plane = 0; plane < stack->planes; plane++) {
        native->kernels->table4(&rows, &tables);
        stack_next_plane(&rows, stack->plane_bytes);
        tables.table += CODES4;
    }
}

void native_take_nibbles(Native *native, const S0Tables4 *tables) {
    native->nibbles = *tables;
    native->run = nibbles;
}
