/* A strip of their own for the smallest items.
 *
 *      address
 *       ^  +---------------------------+
 *       |  |  small: first fit         |    they are many and little of all bytes: without them, what is placed
 *       |  +---------------------------+    outward meets far less
 *       |  |  large: outward           |
 *       +--+---------------------------+--> step */
#ifndef S0_PLACE_STRIP_H
#define S0_PLACE_STRIP_H

#include "place/pack.h"

/* Outward, with a strip where a large problem has small items. Says what outward_place says. */
bool strip_place(const Pack *pack, uint64_t highest, Arena *scratch, uint64_t *offset, uint64_t *height);

#endif
