/* One element at a time: taken out, computed as a matrix of one, put back. */
#include "native/scatter.h"

#include <string.h>

/* Room for an element, aligned as kernels want it. Of a code of 4 bits the low half counts. */
typedef union {
    uint8_t bytes[4];
    float real;
} Element;

static Element take(const Native *native, const uint8_t *x, uint64_t bit) {
    Element element = {{0}};
    if (native->bits < 8) {
        element.bytes[0] = (uint8_t)(x[bit / 8] >> bit % 8 & ((1U << native->bits) - 1));
    } else {
        memcpy(element.bytes, x + bit / 8, native->bits / 8);
    }
    return element;
}

static void put(const Native *native, uint8_t *y, uint64_t bit, Element element) {
    if (native->bits < 8) {
        unsigned mask = ((1U << native->bits) - 1) << bit % 8;
        y[bit / 8] = (uint8_t)((y[bit / 8] & ~mask) | ((unsigned)element.bytes[0] << bit % 8 & mask));
    } else {
        memcpy(y + bit / 8, element.bytes, native->bits / 8);
    }
}

void scatter_run(const Native *native, const uint8_t *x, uint8_t *y) {
    uint64_t index[DIM_COUNT] = {0};
    if (layout_elements(native->view.shape.extent) == 0) {
        return;
    }
    do {
        uint64_t bit = view_address_bits(&native->view, index);
        Element element = take(native, x, bit);
        NativeStack stack = {
            .rows = {.x = &element, .y = &element, .rows = 1, .columns = 1}, .channel = index[DIM_C], .planes = 1};
        native->run(native, &stack);
        put(native, y, bit, element);
    } while (view_next_index(&native->view.shape, index));
}
