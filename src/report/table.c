/* Tables: as wide as their cells, never wider than the page. */
#include "report/text.h"

#include "base/fault.h"

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

/* Takes up to `over` characters from the columns of one kind, but leaves each 8. What is still too much. */
static uint32_t shrink(const Table *table, char kind, uint32_t over, uint32_t *width) {
    enum { LEAST = 8 };
    for (size_t k = 0; table->columns[k] != '\0'; k++) {
        uint32_t spare = width[k] > LEAST ? width[k] - LEAST : 0;
        uint32_t taken = table->columns[k] != kind ? 0 : spare < over ? spare : over;
        width[k] -= taken;
        over -= taken;
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

static void print_cell(const Table *table, Str cell, char align, uint32_t width, FILE *out) {
    Str text = text_clip(table->arena, cell, width);
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
    size_t columns = strlen(table->columns);
    fit_columns(table, width - indent, column_width);
    for (size_t row = 0; row + columns <= table->count; row += columns) {
        fprintf(out, "%*s", (int)indent, "");
        for (size_t k = 0; k < columns; k++) {
            char align = table->columns[k];
            bool is_last = is_empty_to_end(table, row + k + 1, row + columns);
            Str cell = table->cell[row + k];
            if (is_last && align != 'r') { /* no blanks at the end of a line */
                cell = text_clip(table->arena, cell, column_width[k]);
                fprintf(out, STR_FMT, STR_ARG(cell));
                break;
            }
            print_cell(table, cell, align, column_width[k], out);
            if (is_last) {
                break;
            }
            fprintf(out, "%*s", GAP, "");
        }
        fputc('\n', out);
    }
}
