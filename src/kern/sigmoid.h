/* The logistic function and the hyperbolic tangent of codes of 8 bits, bit for bit as TFLite's reference kernels
 * compute them: in fixed point, with 4 integer and 27 fraction bits. Freestanding C99.
 *
 * Sources   TFLite lite/kernels/internal/reference/integer_ops/logistic.h, tanh.h; lite/micro/kernels/
 *           logistic_common.cc, tanh.cc; gemmlowp fixedpoint/fixedpoint.h (logistic, tanh) */
#ifndef S0_KERN_SIGMOID_H
#define S0_KERN_SIGMOID_H

#include "kern/fixed.h"

typedef struct {
    S0Multiplier factor;
    S0Rounding rounding;
    int32_t radius; /* from which number of steps on the result is the least or the largest */
} S0Sigmoid;

/* `scale` of the input's codes. 0 where the kernel has no such factor: it is to be above 2^-27 and below 8, from where
 * on its shift has no value. */
int s0_sigmoid_bind(double scale, S0Rounding rounding, S0Sigmoid *sigmoid);

/* Of a code less its zero point: from 0 to 255, in units of 1/256. */
int32_t s0_logistic(const S0Sigmoid *sigmoid, int32_t steps);

/* From -128 to 127, in units of 1/128. */
int32_t s0_tanh(const S0Sigmoid *sigmoid, int32_t steps);

#endif
