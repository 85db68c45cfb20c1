/* Depthwise: a MUL and an ADD of constants on int8 codes, as one depthwise convolution of 1 x 1 (TFLite).
 *
 *     MUL: round(m1 (q - z) w) ─ ADD: round(m2 (…) + …)      =>      requantise((q - z) * weight[c] + bias[c])
 * The kernel has one weight scale, one bias and one requantise a channel, so it rounds once where the pair rounds twice
 * and more. It is proven on every code of each channel: exact where they agree, else within the tolerance, or refused.
 * The map between them disappears; the model may grow by its parameters, but not by more than that map is large. */
#include "affine/affine.h"
#include "base/fault.h"
#include "layout/packed.h"

#include <math.h>

enum { WEIGHT = 127 }; /* the largest code that weights take: the scale of each channel does the rest */

typedef struct {
    uint32_t channels;
    int32_t *weight, *bias;
    float *weight_scale, *bias_scale;
} Depthwise;

static bool is_pair(const Rewriter *rw, const Affine *run) {
    const Value *in = graph_value(rw->graph, run->in);
    return run->node_count == 2 && run->stages[0].kind == STAGE_CODE_MUL && run->stages[1].kind == STAGE_CODE_ADD &&
           run->stages[1].integer.negate != 2 && in->dtype == DTYPE_I8 && in->shape.rank == 4 &&
           rewrite_is_fixed(rw, run->in, 3) && (run->axis < 0 || run->axis == 3);
}

/* The channel's real factor and addend, as its codes stand for them. */
static void reals_of(const Stage *stages, double *factor, double *addend) {
    const StageCode *by = &stages[0].integer.constant;
    const StageCode *plus = &stages[1].integer.constant;
    *factor = ((double)stages[0].integer.value - by->zero_point) * (double)by->scale;
    *addend = ((double)stages[1].integer.value - plus->zero_point) * (double)plus->scale;
    *addend = stages[1].integer.negate == 1 ? -*addend : *addend;
}

/* Weight, bias and their scales of one channel. False where the bias does not fit 32 bits. */
static bool fill_channel(const Stage *stages, Depthwise *to, uint32_t c, Stage *after) {
    double factor, addend;
    const StageCode *in = &stages[0].integer.in;
    const StageCode *out = &stages[1].integer.out;
    reals_of(stages, &factor, &addend);
    /* A factor of 0 needs no weight; the scale of its bias is then the output's. */
    double scale = factor == 0 ? (double)out->scale / (double)in->scale : fabs(factor) / WEIGHT;
    to->weight[c] = factor == 0 ? 0 : factor < 0 ? -WEIGHT : WEIGHT;
    to->weight_scale[c] = (float)scale;
    to->bias_scale[c] = in->scale * to->weight_scale[c];
    double bias = round(addend / ((double)in->scale * (double)to->weight_scale[c]));
    if (!(fabs(bias) < (double)INT32_MAX) || !(to->weight_scale[c] > 0) || !isfinite(to->weight_scale[c])) {
        return false;
    }
    to->bias[c] = (int32_t)bias;
    *after = (Stage){.kind = STAGE_CODE_SCALE,
                     .from = stages[0].from,
                     .to = stages[1].to,
                     .integer = {.in = *in,
                                 .constant = {to->weight_scale[c], 0},
                                 .out = *out,
                                 .value = to->weight[c],
                                 .bias = to->bias[c],
                                 .lo = stages[1].integer.lo,
                                 .hi = stages[1].integer.hi}};
    return true;
}

static ValueId add_codes(Rewriter *rw, const Depthwise *from, bool is_weight, Str stem) {
    Arena *keep = &rw->work->keep;
    DType dtype = is_weight ? DTYPE_I8 : DTYPE_I32;
    uint32_t bits = dtype_bits(dtype);
    Shape shape = {.rank = 1, .dim = {from->channels}};
    if (is_weight) {
        shape = (Shape){.rank = 4, .dim = {1, 1, 1, from->channels}};
    }
    uint64_t bytes = 0;
    (void)packed_bytes(from->channels, bits, &bytes); /* channels fit: they were read */
    uint8_t *at = arena_array(keep, uint8_t, (size_t)bytes);
    for (uint32_t c = 0; c < from->channels; c++) {
        packed_write(at, c, bits, (uint64_t)(int64_t)(is_weight ? from->weight[c] : from->bias[c]));
    }
    Const *constant = arena_new(keep, Const);
    Quant *quant = arena_new(keep, Quant);
    *constant = (Const){.stored = shape, .bytes = {at, (size_t)bytes}, .is_known = true};
    *quant = (Quant){
        .count = from->channels, .scale = is_weight ? from->weight_scale : from->bias_scale, .axis = is_weight ? 3 : 0};
    return rewrite_add_value(rw,
                             (Value){.dtype = dtype,
                                     .has_shape = true,
                                     .shape = shape,
                                     .quant = quant,
                                     .constant = constant,
                                     .producer = NO_NODE},
                             stem);
}

/* The options of the new operator: everything 1, and the activation that the ADD had. */
static void fill_attrs(Arena *keep, const Node *last, Node *node) {
    static const int64_t ones[] = {1, 1};
    const Attr *activation = node_attr(last, "activation");
    Attr *attrs = arena_array(keep, Attr, 5);
    attrs[0] = (Attr){.name = STR("auto_pad"), .kind = ATTR_STR, .s = STR("VALID")};
    attrs[1] = (Attr){.name = STR("strides"), .kind = ATTR_INTS, .count = 2, .ints = ones};
    attrs[2] = (Attr){.name = STR("dilations"), .kind = ATTR_INTS, .count = 2, .ints = ones};
    attrs[3] = (Attr){.name = STR("depth_multiplier"), .kind = ATTR_INT, .i = 1};
    node->attr_count = 4;
    if (activation != NULL) {
        attrs[node->attr_count++] = *activation;
    }
    node->attrs = attrs;
}

static void replace_pair(Rewriter *rw, const Affine *run, const Depthwise *by) {
    enum { PER_CHANNEL_VERSION = 3 }; /* of DEPTHWISE_CONV_2D: int8 with a scale a channel */
    Arena *keep = &rw->work->keep;
    const Node last = *graph_node(rw->graph, run->nodes[1]);
    Node node = {.name = last.name,
                 .op = OP_DEPTHWISE_CONV,
                 .op_name = STR("DEPTHWISE_CONV_2D"),
                 .version = PER_CHANNEL_VERSION,
                 .input_count = 3,
                 .output_count = 1,
                 .source_index = last.source_index};
    Str stem = graph_value(rw->graph, run->out)->name;
    node.inputs = arena_array(keep, ValueId, 3);
    node.outputs = arena_array(keep, ValueId, 1);
    node.inputs[0] = run->in;
    node.inputs[1] = add_codes(rw, by, true, arena_format(keep, STR_FMT "/weights", STR_ARG(stem)));
    node.inputs[2] = add_codes(rw, by, false, arena_format(keep, STR_FMT "/bias", STR_ARG(stem)));
    node.outputs[0] = run->out;
    fill_attrs(keep, &last, &node);
    rewrite_drop_node(rw, run->nodes[0]);
    rewrite_drop_node(rw, run->nodes[1]);
    rewrite_add_node(rw, node, run->nodes[1]);
}

/* Bytes of parameters that come less those of the map that goes. */
static bool grows(const Rewriter *rw, const Affine *run, uint32_t channels) {
    uint64_t map_bytes = 0;
    const Value *between = graph_value(rw->graph, graph_node(rw->graph, run->nodes[0])->outputs[0]);
    bool is_sized = shape_packed_bytes(&between->shape, between->dtype, &map_bytes);
    return !is_sized || (uint64_t)channels * (sizeof(int8_t) + sizeof(int32_t)) > map_bytes + 2 * (uint64_t)channels;
}

static bool try_pair(Rewriter *rw, const Affine *run, Depthwise *to, Certificate *certificate) {
    Arena *scratch = &rw->work->scratch;
    Claim *claims = arena_array(scratch, Claim, to->channels);
    Stage *after = arena_array(scratch, Stage, to->channels);
    for (uint32_t c = 0; c < to->channels; c++) {
        const Stage *stages = affine_stages(run, run->channels == 1 ? 0 : c);
        if (!fill_channel(stages, to, c, &after[c])) {
            return false;
        }
        claims[c] =
            (Claim){.before = stages, .before_count = 2, .after = &after[c], .after_count = 1, .domain = run->domain};
    }
    ProofTerms terms = {.rule = "depthwise", .semantics = rw->semantics, .tolerance_lsb = rw->tolerance};
    *certificate = prove_channels(claims, to->channels, &terms, rw->work);
    if (certificate->class != PROOF_REFUSED && rw->verify) {
        CHECK(proof_verify(claims, to->channels, certificate, rw->work));
    }
    return certificate->class != PROOF_REFUSED;
}

void rule_depthwise(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; rw->graph->format == FORMAT_TFLITE && at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        Affine run;
        Certificate certificate;
        if (rw->is_gone[id.index] || graph_node(rw->graph, id)->op != OP_ADD || !affine_collect(rw, id, &run) ||
            !is_pair(rw, &run)) {
            continue;
        }
        Arena *keep = &rw->work->keep;
        Depthwise to = {.channels = (uint32_t)graph_value(rw->graph, run.in)->shape.dim[3]};
        to.weight = arena_array(keep, int32_t, to.channels);
        to.bias = arena_array(keep, int32_t, to.channels);
        to.weight_scale = arena_array(keep, float, to.channels);
        to.bias_scale = arena_array(keep, float, to.channels);
        if (grows(rw, &run, to.channels) || !try_pair(rw, &run, &to, &certificate)) {
            continue;
        }
        const Node first = *graph_node(rw->graph, run.nodes[0]);
        replace_pair(rw, &run, &to);
        rewrite_log(rw, (Rewrite){.node = first.name,
                                  .op = first.op_name,
                                  .form = AFFINE_MULADD,
                                  .certificate = certificate,
                                  .nodes = 1,
                                  .is_verified = rw->verify});
    }
}
