/* A reader of FlatBuffers; see flatbuf.h. Every offset is checked where it is followed, once. */
#include "import/flatbuf.h"

#include "base/fault.h"

#include <string.h>

enum { WORK_A_BYTE = 64, WORK_OF_TABLE = 16, OFFSET_BYTES = 4, VTABLE_HEADER_BYTES = 4 };

/* Bytes [at, at + bytes) lie inside? Written so that nothing can wrap. */
static bool is_inside(const Flatbuf *flat, size_t at, uint64_t bytes) {
    return at <= flat->bytes.len && bytes <= flat->bytes.len - at;
}

static bool fail(Flatbuf *flat, size_t at, const char *fault) {
    if (flat->fault == NULL) {
        flat->fault = fault;
        flat->fault_at = at;
    }
    return false;
}

/* `bytes` little-endian bytes at a place known to be inside. */
static uint64_t load(const Flatbuf *flat, size_t at, uint32_t bytes) {
    uint64_t number = 0;
    for (uint32_t k = bytes; k > 0; k--) {
        number = number << 8 | flat->bytes.ptr[at + k - 1];
    }
    return number;
}

/* The two's complement number of `bytes` bytes, without relying on how a compiler converts. */
static int64_t sign_extend(uint64_t number, uint32_t bytes) {
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return (number & sign) == 0 ? (int64_t)number : (int64_t)(number & (sign - 1)) - (int64_t)(sign - 1) - 1;
}

static float float_of(uint64_t bits) {
    uint32_t narrow = (uint32_t)bits;
    float number;
    memcpy(&number, &narrow, sizeof number);
    return number;
}

bool flat_charge(Flatbuf *flat, size_t at, uint64_t work) {
    if (work > flat->work_left) {
        return fail(flat, at, "the file names the same bytes from too many places");
    }
    flat->work_left -= work;
    return true;
}

/* ---- Tables */

static FlatTable table_at(Flatbuf *flat, size_t at) {
    const FlatTable absent = {0};
    if (!is_inside(flat, at, OFFSET_BYTES)) {
        fail(flat, at, "a table begins outside the file");
        return absent;
    }
    int64_t vtable = (int64_t)at - sign_extend(load(flat, at, OFFSET_BYTES), OFFSET_BYTES);
    if (vtable < 0 || !is_inside(flat, (size_t)vtable, VTABLE_HEADER_BYTES)) {
        fail(flat, at, "a table's field list lies outside the file");
        return absent;
    }
    FlatTable table = {.at = at,
                       .vtable = (size_t)vtable,
                       .vtable_bytes = (uint32_t)load(flat, (size_t)vtable, 2),
                       .bytes = (uint32_t)load(flat, (size_t)vtable + 2, 2)};
    if (table.vtable_bytes < VTABLE_HEADER_BYTES || table.vtable_bytes % 2 != 0 ||
        !is_inside(flat, table.vtable, table.vtable_bytes)) {
        fail(flat, table.vtable, "a table's field list has a wrong size");
        return absent;
    }
    if (table.bytes < OFFSET_BYTES || !is_inside(flat, at, table.bytes)) {
        fail(flat, at, "a table reaches past the end of the file");
        return absent;
    }
    return flat_charge(flat, at, WORK_OF_TABLE) ? table : absent;
}

bool flat_open(Flatbuf *flat, Span bytes, const char *identifier, FlatTable *root) {
    enum { IDENTIFIER_BYTES = 4 };
    CHECK(strlen(identifier) == IDENTIFIER_BYTES);
    *root = (FlatTable){0};
    *flat = (Flatbuf){.bytes = bytes, .work_left = (uint64_t)bytes.len * WORK_A_BYTE};
    if (bytes.len < OFFSET_BYTES + IDENTIFIER_BYTES) {
        return fail(flat, 0, "the file ends before its header");
    }
    if (memcmp(bytes.ptr + OFFSET_BYTES, identifier, IDENTIFIER_BYTES) != 0) {
        return fail(flat, OFFSET_BYTES, "the file's identifier is wrong");
    }
    *root = table_at(flat, (size_t)load(flat, 0, OFFSET_BYTES));
    return flat->fault == NULL;
}

bool flat_cell(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t bytes, size_t *at) {
    uint64_t entry = VTABLE_HEADER_BYTES + 2 * (uint64_t)slot;
    if (entry + 2 > table->vtable_bytes || table->bytes == 0) {
        return false;
    }
    uint64_t offset = load(flat, table->vtable + (size_t)entry, 2);
    if (offset == 0) {
        return false;
    }
    if (offset < OFFSET_BYTES || offset + bytes > table->bytes) {
        return fail(flat, table->vtable + (size_t)entry, "a field lies outside its table");
    }
    *at = table->at + (size_t)offset;
    return true;
}

bool flat_has(Flatbuf *flat, const FlatTable *table, uint32_t slot) {
    size_t at;
    return flat_cell(flat, table, slot, 1, &at);
}

int64_t flat_int(Flatbuf *flat, const FlatTable *table, uint32_t slot, FlatType type, int64_t absent) {
    static const struct {
        uint8_t bytes;
        bool is_signed;
    } of[] = {[FLAT_BOOL] = {1, false}, [FLAT_I8] = {1, true},  [FLAT_U8] = {1, false}, [FLAT_I32] = {4, true},
              [FLAT_U32] = {4, false},  [FLAT_I64] = {8, true}, [FLAT_U64] = {8, false}};
    size_t at;
    if (!flat_cell(flat, table, slot, of[type].bytes, &at)) {
        return absent;
    }
    uint64_t number = load(flat, at, of[type].bytes);
    if (of[type].is_signed) {
        return sign_extend(number, of[type].bytes);
    }
    if (number > INT64_MAX) {
        fail(flat, at, "a number is too large");
        return absent;
    }
    return type == FLAT_BOOL ? number != 0 : (int64_t)number;
}

float flat_float(Flatbuf *flat, const FlatTable *table, uint32_t slot, float absent) {
    size_t at;
    return flat_cell(flat, table, slot, 4, &at) ? float_of(load(flat, at, 4)) : absent;
}

/* Follows the offset at `at`. It is unsigned, so what it names lies behind it; never in front. */
static size_t follow(const Flatbuf *flat, size_t at) {
    uint64_t offset = load(flat, at, OFFSET_BYTES);
    return offset > SIZE_MAX - at ? SIZE_MAX : at + (size_t)offset;
}

FlatTable flat_table(Flatbuf *flat, const FlatTable *table, uint32_t slot) {
    size_t at;
    return flat_cell(flat, table, slot, OFFSET_BYTES, &at) ? table_at(flat, follow(flat, at)) : (FlatTable){0};
}

/* ---- Vectors */

static FlatVector find_vector(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t element_bytes) {
    const FlatVector absent = {.element_bytes = element_bytes};
    size_t at;
    if (!flat_cell(flat, table, slot, OFFSET_BYTES, &at)) {
        return absent;
    }
    size_t start = follow(flat, at);
    if (!is_inside(flat, start, OFFSET_BYTES)) {
        fail(flat, at, "a vector begins outside the file");
        return absent;
    }
    FlatVector vector = {
        .at = start + OFFSET_BYTES, .count = (uint32_t)load(flat, start, OFFSET_BYTES), .element_bytes = element_bytes};
    if (!is_inside(flat, vector.at, (uint64_t)vector.count * element_bytes)) {
        fail(flat, start, "a vector reaches past the end of the file");
        return absent;
    }
    return vector;
}

FlatVector flat_vector(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t element_bytes) {
    FlatVector vector = find_vector(flat, table, slot, element_bytes);
    return flat_charge(flat, vector.at, (uint64_t)vector.count * element_bytes)
               ? vector
               : (FlatVector){.element_bytes = element_bytes};
}

FlatVector flat_tables(Flatbuf *flat, const FlatTable *table, uint32_t slot) {
    return flat_vector(flat, table, slot, OFFSET_BYTES);
}

Span flat_bytes(Flatbuf *flat, const FlatTable *table, uint32_t slot) {
    FlatVector vector = find_vector(flat, table, slot, 1);
    return vector.count == 0 ? (Span){NULL, 0} : (Span){flat->bytes.ptr + vector.at, vector.count};
}

Str flat_str(Flatbuf *flat, const FlatTable *table, uint32_t slot) {
    Span bytes = flat_bytes(flat, table, slot);
    if (bytes.len > INT32_MAX) { /* printf counts in int */
        fail(flat, table->at, "a string is too long");
        return (Str){0};
    }
    return (Str){(const char *)bytes.ptr, bytes.len};
}

int64_t flat_int_at(const Flatbuf *flat, const FlatVector *vector, uint32_t k) {
    CHECK(k < vector->count);
    uint64_t number = load(flat, vector->at + (size_t)k * vector->element_bytes, vector->element_bytes);
    return sign_extend(number, vector->element_bytes);
}

float flat_float_at(const Flatbuf *flat, const FlatVector *vector, uint32_t k) {
    CHECK(k < vector->count && vector->element_bytes == 4);
    return float_of(load(flat, vector->at + (size_t)k * 4, 4));
}

FlatTable flat_table_at(Flatbuf *flat, const FlatVector *vector, uint32_t k) {
    CHECK(k < vector->count && vector->element_bytes == OFFSET_BYTES);
    return table_at(flat, follow(flat, vector->at + (size_t)k * OFFSET_BYTES));
}
