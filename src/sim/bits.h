/* Bits and elements: runs of bits at any address, and the numbers that elements stand for. Low bits come first. */
#ifndef S0_SIM_BITS_H
#define S0_SIM_BITS_H

#include "base/dtype.h"

/* Copies `bits` bits; the others of the last byte stay. The ranges do not overlap. */
void bits_copy(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t bits);

void bits_clear(uint8_t *to, uint64_t to_bit, uint64_t bits);

/* Which bits of byte `byte` belong to [bit, end)? */
static inline uint8_t bits_mask(uint64_t byte, uint64_t bit, uint64_t end) {
    uint64_t first = byte * 8 < bit ? bit - byte * 8 : 0;
    uint64_t last = end - byte * 8 < 8 ? end - byte * 8 : 8;
    return (uint8_t)((0xFFu << first) & (0xFFu >> (8 - last)));
}

/* The low bits of a number as packed ones, 64 of them. */
static inline uint64_t bits_load(const uint8_t packed[8]) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k < 8; k++) {
        bits |= (uint64_t)packed[k] << k * 8;
    }
    return bits;
}

static inline void bits_store(uint8_t packed[8], uint64_t bits) {
    for (uint32_t k = 0; k < 8; k++) {
        packed[k] = (uint8_t)(bits >> k * 8);
    }
}

/* float16 in 16 bits; what is encoded is a float16 already. A NaN keeps the top of its payload. */
float bits_from_half(uint16_t half);
uint16_t bits_to_half(float x);

/* `count` elements of `wide` bits each, packed, whose lowest bits are a number of type `dtype`: float32, float16 or an
 * integer of at most 32 bits. Reals are in `x`, codes in `code`; what is above the number is written as 0. */
void elements_decode(DType dtype, uint32_t wide, const uint8_t *packed, size_t count, int32_t *code, float *x);
void elements_encode(DType dtype, uint32_t wide, uint8_t *packed, size_t count, const int32_t *code, const float *x);

#endif
