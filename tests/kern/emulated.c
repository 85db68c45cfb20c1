/* The kernels of a processor that this machine emulates, beside the portable ones: whatever the table of affine.h's
 * kernels says, on a sample of shapes, and on values worked out by hand. Needs no operating system; prints a line a
 * failure and a count.
 *
 * A matrix ends right before a page that nobody may touch, where there is an operating system, and so do parameters. */
#include "emulated.h"
#include "kern/affine.h"
#include "kern/half.h"

#include <stdint.h>
#include <string.h>

#if defined(__aarch64__)
#define TESTED s0_kernels_neon
#elif defined(__arm__)
#define TESTED s0_kernels_helium
#else
#define TESTED s0_kernels_avx2
#endif

enum { MOST_CHANNELS = 70, PARAMETERS = 5, MOST_BYTES = 1 << 14, MOST_FAILURES = 20 };

/* Of table8 above all. */
enum { PARAMETER_BYTES = MOST_CHANNELS * 256 };

enum { X, Y, WANTED, AREAS };

#if defined(__arm__)
static uint8_t area[AREAS][MOST_BYTES], parameter_area[PARAMETERS][PARAMETER_BYTES];

static uint8_t *area_end(int k) {
    return area[k] + MOST_BYTES;
}

static uint8_t *parameter_end(int k) {
    return parameter_area[k] + PARAMETER_BYTES;
}
#else
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void emulated_say(const char *text) {
    fputs(text, stdout);
}

/* The end of at least `bytes`, before a page that faults. */
static uint8_t *guarded_end(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + page - 1) / page * page;
    uint8_t *map = (uint8_t *)mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + all, page, PROT_NONE) != 0) {
        emulated_say("no memory\n");
        exit(2);
    }
    return map + all;
}

static uint8_t *area_end(int k) {
    static uint8_t *end[AREAS];
    end[k] = end[k] == NULL ? guarded_end(MOST_BYTES) : end[k];
    return end[k];
}

static uint8_t *parameter_end(int k) {
    static uint8_t *end[PARAMETERS];
    end[k] = end[k] == NULL ? guarded_end(PARAMETER_BYTES) : end[k];
    return end[k];
}
#endif

/* Numbers by chance, the same each time. */
static uint32_t chance(void) {
    static uint32_t state = 2463534242U;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static int32_t between(int32_t lo, int32_t hi) {
    return lo + (int32_t)(chance() % (uint32_t)(hi - lo + 1));
}

static float float_of(uint32_t bits) {
    const S0FloatBits all = {.bits = bits};
    return all.real;
}

/* 2^exponent and a fraction by chance, of either sign. */
static float near_power(int32_t exponent) {
    return float_of((chance() & 0x807FFFFF) | (uint32_t)(exponent + 127) << 23);
}

static void say_number(const char *before, long number) {
    char text[24];
    size_t at = sizeof text - 1;
    unsigned long left = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
    text[at] = '\0';
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    emulated_say(before);
    emulated_say(number < 0 ? "-" : "");
    emulated_say(text + at);
}

typedef enum { F32, F16, PRODUCT8, ROUND8, TABLE8, TABLE4, REAL16, FIXED16, KERNELS } Kernel;

static const char *const kernel_name[KERNELS] = {"f32",    "f16",    "product8", "round8",
                                                 "table8", "table4", "real16",   "fixed16"};
/* Codes of 4 bits have a half. */
static const size_t element_bytes[KERNELS] = {4, 2, 1, 1, 1, 0, 2, 2};

static size_t row_bytes(Kernel kernel, size_t columns) {
    return kernel == TABLE4 ? (columns + 1) / 2 : columns * element_bytes[kernel];
}

/* What a kernel takes. The arrays end with their areas. */
typedef struct {
    S0Floats floats;
    S0Products8 products;
    S0Rounds8 rounds;
    S0Tables8 tables8;
    S0Tables4 tables4;
    S0Reals16 reals;
    S0Fixed16 fixed;
} Parameters;

static void call(const S0Kernels *kernels, Kernel kernel, const S0Rows *rows, const Parameters *of) {
    switch (kernel) {
    case F32:
        kernels->f32(rows, &of->floats);
        break;
    case F16:
        kernels->f16(rows, &of->floats);
        break;
    case PRODUCT8:
        kernels->product8(rows, &of->products);
        break;
    case ROUND8:
        kernels->round8(rows, &of->rounds);
        break;
    case TABLE8:
        kernels->table8(rows, &of->tables8);
        break;
    case TABLE4:
        kernels->table4(rows, &of->tables4);
        break;
    case REAL16:
        kernels->real16(rows, &of->reals);
        break;
    case FIXED16:
        kernels->fixed16(rows, &of->fixed);
        break;
    case KERNELS:
        break;
    }
}

static float any_float(void) {
    return (chance() & 1) != 0 ? float_of(chance()) : near_power(between(-20, 20));
}

static const float *floats_of(int k, size_t count, float (*draw)(void)) {
    float *to = (float *)(void *)(parameter_end(k) - count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        to[i] = draw();
    }
    return to;
}

static float any_half(void) {
    return s0_half_widen((uint16_t)(chance() % 3 != 0 ? chance() : 0x3C00 | (chance() & 0x83FF)));
}

/* Multiples of a half make ties; a subnormal one changes nothing. */
static float round_scale(void) {
    const uint32_t kind = chance() % 4;
    const float halves = 0.5F * (float)between(-20, 20);
    return kind == 0 ? halves : kind == 1 ? float_of(chance() & 0x807FFFFF) : near_power(between(-10, 13));
}

static float round_bias(void) {
    const float halves = 0.5F * (float)between(-200, 200);
    return chance() % 3 == 0 ? near_power(between(-20, 19)) : halves;
}

static float real_factor(void) {
    const uint32_t kind = chance() % 8;
    const float quarters = 0.25F * (float)between(-8, 8);
    return kind == 0 ? float_of(chance() & 0x807FFFFF) : kind < 4 ? quarters : near_power(between(-20, 16));
}

static float real_term(void) {
    const float whole = (float)between(-32768, 32767);
    return chance() % 3 == 0 ? near_power(between(-130, 16)) : whole;
}

static S0Bytes any_bytes(void) {
    S0Bytes bytes = {.lo = INT8_MIN, .hi = INT8_MAX};
    bytes.x_flip = (chance() & 1) != 0 ? 0x80 : 0;
    bytes.y_flip = (chance() & 1) != 0 ? 0x80 : 0;
    if (chance() % 3 == 0) {
        bytes.lo = (int8_t)between(-128, 127);
        bytes.hi = (int8_t)between(bytes.lo, 127);
    }
    return bytes;
}

static void fill(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)chance();
    }
}

static S0Products8 any_products(size_t channels) {
    int16_t *multiplier = (int16_t *)(void *)(parameter_end(0) - 2 * channels);
    int16_t *addend = (int16_t *)(void *)(parameter_end(1) - 2 * channels);
    int16_t *divisor = (int16_t *)(void *)(parameter_end(2) - 2 * channels);
    uint8_t *odd_code = parameter_end(3) - channels, *odd_step = parameter_end(4) - channels;
    for (size_t c = 0; c < channels; c++) {
        const uint32_t kind = chance() % 8;
        multiplier[c] = (int16_t)(kind == 0 ? 32767 : kind == 1 ? -32767 : between(-32767, 32767));
        addend[c] = (int16_t)(kind < 4 ? between(-4000, 4000) : between(-32768, 32767));
        divisor[c] = (int16_t)(1 << between(8, 14));
    }
    fill(odd_code, channels);
    fill(odd_step, channels);
    const int has_odd = (chance() & 1) != 0;
    return (S0Products8){.channels = channels,
                         .multiplier = multiplier,
                         .addend = addend,
                         .divisor = divisor,
                         .odd_code = has_odd ? (const int8_t *)odd_code : NULL,
                         .odd_step = has_odd ? (const int8_t *)odd_step : NULL,
                         .bytes = any_bytes()};
}

static S0Codes any_codes16(void) {
    S0Codes codes = {.zero_point = between(-300, 300), .lo = INT16_MIN, .hi = INT16_MAX};
    if (chance() % 3 == 0) {
        codes.lo = between(-32768, 32767);
        codes.hi = between(codes.lo, 32767);
    }
    return codes;
}

static S0Fixed16 any_fixed(size_t channels) {
    static const S0Rounding rounding[] = {S0_ROUND_DOUBLE, S0_ROUND_SINGLE, S0_ROUND_CMSIS};
    int32_t *weight = (int32_t *)(void *)(parameter_end(0) - 4 * channels);
    int32_t *offset = (int32_t *)(void *)(parameter_end(1) - 4 * channels);
    S0Multiplier *factor = (S0Multiplier *)(void *)(parameter_end(2) - sizeof(S0Multiplier) * channels);
    for (size_t c = 0; c < channels; c++) {
        weight[c] = between(-30000, 30000);
        offset[c] = between(-1000000, 1000000);
        factor[c] = (S0Multiplier){between(1 << 30, INT32_MAX - 1), between(-24, 2)};
    }
    return (S0Fixed16){channels, weight, offset, factor, rounding[chance() % 3], any_codes16()};
}

static Parameters any_parameters(Kernel kernel, size_t channels) {
    Parameters p;
    memset(&p, 0, sizeof p);
    if (kernel == F32 || kernel == F16) {
        float (*const draw)(void) = kernel == F32 ? any_float : any_half;
        p.floats = (S0Floats){channels, floats_of(0, channels, draw), floats_of(1, channels, draw)};
    } else if (kernel == PRODUCT8) {
        p.products = any_products(channels);
    } else if (kernel == ROUND8) {
        p.rounds =
            (S0Rounds8){channels, floats_of(0, channels, round_scale), floats_of(1, channels, round_bias), any_bytes()};
    } else if (kernel == TABLE8) {
        p.tables8 = (S0Tables8){channels, parameter_end(0) - 256 * channels};
        fill(parameter_end(0) - 256 * channels, 256 * channels);
    } else if (kernel == TABLE4) {
        uint8_t *table = parameter_end(0) - 16 * channels;
        fill(table, 16 * channels);
        for (size_t i = 0; i < 16 * channels; i++) {
            table[i] &= 15;
        }
        p.tables4 = (S0Tables4){channels, table};
    } else if (kernel == REAL16) {
        const float *weight = floats_of(0, channels, real_factor), *offset = floats_of(1, channels, real_term);
        const float *scale = floats_of(2, channels, real_factor), *bias = floats_of(3, channels, real_term);
        p.reals = (S0Reals16){channels, weight, offset, scale, bias, any_codes16()};
    } else {
        p.fixed = any_fixed(channels);
    }
    return p;
}

typedef struct {
    Kernel kernel;
    size_t rows, columns, channels;
    size_t x_pad, y_pad, x_gap, y_gap; /* elements between rows, bytes between the last row and the area's end */
    int in_place, streams;
} Case;

static long cases, failures;

static void say_case(const Case *c, size_t at) {
    emulated_say(kernel_name[c->kernel]);
    say_number(": rows ", (long)c->rows);
    say_number(", columns ", (long)c->columns);
    say_number(", channels ", (long)c->channels);
    say_number(", padding ", (long)c->x_pad);
    say_number(" ", (long)c->y_pad);
    say_number(", gap ", (long)c->x_gap);
    say_number(" ", (long)c->y_gap);
    emulated_say(c->in_place ? ", in place" : "");
    say_number(": differs at byte ", (long)at);
    say_number(", is ", area_end(Y)[(long)at - MOST_BYTES]);
    say_number(", not ", area_end(WANTED)[(long)at - MOST_BYTES]);
    emulated_say("\n");
}

static int is_nan(Kernel kernel, const uint8_t *at) {
    uint32_t word = 0;
    memcpy(&word, at, kernel == F32 ? 4 : 2);
    return kernel == F32 ? (word & 0x7FFFFFFF) > 0x7F800000 : (word & 0x7FFF) > 0x7C00;
}

/* Whether both areas hold the same but for NaNs. */
static size_t first_difference(Kernel kernel) {
    const uint8_t *y = area_end(Y) - MOST_BYTES, *wanted = area_end(WANTED) - MOST_BYTES;
    const size_t step = kernel == F32 ? 4 : kernel == F16 ? 2 : 1;
    if (memcmp(y, wanted, MOST_BYTES) == 0) {
        return MOST_BYTES;
    }
    for (size_t at = 0; at < MOST_BYTES; at += step) {
        const int both_nan = step > 1 && is_nan(kernel, y + at) && is_nan(kernel, wanted + at);
        if (memcmp(y + at, wanted + at, step) != 0 && !both_nan) {
            return at;
        }
    }
    return MOST_BYTES;
}

/* The beginning of a matrix that ends `gap` bytes before its area. */
static uint8_t *matrix(int k, const Case *c, size_t pitch_bytes, size_t gap) {
    const size_t bytes = c->rows == 0 ? 0 : (c->rows - 1) * pitch_bytes + row_bytes(c->kernel, c->columns);
    return area_end(k) - gap - bytes;
}

/* The same matrix by both tables. What lies around it must stay. */
static void compare(const Case *c, const Parameters *parameters) {
    const size_t size = c->kernel == TABLE4 ? 1 : element_bytes[c->kernel];
    const size_t pitch = row_bytes(c->kernel, c->columns) + size * c->x_pad;
    const size_t y_pitch = c->in_place ? pitch : row_bytes(c->kernel, c->columns) + size * c->y_pad;
    const size_t gap = c->in_place ? c->x_gap : c->y_gap;
    if (c->in_place) {
        memcpy(area_end(Y) - MOST_BYTES, area_end(X) - MOST_BYTES, MOST_BYTES);
    } else {
        fill(area_end(Y) - MOST_BYTES, MOST_BYTES);
    }
    memcpy(area_end(WANTED) - MOST_BYTES, area_end(Y) - MOST_BYTES, MOST_BYTES);
    for (int k = Y; k <= WANTED; k++) {
        const S0Rows rows = {.x = matrix(c->in_place ? k : X, c, pitch, c->x_gap),
                             .y = matrix(k, c, y_pitch, gap),
                             .rows = c->rows,
                             .columns = c->columns,
                             .x_pitch_bytes = pitch,
                             .y_pitch_bytes = y_pitch,
                             .streams = c->streams};
        call(k == Y ? &TESTED : &s0_kernels_portable, c->kernel, &rows, parameters);
    }
    const size_t at = first_difference(c->kernel);
    cases++;
    if (at < MOST_BYTES && ++failures <= MOST_FAILURES) {
        say_case(c, at);
    }
}

/* Floats are half of them any bits, which are NaNs, infinite and subnormal now and then. */
static void fill_x(Kernel kernel) {
    uint8_t *x = area_end(X) - MOST_BYTES;
    fill(x, MOST_BYTES);
    for (size_t i = 0; i + 4 <= MOST_BYTES && kernel == F32; i += 4) {
        const float usual = near_power(between(-10, 10));
        if ((chance() & 31) != 0) {
            memcpy(x + i, &usual, sizeof usual);
        }
    }
}

/* Rows of all lengths, and of every number of channels. */
static void compare_shapes(Kernel kernel, size_t channels) {
    fill_x(kernel);
    for (int round = 0; round < 12; round++) {
        const size_t size = kernel == TABLE4 ? 1 : element_bytes[kernel];
        const Case c = {.kernel = kernel,
                        .rows = (size_t)(round < 2 ? round : between(1, 6)),
                        .columns = channels == 1 ? (size_t)between(0, 130) : channels,
                        .channels = channels,
                        .x_pad = round % 2 != 0 ? 0 : (size_t)between(0, 5),
                        .y_pad = round % 2 != 0 ? 0 : (size_t)between(0, 5),
                        .x_gap = size * (size_t)between(0, 9) + (kernel == REAL16 && round % 4 == 3),
                        .y_gap = size * (size_t)between(0, 9),
                        .in_place = round % 3 == 2,
                        .streams = (int)(chance() & 1)};
        const Parameters parameters = any_parameters(kernel, channels);
        compare(&c, &parameters);
    }
}

/* Every code, by some parameters. */
static void compare_codes(Kernel kernel) {
    enum { CODES16 = 4096 };
    const int wide = kernel == REAL16 || kernel == FIXED16;
    const Case c = {.kernel = kernel, .rows = 1, .columns = wide ? CODES16 : 256, .channels = 1};
    for (int round = 0; round < 64; round++) {
        uint8_t *x = matrix(X, &c, 0, 0);
        for (size_t i = 0; i < c.columns; i++) {
            const uint16_t code = (uint16_t)(i + (size_t)(round % 16) * CODES16);
            memcpy(x + (wide ? 2 * i : i), &code, wide ? 2 : 1);
        }
        const Parameters parameters = any_parameters(kernel, 1);
        compare(&c, &parameters);
    }
}

static void compare_all(void) {
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        for (size_t channels = 1; channels <= MOST_CHANNELS; channels += channels < 35 ? 1 : 4) {
            compare_shapes((Kernel)kernel, channels);
        }
        for (int round = 0; round < 12; round++) {
            compare_shapes((Kernel)kernel, 1);
        }
        if (kernel >= PRODUCT8 && kernel != TABLE4) {
            compare_codes((Kernel)kernel);
        }
    }
}

/* By hand. A matrix of one value has one value, in all its places, by either table. */
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
    const float plain[2] = {2, -1}, twice[2] = {1 + 0x1p-23F, -1}, same[2] = {1, 0}, half[2] = {0.5F, 0};
    const float between_both[2] = {0.5F, 0x1p-126F}, after[2] = {1, -0x1p-126F}, half_twice[2] = {1 + 0x1p-10F, -1};
    check_float(F32, &plain, 0x40400000, 0x40A00000);        /* 3: 5 */
    check_float(F32, &twice, 0x3F800001, 0x34800000);        /* 1 + 2^-23: 2^-22, not 2^-22 + 2^-46 */
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
    check_real(&quarter, 3, 7); /* 0.5: 0 */
    check_real(&quarter, 7, 9); /* 1.5: 2 */
    check_real(&steep, 32767, 32767);
    check_real(&steep, 0x8000, 0x8000);
    check_real(&tiny, 8, 8);           /* 2^-127 * 2^127 = 1 */
    check_real(&tiny, 0xFFC0, 0xFFFF); /* -64: -8 */
    check_real(&huge, 1, 32767);
    check_real(&huge, 0xFFFF, 0x8000);
    check_fixed(&half, S0_ROUND_DOUBLE, 100, 153);
    check_fixed(&fourth, S0_ROUND_DOUBLE, 0xFFFA, 0xFFFF); /* -1.5: -2 */
    check_fixed(&fourth, S0_ROUND_SINGLE, 0xFFFA, 0);      /* -1.5: -1 */
    check_fixed(&fourth, S0_ROUND_CMSIS, 0xFFFA, 0xFFFF);
}

int main(void) {
    check_floats();
    check_products();
    check_codes8();
    check_codes16();
    compare_all();
    emulated_say(TESTED.name);
    say_number(": ", cases);
    say_number(" cases, ", failures);
    emulated_say(" failures\n");
    return failures != 0;
}
