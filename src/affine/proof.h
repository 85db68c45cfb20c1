/* Proofs: is a rewritten chain the original, on every input that can reach it?
 *
 * A proof is of one channel and one reference; prove_channels joins them into the certificate of a node. Nothing is
 * believed that was not computed: a lemma checks its side conditions, an enumeration visits every reachable code,
 * thresholds compare where two monotone functions step. */
#ifndef S0_AFFINE_PROOF_H
#define S0_AFFINE_PROOF_H

#include "affine/chain.h"

typedef enum {
    PROOF_LEMMA,       /* a named lemma with checked side conditions */
    PROOF_ENUMERATION, /* every code of the domain was evaluated on both sides */
    PROOF_THRESHOLDS,  /* two monotone functions step at the same inputs */
    PROOF_INTERVAL,    /* bounded by interval arithmetic, not exact */
    PROOF_REFUSED,     /* `reason` tells why */
} ProofClass;

const char *proof_class_name(ProofClass class);

/* Inputs that can reach the chain, both ends included. */
typedef struct {
    int64_t lo, hi;
    const char *why; /* "int8", "behind RELU", "weights and bias of the convolution" */
} Domain;

typedef struct {
    uint32_t channel;
    int64_t input, before, after;
} Witness;

typedef struct {
    ProofClass class;
    const char *rule;       /* name of the rewrite, in one word: docs/rewrites.md lists them */
    const char *reason;     /* of a refusal, else null */
    uint32_t semantics;     /* bit set of the references it holds for, in all channels */
    Domain domain;          /* the hull over all channels */
    uint64_t evaluations;   /* of either side, made for this proof: equal channels count once */
    uint64_t max_error_lsb; /* 0: exact; of PROOF_INTERVAL a bound */
    uint64_t mismatches;    /* inputs that differ, over all channels and references; of PROOF_INTERVAL those met */
    bool has_witness;
    Witness witness;        /* the first mismatch */
    uint32_t channels;      /* proven */
    uint32_t blocked_count; /* channels that are not exact */
    const uint32_t *blocked;
} Certificate;

/* One channel of a claim: `before` is what the model says, `after` what is to stand in its place. */
typedef struct {
    const Stage *before, *after;
    uint32_t before_count, after_count;
    Domain domain;
} Claim;

typedef struct {
    const char *rule;
    uint32_t semantics;     /* bit set: must hold for each */
    uint64_t tolerance_lsb; /* 0: exact or refused */
    bool stops_early;       /* the first channel that is refused ends it: then no channels are listed as blocked */
} ProofTerms;

/* Proves `count` claims, one a channel. Channels with the same parameters are proven once. The certificate's lists
 * live in `keep`. An exact certificate has max_error_lsb 0 and no mismatch; PROOF_REFUSED carries the first witness. */
Certificate prove_channels(const Claim *claim, uint32_t count, const ProofTerms *terms, Work *work);

/* The same by brute force, channel by channel from the original stages, sharing no code with the above: for --verify
 * and the tests. False where the certificate claims more than is so: a larger error, more inputs that differ, a domain
 * or a reference that it does not hold for; of a refusal, where its witness is none.
 * Up to 2^20 inputs are all visited. Of a larger domain that many are: half of them around the steps of either chain,
 * evenly shared out, and both ends; the inputs that differ are then not counted. Adds the inputs
 * that it visited, under each reference, to `evaluations`. */
bool proof_verify(const Claim *claim, uint32_t count, const Certificate *certificate, uint64_t *evaluations,
                  Work *work);

#endif
