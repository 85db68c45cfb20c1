/* TFLite: one tensor: its shape, type, data and quantisation. */
#include "import/tflite.h"

#include <inttypes.h>

/* ---- Shape */

static bool check_rank(Tflite *model, const Value *value, uint32_t rank) {
    return rank <= SHAPE_MAX_RANK ||
           diag_refuse(&model->work->diags,
                       tflite_fault(value, "the tensor has too many dimensions",
                                    arena_text(tflite_texts(model), "%" PRIu32, rank),
                                    arena_text(tflite_texts(model), "at most %d", SHAPE_MAX_RANK)));
}

static void name_free_dim(Tflite *model, Value *value, Str **names, uint32_t axis) {
    if (*names == NULL) {
        *names = arena_array(&model->work->keep, Str, value->shape.rank);
        value->dim_name = *names;
    }
    (*names)[axis] = arena_format(&model->work->keep, STR_FMT ":%" PRIu32, STR_ARG(value->name), axis);
}

/* The signature is the shape with -1 where the user may choose; it says nothing else. */
static bool read_signature(Tflite *model, const FlatTable *tensor, Value *value, Str **names) {
    FlatVector signature = flat_vector(&model->flat, tensor, TENSOR_SHAPE_SIGNATURE, 4);
    if (signature.count == 0) {
        return true;
    }
    if (signature.count != value->shape.rank) {
        return diag_error(&model->work->diags,
                          tflite_fault(value, "shape and shape_signature have different ranks",
                                       arena_text(tflite_texts(model), "a signature of rank %" PRIu32, signature.count),
                                       arena_text(tflite_texts(model), "rank %" PRIu32, value->shape.rank)));
    }
    for (uint32_t axis = 0; axis < signature.count; axis++) {
        if (flat_int_at(&model->flat, &signature, axis) == DIM_FREE && value->shape.dim[axis] != DIM_FREE) {
            name_free_dim(model, value, names, axis);
        }
    }
    return true;
}

static bool read_shape(Tflite *model, const FlatTable *tensor, Value *value) {
    FlatVector shape = flat_vector(&model->flat, tensor, TENSOR_SHAPE, 4);
    Str *names = NULL;
    if (!check_rank(model, value, shape.count)) {
        return false;
    }
    value->shape.rank = shape.count;
    for (uint32_t axis = 0; axis < shape.count; axis++) {
        int64_t extent = flat_int_at(&model->flat, &shape, axis);
        if (extent < DIM_FREE) {
            return diag_error(
                &model->work->diags,
                tflite_fault(value, arena_text(tflite_texts(model), "the extent of axis %" PRIu32 " is negative", axis),
                             arena_text(tflite_texts(model), "%" PRId64, extent), "0 or more, or -1 where free"));
        }
        value->shape.dim[axis] = extent;
        if (extent == DIM_FREE) {
            name_free_dim(model, value, &names, axis);
        }
    }
    /* Without has_rank an empty shape may be a scalar or say nothing: converters write it for what they did not infer.
     * A constant is a scalar (check_bytes), so is an input of a file from before has_rank; of the rest inference tells.
     */
    bool has_rank = flat_int(&model->flat, tensor, TENSOR_HAS_RANK, FLAT_BOOL, 0) != 0;
    value->has_shape = shape.count > 0 || has_rank || dtype_bits(value->dtype) == 0;
    return read_signature(model, tensor, value, &names);
}

/* ---- Data */

/* Where the tensor's bytes are; empty where the file gives none. */
static bool find_data(Tflite *model, const FlatTable *tensor, Value *value, Span *data) {
    *data = (Span){0};
    if (flat_int(&model->flat, tensor, TENSOR_EXTERNAL_BUFFER, FLAT_U32, 0) != 0) {
        DiagText text = tflite_fault(value, "the tensor's data is in an external buffer", NULL, "data inside the file");
        text.hint = "write the model as one file";
        return diag_refuse(&model->work->diags, text);
    }
    int64_t index = flat_int(&model->flat, tensor, TENSOR_BUFFER, FLAT_U32, 0);
    if (index >= model->buffers.count) {
        return index == 0 || /* buffer 0 is always the empty one */
               diag_error(
                   &model->work->diags,
                   tflite_fault(value, "the tensor's buffer does not exist",
                                arena_text(tflite_texts(model), "buffer %" PRId64, index),
                                arena_text(tflite_texts(model), "one of %" PRIu32 " buffers", model->buffers.count)));
    }
    FlatTable buffer = flat_table_at(&model->flat, &model->buffers, (uint32_t)index);
    value->is_kept_data = model->is_metadata[index];
    int64_t offset = flat_int(&model->flat, &buffer, BUFFER_OFFSET, FLAT_U64, 0);
    int64_t bytes = flat_int(&model->flat, &buffer, BUFFER_SIZE, FLAT_U64, 0);
    if (offset <= 1) { /* 0 and 1 say that the data is in the FlatBuffer */
        *data = flat_bytes(&model->flat, &buffer, BUFFER_DATA);
        return true;
    }
    return tflite_span(model, offset, bytes, data) ||
           diag_error(&model->work->diags,
                      tflite_fault(value, "the tensor's data lies outside the file",
                                   arena_text(tflite_texts(model), "%" PRId64 " bytes at byte %" PRId64, bytes, offset),
                                   arena_text(tflite_texts(model), "inside %zu bytes", model->flat.bytes.len)));
}

/* Unranked data is a scalar: files from before has_rank and files with it write scalars alike. */
static bool check_bytes(Tflite *model, Value *value, Span data) {
    uint64_t bytes;
    value->has_shape = true;
    if (!shape_packed_bytes(&value->shape, value->dtype, &bytes)) {
        return diag_error(&model->work->diags, tflite_fault(value, "a constant needs a shape whose size fits 64 bits",
                                                            shape_text(tflite_texts(model), &value->shape).ptr, NULL));
    }
    if (bytes == data.len) {
        return true;
    }
    return diag_error(
        &model->work->diags,
        tflite_fault(value, "the constant's data does not have the size of its shape",
                     arena_text(tflite_texts(model), "%zu bytes", data.len),
                     arena_text(tflite_texts(model), "%" PRIu64 " bytes for %s" STR_FMT, bytes,
                                dtype_name(value->dtype), STR_ARG(shape_text(tflite_texts(model), &value->shape)))));
}

static bool read_data(Tflite *model, const FlatTable *tensor, Value *value) {
    Span data;
    if (!find_data(model, tensor, value, &data)) {
        return false;
    }
    if (flat_has(&model->flat, tensor, TENSOR_SPARSITY)) {
        DiagText text = tflite_fault(value, "the tensor is stored sparse", NULL, "dense data");
        text.hint = "convert the model without sparse weights";
        return diag_refuse(&model->work->diags, text);
    }
    if (data.len == 0 || value->is_state) {
        return true; /* not a constant; a variable's bytes are what it starts from */
    }
    bool is_opaque = dtype_bits(value->dtype) == 0;
    if (!is_opaque && !check_bytes(model, value, data)) {
        return false;
    }
    Const *constant = arena_new(&model->work->keep, Const);
    *constant = (Const){.stored = value->shape, .bytes = is_opaque ? (Span){NULL, 0} : data, .is_known = !is_opaque};
    value->constant = constant;
    return true;
}

/* ---- The tensor */

static bool read_type(Tflite *model, const FlatTable *tensor, Value *value) {
    int64_t type = flat_int(&model->flat, tensor, TENSOR_TYPE, FLAT_I8, 0);
    value->dtype = dtype_from_tflite(type);
    return value->dtype != DTYPE_NONE ||
           diag_refuse(&model->work->diags,
                       tflite_fault(value, "the element type is not known",
                                    arena_text(tflite_texts(model), "TensorType %" PRId64, type), "0 to 22"));
}

bool tflite_read_tensor(Tflite *model, const FlatTable *tensor, uint32_t index) {
    Value value = {.name = flat_str(&model->flat, tensor, TENSOR_NAME),
                   .producer = NO_NODE,
                   .source = tflite_place(model, tensor->at),
                   .is_opaque = tflite_is_opaque_tensor(model, tensor),
                   .is_state = flat_int(&model->flat, tensor, TENSOR_IS_VARIABLE, FLAT_BOOL, 0) != 0};
    if (value.name.len == 0) {
        value.name = arena_format(&model->work->keep, "tensor#%" PRIu32, index);
    }
    bool sound = read_type(model, tensor, &value) && read_shape(model, tensor, &value) &&
                 read_data(model, tensor, &value) && tflite_read_quant(model, tensor, &value);
    graph_add_value(model->graph, &model->work->keep, value);
    return sound;
}
