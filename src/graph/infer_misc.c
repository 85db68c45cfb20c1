/* Shape rules of generators, recurrent layers, signal processing, and of operators whose shapes only the file knows. */
#include "graph/infer.h"

#include <math.h>

/* Where a file of this format keeps the shape of a tensor. */
static const char *shape_place(const Infer *in) {
    static const char *const place[] = {
        [FORMAT_ONNX] = "value_info", [FORMAT_TFLITE] = "Tensor.shape", [FORMAT_TEXT] = "a line 'value'"};
    return place[in->graph->format];
}

bool infer_file(Infer *in) {
    return infer_from_file(in,
                           arena_text(&in->work->keep, "give the output a shape in the model (%s)", shape_place(in)));
}

bool infer_data_dependent(Infer *in) {
    return infer_from_file(in, arena_text(&in->work->keep,
                                          "the number of elements depends on the data: give the output its largest "
                                          "shape in the model (%s)",
                                          shape_place(in)));
}

/* Lists, optionals and strings: what has a shape in the file keeps it, the rest is known to have no layout. */
bool infer_sequence(Infer *in) {
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        Value *out = node_output(in->graph, in->node, k);
        if (out != NULL && (!out->has_shape || !shape_is_whole(&out->shape))) {
            out->is_sequence = true;
        }
    }
    return infer_from_file(in, NULL);
}

/* The dtype of the value's attribute: a tensor, or one of value_float, value_ints … */
static bool constant_attr(Infer *in, DType *dtype, Shape *shape) {
    static const struct {
        const char *name;
        DType dtype;
        bool is_list;
    } kinds[] = {{"value_float", DTYPE_F32, false},     {"value_floats", DTYPE_F32, true},
                 {"value_int", DTYPE_I64, false},       {"value_ints", DTYPE_I64, true},
                 {"value_string", DTYPE_STRING, false}, {"value_strings", DTYPE_STRING, true}};
    const Attr *tensor = node_attr(in->node, "value");
    if (tensor != NULL && tensor->kind == ATTR_TENSOR) {
        const Value *value = graph_value(in->graph, tensor->tensor);
        *dtype = value->dtype;
        *shape = value->shape;
        return value->has_shape;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const Attr *attr = node_attr(in->node, kinds[k].name);
        if (attr != NULL) {
            *dtype = kinds[k].dtype;
            *shape = (Shape){.rank = kinds[k].is_list, .dim = {(int64_t)attr->count}};
            return true;
        }
    }
    return false;
}

bool infer_constant(Infer *in) {
    DType dtype;
    Shape shape;
    return constant_attr(in, &dtype, &shape) ? infer_out(in, 0, dtype, &shape) : infer_file(in);
}

/* Reads a list as a shape. */
static bool ints_out(Infer *in, Ints ints, DType dtype) {
    Shape shape = {.rank = 0};
    for (uint32_t k = 0; k < ints.count; k++) {
        if (!infer_push(in, &shape, ints.at[k])) {
            return false;
        }
    }
    return infer_out(in, 0, dtype, &shape);
}

/* The dtype of attribute `value` (one element), of `dtype`, or float32. */
bool infer_constant_of_shape(Infer *in) {
    const Attr *value = node_attr(in->node, "value");
    DType dtype = dtype_from_onnx(node_int(in->node, "dtype", 1));
    if (value != NULL && value->kind == ATTR_TENSOR) {
        dtype = graph_value(in->graph, value->tensor)->dtype;
    }
    Ints wanted;
    return infer_ints(in, "shape", 0, &wanted) == INTS_KNOWN ? ints_out(in, wanted, dtype)
                                                             : infer_from_file(in, "make the shape a constant");
}

bool infer_random(Infer *in) {
    Ints wanted;
    return infer_attr_ints(in, "shape", &wanted) == INTS_KNOWN
               ? ints_out(in, wanted, dtype_from_onnx(node_int(in->node, "dtype", 1)))
               : infer_error(in, 0, "attribute 'shape' is missing", NULL, NULL);
}

/* The input's shape under the dtype of the attribute, or the input's. */
bool infer_eye_like(Infer *in) {
    const Value *x = infer_need(in, 0);
    DType stated = dtype_from_onnx(node_int(in->node, "dtype", 0));
    return x != NULL && infer_out(in, 0, stated == DTYPE_NONE ? x->dtype : stated, &x->shape);
}

/* start and end (opset 15) count axes, and are clamped. */
bool infer_shape(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    int64_t first, last;
    shape_window(in->node, x->shape.rank, &first, &last);
    Shape out = {.rank = 1, .dim = {last - first}};
    return infer_out(in, 0, infer_is_tflite(in) ? DTYPE_NONE : DTYPE_I64, &out);
}

bool infer_size(Infer *in) {
    const Shape scalar = {.rank = 0};
    return infer_need(in, 0) != NULL && infer_out(in, 0, infer_is_tflite(in) ? DTYPE_I32 : DTYPE_I64, &scalar);
}

bool infer_range(Infer *in) {
    const Value *start = infer_need(in, 0);
    Floats number[3];
    for (uint32_t k = 0; k < 3; k++) {
        const Value *value = infer_need(in, k);
        if (value == NULL) {
            return false;
        }
        if (!const_numbers(value, &in->work->scratch, &number[k]) || number[k].count != 1) {
            return infer_from_file(in, "make start, limit and delta constants");
        }
    }
    double steps = (number[1].at[0] - number[0].at[0]) / number[2].at[0];
    if (!(steps < INFINITY)) { /* also NaN */
        return infer_error(in, 2, "the range does not end", arena_text(&in->work->keep, "delta %g", number[2].at[0]),
                           "a delta that reaches the limit");
    }
    if (steps > (double)EXTENT_MAX) {
        return infer_error(in, 1, "the range has too many elements", arena_text(&in->work->keep, "%.0f of them", steps),
                           "0 to 2^48 elements");
    }
    int64_t whole = steps > 0 ? (int64_t)steps : 0;
    Shape out = {.rank = 1, .dim = {whole + ((double)whole < steps)}};
    return infer_out(in, 0, start->dtype, &out);
}

bool infer_window(Infer *in) {
    Ints size;
    return infer_input_ints(in, 0, &size) == INTS_KNOWN && size.count == 1
               ? ints_out(in, size, dtype_from_onnx(node_int(in->node, "output_datatype", 1)))
               : infer_from_file(in, "make the size a constant");
}

/* [dft_length/2 + 1, num_mel_bins] */
bool infer_mel_weight_matrix(Infer *in) {
    Ints bins, length;
    if (infer_input_ints(in, 0, &bins) != INTS_KNOWN || infer_input_ints(in, 1, &length) != INTS_KNOWN ||
        bins.count != 1 || length.count != 1) {
        return infer_from_file(in, "make num_mel_bins and dft_length constants");
    }
    Shape out = {.rank = 2, .dim = {length.at[0] / 2 + 1, bins.at[0]}};
    return infer_out(in, 0, dtype_from_onnx(node_int(in->node, "output_datatype", 1)), &out);
}

bool infer_multinomial(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL || x->shape.rank != 2) {
        return x != NULL &&
               infer_error(in, 0, "the rank does not fit the operator", infer_shape_text(in, &x->shape), "rank 2");
    }
    Shape out = {.rank = 2, .dim = {x->shape.dim[0], node_int(in->node, "sample_size", 1)}};
    return infer_out(in, 0, dtype_from_onnx(node_int(in->node, "dtype", 6)), &out);
}

bool infer_matrix_diag(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL || x->shape.rank == 0) {
        return x != NULL && infer_error(in, 0, "the rank does not fit the operator", "[]", "rank 1 or more");
    }
    Shape out = x->shape;
    return infer_push(in, &out, x->shape.dim[x->shape.rank - 1]) && infer_out(in, 0, x->dtype, &out);
}

/* ONNX GRU, LSTM, RNN. Layout 0: X [seq, batch, in], Y [seq, dirs, batch, hidden], Y_h [dirs, batch, hidden]; layout 1
 * has the batch first. R is [dirs, gates*hidden, hidden]. */
bool infer_rnn(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *r = infer_need(in, 2);
    if (x == NULL || r == NULL) {
        return false;
    }
    if (x->shape.rank != 3 || r->shape.rank != 3) {
        return infer_error(in, x->shape.rank != 3 ? 0 : 2, "the rank does not fit the operator",
                           infer_shape_text(in, x->shape.rank != 3 ? &x->shape : &r->shape), "rank 3");
    }
    const int64_t *dim = x->shape.dim;
    int64_t dirs = str_eq(node_str(in->node, "direction"), STR("bidirectional")) ? 2 : 1;
    int64_t hidden = node_int(in->node, "hidden_size", r->shape.dim[2]);
    if (r->shape.dim[0] != dirs || r->shape.dim[2] != hidden) {
        return infer_error(in, 2, "the recurrence weights do not fit the operator", infer_shape_text(in, &r->shape),
                           arena_text(&in->work->keep, "[%lld, gates * %lld, %lld]", (long long)dirs, (long long)hidden,
                                      (long long)hidden));
    }
    bool batch_first = node_int(in->node, "layout", 0) != 0;
    Shape all = {.rank = 4, .dim = {dim[0], dirs, dim[1], hidden}};
    Shape last = {.rank = 3, .dim = {dirs, dim[1], hidden}};
    if (batch_first) {
        all = (Shape){.rank = 4, .dim = {dim[0], dim[1], dirs, hidden}};
        last = (Shape){.rank = 3, .dim = {dim[0], dirs, hidden}};
    }
    return infer_out(in, 0, x->dtype, &all) && infer_out(in, 1, x->dtype, &last) && infer_out(in, 2, x->dtype, &last);
}

/* TFLite: inputs 16 is the projection [outputs, cells] or absent, 8 recurrent-to-output weights [cells, outputs]. */
bool infer_sequence_lstm(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *r = infer_optional(in, 8);
    if (x == NULL || r == NULL || x->shape.rank != 3 || r->shape.rank != 2) {
        return x != NULL && infer_file(in);
    }
    Shape out = x->shape;
    out.dim[2] = r->shape.dim[1];
    return infer_out(in, 0, DTYPE_NONE, &out);
}

/* TFLite SVDF: [batch, features] and weights [filters, features] of `rank` each give [batch, filters / rank]. */
bool infer_svdf(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *w = infer_need(in, 1);
    int64_t rank = node_int(in->node, "rank", 1);
    if (x == NULL || w == NULL) {
        return false;
    }
    if (x->shape.rank != 2 || w->shape.rank != 2 || rank < 1 || w->shape.dim[0] % rank != 0) {
        return infer_error(in, 1, "the weights do not fit the operator", infer_shape_text(in, &w->shape),
                           arena_text(&in->work->keep, "filters that are a multiple of rank %lld", (long long)rank));
    }
    Shape out = {.rank = 2, .dim = {x->shape.dim[0], w->shape.dim[0] / rank}};
    return infer_out(in, 0, DTYPE_NONE, &out);
}

/* com.microsoft Attention: [batch, sequence, hidden of V]; qkv_hidden_sizes states V where it differs. */
bool infer_attention(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *w = infer_need(in, 1);
    Ints sizes;
    if (x == NULL || w == NULL) {
        return false;
    }
    if (x->shape.rank != 3 || w->shape.rank != 2) {
        return infer_error(in, x->shape.rank != 3 ? 0 : 1, "the rank does not fit the operator",
                           infer_shape_text(in, &x->shape), "[batch, sequence, hidden] and weights of rank 2");
    }
    infer_attr_ints(in, "qkv_hidden_sizes", &sizes);
    Shape out = x->shape;
    out.dim[2] = sizes.count == 3 ? sizes.at[2] : w->shape.dim[1] / 3;
    if (in->node->output_count > 1) {
        return infer_file(in); /* the state that is carried on depends on its past */
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* The last axis is real (1) or complex (2); the transformed axis gets dft_length, or its half and one. */
bool infer_dft(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints length, stated;
    uint32_t axis;
    if (x == NULL) {
        return false;
    }
    IntsState state = infer_input_ints(in, 1, &length);
    if (state == INTS_UNKNOWN || infer_ints(in, "axis", 2, &stated) == INTS_UNKNOWN) {
        return infer_from_file(in, "make dft_length and axis constants");
    }
    int64_t absent = node_attr(in->node, "axis") == NULL && in->node->version < 20 ? 1 : -2;
    if (!infer_axis(in, stated.count == 1 ? stated.at[0] : absent, x->shape.rank, &axis)) {
        return false;
    }
    Shape out = x->shape;
    out.dim[axis] = length.count == 1 ? length.at[0] : out.dim[axis];
    if (node_int(in->node, "onesided", 0) != 0) {
        out.dim[axis] = out.dim[axis] / 2 + 1;
    }
    out.dim[out.rank - 1] = 2;
    return infer_out(in, 0, x->dtype, &out);
}

/* Signal [batch, length, 1 or 2], step, window, frame length: [batch, frames, bins, 2]. */
bool infer_stft(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *window = infer_optional(in, 2);
    Ints step, length;
    if (x == NULL) {
        return false;
    }
    IntsState state = infer_input_ints(in, 3, &length);
    if (infer_input_ints(in, 1, &step) != INTS_KNOWN || state == INTS_UNKNOWN || step.count != 1) {
        return infer_from_file(in, "make frame_step and frame_length constants");
    }
    int64_t frame = length.count == 1                           ? length.at[0]
                    : window != NULL && window->shape.rank == 1 ? window->shape.dim[0]
                                                                : 0;
    if (x->shape.rank < 2 || frame < 1 || step.at[0] < 1 || frame > x->shape.dim[1]) {
        return infer_error(in, 0, "the frames do not fit the signal", infer_shape_text(in, &x->shape),
                           arena_text(&in->work->keep, "[batch, %lld or more, …]", (long long)frame));
    }
    int64_t bins = node_int(in->node, "onesided", 1) != 0 ? frame / 2 + 1 : frame;
    Shape out = {.rank = 4, .dim = {x->shape.dim[0], (x->shape.dim[1] - frame) / step.at[0] + 1, bins, 2}};
    return infer_out(in, 0, x->dtype, &out);
}

/* Counts of n-grams: the last axis becomes one more than the largest of ngram_indexes. */
bool infer_tf_idf(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints index;
    int64_t largest = -1;
    if (x == NULL || infer_attr_ints(in, "ngram_indexes", &index) != INTS_KNOWN) {
        return x != NULL && infer_file(in);
    }
    for (uint32_t k = 0; k < index.count; k++) {
        largest = index.at[k] > largest ? index.at[k] : largest;
    }
    if (largest >= EXTENT_MAX) {
        return infer_error(in, 0, "attribute 'ngram_indexes' is out of range", NULL, NULL);
    }
    Shape out = x->shape;
    out.rank -= out.rank > 0;
    return infer_push(in, &out, largest + 1) && infer_out(in, 0, DTYPE_F32, &out);
}

/* R, T, then parameters, gradients and states in equal numbers; outputs are the new parameters and states. */
bool infer_training(Infer *in) {
    uint32_t values = in->node->input_count < 2 ? 0 : in->node->input_count - 2;
    uint32_t kinds = in->node->op == OP_ADAM ? 4 : 3;
    uint32_t each = values / kinds;
    if (values % kinds != 0 || in->node->output_count != (kinds - 1) * each) {
        return infer_error(in, 0, "inputs and outputs do not fit the operator",
                           arena_text(&in->work->keep, "%u and %u", in->node->input_count, in->node->output_count),
                           NULL);
    }
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        const Value *old = infer_need(in, 2 + (k < each ? k : k + each)); /* gradients have no output */
        if (old == NULL || !infer_out(in, k, old->dtype, &old->shape)) {
            return false;
        }
    }
    return true;
}
