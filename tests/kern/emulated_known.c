/* Values of the kernels that were worked out by hand. */
#include "emulated.h"

#include <string.h>

/* A matrix of one value has one value, in all its places, by either table. */
typedef struct {
    Kernel kernel;
    Parameters by;
    uint32_t x, y; /* as bits */
} Known;

static void check_known(const S0Kernels *kernels, const Known *known) {
    enum { COLUMNS = 37 };
    const size_t size = known->kernel == TABLE4 ? 1 : element_bytes[known->kernel];
    const size_t columns = known->kernel == TABLE4 ? 2 * COLUMNS : COLUMNS;
    uint32_t x[COLUMNS], y[COLUMNS];
    memset(y, 0, sizeof y);
    for (size_t i = 0; i < COLUMNS; i++) {
        memcpy((uint8_t *)x + i * size, &known->x, size);
    }
    const S0Rows rows = {
        .x = x, .y = y, .rows = 1, .columns = columns, .x_pitch_bytes = sizeof x, .y_pitch_bytes = sizeof y};
    call(kernels, known->kernel, &rows, &known->by);
    cases++;
    for (size_t i = 0; i < COLUMNS; i++) {
        uint32_t is = 0;
        memcpy(&is, (uint8_t *)y + i * size, size);
        if (is != known->y) {
            failures++;
            emulated_say(kernels->name);
            emulated_say(" ");
            emulated_say(kernel_name[known->kernel]);
            say_number(": of ", (long)known->x);
            say_number(" is ", (long)is);
            say_number(", not ", (long)known->y);
            emulated_say("\n");
            return;
        }
    }
}

static void check_both(Kernel kernel, const Parameters *by, uint32_t x, uint32_t y) {
    const Known known = {kernel, *by, x, y};
    check_known(&TESTED, &known);
    check_known(&s0_kernels_portable, &known);
}

static void check_float(Kernel kernel, const float (*parameters)[2], uint32_t x, uint32_t y) {
    const Parameters by = {.floats = {1, &(*parameters)[0], &(*parameters)[1]}};
    check_both(kernel, &by, x, y);
}

/* Rounded twice, subnormal before, between and after. */
static void check_floats(void) {
    const float plain[2] = {2, -1}, twice[2] = {1 + 0x1p-12F, -1}, same[2] = {1, 0}, half[2] = {0.5F, 0};
    const float between_both[2] = {0.5F, 0x1p-126F}, after[2] = {1, -0x1p-126F}, half_twice[2] = {1 + 0x1p-10F, -1};
    check_float(F32, &plain, 0x40400000, 0x40A00000);        /* 3: 5 */
    check_float(F32, &twice, 0x3F800800, 0x3A000000);        /* 1 + 2^-12: 2^-11, not 2^-11 + 2^-24 */
    check_float(F32, &same, 0x00000001, 0x00000001);         /* 2^-149 */
    check_float(F32, &half, 0x00800000, 0x00400000);         /* 2^-126: 2^-127 */
    check_float(F32, &between_both, 0x00800000, 0x00C00000); /* 2^-126: 2^-127 + 2^-126 */
    check_float(F32, &after, 0x00C00000, 0x00400000);        /* 1.5 * 2^-126: 2^-127 */
    check_float(F16, &half_twice, 0x3C01, 0x1800);           /* 1 + 2^-10: 2^-9 */
    check_float(F16, &same, 0x0001, 0x0001);                 /* 2^-24 */
    check_float(F16, &plain, 0x7BFF, 0x7C00);                /* 65504: infinite */
    check_float(F16, &half, 0x0003, 0x0002);                 /* 3 * 2^-25: to even */
}

static void check_product(const int16_t (*parameters)[3], S0Bytes bytes, uint32_t x, uint32_t y) {
    static const int8_t odd_code = 7, odd_step = 5;
    const S0Products8 products = {1,    &(*parameters)[0], &(*parameters)[1], &(*parameters)[2], &odd_code, &odd_step,
                                  bytes};
    const Parameters by = {.products = products};
    check_both(PRODUCT8, &by, x, y);
}

static void check_products(void) {
    const int16_t half[3] = {16384, 64, 512}, most[3] = {-32767, 32767, 16384}, zero[3] = {0, 32767, 16384};
    const S0Bytes all = {0, 0, -128, 127}, flipped = {0x80, 0x80, -10, 20};
    check_product(&half, all, 100, 100);       /* (12800 + 64) * 512 / 65536 = 100.5 */
    check_product(&half, all, 256 - 100, 156); /* (-12800 + 64) * 512 / 65536 = -99.5: -100 */
    check_product(&most, all, 0x80, 127);      /* 32767 + 32767 stays 32767; a quarter of it is limited */
    check_product(&most, flipped, 0, 0x80 + 20);
    check_product(&most, flipped, 255, 0x80 + 20);  /* 127: (-32512 * 32767 + 2^14) >> 15 = -32511; 256 / 4 */
    check_product(&zero, all, 7, (127 + 5) & 0xFF); /* the odd code */
    check_product(&zero, flipped, 0x87, (0x80 + 25) & 0xFF);
}

static void check_round(const float (*parameters)[2], S0Bytes bytes, uint32_t x, uint32_t y) {
    const Parameters by = {.rounds = {1, &(*parameters)[0], &(*parameters)[1], bytes}};
    check_both(ROUND8, &by, x, y);
}

static void check_codes8(void) {
    const float half[2] = {0.5F, 0}, steep[2] = {100, 1000};
    const S0Bytes all = {0, 0, -128, 127}, limited = {0x80, 0, -100, 100};
    uint8_t table[256];
    const Parameters by8 = {.tables8 = {1, table}}, by4 = {.tables4 = {1, table}};
    check_round(&half, all, 5, 2);
    check_round(&half, all, 7, 4);
    check_round(&half, all, 256 - 5, 256 - 2);
    check_round(&steep, all, 127, 127);
    check_round(&steep, limited, 0, 256 - 100); /* -128 */
    check_round(&steep, limited, 0x80, 100);    /* 0: 1000 */
    for (int i = 0; i < 256; i++) {
        table[i] = (uint8_t)(255 - i);
    }
    check_both(TABLE8, &by8, 3, 252);
    for (int i = 0; i < 16; i++) {
        table[i] = (uint8_t)(i * 7 % 16);
    }
    check_both(TABLE4, &by4, 0x31, 0x57); /* 1: 7, 3: 5 */
}

static void check_real(const float (*p)[4], uint32_t x, uint32_t y) {
    const S0Codes codes = {7, INT16_MIN, INT16_MAX};
    const Parameters by = {.reals = {1, &(*p)[0], &(*p)[1], &(*p)[2], &(*p)[3], codes}};
    check_both(REAL16, &by, x, y);
}

static void check_quotient(const float (*p)[4], float divisor, uint32_t x, uint32_t y) {
    const S0Codes codes = {7, INT16_MIN, INT16_MAX};
    const Parameters by = {.quotients = {{1, &(*p)[0], &(*p)[1], &(*p)[2], &(*p)[3], codes}, &divisor}};
    check_both(QUOTIENT16, &by, x, y);
}

static void check_fixed(const int32_t (*p)[4], S0Rounding rounding, uint32_t x, uint32_t y) {
    const S0Codes codes = {1, INT16_MIN, INT16_MAX};
    const S0Multiplier factor = {(*p)[2], (*p)[3]};
    const Parameters by = {.fixed = {1, &(*p)[0], &(*p)[1], &factor, rounding, codes}};
    check_both(FIXED16, &by, x, y);
}

static void check_codes16(void) {
    const float quarter[4] = {1, -1, 0.25F, 0}, steep[4] = {1, 0, 4, 0}, tiny[4] = {0x1p-130F, 0, 0x1p127F, 0};
    const float huge[4] = {0x1p100F, 0, 0x1p20F, 0};
    const int32_t half[4] = {3, 4, 1 << 30, 0}, fourth[4] = {1, 0, 1 << 30, -1};
    const int32_t least[4] = {1 << 16, 0, INT32_MIN, 0};
    check_real(&quarter, 3, 7); /* 0.5: 0 */
    check_real(&quarter, 7, 9); /* 1.5: 2 */
    check_real(&steep, 32767, 32767);
    check_real(&steep, 0x8000, 0x8000);
    check_real(&tiny, 8, 8);           /* 2^-127 * 2^127 = 1 */
    check_real(&tiny, 0xFFC0, 0xFFFF); /* -64: -8 */
    check_real(&huge, 1, 32767);
    check_real(&huge, 0xFFFF, 0x8000);
    check_quotient(&quarter, 0.2F, 3, 9);            /* 2.5, once it is rounded: 2 */
    check_quotient(&quarter, -0.5F, 4, 5);           /* 0.75 / -0.5 = -1.5: -2 */
    check_quotient(&tiny, 0x1p-140F, 8, 32767);      /* 1 by a subnormal number */
    check_quotient(&huge, 0x1p-20F, 0xFFFF, 0x8000); /* passes what float32 holds */
    check_fixed(&half, S0_ROUND_DOUBLE, 100, 153);
    check_fixed(&fourth, S0_ROUND_DOUBLE, 0xFFFA, 0xFFFF); /* -1.5: -2 */
    check_fixed(&fourth, S0_ROUND_SINGLE, 0xFFFA, 0);      /* -1.5: -1 */
    check_fixed(&fourth, S0_ROUND_CMSIS, 0xFFFA, 0xFFFF);
    check_fixed(&least, S0_ROUND_DOUBLE, 0x8000, 0x7FFF); /* -2^31 times -1, which CMSIS keeps negative */
    check_fixed(&least, S0_ROUND_CMSIS, 0x8000, 0x8000);
}

void check_known_values(void) {
    check_floats();
    check_products();
    check_codes8();
    check_codes16();
}
