/* Chains: bound stages one after another. */
#include "affine/chain.h"

#include <math.h>

enum { BLOCK = 256 }; /* codes evaluated together: the reals between two stages lie on the stack */

StageFault chain_bind(const Stage *stage, uint32_t count, Semantics semantics, Arena *arena, Chain *chain) {
    BoundStage *bound = arena_array(arena, BoundStage, count);
    *chain = (Chain){semantics, count, bound};
    for (uint32_t k = 0; k < count; k++) {
        if (k > 0 && stage[k].from != stage[k - 1].to) {
            return "a stage does not take what the one before it gives";
        }
        if (stage[k].kind >= STAGE_INT_MUL && stage[k].kind <= STAGE_INT_DIV) {
            return "a chain is monotone, and these are not";
        }
        StageFault fault = stage_bind(&stage[k], semantics, &bound[k]);
        if (fault != NULL) {
            return fault;
        }
    }
    int32_t lo, hi;
    bool is_small = count > 0 && dtype_bits(stage[0].from) < 32 && stage_code_range(stage[0].from, &lo, &hi);
    return is_small ? chain_check(chain, lo, hi) : NULL;
}

void chain_codes(const Chain *chain, int32_t *codes, uint32_t count) {
    float reals[BLOCK];
    for (uint32_t first = 0; first < count; first += BLOCK) {
        uint32_t block = count - first < BLOCK ? count - first : BLOCK;
        for (uint32_t k = 0; k < chain->count; k++) {
            bound_run(&chain->stage[k], codes + first, reals, block);
        }
    }
}

int32_t chain_code(const Chain *chain, int32_t code) {
    float real = 0;
    for (uint32_t k = 0; k < chain->count; k++) {
        bound_run(&chain->stage[k], &code, &real, 1);
    }
    return code;
}

float chain_real(const Chain *chain, float x) {
    int32_t code = 0;
    for (uint32_t k = 0; k < chain->count; k++) {
        bound_run(&chain->stage[k], &code, &x, 1);
    }
    return x;
}

/* Every stage is monotone, so that what lies between the ends stays between what they become. */
StageFault chain_check(const Chain *chain, int64_t lo, int64_t hi) {
    if (lo < INT32_MIN || lo > INT32_MAX || hi < INT32_MIN || hi > INT32_MAX) {
        return "an integer of the kernel passes 32 bits";
    }
    int32_t code[2] = {(int32_t)lo, (int32_t)hi};
    float x[2] = {0, 0};
    for (uint32_t k = 0; k < chain->count; k++) {
        const BoundStage *stage = &chain->stage[k];
        for (int end = 0; end < 2; end++) {
            StageFault fault = bound_check(stage, code[end], x[end]);
            if (fault != NULL) {
                return fault;
            }
        }
        bound_run(stage, code, x, 2);
        if (!isfinite(x[0]) || !isfinite(x[1])) {
            return stage->is_half ? "a value passes the range of float16" : "a value passes the range of float32";
        }
    }
    return NULL;
}

int chain_direction(const Chain *chain) {
    int all = 1;
    for (uint32_t k = 0; k < chain->count; k++) {
        all *= bound_direction(&chain->stage[k]);
    }
    return all;
}

bool chain_eq(const Chain *a, const Chain *b) {
    bool same = a->count == b->count;
    for (uint32_t k = 0; same && k < a->count; k++) {
        same = bound_eq(&a->stage[k], &b->stage[k]);
    }
    return same;
}
