/* Certificates: each distinct channel is compared under each reference, the outcomes are joined. See proof.h.
 *
 * Invariant: a certificate that is not refused holds for every channel, every reference that was asked for and every
 * input of each channel's domain. */
#include "affine/proof.h"

#include "affine/distinct.h"
#include "affine/pair.h"

#include <inttypes.h>

const char *proof_class_name(ProofClass class) {
    static const char *const names[] = {
        [PROOF_LEMMA] = "lemma",       [PROOF_ENUMERATION] = "enumeration", [PROOF_THRESHOLDS] = "thresholds",
        [PROOF_INTERVAL] = "interval", [PROOF_REFUSED] = "refused",
    };
    return names[class];
}

/* What is known of one channel, under all references. */
typedef struct {
    ProofClass class;
    uint32_t semantics; /* that it holds for */
    uint64_t evaluations, mismatches, max_error_lsb;
    bool has_witness;
    Witness witness; /* of no channel yet */
    Semantics witness_semantics;
    StageFault fault;          /* the first */
    Semantics fault_semantics; /* S0_SEM_COUNT: under any */
} Outcome;

/* ---- One channel */

static bool is_code(DType dtype) {
    int32_t lo, hi;
    return stage_code_range(dtype, &lo, &hi);
}

/* Both sides take and give codes of the same types. */
static StageFault check_types(const Claim *claim) {
    const Stage *some = claim->before_count > 0 ? claim->before : claim->after;
    uint32_t some_count = claim->before_count > 0 ? claim->before_count : claim->after_count;
    if (some_count == 0) {
        return NULL;
    }
    DType from = some[0].from, to = some[some_count - 1].to;
    if (!is_code(from) || !is_code(to)) {
        return "the chain does not start and end with codes of at most 32 bits";
    }
    bool has_both = claim->before_count > 0 && claim->after_count > 0;
    DType after_from = has_both ? claim->after[0].from : from;
    DType after_to = has_both ? claim->after[claim->after_count - 1].to : from;
    return after_from == from && after_to == to ? NULL : "the type of the codes changes";
}

/* A claim under one reference, and what came of it. */
typedef struct {
    Chain before, after;
    Comparison result;
} Bound;

static StageFault bind(const Claim *claim, Semantics semantics, Arena *arena, Bound *bound) {
    StageFault fault = chain_bind(claim->before, claim->before_count, semantics, arena, &bound->before);
    return fault != NULL ? fault : chain_bind(claim->after, claim->after_count, semantics, arena, &bound->after);
}

/* References that compute both sides with the same numbers need one comparison. */
static const Bound *find_same(const Bound *bound, const Bound *known, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (chain_eq(&bound->before, &known[i].before) && chain_eq(&bound->after, &known[i].after)) {
            return &known[i];
        }
    }
    return NULL;
}

/* What stays the same stages, one by one, need not be computed. */
static Comparison compare(const Claim *claim, const Bound *bound, const ProofTerms *terms, PairRoom *room) {
    if (stages_eq(claim->before, claim->before_count, claim->after, claim->after_count)) {
        StageFault fault = chain_check(&bound->before, claim->domain.lo, claim->domain.hi);
        return (Comparison){.class = fault == NULL ? PROOF_LEMMA : PROOF_REFUSED, .fault = fault};
    }
    Pair pair = {&bound->before, &bound->after, claim->domain, terms->tolerance_lsb};
    return pair_compare(&pair, room);
}

static void outcome_add(Outcome *outcome, const Comparison *result, Semantics semantics, uint64_t tolerance_lsb) {
    bool holds = result->class != PROOF_REFUSED && result->max_error_lsb <= tolerance_lsb;
    ProofClass class = holds ? result->class : PROOF_REFUSED;
    outcome->class = class > outcome->class ? class : outcome->class;
    outcome->semantics |= holds ? S0_SEM_BIT(semantics) : 0;
    outcome->evaluations += result->evaluations;
    outcome->mismatches += result->mismatches;
    if (result->max_error_lsb > outcome->max_error_lsb) {
        outcome->max_error_lsb = result->max_error_lsb;
    }
    if (result->has_witness && (!outcome->has_witness || result->input < outcome->witness.input)) {
        outcome->has_witness = true;
        outcome->witness = (Witness){.input = result->input, .before = result->before, .after = result->after};
        outcome->witness_semantics = semantics;
    }
    if (result->fault != NULL && outcome->fault == NULL) {
        outcome->fault = result->fault;
        outcome->fault_semantics = semantics;
    }
}

static Outcome refuse_channel(StageFault fault) {
    return (Outcome){.class = PROOF_REFUSED, .fault = fault, .fault_semantics = S0_SEM_COUNT};
}

static Outcome prove_channel(const Claim *claim, const ProofTerms *terms, PairRoom *room) {
    Outcome outcome = {.class = PROOF_LEMMA};
    Bound known[S0_SEM_COUNT];
    uint32_t count = 0;
    StageFault types = check_types(claim);
    if (types != NULL) {
        return refuse_channel(types);
    }
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        if ((terms->semantics & S0_SEM_BIT(s)) == 0) {
            continue;
        }
        Bound *bound = &known[count];
        StageFault fault = bind(claim, (Semantics)s, room->arena, bound);
        const Bound *same = fault == NULL ? find_same(bound, known, count) : NULL;
        if (fault != NULL) {
            bound->result = (Comparison){.class = PROOF_REFUSED, .fault = fault};
        } else if (same != NULL) {
            bound->result = same->result;
            bound->result.evaluations = 0;
        } else {
            bound->result = compare(claim, bound, terms, room);
            count++; /* `known` holds what was compared */
        }
        outcome_add(&outcome, &bound->result, (Semantics)s, terms->tolerance_lsb);
    }
    return outcome;
}

/* ---- All channels */

static const char *reason_of(const Outcome *outcome, uint32_t channel, Arena *keep) {
    if (outcome->fault_semantics == S0_SEM_COUNT) {
        return arena_text(keep, "channel %" PRIu32 ": %s", channel, outcome->fault);
    }
    if (outcome->fault != NULL) {
        return arena_text(keep, "channel %" PRIu32 ", %s: %s", channel, s0_semantics_name(outcome->fault_semantics),
                          outcome->fault);
    }
    const Witness *witness = &outcome->witness;
    return arena_text(keep, "channel %" PRIu32 ", %s: code %" PRId64 " would become %" PRId64 " instead of %" PRId64,
                      channel, s0_semantics_name(outcome->witness_semantics), witness->input, witness->after,
                      witness->before);
}

static void join_outcome(Certificate *all, const Outcome *one, uint32_t channel, Arena *keep) {
    if (one->class == PROOF_REFUSED && all->reason == NULL) {
        all->reason = reason_of(one, channel, keep);
    }
    all->class = one->class > all->class ? one->class : all->class;
    all->semantics &= one->semantics;
    all->mismatches += one->mismatches;
    all->max_error_lsb = one->max_error_lsb > all->max_error_lsb ? one->max_error_lsb : all->max_error_lsb;
    all->channels += one->class != PROOF_REFUSED;
    if (one->has_witness && !all->has_witness) {
        all->has_witness = true;
        all->witness = one->witness;
        all->witness.channel = channel;
    }
}

static bool is_exact(const Outcome *outcome) {
    return outcome->class != PROOF_REFUSED && outcome->max_error_lsb == 0;
}

/* The outcome of channel c is that of channel first[c]. */
static void list_blocked(Certificate *all, const Outcome *outcome, const uint32_t *first, uint32_t count, Arena *keep) {
    for (uint32_t c = 0; c < count; c++) {
        all->blocked_count += !is_exact(&outcome[first[c]]);
    }
    uint32_t *blocked = arena_array(keep, uint32_t, all->blocked_count);
    uint32_t n = 0;
    for (uint32_t c = 0; c < count; c++) {
        if (!is_exact(&outcome[first[c]])) {
            blocked[n++] = c;
        }
    }
    all->blocked = blocked;
}

static void widen(Domain *hull, const Domain *domain) {
    hull->lo = domain->lo < hull->lo ? domain->lo : hull->lo;
    hull->hi = domain->hi > hull->hi ? domain->hi : hull->hi;
}

Certificate prove_channels(const Claim *claim, uint32_t count, const ProofTerms *terms, Work *work) {
    Certificate all = {.class = PROOF_LEMMA, .rule = terms->rule, .semantics = terms->semantics};
    if (count == 0 || terms->semantics == 0) {
        all.class = PROOF_REFUSED;
        all.reason = count == 0 ? "there is no channel" : "no reference is asked for";
        return all;
    }
    PairRoom room = {.arena = &work->scratch};
    Outcome *outcome = arena_array(&work->scratch, Outcome, count);
    const uint32_t *first = distinct_claims(claim, count, &work->scratch);
    all.domain = claim[0].domain;
    for (uint32_t c = 0; c < count; c++) {
        if (first[c] == c) {
            outcome[c] = prove_channel(&claim[c], terms, &room);
            all.evaluations += outcome[c].evaluations;
        }
        join_outcome(&all, &outcome[first[c]], c, &work->keep);
        widen(&all.domain, &claim[c].domain);
        if (terms->stops_early && all.class == PROOF_REFUSED) {
            return all;
        }
    }
    list_blocked(&all, outcome, first, count, &work->keep);
    return all;
}
