/* Outward: a placement that begins at the fullest steps and goes from there to both sides.
 *
 *     address          fullest step
 *       ^   ceiling ---------|-----------------
 *       |   x  x  :  +-------+--+               what lives at that step is one stack without a hole: who is gone first
 *       |   x  x  :--+-------+--+--+  :  y      to the right lies at its bottom, to the left at its top, so that on
 *       |         :     +----+-----+--:  y      either side the room that comes free is one hole
 *       +---------+----------+--------+------> step
 *
 * No other step is as full, so what holes waste there has room. Where that ends far above the bound, it begins once
 * more, in the middle of the fullest stretch of steps: the hardest way is that through steps nearly as full. */
#ifndef S0_PLACE_OUTWARD_H
#define S0_PLACE_OUTWARD_H

#include "place/pack.h"

/* The offset of each item, and the height; at least one item. False where that would be higher than `highest` or beyond
 * 64 bits, or much work.
 * cost O(n k), k = items that live at once; memory O(n) */
bool outward_place(const Pack *pack, uint64_t highest, Arena *scratch, uint64_t *offset, uint64_t *height);

#endif
