/* Lemmas with their side conditions. See lemma.h. */
#include "affine/lemma.h"

#include "affine/bound.h"

#include <string.h>

bool lemma_same(const Claim *claim) {
    bool same = claim->before_count == claim->after_count;
    for (uint32_t k = 0; same && k < claim->before_count; k++) {
        same = stage_eq(&claim->before[k], &claim->after[k]);
    }
    return same;
}

/* CMSIS-NN's product differs from gemmlowp's where INT32_MIN is multiplied with itself, and only there. */
static S0Rounding plain_rounding(const BoundStage *stage) {
    bool is_fixed = stage->kind == BOUND_FIXED || stage->kind == BOUND_FIXED_SUM;
    bool is_least = stage->kind == BOUND_FIXED
                        ? stage->scaled.factor.multiplier == INT32_MIN
                        : stage->fixed_sum.in.multiplier == INT32_MIN || stage->fixed_sum.out.multiplier == INT32_MIN;
    return is_fixed && !is_least && stage->rounding == S0_ROUND_CMSIS ? S0_ROUND_DOUBLE : stage->rounding;
}

/* Byte by byte: stages are bound in zeroed memory, and where padding differs the two are only compared once more. */
static bool same_stage(const BoundStage *a, const BoundStage *b) {
    BoundStage plain[2];
    memcpy(&plain[0], a, sizeof *a);
    memcpy(&plain[1], b, sizeof *b);
    plain[0].rounding = plain_rounding(a);
    plain[1].rounding = plain_rounding(b);
    return memcmp(&plain[0], &plain[1], sizeof *plain) == 0;
}

bool lemma_same_chain(const Chain *a, const Chain *b) {
    bool same = a->count == b->count;
    for (uint32_t k = 0; same && k < a->count; k++) {
        same = same_stage(&a->stage[k], &b->stage[k]);
    }
    return same;
}

/* x -> min(max(x + shift, lo), hi). Of int32 and at most a few thousand stages: nothing passes 64 bits. */
typedef struct {
    int64_t shift, lo, hi;
} Unit;

static int64_t limited(int64_t x, int64_t lo, int64_t hi) {
    int64_t raised = x < lo ? lo : x;
    return raised > hi ? hi : raised;
}

static int64_t unit_at(const Unit *unit, int64_t x) {
    return limited(x + unit->shift, unit->lo, unit->hi);
}

static void unit_then(Unit *unit, int64_t shift, int64_t lo, int64_t hi) {
    unit->shift += shift;
    unit->lo = limited(unit->lo + shift, lo, hi);
    unit->hi = limited(unit->hi + shift, lo, hi);
}

static bool unit_of(const Chain *chain, Unit *unit) {
    *unit = (Unit){0, INT32_MIN, INT32_MAX};
    for (uint32_t k = 0; k < chain->count; k++) {
        const BoundStage *stage = &chain->stage[k];
        bool is_one = stage->kind == BOUND_FIXED && stage->scaled.weight == 1 &&
                      stage->scaled.factor.multiplier == 1 << 30 && stage->scaled.factor.shift == 1;
        if (!is_one && stage->kind != BOUND_CODE_CLIP) {
            return false;
        }
        int64_t shift = 0;
        if (is_one) {
            shift = (int64_t)stage->scaled.bias - stage->scaled.zero + stage->codes.zero_point;
        }
        unit_then(unit, shift, stage->codes.lo, stage->codes.hi);
    }
    return true;
}

bool lemma_unit(const Chain *before, const Chain *after, const Domain *domain) {
    Unit a, b;
    if (!unit_of(before, &a) || !unit_of(after, &b)) {
        return false;
    }
    const int64_t at[] = {domain->lo, domain->hi, a.lo - a.shift, a.hi - a.shift, b.lo - b.shift, b.hi - b.shift};
    bool same = true;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        int64_t x = limited(at[i], domain->lo, domain->hi);
        same = same && unit_at(&a, x) == unit_at(&b, x);
    }
    return same;
}
