/* What an affine of codes gives: DEQUANTIZE, MUL, ADD, QUANTIZE of ONNX, each operation in float32. */
#ifndef TESTS_API_QUANTISED_H
#define TESTS_API_QUANTISED_H

#include "stride0/stride0.h"

#include <math.h>
#include <stdint.h>

static inline float limit(float value, float lo, float hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

static inline int32_t quantised(const s0_affine_options *options, uint64_t channel, int32_t code, float lo, float hi) {
    volatile float real = (float)(code - options->x_zero_point) * options->x_scale;
    real = real * options->scale[channel];
    real = real + options->bias[channel];
    real = real / options->y_scale;
    int32_t y = (int32_t)limit(rintf(limit(real, -1e6F, 1e6F)) + (float)options->y_zero_point, lo, hi);
    return options->is_limited && y < options->lo   ? options->lo
           : options->is_limited && y > options->hi ? options->hi
                                                    : y;
}

#endif
