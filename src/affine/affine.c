/* From nodes to stages: which operators form a run, along which axis, with which numbers. */
#include "affine/affine.h"

#include "affine/known.h"
#include "affine/real.h"
#include "base/fault.h"
#include "graph/fold.h"
#include "graph/names.h"

#include <math.h>
#include <string.h>

/* One number a channel, or one for all. */
typedef struct {
    uint32_t count;
    const double *at;
} Numbers;

typedef struct {
    const Rewriter *rw;
    Affine *affine;
    const Node *node; /* being read */
    const Value *map; /* its output */
    Stage *stage;     /* of channel 0; the other channels' follow at node_count stages each */
    uint32_t room;    /* channels that there is room for */
} Reader;

Domain affine_codes_of(DType dtype) {
    uint32_t bits = dtype_bits(dtype);
    bool is_signed = dtype_kind(dtype) == DTYPE_KIND_SIGNED;
    int64_t half = (int64_t)1 << (bits - 1);
    Domain domain = {is_signed ? -half : 0, is_signed ? half - 1 : 2 * half - 1, dtype_name(dtype)};
    return domain;
}

static bool is_code(DType dtype) {
    DTypeKind kind = dtype_kind(dtype);
    uint32_t bits = dtype_bits(dtype);
    return (kind == DTYPE_KIND_SIGNED || kind == DTYPE_KIND_UNSIGNED) && bits >= 2 && bits <= 16;
}

static double number_of(Numbers numbers, uint32_t channel) {
    return numbers.at[numbers.count == 1 ? 0 : channel];
}

static Stage *stage_of(const Reader *r, uint32_t channel) {
    return r->stage + (size_t)channel * r->affine->node_count;
}

/* ---- Parameters and their axis */

ValueId affine_data(const Rewriter *rw, const Node *node) {
    if (node->input_count == 0 || !is_value(node->inputs[0])) {
        return NO_VALUE;
    }
    bool is_second = graph_value(rw->graph, node->inputs[0])->constant != NULL && node->input_count == 2 &&
                     is_value(node->inputs[1]);
    ValueId id = node->inputs[is_second ? 1 : 0];
    return graph_value(rw->graph, id)->constant == NULL ? id : NO_VALUE;
}

/* The first axis that is met is the run's; a second one ends it. */
static bool take_axis(const Reader *r, int32_t axis, uint64_t extent) {
    Affine *affine = r->affine;
    if (affine->axis < 0) {
        affine->axis = axis;
        affine->channels = (uint32_t)extent;
    }
    return affine->axis == axis && affine->channels == extent && extent <= FOLD_MAX_ELEMS;
}

/* The axis of the map that the constant goes along, by aligned position; -1 where it is one number. */
static bool aligned_axis(const Reader *r, const Value *value, int32_t *axis) {
    const Shape *shape = &value->shape;
    int32_t start = (int32_t)r->map->shape.rank - (int32_t)shape->rank;
    *axis = -1;
    for (uint32_t k = 0; k < shape->rank; k++) {
        if (shape->dim[k] == 1) {
            continue;
        }
        if (*axis >= 0 || start + (int32_t)k < 0) {
            return false;
        }
        *axis = start + (int32_t)k;
    }
    return start >= 0 || *axis >= 0 || shape->rank == 0;
}

/* Elements of a constant that every caller gets. */
static bool known_numbers(const Rewriter *rw, ValueId id, Numbers *numbers) {
    Floats floats;
    if (rewrite_constant(rw, id) == NULL || !const_numbers(graph_value(rw->graph, id), &rw->work->scratch, &floats) ||
        floats.count == 0) {
        return false;
    }
    *numbers = (Numbers){floats.count, floats.at};
    return true;
}

/* ONNX: what a Dequantize makes of constant codes by one scale, (code - zero) * scale in float32. */
static bool decoded_numbers(const Rewriter *rw, ValueId id, Numbers *numbers) {
    NodeId maker = is_value(id) ? graph_value(rw->graph, id)->producer : NO_NODE;
    const Node *node = is_node(maker) ? graph_node(rw->graph, maker) : NULL;
    Numbers codes, scale, zero = {0};
    bool is_one = node != NULL && node->op == OP_DEQUANTIZE && rw->graph->format == FORMAT_ONNX &&
                  known_is(rw->graph, node, &rw->work->scratch) && !rewrite_is_callers(rw, id) &&
                  (node->input_count == 2 || node->input_count == 3) &&
                  graph_value(rw->graph, id)->dtype == DTYPE_F32 && is_code(node_input(rw->graph, node, 0)->dtype) &&
                  known_numbers(rw, node->inputs[0], &codes) && known_numbers(rw, node->inputs[1], &scale) &&
                  scale.count == 1 && node_input(rw->graph, node, 1)->dtype == DTYPE_F32;
    if (!is_one || (node->input_count == 3 && is_value(node->inputs[2]) &&
                    (!known_numbers(rw, node->inputs[2], &zero) || zero.count != 1))) {
        return false;
    }
    double *at = arena_array(&rw->work->scratch, double, codes.count);
    for (uint32_t k = 0; k < codes.count; k++) {
        double code = codes.at[k] - (zero.count == 0 ? 0 : zero.at[0]); /* of 16 bits: exact in float32 */
        at[k] = (double)((float)code * (float)scale.at[0]);
    }
    *numbers = (Numbers){codes.count, at};
    return true;
}

static bool parameter_numbers(const Rewriter *rw, ValueId id, Numbers *numbers) {
    return known_numbers(rw, id, numbers) || decoded_numbers(rw, id, numbers);
}

bool affine_knows(const Rewriter *rw, ValueId id) {
    Numbers numbers;
    return is_value(id) && parameter_numbers(rw, id, &numbers);
}

static bool read_numbers(const Reader *r, uint32_t k, Numbers *numbers, const Value **value) {
    if (k >= r->node->input_count || !is_value(r->node->inputs[k]) ||
        !parameter_numbers(r->rw, r->node->inputs[k], numbers)) {
        return false;
    }
    *value = graph_value(r->rw->graph, r->node->inputs[k]);
    return true;
}

/* A parameter that aligned broadcasting puts beside the map. */
static bool read_aligned(const Reader *r, uint32_t k, Numbers *numbers) {
    const Value *value;
    int32_t axis;
    bool is_legacy = r->rw->graph->format == FORMAT_ONNX && r->node->version > 0 && r->node->version < 7;
    if (is_legacy || !read_numbers(r, k, numbers, &value) || !aligned_axis(r, value, &axis)) {
        return false;
    }
    return numbers->count == 1 || take_axis(r, axis, numbers->count);
}

/* A parameter that the operator defines to go along the channels. */
static bool read_channel(const Reader *r, uint32_t k, Numbers *numbers) {
    const Value *value;
    int32_t axis = names_channel_axis(r->rw->graph, r->map);
    return read_numbers(r, k, numbers, &value) && value->shape.rank == 1 && r->map->shape.rank >= 2 &&
           (uint64_t)r->map->shape.dim[axis] == numbers->count && take_axis(r, axis, numbers->count);
}

static bool read_codes(const Reader *r, const Value *coded) {
    const Quant *quant = coded->quant;
    if (quant == NULL || quant->block != 0 || !is_code(coded->dtype)) {
        return false;
    }
    return quant->count == 1 || (quant->axis >= 0 && take_axis(r, quant->axis, quant->count));
}

static StageCode code_of(const Quant *quant, uint32_t channel) {
    uint32_t k = quant->count == 1 ? 0 : channel;
    return (StageCode){quant->scale[k], (int32_t)quant_zero(quant, k)};
}

/* ---- Stages; the axis is known, or there is none, when they are filled */

static bool fill_arithmetic(const Reader *r) {
    Numbers numbers;
    const Node *node = r->node;
    if (node->input_count != 2 || node_attr(node, "activation") != NULL) {
        return false;
    }
    bool is_second = affine_data(r->rw, node).index == node->inputs[0].index; /* the constant */
    if (!read_aligned(r, is_second ? 1 : 0, &numbers) || (node->op == OP_DIV && !is_second)) {
        return false;
    }
    StageKind kind = node->op == OP_MUL   ? STAGE_MUL
                     : node->op == OP_ADD ? STAGE_ADD
                     : node->op == OP_DIV ? STAGE_DIV
                     : is_second          ? STAGE_SUB
                                          : STAGE_RSUB;
    for (uint32_t c = 0; c < r->room; c++) {
        *stage_of(r, c) =
            (Stage){.kind = kind, .from = DTYPE_F32, .to = DTYPE_F32, .number = (float)number_of(numbers, c)};
    }
    return true;
}

static bool fill_norm(const Reader *r) {
    Numbers part[4];
    if (rewrite_is_training(r->node)) {
        return false;
    }
    for (uint32_t k = 0; k < 4; k++) {
        if (!read_channel(r, k + 1, &part[k])) {
            return false;
        }
    }
    float epsilon = (float)node_float(r->node, "epsilon", 1e-5);
    for (uint32_t c = 0; c < r->room; c++) {
        *stage_of(r, c) = (Stage){.kind = STAGE_NORM,
                                  .from = DTYPE_F32,
                                  .to = DTYPE_F32,
                                  .norm = {.gamma = (float)number_of(part[0], c),
                                           .beta = (float)number_of(part[1], c),
                                           .mean = (float)number_of(part[2], c),
                                           .variance = (float)number_of(part[3], c),
                                           .epsilon = epsilon}};
    }
    return true;
}

static bool fill_clip(const Reader *r) {
    double limit[2];
    if (!rewrite_limits(r->rw, r->node, limit)) {
        return false;
    }
    for (uint32_t c = 0; c < r->room; c++) {
        *stage_of(r, c) = (Stage){.kind = STAGE_CLIP,
                                  .from = DTYPE_F32,
                                  .to = DTYPE_F32,
                                  .clip = {.lo = (float)limit[0], .hi = (float)limit[1]}};
    }
    return true;
}

/* Scales and zero points of a coder: one for all, or one a channel. */
typedef struct {
    Numbers scale, zero; /* no zero points are zeros */
} Coding;

static StageCode coding_at(const Coding *coding, uint32_t channel) {
    double zero = coding->zero.count == 0 ? 0 : number_of(coding->zero, channel);
    return (StageCode){(float)number_of(coding->scale, channel), (int32_t)zero};
}

/* ONNX: several scales go along an axis that is an attribute, which ai.onnx has since opset 13. */
static bool take_coder_axis(const Reader *r, uint64_t count) {
    const Shape *shape = &r->map->shape;
    int64_t axis = node_int(r->node, "axis", 1);
    axis += axis < 0 ? (int64_t)shape->rank : 0;
    Str op = r->node->op_name;
    bool is_standard = str_eq(op, STR("QuantizeLinear")) || str_eq(op, STR("DequantizeLinear"));
    bool has_axis = r->node->version >= 13 || !is_standard;
    return has_axis && axis >= 0 && axis < (int64_t)shape->rank && (uint64_t)shape->dim[axis] == count &&
           take_axis(r, (int32_t)axis, count);
}

/* QuantizeLinear since opset 23: the type in which x / scale is computed, where it is not theirs. */
static bool divides_in_float32(const Node *node) {
    int64_t precision = node_int(node, "precision", 0);
    return precision == 0 || dtype_from_onnx(precision) == DTYPE_F32;
}

/* What the operator is given: what the codes carry may be another operator's word. */
static bool read_given(const Reader *r, const Value *coded, Coding *coding) {
    const Value *scale, *zero;
    *coding = (Coding){0};
    if (!is_code(coded->dtype) || node_int(r->node, "block_size", 0) != 0 ||
        !read_numbers(r, 1, &coding->scale, &scale) || scale->dtype != DTYPE_F32 || !divides_in_float32(r->node)) {
        return false;
    }
    if (r->node->input_count > 2 && is_value(r->node->inputs[2]) &&
        (!read_numbers(r, 2, &coding->zero, &zero) || zero->dtype != coded->dtype ||
         coding->zero.count != coding->scale.count)) {
        return false;
    }
    return coding->scale.count == 1 || (scale->shape.rank == 1 && take_coder_axis(r, coding->scale.count));
}

static bool fill_coder(const Reader *r, bool is_quantize) {
    const Graph *graph = r->rw->graph;
    const Value *coded = is_quantize ? node_output(graph, r->node, 0) : node_input(graph, r->node, 0);
    Coding coding;
    bool is_given = r->node->input_count > 1 && is_value(r->node->inputs[1]); /* TFLite's codes carry theirs */
    if (coded == NULL || !(is_given ? read_given(r, coded, &coding) : read_codes(r, coded))) {
        return false;
    }
    for (uint32_t c = 0; c < r->room; c++) {
        *stage_of(r, c) = (Stage){.kind = is_quantize ? STAGE_QUANTIZE : STAGE_DEQUANTIZE,
                                  .from = is_quantize ? DTYPE_F32 : coded->dtype,
                                  .to = is_quantize ? coded->dtype : DTYPE_F32,
                                  .code = is_given ? coding_at(&coding, c) : code_of(coded->quant, c)};
    }
    return true;
}

/* ---- TFLite's operators on codes */

/* The codes that a fused activation lets through: TFLite divides the limits in float32 and rounds half away from zero.
 */
static bool code_limits(const Node *node, const Value *out, int32_t *lo, int32_t *hi) {
    Domain codes = affine_codes_of(out->dtype);
    StageCode code = code_of(out->quant, 0);
    float low = -INFINITY, high = INFINITY;
    Str word = node_str(node, "activation");
    *lo = (int32_t)codes.lo;
    *hi = (int32_t)codes.hi;
    if (word.len == 0 || str_eq(word, STR("NONE"))) {
        return true;
    }
    if (str_eq(word, STR("RELU"))) {
        low = 0;
    } else if (str_eq(word, STR("RELU6"))) {
        low = 0, high = 6;
    } else if (str_eq(word, STR("RELU_N1_TO_1"))) {
        low = -1, high = 1;
    } else {
        return false;
    }
    double least = (double)code.zero_point + (double)roundf(low / code.scale);
    double most = (double)code.zero_point + (double)roundf(high / code.scale);
    *lo = least > (double)*lo ? (int32_t)fmin(least, (double)codes.hi) : *lo;
    *hi = most < (double)*hi ? (int32_t)fmax(most, (double)codes.lo) : *hi;
    return *lo <= *hi;
}

static bool fill_code_arithmetic(const Reader *r) {
    const Graph *graph = r->rw->graph;
    const Node *node = r->node;
    Numbers numbers;
    if (node->input_count != 2 || r->map->quant == NULL || r->map->quant->count != 1 || !is_code(r->map->dtype)) {
        return false;
    }
    uint32_t k = affine_data(r->rw, node).index == node->inputs[0].index ? 1 : 0; /* the constant */
    const Value *constant = node_input(graph, node, k);
    const Value *in = node_input(graph, node, 1 - k);
    bool is_coded = constant->quant != NULL && constant->quant->count == 1 && in->quant != NULL &&
                    in->quant->count == 1 && in->dtype == r->map->dtype && constant->dtype == r->map->dtype;
    int32_t lo, hi;
    if (!is_coded || !read_aligned(r, k, &numbers) || !code_limits(node, r->map, &lo, &hi)) {
        return false;
    }
    for (uint32_t c = 0; c < r->room; c++) {
        *stage_of(r, c) = (Stage){.kind = node->op == OP_MUL ? STAGE_CODE_MUL : STAGE_CODE_ADD,
                                  .from = in->dtype,
                                  .to = r->map->dtype,
                                  .integer = {.in = code_of(in->quant, 0),
                                              .constant = code_of(constant->quant, 0),
                                              .out = code_of(r->map->quant, 0),
                                              .value = (int32_t)number_of(numbers, c),
                                              .lo = lo,
                                              .hi = hi,
                                              .negate = node->op != OP_SUB ? 0
                                                        : k == 1           ? 1
                                                                           : 2}};
    }
    return true;
}

static bool fill_requantize(const Reader *r) {
    const Value *in = node_input(r->rw->graph, r->node, 0);
    if (in == NULL || in->quant == NULL || in->quant->count != 1 || r->map->quant == NULL ||
        r->map->quant->count != 1 || !is_code(in->dtype) || !is_code(r->map->dtype)) {
        return false;
    }
    Domain codes = affine_codes_of(r->map->dtype);
    for (uint32_t c = 0; c < r->room; c++) {
        *stage_of(r, c) = (Stage){.kind = STAGE_CODE_REQUANTIZE,
                                  .from = in->dtype,
                                  .to = r->map->dtype,
                                  .integer = {.in = code_of(in->quant, 0),
                                              .out = code_of(r->map->quant, 0),
                                              .lo = (int32_t)codes.lo,
                                              .hi = (int32_t)codes.hi}};
    }
    return true;
}

/* ---- One node */

static bool is_on_codes(const Reader *r) {
    return r->rw->graph->format == FORMAT_TFLITE && r->map->quant != NULL && is_code(r->map->dtype);
}

static bool fill_stage(const Reader *r) {
    if (!known_is(r->rw->graph, r->node, &r->rw->work->scratch)) {
        return false;
    }
    switch (r->node->op) {
    case OP_MUL:
    case OP_ADD:
    case OP_SUB:
    case OP_DIV:
        return is_on_codes(r) ? r->node->op != OP_DIV && fill_code_arithmetic(r)
                              : r->map->dtype == DTYPE_F32 && fill_arithmetic(r);
    case OP_BATCH_NORM:
        return r->map->dtype == DTYPE_F32 && fill_norm(r);
    case OP_RELU:
    case OP_RELU6:
    case OP_CLIP:
        return r->map->dtype == DTYPE_F32 && fill_clip(r);
    case OP_DEQUANTIZE:
        return r->map->dtype == DTYPE_F32 && fill_coder(r, false);
    case OP_QUANTIZE: {
        const Value *in = node_input(r->rw->graph, r->node, 0);
        return in != NULL && in->dtype == DTYPE_F32 ? fill_coder(r, true) : is_on_codes(r) && fill_requantize(r);
    }
    default:
        return false;
    }
}

static bool keeps_shape(const Rewriter *rw, const Node *node, ValueId in) {
    return node->output_count == 1 && is_value(node->outputs[0]) && rewrite_same_shape(rw, in, node->outputs[0]);
}

/* ---- The run */

/* Backwards from `last`, as long as one operator alone reads what the other writes; to the last Dequantize, or past it.
 */
static bool collect_nodes(const Rewriter *rw, NodeId last, bool goes_past, Affine *affine) {
    NodeId found[AFFINE_MOST_STAGES];
    uint32_t count = 0;
    NodeId id = last;
    while (count < AFFINE_MOST_STAGES && rewrite_may_change(rw, id)) {
        const Node *node = graph_node(rw->graph, id);
        ValueId in = affine_data(rw, node);
        if (!is_value(in) || node->is_constant || !keeps_shape(rw, node, in)) {
            break;
        }
        found[count++] = id;
        affine->in = in;
        bool starts = node->op == OP_DEQUANTIZE && !goes_past;
        NodeId before = graph_value(rw->graph, in)->producer;
        if (starts || !is_node(before) || rewrite_sole_reader(rw, in).index != id.index) {
            break;
        }
        id = before;
    }
    for (uint32_t k = 0; k < count; k++) {
        affine->nodes[k] = found[count - 1 - k];
    }
    affine->node_count = count;
    return count > 0;
}

static bool try_fill(const Rewriter *rw, Affine *affine, uint32_t channels) {
    Stage *stages = arena_array(&rw->work->scratch, Stage, (size_t)channels * affine->node_count);
    affine->channels = channels;
    affine->stages = stages;
    for (uint32_t k = 0; k < affine->node_count; k++) {
        const Node *node = graph_node(rw->graph, affine->nodes[k]);
        Reader reader = {rw, affine, node, node_output(rw->graph, node, 0), stages + k, channels};
        if (!fill_stage(&reader)) {
            return false;
        }
        if (affine->channels != channels) {
            return true; /* the axis came to light: once more, with room for its channels */
        }
    }
    return true;
}

static bool fill_stages(const Rewriter *rw, Affine *affine) {
    affine->axis = -1;
    if (!try_fill(rw, affine, 1)) {
        return false;
    }
    return affine->channels == 1 || try_fill(rw, affine, affine->channels);
}

static void cut_first(Affine *affine, const Rewriter *rw) {
    memmove(affine->nodes, affine->nodes + 1, (affine->node_count - 1) * sizeof affine->nodes[0]);
    affine->node_count--;
    if (affine->node_count > 0) {
        affine->in = affine_data(rw, graph_node(rw->graph, affine->nodes[0]));
    }
}

static bool collect(const Rewriter *rw, NodeId last, bool goes_past, Affine *affine) {
    *affine = (Affine){0};
    if (!collect_nodes(rw, last, goes_past, affine)) {
        return false;
    }
    affine->out = graph_node(rw->graph, last)->outputs[0];
    while (affine->node_count > 0) {
        const Value *in = graph_value(rw->graph, affine->in);
        const Value *out = graph_value(rw->graph, affine->out);
        if (is_code(in->dtype) && is_code(out->dtype) && fill_stages(rw, affine)) {
            affine->domain = affine_codes_of(in->dtype);
            return true;
        }
        cut_first(affine, rw);
    }
    return false;
}

bool affine_collect(const Rewriter *rw, NodeId last, Affine *affine) {
    return collect(rw, last, false, affine);
}

bool affine_collect_past(const Rewriter *rw, NodeId last, Affine *affine) {
    return collect(rw, last, true, affine);
}

bool affine_read(const Rewriter *rw, const NodeId *nodes, uint32_t count, Affine *affine) {
    CHECK(count > 0 && count <= AFFINE_MOST_STAGES);
    *affine = (Affine){.node_count = count};
    memcpy(affine->nodes, nodes, count * sizeof *nodes);
    affine->in = affine_data(rw, graph_node(rw->graph, nodes[0]));
    affine->out = graph_node(rw->graph, nodes[count - 1])->outputs[0];
    return is_value(affine->in) && fill_stages(rw, affine);
}

/* ---- Folded */

StageFault affine_fold(const Stage *stages, uint32_t count, double *a, double *b) {
    RealForm real;
    StageFault fault = real_fold(stages, count, &real);
    *a = real.a;
    *b = real.b;
    return fault;
}
