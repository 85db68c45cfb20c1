/* Convolution: the per-channel affine behind a convolution of floats goes into its weights and its bias.
 *
 *     y = a[c] * (sum w x + bias[c]) + b[c]      =>      w'[c] = a[c] * w[c]     bias'[c] = a[c] * bias[c] + b[c]
 * Folded in double and rounded once, so it is not what the model says bit for bit: it is made only with a tolerance.
 * The bound counts what the rewrite changes: one rounding of each parameter, and the roundings of the operators that
 * go, each at most one ulp of the sum of magnitudes |a| (sum |w x| + |bias| + |mean|) + |beta|. How a convolution
 * rounds while it adds up is no part of either format and is not counted; nor is what leaves the range of float32 on
 * the way.
 *
 * Legal where the weights are known, nobody else reads what lies between, no activation stands between, no factor is 0
 * (0 * inf is NaN), and the model does not grow. The axis is the one by definition: O of the weights. */
#include "affine/affine.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    uint32_t channels;
    double *a, *b; /* of each channel */
    uint64_t bound_ulp;
} ConvFold;

/* ---- Weights */

/* Extents of the weights around the axis of output channels; a transposed convolution has one a group. */
typedef struct {
    uint64_t outer, channels, inner;
} WeightShape;

static bool weight_shape(const Rewriter *rw, const Node *conv, WeightShape *shape) {
    const Value *weights = node_input(rw->graph, conv, 1);
    bool is_last = conv->op == OP_DEPTHWISE_CONV;
    bool is_second = conv->op == OP_CONV_TRANSPOSE && node_int(conv, "group", 1) == 1;
    if (weights == NULL || weights->shape.rank < 3 || (conv->op == OP_CONV_TRANSPOSE && !is_second)) {
        return false;
    }
    uint32_t axis = is_last ? weights->shape.rank - 1 : is_second ? 1 : 0;
    *shape = (WeightShape){1, (uint64_t)weights->shape.dim[axis], 1};
    for (uint32_t k = 0; k < weights->shape.rank; k++) {
        uint64_t extent = (uint64_t)weights->shape.dim[k];
        shape->outer *= k < axis ? extent : 1;
        shape->inner *= k > axis ? extent : 1;
    }
    return shape->outer * shape->channels * shape->inner > 0;
}

static float float_at(Span bytes, uint64_t index) {
    float value;
    memcpy(&value, bytes.ptr + index * sizeof value, sizeof value);
    return value;
}

static bool is_float_constant(const Rewriter *rw, const Node *node, uint32_t k, uint64_t elements) {
    if (k >= node->input_count || rewrite_constant(rw, node->inputs[k]) == NULL) {
        return false;
    }
    const Value *value = graph_value(rw->graph, node->inputs[k]);
    return value->dtype == DTYPE_F32 && !is_node(value->producer) &&
           shape_eq(&value->shape, &value->constant->stored) && value->constant->bytes.len == elements * sizeof(float);
}

/* ---- What is folded */

static bool is_convolution(const Rewriter *rw, NodeId id, WeightShape *shape) {
    const Node *node = graph_node(rw->graph, id);
    bool is_one = node->op == OP_CONV || node->op == OP_DEPTHWISE_CONV || node->op == OP_CONV_TRANSPOSE;
    bool has_bias = node->input_count > 2 && is_value(node->inputs[2]);
    return is_one && rewrite_may_change(rw, id) && node_attr(node, "activation") == NULL &&
           weight_shape(rw, node, shape) &&
           is_float_constant(rw, node, 1, shape->outer * shape->channels * shape->inner) &&
           (!has_bias || is_float_constant(rw, node, 2, shape->channels));
}

static bool is_foldable(const Node *node) {
    return node->op == OP_MUL || node->op == OP_ADD || node->op == OP_SUB || node->op == OP_DIV ||
           node->op == OP_BATCH_NORM;
}

static uint64_t roundings(const Stage *stage) {
    return stage->kind == STAGE_NORM ? 6 : 1; /* facts 2.2: 4.5 |a| |x - mean| + |y|, rounded up */
}

static void note_refusal(Rewriter *rw, const Node *node, const char *reason) {
    rewrite_refuse(rw, node->name, (Str){0}, reason);
}

/* Folds the run's stages channel by channel; false, with the reason, where a channel has no affine. */
static bool fold_stages(Rewriter *rw, const Affine *run, ConvFold *fold) {
    Arena *keep = &rw->work->keep;
    fold->bound_ulp = 1;
    for (uint32_t k = 0; k < run->node_count; k++) {
        fold->bound_ulp += roundings(&run->stages[k]);
    }
    for (uint32_t c = 0; c < fold->channels; c++) {
        uint32_t own = run->channels == 1 ? 0 : c;
        const char *fault = affine_fold(affine_stages(run, own), run->node_count, &fold->a[c], &fold->b[c]);
        if (fault == NULL && fold->a[c] == 0) {
            fault = "the factor is 0, which would hide infinities";
        }
        if (fault != NULL) {
            note_refusal(rw, graph_node(rw->graph, run->nodes[0]),
                         arena_text(keep, "channel %u: %s", (unsigned)c, fault));
            return false;
        }
    }
    return true;
}

/* By definition: channels second in ONNX, last in TFLite. */
static int32_t channel_axis(const Rewriter *rw, NodeId conv) {
    const Value *out = node_output(rw->graph, graph_node(rw->graph, conv), 0);
    return rw->graph->format == FORMAT_TFLITE ? (int32_t)out->shape.rank - 1 : 1;
}

/* The run behind a convolution, as far as it goes. */
static bool find_run(Rewriter *rw, NodeId conv, const WeightShape *shape, Affine *run) {
    ValueId at = graph_node(rw->graph, conv)->outputs[0];
    uint32_t count = 0;
    NodeId nodes[AFFINE_MOST_STAGES];
    while (count < AFFINE_MOST_STAGES) {
        NodeId next = rewrite_sole_reader(rw, at);
        const Node *node = is_node(next) ? graph_node(rw->graph, next) : NULL;
        if (node == NULL || !is_foldable(node) || node->output_count != 1 ||
            !rewrite_same_shape(rw, at, node->outputs[0])) {
            break;
        }
        nodes[count++] = next;
        at = node->outputs[0];
    }
    for (; count > 0; count--) {
        if (affine_read(rw, nodes, count, run) &&
            (run->axis < 0 || (run->axis == channel_axis(rw, conv) && run->channels == shape->channels))) {
            return true;
        }
    }
    return false;
}

/* ---- The new constants */

/* One rounding is half an ulp only among normal numbers: what underflows, or is lost in infinity, has no bound. */
static bool keeps_precision(double exact, float rounded) {
    return isfinite(rounded) && (exact == 0 || fabsf(rounded) >= FLT_MIN);
}

static bool scale_weights(Rewriter *rw, const Node *conv, const WeightShape *shape, const ConvFold *fold, float *out) {
    Span bytes = rewrite_constant(rw, conv->inputs[1])->bytes;
    uint64_t elements = shape->outer * shape->channels * shape->inner;
    for (uint64_t i = 0; i < elements; i++) {
        double product = (double)float_at(bytes, i) * fold->a[i / shape->inner % shape->channels];
        out[i] = (float)product;
        if (!keeps_precision(product, out[i])) {
            return false;
        }
    }
    return true;
}

static bool shift_bias(Rewriter *rw, const Node *conv, const ConvFold *fold, float *out) {
    bool has_bias = conv->input_count > 2 && is_value(conv->inputs[2]);
    for (uint32_t c = 0; c < fold->channels; c++) {
        double bias = has_bias ? (double)float_at(rewrite_constant(rw, conv->inputs[2])->bytes, c) : 0;
        double sum = bias * fold->a[c] + fold->b[c];
        out[c] = (float)sum;
        if (!keeps_precision(sum, out[c])) {
            return false;
        }
    }
    return true;
}

/* In the place of the constant that input `k` is, or a new one. */
static ValueId add_floats(Rewriter *rw, const Node *conv, uint32_t k, const Shape *shape, const float *numbers) {
    uint64_t count = 0;
    (void)shape_elements(shape, &count); /* of a constant that is stored */
    Const *constant = arena_new(&rw->work->keep, Const);
    *constant = (Const){
        .stored = *shape, .bytes = {(const uint8_t *)numbers, (size_t)count * sizeof *numbers}, .is_known = true};
    const Value value = {
        .dtype = DTYPE_F32, .has_shape = true, .shape = *shape, .constant = constant, .producer = NO_NODE};
    if (k < conv->input_count && is_value(conv->inputs[k])) {
        return rewrite_add_instead(rw, value, conv->inputs[k], rw->reader_count[conv->inputs[k].index] == 1);
    }
    return rewrite_add_value(rw, value, arena_format(&rw->work->keep, STR_FMT "_bias", STR_ARG(conv->name)));
}

static bool needs_bias(const Node *conv, const ConvFold *fold) {
    bool needs = conv->input_count > 2 && is_value(conv->inputs[2]);
    for (uint32_t c = 0; c < fold->channels && !needs; c++) {
        needs = fold->b[c] != 0;
    }
    return needs;
}

/* Weights and, where there is one, bias; how many inputs the convolution has then. 0 where a number is not finite. */
static uint32_t add_parameters(Rewriter *rw, const Node *conv, const WeightShape *shape, const ConvFold *fold,
                               ValueId inputs[3]) {
    Arena *keep = &rw->work->keep;
    uint64_t elements = shape->outer * shape->channels * shape->inner;
    float *weights = arena_array(keep, float, elements);
    float *bias = arena_array(keep, float, fold->channels);
    if (!scale_weights(rw, conv, shape, fold, weights) || !shift_bias(rw, conv, fold, bias)) {
        return 0;
    }
    Shape vector = {.rank = 1, .dim = {(int64_t)shape->channels}};
    Shape whole = graph_value(rw->graph, conv->inputs[1])->shape;
    inputs[1] = add_floats(rw, conv, 1, &whole, weights);
    if (!needs_bias(conv, fold)) {
        return 2;
    }
    inputs[2] = add_floats(rw, conv, 2, &vector, bias);
    return 3;
}

/* A constant that has other readers stays: a copy of the weights would make the model grow. */
static bool grows(const Rewriter *rw, const Node *conv) {
    return rw->reader_count[conv->inputs[1].index] > 1 || !rewrite_is_internal(rw, conv->inputs[1]);
}

typedef struct {
    const ValueId *at;
    uint32_t count;
} NewInputs;

static void rewire(Rewriter *rw, const Affine *run, NodeId id, NewInputs inputs, ValueId out) {
    for (uint32_t k = 0; k < run->node_count; k++) {
        rewrite_drop_node(rw, run->nodes[k]);
    }
    rewrite_set_inputs(rw, id, inputs.at, inputs.count);
    rewrite_write(rw, id, out);
}

static Certificate certificate_of(const Rewriter *rw, const ConvFold *fold) {
    return (Certificate){.class = PROOF_INTERVAL,
                         .rule = "fold_into_convolution",
                         .semantics = rw->semantics,
                         .domain = {.why = "every float32; in ulp of the sum of magnitudes"},
                         .max_error_lsb = fold->bound_ulp,
                         .channels = fold->channels};
}

static void fold_run(Rewriter *rw, NodeId id, const WeightShape *shape, const Affine *run) {
    Arena *keep = &rw->work->keep;
    const Node conv = *graph_node(rw->graph, id);
    const Node *last = graph_node(rw->graph, run->nodes[run->node_count - 1]);
    ConvFold fold = {.channels = (uint32_t)shape->channels};
    fold.a = arena_array(&rw->work->scratch, double, fold.channels);
    fold.b = arena_array(&rw->work->scratch, double, fold.channels);
    if (!fold_stages(rw, run, &fold)) {
        return;
    }
    if (fold.bound_ulp > rw->tolerance) {
        note_refusal(
            rw, last,
            arena_text(
                keep,
                "folding into the convolution may differ by %llu ulp: stride0 simplify --tolerance %llu allows it",
                (unsigned long long)fold.bound_ulp, (unsigned long long)fold.bound_ulp));
        return;
    }
    if (grows(rw, &conv)) {
        note_refusal(rw, last, "other operators read the weights, and a second copy would make the model grow");
        return;
    }
    ValueId inputs[3] = {conv.inputs[0]};
    uint32_t input_count = add_parameters(rw, &conv, shape, &fold, inputs);
    if (input_count == 0) {
        note_refusal(rw, last, "a weight or bias would no longer be a normal float32");
        return;
    }
    rewrite_log(rw, (Rewrite){.node = last->name,
                              .op = last->op_name,
                              .form = AFFINE_MULADD,
                              .certificate = certificate_of(rw, &fold),
                              .nodes = run->node_count});
    rewire(rw, run, id, (NewInputs){inputs, input_count}, last->outputs[0]);
}

void rule_convolution(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        WeightShape shape;
        Affine run;
        if (!rw->is_gone[id.index] && is_convolution(rw, id, &shape) && find_run(rw, id, &shape, &run)) {
            fold_run(rw, id, &shape, &run);
        }
    }
}
