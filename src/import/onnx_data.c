/* The elements of a TensorProto become the bytes of a constant.
 *
 * Raw data, external data and packed float or double fields already have the form of graph.h and stay where they are;
 * all other typed fields are decoded into the keep arena, after their number of entries was found to be right. Entries
 * of int32_data that hold 4-bit and 2-bit elements hold a whole byte of them. */
#include "import/onnx_data.h"

#include "layout/packed.h"

#include <inttypes.h>

static uint32_t field_of(DType dtype) {
    switch (dtype) {
    case DTYPE_F32:
    case DTYPE_C64:
        return ONNX_TENSOR_FLOAT_DATA;
    case DTYPE_F64:
    case DTYPE_C128:
        return ONNX_TENSOR_DOUBLE_DATA;
    case DTYPE_I64:
        return ONNX_TENSOR_INT64_DATA;
    case DTYPE_U32:
    case DTYPE_U64:
        return ONNX_TENSOR_UINT64_DATA;
    case DTYPE_STRING:
        return ONNX_TENSOR_STRING_DATA;
    default:
        return ONNX_TENSOR_INT32_DATA;
    }
}

/* Bits of the constant that one entry of a typed field fills: a whole byte of elements that are smaller. */
static uint32_t entry_bits(DType dtype) {
    uint32_t bits = dtype_bits(dtype);
    if (dtype_kind(dtype) == DTYPE_KIND_COMPLEX) {
        bits /= 2; /* real and imaginary part are entries of their own */
    }
    return bits < 8 ? 8 : bits;
}

static const char *tensor_text(Arena *arena, const OnnxTensor *tensor) {
    return arena_text(arena, "%s %s", dtype_name(tensor->dtype), shape_text(arena, &tensor->shape).ptr);
}

static bool size_error(const Onnx *onnx, const OnnxTensor *tensor, uint64_t got, uint64_t expected, const char *unit) {
    Arena *arena = &onnx->work->keep;
    return onnx_tensor_error(
        onnx, tensor,
        (DiagText){.what = "the constant's data does not have the size of its shape",
                   .got = arena_text(arena, "%" PRIu64 " %s", got, unit),
                   .expected = arena_text(arena, "%" PRIu64 " %s for %s", expected, unit, tensor_text(arena, tensor)),
                   .hint = "export the model again"});
}

/* ---- Typed fields */

typedef struct {
    int64_t least, most;
} Range;

static Range range_of(DType dtype) {
    uint32_t bits = dtype_bits(dtype);
    if (bits < 8) {
        return (Range){INT8_MIN, UINT8_MAX}; /* a packed byte, by some writers with its sign */
    }
    if (dtype_kind(dtype) == DTYPE_KIND_SIGNED) {
        return (Range){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
    }
    return (Range){0, dtype == DTYPE_BOOL ? 1 : ((int64_t)1 << bits) - 1};
}

/* Protobuf's int32 is the low half of the varint. */
static int64_t int32_of(uint64_t varint) {
    uint32_t low = (uint32_t)varint;
    return low > INT32_MAX ? (int64_t)low - ((int64_t)1 << 32) : (int64_t)low;
}

static bool entry_fits(const Onnx *onnx, const OnnxTensor *tensor, uint64_t entry) {
    if (tensor->data_field == ONNX_TENSOR_UINT64_DATA && tensor->dtype == DTYPE_U32) {
        entry = entry > INT64_MAX ? INT64_MAX : entry; /* too large either way */
    } else if (tensor->data_field == ONNX_TENSOR_INT32_DATA) {
        entry = (uint64_t)int32_of(entry);
    } else {
        return true;
    }
    Range range = range_of(tensor->dtype);
    int64_t number = entry > INT64_MAX ? -(int64_t)(~entry) - 1 : (int64_t)entry;
    if (number >= range.least && number <= range.most) {
        return true;
    }
    Arena *arena = &onnx->work->keep;
    return onnx_tensor_error(
        onnx, tensor,
        (DiagText){.what = "an element lies outside its type",
                   .got = arena_text(arena, "%" PRId64 " as %s", number, dtype_name(tensor->dtype)),
                   .expected = arena_text(arena, "%" PRId64 " to %" PRId64, range.least, range.most)});
}

/* The constant's bytes, and how many entries stand there. */
typedef struct {
    uint8_t *bytes;
    uint64_t count;
} Entries;

static bool decode_field(const Onnx *onnx, const OnnxTensor *tensor, Wire *wire, const Field *field, Entries *to) {
    Numbers numbers = numbers_open(wire, field);
    uint64_t entry;
    while (numbers_next(&numbers, &entry)) {
        if (!entry_fits(onnx, tensor, entry)) {
            return false;
        }
        packed_write(to->bytes, to->count++, entry_bits(tensor->dtype), entry);
    }
    return true;
}

/* Never more entries than were counted: see numbers_count. */
static bool decode(const Onnx *onnx, const OnnxTensor *tensor, uint8_t *bytes) {
    Entries to = {.bytes = bytes};
    Wire wire = wire_open(&onnx->file, ONNX_TENSOR, tensor->message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == tensor->data_field && !decode_field(onnx, tensor, &wire, &field, &to)) {
            return false;
        }
    }
    return wire_done(&wire);
}

static bool read_typed(Onnx *onnx, const OnnxTensor *tensor, uint64_t need_bytes, Const *constant) {
    uint32_t wanted = field_of(tensor->dtype);
    if (tensor->data_field != 0 && tensor->data_field != wanted) {
        Arena *arena = &onnx->work->keep;
        return onnx_tensor_error(
            onnx, tensor,
            (DiagText){.what = arena_text(arena, "the elements of a %s constant stand in the wrong field",
                                          dtype_name(tensor->dtype)),
                       .got = onnx_field_name(ONNX_TENSOR, tensor->data_field),
                       .expected = arena_text(arena, "%s or raw_data", onnx_field_name(ONNX_TENSOR, wanted))});
    }
    uint64_t need = need_bytes / (entry_bits(tensor->dtype) / 8);
    if (tensor->data_count != need) {
        return size_error(onnx, tensor, tensor->data_count, need, "entries");
    }
    bool is_float = wanted == ONNX_TENSOR_FLOAT_DATA || wanted == ONNX_TENSOR_DOUBLE_DATA;
    if (is_float && tensor->chunk.len == need_bytes) { /* so it is the only one */
        constant->bytes = tensor->chunk;
        return true;
    }
    uint8_t *bytes = arena_array(&onnx->work->keep, uint8_t, (size_t)need_bytes);
    constant->bytes = (Span){bytes, (size_t)need_bytes};
    return decode(onnx, tensor, bytes);
}

/* ---- All of it */

/* Strings have no bytes in a plan: only their number is checked. */
static bool read_strings(Onnx *onnx, const OnnxTensor *tensor, uint64_t need) {
    if (tensor->has_raw || tensor->is_external ||
        (tensor->data_field != 0 && tensor->data_field != ONNX_TENSOR_STRING_DATA)) {
        return onnx_tensor_error(onnx, tensor,
                                 (DiagText){.what = "the elements of a string constant stand in the wrong field",
                                            .expected = "string_data"});
    }
    return tensor->data_count == need || size_error(onnx, tensor, tensor->data_count, need, "strings");
}

static bool read_external(Onnx *onnx, const OnnxTensor *tensor, uint64_t need_bytes, Const *constant) {
    const ExternalRequest request = {
        .model_path = onnx->path,
        .data = tensor->external,
        .need_bytes = need_bytes,
        .who = {.place = wire_place(&onnx->file, tensor->at).ptr, .node = tensor->node, .tensor = tensor->name}};
    return external_read(onnx->work, &request, onnx->files, &constant->bytes);
}

static bool need_bytes_of(const Onnx *onnx, const OnnxTensor *tensor, uint64_t *elements, uint64_t *bytes) {
    if (shape_elements(&tensor->shape, elements) && packed_bytes(*elements, dtype_bits(tensor->dtype), bytes)) {
        return true;
    }
    return onnx_tensor_error(
        onnx, tensor,
        (DiagText){.what = "the constant's size does not fit 64 bits", .got = tensor_text(&onnx->work->keep, tensor)});
}

bool onnx_read_data(Onnx *onnx, const OnnxTensor *tensor, Const *constant) {
    uint64_t elements;
    uint64_t need_bytes = 0;
    if (!need_bytes_of(onnx, tensor, &elements, &need_bytes)) {
        return false;
    }
    *constant =
        (Const){.stored = tensor->shape, .is_known = dtype_bits(tensor->dtype) > 0, .is_external = tensor->is_external};
    if (!constant->is_known) {
        return read_strings(onnx, tensor, elements);
    }
    if ((tensor->has_raw || tensor->is_external) && tensor->data_field != 0) {
        return onnx_tensor_error(onnx, tensor,
                                 (DiagText){.what = "the elements stand in two places",
                                            .got = onnx_field_name(ONNX_TENSOR, tensor->data_field),
                                            .expected = tensor->has_raw ? "raw_data only" : "external data only"});
    }
    if (tensor->is_external) {
        return read_external(onnx, tensor, need_bytes, constant);
    }
    if (!tensor->has_raw) {
        return read_typed(onnx, tensor, need_bytes, constant);
    }
    constant->bytes = need_bytes == 0 ? (Span){NULL, 0} : tensor->raw;
    return tensor->raw.len == need_bytes || size_error(onnx, tensor, tensor->raw.len, need_bytes, "bytes");
}
