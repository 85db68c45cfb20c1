/* The kernels in C99: what compilers vectorise, and what ships beside generated code. */
#include "kern/affine.h"

const S0Kernels s0_kernels_portable = {
    .name = "portable",
};
