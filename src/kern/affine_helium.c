/* The kernels with Helium, the vectors of Armv8.1-M with floats. What is the portable one has no vector form that would
 * be worth it: tables are looked up element by element there too, fixed point multiplies to 64 bits. float16 has one,
 * but GNU's assembler encodes other registers in its conversions than it is told (binutils 2.40: vcvtb, vcvtt). */
#include "kern/affine.h"

#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE == 3
#include "kern/codes16.h"
#include "kern/codes8.h"
#include "kern/floats.h"

const S0Kernels s0_kernels_helium = {
    .name = "helium",
    .vector_bytes = 16,
    .f32 = s0_f32_helium,
    .f32_planes = s0_f32_planes_helium,
    .f16 = s0_f16_portable,
    .product8 = s0_product8_helium,
    .product8_planes = s0_product8_planes_helium,
    .round8 = s0_round8_helium,
    .table8 = s0_table8_portable,
    .table4 = s0_table4_portable,
    .real16 = s0_real16_helium,
    .real16_planes = s0_real16_planes_helium,
    .quotient16 = s0_quotient16_portable,
    .fixed16 = s0_fixed16_portable,
};
#endif
