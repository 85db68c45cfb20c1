/* One message of the file, written again with some of its fields changed.
 *
 *     Splice splice = splice_open(file, ONNX_NODE, message, scratch);
 *     while (splice_next(&splice, &field)) { if (…) { pieces_put_str(splice_replace(&splice, &field), …); } }
 *     return splice_close(&splice);
 * Invariant: all bytes before `copied` are in `out` or were replaced. What the caller does not touch is copied with
 * its tag and length as they are, and so are fields that onnx_proto.def does not list. */
#ifndef S0_EMIT_SPLICE_H
#define S0_EMIT_SPLICE_H

#include "emit/pieces.h"
#include "import/onnx_wire.h"

typedef struct {
    Wire wire;
    const uint8_t *copied;
    Pieces out;
} Splice;

Splice splice_open(const WireFile *file, OnnxMessage message, Span bytes, Arena *scratch);
bool splice_next(Splice *splice, Field *field); /* false at the end and where the message is broken */
bool splice_close(Splice *splice);              /* copies the rest; false where the message is broken */

/* What is put into the result stands before the field that splice_next gave last, or in its place. */
Pieces *splice_insert(Splice *splice, const Field *field);
Pieces *splice_replace(Splice *splice, const Field *field);

#endif
