/* Shape rules of element-wise operators, quantisation and normalisation. */
#include "graph/infer.h"

static bool legacy_aligned(Infer *in, const Value *a, const Value *b);

bool infer_same(Infer *in) {
    const Value *first = node_input(in->graph, in->node, 0);
    if (first != NULL && first->is_sequence) { /* Identity of a sequence */
        return infer_sequence(in);
    }
    const Value *x = infer_need(in, 0);
    return x != NULL && infer_out(in, 0, infer_is_tflite(in) ? DTYPE_NONE : x->dtype, &x->shape);
}

bool infer_same_bool(Infer *in) {
    const Value *x = infer_need(in, 0);
    return x != NULL && infer_out(in, 0, DTYPE_BOOL, &x->shape);
}

/* Before opset 7, `broadcast` = 1 repeats input 1 along the axes of input 0 from `axis` on; the last axes by default.
 */
static bool is_legacy_broadcast(const Infer *in) {
    return in->graph->format == FORMAT_ONNX && in->node->version < 7 && in->node->input_count == 2 &&
           node_int(in->node, "broadcast", 0) == 1;
}

static bool broadcast_as(Infer *in, DType dtype) {
    Shape shape;
    if (is_legacy_broadcast(in)) {
        const Value *a = infer_need(in, 0);
        const Value *b = infer_need(in, 1);
        return a != NULL && b != NULL && legacy_aligned(in, a, b) && infer_out(in, 0, dtype, &a->shape);
    }
    return infer_broadcast_inputs(in, 0, in->node->input_count, &shape) && infer_out(in, 0, dtype, &shape);
}

static bool legacy_aligned(Infer *in, const Value *a, const Value *b) {
    int64_t first = node_int(in->node, "axis", (int64_t)a->shape.rank - (int64_t)b->shape.rank);
    bool fits = first >= 0 && first <= (int64_t)a->shape.rank - (int64_t)b->shape.rank;
    for (uint32_t axis = 0; fits && axis < b->shape.rank; axis++) {
        fits = b->shape.dim[axis] == 1 || b->shape.dim[axis] == a->shape.dim[first + axis];
    }
    return fits || infer_no_broadcast(in, 1,
                                      arena_text(&in->work->keep, "%s of '" STR_FMT "'",
                                                 infer_shape_text(in, &b->shape), STR_ARG(b->name)),
                                      arena_text(&in->work->keep, "the extents of %s ('" STR_FMT "') from axis %lld on",
                                                 infer_shape_text(in, &a->shape), STR_ARG(a->name), (long long)first));
}

bool infer_broadcast(Infer *in) {
    const Value *x = infer_need(in, 0);
    return x != NULL && broadcast_as(in, x->dtype);
}

bool infer_compare(Infer *in) {
    return broadcast_as(in, DTYPE_BOOL);
}

bool infer_where(Infer *in) {
    const Value *chosen = infer_need(in, 1);
    return chosen != NULL && broadcast_as(in, chosen->dtype);
}

/* TFLite SELECT: the condition has the shape of the operands, or one element a slice of axis 0. */
bool infer_select(Infer *in) {
    const Value *chosen = infer_need(in, 1);
    return chosen != NULL && infer_out(in, 0, chosen->dtype, &chosen->shape);
}

/* A, its scale and zero point, B, its scale and zero point, the output's. */
bool infer_qlinear_binary(Infer *in) {
    const Value *a = infer_need(in, 0);
    const Value *b = infer_need(in, 3);
    if (a == NULL || b == NULL) {
        return false;
    }
    Shape shape = a->shape;
    if (!shape_broadcast(&shape, &b->shape)) {
        return infer_no_broadcast(in, 3, infer_shape_text(in, &b->shape),
                                  arena_text(&in->work->keep, "a shape that broadcasts with %s of '" STR_FMT "'",
                                             infer_shape_text(in, &a->shape), STR_ARG(a->name)));
    }
    return infer_out(in, 0, a->dtype, &shape);
}

/* PRelu: the slope repeats along the input, never the input along the slope. Before opset 7 it was one number a
 * channel, of whatever rank. */
bool infer_unidirectional(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *slope = infer_need(in, 1);
    if (x == NULL || slope == NULL) {
        return false;
    }
    Shape shape = x->shape;
    bool fits = shape_broadcast(&shape, &slope->shape) && shape_eq(&shape, &x->shape);
    if (!fits && in->graph->format == FORMAT_ONNX && in->node->version < 7) {
        fits = x->shape.rank > 1 && slope->shape.rank == 1 && slope->shape.dim[0] == x->shape.dim[1];
    }
    if (!fits) {
        return infer_error(in, 1, "the slope does not broadcast to the input", infer_shape_text(in, &slope->shape),
                           arena_text(&in->work->keep, "a shape that repeats along %s of '" STR_FMT "'",
                                      infer_shape_text(in, &x->shape), STR_ARG(x->name)));
    }
    return infer_out(in, 0, x->dtype, &x->shape);
}

/* Opset 1 names the dtype: "FLOAT", "INT8". */
static DType dtype_of_word(Str word) {
    char lower[16];
    if (word.len >= sizeof lower) {
        return DTYPE_NONE;
    }
    for (size_t k = 0; k < word.len; k++) {
        lower[k] = (char)(word.ptr[k] >= 'A' && word.ptr[k] <= 'Z' ? word.ptr[k] - 'A' + 'a' : word.ptr[k]);
    }
    Str name = {lower, word.len};
    if (str_eq(name, STR("float"))) {
        return DTYPE_F32;
    }
    return str_eq(name, STR("double")) ? DTYPE_F64 : dtype_find(name);
}

bool infer_cast(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    if (infer_is_tflite(in)) {
        return infer_out(in, 0, DTYPE_NONE, &x->shape);
    }
    const Attr *to = node_attr(in->node, "to");
    bool is_word = to != NULL && to->kind == ATTR_STR;
    DType dtype = is_word ? dtype_of_word(to->s) : dtype_from_onnx(node_int(in->node, "to", 0));
    if (dtype == DTYPE_NONE) {
        return infer_error(in, 0, "attribute 'to' names no element type",
                           is_word ? arena_str(&in->work->keep, to->s).ptr
                                   : arena_text(&in->work->keep, "%lld", (long long)node_int(in->node, "to", 0)),
                           "a value of TensorProto.DataType");
    }
    return infer_out(in, 0, dtype, &x->shape);
}

bool infer_cast_like(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *like = node_input(in->graph, in->node, 1);
    return x != NULL && infer_out(in, 0, like == NULL ? DTYPE_NONE : like->dtype, &x->shape);
}

/* Output 1 is the mask: of the input's type before opset 10, bool since. In training (input 2) elements are dropped at
 * random, which no plan for inference means. */
bool infer_dropout(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints training;
    IntsState state = infer_input_ints(in, 2, &training);
    if (state == INTS_UNKNOWN || (state == INTS_KNOWN && training.count == 1 && training.at[0] != 0)) {
        return infer_refuse(in, 2, "Dropout in training mode is not a part of a network that is run",
                            "export the model for inference");
    }
    return x != NULL && infer_out(in, 0, x->dtype, &x->shape) &&
           infer_out(in, 1, in->node->version < 10 ? x->dtype : DTYPE_BOOL, &x->shape);
}

static bool is_one_element(const Shape *shape) {
    return shape->rank == 0 || (shape->rank == 1 && shape->dim[0] == 1);
}

/* One scale a block of `block` elements along `axis`: the scales have the input's rank. */
static bool check_blocks(Infer *in, const Value *x, uint32_t k, int64_t block) {
    const Shape *scales = &infer_optional(in, k)->shape;
    uint32_t axis;
    if (!infer_axis(in, node_int(in->node, "axis", 1), x->shape.rank, &axis)) {
        return false;
    }
    Shape expected = x->shape;
    expected.dim[axis] = expected.dim[axis] / block + (expected.dim[axis] % block != 0);
    return shape_eq(&expected, scales) || infer_error(in, k, "the blocked scales do not fit the input",
                                                      infer_shape_text(in, scales), infer_shape_text(in, &expected));
}

/* The axes whose extent is `count`, as the readings that are possible. */
static const char *const *axis_readings(Infer *in, const Shape *shape, int64_t count) {
    const char **reading = arena_array(&in->work->keep, const char *, SHAPE_MAX_RANK + 1);
    for (uint32_t axis = 0, n = 0; axis < shape->rank; axis++) {
        if (shape->dim[axis] == count) {
            reading[n++] = arena_text(&in->work->keep, "axis %u has %lld elements", axis, (long long)count);
        }
    }
    return reading;
}

/* Is input `k` one number a slice of `axis` of `x`? */
static bool check_per_axis(Infer *in, const Value *x, uint32_t k, uint32_t axis) {
    const Value *v = infer_optional(in, k);
    if (v == NULL || (v->shape.rank == 1 && v->shape.dim[0] == x->shape.dim[axis])) {
        return true;
    }
    Arena *keep = &in->work->keep;
    int64_t count = v->shape.rank == 1 ? v->shape.dim[0] : -1;
    return diag_refuse(&in->work->diags,
                       (DiagText){.node = node_title(keep, in->node),
                                  .tensor = v->name,
                                  .what = "the parameters do not fit the axis they are for",
                                  .got = arena_text(keep, "shape %s", infer_shape_text(in, &v->shape)),
                                  .expected = arena_text(keep, "%lld elements: axis %u of %s of '" STR_FMT "'",
                                                         (long long)x->shape.dim[axis], axis,
                                                         infer_shape_text(in, &x->shape), STR_ARG(x->name)),
                                  .hint = "correct the axis in the model, or the parameters",
                                  .readings = count < 0 ? NULL : axis_readings(in, &x->shape, count)});
}

/* Scale or zero point `k`: one for the tensor (a scalar, or one element, whatever the axis says), one a slice of the
 * axis, or one a block. */
static bool check_scales(Infer *in, const Value *x, uint32_t k) {
    const Value *v = infer_optional(in, k);
    if (v == NULL || is_one_element(&v->shape)) {
        return true;
    }
    int64_t block = node_int(in->node, "block_size", 0);
    if (block > 0 && v->shape.rank == x->shape.rank) {
        return check_blocks(in, x, k, block);
    }
    int64_t axis = node_int(in->node, "axis", 1);
    int64_t rank = (int64_t)x->shape.rank;
    if (axis < -rank || axis >= rank) {
        return diag_refuse(
            &in->work->diags,
            (DiagText){.node = node_title(&in->work->keep, in->node),
                       .tensor = v->name,
                       .what = node_attr(in->node, "axis") == NULL
                                   ? "one scale a slice of axis 1 (the default), which the input lacks"
                                   : "one scale a slice of an axis that the input lacks",
                       .got = arena_text(&in->work->keep, "scales %s, input %s, axis %lld",
                                         infer_shape_text(in, &v->shape), infer_shape_text(in, &x->shape),
                                         (long long)axis),
                       .expected = "one scale, or an axis of the input",
                       .hint = "set attribute 'axis' of the node",
                       .readings = v->shape.rank == 1 ? axis_readings(in, &x->shape, v->shape.dim[0]) : NULL});
    }
    return check_per_axis(in, x, k, (uint32_t)(axis < 0 ? axis + rank : axis));
}

static bool quantize_as(Infer *in, const Value *x, DType dtype) {
    return check_scales(in, x, 1) && check_scales(in, x, 2) && infer_out(in, 0, dtype, &x->shape);
}

bool infer_quantize(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    if (infer_is_tflite(in)) {
        return infer_out(in, 0, DTYPE_NONE, &x->shape);
    }
    const Value *zero_point = node_input(in->graph, in->node, 2);
    DType stated = dtype_from_onnx(node_int(in->node, "output_dtype", 0));
    DType dtype = zero_point != NULL ? zero_point->dtype : stated != DTYPE_NONE ? stated : DTYPE_U8;
    return quantize_as(in, x, dtype);
}

bool infer_dequantize(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    if (infer_is_tflite(in)) {
        return infer_out(in, 0, DTYPE_F32, &x->shape);
    }
    const Value *scale = infer_need(in, 1);
    DType stated = dtype_from_onnx(node_int(in->node, "output_dtype", 0)); /* since opset 23 */
    return scale != NULL && quantize_as(in, x, stated != DTYPE_NONE ? stated : scale->dtype);
}

bool infer_dynamic_quantize(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Shape scalar = {.rank = 0};
    return x != NULL && infer_out(in, 0, DTYPE_U8, &x->shape) && infer_out(in, 1, DTYPE_F32, &scalar) &&
           infer_out(in, 2, DTYPE_U8, &scalar);
}

/* The channel axis of BatchNormalization: 1, or what a legacy `axis` says, an int or a list of one. */
static bool channel_axis(Infer *in, const Value *x, uint32_t *axis) {
    Ints axes;
    *axis = 1;
    if (infer_attr_ints(in, "axis", &axes) == INTS_ABSENT) {
        return true;
    }
    if (axes.count != 1) {
        return infer_refuse(
            in, 0, arena_text(&in->work->keep, "%u channel axes: normalisation over several axes together", axes.count),
            "give one axis");
    }
    return infer_axis(in, axes.at[0], x->shape.rank, axis);
}

/* Without an attribute the channels are axis 1, or where --layout puts them: that is checked when the axes have names.
 */
static bool check_channels(Infer *in, const Value *x, uint32_t k, uint32_t axis) {
    const Value *v = infer_need(in, k);
    bool is_rank_1 = infer_need(in, 0)->shape.rank == 1;
    bool is_open = v != NULL && node_attr(in->node, "axis") == NULL && v->shape.rank == 1 && !is_rank_1;
    for (uint32_t other = 0; is_open && other < x->shape.rank; other++) {
        if (x->shape.dim[other] == v->shape.dim[0]) {
            return true;
        }
    }
    return v != NULL && check_per_axis(in, x, k, axis);
}

bool infer_batch_norm(Infer *in) {
    const Value *x = infer_need(in, 0);
    uint32_t axis;
    if (x == NULL || !channel_axis(in, x, &axis)) {
        return false;
    }
    if (node_int(in->node, "spatial", 1) == 0) {
        return infer_refuse(in, 0, "spatial = 0: one parameter an element, not one a channel",
                            "export the model with opset 9 or later");
    }
    Value one_channel = *x; /* rank 1 is a batch of one channel */
    if (x->shape.rank == 1) {
        one_channel.shape = (Shape){.rank = 2, .dim = {x->shape.dim[0], 1}};
        x = &one_channel;
    } else if (x->shape.rank == 0) {
        return infer_error(in, 0, "a scalar has no channel axis", "[]", "rank 1 or more");
    }
    for (uint32_t k = 1; k < 5; k++) {
        if (!check_channels(in, x, k, axis)) {
            return false;
        }
    }
    const Value *mean = infer_need(in, 3);
    bool is_done = infer_out(in, 0, x->dtype, &infer_need(in, 0)->shape);
    for (uint32_t k = 1; is_done && k < in->node->output_count; k++) {
        is_done = infer_out(in, k, mean->dtype, &mean->shape);
    }
    return is_done;
}

bool infer_channel_norm(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    if (x->shape.rank < 2) {
        return infer_error(in, 0, "the input has no channel axis", infer_shape_text(in, &x->shape), "rank 2 or more");
    }
    return check_per_axis(in, x, 1, 1) && check_per_axis(in, x, 2, 1) && infer_out(in, 0, x->dtype, &x->shape);
}

bool infer_group_norm(Infer *in) {
    const Value *x = infer_need(in, 0);
    int64_t groups = node_int(in->node, "num_groups", 1);
    if (x == NULL) {
        return false;
    }
    if (x->shape.rank < 2 || groups < 1 || x->shape.dim[1] % groups != 0) {
        return infer_error(
            in, 0, "the channels do not divide into groups",
            arena_text(&in->work->keep, "%s, %lld groups", infer_shape_text(in, &x->shape), (long long)groups),
            "a channel axis (1) that is a multiple of the groups");
    }
    return infer_out(in, 0, x->dtype, &x->shape);
}

/* The statistics of LayerNormalization: extent 1 from `axis` on. */
static bool layer_statistics(Infer *in, const Value *x, uint32_t first_output) {
    uint32_t axis;
    if (!infer_axis(in, node_int(in->node, "axis", -1), x->shape.rank, &axis)) {
        return false;
    }
    Shape shape = x->shape;
    for (; axis < shape.rank; axis++) {
        shape.dim[axis] = 1;
    }
    return infer_out(in, first_output, DTYPE_F32, &shape) && infer_out(in, first_output + 1, DTYPE_F32, &shape);
}

bool infer_layer_norm(Infer *in) {
    const Value *x = infer_need(in, 0);
    return x != NULL && infer_out(in, 0, x->dtype, &x->shape) && layer_statistics(in, x, 1);
}

bool infer_skip_layer_norm(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *skip = infer_need(in, 1);
    if (x == NULL || skip == NULL) {
        return false;
    }
    Shape shape = x->shape;
    if (!shape_broadcast(&shape, &skip->shape) || !shape_eq(&shape, &x->shape)) {
        return infer_error(in, 1, "the skip does not broadcast to the input", infer_shape_text(in, &skip->shape),
                           infer_shape_text(in, &x->shape));
    }
    return infer_out(in, 0, x->dtype, &x->shape) && layer_statistics(in, x, 1) && infer_out(in, 3, x->dtype, &x->shape);
}

/* Outputs: [batch, sequence, hidden], the mask index [batch], the sum before normalisation. */
bool infer_embed_layer_norm(Infer *in) {
    const Value *ids = infer_need(in, 0);
    const Value *words = infer_need(in, 2);
    if (ids == NULL || words == NULL) {
        return false;
    }
    if (ids->shape.rank != 2 || words->shape.rank != 2) {
        return infer_error(in, ids->shape.rank != 2 ? 0 : 2, "the rank does not fit the operator", NULL, "rank 2");
    }
    Shape shape = {.rank = 3, .dim = {ids->shape.dim[0], ids->shape.dim[1], words->shape.dim[1]}};
    Shape index = {.rank = 1, .dim = {ids->shape.dim[0]}};
    return infer_out(in, 0, words->dtype, &shape) && infer_out(in, 1, DTYPE_I32, &index) &&
           infer_out(in, 2, words->dtype, &shape);
}
