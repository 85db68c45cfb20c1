/* Runs of bits at any address. See bits.h. */
#include "sim/bits.h"

#include <string.h>

/* `count` bits, 8 at most; reads no byte that has none of them. */
static uint8_t peek(const uint8_t *from, uint64_t bit, uint32_t count) {
    const uint8_t *byte = from + bit / 8;
    uint32_t skip = (uint32_t)(bit % 8);
    uint32_t value = (uint32_t)byte[0] >> skip;
    if (skip + count > 8) {
        value |= (uint32_t)byte[1] << (8 - skip);
    }
    return (uint8_t)(value & (0xFFu >> (8 - count)));
}

static void poke(uint8_t *to, uint64_t bit, uint32_t count, uint8_t value) {
    uint32_t skip = (uint32_t)(bit % 8);
    uint32_t mask = (0xFFu >> (8 - count)) << skip;
    to[bit / 8] = (uint8_t)((to[bit / 8] & ~mask) | ((uint32_t)value << skip & mask));
}

static void copy_any(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t bits) {
    while (bits > 0) {
        uint64_t room = 8 - to_bit % 8;
        uint32_t count = (uint32_t)(bits < room ? bits : room);
        poke(to, to_bit, count, peek(from, from_bit, count));
        to_bit += count;
        from_bit += count;
        bits -= count;
    }
}

void bits_copy(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t bits) {
    uint64_t whole = 0;
    if (to_bit % 8 == 0 && from_bit % 8 == 0) {
        whole = bits / 8;
        memcpy(to + to_bit / 8, from + from_bit / 8, whole);
    }
    copy_any(to, to_bit + whole * 8, from, from_bit + whole * 8, bits - whole * 8);
}

void bits_clear(uint8_t *to, uint64_t to_bit, uint64_t bits) {
    uint64_t room = (8 - to_bit % 8) % 8;
    uint32_t head = (uint32_t)(bits < room ? bits : room);
    if (head > 0) {
        poke(to, to_bit, head, 0);
    }
    to_bit += head;
    bits -= head;
    memset(to + to_bit / 8, 0, bits / 8);
    if (bits % 8 != 0) {
        poke(to, to_bit + bits / 8 * 8, (uint32_t)(bits % 8), 0);
    }
}
