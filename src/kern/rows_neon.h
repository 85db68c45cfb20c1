/* Walking rows with NEON; for the files *_neon.c. Rows of fewer than 16 elements are left to the portable kernels; the
 * others end as rows.h has it. Bytes are loaded as bytes: x and y need no alignment. */
#ifndef S0_KERN_ROWS_NEON_H
#define S0_KERN_ROWS_NEON_H

#include "kern/blocks.h"

#include <arm_neon.h>

/* Whether rows are long enough for blocks. */
S0_INLINE int s0_has_blocks(const S0Rows *rows, size_t element_bytes) {
    return s0_rows_joined(rows, rows->columns * element_bytes).columns >= S0_BLOCK;
}

/* n >= S0_BLOCK elements that begin with channel 0. */
S0_INLINE void s0_run_neon(const uint8_t *x, uint8_t *y, size_t n, const S0Form *form) {
    const size_t size = form->element_bytes, at = (n - S0_BLOCK) * size;
    uint8_t last[S0_BLOCK * sizeof(float)];
    __builtin_memcpy(last, x + at, S0_BLOCK * size);
    s0_blocks(x, y, n, form);
    if (n % S0_BLOCK != 0) {
        s0_block(last, y + at, S0_BLOCK, form, (n - S0_BLOCK) % form->channels);
    }
}

/* All rows, where they have blocks. */
S0_INLINE void s0_rows_neon(const S0Rows *rows, const S0Form *form) {
    S0Rows left = s0_rows_joined(rows, rows->columns * form->element_bytes);
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_run_neon((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, form);
    }
}

#endif
