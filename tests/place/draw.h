/* Seeded draws for the tests of placement. */
#ifndef S0_TEST_PLACE_DRAW_H
#define S0_TEST_PLACE_DRAW_H

#include "place/place.h"

static inline uint64_t draw_below(uint64_t *state, uint64_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state * 0x2545F4914F6CDD1DU >> 33) % limit;
}

/* Sizes below `sizes`, starts and lifetimes below `steps`, an alignment of the list: few values give many ties. */
static inline PlaceBuffer draw_buffer(uint64_t *state, uint64_t sizes, uint64_t steps) {
    static const uint64_t ALIGN[] = {1, 1, 2, 3, 4, 5, 6, 8, 12, 16};
    PlaceBuffer buffer = {.size = 1 + draw_below(state, sizes),
                          .align = ALIGN[draw_below(state, sizeof ALIGN / sizeof *ALIGN)],
                          .first = draw_below(state, steps)};
    buffer.last = buffer.first + 1 + draw_below(state, steps);
    return buffer;
}

static inline uint64_t draw_unit(uint64_t *state) {
    static const uint64_t UNIT[] = {1, 1, 2, 3, 4, 10, 16};
    return UNIT[draw_below(state, sizeof UNIT / sizeof *UNIT)];
}

#endif
