/* Rows of several pixels: how many, with which parameters, and that each element is computed once with its own. */
#include "native/native.h"

#include "base/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    const char *contract;
    uint32_t bits;
    uint64_t n, c, h, w;
    size_t vector_bytes;
    size_t pixels; /* of a row */
} Row;

static const Row ROWS[] = {
    {"N H W C", 8, 1, 3, 100, 100, 64, 64},       /* 3 vectors */
    {"N H W C", 8, 1, 3, 100, 100, 16, 32},       /* 16 are 3 vectors, but 48 elements */
    {"N H W C", 8, 1, 3, 20, 30, 16, 16},         /* which are enough where the map is small */
    {"N H W C", 8, 1, 3, 20, 30, 64, 64},         /* 9 rows, but of half as many none has 8 vectors */
    {"N H W C", 8, 1, 3, 5, 7, 64, 64},           /* more than there are: no row, all is left */
    {"N H W C", 32, 1, 3, 100, 100, 64, 32},      /* 16 pixels are 3 vectors, but 48 elements */
    {"N H W C", 32, 1, 64, 9, 9, 64, 1},          /* long enough and whole */
    {"N H W C", 32, 1, 16, 20, 20, 64, 4},        /* whole but short */
    {"N H W C", 32, 1, 16, 9, 9, 64, 1},          /* which does where the map is small */
    {"N H W C", 32, 1, 70, 50, 50, 64, 8},        /* 35 vectors */
    {"N H W C", 32, 1, 70, 7, 8, 64, 1},          /* small, and 280 of 320 bytes of vectors are filled */
    {"N H W C", 8, 1, 70, 10, 16, 64, 8},         /* small, 70 of 128; 16 would leave 10 rows */
    {"N H W C", 16, 1, 20, 10, 10, 64, 8},        /* 40 of 64 */
    {"N H W C", 32, 1, 127, 50, 50, 64, 8},       /* half a vector more: 16 would be more than 4 KiB */
    {"N H W C", 8, 1, 70, 50, 50, 64, 32},        /* 2240 bytes */
    {"N H W C", 8, 1, 127, 50, 50, 64, 8},        /* 64 would be more than 4 KiB, 16 more than 1024 elements */
    {"N H W C", 32, 1, 1001, 50, 50, 64, 1},      /* 16 would be more than 4 KiB, 2 more than 1024 elements */
    {"N H W C", 8, 1, 5000, 5, 5, 64, 1},         /* as one is */
    {"N H W C", 32, 1, 70, 50, 50, 0, 1},         /* not wanted */
    {"N H W C", 4, 1, 3, 50, 50, 64, 1},          /* inside bytes */
    {"N C H W", 32, 1, 3, 50, 50, 64, 1},         /* channel first */
    {"N H W C@16", 8, 1, 3, 50, 50, 64, 1},       /* pixels do not touch */
    {"N+1 H W C", 32, 1, 3, 50, 50, 64, 1},       /* nor are they aligned */
    {"N C/16 H W C%16", 8, 1, 32, 50, 50, 64, 4}, /* in each block */
    {"N C/16 H W C%16", 8, 1, 33, 50, 50, 64, 4}, /* the last one is of one channel */
    {"N C/16 H W C%16", 8, 1, 5, 50, 50, 64, 1},  /* the only one is of five */
    {"N H C/8 W C%8", 16, 2, 24, 3, 50, 64, 4},   /* one vector */
    {"N H W C", 32, 1, 0, 3, 4, 64, 1},           /* none */
};

enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0], MOST_ELEMENTS = 1 << 20 };

static View resolve(const Row *row, Work *work) {
    LayoutShape shape = layout_shape(row->bits, 4);
    shape.extent[DIM_N] = row->n;
    shape.extent[DIM_C] = row->c;
    shape.extent[DIM_H] = row->h;
    shape.extent[DIM_W] = row->w;
    ContractError error;
    const Contract *contract = contract_parse(&work->keep, str_from(row->contract), &error);
    assert_non_null(contract);
    View view;
    Dim dim;
    assert_int_equal(view_resolve(contract, &shape, &view, &dim), VIEW_DONE);
    return view;
}

static void test_how_many_pixels(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    for (size_t k = 0; k < ROW_COUNT; k++) {
        View view = resolve(&ROWS[k], &work);
        Walk walk;
        Wide wide;
        walk_init(&view, ROWS[k].bits == 32 ? 4 : 1, &walk);
        wide_find(&walk, ROWS[k].bits, ROWS[k].vector_bytes, &wide);
        assert_int_equal(wide.pixels, ROWS[k].pixels);
    }
    work_free(&work);
}

static void test_arrays(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    const int16_t parameters[] = {10, 11, 12, 13, 14, 15, 16};
    const int16_t in_blocks[] = {10, 11, 12, 10, 11, 12, 13, 14, 15, 13, 14, 15, 16, 0, 0, 16, 0, 0};
    const Wide blocks = {.pixels = 2, .block = 3, .channels = 7}, alone = {.pixels = 1, .block = 7, .channels = 7};
    for (int k = 0; k < 5; k++) {
        arena_alloc(&work.keep, (size_t)k, 16);
        const int16_t *array = wide_array(&blocks, parameters, sizeof *array, &work.keep);
        assert_int_equal((uintptr_t)array % 64, 0);
        assert_memory_equal(array, in_blocks, sizeof in_blocks);
        array = wide_array(&alone, parameters, sizeof *array, &work.keep);
        assert_int_equal((uintptr_t)array % 64, 0);
        assert_memory_equal(array, parameters, sizeof parameters);
    }
    work_free(&work);
}

/* ---- All of a map, by a kernel that says what it is given: y = x * 256 + the number of the channel */

static size_t most_parameters, calls;
static const float *first_parameter;

static void say_f32(const S0Rows *rows, const S0Floats *floats) {
    calls++;
    assert_true(rows->rows > 0 && rows->columns > 0);
    assert_int_equal(floats->channels, rows->columns);
    assert_true((size_t)(floats->scale - first_parameter) + floats->channels <= most_parameters);
    for (size_t row = 0; row < rows->rows; row++) {
        const float *x = (const float *)rows->x + row * rows->x_pitch_bytes / sizeof *x;
        float *y = (float *)rows->y + row * rows->y_pitch_bytes / sizeof *y;
        for (size_t column = 0; column < rows->columns; column++) {
            assert_true(floats->scale[column] == floats->bias[column]);
            y[column] = x[column] * 256 + floats->scale[column];
        }
    }
}

static const Row MAPS[] = {
    {"N H W C", 32, 1, 3, 10, 10, 64, 0},
    {"N H W C", 32, 2, 3, 1, 1, 64, 0},
    {"N H W C", 32, 1, 3, 5, 7, 64, 0},
    {"N H W C", 32, 3, 70, 5, 7, 64, 0},
    {"N H W C", 32, 1, 127, 5, 9, 64, 0},
    {"N H W C", 32, 1, 127, 1, 1, 64, 0},
    {"N H W C@64", 32, 1, 12, 5, 9, 64, 0},
    {"N H W@16 C", 32, 2, 12, 5, 9, 64, 0},
    {"N C/16 H W C%16", 32, 2, 48, 5, 9, 64, 0},
    {"N C/16 H W C%16", 32, 2, 33, 5, 9, 64, 0},
    {"N H C/8 W C%8", 32, 2, 24, 3, 37, 64, 0},
    {"N C/16 H/2 W H%2 C%16", 32, 1, 48, 3, 9, 64, 0},
    {"N C/5 H W/4 W%4 C%5", 32, 2, 15, 3, 9, 64, 0},
    {"N+1 H W C", 32, 2, 700, 3, 3, 64, 0},
    {"N H W C", 32, 1, 2000, 2, 2, 64, 0},
    {"N+8 H W C", 32, 1, 12, 5, 9, 64, 0},
};

static uint8_t input[4 * MOST_ELEMENTS], output[4 * MOST_ELEMENTS];

static float at(const uint8_t *bytes, uint64_t address) {
    float value;
    memcpy(&value, bytes + address, sizeof value);
    return value;
}

static void fill_map(const View *view) {
    uint64_t index[DIM_COUNT] = {0}, count = 0;
    do {
        float value = (float)(count++ % 5003);
        memcpy(input + view_address_bits(view, index) / 8, &value, sizeof value);
    } while (view_next_index(&view->shape, index));
}

static void check_map(const Row *row, Work *work) {
    static const S0Kernels say = {.vector_bytes = 64, .f32 = say_f32};
    View view = resolve(row, work);
    Native native = {.kernels = &say, .cache_bytes = UINT64_MAX};
    native_lay_out(&native, &view, sizeof(float));
    assert_true(native.walk.is_channel_last && view.bank_bytes <= sizeof input);
    float *channel = arena_array(&work->keep, float, (size_t)row->c);
    for (size_t c = 0; c < row->c; c++) {
        channel[c] = (float)(c + 1);
    }
    native_take_floats(&native, &(S0Floats){(size_t)row->c, channel, channel}, false, &work->keep);
    size_t blocks = (native.wide.channels + native.wide.block - 1) / native.wide.block;
    most_parameters = blocks * native.wide.block * native.wide.pixels;
    first_parameter = native.floats.scale;
    fill_map(&view);
    memset(output, 0, sizeof output);
    native_run(&native, input, output, 1);
    uint64_t index[DIM_COUNT] = {0};
    do {
        uint64_t address = view_address_bits(&view, index) / 8;
        assert_true(at(output, address) == at(input, address) * 256 + (float)(index[DIM_C] + 1));
    } while (view_next_index(&view.shape, index));
}

static void test_maps(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    for (size_t k = 0; k < sizeof MAPS / sizeof MAPS[0]; k++) {
        check_map(&MAPS[k], &work);
    }
    work_free(&work);
}

/* Two calls: the rows, and what is left of the pixels. */
static void test_few_calls(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    calls = 0;
    check_map(&(Row){"N H W C", 32, 1, 3, 31, 33, 64, 0}, &work);
    assert_int_equal(calls, 2);
    calls = 0;
    check_map(&(Row){"N H W C", 32, 1, 3, 3, 5, 64, 0}, &work);
    assert_int_equal(calls, 1);
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_many_pixels),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_few_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
