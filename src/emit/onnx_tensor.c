/* Constants the file does not have: TensorProto, and the ValueInfoProto that a file of IR 3 needs beside it.
 *
 * The elements are raw_data, whose form is that of graph.h: little-endian, elements of 4 and 2 bits packed low bits
 * first. Source: onnx/onnx.proto of onnx 1.17. */
#include "emit/onnx.h"

#include "base/fault.h"

void onnx_put_tensor(Pieces *out, uint32_t field, const Value *value) {
    const Const *constant = value->constant;
    CHECK(constant != NULL && constant->is_known && shape_eq(&constant->stored, &value->shape));
    CHECK(dtype_to_onnx(value->dtype) > 0);
    Pieces tensor = pieces(out->arena);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        pieces_put_int(&tensor, ONNX_TENSOR_DIMS, value->shape.dim[k]);
    }
    pieces_put_int(&tensor, ONNX_TENSOR_DATA_TYPE, dtype_to_onnx(value->dtype));
    if (value->name.len > 0) {
        pieces_put_str(&tensor, ONNX_TENSOR_NAME, value->name);
    }
    pieces_put_bytes(&tensor, ONNX_TENSOR_RAW_DATA, constant->bytes);
    pieces_put_message(out, field, &tensor);
}

static Pieces shape_message(const Pieces *out, const Shape *shape) {
    Pieces message = pieces(out->arena);
    for (uint32_t k = 0; k < shape->rank; k++) {
        Pieces dim = pieces(out->arena);
        pieces_put_int(&dim, ONNX_DIMENSION_VALUE, shape->dim[k]);
        pieces_put_message(&message, ONNX_SHAPE_DIM, &dim);
    }
    return message;
}

void onnx_put_value_info(Pieces *out, uint32_t field, const Value *value) {
    Pieces shape = shape_message(out, &value->shape);
    Pieces tensor = pieces(out->arena);
    pieces_put_int(&tensor, ONNX_TENSOR_TYPE_ELEM_TYPE, dtype_to_onnx(value->dtype));
    pieces_put_message(&tensor, ONNX_TENSOR_TYPE_SHAPE, &shape);
    Pieces type = pieces(out->arena);
    pieces_put_message(&type, ONNX_TYPE_TENSOR, &tensor);
    Pieces info = pieces(out->arena);
    pieces_put_str(&info, ONNX_VALUE_INFO_NAME, value->name);
    pieces_put_message(&info, ONNX_VALUE_INFO_TYPE, &type);
    pieces_put_message(out, field, &info);
}
