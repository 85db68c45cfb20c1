/* Plain loops, compiled by each compiler: NAIVE_NAME names the table. Codes are rounded to the nearest and limited. */
#include "naive_loops.h"

#include <math.h>
#include <stdint.h>

static inline float to_float(float value) {
    return value;
}

static inline int8_t to_int8(float value) {
    float whole = rintf(value);
    return (int8_t)(whole < -128 ? -128 : whole > 127 ? 127 : whole);
}

static inline int16_t to_int16(float value) {
    float whole = rintf(value);
    return (int16_t)(whole < -32768 ? -32768 : whole > 32767 ? 32767 : whole);
}

/* One run of elements, with parameters of its own each (span) or shared (plane). */
#define LOOPS(type, convert)                                                                                           \
    static inline void type##_span(const type *restrict x, type *restrict y, const float *restrict scale,              \
                                   const float *restrict bias, size_t count) {                                         \
        for (size_t k = 0; k < count; k++) {                                                                           \
            y[k] = convert((float)x[k] * scale[k] + bias[k]);                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void type##_plane(const type *restrict x, type *restrict y, float scale, float bias, size_t count) { \
        for (size_t k = 0; k < count; k++) {                                                                           \
            y[k] = convert((float)x[k] * scale + bias);                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    static void type##_planes_compact(const NaiveCall *call) {                                                         \
        size_t plane = call->h * call->w;                                                                              \
        for (size_t k = 0; k < call->n * call->c; k++) {                                                               \
            type##_plane((const type *)call->x + k * plane, (type *)call->y + k * plane, call->scale[k % call->c],     \
                         call->bias[k % call->c], plane);                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void type##_planes_row(const NaiveCall *call) {                                                             \
        for (size_t k = 0; k < call->n * call->c * call->h; k++) {                                                     \
            size_t param = k / call->h % call->c * call->w;                                                            \
            type##_span((const type *)call->x + k * call->w, (type *)call->y + k * call->w, call->scale + param,       \
                        call->bias + param, call->w);                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    static void type##_images_full(const NaiveCall *call) {                                                            \
        size_t image = call->c * call->h * call->w;                                                                    \
        for (size_t k = 0; k < call->n; k++) {                                                                         \
            type##_span((const type *)call->x + k * image, (type *)call->y + k * image, call->scale, call->bias,       \
                        image);                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    static void type##_pixels_compact(const NaiveCall *call) {                                                         \
        for (size_t k = 0; k < call->n * call->h * call->w; k++) {                                                     \
            type##_span((const type *)call->x + k * call->c, (type *)call->y + k * call->c, call->scale, call->bias,   \
                        call->c);                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void type##_pixels_row(const NaiveCall *call) {                                                             \
        size_t row = call->w * call->c;                                                                                \
        for (size_t k = 0; k < call->n * call->h; k++) {                                                               \
            type##_span((const type *)call->x + k * row, (type *)call->y + k * row, call->scale, call->bias, row);     \
        }                                                                                                              \
    }

LOOPS(float, to_float)
LOOPS(int8_t, to_int8)
LOOPS(int16_t, to_int16)

#define FORMS(type)                                                                                                    \
    {                                                                                                                  \
        {type##_planes_compact, type##_planes_row, type##_images_full},                                                \
            {type##_pixels_compact, type##_pixels_row, type##_images_full},                                            \
    }

const NaiveLoops NAIVE_NAME = {FORMS(float), FORMS(int8_t), FORMS(int16_t)};
