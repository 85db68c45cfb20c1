/* TFLite: the quantisation of one tensor. The axis is the file's word: where it can't be right, the file is refused. */
#include "import/tflite.h"

#include <inttypes.h>

/* Custom, blockwise and multi-axis quantisation keep their scales elsewhere. */
static bool refuse_details(Tflite *model, const Value *value, int64_t type) {
    static const char *const name[] = {"", "CustomQuantization", "BlockwiseQuantization", "MultiAxisQuantization"};
    const char *got =
        type > 0 && type < 4 ? name[type] : arena_text(tflite_texts(model), "details of type %" PRId64, type);
    DiagText text = tflite_fault(value, "the tensor's kind of quantisation is not supported", got,
                                 "scales and zero points for the tensor or along one axis");
    text.hint = "convert the model with per-tensor or per-axis quantisation";
    return diag_refuse(&model->work->diags, text);
}

/* ---- The axis */

static const char **readings_of(Tflite *model, const Value *value, uint32_t count) {
    const char **readings = arena_array(tflite_texts(model), const char *, SHAPE_MAX_RANK + 1);
    uint32_t found = 0;
    for (uint32_t axis = 0; axis < value->shape.rank; axis++) {
        if (value->shape.dim[axis] == count) {
            readings[found++] =
                arena_text(tflite_texts(model), "the scales go along axis %" PRIu32 ", of size %" PRIu32, axis, count);
        }
    }
    readings[found++] = "the axis is right, and the scales belong to another tensor";
    return readings;
}

static bool read_axis(Tflite *model, const FlatTable *table, const Value *value, Quant *quant) {
    int64_t axis = flat_int(&model->flat, table, QUANTIZATION_DIMENSION, FLAT_I32, 0);
    quant->axis = -1;
    if (quant->count == 1) {
        return true;
    }
    if (value->has_shape && value->shape.rank == 1) {
        axis = 0; /* old converters leave the weights' axis in the bias; a list has one axis, so there is one reading */
    }
    if (!value->has_shape || axis < 0 || axis >= value->shape.rank) {
        const char *got = arena_text(tflite_texts(model), "axis %" PRId64 " of " STR_FMT, axis,
                                     STR_ARG(shape_text(tflite_texts(model), &value->shape)));
        return diag_error(&model->work->diags,
                          tflite_fault(value, "the quantisation axis lies outside the tensor", got,
                                       arena_text(tflite_texts(model), "an axis of size %" PRIu32, quant->count)));
    }
    quant->axis = (int32_t)axis;
    int64_t extent = value->shape.dim[axis];
    if (extent == DIM_FREE || extent == quant->count) {
        return true;
    }
    DiagText text =
        tflite_fault(value, "the number of scales is not the size of the quantisation axis",
                     arena_text(tflite_texts(model), "axis %" PRId64 " has size %" PRId64 ", scales %" PRIu32, axis,
                                extent, quant->count),
                     "as many scales as the axis has elements");
    text.readings = readings_of(model, value, quant->count);
    text.hint = "write the model again with the axis the scales belong to";
    return diag_refuse(&model->work->diags, text);
}

/* ---- Scales and zero points */

static void read_scales(Tflite *model, const FlatVector *scales, Quant *quant) {
    float *scale = arena_array(&model->work->keep, float, scales->count);
    quant->count = scales->count;
    quant->scale = scale;
    for (uint32_t k = 0; k < scales->count; k++) {
        scale[k] = flat_float_at(&model->flat, scales, k);
    }
}

static bool read_zero_points(Tflite *model, const FlatTable *table, const Value *value, Quant *quant) {
    FlatVector points = flat_vector(&model->flat, table, QUANTIZATION_ZERO_POINT, 8);
    if (points.count == 0) {
        return true;
    }
    if (points.count != quant->count) {
        return diag_error(&model->work->diags,
                          tflite_fault(value, "scales and zero points are not as many",
                                       arena_text(tflite_texts(model), "%" PRIu32 " zero points", points.count),
                                       arena_text(tflite_texts(model), "%" PRIu32 ", one a scale", quant->count)));
    }
    int64_t *zero_point = arena_array(&model->work->keep, int64_t, points.count);
    bool all_zero = true;
    for (uint32_t k = 0; k < points.count; k++) {
        zero_point[k] = flat_int_at(&model->flat, &points, k);
        all_zero = all_zero && zero_point[k] == 0;
    }
    quant->zero_point = all_zero ? NULL : zero_point;
    return true;
}

bool tflite_read_quant(Tflite *model, const FlatTable *tensor, Value *value) {
    FlatTable table = flat_table(&model->flat, tensor, TENSOR_QUANTIZATION);
    int64_t details = flat_int(&model->flat, &table, QUANTIZATION_DETAILS_TYPE, FLAT_U8, 0);
    if (details != 0) {
        return refuse_details(model, value, details);
    }
    FlatVector scales = flat_vector(&model->flat, &table, QUANTIZATION_SCALE, 4);
    if (scales.count == 0) {
        return true; /* min and max alone quantise nothing */
    }
    Quant *quant = arena_new(&model->work->keep, Quant);
    read_scales(model, &scales, quant);
    if (!read_axis(model, &table, value, quant) || !read_zero_points(model, &table, value, quant)) {
        return false;
    }
    value->quant = quant;
    return true;
}
