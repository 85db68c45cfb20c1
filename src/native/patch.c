/* Block by block of rows: kept, computed, patched. */
#include "native/patch.h"

#include <string.h>

/* Rows whose columns are kept together, at most, or so many of several pixels each; one row of a block's columns is
 * kept whatever they are. */
enum { ROWS_A_BLOCK = 64, WIDE_A_BLOCK = 8, COLUMNS_A_BLOCK = 2048, KEPT_BYTES = 4096 };

/* Some of the patched columns. */
typedef struct {
    size_t first, end;
} Patches;

static Patches patches_among(const Native *native, uint64_t channel, uint64_t count) {
    Patches patches = {0, 0};
    while (patches.first < native->patch_count && native->patch_column[patches.first] < channel) {
        patches.first++;
    }
    patches.end = patches.first;
    while (patches.end < native->patch_count && native->patch_column[patches.end] - channel < count) {
        patches.end++;
    }
    return patches;
}

/* Codes of one byte or of two: copies of a size that is known are no calls. */
static void copy_column(const uint8_t *from, size_t from_pitch, uint8_t *to, size_t to_pitch, size_t rows,
                        size_t bytes) {
    for (size_t row = 0; row < rows; row++) {
        if (bytes == 1) {
            to[row * to_pitch] = from[row * from_pitch];
        } else {
            memcpy(to + row * to_pitch, from + row * from_pitch, sizeof(int16_t));
        }
    }
}

/* The rows of `block` are so few that the columns fit `kept`. */
static void run_block(const Native *native, const NativeStack *block, Patches patches, uint8_t *kept) {
    const S0Rows *rows = &block->rows;
    size_t bytes = native->bits / 8, column_bytes = rows->rows * bytes;
    for (size_t k = patches.first; k < patches.end; k++) {
        const uint8_t *x = (const uint8_t *)rows->x + (native->patch_column[k] - block->channel) * bytes;
        copy_column(x, rows->x_pitch_bytes, kept + (k - patches.first) * column_bytes, bytes, rows->rows, bytes);
    }
    native->pixels(native, block);
    for (size_t k = patches.first; k < patches.end; k++) {
        uint8_t *column = kept + (k - patches.first) * column_bytes;
        S0Rows row = {.x = column, .y = column, .rows = 1, .columns = rows->rows};
        native->patch(native, &row, k);
        uint8_t *y = (uint8_t *)rows->y + (native->patch_column[k] - block->channel) * bytes;
        copy_column(column, bytes, y, rows->y_pitch_bytes, rows->rows, bytes);
    }
}

/* With so many patches. */
static size_t rows_of_block(const Native *native, size_t count) {
    size_t together = native->wide.pixels, most = KEPT_BYTES / (count * (native->bits / 8));
    size_t wanted = together * WIDE_A_BLOCK > ROWS_A_BLOCK ? together * WIDE_A_BLOCK : ROWS_A_BLOCK;
    size_t rows = most < wanted ? most : wanted;
    return rows > together ? rows - rows % together : rows;
}

/* At most COLUMNS_A_BLOCK columns. */
static void run_blocks(const Native *native, const NativeStack *stack) {
    const S0Rows *rows = &stack->rows;
    union {
        uint8_t bytes[KEPT_BYTES];
        int16_t code[KEPT_BYTES / sizeof(int16_t)];
    } kept;
    NativeStack block = *stack;
    Patches patches = patches_among(native, stack->channel, rows->columns);
    size_t count = patches.end - patches.first;
    size_t most = count == 0 ? rows->rows : rows_of_block(native, count);
    block.rows.streams = count == 0 && rows->streams; /* what is patched is still to be written */
    for (size_t row = 0; row < rows->rows; row += most) {
        block.rows.rows = rows->rows - row < most ? rows->rows - row : most;
        run_block(native, &block, patches, kept.bytes);
        block.rows.x = (const uint8_t *)block.rows.x + most * rows->x_pitch_bytes;
        block.rows.y = (uint8_t *)block.rows.y + most * rows->y_pitch_bytes;
    }
}

static void run_patched(const Native *native, const NativeStack *stack) {
    size_t columns = stack->rows.columns, bytes = native->bits / 8;
    for (size_t first = 0; first < columns; first += COLUMNS_A_BLOCK) {
        NativeStack some = *stack;
        some.rows.columns = columns - first < COLUMNS_A_BLOCK ? columns - first : COLUMNS_A_BLOCK;
        some.rows.x = (const uint8_t *)some.rows.x + first * bytes;
        some.rows.y = (uint8_t *)some.rows.y + first * bytes;
        some.channel += first;
        run_blocks(native, &some);
    }
}

void patch_take(Native *native, const size_t *column, size_t count, NativeRun pixels, NativePatch patch) {
    native->patch_column = column;
    native->patch_count = count;
    native->pixels = pixels;
    native->patch = patch;
    native->run = run_patched;
}
