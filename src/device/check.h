/* What a device file says, explained: for `stride0 devices --check FILE`. */
#ifndef S0_DEVICE_CHECK_H
#define S0_DEVICE_CHECK_H

#include "device/device.h"

/* Loads a device and tries its contracts on small and large shapes of 2 to 64 bits; a warning, with
 * its line, for each role whose contract leaves a shape out (such a network is refused when it is planned), has a guard
 * on its last case, or names a dimension that tensors of the role don't have. Null with diagnostics where the file is
 * wrong. */
const Device *device_check(Work *work, Str name_or_path);

#endif
