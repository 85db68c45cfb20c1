/* From nodes to windows: convolutions, pools, products and softmax on codes of 8 bits. */
#include "node/window_reading.h"

#include "base/checked.h"
#include "graph/fold.h"
#include "graph/names.h"
#include "node/reach.h"
#include "node/stages.h"

#include <math.h>

enum { MAP_RANK = 4 };

/* ---- Codes */

static bool is_code_map(const Value *value) {
    return value != NULL && value->has_shape && (value->dtype == DTYPE_I8 || value->dtype == DTYPE_U8) &&
           value->quant != NULL && value->quant->count == 1 && value->quant->block == 0;
}

/* A pool of the greatest orders codes, whatever they stand for: ONNX has it of plain integers too. */
static bool is_plain_map(const Value *value) {
    return value != NULL && value->has_shape && (value->dtype == DTYPE_I8 || value->dtype == DTYPE_U8) &&
           value->quant == NULL;
}

/* Limits of reals are rounded half away from zero as codes; ONNX's quantiser would round them to even. */
static bool limits_are_codes(WindowReading *r) {
    const Attr *most = node_attr(r->node, "activation_max"), *least = node_attr(r->node, "activation_min");
    Str word = node_str(r->node, "activation");
    float scale = window_code(r->out).scale, limit[2] = {0, str_eq(word, STR("RELU6")) ? 6 : 0};
    limit[0] = least != NULL ? (float)least->f : limit[0];
    limit[1] = most != NULL ? (float)most->f : limit[1];
    for (uint32_t k = 0; k < 2; k++) {
        float steps = limit[k] / scale;
        if (fabsf(steps) < 0x1p22f && fabsf(steps - truncf(steps)) == 0.5f) {
            return window_fail(r, "a limit of its activation lies between two codes");
        }
    }
    return true;
}

static bool read_stage(WindowReading *r) {
    Stage *stage = &r->made->stage;
    bool is_sum = r->made->op == CMD_CONV || r->made->op == CMD_SUM;
    *stage = (Stage){.kind = is_sum ? STAGE_ACC_REQUANTIZE : STAGE_CODE_CLIP, .to = r->out->dtype};
    stage->from = is_sum ? DTYPE_I32 : r->in->dtype;
    stage->integer.in = window_code(r->in);
    stage->integer.out = window_code(r->out);
    stage->integer.in.zero_point = 0;
    if (!stage_code_range(r->out->dtype, &stage->integer.lo, &stage->integer.hi)) {
        return window_fail(r, "its codes are of a type that is not computed");
    }
    return node_limit_codes(r->node, stage, &r->why) && (window_is_tflite(r) || limits_are_codes(r));
}

/* Kernels of fully connected layers, and of uint8, multiply the two scales in float32; the others in float64. */
static bool multiplies_in_float(const WindowReading *r) {
    return window_is_tflite(r) && (r->node->op == OP_FULLY_CONNECTED || r->in->dtype == DTYPE_U8);
}

static bool read_scales(WindowReading *r, uint64_t channels) {
    const Quant *quant = r->weights->quant;
    CmdWindow *window = &r->made->window;
    if (quant == NULL || quant->block != 0 || (quant->count != 1 && quant->count != channels)) {
        return window_fail(r, "its weights have not one scale, and not one a channel");
    }
    for (uint32_t k = 1; k < quant->count; k++) {
        if (quant_zero(quant, k) != quant_zero(quant, 0)) {
            return window_fail(r, "its weights have several zero points");
        }
    }
    float *scales = arena_array(r->arena, float, quant->count);
    bool is_float = quant->count == 1 && multiplies_in_float(r);
    for (uint32_t k = 0; k < quant->count; k++) {
        scales[k] = is_float ? 1 : quant->scale[k];
    }
    r->made->stage.integer.in.scale *= is_float ? quant->scale[0] : 1;
    window->weights_zero = quant_zero(quant, 0);
    window->scale_count = quant->count;
    window->scales = scales;
    return true;
}

/* ONNX states a scale of the bias: its codes add to the sums only where that is the product of the other two. */
static bool has_scale_of_sums(const WindowReading *r, const Value *bias) {
    const Quant *own = bias->quant, *weights = r->weights->quant;
    bool has =
        own != NULL && own->block == 0 && (own->count == weights->count || weights->count == 1 || own->count == 1);
    for (uint32_t k = 0; has && (k < own->count || k < weights->count); k++) {
        float product = r->in->quant->scale[0] * weights->scale[weights->count == 1 ? 0 : k];
        has = own->scale[own->count == 1 ? 0 : k] == product && quant_zero(own, own->count == 1 ? 0 : k) == 0;
    }
    return has;
}

static bool read_factors(WindowReading *r, uint64_t channels) {
    const Value *bias = node_input(r->graph, r->node, WINDOW_BIAS);
    if (r->weights->constant == NULL || dtype_bits(r->weights->dtype) > 8 || value_is_float(r->weights)) {
        return window_fail(r, "its weights are no constant codes");
    }
    if (bias != NULL && (bias->constant == NULL || bias->dtype != DTYPE_I32 || bias->shape.rank != 1)) {
        return window_fail(r, "its bias is no constant of 32 bits");
    }
    r->made->window.src_zero = quant_zero(r->in->quant, 0);
    if (!read_scales(r, channels)) {
        return false;
    }
    return bias == NULL || window_is_tflite(r) || has_scale_of_sums(r, bias) ||
           window_fail(r, "its bias has another scale than the products");
}

/* ---- Windows */

/* The axis of a dimension; the rank where there is none. */
static uint32_t axis_of(const Value *value, const uint8_t *dims, Dim dim) {
    uint32_t axis = 0;
    while (axis < value->shape.rank && dims[axis] != dim) {
        axis++;
    }
    return axis;
}

static uint64_t extent_of(const Value *value, const uint8_t *dims, Dim dim) {
    uint32_t axis = axis_of(value, dims, dim);
    return axis == value->shape.rank ? 1 : (uint64_t)value->shape.dim[axis];
}

/* Images, channels, and rows or columns or both, each an axis. */
static bool is_image(const Value *value) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        found |= 1u << value->dims[k];
    }
    uint32_t map = 1u << DIM_N | 1u << DIM_C | 1u << DIM_W;
    return value->shape.rank <= MAP_RANK && found == (value->shape.rank == MAP_RANK ? map | 1u << DIM_H
                                                      : value->shape.rank == 3      ? map
                                                                                    : 0);
}

static bool is_global(OpId op) {
    return op == OP_GLOBAL_AVERAGE_POOL || op == OP_GLOBAL_MAX_POOL;
}

static CmdSlide slide_along(const WindowReading *r, const AxisReach *reach, Dim dim) {
    uint32_t axis = axis_of(r->in, r->in->dims, dim), k = 0;
    CmdSlide slide = {.taps = 1, .stride = 1, .dilation = 1, .extent = 1};
    if (axis == r->in->shape.rank) {
        return slide;
    }
    slide.extent = (uint64_t)r->in->shape.dim[axis];
    if (is_global(r->node->op)) {
        slide.taps = slide.extent;
        return slide;
    }
    for (uint32_t before = 0; before < axis; before++) {
        k += r->in->dims[before] == DIM_H || r->in->dims[before] == DIM_W;
    }
    slide.taps = r->weights != NULL ? extent_of(r->weights, r->weight_dims, dim)
                                    : node_spatial_number(r->node, "kernel_shape", k, 1);
    slide.stride = reach[axis].stride;
    slide.dilation = node_spatial_number(r->node, "dilations", k, 1);
    slide.before = reach[axis].before;
    return slide;
}

static bool read_slides(WindowReading *r) {
    static const Dim dims[] = {DIM_H, DIM_W};
    const NodeReach reach = node_reach(r->graph, r->node, r->arena);
    if (!is_image(r->in) || !is_image(r->out) || r->in->shape.rank != r->out->shape.rank) {
        return window_fail(r, "it does not go over rows and columns of one map");
    }
    for (uint32_t k = 0; k < 2 && !is_global(r->node->op); k++) {
        uint32_t axis = axis_of(r->in, r->in->dims, dims[k]);
        if (axis < r->in->shape.rank && reach.input[0][axis].axis == REACH_NO_AXIS) {
            return window_fail(r, "its windows do not fit 64 bits");
        }
    }
    r->made->window.h = slide_along(r, reach.input[0], DIM_H);
    r->made->window.w = slide_along(r, reach.input[0], DIM_W);
    return true;
}

static bool read_conv(WindowReading *r) {
    CmdWindow *window = &r->made->window;
    uint64_t in = extent_of(r->in, r->in->dims, DIM_C), out = extent_of(r->out, r->out->dims, DIM_C);
    bool is_apart = r->node->op == OP_DEPTHWISE_CONV;
    if (r->weights->shape.rank != r->in->shape.rank || r->node->input_count > WINDOW_BIAS + 1) {
        return window_fail(r,
                           "its weights are not those of a map's rows and columns, or a normalisation is part of it");
    }
    if (!read_slides(r)) {
        return false;
    }
    window->group_src = is_apart ? 1 : extent_of(r->weights, r->weight_dims, DIM_I);
    if (window->group_src == 0 || in % window->group_src != 0 || out % (in / window->group_src) != 0) {
        return window_fail(r, "its channels are no whole groups");
    }
    window->group_dst = out / (in / window->group_src);
    return read_factors(r, out);
}

/* Of ONNX's mean: may a window have fewer elements than others? */
static bool may_have_padding(const WindowReading *r) {
    const Attr *pads = node_attr(r->node, "pads");
    Str mode = node_str(r->node, "auto_pad");
    bool is_plain = mode.len == 0 || str_eq(mode, STR("NOTSET")) || str_eq(mode, STR("VALID"));
    for (uint32_t k = 0; pads != NULL && k < pads->count; k++) {
        is_plain = is_plain && (pads->kind != ATTR_INTS || pads->ints[k] == 0);
    }
    return !is_plain || node_int(r->node, "ceil_mode", 0) != 0;
}

/* ONNX's mean is one of reals. */
static bool read_mean_of_reals(WindowReading *r) {
    CmdWindow *window = &r->made->window;
    uint64_t count;
    if (may_have_padding(r)) {
        return window_fail(r, "its windows have padding");
    }
    window->group_src = window->group_dst = 1;
    if (!read_slides(r)) {
        return false;
    }
    return window_sums(r, checked_mul(window->h.taps, window->w.taps, &count) ? count : UINT64_MAX, true);
}

static bool read_pool(WindowReading *r) {
    if (r->made->op == CMD_SUM) {
        return read_mean_of_reals(r);
    }
    if (!window_keeps_codes(r)) {
        return window_fail(r, "its codes before and after stand for other reals");
    }
    if (node_output(r->graph, r->node, 1) != NULL) {
        return window_fail(r, "no command finds where its greatest elements are");
    }
    r->made->window.group_src = r->made->window.group_dst = 1;
    return read_slides(r);
}

/* Rows of one map, and rows of the other: channels are last, all other axes are the same, or have one index each. */
static bool has_same_rows(const Value *in, const Value *out) {
    bool same = in->shape.rank == out->shape.rank, single = true;
    for (uint32_t k = 0; k + 1 < in->shape.rank; k++) {
        same = same && in->shape.dim[k] == out->shape.dim[k] && in->dims[k] == out->dims[k];
        single = single && in->shape.dim[k] == 1;
    }
    for (uint32_t k = 0; k + 1 < out->shape.rank; k++) {
        single = single && out->shape.dim[k] == 1;
    }
    return same || single;
}

/* Windows of one tap. */
static void set_rows(WindowReading *r) {
    CmdWindow *window = &r->made->window;
    window->h = window->w = (CmdSlide){.taps = 1, .stride = 1, .dilation = 1, .extent = 1};
    for (uint32_t k = 0; k < r->in->shape.rank; k++) {
        CmdSlide *slide = r->in->dims[k] == DIM_H ? &window->h : &window->w;
        bool is_spatial = r->in->dims[k] == DIM_H || r->in->dims[k] == DIM_W;
        slide->extent *= is_spatial ? (uint64_t)r->in->shape.dim[k] : 1;
    }
}

static bool is_channels_last(const Value *value) {
    return value->shape.rank > 0 && value->dims[value->shape.rank - 1] == DIM_C;
}

/* One image that is read whole: a window as large as it is, whose weights stand in the order of its axes. */
static bool set_flat(WindowReading *r) {
    NodeCommand *made = r->made;
    uint64_t extent[DIM_COUNT] = {1, 1, 1, 1, 1, 1};
    for (uint32_t k = 0; k < r->in->shape.rank; k++) {
        uint64_t axis = (uint64_t)r->in->shape.dim[k];
        uint8_t d = r->in->dims[k];
        if (axis != 1 && (d == DIM_N || extent[d] != 1)) {
            return false;
        }
        extent[d] = axis == 1 ? extent[d] : axis;
        if (axis != 1) {
            made->flat[made->flat_rank++] = (ViewAxis){axis, d == DIM_C ? DIM_I : (Dim)d};
        }
    }
    made->window.h = (CmdSlide){.taps = extent[DIM_H], .stride = 1, .dilation = 1, .extent = extent[DIM_H]};
    made->window.w = (CmdSlide){.taps = extent[DIM_W], .stride = 1, .dilation = 1, .extent = extent[DIM_W]};
    made->window.group_src = extent[DIM_C];
    return true;
}

/* Has the output one row? */
static bool is_row(const Value *out) {
    bool is = is_channels_last(out);
    for (uint32_t k = 0; is && k + 1 < out->shape.rank; k++) {
        is = out->shape.dim[k] == 1;
    }
    return is;
}

/* A x B + C, nothing scaled or transposed but the weights. */
static bool is_plain_product(const WindowReading *r) {
    return node_int(r->node, "transA", 0) == 0 && node_float(r->node, "alpha", 1) == 1 &&
           node_float(r->node, "beta", 1) == 1;
}

static bool read_product(WindowReading *r) {
    CmdWindow *window = &r->made->window;
    const Shape *in = &r->in->shape, *weights = &r->weights->shape;
    uint64_t elements, inputs = extent_of(r->weights, r->weight_dims, DIM_I);
    if (!is_plain_product(r)) {
        return window_fail(r, "it scales or transposes its factors");
    }
    if (weights->rank != 2 || in->rank == 0 || !is_channels_last(r->out)) {
        return window_fail(r, "its map is not read row by row");
    }
    bool has_rows =
        is_channels_last(r->in) && has_same_rows(r->in, r->out) && (uint64_t)in->dim[in->rank - 1] == inputs;
    if (has_rows) {
        set_rows(r);
        window->group_src = inputs;
    } else if (!window_is_tflite(r) || !is_row(r->out) || !shape_elements(in, &elements) || elements != inputs ||
               !set_flat(r)) {
        return window_fail(r, "its map is not read row by row, nor as one image of rows, columns and channels");
    }
    window->group_dst = (uint64_t)r->out->shape.dim[r->out->shape.rank - 1];
    return read_factors(r, window->group_dst);
}

static bool goes_over_last(const WindowReading *r) {
    int64_t rank = r->in->shape.rank,
            axis = node_int(r->node, "axis", window_is_tflite(r) || r->node->version >= 13 ? -1 : 1);
    return window_is_tflite(r) || axis == -1 || axis == rank - 1;
}

/* Shares of 256, the least code is 0: the kernels take no other codes. */
static bool read_softmax(WindowReading *r) {
    CmdWindow *window = &r->made->window;
    const Shape *in = &r->in->shape;
    const StageCode out = window_code(r->out);
    int32_t lo, hi;
    if (out.scale != 1.0f / 256 || !stage_code_range(r->out->dtype, &lo, &hi) || out.zero_point != lo ||
        r->in->dtype != r->out->dtype) {
        return window_fail(r, "its result is not in units of 1/256 from the least code on");
    }
    if (in->rank == 0 || !goes_over_last(r) || !has_same_rows(r->in, r->out) || in->rank != r->out->shape.rank ||
        r->in->dims[in->rank - 1] != DIM_C || r->out->dims[in->rank - 1] != DIM_C) {
        return window_fail(r, "its map is not read row by row");
    }
    set_rows(r);
    window->group_src = window->group_dst = (uint64_t)in->dim[in->rank - 1];
    float *beta = arena_new(r->arena, float);
    *beta = (float)node_float(r->node, "beta", 1);
    window->scale_count = 1;
    window->scales = beta;
    return true;
}

/* ---- Any of them */

/* As TFLite does; or, of ONNX, as a float32 operator between Dequantize and Quantize. The greatest is the same code. */
static bool computes_on_codes(const WindowReading *r) {
    bool is_max = r->made->op == CMD_MAXPOOL;
    bool are_maps =
        (is_code_map(r->in) && is_code_map(r->out)) || (is_max && is_plain_map(r->in) && is_plain_map(r->out));
    return are_maps && r->in->constant == NULL &&
           (is_max || window_is_tflite(r) || str_eq(node_str(r->node, "reals"), STR("float32")));
}

static bool read_node(WindowReading *r) {
    bool is_softmax = r->node->op == OP_SOFTMAX;
    bool is_pool = r->node->op == OP_AVERAGE_POOL || r->node->op == OP_MAX_POOL || is_global(r->node->op);
    bool has_weights = !is_softmax && !is_pool && !window_is_reduction(r->node->op);
    if (value_is_float(r->in) || value_is_float(r->out)) {
        return window_fail(r, "on float it is not executed, only on 8-bit integers; a model in int8 runs");
    }
    if (!computes_on_codes(r)) {
        return window_fail(r, "it is executed only on 8-bit integers with one scale for the whole map");
    }
    if (has_weights && (r->weights == NULL || !r->weights->has_shape)) {
        return window_fail(r, "it has no weights");
    }
    if (!read_stage(r)) {
        return false;
    }
    if (window_is_reduction(r->node->op)) {
        return window_read_reduction(r);
    }
    if (is_pool || is_softmax) {
        return is_pool ? read_pool(r) : read_softmax(r);
    }
    return r->node->op == OP_CONV || r->node->op == OP_DEPTHWISE_CONV ? read_conv(r) : read_product(r);
}

bool node_window(const Graph *graph, const Node *node, Arena *arena, NodeCommand *window, const char **why) {
    WindowReading r = {.graph = graph, .node = node, .arena = arena, .made = window, .why = NULL};
    *window = (NodeCommand){.op = CMD_CONV};
    bool is_known = true;
    switch (node->op) {
    case OP_AVERAGE_POOL:
        window->op = graph->format == FORMAT_TFLITE ? CMD_AVGPOOL : CMD_SUM;
        break;
    case OP_GLOBAL_AVERAGE_POOL:
        window->op = CMD_SUM;
        break;
    case OP_MAX_POOL:
    case OP_GLOBAL_MAX_POOL:
        window->op = CMD_MAXPOOL;
        break;
    case OP_SOFTMAX:
        window->op = CMD_SOFTMAX;
        break;
    case OP_REDUCE_MEAN:
    case OP_REDUCE_SUM:
        window->op = CMD_SUM;
        break;
    case OP_REDUCE_MAX:
        window->op = CMD_MAXPOOL;
        break;
    case OP_CONV:
    case OP_DEPTHWISE_CONV:
    case OP_FULLY_CONNECTED:
    case OP_GEMM:
    case OP_MATMUL:
        r.weights = node_input(graph, node, WINDOW_WEIGHTS);
        break;
    default:
        is_known = false;
    }
    if (r.weights != NULL && r.weights->has_shape) {
        names_of_weights(graph, node, WINDOW_WEIGHTS, r.weight_dims);
    }
    r.in = is_known ? node_input(graph, node, 0) : NULL;
    r.out = is_known ? node_output(graph, node, 0) : NULL;
    is_known = is_known && read_node(&r);
    *why = r.why;
    return is_known;
}
