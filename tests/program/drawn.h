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

enum { MOST_NODES = 6, NODE_GENES = 5, FORMS_DRAWN = 12, MOST_PARAMS = 4, AXES = 6, LAYOUT_GENES = 10 };

typedef enum {
    GENE_SALT,
    GENE_FORMAT,
    GENE_DTYPE,
    GENE_N,
    GENE_C,
    GENE_H,
    GENE_W,
    GENE_SHAPE,
    GENE_LEAD,
    GENE_NAMES,
    GENE_NODES,
    GENE_SPLIT,
    GENE_READER,
    GENE_FOLD,
    GENE_CONTRACT,
    GENE_PARAMETER,
    GENE_ALIGN,
    GENE_ALIGN_FAR,
    GENE_BLOCK,
    GENE_FORMS,
    GENE_GRAIN,
    GENE_BYTES,
    GENE_BUDGET,
    GENE_CHANNELS,
    GENE_BURST,
    GENE_MIN,
    GENE_MAX,
    GENE_DMA_ALIGN,
    GENE_COSTS,
    GENE_SCHEDULE,
    GENE_TILE,
    GENE_TILE_CHANNELS,
    GENE_RESIDENCE,
    GENE_EXPAND,
    GENE_STRATEGY,
    GENE_IN_PLACE,
    GENE_RANK,
    GENE_LAYOUT,
    GENE_PARAMETER_LAYOUT = GENE_LAYOUT + LAYOUT_GENES,
    GENE_NODE = GENE_PARAMETER_LAYOUT + LAYOUT_GENES,
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
    bool is_shared;  /* an operator before reads it too */
    uint32_t number; /* in its name */
    uint64_t bytes;
    uint8_t *packed;
} DrawnParam;

typedef struct {
    Str name; /* of the node */
    uint32_t param_count;
    uint32_t input[MOST_PARAMS]; /* of the node */
    DrawnParam param[MOST_PARAMS];
    uint32_t from; /* the map that it reads: 0 is the input, k + 1 what node k gives */
    DType dtype;   /* of what it gives, and its codes */
    int32_t scale, zero;
    bool is_output;
} DrawnNode;

typedef struct DrawnWindows DrawnWindows;

typedef struct {
    const Genes *genes;
    Work *work;
    FILE *graph, *device;
    char *graph_text, *device_text;
    size_t graph_length, device_length;
    bool is_tflite;
    uint32_t rank;            /* of maps: the last axes; the others have one element */
    uint64_t extent[AXES];    /* of the map, in the order of the file's axes */
    uint32_t axis_of[4];      /* of N, C, H, W as they were drawn */
    bool is_channel_second;   /* --layout says so */
    DType input_dtype, dtype; /* of the input; of what the last node gave */
    int32_t scale, zero;      /* of its codes: scale is 2^-scale */
    uint32_t const_count, node_count;
    uint32_t more;        /* chooses how the next parameter is given */
    bool codes_params;    /* the next operator reads constants that are codes */
    DrawnParam shared[4]; /* lists of numbers that others may read too, along another axis */
    uint32_t shared_count;
    DrawnNode node[MOST_NODES + 1]; /* the last may be a second reader of a map */
    DrawnWindows *windows;          /* of a graph of such operators: drawn_windows.h */
    const char *weight_layout;      /* contract of weights */
    PlanOptions options;
    bool has_just_enough;     /* memory: what the plan needs, where it was less */
    uint64_t local_bytes;     /* of the device */
    char *layout[2];          /* contracts of maps and of parameters */
    bool is_random_layout[2]; /* else one that some device has */
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

/* Of int32 22 bits, or kernels of 32 bits could not hold what comes of it. */
static inline uint64_t element_at(const Drawn *drawn, DType dtype, uint32_t what, uint64_t where) {
    uint32_t hash = hash_at(drawn, what, where);
    if (dtype == DTYPE_I32) {
        return (uint32_t)((int32_t)(hash % (1u << 22)) - (1 << 21));
    }
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

/* Sums of int16 have no one reference where all scales are powers of two. */
static inline void print_codes(const Drawn *drawn, DType dtype, int32_t scale, int32_t zero) {
    static const double factor[] = {1, 1.25, 0.7};
    double of_one = dtype == DTYPE_I16 ? 1.2 : factor[gene(drawn, GENE_SALT, 3)];
    fprintf(drawn->graph, " scale=%.9g zero=%d", of_one / (double)(1u << scale), (int)zero);
}

/* Without one where the references have none: of int16 in TFLite, of int32 in ONNX. */
static inline int32_t draw_zero(DType dtype, uint32_t more) {
    return dtype == DTYPE_I16 || dtype == DTYPE_I32 ? 0 : (int32_t)(more % (dtype_bits(dtype) == 2 ? 2 : 5));
}

static inline void print_const(Drawn *drawn, const DrawnParam *param, bool has_codes) {
    fprintf(drawn->graph, "%s c%u %s[", param->is_given ? "input" : "const", (unsigned)param->number,
            dtype_name(param->dtype));
    print_shape(drawn, param->rank, param->extent);
    fputs("]", drawn->graph);
    if (param->is_coded) {
        fputs(" scale=0.25 zero=1", drawn->graph);
    } else if (has_codes) {
        print_codes(drawn, param->dtype, 2, draw_zero(param->dtype, param->number));
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
            param->is_shared = true;
            return true;
        }
    }
    return false;
}

/* Two maps of one shape are no map and its parameter. */
static inline bool is_shape_of_map(const Drawn *drawn, const DrawnParam *param) {
    bool is_same = param->rank == drawn->rank;
    for (uint32_t k = 0; is_same && k < param->rank; k++) {
        is_same = param->extent[k] == drawn->extent[AXES - drawn->rank + k];
    }
    return is_same;
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
    param->is_given = drawn->more % 7 == 5 && !has_codes && !param->is_coded && !is_shape_of_map(drawn, param);
    param->packed = pack(drawn, param->dtype, count, 100 + param->number, param->is_positive, &param->bytes);
    print_const(drawn, param, has_codes);
    if (param->rank == 1 && !has_codes && !param->is_coded && drawn->shared_count < 4) {
        drawn->shared[drawn->shared_count++] = *param;
    }
}

static inline const char *param_name(const Drawn *drawn, const DrawnParam *param) {
    return arena_text(&drawn->work->keep, param->is_coded ? "h%u" : "c%u", (unsigned)param->number);
}

/* Which axes a parameter goes along. */
static inline uint32_t axes_of_form(const Drawn *drawn, uint32_t form) {
    enum { N = 1, C = 2, H = 4, W = 8, OTHERS = 16 };
    static const uint8_t forms[FORMS_DRAWN] = {0,     C,     C | W,  C | H | W, N | C | H | W | OTHERS, W, H, N,
                                               N | C, H | W, OTHERS, C | OTHERS};
    uint32_t set = forms[form], axes = 0, named = 0;
    for (uint32_t k = 0; k < 4; k++) {
        axes |= (set >> k & 1) << drawn->axis_of[k];
        named |= 1u << drawn->axis_of[k];
    }
    return (set & OTHERS) != 0 ? axes | (~named & ((1u << AXES) - 1)) : axes;
}

static inline DrawnParam *draw_param(Drawn *drawn, DrawnNode *node, uint32_t form, DType dtype, uint32_t input) {
    uint32_t axes = axes_of_form(drawn, form);
    DrawnParam *param = &node->param[node->param_count];
    uint32_t first = AXES - drawn->rank;
    while (first < AXES && (axes >> first & 1) == 0) {
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

#endif
