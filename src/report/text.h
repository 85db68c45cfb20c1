/* Text for people: numbers with separators, names that fit their place, tables of aligned columns. Private to the room.
 */
#ifndef S0_REPORT_TEXT_H
#define S0_REPORT_TEXT_H

#include "base/clean.h"
#include "ledger/facts.h"

/* 1234567 as "1,234,567"; UINT64_MAX, which is how the facts say "unknown", as "-". */
Str text_number(Arena *arena, uint64_t number);

/* "teach", or "teach of mine.ini" where it was read from a file, cleaned: a copied file keeps the name inside. */
Str text_device(Arena *arena, const Device *device);

uint32_t text_width(Str text);                               /* characters of cleaned text */
Str text_clip(Arena *arena, Str text, uint32_t most);        /* at most that wide: the end gives way to ".." */
Str text_steps(Arena *arena, uint32_t first, uint32_t last); /* "[3,5)" */

/* Names that a tool makes begin alike and differ further on: their middle gives way to "..". */
typedef struct {
    uint32_t most;   /* characters in all */
    uint32_t sixths; /* of them that the beginning gets; the end gets the others */
    uint32_t skip;   /* of the name, characters that are left out before it is cut */
} TextCut;

enum { TEXT_CUT_SIXTHS = 2 }; /* the end tells more */

Str text_clip_name(Arena *arena, Str name, TextCut cut);

/* ---- Tables */

enum { TABLE_MOST_COLUMNS = 12 };

/* Cells row by row, the first row the heads. Each column is a letter: r right, s left, l left, n a name: left. Where
 * the page is too narrow names are clipped, then what is l, to 8 characters; what is r or s holds numbers: never. Names
 * are cut where those of the column still differ, if there is such a place. */
typedef struct {
    Arena *arena;
    const char *columns;
    Str *cell;
    size_t count, capacity;
} Table;

void table_init(Table *table, Arena *arena, const char *columns);
void table_head(Table *table, const char *const *heads); /* one a column */
void table_add(Table *table, Str cell);                  /* cleaned */
void table_text(Table *table, const char *cell);
void table_number(Table *table, uint64_t number);

/* Lines of `indent` spaces and at most `width` characters in all. */
void table_print(const Table *table, uint32_t indent, uint32_t width, FILE *out);

#endif
