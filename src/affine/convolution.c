/* Convolutions: their channels, folded runs, and the weights and bias that come of them. */
#include "affine/convolution.h"

#include "affine/growth.h"
#include "affine/known.h"
#include "base/fault.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Weights */

static void set_axes(const Graph *graph, const Node *conv, ConvWeights *weights) {
    const Shape *shape = &node_input(graph, conv, 1)->shape;
    uint64_t first = (uint64_t)shape->dim[0], last = (uint64_t)shape->dim[shape->rank - 1];
    weights->first_spatial = graph->channels_last ? 1 : 2;
    if (conv->op == OP_DEPTHWISE_CONV) { /* 1 spatial… O: one input channel a group */
        weights->outs = last;
        weights->ins = weights->groups;
        weights->out_step = weights->in_step = 1;
    } else if (graph->channels_last) { /* O spatial… I */
        weights->outs = first;
        weights->ins = last * weights->groups;
        weights->out_step = weights->elements / first;
        weights->in_step = 1;
    } else {
        uint64_t second = (uint64_t)shape->dim[1];
        weights->is_whole_in = conv->op == OP_CONV_TRANSPOSE; /* I O spatial…; else O I spatial… */
        weights->outs = weights->is_whole_in ? second * weights->groups : first;
        weights->ins = weights->is_whole_in ? first : second * weights->groups;
        weights->out_step = weights->elements / (weights->is_whole_in ? first * second : first);
        weights->in_step = weights->elements / (weights->is_whole_in ? first : first * second);
    }
}

/* TFLite states no groups: they follow from the extents. 0 where they are not known. */
static uint64_t count_groups(const Rewriter *rw, const Node *conv) {
    const Value *map = node_input(rw->graph, conv, 0);
    const Shape *weights = &node_input(rw->graph, conv, 1)->shape;
    uint32_t last = weights->rank - 1;
    if (!rw->graph->channels_last) {
        int64_t groups = node_int(conv, "group", 1);
        return groups > 0 && groups <= UINT32_MAX ? (uint64_t)groups : 0;
    }
    if (map == NULL || !map->has_shape || map->shape.rank != weights->rank ||
        !rewrite_is_fixed(rw, conv->inputs[0], last)) {
        return 0;
    }
    uint64_t channels = (uint64_t)map->shape.dim[last];
    return conv->op == OP_DEPTHWISE_CONV ? channels : channels / (uint64_t)weights->dim[last];
}

static bool read_weights(const Rewriter *rw, const Node *conv, ConvWeights *weights) {
    const Value *value = node_input(rw->graph, conv, 1);
    *weights = (ConvWeights){0};
    if (value == NULL || value->shape.rank < 3 || !shape_elements(&value->shape, &weights->elements) ||
        weights->elements == 0 || weights->elements > UINT32_MAX) {
        return false;
    }
    weights->groups = count_groups(rw, conv);
    if (weights->groups == 0) {
        return false;
    }
    set_axes(rw->graph, conv, weights);
    return weights->outs <= UINT32_MAX && weights->ins <= UINT32_MAX && weights->outs % weights->groups == 0 &&
           weights->ins % weights->groups == 0;
}

static bool is_float_constant(const Rewriter *rw, const Node *node, uint32_t k, uint64_t elements) {
    if (k >= node->input_count || rewrite_constant(rw, node->inputs[k]) == NULL) {
        return false;
    }
    const Value *value = graph_value(rw->graph, node->inputs[k]);
    return value->dtype == DTYPE_F32 && !is_node(value->producer) &&
           shape_eq(&value->shape, &value->constant->stored) && value->constant->bytes.len == elements * sizeof(float);
}

static bool has_bias(const Node *conv) {
    return conv->input_count > 2 && is_value(conv->inputs[2]);
}

bool convolution_read(const Rewriter *rw, NodeId id, ConvWeights *weights) {
    const Node *node = graph_node(rw->graph, id);
    bool is_one = node->op == OP_CONV || node->op == OP_DEPTHWISE_CONV || node->op == OP_CONV_TRANSPOSE;
    return is_one && rewrite_may_change(rw, id) && known_is(rw->graph, node, &rw->work->scratch) &&
           read_weights(rw, node, weights) && is_float_constant(rw, node, 1, weights->elements) &&
           (!has_bias(node) || is_float_constant(rw, node, 2, weights->outs));
}

/* The channel of the output, or of the input, that an element of the weights belongs to. */
static uint64_t channel_of(const ConvWeights *weights, uint64_t element, bool is_input) {
    uint64_t own_outs = weights->outs / weights->groups, own_ins = weights->ins / weights->groups;
    CHECK(own_outs > 0 && own_ins > 0 && weights->outs > 0 && weights->ins > 0); /* read_weights */
    uint64_t out = element / weights->out_step % (weights->is_whole_in ? own_outs : weights->outs);
    uint64_t in = element / weights->in_step % (weights->is_whole_in ? weights->ins : own_ins);
    if (weights->is_whole_in) {
        return is_input ? in : in / own_ins * own_outs + out;
    }
    return is_input ? out / own_outs * own_ins + in : out;
}

/* ---- Runs */

bool convolution_takes(const Rewriter *rw, NodeId id) {
    if (!rewrite_may_change(rw, id)) {
        return false;
    }
    const Node *node = graph_node(rw->graph, id);
    bool is_affine = node->op == OP_MUL || node->op == OP_ADD || node->op == OP_SUB || node->op == OP_DIV ||
                     node->op == OP_BATCH_NORM;
    return is_affine && node->output_count == 1;
}

bool convolution_fits(const Rewriter *rw, const Affine *run, ValueId map, uint64_t channels) {
    int32_t last = (int32_t)graph_value(rw->graph, map)->shape.rank - 1;
    return run->axis < 0 || (run->axis == (rw->graph->channels_last ? last : 1) && run->channels == channels);
}

void convolution_refuse(Rewriter *rw, const ConvFold *fold, const char *reason) {
    const Affine *run = &fold->run;
    NodeId last = run->nodes[run->node_count - 1];
    if (!rw->is_told[last.index]) {
        rewrite_refuse(rw, last, (Str){0}, reason);
    }
    for (uint32_t k = 0; k < run->node_count; k++) {
        rw->is_told[run->nodes[k].index] = true;
    }
}

static uint64_t roundings(const Stage *stage) {
    return stage->kind == STAGE_NORM ? 6 : 1; /* 4.5 |a| |x - mean| + |y|, rounded up */
}

bool convolution_fold(Rewriter *rw, uint64_t channels, ConvFold *fold) {
    const Affine *run = &fold->run;
    double *a = arena_array(&rw->work->scratch, double, channels);
    double *b = arena_array(&rw->work->scratch, double, channels);
    fold->a = a;
    fold->b = b;
    fold->channels = (uint32_t)channels;
    fold->bound_ulp = 1;
    for (uint32_t k = 0; k < run->node_count; k++) {
        fold->bound_ulp += roundings(&run->stages[k]);
    }
    for (uint32_t c = 0; c < fold->channels; c++) {
        uint32_t own = run->channels == 1 ? 0 : c;
        const char *fault = affine_fold(affine_stages(run, own), run->node_count, &a[c], &b[c]);
        if (fault == NULL && a[c] == 0) {
            fault = "the factor is 0, which would hide infinities";
        }
        if (fault != NULL) {
            convolution_refuse(rw, fold, arena_text(&rw->work->keep, "channel %u: %s", (unsigned)c, fault));
            return false;
        }
    }
    return true;
}

/* ---- New weights and bias */

static float float_at(Span bytes, uint64_t index) {
    float value;
    memcpy(&value, bytes.ptr + index * sizeof value, sizeof value);
    return value;
}

/* One rounding is half an ulp only among normal numbers: what underflows, or is lost in infinity, has no bound. */
static bool round_once(double exact, float *rounded) {
    *rounded = (float)exact;
    return isfinite(*rounded) && (exact == 0 || fabsf(*rounded) >= FLT_MIN);
}

static bool scale_weights(const Rewriter *rw, const Node *conv, const ConvWeights *weights, const ConvFold *fold,
                          float *out) {
    Span bytes = rewrite_constant(rw, conv->inputs[1])->bytes;
    for (uint64_t i = 0; i < weights->elements; i++) {
        double factor = fold->a[channel_of(weights, i, fold->is_before)];
        if (!round_once((double)float_at(bytes, i) * factor, &out[i])) {
            return false;
        }
    }
    return true;
}

/* What the addends of the input's channels come to behind the convolution. */
static void add_before(const Rewriter *rw, const Node *conv, const ConvWeights *weights, const ConvFold *fold,
                       double *sums) {
    Span bytes = rewrite_constant(rw, conv->inputs[1])->bytes;
    for (uint64_t i = 0; i < weights->elements; i++) {
        double addend = fold->b[channel_of(weights, i, true)];
        if (addend != 0) {
            sums[channel_of(weights, i, false)] += (double)float_at(bytes, i) * addend;
        }
    }
}

static bool shift_bias(const Rewriter *rw, const Node *conv, const ConvWeights *weights, const ConvFold *fold,
                       float *out) {
    double *sums = arena_array(&rw->work->scratch, double, weights->outs);
    for (uint64_t o = 0; o < weights->outs; o++) {
        double bias = has_bias(conv) ? (double)float_at(rewrite_constant(rw, conv->inputs[2])->bytes, o) : 0;
        sums[o] = fold->is_before ? bias : bias * fold->a[o] + fold->b[o];
    }
    if (fold->is_before) {
        add_before(rw, conv, weights, fold, sums);
    }
    for (uint64_t o = 0; o < weights->outs; o++) {
        if (!round_once(sums[o], &out[o])) {
            return false;
        }
    }
    return true;
}

/* Does the convolution need this bias in place of the one it has, or of none? */
static bool is_new_bias(const Rewriter *rw, const Node *conv, const ConvWeights *weights, const float *bias) {
    bool is_new = false;
    for (uint64_t o = 0; o < weights->outs && !is_new; o++) {
        is_new = bias[o] != (has_bias(conv) ? float_at(rewrite_constant(rw, conv->inputs[2])->bytes, o) : 0);
    }
    return is_new;
}

/* ---- The model as it becomes */

static bool is_only_reader(const Rewriter *rw, ValueId id) {
    return rw->reader_count[id.index] == 1 && rewrite_is_internal(rw, id);
}

static bool is_external(const Rewriter *rw, const Node *conv, uint32_t k) {
    const Value *value = node_input(rw->graph, conv, k);
    return value != NULL && value->constant != NULL && value->constant->is_external;
}

/* The name that a bias of its own is made from. */
static Str bias_stem(Rewriter *rw, const Node *conv) {
    return has_bias(conv) ? graph_value(rw->graph, conv->inputs[2])->name
                          : arena_format(&rw->work->keep, STR_FMT "_bias", STR_ARG(conv->name));
}

/* Does the file give up the data that input `k` has, so that what replaces it costs nothing? */
static bool gives_up(const Rewriter *rw, const Node *conv, uint32_t k) {
    ValueId id = conv->inputs[k];
    return is_only_reader(rw, id) && growth_data_bytes(rw, id) > 0;
}

/* What comes, less the run that goes; what replaces weights and bias is as large as they are. */
static bool grows(Rewriter *rw, const Node *conv, const ConvWeights *weights, bool is_new_bias, const Affine *run) {
    uint64_t comes = 0, goes = 0;
    if (!gives_up(rw, conv, 1)) {
        comes =
            growth_tensor_bytes(rw, weights->elements * sizeof(float), graph_value(rw->graph, conv->inputs[1])->name);
    }
    if (is_new_bias && !(has_bias(conv) && gives_up(rw, conv, 2))) {
        Str name = rewrite_fresh_name(rw, bias_stem(rw, conv));
        comes += growth_tensor_bytes(rw, weights->outs * sizeof(float), name) + growth_name_bytes(rw, name);
        goes = has_bias(conv) ? growth_name_bytes(rw, bias_stem(rw, conv)) : 0;
    }
    for (uint32_t k = 0; comes > 0 && k < run->node_count; k++) {
        goes += growth_freed_with_node(rw, graph_node(rw->graph, run->nodes[k]));
    }
    return comes > goes;
}

/* In the place of the constant that input `k` is, or a new one. */
static ValueId add_floats(Rewriter *rw, const Node *conv, uint32_t k, const Shape *shape, const float *numbers) {
    uint64_t count = 0;
    (void)shape_elements(shape, &count); /* of a constant that is stored */
    uint8_t *bytes = arena_array(&rw->work->keep, uint8_t, (size_t)count * sizeof *numbers);
    memcpy(bytes, numbers, (size_t)count * sizeof *numbers);
    Const *constant = arena_new(&rw->work->keep, Const);
    *constant = (Const){.stored = *shape, .bytes = {bytes, (size_t)count * sizeof *numbers}, .is_known = true};
    const Value value = {
        .dtype = DTYPE_F32, .has_shape = true, .shape = *shape, .constant = constant, .producer = NO_NODE};
    if (k < conv->input_count && is_value(conv->inputs[k])) {
        return rewrite_add_instead(rw, value, conv->inputs[k], rw->reader_count[conv->inputs[k].index] == 1);
    }
    return rewrite_add_value(rw, value, bias_stem(rw, conv));
}

static void log_fold(Rewriter *rw, const ConvFold *fold, int64_t constant_bytes) {
    const Node *last = graph_node(rw->graph, fold->run.nodes[fold->run.node_count - 1]);
    Certificate certificate = {.class = PROOF_INTERVAL,
                               .rule = fold->is_before ? "fold_into_next_convolution" : "fold_into_convolution",
                               .semantics = rw->semantics,
                               .domain = {.why = "every float32; in ulp of the sum of magnitudes"},
                               .max_error_lsb = fold->bound_ulp,
                               .channels = fold->channels};
    rewrite_log(rw, (Rewrite){.node = last->name,
                              .op = last->op_name,
                              .form = AFFINE_MULADD,
                              .certificate = certificate,
                              .nodes = fold->run.node_count,
                              .constant_bytes = constant_bytes});
}

static void drop_run(Rewriter *rw, const Affine *run) {
    for (uint32_t k = 0; k < run->node_count; k++) {
        rewrite_drop_node(rw, run->nodes[k]);
    }
}

/* Weights, and the bias where it is not null. */
static void rewire(Rewriter *rw, NodeId id, const ConvWeights *weights, const ConvFold *fold, const float *numbers[2]) {
    const Node conv = *graph_node(rw->graph, id);
    ValueId inputs[3] = {conv.inputs[0], conv.inputs[1], has_bias(&conv) ? conv.inputs[2] : NO_VALUE};
    Shape whole = graph_value(rw->graph, conv.inputs[1])->shape;
    Shape vector = {.rank = 1, .dim = {(int64_t)weights->outs}};
    bool adds_bias = numbers[1] != NULL && !(has_bias(&conv) && is_only_reader(rw, conv.inputs[2]));
    inputs[1] = add_floats(rw, &conv, 1, &whole, numbers[0]);
    if (numbers[1] != NULL) {
        inputs[2] = add_floats(rw, &conv, 2, &vector, numbers[1]);
    }
    inputs[0] = fold->is_before ? fold->run.in : inputs[0];
    drop_run(rw, &fold->run);
    rewrite_set_inputs(rw, id, inputs, is_value(inputs[2]) ? 3 : 2);
    if (!fold->is_before) {
        rewrite_write(rw, id, fold->run.out);
    }
    log_fold(rw, fold, adds_bias ? (int64_t)(weights->outs * sizeof(float)) : 0);
}

static const char *too_far(Rewriter *rw, const ConvFold *fold) {
    unsigned long long ulp = fold->bound_ulp;
    return arena_text(&rw->work->keep,
                      "folding into the %s may differ by %llu ulp: stride0 simplify --tolerance %llu allows it",
                      fold->is_before ? "convolution behind it" : "convolution", ulp, ulp);
}

void convolution_apply(Rewriter *rw, NodeId id, const ConvWeights *weights, const ConvFold *fold) {
    Arena *scratch = &rw->work->scratch;
    const Node *conv = graph_node(rw->graph, id);
    if (!is_only_reader(rw, conv->inputs[1])) {
        convolution_refuse(rw, fold, "other operators read the weights, and a second copy would make the model grow");
        return;
    }
    if (is_external(rw, conv, 1) || is_external(rw, conv, 2)) {
        convolution_refuse(
            rw, fold,
            "the convolution's weights or biases lie in another file: folded, the model would have to hold "
            "them itself and grow");
        return;
    }
    float *scaled = arena_array(scratch, float, weights->elements);
    float *bias = arena_array(scratch, float, weights->outs);
    if (!scale_weights(rw, conv, weights, fold, scaled) || !shift_bias(rw, conv, weights, fold, bias)) {
        convolution_refuse(rw, fold, "a weight or bias would no longer be a normal float32");
        return;
    }
    bool is_new = is_new_bias(rw, conv, weights, bias);
    if (grows(rw, conv, weights, is_new, &fold->run)) {
        convolution_refuse(rw, fold, "the bias that the convolution needs would make the model grow");
        return;
    }
    if (fold->bound_ulp > rw->tolerance) { /* the last of the conditions: what is promised must come true */
        convolution_refuse(rw, fold, too_far(rw, fold));
        return;
    }
    rewire(rw, id, weights, fold, (const float *[2]){scaled, is_new ? bias : NULL});
}
