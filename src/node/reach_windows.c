/* Reach of windows that slide: convolutions and pools; and of windows that spread, transposed convolutions.
 * Definitions: onnx/docs/Operators.md (onnx 1.17); the reference kernels of TFLite. */
#include "node/reach_rules.h"

#include "base/checked.h"
#include "graph/box.h"
#include "node/input.h"

uint64_t node_spatial_number(const Node *node, const char *name, uint32_t k, uint64_t absent) {
    const Attr *attr = node_attr(node, name);
    bool is_there = attr != NULL && attr->kind == ATTR_INTS && k < attr->count && attr->ints[k] >= 0;
    return is_there ? (uint64_t)attr->ints[k] : absent;
}

/* What the padding puts in front of an input of `extent`, of which `covered` elements are covered. */
static uint64_t pad_before(const ReachFinding *f, uint32_t k, uint64_t extent, uint64_t covered) {
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
static bool slide(const ReachFinding *f, uint32_t axis, uint32_t k, uint64_t kernel) {
    uint64_t stride = node_spatial_number(f->node, "strides", k, 1),
             dilation = node_spatial_number(f->node, "dilations", k, 1);
    uint64_t outputs = (uint64_t)f->out->shape.dim[axis], extent = (uint64_t)reach_input(f, 0)->shape.dim[axis];
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

static uint64_t input_channels_of_one(const ReachFinding *f, const Value *weights) {
    uint8_t dims[SHAPE_MAX_RANK];
    node_input_names(f->graph, f->node, reach_weight_input(f), dims);
    for (uint32_t axis = 0; axis < weights->shape.rank; axis++) {
        if (dims[axis] == DIM_I) {
            return (uint64_t)weights->shape.dim[axis];
        }
    }
    return 1;
}

/* Extent of the kernel along spatial axis `k`. */
static uint64_t kernel_extent(const ReachFinding *f, const Value *weights, uint32_t k) {
    bool is_second = f->node->op == OP_CONV_3D;
    uint32_t first = is_second ? 0 : f->graph->channels_last ? 1 : 2;
    return weights != NULL ? (uint64_t)weights->shape.dim[first + k]
                           : node_spatial_number(f->node, "kernel_shape", k, 1);
}

void reach_windows(const ReachFinding *f) {
    const Value *in = reach_input(f, 0), *weights = reach_input(f, reach_weight_input(f));
    uint32_t channel = reach_channel_axis(f), first = f->graph->channels_last ? 1 : 2;
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
    reach_follow(f, 0, 0, 0);
    if (is_apart) { /* a channel of the output is made of its own */
        reach_follow(f, 0, channel, channel);
    }
    reach_follow_outputs(f, channel);
    f->reach->cut = reach_all_axes(f->out);
    f->reach->macs = weights == NULL ? 0 : macs;
    f->reach->passes = volume;
}

/* Each input element spreads over a window of the output: a part of that needs all of the map, but its channels only.
 */
void reach_transposed_windows(const ReachFinding *f) {
    uint32_t data = node_data_input(f->node), channel = reach_channel_axis(f);
    const Value *in = reach_input(f, data), *weights = reach_input(f, reach_weight_input(f));
    uint64_t elements;
    if (in == NULL || weights == NULL || in->shape.rank != f->out->shape.rank || in->shape.rank < 3 ||
        f->out->shape.dim[channel] == 0 || node_int(f->node, "group", 1) != 1 ||
        !shape_elements(&weights->shape, &elements)) {
        return;
    }
    reach_follow(f, data, 0, 0);
    reach_follow_outputs(f, channel);
    f->reach->cut = reach_axis_bit(0) | reach_axis_bit(channel);
    f->reach->macs = elements / (uint64_t)f->out->shape.dim[channel];
}
