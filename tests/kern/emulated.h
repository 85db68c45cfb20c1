/* A program in an emulator that compares the kernels of its processor: in emulated.c how, in emulated_draw.c by which
 * parameters, in emulated_known.c on which values worked out by hand. It needs no operating system. */
#ifndef TESTS_KERN_EMULATED_H
#define TESTS_KERN_EMULATED_H

#include "kern/affine.h"

#if defined(__aarch64__)
#define TESTED s0_kernels_neon
#elif defined(__arm__)
#define TESTED s0_kernels_helium
#else
#define TESTED s0_kernels_avx2
#endif

int main(void); /* the exit status */

/* Writes a text; and a number behind it. */
void emulated_say(const char *text);
void say_number(const char *before, long number);

typedef enum { F32, F16, PRODUCT8, ROUND8, TABLE8, TABLE4, REAL16, QUOTIENT16, FIXED16, KERNELS } Kernel;

extern const char *const kernel_name[KERNELS];
extern const size_t element_bytes[KERNELS]; /* 0 for codes of 4 bits */

/* What a kernel takes. Arrays end where their memory does. */
typedef struct {
    S0Floats floats;
    S0Products8 products;
    S0Rounds8 rounds;
    S0Tables8 tables8;
    S0Tables4 tables4;
    S0Reals16 reals;
    S0Quotients16 quotients;
    S0Fixed16 fixed;
} Parameters;

void call(const S0Kernels *kernels, Kernel kernel, const S0Rows *rows, const Parameters *of);

extern long cases, failures;

/* Numbers by chance, the same each time: any bits; from lo to hi; 2^exponent and a fraction, of either sign; bytes. */
uint32_t chance(void);
int32_t between(int32_t lo, int32_t hi);
float near_power(int32_t exponent);
void fill(uint8_t *bytes, size_t count);

enum { MOST_CHANNELS = 70 };

/* Parameters by chance: any that the kernel takes. They end where their memory does. */
Parameters any_parameters(Kernel kernel, size_t channels);

/* The end of `bytes` of memory, before a page that nobody may touch where there is an operating system. */
uint8_t *emulated_memory_end(size_t bytes);

void check_known_values(void);

#endif
