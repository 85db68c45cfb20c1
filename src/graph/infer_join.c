/* Shape rules of operators that put values together or repeat them: concat, pad, expand, tile, resize. */
#include "graph/box.h"
#include "graph/infer.h"

/* Inputs first, first + step … along `axis`. */
static bool concat_along(Infer *in, uint32_t first, uint32_t step, int64_t stated, Shape *out) {
    const Value *x = infer_need(in, first);
    uint32_t axis;
    if (x == NULL || !infer_axis(in, stated, x->shape.rank, &axis)) {
        return false;
    }
    *out = x->shape;
    for (uint32_t k = first + step; k < in->node->input_count; k += step) {
        const Value *more = infer_need(in, k);
        if (more == NULL) {
            return false;
        }
        Shape same = more->shape;
        if (axis < same.rank) {
            same.dim[axis] = out->dim[axis];
        }
        if (!shape_eq(&same, out) || out->dim[axis] > EXTENT_MAX) {
            return infer_error(in, k, "the shapes differ outside the axis of concatenation",
                               infer_shape_text(in, &more->shape),
                               arena_text(&in->work->keep, "%s of '" STR_FMT "' but for axis %u",
                                          infer_shape_text(in, &x->shape), STR_ARG(x->name), axis));
        }
        out->dim[axis] += more->shape.dim[axis];
    }
    return true;
}

bool infer_concat(Infer *in) {
    Shape out;
    int64_t absent = concat_axis_absent(in->graph, in->node);
    return concat_along(in, 0, 1, node_int(in->node, "axis", absent), &out) &&
           infer_out(in, 0, infer_need(in, 0)->dtype, &out);
}

/* The output's scale and zero point, then data, scale and zero point of each input. */
bool infer_qlinear_concat(Infer *in) {
    Shape out;
    return concat_along(in, 2, 3, node_int(in->node, "axis", 0), &out) &&
           infer_out(in, 0, infer_need(in, 2)->dtype, &out);
}

bool infer_pack(Infer *in) {
    const Value *x = infer_need(in, 0);
    uint32_t axis;
    if (x == NULL || !infer_axis(in, node_int(in->node, "axis", 0), x->shape.rank + 1, &axis)) {
        return false;
    }
    for (uint32_t k = 1; k < in->node->input_count; k++) {
        const Value *more = infer_need(in, k);
        if (more == NULL) {
            return false;
        }
        if (!shape_eq(&more->shape, &x->shape)) {
            return infer_error(in, k, "packed values differ in shape", infer_shape_text(in, &more->shape),
                               infer_shape_text(in, &x->shape));
        }
    }
    Shape out = {.rank = 0};
    return infer_push_all(in, &out, &x->shape, 0, axis) && infer_push(in, &out, (int64_t)in->node->input_count) &&
           infer_push_all(in, &out, &x->shape, axis, x->shape.rank) && infer_out(in, 0, x->dtype, &out);
}

/* Adds the pads of one axis, which may be negative, to an extent. */
static bool add_pads(Infer *in, int64_t begin, int64_t end, int64_t *extent) {
    if (begin < -ATTR_MAX || begin > ATTR_MAX || end < -ATTR_MAX || end > ATTR_MAX || *extent + begin + end < 0) {
        return infer_error(in, 0, "a pad is out of range",
                           arena_text(&in->work->keep, "%lld and %lld on %lld elements", (long long)begin,
                                      (long long)end, (long long)*extent),
                           "0 or more elements left");
    }
    *extent += begin + end;
    return true;
}

/* ONNX: all begins, then all ends, of the axes of input 3 where it is given. TFLite: begin and end of axis after axis.
 */
bool infer_pad(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints pads, axes = {0, NULL};
    if (x == NULL) {
        return false;
    }
    IntsState state = infer_ints(in, "pads", 1, &pads);
    if (infer_attr_ints(in, "paddings", &axes) == INTS_KNOWN) { /* opset 1 */
        pads = axes;
        state = INTS_KNOWN;
    }
    axes = (Ints){0, NULL};
    if (state != INTS_KNOWN || (!infer_is_tflite(in) && infer_input_ints(in, 3, &axes) == INTS_UNKNOWN)) {
        return infer_from_file(in, "make the pads a constant");
    }
    uint32_t count = axes.count == 0 ? x->shape.rank : axes.count;
    if (pads.count != 2 * count) {
        return infer_error(in, 1, "the pads do not fit the input",
                           arena_text(&in->work->keep, "%u numbers", pads.count),
                           arena_text(&in->work->keep, "%u: begin and end of each axis", 2 * count));
    }
    Shape out = x->shape;
    for (uint32_t k = 0; k < count; k++) {
        bool pairs = infer_is_tflite(in);
        uint32_t axis;
        if (!infer_axis(in, axes.count == 0 ? k : axes.at[k], out.rank, &axis) ||
            !add_pads(in, pads.at[pairs ? 2 * k : k], pads.at[pairs ? 2 * k + 1 : count + k], &out.dim[axis])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* Pushes every number of a list as an extent. */
static bool shape_of_ints(Infer *in, Ints ints, Shape *shape) {
    *shape = (Shape){.rank = 0};
    for (uint32_t k = 0; k < ints.count; k++) {
        if (!infer_push(in, shape, ints.at[k])) {
            return false;
        }
    }
    return true;
}

bool infer_expand(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints wanted;
    Shape more;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &wanted) != INTS_KNOWN) {
        return infer_from_file(in, "make the shape a constant");
    }
    Shape out = x->shape;
    if (!shape_of_ints(in, wanted, &more)) {
        return false;
    }
    return shape_broadcast(&out, &more)
               ? infer_out(in, 0, x->dtype, &out)
               : infer_no_broadcast(in, 0, infer_shape_text(in, &x->shape), infer_shape_text(in, &more));
}

/* Repeats: one number an axis. Opset 1: a number and an axis. */
bool infer_tile(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints repeats, axis;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &repeats) != INTS_KNOWN ||
        (in->node->input_count > 2 && infer_input_ints(in, 2, &axis) != INTS_KNOWN)) {
        return infer_from_file(in, "make the repeats a constant");
    }
    Shape out = x->shape;
    bool is_first = in->node->input_count > 2;
    bool fits = is_first ? repeats.count == 1 && axis.count == 1 && axis.at[0] >= 0 && axis.at[0] < out.rank
                         : repeats.count == out.rank;
    for (uint32_t k = 0; fits && k < repeats.count; k++) {
        int64_t *extent = &out.dim[is_first ? axis.at[0] : k];
        fits = repeats.at[k] >= 0 && !__builtin_mul_overflow(*extent, repeats.at[k], extent);
    }
    return fits ? infer_out(in, 0, x->dtype, &out)
                : infer_error(in, 1, "the repeats do not fit the input",
                              arena_text(&in->work->keep, "%u numbers", repeats.count),
                              arena_text(&in->work->keep, "%u numbers from 0 on: %s", x->shape.rank,
                                         infer_shape_text(in, &x->shape)));
}

/* TFLite FILL and the random generators: input 0 is the shape. */
bool infer_fill(Infer *in) {
    const Value *value = node_input(in->graph, in->node, 1);
    Ints wanted;
    Shape out;
    if (infer_input_ints(in, 0, &wanted) != INTS_KNOWN) {
        return infer_from_file(in, "make the shape a constant");
    }
    return shape_of_ints(in, wanted, &out) && infer_out(in, 0, value == NULL ? DTYPE_NONE : value->dtype, &out);
}

/* The shape that two shapes broadcast to. */
bool infer_broadcast_args(Infer *in) {
    const Value *a = infer_need(in, 0);
    const Value *b = infer_need(in, 1);
    if (a == NULL || b == NULL) {
        return false;
    }
    Shape out = {.rank = 1, .dim = {0}};
    for (uint32_t k = 0; k < 2; k++) {
        const Shape *shape = k == 0 ? &a->shape : &b->shape;
        out.dim[0] = shape->rank == 1 && shape->dim[0] > out.dim[0] ? shape->dim[0] : out.dim[0];
    }
    return infer_out(in, 0, a->dtype, &out);
}

/* floor(extent * scale), in range and not a NaN. */
static bool scaled(Infer *in, uint32_t k, double scale, int64_t *extent) {
    double product = (double)*extent * scale;
    if (!(scale > 0) || !(product < (double)EXTENT_MAX)) {
        return infer_error(in, k, "a scale is out of range", arena_text(&in->work->keep, "%g", scale),
                           "a factor above 0");
    }
    *extent = (int64_t)product; /* truncates towards 0, the floor of what is not negative */
    return true;
}

/* Scales of Upsample and Resize: an attribute (Upsample 7), two (Upsample 1), or the input at `k`. */
static bool read_scales(Infer *in, uint32_t k, Floats *scales) {
    const Attr *attr = node_attr(in->node, "scales");
    const Value *value = node_input(in->graph, in->node, k);
    if (attr != NULL && attr->kind == ATTR_FLOATS) {
        double *at = arena_array(&in->work->scratch, double, attr->count);
        for (uint32_t i = 0; i < attr->count; i++) {
            at[i] = (double)attr->floats[i];
        }
        *scales = (Floats){attr->count, at};
        return true;
    }
    if (node_attr(in->node, "height_scale") != NULL) {
        double *at = arena_array(&in->work->scratch, double, 4);
        at[0] = at[1] = 1;
        at[2] = node_float(in->node, "height_scale", 1);
        at[3] = node_float(in->node, "width_scale", 1);
        *scales = (Floats){4, at};
        return true;
    }
    return value != NULL && const_floats(value, &in->work->scratch, scales);
}

/* Sizes under keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest that a size asks for. */
static void keep_aspect(const Infer *in, const Shape *x, const uint32_t *axes, Ints sizes, Shape *out) {
    bool smaller = str_eq(node_str(in->node, "keep_aspect_ratio_policy"), STR("not_larger"));
    if (!smaller && !str_eq(node_str(in->node, "keep_aspect_ratio_policy"), STR("not_smaller"))) {
        return;
    }
    double scale = 0;
    for (uint32_t k = 0; k < sizes.count; k++) {
        double wanted = x->dim[axes[k]] == 0 ? 0 : (double)sizes.at[k] / (double)x->dim[axes[k]];
        bool is_better = smaller ? wanted < scale : wanted > scale;
        scale = k == 0 || is_better ? wanted : scale;
    }
    for (uint32_t k = 0; k < sizes.count; k++) {
        double extent = scale * (double)x->dim[axes[k]] + 0.5;
        out->dim[axes[k]] = extent >= 0 && extent < (double)EXTENT_MAX ? (int64_t)extent : -1;
    }
}

/* The axes that scales or sizes speak of: attribute `axes` (opset 18), else all. */
static bool resized_axes(Infer *in, const Shape *x, uint32_t count, uint32_t axes[SHAPE_MAX_RANK]) {
    Ints stated;
    infer_attr_ints(in, "axes", &stated);
    if (count != (stated.count == 0 ? x->rank : stated.count) || count > x->rank) {
        return infer_error(
            in, 0, "scales or sizes do not fit the input", arena_text(&in->work->keep, "%u numbers", count),
            arena_text(&in->work->keep, "%u: %s", stated.count == 0 ? x->rank : stated.count, infer_shape_text(in, x)));
    }
    for (uint32_t k = 0; k < count; k++) {
        if (!infer_axis(in, stated.count == 0 ? k : stated.at[k], x->rank, &axes[k])) {
            return false;
        }
    }
    return true;
}

bool infer_resize(Infer *in) {
    const Value *x = infer_need(in, 0);
    uint32_t axes[SHAPE_MAX_RANK];
    Ints sizes;
    Floats scales;
    if (x == NULL) {
        return false;
    }
    Shape out = x->shape;
    if (infer_input_ints(in, 3, &sizes) == INTS_KNOWN && sizes.count != 0) {
        if (!resized_axes(in, &x->shape, sizes.count, axes)) {
            return false;
        }
        for (uint32_t k = 0; k < sizes.count; k++) {
            out.dim[axes[k]] = sizes.at[k];
        }
        keep_aspect(in, &x->shape, axes, sizes, &out);
        return infer_out(in, 0, x->dtype, &out);
    }
    if (!read_scales(in, in->node->input_count > 2 ? 2 : 1, &scales) || scales.count == 0) {
        return infer_from_file(in, "make scales or sizes constants");
    }
    if (!resized_axes(in, &x->shape, scales.count, axes)) {
        return false;
    }
    for (uint32_t k = 0; k < scales.count; k++) {
        if (!scaled(in, 0, scales.at[k], &out.dim[axes[k]])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* TFLite: input 1 is height and width. */
bool infer_resize_size(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints size;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &size) != INTS_KNOWN || size.count != 2) {
        return infer_from_file(in, "make the size a constant");
    }
    if (x->shape.rank != 4) {
        return infer_error(in, 0, "the rank does not fit the operator", infer_shape_text(in, &x->shape), "rank 4");
    }
    Shape out = x->shape;
    out.dim[1] = size.at[0];
    out.dim[2] = size.at[1];
    return infer_out(in, 0, x->dtype, &out);
}
