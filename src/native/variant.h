/* Which kernels this processor runs. */
#ifndef S0_NATIVE_VARIANT_H
#define S0_NATIVE_VARIANT_H

#include "kern/affine.h"

#include <stdint.h>

/* The best kernels that the processor has, or, where STRIDE0_CPU is set in the environment, those of that name. Null
 * where it names none, or some that the processor lacks. */
const S0Kernels *variant_choose(void);

/* All that this processor runs, the best first; NULL ends them. */
const S0Kernels *const *variant_list(void);

/* Bytes of the largest cache, which maps fit or do not; 32 MiB where the system does not tell. */
uint64_t variant_cache_bytes(void);

#endif
