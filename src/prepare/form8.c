/* What a form computes, as kern/affine.h says it, in wide integers and one code at a time: the other side of every
 * proof. The search (form8_product.c, form8_round.c) neither uses this nor is used by it. */
#include "prepare/form8.h"
#include "base/fault.h"

static int32_t limit(int32_t value, int32_t lo, int32_t hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

/* Rounded down: `divisor` is positive. */
static int32_t divide_down(int32_t value, int32_t divisor) {
    int32_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

static int32_t product(const Form8 *form, int32_t x) {
    int32_t h = divide_down(x * 256 * form->multiplier + (1 << 14), 1 << 15);
    int32_t sum = limit(h + form->addend, INT16_MIN, INT16_MAX);
    int32_t y = limit(divide_down(sum * form->divisor, 1 << 16), form->bytes.lo, form->bytes.hi);
    return form->kind == FORM8_ODD && x == form->odd_code ? y + form->odd_step : y;
}

static int32_t rounded(const Form8 *form, int32_t x) {
    float scaled = (float)x * form->scale;
    float sum = scaled + form->bias;
    CHECK(sum > -4194304.0F && sum < 4194304.0F); /* 2^22 */
    return limit(s0_round_half_even((double)sum), form->bytes.lo, form->bytes.hi);
}

uint8_t form8_computes(const Form8 *form, uint8_t code) {
    if (form->kind == FORM8_TABLE) {
        return form->table[code];
    }
    int32_t flipped = code ^ form->bytes.x_flip;
    int32_t x = flipped > INT8_MAX ? flipped - 256 : flipped;
    int32_t y = form->kind == FORM8_ROUND ? rounded(form, x) : product(form, x);
    return (uint8_t)((uint8_t)y ^ form->bytes.y_flip);
}

int form8_agrees(const Form8 *form, const uint8_t table[FORM8_CODES]) {
    int count = 0;
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
