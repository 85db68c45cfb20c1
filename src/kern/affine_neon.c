/* The kernels with NEON. What is the portable one has no vector form that would be worth it: tables of 256 codes are
 * larger than what one instruction looks up, fixed point multiplies to 64 bits. */
#include "kern/affine.h"

#if defined(__aarch64__)
#include "kern/codes16.h"
#include "kern/codes8.h"
#include "kern/floats.h"

const S0Kernels s0_kernels_neon = {
    .name = "neon",
    .f32 = s0_f32_neon,
    .f16 = s0_f16_neon,
    .product8 = s0_product8_neon,
    .round8 = s0_round8_neon,
    .table8 = s0_table8_portable,
    .table4 = s0_table4_neon,
    .real16 = s0_real16_neon,
    .fixed16 = s0_fixed16_portable,
};
#endif
