/* Softmax of codes of 8 bits, bit for bit as TFLite's reference kernel computes it.
 *
 * Differences to the largest code of a row are rescaled to 5 integer and 26 fraction bits; their exponentials are fixed
 * point, as is the reciprocal of their sum. The result has 8 fraction bits. Freestanding C99.
 *
 * Sources   TFLite lite/kernels/internal/reference/softmax.h, quantization_util.cc (PreprocessSoftmaxScaling,
 *           CalculateInputRadius); gemmlowp fixedpoint/fixedpoint.h (exp_on_negative_values,
 *           one_over_one_plus_x_for_x_in_0_1) */
#ifndef S0_KERN_SOFTMAX_H
#define S0_KERN_SOFTMAX_H

#include "kern/fixed.h"

typedef struct {
    S0Multiplier factor;
    S0Rounding rounding;
    int32_t least; /* a code that is further below the largest one counts nothing */
} S0Softmax;

enum { S0_SOFTMAX_MOST = 1 << 12 }; /* codes of a row, whose sum of exponentials fits */

/* `scale` of the input's codes times beta. 0 where the kernel has no such factor: it is to be above
 * 2^-26 and below 16, from where on its shift has no value. */
int s0_softmax_bind(double scale, S0Rounding rounding, S0Softmax *softmax);

/* A row of `count` codes, at least 1, in place: from 0 to 255, in units of 1/256. */
void s0_softmax(const S0Softmax *softmax, int32_t *code, uint32_t count);

#endif
