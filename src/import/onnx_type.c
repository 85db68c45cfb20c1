/* ValueInfoProto and TypeProto: the name, dtype and shape of a value.
 *
 * Only the outer type is read: a sequence, map, optional or sparse tensor has no byte layout, whatever is inside, so
 * types nested in one another are never followed. */
#include "import/onnx.h"

#include <inttypes.h>

typedef struct {
    const Onnx *onnx;
    Value *value;
    Str dim_name[SHAPE_MAX_RANK];
} TypeReader;

bool onnx_dtype(const Onnx *onnx, const uint8_t *at, Str tensor, uint64_t code, DType *dtype) {
    *dtype = dtype_from_onnx(code <= INT32_MAX ? (int64_t)code : -1);
    if (*dtype != DTYPE_NONE || code == 0) {
        return true;
    }
    return onnx_refuse(onnx, at,
                       (DiagText){.tensor = tensor,
                                  .what = "an element type that stride0 does not know",
                                  .got = arena_text(&onnx->work->keep, "data type %" PRIu64, code),
                                  .expected = "a TensorProto.DataType from 1 to 23, 25 or 26"});
}

bool onnx_push_dim(const Onnx *onnx, const uint8_t *at, Str tensor, Shape *shape, int64_t extent) {
    if (shape->rank < SHAPE_MAX_RANK) {
        shape->dim[shape->rank++] = extent;
        return true;
    }
    return onnx_refuse(onnx, at,
                       (DiagText){.tensor = tensor,
                                  .what = "the tensor has too many dimensions",
                                  .expected = arena_text(&onnx->work->keep, "%d at most", SHAPE_MAX_RANK)});
}

/* Neither number nor name, an empty name and a negative number all leave the dimension free. */
static bool read_dim(TypeReader *reader, const Field *field) {
    Wire wire = wire_open(&reader->onnx->file, ONNX_DIMENSION, field->bytes);
    Field part;
    int64_t extent = DIM_FREE;
    Str name = {0};
    while (wire_next(&wire, &part)) {
        if (part.number == ONNX_DIMENSION_VALUE) {
            extent = part.scalar > INT64_MAX ? DIM_FREE : (int64_t)part.scalar;
            name = (Str){0};
        } else {
            extent = DIM_FREE;
            name = field_str(&part);
        }
    }
    if (!wire_done(&wire) ||
        !onnx_push_dim(reader->onnx, field->at, reader->value->name, &reader->value->shape, extent)) {
        return false;
    }
    reader->dim_name[reader->value->shape.rank - 1] = name;
    return true;
}

static bool read_shape(TypeReader *reader, Span message) {
    Wire wire = wire_open(&reader->onnx->file, ONNX_SHAPE, message);
    Field field;
    reader->value->has_shape = true;
    reader->value->shape = (Shape){0};
    while (wire_next(&wire, &field)) {
        if (!read_dim(reader, &field)) {
            return false;
        }
    }
    return wire_done(&wire);
}

static bool read_tensor_type(TypeReader *reader, Span message) {
    Wire wire = wire_open(&reader->onnx->file, ONNX_TENSOR_TYPE, message);
    Field field;
    bool sound = true;
    while (sound && wire_next(&wire, &field)) {
        if (field.number == ONNX_TENSOR_TYPE_ELEM_TYPE) {
            sound = onnx_dtype(reader->onnx, field.at, reader->value->name, field.scalar, &reader->value->dtype);
        } else {
            sound = read_shape(reader, field.bytes);
        }
    }
    return wire_done(&wire) && sound;
}

static bool read_type(TypeReader *reader, Span message) {
    Wire wire = wire_open(&reader->onnx->file, ONNX_TYPE, message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number != ONNX_TYPE_TENSOR) {
            reader->value->is_sequence = true;
        } else if (!read_tensor_type(reader, field.bytes)) {
            return false;
        }
    }
    return wire_done(&wire);
}

static void keep_dim_names(TypeReader *reader) {
    uint32_t named = 0;
    uint32_t rank = reader->value->shape.rank;
    for (uint32_t k = 0; k < rank; k++) {
        named += reader->dim_name[k].len > 0;
    }
    if (named == 0) {
        return;
    }
    Str *names = arena_array(&reader->onnx->work->keep, Str, rank);
    for (uint32_t k = 0; k < rank; k++) {
        names[k] = reader->dim_name[k];
    }
    reader->value->dim_name = names;
}

bool onnx_read_value_info(const Onnx *onnx, const Field *field, Value *value) {
    Wire wire = wire_open(&onnx->file, ONNX_VALUE_INFO, field->bytes);
    Field part;
    Span type = {0};
    *value = (Value){.producer = NO_NODE, .source = wire_place(&onnx->file, field->at)};
    while (wire_next(&wire, &part)) {
        if (part.number == ONNX_VALUE_INFO_NAME) {
            value->name = field_str(&part);
        } else {
            type = part.bytes;
        }
    }
    TypeReader reader = {.onnx = onnx, .value = value};
    if (!wire_done(&wire) || !read_type(&reader, type)) {
        return false;
    }
    keep_dim_names(&reader);
    return true;
}
