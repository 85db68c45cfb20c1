/* A reader of FlatBuffers: tables, vectors, strings and unions inside bytes that nobody has checked.
 *
 * Invariant: a FlatTable or FlatVector that these functions hand out lies inside the buffer, so reading through it
 * can't leave the buffer. Numbers are little-endian and read byte by byte: no alignment is assumed.
 *
 * Whatever is wrong is kept in `fault`, the first thing only, and the reader goes on with what is absent or zero: a
 * caller reads a whole structure and asks once, at its end. A field that a table does not have has its default.
 *
 * A table may be named from many places, so a small file can describe a huge structure. Each table and each element
 * that is reached costs `work`; a buffer may cost 64 units a byte of its own size, which no sane file comes near. Depth
 * is the caller's: it follows a schema without recursion.
 *
 * Source: FlatBuffers, "Internals" (flatbuffers.dev/internals). */
#ifndef S0_IMPORT_FLATBUF_H
#define S0_IMPORT_FLATBUF_H

#include "base/str.h"

typedef struct {
    Span bytes;
    uint64_t work_left;
    const char *fault; /* one clause; null while all is well */
    size_t fault_at;   /* the byte */
} Flatbuf;

typedef struct {
    size_t at;
    size_t vtable;
    uint32_t vtable_bytes, bytes; /* bytes is 0 for a table that is absent: all its fields are */
} FlatTable;

typedef struct {
    size_t at; /* of element 0 */
    uint32_t count;
    uint32_t element_bytes;
} FlatVector;

typedef enum { FLAT_BOOL, FLAT_I8, FLAT_U8, FLAT_I32, FLAT_U32, FLAT_I64, FLAT_U64 } FlatType;

/* The root table. False, with a fault, where the four bytes of `identifier` do not stand at byte 4. */
bool flat_open(Flatbuf *flat, Span bytes, const char *identifier, FlatTable *root);

/* Counts work of the caller's own; false, with a fault at `at`, where more is done than a sound file can ask for. */
bool flat_charge(Flatbuf *flat, size_t at, uint64_t work);

/* Fields of a table. FLAT_U64 above INT64_MAX is a fault. */
bool flat_cell(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t bytes, size_t *at); /* where it stands */
bool flat_has(Flatbuf *flat, const FlatTable *table, uint32_t slot);
int64_t flat_int(Flatbuf *flat, const FlatTable *table, uint32_t slot, FlatType type, int64_t absent);
float flat_float(Flatbuf *flat, const FlatTable *table, uint32_t slot, float absent);
FlatTable flat_table(Flatbuf *flat, const FlatTable *table, uint32_t slot);
Str flat_str(Flatbuf *flat, const FlatTable *table, uint32_t slot);    /* empty where absent */
Span flat_bytes(Flatbuf *flat, const FlatTable *table, uint32_t slot); /* a vector of bytes; costs no work */
FlatVector flat_vector(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t element_bytes);
FlatVector flat_tables(Flatbuf *flat, const FlatTable *table, uint32_t slot); /* a vector of tables */

/* Elements; `k` below the vector's count. */
int64_t flat_int_at(const Flatbuf *flat, const FlatVector *vector, uint32_t k); /* of 4 or 8 bytes, signed */
float flat_float_at(const Flatbuf *flat, const FlatVector *vector, uint32_t k);
FlatTable flat_table_at(Flatbuf *flat, const FlatVector *vector, uint32_t k);

#endif
