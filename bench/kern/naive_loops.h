/* The loops that one would write, as each compiler makes them fast. Parameters in three forms: one a channel (compact),
 * expanded to a row of the map, and to all of an image (full). */
#ifndef BENCH_NAIVE_LOOPS_H
#define BENCH_NAIVE_LOOPS_H

#include <stddef.h>

enum { NAIVE_COMPACT, NAIVE_ROW, NAIVE_FULL, NAIVE_FORMS };

typedef struct {
    const void *x;
    void *y;
    const float *scale, *bias;
    size_t n, c, h, w;
} NaiveCall;

typedef void (*NaiveLoop)(const NaiveCall *call);

/* By dtype, layout and form; the order of row.h. */
typedef NaiveLoop NaiveLoops[3][2][NAIVE_FORMS];

extern const NaiveLoops naive_loops_gcc, naive_loops_clang;

#endif
