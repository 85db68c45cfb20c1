/* The numbers that elements stand for. See bits.h.
 *
 * Types of whole bytes that fill their elements have loops of their own, which compilers vectorise. */
#include "sim/bits.h"

#include <string.h>

/* ---- float16 */

float bits_from_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t rest = half & 0x7FFF;
    uint32_t bits = rest << 13;
    if (rest >= 0x7C00) { /* infinity or NaN */
        bits |= 0x7F800000;
    } else if (rest >= 0x0400) {
        bits += (127u - 15u) << 23;
    } else { /* subnormal: a multiple of 2^-24 */
        float value = (float)rest * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= sign;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint16_t bits_to_half(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t rest = bits & 0x7FFFFFFF;
    if (rest > 0x7F800000) { /* NaN; a payload that is lost must not leave infinity */
        uint32_t payload = rest >> 13 & 0x3FF;
        return (uint16_t)(sign | 0x7C00 | (payload == 0 ? 0x200 : payload));
    }
    if (rest >= (127u + 16u) << 23) {
        return (uint16_t)(sign | 0x7C00);
    }
    if (rest >= (127u - 14u) << 23) {
        return (uint16_t)(sign | (rest - ((127u - 15u) << 23)) >> 13);
    }
    float magnitude;
    memcpy(&magnitude, &rest, sizeof magnitude);
    return (uint16_t)(sign | (uint32_t)(magnitude * 0x1p24f));
}

/* ---- Codes */

static int32_t extend(uint32_t value, uint32_t bits, bool is_signed) {
    uint32_t top = UINT32_C(1) << (bits - 1);
    uint32_t mask = top | (top - 1);
    value &= mask;
    value = is_signed && (value & top) != 0 ? value | ~mask : value;
    int32_t code;
    memcpy(&code, &value, sizeof code);
    return code;
}

static uint32_t get(const uint8_t *packed, uint64_t bit, uint32_t bits) {
    uint64_t value = 0; /* at most 5 bytes */
    uint64_t first = bit / 8, last = (bit + bits - 1) / 8;
    for (uint64_t byte = first; byte <= last; byte++) {
        value |= (uint64_t)packed[byte] << ((byte - first) * 8);
    }
    return (uint32_t)(value >> bit % 8);
}

static void put(uint8_t *packed, uint64_t bit, uint32_t bits, uint32_t value) {
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    bits_copy(packed, bit, bytes, 0, bits);
}

/* 2 or 4 bits that fill their elements: several to a byte, none across bytes. */
static void decode_small(uint32_t bits, bool is_signed, const uint8_t *packed, size_t count, int32_t *code) {
    const size_t each = 8 / bits;
    const int32_t top = 1 << (bits - 1), mask = 2 * top - 1, sign = is_signed ? top : 0;
    for (size_t i = 0; i < count; i++) {
        int32_t value = packed[i / each] >> (i % each * bits) & mask;
        code[i] = (value ^ sign) - sign;
    }
}

static void encode_small(uint32_t bits, uint8_t *packed, size_t count, const int32_t *code) {
    const size_t each = 8 / bits;
    const uint32_t mask = (1u << bits) - 1;
    memset(packed, 0, (count + each - 1) / each);
    for (size_t i = 0; i < count; i++) {
        packed[i / each] |= (uint8_t)(((uint32_t)code[i] & mask) << (i % each * bits));
    }
}

#define LOAD_ALL(type)                                                                                                 \
    for (size_t i = 0; i < count; i++) {                                                                               \
        type value;                                                                                                    \
        memcpy(&value, packed + i * sizeof value, sizeof value);                                                       \
        code[i] = value;                                                                                               \
    }                                                                                                                  \
    break
#define STORE_ALL(type)                                                                                                \
    for (size_t i = 0; i < count; i++) {                                                                               \
        type value = (type)code[i];                                                                                    \
        memcpy(packed + i * sizeof value, &value, sizeof value);                                                       \
    }                                                                                                                  \
    break

static void decode_codes(DType dtype, uint32_t wide, const uint8_t *packed, size_t count, int32_t *code) {
    uint32_t bits = dtype_bits(dtype);
    bool is_signed = dtype_kind(dtype) == DTYPE_KIND_SIGNED;
    switch (wide == bits ? dtype : DTYPE_NONE) {
    case DTYPE_I8:
        LOAD_ALL(int8_t);
    case DTYPE_U8:
        LOAD_ALL(uint8_t);
    case DTYPE_I16:
        LOAD_ALL(int16_t);
    case DTYPE_U16:
        LOAD_ALL(uint16_t);
    case DTYPE_I32:
        LOAD_ALL(int32_t);
    case DTYPE_I2:
    case DTYPE_U2:
    case DTYPE_I4:
    case DTYPE_U4:
        decode_small(bits, is_signed, packed, count, code);
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            code[i] = extend(get(packed, (uint64_t)i * wide, bits), bits, is_signed);
        }
    }
}

static void encode_codes(DType dtype, uint32_t wide, uint8_t *packed, size_t count, const int32_t *code) {
    uint32_t bits = dtype_bits(dtype);
    switch (wide == bits ? dtype : DTYPE_NONE) {
    case DTYPE_I8:
    case DTYPE_U8:
        STORE_ALL(uint8_t);
    case DTYPE_I16:
    case DTYPE_U16:
        STORE_ALL(uint16_t);
    case DTYPE_I32:
        STORE_ALL(int32_t);
    case DTYPE_I2:
    case DTYPE_U2:
    case DTYPE_I4:
    case DTYPE_U4:
        encode_small(bits, packed, count, code);
        break;
    default:
        memset(packed, 0, (size_t)(((uint64_t)count * wide + 7) / 8));
        for (size_t i = 0; i < count; i++) {
            put(packed, (uint64_t)i * wide, bits, (uint32_t)code[i]);
        }
    }
}

/* ---- Reals */

static void decode_reals(DType dtype, uint32_t wide, const uint8_t *packed, size_t count, float *x) {
    if (dtype == DTYPE_F32 && wide == 32) {
        memcpy(x, packed, count * sizeof *x);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = get(packed, (uint64_t)i * wide, dtype == DTYPE_F16 ? 16 : 32);
        if (dtype == DTYPE_F16) {
            x[i] = bits_from_half((uint16_t)bits);
        } else {
            memcpy(&x[i], &bits, sizeof bits);
        }
    }
}

static void encode_reals(DType dtype, uint32_t wide, uint8_t *packed, size_t count, const float *x) {
    if (dtype == DTYPE_F32 && wide == 32) {
        memcpy(packed, x, count * sizeof *x);
        return;
    }
    memset(packed, 0, (size_t)(((uint64_t)count * wide + 7) / 8));
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        put(packed, (uint64_t)i * wide, dtype_bits(dtype), dtype == DTYPE_F16 ? bits_to_half(x[i]) : bits);
    }
}

void elements_decode(DType dtype, uint32_t wide, const uint8_t *packed, size_t count, int32_t *code, float *x) {
    if (dtype_is_float(dtype)) {
        decode_reals(dtype, wide, packed, count, x);
    } else {
        decode_codes(dtype, wide, packed, count, code);
    }
}

void elements_encode(DType dtype, uint32_t wide, uint8_t *packed, size_t count, const int32_t *code, const float *x) {
    if (dtype_is_float(dtype)) {
        encode_reals(dtype, wide, packed, count, x);
    } else {
        encode_codes(dtype, wide, packed, count, code);
    }
}
