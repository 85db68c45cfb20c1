/* Codes: runs of per-channel operators between integer codes.
 *
 * Each run is a function of one code and the channel. It is taken from the model's own arithmetic, stage by stage, and
 * is replaced by the cheapest thing that is proven to be the same function:
 *
 *     identity   every code comes out as it went in, and means the same: the run goes
 * A Dequantize that takes what lies behind it is rule_rescale.c's, codes in the middle of a run are
 * rule_requantize.c's. A run that stays is reported with its form and the channels that are no better. */
#include "affine/coded.h"
#include "affine/distinct.h"

#include <inttypes.h>

/* ---- Identity */

/* The last operator is bypassed, what led to it is read by nobody then. */
static bool remove_identity(Rewriter *rw, const Affine *affine) {
    NodeId last = affine->nodes[affine->node_count - 1];
    Claim *claims = coded_claims(rw, affine);
    Certificate certificate = coded_prove(rw, claims, affine, "identity_run", 0);
    if (certificate.class == PROOF_REFUSED || !rewrite_bypass(rw, last, affine->in, affine->out)) {
        return false;
    }
    coded_log(rw, affine, claims, (Rewrite){.form = AFFINE_REMOVE, .certificate = certificate, .nodes = 1});
    return true;
}

/* Do the codes of `in` mean what those at the end of the run mean? */
static bool may_be_identity(const Rewriter *rw, ValueId in, ValueId out) {
    return graph_value(rw->graph, in)->quant != NULL && rewrite_same_codes(rw, in, out) &&
           rewrite_same_shape(rw, in, out);
}

/* The run, or as much of its end as gives back what it is given: the longest that does. */
static void remove_run(Rewriter *rw, const Affine *affine) {
    Affine part = *affine;
    bool is_gone = may_be_identity(rw, affine->in, affine->out) && remove_identity(rw, affine);
    for (uint32_t k = 1; !is_gone && k < affine->node_count; k++) {
        ValueId in = graph_node(rw->graph, affine->nodes[k - 1])->outputs[0];
        if (may_be_identity(rw, in, affine->out) && affine_read(rw, affine->nodes + k, affine->node_count - k, &part)) {
            part.domain = affine_codes_of(graph_value(rw->graph, in)->dtype);
            is_gone = remove_identity(rw, &part);
        }
    }
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

/* A Dequantize that was given a new scale or zero point, and the Quantize behind it. */
static bool is_rescaled(const Rewriter *rw, const Affine *affine) {
    const Node *coder = graph_node(rw->graph, affine->nodes[0]);
    bool is_new = false;
    for (uint32_t k = 1; k < coder->input_count; k++) {
        is_new = is_new || (is_value(coder->inputs[k]) && coder->inputs[k].index >= rw->first_count);
    }
    return is_new && affine->node_count == 2 && coder->op == OP_DEQUANTIZE;
}

/* What the run is, and why nothing cheaper stands there. */
static const char *why_stays(Rewriter *rw, const Affine *affine) {
    Arena *keep = &rw->work->keep;
    const Claim *claims = coded_claims(rw, affine);
    const uint32_t *first = distinct_claims(claims, affine->channels, &rw->work->scratch);
    uint64_t cost = 2 * coded_cost(rw, claims, first, affine->channels); /* there is mostly one candidate beside it */
    ChannelForm *channels = arena_array(&rw->work->scratch, ChannelForm, affine->channels);
    if (cost > rw->evaluations_left) {
        return arena_text(keep, "is not looked through: %s", coded_too_many(rw, cost));
    }
    rw->evaluations_left -= cost;
    for (uint32_t c = 0; c < affine->channels; c++) {
        channels[c] = first[c] < c ? channels[first[c]]
                                   : affine_channel_form(affine_stages(affine, c), affine->node_count, affine->domain,
                                                         rw->semantics, rw->work);
    }
    NodeForm form = affine_node_form(channels, affine->channels, keep);
    return arena_text(keep, "%s%s", reason_of(&form, channels, affine->channels, keep), rescale_why_not(rw, affine));
}

static void report_run(Rewriter *rw, const Affine *affine) {
    if (is_rescaled(rw, affine)) {
        return;
    }
    const char *others;
    NodeId name = name_of_run(rw, affine, &others);
    const char *reason =
        arena_text(&rw->work->keep, "%s%s%s", others, others[0] == '\0' ? "" : " in front it ", why_stays(rw, affine));
    rewrite_refuse(rw, name, graph_value(rw->graph, affine->out)->name, reason);
    for (uint32_t k = 0; k < affine->node_count; k++) {
        rw->is_told[affine->nodes[k].index] = true;
    }
}

void rule_codes(Rewriter *rw) {
    meaning_refresh(rw);
    coded_each_run(rw, remove_run);
    rewrite_refresh(rw);
    rule_requantize(rw);
    rewrite_refresh(rw);
    coded_each_run(rw, rescale_run);
}

void report_codes(Rewriter *rw) {
    coded_each_run(rw, report_run);
}
