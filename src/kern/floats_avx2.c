/* Reals by channel with AVX2 and F16C, eight at a time. See floats.h.
 *
 * A row, or a stream of rows that touch, is computed as whole vectors from the first aligned address of y on, and its
 * first and last eight elements, which overlap those: they are read before anything is written, and written last. A
 * product and a sum are never fused. */
#include "kern/floats.h"

#if defined(__x86_64__)
#include "kern/rows_avx2.h"

#define INLINE     static inline __attribute__((always_inline))
#define APART      static __attribute__((noinline)) /* its frame is not to be laid on the way past it */
#define ON_VECTORS __attribute__((aligned(32)))

enum { LANES = 8 };

/* Constants where functions are expanded: the bytes of an element; stores go past the caches; vectors go in twos. */
enum { F16 = 2, F32 = 4, SIZE = 7, STREAMS = 8, TWINS = 16 };

typedef struct {
    __m256 scale, bias;
} Parameters;

INLINE Parameters load(const float *scale, const float *bias) {
    const Parameters p = {_mm256_loadu_ps(scale), _mm256_loadu_ps(bias)};
    return p;
}

INLINE __m256 compute(const char *x, Parameters p, int form) {
    if (form & F32) {
        return _mm256_add_ps(_mm256_mul_ps(_mm256_loadu_ps((const float *)(const void *)x), p.scale), p.bias);
    }
    __m256 product = _mm256_mul_ps(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x)), p.scale);
    product = _mm256_cvtph_ps(_mm256_cvtps_ph(product, _MM_FROUND_TO_NEAREST_INT));
    return _mm256_add_ps(product, p.bias);
}

INLINE void put(char *y, __m256 result, int form) {
    if (form & F32) {
        _mm256_storeu_ps((float *)(void *)y, result);
    } else {
        _mm_storeu_si128((__m128i *)(void *)y, _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
    }
}

/* Elements of y before the first address that streamed vectors can have. */
INLINE size_t lead(const char *y, int form) {
    const size_t size = form & SIZE;
    return (size_t)(-(uintptr_t)y % (LANES * size)) / size;
}

INLINE void put_aligned(char *y, __m256 result, int form) {
    if (!(form & STREAMS)) {
        put(y, result, form);
    } else if (form & F32) {
        _mm256_stream_ps((float *)(void *)y, result);
    } else {
        _mm_stream_si128((__m128i *)(void *)y, _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
    }
}

INLINE void one(const char *x, char *y, float scale, float bias, int form) {
    if (form & F32) {
        *(float *)(void *)y = *(const float *)(const void *)x * scale + bias;
    } else {
        float product = _cvtsh_ss(*(const uint16_t *)(const void *)x) * scale;
        product = _cvtsh_ss(_cvtss_sh(product, _MM_FROUND_TO_NEAREST_INT));
        *(uint16_t *)(void *)y = _cvtss_sh(product + bias, _MM_FROUND_TO_NEAREST_INT);
    }
}

/* ---- One channel */

INLINE void few_of_plane(const char *x, char *y, size_t n, const S0Floats *floats, int form) {
    const size_t size = form & SIZE;
    for (size_t i = 0; i < n; i++) {
        one(x + i * size, y + i * size, *floats->scale, *floats->bias, form);
    }
}

/* From an aligned address of y on, as many whole vectors as there are before the end of x. */
INLINE void plane_vectors(const char *x, char *y, const char *x_end, Parameters p, int form) {
    const size_t vector = (size_t)LANES * (form & SIZE);
    for (; (size_t)(x_end - x) >= 4 * vector; x += 4 * vector, y += 4 * vector) {
        __m256 a = compute(x, p, form), b = compute(x + vector, p, form);
        __m256 c = compute(x + 2 * vector, p, form), d = compute(x + 3 * vector, p, form);
        put_aligned(y, a, form);
        put_aligned(y + vector, b, form);
        put_aligned(y + 2 * vector, c, form);
        put_aligned(y + 3 * vector, d, form);
    }
    for (; (size_t)(x_end - x) >= vector; x += vector, y += vector) {
        put_aligned(y, compute(x, p, form), form);
    }
}

INLINE void plane(const char *x, char *y, size_t n, const S0Floats *floats, int form) {
    const size_t size = form & SIZE;
    if (n < LANES) {
        few_of_plane(x, y, n, floats, form);
        return;
    }
    const Parameters p = {_mm256_broadcast_ss(floats->scale), _mm256_broadcast_ss(floats->bias)};
    const size_t end = (n - LANES) * size, begin = lead(y, form) * size;
    __m256 first = compute(x, p, form), last = compute(x + end, p, form);
    plane_vectors(x + begin, y + begin, x + n * size, p, form);
    put(y, first, form);
    put(y + end, last, form);
}

INLINE void planes(S0Rows rows, const S0Floats *floats, int form) {
    for (; rows.rows > 0; s0_rows_step(&rows)) {
        plane(rows.x, rows.y, rows.columns, floats, form);
    }
}

/* ---- Channel last, row by row */

INLINE void few_of_pixel(const char *x, char *y, const S0Floats *floats, int form) {
    const size_t size = form & SIZE;
    for (size_t i = 0; i < floats->channels; i++) {
        one(x + i * size, y + i * size, floats->scale[i], floats->bias[i], form);
    }
}

INLINE void pixel(const char *x, char *y, const S0Floats *floats, int form) {
    const size_t size = form & SIZE, n = floats->channels;
    if (n < LANES) {
        few_of_pixel(x, y, floats, form);
        return;
    }
    const float *scale = floats->scale, *bias = floats->bias;
    const size_t end = n - LANES;
    __m256 first = compute(x, load(scale, bias), form);
    __m256 last = compute(x + end * size, load(scale + end, bias + end), form);
    /* parameters that lie on vectors are worth more than a y that does */
    for (size_t i = form & STREAMS ? lead(y, form) : LANES; i < end; i += LANES) {
        put_aligned(y + i * size, compute(x + i * size, load(scale + i, bias + i), form), form);
    }
    put(y, first, form);
    put(y + end * size, last, form);
}

INLINE void pixels(S0Rows rows, const S0Floats *floats, int form) {
    for (; rows.rows > 0; s0_rows_step(&rows)) {
        pixel(rows.x, rows.y, floats, form);
    }
}

/* Parameters of so many columns stay in the smallest cache while rows go through it. */
enum { COLUMNS_AT_ONCE = 1024 };

INLINE void pixels_by_columns(const S0Rows *rows, const S0Floats *floats, int form) {
    const size_t parts = (floats->channels + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
    const size_t columns = (floats->channels / LANES + parts) / parts * LANES;
    for (size_t c = 0; c < floats->channels; c += columns) {
        const size_t left = floats->channels - c;
        const S0Floats part = {left < columns ? left : columns, floats->scale + c, floats->bias + c};
        S0Rows part_rows = *rows;
        part_rows.x = (const char *)rows->x + c * (form & SIZE);
        part_rows.y = (char *)rows->y + c * (form & SIZE);
        pixels(part_rows, &part, form);
    }
}

/* ---- Channel last, rows that touch
 *
 * The parameters of element i of the stream are number i mod channels, its phase. Few channels are repeated until they
 * are WIDE, to whole vectors where that takes no more than WIDEST. */
enum { WIDE = 64, WIDEST = 128 };

typedef struct {
    const float *scale, *bias;
    size_t channels; /* 64 or more, a multiple of what they were */
    S0Seam scale_seam, bias_seam;
    float scales[WIDEST] ON_VECTORS, biases[WIDEST] ON_VECTORS;
} Phases;

/* Vectors until a whole number of rows ends with one. */
static size_t vectors_of_round(size_t channels) {
    enum { LANES_LOG2 = 3 };
    unsigned twos = 0;
    while (twos < LANES_LOG2 && (channels >> twos & 1) == 0) {
        twos++;
    }
    return channels >> twos;
}

static size_t widened(size_t channels) {
    size_t step = vectors_of_round(channels) * LANES;
    step = step <= WIDEST ? step : channels;
    return (WIDE + step - 1) / step * step;
}

/* Fewer than eight. `count` is a multiple of eight. */
static void repeat_few(float *to, size_t count, const float *parameters, size_t channels) {
    int32_t from[LANES];
    for (int32_t i = 0, c = 0; i < LANES; i++) {
        from[i] = c;
        c = c + 1 == (int32_t)channels ? 0 : c + 1;
    }
    const __m256i all = _mm256_set1_epi32((int32_t)channels), step = _mm256_set1_epi32((int32_t)(LANES % channels));
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256 row = _mm256_maskload_ps(parameters, _mm256_cmpgt_epi32(all, lane));
    __m256i phase = _mm256_loadu_si256((const __m256i *)(const void *)from);
    for (size_t i = 0; i < count; i += LANES) {
        _mm256_storeu_ps(to + i, _mm256_permutevar8x32_ps(row, phase));
        phase = _mm256_add_epi32(phase, step);
        phase = _mm256_min_epu32(phase, _mm256_sub_epi32(phase, all)); /* below 0 is large */
    }
}

/* Eight or more. `count` is a multiple of the channels. */
static void repeat(float *to, size_t count, const float *parameters, size_t channels) {
    const size_t end = channels - LANES;
    for (const float *to_end = to + count; to < to_end; to += channels) {
        for (size_t i = 0; i < end; i += LANES) {
            _mm256_storeu_ps(to + i, _mm256_loadu_ps(parameters + i));
        }
        _mm256_storeu_ps(to + end, _mm256_loadu_ps(parameters + end));
    }
}

static void phases_widen(Phases *phases, const S0Floats *floats) {
    phases->scale = phases->scales;
    phases->bias = phases->biases;
    phases->channels = widened(floats->channels);
    if (floats->channels < LANES) {
        repeat_few(phases->scales, phases->channels, floats->scale, floats->channels);
        repeat_few(phases->biases, phases->channels, floats->bias, floats->channels);
    } else {
        repeat(phases->scales, phases->channels, floats->scale, floats->channels);
        repeat(phases->biases, phases->channels, floats->bias, floats->channels);
    }
}

static void phases_fill(Phases *phases, const S0Floats *floats) {
    if (floats->channels < WIDE) {
        phases_widen(phases, floats);
    } else {
        phases->scale = floats->scale;
        phases->bias = floats->bias;
        phases->channels = floats->channels;
    }
    s0_seam_fill(&phases->scale_seam, phases->scale, phases->channels * sizeof(float));
    s0_seam_fill(&phases->bias_seam, phases->bias, phases->channels * sizeof(float));
}

/* A way over the vectors of a stream, y on vectors. With TWINS, another is gone `twin` bytes behind with the same
 * parameters. */
typedef struct {
    const char *x;
    char *y;
    size_t vectors, phase, twin;
} Walk;

/* The next vectors, which have their parameters one after the other. */
INLINE void walk_straight(Walk *w, const float *scale, const float *bias, size_t vectors, int form) {
    const size_t vector = (size_t)LANES * (form & SIZE);
    const char *x = w->x;
    char *y = w->y;
    for (size_t k = 0; k < vectors; k++, x += vector, y += vector) {
        Parameters p = load(scale + k * LANES, bias + k * LANES);
        put_aligned(y, compute(x, p, form), form);
        if (form & TWINS) {
            put_aligned(y + w->twin, compute(x + w->twin, p, form), form);
        }
    }
    w->x = x;
    w->y = y;
    w->vectors -= vectors;
    w->phase += vectors * LANES;
}

INLINE void walk(Walk *w, const Phases *phases, int form) {
    const float *scale_seam = (const float *)(const void *)phases->scale_seam.bytes;
    const float *bias_seam = (const float *)(const void *)phases->bias_seam.bytes;
    const size_t channels = phases->channels;
    while (w->vectors > 0) {
        size_t vectors = (channels - w->phase) / LANES;
        vectors = vectors < w->vectors ? vectors : w->vectors;
        walk_straight(w, phases->scale + w->phase, phases->bias + w->phase, vectors, form);
        if (w->phase < channels && w->vectors > 0) {
            size_t k = w->phase + LANES - channels;
            walk_straight(w, scale_seam + k, bias_seam + k, 1, form);
        }
        w->phase -= w->phase < channels ? 0 : channels;
    }
}

/* Two rounds of rows at a time, which read each parameter once. That wins where parameters do not lie on vectors. */
INLINE void walk_twins(Walk *w, const Phases *phases, int form) {
    const size_t round = vectors_of_round(phases->channels), all = w->vectors;
    size_t left = all;
    w->twin = round * LANES * (form & SIZE);
    for (; left >= 2 * round; left -= 2 * round) {
        w->vectors = round;
        walk(w, phases, form | TWINS);
        w->x += w->twin;
        w->y += w->twin;
    }
    w->vectors = left;
}

/* Four vectors, or three, hold a whole number of rows: their parameters stay in registers. */
INLINE void walk_groups(Walk *w, const Phases *phases, size_t group, int form) {
    const size_t vector = (size_t)LANES * (form & SIZE);
    const float *scale = phases->scale + w->phase, *bias = phases->bias + w->phase;
    const Parameters a = load(scale, bias), b = load(scale + LANES, bias + LANES);
    const Parameters c = load(scale + 2 * LANES, bias + 2 * LANES), d = load(scale + 3 * LANES, bias + 3 * LANES);
    const char *x = w->x;
    char *y = w->y;
    for (; w->vectors >= group; w->vectors -= group, x += group * vector, y += group * vector) {
        put_aligned(y, compute(x, a, form), form);
        put_aligned(y + vector, compute(x + vector, b, form), form);
        put_aligned(y + 2 * vector, compute(x + 2 * vector, c, form), form);
        if (group == 4) {
            put_aligned(y + 3 * vector, compute(x + 3 * vector, d, form), form);
        }
    }
    w->x = x;
    w->y = y;
}

INLINE void walk_fast(Walk *w, const Phases *phases, size_t channels, int form) {
    const size_t vectors = vectors_of_round(channels);
    if (vectors == 3) {
        walk_groups(w, phases, 3, form);
    } else if (vectors == 1 || vectors == 2 || vectors == 4) {
        walk_groups(w, phases, 4, form);
    } else if (!(form & STREAMS) && (w->phase > 0 || phases->channels % LANES > 0)) {
        walk_twins(w, phases, form);
    }
    walk(w, phases, form);
}

INLINE void stream(const S0Rows *rows, const S0Floats *floats, int form) {
    const size_t size = form & SIZE, n = rows->rows * rows->columns, begin = lead(rows->y, form);
    const char *x = rows->x;
    char *y = rows->y;
    Phases phases;
    phases_fill(&phases, floats);
    const size_t x_end = n - LANES, c_end = phases.channels - LANES;
    __m256 first = compute(x, load(phases.scale, phases.bias), form);
    __m256 last = compute(x + x_end * size, load(phases.scale + c_end, phases.bias + c_end), form);
    Walk w = {x + begin * size, y + begin * size, (n - begin) / LANES, begin, 0};
    walk_fast(&w, &phases, floats->channels, form);
    put(y, first, form);
    put(y + x_end * size, last, form);
}

/* ---- Which of them */

/* Of shorter streams the parameters are not worth repeating; of longer rows they are read from memory again and again.
 */
enum { SHORTEST_STREAM = 32, WIDEST_STREAM = 2048 };

/* Whether rows of pixels are to be one stream. */
INLINE int is_stream(const S0Rows *rows, size_t row_bytes) {
    return rows->rows > 1 && rows->columns <= WIDEST_STREAM && rows->rows * rows->columns >= SHORTEST_STREAM &&
           s0_rows_touch(rows, row_bytes);
}

INLINE void any(const S0Rows *rows, const S0Floats *floats, int form) {
    const size_t row_bytes = rows->columns * (form & SIZE);
    if (floats->channels == 1) {
        planes(s0_rows_joined(rows, row_bytes), floats, form);
    } else if (is_stream(rows, row_bytes)) {
        stream(rows, floats, form);
    } else {
        pixels_by_columns(rows, floats, form);
    }
}

APART void any_f32(const S0Rows *rows, const S0Floats *floats) {
    any(rows, floats, F32);
}

APART void any_f16(const S0Rows *rows, const S0Floats *floats) {
    any(rows, floats, F16);
}

APART void past_f32(const S0Rows *rows, const S0Floats *floats) {
    any(rows, floats, F32 | STREAMS);
    _mm_sfence();
}

APART void past_f16(const S0Rows *rows, const S0Floats *floats) {
    any(rows, floats, F16 | STREAMS);
    _mm_sfence();
}

/* Planes are many and may be small. */
INLINE int is_plane(const S0Rows *rows, const S0Floats *floats, int form) {
    return floats->channels == 1 && s0_rows_touch(rows, rows->columns * (form & SIZE));
}

void s0_f32_avx2(const S0Rows *rows, const S0Floats *floats) {
    if (rows->streams) {
        past_f32(rows, floats);
    } else if (is_plane(rows, floats, F32)) {
        plane(rows->x, rows->y, rows->rows * rows->columns, floats, F32);
    } else {
        any_f32(rows, floats);
    }
}

/* Nothing is called between two short planes. */
void s0_f32_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Floats *floats) {
    const size_t elements = first->rows * first->columns, channels = floats->channels;
    const char *x = first->x;
    char *y = first->y;
    S0Floats one = *floats;
    if (first->streams || !s0_rows_touch(first, first->columns * sizeof(float)) || elements < LANES) {
        s0_each_plane_f32(first, plane_bytes, floats, s0_f32_avx2);
        return;
    }
    for (size_t c = 0; c < channels; c++) {
        plane(x + c * plane_bytes, y + c * plane_bytes, elements, &one, F32);
        one.scale++;
        one.bias++;
    }
}

void s0_f16_avx2(const S0Rows *rows, const S0Floats *floats) {
    if (rows->streams) {
        past_f16(rows, floats);
    } else if (is_plane(rows, floats, F16)) {
        plane(rows->x, rows->y, rows->rows * rows->columns, floats, F16);
    } else {
        any_f16(rows, floats);
    }
}
#endif
