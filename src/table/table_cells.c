/* Cells of a table: numbers, ranges, gaps. */
#include "table/table_cells.h"

#include "base/checked.h"
#include "base/nearest.h"
#include "solver/spans.h"

#include <inttypes.h>
#include <string.h>

/* A longer line or cell says nothing to anyone. */
enum { MOST_SHOWN = 160 };

Str cell_value(const TableReader *reader, TableColumn column) {
    static const Str absent = {0};
    int field = reader->table->field[column];
    return field == TABLE_ABSENT ? absent : reader->csv.field[field].value;
}

const char *cell_shown(const TableReader *reader, Str text) {
    const size_t len = text.len < MOST_SHOWN ? text.len : MOST_SHOWN;
    char part[2 * MOST_SHOWN];
    size_t shown = 0;
    for (size_t k = 0; k < len; k++) {
        const bool is_tab = text.ptr[k] == '\t';
        part[shown] = '\\';
        shown += is_tab;
        part[shown++] = (char)(is_tab ? 't' : text.ptr[k] == '\0' ? '?' : text.ptr[k]); /* NUL would end the text */
    }
    return arena_text(&reader->work->keep, "%.*s%s", (int)shown, part, len < text.len ? "…" : "");
}

static void add_cell(const TableReader *reader, TableColumn column, DiagKind kind, DiagText text) {
    Arena *arena = &reader->work->keep;
    const CsvReader *csv = &reader->csv;
    const CsvField *field = &csv->field[reader->table->field[column]];
    text.place = arena_text(arena, "line %" PRIu64 ", column '" STR_FMT "'", csv->line, STR_ARG(reader->title[column]));
    text.got = text.got != NULL ? text.got : cell_shown(reader, field->value);
    if (csv->record.len <= MOST_SHOWN && memchr(csv->record.ptr, '\n', csv->record.len) == NULL) {
        text.excerpt = csv->record;
        text.column = (uint32_t)(field->text.ptr - csv->record.ptr) + 1;
    }
    diag_add(&reader->work->diags, kind, text);
}

bool cell_error(const TableReader *reader, TableColumn column, DiagText text) {
    add_cell(reader, column, DIAG_ERROR, text);
    return false;
}

bool cell_refuse(const TableReader *reader, TableColumn column, DiagText text) {
    add_cell(reader, column, DIAG_REFUSED, text);
    return false;
}

/* ---- Numbers */

/* "write 65536" for 64K. */
static const char *number_hint(const TableReader *reader, Str value) {
    uint64_t bytes;
    return !str_to_u64(value, &bytes) && nearest_bytes_meant(value, &bytes)
               ? arena_text(&reader->work->keep, "write %" PRIu64, bytes)
               : NULL;
}

bool cell_number(const TableReader *reader, TableColumn column, uint64_t least, uint64_t *number) {
    Str value = cell_value(reader, column);
    if (str_to_u64(value, number) && *number >= least) {
        return true;
    }
    return cell_error(
        reader, column,
        (DiagText){.what = value.len == 0 ? "the cell is empty" : "not a number that can be used",
                   .expected = arena_text(&reader->work->keep,
                                          "a whole number from %" PRIu64 " to 18446744073709551615", least),
                   .hint = number_hint(reader, value)});
}

/* ---- Ranges */

/* `last` is half-open, and no more than `first`. */
static const char *range_hint(bool includes_end, uint64_t first, uint64_t last) {
    return includes_end   ? "the first step stands behind the last: are the two swapped?"
           : first > last ? "the first step stands behind the one after the last: are the two swapped?"
                          : "name the column 'end' if the last step is included";
}

bool cell_range(const TableReader *reader, uint64_t *first, uint64_t *last) {
    const bool includes_end = reader->table->includes_end;
    if (!cell_number(reader, TABLE_FIRST, 0, first) || !cell_number(reader, TABLE_LAST, 0, last)) {
        return false;
    }
    if (includes_end && !checked_add(*last, 1, last)) {
        return cell_error(reader, TABLE_LAST,
                          (DiagText){.what = "the step after this one has no number of 64 bits",
                                     .expected = "at most 18446744073709551614"});
    }
    if (*first < *last) {
        return true;
    }
    return cell_error(reader, TABLE_LAST,
                      (DiagText){.what = "the buffer lives in no step",
                                 .expected = arena_text(&reader->work->keep, "%s %" PRIu64,
                                                        includes_end ? "at least" : "more than", *first),
                                 .hint = range_hint(includes_end, *first, *last)});
}

/* ---- Gaps */

static bool read_gap(const TableReader *reader, const TableRow *row, Str text, PlaceSpan *gap) {
    const char *got = cell_shown(reader, text);
    if (text.len > 0 && memchr(text.ptr, '@', text.len) != NULL) {
        return cell_refuse(reader, TABLE_GAPS,
                           (DiagText){.what = "a gap of some of the bytes is not supported",
                                      .got = got,
                                      .expected = "a gap of all bytes: FIRST-LAST",
                                      .hint = "leave the gap out: all of the buffer is then live there"});
    }
    Str last = text;
    Str first = str_cut(&last, '-');
    if (!str_to_u64(first, &gap->first) || !str_to_u64(last, &gap->last) ||
        (reader->table->includes_end && !checked_add(gap->last, 1, &gap->last))) {
        return cell_error(reader, TABLE_GAPS,
                          (DiagText){.what = "not a gap", .got = got, .expected = "FIRST-LAST, such as 3-5 8-9"});
    }
    if (gap->first >= gap->last || gap->first < row->first || gap->last > row->last) {
        const char *range =
            arena_text(&reader->work->keep, "steps from %" PRIu64 " up to, without, %" PRIu64, row->first, row->last);
        return cell_error(
            reader, TABLE_GAPS,
            (DiagText){.what = gap->first >= gap->last ? "the gap is empty" : "the gap is not within the buffer's life",
                       .got = got,
                       .expected = range});
    }
    return true;
}

static size_t count_words(Str text) {
    size_t count = 0;
    for (size_t k = 0; k < text.len; k++) {
        count += !str_is_space(text.ptr[k]) && (k == 0 || str_is_space(text.ptr[k - 1]));
    }
    return count;
}

static Str next_word(Str *rest) {
    *rest = str_trim(*rest);
    size_t len = 0;
    while (len < rest->len && !str_is_space(rest->ptr[len])) {
        len++;
    }
    Str word = {rest->ptr, len};
    *rest = (Str){rest->ptr + len, rest->len - len};
    return word;
}

/* No gap touches an end of the range. False where nothing is left of it. */
static bool trim_range(TableRow *row, PlaceSpan *gap, size_t count) {
    if (gap[0].first == row->first) {
        row->first = gap[0].last;
        gap++;
        count--;
    }
    if (count > 0 && gap[count - 1].last == row->last) {
        row->last = gap[count - 1].first;
        count--;
    }
    row->gap = gap;
    row->gap_count = count;
    return row->first < row->last;
}

bool cell_gaps(const TableReader *reader, TableRow *row) {
    Str rest = cell_value(reader, TABLE_GAPS);
    size_t count = count_words(rest);
    if (count == 0) {
        return true;
    }
    PlaceSpan *gap = arena_array(&reader->work->keep, PlaceSpan, count);
    for (size_t k = 0; k < count; k++) {
        if (!read_gap(reader, row, next_word(&rest), &gap[k])) {
            return false;
        }
    }
    return trim_range(row, gap, spans_join(gap, count)) ||
           cell_error(reader, TABLE_GAPS, (DiagText){.what = "the gaps leave no step to live in"});
}
