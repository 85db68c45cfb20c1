/* Shape rules of operators that take parts: slices, splits, crops. */
#include "graph/infer.h"

/* Elements of a range over `extent` elements, by NumPy's rule: ends are clamped, negative ones count from the end. */
static int64_t range_count(int64_t extent, int64_t start, int64_t end, int64_t step) {
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    start = start < 0 ? (start < -extent ? low : start + extent) : start > high ? high : start;
    end = end < 0 ? (end < -extent ? low : end + extent) : end > high ? high : end;
    int64_t reach = step > 0 ? end - start : start - end;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return reach <= 0 ? 0 : (int64_t)(((uint64_t)reach - 1) / stride) + 1;
}

/* starts, ends, axes, steps: attributes before opset 10, inputs 1 to 4 since. */
typedef struct {
    Ints starts, ends, axes, steps;
} SliceArgs;

static bool read_slice(Infer *in, SliceArgs *args) {
    return infer_ints(in, "starts", 1, &args->starts) == INTS_KNOWN &&
           infer_ints(in, "ends", 2, &args->ends) == INTS_KNOWN &&
           infer_ints(in, "axes", 3, &args->axes) != INTS_UNKNOWN &&
           infer_ints(in, "steps", 4, &args->steps) != INTS_UNKNOWN;
}

bool infer_slice(Infer *in) {
    const Value *x = infer_need(in, 0);
    SliceArgs args;
    if (x == NULL) {
        return false;
    }
    if (!read_slice(in, &args)) {
        return infer_from_file(in, "make starts, ends, axes and steps constants");
    }
    uint32_t count = args.starts.count;
    if (args.ends.count != count || (args.axes.count != 0 && args.axes.count != count) ||
        (args.steps.count != 0 && args.steps.count != count)) {
        return infer_error(
            in, 1, "starts, ends, axes and steps differ in number",
            arena_text(&in->work->keep, "%u, %u, %u, %u", count, args.ends.count, args.axes.count, args.steps.count),
            "one of each for every axis");
    }
    Shape out = x->shape;
    uint32_t mask;
    if (!infer_axes(in, args.axes, out.rank, &mask)) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        int64_t step = args.steps.count == 0 ? 1 : args.steps.at[k];
        uint32_t axis;
        if (!infer_axis(in, args.axes.count == 0 ? k : args.axes.at[k], out.rank, &axis)) {
            return false;
        }
        if (step == 0) {
            return infer_error(in, 4, "a step is 0", "0", "a step forwards or backwards");
        }
        out.dim[axis] = range_count(x->shape.dim[axis], args.starts.at[k], args.ends.at[k], step);
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* TFLite SLICE: begins and sizes; a size of -1 reaches to the end. */
bool infer_slice_size(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints begin, size;
    if (x == NULL) {
        return false;
    }
    bool knows_begin = infer_input_ints(in, 1, &begin) == INTS_KNOWN;
    if (infer_input_ints(in, 2, &size) != INTS_KNOWN) {
        return infer_from_file(in, "make the size a constant");
    }
    Shape out = x->shape;
    bool fits = size.count == out.rank && (!knows_begin || begin.count == out.rank);
    for (uint32_t axis = 0; fits && axis < out.rank; axis++) {
        int64_t extent = out.dim[axis], first = knows_begin ? begin.at[axis] : 0;
        if (size.at[axis] == -1 && !knows_begin) {
            return infer_from_file(in, "make the begin a constant");
        }
        fits = first >= 0 && first <= extent && size.at[axis] >= -1 && size.at[axis] <= extent - first;
        out.dim[axis] = size.at[axis] == -1 ? extent - first : size.at[axis];
    }
    return fits ? infer_out(in, 0, x->dtype, &out)
                : infer_error(in, 2, "the box does not lie in the input", infer_shape_text(in, &x->shape),
                              "begin and size inside it, one of each an axis");
}

/* STRIDED_SLICE: bit k of a mask speaks of entry k of begin, end and strides. */
typedef struct {
    Ints begin, end, step;
    int64_t begin_mask, end_mask, ellipsis, new_axis, shrink;
} StridedSlice;

/* One axis of the input under entry `k`; a shrunk axis is one element and goes. */
static bool strided_axis(Infer *in, const StridedSlice *slice, uint32_t k, int64_t extent, Shape *out) {
    int64_t step = slice->step.at[k];
    int64_t backward = step < 0;
    if (step == 0) {
        return infer_error(in, 3, "a stride is 0", "0", "a stride forwards or backwards");
    }
    int64_t begin = (slice->begin_mask >> k & 1) != 0 ? (backward ? INT64_MAX : 0) : slice->begin.at[k];
    int64_t end = (slice->end_mask >> k & 1) != 0 ? (backward ? INT64_MIN : INT64_MAX) : slice->end.at[k];
    if ((slice->shrink >> k & 1) == 0) {
        return infer_push(in, out, range_count(extent, begin, end, step));
    }
    if (begin >= extent || begin < -extent) {
        return infer_error(in, 1, "the index lies outside the axis",
                           arena_text(&in->work->keep, "%lld", (long long)begin),
                           arena_text(&in->work->keep, "an axis of %lld", (long long)extent));
    }
    return true;
}

static uint32_t bits_set(int64_t mask, uint32_t count) {
    uint32_t bits = 0;
    for (uint32_t k = 0; k < count; k++) {
        bits += (uint32_t)(mask >> k & 1);
    }
    return bits;
}

static bool strided_shape(Infer *in, const StridedSlice *slice, const Shape *x, Shape *out) {
    uint32_t axis = 0, entries = slice->begin.count;
    uint32_t named = entries - bits_set(slice->new_axis | slice->ellipsis, entries);
    for (uint32_t k = 0; k < entries; k++) {
        if ((slice->ellipsis >> k & 1) != 0) {
            uint32_t last = x->rank - named + axis;
            if (named > x->rank + axis || last > x->rank || !infer_push_all(in, out, x, axis, last)) {
                return false;
            }
            axis = last;
            named = 0; /* a second ellipsis covers nothing */
        } else if ((slice->new_axis >> k & 1) != 0) {
            if (!infer_push(in, out, 1)) {
                return false;
            }
        } else {
            if (axis >= x->rank) {
                return infer_error(in, 1, "more entries than the input has axes",
                                   arena_text(&in->work->keep, "%u", entries), infer_shape_text(in, x));
            }
            if (!strided_axis(in, slice, k, x->dim[axis++], out)) {
                return false;
            }
        }
    }
    return infer_push_all(in, out, x, axis, x->rank);
}

bool infer_strided_slice(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Node *node = in->node;
    StridedSlice slice = {.begin_mask = node_int(node, "begin_mask", 0),
                          .end_mask = node_int(node, "end_mask", 0),
                          .ellipsis = node_int(node, "ellipsis_mask", 0),
                          .new_axis = node_int(node, "new_axis_mask", 0),
                          .shrink = node_int(node, "shrink_axis_mask", 0)};
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &slice.begin) != INTS_KNOWN || infer_input_ints(in, 2, &slice.end) != INTS_KNOWN ||
        infer_input_ints(in, 3, &slice.step) != INTS_KNOWN) {
        return infer_from_file(in, "make begin, end and strides constants");
    }
    if (slice.begin.count > 32 || slice.end.count != slice.begin.count || slice.step.count != slice.begin.count ||
        bits_set(slice.ellipsis, slice.begin.count) > 1) {
        return infer_error(
            in, 1, "begin, end and strides do not fit each other",
            arena_text(&in->work->keep, "%u, %u and %u entries", slice.begin.count, slice.end.count, slice.step.count),
            "one of each for every axis, at most one ellipsis");
    }
    Shape out = {.rank = 0};
    return strided_shape(in, &slice, &x->shape, &out) && infer_out(in, 0, x->dtype, &out);
}

/* Outputs of equal extents, rounded up where `is_uneven`: the last takes what the others leave, which may be nothing
 * but not less. */
static bool splits_equally(int64_t extent, int64_t outputs, bool is_uneven) {
    int64_t each = extent / outputs + (extent % outputs != 0);
    return extent % outputs == 0 || (is_uneven && each <= extent / (outputs - 1));
}

/* Outputs along `axis`: of the extents `sizes`, or equal ones. The last may be smaller where `is_uneven`. */
static bool split_along(Infer *in, const Value *x, uint32_t axis, Ints sizes, bool is_uneven) {
    int64_t outputs = (int64_t)in->node->output_count, extent = x->shape.dim[axis];
    int64_t each = sizes.count == 0 && outputs > 0 ? extent / outputs + (is_uneven && extent % outputs != 0) : 0;
    int64_t rest = extent, free_output = -1;
    bool fits = outputs > 0 &&
                (sizes.count == 0 ? splits_equally(extent, outputs, is_uneven) : (int64_t)sizes.count == outputs);
    for (uint32_t k = 0; fits && k < sizes.count; k++) {
        fits = sizes.at[k] <= rest && (sizes.at[k] >= 0 || (sizes.at[k] == -1 && free_output < 0));
        free_output = sizes.at[k] == -1 ? k : free_output;
        rest -= sizes.at[k] == -1 || !fits ? 0 : sizes.at[k];
    }
    fits = fits && (sizes.count == 0 || rest == 0 || free_output >= 0);
    if (!fits) {
        return infer_error(in, 0, "the axis does not split into the outputs",
                           arena_text(&in->work->keep, "axis %u of %s, %lld outputs", axis,
                                      infer_shape_text(in, &x->shape), (long long)outputs),
                           "sizes that add up to the extent");
    }
    int64_t left = extent;
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        Shape out = x->shape;
        int64_t size = sizes.count == 0 ? (each < left ? each : left) : sizes.at[k] == -1 ? rest : sizes.at[k];
        out.dim[axis] = size;
        left -= size;
        if (!infer_out(in, k, x->dtype, &out)) {
            return false;
        }
    }
    return true;
}

bool infer_split(Infer *in) {
    const Value *x = infer_need(in, 0);
    uint32_t axis;
    Ints sizes;
    if (x == NULL || !infer_axis(in, node_int(in->node, "axis", 0), x->shape.rank, &axis)) {
        return false;
    }
    if (infer_ints(in, "split", 1, &sizes) == INTS_UNKNOWN) {
        return infer_from_file(in, "make the sizes a constant");
    }
    return split_along(in, x, axis, sizes, node_attr(in->node, "num_outputs") != NULL);
}

/* SPLIT: axis, data. SPLIT_V: data, sizes, axis. */
bool infer_split_tflite(Infer *in) {
    bool has_sizes = in->node->op == OP_SPLIT_V;
    const Value *x = infer_need(in, has_sizes ? 0 : 1);
    Ints axis, sizes = {0, NULL};
    uint32_t counted;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, has_sizes ? 2 : 0, &axis) != INTS_KNOWN || axis.count != 1 ||
        (has_sizes && infer_input_ints(in, 1, &sizes) != INTS_KNOWN)) {
        return infer_from_file(in, "make axis and sizes constants");
    }
    return infer_axis(in, axis.at[0], x->shape.rank, &counted) && split_along(in, x, counted, sizes, false);
}

bool infer_unpack(Infer *in) {
    const Value *x = infer_need(in, 0);
    uint32_t axis;
    if (x == NULL || !infer_axis(in, node_int(in->node, "axis", 0), x->shape.rank, &axis)) {
        return false;
    }
    if (x->shape.dim[axis] != (int64_t)in->node->output_count) {
        return infer_error(in, 0, "the axis does not unpack into the outputs", infer_shape_text(in, &x->shape),
                           arena_text(&in->work->keep, "%u elements along axis %u", in->node->output_count, axis));
    }
    Shape out = {.rank = 0};
    bool is_done =
        infer_push_all(in, &out, &x->shape, 0, axis) && infer_push_all(in, &out, &x->shape, axis + 1, x->shape.rank);
    for (uint32_t k = 0; is_done && k < in->node->output_count; k++) {
        is_done = infer_out(in, k, x->dtype, &out);
    }
    return is_done;
}

/* The experimental Crop: border is left, top, right, bottom; `scale` is the height and width that stay. */
bool infer_crop(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints border, scale;
    infer_attr_ints(in, "border", &border);
    infer_attr_ints(in, "scale", &scale);
    if (x == NULL) {
        return false;
    }
    Shape out = x->shape;
    bool fits = out.rank == 4 && border.count == 4;
    for (uint32_t k = 0; fits && k < 2; k++) {
        int64_t first = border.at[1 - k], last = border.at[3 - k], extent = out.dim[2 + k];
        fits = first >= 0 && last >= 0 && first <= extent;
        out.dim[2 + k] = scale.count == 2 ? scale.at[k] : extent - first - (last < extent ? last : extent);
        fits = fits && out.dim[2 + k] >= 0 && out.dim[2 + k] <= extent - first;
    }
    return fits ? infer_out(in, 0, x->dtype, &out)
                : infer_error(in, 0, "the border does not fit the input", infer_shape_text(in, &x->shape),
                              "rank 4, larger than the border");
}

bool infer_center_crop_pad(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints wanted, axes;
    uint32_t axis;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &wanted) != INTS_KNOWN) {
        return infer_from_file(in, "make the shape a constant");
    }
    infer_attr_ints(in, "axes", &axes);
    Shape out = x->shape;
    for (uint32_t k = 0; k < wanted.count; k++) {
        if (!infer_axis(in, k < axes.count ? axes.at[k] : k, out.rank, &axis)) {
            return false;
        }
        out.dim[axis] = wanted.at[k];
    }
    return infer_out(in, 0, x->dtype, &out);
}
