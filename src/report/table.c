/* Tables: as wide as their cells, never wider than the page. */
#include "report/text.h"

#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2 }; /* spaces between columns */

void table_init(Table *table, Arena *arena, const char *columns) {
    CHECK(strlen(columns) <= TABLE_MOST_COLUMNS);
    *table = (Table){.arena = arena, .columns = columns};
}

void table_add(Table *table, Str cell) {
    table->cell = arena_grow(table->arena, table->cell, table->count, &table->capacity, sizeof *table->cell);
    table->cell[table->count++] = clean_text(table->arena, cell);
}

void table_text(Table *table, const char *cell) {
    table_add(table, str_from(cell));
}

void table_number(Table *table, uint64_t number) {
    table_add(table, text_number(table->arena, number));
}

void table_head(Table *table, const char *const *heads) {
    for (size_t k = 0; table->columns[k] != '\0'; k++) {
        table_text(table, heads[k]);
    }
}

/* Takes up to `over` characters from the columns of one kind, the widest first, but leaves each 8. What is still too
 * much. */
static uint32_t shrink(const Table *table, char kind, uint32_t over, uint32_t *width) {
    enum { LEAST = 8 };
    while (over > 0) {
        size_t widest = TABLE_MOST_COLUMNS;
        for (size_t k = 0; table->columns[k] != '\0'; k++) {
            bool gives = table->columns[k] == kind && width[k] > LEAST;
            widest = gives && (widest == TABLE_MOST_COLUMNS || width[k] > width[widest]) ? k : widest;
        }
        if (widest == TABLE_MOST_COLUMNS) {
            break;
        }
        width[widest]--;
        over--;
    }
    return over;
}

/* As wide as their cells; where that is too much, names give way first, then other text, numbers never. */
static void fit_columns(const Table *table, uint32_t room, uint32_t *width) {
    size_t columns = strlen(table->columns);
    uint32_t all = GAP * (uint32_t)(columns - 1);
    for (size_t k = 0; k < columns; k++) {
        width[k] = 0;
        for (size_t i = k; i < table->count; i += columns) {
            uint32_t cell = text_width(table->cell[i]);
            width[k] = cell > width[k] ? cell : width[k];
        }
        all += width[k];
    }
    uint32_t over = all > room ? all - room : 0;
    shrink(table, 'l', shrink(table, 'n', over, width), width);
}

/* A name, and what is left of it. */
typedef struct {
    Str name, text;
} Clipped;

static int by_str(Str a, Str b) {
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_text(const void *left, const void *right) {
    const Clipped *a = left;
    const Clipped *b = right;
    int order = by_str(a->text, b->text);
    return order != 0 ? order : by_str(a->name, b->name);
}

/* Do two different names of a column become one text? */
static bool makes_twins(const Table *table, size_t column, TextCut cut) {
    size_t columns = strlen(table->columns);
    Clipped *all = arena_array(table->arena, Clipped, table->count / columns);
    size_t count = 0;
    for (size_t i = column; i < table->count; i += columns) {
        if (table->cell[i].len > 0) {
            all[count++] = (Clipped){table->cell[i], text_clip_name(table->arena, table->cell[i], cut)};
        }
    }
    if (count > 0) {
        qsort(all, count, sizeof *all, by_text);
    }
    for (size_t i = 1; i < count; i++) {
        if (str_eq(all[i].text, all[i - 1].text) && !str_eq(all[i].name, all[i - 1].name)) {
            return true;
        }
    }
    return false;
}

/* Characters with which all names of a column begin that are too long for it. */
static uint32_t common_beginning(const Table *table, size_t column, uint32_t width) {
    size_t columns = strlen(table->columns);
    Str first = {0};
    size_t common = 0;
    for (size_t i = column; i < table->count; i += columns) {
        Str cell = table->cell[i];
        if (text_width(cell) <= width) {
            continue;
        }
        if (first.len == 0) {
            first = cell;
            common = cell.len;
        }
        size_t same = 0;
        while (same < common && same < cell.len && cell.ptr[same] == first.ptr[same]) {
            same++;
        }
        common = same;
    }
    while (common > 0 && common < first.len && ((uint8_t)first.ptr[common] & 0xC0) == 0x80) {
        common--; /* not inside a character */
    }
    return text_width((Str){first.ptr, common});
}

/* Where to cut names: the first place that keeps all of them apart; the usual one where none does. */
static TextCut choose_cut(const Table *table, size_t column, uint32_t width) {
    static const uint32_t sixths[] = {TEXT_CUT_SIXTHS, 3, 1, 4, 0, 5};
    const TextCut usual = {width, TEXT_CUT_SIXTHS, 0};
    if (!makes_twins(table, column, usual)) {
        return usual;
    }
    for (uint32_t skip = 0, round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof sixths / sizeof *sixths; i++) {
            const TextCut cut = {width, sixths[i], skip};
            if (!makes_twins(table, column, cut)) {
                return cut;
            }
        }
        skip = common_beginning(table, column, width);
    }
    return usual;
}

static Str fit_cell(const Table *table, size_t column, Str cell, TextCut cut) {
    return table->columns[column] == 'n' ? text_clip_name(table->arena, cell, cut)
                                         : text_clip(table->arena, cell, cut.most);
}

static void print_cell(Str text, char align, uint32_t width, FILE *out) {
    int pad = (int)(width - text_width(text));
    if (align == 'r') {
        fprintf(out, "%*s" STR_FMT, pad, "", STR_ARG(text));
    } else {
        fprintf(out, STR_FMT "%*s", STR_ARG(text), pad, "");
    }
}

/* Is nothing but blanks left on this line? */
static bool is_empty_to_end(const Table *table, size_t from, size_t end) {
    for (size_t i = from; i < end; i++) {
        if (table->cell[i].len > 0) {
            return false;
        }
    }
    return true;
}

void table_print(const Table *table, uint32_t indent, uint32_t width, FILE *out) {
    uint32_t column_width[TABLE_MOST_COLUMNS];
    TextCut cut[TABLE_MOST_COLUMNS];
    size_t columns = strlen(table->columns);
    fit_columns(table, width - indent, column_width);
    for (size_t k = 0; k < columns; k++) {
        cut[k] = table->columns[k] == 'n' ? choose_cut(table, k, column_width[k]) : (TextCut){column_width[k], 0, 0};
    }
    for (size_t row = 0; row + columns <= table->count; row += columns) {
        fprintf(out, "%*s", (int)indent, "");
        for (size_t k = 0; k < columns; k++) {
            char align = table->columns[k];
            bool is_last = is_empty_to_end(table, row + k + 1, row + columns);
            Str cell = fit_cell(table, k, table->cell[row + k], cut[k]);
            if (is_last && align != 'r') { /* no blanks at the end of a line */
                fprintf(out, STR_FMT, STR_ARG(cell));
                break;
            }
            print_cell(cell, align, column_width[k], out);
            if (is_last) {
                break;
            }
            fprintf(out, "%*s", GAP, "");
        }
        fputc('\n', out);
    }
}
