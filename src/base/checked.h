/* Checked arithmetic on sizes: 64 bits, true on success, nothing written on overflow.
 *
 * Every size or offset of stored data is computed with these, in bits until the last step; a caller that gets false
 * reports the sizes that did not fit. There is no saturating form, so a wrong size can't travel. */
#ifndef S0_BASE_CHECKED_H
#define S0_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *sum) {
    uint64_t result;
    if (__builtin_add_overflow(a, b, &result)) {
        return false;
    }
    *sum = result;
    return true;
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *product) {
    uint64_t result;
    if (__builtin_mul_overflow(a, b, &result)) {
        return false;
    }
    *product = result;
    return true;
}

/* `value` rounded up to a multiple of `unit` (at least 1; any integer, not only powers of two). */
static inline bool checked_round_up(uint64_t value, uint64_t unit, uint64_t *rounded) {
    uint64_t rest = value % unit;
    return checked_add(value, rest == 0 ? 0 : unit - rest, rounded);
}

/* The smallest multiple of both; each at least 1. */
static inline bool checked_common_multiple(uint64_t a, uint64_t b, uint64_t *multiple) {
    uint64_t divisor = a, rest = b;
    while (rest != 0) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return checked_mul(a / divisor, b, multiple);
}

/* Bits to whole bytes, up. Never overflows. */
static inline uint64_t bytes_from_bits(uint64_t bits) {
    return bits / 8 + (bits % 8 != 0);
}

static inline uint64_t ceil_div(uint64_t value, uint64_t divisor) {
    return value / divisor + (value % divisor != 0);
}

#endif
