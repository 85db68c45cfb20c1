/* Inside the reader of tables: cells, and what is said of one that is wrong. */
#ifndef S0_TABLE_TABLE_CELLS_H
#define S0_TABLE_TABLE_CELLS_H

#include "table/table.h"

typedef struct {
    CsvReader csv; /* stands at the record that is read */
    Table *table;
    Work *work;
    Str title[TABLE_COLUMNS]; /* as the header has it */
} TableReader;

/* The value of a cell; empty where the table has no such column. */
Str cell_value(const TableReader *reader, TableColumn column);

/* For a message: no longer than anyone reads. */
const char *cell_shown(const TableReader *reader, Str text);

/* Adds place, excerpt and what stands there; always false. */
bool cell_error(const TableReader *reader, TableColumn column, DiagText text);
bool cell_refuse(const TableReader *reader, TableColumn column, DiagText text);

/* A whole number, `least` at least. */
bool cell_number(const TableReader *reader, TableColumn column, uint64_t least, uint64_t *number);

/* The range of steps, half-open. */
bool cell_range(const TableReader *reader, uint64_t *first, uint64_t *last);

/* The gaps of `row`, whose range is read: "3-5 8-9". Gaps that meet are one; a gap at an end of the range shortens it.
 */
bool cell_gaps(const TableReader *reader, TableRow *row);

#endif
