/* What was probably meant: the nearest of some names. */
#ifndef S0_DEVICE_NEAREST_H
#define S0_DEVICE_NEAREST_H

#include "base/str.h"

/* Letters to insert, delete, replace or swap with the neighbour to turn `a` into `b`; names over 64 bytes are
 * UINT32_MAX away from everything. */
uint32_t device_distance(Str a, Str b);

/* The name nearest to `typed`, the first of equals; null where none is near enough to be a slip of the hand. */
const char *device_nearest(Str typed, const char *const *name, size_t count);

/* Is `name` near enough to `typed`: a third of its letters, or of its beginning, wrong at most, or one inside the
 * other? */
bool device_is_near(Str typed, Str name);

#endif
