/* Pairs: do two bound chains give the same code for every input of a domain?
 *
 * Invariant: what a Comparison says was computed for the whole domain, or follows from the two chains being monotone;
 * only PROOF_REFUSED leaves inputs that nothing is known of. */
#ifndef S0_AFFINE_PAIR_H
#define S0_AFFINE_PAIR_H

#include "affine/proof.h"

enum {
    PAIR_MOST_INPUTS = 65536,      /* that are enumerated */
    PAIR_MOST_STEPS = 65535,       /* of a function whose steps are compared */
    PAIR_MOST_CELLS = 1024 * 1024, /* of an interval bound */
};

typedef struct {
    const Chain *before, *after;
    Domain domain;
    uint64_t tolerance_lsb; /* 0: equal. Above, an interval bound may do where nothing else can */
} Pair;

typedef struct {
    ProofClass class;
    StageFault fault;       /* of PROOF_REFUSED; null where it is the witness that tells why */
    uint64_t evaluations;   /* of either chain */
    uint64_t mismatches;    /* inputs that differ: all of them, but for PROOF_INTERVAL and PROOF_REFUSED those met */
    uint64_t max_error_lsb; /* exact, but for PROOF_INTERVAL: no less */
    bool has_witness;
    int64_t input, before, after; /* the least input met that differs */
} Comparison;

/* Memory that comparisons share. */
typedef struct {
    Arena *arena;
    uint32_t capacity;
    int32_t *low, *high, *code, *starts[2], *values[2];
} PairRoom;

/* Checks the domain of both chains and takes the first of these that applies:
 *
 *     enumeration  at most PAIR_MOST_INPUTS inputs
 *     thresholds   at most PAIR_MOST_STEPS codes between what the ends become, on both sides
 *     unit lemma   both only move codes and limit them
 *     interval     a tolerance is given */
Comparison pair_compare(const Pair *pair, PairRoom *room);

#endif
