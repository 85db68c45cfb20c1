/* The picture of time and address in the HTML report: its geometry. Private to the room.
 *
 *      LEFT                         RIGHT
 *        +----------------------------+  CURVE_TOP      bytes alive at each step
 *        +----------------------------+  CURVE_BOTTOM
 *        +----------------------------+  MAP_TOP        address, the highest on top
 *        +----------------------------+  MAP_BOTTOM     0
 *
 * Sizes and steps are the facts'; here they only become places. */
#ifndef S0_REPORT_HTML_MAP_H
#define S0_REPORT_HTML_MAP_H

#include "report/drawing.h"
#include "report/html.h"

enum {
    MAP_WIDTH = 1000,
    MAP_HEIGHT = 676,
    MAP_LEFT = 88,
    MAP_RIGHT = 988,
    CURVE_TOP = 28,
    CURVE_BOTTOM = 148,
    MAP_TOP = 192,
    MAP_BOTTOM = 632
};

typedef struct {
    const Html *html;
    uint32_t steps;     /* at least 1 */
    uint64_t top_bytes; /* of both axes; at least 1 */
    bool has_capacity;  /* its line is inside */
} Map;

/* A storage's place. */
typedef struct {
    double x, y, width, height;
} Rect;

Map map_of(const Html *html);
double map_x(const Map *map, uint64_t step);
double map_y(const Map *map, uint64_t address);
double map_curve_y(const Map *map, uint64_t bytes);
Rect map_rect(const Map *map, const Buffer *storage);

/* "a" of an activation, as the terminal's drawing has it. */
char map_letter(BufferKind kind);

/* Storages that have no rectangle of their own: each cell of a grid has the pattern of the kind that holds most of it.
 * How many they are. */
uint32_t map_small(const Map *map); /* html_small.c */

void map_axes(const Map *map);     /* html_axes.c */
void map_capacity(const Map *map); /* its line, where it is inside */
void map_curve(const Map *map);    /* html_curve.c: what is alive */
void map_peak(const Map *map);

#endif
