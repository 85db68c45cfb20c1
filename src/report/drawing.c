/* The drawing of time and address: which storage holds which bytes when.
 *
 *      address |AAAAAAAA....     a row is a range of addresses, the highest on top; a column is a range of steps;
 *              |BBBBCCCC....     the letter is the storage that holds most of that cell, '.' where none holds any
 *            0 |BBBBCCCC....
 *
 * Rows begin and end where storages do, those that hold most first, so that a cell of theirs is true for all its bytes;
 * what is tall is several rows. Geometry only: all sizes are the plan's. A storage smaller than a cell is still drawn
 * where no larger one is. */
#include "report/page.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_EDGES = 24, MOST_ROWS = 20, MOST_LETTERS = 26, AXIS_WIDTH = 16, MOST_WIDE = 12, MOST_COLUMNS = 132 };

typedef struct {
    uint64_t *row;       /* where each row begins, and where the last ends */
    uint64_t cell_steps; /* steps of one column */
    uint32_t step_count;
    uint32_t row_count, column_count;
    uint32_t wide;   /* characters of one column */
    uint32_t *owner; /* row-major from the lowest address: index of a buffer, or UINT32_MAX */
    double *held;    /* bytes * steps that the owner holds of the cell */
    char *letter;    /* of each buffer; 0 where it has none of its own */
    uint32_t *cells; /* that each buffer owns */
    bool has_letters_for_all;
} Drawing;

static bool is_drawable(const Plan *plan, uint32_t i) {
    return buffer_is_local_storage(plan, (BufferId){i}) && plan->buffers[i].physical_bytes > 0;
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

/* Where storages begin and end, as far as there is room; with both ends of the memory. Sorted. */
static void find_edges(const Page *page, Edges *edges) {
    const Plan *plan = page->facts->plan;
    uint64_t align = page->facts->device->memory[page->facts->device->local].align_bytes;
    Area *area = arena_array(page->scratch, Area, plan->buffer_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (is_drawable(plan, i)) {
            double steps = (double)(buffer->storage_last - buffer->storage_first);
            area[count++] = (Area){i, (double)buffer->physical_bytes * steps};
        }
    }
    if (count > 0) {
        qsort(area, count, sizeof *area, by_held);
    }
    add_edge(edges, 0);
    add_edge(edges, plan->placed_bytes);
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = &plan->buffers[area[i].buffer];
        uint64_t units = ceil_div(buffer->physical_bytes, align); /* `placed` counts the last unit too */
        add_edge(edges, buffer->offset);
        add_edge(edges, buffer->offset + units * align);
    }
    qsort(edges->at, edges->count, sizeof *edges->at, by_address);
}

/* Rows of about the same height between any two edges; none begins inside an allocation unit. */
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

static uint32_t usable_columns(const Page *page) {
    return page->style.columns < MOST_COLUMNS ? page->style.columns : MOST_COLUMNS;
}

static void plan_drawing(const Page *page, Drawing *drawing) {
    const Plan *plan = page->facts->plan;
    uint32_t room = usable_columns(page) - AXIS_WIDTH;
    drawing->step_count = plan->step_count == 0 ? 1 : plan->step_count;
    plan_rows(page, drawing);
    drawing->cell_steps = ceil_div(drawing->step_count, room);
    drawing->column_count = (uint32_t)ceil_div(drawing->step_count, drawing->cell_steps);
    drawing->wide = room / drawing->column_count;
    drawing->wide = drawing->wide > MOST_WIDE ? MOST_WIDE : drawing->wide;
    size_t cells = (size_t)drawing->row_count * drawing->column_count;
    drawing->owner = arena_array(page->scratch, uint32_t, cells);
    drawing->held = arena_array(page->scratch, double, cells);
    drawing->letter = arena_array(page->scratch, char, plan->buffer_count);
    drawing->cells = arena_array(page->scratch, uint32_t, plan->buffer_count);
    for (size_t i = 0; i < cells; i++) {
        drawing->owner[i] = UINT32_MAX;
    }
}

/* ---- Cells */

typedef struct {
    uint64_t first, last;
} Range;

/* How much two ranges that meet have in common. */
static double overlap(Range a, Range b) {
    return (double)((a.last < b.last ? a.last : b.last) - (a.first > b.first ? a.first : b.first));
}

static void fill(Drawing *drawing, const Buffer *buffer, uint32_t id) {
    Range bytes = {buffer->offset, buffer->offset + buffer->physical_bytes};
    Range steps = {buffer->storage_first, buffer->storage_last};
    for (uint32_t r = 0; r < drawing->row_count && drawing->row[r] < bytes.last; r++) {
        if (drawing->row[r + 1] <= bytes.first) {
            continue;
        }
        double held_bytes = overlap(bytes, (Range){drawing->row[r], drawing->row[r + 1]});
        for (uint64_t c = steps.first / drawing->cell_steps; c <= (steps.last - 1) / drawing->cell_steps; c++) {
            Range column = {c * drawing->cell_steps, (c + 1) * drawing->cell_steps};
            double held = held_bytes * overlap(steps, column);
            size_t cell = (size_t)(r * drawing->column_count + c);
            if (held > drawing->held[cell]) {
                drawing->held[cell] = held;
                drawing->owner[cell] = id;
            }
        }
    }
}

static void fill_all(const Page *page, Drawing *drawing) {
    const Plan *plan = page->facts->plan;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (is_drawable(plan, i)) {
            fill(drawing, &plan->buffers[i], i);
        }
    }
}

/* ---- Letters: capitals for the storages that fill most cells, small letters of their kind for the others */

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

static char kind_letter(BufferKind kind) {
    static const char letter[] = "iaowpsk";
    return letter[kind];
}

/* Where there are fewer letters than storages, one that holds half of no cell gets none: its cells stand for many. */
static bool deserves_letter(const Drawing *drawing, size_t cell) {
    size_t row = cell / drawing->column_count;
    double whole = (double)(drawing->row[row + 1] - drawing->row[row]) * (double)drawing->cell_steps;
    return drawing->has_letters_for_all || 2 * drawing->held[cell] >= whole;
}

static void count_cells(Drawing *drawing) {
    size_t cells = (size_t)drawing->row_count * drawing->column_count;
    for (size_t i = 0; i < cells; i++) {
        if (drawing->owner[i] != UINT32_MAX && deserves_letter(drawing, i)) {
            drawing->cells[drawing->owner[i]]++;
        }
    }
}

static uint32_t count_drawable(const Plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        count += is_drawable(plan, i);
    }
    return count;
}

/* The storages that fill most cells, in the order of the plan; all of them where there are letters enough. */
static uint32_t choose_lettered(const Page *page, Drawing *drawing, uint32_t lettered[MOST_LETTERS]) {
    const Plan *plan = page->facts->plan;
    Share *share = arena_array(page->scratch, Share, plan->buffer_count);
    uint32_t count = 0;
    drawing->has_letters_for_all = count_drawable(plan) <= MOST_LETTERS;
    count_cells(drawing);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (is_drawable(plan, i) && (drawing->has_letters_for_all || drawing->cells[i] > 0)) {
            share[count++] = (Share){i, drawing->cells[i]};
        }
    }
    qsort(share, count, sizeof *share, by_cells);
    count = count > MOST_LETTERS ? MOST_LETTERS : count;
    for (uint32_t i = 0; i < count; i++) {
        lettered[i] = share[i].buffer;
    }
    qsort(lettered, count, sizeof *lettered, by_buffer);
    for (uint32_t i = 0; i < count; i++) {
        drawing->letter[lettered[i]] = (char)('A' + i);
    }
    return count;
}

/* ---- Printing */

static const char *kind_color(BufferKind kind) {
    static const char *const code[] = {"\033[36m", "\033[32m", "\033[34m", "\033[35m",
                                       "\033[33m", "\033[31m", "\033[37m"};
    return code[kind];
}

static void print_cell(const Page *page, const Drawing *drawing, uint32_t owner) {
    if (owner == UINT32_MAX) {
        fprintf(page->out, "%.*s", (int)drawing->wide, "............");
        return;
    }
    BufferKind kind = page->facts->plan->buffers[owner].kind;
    char letter = drawing->letter[owner] == 0 ? kind_letter(kind) : drawing->letter[owner];
    fputs(page_color(page, kind_color(kind)), page->out);
    for (uint32_t i = 0; i < drawing->wide; i++) {
        fputc(letter, page->out);
    }
    fputs(page_color(page, PAGE_PLAIN), page->out);
}

static void print_rows(const Page *page, const Drawing *drawing) {
    for (uint32_t r = drawing->row_count; r-- > 0;) {
        Str address = page_number(page, drawing->row[r]);
        fprintf(page->out, "%*s" STR_FMT " |", (int)(AXIS_WIDTH - 2 - address.len), "", STR_ARG(address));
        for (uint32_t c = 0; c < drawing->column_count; c++) {
            print_cell(page, drawing, drawing->owner[(size_t)r * drawing->column_count + c]);
        }
        fputc('\n', page->out);
    }
}

/* Below the drawing: step numbers, apart from each other, and the peak. */
static void print_axis(const Page *page, const Drawing *drawing) {
    enum { APART = 2 };
    uint32_t used = 0; /* characters behind the axis */
    fprintf(page->out, "%*s", AXIS_WIDTH, "step  ");
    for (uint32_t c = 0; c < drawing->column_count; c++) {
        uint32_t at = c * drawing->wide;
        Str step = arena_format(page->scratch, "%" PRIu64, c * drawing->cell_steps);
        if ((c > 0 && at < used + APART) || AXIS_WIDTH + at + step.len > usable_columns(page)) {
            continue;
        }
        fprintf(page->out, "%*s" STR_FMT, (int)(at - used), "", STR_ARG(step));
        used = at + (uint32_t)step.len;
    }
    uint32_t peak = (uint32_t)(page->facts->plan->peak_step / drawing->cell_steps) * drawing->wide;
    bool is_far_right = AXIS_WIDTH + peak + 6 > usable_columns(page); /* no room for the word behind the mark */
    fprintf(page->out, "\n%*s%s\n", AXIS_WIDTH + (int)peak - (is_far_right ? 5 : 0), "",
            is_far_right ? "peak ^" : "^ peak");
}

/* How many other tensors lie in the storage. */
static Str storage_note(const Page *page, const Drawing *drawing, uint32_t root) {
    const Plan *plan = page->facts->plan;
    const char *note = drawing->cells[root] == 0 ? "  (too small to be drawn)" : "";
    uint32_t others = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        others += plan->buffers[i].storage.index == root && i != root;
    }
    return others == 0
               ? str_from(note)
               : arena_format(page->scratch, "with %" PRIu32 " other%s%s", others, others == 1 ? "" : "s", note);
}

static void print_legend(const Page *page, const Drawing *drawing, const uint32_t *lettered, uint32_t count) {
    static const char *const heads[] = {"", "physical", "alive", "name", ""};
    const Plan *plan = page->facts->plan;
    Table table;
    table_init(&table, page->scratch, "lrsns");
    table_head(&table, heads);
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = plan_buffer(plan, (BufferId){lettered[i]});
        table_add(&table, (Str){&drawing->letter[lettered[i]], 1});
        table_number(&table, buffer->physical_bytes);
        table_add(&table, text_steps(page->scratch, buffer->storage_first, buffer->storage_last));
        table_add(&table, facts_buffer_name(page->facts, (BufferId){lettered[i]}, page->scratch));
        table_add(&table, storage_note(page, drawing, lettered[i]));
    }
    if (count > 0) {
        table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    }
}

void page_drawing(const Page *page) {
    const Plan *plan = page->facts->plan;
    Drawing drawing = {0};
    uint32_t lettered[MOST_LETTERS];
    if (plan->placed_bytes == 0) {
        return;
    }
    plan_drawing(page, &drawing);
    fill_all(page, &drawing);
    uint32_t count = choose_lettered(page, &drawing, lettered);
    page_heading(page, "time and address: a row reaches to the next, a column is %" PRIu64 " step%s",
                 drawing.cell_steps, drawing.cell_steps == 1 ? "" : "s");
    if (!drawing.has_letters_for_all) {
        page_line(page,
                  "capitals: the %" PRIu32 " that hold most, listed below; small letters, many of a kind: i input, "
                  "a activation, o output, w weight, p parameter, s state, k workspace",
                  count);
    }
    print_rows(page, &drawing);
    print_axis(page, &drawing);
    print_legend(page, &drawing, lettered, count);
}
