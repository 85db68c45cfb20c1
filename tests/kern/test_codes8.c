/* Proves the kernels of codes of 8 and 4 bits against the formulas of affine.h, element by element: every code, shapes
 * around every boundary of a vector, parameters beside pages that fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it */
#include <cmocka.h>

#include "kern/rows_case.h"
#include "support/random.h"

#include <math.h>

typedef enum { PRODUCT, ROUND, TABLE8, TABLE4, KINDS } Kind;

enum { MOST_BYTES = 1 << 17, MOST_CHANNELS = 1200, ARRAYS = 5 };

/* The parameters of all kernels, each array of them beside a page that faults. */
typedef struct {
    Guarded memory[ARRAYS];
    S0Products8 products;
    S0Rounds8 rounds;
    S0Tables8 tables8;
    S0Tables4 tables4;
} Parameters;

static Parameters parameters_new(void) {
    Parameters p = {.products.channels = 0};
    for (int k = 0; k < ARRAYS; k++) {
        p.memory[k] = guarded_new((size_t)MOST_CHANNELS * 256);
    }
    return p;
}

static void parameters_free(Parameters *p) {
    for (int k = 0; k < ARRAYS; k++) {
        guarded_free(&p->memory[k]);
    }
}

static int chance(uint64_t *seed, uint64_t one_in) {
    return random_below(seed, one_in) == 0;
}

/* -most to most, these themselves more often than others. */
static int32_t draw_within(uint64_t *seed, int32_t most) {
    if (chance(seed, 8)) {
        return chance(seed, 2) ? most : -most;
    }
    return (int32_t)random_below(seed, 2 * (uint64_t)most + 1) - most;
}

static S0Bytes draw_bytes(uint64_t *seed) {
    S0Bytes bytes = {.lo = INT8_MIN, .hi = INT8_MAX};
    if (chance(seed, 2)) {
        bytes.x_flip = chance(seed, 2) ? 0x80 : 0;
        bytes.y_flip = chance(seed, 2) ? 0x80 : 0;
    }
    if (chance(seed, 2)) {
        int lo = (int)random_below(seed, 256) - 128;
        bytes.lo = (int8_t)lo;
        bytes.hi = (int8_t)(lo + (chance(seed, 4) ? 0 : (int)random_below(seed, (uint64_t)(128 - lo))));
    }
    return bytes;
}

/* `tame`: |multiplier| + |addend| fits 16 bits. The others miss that by little often, and in all cases sometimes. */
static int16_t draw_addend(uint64_t *seed, int16_t multiplier, int tame) {
    int32_t most = 32767 - abs(multiplier);
    if (tame || chance(seed, 2)) {
        most += tame || multiplier == 0 ? 0 : 1;
        return (int16_t)(chance(seed, 4) ? most : draw_within(seed, most));
    }
    return (int16_t)(chance(seed, 16) ? INT16_MIN : draw_within(seed, 32767));
}

static void draw_products(Parameters *p, size_t channels, uint64_t *seed) {
    int16_t multiplier[MOST_CHANNELS], addend[MOST_CHANNELS], divisor[MOST_CHANNELS];
    int8_t code[MOST_CHANNELS], step[MOST_CHANNELS];
    int tame = chance(seed, 2), odd = chance(seed, 3), front = chance(seed, 2), alike = chance(seed, 2);
    for (size_t c = 0; c < channels; c++) {
        multiplier[c] = (int16_t)draw_within(seed, 32767);
        addend[c] = draw_addend(seed, multiplier[c], tame);
        divisor[c] = (int16_t)(alike ? 256 : 1 << (8 + random_below(seed, 7)));
        code[c] = (int8_t)draw_within(seed, 127);
        step[c] = (int8_t)draw_within(seed, chance(seed, 2) ? 1 : 127);
    }
    p->products = (S0Products8){
        .channels = channels,
        .multiplier = guarded_copy(&p->memory[0], multiplier, channels * 2, front),
        .addend = guarded_copy(&p->memory[1], addend, channels * 2, front),
        .divisor = guarded_copy(&p->memory[2], divisor, channels * 2, front),
        .odd_code = odd ? guarded_copy(&p->memory[3], code, channels, front) : NULL,
        .odd_step = odd ? guarded_copy(&p->memory[4], step, channels, front) : NULL,
        .bytes = draw_bytes(seed),
    };
}

/* Quarters, so that many sums are ties; any; and some too small to be seen. */
static float draw_real(uint64_t *seed, int32_t most) {
    switch (random_below(seed, 4)) {
    case 0:
        return (float)draw_within(seed, 4 * most) / 4;
    case 1:
        return ldexpf((float)draw_within(seed, 1 << 20), -(int)random_below(seed, 150) - 20);
    case 2:
        return (float)draw_within(seed, 8) / 4;
    default:
        return ldexpf((float)draw_within(seed, 1 << 24), -24) * (float)most;
    }
}

static void draw_rounds(Parameters *p, size_t channels, uint64_t *seed) {
    float scale[MOST_CHANNELS], bias[MOST_CHANNELS];
    int front = chance(seed, 2);
    for (size_t c = 0; c < channels; c++) {
        scale[c] = draw_real(seed, 1 << 14);
        bias[c] = draw_real(seed, chance(seed, 2) ? 1 << 20 : 100);
    }
    p->rounds = (S0Rounds8){
        .channels = channels,
        .scale = guarded_copy(&p->memory[0], scale, channels * sizeof(float), front),
        .bias = guarded_copy(&p->memory[1], bias, channels * sizeof(float), front),
        .bytes = draw_bytes(seed),
    };
}

static const uint8_t *draw_table(Parameters *p, size_t count, uint64_t below, uint64_t *seed) {
    uint8_t *table = guarded_place(&p->memory[0], count, (Place){0, chance(seed, 2)});
    for (size_t i = 0; i < count; i++) {
        table[i] = (uint8_t)random_below(seed, below);
    }
    return table;
}

static void draw(Parameters *p, Kind kind, size_t channels, uint64_t *seed) {
    assert_true(channels <= MOST_CHANNELS);
    if (kind == PRODUCT) {
        draw_products(p, channels, seed);
    } else if (kind == ROUND) {
        draw_rounds(p, channels, seed);
    } else if (kind == TABLE8) {
        p->tables8 = (S0Tables8){channels, draw_table(p, channels * 256, 256, seed)};
    } else {
        p->tables4 = (S0Tables4){channels, draw_table(p, channels * 16, 16, seed)};
    }
}

/* The formulas */

static int32_t within(int32_t value, int32_t lo, int32_t hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

static int32_t as_int8(int32_t code) {
    return (code & 0xff) < 128 ? code & 0xff : (code & 0xff) - 256;
}

static int32_t product(const S0Products8 *p, size_t c, int32_t x) {
    int32_t h = (int32_t)floor((x * 256.0 * p->multiplier[c] + 16384) / 32768);
    int32_t sum = within(h + p->addend[c], -32768, 32767);
    int32_t y = within((int32_t)floor((double)sum * p->divisor[c] / 65536), p->bytes.lo, p->bytes.hi);
    return p->odd_code != NULL && x == p->odd_code[c] ? y + p->odd_step[c] : y;
}

static int32_t rounded(const S0Rounds8 *p, size_t c, int32_t x) {
    volatile float times = (float)x * p->scale[c];
    volatile float sum = times + p->bias[c];
    assert_true(fabsf(sum) < 4194304.0F);
    return within((int32_t)lrintf(sum), p->bytes.lo, p->bytes.hi);
}

static uint8_t expected(const Parameters *p, Kind kind, size_t column, uint8_t code) {
    switch (kind) {
    case PRODUCT:
        return (uint8_t)((product(&p->products, p->products.channels == 1 ? 0 : column,
                                  as_int8(code ^ p->products.bytes.x_flip)) &
                          0xff) ^
                         p->products.bytes.y_flip);
    case ROUND:
        return (uint8_t)((rounded(&p->rounds, p->rounds.channels == 1 ? 0 : column,
                                  as_int8(code ^ p->rounds.bytes.x_flip)) &
                          0xff) ^
                         p->rounds.bytes.y_flip);
    case TABLE8:
        return p->tables8.table[256 * (p->tables8.channels == 1 ? 0 : column) + code];
    default:
        return p->tables4.table[16 * (p->tables4.channels == 1 ? 0 : column) + code];
    }
}

/* One byte of a row of packed codes; `before` is what y holds. */
static uint8_t expected_pair(const Parameters *p, size_t columns, size_t byte, uint8_t code, uint8_t before) {
    uint8_t low = expected(p, TABLE4, 2 * byte, code & 15);
    if (2 * byte + 1 == columns) {
        return (uint8_t)((before & 0xf0) | low);
    }
    return (uint8_t)(expected(p, TABLE4, 2 * byte + 1, code >> 4) << 4 | low);
}

/* Runs */

static void run(const S0Kernels *kernels, Kind kind, const S0Rows *rows, const Parameters *p) {
    if (kind == PRODUCT) {
        kernels->product8(rows, &p->products);
    } else if (kind == ROUND) {
        kernels->round8(rows, &p->rounds);
    } else if (kind == TABLE8) {
        kernels->table8(rows, &p->tables8);
    } else {
        kernels->table4(rows, &p->tables4);
    }
}

/* Fills x with codes that go through all of them, from one by chance on; the same for each table. */
static void fill(RowsTest *test, const RowsCase *c, Kind kind, const Parameters *p, unsigned first) {
    for (size_t row = 0; row < c->rows; row++) {
        for (size_t byte = 0; byte < c->row_bytes; byte++) {
            uint8_t code = (uint8_t)(first + 37 * byte + 101 * row);
            rows_x(test, row, byte, &code, 1);
            uint8_t want = kind == TABLE4 ? expected_pair(p, c->columns, byte, code, c->in_place ? code : 0x5A)
                                          : expected(p, kind, byte, code);
            rows_want(test, row, byte, &want, 1);
        }
    }
}

static void check_case(RowsTest *test, RowsCase c, Kind kind, const Parameters *p, unsigned first) {
    const S0Kernels *tables[ROWS_TABLES];
    int count = rows_tables(tables);
    c.row_bytes = kind == TABLE4 ? (c.columns + 1) / 2 : c.columns;
    for (int k = 0; k < count; k++) {
        S0Rows rows = rows_test_lay(test, &c);
        fill(test, &c, kind, p, first);
        run(tables[k], kind, &rows, p);
        rows_test_check(test);
    }
}

/* Every code, in one channel and by channel. */
static void all_codes(void **state) {
    (void)state;
    uint64_t seed = 11;
    Parameters p = parameters_new();
    RowsTest test = rows_test_new(1 << 13);
    for (int k = 0; k < 20000; k++) {
        Kind kind = (Kind)(k % KINDS);
        size_t channels = k % 8 < 4 ? 1 : 2 + random_below(&seed, 12);
        RowsCase c = {.rows = channels == 1 ? 1 : 256, .columns = channels == 1 ? 512 : channels};
        draw(&p, kind, channels, &seed);
        check_case(&test, c, kind, &p, (unsigned)random_below(&seed, 256));
    }
    parameters_free(&p);
    rows_test_free(&test);
}

static Place draw_place(uint64_t *seed) {
    return (Place){chance(seed, 3) ? 0 : random_below(seed, 64), chance(seed, 2)};
}

/* One channel, one row: every length around some vectors, at every place in a line of a cache. */
static void lengths_and_places(void **state) {
    enum { CASES = 240 };
    (void)state;
    uint64_t seed = 12;
    Parameters p = parameters_new();
    RowsTest test = rows_test_new(1 << 9);
    for (size_t k = 0; k < 131 * CASES; k++) {
        Kind kind = (Kind)(k % KINDS);
        RowsCase c = {.rows = 1,
                      .columns = k / CASES,
                      .x = draw_place(&seed),
                      .y = draw_place(&seed),
                      .in_place = chance(&seed, 3),
                      .streams = chance(&seed, 3)};
        draw(&p, kind, 1, &seed);
        check_case(&test, c, kind, &p, (unsigned)random_below(&seed, 256));
    }
    parameters_free(&p);
    rows_test_free(&test);
}

static RowsCase draw_case(uint64_t *seed, size_t most_rows, size_t columns) {
    int apart = chance(seed, 3);
    return (RowsCase){.rows = 1 + random_below(seed, most_rows),
                      .columns = columns,
                      .x_pad = apart ? random_below(seed, 40) : 0,
                      .y_pad = apart ? random_below(seed, 40) : 0,
                      .x = draw_place(seed),
                      .y = draw_place(seed),
                      .in_place = chance(seed, 3),
                      .streams = chance(seed, 3)};
}

/* Channels last for every number of them up to 70, and planes in several rows. */
static void channels_and_rows(void **state) {
    (void)state;
    uint64_t seed = 13;
    Parameters p = parameters_new();
    RowsTest test = rows_test_new(1 << 12);
    for (int k = 0; k < 70 * 200; k++) {
        size_t columns = 1 + (size_t)k % 70;
        Kind kind = (Kind)random_below(&seed, KINDS);
        RowsCase c = draw_case(&seed, chance(&seed, 2) ? 10 : 30, columns);
        draw(&p, kind, chance(&seed, 4) ? 1 : columns, &seed);
        check_case(&test, c, kind, &p, (unsigned)random_below(&seed, 256));
    }
    parameters_free(&p);
    rows_test_free(&test);
}

/* So many rows that kernels go over them in blocks, and so many channels that they do not. */
static void large_matrices(void **state) {
    static const size_t channels[] = {2, 3, 5, 12, 16, 24, 31, 32, 33, 48, 64, 65, 100, 128, 255, 1024, 1100, 1200};
    (void)state;
    uint64_t seed = 14;
    Parameters p = parameters_new();
    RowsTest test = rows_test_new(MOST_BYTES);
    for (int k = 0; k < 18 * 20; k++) {
        size_t columns = channels[k % 18];
        Kind kind = (Kind)random_below(&seed, KINDS);
        RowsCase c = draw_case(&seed, 40000 / (columns + 40), columns);
        draw(&p, kind, columns, &seed);
        check_case(&test, c, kind, &p, (unsigned)random_below(&seed, 256));
    }
    parameters_free(&p);
    rows_test_free(&test);
}

/* Channel first, many planes in one call: matrices of `height` rows, one below the other. */
static void check_planes(RowsTest *test, RowsCase c, size_t height, const Parameters *p, unsigned first) {
    const S0Kernels *tables[ROWS_TABLES];
    int count = rows_tables(tables);
    for (int k = 0; k < count; k++) {
        S0Rows rows = rows_test_lay(test, &c);
        for (size_t row = 0; row < c.rows; row++) {
            for (size_t byte = 0; byte < c.row_bytes; byte++) {
                uint8_t code = (uint8_t)(first + 37 * byte + 101 * row);
                uint8_t want = expected(p, PRODUCT, row / height, code);
                rows_x(test, row, byte, &code, 1);
                rows_want(test, row, byte, &want, 1);
            }
        }
        rows.rows = height;
        tables[k]->product8_planes(&rows, height * rows.x_pitch_bytes, &p->products);
        rows_test_check(test);
    }
}

static void planes_by_channel(void **state) {
    (void)state;
    uint64_t seed = 16;
    Parameters p = parameters_new();
    RowsTest test = rows_test_new(1 << 15);
    for (int k = 0; k < 12000; k++) {
        size_t channels = 1 + random_below(&seed, 20), height = chance(&seed, 2) ? 1 : 1 + random_below(&seed, 4);
        RowsCase c = draw_case(&seed, 1, 1 + random_below(&seed, 200));
        c.rows = channels * height;
        c.row_bytes = c.columns;
        c.y_pad = c.x_pad;
        draw(&p, PRODUCT, channels, &seed);
        check_planes(&test, c, height, &p, (unsigned)random_below(&seed, 256));
    }
    parameters_free(&p);
    rows_test_free(&test);
}

static void no_rows(void **state) {
    (void)state;
    uint64_t seed = 15;
    Parameters p = parameters_new();
    RowsTest test = rows_test_new(64);
    for (int k = 0; k < 2 * KINDS; k++) {
        draw(&p, (Kind)(k / 2), k % 2 == 0 ? 1 : 40, &seed);
        check_case(&test, (RowsCase){.rows = 0, .columns = 40}, (Kind)(k / 2), &p, 0);
    }
    parameters_free(&p);
    rows_test_free(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_codes),         cmocka_unit_test(lengths_and_places),
        cmocka_unit_test(channels_and_rows), cmocka_unit_test(large_matrices),
        cmocka_unit_test(no_rows),           cmocka_unit_test(planes_by_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
