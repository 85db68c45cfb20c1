/* What is measured: maps of a shape, a layout and a dtype, and which cache both maps of a run fit. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { NCHW, NHWC, LAYOUTS } MapLayout;
typedef enum { FLOAT32, INT8, INT16, ELEMS } Elem;
typedef enum { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_MEMORY, LEVELS } Level;

typedef struct {
    uint64_t n, c, h, w;
} Shape;

typedef struct {
    Shape shape;
    MapLayout layout;
    Elem elem;
} Row;

enum { ROWS_MOST = 96, SHAPE_TEXT = 48 };

/* Every row, those of one dtype and layout side by side. */
size_t rows_list(Row rows[ROWS_MOST]);

size_t row_elems(const Row *row);
size_t row_bytes(const Row *row); /* of x, and of y */
size_t elem_bytes(Elem elem);
uint64_t row_plane(const Row *row); /* elements of a plane */
Level row_level(const Row *row);
uint64_t level_bytes(Level level); /* of this machine's cache */

/* A map of one element a channel is one pixel in either layout. */
bool row_is_pixel(const Row *row);

/* The channel of the element number i of the map. */
static inline uint64_t row_channel(const Row *row, uint64_t i) {
    return row->layout == NHWC ? i % row->shape.c : i / (row->shape.h * row->shape.w) % row->shape.c;
}

const char *layout_name(MapLayout layout);                  /* "NCHW" */
const char *elem_name(Elem elem);                           /* "float32" */
const char *level_name(Level level);                        /* "L1" */
const char *shape_text(Shape shape, char text[SHAPE_TEXT]); /* "[1,64,56,56]" */

#endif
