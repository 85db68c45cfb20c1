/* The kernels in C99: what compilers vectorise, and what ships beside generated code. */
#include "kern/affine.h"

#include "kern/codes16.h"
#include "kern/codes8.h"
#include "kern/floats.h"

const S0Kernels s0_kernels_portable = {
    .name = "portable",
    .vector_bytes = 64,
    .f32 = s0_f32_portable,
    .f32_planes = s0_f32_planes_portable,
    .f16 = s0_f16_portable,
    .product8 = s0_product8_portable,
    .product8_planes = s0_product8_planes_portable,
    .round8 = s0_round8_portable,
    .table8 = s0_table8_portable,
    .table4 = s0_table4_portable,
    .real16 = s0_real16_portable,
    .real16_planes = s0_real16_planes_portable,
    .quotient16 = s0_quotient16_portable,
    .fixed16 = s0_fixed16_portable,
};
