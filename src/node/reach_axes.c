/* Reach of operators that go over some axes, whole, and along the others. Definitions: onnx/docs/Operators.md (onnx
 * 1.17); the reference kernels of TFLite. */
#include "node/reach_rules.h"

#include "base/checked.h"
#include "graph/fold.h"
#include "node/input.h"

void reach_elements(const ReachFinding *f) {
    reach_along(f, reach_all_axes(f->out));
}

void reach_images(const ReachFinding *f) {
    reach_along(f, reach_axis_bit(0));
}

/* Is each index of the axis resampled from itself? An extent that stays does not say so where the scale is another one,
 * or where a part is cropped out first. */
static bool is_resampled_in_place(const ReachFinding *f, uint32_t axis) {
    const Attr *attr = node_attr(f->node, "scales");
    const Value *value = reach_input(f, f->node->input_count > 2 ? 2 : 1);
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
void reach_channels(const ReachFinding *f) {
    const Value *in = reach_input(f, 0);
    uint32_t channel = reach_channel_axis(f), kept = 0;
    if (in == NULL || in->shape.rank != f->out->shape.rank || in->shape.rank < 3) {
        return;
    }
    kept |= is_resampled_in_place(f, 0) ? reach_axis_bit(0) : 0;
    kept |= is_resampled_in_place(f, channel) ? reach_axis_bit(channel) : 0;
    reach_along(f, kept);
    reach_follow_outputs(f, channel);
}

/* An element of the output is made of as many elements as the axes in `reduced` have. Nothing is cut where they do not
 * fit 64 bits. */
static bool pass_over(const ReachFinding *f, const Value *in, uint32_t reduced) {
    bool ok = true;
    for (uint32_t axis = 0; ok && axis < in->shape.rank; axis++) {
        ok = (reduced & reach_axis_bit(axis)) == 0 ||
             checked_mul(f->reach->passes, (uint64_t)in->shape.dim[axis], &f->reach->passes);
    }
    f->reach->cut = ok ? f->reach->cut : 0;
    return ok;
}

void reach_global_pool(const ReachFinding *f) {
    const Value *in = reach_input(f, 0);
    reach_channels(f);
    if (in != NULL) {
        pass_over(f, in, reach_all_axes(in) & ~(reach_axis_bit(0) | reach_axis_bit(reach_channel_axis(f))));
    }
}

void reach_reduction(const ReachFinding *f) {
    const Value *in = reach_input(f, 0);
    uint32_t reduced, next = 0;
    if (!node_reduced_axes(f->graph, f->node, f->arena, &reduced)) {
        return;
    }
    bool keeps = in->shape.rank == f->out->shape.rank, can_pass = pass_over(f, in, reduced);
    for (uint32_t axis = 0; can_pass && axis < in->shape.rank; axis++) {
        if ((reduced & reach_axis_bit(axis)) != 0) {
            next += keeps;
        } else if (next < f->out->shape.rank) {
            reach_follow(f, 0, axis, next);
            f->reach->cut |= reach_axis_bit(next++);
        }
    }
}

/* Up to opset 12 a Softmax goes over all axes from `axis` on, 1 by default. */
void reach_softmax(const ReachFinding *f) {
    bool is_flat = f->graph->format == FORMAT_ONNX && f->node->version < 13;
    uint32_t axis = reach_stated_axis(f, is_flat ? 1 : -1);
    reach_along(f, is_flat ? reach_axis_bit(axis) - 1 : reach_all_axes(f->out) & ~reach_axis_bit(axis));
}

void reach_layer_norm(const ReachFinding *f) {
    reach_along(f, reach_axis_bit(reach_stated_axis(f, -1)) - 1);
}

void reach_norm_along_axis(const ReachFinding *f) {
    reach_along(f, reach_all_axes(f->out) & ~reach_axis_bit(reach_stated_axis(f, -1)));
}

void reach_norm_of_channels(const ReachFinding *f) {
    reach_along(f, reach_all_axes(f->out) & ~reach_axis_bit(reach_channel_axis(f)));
}
