/* Checks certificates by brute force: see proof_verify. Nothing of proof.c, pair.c or lemma.c is used here, and codes
 * are evaluated one by one. */
#include "affine/proof.h"

static const int64_t most_inputs = 1024 * 1024; /* a channel and reference: all, or those around the steps */

typedef struct {
    Chain before, after;
    Domain domain;
    uint64_t mismatches, max_error_lsb, visited;
} Walk;

static void visit(Walk *walk, int64_t first, int64_t last) {
    walk->visited += last >= first ? (uint64_t)(last - first) + 1 : 0;
    for (int64_t x = first; x <= last; x++) {
        int64_t before = chain_code(&walk->before, (int32_t)x), after = chain_code(&walk->after, (int32_t)x);
        uint64_t error = (uint64_t)(before > after ? before - after : after - before);
        walk->mismatches += error != 0;
        walk->max_error_lsb = error > walk->max_error_lsb ? error : walk->max_error_lsb;
    }
}

static int64_t limited(int64_t x, const Domain *domain) {
    return x < domain->lo ? domain->lo : x > domain->hi ? domain->hi : x;
}

/* The least input whose code is at least `level` away from that of the least input of all; the chain is monotone. */
static int64_t find_step(const Chain *chain, const Domain *domain, int64_t level) {
    int64_t start = chain_code(chain, (int32_t)domain->lo);
    int64_t lo = domain->lo, hi = domain->hi;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        int64_t moved = chain_code(chain, (int32_t)middle) - start;
        if (moved >= level || -moved >= level) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo;
}

static int64_t count_steps(const Chain *chain, const Domain *domain) {
    int64_t moved = (int64_t)chain_code(chain, (int32_t)domain->hi) - chain_code(chain, (int32_t)domain->lo);
    return moved < 0 ? -moved : moved;
}

/* Around the chain's steps (at most 2^16 of them, evenly chosen), half of the inputs that are allowed. */
static void visit_steps(Walk *walk, const Chain *chain) {
    int64_t steps = count_steps(chain, &walk->domain);
    int64_t stride = steps / 65536 + 1;
    int64_t reach = most_inputs / 4 / (steps / stride + 1);
    int64_t from = walk->domain.lo;
    for (int64_t level = 1; level <= steps; level += stride) {
        int64_t step = find_step(chain, &walk->domain, level);
        int64_t first = limited(step - reach, &walk->domain), last = limited(step + reach - 1, &walk->domain);
        first = first < from ? from : first; /* no input twice */
        visit(walk, first, last);
        from = last >= from ? last + 1 : from;
    }
}

/* Inputs may be met twice here: only the error counts. */
static void walk_steps(Walk *walk) {
    const Domain *domain = &walk->domain;
    visit(walk, domain->lo, domain->lo + 255);
    visit(walk, domain->hi - 255, domain->hi);
    visit_steps(walk, &walk->before);
    visit_steps(walk, &walk->after);
    walk->mismatches = 0;
}

static void walk_domain(Walk *walk) {
    const Domain *domain = &walk->domain;
    if (domain->hi - domain->lo < most_inputs) {
        visit(walk, domain->lo, domain->hi);
    } else {
        walk_steps(walk);
    }
}

/* One channel under one reference. False where the reference has no value for it. */
static bool walk_claim(const Claim *claim, Semantics semantics, Work *work, Walk *walk) {
    *walk = (Walk){.domain = claim->domain};
    return claim->domain.lo <= claim->domain.hi &&
           chain_bind(claim->before, claim->before_count, semantics, &work->scratch, &walk->before) == NULL &&
           chain_bind(claim->after, claim->after_count, semantics, &work->scratch, &walk->after) == NULL &&
           chain_check(&walk->before, claim->domain.lo, claim->domain.hi) == NULL &&
           chain_check(&walk->after, claim->domain.lo, claim->domain.hi) == NULL;
}

/* Is the witness of a refusal what some reference gives? */
static bool has_true_witness(const Claim *claim, uint32_t count, const Witness *witness, Work *work) {
    if (witness->channel >= count) {
        return false;
    }
    for (int s = 0; s < S0_SEM_COUNT; s++) {
        Walk walk;
        const Claim *of = &claim[witness->channel];
        if (witness->input >= of->domain.lo && witness->input <= of->domain.hi &&
            walk_claim(of, (Semantics)s, work, &walk) &&
            chain_code(&walk.before, (int32_t)witness->input) == witness->before &&
            chain_code(&walk.after, (int32_t)witness->input) == witness->after) {
            return witness->before != witness->after;
        }
    }
    return false;
}

/* One channel under each reference of the certificate. */
static bool verify_channel(const Claim *claim, const Certificate *certificate, uint64_t *mismatches,
                           uint64_t *evaluations, Work *work) {
    bool holds = claim->domain.lo >= certificate->domain.lo && claim->domain.hi <= certificate->domain.hi;
    for (int s = 0; holds && s < S0_SEM_COUNT; s++) {
        Walk walk;
        if ((certificate->semantics & S0_SEM_BIT(s)) == 0) {
            continue;
        }
        if (!walk_claim(claim, (Semantics)s, work, &walk)) {
            return false;
        }
        walk_domain(&walk);
        *mismatches += walk.mismatches;
        *evaluations += walk.visited;
        holds = walk.max_error_lsb <= certificate->max_error_lsb;
    }
    return holds;
}

/* The first channel with the same stages and codes: it need not be walked through again. */
static uint32_t first_equal(const Claim *claim, uint32_t channel) {
    const Claim *own = &claim[channel];
    for (uint32_t c = 0; c < channel; c++) {
        if (claim[c].domain.lo == own->domain.lo && claim[c].domain.hi == own->domain.hi &&
            stages_eq(claim[c].before, claim[c].before_count, own->before, own->before_count) &&
            stages_eq(claim[c].after, claim[c].after_count, own->after, own->after_count)) {
            return c;
        }
    }
    return channel;
}

bool proof_verify(const Claim *claim, uint32_t count, const Certificate *certificate, uint64_t *evaluations,
                  Work *work) {
    if (certificate->class == PROOF_REFUSED) {
        return !certificate->has_witness || has_true_witness(claim, count, &certificate->witness, work);
    }
    uint64_t mismatches = 0;
    uint64_t *own = arena_array(&work->scratch, uint64_t, count);
    bool holds = certificate->channels == count && count > 0 && certificate->semantics != 0;
    for (uint32_t c = 0; holds && c < count; c++) {
        uint32_t equal = first_equal(claim, c);
        holds = equal < c || verify_channel(&claim[c], certificate, &own[c], evaluations, work);
        mismatches += own[equal];
    }
    return holds && (certificate->class == PROOF_INTERVAL || mismatches <= certificate->mismatches);
}
