/* Affines by the public API, against the operators' definitions written out here. */
#include "api/quantised.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 20, MOST_CHANNELS = 80, POISON = 0xA5 };

static uint64_t random_state = 1;

static uint32_t draw(uint32_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % below);
}

static float draw_real(float lo, float hi) {
    return lo + (hi - lo) * (float)draw(1 << 24) / (float)(1 << 24);
}

typedef struct {
    uint64_t n, c, h, w;
} Shape;

/* Address of an element, in elements. */
typedef uint64_t (*Address)(const Shape *shape, uint64_t n, uint64_t c, uint64_t h, uint64_t w);

static uint64_t at_nchw(const Shape *s, uint64_t n, uint64_t c, uint64_t h, uint64_t w) {
    return ((n * s->c + c) * s->h + h) * s->w + w;
}

static uint64_t at_nhwc(const Shape *s, uint64_t n, uint64_t c, uint64_t h, uint64_t w) {
    return ((n * s->h + h) * s->w + w) * s->c + c;
}

static uint64_t at_blocks(const Shape *s, uint64_t n, uint64_t c, uint64_t h, uint64_t w) {
    return (((n * ((s->c + 15) / 16) + c / 16) * s->h + h) * s->w + w) * 16 + c % 16;
}

/* Four lanes one after the other. */
static uint64_t at_lanes(const Shape *s, uint64_t n, uint64_t c, uint64_t h, uint64_t w) {
    uint64_t a_lane = s->n * ((s->c + 3) / 4) * s->h * s->w;
    return c % 4 * a_lane + ((n * ((s->c + 3) / 4) + c / 4) * s->h + h) * s->w + w;
}

/* Rows of 64 elements at most. */
static uint64_t at_rows(const Shape *s, uint64_t n, uint64_t c, uint64_t h, uint64_t w) {
    return ((n * s->c + c) * s->h + h) * 64 + w;
}

typedef struct {
    const char *contract;
    Address address;
} Layout;

static const Layout LAYOUTS[] = {
    {"N C H W", at_nchw},
    {"N H W C", at_nhwc},
    {"N C/16 H W C%16", at_blocks},
    {"bank[C%4] N C/4 H W", at_lanes},
};

static const Shape SHAPES[] = {
    {1, 1, 1, 1},  {1, 5, 7, 9},  {2, 3, 4, 5},    {1, 1, 3, 40},  {3, 33, 5, 2},
    {2, 70, 6, 6}, {1, 64, 1, 1}, {2, 16, 16, 16}, {1, 7, 1, 100},
};

enum { LAYOUT_COUNT = sizeof LAYOUTS / sizeof LAYOUTS[0], SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

static _Alignas(64) uint8_t input[MOST_BYTES + 64], output[MOST_BYTES + 64], expected[MOST_BYTES + 64];

static s0_affine *prepare(const s0_affine_options *options, s0_affine_facts *facts) {
    s0_affine *affine;
    s0_status status = s0_affine_new(options, NULL, &affine);
    if (status != S0_DONE) {
        s0_affine_print_messages(affine, stdout);
    }
    assert_int_equal(status, S0_DONE);
    assert_true(s0_affine_facts_of(affine, facts));
    assert_true(facts->x_bytes <= MOST_BYTES);
    return affine;
}

/* The value of each element of y, from x. */
typedef void (*Reference)(const s0_affine_options *options, uint64_t channel, const void *x, void *y);

static void fill_expected(const s0_affine_options *options, const Layout *layout, Reference reference, size_t bytes) {
    Shape shape = {options->n, options->c, options->h, options->w};
    for (uint64_t n = 0; n < shape.n; n++) {
        for (uint64_t c = 0; c < shape.c; c++) {
            for (uint64_t k = 0; k < shape.h * shape.w; k++) {
                uint64_t at = layout->address(&shape, n, c, k / shape.w, k % shape.w) * bytes;
                reference(options, c, input + at, expected + at);
            }
        }
    }
}

/* Out of place, in place, unaligned, on two threads: all the bytes, the padding's too. */
static void compare(const s0_affine_options *options, const Layout *layout, Reference reference, size_t bytes) {
    s0_affine_facts facts;
    s0_affine_options with = *options;
    with.layout = layout->contract;
    with.threads = 2;
    s0_affine *affine = prepare(&with, &facts);
    memset(expected, POISON, facts.x_bytes);
    fill_expected(options, layout, reference, bytes);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        memset(output, POISON, facts.x_bytes + bytes);
        s0_affine_run(affine, input, output, threads);
        assert_memory_equal(output, expected, facts.x_bytes);
        assert_int_equal(output[facts.x_bytes], POISON);
    }
    static _Alignas(64) uint8_t place[MOST_BYTES + 64];
    memcpy(place + bytes, input, facts.x_bytes);
    s0_affine_run(affine, place + bytes, place + bytes, 1);
    Shape shape = {options->n, options->c, options->h, options->w};
    for (uint64_t k = 0; k < shape.n * shape.c * shape.h * shape.w; k++) {
        uint64_t w = k % shape.w, h = k / shape.w % shape.h, c = k / shape.w / shape.h % shape.c;
        uint64_t at = layout->address(&shape, k / shape.w / shape.h / shape.c, c, h, w) * bytes;
        assert_memory_equal(place + bytes + at, expected + at, bytes);
    }
    s0_affine_free(affine);
}

/* ---- float32 */

static void float_reference(const s0_affine_options *options, uint64_t channel, const void *x, void *y) {
    float value;
    memcpy(&value, x, sizeof value);
    volatile float product = value * options->scale[channel];
    volatile float sum = product + options->bias[channel];
    value = sum;
    memcpy(y, &value, sizeof value);
}

static float scale[MOST_CHANNELS], bias[MOST_CHANNELS];
static int32_t weight[MOST_CHANNELS], addend[MOST_CHANNELS];

static void draw_parameters(float most) {
    for (int c = 0; c < MOST_CHANNELS; c++) {
        scale[c] = draw_real(-most, most);
        bias[c] = draw_real(-3, 3);
        weight[c] = (int32_t)draw(255) - 127;
        addend[c] = (int32_t)draw(2000) - 1000;
    }
}

static void draw_floats(void) {
    for (size_t k = 0; k < MOST_BYTES / sizeof(float); k++) {
        float value = draw_real(-100, 100);
        memcpy(input + k * sizeof value, &value, sizeof value);
    }
}

static void test_floats(void **state) {
    (void)state;
    draw_floats();
    draw_parameters(2);
    for (size_t k = 0; k < SHAPE_COUNT * LAYOUT_COUNT; k++) {
        Shape shape = SHAPES[k / LAYOUT_COUNT];
        s0_affine_options options = {
            .dtype = "float32", .n = shape.n, .c = shape.c, .h = shape.h, .w = shape.w, .scale = scale, .bias = bias};
        compare(&options, &LAYOUTS[k % LAYOUT_COUNT], float_reference, sizeof(float));
    }
}

/* ---- Codes */

static void int8_reference(const s0_affine_options *options, uint64_t channel, const void *x, void *y) {
    *(int8_t *)y = (int8_t)quantised(options, channel, *(const int8_t *)x, -128, 127);
}

static void uint8_reference(const s0_affine_options *options, uint64_t channel, const void *x, void *y) {
    *(uint8_t *)y = (uint8_t)quantised(options, channel, *(const uint8_t *)x, 0, 255);
}

static void int16_reference(const s0_affine_options *options, uint64_t channel, const void *x, void *y) {
    int16_t code;
    memcpy(&code, x, sizeof code);
    code = (int16_t)quantised(options, channel, code, -32768, 32767);
    memcpy(y, &code, sizeof code);
}

static void draw_codes(void) {
    for (size_t k = 0; k < MOST_BYTES; k++) {
        input[k] = (uint8_t)draw(256);
    }
}

/* One integer operator of tflite-single: the accumulator times a factor of 31 bits, one rounding, ties up. */
static int32_t scaled(const s0_affine_options *options, uint64_t channel, int32_t code, int64_t lo, int64_t hi) {
    int64_t sum = (int64_t)(code - options->x_zero_point) * options->weight[channel] + options->addend[channel];
    double factor = (double)options->x_scale * (double)options->scale[channel] / (double)options->y_scale;
    int shift;
    int64_t multiplier = llround(frexp(factor, &shift) * 2147483648.0);
    int64_t half = INT64_C(1) << (30 - shift);
    int64_t y = ((sum * multiplier + half) >> (31 - shift)) + options->y_zero_point;
    return (int32_t)(y < lo ? lo : y > hi ? hi : y);
}

static void scaled8_reference(const s0_affine_options *options, uint64_t channel, const void *x, void *y) {
    *(int8_t *)y = (int8_t)scaled(options, channel, *(const int8_t *)x, -128, 127);
}

static void scaled16_reference(const s0_affine_options *options, uint64_t channel, const void *x, void *y) {
    int16_t code;
    memcpy(&code, x, sizeof code);
    code = (int16_t)scaled(options, channel, code, -32768, 32767);
    memcpy(y, &code, sizeof code);
}

typedef struct {
    const char *dtype;
    size_t bytes;
    Reference reference;
    s0_affine_options options; /* but for dtype and shape */
} Coded;

static const Coded CODED[] = {
    {"int8",
     1,
     int8_reference,
     {.scale = scale, .bias = bias, .x_scale = 0.05F, .y_scale = 0.04F, .x_zero_point = 3, .y_zero_point = -7}},
    {"int8",
     1,
     int8_reference,
     {.scale = scale, .bias = bias, .x_scale = 0.05F, .y_scale = 0.04F, .is_limited = true, .lo = -20, .hi = 90}},
    {"uint8",
     1,
     uint8_reference,
     {.scale = scale, .bias = bias, .x_scale = 0.03F, .y_scale = 0.01F, .x_zero_point = 128, .y_zero_point = 17}},
    {"int16", 2, int16_reference, {.scale = scale, .bias = bias, .x_scale = 0.001F, .y_scale = 0.0011F}},
    {"int8",
     1,
     scaled8_reference,
     {.scale = scale,
      .weight = weight,
      .addend = addend,
      .x_scale = 0.05F,
      .y_scale = 1,
      .x_zero_point = -5,
      .y_zero_point = 9,
      .semantics = "tflite-single"}},
    {"int16",
     2,
     scaled16_reference,
     {.scale = scale,
      .weight = weight,
      .addend = addend,
      .x_scale = 0.05F,
      .y_scale = 10,
      .semantics = "tflite-single"}},
};

static void test_codes(void **state) {
    (void)state;
    draw_codes();
    for (size_t row = 0; row < sizeof CODED / sizeof CODED[0]; row++) {
        draw_parameters(row % 2 == 0 ? 1 : 3);
        scale[1] = 1e-6F; /* gives few codes: of 16 bits by a product, beside the quotients of other channels */
        for (int c = 0; c < MOST_CHANNELS && CODED[row].options.weight != NULL; c++) {
            scale[c] = fabsf(scale[c]) + 0.01F;
        }
        for (size_t k = 0; k < SHAPE_COUNT * LAYOUT_COUNT; k++) {
            s0_affine_options options = CODED[row].options;
            Shape shape = SHAPES[k / LAYOUT_COUNT];
            options.dtype = CODED[row].dtype;
            options.n = shape.n;
            options.c = shape.c;
            options.h = shape.h;
            options.w = shape.w;
            compare(&options, &LAYOUTS[k % LAYOUT_COUNT], CODED[row].reference, CODED[row].bytes);
        }
    }
}

/* Channel last, pixels become longer rows: of every number of channels, from one pixel to several rows and a rest. */
static void test_every_number_of_channels(void **state) {
    (void)state;
    enum { CHANNELS = 70 };
    static const Shape PIXELS[] = {{1, 0, 1, 1}, {1, 0, 3, 5}, {2, 0, 9, 15}, {1, 0, 1, 130}};
    draw_parameters(1);
    for (size_t k = 0; k < CHANNELS * 4; k++) {
        Shape shape = PIXELS[k % 4];
        s0_affine_options floats = {.dtype = "float32", .scale = scale, .bias = bias}, codes = CODED[0].options;
        codes.dtype = "int8";
        floats.n = codes.n = shape.n;
        floats.c = codes.c = k / 4 + 1;
        floats.h = codes.h = shape.h;
        floats.w = codes.w = shape.w;
        draw_floats();
        compare(&floats, &LAYOUTS[1], float_reference, sizeof(float));
        compare(&floats, &LAYOUTS[2], float_reference, sizeof(float));
        draw_codes();
        compare(&codes, &LAYOUTS[1], int8_reference, 1);
        codes.dtype = "int16";
        codes.x_zero_point = codes.y_zero_point = 0;
        compare(&codes, &LAYOUTS[1], int16_reference, 2);
    }
}

/* Packed: each code at its half of a byte, rows of whole bytes. */
static void test_packed_codes_of_4_bits(void **state) {
    (void)state;
    draw_codes();
    draw_parameters(2);
    s0_affine_options options = {.dtype = "int4",
                                 .layout = "N C H W@1",
                                 .n = 2,
                                 .c = 3,
                                 .h = 4,
                                 .w = 5,
                                 .scale = scale,
                                 .bias = bias,
                                 .x_scale = 0.5F,
                                 .y_scale = 0.7F,
                                 .x_zero_point = -1,
                                 .y_zero_point = 2};
    s0_affine_facts facts;
    s0_affine *affine = prepare(&options, &facts);
    assert_int_equal(facts.x_bytes, 2 * 3 * 4 * 3);
    memset(output, POISON, facts.x_bytes + 1);
    s0_affine_run(affine, input, output, 1);
    for (uint64_t row = 0; row < 2 * 3 * 4; row++) {
        for (uint64_t w = 0; w < 6; w++) {
            unsigned shift = w % 2 == 0 ? 0 : 4;
            int32_t x = input[row * 3 + w / 2] >> shift & 15;
            int32_t y = output[row * 3 + w / 2] >> shift & 15;
            int32_t wanted = quantised(&options, row / 4 % 3, x < 8 ? x : x - 16, -8, 7) & 15;
            assert_int_equal(y, w < 5 ? wanted : POISON >> 4);
        }
    }
    assert_int_equal(output[facts.x_bytes], POISON);
    s0_affine_free(affine);
}

/* Packed, channel last: pixels of three codes begin inside bytes. */
static void test_codes_inside_bytes(void **state) {
    (void)state;
    draw_codes();
    draw_parameters(2);
    s0_affine_options options = {.dtype = "uint4",
                                 .layout = "N H W C",
                                 .n = 1,
                                 .c = 3,
                                 .h = 5,
                                 .w = 7,
                                 .scale = scale,
                                 .bias = bias,
                                 .x_scale = 0.5F,
                                 .y_scale = 0.7F,
                                 .x_zero_point = 7,
                                 .y_zero_point = 9,
                                 .threads = 2};
    s0_affine_facts facts;
    s0_affine *affine = prepare(&options, &facts);
    assert_int_equal(facts.x_bytes, 53);
    memset(output, POISON, facts.x_bytes);
    s0_affine_run(affine, input, output, 2);
    for (uint64_t k = 0; k < 106; k++) {
        unsigned shift = k % 2 == 0 ? 0 : 4;
        int32_t y = output[k / 2] >> shift & 15;
        int32_t wanted = quantised(&options, k % 3, input[k / 2] >> shift & 15, 0, 15);
        assert_int_equal(y, k < 105 ? wanted : POISON >> 4);
    }
    s0_affine_free(affine);
}

/* Two bytes before each plane of floats, one before the first. */
static void test_floats_off_their_alignment(void **state) {
    (void)state;
    draw_parameters(2);
    s0_affine_options options = {
        .dtype = "float32", .layout = "N+1 C+2 H W", .n = 1, .c = 3, .h = 4, .w = 5, .scale = scale, .bias = bias};
    enum { PLANE = 2 + 4 * 20 };
    s0_affine_facts facts;
    s0_affine *affine = prepare(&options, &facts);
    assert_int_equal(facts.x_bytes, 1 + 3 * PLANE);
    memset(expected, POISON, facts.x_bytes);
    for (uint64_t k = 0; k < 60; k++) {
        uint64_t at = 1 + k / 20 * PLANE + 2 + k % 20 * 4;
        float x = draw_real(-9, 9);
        memcpy(input + at, &x, sizeof x);
        float_reference(&options, k / 20, input + at, expected + at);
    }
    memset(output, POISON, facts.x_bytes);
    s0_affine_run(affine, input, output, 1);
    assert_memory_equal(output, expected, facts.x_bytes);
    s0_affine_free(affine);
}

/* Larger than what one thread takes alone. */
static void test_threads(void **state) {
    (void)state;
    draw_floats();
    draw_parameters(2);
    static const Layout ROWS = {"N C H W@256", at_rows};
    Shape shapes[] = {{1, 64, 32, 32}, {1, 1, 256, 256}, {4, 3, 70, 60}};
    for (size_t k = 0; k < 3 * LAYOUT_COUNT; k++) {
        Shape shape = shapes[k / LAYOUT_COUNT];
        s0_affine_options options = {
            .dtype = "float32", .n = shape.n, .c = shape.c, .h = shape.h, .w = shape.w, .scale = scale, .bias = bias};
        const Layout *layout = &LAYOUTS[k % LAYOUT_COUNT];
        bool is_padded = layout->address == at_blocks && shape.c % 16 != 0;
        compare(&options, is_padded ? &LAYOUTS[0] : layout, float_reference, sizeof(float));
    }
    s0_affine_options options = {.dtype = "float32", .n = 1, .c = 6, .h = 200, .w = 33, .scale = scale, .bias = bias};
    compare(&options, &ROWS, float_reference, sizeof(float));
}

/* ---- Columns that are patched: the same as channel first, where each channel goes by its own form */

static void compare_orders(s0_affine_options options, size_t bytes) {
    static uint8_t first[MOST_BYTES];
    s0_affine_facts facts;
    Shape shape = {options.n, options.c, options.h, options.w};
    s0_affine *affine = prepare(&options, &facts);
    uint64_t elements = facts.x_bytes / bytes;
    s0_affine_run(affine, input, first, 1);
    s0_affine_free(affine);
    static uint8_t turned[MOST_BYTES];
    for (uint64_t k = 0; k < elements; k++) {
        uint64_t w = k % shape.w, h = k / shape.w % shape.h, c = k / shape.w / shape.h % shape.c;
        uint64_t at = at_nhwc(&shape, k / shape.w / shape.h / shape.c, c, h, w);
        memcpy(turned + at * bytes, input + k * bytes, bytes);
        memcpy(expected + at * bytes, first + k * bytes, bytes);
    }
    options.layout = "N H W C";
    options.threads = 2;
    affine = prepare(&options, &facts);
    s0_affine_run(affine, turned, output, 2);
    assert_memory_equal(output, expected, elements * bytes);
    s0_affine_run(affine, turned, turned, 1);
    assert_memory_equal(turned, expected, elements * bytes);
    s0_affine_free(affine);
}

/* A code that is scaled down and rounded twice often is no rounded product: such channels need a table. */
static void test_patched_columns_of_8_bits(void **state) {
    (void)state;
    draw_codes();
    draw_parameters(1);
    s0_affine_options options = {.dtype = "int8",
                                 .n = 3,
                                 .c = 60,
                                 .h = 25,
                                 .w = 61,
                                 .scale = scale,
                                 .weight = weight,
                                 .x_scale = 1,
                                 .y_scale = 1,
                                 .semantics = "tflite-double"};
    for (int c = 0; c < MOST_CHANNELS; c++) {
        scale[c] = fabsf(scale[c]) / 100 + 0.001F;
    }
    weight[3] = weight[59] = 1;
    s0_affine_facts facts = {0};
    for (int round = 0; facts.tables < 2 || facts.tables > 9; round++) {
        assert_true(round < 100);
        scale[3] = draw_real(0.1F, 0.9F);
        scale[59] = draw_real(0.1F, 0.9F);
        s0_affine_free(prepare(&options, &facts));
    }
    compare_orders(options, 1);
}

/* Three weights are too large for float32 to hold every accumulator. */
static void test_patched_columns_of_16_bits(void **state) {
    (void)state;
    draw_codes();
    draw_parameters(1);
    s0_affine_options options = {.dtype = "int16",
                                 .n = 2,
                                 .c = 19,
                                 .h = 20,
                                 .w = 33,
                                 .scale = scale,
                                 .weight = weight,
                                 .addend = addend,
                                 .x_scale = 0.01F,
                                 .y_scale = 1};
    weight[0] = 32767;
    weight[7] = -32000;
    weight[18] = 30001;
    compare_orders(options, 2);
}

int main(void) {
    const struct CMUnitTest portable[] = {
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_every_number_of_channels),
        cmocka_unit_test(test_packed_codes_of_4_bits),
        cmocka_unit_test(test_patched_columns_of_8_bits),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patched_columns_of_8_bits),
        cmocka_unit_test(test_patched_columns_of_16_bits),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_every_number_of_channels),
        cmocka_unit_test(test_packed_codes_of_4_bits),
        cmocka_unit_test(test_codes_inside_bytes),
        cmocka_unit_test(test_floats_off_their_alignment),
        cmocka_unit_test(test_threads),
    };
    setenv("STRIDE0_CPU", "portable", 1);
    int failed = cmocka_run_group_tests(portable, NULL, NULL);
    unsetenv("STRIDE0_CPU");
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
