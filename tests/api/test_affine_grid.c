/* The kernels of this processor over a whole grid, against definitions written out here: 0 to 130 elements of 1 to 70
 * channels, channel first and channel last, at every place of a line of the cache that elements may have, in place and
 * not. STRIDE0_CPU names other kernels. Under sanitizers a part of it. */
#include "api/quantised.h"
#include "kern/reals.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    CHANNELS = 70,
    ELEMENTS = 130,
    LINE = 64,
    MOST_BYTES = CHANNELS * ELEMENTS * (int)sizeof(float),
    AREA_BYTES = MOST_BYTES + 3 * LINE,
    POISON = 0xA5,
};

static float scale[CHANNELS], bias[CHANNELS];

/* One element of y from one of x. */
typedef void (*Reference)(const s0_affine_options *options, uint64_t channel, const uint8_t *x, uint8_t *y);

typedef struct {
    const char *dtype;
    size_t bytes; /* of an element */
    float x_scale, y_scale;
    int32_t x_zero_point, y_zero_point;
    Reference reference;
} Type;

static void f32_reference(const s0_affine_options *options, uint64_t channel, const uint8_t *x, uint8_t *y) {
    float value;
    memcpy(&value, x, sizeof value);
    value = f32_result(value, options->scale[channel], options->bias[channel]);
    memcpy(y, &value, sizeof value);
}

static void f16_reference(const s0_affine_options *options, uint64_t channel, const uint8_t *x, uint8_t *y) {
    float rounded_scale = (float)half_value(half_bits((double)options->scale[channel]));
    float rounded_bias = (float)half_value(half_bits((double)options->bias[channel]));
    uint16_t value;
    memcpy(&value, x, sizeof value);
    value = f16_result(value, rounded_scale, rounded_bias);
    memcpy(y, &value, sizeof value);
}

static void i8_reference(const s0_affine_options *options, uint64_t channel, const uint8_t *x, uint8_t *y) {
    *y = (uint8_t)quantised(options, channel, (int8_t)*x, INT8_MIN, INT8_MAX);
}

static void u8_reference(const s0_affine_options *options, uint64_t channel, const uint8_t *x, uint8_t *y) {
    *y = (uint8_t)quantised(options, channel, *x, 0, UINT8_MAX);
}

static void i16_reference(const s0_affine_options *options, uint64_t channel, const uint8_t *x, uint8_t *y) {
    int16_t code;
    memcpy(&code, x, sizeof code);
    code = (int16_t)quantised(options, channel, code, INT16_MIN, INT16_MAX);
    memcpy(y, &code, sizeof code);
}

static const Type F32 = {"float32", 4, 0, 0, 0, 0, f32_reference};
static const Type F16 = {"float16", 2, 0, 0, 0, 0, f16_reference};
static const Type I8 = {"int8", 1, 0.05F, 0.04F, 0, 0, i8_reference};
static const Type U8 = {"uint8", 1, 0.05F, 0.04F, 128, 117, u8_reference};
static const Type I16 = {"int16", 2, 0.05F, 0.0625F, 0, 0, i16_reference};

/* ---- A map */

typedef struct {
    const Type *type;
    s0_affine_options options;
    size_t bytes;                         /* of the map */
    uint8_t x[MOST_BYTES], y[MOST_BYTES]; /* y: what is expected */
} Map;

/* Small numbers of both signs; of codes, whatever they are. */
static void draw(Map *map, uint64_t *state) {
    for (size_t k = 0; k < map->bytes / map->type->bytes; k++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        float value = (float)((int64_t)*state >> 40) / 65536.0F;
        uint16_t half = half_bits((double)value);
        const void *of = map->type == &F32   ? (void *)&value
                         : map->type == &F16 ? (void *)&half
                                             : (void *)((uint8_t *)state + 4);
        memcpy(map->x + k * map->type->bytes, of, map->type->bytes);
    }
}

static void expect(Map *map, int is_channel_last) {
    const size_t count = map->bytes / map->type->bytes, channels = (size_t)map->options.c;
    for (size_t k = 0; k < count; k++) {
        size_t channel = is_channel_last ? k % channels : k / (size_t)map->options.w;
        map->type->reference(&map->options, channel, map->x + k * map->type->bytes, map->y + k * map->type->bytes);
    }
}

/* At one place of x and of y; nothing around y is written. */
static void check_place(const Map *map, const s0_affine *affine, size_t x_at, size_t y_at, int in_place) {
    static _Alignas(LINE) uint8_t x[AREA_BYTES], y[AREA_BYTES], want[AREA_BYTES];
    const size_t around = map->bytes + (size_t)3 * LINE;
    memset(y, POISON, around);
    memset(want, POISON, around);
    memcpy(x + x_at, map->x, map->bytes);
    memcpy(y + y_at, map->x, in_place ? map->bytes : 0);
    memcpy(want + y_at, map->y, map->bytes);
    s0_affine_run(affine, in_place ? y + y_at : x + x_at, y + y_at, 1);
    if (memcmp(y, want, around) != 0) {
        fail_msg("%s %s, %d channels, %d elements: x at %zu, y at %zu", map->type->dtype, map->options.layout,
                 (int)map->options.c, (int)map->options.w, x_at, y_at);
    }
}

/* One number of channels and of elements: y at every place of a line, x at others. */
static void check_map(Map *map, int is_channel_last, uint64_t *state) {
    s0_affine *affine;
    map->bytes = (size_t)(map->options.c * map->options.w) * map->type->bytes;
    draw(map, state);
    expect(map, is_channel_last);
    assert_int_equal(s0_affine_new(&map->options, NULL, &affine), S0_DONE);
    for (size_t k = 0; k < LINE / map->type->bytes; k++) {
        check_place(map, affine, k * 7 * map->type->bytes % LINE, LINE + k * map->type->bytes, k % 3 == 2);
    }
    s0_affine_free(affine);
}

static void check_type(const Type *type) {
    static Map map;
    const uint64_t step = S0_SANITIZED ? 11 : 1;
    uint64_t state = 7;
    map.type = type;
    map.options = (s0_affine_options){.dtype = type->dtype,
                                      .n = 1,
                                      .h = 1,
                                      .scale = scale,
                                      .bias = bias,
                                      .x_scale = type->x_scale,
                                      .y_scale = type->y_scale,
                                      .x_zero_point = type->x_zero_point,
                                      .y_zero_point = type->y_zero_point};
    for (int is_last = 0; is_last < 2; is_last++) {
        map.options.layout = is_last ? "N H W C" : "N C H W";
        for (map.options.c = 1; map.options.c <= CHANNELS; map.options.c += step) {
            for (map.options.w = 0; map.options.w <= ELEMENTS; map.options.w += step) {
                check_map(&map, is_last, &state);
            }
        }
    }
}

/* One channel of seven turns the sign. */
static int draw_parameters(void **state) {
    (void)state;
    for (int c = 0; c < CHANNELS; c++) {
        scale[c] = (c % 7 == 3 ? -1.0F : 1.0F) * (0.05F + 0.9F * (float)(c * 37 % 101) / 103.7F);
        bias[c] = (float)(c * 53 % 17) * 0.217F - 1.53F;
    }
    return 0;
}

static void float32_grid(void **state) {
    (void)state;
    check_type(&F32);
}

static void float16_grid(void **state) {
    (void)state;
    check_type(&F16);
}

static void int8_grid(void **state) {
    (void)state;
    check_type(&I8);
}

static void uint8_grid(void **state) {
    (void)state;
    check_type(&U8);
}

static void int16_grid(void **state) {
    (void)state;
    check_type(&I16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_grid), cmocka_unit_test(float16_grid), cmocka_unit_test(int8_grid),
        cmocka_unit_test(uint8_grid),   cmocka_unit_test(int16_grid),
    };
    return cmocka_run_group_tests(tests, draw_parameters, NULL);
}
