/* Shape rules of reductions. */
#include "graph/infer.h"

/* `x` without the axes of `mask`, or with extent 1 there. */
static Shape reduced(const Shape *x, uint32_t mask, bool keeps) {
    Shape out = {.rank = 0};
    for (uint32_t axis = 0; axis < x->rank; axis++) {
        bool is_reduced = (mask >> axis & 1) != 0;
        if (!is_reduced || keeps) {
            out.dim[out.rank++] = is_reduced ? 1 : x->dim[axis];
        }
    }
    return out;
}

static bool keeps_axes(const Infer *in) {
    return node_int(in->node, "keepdims", infer_is_tflite(in) ? 0 : 1) != 0;
}

/* Axes: an attribute, or input 1. Without them all, or none where the node says so. */
bool infer_reduce(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints axes;
    uint32_t mask;
    if (x == NULL) {
        return false;
    }
    IntsState state = infer_ints(in, "axes", 1, &axes);
    if (state == INTS_UNKNOWN) {
        return infer_from_file(in, "make the axes a constant");
    }
    if (!infer_axes(in, axes, x->shape.rank, &mask)) {
        return false;
    }
    if (axes.count == 0 && !(infer_is_tflite(in) && state == INTS_KNOWN)) {
        bool is_noop = node_int(in->node, "noop_with_empty_axes", 0) != 0;
        mask = is_noop ? 0 : ((uint32_t)1 << x->shape.rank) - 1;
    }
    Shape out = reduced(&x->shape, mask, keeps_axes(in));
    return infer_out(in, 0, x->dtype, &out);
}

/* ONNX: attribute axis, the axis stays by default; TFLite: input 1, the axis goes. */
bool infer_arg_reduce(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints axis;
    uint32_t mask;
    if (x == NULL) {
        return false;
    }
    IntsState state = infer_ints(in, "axis", 1, &axis);
    if (state == INTS_UNKNOWN) {
        return infer_from_file(in, "make the axis a constant");
    }
    const int64_t first = 0;
    if (!infer_axes(in, axis.count == 0 ? (Ints){1, &first} : axis, x->shape.rank, &mask)) {
        return false;
    }
    Shape out = reduced(&x->shape, mask, keeps_axes(in));
    return infer_out(in, 0, infer_is_tflite(in) ? DTYPE_NONE : DTYPE_I64, &out);
}

bool infer_top_k(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints k;
    uint32_t axis;
    if (x == NULL || !infer_axis(in, node_int(in->node, "axis", -1), x->shape.rank, &axis)) {
        return false;
    }
    if (infer_ints(in, "k", 1, &k) != INTS_KNOWN || k.count != 1) {
        return infer_from_file(in, "make k a constant");
    }
    Shape out = x->shape;
    if (k.at[0] < 0 || k.at[0] > out.dim[axis]) {
        return infer_error(in, 1, "k is more than the axis has",
                           arena_text(&in->work->keep, "%lld", (long long)k.at[0]),
                           arena_text(&in->work->keep, "at most %lld", (long long)out.dim[axis]));
    }
    out.dim[axis] = k.at[0];
    return infer_out(in, 0, x->dtype, &out) && infer_out(in, 1, infer_is_tflite(in) ? DTYPE_NONE : DTYPE_I64, &out);
}

/* A loss for each element of the target, or one; output 1 of the cross entropy is the log-probabilities. */
bool infer_loss(Infer *in) {
    const Value *scores = infer_need(in, 0);
    const Value *target = infer_need(in, 1);
    if (scores == NULL || target == NULL) {
        return false;
    }
    Shape out = {.rank = 0};
    if (str_eq(node_str(in->node, "reduction"), STR("none"))) {
        out = target->shape;
    }
    return infer_out(in, 0, scores->dtype, &out) && infer_out(in, 1, scores->dtype, &scores->shape);
}

/* The determinants of the matrices on the last two axes. */
bool infer_det(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    if (x->shape.rank < 2 || x->shape.dim[x->shape.rank - 1] != x->shape.dim[x->shape.rank - 2]) {
        return infer_error(in, 0, "the matrices are not square", infer_shape_text(in, &x->shape), "[…,n,n]");
    }
    Shape out = x->shape;
    out.rank -= 2;
    return infer_out(in, 0, x->dtype, &out);
}
