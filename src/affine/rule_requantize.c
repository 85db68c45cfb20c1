/* Requantises joined: codes in the middle of a run go.
 *
 *     q ─Dequantize─ … ─Quantize─ m ─Dequantize─ … ─Quantize─ o    =>   q ─Dequantize─ … … ─Quantize─ o
 *     q ─QUANTIZE─ m ─QUANTIZE─ o   (TFLite, on codes)             =>   q ─QUANTIZE─ o
 * At m a number is rounded once more than at o alone, and limited to what its codes reach: that it shows in no code of
 * o, whatever code of q, is proven of the whole run. The most middle codes that may go together go first; those that
 * stay are told, with a code that would change. */
#include "affine/coded.h"

/* Stages whose codes are read by one more coder: of the run, in order. */
typedef struct {
    uint32_t count;
    uint32_t at[AFFINE_MOST_STAGES];
} Middles;

/* Some of them that are side by side. */
typedef struct {
    uint32_t first, end;
} Gone;

static bool gives_codes(const Stage *stage) {
    return stage->kind == STAGE_QUANTIZE || stage->kind == STAGE_CODE_REQUANTIZE;
}

static bool takes_codes(const Stage *stage) {
    return stage->kind == STAGE_DEQUANTIZE || stage->kind == STAGE_CODE_REQUANTIZE;
}

static Middles find_middles(const Affine *run) {
    Middles middles = {0};
    for (uint32_t k = 0; k + 1 < run->node_count; k++) {
        if (gives_codes(&run->stages[k]) && takes_codes(&run->stages[k + 1])) {
            middles.at[middles.count++] = k;
        }
    }
    return middles;
}

static bool goes(const Middles *middles, Gone gone, uint32_t stage) {
    for (uint32_t k = gone.first; k < gone.end; k++) {
        if (middles->at[k] == stage) {
            return true;
        }
    }
    return false;
}

/* ---- Stages */

/* What stands in the place of two coders: one, or none between reals. Returns how many. */
static uint32_t join(const Stage *first, const Stage *second, Stage *joined) {
    bool from_reals = first->kind == STAGE_QUANTIZE, to_reals = second->kind == STAGE_DEQUANTIZE;
    *joined = *second;
    joined->from = first->from;
    if (from_reals) {
        joined->kind = STAGE_QUANTIZE;
        joined->code = second->integer.out;
    } else if (to_reals) {
        joined->code = first->integer.in;
    } else {
        joined->integer.in = first->integer.in;
    }
    return from_reals && to_reals ? 0 : 1;
}

/* Requantises of these types both TFLite and TFLite Micro have. A Dequantize has another version for another type. */
static bool has_kernel(DType from, DType to) {
    bool to_byte = to == DTYPE_I8 || (to == DTYPE_U8 && from == DTYPE_I8);
    bool is_same = from == DTYPE_I16 && to == DTYPE_I16;
    bool from_known = from == DTYPE_I8 || from == DTYPE_U8 || from == DTYPE_I16 || from == DTYPE_F32;
    return (from_known && to_byte) || is_same || (from == DTYPE_F32 && to == DTYPE_I16);
}

static bool is_one_kernel(const Stage *first, const Stage *second, const Stage *joined) {
    bool is_known = (joined->from == first->from && joined->to == first->to) ||
                    (joined->from == second->from && joined->to == second->to);
    return is_known || (joined->kind != STAGE_DEQUANTIZE && has_kernel(joined->from, joined->to));
}

/* The stages of one channel with the middle codes gone; `fault` where no operator does what two did. */
static uint32_t join_stages(const Affine *run, const Middles *middles, Gone gone, uint32_t channel, Stage *after,
                            StageFault *fault) {
    const Stage *stages = affine_stages(run, channel);
    uint32_t count = 0;
    for (uint32_t k = 0; k < run->node_count; k++) {
        if (k == 0 || !goes(middles, gone, k - 1)) {
            after[count++] = stages[k];
            continue;
        }
        Stage first = after[--count];
        uint32_t left = join(&first, &stages[k], &after[count]);
        if (left == 1 && !is_one_kernel(&first, &stages[k], &after[count])) {
            *fault = "there is no operator for these types that TFLite and TFLite Micro have both";
        }
        count += left;
    }
    return count;
}

static StageFault join_claims(const Rewriter *rw, const Affine *run, const Middles *middles, Gone gone, Claim *claims) {
    StageFault fault = NULL;
    for (uint32_t c = 0; c < run->channels && fault == NULL; c++) {
        Stage *after = arena_array(&rw->work->scratch, Stage, run->node_count);
        claims[c].after = after;
        claims[c].after_count = join_stages(run, middles, gone, c, after, &fault);
    }
    bool is_first_gone = goes(middles, gone, 0); /* state may be written before it is read later */
    return is_first_gone && graph_value(rw->graph, run->in)->is_state ? "the codes are state" : fault;
}

/* ---- Nodes */

static void read_instead(Rewriter *rw, NodeId id, ValueId from, ValueId to) {
    const Node *node = graph_node(rw->graph, id);
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (is_value(from) && node->inputs[k].index == from.index) {
            rewrite_read(rw, id, k, to);
            return;
        }
    }
}

/* Returns how many nodes went. */
static uint32_t join_nodes(Rewriter *rw, const Affine *run, const Middles *middles, Gone gone) {
    NodeId last = NO_NODE; /* that is left */
    ValueId from = NO_VALUE, to = NO_VALUE;
    uint32_t dropped = 0;
    for (uint32_t k = 0; k < run->node_count; k++) {
        NodeId id = run->nodes[k];
        read_instead(rw, id, from, to); /* what a Dequantize gave that is gone */
        from = NO_VALUE;
        if (k > 0 && goes(middles, gone, k - 1)) {
            ValueId in = graph_node(rw->graph, last)->inputs[0];
            rewrite_drop_node(rw, last);
            dropped++;
            if (graph_value(rw->graph, in)->dtype != DTYPE_F32 || graph_node(rw->graph, id)->op != OP_DEQUANTIZE) {
                rewrite_read(rw, id, 0, in);
            } else {
                from = graph_node(rw->graph, id)->outputs[0];
                to = in;
                rewrite_drop_node(rw, id);
                dropped++;
            }
        }
        last = id;
    }
    return dropped;
}

/* ---- The rule */

static Certificate prove_join(Rewriter *rw, const Affine *run, const Middles *middles, Gone gone, Claim **claims) {
    *claims = coded_claims(rw, run);
    const char *fault = join_claims(rw, run, middles, gone, *claims);
    return fault != NULL ? (Certificate){.class = PROOF_REFUSED, .reason = fault}
                         : coded_prove(rw, *claims, run, "joined", 0);
}

/* Mostly the first channel tells already that it can't be. */
static bool try_join(Rewriter *rw, const Affine *run, const Middles *middles, Gone gone, const char **why) {
    Affine one = *run;
    one.channels = 1;
    Claim *claims;
    Certificate certificate = prove_join(rw, &one, middles, gone, &claims);
    if (certificate.class != PROOF_REFUSED && run->channels > 1) {
        certificate = prove_join(rw, run, middles, gone, &claims);
    }
    *why = certificate.reason;
    if (certificate.class == PROOF_REFUSED) {
        return false;
    }
    uint32_t dropped = join_nodes(rw, run, middles, gone);
    coded_log(rw, run, claims, (Rewrite){.form = AFFINE_REQUANT, .certificate = certificate, .nodes = dropped});
    return true;
}

static void refuse(Rewriter *rw, const Affine *run, uint32_t stage, const char *why) {
    ValueId codes = graph_node(rw->graph, run->nodes[stage])->outputs[0];
    rewrite_refuse(rw, run->nodes[stage], graph_value(rw->graph, codes)->name,
                   arena_text(&rw->work->keep, "the codes in the middle stay: %s", why));
}

static void join_run(Rewriter *rw, const Affine *run) {
    Middles middles = find_middles(run);
    const char *why[AFFINE_MOST_STAGES] = {NULL};
    for (uint32_t width = middles.count; width > 0; width--) {
        for (uint32_t first = 0; first + width <= middles.count; first++) {
            if (try_join(rw, run, &middles, (Gone){first, first + width}, &why[first])) {
                return;
            }
        }
    }
    for (uint32_t k = 0; k < middles.count; k++) {
        refuse(rw, run, middles.at[k], why[k]);
    }
}

/* A run is a part of one that ends later, but for what that one has no room for. */
static void mark_seen(const Affine *run, bool *is_seen) {
    uint32_t first = run->node_count == AFFINE_MOST_STAGES ? AFFINE_MOST_STAGES / 2 : 0;
    for (uint32_t k = first; k < run->node_count; k++) {
        is_seen[run->nodes[k].index] = true;
    }
}

void rule_requantize(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    bool *is_seen = arena_array(&rw->work->scratch, bool, rw->graph->node_count);
    for (uint32_t at = main->node_count; at-- > 0;) {
        NodeId id = main->nodes[at];
        Affine run;
        if (!rw->is_gone[id.index] && !is_seen[id.index] && coded_may_end(rw, graph_node(rw->graph, id)) &&
            affine_collect_past(rw, id, &run)) {
            mark_seen(&run, is_seen);
            rw->evaluations_left = CODED_MOST_EVALUATIONS;
            join_run(rw, &run);
        }
    }
}
