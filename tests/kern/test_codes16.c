/* Kernels of codes of 16 bits: bit for bit as a scalar reference in wider arithmetic, for all codes, lengths, channels
 * and places, in all tables. */
#include "kern/exact.h"
#include "kern/rows_case.h"
#include "support/random.h"
#include "support/sanitized.h"

enum {
    CODES = 65536,
    MOST_COLUMNS = 700,
    SHARE = S0_SANITIZED ? 10 : 1, /* one of so many cases */
};

static int32_t between(uint64_t *seed, int64_t lo, int64_t hi) {
    return (int32_t)(lo + (int64_t)random_below(seed, (uint64_t)(hi - lo + 1)));
}

/* The parameters of one channel or of many, of all kernels. */
typedef struct {
    float weight[MOST_COLUMNS], offset[MOST_COLUMNS], scale[MOST_COLUMNS], bias[MOST_COLUMNS];
    float divisor[MOST_COLUMNS];
    int32_t whole_weight[MOST_COLUMNS], whole_offset[MOST_COLUMNS];
    S0Multiplier factor[MOST_COLUMNS];
    S0Codes codes;
    S0Rounding rounding;
} Parameters;

/* ---- what is to come out */

static int16_t limited(double value, S0Codes codes) {
    return (int16_t)fmax(fmin(value, codes.hi), codes.lo);
}

static float line_of(const Parameters *p, size_t c, int16_t x) {
    volatile float value = (float)x * p->weight[c];
    value = value + p->offset[c];
    value = value * p->scale[c];
    value = value + p->bias[c];
    return value;
}

static int16_t want_real(const Parameters *p, size_t c, int16_t x) {
    return limited(nearbyint((double)line_of(p, c, x)) + p->codes.zero_point, p->codes);
}

static int16_t want_quotient(const Parameters *p, size_t c, int16_t x) {
    volatile float value = line_of(p, c, x);
    value = value / p->divisor[c];
    return limited(nearbyint((double)value) + p->codes.zero_point, p->codes);
}

static int16_t want_fixed(const Parameters *p, size_t c, int16_t x) {
    const S0Multiplier f = p->factor[c];
    int64_t acc = (int64_t)x * p->whole_weight[c] + p->whole_offset[c];
    int32_t own = s0_requantise((int32_t)acc, f, p->rounding, p->codes);
    if (f.shift >= -63 && f.shift <= 63 && f.multiplier != INT32_MIN) {
        Wide product = p->rounding == S0_ROUND_SINGLE ? exact_single(acc, f.multiplier, f.shift)
                                                      : exact_double(acc, f.multiplier, f.shift);
        assert_int_equal(own, limited((double)product + p->codes.zero_point, p->codes));
    }
    return (int16_t)own;
}

/* ---- parameters by chance: every loop of the kernels is reached */

static float draw_float(uint64_t *seed, int least, int most) {
    float sign = random_below(seed, 4) == 0 ? -1 : 1;
    return ldexpf(sign * (float)between(seed, 1 << 23, (1 << 24) - 1), between(seed, least, most) - 23);
}

typedef struct {
    int has_first, is_whole, has_offset, has_second, has_bias, is_wild;
} RealKind;

static void draw_first(uint64_t *seed, const RealKind *kind, float *weight, float *offset) {
    if (kind->is_whole) {
        int32_t bits = random_below(seed, 4) == 0 ? 16 : 8;
        *weight = (float)between(seed, -(1 << bits), 1 << bits);
        int32_t most = random_below(seed, 4) == 0 ? INT32_MAX : 1000000; /* passes 32 bits, and what float32 holds */
        *offset = kind->has_offset ? (float)between(seed, -most, most) : 0;
    } else {
        *weight = draw_float(seed, -6, 1);
        *offset = kind->has_offset ? draw_float(seed, -4, 10) : 0;
    }
}

static void draw_real(uint64_t *seed, Parameters *p, size_t c, const RealKind *kind) {
    p->weight[c] = p->scale[c] = 1;
    p->offset[c] = p->bias[c] = 0;
    if (kind->has_first) {
        draw_first(seed, kind, &p->weight[c], &p->offset[c]);
    }
    if (kind->has_second) {
        p->scale[c] = draw_float(seed, kind->is_whole ? -10 : -4, 1);
        p->bias[c] = kind->has_bias ? draw_float(seed, -4, 12) : 0;
    }
    if (kind->is_wild) { /* factors that are large, tiny or 0; ties */
        static const float odd[] = {0, 1e-36F, 1e-40F, 1e15F, -3e14F, 0.5F, -0.5F, 1, 65536};
        p->weight[c] = odd[random_below(seed, 9)];
        p->scale[c] = fabsf(p->weight[c]) < 1e-30F ? 1e38F : odd[random_below(seed, 9)];
        p->offset[c] = random_below(seed, 2) != 0 ? 0 : draw_float(seed, -4, 40);
        p->bias[c] = random_below(seed, 2) != 0 ? -0.0F : draw_float(seed, -4, 40);
    }
}

static void draw_quotient(uint64_t *seed, Parameters *p, size_t c, int is_wild) {
    static const float odd[] = {1, 2, -0.5F, 3, 65536, 1e-30F, -1e30F, 3e-39F};
    p->divisor[c] = is_wild ? odd[random_below(seed, 8)] : draw_float(seed, -6, 1);
}

static S0Codes draw_codes(uint64_t *seed) {
    S0Codes codes = {0, INT16_MIN, INT16_MAX};
    if (random_below(seed, 3) == 0) {
        codes.zero_point = between(seed, INT16_MIN, INT16_MAX);
    }
    if (random_below(seed, 30) == 0) {
        codes.zero_point = between(seed, -(1 << 30), 1 << 30);
    }
    if (random_below(seed, 4) == 0) {
        codes.hi = between(seed, INT16_MIN, INT16_MAX);
        codes.lo = random_below(seed, 2) != 0 ? INT16_MIN : between(seed, INT16_MIN, codes.hi);
    } else if (random_below(seed, 4) == 0) {
        codes.lo = between(seed, INT16_MIN, INT16_MAX);
    }
    return codes;
}

/* Shifted, no sum passes 31 bits and no weight 15: kernels have a way for matrices all of whose channels are so. */
static void draw_tame_fixed(uint64_t *seed, Parameters *p, size_t c) {
    int32_t up = between(seed, -30, 5), left = up > 0 ? up : 0;
    p->whole_weight[c] = between(seed, -(16383 >> left), 16383 >> left);
    p->whole_offset[c] = random_below(seed, 3) == 0 ? 0 : between(seed, -(536870911 >> left), 536870911 >> left);
    p->factor[c].multiplier = random_below(seed, 4) == 0 ? 1 << 30 : between(seed, 1 << 30, INT32_MAX);
    p->factor[c].shift = up;
}

/* A multiplier as models have it, at times another; any shift where `is_wild`. The accumulator fits 32 bits. */
static void draw_fixed(uint64_t *seed, Parameters *p, size_t c, int is_wild) {
    static const int32_t odd[] = {0, 1, -1, INT32_MIN, INT32_MAX, 1 << 30, -(1 << 30)};
    static const int32_t shifts[] = {INT32_MIN, -64, -63, -33, -32, -31, 14, 15, 16, 31, 32, 63, 64, INT32_MAX};
    int64_t most = is_wild && random_below(seed, 2) != 0 ? 65535 : random_below(seed, 2) != 0 ? 32767 : 128;
    p->whole_weight[c] = random_below(seed, 4) == 0 ? 1 : between(seed, -most, most);
    int64_t room = INT32_MAX - 32768 * (int64_t)abs(p->whole_weight[c]);
    room = random_below(seed, 3) != 0 && room > 1000000 ? 1000000 : room > 0 ? room : 0;
    p->whole_offset[c] = random_below(seed, 3) == 0 ? 0 : between(seed, -room, room);
    p->factor[c].multiplier = between(seed, 1 << 30, INT32_MAX);
    p->factor[c].shift = between(seed, most > 128 ? -20 : -9, most > 128 ? -8 : 3);
    if (random_below(seed, 4) == 0) { /* ties */
        p->factor[c].multiplier = 1 << 30;
    }
    if (is_wild) {
        p->factor[c].multiplier = random_below(seed, 2) != 0 ? odd[random_below(seed, 7)] : (int32_t)random_next(seed);
        p->factor[c].shift = random_below(seed, 2) != 0 ? shifts[random_below(seed, 14)] : between(seed, -34, 20);
    }
    if (is_wild && random_below(seed, 4) == 0) { /* nearly more than 32 bits before the second rounding */
        p->whole_weight[c] = random_below(seed, 2) != 0 ? 32767 : -32767;
        p->whole_offset[c] = (1 << 30) + between(seed, 0, 32767);
        p->factor[c] = (S0Multiplier){INT32_MAX, between(seed, -31, -29)};
    }
}

static void draw(uint64_t *seed, Parameters *p, size_t channels) {
    RealKind kind;
    int *bit = &kind.has_first;
    for (size_t i = 0; i < 5; i++) {
        bit[i] = (int)random_below(seed, 2);
    }
    kind.is_wild = random_below(seed, 8) == 0;
    int is_wild = random_below(seed, 6) == 0, is_tame = random_below(seed, 2) == 0;
    for (size_t c = 0; c < channels; c++) {
        draw_real(seed, p, c, &kind);
        draw_quotient(seed, p, c, is_wild);
        if (is_tame) {
            draw_tame_fixed(seed, p, c);
        } else {
            draw_fixed(seed, p, c, is_wild);
        }
    }
    p->codes = draw_codes(seed);
    static const S0Rounding roundings[] = {S0_ROUND_DOUBLE, S0_ROUND_SINGLE, S0_ROUND_CMSIS};
    p->rounding = roundings[random_below(seed, 3)];
}

/* ---- one matrix */

enum { ARRAYS = 5 }; /* of parameters */

typedef struct {
    RowsTest rows;
    Guarded pages[ARRAYS]; /* parameters at the end of a page */
} Test;

static Test place_new(size_t most_bytes) {
    Test test = {.rows = rows_test_new(most_bytes)};
    for (size_t i = 0; i < ARRAYS; i++) {
        test.pages[i] = guarded_new(MOST_COLUMNS * sizeof(S0Multiplier));
    }
    return test;
}

static void place_free(Test *test) {
    rows_test_free(&test->rows);
    for (size_t i = 0; i < ARRAYS; i++) {
        guarded_free(&test->pages[i]);
    }
}

static S0Reals16 place_reals(const Test *test, const Parameters *p, size_t channels) {
    const size_t bytes = channels * sizeof(float);
    return (S0Reals16){
        .channels = channels,
        .weight = guarded_copy(&test->pages[0], p->weight, bytes, 0),
        .offset = guarded_copy(&test->pages[1], p->offset, bytes, 0),
        .scale = guarded_copy(&test->pages[2], p->scale, bytes, 0),
        .bias = guarded_copy(&test->pages[3], p->bias, bytes, 0),
        .codes = p->codes,
    };
}

static void run_real(const Test *test, const S0Kernels *kernels, const S0Rows *rows, const Parameters *p,
                     size_t channels) {
    const S0Reals16 reals = place_reals(test, p, channels);
    kernels->real16(rows, &reals);
}

static void run_quotient(const Test *test, const S0Kernels *kernels, const S0Rows *rows, const Parameters *p,
                         size_t channels) {
    const S0Quotients16 quotients = {
        .reals = place_reals(test, p, channels),
        .divisor = guarded_copy(&test->pages[4], p->divisor, channels * sizeof(float), 0),
    };
    kernels->quotient16(rows, &quotients);
}

static void run_fixed(const Test *test, const S0Kernels *kernels, const S0Rows *rows, const Parameters *p,
                      size_t channels) {
    const size_t bytes = channels * sizeof(int32_t);
    const S0Fixed16 fixed = {
        .channels = channels,
        .weight = guarded_copy(&test->pages[0], p->whole_weight, bytes, 0),
        .offset = guarded_copy(&test->pages[1], p->whole_offset, bytes, 0),
        .factor = guarded_copy(&test->pages[2], p->factor, channels * sizeof(S0Multiplier), 0),
        .rounding = p->rounding,
        .codes = p->codes,
    };
    kernels->fixed16(rows, &fixed);
}

enum { KERNELS = 3 };

static const struct {
    int16_t (*want)(const Parameters *p, size_t c, int16_t x);
    void (*run)(const Test *test, const S0Kernels *kernels, const S0Rows *rows, const Parameters *p, size_t channels);
} kernel[KERNELS] = {{want_real, run_real}, {want_quotient, run_quotient}, {want_fixed, run_fixed}};

/* `x` is drawn; all kernels, all tables. */
static void check_matrix(Test *test, RowsCase layout, const Parameters *p, size_t channels, uint64_t seed) {
    const S0Kernels *tables[ROWS_TABLES];
    int count = rows_tables(tables);
    layout.row_bytes = layout.columns * sizeof(int16_t);
    for (int t = 0; t < KERNELS * count; t++) {
        const int k = t % KERNELS;
        uint64_t numbers = seed;
        S0Rows rows = rows_test_lay(&test->rows, &layout);
        for (size_t i = 0; i < layout.rows * layout.columns; i++) {
            size_t row = i / layout.columns, column = i % layout.columns;
            int16_t x = (int16_t)random_next(&numbers), y = kernel[k].want(p, channels == 1 ? 0 : column, x);
            rows_x(&test->rows, row, column * sizeof x, &x, sizeof x);
            rows_want(&test->rows, row, column * sizeof y, &y, sizeof y);
        }
        kernel[k].run(test, tables[t / KERNELS], &rows, p, channels);
        rows_test_check(&test->rows);
    }
}

/* ---- the tests */

static Parameters parameters;

/* All codes by one channel, by a kernel of every table. */
static void check_codes(const Test *test, int k) {
    static int16_t x[CODES], want[CODES], y[CODES];
    const S0Kernels *tables[ROWS_TABLES];
    int count = rows_tables(tables);
    for (size_t i = 0; i < CODES; i++) {
        x[i] = (int16_t)(i - 32768);
        want[i] = kernel[k].want(&parameters, 0, x[i]);
    }
    for (int t = 0; t < count; t++) {
        const S0Rows rows = {x, y, 1, CODES, sizeof x, sizeof y, 0};
        kernel[k].run(test, tables[t], &rows, &parameters, 1);
        assert_memory_equal(y, want, sizeof y);
    }
}

static void test_every_code(void **state) {
    (void)state;
    uint64_t seed = 16;
    Test test = place_new(1);
    for (int channel = 0; channel < 400 / SHARE; channel++) {
        draw(&seed, &parameters, 1);
        for (int k = 0; k < KERNELS; k++) {
            check_codes(&test, k);
        }
    }
    place_free(&test);
}

/* Numbers that pass what float32 holds, above or below, where a kernel multiplies them to have codes multiplied; a sum
 * that the last bit of a scale puts beyond a tie. */
static void test_extremes(void **state) {
    (void)state;
    static const struct {
        float weight, offset, scale, bias;
    } channel[] = {
        {1, 1e35F, 1e-29F, 0},
        {1, 0x1p99F, 0x1.000002p-115F, 0x1p-1F - 0x1p-16F + 0x1p-25F},
        {0x1.000002p-115F, 0, 0x1p112F, 0},
        {0x1.8p-130F, 0, 0x1p127F, 0.5F},
        {0x1.000002p-115F, 0x1p99F, 0x1p-90F, 0},
    };
    Test test = place_new(1);
    parameters.codes = (S0Codes){0, INT16_MIN, INT16_MAX};
    for (size_t c = 0; c < sizeof channel / sizeof *channel; c++) {
        parameters.weight[0] = channel[c].weight;
        parameters.offset[0] = channel[c].offset;
        parameters.scale[0] = channel[c].scale;
        parameters.bias[0] = channel[c].bias;
        check_codes(&test, 0);
    }
    place_free(&test);
}

/* Every length, at all places of a vector and of a page. */
static void test_planes(void **state) {
    (void)state;
    uint64_t seed = 1;
    Test test = place_new(40000);
    for (size_t columns = 0; columns <= 130; columns++) {
        for (size_t i = 0; i < 64 / SHARE; i++) {
            const RowsCase layout = {
                .rows = 1 + i % 3,
                .columns = columns,
                .x_pad = i % 3 == 2 ? random_below(&seed, 40) : 0,
                .y_pad = i % 3 == 2 ? random_below(&seed, 40) : 0,
                .x = {i, i % 2 != 0},
                .y = {random_below(&seed, 64), random_below(&seed, 2) != 0},
                .in_place = random_below(&seed, 3) == 0,
                .streams = random_below(&seed, 2) != 0,
            };
            draw(&seed, &parameters, 1);
            check_matrix(&test, layout, &parameters, 1, seed);
        }
    }
    place_free(&test);
}

/* Rows of whole lines of a cache begin with one often: kernels go past the caches by these. */
static void check_channels(Test *test, uint64_t *seed, size_t channels, size_t rows) {
    const int is_padded = random_below(seed, 3) == 0, is_on_line = random_below(seed, 2) == 0;
    const RowsCase layout = {
        .rows = rows,
        .columns = channels,
        .x_pad = is_padded ? random_below(seed, 40) : 0,
        .y_pad = is_padded ? random_below(seed, 40) : 0,
        .x = {random_below(seed, 64), random_below(seed, 2) != 0},
        .y = {is_on_line ? 0 : random_below(seed, 64), random_below(seed, 2) != 0},
        .in_place = random_below(seed, 3) == 0,
        .streams = random_below(seed, 2) != 0,
    };
    draw(seed, &parameters, channels);
    check_matrix(test, layout, &parameters, channels, *seed);
}

static void test_channels_last(void **state) {
    (void)state;
    uint64_t seed = 2;
    Test test = place_new(60000);
    for (size_t channels = 1; channels <= 70; channels++) {
        for (size_t i = 0; i < 40 / SHARE; i++) {
            check_channels(&test, &seed, channels, random_below(&seed, 24));
        }
    }
    for (size_t i = 0; i < 200 / SHARE; i++) {
        size_t channels = 71 + random_below(&seed, MOST_COLUMNS - 71);
        check_channels(&test, &seed, i % 2 == 0 ? channels : channels / 32 * 32, 1 + random_below(&seed, 16));
    }
    place_free(&test);
}

/* Channel first, many planes in one call: matrices of `height` rows, one below the other. */
static void check_planes(Test *test, RowsCase layout, const Parameters *p, size_t channels, uint64_t seed) {
    const S0Kernels *tables[ROWS_TABLES];
    const size_t height = layout.rows / channels;
    int count = rows_tables(tables);
    for (int t = 0; t < count; t++) {
        uint64_t numbers = seed;
        S0Rows rows = rows_test_lay(&test->rows, &layout);
        for (size_t i = 0; i < layout.rows * layout.columns; i++) {
            size_t row = i / layout.columns, column = i % layout.columns;
            int16_t x = (int16_t)random_next(&numbers), y = want_real(p, row / height, x);
            rows_x(&test->rows, row, column * sizeof x, &x, sizeof x);
            rows_want(&test->rows, row, column * sizeof y, &y, sizeof y);
        }
        const S0Reals16 reals = place_reals(test, p, channels);
        rows.rows = height;
        tables[t]->real16_planes(&rows, height * rows.x_pitch_bytes, &reals);
        rows_test_check(&test->rows);
    }
}

static void test_channels_first(void **state) {
    (void)state;
    uint64_t seed = 3;
    Test test = place_new(80000);
    for (size_t i = 0; i < 4000 / SHARE; i++) {
        const size_t channels = 1 + random_below(&seed, 24), height = 1 + random_below(&seed, 2);
        const size_t columns = 1 + random_below(&seed, i % 8 == 0 ? 700 : 100);
        const size_t pad = random_below(&seed, 3) == 0 ? random_below(&seed, 40) : 0;
        const RowsCase layout = {
            .rows = channels * height,
            .row_bytes = columns * sizeof(int16_t),
            .columns = columns,
            .x_pad = pad,
            .y_pad = pad,
            .x = {random_below(&seed, 64), random_below(&seed, 2) != 0},
            .y = {random_below(&seed, 64), random_below(&seed, 2) != 0},
            .in_place = random_below(&seed, 3) == 0,
            .streams = random_below(&seed, 2) != 0,
        };
        draw(&seed, &parameters, channels);
        check_planes(&test, layout, &parameters, channels, seed);
    }
    place_free(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),    cmocka_unit_test(test_extremes),       cmocka_unit_test(test_planes),
        cmocka_unit_test(test_channels_last), cmocka_unit_test(test_channels_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
