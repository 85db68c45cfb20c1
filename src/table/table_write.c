/* Writing a table: each record as it was read, with the cells that are answered in their places. */
#include "table/table.h"

#include <inttypes.h>

static void put(Str text, FILE *out) {
    if (text.len > 0) {
        fwrite(text.ptr, 1, text.len, out);
    }
}

/* In quotes where it would be read as something else. */
static void put_name(Str name, FILE *out) {
    bool is_plain = str_eq(name, str_trim(name));
    for (size_t k = 0; k < name.len; k++) {
        is_plain = is_plain && name.ptr[k] != ',' && name.ptr[k] != '"' && name.ptr[k] != '\n' && name.ptr[k] != '\r';
    }
    if (is_plain) {
        put(name, out);
        return;
    }
    fputc('"', out);
    for (size_t k = 0; k < name.len; k++) {
        fputs(name.ptr[k] == '"' ? "\"" : "", out);
        fputc(name.ptr[k], out);
    }
    fputc('"', out);
}

typedef struct {
    const Table *table;
    const uint64_t *offset;
    const Str *memory; /* null: is left as it is */
    size_t row;        /* next to be written; of the header none is */
    bool is_header;
    FILE *out;
} TableWriter;

static void put_offset(const TableWriter *writer) {
    if (writer->is_header) {
        fputs("offset", writer->out);
    } else {
        fprintf(writer->out, "%" PRIu64, writer->offset[writer->row]);
    }
}

static void put_memory(const TableWriter *writer) {
    if (writer->is_header) {
        fputs("memory", writer->out);
    } else {
        put_name(writer->memory[writer->row], writer->out);
    }
}

static void put_record(const TableWriter *writer, const CsvReader *csv) {
    const int *field = writer->table->field;
    for (int k = 0; (size_t)k < csv->field_count; k++) {
        fputs(k == 0 ? "" : ",", writer->out);
        if (k == field[TABLE_OFFSET] && !writer->is_header) {
            put_offset(writer);
        } else if (k == field[TABLE_MEMORY] && writer->memory != NULL && !writer->is_header) {
            put_memory(writer);
        } else {
            put(csv->field[k].text, writer->out);
        }
    }
    if (writer->memory != NULL && field[TABLE_MEMORY] == TABLE_ABSENT) {
        fputc(',', writer->out);
        put_memory(writer);
    }
    if (field[TABLE_OFFSET] == TABLE_ABSENT) {
        fputc(',', writer->out);
        put_offset(writer);
    }
}

void table_write(const Table *table, const uint64_t *offset, const Str *memory, Arena *scratch, FILE *out) {
    CsvReader csv = csv_reader(table->text, scratch);
    TableWriter writer = {.table = table, .offset = offset, .memory = memory, .is_header = true, .out = out};
    Str ending = STR("\n"); /* a last line without one gets that of the line before */
    put((Str){table->text.ptr, (size_t)(csv.rest.ptr - table->text.ptr)}, out);
    while (csv_read(&csv)) {
        put_record(&writer, &csv);
        ending = csv.ending.len > 0 ? csv.ending : ending;
        put(ending, out);
        writer.row += !writer.is_header;
        writer.is_header = false;
    }
}
