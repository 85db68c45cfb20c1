/* The kernels with NEON. Tables of 256 codes are larger than what its instructions look up at a time, so the portable
 * one is taken. */
#include "kern/affine.h"

#if defined(__aarch64__)
#include "kern/codes16.h"
#include "kern/codes8.h"
#include "kern/floats.h"

const S0Kernels s0_kernels_neon = {
    .name = "neon",
    .vector_bytes = 16,
    .f32 = s0_f32_neon,
    .f32_planes = s0_f32_planes_neon,
    .f16 = s0_f16_neon,
    .product8 = s0_product8_neon,
    .product8_planes = s0_product8_planes_neon,
    .round8 = s0_round8_neon,
    .table8 = s0_table8_portable,
    .table4 = s0_table4_neon,
    .real16 = s0_real16_neon,
    .real16_planes = s0_real16_planes_neon,
    .quotient16 = s0_quotient16_neon,
    .fixed16 = s0_fixed16_neon,
};
#endif
