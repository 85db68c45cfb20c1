/* The middle of the fullest stretch of steps, which need not be where the fullest step is. */
#ifndef S0_PLACE_BROAD_H
#define S0_PLACE_BROAD_H

#include "place/pack.h"

/* The first step around which, a mean lifetime to either side, the sum of the loads is the largest; at least one item
 * whose loads all fit 64 bits. cost O(n log n) */
uint64_t broad_peak(const Pack *pack, Arena *scratch);

#endif
