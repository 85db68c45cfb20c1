/* Shape rules of convolutions, pooling and regions of interest.
 *
 * Activations are N C spatial…, or N spatial… C where the graph says channels_last; weights are O I/group spatial…, or
 * O spatial… I (CONV_2D), 1 spatial… O (DEPTHWISE_CONV_2D), spatial… I O (CONV_3D). */
#include "graph/infer_window.h"

/* What a convolution's weights say. */
typedef struct {
    int64_t outputs, inputs; /* channels; inputs of one group */
    const int64_t *kernel;
} Filter;

static Filter read_filter(const Infer *in, const Shape *weights) {
    const int64_t *dim = weights->dim;
    uint32_t last = weights->rank - 1;
    switch (in->node->op) {
    case OP_DEPTHWISE_CONV:
        return (Filter){dim[last], 1, dim + 1};
    case OP_CONV_3D:
        return (Filter){dim[last], dim[last - 1], dim};
    default:
        return in->graph->channels_last ? (Filter){dim[0], dim[last], dim + 1} : (Filter){dim[0], dim[1], dim + 2};
    }
}

static bool check_channels(Infer *in, const Value *x, uint32_t weights, const Filter *filter) {
    int64_t channels = x->shape.dim[in->graph->channels_last ? x->shape.rank - 1 : 1];
    int64_t groups = node_int(in->node, "group", 1);
    bool fits;
    if (in->node->op == OP_DEPTHWISE_CONV) {
        fits = channels == 0 ? filter->outputs == 0 : filter->outputs % channels == 0;
    } else if (in->graph->channels_last) { /* TFLite states no groups: they follow from the extents */
        fits = filter->inputs == 0 ? channels == 0 : channels % filter->inputs == 0;
    } else {
        fits = groups >= 1 && groups <= ATTR_MAX && filter->inputs == channels / groups && channels % groups == 0 &&
               filter->outputs % groups == 0;
    }
    Arena *keep = &in->work->keep;
    return fits || infer_error(in, weights, "the weights do not fit the input's channels",
                               arena_text(keep, "weights %s, %lld groups",
                                          infer_shape_text(in, &infer_optional(in, weights)->shape), (long long)groups),
                               arena_text(keep, "weights for %lld channels: input %s of '" STR_FMT "'",
                                          (long long)channels, infer_shape_text(in, &x->shape), STR_ARG(x->name)));
}

/* The bias is one number an output channel. */
static bool check_bias(Infer *in, uint32_t k, int64_t channels) {
    const Value *bias = infer_optional(in, k);
    if (bias == NULL || (bias->shape.rank == 1 && bias->shape.dim[0] == channels)) {
        return true;
    }
    return infer_error(in, k, "the bias is not one number an output channel", infer_shape_text(in, &bias->shape),
                       arena_text(&in->work->keep, "[%lld]", (long long)channels));
}

/* Output of input 0 under the weights of input `w`: channels at their place, windows counted. */
static bool conv_shape(Infer *in, uint32_t w, uint32_t bias, Shape *out) {
    const Value *x = infer_need(in, 0);
    const Value *weights = infer_need(in, w);
    if (x == NULL || weights == NULL || !infer_need_spatial(in, x, 0)) {
        return false;
    }
    if (weights->shape.rank != x->shape.rank) {
        return infer_error(in, w, "the rank of the weights does not fit the input",
                           infer_shape_text(in, &weights->shape),
                           arena_text(&in->work->keep, "rank %u, for %s of '" STR_FMT "'", x->shape.rank,
                                      infer_shape_text(in, &x->shape), STR_ARG(x->name)));
    }
    Filter filter = read_filter(in, &weights->shape);
    Window window;
    if (!check_channels(in, x, w, &filter) || !check_bias(in, bias, filter.outputs) ||
        !window_read(in, x->shape.rank - 2, filter.kernel, &window)) {
        return false;
    }
    uint32_t first = infer_first_spatial(in);
    *out = x->shape;
    out->dim[in->graph->channels_last ? out->rank - 1 : 1] = filter.outputs;
    for (uint32_t k = 0; k < window.rank; k++) {
        if (!window_count(in, &window, k, x->shape.dim[first + k], &out->dim[first + k])) {
            return false;
        }
    }
    return true;
}

bool infer_conv(Infer *in) {
    Shape out;
    return conv_shape(in, 1, 2, &out) && infer_out(in, 0, infer_need(in, 0)->dtype, &out);
}

bool infer_deform_conv(Infer *in) {
    Shape out;
    return conv_shape(in, 1, 3, &out) && infer_out(in, 0, infer_need(in, 0)->dtype, &out);
}

bool infer_conv_integer(Infer *in) {
    Shape out;
    return conv_shape(in, 1, UINT32_MAX, &out) && infer_out(in, 0, DTYPE_I32, &out);
}

bool infer_qlinear_conv(Infer *in) {
    Shape out;
    const Value *zero_point = node_input(in->graph, in->node, 7);
    return conv_shape(in, 3, 8, &out) && infer_out(in, 0, zero_point == NULL ? DTYPE_NONE : zero_point->dtype, &out);
}

/* `count` numbers of a list that may be absent (0 each). */
static bool optional_numbers(Infer *in, const char *name, uint32_t count, int64_t *number) {
    Ints ints;
    infer_attr_ints(in, name, &ints);
    for (uint32_t k = 0; k < count; k++) {
        number[k] = k < ints.count ? ints.at[k] : 0;
        if ((ints.count != 0 && ints.count != count) || number[k] < 0 || number[k] > ATTR_MAX) {
            return infer_error(in, 0, arena_text(&in->work->keep, "attribute '%s' is out of range", name),
                               arena_text(&in->work->keep, "%u numbers", ints.count),
                               arena_text(&in->work->keep, "%u numbers from 0 to 2^31", count));
        }
    }
    return true;
}

/* A transposed window: every input element spreads over kernel elements, `stride` apart. */
static bool spread(Infer *in, const Window *window, const int64_t *more, uint32_t k, int64_t *extent) {
    int64_t stride = window->stride[k];
    int64_t steps, out;
    if (window->mode == PAD_SAME_UPPER || window->mode == PAD_SAME_LOWER) {
        return !__builtin_mul_overflow(*extent, stride, extent) ||
               infer_error(in, 0, "the output's extent does not fit 64 bits", NULL, NULL);
    }
    int64_t pads = window->mode == PAD_VALID ? 0 : window->pad[k] + window->pad[window->rank + k];
    int64_t reach = (window->kernel[k] - 1) * window->dilation[k] + 1;
    if (__builtin_mul_overflow(*extent - 1, stride, &steps) || __builtin_add_overflow(steps, reach, &out) ||
        out > INT64_MAX / 2 || out + more[k] - pads < 0) {
        return infer_error(in, 0, arena_text(&in->work->keep, "the extent of spatial axis %u is out of range", k),
                           arena_text(&in->work->keep, "%lld input elements, stride %lld, window %lld, pads %lld",
                                      (long long)*extent, (long long)stride, (long long)reach, (long long)pads),
                           "0 or more output elements");
    }
    *extent = *extent == 0 ? 0 : out + more[k] - pads;
    return true;
}

bool infer_conv_transpose(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *w = infer_need(in, 1);
    Window window;
    int64_t more[SHAPE_MAX_RANK], stated[SHAPE_MAX_RANK];
    int64_t groups = node_int(in->node, "group", 1);
    if (x == NULL || w == NULL || !infer_need_spatial(in, x, 0)) {
        return false;
    }
    if (w->shape.rank != x->shape.rank || w->shape.dim[0] != x->shape.dim[1] || groups < 1 ||
        w->shape.dim[1] > EXTENT_MAX / groups) {
        return infer_error(
            in, 1, "the weights do not fit the input", infer_shape_text(in, &w->shape),
            arena_text(&in->work->keep, "[%lld, …] of rank %u", (long long)x->shape.dim[1], x->shape.rank));
    }
    uint32_t spatial = x->shape.rank - 2;
    Ints output_shape;
    bool is_stated = infer_attr_ints(in, "output_shape", &output_shape) == INTS_KNOWN && output_shape.count != 0;
    Shape out = x->shape;
    out.dim[1] = w->shape.dim[1] * groups;
    if (!window_read(in, spatial, w->shape.dim + 2, &window) || !check_bias(in, 2, out.dim[1]) ||
        !optional_numbers(in, "output_padding", spatial, more) ||
        (is_stated && output_shape.count != x->shape.rank && !optional_numbers(in, "output_shape", spatial, stated))) {
        return false;
    }
    for (uint32_t k = 0; k < spatial; k++) {
        if (is_stated) { /* some exporters state batch and channels too */
            out.dim[2 + k] = output_shape.count == x->shape.rank ? output_shape.at[2 + k] : stated[k];
        } else if (!spread(in, &window, more, k, &out.dim[2 + k])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* TRANSPOSE_CONV: input 0 is the output's shape, input 1 the weights, input 2 the data. */
bool infer_conv_transpose_tflite(Infer *in) {
    const Value *x = infer_need(in, 2);
    Ints shape;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 0, &shape) != INTS_KNOWN) {
        return infer_from_file(in, "make the output shape a constant");
    }
    Shape out = {.rank = 0};
    for (uint32_t k = 0; k < shape.count; k++) {
        if (!infer_push(in, &out, shape.at[k])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}

bool infer_pool(Infer *in) {
    const Value *x = infer_need(in, 0);
    Window window;
    if (x == NULL || !infer_need_spatial(in, x, 0)) {
        return false;
    }
    bool last = in->graph->channels_last || node_int(in->node, "channels_last", 0) != 0;
    uint32_t first = last ? 1 : 2;
    if (!window_read(in, x->shape.rank - 2, NULL, &window)) {
        return false;
    }
    Shape out = x->shape;
    for (uint32_t k = 0; k < window.rank; k++) {
        if (!window_count(in, &window, k, x->shape.dim[first + k], &out.dim[first + k])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out) && infer_out(in, 1, DTYPE_I64, &out);
}

bool infer_global_pool(Infer *in) {
    const Value *x = infer_need(in, 0);
    if (x == NULL) {
        return false;
    }
    Shape out = x->shape;
    uint32_t first = node_int(in->node, "channels_last", 0) != 0 ? 1 : 2;
    for (uint32_t axis = first; axis < first + out.rank - 2 && axis < out.rank; axis++) {
        out.dim[axis] = 1;
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* The inverse of MaxPool: input 2 states the shape where it is given. */
bool infer_max_unpool(Infer *in) {
    const Value *x = infer_need(in, 0);
    Window window;
    Ints shape;
    const int64_t more[SHAPE_MAX_RANK] = {0};
    IntsState state = infer_input_ints(in, 2, &shape);
    if (x == NULL || !infer_need_spatial(in, x, 0) || !window_read(in, x->shape.rank - 2, NULL, &window)) {
        return false;
    }
    if (state == INTS_UNKNOWN) {
        return infer_from_file(in, "make the output shape a constant");
    }
    Shape out = x->shape;
    for (uint32_t axis = 0; axis < out.rank; axis++) {
        if (state == INTS_KNOWN) {
            out.dim[axis] = axis < shape.count ? shape.at[axis] : 1;
        } else if (axis >= 2 && !spread(in, &window, more, axis - 2, &out.dim[axis])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}

static bool regions(Infer *in, int64_t height, int64_t width) {
    const Value *x = infer_need(in, 0);
    const Value *rois = infer_need(in, 1);
    if (x == NULL || rois == NULL) {
        return false;
    }
    if (x->shape.rank != 4 || rois->shape.rank != 2) {
        return infer_error(in, x->shape.rank != 4 ? 0 : 1, "the rank does not fit the operator", NULL,
                           "an input of rank 4 and regions of rank 2");
    }
    Shape out = {.rank = 4, .dim = {rois->shape.dim[0], x->shape.dim[1], height, width}};
    return infer_out(in, 0, x->dtype, &out);
}

bool infer_roi_pool(Infer *in) {
    Ints pooled;
    infer_attr_ints(in, "pooled_shape", &pooled);
    return pooled.count == 2 ? regions(in, pooled.at[0], pooled.at[1])
                             : infer_error(in, 0, "attribute 'pooled_shape' is missing", NULL, "height and width");
}

bool infer_roi_align(Infer *in) {
    return regions(in, node_int(in->node, "output_height", 1), node_int(in->node, "output_width", 1));
}

/* [N, C*kernel, blocks] becomes [N, C, image…]. */
bool infer_col2im(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints image, block;
    int64_t kernel = 1;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &image) != INTS_KNOWN || infer_input_ints(in, 2, &block) != INTS_KNOWN) {
        return infer_from_file(in, "make image_shape and block_shape constants");
    }
    for (uint32_t k = 0; k < block.count; k++) {
        if (block.at[k] < 1 || __builtin_mul_overflow(kernel, block.at[k], &kernel)) {
            return infer_error(in, 2, "the block's extent is out of range", NULL, "1 or more");
        }
    }
    if (x->shape.rank != 3 || x->shape.dim[1] % kernel != 0) {
        return infer_error(in, 0, "the input does not fit the blocks", infer_shape_text(in, &x->shape),
                           "[batch, channels * block, blocks]");
    }
    Shape out = {.rank = 2, .dim = {x->shape.dim[0], x->shape.dim[1] / kernel}};
    for (uint32_t k = 0; k < image.count; k++) {
        if (!infer_push(in, &out, image.at[k])) {
            return false;
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}
