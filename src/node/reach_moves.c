/* Reach of what moves elements. Definitions: onnx/docs/Operators.md (onnx 1.17); the reference kernels of TFLite. */
#include "node/reach_rules.h"

#include "base/checked.h"
#include "graph/box.h"
#include "graph/fold.h"

void reach_transpose(const ReachFinding *f) {
    uint32_t perm[SHAPE_MAX_RANK];
    if (!node_permutation(f->graph, f->node, f->arena, perm)) {
        return;
    }
    for (uint32_t axis = 0; axis < f->out->shape.rank; axis++) {
        reach_follow(f, node_data_input(f->node), perm[axis], axis);
    }
    f->reach->cut = reach_all_axes(f->out);
}

void reach_slice(const ReachFinding *f) {
    uint32_t data = node_data_input(f->node);
    const Value *in = reach_input(f, data);
    Box box;
    if (in == NULL || !node_slice_box(f->graph, f->node, 0, f->arena, &box)) {
        return;
    }
    for (uint32_t axis = 0; in->shape.rank == f->out->shape.rank && axis < in->shape.rank; axis++) {
        f->reach->input[data][axis] =
            (AxisReach){.axis = (int32_t)axis, .stride = 1, .before = -box.begin[axis], .window = 1};
        f->reach->cut |= reach_axis_bit(axis);
    }
}

/* What lies beyond an edge is the edge or a constant; else it comes from further inside. */
static bool pads_plainly(const ReachFinding *f) {
    Str mode = node_str(f->node, "mode");
    return f->node->op == OP_PAD && (mode.len == 0 || str_eq(mode, STR("constant")) || str_eq(mode, STR("edge")));
}

static void pad_axis(const ReachFinding *f, uint32_t axis, int64_t before, int64_t behind) {
    if (before >= 0 && behind >= 0 && (pads_plainly(f) || (before == 0 && behind == 0))) {
        f->reach->cut |= reach_axis_bit(axis);
        f->reach->input[0][axis] = (AxisReach){.axis = (int32_t)axis, .stride = 1, .before = before, .window = 1};
    }
}

/* ONNX may name the axes that are padded. */
void reach_pad(const ReachFinding *f) {
    const Value *in = reach_input(f, 0), *named = reach_input(f, 3);
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
void reach_concat(const ReachFinding *f) {
    uint32_t along = reach_stated_axis(f, 0);
    reach_along(f, reach_all_axes(f->out) & ~reach_axis_bit(along));
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        Box box;
        if (!node_concat_box(f->graph, f->node, k, &box)) {
            return;
        }
        f->reach->input[k][along] =
            (AxisReach){.axis = (int32_t)along, .stride = 1, .before = box.begin[along], .window = 1};
    }
    f->reach->cut |= reach_axis_bit(along);
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
void reach_reshape(const ReachFinding *f) {
    uint32_t data = node_data_input(f->node);
    const Value *in = reach_input(f, data);
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
            f->reach->cut |= reach_axis_bit(of);
        }
    }
}

/* The operator states which axes repeat: its input is read whole. */
void reach_spread(const ReachFinding *f) {
    f->reach->cut = reach_all_axes(f->out);
}
