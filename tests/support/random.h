/* A small seeded generator for properties: the same numbers on every machine. Source: xorshift64*, Vigna 2016. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* 0 to `below` - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t below) {
    return random_next(state) % below;
}

#endif
