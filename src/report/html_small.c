/* Storages too small for a rectangle of their own: a grid over the map, each cell of the kind that holds most of it.
 *
 * Cells of a row that lie side by side and are of one kind become one piece of the kind's path. */
#include "report/html_map.h"

enum { CELL = 4, COLUMNS = (MAP_RIGHT - MAP_LEFT) / CELL, ROWS = (MAP_BOTTOM - MAP_TOP) / CELL };

typedef struct {
    double held[BUFFER_KIND_COUNT];
} Cell;

typedef struct {
    Cell *cell; /* row-major from the top */
} Grid;

static uint32_t clamp(double place, uint32_t count) {
    return place <= 0 ? 0 : place >= count ? count - 1 : (uint32_t)place;
}

static double common(double a_first, double a_last, double b_first, double b_last) {
    double first = a_first > b_first ? a_first : b_first;
    double last = a_last < b_last ? a_last : b_last;
    return last > first ? last - first : 0;
}

/* Even what is narrower than any number counts a little. */
static void add(Grid *grid, BufferKind kind, Rect rect) {
    const double least = 1e-6;
    double left = (rect.x - MAP_LEFT) / CELL, right = left + rect.width / CELL + least;
    double top = (rect.y - MAP_TOP) / CELL, bottom = top + rect.height / CELL + least;
    for (uint32_t r = clamp(top, ROWS); r <= clamp(bottom, ROWS); r++) {
        for (uint32_t c = clamp(left, COLUMNS); c <= clamp(right, COLUMNS); c++) {
            grid->cell[r * COLUMNS + c].held[kind] += common(left, right, c, c + 1) * common(top, bottom, r, r + 1);
        }
    }
}

/* -1 where none holds any. */
static int owner(const Cell *cell) {
    int best = -1;
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        if (cell->held[kind] > (best < 0 ? 0 : cell->held[best])) {
            best = kind;
        }
    }
    return best;
}

static void mark_row(const Map *map, const Grid *grid, uint32_t row, int kind) {
    for (uint32_t c = 0; c < COLUMNS; c++) {
        uint32_t first = c;
        while (c < COLUMNS && owner(&grid->cell[row * COLUMNS + c]) == kind) {
            c++;
        }
        if (c > first) {
            unsigned width = CELL * (c - first);
            html_mark(map->html, "M%u %uh%uv%dh-%uz", MAP_LEFT + CELL * first, MAP_TOP + CELL * row, width, CELL,
                      width);
        }
    }
}

static bool has_kind(const Grid *grid, int kind) {
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        if (owner(&grid->cell[i]) == kind) {
            return true;
        }
    }
    return false;
}

/* In its colour, and dotted. */
static void mark_kind(const Map *map, const Grid *grid, int kind) {
    char id[] = {'z', map_letter((BufferKind)kind), '\0'};
    if (!has_kind(grid, kind)) {
        return;
    }
    html_mark(map->html, "<defs><path id=\"%s\" d=\"", id);
    for (uint32_t r = 0; r < ROWS; r++) {
        mark_row(map, grid, r, kind);
    }
    html_mark(map->html, "\"/></defs>\n<use href=\"#%s\" class=\"%s\"/><use href=\"#%s\" class=\"dots\"/>\n", id,
              id + 1, id);
}

uint32_t map_small(const Map *map) {
    const Plan *plan = map->html->page.facts->plan;
    Grid grid = {arena_array(map->html->page.scratch, Cell, (size_t)ROWS * COLUMNS)};
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (drawing_has(plan, i) && !map->html->has_rect[i]) {
            add(&grid, plan->buffers[i].kind, map_rect(map, &plan->buffers[i]));
            count++;
        }
    }
    html_mark(map->html, "<g class=\"small\">\n");
    for (int kind = 0; count > 0 && kind < BUFFER_KIND_COUNT; kind++) {
        mark_kind(map, &grid, kind);
    }
    html_mark(map->html, "</g>\n");
    return count;
}
