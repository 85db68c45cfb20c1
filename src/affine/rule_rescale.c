/* Rescale: what lies between Dequantize and Quantize goes into the former (ONNX).
 *
 *     q ─Dequantize(s, z)─ a x + b ─Quantize─ o    =>    q ─Dequantize(a s, z - b / (a s))─ ─Quantize─ o
 * A scale and a zero point a channel. What does not change of the two stays the constant that it is; for what comes
 * the model may not grow. */
#include "affine/coded.h"
#include "affine/growth.h"
#include "layout/packed.h"
#include "stage/bound.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The same constant as before, or one that comes. */
typedef struct {
    ValueId old; /* NO_VALUE where there is none */
    bool stays;
    Str stem; /* of the new name */
} Coding;

typedef struct {
    StageCode *codes; /* of each channel */
    Claim *claims;
    Shape shape; /* of scale and zero point */
    Coding scale, zero;
} Rescale;

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

/* What the run would be with its Dequantize rescaled; `codes` is of each channel. Null where no channel's scale does.
 */
static Claim *rescale_claims(const Rewriter *rw, const Affine *affine, StageCode *codes) {
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

/* ---- Constants */

static Coding coding_of(Rewriter *rw, const Affine *affine, uint32_t input, const char *suffix) {
    const Node *coder = graph_node(rw->graph, affine->nodes[0]);
    ValueId old = input < coder->input_count ? coder->inputs[input] : NO_VALUE;
    Str stem = graph_value(rw->graph, affine->out)->name;
    return (Coding){.old = old, .stem = arena_format(&rw->work->keep, STR_FMT "%s", STR_ARG(stem), suffix)};
}

static bool has_shape(const Rewriter *rw, ValueId id, const Shape *shape) {
    return is_value(id) && shape_eq(&graph_value(rw->graph, id)->shape, shape);
}

static void keep_what_stays(const Rewriter *rw, const Affine *affine, Rescale *to) {
    bool same_scale = true, same_zero = true, is_zero = true;
    for (uint32_t c = 0; c < affine->channels; c++) {
        const StageCode *own = &affine_stages(affine, c)->code;
        same_scale = same_scale && same_float(own->scale, to->codes[c].scale);
        same_zero = same_zero && own->zero_point == to->codes[c].zero_point;
        is_zero = is_zero && to->codes[c].zero_point == 0;
    }
    to->scale.stays = same_scale && has_shape(rw, to->scale.old, &to->shape);
    to->zero.stays = is_value(to->zero.old) ? same_zero && has_shape(rw, to->zero.old, &to->shape) : is_zero;
}

static DType dtype_of(const Rewriter *rw, const Affine *affine, bool is_scale) {
    return is_scale ? DTYPE_F32 : graph_value(rw->graph, affine->in)->dtype;
}

static bool plan_rescale(Rewriter *rw, const Affine *affine, Rescale *to) {
    *to = (Rescale){.codes = arena_array(&rw->work->scratch, StageCode, affine->channels)};
    to->claims = rescale_claims(rw, affine, to->codes);
    if (to->claims == NULL) {
        return false;
    }
    to->scale = coding_of(rw, affine, 1, "_scale");
    to->zero = coding_of(rw, affine, 2, "_zero");
    to->shape = affine->channels == 1 ? graph_value(rw->graph, to->scale.old)->shape
                                      : (Shape){.rank = 1, .dim = {affine->channels}};
    keep_what_stays(rw, affine, to);
    return true;
}

/* Bytes that come for one constant, less those that go; the constants are of the packed size of their channels. */
static int64_t coding_growth(Rewriter *rw, const Affine *affine, const Coding *coding, bool is_scale) {
    uint64_t bytes = 0;
    if (coding->stays) {
        return 0;
    }
    (void)packed_bytes(affine->channels, dtype_bits(dtype_of(rw, affine, is_scale)), &bytes);
    Str name = rewrite_fresh_name(rw, coding->stem);
    uint64_t comes = growth_tensor_bytes(rw, bytes, name) + growth_name_bytes(rw, name), goes = 0;
    if (is_value(coding->old)) {
        bool is_last = coding->old.index < rw->use_values && rw->reader_count[coding->old.index] == 1;
        goes = growth_name_bytes(rw, graph_value(rw->graph, coding->old)->name);
        goes += is_last ? growth_freed_with(rw, coding->old) : 0;
    }
    return (int64_t)comes - (int64_t)goes;
}

static int64_t growth_of(Rewriter *rw, const Affine *affine, const Rescale *to) {
    const Node *coder = graph_node(rw->graph, affine->nodes[0]);
    const Node *last = graph_node(rw->graph, affine->nodes[affine->node_count - 1]);
    int64_t growth = coding_growth(rw, affine, &to->scale, true) + coding_growth(rw, affine, &to->zero, false);
    growth += (int64_t)growth_name_bytes(rw, graph_value(rw->graph, coder->outputs[0])->name);
    growth -= (int64_t)growth_name_bytes(rw, graph_value(rw->graph, last->inputs[0])->name);
    for (uint32_t k = 1; k + 1 < affine->node_count; k++) {
        growth -= (int64_t)growth_freed_with_node(rw, graph_node(rw->graph, affine->nodes[k]));
    }
    return growth;
}

/* ---- The rule */

static ValueId add_coding(Rewriter *rw, const Affine *affine, const Rescale *to, bool is_scale) {
    Arena *keep = &rw->work->keep;
    DType dtype = dtype_of(rw, affine, is_scale);
    uint64_t bytes = 0;
    (void)packed_bytes(affine->channels, dtype_bits(dtype), &bytes);
    uint8_t *at = arena_array(keep, uint8_t, (size_t)bytes);
    for (uint32_t c = 0; c < affine->channels; c++) {
        uint32_t bits;
        memcpy(&bits, &to->codes[c].scale, sizeof bits);
        packed_write(at, c, dtype_bits(dtype), is_scale ? bits : (uint64_t)(int64_t)to->codes[c].zero_point);
    }
    Const *constant = arena_new(keep, Const);
    *constant = (Const){.stored = to->shape, .bytes = {at, (size_t)bytes}, .is_known = true};
    const Value value = {
        .dtype = dtype, .has_shape = true, .shape = to->shape, .constant = constant, .producer = NO_NODE};
    return rewrite_add_value(rw, value, is_scale ? to->scale.stem : to->zero.stem);
}

static ValueId find_coding(Rewriter *rw, const Affine *affine, const Rescale *to, bool is_scale, uint64_t *bytes) {
    const Coding *coding = is_scale ? &to->scale : &to->zero;
    if (coding->stays) {
        return coding->old;
    }
    ValueId added = add_coding(rw, affine, to, is_scale);
    *bytes += graph_value(rw->graph, added)->constant->bytes.len;
    return added;
}

void rescale_run(Rewriter *rw, const Affine *affine) {
    Rescale to;
    if (!plan_rescale(rw, affine, &to) || growth_of(rw, affine, &to) > 0) {
        return;
    }
    Certificate certificate = coded_prove(rw, to.claims, affine, "rescale", rw->tolerance);
    if (certificate.class == PROOF_REFUSED) {
        return;
    }
    NodeId coder = affine->nodes[0], last = affine->nodes[affine->node_count - 1];
    uint64_t bytes = 0;
    ValueId inputs[3] = {affine->in};
    inputs[1] = find_coding(rw, affine, &to, true, &bytes);
    inputs[2] = find_coding(rw, affine, &to, false, &bytes);
    rewrite_set_inputs(rw, coder, inputs, is_value(inputs[2]) ? 3 : 2);
    rewrite_read(rw, last, 0, graph_node(rw->graph, coder)->outputs[0]);
    for (uint32_t k = 1; k + 1 < affine->node_count; k++) {
        rewrite_drop_node(rw, affine->nodes[k]);
    }
    coded_log(rw, affine, to.claims,
              (Rewrite){.form = AFFINE_REQUANT,
                        .certificate = certificate,
                        .nodes = affine->node_count - 2,
                        .constant_bytes = (int64_t)bytes});
}

/* ---- What stays, and why */

const char *rescale_why_not(Rewriter *rw, const Affine *affine) {
    Arena *keep = &rw->work->keep;
    Rescale to;
    if (rw->graph->format == FORMAT_TFLITE) {
        return ". TFLite has no operator that does it for less";
    }
    if (rw->graph->format != FORMAT_ONNX || affine->node_count < 3) { /* Dequantize and Quantize alone */
        return "";
    }
    if (!plan_rescale(rw, affine, &to)) {
        return ". Its Dequantize can't do it: a factor is not positive, a zero point is no code, or the axis another";
    }
    int64_t growth = growth_of(rw, affine, &to);
    if (growth > 0) {
        return arena_text(
            keep, ". New scales or zero points of its Dequantize would make the model grow by %" PRId64 " bytes",
            growth);
    }
    Certificate certificate = coded_prove(rw, to.claims, affine, "rescale", UINT16_MAX);
    if (certificate.class == PROOF_REFUSED || !certificate.has_witness) {
        return "";
    }
    const Witness *witness = &certificate.witness;
    return arena_text(keep,
                      ". A rescaled Dequantize would turn code %" PRId64 " of channel %" PRIu32 " into %" PRId64
                      " instead of %" PRId64 ": stride0 simplify --tolerance %" PRIu64 " allows it",
                      witness->input, witness->channel, witness->after, witness->before, certificate.max_error_lsb);
}
