/* One row with its bytes: maps, parameters by channel, and what y has to be. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "row.h"

/* Codes as a network states them: DEQUANTIZE, MUL by scale[c], ADD of bias[c], QUANTIZE with the scales and zero points
 * below; and folded into y = round(x * code_scale[c] + code_bias[c]), which may be off by one code. Of floats both are
 * the same and the zero points are 0. */
typedef struct {
    Row row;
    size_t elems, bytes; /* of x, and of y */
    void *x, *y;         /* each begins a cache line, at different offsets in a page */
    float *scale, *bias;
    float *code_scale, *code_bias;
    float x_scale, y_scale;
    int32_t x_zero, y_zero, lo, hi;
    float *expected; /* of the first and the last `window` elements */
    size_t window;
    void *block; /* what holds the maps */
} Problem;

/* Values by chance from a fixed seed. Ends the program where memory is short. */
void problem_make(const Row *row, Problem *problem);
void problem_free(Problem *problem);

/* What the reference gives for the code of a channel: the operators above, each rounded to float32. */
int32_t problem_reference(const Problem *problem, int32_t code, uint64_t channel);

/* The largest difference of y from what it has to be; of floats relative to 1 + |expected|. INFINITY for NaN. */
double problem_difference(const Problem *problem);

/* Memory, or the end of the program. */
void *bench_alloc(size_t bytes);

#endif
