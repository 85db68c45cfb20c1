/* The table of kernels, by what the processor says of itself. */
#include "native/variant.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const uint64_t USUAL_CACHE_BYTES = UINT64_C(32) << 20;

#if defined(__x86_64__)
static bool has_avx2(void) {
    unsigned a, b, c = 0, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("bmi2");
}
#endif

const S0Kernels *const *variant_list(void) {
    static const S0Kernels *const all[] = {
#if defined(__x86_64__)
        &s0_kernels_avx512,
        &s0_kernels_avx2,
#elif defined(__aarch64__)
        &s0_kernels_neon,
#endif
        &s0_kernels_portable,
        NULL
    };
#if defined(__x86_64__)
    return has_avx512() ? all : has_avx2() ? all + 1 : all + 2;
#else
    return all; /* every AArch64 has NEON */
#endif
}

const S0Kernels *variant_choose(void) {
    const S0Kernels *const *kernels = variant_list();
    const char *wanted = getenv("STRIDE0_CPU");
    while (wanted != NULL && *kernels != NULL && strcmp((*kernels)->name, wanted) != 0) {
        kernels++;
    }
    return *kernels;
}

/* As the system says it, which is asked first: in a virtual machine the C library counts caches that it does not have.
 */
static uint64_t told_cache_bytes(void) {
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    unsigned long kib = 0;
    if (file != NULL) {
        kib = fscanf(file, "%luK", &kib) == 1 ? kib : 0;
        fclose(file);
    }
    return (uint64_t)kib << 10;
}

uint64_t variant_cache_bytes(void) {
    uint64_t told = told_cache_bytes();
#if defined(_SC_LEVEL3_CACHE_SIZE)
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    told = told == 0 && bytes > 0 ? (uint64_t)bytes : told;
#endif
    return told > 0 ? told : USUAL_CACHE_BYTES;
}
