/* The fields of one ONNX message, read in place with nanopb's stream primitives.
 *
 *     Wire wire = wire_open(onnx, ONNX_TENSOR, message);
 *     Field field;
 *     while (wire_next(&wire, &field)) { switch (field.number) { case ONNX_TENSOR_DIMS: … } }
 *     return wire_done(&wire);
 * Invariant: a field that wire_next hands out is one of onnx_proto.def, written as that table says; every span lies
 * inside the message. Whatever is not so has been reported with its byte. */
#ifndef S0_IMPORT_ONNX_WIRE_H
#define S0_IMPORT_ONNX_WIRE_H

#include "base/work.h"

#include <pb_decode.h>

typedef enum {
#define MESSAGE(id, name) ONNX_##id,
#define FIELD(message, id, name, number, form)
#include "import/onnx_proto.def"
#undef MESSAGE
#undef FIELD
    ONNX_MESSAGE_COUNT
} OnnxMessage;

enum {
#define MESSAGE(id, name)
#define FIELD(message, id, name, number, form) ONNX_##message##_##id = number,
#include "import/onnx_proto.def"
#undef MESSAGE
#undef FIELD
};

/* Where messages are reported and what positions count from. */
typedef struct {
    Span file;
    Work *work;
} WireFile;

typedef struct {
    const WireFile *file;
    OnnxMessage message;
    pb_istream_t stream;
    const uint8_t *end;
    bool is_broken;
} Wire;

typedef struct {
    uint32_t number;
    pb_wire_type_t type;
    uint64_t scalar; /* of a varint, fixed32 or fixed64 field */
    Span bytes;      /* of a length-delimited field */
    const uint8_t *at;
} Field;

Wire wire_open(const WireFile *file, OnnxMessage message, Span bytes);
bool wire_next(Wire *wire, Field *field); /* false at the end and where the message is broken */
bool wire_done(const Wire *wire);         /* false where it was broken */

static inline Str field_str(const Field *field) {
    return (Str){(const char *)field->bytes.ptr, field->bytes.len};
}

/* The numbers of a repeated field, packed or not: fixed32 and fixed64 as their bits. */
typedef struct {
    Wire *wire;
    const Field *field;
    pb_istream_t stream;
    bool is_single;
} Numbers;

/* At least as many as numbers_next hands out, and exactly as many where the field is whole. */
uint64_t numbers_count(const Wire *wire, const Field *field);
Numbers numbers_open(Wire *wire, const Field *field);
bool numbers_next(Numbers *numbers, uint64_t *number); /* false at the end and where broken, which breaks the wire */

const char *onnx_field_name(OnnxMessage message, uint32_t number);

/* "byte 1234" of the file; empty for bytes outside it. */
Str wire_place(const WireFile *file, const uint8_t *at);

#endif
