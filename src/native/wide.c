/* How many pixels a row has.
 *
 * Rows are best as short as whole vectors allow: a kernel loads a vector of parameters for several rows at a time, and
 * these lie near each other. Numbers from measurements with AVX-512. */
#include "native/wide.h"

#include <string.h>

/* Where rows of whole vectors would pass the first, rows end inside vectors and do not pass the second. The parameters
 * of either stay in the smallest cache. */
enum { MOST_BYTES = 4096, MOST_ELEMENTS = 1024 };

/* Of few rows parameters are not shared enough; but vectors that are not whole are to be few. */
enum { ENOUGH_ROWS = 16, ENOUGH_VECTORS = 8 };

/* What the smallest cache does not hold with its results, kernels go through row by row: these are to be longer. */
enum { SMALL_BYTES = 16 << 10, ENOUGH_ELEMENTS = 64 };

enum { LINE_BYTES = 64 };

/* Until a vector ends where a pixel does; where that takes too many, until a half does, a quarter, and so on. */
static size_t least_pixels(const Wide *wide, size_t vector_bytes) {
    size_t power = wide->pixel_bytes & (0 - wide->pixel_bytes); /* of 2, that divides them */
    size_t pixels = power < vector_bytes ? vector_bytes / power : 1;
    if (pixels * wide->pixel_bytes > MOST_BYTES) {
        while (pixels > 1 && pixels * wide->block > MOST_ELEMENTS) {
            pixels /= 2;
        }
    }
    return pixels;
}

/* Whether pixels leave no more than a fifth of their vectors empty. */
static bool is_filled(const Wide *wide, size_t vector_bytes) {
    size_t vectors = (wide->pixel_bytes + vector_bytes - 1) / vector_bytes;
    return wide->pixel_bytes * 5 >= vectors * vector_bytes * 4;
}

size_t wide_pixels(const Wide *wide, uint64_t count, size_t vector_bytes) {
    if (vector_bytes == 0) {
        return 1;
    }
    bool is_small = count * wide->pixel_bytes <= SMALL_BYTES;
    if (is_small && is_filled(wide, vector_bytes)) {
        return 1;
    }
    size_t least = least_pixels(wide, vector_bytes), pixels = least;
    while (pixels > 1 && count / pixels < ENOUGH_ROWS &&
           pixels / 2 * wide->pixel_bytes >= ENOUGH_VECTORS * vector_bytes) {
        pixels /= 2;
    }
    while (!is_small && pixels * wide->block < ENOUGH_ELEMENTS) {
        pixels += least;
    }
    return pixels;
}

void wide_find(const Walk *walk, uint32_t bits, size_t vector_bytes, Wide *wide) {
    uint64_t block = walk->column.extent, channels = walk->extent[DIM_C];
    bool touch = walk->is_channel_last && walk->is_aligned && bits >= 8 && walk->row.stride_bits == block * bits &&
                 channels >= block;
    *wide = (Wide){
        .pixels = 1, .pixel_bytes = (size_t)(block * bits / 8), .block = (size_t)block, .channels = (size_t)channels};
    if (touch) {
        wide->pixels = wide_pixels(wide, walk->row.extent, vector_bytes);
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
