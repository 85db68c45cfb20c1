/* Claims of runs, and their log. See coded.h. */
#include "affine/coded.h"

#include "base/fault.h"

bool coded_may_end(const Rewriter *rw, const Node *node) {
    bool is_coded =
        rw->graph->format == FORMAT_TFLITE && (node->op == OP_MUL || node->op == OP_ADD || node->op == OP_SUB);
    return (node->op == OP_QUANTIZE || is_coded) && !node->is_constant && node->output_count == 1;
}

Claim *coded_claims(const Rewriter *rw, const Affine *run) {
    Claim *claims = arena_array(&rw->work->scratch, Claim, run->channels);
    for (uint32_t c = 0; c < run->channels; c++) {
        claims[c] = (Claim){.before = affine_stages(run, c), .before_count = run->node_count, .domain = run->domain};
    }
    return claims;
}

Certificate coded_prove(Rewriter *rw, const Claim *claims, const Affine *run, const char *rule, uint64_t tolerance) {
    ProofTerms terms = {.rule = rule, .semantics = rw->semantics, .tolerance_lsb = tolerance};
    return prove_channels(claims, run->channels, &terms, rw->work);
}

void coded_log(Rewriter *rw, const Affine *run, const Claim *claims, Rewrite rewrite) {
    const Node *first = graph_node(rw->graph, run->nodes[0]);
    rewrite.node = first->name;
    rewrite.op = first->op_name;
    if (rw->verify) {
        CHECK(proof_verify(claims, run->channels, &rewrite.certificate, rw->work));
        rewrite.is_verified = true;
    }
    rewrite_log(rw, rewrite);
}

void coded_each_run(Rewriter *rw, void (*visit)(Rewriter *, const Affine *)) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        Affine affine;
        if (!rw->is_gone[id.index] && coded_may_end(rw, graph_node(rw->graph, id)) && affine_collect(rw, id, &affine)) {
            visit(rw, &affine);
        }
    }
}
