/* There and back: some elements of a row at a time, on the stack. */
#include "native/bounce.h"

#include <string.h>

enum { ELEMENTS = 512, MOST_BYTES = 4, NIBBLE = 4 };

/* Aligned as kernels want their elements. */
typedef union {
    uint8_t bytes[ELEMENTS * MOST_BYTES];
    float real[ELEMENTS];
} Elements;

static uint8_t nibble_at(const uint8_t *x, uint64_t bit) {
    return (uint8_t)(x[bit / 8] >> bit % 8 & 15);
}

static void put_nibble(uint8_t *y, uint64_t bit, uint8_t code) {
    unsigned kept = y[bit / 8] & ~(15U << bit % 8);
    y[bit / 8] = (uint8_t)(kept | (unsigned)code << bit % 8);
}

static void take(const uint8_t *x, uint64_t bit, uint32_t bits, size_t count, Elements *elements) {
    if (bits != NIBBLE) {
        memcpy(elements->bytes, x + bit / 8, count * bits / 8);
        return;
    }
    memset(elements->bytes, 0, (count + 1) / 2);
    for (size_t k = 0; k < count; k++) {
        put_nibble(elements->bytes, k * NIBBLE, nibble_at(x, bit + k * NIBBLE));
    }
}

static void put(uint8_t *y, uint64_t bit, uint32_t bits, size_t count, const Elements *elements) {
    if (bits != NIBBLE) {
        memcpy(y + bit / 8, elements->bytes, count * bits / 8);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        put_nibble(y, bit + k * NIBBLE, nibble_at(elements->bytes, k * NIBBLE));
    }
}

static void bounce_row(const Native *native, const BounceBits *at, uint64_t bit, size_t columns, uint64_t channel) {
    Elements elements;
    for (size_t first = 0; first < columns; first += ELEMENTS) {
        size_t count = columns - first < ELEMENTS ? columns - first : ELEMENTS;
        uint64_t begin = bit + (uint64_t)first * native->bits;
        NativeStack some = {.rows = {.x = &elements, .y = &elements, .rows = 1, .columns = count},
                            .channel = channel + (native->walk.is_channel_last ? first : 0),
                            .planes = 1};
        take(at->x, begin, native->bits, count, &elements);
        native->run(native, &some);
        put(at->y, begin, native->bits, count, &elements);
    }
}

void bounce_run(const Native *native, const NativeStack *stack, const BounceBits *bits) {
    for (uint64_t plane = 0; plane < stack->planes; plane++) {
        for (size_t row = 0; row < stack->rows.rows; row++) {
            bounce_row(native, bits, bits->bit + plane * bits->plane_bits + row * bits->row_bits, stack->rows.columns,
                       stack->channel + plane);
        }
    }
}
