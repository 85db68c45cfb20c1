/* How the kernels of 8-bit codes go over a matrix with AVX-512, 64 codes at a time; for the files *_avx512.c.
 *
 * A kernel is a form: how parameters of 64 channels are loaded into lanes, and how 64 codes become results. One
 * channel: the lanes stay the same. Channel last: lanes are loaded once for the codes at the same place of some rows.
 */
#ifndef S0_KERN_CODES8_AVX512_H
#define S0_KERN_CODES8_AVX512_H

#if defined(__x86_64__)
#include "kern/codes8.h"
#include "kern/rows_avx512.h"

/* Flags beside those of codes8.h. */
enum {
    S0_STREAMS = 4, /* y is written past the caches, by whole lines of them */
    S0_FORM = 8,    /* from here on the form's own */
};

enum {
    S0_LANES8 = 64,
    S0_ROWS_AT_ONCE = 16, /* so many that lanes cost little, and so few that all rows stay near */
    S0_STRIPS = 8,
};

/* Parameters of 64 codes, which vector is what being the form's; then what all channels share. */
typedef struct {
    __m512i of[8];
    __m512i x_flip, y_flip, lo, hi;
} S0Lanes8;

typedef __m512i S0Apply8(__m512i x, const S0Lanes8 *lanes, int flags);

/* Of columns from `column` on those of the mask, which are the first ones; others are not read. */
typedef void S0Load8(S0Lanes8 *lanes, const void *parameters, size_t column, __mmask64 mask, int flags);

S0_INLINE void s0_share8(S0Lanes8 *lanes, const S0Bytes *codes) {
    lanes->x_flip = _mm512_set1_epi8((char)codes->x_flip);
    lanes->y_flip = _mm512_set1_epi8((char)codes->y_flip);
    lanes->lo = _mm512_set1_epi8(codes->lo);
    lanes->hi = _mm512_set1_epi8(codes->hi);
}

/* x as int8, results within the limits, and these as they are stored. */
S0_INLINE __m512i s0_enter8(__m512i x, const S0Lanes8 *lanes, int flags) {
    return (flags & S0_FLIPS) != 0 ? _mm512_xor_si512(x, lanes->x_flip) : x;
}

S0_INLINE __m512i s0_limit8(__m512i y, const S0Lanes8 *lanes, int flags) {
    return (flags & S0_LIMITS) != 0 ? _mm512_min_epi8(_mm512_max_epi8(y, lanes->lo), lanes->hi) : y;
}

S0_INLINE __m512i s0_leave8(__m512i y, const S0Lanes8 *lanes, int flags) {
    return (flags & S0_FLIPS) != 0 ? _mm512_xor_si512(y, lanes->y_flip) : y;
}

/* Where S0_STREAMS, y is on a line. */
S0_INLINE void s0_whole8(const uint8_t *x, uint8_t *y, S0Apply8 *apply, int flags, const S0Lanes8 *lanes) {
    const __m512i codes = apply(_mm512_loadu_si512(x), lanes, flags);
    if ((flags & S0_STREAMS) != 0) {
        _mm512_stream_si512((__m512i *)(void *)y, codes);
    } else {
        _mm512_storeu_si512(y, codes);
    }
}

S0_INLINE void s0_part8(const uint8_t *x, uint8_t *y, __mmask64 mask, S0Apply8 *apply, int flags,
                        const S0Lanes8 *lanes) {
    _mm512_mask_storeu_epi8(y, mask, apply(_mm512_maskz_loadu_epi8(mask, x), lanes, flags));
}

/* ---- One channel */

S0_INLINE void s0_run8(const uint8_t *x, uint8_t *y, size_t bytes, S0Apply8 *apply, int flags, const S0Lanes8 *lanes) {
    size_t i = 0;
    if ((flags & S0_STREAMS) != 0) {
        i = s0_bytes_to_line(y, bytes);
        s0_part8(x, y, s0_first_of_64(i), apply, flags, lanes);
    }
    for (; i + 2 * S0_LANES8 <= bytes; i += 2 * S0_LANES8) {
        s0_whole8(x + i, y + i, apply, flags, lanes);
        s0_whole8(x + i + S0_LANES8, y + i + S0_LANES8, apply, flags, lanes);
    }
    for (; i < bytes; i += S0_LANES8) {
        s0_part8(x + i, y + i, s0_first_of_64(bytes - i), apply, flags, lanes);
    }
}

/* The whole matrix. */
S0_INLINE void s0_plane8(const S0Rows *rows, S0Apply8 *apply, int flags, const S0Lanes8 *given) {
    const S0Lanes8 lanes = *given;
    S0Rows left = s0_rows_joined(rows, rows->columns);
    for (; left.rows > 0; s0_rows_step(&left)) {
        s0_run8((const uint8_t *)left.x, (uint8_t *)left.y, left.columns, apply, flags, &lanes);
    }
    if ((flags & S0_STREAMS) != 0) {
        _mm_sfence();
    }
}

/* ---- Channel last */

typedef struct {
    const S0Bytes *codes;
    const void *parameters; /* the form's own */
    S0Load8 *load;
    S0Apply8 *apply;
} S0Form8;

/* The columns from `column` on that the mask has, of some rows; where S0_STREAMS, 64 that are lines of y. */
S0_INLINE void s0_down8(const S0Rows *rows, size_t column, __mmask64 mask, const S0Form8 *form, int flags,
                        S0Lanes8 *lanes) {
    const uint8_t *x = (const uint8_t *)rows->x + column;
    uint8_t *y = (uint8_t *)rows->y + column;
    const size_t count = rows->rows;
    form->load(lanes, form->parameters, column, mask, flags);
#pragma GCC unroll 1 /* a chain of comparisons in place of a loop is slower by half */
    for (size_t k = 0; k < count; k++) {
        if ((flags & S0_STREAMS) != 0) {
            s0_whole8(x, y, form->apply, flags, lanes);
        } else {
            s0_part8(x, y, mask, form->apply, flags, lanes);
        }
        x += rows->x_pitch_bytes;
        y += rows->y_pitch_bytes;
    }
}

/* Some rows. Where S0_STREAMS, lines of y are at the same columns in each. */
S0_INLINE void s0_across8(const S0Rows *given, const S0Form8 *form, int flags) {
    const S0Rows rows = *given;
    const int near = flags & ~S0_STREAMS;
    S0Lanes8 lanes;
    size_t i = (flags & S0_STREAMS) != 0 ? s0_bytes_to_line(rows.y, rows.columns) : 0;
    s0_share8(&lanes, form->codes);
    if (i > 0) {
        s0_down8(&rows, 0, s0_first_of_64(i), form, near, &lanes);
    }
    for (; i + S0_LANES8 <= rows.columns; i += S0_LANES8) {
        s0_down8(&rows, i, ~(__mmask64)0, form, flags, &lanes);
    }
    if (i < rows.columns) {
        s0_down8(&rows, i, s0_first_of_64(rows.columns - i), form, near, &lanes);
    }
}

/* To the row `count` further on. */
S0_INLINE void s0_rows_on8(S0Rows *rows, size_t count, const S0Rows *all) {
    rows->x = (const uint8_t *)rows->x + count * all->x_pitch_bytes;
    rows->y = (uint8_t *)rows->y + count * all->y_pitch_bytes;
}

/* Rows from `from` on, some that follow one another at a time; past the caches one, as lines of y may be anywhere. */
S0_INLINE void s0_near_rows8(const S0Rows *rows, size_t from, const S0Form8 *form, int flags) {
    const size_t most = (flags & S0_STREAMS) != 0 ? 1 : S0_ROWS_AT_ONCE;
    S0Rows some = *rows;
    s0_rows_on8(&some, from, rows);
    for (size_t left = rows->rows - from; left > 0; left -= some.rows) {
        some.rows = left < most ? left : most;
        s0_across8(&some, form, flags);
        s0_rows_on8(&some, some.rows, rows);
    }
}

/* Past the caches, a row of each of some strips of the matrix at a time: measured at 33 GB/s, where rows in their order
 * have 22 and 16 neighbours at a time 19. */
S0_INLINE void s0_far_rows8(const S0Rows *rows, const S0Form8 *form, int flags) {
    const size_t strip = rows->y_pitch_bytes % S0_LINE_BYTES == 0 ? rows->rows / S0_STRIPS : 0;
    S0Rows some = *rows;
    some.rows = S0_STRIPS;
    some.x_pitch_bytes *= strip;
    some.y_pitch_bytes *= strip;
    for (size_t k = 0; k < strip; k++) {
        s0_across8(&some, form, flags);
        s0_rows_on8(&some, 1, rows);
    }
    s0_near_rows8(rows, strip * S0_STRIPS, form, flags);
    _mm_sfence();
}

/* The whole matrix. */
S0_INLINE void s0_pixels8(const S0Rows *rows, const S0Form8 *form, int flags) {
    if ((flags & S0_STREAMS) != 0) {
        s0_far_rows8(rows, form, flags);
    } else {
        s0_near_rows8(rows, 0, form, flags);
    }
}

#endif
#endif
