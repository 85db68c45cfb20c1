/* Channel last: the pixels of a stack, several in one row where they touch. */
#include "native/stack.h"

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

/* Rows of `together` pixels, and one of those that are left. */
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

NativeRun stack_take_rows(Native *native, NativeRun rows) {
    native->rows = rows;
    return native->wide.pixels > 1 ? wide : rows;
}
