/* The unit lemma with its side conditions. See lemma.h. */
#include "affine/lemma.h"

#include "stage/bound.h"

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
