/* Reals by channel in C99: loops that compilers vectorise. See floats.h.
 *
 * In place, x and y are written as one pointer: a compiler must not see two that may differ. */
#include "kern/floats.h"

#include "kern/half.h"
#include "kern/rows.h"
#include "kern/subnormal.h"

S0_SUBNORMAL_BEGIN

/* n elements of a row. */
typedef void Row(const void *x, void *y, size_t n, const float *scale, const float *bias);

static inline void f32_loop(const float *x, float *y, size_t n, const float *scale, const float *bias) {
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * scale[i] + bias[i];
    }
}

static void f32_pixel(const void *x, void *y, size_t n, const float *scale, const float *bias) {
    if (x == y) {
        f32_loop(y, y, n, scale, bias);
    } else {
        f32_loop(x, y, n, scale, bias);
    }
}

static inline void f32_plane_loop(const float *x, float *y, size_t n, float scale, float bias) {
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * scale + bias;
    }
}

static void f32_plane(const void *x, void *y, size_t n, const float *scale, const float *bias) {
    if (x == y) {
        f32_plane_loop(y, y, n, *scale, *bias);
    } else {
        f32_plane_loop(x, y, n, *scale, *bias);
    }
}

static inline uint16_t f16_one(uint16_t x, float scale, float bias) {
    float product = s0_half_widen(s0_half_narrow(s0_half_widen(x) * scale));
    return s0_half_narrow(product + bias);
}

static inline void f16_loop(const uint16_t *x, uint16_t *y, size_t n, const float *scale, const float *bias) {
    for (size_t i = 0; i < n; i++) {
        y[i] = f16_one(x[i], scale[i], bias[i]);
    }
}

static void f16_pixel(const void *x, void *y, size_t n, const float *scale, const float *bias) {
    if (x == y) {
        f16_loop(y, y, n, scale, bias);
    } else {
        f16_loop(x, y, n, scale, bias);
    }
}

static inline void f16_plane_loop(const uint16_t *x, uint16_t *y, size_t n, float scale, float bias) {
    for (size_t i = 0; i < n; i++) {
        y[i] = f16_one(x[i], scale, bias);
    }
}

static void f16_plane(const void *x, void *y, size_t n, const float *scale, const float *bias) {
    if (x == y) {
        f16_plane_loop(y, y, n, *scale, *bias);
    } else {
        f16_plane_loop(x, y, n, *scale, *bias);
    }
}

static void each_row(S0Rows rows, const S0Floats *floats, Row *row) {
    for (; rows.rows > 0; s0_rows_step(&rows)) {
        row(rows.x, rows.y, rows.columns, floats->scale, floats->bias);
    }
}

/* Rows of fewer columns than NARROW are too short for a loop of their own. */
enum { NARROW = 32, WIDE = 64 };

static void repeat(float *to, size_t n, const float *parameters, size_t channels) {
    for (size_t i = 0; i < n; i++) {
        to[i] = i < channels ? parameters[i] : to[i - channels];
    }
}

/* As many rows as WIDE elements hold at a time, as one with the parameters repeated. The rows touch. */
static void narrow_pixels(const S0Rows *rows, const S0Floats *floats, size_t size, Row *row) {
    float scale[WIDE], bias[WIDE];
    const size_t together = WIDE / floats->channels, n = together * floats->channels;
    repeat(scale, n, floats->scale, floats->channels);
    repeat(bias, n, floats->bias, floats->channels);
    S0Rows wide = *rows, rest = *rows;
    wide.rows = rows->rows / together;
    wide.columns = n;
    wide.x_pitch_bytes = wide.y_pitch_bytes = n * size;
    rest.rows = rows->rows % together;
    rest.x = (const char *)rows->x + wide.rows * n * size;
    rest.y = (char *)rows->y + wide.rows * n * size;
    const S0Floats repeated = {.channels = n, .scale = scale, .bias = bias};
    each_row(wide, &repeated, row);
    each_row(rest, floats, row);
}

static void pixels(const S0Rows *rows, const S0Floats *floats, size_t size, Row *row) {
    if (floats->channels < NARROW && rows->rows > 1 && s0_rows_touch(rows, rows->columns * size)) {
        narrow_pixels(rows, floats, size, row);
    } else {
        each_row(*rows, floats, row);
    }
}

void s0_f32_portable(const S0Rows *rows, const S0Floats *floats) {
    if (floats->channels == 1) {
        each_row(s0_rows_joined(rows, rows->columns * sizeof(float)), floats, f32_plane);
    } else {
        pixels(rows, floats, sizeof(float), f32_pixel);
    }
}

void s0_f32_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Floats *floats) {
    s0_each_plane_f32(first, plane_bytes, floats, s0_f32_portable);
}

void s0_f16_portable(const S0Rows *rows, const S0Floats *floats) {
    if (floats->channels == 1) {
        each_row(s0_rows_joined(rows, rows->columns * sizeof(uint16_t)), floats, f16_plane);
    } else {
        pixels(rows, floats, sizeof(uint16_t), f16_pixel);
    }
}

S0_SUBNORMAL_END
