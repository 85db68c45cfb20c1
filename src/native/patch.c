/* Block by block of rows: kept, computed, patched. */
#include "native/patch.h"

#include <string.h>

/* Rows whose columns are kept together. */
enum { ROWS_A_BLOCK = 64 };

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

static void copy_column(const uint8_t *from, size_t from_pitch, uint8_t *to, size_t to_pitch, size_t rows,
                        size_t bytes) {
    for (size_t row = 0; row < rows; row++) {
        memcpy(to + row * to_pitch, from + row * from_pitch, bytes);
    }
}

/* The rows of `block`, at most ROWS_A_BLOCK. */
static void run_block(const Native *native, const NativeStack *block) {
    const S0Rows *rows = &block->rows;
    size_t bytes = native->bits / 8;
    Patches patches = patches_among(native, block->channel, rows->columns);
    uint8_t *scratch = block->scratch;
    for (size_t k = patches.first; k < patches.end; k++) {
        const uint8_t *x = (const uint8_t *)rows->x + (native->patch_column[k] - block->channel) * bytes;
        copy_column(x, rows->x_pitch_bytes, scratch + k * ROWS_A_BLOCK * bytes, bytes, rows->rows, bytes);
    }
    native->pixels(native, block);
    for (size_t k = patches.first; k < patches.end; k++) {
        uint8_t *kept = scratch + k * ROWS_A_BLOCK * bytes;
        S0Rows row = {.x = kept, .y = kept, .rows = 1, .columns = rows->rows};
        native->patch(native, &row, k);
        uint8_t *y = (uint8_t *)rows->y + (native->patch_column[k] - block->channel) * bytes;
        copy_column(kept, bytes, y, rows->y_pitch_bytes, rows->rows, bytes);
    }
}

static void run_blocks(const Native *native, const NativeStack *stack) {
    const S0Rows *rows = &stack->rows;
    NativeStack block = *stack;
    block.rows.streams = 0; /* what is patched is still to be written */
    for (size_t row = 0; row < rows->rows; row += ROWS_A_BLOCK) {
        block.rows.rows = rows->rows - row < ROWS_A_BLOCK ? rows->rows - row : ROWS_A_BLOCK;
        run_block(native, &block);
        block.rows.x = (const uint8_t *)block.rows.x + ROWS_A_BLOCK * rows->x_pitch_bytes;
        block.rows.y = (uint8_t *)block.rows.y + ROWS_A_BLOCK * rows->y_pitch_bytes;
    }
}

void patch_take(Native *native, const size_t *column, size_t count, NativeRun pixels, NativePatch patch) {
    native->patch_column = column;
    native->patch_count = count;
    native->pixels = pixels;
    native->patch = patch;
    native->scratch_bytes = (uint64_t)count * ROWS_A_BLOCK * (native->bits / 8);
    native->run = run_blocks;
}
