/* Finds equal claims with a hash table of open addressing. See distinct.h.
 *
 * The hash reads only what stage_eq compares: equal claims have equal hashes. */
#include "affine/distinct.h"

#include <string.h>

static const uint32_t none = UINT32_MAX;

static uint64_t mix(uint64_t hash, uint64_t word) { /* Vigna's splitmix64 */
    uint64_t x = (hash ^ word) + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static uint64_t mix_floats(uint64_t hash, const float *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = mix(hash, bits);
    }
    return hash;
}

static uint64_t mix_pair(uint64_t hash, int32_t a, int32_t b) {
    return mix(hash, (uint64_t)(uint32_t)a << 32 | (uint32_t)b);
}

static uint64_t mix_integer(uint64_t hash, const Stage *stage) {
    hash = mix_pair(hash, stage->integer.lo, stage->integer.hi);
    if (stage->kind == STAGE_CODE_CLIP) {
        return hash;
    }
    hash = mix_floats(hash, (const float[]){stage->integer.in.scale, stage->integer.out.scale}, 2);
    hash = mix_pair(hash, stage->integer.in.zero_point, stage->integer.out.zero_point);
    if (stage->kind == STAGE_CODE_REQUANTIZE) {
        return hash;
    }
    hash = mix_floats(hash, &stage->integer.constant.scale, 1);
    if (stage->kind == STAGE_ACC_REQUANTIZE) {
        return hash;
    }
    bool adds = stage->kind == STAGE_CODE_ADD, scales = stage->kind == STAGE_CODE_SCALE;
    return mix_pair(hash, stage->integer.value, adds ? stage->integer.negate : scales ? stage->integer.bias : 0);
}

static uint64_t mix_stage(uint64_t hash, const Stage *stage) {
    hash = mix_pair(mix(hash, (uint64_t)stage->kind), (int32_t)stage->from, (int32_t)stage->to);
    switch (stage->kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_SUB:
    case STAGE_RSUB:
    case STAGE_DIV:
        return mix_floats(hash, &stage->number, 1);
    case STAGE_NORM:
        return mix_floats(hash,
                          (const float[]){stage->norm.mean, stage->norm.variance, stage->norm.epsilon,
                                          stage->norm.gamma, stage->norm.beta},
                          5);
    case STAGE_CLIP:
        return mix_floats(hash, (const float[]){stage->clip.lo, stage->clip.hi}, 2);
    case STAGE_DEQUANTIZE:
    case STAGE_QUANTIZE:
        return mix_floats(mix_pair(hash, stage->code.zero_point, 0), &stage->code.scale, 1);
    default:
        return mix_integer(hash, stage);
    }
}

uint64_t distinct_hash(const Claim *claim) {
    uint64_t hash = mix(mix(claim->before_count, (uint64_t)claim->domain.lo), (uint64_t)claim->domain.hi);
    for (uint32_t k = 0; k < claim->before_count; k++) {
        hash = mix_stage(hash, &claim->before[k]);
    }
    for (uint32_t k = 0; k < claim->after_count; k++) {
        hash = mix_stage(hash, &claim->after[k]);
    }
    return hash;
}

static bool same_claim(const Claim *a, const Claim *b) {
    return a->domain.lo == b->domain.lo && a->domain.hi == b->domain.hi &&
           stages_eq(a->before, a->before_count, b->before, b->before_count) &&
           stages_eq(a->after, a->after_count, b->after, b->after_count);
}

uint32_t *distinct_claims(const Claim *claim, uint32_t count, Arena *arena) {
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)count) {
        slots *= 2;
    }
    uint32_t *slot = arena_array(arena, uint32_t, slots);
    uint32_t *first = arena_array(arena, uint32_t, count);
    for (uint64_t i = 0; i < slots; i++) {
        slot[i] = none;
    }
    for (uint32_t c = 0; c < count; c++) {
        uint64_t at = distinct_hash(&claim[c]) % slots;
        while (slot[at] != none && !same_claim(&claim[slot[at]], &claim[c])) {
            at = (at + 1) % slots;
        }
        slot[at] = slot[at] == none ? c : slot[at];
        first[c] = slot[at];
    }
    return first;
}
