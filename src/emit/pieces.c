/* Lists of spans, and protobuf fields appended to them. */
#include "emit/pieces.h"

#include "base/checked.h"
#include "base/fault.h"

#include <string.h>

void pieces_add(Pieces *to, Span span) {
    if (span.len == 0) {
        return;
    }
    CHECK(checked_add(to->bytes, span.len, &to->bytes));
    Span *last = to->count == 0 ? NULL : &to->piece[to->count - 1];
    if (last != NULL && last->ptr + last->len == span.ptr) {
        last->len += span.len;
        return;
    }
    to->piece = arena_grow(to->arena, to->piece, to->count, &to->capacity, sizeof *to->piece);
    to->piece[to->count++] = span;
}

bool pieces_are(const Pieces *of, Span span) {
    return of->count == 0 ? span.len == 0
                          : of->count == 1 && of->piece[0].ptr == span.ptr && of->piece[0].len == span.len;
}

Span pieces_join(const Pieces *of, Arena *keep) {
    CHECK(of->bytes <= SIZE_MAX);
    uint8_t *bytes = arena_array(keep, uint8_t, (size_t)of->bytes);
    size_t at = 0;
    for (size_t k = 0; k < of->count; k++) {
        memcpy(bytes + at, of->piece[k].ptr, of->piece[k].len);
        at += of->piece[k].len;
    }
    return (Span){bytes, at};
}

/* ---- Protobuf */

typedef enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_FIXED32 = 5 } WireType;

static void add_varint(Pieces *to, uint64_t number) {
    enum { MOST_BYTES = 10 };
    uint8_t *bytes = arena_array(to->arena, uint8_t, MOST_BYTES);
    size_t len = 0;
    for (; number > 0x7F; number >>= 7) {
        bytes[len++] = (uint8_t)(number & 0x7F) | 0x80;
    }
    bytes[len++] = (uint8_t)number;
    pieces_add(to, (Span){bytes, len});
}

static void add_tag(Pieces *to, uint32_t field, WireType type) {
    add_varint(to, (uint64_t)field << 3 | type);
}

void pieces_put_varint(Pieces *to, uint32_t field, uint64_t number) {
    add_tag(to, field, WIRE_VARINT);
    add_varint(to, number);
}

void pieces_put_int(Pieces *to, uint32_t field, int64_t number) {
    pieces_put_varint(to, field, (uint64_t)number);
}

void pieces_put_float(Pieces *to, uint32_t field, float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint8_t *bytes = arena_array(to->arena, uint8_t, sizeof bits);
    for (size_t k = 0; k < sizeof bits; k++) {
        bytes[k] = (uint8_t)(bits >> 8 * k);
    }
    add_tag(to, field, WIRE_FIXED32);
    pieces_add(to, (Span){bytes, sizeof bits});
}

void pieces_put_bytes(Pieces *to, uint32_t field, Span bytes) {
    add_tag(to, field, WIRE_BYTES);
    add_varint(to, bytes.len);
    pieces_add(to, bytes);
}

void pieces_put_str(Pieces *to, uint32_t field, Str text) {
    pieces_put_bytes(to, field, (Span){(const uint8_t *)text.ptr, text.len});
}

void pieces_put_message(Pieces *to, uint32_t field, const Pieces *message) {
    add_tag(to, field, WIRE_BYTES);
    add_varint(to, message->bytes);
    for (size_t k = 0; k < message->count; k++) {
        pieces_add(to, message->piece[k]);
    }
}
