/* Walking the rows of a matrix: what the kernels of affine.h share.
 *
 * How a kernel of vectors ends a row of n >= LANES elements without a foreign byte, in place too: the last vector of x
 * is read before the first is written, whole vectors are computed from the front, and the last one's result is written
 * over the end, where it may repeat up to LANES - 1 results. Shorter rows go one by one. */
#ifndef S0_KERN_ROWS_H
#define S0_KERN_ROWS_H

#include "kern/affine.h"

/* Whether nothing lies between the rows, in x and in y. `row_bytes`: what the columns take. */
static inline int s0_rows_touch(const S0Rows *rows, size_t row_bytes) {
    return rows->rows == 1 || (rows->x_pitch_bytes == row_bytes && rows->y_pitch_bytes == row_bytes);
}

/* For one channel: the same elements in as few rows as can be, which is one where the rows touch. Packed elements
 * must end with the byte that a row ends with. */
static inline S0Rows s0_rows_joined(const S0Rows *rows, size_t row_bytes) {
    S0Rows joined = *rows;
    if (s0_rows_touch(rows, row_bytes)) {
        joined.columns *= joined.rows;
        joined.rows = 1;
    }
    return joined;
}

/* To the next row. */
static inline void s0_rows_step(S0Rows *rows) {
    rows->x = (const char *)rows->x + rows->x_pitch_bytes;
    rows->y = (char *)rows->y + rows->y_pitch_bytes;
    rows->rows--;
}

#endif
