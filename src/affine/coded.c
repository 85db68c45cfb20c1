/* Claims of runs, and their log. See coded.h. */
#include "affine/coded.h"

#include "affine/distinct.h"
#include "base/fault.h"

#include <inttypes.h>

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

/* ---- Proofs */

/* A proof that was refused is refused in the next round too, at the same cost. Two claims of one hash would only both
 * stay. */
typedef struct {
    uint64_t key, cost;
    Certificate certificate;
} Refused;

typedef struct CodedMemo {
    size_t count, capacity; /* slots: a power of 2, at most half of them taken */
    Refused *slots;         /* no reason: free */
} CodedMemo;

static Refused *find_slot(const CodedMemo *memo, uint64_t key) {
    size_t at = (size_t)key & (memo->capacity - 1);
    while (memo->slots[at].certificate.reason != NULL && memo->slots[at].key != key) {
        at = (at + 1) & (memo->capacity - 1);
    }
    return &memo->slots[at];
}

static void grow_memo(Rewriter *rw) {
    CodedMemo old = *rw->memo;
    rw->memo->capacity = old.capacity == 0 ? 64 : old.capacity * 2;
    rw->memo->slots = arena_array(&rw->work->keep, Refused, rw->memo->capacity);
    for (size_t k = 0; k < old.capacity; k++) {
        if (old.slots[k].certificate.reason != NULL) {
            *find_slot(rw->memo, old.slots[k].key) = old.slots[k];
        }
    }
}

static Refused *recall(Rewriter *rw, uint64_t key) {
    if (rw->memo == NULL) {
        rw->memo = arena_new(&rw->work->keep, CodedMemo);
    }
    if (2 * rw->memo->count >= rw->memo->capacity) {
        grow_memo(rw);
    }
    return find_slot(rw->memo, key);
}

static uint64_t key_of(const Claim *claims, const Affine *run, const char *rule, uint64_t tolerance) {
    uint64_t key = tolerance * 31 + (uint8_t)rule[0];
    for (uint32_t c = 0; c < run->channels; c++) {
        key = (key ^ distinct_hash(&claims[c])) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return key ^ key >> 32;
}

uint64_t coded_cost(const Rewriter *rw, const Claim *claims, const uint32_t *first, uint32_t channels) {
    uint64_t cost = 0, references = 0;
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        references += (rw->semantics & S0_SEM_BIT(s)) != 0;
    }
    for (uint32_t c = 0; c < channels; c++) {
        uint64_t codes = (uint64_t)(claims[c].domain.hi - claims[c].domain.lo) + 1; /* at most 2^16 */
        cost += first[c] == c ? codes * (claims[c].before_count + claims[c].after_count) : 0;
    }
    return cost * references;
}

const char *coded_too_many(Rewriter *rw, uint64_t cost) {
    return arena_text(&rw->work->keep,
                      "its proof takes %" PRIu64 " evaluations, and one run of operators may take %d in all: fewer "
                      "channels that differ, or codes of fewer bits, take less",
                      cost, CODED_MOST_EVALUATIONS);
}

static Certificate refuse_cost(Rewriter *rw, uint64_t cost) { /* no rule: that is no fact about the claims */
    return (Certificate){.class = PROOF_REFUSED, .reason = coded_too_many(rw, cost)};
}

static Certificate prove_within(Rewriter *rw, const Claim *claims, const Affine *run, const ProofTerms *terms) {
    const uint32_t *first = distinct_claims(claims, run->channels, &rw->work->scratch);
    uint64_t cost = coded_cost(rw, claims, first, run->channels);
    if (cost > rw->evaluations_left) {
        return refuse_cost(rw, cost);
    }
    Certificate certificate = prove_channels(claims, run->channels, terms, rw->work);
    uint64_t made = certificate.evaluations * (claims[0].before_count + claims[0].after_count);
    bool stopped = certificate.class == PROOF_REFUSED && made < cost;
    rw->evaluations_left -= stopped ? made : cost;
    return certificate;
}

static Certificate prove_on(Rewriter *rw, Claim *claims, const Affine *run, const ProofTerms *terms, Domain domain) {
    for (uint32_t c = 0; c < run->channels; c++) {
        claims[c].domain = domain;
    }
    return prove_within(rw, claims, run, terms);
}

/* What does not hold mostly shows in a few codes: then all of 16 bits need not be walked through. */
static Certificate prove_anew(Rewriter *rw, Claim *claims, const Affine *run, const ProofTerms *terms) {
    enum { FEW = 1024 };
    Domain few = run->domain;
    few.lo += (few.hi - few.lo + 1 - FEW) / 2;
    few.hi = few.lo + FEW - 1;
    if (terms->tolerance_lsb == 0 && few.lo > run->domain.lo) {
        Certificate certificate = prove_on(rw, claims, run, terms, few);
        if (certificate.class == PROOF_REFUSED) {
            return certificate;
        }
    }
    return prove_on(rw, claims, run, terms, run->domain);
}

Certificate coded_prove(Rewriter *rw, Claim *claims, const Affine *run, const char *rule, uint64_t tolerance) {
    enum { READING = 16 }; /* evaluations that it takes as long as to read and compare a stage */
    const ProofTerms terms = {
        .rule = rule, .semantics = rw->semantics, .tolerance_lsb = tolerance, .stops_early = true};
    uint64_t reading = (uint64_t)READING * run->channels * (claims[0].before_count + claims[0].after_count);
    if (reading > rw->evaluations_left) {
        return refuse_cost(rw, reading);
    }
    rw->evaluations_left -= reading;
    uint64_t key = key_of(claims, run, rule, tolerance), left = rw->evaluations_left;
    const Refused *known = recall(rw, key);
    if (known->certificate.reason != NULL && known->cost <= left) {
        rw->evaluations_left -= known->cost;
        return known->certificate;
    }
    Certificate certificate = prove_anew(rw, claims, run, &terms);
    Refused *slot = recall(rw, key);
    if (certificate.class == PROOF_REFUSED && certificate.rule != NULL && slot->certificate.reason == NULL) {
        *slot = (Refused){key, left - rw->evaluations_left, certificate};
        rw->memo->count++;
    }
    return certificate;
}

/* ---- The log, and the runs */

void coded_log(Rewriter *rw, const Affine *run, const Claim *claims, Rewrite rewrite) {
    const Node *first = graph_node(rw->graph, run->nodes[0]);
    rewrite.node = first->name;
    rewrite.op = first->op_name;
    if (rw->verify) {
        CHECK(proof_verify(claims, run->channels, &rewrite.certificate, &rewrite.verified_evaluations, rw->work));
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
            rw->evaluations_left = CODED_MOST_EVALUATIONS;
            visit(rw, &affine);
        }
    }
}
