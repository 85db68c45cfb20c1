/* TensorProto and SparseTensorProto: a constant's name, dtype and shape, and where its elements are. */
#include "import/onnx_data.h"

#include <inttypes.h>

bool onnx_tensor_error(const Onnx *onnx, const OnnxTensor *tensor, DiagText text) {
    text.node = tensor->node;
    text.tensor = tensor->name;
    return onnx_error(onnx, tensor->at, text);
}

static bool read_dims(const Onnx *onnx, OnnxTensor *tensor, Wire *wire, const Field *field) {
    Numbers numbers = numbers_open(wire, field);
    uint64_t extent;
    while (numbers_next(&numbers, &extent)) {
        if (extent > INT64_MAX) {
            return onnx_tensor_error(
                onnx, tensor,
                (DiagText){.what = "a constant has a negative dimension",
                           .got = arena_text(&onnx->work->keep, "%" PRId64, -(int64_t)(~extent) - 1)});
        }
        if (!onnx_push_dim(onnx, field->at, tensor->name, &tensor->shape, (int64_t)extent)) {
            return false;
        }
    }
    return true;
}

static bool bad_entry(const Onnx *onnx, const OnnxTensor *tensor, Str key, Str value) {
    return onnx_tensor_error(
        onnx, tensor,
        (DiagText){.what = "an external_data entry is not a byte count",
                   .got = arena_text(&onnx->work->keep, STR_FMT " = '" STR_FMT "'", STR_ARG(key), STR_ARG(value)),
                   .expected = "a decimal number"});
}

/* location, offset and length; a checksum and what else a writer adds is passed over. */
static bool read_entry(const Onnx *onnx, OnnxTensor *tensor, const Field *field) {
    Wire wire = wire_open(&onnx->file, ONNX_ENTRY, field->bytes);
    Field part;
    Str key = {0};
    Str value = {0};
    while (wire_next(&wire, &part)) {
        *(part.number == ONNX_ENTRY_KEY ? &key : &value) = field_str(&part);
    }
    if (!wire_done(&wire)) {
        return false;
    }
    ExternalData *external = &tensor->external;
    if (str_eq(key, STR("location"))) {
        external->location = value;
    } else if (str_eq(key, STR("offset"))) {
        return str_to_u64(value, &external->offset_bytes) || bad_entry(onnx, tensor, key, value);
    } else if (str_eq(key, STR("length"))) {
        external->has_length = true;
        return str_to_u64(value, &external->length_bytes) || bad_entry(onnx, tensor, key, value);
    }
    return true;
}

/* Counts the entries of a typed field; elements may not be spread over two kinds of field. */
static bool note_data(const Onnx *onnx, OnnxTensor *tensor, const Wire *wire, const Field *field) {
    uint64_t entries = field->number == ONNX_TENSOR_STRING_DATA ? 1 : numbers_count(wire, field);
    if (entries == 0 && field->bytes.len == 0) {
        return true;
    }
    if (tensor->data_field != 0 && tensor->data_field != field->number) {
        return onnx_tensor_error(onnx, tensor,
                                 (DiagText){.what = "the elements stand in two fields",
                                            .got = arena_text(&onnx->work->keep, "%s and %s",
                                                              onnx_field_name(ONNX_TENSOR, tensor->data_field),
                                                              onnx_field_name(ONNX_TENSOR, field->number)),
                                            .expected = "one of them"});
    }
    tensor->data_field = field->number;
    tensor->data_count += entries;
    tensor->chunk = field->bytes;
    return true;
}

static bool read_field(const Onnx *onnx, OnnxTensor *tensor, Wire *wire, const Field *field) {
    switch (field->number) {
    case ONNX_TENSOR_NAME:
        return true; /* read before */
    case ONNX_TENSOR_DIMS:
        return read_dims(onnx, tensor, wire, field);
    case ONNX_TENSOR_DATA_TYPE:
        return onnx_dtype(onnx, field->at, tensor->name, field->scalar, &tensor->dtype);
    case ONNX_TENSOR_RAW_DATA:
        tensor->has_raw = true;
        tensor->raw = field->bytes;
        return true;
    case ONNX_TENSOR_EXTERNAL_DATA:
        return read_entry(onnx, tensor, field);
    case ONNX_TENSOR_DATA_LOCATION:
        tensor->is_external = field->scalar == 1;
        return true;
    case ONNX_TENSOR_SEGMENT:
        return onnx_refuse(onnx, field->at,
                           (DiagText){.node = tensor->node,
                                      .tensor = tensor->name,
                                      .what = "the tensor is stored in segments",
                                      .hint = "export the model again with each tensor in one piece"});
    default:
        return note_data(onnx, tensor, wire, field);
    }
}

/* The name stands behind the elements in the file, and messages about those need it. */
static Str find_name(const Onnx *onnx, Span message) {
    Wire wire = wire_open(&onnx->file, ONNX_TENSOR, message);
    Field field;
    Str name = {0};
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_TENSOR_NAME) {
            name = field_str(&field);
        }
    }
    return name;
}

static bool read_header(const Onnx *onnx, OnnxTensor *tensor) {
    Wire wire = wire_open(&onnx->file, ONNX_TENSOR, tensor->message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (!read_field(onnx, tensor, &wire, &field)) {
            return false;
        }
    }
    if (!wire_done(&wire)) {
        return false;
    }
    if (tensor->dtype == DTYPE_NONE) {
        return onnx_tensor_error(onnx, tensor,
                                 (DiagText){.what = "the constant has no element type", .expected = "a data_type"});
    }
    return true;
}

static Value constant_value(Onnx *onnx, const OnnxTensor *tensor, const Const *constant) {
    return (Value){.name = tensor->name,
                   .dtype = tensor->dtype,
                   .has_shape = true,
                   .shape = tensor->shape,
                   .constant = constant,
                   .producer = NO_NODE,
                   .source = wire_place(&onnx->file, tensor->at)};
}

bool onnx_read_tensor(Onnx *onnx, Str node, const Field *field, Value *value) {
    OnnxTensor tensor = {.node = node, .name = find_name(onnx, field->bytes), .at = field->at, .message = field->bytes};
    Const *constant = arena_new(&onnx->work->keep, Const);
    if (!read_header(onnx, &tensor) || !onnx_read_data(onnx, &tensor, constant)) {
        return false;
    }
    *value = constant_value(onnx, &tensor, constant);
    return true;
}

bool onnx_read_sparse(Onnx *onnx, Str node, const Field *field, Value *value) {
    OnnxTensor dense = {.node = node, .at = field->at};
    OnnxTensor values = {.node = node};
    Wire wire = wire_open(&onnx->file, ONNX_SPARSE, field->bytes);
    Field part;
    while (wire_next(&wire, &part)) {
        if (part.number == ONNX_SPARSE_DIMS && !read_dims(onnx, &dense, &wire, &part)) {
            return false;
        }
        if (part.number == ONNX_SPARSE_VALUES) {
            values =
                (OnnxTensor){.node = node, .name = find_name(onnx, part.bytes), .at = part.at, .message = part.bytes};
        }
    }
    if (!wire_done(&wire) || !read_header(onnx, &values)) {
        return false;
    }
    dense.name = values.name;
    dense.dtype = values.dtype;
    Const *unknown = arena_new(&onnx->work->keep, Const);
    unknown->stored = dense.shape;
    *value = constant_value(onnx, &dense, unknown);
    return true;
}
