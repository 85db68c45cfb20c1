/* Reals by channel with AVX-512, sixteen at a time. See floats.h.
 *
 * A row is a piece that ends with a line of y, whole vectors on lines of y, and a piece that ends with the row; the
 * pieces are vectors whose other lanes are masked. A product and a sum are never fused.
 *
 * Stores of reals past the caches are left to AVX2: two that make a line are no slower than one, and were measured to
 * leave more of the memory to the loads. */
#include "kern/floats.h"

#if defined(__x86_64__)
#include "kern/rows_avx512.h"

#define APART static __attribute__((noinline)) /* its frame is not to be laid on the way past it */

enum { LANES = 16 };

/* Constants where functions are expanded: the bytes of an element; stores go past the caches. */
enum { F16 = 2, F32 = 4, SIZE = 7, STREAMS = 8 };

typedef struct {
    __m512 scale, bias;
} Parameters;

/* ---- Elements */

/* To float16. All lanes are named: without optimisation gcc makes a mask of -1 of a call that names none, and warns. */
S0_INLINE __m256i narrowed(__m512 x) {
    return _mm512_maskz_cvtps_ph((__mmask16)0xFFFF, x, _MM_FROUND_TO_NEAREST_INT);
}

S0_INLINE __m512 compute(__m512 x, Parameters p, int form) {
    __m512 product = _mm512_mul_ps(x, p.scale);
    if (form & F16) {
        product = _mm512_cvtph_ps(narrowed(product));
    }
    return _mm512_add_ps(product, p.bias);
}

S0_INLINE void whole(const char *x, char *y, Parameters p, int form) {
    if (form & F32) {
        _mm512_storeu_ps(y, compute(_mm512_loadu_ps(x), p, form));
        return;
    }
    const __m512 widened = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
    const __m256i result = narrowed(compute(widened, p, form));
    if (form & STREAMS) {
        _mm256_stream_si256((__m256i *)(void *)y, result);
    } else {
        _mm256_storeu_si256((__m256i *)(void *)y, result);
    }
}

S0_INLINE void piece(const char *x, char *y, __mmask16 mask, Parameters p, int form) {
    if (form & F32) {
        _mm512_mask_storeu_ps(y, mask, compute(_mm512_maskz_loadu_ps(mask, x), p, form));
    } else {
        const __m512 widened = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, x));
        _mm256_mask_storeu_epi16(y, mask, narrowed(compute(widened, p, form)));
    }
}

/* Elements of y before the first vector that lies on lines, n at most. */
S0_INLINE size_t lead(const char *y, size_t n, int form) {
    const size_t size = form & SIZE, elements = (size_t)(-(uintptr_t)y % (LANES * size)) / size;
    return elements < n ? elements : n;
}

/* ---- One channel */

S0_INLINE Parameters of_channel(const S0Floats *floats, size_t c) {
    const Parameters p = {_mm512_set1_ps(floats->scale[c]), _mm512_set1_ps(floats->bias[c])};
    return p;
}

S0_INLINE void plane(const char *x, char *y, size_t n, Parameters p, int form) {
    const size_t size = form & SIZE, vector = LANES * size, begin = lead(y, n, form);
    if (begin > 0) {
        piece(x, y, s0_first_of_16(begin), p, form);
        x += begin * size;
        y += begin * size;
        n -= begin;
    }
    for (; n >= (size_t)4 * LANES; n -= (size_t)4 * LANES, x += 4 * vector, y += 4 * vector) {
        whole(x, y, p, form);
        whole(x + vector, y + vector, p, form);
        whole(x + 2 * vector, y + 2 * vector, p, form);
        whole(x + 3 * vector, y + 3 * vector, p, form);
    }
    for (; n >= LANES; n -= LANES, x += vector, y += vector) {
        whole(x, y, p, form);
    }
    if (n > 0) {
        piece(x, y, s0_first_of_16(n), p, form);
    }
}

S0_INLINE void planes(S0Rows rows, const S0Floats *floats, int form) {
    const Parameters p = of_channel(floats, 0);
    for (; rows.rows > 0; s0_rows_step(&rows)) {
        plane((const char *)rows.x, (char *)rows.y, rows.columns, p, form);
    }
}

/* ---- Channel last, row by row: the order that caches like best */

S0_INLINE Parameters of_channels(S0Floats floats, size_t c) {
    const Parameters p = {_mm512_loadu_ps(floats.scale + c), _mm512_loadu_ps(floats.bias + c)};
    return p;
}

S0_INLINE Parameters of_some_channels(S0Floats floats, size_t c, __mmask16 mask) {
    const Parameters p = {_mm512_maskz_loadu_ps(mask, floats.scale + c), _mm512_maskz_loadu_ps(mask, floats.bias + c)};
    return p;
}

S0_INLINE void pixel(const char *x, char *y, S0Floats floats, int form) {
    const size_t size = form & SIZE, n = floats.channels;
    size_t i = lead(y, n, form);
    if (i > 0) {
        const __mmask16 mask = s0_first_of_16(i);
        piece(x, y, mask, of_some_channels(floats, 0, mask), form);
    }
    for (; n - i >= LANES; i += LANES) {
        whole(x + i * size, y + i * size, of_channels(floats, i), form);
    }
    if (i < n) {
        const __mmask16 mask = s0_first_of_16(n - i);
        piece(x + i * size, y + i * size, mask, of_some_channels(floats, i, mask), form);
    }
}

/* Parameters of so many columns stay in the smallest cache while rows go through it. */
enum { COLUMNS_AT_ONCE = 1024 };

S0_INLINE void pixels_part(S0Rows rows, S0Floats floats, int form) {
    for (; rows.rows > 0; s0_rows_step(&rows)) {
        pixel((const char *)rows.x, (char *)rows.y, floats, form);
    }
}

/* These have registers for their loops alone: what is laid aside in them waits for the stores. */
APART void pixels_f32(const S0Rows *rows, const S0Floats *floats) {
    pixels_part(*rows, *floats, F32);
}

APART void pixels_f16(const S0Rows *rows, const S0Floats *floats) {
    pixels_part(*rows, *floats, F16);
}

APART void pixels_past_f16(const S0Rows *rows, const S0Floats *floats) {
    pixels_part(*rows, *floats, F16 | STREAMS);
}

S0_INLINE void pixels(const S0Rows *rows, const S0Floats *floats, size_t size,
                      void (*part)(const S0Rows *rows, const S0Floats *floats)) {
    S0Rows some_rows = *rows;
    S0Floats some = *floats;
    for (size_t c = 0; c < floats->channels; c += COLUMNS_AT_ONCE) {
        const size_t left = floats->channels - c;
        some.channels = left < COLUMNS_AT_ONCE ? left : COLUMNS_AT_ONCE;
        some.scale = floats->scale + c;
        some.bias = floats->bias + c;
        some_rows.x = (const char *)rows->x + c * size;
        some_rows.y = (char *)rows->y + c * size;
        part(&some_rows, &some);
    }
}

/* ---- Channel last, column by column: float32
 *
 * Where the smallest cache holds all, loads of parameters beside those of x would take as long again: each is loaded
 * once. Rows are as far apart in x as in y. */
typedef struct {
    const char *x;
    char *y;
    size_t pitch_bytes, end; /* bytes of all rows with what is between them */
} Columns;

S0_INLINE void columns_piece(Columns c, size_t at, __mmask16 mask, Parameters p) {
    for (; at < c.end; at += c.pitch_bytes) {
        piece(c.x + at, c.y + at, mask, p, F32);
    }
}

S0_INLINE void columns_whole(Columns c, size_t at, Parameters p) {
    for (; at < c.end; at += c.pitch_bytes) {
        whole(c.x + at, c.y + at, p, F32);
    }
}

/* Parameters number i and the next, and behind the last number 0 and the next. Channels are LANES or more. */
S0_INLINE Parameters of_seam(S0Floats floats, size_t i) {
    const __mmask16 mask = s0_first_of_16(floats.channels - i);
    Parameters p = of_some_channels(floats, i, mask);
    p.scale = _mm512_mask_expandloadu_ps(p.scale, (__mmask16)~mask, floats.scale);
    p.bias = _mm512_mask_expandloadu_ps(p.bias, (__mmask16)~mask, floats.bias);
    return p;
}

S0_INLINE void columns(Columns c, S0Floats floats) {
    const size_t n = floats.channels;
    size_t i = lead(c.y, n, F32);
    if (i > 0) {
        const __mmask16 mask = s0_first_of_16(i);
        columns_piece(c, 0, mask, of_some_channels(floats, 0, mask));
    }
    for (; n - i >= LANES; i += LANES) {
        columns_whole(c, i * sizeof(float), of_channels(floats, i));
    }
    if (i < n) {
        const __mmask16 mask = s0_first_of_16(n - i);
        columns_piece(c, i * sizeof(float), mask, of_some_channels(floats, i, mask));
    }
}

/* Rows of n columns, several times the channels. */
S0_INLINE void repeats(Columns c, size_t n, S0Floats floats) {
    const size_t vector = LANES * sizeof(float), end = n * sizeof(float);
    size_t i = lead(c.y, floats.channels, F32), at = i * sizeof(float);
    if (i > 0) {
        const __mmask16 mask = s0_first_of_16(i);
        columns_piece(c, 0, mask, of_some_channels(floats, 0, mask));
    }
    while (end - at >= vector) {
        for (; floats.channels - i >= LANES; i += LANES, at += vector) {
            columns_whole(c, at, of_channels(floats, i));
        }
        if (i < floats.channels && end - at >= vector) {
            columns_whole(c, at, of_seam(floats, i));
            i += LANES;
            at += vector;
        }
        i -= i < floats.channels ? 0 : floats.channels;
    }
    if (at < end) {
        const __mmask16 mask = s0_first_of_16((end - at) / sizeof(float));
        columns_piece(c, at, mask, of_some_channels(floats, i, mask));
    }
}

/* These have registers for their loops alone. */
APART void columns_f32(const char *x, char *y, size_t pitch_bytes, size_t rows, const S0Floats *floats) {
    const Columns c = {x, y, pitch_bytes, rows * pitch_bytes};
    columns(c, *floats);
}

APART void repeats_f32(const char *x, char *y, size_t pitch_bytes, size_t rows, const S0Floats *floats) {
    const Columns c = {x, y, pitch_bytes, rows * pitch_bytes};
    repeats(c, pitch_bytes / sizeof(float), *floats);
}

/* Rows that touch are read as fewer, so long that halves of vectors lie on halves of lines in all of them; what is left
 * is one row more. */
S0_INLINE void small_f32(const S0Rows *rows, const S0Floats *floats) {
    const size_t n = rows->columns, pitch = rows->y_pitch_bytes;
    const char *x = (const char *)rows->x;
    char *y = (char *)rows->y;
    if (n % (LANES / 2) == 0 || n < LANES || pitch != n * sizeof(float)) {
        columns_f32(x, y, pitch, rows->rows, floats);
        return;
    }
    size_t together = 2;
    while (together * n % (LANES / 2) != 0) {
        together *= 2;
    }
    const size_t count = rows->rows / together, rest = rows->rows % together, done = count * together * pitch;
    if (count > 0) {
        repeats_f32(x, y, together * pitch, count, floats);
    }
    if (rest > 0) {
        repeats_f32(x + done, y + done, rest * pitch, 1, floats);
    }
}

/* ---- Which of them */

enum { SMALL_BYTES = 16384 }; /* x and y are in the smallest cache together */

void s0_f32_avx512(const S0Rows *rows, const S0Floats *floats) {
    const size_t row_bytes = rows->columns * sizeof(float);
    if (rows->streams) {
        s0_f32_avx2(rows, floats);
    } else if (floats->channels == 1) {
        planes(s0_rows_joined(rows, row_bytes), floats, F32);
    } else if (rows->rows > 1 && rows->rows * row_bytes <= SMALL_BYTES && rows->x_pitch_bytes == rows->y_pitch_bytes) {
        small_f32(rows, floats);
    } else {
        pixels(rows, floats, sizeof(float), pixels_f32);
    }
}

/* Nothing is called between two short planes. */
void s0_f32_planes_avx512(const S0Rows *first, size_t plane_bytes, const S0Floats *floats) {
    const size_t elements = first->rows * first->columns;
    const char *x = (const char *)first->x;
    char *y = (char *)first->y;
    if (first->streams || !s0_rows_touch(first, first->columns * sizeof(float))) {
        s0_each_plane_f32(first, plane_bytes, floats, s0_f32_avx512);
        return;
    }
    for (size_t c = 0; c < floats->channels; c++) {
        plane(x + c * plane_bytes, y + c * plane_bytes, elements, of_channel(floats, c), F32);
    }
}

/* What takes so much longer than its loads goes row by row. */
S0_INLINE void any_f16(const S0Rows *rows, const S0Floats *floats, int form) {
    if (floats->channels == 1) {
        planes(s0_rows_joined(rows, rows->columns * sizeof(uint16_t)), floats, form);
    } else {
        pixels(rows, floats, sizeof(uint16_t), form & STREAMS ? pixels_past_f16 : pixels_f16);
    }
}

void s0_f16_avx512(const S0Rows *rows, const S0Floats *floats) {
    if (rows->streams) {
        any_f16(rows, floats, F16 | STREAMS);
        _mm_sfence();
    } else {
        any_f16(rows, floats, F16);
    }
}
#endif
