/* Parameters of kernels by chance. */
#include "emulated.h"
#include "kern/half.h"

#include <string.h>

enum { ARRAYS = 5, ARRAY_BYTES = MOST_CHANNELS * 256 }; /* table8 has the longest */

/* The end of the memory of a kernel's array number k. */
static uint8_t *parameter_end(int k) {
    static uint8_t *end[ARRAYS];
    end[k] = end[k] == NULL ? emulated_memory_end(ARRAY_BYTES) : end[k];
    return end[k];
}

uint32_t chance(void) {
    static uint32_t state = 2463534242U;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

int32_t between(int32_t lo, int32_t hi) {
    return lo + (int32_t)(chance() % (uint32_t)(hi - lo + 1));
}

static float float_of(uint32_t bits) {
    const S0FloatBits all = {.bits = bits};
    return all.real;
}

float near_power(int32_t exponent) {
    return float_of((chance() & 0x807FFFFF) | (uint32_t)(exponent + 127) << 23);
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

/* Not 0: of all but a quotient of 0 by it there is one result. */
static float real_divisor(void) {
    const uint32_t kind = chance() % 8;
    return kind == 0  ? float_of((chance() & 0x807FFFFF) | 1)
           : kind < 4 ? 0.5F * (float)between(1, 99)
                      : near_power(between(-20, 16));
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

void fill(uint8_t *bytes, size_t count) {
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
    static const int32_t shifts[][2] = {{-24, 0}, {-3, 0}, {-2, 1}, {-31, 3}, {-31, 3}};
    const uint32_t kind = chance() % 5; /* usual ones, some to the left, any */
    for (size_t c = 0; c < channels; c++) {
        weight[c] = between(-30000, 30000);
        offset[c] = between(-1000000, 1000000);
        factor[c] = (S0Multiplier){between(1 << 30, INT32_MAX - 1), between(shifts[kind][0], shifts[kind][1])};
        factor[c].multiplier = kind == 3 ? (int32_t)chance() : factor[c].multiplier;
        factor[c].multiplier = kind == 4 && chance() % 32 == 0 ? INT32_MIN : factor[c].multiplier;
    }
    return (S0Fixed16){channels, weight, offset, factor, rounding[chance() % 3], any_codes16()};
}
Parameters any_parameters(Kernel kernel, size_t channels) {
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
    } else if (kernel == REAL16 || kernel == QUOTIENT16) {
        const float *weight = floats_of(0, channels, real_factor), *offset = floats_of(1, channels, real_term);
        const float *scale = floats_of(2, channels, real_factor), *bias = floats_of(3, channels, real_term);
        p.reals = (S0Reals16){channels, weight, offset, scale, bias, any_codes16()};
        p.quotients = (S0Quotients16){p.reals, floats_of(4, channels, real_divisor)};
    } else {
        p.fixed = any_fixed(channels);
    }
    return p;
}
