/* TFLite: new tensors, buffers, operator codes and operators, appended to the file. */
#include "emit/tflite.h"

#include "base/fault.h"
#include "import/tflite.h"

#include <string.h>

enum { REF = FLAT_REF_BYTES, BYTE = 1, INT = 4 };

static void set_ints(FlatImage *image, size_t at, const int32_t *ints, uint32_t count) {
    size_t element = emit_add_vector(image, at, count, INT, INT);
    for (uint32_t k = 0; k < count; k++) {
        emit_set(image, element + (size_t)k * INT, (uint32_t)ints[k], INT);
    }
}

static void set_bytes(FlatImage *image, size_t at, Span bytes, uint32_t align) {
    size_t element = emit_add_vector(image, at, bytes.len, 1, align);
    if (bytes.len > 0) {
        memcpy(image->bytes + element, bytes.ptr, bytes.len);
    }
}

/* ---- Tensors */

size_t emit_add_quant(FlatImage *image, const Quant *quant) {
    static const uint8_t fields[] = {
        [QUANTIZATION_SCALE] = REF, [QUANTIZATION_ZERO_POINT] = REF, [QUANTIZATION_DIMENSION] = INT};
    if (quant == NULL) {
        return emit_add_table(image, fields, 0);
    }
    CHECK(quant->block == 0); /* the importer refuses blocks */
    size_t table = emit_add_table(image, fields, sizeof fields);
    size_t scale = emit_add_vector(image, emit_field(image, table, QUANTIZATION_SCALE), quant->count, 4, 4);
    for (uint32_t k = 0; k < quant->count; k++) {
        uint32_t bits;
        memcpy(&bits, &quant->scale[k], sizeof bits);
        emit_set(image, scale + (size_t)k * 4, bits, 4);
    }
    size_t point = emit_add_vector(image, emit_field(image, table, QUANTIZATION_ZERO_POINT), quant->count, 8, 8);
    for (uint32_t k = 0; k < quant->count && quant->zero_point != NULL; k++) {
        emit_set(image, point + (size_t)k * 8, (uint64_t)quant->zero_point[k], 8);
    }
    emit_set_field(image, table, QUANTIZATION_DIMENSION, quant->axis > 0 ? (uint32_t)quant->axis : 0, INT);
    return table;
}

static int8_t tensor_type(DType dtype) {
    static const int8_t types[] = {
#define DTYPE(id, name, bits, kind, onnx, tflite) [DTYPE_##id] = (tflite),
#include "base/dtype.def"
#undef DTYPE
    };
    CHECK(dtype != DTYPE_NONE && types[dtype] >= 0);
    return types[dtype];
}

/* A free dimension is 1 in the shape, and -1 in the signature. */
static void set_shape(FlatImage *image, size_t table, const Shape *shape) {
    int32_t dims[SHAPE_MAX_RANK];
    int32_t signature[SHAPE_MAX_RANK];
    for (uint32_t k = 0; k < shape->rank; k++) {
        CHECK(shape->dim[k] <= INT32_MAX);
        signature[k] = (int32_t)shape->dim[k];
        dims[k] = shape->dim[k] == DIM_FREE ? 1 : signature[k];
    }
    set_ints(image, emit_field(image, table, TENSOR_SHAPE), dims, shape->rank);
    if (!shape_is_whole(shape)) {
        set_ints(image, emit_field(image, table, TENSOR_SHAPE_SIGNATURE), signature, shape->rank);
    }
}

size_t emit_add_tensor(FlatImage *image, const Value *value, uint32_t buffer) {
    uint8_t fields[] = {[TENSOR_SHAPE] = REF,
                        [TENSOR_TYPE] = BYTE,
                        [TENSOR_BUFFER] = INT,
                        [TENSOR_NAME] = REF,
                        [TENSOR_QUANTIZATION] = value->quant != NULL ? REF : 0,
                        [TENSOR_SHAPE_SIGNATURE] = shape_is_whole(&value->shape) ? 0 : REF};
    size_t table = emit_add_table(image, fields, sizeof fields);
    emit_set_field(image, table, TENSOR_TYPE, (uint8_t)tensor_type(value->dtype), BYTE);
    emit_set_field(image, table, TENSOR_BUFFER, buffer, INT);
    set_shape(image, table, &value->shape);
    emit_add_text(image, emit_field(image, table, TENSOR_NAME), value->name);
    if (value->quant != NULL) {
        size_t quant = emit_add_quant(image, value->quant);
        emit_set_ref(image, emit_field(image, table, TENSOR_QUANTIZATION), quant);
    }
    return table;
}

size_t emit_add_buffer(FlatImage *image, Span data) {
    static const uint8_t fields[] = {[BUFFER_DATA] = REF};
    if (data.len == 0) {
        return emit_add_table(image, fields, 0);
    }
    size_t table = emit_add_table(image, fields, sizeof fields);
    set_bytes(image, emit_field(image, table, BUFFER_DATA), data, EMIT_ALIGN_BYTES);
    return table;
}

/* ---- Operators */

/* Readers from before operator 127 know the old field only; it says 127 for what it can't. */
size_t emit_add_code(FlatImage *image, const EmitCode *code) {
    static const uint8_t fields[] = {[CODE_DEPRECATED_BUILTIN] = BYTE, [CODE_VERSION] = INT, [CODE_BUILTIN] = INT};
    size_t table = emit_add_table(image, fields, sizeof fields);
    emit_set_field(image, table, CODE_DEPRECATED_BUILTIN, code->builtin < INT8_MAX ? (uint8_t)code->builtin : INT8_MAX,
                   BYTE);
    emit_set_field(image, table, CODE_VERSION, (uint32_t)code->version, INT);
    emit_set_field(image, table, CODE_BUILTIN, (uint32_t)code->builtin, INT);
    return table;
}

static void set_values(FlatImage *image, const TflitePlan *plan, size_t at, const ValueId *values, uint32_t count) {
    int32_t *tensors = arena_array(&image->work->scratch, int32_t, count);
    set_ints(image, at, tensors, emit_tensors_of(plan, values, count, tensors));
}

size_t emit_add_operator(FlatImage *image, const TflitePlan *plan, uint32_t added) {
    static const uint8_t fields[] = {[OPERATOR_CODE] = INT,
                                     [OPERATOR_INPUTS] = REF,
                                     [OPERATOR_OUTPUTS] = REF,
                                     [OPERATOR_OPTIONS_TYPE] = BYTE,
                                     [OPERATOR_OPTIONS] = REF};
    const Node *node = graph_node(plan->edit->graph, plan->edit->added_nodes[added].id);
    size_t options;
    size_t table = emit_add_table(image, fields, sizeof fields);
    emit_set_field(image, table, OPERATOR_CODE, plan->code_of[added], INT);
    set_values(image, plan, emit_field(image, table, OPERATOR_INPUTS), node->inputs, node->input_count);
    set_values(image, plan, emit_field(image, table, OPERATOR_OUTPUTS), node->outputs, node->output_count);
    emit_set_field(image, table, OPERATOR_OPTIONS_TYPE, emit_add_options(image, node, &options), BYTE);
    emit_set_ref(image, emit_field(image, table, OPERATOR_OPTIONS), options);
    return table;
}
