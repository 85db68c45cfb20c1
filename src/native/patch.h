/* Channel last, where some columns are not computed with the others. */
#ifndef S0_NATIVE_PATCH_H
#define S0_NATIVE_PATCH_H

#include "native/native.h"

/* Has `run` keep the inputs of the columns, run `pixels` over all, and then `patch` over what was kept of each; the
 * columns, rising, stay the caller's. */
void patch_take(Native *native, const size_t *column, size_t count, NativeRun pixels, NativePatch patch);

#endif
