/* Proves the kernels of reals, of every table, bit for bit against exact arithmetic in double, over lengths, channels,
 * alignments, rows with something between them, in place and past the caches; and that they touch nothing else. */
#include "kern/half.h"
#include "kern/reals.h"
#include "kern/rows_case.h"
#include "support/random.h"

#include <math.h>

enum { MANY_CHANNELS = 140, MANY_BYTES = 48 * 1024, MOST_CHANNELS = 3001, MOST_BYTES = 19 * MOST_CHANNELS * 4 };

/* ---- Formats */

typedef struct {
    const char *name;
    size_t bytes;
    uint32_t special[12];
    int specials;
} Format;

static const Format f32 = {"f32",
                           4,
                           {0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
                            0xFF800001, 0x3F800000, 0x3F7FFFFF},
                           12};
static const Format f16 = {
    "f16", 2, {0, 0x8000, 1, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0xFC01, 0x3C00, 0x3BFF}, 12};

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A third are special, a third of any magnitude, a third near 1. */
static uint32_t draw(const Format *format, uint64_t *seed) {
    uint32_t bits = (uint32_t)(random_next(seed) >> 32), one = format->bytes == 4 ? 0x3F800000 : 0x3C00;
    switch (random_below(seed, 3)) {
    case 0:
        return format->special[random_below(seed, (uint64_t)format->specials)];
    case 1:
        return format->bytes == 4 ? bits : bits & 0xFFFF;
    default:
        return (format->bytes == 4 ? bits & 0x80FFFFFF : bits & 0x87FF) ^ one;
    }
}

static float draw_parameter(const Format *format, uint64_t *seed) {
    uint32_t bits = draw(format, seed);
    return format->bytes == 4 ? float_of(bits) : (float)half_value((uint16_t)bits);
}

/* What x becomes, in the bytes of an element. */
static uint32_t result(const Format *format, uint32_t x, float scale, float bias) {
    if (format->bytes == 2) {
        return f16_result((uint16_t)x, scale, bias);
    }
    float y = f32_result(float_of(x), scale, bias);
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    return bits;
}

static int is_nan(const Format *format, uint32_t bits) {
    return format->bytes == 4 ? isnan(float_of(bits)) : (bits & 0x7FFF) > 0x7C00;
}

/* ---- Running */

typedef struct {
    RowsTest matrices;
    Guarded scale, bias;
    const Format *format;
    const S0Kernels *kernels;
    uint32_t *wanted; /* row by row */
    uint64_t seed;
} Bench;

static Bench bench_new(const Format *format, const S0Kernels *kernels, size_t most_bytes) {
    Bench b = {.matrices = rows_test_new(most_bytes),
               .scale = guarded_new(MOST_CHANNELS * sizeof(float)),
               .bias = guarded_new(MOST_CHANNELS * sizeof(float)),
               .format = format,
               .kernels = kernels,
               .wanted = malloc(most_bytes / format->bytes * sizeof(uint32_t)),
               .seed = 0x9E3779B97F4A7C15};
    assert_non_null(b.wanted);
    return b;
}

static void bench_free(Bench *b) {
    rows_test_free(&b->matrices);
    guarded_free(&b->scale);
    guarded_free(&b->bias);
    free(b->wanted);
}

static S0Floats draw_floats(Bench *b, size_t channels) {
    float scale[MOST_CHANNELS], bias[MOST_CHANNELS];
    for (size_t c = 0; c < channels; c++) {
        scale[c] = draw_parameter(b->format, &b->seed);
        bias[c] = draw_parameter(b->format, &b->seed);
    }
    const size_t bytes = channels * sizeof(float);
    const int at_front = (int)random_below(&b->seed, 2);
    return (S0Floats){channels, guarded_copy(&b->scale, scale, bytes, at_front),
                      guarded_copy(&b->bias, bias, bytes, at_front)};
}

/* Which NaN a NaN is, is open. */
static void take_nans(Bench *b) {
    RowsTest *m = &b->matrices;
    const size_t bytes = b->format->bytes, columns = m->rows.columns;
    for (size_t i = 0; i < m->rows.rows * columns; i++) {
        uint32_t got = 0;
        memcpy(&got, m->y_bytes + i / columns * m->rows.y_pitch_bytes + i % columns * bytes, bytes);
        if (is_nan(b->format, b->wanted[i]) && is_nan(b->format, got)) {
            rows_want(m, i / columns, i % columns * bytes, &got, bytes);
        }
    }
}

/* The channel of an element: 0, its column, or the plane of `height` rows that it is in. */
static size_t channel_of(size_t row, size_t column, size_t channels, size_t height) {
    if (height > 0) {
        return row / height;
    }
    return channels == 1 ? 0 : column;
}

/* Matrices of `height` rows, one a channel, in one call; 0: one matrix. */
static void run_high(Bench *b, RowsCase c, size_t channels, size_t height) {
    const size_t bytes = b->format->bytes;
    c.row_bytes = c.columns * bytes;
    const S0Floats floats = draw_floats(b, channels);
    S0Rows rows = rows_test_lay(&b->matrices, &c);
    for (size_t i = 0; i < c.rows * c.columns; i++) {
        const size_t row = i / c.columns, column = i % c.columns, k = channel_of(row, column, channels, height);
        const uint32_t x = draw(b->format, &b->seed);
        b->wanted[i] = result(b->format, x, floats.scale[k], floats.bias[k]);
        rows_x(&b->matrices, row, column * bytes, &x, bytes);
        rows_want(&b->matrices, row, column * bytes, &b->wanted[i], bytes);
    }
    if (height > 0) {
        rows.rows = height;
        b->kernels->f32_planes(&rows, height * rows.x_pitch_bytes, &floats);
    } else {
        (bytes == 4 ? b->kernels->f32 : b->kernels->f16)(&rows, &floats);
    }
    take_nans(b);
    rows_test_check(&b->matrices);
}

static void run(Bench *b, RowsCase c, size_t channels) {
    run_high(b, c, channels, 0);
}

static void each_bench(void (*with)(Bench *b), size_t most_bytes) {
    static const Format *const formats[] = {&f32, &f16};
    const S0Kernels *tables[ROWS_TABLES];
    const int count = rows_tables(tables);
    for (int k = 0; k < 2 * count; k++) {
        Bench b = bench_new(formats[k % 2], tables[k / 2], most_bytes);
        with(&b);
        bench_free(&b);
    }
}

/* A place that takes every alignment in turn. */
static Place place(const Bench *b, size_t k) {
    return (Place){k % (64 / b->format->bytes) * b->format->bytes, k / 64 % 2 == 0};
}

/* ---- Tests */

static void lengths_with(Bench *b) {
    for (size_t n = 0; n <= 130; n++) {
        for (size_t k = 0; k < 64; k++) {
            RowsCase c = {.rows = 1, .columns = n, .x = place(b, k * 7), .y = place(b, k + n)};
            c.in_place = (k & 1) != 0;
            c.streams = (k & 2) != 0;
            run(b, c, 1);
        }
    }
}

static void one_channel(void **state) {
    (void)state;
    each_bench(lengths_with, MANY_BYTES);
}

static void planes_with(Bench *b) {
    for (size_t k = 0; k < 3000; k++) {
        RowsCase c = {.rows = k % 9, .columns = k * 5 % 67, .x = place(b, k), .y = place(b, k * 3)};
        c.x_pad = k / 3 % 5 * b->format->bytes;
        c.y_pad = k / 7 % 5 * b->format->bytes;
        c.in_place = k % 3 == 1;
        c.streams = k / 3 % 4 == 0;
        run(b, c, 1);
    }
}

static void one_channel_in_rows(void **state) {
    (void)state;
    each_bench(planes_with, MANY_BYTES);
}

static void stack_with(Bench *b) {
    for (size_t k = 0; k < 3000 && b->format->bytes == 4; k++) {
        const size_t channels = 1 + k % 11, height = 1 + k / 5 % 3;
        RowsCase c = {.rows = channels * height, .columns = 1 + k * 5 % 67, .x = place(b, k), .y = place(b, k * 3)};
        c.x_pad = c.y_pad = k / 3 % 3 * b->format->bytes;
        c.in_place = k % 3 == 1;
        c.streams = k / 3 % 4 == 0;
        run_high(b, c, channels, height);
    }
}

static void planes_by_channel(void **state) {
    (void)state;
    each_bench(stack_with, MANY_BYTES);
}

/* Up to 40 rows, which are two rounds and more of any number of channels. */
static void pixels_with(Bench *b) {
    for (size_t channels = 1; channels <= 70; channels++) {
        for (size_t k = 0; k < 41 * 4; k++) {
            RowsCase c = {.rows = k / 4, .columns = channels};
            c.x = place(b, k * 5 + channels);
            c.y = place(b, k * 3 + channels / 4);
            c.in_place = (k & 1) != 0;
            c.streams = (k & 2) != 0;
            run(b, c, channels);
        }
    }
}

static void channel_last(void **state) {
    (void)state;
    each_bench(pixels_with, MANY_BYTES);
}

static void many_with(Bench *b) {
    for (size_t channels = 71; channels <= MANY_CHANNELS; channels++) {
        for (size_t k = 0; k < 8; k++) {
            RowsCase c = {.rows = 34 + k, .columns = channels, .x = place(b, k * 5), .y = place(b, k * 3 + channels)};
            c.in_place = (k & 1) != 0;
            c.streams = (k & 2) != 0;
            run(b, c, channels);
        }
    }
}

static void many_channels(void **state) {
    (void)state;
    each_bench(many_with, MANY_BYTES);
}

/* Around what a kernel may take at once; 17 rows are two rounds of an odd number of channels. */
static void wide_with(Bench *b) {
    static const size_t channels[] = {1023, 1024, 1025, 2047, 2048, 2049, 2056, MOST_CHANNELS};
    for (size_t k = 0; k < 8 * 8; k++) {
        RowsCase c = {.rows = k / 8 % 4 == 3 ? 17 : k / 8 % 4, .columns = channels[k % 8]};
        c.x = place(b, k * 5);
        c.y = place(b, k / 8 * 3);
        c.in_place = k / 8 % 3 == 1;
        c.streams = k / 8 % 3 == 2;
        c.x_pad = c.y_pad = k / 8 == 6 ? b->format->bytes : 0;
        run(b, c, c.columns);
    }
}

static void very_many_channels(void **state) {
    (void)state;
    each_bench(wide_with, MOST_BYTES);
}

static void narrow_with(Bench *b) {
    for (size_t channels = 1; channels <= 12; channels++) {
        for (size_t k = 0; k < 400; k++) {
            RowsCase c = {.rows = k, .columns = channels, .x = place(b, k), .y = place(b, k / 2 + channels)};
            c.in_place = k % 3 == 1;
            c.streams = k % 5 == 2;
            run(b, c, channels);
        }
    }
}

static void few_channels(void **state) {
    (void)state;
    each_bench(narrow_with, MANY_BYTES);
}

static void padded_with(Bench *b) {
    for (size_t channels = 1; channels <= 70; channels++) {
        for (size_t k = 0; k < 32; k++) {
            RowsCase c = {.rows = k % 6, .columns = channels, .x = place(b, k * 5 + channels), .y = place(b, k * 3)};
            c.x_pad = k % 5 * b->format->bytes;
            c.y_pad = k / 5 % 5 * b->format->bytes;
            c.in_place = (k & 1) != 0;
            c.streams = (k & 2) != 0;
            run(b, c, channels);
        }
    }
}

static void rows_apart(void **state) {
    (void)state;
    each_bench(padded_with, MANY_BYTES);
}

/* Every float16, alone and by the stretch. */
static void all_halves(void **state) {
    (void)state;
    static const double scales[] = {1, -0.333251953125, 65504, 0x1p-14, 0x1p-24, 1.0009765625, 0, (double)INFINITY};
    static const double biases[] = {-0.0, 0.0999755859375, -65504, 0x1p-24, 3 * 0x1p-24, 2048, -0x1p-14, 1};
    static uint16_t x[0x10000], y[0x10000];
    const S0Kernels *tables[ROWS_TABLES];
    for (int t = rows_tables(tables) - 1; t >= 0; t--) {
        for (size_t k = 0; k < 8 * 8; k++) {
            const float scale = (float)scales[k / 8], bias = (float)biases[k % 8];
            for (size_t i = 0; i < 0x10000; i++) {
                x[i] = (uint16_t)i;
            }
            tables[t]->f16(&(S0Rows){x, y, 1, 0x10000, 0x20000, 0x20000, 0}, &(S0Floats){1, &scale, &bias});
            for (size_t i = 0; i < 0x10000; i++) {
                const uint16_t want = f16_result((uint16_t)i, scale, bias);
                assert_true(y[i] == want || (is_nan(&f16, y[i]) && is_nan(&f16, want)));
            }
        }
    }
}

/* The portable conversions, which generated code ships. Rounding is proven in affine/test_half.c. */
static void conversions(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float x = s0_half_widen((uint16_t)bits), want = (float)half_value((uint16_t)bits);
        assert_true(isnan(want) ? isnan(x) : memcmp(&x, &want, sizeof x) == 0);
        assert_int_equal(s0_half_narrow(x), isnan(want) ? bits | 0x200 : bits);
    }
    for (uint32_t payload = 1; payload < 0x2001; payload++) {
        assert_true(is_nan(&f16, s0_half_narrow(float_of(0xFF800000 | payload))));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_channel),        cmocka_unit_test(one_channel_in_rows),
                                       cmocka_unit_test(channel_last),       cmocka_unit_test(many_channels),
                                       cmocka_unit_test(very_many_channels), cmocka_unit_test(few_channels),
                                       cmocka_unit_test(rows_apart),         cmocka_unit_test(all_halves),
                                       cmocka_unit_test(conversions),        cmocka_unit_test(planes_by_channel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
