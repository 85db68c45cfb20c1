/* How many pixels a row has.
 *
 * A kernel loads a vector of parameters for several rows at a time, and a row has a price of its own: so rows are long
 * where enough of them are left, but not so long that parameters fill the smallest cache. */
#include "native/wide.h"

#include <string.h>

enum { ENOUGH_BYTES = 256, MOST_ELEMENTS = 1024, ENOUGH_ROWS = 8, LINE_BYTES = 64 };

/* Until a vector ends where a pixel does, or some part of one, a half, a quarter, where that takes too many. */
static size_t least_pixels(const Wide *wide, size_t vector_bytes) {
    size_t pixels = 1;
    while (pixels * wide->pixel_bytes % vector_bytes != 0 && 2 * pixels * wide->block <= MOST_ELEMENTS) {
        pixels *= 2;
    }
    return pixels;
}

/* Of `count` that touch. */
static size_t pixels_of_row(const Wide *wide, uint64_t count, size_t vector_bytes) {
    size_t least = least_pixels(wide, vector_bytes), pixels = least;
    if (count < least * ENOUGH_ROWS && count <= MOST_ELEMENTS / wide->block) {
        return (size_t)count; /* one row, one call */
    }
    while (pixels * wide->pixel_bytes < ENOUGH_BYTES && count / (pixels + least) >= ENOUGH_ROWS) {
        pixels += least;
    }
    return pixels;
}

void wide_find(const Walk *walk, uint32_t bits, size_t vector_bytes, Wide *wide) {
    uint64_t block = walk->column.extent, channels = walk->extent[DIM_C];
    bool touch = vector_bytes > 0 && walk->is_channel_last && walk->is_aligned && bits >= 8 &&
                 walk->row.stride_bits == block * bits && channels >= block;
    *wide = (Wide){
        .pixels = 1, .pixel_bytes = (size_t)(block * bits / 8), .block = (size_t)block, .channels = (size_t)channels};
    if (touch) {
        wide->pixels = pixels_of_row(wide, walk->row.extent, vector_bytes);
    }
}

void *wide_array(const Wide *wide, const void *parameters, size_t bytes, Arena *arena) {
    const uint8_t *from = parameters;
    size_t blocks = (wide->channels + wide->block - 1) / wide->block, repeated = wide->pixels * bytes;
    size_t more = LINE_BYTES / repeated + 1; /* than there are channels, to begin on a line */
    uint8_t *array = arena_alloc(arena, blocks * wide->block + more, repeated);
    array += (0 - (uintptr_t)array) % LINE_BYTES;
    for (size_t first = 0; first < wide->channels; first += wide->block) {
        size_t left = wide->channels - first, count = left < wide->block ? left : wide->block;
        for (size_t k = 0; k < wide->pixels; k++) {
            memcpy(array + (first * wide->pixels + k * wide->block) * bytes, from + first * bytes, count * bytes);
        }
    }
    return array;
}

void wide_rows(const Wide *wide, const S0Rows *pixels, S0Rows part[2]) {
    part[0] = *pixels;
    part[1] = *pixels;
    part[1].rows = 0;
    if (wide->pixels == 1 || pixels->columns != wide->block) {
        return;
    }
    size_t done = pixels->rows / wide->pixels * wide->pixels;
    part[0].rows = pixels->rows / wide->pixels;
    part[0].columns = wide->block * wide->pixels;
    part[0].x_pitch_bytes = part[0].y_pitch_bytes = wide->pixel_bytes * wide->pixels;
    part[1].rows = done < pixels->rows ? 1 : 0;
    part[1].columns = wide->block * (pixels->rows - done);
    part[1].x = (const uint8_t *)pixels->x + done * wide->pixel_bytes;
    part[1].y = (uint8_t *)pixels->y + done * wide->pixel_bytes;
}
