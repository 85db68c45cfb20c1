/* Proves that node_reach is right for operators that slide a window or sum products: convolutions, pools, matrix
 * products, cells. Each index of the output is followed to all that its definition reads; extents are all different in
 * one half of the draws and all equal in the other. Also how many products an element is the sum of.
 * Definitions: onnx/docs/Operators.md (onnx 1.17), the reference kernels of TFLite. */
#include "reached.h"

enum { DRAWS = 400 };

static int64_t product(const int64_t *at, int count) {
    int64_t all = 1;
    for (int k = 0; k < count; k++) {
        all *= at[k];
    }
    return all;
}

static int64_t covered(const Reached *r, int k) {
    return (r->kernel[k] - 1) * r->dilation[k] + 1;
}

/* ---- Windows: `first` is the first spatial axis of the map */

static void mark_taps(Reached *r, const int64_t *out, int first, int channel, const int64_t *channels) {
    int64_t tap[4] = {0}, zero[4] = {0}, index[SHAPE_MAX_RANK] = {out[0]};
    do {
        bool is_inside = true;
        for (int k = 0; k < r->spatial; k++) {
            index[first + k] = out[first + k] * r->stride[k] + tap[k] * r->dilation[k] - r->before[k];
            is_inside = is_inside && index[first + k] >= 0 && index[first + k] < r->in[0]->dim[first + k];
        }
        for (int64_t c = channels[0]; is_inside && c < channels[1]; c++) {
            index[channel] = c;
            mark(r, 0, index);
        }
    } while (next_index(tap, zero, r->kernel, (uint32_t)r->spatial));
}

/* Between the taps of a dilated window, or behind the last one that is inside, lies what nothing reads. */
static void allow_gaps(Reached *r, int first) {
    for (int k = 0; k < r->spatial; k++) {
        int64_t gap = r->stride[k] > covered(r, k) ? r->stride[k] - covered(r, k) : 0;
        r->slack[0][first + k] = r->dilation[k] - 1 + gap + (r->dilation[k] > 1 ? r->stride[k] : 0);
    }
}

/* Input extents, pads by the rule that is drawn, and the attributes that say them. */
static void draw_window(Reached *r, const char *modes, int64_t *in) {
    int64_t pads[8] = {0};
    char mode = modes[draw(r, (int64_t)strlen(modes))];
    for (int k = 0; k < r->spatial; k++) {
        r->stride[k] = 1 + draw(r, 3);
        r->dilation[k] = r->is_equal ? 1 : 1 + draw(r, 3);
        in[k] = r->extents[2 + k];
        int64_t window = covered(r, k), outputs = (in[k] + r->stride[k] - 1) / r->stride[k];
        int64_t total = (outputs - 1) * r->stride[k] + window - in[k];
        total = total < 0 ? 0 : total;
        pads[k] = draw(r, r->kernel[k]);
        pads[r->spatial + k] = window > in[k] + pads[k] ? window - in[k] - pads[k] : draw(r, r->kernel[k]);
        in[k] += (mode == 'v' || mode == '-') && window > in[k] ? window - in[k] : 0;
        r->before[k] = mode == 'u' ? total / 2 : mode == 'l' ? total - total / 2 : mode == 'e' ? pads[k] : 0;
    }
    line(r, " strides=[");
    numbers(r, r->stride, r->spatial, ",");
    line(r, "] dilations=[");
    numbers(r, r->dilation, r->spatial, ",");
    line(r, "]");
    if (mode == 'e') {
        line(r, " pads=[");
        numbers(r, pads, 2 * r->spatial, ",");
        line(r, "]");
    } else if (mode != '-') {
        line(r, " auto_pad=%s", mode == 'u' ? "SAME_UPPER" : mode == 'l' ? "SAME_LOWER" : "VALID");
    }
}

/* The declarations stand before the node, whose attributes have been written by now. */
static void put_before(Reached *r, size_t from, void (*declare)(Reached *r, const int64_t *in), const int64_t *in) {
    char rest[REACHED_TEXT];
    memcpy(rest, r->text + from, r->used - from);
    size_t length = r->used - from;
    rest[length] = '\0';
    r->used = from;
    declare(r, in);
    line(r, "%s\noutput y\n", rest);
}

static void draw_kernel(Reached *r) {
    for (int k = 0; k < r->spatial; k++) {
        r->kernel[k] = r->is_equal ? r->extents[0] : 1 + draw(r, 3);
    }
}

/* ---- ONNX convolutions: maps N C spatial, weights O I/groups spatial */

enum { CHANNELS_IN = 8, CHANNELS_OUT = 9, BATCH = 10 }; /* places in `extents` */

static void define_conv(Reached *r, const int64_t *out) {
    int64_t outputs = r->extents[CHANNELS_OUT] / r->groups, inputs = r->extents[CHANNELS_IN] / r->groups;
    int64_t group = out[1] / outputs, channels[2] = {group * inputs, (group + 1) * inputs},
            w[SHAPE_MAX_RANK] = {out[1]};
    bool is_qlinear = r->flag[0] == 2;
    mark_taps(r, out, 2, 1, channels);
    mark_range(r, is_qlinear ? 3 : 1, w, ~1u);
    if (is_qlinear) {
        mark(r, 4, w);
        mark(r, 5, w);
        mark(r, 8, w);
    } else if (r->flag[0] == 0) {
        mark(r, 2, w);
    } else {
        mark(r, 3, w);
    }
}

static void declare_conv(Reached *r, const int64_t *in) {
    int64_t x[8] = {r->extents[BATCH], r->extents[CHANNELS_IN]}, *o = &r->extents[CHANNELS_OUT];
    int64_t w[8] = {*o, r->extents[CHANNELS_IN] / r->groups};
    memcpy(x + 2, in, sizeof(int64_t) * (size_t)r->spatial);
    memcpy(w + 2, r->kernel, sizeof(int64_t) * (size_t)r->spatial);
    const char *dtype = r->flag[0] == 0 ? "float32" : "int8";
    shape(r, "input", "x", dtype, x, r->spatial + 2);
    shape(r, "const", "w", dtype, w, r->spatial + 2);
    shape(r, "const", "b", r->flag[0] == 0 ? "float32" : "int32", o, 1);
    shape(r, "const", "s", "float32", o, 1);
    shape(r, "const", "z", "int8", o, 1);
    line(r, "const s1 float32[] = splat 1\nconst z1 int8[] = splat 0\n");
}

static void draw_conv(Reached *r) {
    static const char *const node[] = {"Conv: x w b -> y", "ConvInteger: x w z1 z -> y",
                                       "QLinearConv: x s1 z1 w s z s1 z1 b -> y"};
    int64_t in[4], form = draw(r, 4), factor = 1 + draw(r, 2);
    r->spatial = 1 + (int)draw(r, 3);
    draw_extents(r, 6);
    draw_kernel(r);
    r->flag[0] = draw(r, 3);
    r->extents[BATCH] = r->is_equal ? r->extents[0] : 1 + draw(r, 2);
    r->groups = form == 0 ? 1 : 2 + draw(r, 2);
    int64_t inputs = form == 0 ? r->extents[0] : form == 1 ? 2 : 1;
    r->extents[CHANNELS_IN] = r->groups * inputs;
    r->extents[CHANNELS_OUT] = form == 0 ? r->extents[1] : r->groups * factor;
    line(r, "stride0-graph 1\nformat onnx 13\n");
    size_t from = r->used;
    line(r, "node %s group=%lld", node[r->flag[0]], (long long)r->groups);
    draw_window(r, "-eeulv", in);
    put_before(r, from, declare_conv, in);
    allow_gaps(r, 2);
    bool is_apart = inputs == 1 && factor == 1;
    r->loose[0] = r->groups > 1 && !is_apart ? 2 : 0;
    r->cut = (1 << (r->spatial + 2)) - 1;
    r->macs = (uint64_t)(product(r->kernel, r->spatial) * inputs);
    r->define = define_conv;
}

/* ---- TFLite convolutions: maps N spatial C; weights O spatial I, 1 spatial O, spatial I O */

enum { TFLITE_CONV, TFLITE_DEPTHWISE, TFLITE_3D };

static void define_tflite(Reached *r, const int64_t *out) {
    int last = r->spatial + 1;
    int64_t o = out[last], all = r->extents[CHANNELS_IN], from = o / (r->extents[CHANNELS_OUT] / all);
    int64_t channels[2] = {r->flag[0] == TFLITE_DEPTHWISE ? from : 0, r->flag[0] == TFLITE_DEPTHWISE ? from + 1 : all};
    int64_t w[SHAPE_MAX_RANK] = {0}, b[SHAPE_MAX_RANK] = {o};
    int axis = r->flag[0] == TFLITE_CONV ? 0 : r->flag[0] == TFLITE_DEPTHWISE ? 3 : 4;
    w[axis] = o;
    mark_taps(r, out, 1, last, channels);
    mark_range(r, 1, w, ~(1u << axis));
    mark(r, 2, b);
}

static void declare_tflite(Reached *r, const int64_t *in) {
    int64_t x[8] = {r->extents[BATCH]}, *o = &r->extents[CHANNELS_OUT], i = r->extents[CHANNELS_IN];
    int64_t w[8] = {*o, r->kernel[0], r->kernel[1], i};
    memcpy(x + 1, in, sizeof(int64_t) * (size_t)r->spatial);
    x[1 + r->spatial] = i;
    if (r->flag[0] == TFLITE_DEPTHWISE) {
        w[0] = 1;
        w[3] = *o;
    } else if (r->flag[0] == TFLITE_3D) {
        const int64_t of_3d[] = {r->kernel[0], r->kernel[1], r->kernel[2], i, *o};
        memcpy(w, of_3d, sizeof of_3d);
    }
    shape(r, "input", "x", "float32", x, r->spatial + 2);
    shape(r, "const", "w", "float32", w, r->spatial + 2);
    shape(r, "const", "b", "float32", o, 1);
}

static void draw_tflite(Reached *r) {
    static const char *const node[] = {"Conv", "tflite.DEPTHWISE_CONV_2D", "tflite.CONV_3D"};
    int64_t in[4], factor = 1 + draw(r, 2);
    r->flag[0] = draw(r, 3);
    r->spatial = r->flag[0] == TFLITE_3D ? 3 : 2;
    draw_extents(r, 6);
    draw_kernel(r);
    r->extents[BATCH] = r->is_equal ? r->extents[0] : 1 + draw(r, 2);
    r->extents[CHANNELS_IN] = r->extents[0];
    r->extents[CHANNELS_OUT] = r->flag[0] == TFLITE_DEPTHWISE ? factor * r->extents[0] : r->extents[0] + r->extents[1];
    line(r, "stride0-graph 1\nformat tflite\n");
    size_t from = r->used;
    line(r, "node %s: x w b -> y", node[r->flag[0]]);
    if (r->flag[0] == TFLITE_DEPTHWISE) {
        line(r, " depth_multiplier=%lld", (long long)factor);
    }
    draw_window(r, "uuv", in);
    put_before(r, from, declare_tflite, in);
    allow_gaps(r, 1);
    r->loose[0] = r->flag[0] == TFLITE_DEPTHWISE && factor > 1 ? 1u << (r->spatial + 1) : 0;
    r->cut = (1 << (r->spatial + 2)) - 1;
    r->macs = (uint64_t)(product(r->kernel, r->spatial) * (r->flag[0] == TFLITE_DEPTHWISE ? 1 : r->extents[0]));
    r->define = define_tflite;
}

/* ---- Pools: a channel of the output is made of its own */

static void define_pool(Reached *r, const int64_t *out) {
    int first = r->flag[0] == 0 ? 2 : 1, channel = r->flag[0] == 0 ? 1 : r->spatial + 1;
    int64_t channels[2] = {out[channel], out[channel] + 1};
    mark_taps(r, out, first, channel, channels);
}

static void declare_pool(Reached *r, const int64_t *in) {
    int64_t x[8] = {r->extents[0]};
    memcpy(x + (r->flag[0] == 0 ? 2 : 1), in, sizeof(int64_t) * (size_t)r->spatial);
    x[r->flag[0] == 0 ? 1 : r->spatial + 1] = r->extents[1];
    shape(r, "input", "x", "float32", x, r->spatial + 2);
}

static void draw_pool(Reached *r) {
    static const char *const node[2][3] = {{"MaxPool@19", "AveragePool@19", "LpPool@18"},
                                           {"MaxPool", "AveragePool", "LpPool"}};
    int64_t in[4];
    r->flag[0] = draw(r, 2);
    r->spatial = r->flag[0] == 0 ? 1 + (int)draw(r, 3) : 2;
    draw_extents(r, 6);
    draw_kernel(r);
    line(r, r->flag[0] == 0 ? "stride0-graph 1\nformat onnx 19\n" : "stride0-graph 1\nformat tflite\n");
    size_t from = r->used;
    line(r, "node %s: x -> y kernel_shape=[", node[r->flag[0]][draw(r, 3)]);
    numbers(r, r->kernel, r->spatial, ",");
    line(r, "]");
    if (r->flag[0] == 0) {
        line(r, " ceil_mode=%lld", (long long)draw(r, 2));
    }
    draw_window(r, r->flag[0] == 0 ? "-eeulv" : "uv", in);
    put_before(r, from, declare_pool, in);
    allow_gaps(r, r->flag[0] == 0 ? 2 : 1);
    r->cut = (1 << (r->spatial + 2)) - 1;
    r->define = define_pool;
}

/* ---- Transposed convolutions: an image needs no other image, a channel its own weights */

/* flag[0]: TFLite's, whose first input says the shape, with the map behind the weights. */
static void define_transposed(Reached *r, const int64_t *out) {
    bool is_tflite = r->flag[0] != 0;
    int64_t group = is_tflite ? 0 : out[1] / r->extents[0], w[SHAPE_MAX_RANK] = {0}, b[SHAPE_MAX_RANK] = {0};
    int64_t x[SHAPE_MAX_RANK] = {out[0], group * 2};
    b[0] = is_tflite ? out[3] : out[1];
    w[is_tflite ? 0 : 1] = is_tflite ? out[3] : out[1] % r->extents[0];
    mark_range(r, is_tflite ? 2 : 0, x, is_tflite ? 14 : 12);
    if (!is_tflite) {
        x[1]++;
        mark_range(r, 0, x, 12);
    }
    mark_range(r, 1, w, is_tflite ? 14 : 13);
    mark(r, is_tflite ? 3 : 2, b);
}

static void draw_transposed(Reached *r) {
    draw_extents(r, 6);
    r->flag[0] = draw(r, 2);
    int64_t groups = r->flag[0] != 0 ? 1 : 1 + draw(r, 3), *e = r->extents, all = groups * e[0];
    int64_t x[4] = {e[1], 2 * groups, e[2], e[3]}, w[4] = {2 * groups, e[0], 2, 3};
    int64_t map[4] = {e[1], e[2], e[3], e[4]}, kernel[4] = {all, 2, 3, e[4]};
    line(r, "stride0-graph 1\nformat %s\n", r->flag[0] != 0 ? "tflite" : "onnx 13");
    shape(r, "input", "x", "float32", r->flag[0] != 0 ? map : x, 4);
    shape(r, "const", "w", "float32", r->flag[0] != 0 ? kernel : w, 4);
    shape(r, "const", "b", "float32", &all, 1);
    if (r->flag[0] != 0) {
        line(r,
             "const s int32[4] = %lld %lld %lld %lld\nnode tflite.TRANSPOSE_CONV: s w x b -> y strides=[2,2] "
             "auto_pad=SAME_UPPER\noutput y\n",
             (long long)e[1], (long long)(2 * e[2]), (long long)(2 * e[3]), (long long)all);
    } else {
        line(r, "node ConvTranspose: x w b -> y strides=[2,2] group=%lld\noutput y\n", (long long)groups);
    }
    r->loose[0] = r->loose[1] = groups > 1 ? 0xff : 0;
    r->define = define_transposed;
}

/* ---- Matrix products */

static void mark_factor(Reached *r, int k, const int64_t *out, int64_t kept, bool is_first_kept) {
    uint32_t rank = r->in[k]->rank, summed = rank - (is_first_kept ? 1 : 2);
    int64_t index[SHAPE_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis + 2 < rank; axis++) {
        index[axis] = r->in[k]->dim[axis] == 1 ? 0 : out[r->out->rank - rank + axis];
    }
    index[rank - (is_first_kept ? 2 : 1)] = kept;
    mark_range(r, k, index, 1u << summed);
}

/* flag[0]: the left side is transposed; flag[1]: the right. axis: where the right side stands. */
static void define_product(Reached *r, const int64_t *out) {
    uint32_t rank = r->out->rank;
    int64_t column[SHAPE_MAX_RANK] = {out[rank - 1]};
    mark_factor(r, 0, out, out[rank - 2], r->flag[0] == 0);
    mark_factor(r, (int)r->axis, out, out[rank - 1], r->flag[1] != 0);
    for (int k = (int)r->axis + 1; k < (int)r->node->input_count; k++) {
        if (r->list[k] == 'p') {
            mark_broadcast(r, k, out);
        } else if (r->list[k] == 'c') {
            mark(r, k, column);
        }
    }
}

static void draw_factor(Reached *r, const char *what, const char *name, const char *dtype, int rank, bool is_wide,
                        const int64_t *batch, int64_t first, int64_t second, bool is_transposed) {
    int64_t dim[8];
    for (int k = 0; k + 2 < rank; k++) {
        dim[k] = is_wide || draw(r, 2) == 0 ? batch[2 - (rank - 2) + k] : 1;
    }
    dim[rank - 2] = is_transposed ? second : first;
    dim[rank - 1] = is_transposed ? first : second;
    shape(r, what, name, dtype, dim, rank);
}

static void draw_product(Reached *r) {
    static const char *const node[] = {
        "MatMul: a b -> y", "MatMulInteger: a b z1 z -> y", "QLinearMatMul: a s1 z1 b s z s1 z1 -> y",
        "com.microsoft.MatMulIntegerToFloat: a b s1 s z1 z f -> y", "tflite.BATCH_MATMUL: a b -> y"};
    static const char *const roles[] = {"", "..kc", "....cckk", "..kckcc", ""};
    int64_t form = draw(r, 5), m, k, n;
    draw_extents(r, 6);
    m = r->extents[0], k = r->extents[1], n = r->extents[2];
    r->axis = form == 2 ? 3 : 1;
    for (int i = 0; roles[form][i] != '\0'; i++) {
        r->list[i] = roles[form][i];
    }
    const char *dtype = form == 0 || form == 4 ? "float32" : "int8";
    line(r, form == 4 ? "stride0-graph 1\nformat tflite\n" : "stride0-graph 1\nformat onnx 13\n");
    r->flag[0] = form == 4 ? draw(r, 2) : 0;
    r->flag[1] = form == 4 ? draw(r, 2) : 0;
    bool is_constant = draw(r, 2) == 0;
    draw_factor(r, "input", "a", dtype, 2 + (int)draw(r, 3), false, r->extents + 3, m, k, r->flag[0] != 0);
    draw_factor(r, is_constant ? "const" : "input", "b", dtype, 2 + (int)draw(r, 3), false, r->extents + 3, k, n,
                r->flag[1] != 0);
    shape(r, "const", "s", "float32", &n, 1);
    shape(r, "const", "z", "int8", &n, 1);
    shape(r, "const", "f", "float32", &n, 1);
    line(r, "const s1 float32[] = splat 1\nconst z1 int8[] = splat 0\nnode %s", node[form]);
    if (form == 4) {
        line(r, " adj_x=%lld adj_y=%lld", (long long)r->flag[0], (long long)r->flag[1]);
    }
    line(r, "\noutput y\n");
    r->cut = ALL_CUT;
    r->macs = (uint64_t)k;
    r->define = define_product;
}

static void draw_gemm(Reached *r) {
    draw_extents(r, 3);
    int64_t m = r->extents[0], k = r->extents[1], n = r->extents[2];
    int64_t bias[5][2] = {{m, n}, {1, n}, {m, 1}, {1, 1}, {n, 0}}, form = draw(r, 5);
    r->axis = 1;
    r->list[2] = 'p';
    r->flag[0] = draw(r, 2);
    r->flag[1] = draw(r, 2);
    line(r, "stride0-graph 1\nformat onnx 13\n");
    draw_factor(r, "input", "a", "float32", 2, false, NULL, m, k, r->flag[0] != 0);
    draw_factor(r, draw(r, 2) == 0 ? "const" : "input", "b", "float32", 2, false, NULL, k, n, r->flag[1] != 0);
    shape(r, draw(r, 2) == 0 ? "const" : "input", "c", "float32", bias[form], form == 4 ? 1 : 2);
    line(r, "node Gemm: a b c -> y transA=%lld transB=%lld\noutput y\n", (long long)r->flag[0], (long long)r->flag[1]);
    r->cut = 3;
    r->macs = (uint64_t)k;
    r->define = define_product;
}

/* flag[0]: the dimensions before the last stay as they are; else they are one. */
static void define_connected(Reached *r, const int64_t *out) {
    uint32_t last = r->out->rank - 1, in_last = r->in[0]->rank - 1;
    int64_t row[SHAPE_MAX_RANK] = {out[last]}, index[SHAPE_MAX_RANK] = {0}, at = out[0];
    for (uint32_t axis = in_last; axis-- > 0;) {
        index[axis] = r->flag[0] != 0 ? out[axis] : at % r->in[0]->dim[axis];
        at /= r->in[0]->dim[axis];
    }
    mark_range(r, 0, index, 1u << in_last);
    mark_range(r, 1, row, 2);
    mark(r, 2, row);
}

static void draw_connected(Reached *r) {
    int rank = 2 + (int)draw(r, 3);
    draw_extents(r, 6);
    int64_t w[2] = {r->extents[5], r->extents[rank - 1]};
    r->flag[0] = draw(r, 2);
    line(r, "stride0-graph 1\nformat tflite\n");
    shape(r, "input", "x", "float32", r->extents, rank);
    shape(r, draw(r, 2) == 0 ? "const" : "input", "w", "float32", w, 2);
    shape(r, "const", "b", "float32", w, 1);
    line(r, "node tflite.FULLY_CONNECTED: x w b -> y keep_num_dims=%lld\noutput y\n", (long long)r->flag[0]);
    r->loose[0] = rank > 2 && r->flag[0] == 0 ? 0xff : 0;
    r->cut = ALL_CUT;
    r->macs = (uint64_t)w[1];
    r->define = define_connected;
}

/* ---- One step of a cell: gates of unit u need row u of each matrix, all inputs and all units of the step before */

static void define_cell(Reached *r, const int64_t *out) {
    int64_t u[SHAPE_MAX_RANK] = {out[2]}, none[SHAPE_MAX_RANK] = {0};
    mark_range(r, 0, none, ~0u);
    for (int k = 1; k <= 8; k++) {
        mark_range(r, k, u, 2);
    }
    for (int k = 12; k <= 15; k++) {
        mark(r, k, u);
    }
    mark_range(r, 18, none, ~0u);
}

static void draw_cell(Reached *r) {
    draw_extents(r, 2);
    int64_t x[3] = {1, 1, r->extents[0]}, w[2] = {r->extents[1], r->extents[0]}, u[2] = {r->extents[1], r->extents[1]},
            state[2] = {1, r->extents[1]};
    line(r, "stride0-graph 1\nformat tflite\n");
    shape(r, "input", "x", "float32", x, 3);
    shape(r, "const", "w", "float32", w, 2);
    shape(r, "const", "u", "float32", u, 2);
    shape(r, "const", "b", "float32", u, 1);
    shape(r, "state", "h", "float32", state, 2);
    shape(r, "state", "c", "float32", state, 2);
    line(r, "node tflite.UNIDIRECTIONAL_SEQUENCE_LSTM: x w w w w u u u u _ _ _ b b b b _ _ h c -> y "
            "fused_activation_function=tanh time_major=0\noutput y\n");
    r->cut = 4;
    r->define = define_cell;
}

static const Family families[] = {
    {"convolutions of ONNX", draw_conv},          {"convolutions of TFLite", draw_tflite}, {"pools", draw_pool},
    {"transposed convolutions", draw_transposed}, {"matrix products", draw_product},       {"Gemm", draw_gemm},
    {"fully connected", draw_connected},          {"a step of a cell", draw_cell},
};

int main(void) {
    return reached_all(families, sizeof families / sizeof families[0], DRAWS);
}
