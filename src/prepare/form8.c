/* What a form computes, as kern/affine.h says it, in wide integers and one code at a time: the other side of every
 * proof. The search (form8_product.c, form8_round.c) neither uses this nor is used by it. */
#include "prepare/form8.h"
#include "base/fault.h"

static inline int32_t limit(int32_t value, int32_t lo, int32_t hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

/* Rounded down: `divisor` is positive. */
static inline int32_t divide_down(int32_t value, int32_t divisor) {
    int32_t quotient = value / divisor;
    return quotient - (value - quotient * divisor < 0);
}

static inline int32_t product(const Form8 *form, int32_t x) {
    int32_t h = divide_down(x * 256 * form->multiplier + (1 << 14), 1 << 15);
    int32_t sum = limit(h + form->addend, INT16_MIN, INT16_MAX);
    return limit(divide_down(sum * form->divisor, 1 << 16), form->bytes.lo, form->bytes.hi);
}

static int32_t rounded(const Form8 *form, int32_t x) {
    float scaled = (float)x * form->scale;
    float sum = scaled + form->bias;
    CHECK(sum > -4194304.0F && sum < 4194304.0F); /* 2^22 */
    return limit(s0_round_half_even((double)sum), form->bytes.lo, form->bytes.hi);
}

/* Of y the lowest 8 bits count: an odd step is added modulo 256. */
static inline uint8_t code_of(const Form8 *form, int32_t y) {
    return (uint8_t)((uint8_t)y ^ form->bytes.y_flip);
}

static inline int32_t signed_of(const Form8 *form, uint8_t code) {
    return (int32_t)(code ^ form->bytes.x_flip ^ 0x80) - 128;
}

uint8_t form8_computes(const Form8 *form, uint8_t code) {
    int32_t x = signed_of(form, code);
    switch (form->kind) {
    case FORM8_PRODUCT:
        return code_of(form, product(form, x));
    case FORM8_ODD:
        return code_of(form, product(form, x) + (x == form->odd_code ? form->odd_step : 0));
    case FORM8_ROUND:
        return code_of(form, rounded(form, x));
    default:
        return form->table[code];
    }
}

/* What nearly all channels are is not asked about for each code. */
static int product_agrees(const Form8 *form, const uint8_t table[FORM8_CODES]) {
    int count = 0;
    for (int code = 0; code < FORM8_CODES; code++) {
        count += code_of(form, product(form, signed_of(form, (uint8_t)code))) == table[code];
    }
    return count;
}

int form8_agrees(const Form8 *form, const uint8_t table[FORM8_CODES]) {
    int count = 0;
    if (form->kind == FORM8_PRODUCT) {
        return product_agrees(form, table);
    }
    for (int code = 0; code < FORM8_CODES; code++) {
        count += form8_computes(form, (uint8_t)code) == table[code];
    }
    return count;
}

S0Bytes form8_limits(const uint8_t table[FORM8_CODES], uint8_t x_flip, uint8_t y_flip) {
    uint8_t least = UINT8_MAX, most = 0; /* in the order of int8: flipped once more */
    uint8_t order = y_flip ^ 0x80;
    for (int code = 0; code < FORM8_CODES; code++) {
        uint8_t place = table[code] ^ order;
        least = place < least ? place : least;
        most = place > most ? place : most;
    }
    return (S0Bytes){x_flip, y_flip, (int8_t)(least - 128), (int8_t)(most - 128)};
}

S0Bytes form8_join(S0Bytes a, S0Bytes b) {
    a.lo = b.lo < a.lo ? b.lo : a.lo;
    a.hi = b.hi > a.hi ? b.hi : a.hi;
    return a;
}

const char *form8_name(Form8Kind kind) {
    static const char *const name[] = {"product", "product with an odd input", "round", "table"};
    return name[kind];
}
