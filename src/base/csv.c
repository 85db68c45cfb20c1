/* CSV: one pass over the bytes. Invariant: `rest` begins at a record's first byte, or is empty. */
#include "base/csv.h"

#include <string.h>

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

CsvReader csv_reader(Str text, Arena *arena) {
    const Str mark = STR("\xEF\xBB\xBF");
    if (str_starts(text, mark)) {
        text = (Str){text.ptr + mark.len, text.len - mark.len};
    }
    return (CsvReader){.rest = text, .next_line = 1, .arena = arena};
}

/* Takes the end of a line that stands at the front of `rest`; empty where none does. */
static Str take_ending(CsvReader *csv) {
    const Str rest = csv->rest;
    size_t len = rest.len == 0 || !is_line_end(rest.ptr[0]) ? 0 : 1;
    if (rest.len > 1 && rest.ptr[0] == '\r' && rest.ptr[1] == '\n') {
        len = 2;
    }
    csv->rest = (Str){rest.ptr + len, rest.len - len};
    csv->next_line += len > 0;
    return (Str){rest.ptr, len};
}

/* An offset in `rest` becomes the line and column of what is wrong. */
static bool fail(CsvReader *csv, size_t at, const char *what) {
    size_t line_start = 0;
    csv->line = csv->next_line;
    for (size_t k = 0; k < at; k++) {
        if (csv->rest.ptr[k] == '\n' || (csv->rest.ptr[k] == '\r' && csv->rest.ptr[k + 1] != '\n')) {
            csv->line++;
            line_start = k + 1;
        }
    }
    csv->column = at - line_start + 1;
    csv->what = what;
    return false;
}

/* What stands in quotes, whose first is at `from` and whose last before `end`. */
static Str unquote(const CsvReader *csv, size_t from, size_t end) {
    const Str quoted = {csv->rest.ptr + from + 1, end - from - 2};
    if (quoted.len == 0 || memchr(quoted.ptr, '"', quoted.len) == NULL) {
        return quoted;
    }
    char *plain = arena_alloc(csv->arena, quoted.len, 1);
    size_t len = 0;
    for (size_t k = 0; k < quoted.len; k++) {
        plain[len++] = quoted.ptr[k];
        k += quoted.ptr[k] == '"';
    }
    return (Str){plain, len};
}

static void add_field(CsvReader *csv, CsvField field) {
    csv->field = arena_grow(csv->arena, csv->field, csv->field_count, &csv->field_capacity, sizeof *csv->field);
    csv->field[csv->field_count++] = field;
}

/* A field whose first quote is at `quote`; the place behind it, or 0 where something is wrong. */
static size_t read_quoted(CsvReader *csv, size_t from, size_t quote) {
    const Str rest = csv->rest;
    size_t at = quote + 1;
    while (at < rest.len && (rest.ptr[at] != '"' || (at + 1 < rest.len && rest.ptr[at + 1] == '"'))) {
        at += rest.ptr[at] == '"' ? 2 : 1;
    }
    if (at >= rest.len) {
        fail(csv, quote, "a quote is never closed");
        return 0;
    }
    size_t end = at + 1;
    size_t behind = end;
    while (behind < rest.len && is_blank(rest.ptr[behind])) {
        behind++;
    }
    if (behind < rest.len && rest.ptr[behind] != ',' && !is_line_end(rest.ptr[behind])) {
        fail(csv, behind, "text stands behind a closing quote");
        return 0;
    }
    add_field(csv, (CsvField){{rest.ptr + from, behind - from}, unquote(csv, quote, end)});
    return behind;
}

/* The field that begins at `from`; the place behind it, or 0 where something is wrong. */
static size_t read_field(CsvReader *csv, size_t from) {
    const Str rest = csv->rest;
    size_t at = from;
    while (at < rest.len && is_blank(rest.ptr[at])) {
        at++;
    }
    if (at < rest.len && rest.ptr[at] == '"') {
        return read_quoted(csv, from, at);
    }
    while (at < rest.len && rest.ptr[at] != ',' && !is_line_end(rest.ptr[at])) {
        at++;
    }
    const Str text = {rest.ptr + from, at - from};
    add_field(csv, (CsvField){text, str_trim(text)});
    return at;
}

/* Lines inside quotes count too. */
static uint64_t count_lines(Str record) {
    uint64_t count = 0;
    for (size_t k = 0; k < record.len; k++) {
        count += record.ptr[k] == '\n' || (record.ptr[k] == '\r' && (k + 1 == record.len || record.ptr[k + 1] != '\n'));
    }
    return count;
}

/* Skips a line of nothing but white space. */
static bool skip_blank_line(CsvReader *csv) {
    size_t at = 0;
    while (at < csv->rest.len && is_blank(csv->rest.ptr[at])) {
        at++;
    }
    if (csv->rest.len == 0 || (at < csv->rest.len && !is_line_end(csv->rest.ptr[at]))) {
        return false;
    }
    csv->rest = (Str){csv->rest.ptr + at, csv->rest.len - at};
    take_ending(csv);
    return true;
}

/* The fields of a record; how long it is. */
static size_t read_fields(CsvReader *csv) {
    csv->field_count = 0;
    size_t at = read_field(csv, 0);
    while (csv->what == NULL && at < csv->rest.len && csv->rest.ptr[at] == ',') {
        at = read_field(csv, at + 1);
    }
    return at;
}

bool csv_read(CsvReader *csv) {
    while (csv->what == NULL && skip_blank_line(csv)) {
    }
    size_t len = csv->what != NULL || csv->rest.len == 0 ? 0 : read_fields(csv);
    if (csv->what != NULL || csv->rest.len == 0) {
        return false;
    }
    csv->line = csv->next_line;
    csv->record = (Str){csv->rest.ptr, len};
    csv->rest = (Str){csv->rest.ptr + len, csv->rest.len - len};
    csv->next_line += count_lines(csv->record);
    csv->ending = take_ending(csv);
    return true;
}
