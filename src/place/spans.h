/* Sets of steps as spans. */
#ifndef S0_PLACE_SPANS_H
#define S0_PLACE_SPANS_H

#include "place/solver.h"

/* Sorts spans and joins those that overlap or meet; returns how many are left. */
size_t spans_join(PlaceSpan *span, size_t count);

#endif
