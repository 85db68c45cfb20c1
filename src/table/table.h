/* A table of buffers to be packed, in the CSV form of public benchmarks: one row a buffer, columns by name in any
 * order.
 *
 *     id,lower,upper,size            what every table has: a name, the first step, the step after the last, bytes
 *     id,start,end,size              the same, where `end` is the last step itself: it is included
 *
 * docs/pack.md describes every column.
 * source  names and the meaning of `end`: MiniMalloc (Moffitt 2023, ASPLOS), its reader of CSV */
#ifndef S0_TABLE_TABLE_H
#define S0_TABLE_TABLE_H

#include "base/csv.h"
#include "base/work.h"
#include "solver/solver.h"

typedef enum {
    TABLE_ID,
    TABLE_FIRST,
    TABLE_LAST,
    TABLE_SIZE,
    TABLE_ALIGNMENT,
    TABLE_HINT,
    TABLE_GAPS,
    TABLE_OFFSET,
    TABLE_MEMORY,
    TABLE_SHARE,
    TABLE_APART,
    TABLE_COLUMNS,
} TableColumn;

/* One buffer, checked: sizes and alignments are at least 1, first < last, gaps are sorted, disjoint, within. */
typedef struct {
    Str id;
    uint64_t size, align;
    uint64_t first, last; /* half-open, whatever the table has */
    const PlaceSpan *gap;
    size_t gap_count;
    uint64_t offset, hint;
    bool is_pinned, has_hint;
    uint32_t memory, share, apart; /* names, from 1; 0 where the cell is empty */
    uint64_t line;
} TableRow;

typedef struct {
    TableRow *row;
    size_t count;
    const Str *memory; /* names by their numbers: [0] is empty */
    uint32_t memory_count;
    bool includes_end;        /* it has `end`: what was read is one more */
    int field[TABLE_COLUMNS]; /* of each record; TABLE_ABSENT where the table has no such column */
    Str text;                 /* of the file, for table_write */
} Table;

enum { TABLE_ABSENT = -1 };

/* Reads a whole table. False with diagnostics: all that is wrong in the first rows. `text` must outlive it. */
bool table_read(Table *table, Str text, Work *work);

/* The same rows in the same order, with all their columns and line ends. `offset` of each row takes the place of that
 * column, or stands in a new last one; so does `memory`, where it is not null: the name of the memory of each row. */
void table_write(const Table *table, const uint64_t *offset, const Str *memory, Arena *scratch, FILE *out);

#endif
