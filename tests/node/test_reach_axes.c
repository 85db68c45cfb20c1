/* Proves that node_reach is right for operators that go along axes: element by element, normalised or reduced along
 * some axes, and those that only move elements. As test_reach_windows.c does.
 * Definitions: onnx/docs/Operators.md and Changelog.md (onnx 1.17), the reference kernels of TFLite, StableHLO. */
#include "reached.h"

enum { DRAWS = 300 };

static int draw_rank(Reached *r, int least, int most) {
    int rank = least + (int)draw(r, most - least + 1);
    draw_extents(r, 8);
    return rank;
}

static void begin(Reached *r, const char *format) {
    line(r, "stride0-graph 1\nformat %s\n", format);
}

/* The axis as a file may state it: also counted from the end. */
static int64_t stated(Reached *r, int64_t axis, int rank) {
    return draw(r, 2) == 0 ? axis : axis - rank;
}

/* ---- Element by element */

static void define_same(Reached *r, const int64_t *out) {
    mark(r, 0, out);
}

static void draw_unary(Reached *r) {
    static const char *const node[] = {"Relu: x -> y",
                                       "Clip: x lo hi -> y",
                                       "Cast: x -> y to=10",
                                       "Sigmoid: x -> y",
                                       "Identity: x -> y",
                                       "Dropout: x -> y",
                                       "QuantizeLinear: x s z -> y axis=1",
                                       "QuantizeLinear: x lo z1 -> y"};
    int rank = draw_rank(r, 2, 5);
    begin(r, "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    shape(r, "const", "s", "float32", r->extents + 1, 1);
    shape(r, "const", "z", "int8", r->extents + 1, 1);
    line(r,
         "const lo float32[] = splat 1\nconst hi float32[] = splat 2\nconst z1 int8[] = splat 0\nnode %s\noutput y\n",
         node[draw(r, 8)]);
    r->cut = ALL_CUT;
    r->define = define_same;
}

static void define_norm(Reached *r, const int64_t *out) {
    mark(r, 0, out);
    if (r->flag[0] != 0) {
        mark_broadcast(r, 1, out);
    }
}

/* What a channel's numbers stand for goes by the names of the dimensions; the slopes of a PRelu are broadcast. */
static void draw_norm(Reached *r) {
    int rank = draw_rank(r, 3, 4), own = 1 + (int)draw(r, rank);
    int64_t slope[8];
    for (int k = 0; k < own; k++) {
        slope[k] = draw(r, 2) == 0 ? 1 : r->extents[rank - own + k];
    }
    r->flag[0] = draw(r, 2);
    begin(r, "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    shape(r, "const", "c", "float32", r->extents + 1, 1);
    shape(r, "const", "s", "float32", slope, own);
    line(r, "node %s -> y\noutput y\n", r->flag[0] != 0 ? "PRelu: x s" : "BatchNormalization: x c c c c");
    r->cut = ALL_CUT;
    r->define = define_norm;
}

static void define_broadcast(Reached *r, const int64_t *out) {
    for (int k = 0; k < (int)r->node->input_count; k++) {
        mark_broadcast(r, k, out);
    }
}

static void draw_operand(Reached *r, const char *name, const char *dtype, int rank) {
    int64_t dim[8];
    int own = (int)draw(r, rank + 1);
    for (int k = 0; k < own; k++) {
        dim[k] = draw(r, 3) == 0 ? 1 : r->extents[rank - own + k];
    }
    shape(r, draw(r, 2) == 0 ? "const" : "input", name, dtype, dim, own);
}

static void draw_broadcast(Reached *r) {
    static const char *const node[] = {"Add: a b",     "Sub: b a",   "Mul: a b", "Max: b a c",
                                       "Where: t a b", "Sum: a b c", "Less: a b"};
    int rank = draw_rank(r, 2, 5);
    begin(r, "onnx 13");
    shape(r, "input", "a", "float32", r->extents, rank);
    draw_operand(r, "b", "float32", rank);
    draw_operand(r, "c", "float32", rank);
    draw_operand(r, "t", "bool", rank);
    line(r, "node %s -> y\noutput y\n", node[draw(r, 7)]);
    r->cut = ALL_CUT;
    r->define = define_broadcast;
}

/* Before opset 7 the second input begins at an axis of the first one. */
static void define_legacy(Reached *r, const int64_t *out) {
    mark(r, 0, out);
    mark(r, 1, out + r->axis);
}

static void draw_legacy(Reached *r) {
    int rank = draw_rank(r, 2, 5), own = 1 + (int)draw(r, rank);
    r->axis = draw(r, rank - own + 1);
    begin(r, "onnx 6");
    shape(r, "input", "a", "float32", r->extents, rank);
    shape(r, draw(r, 2) == 0 ? "const" : "input", "b", "float32", r->extents + r->axis, own);
    line(r, "node Add@6: a b -> y broadcast=1 axis=%lld\noutput y\n", (long long)r->axis);
    r->cut = ALL_CUT;
    r->loose[1] = 0xff;
    r->define = define_legacy;
}

/* ---- Along some axes */

/* flag[0]: the set of axes that an element of the output needs all of. */
static void define_along(Reached *r, const int64_t *out) {
    mark_range(r, 0, out, (uint32_t)r->flag[0]);
}

static int64_t all_but(int rank, int64_t axes) {
    return ((1 << rank) - 1) & ~axes;
}

static void draw_softmax(Reached *r) {
    static const char *const name[] = {"Softmax", "LogSoftmax", "Hardmax"};
    int rank = draw_rank(r, 2, 5), form = (int)draw(r, 3);
    int64_t axis = draw(r, rank);
    bool is_flat = form == 0;
    begin(r, form == 2 ? "tflite" : "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    if (form == 2) {
        axis = rank - 1;
        line(r, "node Softmax: x -> y beta=1.0\noutput y\n");
    } else {
        line(r, "node %s@%d: x -> y axis=%lld\noutput y\n", name[draw(r, 3)], is_flat ? 11 : 13,
             (long long)stated(r, axis, rank));
    }
    r->flag[0] = is_flat ? all_but(rank, (1 << axis) - 1) : 1 << axis;
    r->cut = all_but(rank, r->flag[0]);
    r->define = define_along;
}

static void define_layer_norm(Reached *r, const int64_t *out) {
    define_along(r, out);
    mark_range(r, 1, out, ~0u);
}

static void draw_layer_norm(Reached *r) {
    int rank = draw_rank(r, 2, 5);
    int64_t axis = draw(r, rank);
    begin(r, "onnx 17");
    shape(r, "input", "x", "float32", r->extents, rank);
    shape(r, "const", "s", "float32", r->extents + axis, rank - (int)axis);
    line(r, "node LayerNormalization@17: x s -> y axis=%lld\noutput y\n", (long long)stated(r, axis, rank));
    r->flag[0] = all_but(rank, (1 << axis) - 1);
    r->cut = (1 << axis) - 1;
    r->define = define_layer_norm;
}

static void draw_lp_norm(Reached *r) {
    int rank = draw_rank(r, 2, 5);
    bool is_tflite = draw(r, 2) == 0;
    int64_t axis = is_tflite ? rank - 1 : draw(r, rank);
    begin(r, is_tflite ? "tflite" : "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    line(r, "node LpNormalization: x -> y");
    if (!is_tflite) {
        line(r, " axis=%lld", (long long)stated(r, axis, rank));
    }
    line(r, "\noutput y\n");
    r->flag[0] = 1 << axis;
    r->cut = all_but(rank, r->flag[0]);
    r->define = define_along;
}

/* Its window goes over channels, which it reads whole. */
static void draw_lrn(Reached *r) {
    int rank = draw_rank(r, 4, 4);
    bool is_tflite = draw(r, 2) == 0;
    begin(r, is_tflite ? "tflite" : "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    line(r, "node LRN: x -> y size=3\noutput y\n");
    r->flag[0] = 1 << (is_tflite ? rank - 1 : 1);
    r->cut = all_but(rank, r->flag[0]);
    r->define = define_along;
}

/* flag[0]: the axes that are reduced; flag[1]: they stay, of one element. */
static void define_reduction(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK] = {0};
    uint32_t at = 0;
    for (uint32_t axis = 0; axis < r->in[0]->rank; axis++) {
        bool is_reduced = (r->flag[0] >> axis & 1) != 0;
        index[axis] = is_reduced ? 0 : out[at];
        at += !is_reduced || r->flag[1] != 0;
    }
    mark_range(r, 0, index, (uint32_t)r->flag[0]);
}

/* Of the axes in flag[0]. */
static uint64_t volume(const Reached *r, int rank) {
    uint64_t elements = 1;
    for (int axis = 0; axis < rank; axis++) {
        elements *= (r->flag[0] >> axis & 1) != 0 ? (uint64_t)r->extents[axis] : 1;
    }
    return elements;
}

static void draw_reduction(Reached *r) {
    static const char *const name[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2"};
    int rank = draw_rank(r, 2, 5), count = 0;
    int64_t axes[8], form = draw(r, 4); /* 0 an attribute, 1 an input, 2 an empty list: all, 3 an empty list: none */
    for (int axis = 0; axis < rank; axis++) {
        if (form < 2 && draw(r, 2) == 0) {
            r->flag[0] |= 1 << axis;
            axes[count++] = stated(r, axis, rank);
        }
    }
    if (form < 2 && count == 0) {
        r->flag[0] = 1;
        axes[count++] = 0;
    }
    r->flag[0] = form == 2 ? (1 << rank) - 1 : r->flag[0];
    r->flag[1] = draw(r, 2);
    begin(r, form == 0 ? "onnx 13" : "onnx 18");
    shape(r, "input", "x", "float32", r->extents, rank);
    if (form == 1) {
        line(r, "const a int64[%d] = ", count);
        numbers(r, axes, count, " ");
        line(r, "\n");
    } else if (form > 1) {
        line(r, "const a int64[0] = hex\n");
    }
    line(r, "node %s@%d: x%s -> y keepdims=%lld noop_with_empty_axes=%d", name[draw(r, 6)], form == 0 ? 13 : 18,
         form == 0 ? "" : " a", (long long)r->flag[1], form == 3);
    if (form == 0) {
        line(r, " axes=[");
        numbers(r, axes, count, ",");
        line(r, "]");
    }
    line(r, "\noutput y\n");
    r->passes = volume(r, rank);
    r->define = define_reduction;
}

/* Reads a whole channel of each image, whatever it makes of it. */
static void define_channel(Reached *r, const int64_t *out) {
    mark_range(r, 0, out, (uint32_t)r->flag[0]);
    if (r->node->op == OP_INSTANCE_NORM) {
        mark(r, 1, out + 1);
        mark(r, 2, out + 1);
    }
}

static void draw_channels(Reached *r) {
    static const char *const node[] = {"GlobalAveragePool: x -> y", "GlobalMaxPool: x -> y", "GlobalLpPool: x -> y",
                                       "InstanceNormalization: x c c -> y"};
    int rank = draw_rank(r, 3, 5), kind = (int)draw(r, 4);
    begin(r, "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    shape(r, "const", "c", "float32", r->extents + 1, 1);
    line(r, "node %s\noutput y\n", node[kind]);
    r->flag[0] = all_but(rank, 3);
    r->passes = kind < 3 ? volume(r, rank) : 0;
    r->cut = 3;
    r->define = define_channel;
}

/* The nearest element to out * in / out's extent: the whole extent of each spatial axis may be read. flag[0]: set of
 * axes whose extent changes; stride, before: of axis 1, scaled by a number of thousandths. */
static void define_resize(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK];
    for (uint32_t axis = 0; axis < r->in[0]->rank; axis++) {
        int64_t scaled = r->stride[3] > 0 && axis == 1 ? out[1] * 1000 / r->stride[3]
                                                       : out[axis] * r->in[0]->dim[axis] / r->out->dim[axis];
        index[axis] = scaled < r->in[0]->dim[axis] ? scaled : r->in[0]->dim[axis] - 1;
    }
    mark(r, 0, index);
}

/* Also by a scale that leaves as many channels as there were, but not each in its place. */
static void draw_resize(Reached *r) {
    int rank = 4, form = (int)draw(r, 3);
    draw_rank(r, 4, 4);
    int64_t size[4] = {r->extents[0], r->extents[1], r->extents[4], r->extents[5]};
    begin(r, "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    r->stride[3] = form == 1 ? 1000 : form == 2 ? 1000 + 900 / r->extents[1] : 0;
    if (form == 0) {
        line(r, "const s int64[4] = ");
        numbers(r, size, 4, " ");
    } else {
        line(r, "const f float32[4] = 1 %lld.%03lld 2 2", (long long)(r->stride[3] / 1000),
             (long long)(r->stride[3] % 1000));
    }
    line(r,
         "\nnode Resize: x _ %s -> y mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor\n"
         "output y\n",
         form == 0 ? "_ s" : "f");
    r->loose[0] = form == 2 ? 0xff : 0xc;
    r->define = define_resize;
}

/* ---- What moves elements */

/* `list`: what is added in front. flag[0]: 'c' constant, 'r' reflect, 'e' edge, 's' symmetric. */
static void define_pad(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK];
    bool is_inside = true;
    for (uint32_t axis = 0; axis < r->in[0]->rank; axis++) {
        int64_t at = out[axis] - r->list[axis], whole = r->in[0]->dim[axis];
        int64_t edge = r->flag[0] == 's' ? 1 : 0, behind = 2 * (whole - 1) + edge - at;
        index[axis] = at >= 0 && at < whole ? at
                      : r->flag[0] == 'e'   ? (at < 0 ? 0 : whole - 1)
                      : at < 0              ? -at - edge
                                            : behind;
        is_inside = is_inside && at >= 0 && at < whole;
    }
    if (is_inside || r->flag[0] != 'c') {
        mark(r, 0, index);
    }
}

/* Some axes get none; the pads of the others are listed in any order of axes. */
static void draw_pad(Reached *r) {
    static const char *const mode[] = {"constant", "reflect", "edge"};
    int rank = draw_rank(r, 2, 5), form = (int)draw(r, 3), count = 0;
    int64_t axes[8], pads[16], behind[8];
    bool is_tflite = draw(r, 3) == 0, has_axes = !is_tflite && draw(r, 2) == 0, is_reverse = draw(r, 2) == 0;
    for (int k = 0; k < rank; k++) {
        int axis = has_axes && is_reverse ? rank - 1 - k : k;
        bool is_padded = draw(r, 3) > 0;
        r->list[axis] = is_padded ? draw(r, r->extents[axis]) : 0;
        behind[axis] = is_padded ? draw(r, r->extents[axis]) : 0;
        if (!has_axes || is_padded || is_reverse) {
            axes[count++] = axis;
        }
    }
    for (int k = 0; k < count; k++) {
        pads[is_tflite ? 2 * k : k] = r->list[axes[k]];
        pads[is_tflite ? 2 * k + 1 : count + k] = behind[axes[k]];
    }
    r->flag[0] = "cre"[form];
    begin(r, is_tflite ? "tflite" : "onnx 18");
    shape(r, "input", "x", "float32", r->extents, rank);
    if (is_tflite) {
        line(r, "const p int32[%d,2] = ", rank);
    } else {
        line(r, "const p int64[%d] = ", 2 * count);
    }
    numbers(r, pads, 2 * count, " ");
    if (is_tflite) {
        bool is_mirror = form == 1;
        r->flag[0] = is_mirror ? 'r' : 'c';
        line(r, "\nnode %s: x p -> y%s\noutput y\n", is_mirror ? "tflite.MIRROR_PAD" : "Pad",
             is_mirror ? " mode=0" : "");
    } else {
        line(r, "\nconst a int64[%d] = ", count);
        numbers(r, axes, count, " ");
        line(r, "\nnode Pad@18: x p _ %s -> y mode=%s\noutput y\n", has_axes ? "a" : "_", mode[form]);
    }
    for (int axis = 0; axis < rank; axis++) { /* where a part begins in the padding, its window is held at the edge */
        r->slack[0][axis] = r->flag[0] == 'c' || r->flag[0] == 'e' ? 1 : r->extents[axis];
    }
    r->define = define_pad;
}

/* `list`: where the box begins. */
static void define_slice(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK];
    for (uint32_t axis = 0; axis < r->out->rank; axis++) {
        index[axis] = out[axis] + r->list[axis];
    }
    mark(r, (int)r->axis, index);
}

static void draw_slice(Reached *r) {
    int rank = draw_rank(r, 2, 5), form = (int)draw(r, 3);
    int64_t end[8], size[8];
    for (int axis = 0; axis < rank; axis++) {
        size[axis] = 1 + draw(r, r->extents[axis]);
        r->list[axis] = draw(r, r->extents[axis] - size[axis] + 1);
        end[axis] = r->list[axis] + size[axis];
    }
    begin(r, form == 0 ? "onnx 13" : "tflite");
    shape(r, "input", "x", "float32", r->extents, rank);
    line(r, "const b int32[%d] = ", rank);
    numbers(r, r->list, rank, " ");
    line(r, "\nconst e int32[%d] = ", rank);
    numbers(r, form == 1 ? size : end, rank, " ");
    line(r, "\nconst s int32[%d] = splat 1\nnode %s -> y\noutput y\n", rank,
         form == 0   ? "Slice: x b e"
         : form == 1 ? "tflite.SLICE: x b e"
                     : "tflite.STRIDED_SLICE: x b e s");
    r->cut = ALL_CUT;
    r->define = define_slice;
}

static void define_concat(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK], at = out[r->axis];
    memcpy(index, out, sizeof(int64_t) * r->out->rank);
    for (int k = 0; k < (int)r->node->input_count; k++) {
        if (at >= 0 && at < r->in[k]->dim[r->axis]) {
            index[r->axis] = at;
            mark(r, k, index);
        }
        at -= r->in[k]->dim[r->axis];
    }
}

static void draw_concat(Reached *r) {
    int rank = draw_rank(r, 2, 5);
    r->axis = draw(r, rank);
    begin(r, draw(r, 2) == 0 ? "onnx 13" : "tflite");
    shape(r, "input", "a", "float32", r->extents, rank);
    r->extents[r->axis] = r->is_equal ? r->extents[r->axis] : 1 + draw(r, 4);
    shape(r, "input", "b", "float32", r->extents, rank);
    shape(r, "const", "c", "float32", r->extents, rank);
    line(r, "node Concat: a b c -> y axis=%lld\noutput y\n", (long long)stated(r, r->axis, rank));
    r->cut = ALL_CUT;
    r->define = define_concat;
}

static void define_transpose(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK];
    for (uint32_t axis = 0; axis < r->out->rank; axis++) {
        index[r->list[axis]] = out[axis];
    }
    mark(r, 0, index);
}

static void draw_transpose(Reached *r) {
    int rank = draw_rank(r, 2, 5);
    bool is_input = draw(r, 2) == 0;
    for (int k = 0; k < rank; k++) {
        r->list[k] = k;
    }
    for (int k = 0; k < rank; k++) {
        int64_t other = k + draw(r, rank - k), swap = r->list[k];
        r->list[k] = r->list[other];
        r->list[other] = swap;
    }
    begin(r, is_input ? "tflite" : "onnx 13");
    shape(r, "input", "x", "float32", r->extents, rank);
    if (is_input) {
        line(r, "const p int32[%d] = ", rank);
        numbers(r, r->list, rank, " ");
        line(r, "\nnode Transpose: x p -> y\noutput y\n");
    } else {
        line(r, "node Transpose: x -> y perm=[");
        numbers(r, r->list, rank, ",");
        line(r, "]\noutput y\n");
    }
    r->cut = ALL_CUT;
    r->define = define_transpose;
}

/* The element of the same number, row by row. */
static void define_reshape(Reached *r, const int64_t *out) {
    int64_t at = 0, index[SHAPE_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < r->out->rank; axis++) {
        at = at * r->out->dim[axis] + out[axis];
    }
    for (uint32_t axis = r->in[0]->rank; axis-- > 0;) {
        index[axis] = at % r->in[0]->dim[axis];
        at /= r->in[0]->dim[axis];
    }
    mark(r, 0, index);
}

/* Unit axes go or come at the places of a set; a Reshape joins axes, or takes the first apart. */
static void draw_reshape(Reached *r) {
    int rank = draw_rank(r, 2, 3), form = (int)draw(r, 4), units = 0, at = 0;
    int64_t dim[8], axes[8], set = 1 + draw(r, 7);
    for (int axis = 0; at < rank || (set >> axis) > 0; axis++) {
        bool is_unit = (set >> axis & 1) != 0;
        if (!is_unit && at == rank) {
            break;
        }
        axes[units] = axis;
        dim[axis] = is_unit ? 1 : r->extents[at];
        units += is_unit;
        at += !is_unit;
    }
    begin(r, "onnx 13");
    if (form == 3) {
        int64_t joined[] = {r->extents[0] * r->extents[1], r->extents[2]};
        shape(r, "input", "x", "float32", joined, 2);
        line(r, "const s int64[3] = ");
        numbers(r, r->extents, 3, " ");
        line(r, "\nnode Reshape: x s -> y\noutput y\n");
        r->cut = 5;
    } else if (form == 2) {
        shape(r, "input", "x", "float32", r->extents, rank);
        line(r, "const s int64[2] = %lld -1\nnode Reshape: x s -> y\noutput y\n", (long long)r->extents[0]);
    } else {
        shape(r, "input", "x", "float32", form == 0 ? r->extents : dim, form == 0 ? rank : at + units);
        line(r, "const a int64[%d] = ", units);
        numbers(r, axes, units, " ");
        line(r, "\nnode %s: x a -> y\noutput y\n", form == 0 ? "Unsqueeze" : "Squeeze");
    }
    r->loose[0] = form == 2 ? 0xff : 0;
    r->define = define_reshape;
}

static void define_expand(Reached *r, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK];
    for (uint32_t axis = 0; axis < r->in[0]->rank; axis++) {
        int64_t at = out[r->axis != 0 ? r->list[axis] : (int64_t)(r->out->rank - r->in[0]->rank + axis)];
        index[axis] = at % r->in[0]->dim[axis];
    }
    mark(r, 0, index);
}

/* Expand, Tile, and BROADCAST_IN_DIM, which says for each axis of the input which one of the output it is. */
static void draw_expand(Reached *r) {
    int rank = draw_rank(r, 2, 5), own = 1 + (int)draw(r, rank), form = (int)draw(r, 3);
    int64_t dim[8], target[8], times[8], skip = draw(r, rank - own + 1);
    own = form == 1 ? rank : own;
    for (int k = 0; k < own; k++) {
        int64_t whole = r->extents[rank - own + k];
        dim[k] = draw(r, 2) == 0 ? 1 : whole;
        times[k] = 1 + draw(r, 3);
        r->list[k] = skip + k;
    }
    memcpy(target, r->extents, sizeof target);
    for (int k = 0; form == 2 && k < own; k++) {
        dim[k] = dim[k] == 1 ? 1 : target[r->list[k]];
    }
    r->axis = form == 2;
    begin(r, form == 2 ? "tflite" : "onnx 13");
    shape(r, "input", "x", "float32", dim, own);
    line(r, "const s int64[%d] = ", rank);
    numbers(r, form == 1 ? times : target, rank, " ");
    if (form == 2) {
        line(r, "\nvalue y float32[");
        numbers(r, target, rank, ",");
        line(r, "]\nnode tflite.STABLEHLO_BROADCAST_IN_DIM: x -> y broadcast_dimensions=[");
        numbers(r, r->list, own, ",");
        line(r, "]\noutput y\n");
    } else {
        line(r, "\nnode %s: x s -> y\noutput y\n", form == 0 ? "Expand" : "Tile");
    }
    r->loose[0] = form == 0 ? 0 : 0xff;
    r->define = define_expand;
}

/* A block of an image needs no other image. */
static void define_image(Reached *r, const int64_t *out) {
    mark_range(r, 0, out, ~1u);
}

static void draw_space(Reached *r) {
    draw_rank(r, 4, 4);
    int64_t dim[4] = {r->extents[0], 4 * r->extents[1], 2 * r->extents[2], 2 * r->extents[3]};
    begin(r, "onnx 13");
    shape(r, "input", "x", "float32", dim, 4);
    line(r, "node %s: x -> y blocksize=2\noutput y\n", draw(r, 2) == 0 ? "DepthToSpace" : "SpaceToDepth");
    r->cut = 1;
    r->define = define_image;
}

static const Family families[] = {
    {"element by element", draw_unary},
    {"numbers of a channel", draw_norm},
    {"broadcast", draw_broadcast},
    {"broadcast from a stated axis", draw_legacy},
    {"softmax", draw_softmax},
    {"layer norm", draw_layer_norm},
    {"norm along an axis", draw_lp_norm},
    {"local response norm", draw_lrn},
    {"reductions", draw_reduction},
    {"whole channels", draw_channels},
    {"resize", draw_resize},
    {"pads", draw_pad},
    {"slices", draw_slice},
    {"concat", draw_concat},
    {"transpose", draw_transpose},
    {"another shape", draw_reshape},
    {"repeated", draw_expand},
    {"space and depth", draw_space},
};

int main(void) {
    return reached_all(families, sizeof families / sizeof families[0], DRAWS);
}
