/* Copies a message up to each change. */
#include "emit/splice.h"

static const uint8_t *position(const Wire *wire) {
    return wire->end - wire->stream.bytes_left;
}

static void copy_to(Splice *splice, const uint8_t *end) {
    pieces_add(&splice->out, (Span){splice->copied, (size_t)(end - splice->copied)});
    splice->copied = end;
}

Splice splice_open(const WireFile *file, OnnxMessage message, Span bytes, Arena *scratch) {
    Splice splice = {.wire = wire_open(file, message, bytes), .out = pieces(scratch)};
    splice.copied = position(&splice.wire);
    return splice;
}

bool splice_next(Splice *splice, Field *field) {
    return wire_next(&splice->wire, field);
}

bool splice_close(Splice *splice) {
    copy_to(splice, splice->wire.end);
    return wire_done(&splice->wire);
}

Pieces *splice_insert(Splice *splice, const Field *field) {
    copy_to(splice, field->at);
    return &splice->out;
}

Pieces *splice_replace(Splice *splice, const Field *field) {
    copy_to(splice, field->at);
    splice->copied = position(&splice->wire);
    return &splice->out;
}
