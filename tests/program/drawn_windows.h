/* The graph of a case of windows: one to three operators of TFLite on codes of 8 bits that go over windows, each of the
 * map before or of one further back, and a record of each that the reference goes by. */
#ifndef S0_TESTS_PROGRAM_DRAWN_WINDOWS_H
#define S0_TESTS_PROGRAM_DRAWN_WINDOWS_H

#include "program/drawn_device.h"

enum { MOST_WINDOWS = 3, WINDOW_GENES = 10, MOST_PRODUCTS = 100000 };

_Static_assert((int)MOST_WINDOWS *(int)WINDOW_GENES <= (int)MOST_NODES * (int)NODE_GENES, "each has genes");

/* What the genes of an operator choose, from its first on; 0 is the plainest. */
typedef enum {
    WINDOW_OP,
    WINDOW_FROM, /* which map it reads */
    WINDOW_CHANNELS,
    WINDOW_GROUPS,
    WINDOW_KERNEL,
    WINDOW_STRIDE,
    WINDOW_DILATION,
    WINDOW_PADDING,
    WINDOW_NUMBERS, /* weights, bias, scales */
    WINDOW_CODES,   /* of the result, and its limits */
    WINDOW_GENE_COUNT
} WindowGene;

_Static_assert((int)WINDOW_GENE_COUNT <= (int)WINDOW_GENES, "each has a gene");

enum { GENE_WEIGHT_LAYOUT = GENE_LEAD }; /* which chooses nothing else here */

typedef enum {
    WINDOW_CONV,
    WINDOW_DEPTHWISE,
    WINDOW_FULLY_CONNECTED,
    WINDOW_AVERAGE,
    WINDOW_MAX,
    WINDOW_SOFTMAX,
    WINDOW_OPS
} WindowOp;

typedef enum { LIMIT_NONE, LIMIT_RELU, LIMIT_RELU6, LIMIT_RELU_N1_TO_1, LIMITS } WindowLimit;

enum { MAP_N, MAP_H, MAP_W, MAP_C, MAP_AXES };

/* A map of codes, N H W C; of rank 2: N C. */
typedef struct {
    uint64_t extent[MAP_AXES];
    float scale;
    int32_t zero;
    bool is_read;
} WindowMap;

typedef struct {
    uint64_t taps, stride, dilation, before;
} WindowSlide;

typedef struct {
    WindowOp op;
    uint32_t from; /* map 0 is the input, map k + 1 what operator k gives */
    WindowSlide slide[2];
    bool is_same;                  /* padding SAME; else VALID */
    uint64_t group_src, group_dst; /* channels of a group */
    WindowLimit limit;
    float beta;
    DType weight_type;
    uint64_t weight_count;
    uint8_t *weights; /* packed, as the file orders them */
    int32_t weights_zero;
    uint32_t scale_count; /* 1, or one for each channel */
    float *scales;
    int32_t *bias; /* null: none */
} DrawnWindow;

struct DrawnWindows {
    DType dtype; /* of all maps */
    uint32_t rank, count;
    WindowMap map[MOST_WINDOWS + 1];
    DrawnWindow node[MOST_WINDOWS];
};

static inline uint64_t map_elements(const WindowMap *map) {
    return map->extent[MAP_N] * map->extent[MAP_H] * map->extent[MAP_W] * map->extent[MAP_C];
}

static inline int32_t least_code(DType dtype) {
    return dtype == DTYPE_I8 ? -128 : 0;
}

/* ---- Genes */

static inline uint32_t window_gene(const Drawn *drawn, WindowGene which, uint32_t choices) {
    return gene(drawn, GENE_NODE + drawn->windows->count * WINDOW_GENES + which, choices);
}

/* A number of its own for each place of an operator. */
static inline uint32_t window_chance(const Drawn *drawn, WindowGene which, uint64_t where, uint32_t choices) {
    return hash_at(drawn, 1000 + drawn->windows->count * WINDOW_GENES + which, where) % choices;
}

/* ---- Numbers */

/* 2^-exponent to just below twice of it. */
static inline float draw_scale(const Drawn *drawn, WindowGene which, uint64_t where, uint32_t exponent) {
    return (1 + (float)window_chance(drawn, which, where, 1000) / 1000) / (float)(1u << exponent);
}

/* Of factors: a few so small that the kernel makes them 0; above 1; a hair below 2^-5, which sums make halves of. */
typedef enum { FACTORS_ANY, FACTORS_DEAD, FACTORS_LARGE, FACTORS_OF_TIES } FactorKind;

/* (1 + e)(1 - e) is 1 - e^2, and 1 where it is rounded to float32. */
static const float above_one = 1 + 0x1p-13f, below_one = 1 - 0x1p-13f;

static inline FactorKind factor_kind(const Drawn *drawn) {
    static const uint8_t kinds[] = {FACTORS_ANY,     FACTORS_ANY,  FACTORS_ANY,   FACTORS_OF_TIES,
                                    FACTORS_OF_TIES, FACTORS_DEAD, FACTORS_LARGE, FACTORS_OF_TIES};
    return (FactorKind)kinds[window_gene(drawn, WINDOW_NUMBERS, 8)];
}

static inline void draw_scales(const Drawn *drawn, DrawnWindow *node, const WindowMap *from, const WindowMap *to) {
    FactorKind kind = factor_kind(drawn);
    node->scales = arena_array(&drawn->work->keep, float, node->scale_count);
    for (uint32_t k = 0; k < node->scale_count; k++) {
        float factor = draw_scale(drawn, WINDOW_NUMBERS, k, 3 + window_chance(drawn, WINDOW_NUMBERS, 5000 + k, 8));
        bool is_dead = kind == FACTORS_DEAD && window_chance(drawn, WINDOW_NUMBERS, 9000 + k, 3) == 0;
        node->scales[k] = is_dead ? 0x1p-100f
                          : kind == FACTORS_OF_TIES
                              ? below_one / 32
                              : factor * (kind == FACTORS_LARGE ? 64 : 1) * to->scale / from->scale;
    }
}

static inline void draw_bias(const Drawn *drawn, DrawnWindow *node, uint64_t channels) {
    if (window_gene(drawn, WINDOW_NUMBERS, 16) / 8 == 0) {
        return;
    }
    node->bias = arena_array(&drawn->work->keep, int32_t, channels);
    for (uint64_t k = 0; k < channels; k++) {
        node->bias[k] = (int32_t)window_chance(drawn, WINDOW_NUMBERS, 20000 + k, 8001) - 4000;
    }
}

/* uint8 has weights of its own type, with a zero point; int8 also of 4 bits. */
static inline void draw_factors(const Drawn *drawn, DrawnWindow *node, const WindowMap *from, const WindowMap *to) {
    const DrawnWindows *windows = drawn->windows;
    bool is_signed = windows->dtype == DTYPE_I8;
    uint32_t form = window_gene(drawn, WINDOW_NUMBERS, 96) / 16;
    uint64_t bytes;
    node->weight_type = !is_signed ? DTYPE_U8 : form % 3 == 2 ? DTYPE_I4 : DTYPE_I8;
    node->weights_zero = is_signed ? 0 : (int32_t)window_chance(drawn, WINDOW_NUMBERS, 40000, 256);
    node->weights = pack(drawn, node->weight_type, node->weight_count, 200 + windows->count, false, &bytes);
    node->scale_count = is_signed && form / 3 == 1 ? (uint32_t)to->extent[MAP_C] : 1;
    draw_scales(drawn, node, from, to);
    draw_bias(drawn, node, to->extent[MAP_C]);
}

/* ---- Shapes */

/* Extent and first padding of the result along one axis; SAME where the windows of VALID do not fit. */
static inline uint64_t slide_over(DrawnWindow *node, WindowSlide *slide, uint64_t extent) {
    uint64_t covered = (slide->taps - 1) * slide->dilation + 1;
    if (!node->is_same) {
        return (extent - covered) / slide->stride + 1;
    }
    uint64_t outputs = (extent + slide->stride - 1) / slide->stride, all = (outputs - 1) * slide->stride + covered;
    slide->before = all > extent ? (all - extent) / 2 : 0;
    return outputs;
}

static inline void draw_slides(const Drawn *drawn, DrawnWindow *node, const WindowMap *from, WindowMap *to) {
    static const uint8_t taps[] = {1, 3, 2, 5, 4, 1}, strides[] = {1, 2, 1, 3, 1, 1}, dilations[] = {1, 2, 1, 3};
    static const WindowGene which[] = {WINDOW_KERNEL, WINDOW_STRIDE, WINDOW_DILATION};
    bool may_dilate = node->op == WINDOW_CONV || node->op == WINDOW_DEPTHWISE, fits = true;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t turn = k == 0 ? 1 : 6; /* both axes alike, or each its own */
        node->slide[k] =
            (WindowSlide){.taps = taps[window_gene(drawn, which[0], 36) / turn % 6],
                          .stride = strides[window_gene(drawn, which[1], 36) / turn % 6],
                          .dilation = may_dilate ? dilations[window_gene(drawn, which[2], 36) / turn % 4] : 1};
        fits = fits && (node->slide[k].taps - 1) * node->slide[k].dilation < from->extent[MAP_H + k];
    }
    node->is_same = !fits || window_gene(drawn, WINDOW_PADDING, 2) == 1;
    for (uint32_t k = 0; k < 2; k++) {
        to->extent[MAP_H + k] = slide_over(node, &node->slide[k], from->extent[MAP_H + k]);
    }
}

static inline void draw_channels(const Drawn *drawn, DrawnWindow *node, const WindowMap *from, WindowMap *to) {
    static const uint8_t many[] = {1, 2, 3, 4, 5, 7, 8, 11, 16, 20, 33, 70}, groups[] = {1, 1, 2, 3, 1, 4};
    uint64_t channels = many[window_gene(drawn, WINDOW_CHANNELS, 12)], in = from->extent[MAP_C];
    uint64_t group_count = groups[window_gene(drawn, WINDOW_GROUPS, 6)];
    node->group_src = node->group_dst = 1;
    if (node->op == WINDOW_CONV) {
        group_count = in % group_count == 0 ? group_count : 1;
        node->group_src = in / group_count;
        node->group_dst = (channels + group_count - 1) / group_count;
    } else if (node->op == WINDOW_DEPTHWISE) {
        group_count = in;
        node->group_dst = 1 + window_gene(drawn, WINDOW_GROUPS, 6) / 4;
    } else if (node->op == WINDOW_FULLY_CONNECTED) {
        group_count = 1;
        node->group_src = in;
        node->group_dst = channels;
    } else {
        group_count = in;
    }
    uint64_t products = map_elements(to) / to->extent[MAP_C] * node->slide[0].taps * node->slide[1].taps *
                        node->group_src * group_count;
    while (products * node->group_dst > MOST_PRODUCTS && node->group_dst > 1) {
        node->group_dst /= 2;
    }
    to->extent[MAP_C] = group_count * node->group_dst;
    node->weight_count = to->extent[MAP_C] * node->group_src * node->slide[0].taps * node->slide[1].taps;
}

/* ---- Text */

static inline void print_map_type(const Drawn *drawn, const WindowMap *map) {
    fprintf(drawn->graph, "%s[%llu,", dtype_name(drawn->windows->dtype), (unsigned long long)map->extent[MAP_N]);
    if (drawn->windows->rank == MAP_AXES) {
        fprintf(drawn->graph, "%llu,%llu,", (unsigned long long)map->extent[MAP_H],
                (unsigned long long)map->extent[MAP_W]);
    }
    fprintf(drawn->graph, "%llu] scale=%.9g zero=%d\n", (unsigned long long)map->extent[MAP_C], (double)map->scale,
            (int)map->zero);
}

static inline const char *window_map_name(const Drawn *drawn, uint32_t map) {
    return map == 0 ? "x" : arena_text(&drawn->work->keep, "v%u", (unsigned)map - 1);
}

static inline void print_weights(const Drawn *drawn, const DrawnWindow *node, uint64_t channels) {
    unsigned long long o = channels, h = node->slide[0].taps, w = node->slide[1].taps, i = node->group_src;
    bool is_product = node->op == WINDOW_FULLY_CONNECTED, is_apart = node->op == WINDOW_DEPTHWISE;
    fprintf(drawn->graph, "const w%u %s[", (unsigned)drawn->windows->count, dtype_name(node->weight_type));
    if (is_product) {
        fprintf(drawn->graph, "%llu,%llu] scale=[", o, i);
    } else {
        fprintf(drawn->graph, "%llu,%llu,%llu,%llu] scale=[", is_apart ? 1 : o, h, w, is_apart ? o : i);
    }
    for (uint32_t k = 0; k < node->scale_count; k++) {
        fprintf(drawn->graph, "%s%.9g", k == 0 ? "" : ",", (double)node->scales[k]);
    }
    fputs("]", drawn->graph);
    if (node->scale_count == 1) {
        fprintf(drawn->graph, " zero=%d", (int)node->weights_zero);
    }
    fprintf(drawn->graph, " axis=%d = hex ", is_apart ? 3 : 0);
    uint64_t bytes;
    assert_true(packed_bytes(node->weight_count, dtype_bits(node->weight_type), &bytes));
    for (uint64_t k = 0; k < bytes; k++) {
        fprintf(drawn->graph, "%02x", node->weights[k]);
    }
    fputs("\n", drawn->graph);
}

static inline void print_bias(const Drawn *drawn, const DrawnWindow *node, uint64_t channels) {
    if (node->bias != NULL) {
        fprintf(drawn->graph, "const b%u int32[%llu] =", (unsigned)drawn->windows->count, (unsigned long long)channels);
        for (uint64_t k = 0; k < channels; k++) {
            fprintf(drawn->graph, " %d", (int)node->bias[k]);
        }
        fputs("\n", drawn->graph);
    }
}

static inline bool has_weights(const DrawnWindow *node) {
    return node->op <= WINDOW_FULLY_CONNECTED;
}

static inline void print_window(const Drawn *drawn, const DrawnWindow *node) {
    static const char *const name[WINDOW_OPS] = {
        "Conv", "tflite.DEPTHWISE_CONV_2D", "tflite.FULLY_CONNECTED", "AveragePool", "MaxPool", "Softmax"};
    static const char *const limit[LIMITS] = {"", " activation=\"RELU\"", " activation=\"RELU6\"",
                                              " activation=\"RELU_N1_TO_1\""};
    const WindowSlide *h = &node->slide[0], *w = &node->slide[1];
    unsigned number = drawn->windows->count;
    fprintf(drawn->graph, "node %s n%u: %s", name[node->op], number, window_map_name(drawn, node->from));
    if (has_weights(node)) {
        fprintf(drawn->graph, node->bias != NULL ? " w%u b%u" : " w%u", number, number);
    }
    fprintf(drawn->graph, " -> v%u%s", number, limit[node->limit]);
    if (node->op == WINDOW_FULLY_CONNECTED) {
        fputs(" keep_num_dims=1", drawn->graph);
    } else if (node->op == WINDOW_SOFTMAX) {
        fprintf(drawn->graph, " beta=%.9g", (double)node->beta);
    } else {
        fprintf(drawn->graph, " strides=[%u,%u] dilations=[%u,%u] auto_pad=%s", (unsigned)h->stride,
                (unsigned)w->stride, (unsigned)h->dilation, (unsigned)w->dilation,
                node->is_same ? "SAME_UPPER" : "VALID");
    }
    if (node->op == WINDOW_DEPTHWISE) {
        fprintf(drawn->graph, " depth_multiplier=%u", (unsigned)node->group_dst);
    } else if (node->op == WINDOW_AVERAGE || node->op == WINDOW_MAX) {
        fprintf(drawn->graph, " kernel_shape=[%u,%u]", (unsigned)h->taps, (unsigned)w->taps);
    }
    fputs("\n", drawn->graph);
}

/* ---- Operators */

static inline void draw_codes(const Drawn *drawn, DrawnWindow *node, const WindowMap *from, WindowMap *to) {
    uint32_t codes = window_gene(drawn, WINDOW_CODES, 16);
    int32_t least = least_code(drawn->windows->dtype);
    bool keeps = node->op == WINDOW_AVERAGE || node->op == WINDOW_MAX;
    node->limit = (WindowLimit)(node->op == WINDOW_SOFTMAX ? 0 : codes % LIMITS);
    to->scale = keeps                        ? from->scale
                : node->op == WINDOW_SOFTMAX ? 1.0f / 256
                                             : draw_scale(drawn, WINDOW_CODES, 0, 4 + codes / 8);
    to->zero = keeps                        ? from->zero
               : node->op == WINDOW_SOFTMAX ? least
               : codes / 4 % 2 == 0         ? least + 128
                                            : least + (int32_t)window_chance(drawn, WINDOW_CODES, 1, 256);
    node->beta = window_gene(drawn, WINDOW_CODES, 2) == 0 ? 1 : 0.7f;
}

static inline void draw_window(Drawn *drawn) {
    static const WindowOp ops[] = {WINDOW_CONV,    WINDOW_DEPTHWISE, WINDOW_FULLY_CONNECTED,
                                   WINDOW_AVERAGE, WINDOW_MAX,       WINDOW_SOFTMAX,
                                   WINDOW_CONV,    WINDOW_CONV,      WINDOW_DEPTHWISE};
    DrawnWindows *windows = drawn->windows;
    DrawnWindow *node = &windows->node[windows->count];
    WindowMap *to = &windows->map[windows->count + 1];
    *node = (DrawnWindow){.op = ops[window_gene(drawn, WINDOW_OP, 9)], .from = windows->count};
    if (windows->rank != MAP_AXES && node->op != WINDOW_SOFTMAX) {
        node->op = WINDOW_FULLY_CONNECTED;
    }
    if (window_gene(drawn, WINDOW_FROM, 8) == 7) {
        node->from = window_gene(drawn, WINDOW_FROM, 8 * MOST_WINDOWS) / 8 % (windows->count + 1);
    }
    WindowMap *from = &windows->map[node->from];
    from->is_read = true;
    *to = *from;
    to->is_read = false;
    node->slide[0] = node->slide[1] = (WindowSlide){1, 1, 1, 0};
    if (node->op != WINDOW_FULLY_CONNECTED && node->op != WINDOW_SOFTMAX) {
        draw_slides(drawn, node, from, to);
    }
    draw_channels(drawn, node, from, to);
    draw_codes(drawn, node, from, to);
    fprintf(drawn->graph, "value v%u ", (unsigned)windows->count);
    print_map_type(drawn, to);
    if (has_weights(node)) {
        draw_factors(drawn, node, from, to);
        print_weights(drawn, node, to->extent[MAP_C]);
        print_bias(drawn, node, to->extent[MAP_C]);
    }
    print_window(drawn, node);
    windows->count++;
}

/* What no operator reads is an output, and of the others some. */
static inline bool window_is_output(const Drawn *drawn, uint32_t k) {
    bool is_also = gene(drawn, GENE_SPLIT, 4) == 3 && gene(drawn, GENE_SPLIT, 4 * MOST_WINDOWS) / 4 == k;
    return is_also || !drawn->windows->map[k + 1].is_read;
}

static inline void draw_windows(Drawn *drawn) {
    static const char *const layout[] = {"O I H W",
                                         "O H W I",
                                         "O/8 H W I O%8",
                                         "O/4 I/4 H W O%4 I%4",
                                         "bank[O%16] O/16 I H W",
                                         "O H W I total@16",
                                         "when H==1 and W==1: O/4 I/8 O%4 I%8 | O H W I@16",
                                         "bank[I/2%4] O I/8 I%2 H W"};
    DrawnWindows *windows = drawn->windows = arena_new(&drawn->work->keep, DrawnWindows);
    uint64_t extent[4]; /* N C H W */
    draw_extents(drawn, extent);
    windows->rank = gene(drawn, GENE_RANK, 6) == 5 ? 2 : MAP_AXES;
    windows->dtype = gene(drawn, GENE_DTYPE, 4) == 3 ? DTYPE_U8 : DTYPE_I8;
    windows->map[0] = (WindowMap){.extent = {extent[0], extent[2], extent[3], extent[1]},
                                  .scale = above_one / 16,
                                  .zero = least_code(windows->dtype) + (int32_t)(gene(drawn, GENE_FOLD, 2) * 90)};
    for (uint32_t k = MAP_H; k <= MAP_W && windows->rank != MAP_AXES; k++) {
        windows->map[0].extent[k] = 1;
    }
    drawn->is_tflite = true;
    drawn->weight_layout = layout[gene(drawn, GENE_WEIGHT_LAYOUT, 8)];
    drawn->graph = open_memstream(&drawn->graph_text, &drawn->graph_length);
    fputs("stride0-graph 1\nformat tflite\ninput x ", drawn->graph);
    print_map_type(drawn, &windows->map[0]);
    for (uint32_t k = 0; k <= gene(drawn, GENE_NODES, MOST_WINDOWS); k++) {
        draw_window(drawn);
    }
    for (uint32_t k = 0; k < windows->count; k++) {
        if (window_is_output(drawn, k)) {
            fprintf(drawn->graph, "output v%u\n", (unsigned)k);
        }
    }
    fclose(drawn->graph);
}

#endif
