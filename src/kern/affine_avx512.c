/* The kernels with AVX-512. */
#include "kern/affine.h"

#include "kern/codes16.h"
#include "kern/codes8.h"
#include "kern/floats.h"

#if defined(__x86_64__)
const S0Kernels s0_kernels_avx512 = {
    .name = "avx512",
    .vector_bytes = 64,
    .f32 = s0_f32_avx512,
    .f32_planes = s0_f32_planes_avx512,
    .f16 = s0_f16_avx512,
    .product8 = s0_product8_avx512,
    .product8_planes = s0_product8_planes_avx512,
    .round8 = s0_round8_avx512,
    .table8 = s0_table8_avx512,
    .table8_is_fast = 1,
    .table4 = s0_table4_avx512,
    .real16 = s0_real16_avx512,
    .real16_planes = s0_real16_planes_avx512,
    .quotient16 = s0_quotient16_avx512,
    .fixed16 = s0_fixed16_avx512,
};
#endif
