/* Kernels of codes of 8 and 4 bits in C99. See affine.h for what they compute.
 *
 * Right shifts of negative numbers are written so that C99 defines them: of the sum with a multiple of the divisor that
 * makes it positive. */
#include "kern/codes8.h"
#include "kern/rows.h"

/* The int8 whose two's complement the byte is. */
static int32_t signed_byte(unsigned byte) {
    return (int32_t)(byte & 0xff) - ((byte & 0x80) != 0 ? 256 : 0);
}

static int32_t limit(int32_t value, int32_t lo, int32_t hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

/* floor(value / 2^bits) of -2^30 to 2^30 - 1 */
static int32_t shift_floor(int32_t value, int bits) {
    const uint32_t lift = UINT32_C(1) << 30;
    return (int32_t)(((uint32_t)value + lift) >> bits) - (int32_t)(lift >> bits);
}

typedef struct {
    int32_t multiplier, addend, divisor;
    int32_t odd_code, odd_step; /* no code has number 256 */
} Product;

static Product product_of(const S0Products8 *products, size_t channel) {
    Product product = {.multiplier = products->multiplier[channel],
                       .addend = products->addend[channel],
                       .divisor = products->divisor[channel],
                       .odd_code = 256};
    if (products->odd_code != 0 && products->odd_step != 0) {
        product.odd_code = products->odd_code[channel];
        product.odd_step = products->odd_step[channel];
    }
    return product;
}

static uint8_t product_code(uint8_t code, const Product *product, const S0Bytes *bytes) {
    int32_t x = signed_byte((unsigned)code ^ bytes->x_flip);
    int32_t high = shift_floor(x * 256 * product->multiplier + (1 << 14), 15);
    int32_t sum = limit(high + product->addend, INT16_MIN, INT16_MAX);
    int32_t y = limit(shift_floor(sum * product->divisor, 16), bytes->lo, bytes->hi);
    if (x == product->odd_code) {
        y += product->odd_step;
    }
    return (uint8_t)(((unsigned)y & 0xff) ^ bytes->y_flip);
}

void s0_product8_portable(const S0Rows *rows, const S0Products8 *products) {
    const S0Products8 all = *products; /* no y is in it: the compiler does not know that */
    S0Rows left = all.channels == 1 ? s0_rows_joined(rows, rows->columns) : *rows;
    Product product = product_of(&all, 0);
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        for (size_t i = 0; i < left.columns; i++) {
            if (all.channels != 1) {
                product = product_of(&all, i);
            }
            y[i] = product_code(x[i], &product, &all.bytes);
        }
    }
}

/* To the nearest, ties to even; |value| < 2^22, so whole part and fraction are exact. */
static int32_t round_even(float value) {
    int32_t whole = (int32_t)value;
    float fraction = value - (float)whole;
    int32_t leaves = whole & 1; /* a tie leaves an odd whole part */
    int32_t up = (fraction > 0.5F) | ((fraction == 0.5F) & leaves);
    int32_t down = (fraction < -0.5F) | ((fraction == -0.5F) & leaves);
    return whole + up - down;
}

static uint8_t round_code(uint8_t code, float scale, float bias, const S0Bytes *bytes) {
    float product = (float)signed_byte((unsigned)code ^ bytes->x_flip) * scale;
    float sum = product + bias;
    int32_t y = limit(round_even(sum), bytes->lo, bytes->hi);
    return (uint8_t)(((unsigned)y & 0xff) ^ bytes->y_flip);
}

void s0_round8_portable(const S0Rows *rows, const S0Rounds8 *rounds) {
    const S0Rounds8 all = *rounds;
    S0Rows left = all.channels == 1 ? s0_rows_joined(rows, rows->columns) : *rows;
    float scale = all.scale[0], bias = all.bias[0];
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        for (size_t i = 0; i < left.columns; i++) {
            if (all.channels != 1) {
                scale = all.scale[i];
                bias = all.bias[i];
            }
            y[i] = round_code(x[i], scale, bias, &all.bytes);
        }
    }
}

void s0_table8_portable(const S0Rows *rows, const S0Tables8 *tables) {
    const uint8_t *table = tables->table;
    size_t next = tables->channels == 1 ? 0 : 256; /* from a column's table to the next one's */
    S0Rows left = *rows;
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        for (size_t i = 0; i < left.columns; i++) {
            y[i] = table[i * next + x[i]];
        }
    }
}

void s0_table4_portable(const S0Rows *rows, const S0Tables4 *tables) {
    size_t next = tables->channels == 1 ? 0 : 16;
    S0Rows left = *rows;
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x, *table = tables->table;
        uint8_t *y = (uint8_t *)left.y;
        size_t pairs = left.columns / 2;
        for (size_t i = 0; i < pairs; i++, table += 2 * next) {
            y[i] = (uint8_t)(table[x[i] & 15] | table[next + (x[i] >> 4)] << 4);
        }
        if (left.columns % 2 != 0) {
            y[pairs] = (uint8_t)((y[pairs] & 0xf0) | table[x[pairs] & 15]);
        }
    }
}
