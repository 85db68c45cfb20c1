/* Named shapes. */
#include "layout/shape.h"

LayoutShape layout_shape(uint32_t bits, uint32_t rank) {
    return (LayoutShape){.extent = {1, 1, 1, 1, 1, 1}, .bits = bits, .rank = rank};
}

char dim_letter(Dim dim) {
    return "NCHWOI"[dim];
}

uint64_t layout_elements(const uint64_t extent[DIM_COUNT]) {
    uint64_t elements = 1;
    for (int d = 0; d < DIM_COUNT; d++) {
        elements *= extent[d];
    }
    return elements;
}
