/* The drawing of time and address on a page of 100 characters, with or without colours, with ASCII alone or more:
 *
 *       16,384 +== capacity, 7,392 bytes free (not to scale) ==
 *        8,992 +-- placed -------------------------------------
 *        8,976 |............Bppppppppppppppp...................
 *        8,960 |............Cppppppppppppppppppppppp............
 *        8,480 |Aiiii/iii/iii/iii/iii/iii/iii/iii/iii/iii/iii/ii
 *            0 |A X iii/iii/iii/iii/iii/iii/iii/iii/iii/iii/iii/
 *         live |666666666666888888888888777777777777666666666666
 *         step  0           1           2           3
 *                           ^ peak: 8,992 bytes alive at step 1
 *
 * Cells of a row that one storage owns are a run: it begins with the storage's letter and goes on with the mark of its
 * kind, of which as many characters are padding as of the storage's bytes. The name stands once, in the longest run. */
#include "report/drawing.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_COLUMNS = 100, LEAST_MARGIN = 6, LEAST_NAME = 8, LEVELS = 8 };

/* What a character shows that is none itself. */
typedef enum { MARK_KIND, MARK_PADDING, MARK_FREE, MARK_PEAK, MARK_EDGE, MARK_COUNT } Mark;

typedef struct {
    const char *kind[BUFFER_KIND_COUNT];
    const char *mark[MARK_COUNT]; /* that of the kind is its own */
    const char *level[LEVELS + 1];
    const char *capacity, *placed; /* lines */
} Glyphs;

static const Glyphs ascii = {.kind = {"i", "a", "o", "w", "p", "s", "k"},
                             .mark = {"", "/", ".", ":", "|"},
                             .level = {"0", "1", "2", "3", "4", "5", "6", "7", "8"},
                             .capacity = "=",
                             .placed = "-"};
static const Glyphs unicode = {.kind = {"░", "▒", "▓", "█", "▞", "═", "─"},
                               .mark = {"", "╱", "·", "┊", "▏"},
                               .level = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
                               .capacity = "═",
                               .placed = "─"};

typedef struct {
    const Page *page;
    const Drawing *drawing;
    const Glyphs *glyphs;
    int margin;                             /* characters of a number before the axis */
    uint32_t room;                          /* characters behind it that there may be, */
    uint32_t width;                         /* and that there are */
    uint32_t peak_first;                    /* character at which the column of the peak begins */
    uint32_t longest[DRAWING_MOST_LETTERS]; /* characters of a storage's longest run */
    uint32_t named[DRAWING_MOST_LETTERS];   /* which of its runs that are so long gets the name, from the highest */
    uint32_t passed[DRAWING_MOST_LETTERS];  /* of them, while printing */
    bool has_kind[BUFFER_KIND_COUNT], has_mark[MARK_COUNT]; /* that the legend tells */
} Canvas;

/* One row: a character each, 0 for a mark. */
typedef struct {
    char *text;
    Mark *mark;
    uint32_t *owner;
} Line;

/* Cells of one row with the same owner, as characters [first, last). */
typedef struct {
    uint32_t row, owner, first, last;
} Run;

static bool next_run(const Canvas *canvas, Run *run) {
    const Drawing *drawing = canvas->drawing;
    uint32_t c = run->last / drawing->wide;
    if (c >= drawing->column_count) {
        return false;
    }
    run->owner = drawing_owner(drawing, run->row, c);
    run->first = c * drawing->wide;
    while (c < drawing->column_count && drawing_owner(drawing, run->row, c) == run->owner) {
        c++;
    }
    run->last = c * drawing->wide;
    return true;
}

/* Which letter an owner has, from 0; DRAWING_MOST_LETTERS without one. */
static uint32_t letter_of(const Drawing *drawing, uint32_t owner) {
    bool has_none = owner == NOBODY || drawing->letter[owner] == 0;
    return has_none ? DRAWING_MOST_LETTERS : (uint32_t)(drawing->letter[owner] - 'A');
}

/* ---- Where names stand: of the longest runs of a storage in the middle one */

static void count_run(Canvas *canvas, uint32_t letter, uint32_t length) {
    if (length > canvas->longest[letter]) {
        canvas->longest[letter] = length;
        canvas->named[letter] = 0;
    }
    canvas->named[letter] += length == canvas->longest[letter];
}

static void find_names(Canvas *canvas) {
    for (uint32_t r = 0; r < canvas->drawing->row_count; r++) {
        for (Run run = {.row = r}; next_run(canvas, &run);) {
            uint32_t letter = letter_of(canvas->drawing, run.owner);
            if (letter < DRAWING_MOST_LETTERS) {
                count_run(canvas, letter, run.last - run.first);
            }
        }
    }
    for (uint32_t i = 0; i < DRAWING_MOST_LETTERS; i++) {
        canvas->named[i] = (canvas->named[i] + 1) / 2;
    }
}

static bool is_ascii(Str text) {
    for (size_t i = 0; i < text.len; i++) {
        if ((uint8_t)text.ptr[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/* All of the drawing is local memory: only another form needs to be told. */
static Str short_name(const Page *page, uint32_t owner) {
    const Buffer *buffer = plan_buffer(page->facts->plan, (BufferId){owner});
    bool is_tensor = is_value(buffer->value) && facts_form_name(buffer) == NULL;
    return clean_text(page->scratch, is_tensor ? graph_value(page->facts->graph, buffer->value)->name
                                               : facts_buffer_name(page->facts, (BufferId){owner}, page->scratch));
}

/* " conv1 " where it has room behind the letter; empty where it has none, or nobody knows how wide it is. */
static Str name_in(const Canvas *canvas, const Run *run) {
    enum { LITTLE = 20 }; /* room for the end of a name alone, which tells more */
    uint32_t room = run->last - run->first - 1;
    Str name = short_name(canvas->page, run->owner);
    uint32_t least = text_width(name) < LEAST_NAME ? text_width(name) : LEAST_NAME;
    if (!is_ascii(name) || room < least + 1) {
        return (Str){0};
    }
    const TextCut cut = {room - 1, room < LITTLE ? 0 : TEXT_CUT_SIXTHS, 0};
    name = text_clip_name(canvas->page->scratch, name, cut);
    return arena_format(canvas->page->scratch, " " STR_FMT "%s", STR_ARG(name), name.len + 1 < room ? " " : "");
}

/* ---- One row */

/* Is the character padding, of a run in which `share` of the bytes is? Rows are shifted, so that it is a hatching. */
static bool is_padding(uint32_t row, uint32_t at, double share) {
    double before = share * (double)((uint64_t)row + at);
    double after = share * (double)((uint64_t)row + at + 1);
    return (uint64_t)after > (uint64_t)before;
}

static void draw_free(const Canvas *canvas, const Run *run, Line *line) {
    for (uint32_t x = run->first; x < run->last; x++) {
        line->mark[x] = x == canvas->peak_first ? MARK_PEAK : MARK_FREE;
    }
}

/* The mark of a kind behind a letter must not seem to be that letter's where it begins anew. */
static bool needs_edge(const Canvas *canvas, const Run *run, const Line *line) {
    const Plan *plan = canvas->page->facts->plan;
    uint32_t left = run->first == 0 ? NOBODY : line->owner[run->first - 1];
    return letter_of(canvas->drawing, run->owner) == DRAWING_MOST_LETTERS &&
           letter_of(canvas->drawing, left) < DRAWING_MOST_LETTERS &&
           plan->buffers[left].kind == plan->buffers[run->owner].kind;
}

static void draw_letter(Canvas *canvas, const Run *run, Line *line) {
    uint32_t letter = letter_of(canvas->drawing, run->owner);
    uint32_t length = run->last - run->first;
    if (letter == DRAWING_MOST_LETTERS) {
        if (needs_edge(canvas, run, line)) {
            line->mark[run->first] = MARK_EDGE;
        }
        return;
    }
    line->text[run->first] = (char)('A' + letter);
    if (length == canvas->longest[letter] && ++canvas->passed[letter] == canvas->named[letter]) {
        Str name = name_in(canvas, run);
        if (name.len > 0) {
            memcpy(&line->text[run->first + 1], name.ptr, name.len);
        }
    }
}

static void draw_run(Canvas *canvas, const Run *run, Line *line) {
    if (run->owner == NOBODY) {
        draw_free(canvas, run, line);
        return;
    }
    double ratio = facts_padding_ratio(plan_buffer(canvas->page->facts->plan, (BufferId){run->owner}));
    double share = ratio > 1 ? 1 - 1 / ratio : 0;
    for (uint32_t x = run->first; x < run->last; x++) {
        line->owner[x] = run->owner;
        line->mark[x] = is_padding(run->row, x, share) ? MARK_PADDING : MARK_KIND;
    }
    draw_letter(canvas, run, line);
}

static void note_signs(Canvas *canvas, const Line *line) {
    for (uint32_t x = 0; x < canvas->width; x++) {
        if (line->owner[x] != NOBODY) {
            canvas->has_kind[canvas->page->facts->plan->buffers[line->owner[x]].kind] = true;
        }
        canvas->has_mark[line->mark[x]] |= line->text[x] == 0;
    }
}

static Line draw_row(Canvas *canvas, uint32_t row) {
    Arena *scratch = canvas->page->scratch;
    Line line = {arena_array(scratch, char, canvas->width), arena_array(scratch, Mark, canvas->width),
                 arena_array(scratch, uint32_t, canvas->width)};
    for (uint32_t x = 0; x < canvas->width; x++) {
        line.owner[x] = NOBODY;
    }
    for (Run run = {.row = row}; next_run(canvas, &run);) {
        draw_run(canvas, &run, &line);
    }
    note_signs(canvas, &line);
    return line;
}

/* ---- Printing */

static const char *kind_color(BufferKind kind) {
    static const char *const code[] = {"\033[36m", "\033[32m", "\033[34m", "\033[35m", "\033[33m", "\033[31m", ""};
    return code[kind];
}

static const char *owner_color(const Canvas *canvas, uint32_t owner) {
    return owner == NOBODY ? "" : page_color(canvas->page, kind_color(canvas->page->facts->plan->buffers[owner].kind));
}

static const char *glyph(const Canvas *canvas, const Line *line, uint32_t x) {
    if (line->mark[x] != MARK_KIND) {
        return canvas->glyphs->mark[line->mark[x]];
    }
    return canvas->glyphs->kind[canvas->page->facts->plan->buffers[line->owner[x]].kind];
}

static bool is_alike(const Line *line, uint32_t x, uint32_t y) {
    return line->owner[x] == line->owner[y] && (line->text[x] != 0) == (line->text[y] != 0);
}

/* Letters and names stand out; a colour is on for as long as it lasts. */
static void print_line(const Canvas *canvas, const Line *line) {
    FILE *out = canvas->page->out;
    for (uint32_t x = 0; x < canvas->width;) {
        uint32_t first = x;
        bool is_owned = line->owner[x] != NOBODY;
        fprintf(out, "%s%s", owner_color(canvas, line->owner[x]),
                line->text[x] != 0 ? page_color(canvas->page, PAGE_REVERSE) : "");
        do {
            fprintf(out, "%.*s%s", line->text[x] != 0, &line->text[x],
                    line->text[x] != 0 ? "" : glyph(canvas, line, x));
            x++;
        } while (x < canvas->width && is_alike(line, x, first));
        fputs(is_owned ? page_color(canvas->page, PAGE_PLAIN) : "", out);
    }
    fputc('\n', out);
}

static void print_margin(const Canvas *canvas, Str text) {
    fprintf(canvas->page->out, "%*s" STR_FMT " ", PAGE_INDENT + canvas->margin - (int)text.len, "", STR_ARG(text));
}

/* "  16,384 +== capacity ======" */
static void print_rule(const Canvas *canvas, uint64_t address, const char *line, const char *color, const char *text) {
    FILE *out = canvas->page->out;
    uint32_t length = text_width(str_from(text)) + 4; /* two of the line, a blank on either side */
    print_margin(canvas, page_number(canvas->page, address));
    fprintf(out, "+%s%s%s %s ", page_color(canvas->page, color), line, line, text);
    for (uint32_t x = length; x < canvas->width; x++) {
        fputs(line, out);
    }
    fprintf(out, "%s\n", page_color(canvas->page, color[0] == '\0' ? "" : PAGE_PLAIN));
}

static void print_capacity(const Canvas *canvas, const char *more) {
    const Plan *plan = canvas->page->facts->plan;
    bool is_budget = plan->options.budget_bytes > 0;
    const char *text = arena_text(canvas->page->scratch, "%s%s", is_budget ? "--budget" : "capacity", more);
    print_rule(canvas, plan->capacity_bytes, canvas->glyphs->capacity, plan_local_fits(plan) ? PAGE_GOOD : PAGE_BAD,
               text);
}

static void print_top(const Canvas *canvas) {
    const Facts *facts = canvas->page->facts;
    Arena *scratch = canvas->page->scratch;
    const char *text = "placed";
    if (facts->excess_bytes > 0) {
        text = arena_text(scratch, "placed, %s too many", page_count(canvas->page, facts->excess_bytes, "byte"));
    } else if (facts->spare_bytes == 0) {
        print_capacity(canvas, ", all of it placed");
        return;
    } else {
        print_capacity(canvas, arena_text(scratch, ", %s free (not to scale)",
                                          page_count(canvas->page, facts->spare_bytes, "byte")));
    }
    print_rule(canvas, facts->plan->placed_bytes, canvas->glyphs->placed, "", text);
}

static void print_rows(Canvas *canvas) {
    const Drawing *drawing = canvas->drawing;
    uint64_t capacity = canvas->page->facts->plan->capacity_bytes;
    for (uint32_t r = drawing->row_count; r-- > 0;) {
        Line line = draw_row(canvas, r);
        print_margin(canvas, page_number(canvas->page, drawing->row[r]));
        fputc('|', canvas->page->out);
        print_line(canvas, &line);
        if (drawing->row[r] == capacity && r > 0) {
            print_capacity(canvas, "");
        }
    }
}

/* ---- Below: how much is alive, steps, the peak */

/* The most that is alive in a column, in eighths of the peak, rounded up. */
static uint32_t column_level(const Canvas *canvas, uint32_t column) {
    const Plan *plan = canvas->page->facts->plan;
    uint64_t last = drawing_first_step(canvas->drawing, (uint64_t)column + 1);
    uint64_t most = 0;
    for (uint64_t s = drawing_first_step(canvas->drawing, column); s < last && s < plan->step_count; s++) {
        most = plan->steps[s].live_bytes > most ? plan->steps[s].live_bytes : most;
    }
    double eighths = plan->peak_live_bytes == 0 ? 0 : LEVELS * ((double)most / (double)plan->peak_live_bytes);
    uint32_t level = (uint32_t)eighths;
    return level < LEVELS && (double)level < eighths ? level + 1 : level;
}

static void print_live(const Canvas *canvas) {
    const Drawing *drawing = canvas->drawing;
    if (canvas->page->facts->plan->step_count == 0) {
        return;
    }
    print_margin(canvas, STR("live"));
    fputc('|', canvas->page->out);
    for (uint32_t x = 0; x < canvas->width; x++) {
        fputs(canvas->glyphs->level[column_level(canvas, x / drawing->wide)], canvas->page->out);
    }
    fputc('\n', canvas->page->out);
}

/* Numbers of steps, apart from each other. */
static void print_steps(const Canvas *canvas) {
    enum { APART = 2 };
    const Drawing *drawing = canvas->drawing;
    uint32_t used = 0; /* characters behind the axis */
    print_margin(canvas, STR("step"));
    fputc(' ', canvas->page->out);
    for (uint32_t c = 0; c < drawing->column_count; c++) {
        uint32_t at = c * drawing->wide;
        Str step = arena_format(canvas->page->scratch, "%" PRIu64, drawing_first_step(drawing, c));
        if ((c > 0 && at < used + APART) || at + step.len > canvas->width) {
            continue;
        }
        fprintf(canvas->page->out, "%*s" STR_FMT, (int)(at - used), "", STR_ARG(step));
        used = at + (uint32_t)step.len;
    }
    fputc('\n', canvas->page->out);
}

static void print_peak(const Canvas *canvas) {
    const Plan *plan = canvas->page->facts->plan;
    const Page *page = canvas->page;
    Str text =
        arena_format(page->scratch, "peak: %s alive%s", page_count(page, plan->peak_live_bytes, "byte"),
                     plan->step_count == 0 ? "" : arena_text(page->scratch, " at step %" PRIu32, plan->peak_step));
    uint32_t used = canvas->peak_first + 1;
    bool is_before = canvas->peak_first > text.len; /* there is room for it before the mark */
    bool is_behind = !is_before && used + 1 + text.len <= canvas->room;
    print_margin(canvas, STR(""));
    if (is_before) {
        fprintf(page->out, "%*s" STR_FMT " ^\n", (int)(canvas->peak_first - text.len), "", STR_ARG(text));
    } else {
        fprintf(page->out, "%*s^%s%s\n", (int)used, "", is_behind ? " " : "", is_behind ? text.ptr : "");
    }
}

/* ---- The legend */

static void add_sign(const Page *page, Str *list, const char *color, const char *sign, const char *meaning) {
    *list = arena_format(page->scratch, STR_FMT "%s%s%s%s %s", STR_ARG(*list), list->len == 0 ? "" : "  ",
                         page_color(page, color), sign, page_color(page, color[0] == '\0' ? "" : PAGE_PLAIN), meaning);
}

static bool has_tiles(const Plan *plan) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].repeat > 1) {
            return true;
        }
    }
    return false;
}

/* Only what is there. */
static void print_signs(const Canvas *canvas) {
    static const char *const meaning[] = {"", "padding", "free", "peak", "another begins"};
    const Page *page = canvas->page;
    Str list = STR("");
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        if (canvas->has_kind[kind]) {
            add_sign(page, &list, kind_color((BufferKind)kind), canvas->glyphs->kind[kind],
                     buffer_kind_name((BufferKind)kind));
        }
    }
    for (int mark = MARK_PADDING; mark < MARK_COUNT; mark++) {
        if (canvas->has_mark[mark]) {
            add_sign(page, &list, "", canvas->glyphs->mark[mark], meaning[mark]);
        }
    }
    page_line(page, STR_FMT, STR_ARG(list));
    page_line(page, "live: the most in a column, in eighths of the peak, rounded up%s",
              has_tiles(page->facts->plan) ? "; a step of a sweep stands for all its tiles" : "");
    if (!canvas->drawing->has_letters_for_all) {
        page_line(page, "letters: the %" PRIu32 " that hold most; without a letter: smaller ones, many in one place",
                  canvas->drawing->letter_count);
    }
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

static void print_letters(const Page *page, const Drawing *drawing) {
    static const char *const heads[] = {"", "physical", "logical", "kind", "alive", "name", ""};
    Table table;
    table_init(&table, page->scratch, "lrrlsns");
    table_head(&table, heads);
    for (uint32_t i = 0; i < drawing->letter_count; i++) {
        BufferId id = {drawing->lettered[i]};
        const Buffer *buffer = plan_buffer(page->facts->plan, id);
        table_add(&table, (Str){&drawing->letter[id.index], 1});
        table_number(&table, buffer->physical_bytes);
        table_number(&table, buffer->logical_bytes);
        table_text(&table, buffer_kind_name(buffer->kind));
        table_add(&table, text_steps(page->scratch, buffer->storage_first, buffer->storage_last));
        table_add(&table, facts_buffer_name(page->facts, id, page->scratch));
        table_add(&table, storage_note(page, drawing, id.index));
    }
    if (drawing->letter_count > 0) {
        table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    }
    if (page->facts->device->memory[page->facts->device->local].lanes > 1) {
        page_line(page, "physical: of one lane; logical: of all");
    }
}

/* ---- All of it */

/* Characters of the widest number before the axis. */
static int margin_width(const Page *page) {
    size_t placed = page_number(page, page->facts->plan->placed_bytes).len;
    size_t capacity = page_number(page, page->facts->plan->capacity_bytes).len;
    size_t widest = placed > capacity ? placed : capacity;
    return widest > LEAST_MARGIN ? (int)widest : LEAST_MARGIN;
}

/* "3 steps", "2 or 3 steps" */
static const char *column_text(const Page *page, const Drawing *drawing) {
    uint32_t least = drawing->step_count / drawing->column_count;
    bool is_even = drawing->step_count % drawing->column_count == 0;
    return is_even
               ? page_count(page, least, "step")
               : arena_text(page->scratch, "%" PRIu32 " or %s", least, page_count(page, (uint64_t)least + 1, "step"));
}

static uint32_t peak_character(const Page *page, const Drawing *drawing) {
    uint32_t column = drawing->column_count - 1;
    while (column > 0 && drawing_first_step(drawing, column) > page->facts->plan->peak_step) {
        column--;
    }
    return column * drawing->wide;
}

void page_drawing(const Page *page) {
    if (page->facts->plan->placed_bytes == 0) {
        return;
    }
    Drawing drawing;
    int margin = margin_width(page);
    uint32_t columns = page->style.columns < MOST_COLUMNS ? page->style.columns : MOST_COLUMNS;
    uint32_t room = columns - (uint32_t)(PAGE_INDENT + margin + 2);
    drawing_make(page, room, &drawing);
    Canvas canvas = {.page = page,
                     .drawing = &drawing,
                     .glyphs = page->style.has_unicode ? &unicode : &ascii,
                     .margin = margin,
                     .room = room,
                     .width = drawing.column_count * drawing.wide,
                     .peak_first = peak_character(page, &drawing)};
    find_names(&canvas);
    page_heading(page, "time and address: a row reaches up to the next, a column is %s", column_text(page, &drawing));
    print_top(&canvas);
    print_rows(&canvas);
    print_live(&canvas);
    print_steps(&canvas);
    print_peak(&canvas);
    print_signs(&canvas);
    print_letters(page, &drawing);
}
