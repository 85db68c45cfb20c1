/* Walking rows with NEON, 16 bytes at a time; for the files *_neon.c.
 *
 * A kernel is a form: how the parameters of a vector's elements are loaded into lanes, and how 16 bytes become results.
 * Everything here is inlined where a form is constant, so nothing is called in a loop. Bytes are loaded as bytes: x and
 * y need no alignment. */
#ifndef S0_KERN_ROWS_NEON_H
#define S0_KERN_ROWS_NEON_H

#include "kern/rows_wrap.h"

#include <arm_neon.h>

enum { S0_NEON_BYTES = 16 };

typedef struct {
    void (*load)(void *lanes, const void *parameters, const S0Wrap *wrap, size_t channel);
    uint8x16_t (*apply)(uint8x16_t x, const void *lanes);
    void *lanes; /* the form's own, as its parameters are */
    const void *parameters;
} S0FormNeon;

/* Whether rows are long enough for vectors. */
S0_INLINE int s0_has_vectors(const S0Rows *rows, size_t element_bytes) {
    S0Rows joined = s0_rows_joined(rows, rows->columns * element_bytes);
    return joined.columns * element_bytes >= S0_NEON_BYTES;
}

S0_INLINE void s0_vector_neon(const uint8_t *x, uint8_t *y, const S0FormNeon *form) {
    vst1q_u8(y, form->apply(vld1q_u8(x), form->lanes));
}

/* n >= 16 bytes that begin with channel 0. `changes`: lanes are loaded for each vector, as a constant. */
S0_INLINE void s0_run_neon(const uint8_t *x, uint8_t *y, size_t n, const S0Wrap *wrap, const S0FormNeon *form,
                           int changes) {
    const uint8x16_t last = vld1q_u8(x + n - S0_NEON_BYTES);
    size_t i = 0, channel = 0;
    form->load(form->lanes, form->parameters, wrap, 0);
    for (; !changes && i + 4 * S0_NEON_BYTES <= n; i += 4 * S0_NEON_BYTES) {
        s0_vector_neon(x + i, y + i, form);
        s0_vector_neon(x + i + S0_NEON_BYTES, y + i + S0_NEON_BYTES, form);
        s0_vector_neon(x + i + 2 * S0_NEON_BYTES, y + i + 2 * S0_NEON_BYTES, form);
        s0_vector_neon(x + i + 3 * S0_NEON_BYTES, y + i + 3 * S0_NEON_BYTES, form);
    }
    for (; i + S0_NEON_BYTES <= n; i += S0_NEON_BYTES) {
        s0_vector_neon(x + i, y + i, form);
        if (changes) {
            channel = s0_wrap_next(wrap, channel);
            form->load(form->lanes, form->parameters, wrap, channel);
        }
    }
    if (i < n && changes) {
        const size_t element_bytes = S0_NEON_BYTES / wrap->lanes;
        form->load(form->lanes, form->parameters, wrap, (n - S0_NEON_BYTES) / element_bytes % wrap->channels);
    }
    if (i < n) {
        vst1q_u8(y + n - S0_NEON_BYTES, form->apply(last, form->lanes));
    }
}

/* All rows, where they have vectors. */
S0_INLINE void s0_rows_neon(const S0Rows *rows, const S0Wrap *wrap, const S0FormNeon *form) {
    const size_t element_bytes = S0_NEON_BYTES / wrap->lanes;
    S0Rows left = s0_rows_joined(rows, rows->columns * element_bytes);
    const size_t row_bytes = left.columns * element_bytes;
    for (; left.rows > 0; s0_rows_step(&left)) {
        if (wrap->channels == 1) {
            s0_run_neon((const uint8_t *)left.x, (uint8_t *)left.y, row_bytes, wrap, form, 0);
        } else {
            s0_run_neon((const uint8_t *)left.x, (uint8_t *)left.y, row_bytes, wrap, form, 1);
        }
    }
}

#endif
