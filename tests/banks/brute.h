/* Brute force for small problems, which shares nothing with the packer.
 *
 * Pinned buffers lie where they are pinned. The others are taken in every order, each to the lowest offset that is
 * free. That finds the lowest height: take a placement of least height and its free buffers by offset. Each in turn
 * moved down to the lowest offset that is free of those before it, and of the pins, is no higher than it was, as those
 * before it lay below it and have only moved down. test_pack_brute.c compares this with trying every offset. */
#ifndef S0_TEST_PLACE_BRUTE_H
#define S0_TEST_PLACE_BRUTE_H

#include "solver/solver.h"

enum { BRUTE_MOST = 10 };

typedef struct {
    const SolverBuffer *buffer;
    size_t count;
    uint64_t unit;
    uint32_t left_out;                     /* a set of buffers */
    bool collides[BRUTE_MOST][BRUTE_MOST]; /* may not share a byte */
    uint64_t offset[BRUTE_MOST];           /* of those in `placed` */
    uint32_t placed;                       /* a set */
    uint64_t best;                         /* the lowest height so far */
} Brute;

static inline bool brute_lives(const SolverBuffer *buffer, uint64_t step) {
    bool lives = buffer->first <= step && step < buffer->last;
    for (size_t k = 0; k < buffer->gap_count; k++) {
        lives = lives && !(buffer->gap[k].first <= step && step < buffer->gap[k].last);
    }
    return lives;
}

static inline bool brute_collide(const SolverBuffer *a, const SolverBuffer *b) {
    bool collides = a->apart != 0 && a->apart == b->apart;
    for (uint64_t step = a->first; step < a->last && !collides; step++) {
        collides = brute_lives(a, step) && brute_lives(b, step);
    }
    return collides;
}

static inline uint64_t brute_round_up(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* The bytes that a buffer takes: to the end of its last unit. */
static inline uint64_t brute_end(const Brute *brute, size_t i, uint64_t offset) {
    return brute_round_up(offset + brute->buffer[i].size, brute->unit);
}

static inline bool brute_is_free(const Brute *brute, size_t i, uint64_t offset) {
    for (size_t j = 0; j < brute->count; j++) {
        if ((brute->placed >> j & 1) != 0 && brute->collides[i][j] && offset < brute_end(brute, j, brute->offset[j]) &&
            brute->offset[j] < brute_end(brute, i, offset)) {
            return false;
        }
    }
    return true;
}

static inline void brute_place(Brute *brute, uint64_t height) {
    const uint32_t all = (uint32_t)(((uint32_t)1 << brute->count) - 1) & ~brute->left_out;
    if (height >= brute->best) {
        return;
    }
    if (brute->placed == all) {
        brute->best = height;
        return;
    }
    for (size_t i = 0; i < brute->count; i++) {
        if (((all & ~brute->placed) >> i & 1) == 0) {
            continue;
        }
        uint64_t offset = 0;
        while (offset < brute->best && (offset % brute->buffer[i].align != 0 || offset % brute->unit != 0 ||
                                        !brute_is_free(brute, i, offset))) {
            offset++;
        }
        const uint64_t end = brute_end(brute, i, offset);
        brute->offset[i] = offset;
        brute->placed |= (uint32_t)1 << i;
        brute_place(brute, end > height ? end : height);
        brute->placed &= ~((uint32_t)1 << i);
    }
}

/* False where pins are off the unit or share bytes. */
static inline bool brute_pins(Brute *brute, uint64_t *height) {
    for (size_t i = 0; i < brute->count; i++) {
        const SolverBuffer *buffer = &brute->buffer[i];
        if (!buffer->is_pinned || (brute->left_out >> i & 1) != 0) {
            continue;
        }
        if (buffer->offset % buffer->align != 0 || buffer->offset % brute->unit != 0 ||
            !brute_is_free(brute, i, buffer->offset)) {
            return false;
        }
        brute->offset[i] = buffer->offset;
        brute->placed |= (uint32_t)1 << i;
        *height = brute_end(brute, i, buffer->offset) > *height ? brute_end(brute, i, buffer->offset) : *height;
    }
    return true;
}

/* The lowest height of all buffers but those left out; `none` where there is none below it. cost  O(n! n) */
static inline uint64_t brute_height(const SolverBuffer *buffer, size_t count, uint64_t unit, uint32_t left_out,
                                    uint64_t none) {
    Brute brute = {.buffer = buffer, .count = count, .unit = unit, .left_out = left_out, .best = none};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            brute.collides[i][j] = brute.collides[j][i] = brute_collide(&buffer[i], &buffer[j]);
        }
    }
    uint64_t height = 0;
    if (brute_pins(&brute, &height)) {
        brute_place(&brute, height);
    }
    return brute.best;
}

#endif
