/* What was probably meant: the nearest of some names.
 *
 *     Nearest nearest = {.typed = typed};
 *     for each name: nearest_offer(&nearest, name);
 *     nearest_hint(arena, &nearest, "help lists the names") */
#ifndef S0_BASE_NEAREST_H
#define S0_BASE_NEAREST_H

#include "base/arena.h"

typedef struct {
    Str typed;
    Str name; /* the nearest yet, the first of equals; empty where none is near enough to be a slip of the hand */
    uint32_t distance;
} Nearest;

void nearest_offer(Nearest *nearest, Str name);

/* "did you mean 'NAME'?", or `otherwise` where nothing is near. */
const char *nearest_hint(Arena *arena, const Nearest *nearest, const char *otherwise);

/* Of a list: null where none is near. */
const char *nearest_of(Str typed, const char *const *name, size_t count);

/* Is `name` near enough to `typed`: a third of its letters, or a quarter of its beginning, wrong at most, or one
 * inside the other? */
bool nearest_is_near(Str typed, Str name);

/* How many bytes are meant by a number as people write it: "8MB", "8 MiB", "64k", "0x800000", "8,388,608"; at least 1.
 */
bool nearest_bytes_meant(Str typed, uint64_t *bytes);

/* "did you mean 8M?" of such a number; null where none is meant. */
const char *nearest_bytes(Arena *arena, Str typed);

/* Letters to insert, delete, replace or swap with the neighbour to turn `a` into `b`; UINT32_MAX where what is between
 * the letters that both begin and end with is longer than 64 bytes. */
uint32_t nearest_distance(Str a, Str b);

#endif
