/* Levels and bank terms of a view as one list: lanes are levels too, far enough from each other. Private to this room.
 */
#ifndef S0_LAYOUT_TERMS_H
#define S0_LAYOUT_TERMS_H

#include "layout/view.h"

enum { MAX_TERMS = VIEW_MAX_BANK_TERMS + VIEW_MAX_LEVELS };

typedef struct {
    ViewLevel item[MAX_TERMS]; /* bank terms first */
    uint32_t count;
} Terms;

/* Lane k begins at k * lane_bits. False where that does not fit 64 bits. */
bool terms_lay_lanes(const View *view, uint64_t lane_bits, Terms *terms);

/* What an index of one dimension adds to the address by these terms, heads left out. */
uint64_t terms_bits_at(const ViewLevel *term, uint32_t count, Dim dim, uint64_t index);

#endif
