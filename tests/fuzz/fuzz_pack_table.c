/* Fuzz target: any bytes as a table of buffers. They give a table whose invariant holds, or at least one diagnostic
 * that is no warning; a table that is written is read again as the same rows, pinned where they were put. */
#include "base/fault.h"
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_row(const Table *table, const TableRow *row) {
    CHECK(row->id.len > 0 && row->size >= 1 && row->align >= 1 && row->first < row->last);
    CHECK(row->memory < table->memory_count);
    CHECK(!row->is_pinned || row->offset % row->align == 0);
    uint64_t end = row->first;
    for (size_t k = 0; k < row->gap_count; k++) {
        CHECK(end < row->gap[k].first && row->gap[k].first < row->gap[k].last);
        end = row->gap[k].last;
    }
    CHECK(end < row->last);
}

static bool is_same(const TableRow *a, const TableRow *b) {
    return str_eq(a->id, b->id) && a->size == b->size && a->align == b->align && a->first == b->first &&
           a->last == b->last && a->gap_count == b->gap_count && a->share == b->share && a->apart == b->apart;
}

/* An offset that the alignment allows: 0. */
static void write_and_read(const Table *table, Work *work) {
    char *text = NULL;
    size_t length = 0;
    Table again;
    const uint64_t *offset = arena_array(&work->keep, uint64_t, table->count);
    FILE *out = open_memstream(&text, &length);
    CHECK(out != NULL);
    table_write(table, offset, NULL, &work->scratch, out);
    CHECK(fclose(out) == 0);
    const Str copy = arena_str(&work->keep, (Str){text, length});
    free(text);
    CHECK(table_read(&again, copy, work) && again.count == table->count);
    for (size_t k = 0; k < table->count; k++) {
        CHECK(is_same(&table->row[k], &again.row[k]) && again.row[k].is_pinned && again.row[k].offset == 0);
    }
}

static void read_and_check(Work *work, Str text) {
    Table table;
    bool is_read = table_read(&table, text, work);
    CHECK(is_read != diags_failed(&work->diags));
    if (!is_read) {
        return;
    }
    for (size_t k = 0; k < table.count; k++) {
        check_row(&table, &table.row[k]);
    }
    write_and_read(&table, work);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        read_and_check(&work, (Str){(const char *)bytes, len});
    }
    work_free(&work);
    return 0;
}
