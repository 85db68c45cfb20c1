/* Named shapes. */
#include "layout/shape.h"

LayoutShape layout_shape(uint32_t bits, uint32_t rank) {
    return (LayoutShape){.extent = {1, 1, 1, 1, 1, 1}, .bits = bits, .rank = rank};
}

char dim_letter(Dim dim) {
    return "NCHWOI"[dim];
}
