/* Packed elements: their size, and one of them read or written, a byte's share at a time. */
#include "layout/packed.h"

#include "base/checked.h"

#include <string.h>

/* The bits of an element that lie in one byte. */
typedef struct {
    uint64_t byte;
    uint32_t shift; /* of the lowest of them in the byte */
    uint32_t count;
} Share;

/* The share at bit `at` of an element that has `left` bits from there on. */
static Share share_at(uint64_t at, uint32_t left) {
    uint32_t shift = (uint32_t)(at % 8);
    return (Share){.byte = at / 8, .shift = shift, .count = left < 8 - shift ? left : 8 - shift};
}

static uint32_t mask_of(Share share) {
    return (1u << share.count) - 1;
}

bool packed_bytes(uint64_t elements, uint32_t bits, uint64_t *bytes) {
    uint64_t all_bits;
    if (!checked_mul(elements, bits, &all_bits)) {
        return false;
    }
    *bytes = bytes_from_bits(all_bits);
    return true;
}

uint64_t packed_read(const uint8_t *bytes, uint64_t index, uint32_t bits) {
    uint64_t code = 0;
    for (uint32_t done = 0; done < bits;) {
        Share share = share_at(index * bits + done, bits - done);
        code |= (uint64_t)((uint32_t)bytes[share.byte] >> share.shift & mask_of(share)) << done;
        done += share.count;
    }
    return code;
}

void packed_write(uint8_t *bytes, uint64_t index, uint32_t bits, uint64_t code) {
    for (uint32_t done = 0; done < bits;) {
        Share share = share_at(index * bits + done, bits - done);
        uint32_t part = (uint32_t)(code >> done) & mask_of(share);
        uint32_t others = bytes[share.byte] & ~(mask_of(share) << share.shift);
        bytes[share.byte] = (uint8_t)(others | part << share.shift);
        done += share.count;
    }
}

bool packed_same(const uint8_t *bytes, uint32_t bits, uint64_t count, uint64_t a, uint64_t b) {
    if (bits % 8 == 0) {
        uint64_t unit_bytes = bits / 8;
        return memcmp(bytes + a * unit_bytes, bytes + b * unit_bytes, (size_t)(count * unit_bytes)) == 0;
    }
    for (uint64_t k = 0; k < count; k++) {
        if (packed_read(bytes, a + k, bits) != packed_read(bytes, b + k, bits)) {
            return false;
        }
    }
    return true;
}
