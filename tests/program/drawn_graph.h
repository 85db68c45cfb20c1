/* The nodes of a drawn case, and its graph as text. */
#ifndef S0_TESTS_PROGRAM_DRAWN_GRAPH_H
#define S0_TESTS_PROGRAM_DRAWN_GRAPH_H

#include "program/drawn.h"

/* ---- Nodes */

static inline void name_node(Drawn *drawn, DrawnNode *node) {
    node->name = arena_format(&drawn->work->keep, "n%u", (unsigned)drawn->node_count);
}

static inline void declare_output(Drawn *drawn, DType dtype, int32_t scale, int32_t zero) {
    fprintf(drawn->graph, "value v%u %s[", (unsigned)drawn->node_count, dtype_name(dtype));
    print_map_shape(drawn);
    fputs("]", drawn->graph);
    if (!is_real_type(dtype)) {
        print_codes(drawn, dtype, scale, zero);
    }
    fputs("\n", drawn->graph);
    drawn->dtype = dtype;
    drawn->scale = scale;
    drawn->zero = zero;
}

static inline const char *map_name(const Drawn *drawn, const DrawnNode *node) {
    return node->from == 0 ? "x" : arena_text(&drawn->work->keep, "v%u", (unsigned)node->from - 1);
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
    if (drawn->codes_params && kind != 4 && gene(drawn, GENE_FOLD, 2) == 1) {
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
    static const DType onnx[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_I4, DTYPE_U4, DTYPE_I2, DTYPE_U2, DTYPE_U16};
    static const DType tflite[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_I4, DTYPE_U4, DTYPE_I2};
    return drawn->is_tflite ? tflite[choice % 6] : onnx[choice % 8];
}

/* Scale and zero point as inputs: one of each, or one a channel. */
static inline const char *draw_coder_inputs(Drawn *drawn, DrawnNode *node, DType code, DType real, bool is_vector) {
    Arena *keep = &drawn->work->keep;
    bool has_zero = code != DTYPE_I32;
    if (is_vector) {
        draw_vector(drawn, node, second_axis(drawn), real, true, 1);
        const char *scale = param_name(drawn, &node->param[0]);
        if (!has_zero) {
            return scale;
        }
        draw_vector(drawn, node, second_axis(drawn), code, false, 2);
        return arena_text(keep, "%s %s", scale, param_name(drawn, &node->param[1]));
    }
    unsigned number = (unsigned)drawn->const_count++;
    fprintf(drawn->graph, "const s%u %s[] = hex %s\n", number, dtype_name(real),
            real == DTYPE_F32 ? "0000803e" : "0034");
    if (has_zero) {
        fprintf(drawn->graph, "const z%u %s[] = hex 01%s\n", number, dtype_name(code),
                dtype_bits(code) > 8 ? "00" : "");
    }
    return arena_text(keep, has_zero ? "s%u z%u" : "s%u", number, number);
}

static inline void draw_onnx_coder(Drawn *drawn, DrawnNode *node, bool is_vector, uint32_t more) {
    bool is_quantize = is_real_type(drawn->dtype);
    DType code = is_quantize ? draw_code_type(drawn, more) : drawn->dtype;
    DType real = is_quantize ? drawn->dtype : more % 8 == 7 && code != DTYPE_I32 ? DTYPE_F16 : DTYPE_F32;
    DType to = is_quantize ? code : real;
    const char *inputs = draw_coder_inputs(drawn, node, code, real, is_vector);
    fprintf(drawn->graph, "value v%u %s[", (unsigned)drawn->node_count, dtype_name(to));
    print_map_shape(drawn);
    fprintf(drawn->graph, "]\nnode %s@21 " STR_FMT ": %s %s -> v%u%s\n",
            is_quantize ? "QuantizeLinear" : "DequantizeLinear", STR_ARG(node->name), map_name(drawn, node), inputs,
            (unsigned)drawn->node_count, is_vector ? " axis=1" : "");
    drawn->dtype = to;
    drawn->codes_params = to == DTYPE_F32 && more % 3 == 1;
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

/* By the genes of node `number`, of the map `from`. */
static inline void draw_node(Drawn *drawn, uint32_t number, uint32_t from) {
    const uint32_t at = GENE_NODE + number * NODE_GENES;
    uint32_t kind = gene(drawn, at, 8), form = gene(drawn, at + 1, FORMS_DRAWN), more = gene(drawn, at + 2, 24);
    DrawnNode *node = &drawn->node[drawn->node_count];
    bool is_real = is_real_type(drawn->dtype), is_tflite = drawn->is_tflite;
    drawn->more = gene(drawn, at + 3, 21);
    *node = (DrawnNode){.from = from};
    name_node(drawn, node);
    if (is_real && kind < 5) {
        draw_arithmetic(drawn, node, kind, form, more);
        drawn->codes_params = false;
    } else if (is_real && (kind == 5 || (is_tflite && drawn->dtype == DTYPE_F16))) {
        draw_relu(drawn, node);
    } else if (is_real && kind == 6 && !is_tflite && drawn->rank > 1) {
        draw_norm(drawn, node);
    } else if (is_tflite && !is_real && kind < 4 && drawn->dtype != DTYPE_I32) {
        draw_code_operator(drawn, node, kind, form, more);
    } else if (is_tflite && !is_real && kind < 6 && drawn->dtype != DTYPE_I32) {
        draw_relu(drawn, node);
    } else if (is_tflite) {
        draw_tflite_coder(drawn, node, more);
    } else {
        draw_onnx_coder(drawn, node, kind == 7 && form % 2 == 1 && drawn->rank > 1, more);
    }
    node->dtype = drawn->dtype;
    node->scale = drawn->scale;
    node->zero = drawn->zero;
    drawn->node_count++;
}

/* ---- The graph */

enum { SHAPES_DRAWN = 12 };

/* Extents of N, C, H, W: of maps of about the same size each, for the long ones are slow. */
static inline void draw_extents(const Drawn *drawn, uint64_t extent[4]) {
    static const uint8_t any[] = {1, 2, 3, 4, 5, 7, 8, 11}, few[] = {1, 2, 3, 4}, long_one[] = {16, 17, 20, 33},
                         deep[] = {33, 64, 100, 130}, batch[] = {2, 3, 1, 5};
    uint32_t shape = gene(drawn, GENE_SHAPE, SHAPES_DRAWN);
    bool is_flat = shape == 7 || shape == 8, is_deep = shape == 9 || shape == 10;
    extent[0] = shape == 6 ? batch[gene(drawn, GENE_N, 4)] : gene(drawn, GENE_N, 10) == 9 ? 2 : 1;
    extent[1] = is_deep   ? deep[gene(drawn, GENE_C, 4)]
                : is_flat ? few[gene(drawn, GENE_C, 4)]
                          : any[gene(drawn, GENE_C, 8)];
    extent[2] = is_deep ? few[gene(drawn, GENE_H, 4)] : any[gene(drawn, GENE_H, 8)];
    extent[3] = is_deep   ? few[gene(drawn, GENE_W, 4)]
                : is_flat ? long_one[gene(drawn, GENE_W, 4)]
                          : any[gene(drawn, GENE_W, 8)];
    if (shape == 11) { /* equal extents hide a wrong axis */
        extent[1] = extent[2] = extent[3] = 1 + gene(drawn, GENE_C, 6);
    }
}

/* Axes: those of a file of channels second, N C .. H W, or of channels last, .. N H W C. */
static inline void draw_shape(Drawn *drawn) {
    static const uint8_t rank[] = {4, 4, 4, 4, 4, 4, 3, 3, 2, 1, 0, 5, 5, 6};
    uint64_t extent[4];
    draw_extents(drawn, extent);
    drawn->rank = rank[gene(drawn, GENE_RANK, 14)];
    drawn->is_channel_second = !drawn->is_tflite && drawn->rank >= 4 && gene(drawn, GENE_NAMES, 4) < 3;
    uint32_t front = drawn->rank > 4 && drawn->is_channel_second ? AXES - drawn->rank : AXES - 4;
    const uint32_t onnx[4] = {front, front + 1, AXES - 2, AXES - 1};
    const uint32_t tflite[4] = {AXES - 4, AXES - 1, AXES - 3, AXES - 2};
    memcpy(drawn->axis_of, drawn->is_tflite ? tflite : onnx, sizeof drawn->axis_of);
    for (uint32_t k = 0; k < AXES; k++) {
        drawn->extent[k] = k < AXES - drawn->rank ? 1 : 1 + gene(drawn, GENE_LEAD, 3);
    }
    for (uint32_t k = 0; k < 4; k++) {
        drawn->extent[drawn->axis_of[k]] = drawn->axis_of[k] < AXES - drawn->rank ? 1 : extent[k];
    }
}

static inline void draw_input(Drawn *drawn) {
    static const DType onnx[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_U8,  DTYPE_I16, DTYPE_I4,
                                 DTYPE_U4,  DTYPE_I2,  DTYPE_U2, DTYPE_U16, DTYPE_I32};
    static const DType tflite[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_F32, DTYPE_I4,
                                   DTYPE_U4, DTYPE_I2, DTYPE_I32, DTYPE_I8,  DTYPE_F16};
    DType dtype = drawn->is_tflite ? tflite[gene(drawn, GENE_DTYPE, 10)] : onnx[gene(drawn, GENE_DTYPE, 11)];
    drawn->input_dtype = drawn->dtype = dtype;
    drawn->scale = 2;
    drawn->zero = draw_zero(dtype, 1);
    fprintf(drawn->graph, "stride0-graph 1\nformat %s\ninput x %s[", drawn->is_tflite ? "tflite" : "onnx 21",
            dtype_name(dtype));
    print_map_shape(drawn);
    fputs("]", drawn->graph);
    if (drawn->is_tflite && !is_real_type(dtype)) {
        print_codes(drawn, dtype, drawn->scale, drawn->zero);
    }
    fputs("\n", drawn->graph);
}

/* A second reader of the input, or of what a node gives. */
static inline void draw_reader(Drawn *drawn, uint32_t choice) {
    uint32_t from = choice % 2 == 0 ? 0 : 1 + choice / 2 % drawn->node_count;
    const DrawnNode *giver = &drawn->node[from == 0 ? 0 : from - 1];
    drawn->dtype = from == 0 ? drawn->input_dtype : giver->dtype;
    drawn->scale = from == 0 ? 2 : giver->scale;
    drawn->zero = from == 0 ? draw_zero(drawn->dtype, 1) : giver->zero;
    drawn->codes_params = false;
    draw_node(drawn, MOST_NODES - 1, from);
    drawn->node[drawn->node_count - 1].is_output = true;
}

static inline void draw_graph(Drawn *drawn) {
    drawn->graph = open_memstream(&drawn->graph_text, &drawn->graph_length);
    drawn->is_tflite = gene(drawn, GENE_FORMAT, 2) == 1;
    draw_shape(drawn);
    draw_input(drawn);
    uint32_t count = 1 + gene(drawn, GENE_NODES, MOST_NODES), split = gene(drawn, GENE_SPLIT, 3 * MOST_NODES);
    for (uint32_t k = 0; k < count; k++) {
        draw_node(drawn, k, k);
        drawn->node[drawn->node_count - 1].is_output = k + 1 == count || k + 1 == split;
    }
    if (gene(drawn, GENE_READER, 4) == 3) {
        draw_reader(drawn, gene(drawn, GENE_READER, 840) / 4);
    }
    for (uint32_t k = 0; k < drawn->node_count; k++) {
        if (drawn->node[k].is_output) {
            fprintf(drawn->graph, "output v%u\n", (unsigned)k);
        }
    }
    fclose(drawn->graph);
}

#endif
