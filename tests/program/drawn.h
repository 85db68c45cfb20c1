/* A case of the property test: a chain of per-channel operators, a device and options, all drawn by chance.
 *
 * A case is a list of genes, small numbers that each choose one thing; 0 is the plainest choice. So a case that fails
 * is made smaller by making its genes smaller, whatever they mean. Values of tensors come from a hash of where they
 * stand, so that they depend on the position. */
#ifndef S0_TESTS_PROGRAM_DRAWN_H
#define S0_TESTS_PROGRAM_DRAWN_H

#include "graph/text.h"
#include "layout/packed.h"
#include "plan/plan.h"
#include "support/random.h"
#include "support/work.h"

enum { MOST_NODES = 6, NODE_GENES = 5, MOST_PARAMS = 4, AXES = 4 };

typedef enum {
    GENE_SALT,
    GENE_FORMAT,
    GENE_DTYPE,
    GENE_N,
    GENE_C,
    GENE_H,
    GENE_W,
    GENE_EQUAL,
    GENE_NODES,
    GENE_SPLIT,
    GENE_READER,
    GENE_FOLD,
    GENE_CONTRACT,
    GENE_PARAMETER,
    GENE_ALIGN,
    GENE_BLOCK,
    GENE_FORMS,
    GENE_GRAIN,
    GENE_BYTES,
    GENE_CHANNELS,
    GENE_BURST,
    GENE_MIN,
    GENE_MAX,
    GENE_DMA_ALIGN,
    GENE_COSTS,
    GENE_SCHEDULE,
    GENE_TILE,
    GENE_STRATEGY,
    GENE_IN_PLACE,
    GENE_RANK,
    GENE_NODE,
    GENES = GENE_NODE + MOST_NODES * NODE_GENES
} Gene;

typedef struct {
    uint16_t gene[GENES];
} Genes;

/* What a node reads beside its map: its own record of it, by which the reference is computed. */
typedef struct {
    DType dtype;
    uint32_t rank;
    uint64_t extent[AXES]; /* aligned with the last axes of the map; of a vector by definition: its axis says */
    int32_t axis;          /* -1: by aligned position */
    bool is_positive;
    bool is_given;   /* by the caller; else a constant */
    bool is_coded;   /* the codes of a Dequantize of constants, with scale 1/4 and zero point 1 */
    uint32_t number; /* in its name */
    uint64_t bytes;
    uint8_t *packed;
} DrawnParam;

typedef struct {
    Str name; /* of the node */
    uint32_t param_count;
    uint32_t input[MOST_PARAMS]; /* of the node */
    DrawnParam param[MOST_PARAMS];
    bool starts_anew; /* it reads the input of the graph, not what the node before it gave */
    bool is_output;
} DrawnNode;

typedef struct {
    const Genes *genes;
    Work *work;
    FILE *graph, *device;
    char *graph_text, *device_text;
    size_t graph_length, device_length;
    bool is_tflite;
    uint32_t rank;            /* of maps: the last axes; the others have one element */
    uint64_t extent[AXES];    /* of the map, in the order of the file's axes */
    DType input_dtype, dtype; /* of the input; of what the last node gave */
    int32_t scale, zero;      /* of its codes: scale is 2^-scale */
    uint32_t const_count, node_count;
    uint32_t more;        /* chooses how the next parameter is given */
    bool codes_params;    /* the next operator reads constants that are codes */
    DrawnParam shared[4]; /* lists of numbers that others may read too, along another axis */
    uint32_t shared_count;
    DrawnNode node[MOST_NODES + 1];
    PlanOptions options;
} Drawn;

static inline uint32_t gene(const Drawn *drawn, uint32_t which, uint32_t choices) {
    return drawn->genes->gene[which] % choices;
}

static inline uint32_t hash_at(const Drawn *drawn, uint32_t what, uint64_t where) {
    uint64_t hash = (drawn->genes->gene[GENE_SALT] + 1) * UINT64_C(0x9E3779B97F4A7C15) + what;
    hash = (hash ^ hash >> 31) * UINT64_C(0xBF58476D1CE4E5B9) + where;
    hash = (hash ^ hash >> 29) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)(hash >> 32);
}

/* ---- Elements */

static inline bool is_real_type(DType dtype) {
    return dtype == DTYPE_F32 || dtype == DTYPE_F16;
}

/* A multiple of 1/8, as float16 holds it exactly. */
static inline uint64_t code_of_real(DType dtype, int32_t eighths) {
    float value = (float)eighths / 8;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (dtype == DTYPE_F32) {
        return bits;
    }
    uint32_t exponent = bits >> 23 & 255;
    return (bits >> 16 & 0x8000) | (exponent == 0 ? 0 : (exponent - 112) << 10 | (bits >> 13 & 1023));
}

static inline uint64_t element_at(const Drawn *drawn, DType dtype, uint32_t what, uint64_t where) {
    uint32_t hash = hash_at(drawn, what, where);
    return is_real_type(dtype) ? code_of_real(dtype, (int32_t)(hash % 65) - 32) : hash;
}

/* 1/4 to 8: of scales and variances, and of what divides. */
static inline uint64_t positive_at(const Drawn *drawn, DType dtype, uint32_t what, uint64_t where) {
    return code_of_real(dtype, (int32_t)(hash_at(drawn, what, where) % 63) + 2);
}

static inline uint8_t *pack(const Drawn *drawn, DType dtype, uint64_t count, uint32_t what, bool is_positive,
                            uint64_t *bytes) {
    assert_true(packed_bytes(count, dtype_bits(dtype), bytes));
    uint8_t *packed = arena_array(&drawn->work->keep, uint8_t, *bytes);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t code = is_positive ? positive_at(drawn, dtype, what, k) : element_at(drawn, dtype, what, k);
        packed_write(packed, k, dtype_bits(dtype), code);
    }
    return packed;
}

/* ---- Constants */

static inline void print_shape(const Drawn *drawn, uint32_t rank, const uint64_t *extent) {
    for (uint32_t k = 0; k < rank; k++) {
        fprintf(drawn->graph, "%s%llu", k == 0 ? "" : ",", (unsigned long long)extent[k]);
    }
}

static inline void print_map_shape(const Drawn *drawn) {
    print_shape(drawn, drawn->rank, drawn->extent + AXES - drawn->rank);
}

static inline void print_codes(const Drawn *drawn, int32_t scale, int32_t zero) {
    fprintf(drawn->graph, " scale=%.9g zero=%d", 1.0 / (double)(1u << scale), (int)zero);
}

static inline void print_const(Drawn *drawn, const DrawnParam *param, bool has_codes) {
    fprintf(drawn->graph, "%s c%u %s[", param->is_given ? "input" : "const", (unsigned)param->number,
            dtype_name(param->dtype));
    print_shape(drawn, param->rank, param->extent);
    fputs("]", drawn->graph);
    if (has_codes || param->is_coded) {
        print_codes(drawn, 2, param->is_coded);
    }
    fputs(param->is_given ? "" : " = hex ", drawn->graph);
    for (uint64_t k = 0; !param->is_given && k < param->bytes; k++) {
        fprintf(drawn->graph, "%02x", param->packed[k]);
    }
    fputs("\n", drawn->graph);
    if (param->is_coded) {
        fprintf(drawn->graph,
                "const s%u float32[] = 0.25\nconst z%u %s[] = 1\nnode DequantizeLinear d%u: c%u s%u z%u -> h%u\n",
                (unsigned)param->number, (unsigned)param->number, dtype_name(param->dtype), (unsigned)param->number,
                (unsigned)param->number, (unsigned)param->number, (unsigned)param->number, (unsigned)param->number);
    }
}

/* One list of the same length that an operator before has read serves again. */
static inline bool share_param(const Drawn *drawn, DrawnParam *param) {
    for (uint32_t k = 0; k < drawn->shared_count && drawn->more % 3 == 2; k++) {
        const DrawnParam *other = &drawn->shared[k];
        if (other->dtype == param->dtype && other->extent[0] == param->extent[0] &&
            other->is_positive == param->is_positive) {
            int32_t axis = param->axis;
            *param = *other;
            param->axis = axis;
            return true;
        }
    }
    return false;
}

/* Numbers and text of a parameter whose shape is known. */
static inline void make_param(Drawn *drawn, DrawnParam *param, bool has_codes) {
    uint64_t count = 1;
    if (param->rank == 1 && !has_codes && !param->is_coded && share_param(drawn, param)) {
        return;
    }
    for (uint32_t k = 0; k < param->rank; k++) {
        count *= param->extent[k];
    }
    param->number = drawn->const_count++;
    param->is_given = drawn->more % 7 == 5 && !has_codes && !param->is_coded;
    param->packed = pack(drawn, param->dtype, count, 100 + param->number, param->is_positive, &param->bytes);
    print_const(drawn, param, has_codes);
    if (param->rank == 1 && !has_codes && !param->is_coded && drawn->shared_count < 4) {
        drawn->shared[drawn->shared_count++] = *param;
    }
}

static inline const char *param_name(const Drawn *drawn, const DrawnParam *param) {
    return arena_text(&drawn->work->keep, param->is_coded ? "h%u" : "c%u", (unsigned)param->number);
}

/* Which axes a parameter goes along: none, channels, rows, all, W, H. */
static inline DrawnParam *draw_param(Drawn *drawn, DrawnNode *node, uint32_t form, DType dtype, uint32_t input) {
    /* in the order of the file's axes: N C H W, N H W C */
    static const uint8_t onnx[] = {0, 2, 2 | 8, 2 | 4 | 8, 1 | 2 | 4 | 8, 8, 4, 1, 1 | 2, 4 | 8};
    static const uint8_t tflite[] = {0, 8, 4 | 8, 2 | 4 | 8, 1 | 2 | 4 | 8, 4, 2, 1, 1 | 8, 2 | 4};
    uint8_t axes = drawn->is_tflite ? tflite[form % sizeof tflite] : onnx[form % sizeof onnx];
    DrawnParam *param = &node->param[node->param_count];
    uint32_t first = 0;
    while (first < AXES && (first < AXES - drawn->rank || (axes >> first & 1) == 0)) {
        first++;
    }
    *param = (DrawnParam){.dtype = dtype, .rank = AXES - first, .axis = -1};
    for (uint32_t k = first; k < AXES; k++) {
        param->extent[k - first] = (axes >> k & 1) != 0 ? drawn->extent[k] : 1;
    }
    node->input[node->param_count++] = input;
    return param;
}

/* That a normalisation goes along. */
static inline int32_t second_axis(const Drawn *drawn) {
    return (int32_t)(AXES - drawn->rank) + 1;
}

/* One number a slice of `axis`. */
static inline void draw_vector(Drawn *drawn, DrawnNode *node, int32_t axis, DType dtype, bool is_positive,
                               uint32_t input) {
    DrawnParam *param = &node->param[node->param_count];
    *param = (DrawnParam){.dtype = dtype, .rank = 1, .extent = {drawn->extent[axis]}, .axis = axis};
    param->is_positive = is_positive;
    node->input[node->param_count++] = input;
    make_param(drawn, param, false);
}

/* ---- Nodes */

static inline void name_node(Drawn *drawn, DrawnNode *node) {
    node->name = arena_format(&drawn->work->keep, "n%u", (unsigned)drawn->node_count);
}

static inline void declare_output(Drawn *drawn, DType dtype, int32_t scale, int32_t zero) {
    fprintf(drawn->graph, "value v%u %s[", (unsigned)drawn->node_count, dtype_name(dtype));
    print_map_shape(drawn);
    fputs("]", drawn->graph);
    if (!is_real_type(dtype)) {
        print_codes(drawn, scale, zero);
    }
    fputs("\n", drawn->graph);
    drawn->dtype = dtype;
    drawn->scale = scale;
    drawn->zero = zero;
}

static inline const char *map_name(const Drawn *drawn, const DrawnNode *node) {
    return node->starts_anew ? "x" : arena_text(&drawn->work->keep, "v%u", (unsigned)drawn->node_count - 1);
}

static inline void print_binary(const Drawn *drawn, const DrawnNode *node, const char *op, bool is_first,
                                const char *rest) {
    const char *map = map_name(drawn, node);
    const char *param = param_name(drawn, &node->param[0]);
    fprintf(drawn->graph, "node %s " STR_FMT ": %s %s -> v%u%s\n", op, STR_ARG(node->name), is_first ? param : map,
            is_first ? map : param, (unsigned)drawn->node_count, rest);
}

static inline void draw_arithmetic(Drawn *drawn, DrawnNode *node, uint32_t kind, uint32_t form, uint32_t more) {
    static const char *const name[] = {"Mul", "Add", "Sub", "Sub", "Div"};
    bool is_first = kind == 3 || (kind < 2 && more % 3 == 2);
    const char *rest = drawn->is_tflite && more % 4 == 1 ? " activation=\"RELU6\"" : "";
    DType dtype = drawn->dtype;
    DrawnParam *param = draw_param(drawn, node, form, dtype, is_first ? 0 : 1);
    param->is_positive = kind == 4;
    if (drawn->codes_params && kind != 4) {
        param->is_coded = true;
        param->dtype = DTYPE_I8;
    }
    make_param(drawn, param, false);
    declare_output(drawn, dtype, 0, 0);
    print_binary(drawn, node, name[kind], is_first, rest);
}

static inline void draw_norm(Drawn *drawn, DrawnNode *node) {
    for (uint32_t k = 0; k < 4; k++) {
        draw_vector(drawn, node, second_axis(drawn), drawn->dtype, k == 3, k + 1);
    }
    declare_output(drawn, drawn->dtype, 0, 0);
    fprintf(drawn->graph, "node BatchNormalization@15 " STR_FMT ": %s", STR_ARG(node->name), map_name(drawn, node));
    for (uint32_t k = 0; k < 4; k++) {
        fprintf(drawn->graph, " %s", param_name(drawn, &node->param[k]));
    }
    fprintf(drawn->graph, " -> v%u\n", (unsigned)drawn->node_count);
}

static inline void draw_relu(Drawn *drawn, DrawnNode *node) {
    declare_output(drawn, drawn->dtype, drawn->scale, drawn->zero);
    fprintf(drawn->graph, "node %s " STR_FMT ": %s -> v%u\n", drawn->is_tflite ? "tflite.RELU6" : "Relu",
            STR_ARG(node->name), map_name(drawn, node), (unsigned)drawn->node_count);
}

static inline DType draw_code_type(const Drawn *drawn, uint32_t choice) {
    static const DType onnx[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_I4};
    static const DType tflite[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16};
    return drawn->is_tflite ? tflite[choice % 3] : onnx[choice % 4];
}

/* Scale and zero point as inputs: one of each, or one a channel. */
static inline const char *draw_coder_inputs(Drawn *drawn, DrawnNode *node, DType code, bool is_vector, int32_t zero) {
    Arena *keep = &drawn->work->keep;
    if (is_vector) {
        draw_vector(drawn, node, second_axis(drawn), DTYPE_F32, true, 1);
        draw_vector(drawn, node, second_axis(drawn), code, false, 2);
        return arena_text(keep, "%s %s", param_name(drawn, &node->param[0]), param_name(drawn, &node->param[1]));
    }
    uint32_t number = drawn->const_count++;
    fprintf(drawn->graph, "const s%u float32[] = 0.25\nconst z%u %s[] = %d\n", (unsigned)number, (unsigned)number,
            dtype_name(code), (int)zero);
    return arena_text(keep, "s%u z%u", (unsigned)number, (unsigned)number);
}

static inline void draw_onnx_coder(Drawn *drawn, DrawnNode *node, bool is_vector, uint32_t more) {
    bool is_quantize = is_real_type(drawn->dtype);
    DType code = is_quantize ? draw_code_type(drawn, more) : drawn->dtype;
    const char *inputs = draw_coder_inputs(drawn, node, code, is_vector, is_quantize ? 2 : 1);
    fprintf(drawn->graph, "value v%u %s[", (unsigned)drawn->node_count, dtype_name(is_quantize ? code : DTYPE_F32));
    print_map_shape(drawn);
    fprintf(drawn->graph, "]\nnode %s@21 " STR_FMT ": %s %s -> v%u%s\n",
            is_quantize ? "QuantizeLinear" : "DequantizeLinear", STR_ARG(node->name), map_name(drawn, node), inputs,
            (unsigned)drawn->node_count, is_vector ? " axis=1" : "");
    drawn->dtype = is_quantize ? code : DTYPE_F32;
    drawn->codes_params = !is_quantize && more % 3 == 1;
}

static inline int32_t draw_zero(DType dtype, uint32_t more) {
    return dtype == DTYPE_I16 || dtype == DTYPE_I4 ? 0 : (int32_t)(more % 5);
}

static inline void draw_tflite_coder(Drawn *drawn, DrawnNode *node, uint32_t more) {
    bool is_dequantize = !is_real_type(drawn->dtype) && more % 2 == 1;
    DType to = is_dequantize ? DTYPE_F32 : draw_code_type(drawn, more / 2);
    const char *map = map_name(drawn, node);
    declare_output(drawn, to, 2 + (int32_t)(more % 3), draw_zero(to, more));
    fprintf(drawn->graph, "node %s " STR_FMT ": %s -> v%u\n", is_dequantize ? "DequantizeLinear" : "QuantizeLinear",
            STR_ARG(node->name), map, (unsigned)drawn->node_count);
}

/* TFLite's on codes. */
static inline void draw_code_operator(Drawn *drawn, DrawnNode *node, uint32_t kind, uint32_t form, uint32_t more) {
    static const char *const name[] = {"Mul", "Add", "Sub", "Sub"};
    bool is_first = kind == 3;
    make_param(drawn, draw_param(drawn, node, form, drawn->dtype, is_first ? 0 : 1), true);
    declare_output(drawn, drawn->dtype, 1 + (int32_t)(more % 3), draw_zero(drawn->dtype, more));
    print_binary(drawn, node, name[kind], is_first, more % 4 == 1 ? " activation=\"RELU6\"" : "");
}

static inline void draw_node(Drawn *drawn, uint32_t number) {
    const uint32_t at = GENE_NODE + number * NODE_GENES;
    uint32_t kind = gene(drawn, at, 8), form = gene(drawn, at + 1, 10), more = gene(drawn, at + 2, 24);
    DrawnNode *node = &drawn->node[drawn->node_count];
    bool is_real = is_real_type(drawn->dtype);
    drawn->more = gene(drawn, at + 3, 21);
    *node = (DrawnNode){.starts_anew = number == 0};
    name_node(drawn, node);
    if (is_real && kind < 5) {
        draw_arithmetic(drawn, node, kind, form, more);
        drawn->codes_params = false;
    } else if (is_real && kind == 5) {
        draw_relu(drawn, node);
    } else if (is_real && kind == 6 && !drawn->is_tflite && drawn->rank > 1) {
        draw_norm(drawn, node);
    } else if (drawn->is_tflite && !is_real && kind < 4) {
        draw_code_operator(drawn, node, kind, form, more);
    } else if (drawn->is_tflite && !is_real && kind < 6) {
        draw_relu(drawn, node);
    } else if (drawn->dtype == DTYPE_F16) {
        draw_relu(drawn, node);
    } else if (drawn->is_tflite) {
        draw_tflite_coder(drawn, node, more);
    } else {
        draw_onnx_coder(drawn, node, kind == 7 && form % 2 == 1 && drawn->rank > 1, more);
    }
    drawn->node_count++;
}

/* ---- The graph */

static inline void draw_shape(Drawn *drawn) {
    static const uint8_t small[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 20, 33};
    const uint64_t n = gene(drawn, GENE_N, 5) < 4 ? 1 : 2;
    const uint64_t c = small[gene(drawn, GENE_C, 12)], h = small[gene(drawn, GENE_H, 11)],
                   w = small[gene(drawn, GENE_W, 12)];
    const uint64_t onnx[AXES] = {n, c, h, w}, tflite[AXES] = {n, h, w, c};
    memcpy(drawn->extent, drawn->is_tflite ? tflite : onnx, sizeof drawn->extent);
    for (uint32_t k = 0; gene(drawn, GENE_EQUAL, 8) == 7 && k < AXES; k++) {
        drawn->extent[k] = 4;
    }
    static const uint8_t rank[] = {4, 4, 4, 4, 4, 3, 2, 1};
    drawn->rank = rank[gene(drawn, GENE_RANK, 8)];
    for (uint32_t k = 0; k < AXES - drawn->rank; k++) {
        drawn->extent[k] = 1;
    }
}

static inline void draw_input(Drawn *drawn) {
    static const DType onnx[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_I4};
    static const DType tflite[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_F32};
    DType dtype = drawn->is_tflite ? tflite[gene(drawn, GENE_DTYPE, 4)] : onnx[gene(drawn, GENE_DTYPE, 6)];
    drawn->input_dtype = drawn->dtype = dtype;
    drawn->scale = 2;
    drawn->zero = dtype == DTYPE_I16 || dtype == DTYPE_I4 ? 0 : 1;
    fprintf(drawn->graph, "stride0-graph 1\nformat %s\ninput x %s[", drawn->is_tflite ? "tflite" : "onnx 21",
            dtype_name(dtype));
    print_map_shape(drawn);
    fputs("]", drawn->graph);
    if (drawn->is_tflite && !is_real_type(dtype)) {
        print_codes(drawn, drawn->scale, drawn->zero);
    }
    fputs("\n", drawn->graph);
}

static inline void draw_graph(Drawn *drawn) {
    drawn->graph = open_memstream(&drawn->graph_text, &drawn->graph_length);
    drawn->is_tflite = gene(drawn, GENE_FORMAT, 2) == 1;
    draw_shape(drawn);
    draw_input(drawn);
    uint32_t count = 1 + gene(drawn, GENE_NODES, MOST_NODES), split = gene(drawn, GENE_SPLIT, 3 * MOST_NODES);
    for (uint32_t k = 0; k < count; k++) {
        draw_node(drawn, k);
        drawn->node[drawn->node_count - 1].is_output = k + 1 == count || k + 1 == split;
    }
    if (gene(drawn, GENE_READER, 4) == 3) { /* a second reader of the input */
        drawn->dtype = drawn->input_dtype;
        drawn->scale = 2;
        drawn->zero = drawn->dtype == DTYPE_I16 || drawn->dtype == DTYPE_I4 ? 0 : 1;
        draw_node(drawn, 0);
        drawn->node[drawn->node_count - 1].is_output = true;
    }
    for (uint32_t k = 0; k < drawn->node_count; k++) {
        if (drawn->node[k].is_output) {
            fprintf(drawn->graph, "output v%u\n", (unsigned)k);
        }
    }
    fclose(drawn->graph);
}

#endif
