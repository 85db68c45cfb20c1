/* Matrices of each type of element, by the kernels. */
#include "native/native.h"

static S0Floats floats_at(const S0Floats *floats, uint64_t channel, size_t channels) {
    return (S0Floats){.channels = channels, .scale = floats->scale + channel, .bias = floats->bias + channel};
}

static size_t channels_of(const Native *native, const S0Rows *rows) {
    return native->walk.is_channel_last ? rows->columns : 1;
}

static void floats_matrix(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    S0Floats floats = floats_at(&native->floats, channel, channels_of(native, rows));
    native->kernels->f32(rows, &floats);
}

static void halves_matrix(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    S0Floats floats = floats_at(&native->floats, channel, channels_of(native, rows));
    native->kernels->f16(rows, &floats);
}

void native_take_floats(Native *native, const S0Floats *floats, bool is_half) {
    native->floats = *floats;
    native->matrix = is_half ? halves_matrix : floats_matrix;
}

static void nibbles_matrix(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    enum { CODES = 16 };
    S0Tables4 tables = {.channels = channels_of(native, rows), .table = native->nibbles.table + CODES * channel};
    native->kernels->table4(rows, &tables);
}

void native_take_nibbles(Native *native, const S0Tables4 *tables) {
    native->nibbles = *tables;
    native->matrix = nibbles_matrix;
}

/* ---- Codes of 8 bits, channel first */

static void codes8_plane(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    const Form8 *form = &native->first.form[channel];
    if (form->kind == FORM8_PRODUCT || form->kind == FORM8_ODD) {
        S0Products8 products = form8_products(form);
        native->kernels->product8(rows, &products);
    } else if (form->kind == FORM8_ROUND) {
        S0Rounds8 rounds = form8_rounds(form);
        native->kernels->round8(rows, &rounds);
    } else {
        S0Tables8 tables = form8_tables(form);
        native->kernels->table8(rows, &tables);
    }
}

/* ---- Channel last */

static void products_pixels(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    S0Products8 products = native->last.products;
    products.channels = rows->columns;
    products.multiplier += channel;
    products.addend += channel;
    products.divisor += channel;
    if (products.odd_code != NULL) {
        products.odd_code += channel;
        products.odd_step += channel;
    }
    native->kernels->product8(rows, &products);
}

static void rounds_pixels(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    S0Rounds8 rounds = native->last.rounds;
    rounds.channels = rows->columns;
    rounds.scale += channel;
    rounds.bias += channel;
    native->kernels->round8(rows, &rounds);
}

static void tables_pixels(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    (void)scratch;
    S0Tables8 tables = {.channels = rows->columns, .table = native->last.tables.table + FORM8_CODES * channel};
    native->kernels->table8(rows, &tables);
}

/* Rows whose patched columns are kept together. */
enum { ROWS_A_BLOCK = 64 };

/* Patched columns among those of a matrix. */
typedef struct {
    size_t first, end;
} Patches;

static Patches patches_among(const Node8Last *last, uint64_t channel, uint64_t count) {
    Patches patches = {0, 0};
    while (patches.first < last->patch_count && last->patch_column[patches.first] < channel) {
        patches.first++;
    }
    patches.end = patches.first;
    while (patches.end < last->patch_count && last->patch_column[patches.end] - channel < count) {
        patches.end++;
    }
    return patches;
}

/* The inputs of a column of the rows, one after the other. */
static void keep_column(const S0Rows *rows, size_t column, uint8_t *kept) {
    const uint8_t *x = (const uint8_t *)rows->x + column;
    for (size_t row = 0; row < rows->rows; row++) {
        kept[row] = x[row * rows->x_pitch_bytes];
    }
}

static void patch_column(const Native *native, const S0Rows *rows, size_t column, size_t patch, const uint8_t *kept) {
    S0Tables8 table = {.channels = 1, .table = node8_patch(&native->last, patch)};
    S0Rows one = {.x = kept,
                  .y = (uint8_t *)rows->y + column,
                  .rows = rows->rows,
                  .columns = 1,
                  .x_pitch_bytes = 1,
                  .y_pitch_bytes = rows->y_pitch_bytes};
    native->kernels->table8(&one, &table);
}

static void patched_block(const Native *native, const S0Rows *rows, uint64_t channel, uint8_t *kept) {
    Patches patches = patches_among(&native->last, channel, rows->columns);
    for (size_t k = patches.first; k < patches.end; k++) {
        keep_column(rows, native->last.patch_column[k] - channel, kept + k * ROWS_A_BLOCK);
    }
    products_pixels(native, rows, channel, NULL);
    for (size_t k = patches.first; k < patches.end; k++) {
        patch_column(native, rows, native->last.patch_column[k] - channel, k, kept + k * ROWS_A_BLOCK);
    }
}

static void patched_pixels(const Native *native, const S0Rows *rows, uint64_t channel, void *scratch) {
    S0Rows block = *rows;
    block.streams = 0; /* what is patched is still to be written */
    for (size_t row = 0; row < rows->rows; row += ROWS_A_BLOCK) {
        block.rows = rows->rows - row < ROWS_A_BLOCK ? rows->rows - row : ROWS_A_BLOCK;
        patched_block(native, &block, channel, scratch);
        block.x = (const uint8_t *)block.x + ROWS_A_BLOCK * rows->x_pitch_bytes;
        block.y = (uint8_t *)block.y + ROWS_A_BLOCK * rows->y_pitch_bytes;
    }
}

static void take_last(Native *native) {
    static const NativeMatrix MATRIX[] = {[NODE8_PRODUCTS] = products_pixels,
                                          [NODE8_ROUNDS] = rounds_pixels,
                                          [NODE8_PATCHED] = patched_pixels,
                                          [NODE8_TABLES] = tables_pixels};
    native->matrix = MATRIX[native->last.way];
    native->scratch_bytes = (uint64_t)native->last.patch_count * ROWS_A_BLOCK;
}

void native_take_codes8(Native *native, const Node8Reference *reference, Arena *arena) {
    if (native->walk.is_channel_last) {
        node8_last(reference, arena, &native->last);
        take_last(native);
    } else {
        node8_first(reference, arena, &native->first);
        native->matrix = codes8_plane;
    }
}
