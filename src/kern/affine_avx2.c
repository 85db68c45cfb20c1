/* The kernels with AVX2. */
#include "kern/affine.h"

#if defined(__x86_64__)
const S0Kernels s0_kernels_avx2 = {
    .name = "avx2",
};
#endif
