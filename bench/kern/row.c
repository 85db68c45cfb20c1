/* The rows of the benchmark. */
#include "row.h"

#include "native/variant.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const Shape SHAPES[] = {
    {1, 12, 20, 28},  {1, 64, 56, 56}, {1, 256, 14, 14}, {1, 3, 224, 224},
    {1, 1, 512, 512}, {1, 1024, 1, 1}, {8, 128, 28, 28},
};

/* Beyond the caches, of the dtype. */
static const Shape BEYOND[ELEMS] = {
    [FLOAT32] = {32, 64, 112, 112}, [INT8] = {128, 64, 112, 112}, [INT16] = {32, 64, 112, 112}};

/* Channels last that no vector is a multiple of, in each cache; those in L1 nearly fill it. */
enum { ODDS = 6 };
static const Shape ODD[ELEMS][ODDS] = {
    [FLOAT32] = {{1, 1, 60, 60}, {1, 3, 36, 36}, {1, 12, 112, 112}, {1, 70, 7, 8}, {1, 70, 56, 56}, {8, 70, 56, 56}},
    [INT8] = {{1, 1, 120, 120}, {1, 3, 72, 72}, {1, 12, 112, 112}, {1, 70, 14, 16}, {1, 70, 56, 56}, {8, 70, 56, 56}}};

static size_t add(Row *rows, size_t count, const Shape *shapes, size_t shape_count, Row like) {
    for (size_t k = 0; k < shape_count; k++) {
        rows[count + k] = like;
        rows[count + k].shape = shapes[k];
    }
    return count + shape_count;
}

size_t rows_list(Row rows[ROWS_MOST]) {
    size_t count = 0;
    for (int elem = 0; elem < ELEMS; elem++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            Row like = {.layout = (MapLayout)layout, .elem = (Elem)elem};
            count = add(rows, count, SHAPES, sizeof SHAPES / sizeof *SHAPES, like);
            if (layout == NHWC && elem != INT16) {
                count = add(rows, count, ODD[elem], ODDS, like);
            }
            count = add(rows, count, &BEYOND[elem], 1, like);
        }
    }
    return count;
}

size_t elem_bytes(Elem elem) {
    static const size_t bytes[ELEMS] = {[FLOAT32] = 4, [INT8] = 1, [INT16] = 2};
    return bytes[elem];
}

size_t row_elems(const Row *row) {
    return (size_t)(row->shape.n * row->shape.c * row->shape.h * row->shape.w);
}

size_t row_bytes(const Row *row) {
    return row_elems(row) * elem_bytes(row->elem);
}

uint64_t row_plane(const Row *row) {
    return row->shape.h * row->shape.w;
}

bool row_is_pixel(const Row *row) {
    return row->shape.n * row->shape.h * row->shape.w == 1;
}

uint64_t level_bytes(Level level) {
    static const int names[LEVELS] = {[LEVEL_L1] = _SC_LEVEL1_DCACHE_SIZE, [LEVEL_L2] = _SC_LEVEL2_CACHE_SIZE};
    static const uint64_t usual[LEVELS] = {[LEVEL_L1] = 32 << 10, [LEVEL_L2] = 1 << 20};
    if (level == LEVEL_L3) {
        return variant_cache_bytes(); /* what the C library says of it may be of another machine than the guest's */
    }
    if (level == LEVEL_MEMORY) {
        return UINT64_MAX;
    }
    long said = sysconf(names[level]);
    return said > 0 ? (uint64_t)said : usual[level];
}

Level row_level(const Row *row) {
    Level level = LEVEL_L1;
    while (2 * row_bytes(row) > level_bytes(level)) {
        level++;
    }
    return level;
}

const char *layout_name(MapLayout layout) {
    return layout == NCHW ? "NCHW" : "NHWC";
}

const char *elem_name(Elem elem) {
    static const char *const names[ELEMS] = {[FLOAT32] = "float32", [INT8] = "int8", [INT16] = "int16"};
    return names[elem];
}

const char *level_name(Level level) {
    static const char *const names[LEVELS] = {"L1", "L2", "L3", "memory"};
    return names[level];
}

const char *shape_text(Shape shape, char text[SHAPE_TEXT]) {
    snprintf(text, SHAPE_TEXT, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", shape.n, shape.c, shape.h, shape.w);
    return text;
}
