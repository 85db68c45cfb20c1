/* Reach, by operator. Definitions: onnx/docs/Operators.md (onnx 1.17); the reference kernels of TFLite. */
#include "plan/reach.h"

#include "base/checked.h"
#include "graph/box.h"
#include "graph/fold.h"
#include "plan/operand.h"

typedef struct {
    const Graph *graph;
    const Node *node;
    Arena *arena;
    const Value *out;
    NodeReach *reach;
} Finding;

static uint32_t axis_bit(uint32_t axis) {
    return (uint32_t)1 << axis;
}

static uint32_t all_axes(const Value *value) {
    return axis_bit(value->shape.rank) - 1;
}

static const Value *input_of(const Finding *f, uint32_t k) {
    const Value *value = node_input(f->graph, f->node, k);
    return value != NULL && value->has_shape ? value : NULL;
}

/* Index for index. */
static void follow(const Finding *f, uint32_t k, uint32_t axis, uint32_t of) {
    f->reach->input[k][axis] = (AxisReach){.axis = (int32_t)of, .stride = 1, .window = 1};
}

/* Input `k` has the output's axes, from the right; those of another extent repeat. `of` says which may be followed. */
static void follow_right(const Finding *f, uint32_t k, uint32_t of) {
    const Value *in = input_of(f, k);
    for (uint32_t axis = 0; in != NULL && axis < in->shape.rank && axis < f->out->shape.rank; axis++) {
        uint32_t from = in->shape.rank - 1 - axis, to = f->out->shape.rank - 1 - axis;
        if (in->shape.dim[from] == f->out->shape.dim[to] && (of & axis_bit(to)) != 0) {
            follow(f, k, from, to);
        }
    }
}

/* Before opset 7 the second input begins at a stated axis of the first one, not at the right: all of it is read. */
static bool is_stated(const Finding *f, uint32_t k) {
    return k == 1 && node_int(f->node, "broadcast", 0) != 0 && node_attr(f->node, "axis") != NULL;
}

/* Every axis of `of` is followed by each input that has it, and is where the output may be cut. */
static void go_along(const Finding *f, uint32_t of) {
    f->reach->cut = of;
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        char role = op_input_role(f->node->op, k);
        if ((role == 'x' || role == 'p') && !is_stated(f, k)) {
            follow_right(f, k, of);
        }
    }
}

static uint32_t channel_axis(const Finding *f) {
    return !f->graph->channels_last ? 1 : f->out->shape.rank == 0 ? 0 : f->out->shape.rank - 1;
}

/* One number or one row of weights for each index of axis `of`. */
static void follow_outputs(const Finding *f, uint32_t of) {
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        const Value *in = input_of(f, k);
        uint8_t dims[SHAPE_MAX_RANK];
        char role = op_input_role(f->node->op, k);
        if (in == NULL || (role != 'w' && role != 'c')) {
            continue;
        }
        operand_names(f->graph, f->node, k, dims);
        for (uint32_t axis = 0; axis < in->shape.rank; axis++) {
            bool is_along = role == 'w' ? dims[axis] == DIM_O : in->shape.rank == 1;
            if (is_along && in->shape.dim[axis] == f->out->shape.dim[of]) {
                follow(f, k, axis, of);
            }
        }
    }
}

static uint32_t stated_axis(const Finding *f, int64_t absent) {
    int64_t rank = f->out->shape.rank, axis = node_int(f->node, "axis", absent);
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank ? (uint32_t)axis : 0;
}

/* ---- Windows that slide */

uint64_t node_spatial_number(const Node *node, const char *name, uint32_t k, uint64_t absent) {
    const Attr *attr = node_attr(node, name);
    bool is_there = attr != NULL && attr->kind == ATTR_INTS && k < attr->count && attr->ints[k] >= 0;
    return is_there ? (uint64_t)attr->ints[k] : absent;
}

/* What the padding puts in front of an input of `extent`, of which `covered` elements are covered. */
static uint64_t pad_before(const Finding *f, uint32_t k, uint64_t extent, uint64_t covered) {
    Str mode = node_str(f->node, "auto_pad");
    uint64_t pad = covered > extent ? covered - extent : 0;
    if (str_eq(mode, STR("SAME_UPPER"))) {
        return pad / 2;
    }
    if (str_eq(mode, STR("SAME_LOWER"))) {
        return pad - pad / 2;
    }
    return str_eq(mode, STR("VALID")) ? 0 : node_spatial_number(f->node, "pads", k, 0);
}

/* The window along one axis. False where it does not fit 64 bits. */
static bool slide(const Finding *f, uint32_t axis, uint32_t k, uint64_t kernel) {
    uint64_t stride = node_spatial_number(f->node, "strides", k, 1),
             dilation = node_spatial_number(f->node, "dilations", k, 1);
    uint64_t outputs = (uint64_t)f->out->shape.dim[axis], extent = (uint64_t)input_of(f, 0)->shape.dim[axis];
    uint64_t window, covered;
    if (outputs == 0 || !checked_mul(kernel - 1, dilation, &window) || !checked_add(window, 1, &window) ||
        !checked_mul(outputs - 1, stride, &covered) || !checked_add(covered, window, &covered) || covered > INT64_MAX) {
        return false;
    }
    f->reach->input[0][axis] = (AxisReach){.axis = (int32_t)axis,
                                           .stride = stride,
                                           .before = (int64_t)pad_before(f, k, extent, covered),
                                           .window = window};
    return true;
}

/* Input of role w; UINT32_MAX where there is none. */
static uint32_t weight_input(const Finding *f) {
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        if (op_input_role(f->node->op, k) == 'w') {
            return k;
        }
    }
    return UINT32_MAX;
}

static uint64_t input_channels_of_one(const Finding *f, const Value *weights) {
    uint8_t dims[SHAPE_MAX_RANK];
    operand_names(f->graph, f->node, weight_input(f), dims);
    for (uint32_t axis = 0; axis < weights->shape.rank; axis++) {
        if (dims[axis] == DIM_I) {
            return (uint64_t)weights->shape.dim[axis];
        }
    }
    return 1;
}

/* Extent of the kernel along spatial axis `k`. */
static uint64_t kernel_extent(const Finding *f, const Value *weights, uint32_t k) {
    bool is_second = f->node->op == OP_CONV_3D;
    uint32_t first = is_second ? 0 : f->graph->channels_last ? 1 : 2;
    return weights != NULL ? (uint64_t)weights->shape.dim[first + k]
                           : node_spatial_number(f->node, "kernel_shape", k, 1);
}

static void find_windows(const Finding *f) {
    const Value *in = input_of(f, 0), *weights = input_of(f, weight_input(f));
    uint32_t channel = channel_axis(f), first = f->graph->channels_last ? 1 : 2;
    if (in == NULL || in->shape.rank != f->out->shape.rank || in->shape.rank < 3) {
        return;
    }
    uint64_t volume = 1, inputs = weights == NULL ? 1 : input_channels_of_one(f, weights), macs;
    bool ok = true;
    for (uint32_t k = 0; ok && k + 2 < in->shape.rank; k++) {
        uint64_t kernel = kernel_extent(f, weights, k);
        ok = kernel > 0 && checked_mul(volume, kernel, &volume) && slide(f, first + k, k, kernel);
    }
    if (!ok || !checked_mul(volume, inputs, &macs)) {
        return;
    }
    bool is_apart = inputs == 1 && in->shape.dim[channel] == f->out->shape.dim[channel];
    follow(f, 0, 0, 0);
    if (is_apart) { /* a channel of the output is made of its own */
        follow(f, 0, channel, channel);
    }
    follow_outputs(f, channel);
    f->reach->cut = all_axes(f->out);
    f->reach->macs = weights == NULL ? 0 : macs;
    f->reach->passes = volume;
}

/* Is each index of the axis resampled from itself? An extent that stays does not say so where the scale is another one,
 * or where a part is cropped out first. */
static bool is_resampled_in_place(const Finding *f, uint32_t axis) {
    const Attr *attr = node_attr(f->node, "scales");
    const Value *value = input_of(f, f->node->input_count > 2 ? 2 : 1);
    Floats scales = {0, NULL};
    if (f->node->op != OP_RESIZE && f->node->op != OP_UPSAMPLE) {
        return true;
    }
    if (attr != NULL) {
        return attr->kind == ATTR_FLOATS && axis < attr->count && attr->floats[axis] == 1.0F;
    }
    if (node_attr(f->node, "keep_aspect_ratio_policy") != NULL ||
        str_eq(node_str(f->node, "coordinate_transformation_mode"), STR("tf_crop_and_resize"))) {
        return false;
    }
    if (value == NULL || !const_floats(value, f->arena, &scales) || scales.count == 0) {
        return true; /* by sizes */
    }
    return scales.count == f->out->shape.rank && node_attr(f->node, "axes") == NULL && scales.at[axis] == 1;
}

/* Batch and channels only: the spatial axes are read whole. */
static void find_channels(const Finding *f) {
    const Value *in = input_of(f, 0);
    uint32_t channel = channel_axis(f), kept = 0;
    if (in == NULL || in->shape.rank != f->out->shape.rank || in->shape.rank < 3) {
        return;
    }
    kept |= is_resampled_in_place(f, 0) ? axis_bit(0) : 0;
    kept |= is_resampled_in_place(f, channel) ? axis_bit(channel) : 0;
    go_along(f, kept);
    follow_outputs(f, channel);
}

/* Each input element spreads over a window of the output: a part of that needs all of the map, but its channels only.
 */
static void find_transposed_windows(const Finding *f) {
    uint32_t data = node_data_input(f->node), channel = channel_axis(f);
    const Value *in = input_of(f, data), *weights = input_of(f, weight_input(f));
    uint64_t elements;
    if (in == NULL || weights == NULL || in->shape.rank != f->out->shape.rank || in->shape.rank < 3 ||
        f->out->shape.dim[channel] == 0 || node_int(f->node, "group", 1) != 1 ||
        !shape_elements(&weights->shape, &elements)) {
        return;
    }
    follow(f, data, 0, 0);
    follow_outputs(f, channel);
    f->reach->cut = axis_bit(0) | axis_bit(channel);
    f->reach->macs = elements / (uint64_t)f->out->shape.dim[channel];
}

/* ---- Matrix products */

static bool is_transposed(const Finding *f, uint32_t side) {
    static const char *const names[][2] = {{"transA", "transB"}, {"adj_x", "adj_y"}};
    return node_int(f->node, names[f->node->op == OP_BATCH_MATMUL][side], 0) != 0;
}

/* The last but one axis of the left side gives rows, the last of the right side columns; those before are in common. */
static void follow_factor(const Finding *f, uint32_t k, uint32_t side) {
    const Value *in = input_of(f, k);
    uint32_t rank = in->shape.rank, out = f->out->shape.rank;
    uint32_t kept = (side == 0) != is_transposed(f, side) ? rank - 2 : rank - 1;
    follow_right(f, k, all_axes(f->out) & ~(axis_bit(out - 1) | axis_bit(out - 2)));
    follow(f, k, kept, side == 0 ? out - 2 : out - 1);
}

static void find_product(const Finding *f) {
    uint32_t right = f->node->op == OP_QLINEAR_MATMUL ? 3 : 1;
    const Value *a = input_of(f, 0), *b = input_of(f, right);
    if (a == NULL || b == NULL || a->shape.rank < 2 || b->shape.rank < 2 || f->out->shape.rank < 2) {
        return;
    }
    follow_factor(f, 0, 0);
    follow_factor(f, right, 1);
    for (uint32_t k = right + 1; k < f->node->input_count; k++) {
        if (op_input_role(f->node->op, k) == 'p') {
            follow_right(f, k, all_axes(f->out));
        }
    }
    for (uint32_t k = 1; k < f->node->input_count; k++) {
        const Value *in = input_of(f, k);
        if (in != NULL && op_input_role(f->node->op, k) == 'c' && in->shape.rank == 1 &&
            in->shape.dim[0] == f->out->shape.dim[f->out->shape.rank - 1]) {
            follow(f, k, 0, f->out->shape.rank - 1);
        }
    }
    f->reach->cut = all_axes(f->out);
    f->reach->macs = (uint64_t)a->shape.dim[is_transposed(f, 0) ? a->shape.rank - 2 : a->shape.rank - 1];
}

static void find_fully_connected(const Finding *f) {
    const Value *in = input_of(f, 0), *weights = input_of(f, 1);
    uint32_t last = f->out->shape.rank - 1;
    if (in == NULL || weights == NULL || weights->shape.rank != 2 || f->out->shape.rank == 0) {
        return;
    }
    if (in->shape.rank == f->out->shape.rank) {
        follow_right(f, 0, all_axes(f->out) & ~axis_bit(last));
    }
    follow_outputs(f, last);
    f->reach->cut = all_axes(f->out);
    f->reach->macs = (uint64_t)weights->shape.dim[1];
}

/* A step of a cell needs all that the step before has made: it is cut by units where it goes one step. */
static void find_cell(const Finding *f) {
    enum { PROJECTION = 16, NORM_OF_INPUT_GATE = 20, NORM_OF_OUTPUT_GATE = 23 };
    uint32_t last = f->out->shape.rank - 1;
    const Value *in = input_of(f, 0);
    bool mixes_units = input_of(f, PROJECTION) != NULL;
    for (uint32_t k = NORM_OF_INPUT_GATE; k <= NORM_OF_OUTPUT_GATE; k++) {
        mixes_units = mixes_units || input_of(f, k) != NULL;
    }
    for (uint32_t axis = 0; axis + 1 < f->out->shape.rank; axis++) {
        if (f->out->shape.dim[axis] != 1) {
            return;
        }
    }
    if (in == NULL || in->shape.rank == 0 || f->out->shape.rank == 0 || mixes_units) {
        return;
    }
    follow_outputs(f, last);
    f->reach->cut = axis_bit(last);
    f->reach->macs = 4 * ((uint64_t)in->shape.dim[in->shape.rank - 1] + (uint64_t)f->out->shape.dim[last]);
}

/* ---- Along some axes only */

static void find_reduction(const Finding *f) {
    const Value *in = input_of(f, 0);
    Ints axes;
    uint32_t reduced = 0, next = 0;
    if (in == NULL || !node_ints(f->graph, f->node, "axes", 1, f->arena, &axes)) {
        return;
    }
    if (axes.count == 0 && f->graph->format != FORMAT_TFLITE && node_int(f->node, "noop_with_empty_axes", 0) == 0) {
        return; /* all of them */
    }
    for (uint32_t k = 0; k < axes.count; k++) {
        int64_t axis = axes.at[k] + (axes.at[k] < 0 ? (int64_t)in->shape.rank : 0);
        reduced |= axis >= 0 && axis < (int64_t)in->shape.rank ? axis_bit((uint32_t)axis) : 0;
    }
    bool keeps = in->shape.rank == f->out->shape.rank;
    for (uint32_t axis = 0; axis < in->shape.rank; axis++) {
        if ((reduced & axis_bit(axis)) != 0) {
            if (!checked_mul(f->reach->passes, (uint64_t)in->shape.dim[axis], &f->reach->passes)) {
                f->reach->cut = 0;
                return;
            }
            next += keeps;
        } else if (next < f->out->shape.rank) {
            follow(f, 0, axis, next);
            f->reach->cut |= axis_bit(next++);
        }
    }
}

/* Up to opset 12 a Softmax goes over all axes from `axis` on, 1 by default. */
static void find_softmax(const Finding *f) {
    bool is_flat = f->graph->format == FORMAT_ONNX && f->node->version < 13;
    uint32_t axis = stated_axis(f, is_flat ? 1 : -1);
    go_along(f, is_flat ? axis_bit(axis) - 1 : all_axes(f->out) & ~axis_bit(axis));
}

/* ---- What moves elements */

static void find_transpose(const Finding *f) {
    uint32_t perm[SHAPE_MAX_RANK];
    if (!node_permutation(f->graph, f->node, f->arena, perm)) {
        return;
    }
    for (uint32_t axis = 0; axis < f->out->shape.rank; axis++) {
        follow(f, node_data_input(f->node), perm[axis], axis);
    }
    f->reach->cut = all_axes(f->out);
}

static void find_slice(const Finding *f) {
    uint32_t data = node_data_input(f->node);
    const Value *in = input_of(f, data);
    Box box;
    if (in == NULL || !node_slice_box(f->graph, f->node, 0, f->arena, &box)) {
        return;
    }
    for (uint32_t axis = 0; in->shape.rank == f->out->shape.rank && axis < in->shape.rank; axis++) {
        f->reach->input[data][axis] =
            (AxisReach){.axis = (int32_t)axis, .stride = 1, .before = -box.begin[axis], .window = 1};
        f->reach->cut |= axis_bit(axis);
    }
}

/* What lies beyond an edge is the edge or a constant; else it comes from further inside. */
static bool pads_plainly(const Finding *f) {
    Str mode = node_str(f->node, "mode");
    return f->node->op == OP_PAD && (mode.len == 0 || str_eq(mode, STR("constant")) || str_eq(mode, STR("edge")));
}

static void pad_axis(const Finding *f, uint32_t axis, int64_t before, int64_t behind) {
    if (before >= 0 && behind >= 0 && (pads_plainly(f) || (before == 0 && behind == 0))) {
        f->reach->cut |= axis_bit(axis);
        f->reach->input[0][axis] = (AxisReach){.axis = (int32_t)axis, .stride = 1, .before = before, .window = 1};
    }
}

/* ONNX may name the axes that are padded. */
static void find_pad(const Finding *f) {
    const Value *in = input_of(f, 0), *named = input_of(f, 3);
    bool is_onnx = f->graph->format != FORMAT_TFLITE;
    Ints pads, axes = {0, NULL};
    if (in == NULL || in->shape.rank != f->out->shape.rank ||
        !node_ints(f->graph, f->node, "pads", 1, f->arena, &pads) || pads.count != 2 * in->shape.rank ||
        (named != NULL && !const_ints(named, f->arena, &axes)) || (axes.count != 0 && axes.count != in->shape.rank)) {
        return;
    }
    for (uint32_t k = 0; k < in->shape.rank; k++) {
        int64_t axis = axes.count == 0 ? (int64_t)k : axes.at[k] + (axes.at[k] < 0 ? (int64_t)in->shape.rank : 0);
        if (axis >= 0 && axis < (int64_t)in->shape.rank) {
            pad_axis(f, (uint32_t)axis, pads.at[is_onnx ? k : 2 * k],
                     pads.at[is_onnx ? in->shape.rank + k : 2 * k + 1]);
        }
    }
}

/* Input `k` is the output from `begin` on. */
static void find_concat(const Finding *f) {
    uint32_t along = stated_axis(f, 0);
    go_along(f, all_axes(f->out) & ~axis_bit(along));
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        Box box;
        if (!node_concat_box(f->graph, f->node, k, &box)) {
            return;
        }
        f->reach->input[k][along] =
            (AxisReach){.axis = (int32_t)along, .stride = 1, .before = box.begin[along], .window = 1};
    }
    f->reach->cut |= axis_bit(along);
}

/* Consecutive axes of both shapes, from first to end, with the same product of extents. */
typedef struct {
    uint32_t in_first, in_end, out_first, out_end;
} AxisGroup;

static bool next_group(const Shape *in, const Shape *out, AxisGroup *group) {
    uint64_t left = 1, right = 1;
    *group = (AxisGroup){group->in_end, group->in_end, group->out_end, group->out_end};
    while (left != right || group->in_end == group->in_first || group->out_end == group->out_first) {
        bool has_both = group->in_end > group->in_first && group->out_end > group->out_first;
        bool takes_in = has_both ? left < right : group->in_end == group->in_first;
        if (takes_in ? group->in_end == in->rank : group->out_end == out->rank) {
            return false;
        }
        uint64_t extent = (uint64_t)(takes_in ? in->dim[group->in_end++] : out->dim[group->out_end++]);
        if (!checked_mul(takes_in ? left : right, extent, takes_in ? &left : &right) || extent == 0) {
            return false;
        }
    }
    return true;
}

/* An axis that becomes several: the first of them goes along it, a block of the others at a time. */
static void find_reshape(const Finding *f) {
    uint32_t data = node_data_input(f->node);
    const Value *in = input_of(f, data);
    AxisGroup group = {0, 0, 0, 0};
    while (in != NULL && next_group(&in->shape, &f->out->shape, &group)) {
        uint32_t of = group.out_first;
        while (of + 1 < group.out_end && f->out->shape.dim[of] == 1) {
            of++;
        }
        uint64_t block =
            (uint64_t)f->out->shape.dim[of] > 0 && in->shape.dim[group.in_first] % f->out->shape.dim[of] == 0
                ? (uint64_t)(in->shape.dim[group.in_first] / f->out->shape.dim[of])
                : 0;
        if (group.in_end - group.in_first == 1 && block > 0) {
            f->reach->input[data][group.in_first] = (AxisReach){.axis = (int32_t)of, .stride = block, .window = block};
            f->reach->cut |= axis_bit(of);
        }
    }
}

/* ---- All of them */

static void find_compute(const Finding *f) {
    switch (f->node->op) {
    case OP_CONV:
    case OP_DEPTHWISE_CONV:
    case OP_CONV_3D:
    case OP_CONV_INTEGER:
    case OP_QLINEAR_CONV:
    case OP_AVERAGE_POOL:
    case OP_MAX_POOL:
    case OP_LP_POOL:
    case OP_QLINEAR_AVERAGE_POOL:
        find_windows(f);
        break;
    case OP_CONV_TRANSPOSE:
    case OP_TRANSPOSE_CONV:
    case OP_CONV_3D_TRANSPOSE:
        find_transposed_windows(f);
        break;
    case OP_GLOBAL_AVERAGE_POOL:
    case OP_GLOBAL_MAX_POOL:
    case OP_GLOBAL_LP_POOL:
    case OP_QLINEAR_GLOBAL_AVERAGE_POOL:
    case OP_INSTANCE_NORM:
    case OP_RESIZE:
    case OP_UPSAMPLE:
    case OP_RESIZE_BILINEAR:
    case OP_RESIZE_NEAREST:
        find_channels(f);
        break;
    case OP_MATMUL:
    case OP_GEMM:
    case OP_MATMUL_INTEGER:
    case OP_QLINEAR_MATMUL:
    case OP_MATMUL_INTEGER_TO_FLOAT:
    case OP_BATCH_MATMUL:
        find_product(f);
        break;
    case OP_FULLY_CONNECTED:
        find_fully_connected(f);
        break;
    case OP_SEQUENCE_LSTM:
        find_cell(f);
        break;
    case OP_SOFTMAX:
    case OP_LOG_SOFTMAX:
    case OP_HARDMAX:
        find_softmax(f);
        break;
    case OP_LAYER_NORM:
    case OP_SIMPLIFIED_LAYER_NORM:
        go_along(f, axis_bit(stated_axis(f, -1)) - 1);
        break;
    case OP_LP_NORM:
        go_along(f, all_axes(f->out) & ~axis_bit(stated_axis(f, -1)));
        break;
    case OP_LRN:
        go_along(f, all_axes(f->out) & ~axis_bit(channel_axis(f)));
        break;
    case OP_REDUCE_MEAN:
    case OP_REDUCE_SUM:
    case OP_REDUCE_PROD:
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
    case OP_REDUCE_L1:
    case OP_REDUCE_L2:
        find_reduction(f);
        break;
    case OP_PAD:
    case OP_MIRROR_PAD:
        find_pad(f);
        break;
    case OP_DEPTH_TO_SPACE:
    case OP_SPACE_TO_DEPTH:
        go_along(f, axis_bit(0));
        break;
    default:
        break;
    }
}

static void find_reach(const Finding *f) {
    switch (op_info(f->node->op)->kind) {
    case KIND_UNARY:
    case KIND_BROADCAST:
    case KIND_NORM:
    case KIND_QUANTIZE:
    case KIND_DEQUANTIZE:
        go_along(f, all_axes(f->out));
        break;
    case KIND_EXPAND: /* which axes BROADCAST_IN_DIM repeats it states by itself */
        f->reach->cut = all_axes(f->out);
        if (f->node->op != OP_BROADCAST_IN_DIM) {
            go_along(f, all_axes(f->out));
        }
        break;
    case KIND_TRANSPOSE:
        find_transpose(f);
        break;
    case KIND_SLICE:
        find_slice(f);
        break;
    case KIND_CONCAT:
        find_concat(f);
        break;
    case KIND_RESHAPE:
        find_reshape(f);
        break;
    case KIND_COMPUTE:
        find_compute(f);
        break;
    default:
        break;
    }
}

NodeReach node_reach(const Graph *graph, const Node *node, Arena *arena) {
    NodeReach reach = {.passes = 1};
    Finding f = {.graph = graph, .node = node, .arena = arena, .out = node_output(graph, node, 0), .reach = &reach};
    reach.input = arena_alloc(arena, node->input_count, sizeof *reach.input);
    for (uint32_t k = 0; k < node->input_count; k++) {
        for (uint32_t axis = 0; axis < SHAPE_MAX_RANK; axis++) {
            reach.input[k][axis] = (AxisReach){.axis = REACH_NO_AXIS};
        }
    }
    if (node->output_count == 1 && f.out != NULL && f.out->has_shape) {
        find_reach(&f);
    }
    return reach;
}
