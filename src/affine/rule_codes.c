/* Codes: runs of per-channel operators between integer codes.
 *
 * Each run is a function of one code and the channel. It is taken from the model's own arithmetic, stage by stage, and
 * is replaced by the cheapest thing that is proven to be the same function:
 *
 *     identity   every code comes out as it went in, and means the same: the run goes
 *     rescale    Dequantize with a scale and a zero point a channel, then Quantize: what lies between goes (ONNX)
 * Codes in the middle of a run are rule_requantize.c's. A run that stays is reported with its form and the channels
 * that are no better. */
#include "affine/coded.h"
#include "layout/packed.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Identity */

/* The last operator is bypassed, what led to it is read by nobody then. */
static void remove_run(Rewriter *rw, const Affine *affine) {
    NodeId last = affine->nodes[affine->node_count - 1];
    bool is_told = graph_value(rw->graph, affine->in)->quant != NULL;
    if (!is_told || !rewrite_same_codes(rw, affine->in, affine->out) ||
        !rewrite_same_shape(rw, affine->in, affine->out)) {
        return;
    }
    const Claim *claims = coded_claims(rw, affine);
    Certificate certificate = coded_prove(rw, claims, affine, "identity_run", 0);
    if (certificate.class == PROOF_REFUSED || !rewrite_bypass(rw, last, affine->in, affine->out)) {
        return;
    }
    coded_log(rw, affine, claims, (Rewrite){.form = AFFINE_REMOVE, .certificate = certificate, .nodes = 1});
}

/* ---- Rescale */

/* Dequantize with s * a and the zero point that moves by b gives a * x + b, up to rounding. False where the codes of
 * the zero point do not reach that far, or the sign turns. */
static bool rescaled(const Stage *stages, uint32_t count, StageCode *code) {
    double a, b;
    if (affine_fold(stages, count, &a, &b) != NULL) {
        return false;
    }
    const StageCode *own = &stages[0].code;
    double scale = a * (double)own->scale;
    double zero = (double)own->zero_point - (scale == 0 ? 0 : nearbyint(b / scale));
    Domain codes = affine_codes_of(stages[0].from);
    if (!(scale > 0) || !isfinite(scale) || !(zero >= (double)codes.lo && zero <= (double)codes.hi)) {
        return false;
    }
    *code = (StageCode){(float)scale, (int32_t)zero};
    return code->scale > 0 && isfinite(code->scale);
}

static bool is_rescale_shape(const Rewriter *rw, const Affine *affine) {
    uint32_t last = affine->node_count - 1;
    if (rw->graph->format != FORMAT_ONNX || affine->node_count < 3 || affine->stages[0].kind != STAGE_DEQUANTIZE ||
        affine->stages[last].kind != STAGE_QUANTIZE) {
        return false;
    }
    const Node *coder = graph_node(rw->graph, affine->nodes[0]);
    int64_t axis = node_int(coder, "axis", 1);
    axis += axis < 0 ? (int64_t)graph_value(rw->graph, affine->in)->shape.rank : 0;
    /* Without channels the axis is not read; with them it must be what the node says already. */
    return affine->channels == 1 || (coder->version >= 13 && axis == affine->axis);
}

static ValueId add_coding(Rewriter *rw, const Affine *affine, const StageCode *codes, bool is_scale, Str stem) {
    Arena *keep = &rw->work->keep;
    DType dtype = is_scale ? DTYPE_F32 : graph_value(rw->graph, affine->in)->dtype;
    Shape shape = {.rank = affine->channels == 1 ? 0 : 1, .dim = {affine->channels}};
    uint64_t bytes = 0;
    (void)packed_bytes(affine->channels, dtype_bits(dtype), &bytes);
    uint8_t *at = arena_array(keep, uint8_t, (size_t)bytes);
    for (uint32_t c = 0; c < affine->channels; c++) {
        uint32_t bits;
        memcpy(&bits, &codes[c].scale, sizeof bits);
        packed_write(at, c, dtype_bits(dtype), is_scale ? bits : (uint64_t)(int64_t)codes[c].zero_point);
    }
    Const *constant = arena_new(keep, Const);
    *constant = (Const){.stored = shape, .bytes = {at, (size_t)bytes}, .is_known = true};
    return rewrite_add_value(
        rw, (Value){.dtype = dtype, .has_shape = true, .shape = shape, .constant = constant, .producer = NO_NODE},
        stem);
}

static uint64_t bytes_of(const Rewriter *rw, ValueId id) {
    return graph_value(rw->graph, id)->constant->bytes.len;
}

/* Does the operator say what the codes that it reads or writes stand for? */
static bool says_codes(const Node *node) {
    switch (node->op) {
    case OP_QUANTIZE:
    case OP_DEQUANTIZE:
    case OP_QLINEAR_CONV:
    case OP_QLINEAR_MATMUL:
    case OP_QLINEAR_ADD:
    case OP_QLINEAR_MUL:
    case OP_QLINEAR_CONCAT:
    case OP_QLINEAR_AVERAGE_POOL:
    case OP_QLINEAR_GLOBAL_AVERAGE_POOL:
    case OP_QLINEAR_LEAKY_RELU:
    case OP_QLINEAR_SIGMOID:
    case OP_MATMUL_INTEGER_TO_FLOAT:
        return true;
    default:
        return false;
    }
}

/* The codes stand for what the first says who makes or reads them: as they will when the file is read again. */
static bool is_first_to_say(const Rewriter *rw, const Affine *affine) {
    const Graph *graph = rw->graph;
    NodeId producer = graph_value(graph, affine->in)->producer;
    if (is_node(producer) && says_codes(graph_node(graph, producer))) {
        return false;
    }
    for (uint32_t u = rw->uses.first[affine->in.index]; u < rw->uses.first[affine->in.index + 1]; u++) {
        NodeId reader = rw->uses.use[u];
        if (!rw->is_gone[reader.index] && says_codes(graph_node(graph, reader))) {
            return reader.index == affine->nodes[0].index;
        }
    }
    return false;
}

static void carry(Rewriter *rw, const Affine *affine, const StageCode *codes) {
    Arena *keep = &rw->work->keep;
    float *scale = arena_array(keep, float, affine->channels);
    int64_t *zero = arena_array(keep, int64_t, affine->channels);
    if (!is_first_to_say(rw, affine)) {
        return;
    }
    for (uint32_t c = 0; c < affine->channels; c++) {
        scale[c] = codes[c].scale;
        zero[c] = codes[c].zero_point;
    }
    Quant *quant = arena_new(keep, Quant);
    *quant = (Quant){.count = affine->channels, .axis = affine->axis, .scale = scale, .zero_point = zero};
    graph_value(rw->graph, affine->in)->quant = quant;
}

/* What the run would be with its Dequantize rescaled; `codes` is of each channel. Null where no channel's scale does.
 */
static const Claim *rescale_claims(const Rewriter *rw, const Affine *affine, StageCode *codes) {
    Claim *claims = coded_claims(rw, affine);
    Stage *after = arena_array(&rw->work->scratch, Stage, (size_t)affine->channels * 2);
    if (!is_rescale_shape(rw, affine)) {
        return NULL;
    }
    for (uint32_t c = 0; c < affine->channels; c++) {
        const Stage *stages = affine_stages(affine, c);
        if (!rescaled(stages, affine->node_count, &codes[c])) {
            return NULL;
        }
        after[2 * c] = stages[0];
        after[2 * c].code = codes[c];
        after[2 * c + 1] = stages[affine->node_count - 1];
        claims[c].after = &after[2 * c];
        claims[c].after_count = 2;
    }
    return claims;
}

static void rescale_run(Rewriter *rw, const Affine *affine) {
    StageCode *codes = arena_array(&rw->work->scratch, StageCode, affine->channels);
    const Claim *claims = rescale_claims(rw, affine, codes);
    if (claims == NULL) {
        return;
    }
    Certificate certificate = coded_prove(rw, claims, affine, "rescale", rw->tolerance);
    if (certificate.class == PROOF_REFUSED) {
        return;
    }
    NodeId coder = affine->nodes[0], last = affine->nodes[affine->node_count - 1];
    Str stem = graph_value(rw->graph, affine->out)->name;
    ValueId scale = add_coding(rw, affine, codes, true, arena_format(&rw->work->keep, STR_FMT "_scale", STR_ARG(stem)));
    ValueId zero = add_coding(rw, affine, codes, false, arena_format(&rw->work->keep, STR_FMT "_zero", STR_ARG(stem)));
    const ValueId inputs[] = {affine->in, scale, zero};
    rewrite_set_inputs(rw, coder, inputs, 3);
    rewrite_read(rw, last, 0, graph_node(rw->graph, coder)->outputs[0]);
    for (uint32_t k = 1; k + 1 < affine->node_count; k++) {
        rewrite_drop_node(rw, affine->nodes[k]);
    }
    carry(rw, affine, codes);
    coded_log(rw, affine, claims,
              (Rewrite){.form = AFFINE_REQUANT,
                        .certificate = certificate,
                        .nodes = affine->node_count - 2,
                        .constant_bytes = (int64_t)(bytes_of(rw, scale) + bytes_of(rw, zero))});
}

/* ---- What stays, and why */

/* The first channel that is no better than the node; a join is no channel's own, then the first that blocks. */
static uint32_t worst_channel(const NodeForm *form, const ChannelForm *channels, uint32_t count) {
    for (uint32_t c = 0; c < count; c++) {
        if (channels[c].form == form->form) {
            return c;
        }
    }
    return form->blocked_count > 0 ? form->blocked[0] : 0;
}

/* "is a table of codes (lut): no integer …" */
static const char *form_text(AffineForm form) {
    static const char *const texts[] = {
        [AFFINE_REMOVE] = "changes no code (remove)",
        [AFFINE_ADD_INT] = "moves all codes by one number (add_int)",
        [AFFINE_BIAS] = "adds a number (bias)",
        [AFFINE_REQUANT] = "multiplies by a number (requant)",
        [AFFINE_SHIFT] = "multiplies by a power of 2 (shift)",
        [AFFINE_MULADD] = "multiplies and adds (muladd)",
        [AFFINE_LUT] = "is a table of codes (lut)",
        [AFFINE_REFUSE] = "has no form (refuse)",
    };
    return texts[form];
}

static const char *reason_of(const NodeForm *form, const ChannelForm *channels, uint32_t count, Arena *keep) {
    uint32_t worst = worst_channel(form, channels, count);
    const char *what = form_text(form->form);
    const char *why = channels[worst].why;
    if (why == NULL) {
        why = "but both ends must stay: the model names them, or they stand for other numbers";
    }
    bool is_plain = form->form == AFFINE_ADD_INT || form->form == AFFINE_SHIFT || form->form == AFFINE_MULADD;
    if (form->blocked_count == 0) {
        return is_plain ? what : arena_text(keep, "%s: %s", what, why);
    }
    const char *best = form->best == AFFINE_REMOVE ? "go" : arena_text(keep, "be %s", affine_form_name(form->best));
    return arena_text(keep, "%s: %u of %u channels could %s, channel %u can't: %s", what,
                      (unsigned)(count - form->blocked_count), (unsigned)count, best, (unsigned)worst, why);
}

/* Why nothing cheaper stands there: what a rescaled Dequantize would change, where there could be one. */
static const char *why_not_rescaled(Rewriter *rw, const Affine *affine) {
    Arena *keep = &rw->work->keep;
    StageCode *codes = arena_array(&rw->work->scratch, StageCode, affine->channels);
    const Claim *claims = rescale_claims(rw, affine, codes);
    if (rw->graph->format == FORMAT_TFLITE) {
        return ". TFLite has no operator that does it for less";
    }
    if (rw->graph->format != FORMAT_ONNX || affine->node_count < 3) { /* Dequantize and Quantize alone */
        return "";
    }
    if (claims == NULL) {
        return ". Its Dequantize can't do it: a factor is not positive, a zero point is no code, or the axis another";
    }
    Certificate certificate = coded_prove(rw, claims, affine, "rescale", UINT16_MAX);
    if (certificate.class == PROOF_REFUSED || !certificate.has_witness) {
        return "";
    }
    const Witness *witness = &certificate.witness;
    return arena_text(keep,
                      ". A rescaled Dequantize would turn code %" PRId64 " of channel %" PRIu32 " into %" PRId64
                      " instead of %" PRId64 ": stride0 simplify --tolerance %" PRIu64 " allows it",
                      witness->input, witness->channel, witness->after, witness->before, certificate.max_error_lsb);
}

/* The run's operators; where it has none, its coders. The last names the run: no other run ends with it. */
static NodeId name_of_run(const Rewriter *rw, const Affine *affine, const char **others) {
    uint32_t first = 0, end = affine->node_count;
    OpId op = graph_node(rw->graph, affine->nodes[end - 1])->op;
    bool has_ends = end > 2 && op == OP_QUANTIZE && graph_node(rw->graph, affine->nodes[0])->op == OP_DEQUANTIZE;
    first += has_ends;
    end -= has_ends;
    *others = "";
    for (uint32_t k = first; k + 1 < end; k++) {
        Str name = graph_node(rw->graph, affine->nodes[k])->name;
        *others = arena_text(&rw->work->scratch, "%s%s" STR_FMT, *others, k == first ? "with " : ", ", STR_ARG(name));
    }
    return affine->nodes[end - 1];
}

/* A Dequantize that was given new scales, and the Quantize behind it. */
static bool is_rescaled(const Rewriter *rw, const Affine *affine) {
    const Node *coder = graph_node(rw->graph, affine->nodes[0]);
    return affine->node_count == 2 && coder->op == OP_DEQUANTIZE && coder->input_count > 1 &&
           coder->inputs[1].index >= rw->first_count;
}

static void report_run(Rewriter *rw, const Affine *affine) {
    Arena *keep = &rw->work->keep;
    ChannelForm *channels = arena_array(&rw->work->scratch, ChannelForm, affine->channels);
    if (is_rescaled(rw, affine)) {
        return;
    }
    for (uint32_t c = 0; c < affine->channels; c++) {
        channels[c] =
            affine_channel_form(affine_stages(affine, c), affine->node_count, affine->domain, rw->semantics, rw->work);
    }
    NodeForm form = affine_node_form(channels, affine->channels, keep);
    const char *others;
    NodeId name = name_of_run(rw, affine, &others);
    const char *reason = arena_text(keep, "%s%s%s%s", others, others[0] == '\0' ? "" : " in front it ",
                                    reason_of(&form, channels, affine->channels, keep), why_not_rescaled(rw, affine));
    rewrite_refuse(rw, name, graph_value(rw->graph, affine->out)->name, reason);
    for (uint32_t k = 0; k < affine->node_count; k++) {
        rw->is_told[affine->nodes[k].index] = true;
    }
}

/* Calls `visit` with each run, the longest that ends at its node. */
static void each_run(Rewriter *rw, void (*visit)(Rewriter *, const Affine *)) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        Affine affine;
        if (!rw->is_gone[id.index] && coded_may_end(rw, graph_node(rw->graph, id)) && affine_collect(rw, id, &affine)) {
            visit(rw, &affine);
        }
    }
}

void rule_codes(Rewriter *rw) {
    each_run(rw, remove_run);
    rewrite_refresh(rw);
    rule_requantize(rw);
    rewrite_refresh(rw);
    each_run(rw, rescale_run);
}

void report_codes(Rewriter *rw) {
    each_run(rw, report_run);
}
