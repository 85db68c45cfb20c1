/* Bytes to be written, as a list of spans: what is kept of a file is not copied before all of it is known.
 *
 * Invariant: `bytes` is the sum of the spans' lengths; neighbours in memory are one span, so bytes that are kept whole
 * are one piece. The spans are borrowed and must live until pieces_join. */
#ifndef S0_EMIT_PIECES_H
#define S0_EMIT_PIECES_H

#include "base/arena.h"

typedef struct {
    Arena *arena;
    size_t count, capacity;
    Span *piece;
    uint64_t bytes;
} Pieces;

static inline Pieces pieces(Arena *arena) {
    return (Pieces){.arena = arena};
}

void pieces_add(Pieces *to, Span span);
bool pieces_are(const Pieces *of, Span span); /* exactly these bytes, at this place? */
Span pieces_join(const Pieces *of, Arena *keep);

/* One protobuf field. Source: https://protobuf.dev/programming-guides/encoding/ */
void pieces_put_varint(Pieces *to, uint32_t field, uint64_t number);
void pieces_put_int(Pieces *to, uint32_t field, int64_t number);
void pieces_put_float(Pieces *to, uint32_t field, float number);
void pieces_put_bytes(Pieces *to, uint32_t field, Span bytes);
void pieces_put_str(Pieces *to, uint32_t field, Str text);
void pieces_put_message(Pieces *to, uint32_t field, const Pieces *message);

#endif
