/* A reader of CSV: records of fields, as RFC 4180 has them.
 *
 *     CsvReader csv = csv_reader(text, arena);
 *     while (csv_read(&csv)) { csv.record, csv.field[0 .. csv.field_count) }
 *     if (csv.what != NULL) { csv.what at csv.line and csv.column }
 *
 * A line ends with LF, CR LF or CR; blank lines are skipped; a byte order mark at the front is no part of the first
 * record. White space around a field is no part of its value, but for what stands in quotes. Values are spans of the
 * text, or of the arena where a pair of quotes stands for one. cost  O(bytes) */
#ifndef S0_BASE_CSV_H
#define S0_BASE_CSV_H

#include "base/arena.h"

typedef struct {
    Str text;  /* as it stands between the commas */
    Str value; /* what it means */
} CsvField;

typedef struct {
    Str rest;        /* not read yet */
    uint64_t line;   /* of the record, from 1; of what is wrong */
    uint64_t column; /* of what is wrong: the byte of the line, from 1 */
    Str record;      /* as it stands, without the end of its line */
    Str ending;      /* of its line; empty where the text ends without one */
    CsvField *field; /* of the record; valid until the next is read */
    size_t field_count, field_capacity;
    const char *what; /* is wrong; null while all is well */
    uint64_t next_line;
    Arena *arena;
} CsvReader;

CsvReader csv_reader(Str text, Arena *arena);

/* The next record. False at the end, or where something is wrong. */
bool csv_read(CsvReader *csv);

#endif
