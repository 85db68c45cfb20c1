/* Many cells, on several threads. What comes out depends on the cells alone, not on the number of threads. */
#ifndef S0_MATRIX_RUN_H
#define S0_MATRIX_RUN_H

#include "matrix/measure.h"

typedef struct {
    bool is_all; /* else the subset `pairs` */
    MatrixFilter filter;
    uint32_t jobs;                                               /* threads, at least 1 */
    void (*progress)(void *context, uint32_t done, uint32_t of); /* from any thread, one at a time; or null */
    void *context;
} MatrixOptions;

typedef struct {
    bool is_all;
    MatrixCell base;          /* of the summary */
    uint32_t count, left_out; /* cells; cells whose contract makes them another one */
    const uint32_t *number;   /* of each cell, in order */
    MatrixRow *row;
    uint32_t equal_count;
} Matrix;

enum { MATRIX_MOST_JOBS = 256 };

/* False with a diagnostic: the filter leaves no cell; or, naming one, our own fault, or memory ran out. */
bool matrix_run(const MatrixOptions *options, Work *work, Matrix *matrix);

/* "1x12x20x28 channel-last int8 ...": the words of a cell. */
const char *matrix_title(const MatrixCell *cell, Arena *arena);

#endif
