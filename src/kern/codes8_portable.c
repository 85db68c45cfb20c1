/* Kernels of codes of 8 and 4 bits in C99. See affine.h for what they compute.
 *
 * Codes go in blocks by way of words on the stack: nothing that is written there can be what is read elsewhere, and the
 * types are no wider than the numbers, so compilers make vectors of it. Right shifts of negative numbers are written so
 * that C99 defines them: of the sum with a number that makes it positive. */
#include "kern/codes8.h"
#include "kern/rows.h"

enum { BLOCK = 128 };

/* Pixels of few channels that touch, several to a row, whose parameters are repeated; `rest`: those left over. */
typedef struct {
    S0Rows rows, rest;
} Wide;

static int is_wide(const S0Rows *rows) {
    return rows->columns > 1 && rows->columns <= BLOCK / 2 && rows->rows > 1 && s0_rows_touch(rows, rows->columns);
}

static Wide wide_of(const S0Rows *rows) {
    size_t pixels = BLOCK / rows->columns, done = rows->rows / pixels;
    Wide wide = {*rows, *rows};
    wide.rows.rows = done;
    wide.rows.columns = pixels * rows->columns;
    wide.rows.x_pitch_bytes = wide.rows.y_pitch_bytes = wide.rows.columns;
    wide.rest.x = (const uint8_t *)rows->x + done * wide.rows.columns;
    wide.rest.y = (uint8_t *)rows->y + done * wide.rows.columns;
    wide.rest.rows = 1;
    wide.rest.columns = rows->rows % pixels * rows->columns;
    return wide;
}

/* The number of the parameter of a column. */
static inline size_t number_of(size_t column, int one) {
    return one ? 0 : column;
}

static inline int16_t limit_word(int16_t value, int16_t lo, int16_t hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

/* The numbers that 8 and 16 bits stand for in two's complement. */
static inline int32_t signed_byte(uint32_t byte) {
    return (int32_t)((byte & 0xff) ^ 0x80) - 0x80;
}

static inline int32_t signed_word(uint32_t word) {
    return (int32_t)((word & 0xffff) ^ 0x8000) - 0x8000;
}

static inline void enter(const uint8_t *x, int16_t *words, size_t count, uint8_t flip) {
    for (size_t i = 0; i < count; i++) {
        words[i] = (int16_t)signed_byte((uint32_t)x[i] ^ flip);
    }
}

static inline void leave(const int16_t *words, uint8_t *y, size_t count, uint8_t flip) {
    for (size_t i = 0; i < count; i++) {
        y[i] = (uint8_t)((uint32_t)words[i] ^ flip);
    }
}

/* From channel number `at` on. */
static S0Products8 products_from(const S0Products8 *all, size_t at) {
    S0Products8 products = *all;
    products.multiplier += at;
    products.addend += at;
    products.divisor += at;
    if (s0_has_odd(all)) {
        products.odd_code += at;
        products.odd_step += at;
    }
    return products;
}

/* x * 256 * multiplier + 2^14 over 2^15 is x * multiplier + 2^6 over 2^7, within 2^22. */
static inline int16_t product_of(int16_t x, int16_t multiplier) {
    uint32_t product = (uint32_t)(x * multiplier + (1 << 6) + (1 << 22));
    return (int16_t)((int32_t)(product >> 7) - (1 << 15));
}

/* The sum limited to 16 bits: what would leave them is limited before. */
static inline int16_t sum_of(int16_t high, int16_t addend) {
    int16_t most = (int16_t)(addend > 0 ? INT16_MAX - addend : INT16_MAX);
    int16_t least = (int16_t)(addend < 0 ? INT16_MIN - addend : INT16_MIN);
    return (int16_t)(limit_word(high, least, most) + addend);
}

static inline int16_t quotient_of(int16_t sum, int16_t divisor) {
    return (int16_t)signed_word((uint32_t)(sum * divisor) >> 16);
}

static inline void multiply_words(int16_t *words, size_t count, const S0Products8 *products, int one) {
    const int16_t *multiplier = products->multiplier, *addend = products->addend, *divisor = products->divisor;
    const int16_t lo = products->bytes.lo, hi = products->bytes.hi;
    for (size_t i = 0; i < count; i++) {
        size_t k = number_of(i, one);
        int16_t sum = sum_of(product_of(words[i], multiplier[k]), addend[k]);
        words[i] = limit_word(quotient_of(sum, divisor[k]), lo, hi);
    }
}

static inline void step_words(int16_t *words, const int16_t *x, size_t count, const S0Products8 *products, int one) {
    const int8_t *odd_code = products->odd_code, *odd_step = products->odd_step;
    for (size_t i = 0; i < count; i++) {
        size_t k = number_of(i, one);
        int16_t is_odd = (int16_t)(x[i] == odd_code[k]);
        words[i] = (int16_t)(words[i] + is_odd * odd_step[k]);
    }
}

static inline void product_block(const uint8_t *x, uint8_t *y, size_t count, const S0Products8 *products, int one) {
    int16_t codes[BLOCK], words[BLOCK];
    enter(x, words, count, products->bytes.x_flip);
    if (s0_has_odd(products)) {
        enter(x, codes, count, products->bytes.x_flip);
        multiply_words(words, count, products, one);
        step_words(words, codes, count, products, one);
    } else {
        multiply_words(words, count, products, one);
    }
    leave(words, y, count, products->bytes.y_flip);
}

static size_t block_of(size_t columns, size_t at) {
    return columns - at < BLOCK ? columns - at : BLOCK;
}

static void product_rows(S0Rows left, const S0Products8 *products, int one) {
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        for (size_t at = 0; at < left.columns; at += BLOCK) {
            size_t count = block_of(left.columns, at);
            if (one) {
                product_block(x + at, y + at, count, products, 1);
            } else {
                S0Products8 part = products_from(products, at);
                product_block(x + at, y + at, count, &part, 0);
            }
        }
    }
}

static void wide_products(const S0Rows *rows, const S0Products8 *products) {
    int16_t multiplier[BLOCK], addend[BLOCK], divisor[BLOCK];
    int8_t code[BLOCK], step[BLOCK];
    Wide wide = wide_of(rows);
    int odd = s0_has_odd(products);
    for (size_t i = 0, c = 0; i < BLOCK; i++) {
        multiplier[i] = products->multiplier[c];
        addend[i] = products->addend[c];
        divisor[i] = products->divisor[c];
        code[i] = (int8_t)(odd ? products->odd_code[c] : 0);
        step[i] = (int8_t)(odd ? products->odd_step[c] : 0);
        c = c + 1 < products->channels ? c + 1 : 0;
    }
    S0Products8 repeated = {BLOCK, multiplier, addend, divisor, odd ? code : 0, odd ? step : 0, products->bytes};
    product_rows(wide.rows, &repeated, 0);
    product_rows(wide.rest, &repeated, 0);
}

void s0_product8_portable(const S0Rows *rows, const S0Products8 *products) {
    if (products->channels == 1) {
        product_rows(s0_rows_joined(rows, rows->columns), products, 1);
    } else if (is_wide(rows)) {
        wide_products(rows, products);
    } else {
        product_rows(*rows, products, 0);
    }
}

void s0_product8_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Products8 *products) {
    s0_each_plane8(first, plane_bytes, products, s0_product8_portable);
}

/* To the nearest, ties to even; |value| < 2^22, so whole part and fraction are exact. */
static inline int32_t round_even(float value) {
    int32_t whole = (int32_t)value;
    float fraction = value - (float)whole;
    int32_t leaves = whole & 1; /* a tie leaves an odd whole part */
    int32_t up = (fraction > 0.5F) | ((fraction == 0.5F) & leaves);
    int32_t down = (fraction < -0.5F) | ((fraction == -0.5F) & leaves);
    return whole + up - down;
}

static inline void round_block(const uint8_t *x, uint8_t *y, size_t count, const S0Rounds8 *rounds, int one) {
    const float *scale = rounds->scale, *bias = rounds->bias;
    const float lo = (float)rounds->bytes.lo, hi = (float)rounds->bytes.hi;
    int16_t words[BLOCK];
    enter(x, words, count, rounds->bytes.x_flip);
    for (size_t i = 0; i < count; i++) {
        size_t k = number_of(i, one);
        float product = (float)words[i] * scale[k];
        float sum = product + bias[k];
        words[i] = (int16_t)round_even(sum < lo ? lo : sum > hi ? hi : sum); /* the limits are integers */
    }
    leave(words, y, count, rounds->bytes.y_flip);
}

static void round_rows(S0Rows left, const S0Rounds8 *rounds, int one) {
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        for (size_t at = 0; at < left.columns; at += BLOCK) {
            size_t count = block_of(left.columns, at);
            if (one) {
                round_block(x + at, y + at, count, rounds, 1);
            } else {
                S0Rounds8 part = {rounds->channels, rounds->scale + at, rounds->bias + at, rounds->bytes};
                round_block(x + at, y + at, count, &part, 0);
            }
        }
    }
}

static void wide_rounds(const S0Rows *rows, const S0Rounds8 *rounds) {
    float scale[BLOCK], bias[BLOCK];
    Wide wide = wide_of(rows);
    for (size_t i = 0, c = 0; i < BLOCK; i++) {
        scale[i] = rounds->scale[c];
        bias[i] = rounds->bias[c];
        c = c + 1 < rounds->channels ? c + 1 : 0;
    }
    S0Rounds8 repeated = {BLOCK, scale, bias, rounds->bytes};
    round_rows(wide.rows, &repeated, 0);
    round_rows(wide.rest, &repeated, 0);
}

void s0_round8_portable(const S0Rows *rows, const S0Rounds8 *rounds) {
    if (rounds->channels == 1) {
        round_rows(s0_rows_joined(rows, rows->columns), rounds, 1);
    } else if (is_wide(rows)) {
        wide_rounds(rows, rounds);
    } else {
        round_rows(*rows, rounds, 0);
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
