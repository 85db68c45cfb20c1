/* Fields of ONNX messages: tags, lengths and numbers, all by nanopb. */
#include "import/onnx_wire.h"

#include <inttypes.h>
#include <string.h>

typedef enum { FORM_UNKNOWN, FORM_VARINT, FORM_FIXED32, FORM_BYTES, FORM_VARINTS, FORM_FIXED32S, FORM_FIXED64S } Form;

typedef struct {
    const char *name;
    Form form;
} FieldRule;

enum { MOST_FIELDS = 32 }; /* above the largest number of the table */

static const FieldRule rules[ONNX_MESSAGE_COUNT][MOST_FIELDS] = {
#define MESSAGE(id, name)
#define FIELD(message, id, name, number, form) [ONNX_##message][number] = {name, FORM_##form},
#include "import/onnx_proto.def"
#undef MESSAGE
#undef FIELD
};

static const char *const message_names[ONNX_MESSAGE_COUNT] = {
#define MESSAGE(id, name) [ONNX_##id] = name,
#define FIELD(message, id, name, number, form)
#include "import/onnx_proto.def"
#undef MESSAGE
#undef FIELD
};

static const FieldRule *rule_of(OnnxMessage message, uint32_t number) {
    static const FieldRule unknown = {"unknown", FORM_UNKNOWN};
    return number < MOST_FIELDS && rules[message][number].form != FORM_UNKNOWN ? &rules[message][number] : &unknown;
}

const char *onnx_field_name(OnnxMessage message, uint32_t number) {
    return rule_of(message, number)->name;
}

/* Written by hand: every value has one, and printf would be a tenth of an import. */
Str wire_place(const WireFile *file, const uint8_t *at) {
    if (at < file->file.ptr || at > file->file.ptr + file->file.len) {
        return (Str){0};
    }
    char text[32] = "byte ";
    const size_t len = 5;
    size_t digits = 1;
    size_t number = (size_t)(at - file->file.ptr);
    for (size_t rest = number; rest > 9; rest /= 10) {
        digits++;
    }
    for (size_t k = digits; k > 0; k--, number /= 10) {
        text[len + k - 1] = (char)('0' + number % 10);
    }
    return arena_str(&file->work->keep, (Str){text, len + digits});
}

/* ---- Reports */

static bool wire_break(Wire *wire, const uint8_t *at, DiagText text) {
    wire->is_broken = true;
    text.place = wire_place(wire->file, at).ptr;
    text.hint = "the file is cut short or damaged: copy or export it again";
    return diag_error(&wire->file->work->diags, text);
}

static const char *title(const Wire *wire, uint32_t number) {
    return arena_text(&wire->file->work->keep, "%s.%s", message_names[wire->message],
                      onnx_field_name(wire->message, number));
}

/* The parser's words, in the reader's: where fewer bytes are left than the file states, it is the file that ends, or
 * the message that it is in. */
static const char *say(const Wire *wire, const char *parser) {
    static const char *const words[][2] = {
        {"varint overflow", "a number of more than 64 bits"},
        {"zero tag", "field number 0"},
        {"invalid wire_type", "no wire type"},
    };
    if (strcmp(parser, "parent stream too short") == 0 || strcmp(parser, "end-of-stream") == 0) {
        return wire->end == wire->file->file.ptr + wire->file->file.len ? "the file ends inside it"
                                                                        : "the message that holds it ends inside it";
    }
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (strcmp(parser, words[k][0]) == 0) {
            return words[k][1];
        }
    }
    return parser;
}

static bool break_tag(Wire *wire, const uint8_t *at, const char *got) {
    Arena *arena = &wire->file->work->keep;
    return wire_break(wire, at,
                      (DiagText){.what = arena_text(arena, "%s is broken", message_names[wire->message]),
                                 .got = say(wire, got),
                                 .expected = "a field number from 1 and a wire type"});
}

static bool break_payload(Wire *wire, const Field *field, const char *got) {
    Arena *arena = &wire->file->work->keep;
    return wire_break(wire, field->at,
                      (DiagText){.what = arena_text(arena, "%s is broken", title(wire, field->number)),
                                 .got = say(wire, got),
                                 .expected = arena_text(arena, "a field inside the %zu bytes that are left",
                                                        wire->stream.bytes_left)});
}

static bool break_type(Wire *wire, const Field *field) {
    static const char *const form_names[] = {[FORM_UNKNOWN] = "",
                                             [FORM_VARINT] = "0 (varint)",
                                             [FORM_FIXED32] = "5 (32 bits)",
                                             [FORM_BYTES] = "2 (length-delimited)",
                                             [FORM_VARINTS] = "0 or 2 (varints)",
                                             [FORM_FIXED32S] = "5 or 2 (32 bits each)",
                                             [FORM_FIXED64S] = "1 or 2 (64 bits each)"};
    Arena *arena = &wire->file->work->keep;
    return wire_break(wire, field->at,
                      (DiagText){.what = arena_text(arena, "%s has the wrong wire type", title(wire, field->number)),
                                 .got = arena_text(arena, "%d", (int)field->type),
                                 .expected = form_names[rule_of(wire->message, field->number)->form]});
}

/* ---- Fields */

Wire wire_open(const WireFile *file, OnnxMessage message, Span bytes) {
    return (Wire){.file = file,
                  .message = message,
                  .stream = pb_istream_from_buffer(bytes.ptr, bytes.len),
                  .end = bytes.len == 0 ? bytes.ptr : bytes.ptr + bytes.len};
}

bool wire_done(const Wire *wire) {
    return !wire->is_broken;
}

static bool type_fits(Form form, pb_wire_type_t type) {
    switch (form) {
    case FORM_VARINT:
        return type == PB_WT_VARINT;
    case FORM_FIXED32:
        return type == PB_WT_32BIT;
    case FORM_BYTES:
        return type == PB_WT_STRING;
    case FORM_VARINTS:
        return type == PB_WT_VARINT || type == PB_WT_STRING;
    case FORM_FIXED32S:
        return type == PB_WT_32BIT || type == PB_WT_STRING;
    case FORM_FIXED64S:
        return type == PB_WT_64BIT || type == PB_WT_STRING;
    case FORM_UNKNOWN:
        break;
    }
    return true;
}

static bool read_fixed(pb_istream_t *stream, pb_wire_type_t type, uint64_t *number) {
    if (type == PB_WT_64BIT) {
        return pb_decode_fixed64(stream, number);
    }
    uint32_t low;
    if (!pb_decode_fixed32(stream, &low)) {
        return false;
    }
    *number = low;
    return true;
}

static bool read_bytes(Wire *wire, Span *bytes) {
    pb_istream_t inner;
    if (!pb_make_string_substream(&wire->stream, &inner)) {
        return false;
    }
    *bytes = (Span){wire->end - wire->stream.bytes_left - inner.bytes_left, inner.bytes_left};
    return pb_close_string_substream(&wire->stream, &inner);
}

static bool read_payload(Wire *wire, Field *field) {
    switch (field->type) {
    case PB_WT_VARINT:
        return pb_decode_varint(&wire->stream, &field->scalar);
    case PB_WT_64BIT:
    case PB_WT_32BIT:
        return read_fixed(&wire->stream, field->type, &field->scalar);
    case PB_WT_STRING:
        return read_bytes(wire, &field->bytes);
    default:
        return pb_skip_field(&wire->stream, field->type); /* groups and what is no wire type: false */
    }
}

static bool read_field(Wire *wire, Field *field) {
    bool at_end;
    *field = (Field){.at = wire->end - wire->stream.bytes_left};
    if (!pb_decode_tag(&wire->stream, &field->type, &field->number, &at_end)) {
        return break_tag(wire, field->at, PB_GET_ERROR(&wire->stream));
    }
    if (field->number == 0) {
        return break_tag(wire, field->at, "field number 0");
    }
    if (!type_fits(rule_of(wire->message, field->number)->form, field->type)) {
        return break_type(wire, field);
    }
    return read_payload(wire, field) || break_payload(wire, field, PB_GET_ERROR(&wire->stream));
}

bool wire_next(Wire *wire, Field *field) {
    while (!wire->is_broken && wire->stream.bytes_left > 0) {
        if (!read_field(wire, field)) {
            return false;
        }
        if (rule_of(wire->message, field->number)->form != FORM_UNKNOWN) {
            return true;
        }
    }
    return false;
}

/* ---- Numbers */

static pb_wire_type_t element_type(const Wire *wire, const Field *field) {
    switch (rule_of(wire->message, field->number)->form) {
    case FORM_FIXED32S:
        return PB_WT_32BIT;
    case FORM_FIXED64S:
        return PB_WT_64BIT;
    default:
        return PB_WT_VARINT;
    }
}

/* Varints end at a byte without the top bit. A cut one at the end is not counted; numbers_next reports it. */
uint64_t numbers_count(const Wire *wire, const Field *field) {
    if (field->type != PB_WT_STRING) {
        return 1;
    }
    pb_wire_type_t type = element_type(wire, field);
    if (type != PB_WT_VARINT) {
        return field->bytes.len / (type == PB_WT_32BIT ? 4 : 8);
    }
    uint64_t count = 0;
    for (size_t k = 0; k < field->bytes.len; k++) {
        count += field->bytes.ptr[k] < 0x80;
    }
    return count;
}

Numbers numbers_open(Wire *wire, const Field *field) {
    return (Numbers){.wire = wire,
                     .field = field,
                     .stream = pb_istream_from_buffer(field->bytes.ptr, field->bytes.len),
                     .is_single = field->type != PB_WT_STRING};
}

bool numbers_next(Numbers *numbers, uint64_t *number) {
    if (numbers->is_single) {
        numbers->is_single = false;
        *number = numbers->field->scalar;
        return true;
    }
    if (numbers->stream.bytes_left == 0) {
        return false;
    }
    pb_wire_type_t type = element_type(numbers->wire, numbers->field);
    bool read =
        type == PB_WT_VARINT ? pb_decode_varint(&numbers->stream, number) : read_fixed(&numbers->stream, type, number);
    return read || break_payload(numbers->wire, numbers->field, PB_GET_ERROR(&numbers->stream));
}
