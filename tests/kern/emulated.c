/* The kernels of a processor that this machine emulates, beside the portable ones: whatever its table of kernels says,
 * on a sample of shapes. Prints a line a failure and a count. A matrix ends where its memory does. */
#include "emulated.h"

#include <string.h>

enum { MOST_BYTES = 1 << 14, MOST_FAILURES = 20 };

enum { X, Y, WANTED, AREAS };

static uint8_t *area_end(int k) {
    static uint8_t *end[AREAS];
    end[k] = end[k] == NULL ? emulated_memory_end(MOST_BYTES) : end[k];
    return end[k];
}

void say_number(const char *before, long number) {
    char text[24];
    size_t at = sizeof text - 1;
    unsigned long left = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
    text[at] = '\0';
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    emulated_say(before);
    emulated_say(number < 0 ? "-" : "");
    emulated_say(text + at);
}

const char *const kernel_name[KERNELS] = {"f32",    "f16",    "product8",   "round8", "table8",
                                          "table4", "real16", "quotient16", "fixed16"};
const size_t element_bytes[KERNELS] = {4, 2, 1, 1, 1, 0, 2, 2, 2};

static size_t row_bytes(Kernel kernel, size_t columns) {
    return kernel == TABLE4 ? (columns + 1) / 2 : columns * element_bytes[kernel];
}

void call(const S0Kernels *kernels, Kernel kernel, const S0Rows *rows, const Parameters *of) {
    switch (kernel) {
    case F32:
        kernels->f32(rows, &of->floats);
        break;
    case F16:
        kernels->f16(rows, &of->floats);
        break;
    case PRODUCT8:
        kernels->product8(rows, &of->products);
        break;
    case ROUND8:
        kernels->round8(rows, &of->rounds);
        break;
    case TABLE8:
        kernels->table8(rows, &of->tables8);
        break;
    case TABLE4:
        kernels->table4(rows, &of->tables4);
        break;
    case REAL16:
        kernels->real16(rows, &of->reals);
        break;
    case QUOTIENT16:
        kernels->quotient16(rows, &of->quotients);
        break;
    case FIXED16:
        kernels->fixed16(rows, &of->fixed);
        break;
    case KERNELS:
        break;
    }
}

typedef struct {
    Kernel kernel;
    size_t rows, columns, channels;
    size_t x_pad, y_pad, x_gap, y_gap; /* elements between rows, bytes between the last row and the area's end */
    int in_place, streams;
} Case;

long cases, failures;

static void say_case(const Case *c, size_t at) {
    emulated_say(kernel_name[c->kernel]);
    say_number(": rows ", (long)c->rows);
    say_number(", columns ", (long)c->columns);
    say_number(", channels ", (long)c->channels);
    say_number(", padding ", (long)c->x_pad);
    say_number(" ", (long)c->y_pad);
    say_number(", gap ", (long)c->x_gap);
    say_number(" ", (long)c->y_gap);
    emulated_say(c->in_place ? ", in place" : "");
    say_number(": differs at byte ", (long)at);
    say_number(", is ", area_end(Y)[(long)at - MOST_BYTES]);
    say_number(", not ", area_end(WANTED)[(long)at - MOST_BYTES]);
    emulated_say("\n");
}

static int is_nan(Kernel kernel, const uint8_t *at) {
    uint32_t word = 0;
    memcpy(&word, at, kernel == F32 ? 4 : 2);
    return kernel == F32 ? (word & 0x7FFFFFFF) > 0x7F800000 : (word & 0x7FFF) > 0x7C00;
}

/* The first byte where the areas differ but for NaNs of elements that end `gap` bytes before their end. */
static size_t first_difference(Kernel kernel, size_t gap) {
    const uint8_t *y = area_end(Y) - MOST_BYTES, *wanted = area_end(WANTED) - MOST_BYTES;
    const size_t step = kernel == F32 ? 4 : kernel == F16 ? 2 : 1, first = (MOST_BYTES - gap) % step;
    size_t at = memcmp(y, wanted, MOST_BYTES) == 0 ? MOST_BYTES : 0;
    while (at < MOST_BYTES) {
        const size_t bytes = at < first ? first : at + step > MOST_BYTES ? MOST_BYTES - at : step;
        const int both_nan = bytes == step && step > 1 && is_nan(kernel, y + at) && is_nan(kernel, wanted + at);
        if (memcmp(y + at, wanted + at, bytes) != 0 && !both_nan) {
            return at;
        }
        at += bytes;
    }
    return MOST_BYTES;
}

/* The beginning of a matrix that ends `gap` bytes before its area. */
static uint8_t *matrix(int k, const Case *c, size_t pitch_bytes, size_t gap) {
    const size_t bytes = c->rows == 0 ? 0 : (c->rows - 1) * pitch_bytes + row_bytes(c->kernel, c->columns);
    return area_end(k) - gap - bytes;
}

/* The same matrix by both tables. What lies around it must stay. */
static void compare(const Case *c, const Parameters *parameters) {
    const size_t size = c->kernel == TABLE4 ? 1 : element_bytes[c->kernel];
    const size_t pitch = row_bytes(c->kernel, c->columns) + size * c->x_pad;
    const size_t y_pitch = c->in_place ? pitch : row_bytes(c->kernel, c->columns) + size * c->y_pad;
    const size_t gap = c->in_place ? c->x_gap : c->y_gap;
    if (c->in_place) {
        memcpy(area_end(Y) - MOST_BYTES, area_end(X) - MOST_BYTES, MOST_BYTES);
    } else {
        fill(area_end(Y) - MOST_BYTES, MOST_BYTES);
    }
    memcpy(area_end(WANTED) - MOST_BYTES, area_end(Y) - MOST_BYTES, MOST_BYTES);
    for (int k = Y; k <= WANTED; k++) {
        const S0Rows rows = {.x = matrix(c->in_place ? k : X, c, pitch, c->x_gap),
                             .y = matrix(k, c, y_pitch, gap),
                             .rows = c->rows,
                             .columns = c->columns,
                             .x_pitch_bytes = pitch,
                             .y_pitch_bytes = y_pitch,
                             .streams = c->streams};
        call(k == Y ? &TESTED : &s0_kernels_portable, c->kernel, &rows, parameters);
    }
    const size_t at = first_difference(c->kernel, gap);
    cases++;
    if (at < MOST_BYTES && ++failures <= MOST_FAILURES) {
        say_case(c, at);
    }
}

/* Floats are half of them any bits, which are NaNs, infinite and subnormal now and then. */
static void fill_x(Kernel kernel) {
    uint8_t *x = area_end(X) - MOST_BYTES;
    fill(x, MOST_BYTES);
    for (size_t i = 0; i + 4 <= MOST_BYTES && kernel == F32; i += 4) {
        const float usual = near_power(between(-10, 10));
        if ((chance() & 31) != 0) {
            memcpy(x + i, &usual, sizeof usual);
        }
    }
}

/* Rows of all lengths, and of every number of channels. */
static void compare_shapes(Kernel kernel, size_t channels) {
    fill_x(kernel);
    const int odd = kernel != F32 || sizeof(void *) == 8; /* a Cortex-M loads floats where floats may lie */
    for (int round = 0; round < 12; round++) {
        const size_t size = kernel == TABLE4 ? 1 : element_bytes[kernel];
        const Case c = {.kernel = kernel,
                        .rows = (size_t)(round < 2 ? round : between(1, 6)),
                        .columns = channels == 1 ? (size_t)between(0, 130) : channels,
                        .channels = channels,
                        .x_pad = round % 2 != 0 ? 0 : (size_t)between(0, 5),
                        .y_pad = round % 2 != 0 ? 0 : (size_t)between(0, 5),
                        .x_gap = size * (size_t)between(0, 9) + (odd && round % 4 == 3),
                        .y_gap = size * (size_t)between(0, 9) + (odd && round % 8 >= 6),
                        .in_place = round % 3 == 2,
                        .streams = (int)(chance() & 1)};
        const Parameters parameters = any_parameters(kernel, channels);
        compare(&c, &parameters);
    }
}

/* Every code, by some parameters. */
static void compare_codes(Kernel kernel) {
    enum { CODES16 = 4096 };
    const int wide = element_bytes[kernel] == 2;
    const Case c = {.kernel = kernel, .rows = 1, .columns = wide ? CODES16 : 256, .channels = 1};
    for (int round = 0; round < 64; round++) {
        uint8_t *x = matrix(X, &c, 0, 0);
        for (size_t i = 0; i < c.columns; i++) {
            const uint16_t code = (uint16_t)(i + (size_t)(round % 16) * CODES16);
            memcpy(x + (wide ? 2 * i : i), &code, wide ? 2 : 1);
        }
        const Parameters parameters = any_parameters(kernel, 1);
        compare(&c, &parameters);
    }
}

static void compare_all(void) {
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        for (size_t channels = 1; channels <= MOST_CHANNELS; channels += channels < 35 ? 1 : 4) {
            compare_shapes((Kernel)kernel, channels);
        }
        for (int round = 0; round < 12; round++) {
            compare_shapes((Kernel)kernel, 1);
        }
        if (kernel >= PRODUCT8 && kernel != TABLE4) {
            compare_codes((Kernel)kernel);
        }
    }
}

int main(void) {
    check_known_values();
    compare_all();
    emulated_say(TESTED.name);
    say_number(": ", cases);
    say_number(" cases, ", failures);
    emulated_say(" failures\n");
    return failures != 0;
}
