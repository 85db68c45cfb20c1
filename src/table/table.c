/* Reading a table of buffers: the columns by their names, then row by row. What is wrong with a row is told, and the
 * next rows are looked at too. */
#include "table/table.h"

#include "base/name_map.h"
#include "base/nearest.h"
#include "table/table_cells.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* More are not shown. */
enum { MOST_ERRORS = 20 };

static const struct {
    const char *name;
    TableColumn column;
} COLUMN[] = {
    {"id", TABLE_ID},
    {"lower", TABLE_FIRST},
    {"upper", TABLE_LAST},
    {"size", TABLE_SIZE},
    {"alignment", TABLE_ALIGNMENT},
    {"hint", TABLE_HINT},
    {"gaps", TABLE_GAPS},
    {"offset", TABLE_OFFSET},
    {"memory", TABLE_MEMORY},
    {"share", TABLE_SHARE},
    {"apart", TABLE_APART},
    /* other names of some */
    {"start", TABLE_FIRST},
    {"begin", TABLE_FIRST},
    {"end", TABLE_LAST},
    {"buffer", TABLE_ID},
    {"buffer_id", TABLE_ID},
};

enum { NAMES = sizeof COLUMN / sizeof *COLUMN };

/* ---- Columns */

static bool is_named(Str title, const char *name) {
    return title.len == strlen(name) && strncasecmp(title.ptr, name, title.len) == 0;
}

/* Which of the names; NAMES where none is. */
static size_t find_name(Str title) {
    size_t k = 0;
    while (k < NAMES && !is_named(title, COLUMN[k].name)) {
        k++;
    }
    return k;
}

static const char *line_text(const TableReader *reader) {
    return arena_text(&reader->work->keep, "line %" PRIu64, reader->csv.line);
}

/* What other programs call the columns. */
static const struct {
    const char *other, *name;
} MEANT[] = {
    {"pin", "offset"},      {"pinned", "offset"}, {"address", "offset"}, {"addr", "offset"},    {"position", "offset"},
    {"align", "alignment"}, {"bytes", "size"},    {"length", "size"},    {"from", "lower"},     {"first", "lower"},
    {"to", "upper"},        {"until", "upper"},   {"stop", "upper"},     {"last", "end"},       {"name", "id"},
    {"bank", "memory"},     {"alias", "share"},   {"gap", "gaps"},       {"conflict", "apart"},
};

static bool is_absent(const TableReader *reader, const char *name) {
    return reader->table->field[COLUMN[find_name(str_from(name))].column] == TABLE_ABSENT;
}

/* Which column that is not there a title without a meaning probably stands for; null where it is none. */
static const char *meant_by(const TableReader *reader, Str title) {
    if (find_name(title) < NAMES) {
        return NULL;
    }
    for (size_t k = 0; k < sizeof MEANT / sizeof *MEANT; k++) {
        if (is_named(title, MEANT[k].other)) {
            return is_absent(reader, MEANT[k].name) ? MEANT[k].name : NULL;
        }
    }
    Nearest nearest = {.typed = title};
    for (size_t k = 0; k < NAMES; k++) {
        nearest_offer(&nearest, is_absent(reader, COLUMN[k].name) ? str_from(COLUMN[k].name) : (Str){0});
    }
    return nearest.name.ptr; /* ended by NUL, as all of them are */
}

/* A column that was probably misspelled would silently be without effect. */
static void warn_of_slip(const TableReader *reader, Str title) {
    Arena *arena = &reader->work->keep;
    const char *meant = meant_by(reader, title);
    if (meant != NULL) {
        diag_warn(&reader->work->diags, (DiagText){.place = line_text(reader),
                                                   .what = "the column has no meaning and is only kept",
                                                   .got = cell_shown(reader, title),
                                                   .hint = arena_text(arena, "did you mean '%s'?", meant)});
    }
}

static bool take_column(TableReader *reader, int field) {
    Table *table = reader->table;
    Str title = reader->csv.field[field].value;
    const size_t k = find_name(title);
    if (k == NAMES) {
        return true;
    }
    TableColumn column = COLUMN[k].column;
    if (table->field[column] != TABLE_ABSENT) {
        Arena *arena = &reader->work->keep;
        Str other = reader->title[column];
        return diag_error(
            &reader->work->diags,
            (DiagText){.place = line_text(reader),
                       .what = column == TABLE_LAST ? "the last step is told twice: 'upper' is the "
                                                      "step after it, 'end' is the step itself"
                                                    : "two columns mean the same",
                       .got = arena_text(arena, "'" STR_FMT "' and '" STR_FMT "'", STR_ARG(other), STR_ARG(title)),
                       .expected = "one of them"});
    }
    table->field[column] = field;
    table->includes_end = table->includes_end || is_named(title, "end");
    reader->title[column] = title;
    return true;
}

/* "did you mean 'lower' by 'from', 'upper' by 'to'?" */
static const char *slips_hint(const TableReader *reader) {
    Arena *arena = &reader->work->keep;
    const char *slips = "";
    for (size_t field = 0; field < reader->csv.field_count; field++) {
        Str title = reader->csv.field[field].value;
        const char *meant = meant_by(reader, title);
        if (meant != NULL) {
            slips = arena_text(arena, "%s%s'%s' by '%s'", slips, slips[0] == '\0' ? "" : ", ", meant,
                               cell_shown(reader, title));
        }
    }
    return slips[0] == '\0' ? "the first line names the columns, such as id,lower,upper,size"
                            : arena_text(arena, "did you mean %s?", slips);
}

/* What the file is, if it is no such table. */
static const char *header_hint(const TableReader *reader) {
    Str record = reader->csv.record;
    if (record.len > 1 && (memcmp(record.ptr, "\xFF\xFE", 2) == 0 || memcmp(record.ptr, "\xFE\xFF", 2) == 0)) {
        return "save the file as UTF-8: this is UTF-16";
    }
    if (reader->csv.field_count == 1 && record.len > 0 &&
        (memchr(record.ptr, ';', record.len) != NULL || memchr(record.ptr, '\t', record.len) != NULL)) {
        return "separate the columns by commas";
    }
    return slips_hint(reader);
}

static bool has_needed_columns(const TableReader *reader) {
    Arena *arena = &reader->work->keep;
    const char *missing = NULL;
    for (size_t k = 0; k <= TABLE_SIZE; k++) {
        if (reader->table->field[COLUMN[k].column] == TABLE_ABSENT) {
            missing = missing == NULL ? COLUMN[k].name : arena_text(arena, "%s, %s", missing, COLUMN[k].name);
        }
    }
    return missing == NULL ||
           diag_error(&reader->work->diags,
                      (DiagText){.place = line_text(reader),
                                 .what = "columns are missing",
                                 .got = cell_shown(reader, reader->csv.record),
                                 .expected = arena_text(arena, "also %s%s", missing,
                                                        reader->table->field[TABLE_LAST] == TABLE_ABSENT
                                                            ? " (or end, the last step itself)"
                                                            : ""),
                                 .hint = header_hint(reader)});
}

static bool csv_error(const TableReader *reader) {
    const CsvReader *csv = &reader->csv;
    return diag_error(
        &reader->work->diags,
        (DiagText){.place = arena_text(&reader->work->keep, "line %" PRIu64 ", byte %" PRIu64, csv->line, csv->column),
                   .what = csv->what,
                   .expected = "a quoted cell as \"text\", a quote in it as \"\""});
}

static bool read_header(TableReader *reader) {
    if (!csv_read(&reader->csv)) {
        return reader->csv.what != NULL
                   ? csv_error(reader)
                   : diag_error(&reader->work->diags, (DiagText){.what = "the table is empty",
                                                                 .expected = "a first line such as "
                                                                             "id,lower,upper,size"});
    }
    bool good = true;
    for (int field = 0; (size_t)field < reader->csv.field_count; field++) {
        good = take_column(reader, field) && good;
    }
    good = has_needed_columns(reader) && good;
    for (size_t field = 0; field < reader->csv.field_count && good; field++) {
        warn_of_slip(reader, reader->csv.field[field].value);
    }
    return good;
}

/* ---- Names */

typedef struct {
    NameMap map;
    Str *name;
    size_t count, capacity;
} Names;

static void names_init(Names *names, Arena *arena) {
    *names = (Names){.map = name_map(arena)};
    names->name = arena_grow(arena, NULL, 0, &names->capacity, sizeof *names->name);
    names->name[names->count++] = (Str){0};
}

/* Its number; 0 of the empty name. */
static uint32_t names_number(Names *names, Str name) {
    if (name.len == 0) {
        return 0;
    }
    uint32_t number = *name_map_add(&names->map, name, (uint32_t)names->count);
    if (number == names->count) {
        names->name = arena_grow(names->map.arena, names->name, names->count, &names->capacity, sizeof *names->name);
        names->name[names->count++] = name;
    }
    return number;
}

typedef struct {
    Names memory, share, apart;
    NameMap ids;
} AllNames;

/* ---- Rows */

static bool has_all_cells(const TableReader *reader, size_t expected) {
    const CsvReader *csv = &reader->csv;
    Arena *arena = &reader->work->keep;
    bool is_comment = csv->record.len > 0 && csv->record.ptr[0] == '#';
    return csv->field_count == expected ||
           diag_error(
               &reader->work->diags,
               (DiagText){.place = line_text(reader),
                          .what = "the row has not the columns of the first line",
                          .got = arena_text(arena, "%zu cell%s", csv->field_count, csv->field_count == 1 ? "" : "s"),
                          .expected = arena_text(arena, "%zu", expected),
                          .hint = is_comment                    ? "leave comments out: the format has none"
                                  : csv->field_count > expected ? "put a cell with commas in quotes"
                                                                : "leave a cell empty where there is nothing, but "
                                                                  "keep its comma"});
}

static bool read_optional(const TableReader *reader, TableColumn column, bool *is_there, uint64_t *number) {
    *is_there = cell_value(reader, column).len > 0;
    return !*is_there || cell_number(reader, column, 0, number);
}

static bool read_alignment(const TableReader *reader, TableRow *row) {
    row->align = 1;
    return cell_value(reader, TABLE_ALIGNMENT).len == 0 || cell_number(reader, TABLE_ALIGNMENT, 1, &row->align);
}

static bool check_offset(const TableReader *reader, const TableRow *row) {
    return !row->is_pinned || row->offset % row->align == 0 ||
           cell_error(reader, TABLE_OFFSET,
                      (DiagText){.what = "the offset is not a multiple of the row's alignment",
                                 .expected = arena_text(&reader->work->keep, "a multiple of %" PRIu64, row->align)});
}

static bool read_cells(const TableReader *reader, TableRow *row) {
    bool good = cell_range(reader, &row->first, &row->last) && cell_gaps(reader, row);
    good = cell_number(reader, TABLE_SIZE, 1, &row->size) && good;
    good = read_alignment(reader, row) && good;
    good = read_optional(reader, TABLE_HINT, &row->has_hint, &row->hint) && good;
    good = read_optional(reader, TABLE_OFFSET, &row->is_pinned, &row->offset) && good;
    return good && check_offset(reader, row);
}

/* `number`: of the row. */
static bool read_id(const TableReader *reader, AllNames *names, size_t number, TableRow *row) {
    row->id = cell_value(reader, TABLE_ID);
    if (row->id.len == 0) {
        return cell_error(reader, TABLE_ID, (DiagText){.what = "the cell is empty", .expected = "a name"});
    }
    uint32_t first = *name_map_add(&names->ids, row->id, (uint32_t)number);
    if (first == number) {
        return true;
    }
    const char *where = arena_text(&reader->work->keep, "line %" PRIu64 " has it too", reader->table->row[first].line);
    return cell_error(reader, TABLE_ID,
                      (DiagText){.what = "two buffers have one name", .expected = "each name once", .hint = where});
}

static bool read_row(const TableReader *reader, AllNames *names, size_t expected) {
    Table *table = reader->table;
    TableRow *row = &table->row[table->count];
    *row = (TableRow){.line = reader->csv.line};
    if (!has_all_cells(reader, expected)) {
        return false;
    }
    row->memory = names_number(&names->memory, cell_value(reader, TABLE_MEMORY));
    row->share = names_number(&names->share, cell_value(reader, TABLE_SHARE));
    row->apart = names_number(&names->apart, cell_value(reader, TABLE_APART));
    bool good = read_id(reader, names, table->count, row);
    good = read_cells(reader, row) && good;
    table->count++;
    return good;
}

/* At least as many as there are records. */
static size_t count_lines(Str text) {
    size_t count = text.len > 0;
    for (size_t k = 0; k + 1 < text.len; k++) {
        bool is_end = text.ptr[k] == '\n' || text.ptr[k] == '\r';
        count += is_end && text.ptr[k + 1] != '\n' && text.ptr[k + 1] != '\r';
    }
    return count;
}

static bool may_be_numbered(const TableReader *reader, size_t most) {
    return most < UINT32_MAX || diag_refuse(&reader->work->diags, (DiagText){.what = "the table has too many rows",
                                                                             .expected = "fewer than 4294967295"});
}

static bool read_rows(TableReader *reader) {
    Arena *arena = &reader->work->keep;
    Table *table = reader->table;
    AllNames names = {.ids = name_map(&reader->work->scratch)};
    names_init(&names.memory, arena);
    names_init(&names.share, &reader->work->scratch);
    names_init(&names.apart, &reader->work->scratch);
    const size_t expected = reader->csv.field_count, most = count_lines(reader->csv.rest);
    if (!may_be_numbered(reader, most)) {
        return false;
    }
    table->row = arena_array(arena, TableRow, most);
    bool good = true;
    while (reader->work->diags.count[DIAG_ERROR] < MOST_ERRORS && csv_read(&reader->csv)) {
        good = read_row(reader, &names, expected) && good;
    }
    table->memory = names.memory.name;
    table->memory_count = (uint32_t)names.memory.count;
    return good && (reader->csv.what == NULL || csv_error(reader));
}

bool table_read(Table *table, Str text, Work *work) {
    *table = (Table){.text = text};
    for (int k = 0; k < TABLE_COLUMNS; k++) {
        table->field[k] = TABLE_ABSENT;
    }
    TableReader reader = {.csv = csv_reader(text, &work->keep), .table = table, .work = work};
    return read_header(&reader) && read_rows(&reader);
}
