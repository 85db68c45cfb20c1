/* A small picture of how a view fills memory. Each cell asks the view which element owns its bits, so the picture can't
 * disagree with the addresses. */
#include "layout/picture.h"

#include <inttypes.h>

enum { WIDTH_CELLS = 88, MAX_LINES = 24 };

typedef struct {
    const View *view;
    Dim lettered;        /* the dimension that the letters tell */
    uint64_t cell_bits;  /* 8, or those of an element where several fill a byte exactly */
    uint64_t cell_count; /* of one bank */
} Picture;

static Dim lettered_dim(const LayoutShape *shape) {
    static const Dim order[] = {DIM_C, DIM_O, DIM_I};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        if (shape->extent[order[k]] > 1) {
            return order[k];
        }
    }
    return DIM_C;
}

/* The element that owns the first bit of the cell that is data, or '.'. */
static char cell_char(const Picture *picture, uint64_t cell) {
    uint64_t index[DIM_COUNT];
    for (uint64_t bit = 0; bit < picture->cell_bits; bit++) {
        if (view_find_index(picture->view, 0, cell * picture->cell_bits + bit, index)) {
            return (char)('a' + index[picture->lettered] % 26);
        }
    }
    return '.';
}

/* One line of at most WIDTH_CELLS of the `count` cells from `begin`, then '>' where it is cut. */
static void print_cells(const Picture *picture, uint64_t begin, uint64_t count, FILE *out) {
    uint64_t left = picture->cell_count - begin;
    count = count < left ? count : left;
    uint64_t shown = count < WIDTH_CELLS ? count : WIDTH_CELLS;
    fputs("  ", out);
    for (uint64_t k = 0; k < shown; k++) {
        putc(cell_char(picture, begin + k), out);
    }
    fputs(shown < count ? " >\n" : "\n", out);
}

/* Cells of one line of the plane: the largest step of a level that fits the width, but more than an element; else the
 * smallest that is more. 0 where no level steps so. */
static uint64_t line_cells(const Picture *picture) {
    const View *view = picture->view;
    uint64_t best = 0;
    for (uint32_t k = 0; k < view->level_count; k++) {
        uint64_t stride = view->level[k].stride_bits;
        uint64_t cells = stride / picture->cell_bits;
        if (view->level[k].extent < 2 || stride <= view->shape.bits || stride % picture->cell_bits != 0) {
            continue;
        }
        bool fits = cells <= WIDTH_CELLS;
        bool best_fits = best > 0 && best <= WIDTH_CELLS;
        if (best == 0 || (fits && (!best_fits || cells > best)) || (!fits && !best_fits && cells < best)) {
            best = cells;
        }
    }
    return best;
}

static const char *cell_name(const Picture *picture) {
    static const char *const names[] = {"a bit", "2 bits", "4 bits"};
    return picture->cell_bits == 8 ? "a byte" : names[picture->cell_bits / 2];
}

/* Do two lines look alike? Only lines that are printed whole do. */
static bool is_same_line(const Picture *picture, uint64_t line, uint64_t a, uint64_t b) {
    uint64_t whole = picture->cell_count / line;
    if (line > WIDTH_CELLS || a >= whole || b >= whole) {
        return false;
    }
    for (uint64_t k = 0; k < line; k++) {
        if (cell_char(picture, a * line + k) != cell_char(picture, b * line + k)) {
            return false;
        }
    }
    return true;
}

/* Lines from `at` on that look like it, itself too; some thousands at most. */
static uint64_t count_alike(const Picture *picture, uint64_t line, uint64_t at) {
    enum { MOST = 4096 };
    uint64_t alike = 1;
    while (alike < MOST && is_same_line(picture, line, at, at + alike)) {
        alike++;
    }
    return alike;
}

/* Of many lines that look alike the first is printed, and how many follow. */
static void print_plane(const Picture *picture, uint64_t line, FILE *out) {
    enum { FEW = 4 };
    uint64_t lines = picture->cell_count / line + (picture->cell_count % line != 0);
    uint64_t at = 0;
    fprintf(out, "plane, %" PRIu64 " cells a line:\n", line);
    for (uint32_t printed = 0; at < lines && printed < MAX_LINES; printed++) {
        uint64_t alike = count_alike(picture, line, at);
        print_cells(picture, at * line, line, out);
        at++;
        if (alike > FEW) {
            fprintf(out, "  and %" PRIu64 " lines like it\n", alike - 1);
            at += alike - 1;
            printed++;
        }
    }
    if (at < lines) {
        fprintf(out, "  and %" PRIu64 " more lines\n", lines - at);
    }
}

void picture_print(const View *view, FILE *out) {
    uint64_t bits = view->shape.bits;
    Picture picture = {.view = view, .lettered = lettered_dim(&view->shape)};
    if (view->banks_used == 0) {
        fputs("no elements: nothing is stored\n", out);
        return;
    }
    picture.cell_bits = bits == 1 || bits == 2 || bits == 4 ? bits : 8;
    picture.cell_count = view->bank_bytes * (8 / picture.cell_bits);
    fprintf(out, "cells of bank 0, %s each: the letter is %c (a is 0), '.' is padding\n", cell_name(&picture),
            dim_letter(picture.lettered));
    fputs("row:\n", out);
    print_cells(&picture, 0, picture.cell_count, out);
    uint64_t line = line_cells(&picture);
    if (line > 0 && line < picture.cell_count) {
        print_plane(&picture, line, out);
    }
}
