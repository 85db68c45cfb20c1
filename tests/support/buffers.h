/* Seeded families of many buffers, for tests and benchmarks of placement: starts at a steady rate, lifetimes drawn. */
#ifndef TESTS_SUPPORT_BUFFERS_H
#define TESTS_SUPPORT_BUFFERS_H

#include "place/place.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

typedef enum {
    BUFFERS_MIXED,   /* sizes log-uniform from 64 bytes to 1 MiB, lifetimes exponential */
    BUFFERS_ALIGNED, /* as mixed, aligned to 64 bytes */
    BUFFERS_UNIFORM, /* sizes uniform up to 1 MiB */
    BUFFERS_POWERS,  /* sizes powers of 2 from 64 bytes to 1 MiB */
    BUFFERS_LONG,    /* as mixed, one in a hundred lives a hundred times as long */
    BUFFERS_FAMILIES,
} BuffersFamily;

static inline const char *buffers_name(BuffersFamily family) {
    static const char *const NAME[] = {"mixed", "aligned to 64", "uniform", "powers of 2", "few long"};
    return NAME[family];
}

/* Between 0 and 1, never either. */
static inline double random_unit(uint64_t *state) {
    return ((double)(random_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static inline uint64_t buffers_size(BuffersFamily family, uint64_t *state) {
    double part = random_unit(state);
    switch (family) {
    case BUFFERS_UNIFORM:
        return 1 + (uint64_t)(part * 1048576);
    case BUFFERS_POWERS:
        return (uint64_t)64 << (unsigned)(part * 15);
    default:
        return 1 + (uint64_t)exp2(6 + 14 * part);
    }
}

/* About `live` of the `count` buffers live at a step. Lifetimes keep their shape in whole steps. */
static inline void buffers_draw(PlaceBuffer *buffer, size_t count, double live, BuffersFamily family, uint64_t seed) {
    static const uint64_t STEPS_A_BUFFER = 64;
    uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
    for (size_t i = 0; i < count; i++) {
        double steps = -log(random_unit(&state)) * live * (double)STEPS_A_BUFFER;
        bool is_long = random_below(&state, 100) == 0;
        if (family == BUFFERS_LONG) {
            steps *= (is_long ? 100 : 1) / 1.99;
        }
        uint64_t first = i * STEPS_A_BUFFER;
        buffer[i] = (PlaceBuffer){.size = buffers_size(family, &state),
                                  .align = family == BUFFERS_ALIGNED ? 64 : 16,
                                  .first = first,
                                  .last = first + 1 + (uint64_t)steps};
    }
}

typedef struct {
    uint64_t step;
    int64_t bytes; /* that come, or less than 0 that go */
} BuffersChange;

/* By steps; at a step what goes before what comes. */
static inline int buffers_compare(const void *left, const void *right) {
    const BuffersChange *a = left;
    const BuffersChange *b = right;
    int order = (a->step > b->step) - (a->step < b->step);
    return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* The largest sum of live sizes, each rounded up to `unit` bytes. Shares nothing with what is tested. */
static inline uint64_t buffers_bound(const PlaceBuffer *buffer, size_t count, uint64_t unit) {
    BuffersChange *change = malloc(2 * count * sizeof *change);
    if (change == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        int64_t bytes = (int64_t)((buffer[i].size + unit - 1) / unit * unit);
        change[2 * i] = (BuffersChange){buffer[i].first, bytes};
        change[2 * i + 1] = (BuffersChange){buffer[i].last, -bytes};
    }
    qsort(change, 2 * count, sizeof *change, buffers_compare);
    int64_t live = 0;
    int64_t most = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        live += change[i].bytes;
        most = live > most ? live : most;
    }
    free(change);
    return (uint64_t)most;
}

#endif
