/* Every input of a domain, one by one: what the prover is held against. */
#ifndef TESTS_AFFINE_BRUTE_H
#define TESTS_AFFINE_BRUTE_H

#include "affine/stages.h"
#include "support/random.h"

#include "affine/proof.h"

#include <stdlib.h>

/* All inputs that differ, the largest difference and the least such input. */
typedef struct {
    uint64_t mismatches, max_error;
    int64_t input;
    int32_t before, after;
} Brute;

static inline void brute_note(Brute *found, int64_t input, int32_t before, int32_t after) {
    uint64_t error = (uint64_t)llabs((long long)before - after);
    if (error != 0 && found->mismatches == 0) {
        found->input = input;
        found->before = before;
        found->after = after;
    }
    found->mismatches += error != 0;
    found->max_error = error > found->max_error ? error : found->max_error;
}

static inline Brute brute_compare(const Chain *before, const Chain *after, Domain domain) {
    Brute found = {0};
    for (int64_t x = domain.lo; x <= domain.hi; x++) {
        brute_note(&found, x, chain_code(before, (int32_t)x), chain_code(after, (int32_t)x));
    }
    return found;
}

/* The same for many inputs, by chain_codes: test_chain proves that it is chain_code. */
static inline Brute brute_compare_many(const Chain *before, const Chain *after, Domain domain) {
    enum { BLOCK = 4096 };
    Brute found = {0};
    int32_t b[BLOCK], a[BLOCK];
    for (int64_t first = domain.lo; first <= domain.hi; first += BLOCK) {
        int64_t rest = domain.hi - first + 1, count = rest < BLOCK ? rest : BLOCK;
        for (int64_t k = 0; k < count; k++) {
            b[k] = a[k] = (int32_t)(first + k);
        }
        chain_codes(before, b, (uint32_t)count);
        chain_codes(after, a, (uint32_t)count);
        for (int64_t k = 0; k < count; k++) {
            brute_note(&found, first + k, b[k], a[k]);
        }
    }
    return found;
}

/* How many random channels a property tries: `few`, or what S0_CHANNELS says. */
static inline uint64_t brute_channels(uint64_t few) {
    const char *told = getenv("S0_CHANNELS");
    return told == NULL ? few : strtoull(told, NULL, 10);
}

#endif
