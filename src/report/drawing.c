/* The drawing of time and address: which rows and columns there are, who owns each cell, and who gets a letter. */
#include "report/drawing.h"

#include "base/checked.h"

#include <stdlib.h>

enum { MOST_EDGES = 24, MOST_ROWS = 20, MOST_WIDE = 16 };

bool drawing_has(const Plan *plan, uint32_t i) {
    return buffer_is_local_storage(plan, (BufferId){i}) && plan->buffers[i].physical_bytes > 0;
}

uint32_t drawing_count(const Plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        count += drawing_has(plan, i);
    }
    return count;
}

/* ---- Rows */

/* A storage and how much of the drawing it holds. */
typedef struct {
    uint32_t buffer;
    double held;
} Area;

static int by_held(const void *left, const void *right) {
    const Area *a = left;
    const Area *b = right;
    if (a->held < b->held || a->held > b->held) {
        return a->held > b->held ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static int by_address(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

typedef struct {
    uint64_t at[MOST_EDGES];
    uint32_t count;
} Edges;

static void add_edge(Edges *edges, uint64_t address) {
    for (uint32_t i = 0; i < edges->count; i++) {
        if (edges->at[i] == address) {
            return;
        }
    }
    if (edges->count < MOST_EDGES) {
        edges->at[edges->count++] = address;
    }
}

/* Where storages begin and end, as far as there is room; with both ends of what is placed, and the capacity where that
 * is less. Sorted. */
static void find_edges(const Page *page, Edges *edges) {
    const Plan *plan = page->facts->plan;
    uint64_t align = page->facts->device->memory[page->facts->device->local].align_bytes;
    Area *area = arena_array(page->scratch, Area, plan->buffer_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (drawing_has(plan, i)) {
            double steps = (double)(buffer->storage_last - buffer->storage_first);
            area[count++] = (Area){i, (double)buffer->physical_bytes * steps};
        }
    }
    if (count > 0) {
        qsort(area, count, sizeof *area, by_held);
    }
    add_edge(edges, 0);
    add_edge(edges, plan->placed_bytes);
    if (plan->capacity_bytes < plan->placed_bytes) {
        add_edge(edges, plan->capacity_bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = &plan->buffers[area[i].buffer];
        uint64_t units = ceil_div(buffer->physical_bytes, align); /* `placed` counts the last unit too */
        add_edge(edges, buffer->offset);
        add_edge(edges, buffer->offset + units * align);
    }
    qsort(edges->at, edges->count, sizeof *edges->at, by_address);
}

/* Rows of about the same height between any two edges, in whole allocation units from the lower one. */
static void plan_rows(const Page *page, Drawing *drawing) {
    uint64_t placed = page->facts->plan->placed_bytes;
    uint64_t align = page->facts->device->memory[page->facts->device->local].align_bytes;
    uint64_t usual = ceil_div(ceil_div(placed, MOST_ROWS), align) * align;
    Edges edges = {.count = 0};
    find_edges(page, &edges);
    drawing->row = arena_array(page->scratch, uint64_t, MOST_EDGES + MOST_ROWS + 1);
    for (uint32_t i = 0; i + 1 < edges.count; i++) {
        uint64_t bytes = edges.at[i + 1] - edges.at[i];
        uint64_t rows = bytes / usual == 0 ? 1 : bytes / usual;
        uint64_t each = ceil_div(ceil_div(bytes, rows), align) * align;
        uint64_t at = edges.at[i];
        drawing->row[drawing->row_count++] = at;
        while (edges.at[i + 1] - at > each) {
            at += each;
            drawing->row[drawing->row_count++] = at;
        }
    }
    drawing->row[drawing->row_count] = placed;
}

static void plan_columns(Drawing *drawing, uint32_t steps, uint32_t room) {
    drawing->step_count = steps == 0 ? 1 : steps;
    drawing->column_count = drawing->step_count < room ? drawing->step_count : room;
    drawing->wide = room / drawing->column_count;
    drawing->wide = drawing->wide > MOST_WIDE ? MOST_WIDE : drawing->wide;
}

uint64_t drawing_first_step(const Drawing *drawing, uint64_t column) {
    return column * drawing->step_count / drawing->column_count;
}

static void alloc_cells(const Page *page, Drawing *drawing) {
    const Plan *plan = page->facts->plan;
    size_t cells = (size_t)drawing->row_count * drawing->column_count;
    drawing->owner = arena_array(page->scratch, uint32_t, cells);
    drawing->held = arena_array(page->scratch, double, cells);
    drawing->letter = arena_array(page->scratch, char, plan->buffer_count);
    drawing->cells = arena_array(page->scratch, uint32_t, plan->buffer_count);
    for (size_t i = 0; i < cells; i++) {
        drawing->owner[i] = NOBODY;
    }
}

/* ---- Cells */

typedef struct {
    uint64_t first, last;
} Range;

/* How much two ranges have in common. */
static double overlap(Range a, Range b) {
    uint64_t first = a.first > b.first ? a.first : b.first;
    uint64_t last = a.last < b.last ? a.last : b.last;
    return first < last ? (double)(last - first) : 0;
}

static void offer(Drawing *drawing, size_t cell, uint32_t id, double held) {
    if (held > drawing->held[cell]) {
        drawing->held[cell] = held;
        drawing->owner[cell] = id;
    }
}

static void fill(Drawing *drawing, const Buffer *buffer, uint32_t id) {
    Range bytes = {buffer->offset, buffer->offset + buffer->physical_bytes};
    Range steps = {buffer->storage_first, buffer->storage_last};
    uint64_t left = steps.first * drawing->column_count / drawing->step_count; /* may end before the first step */
    for (uint32_t r = 0; r < drawing->row_count && drawing->row[r] < bytes.last; r++) {
        double held_bytes = overlap(bytes, (Range){drawing->row[r], drawing->row[r + 1]});
        for (uint64_t c = left; c < drawing->column_count && drawing_first_step(drawing, c) < steps.last; c++) {
            Range column = {drawing_first_step(drawing, c), drawing_first_step(drawing, c + 1)};
            offer(drawing, (size_t)(r * drawing->column_count + c), id, held_bytes * overlap(steps, column));
        }
    }
}

static void fill_all(const Page *page, Drawing *drawing) {
    const Plan *plan = page->facts->plan;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (drawing_has(plan, i)) {
            fill(drawing, &plan->buffers[i], i);
        }
    }
}

/* ---- Letters, for the storages that own most cells */

typedef struct {
    uint32_t buffer, cells;
} Share;

static int by_cells(const void *left, const void *right) {
    const Share *a = left;
    const Share *b = right;
    if (a->cells != b->cells) {
        return a->cells > b->cells ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static int by_buffer(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Where there are fewer letters than storages, one that holds half of no cell gets none: its cells stand for many. */
static bool deserves_letter(const Drawing *drawing, size_t cell) {
    size_t row = cell / drawing->column_count;
    uint64_t column = cell % drawing->column_count;
    uint64_t steps = drawing_first_step(drawing, column + 1) - drawing_first_step(drawing, column);
    double whole = (double)(drawing->row[row + 1] - drawing->row[row]) * (double)steps;
    return drawing->has_letters_for_all || 2 * drawing->held[cell] >= whole;
}

static void count_cells(Drawing *drawing) {
    size_t cells = (size_t)drawing->row_count * drawing->column_count;
    for (size_t i = 0; i < cells; i++) {
        if (drawing->owner[i] != NOBODY && deserves_letter(drawing, i)) {
            drawing->cells[drawing->owner[i]]++;
        }
    }
}

/* The storages that own most cells, in the order of the plan; all of them where there are letters enough. */
static void choose_lettered(const Page *page, Drawing *drawing) {
    const Plan *plan = page->facts->plan;
    Share *share = arena_array(page->scratch, Share, plan->buffer_count);
    uint32_t count = 0;
    drawing->has_letters_for_all = drawing_count(plan) <= DRAWING_MOST_LETTERS;
    count_cells(drawing);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (drawing_has(plan, i) && (drawing->has_letters_for_all || drawing->cells[i] > 0)) {
            share[count++] = (Share){i, drawing->cells[i]};
        }
    }
    qsort(share, count, sizeof *share, by_cells);
    count = count > DRAWING_MOST_LETTERS ? DRAWING_MOST_LETTERS : count;
    for (uint32_t i = 0; i < count; i++) {
        drawing->lettered[i] = share[i].buffer;
    }
    qsort(drawing->lettered, count, sizeof *drawing->lettered, by_buffer);
    for (uint32_t i = 0; i < count; i++) {
        drawing->letter[drawing->lettered[i]] = (char)('A' + i);
    }
    drawing->letter_count = count;
}

void drawing_make(const Page *page, uint32_t room, Drawing *drawing) {
    *drawing = (Drawing){0};
    plan_rows(page, drawing);
    plan_columns(drawing, page->facts->plan->step_count, room);
    alloc_cells(page, drawing);
    fill_all(page, drawing);
    choose_lettered(page, drawing);
}
