/* How the kernels of 8-bit codes go over a matrix with AVX2, 32 codes at a time; for the files *_avx2.c.
 *
 * A kernel is a form: how parameters of 32 channels are loaded into lanes, and how 32 codes become results. One
 * channel: the lanes stay the same. Channel last: lanes are loaded once for the codes at the same place of four strips
 * of the matrix that begin with the same channel, which are rows, or runs of rows where these touch.
 *
 * Stores of vectors may change anything, as compilers see it. So what loops need is copied into variables before. */
#ifndef S0_KERN_CODES8_AVX2_H
#define S0_KERN_CODES8_AVX2_H

#if defined(__x86_64__)
#include "kern/codes8.h"
#include "kern/rows_avx2.h"

#define S0_INLINE static inline __attribute__((always_inline))

/* Flags beside those of codes8.h. */
enum {
    S0_STREAMS = 4, /* y is written past the caches, by whole lines of them */
    S0_FORM = 8,    /* from here on the form's own */
};

/* Parameters of 32 codes, which vector is what being the form's; then what all channels share. */
typedef struct {
    __m256i of[8];
    __m256i x_flip, y_flip, lo, hi;
} S0Lanes8;

enum { S0_ARRAYS = 5, S0_SEAM = 64 };

/* Parameters of 4 bytes at most, and room for as many again as fewer than 32 channels have. */
typedef struct {
    uint8_t bytes[4 * (S0_SEAM + 32)];
} S0Seam8;

/* Arrays of parameters, which is what being the form's, for channel last. Vectors that begin at a channel before number
 * `seam_begins` are read where they are, others from the seam, which goes on with number 0 after the last. */
typedef struct {
    const uint8_t *whole[S0_ARRAYS];
    S0Seam8 *seams; /* room for one an array */
    size_t channels, seam_begins;
    const S0Bytes *codes;
} S0Arrays8;

typedef void S0Load8(S0Lanes8 *lanes, const S0Arrays8 *arrays, size_t channel, int flags);
typedef __m256i S0Apply8(__m256i x, const S0Lanes8 *lanes, int flags);

/* Codes that begin with channel number `first`. Where S0_STREAMS, strips of y are whole lines. */
typedef struct {
    const uint8_t *x;
    uint8_t *y;
    size_t x_pitch_bytes, y_pitch_bytes, bytes; /* from a strip to the next; of a strip */
    size_t first;
} S0Strips8;

enum { S0_STRIPS = 8, S0_STREAM_STRIPS = 4, S0_LINE_BYTES = 64 };

/* A form at work on one strip or on S0_STRIPS; where S0_STREAMS, on S0_STREAM_STRIPS. */
typedef void S0Walk8(const S0Strips8 *strips, int count, const S0Arrays8 *arrays);

/* Before the walk: the channels, then each array; number `k` has parameters of `size` bytes. */
void s0_arrays8(S0Arrays8 *arrays, const S0Rows *rows, size_t channels, const S0Bytes *codes);
void s0_array8(S0Arrays8 *arrays, int k, const void *whole, size_t size);

/* Channel last: the whole matrix. `streams` is the walk with S0_STREAMS. */
void s0_walk8(const S0Rows *rows, const S0Arrays8 *arrays, S0Walk8 *walk, S0Walk8 *streams);

/* Copies fewer than 32 bytes. */
void s0_copy_few8(uint8_t *to, const uint8_t *from, size_t bytes);

S0_INLINE __m256i s0_load8(const void *at) {
    return _mm256_loadu_si256((const __m256i *)at);
}

S0_INLINE void s0_store8(void *at, __m256i codes) {
    _mm256_storeu_si256((__m256i *)at, codes);
}

S0_INLINE void s0_share8(S0Lanes8 *lanes, const S0Bytes *codes) {
    lanes->x_flip = _mm256_set1_epi8((char)codes->x_flip);
    lanes->y_flip = _mm256_set1_epi8((char)codes->y_flip);
    lanes->lo = _mm256_set1_epi8(codes->lo);
    lanes->hi = _mm256_set1_epi8(codes->hi);
}

/* Whether s0_flags8() is 0, in one comparison. */
S0_INLINE int s0_is_plain8(const S0Bytes *codes) {
    uint32_t limits = (uint32_t)(uint8_t)codes->lo << 16 | (uint32_t)(uint8_t)codes->hi << 24;
    return ((uint32_t)codes->x_flip | (uint32_t)codes->y_flip << 8 | limits) == 0x7f800000;
}

/* x as int8, results within the limits, and these as they are stored. */
S0_INLINE __m256i s0_enter8(__m256i x, const S0Lanes8 *lanes, int flags) {
    return (flags & S0_FLIPS) != 0 ? _mm256_xor_si256(x, lanes->x_flip) : x;
}

S0_INLINE __m256i s0_limit8(__m256i y, const S0Lanes8 *lanes, int flags) {
    return (flags & S0_LIMITS) != 0 ? _mm256_min_epi8(_mm256_max_epi8(y, lanes->lo), lanes->hi) : y;
}

S0_INLINE __m256i s0_leave8(__m256i y, const S0Lanes8 *lanes, int flags) {
    return (flags & S0_FLIPS) != 0 ? _mm256_xor_si256(y, lanes->y_flip) : y;
}

/* Fewer than 32 codes, which no vector may read: there and back by way of the stack. */
S0_INLINE void s0_few8(const uint8_t *x, uint8_t *y, size_t bytes, S0Apply8 *apply, int flags, const S0Lanes8 *lanes) {
    uint8_t codes[S0_VECTOR_BYTES] = {0};
    s0_copy_few8(codes, x, bytes);
    s0_store8(codes, apply(s0_load8(codes), lanes, flags));
    s0_copy_few8(y, codes, bytes);
}

/* Planes follow each other in memory: what is fetched ahead of this one's end is the next one's beginning. */
S0_INLINE void s0_run8(const uint8_t *x, uint8_t *y, size_t bytes, S0Apply8 *apply, int flags, const S0Lanes8 *lanes) {
    enum { AHEAD = 512 };
    size_t tail = bytes - S0_VECTOR_BYTES, i = 0;
    __m256i last = apply(s0_load8(x + tail), lanes, flags);
    for (; i + S0_VECTOR_BYTES < tail; i += 2 * S0_VECTOR_BYTES) {
        _mm_prefetch((const char *)x + i + AHEAD, _MM_HINT_T0);
        s0_store8(y + i, apply(s0_load8(x + i), lanes, flags));
        s0_store8(y + i + S0_VECTOR_BYTES, apply(s0_load8(x + i + S0_VECTOR_BYTES), lanes, flags));
    }
    if (i < tail) {
        s0_store8(y + i, apply(s0_load8(x + i), lanes, flags));
    }
    s0_store8(y + tail, last);
}

/* The same past the caches. The first vector is written last too: it may lie across those that are aligned. */
S0_INLINE void s0_stream8(const uint8_t *x, uint8_t *y, size_t bytes, S0Apply8 *apply, int flags,
                          const S0Lanes8 *lanes) {
    size_t tail = bytes - S0_VECTOR_BYTES;
    __m256i first = apply(s0_load8(x), lanes, flags), last = apply(s0_load8(x + tail), lanes, flags);
    for (size_t i = s0_stream_lead_bytes(y); i < tail; i += S0_VECTOR_BYTES) {
        _mm256_stream_si256((__m256i *)(void *)(y + i), apply(s0_load8(x + i), lanes, flags));
    }
    _mm_sfence();
    s0_store8(y, first);
    s0_store8(y + tail, last);
}

/* One channel: the whole matrix, where the lanes take longer than a row. */
S0_INLINE void s0_plane8(const S0Rows *rows, S0Apply8 *apply, int flags, const S0Lanes8 *lanes) {
    S0Rows left = s0_rows_joined(rows, rows->columns);
    for (; left.rows > 0; s0_rows_step(&left)) {
        const uint8_t *x = (const uint8_t *)left.x;
        uint8_t *y = (uint8_t *)left.y;
        if (left.columns < S0_VECTOR_BYTES) {
            s0_few8(x, y, left.columns, apply, flags, lanes);
        } else if (left.streams) {
            s0_stream8(x, y, left.columns, apply, flags, lanes);
        } else {
            s0_run8(x, y, left.columns, apply, flags, lanes);
        }
    }
}

/* The channel of the next vector. */
S0_INLINE size_t s0_next8(size_t channel, size_t channels) {
    channel += channels >= S0_VECTOR_BYTES ? S0_VECTOR_BYTES : S0_VECTOR_BYTES % channels;
    return channel >= channels ? channel - channels : channel;
}

/* Vector number i of each strip. */
S0_INLINE void s0_across8(const S0Strips8 *strips, int count, size_t i, S0Apply8 *apply, int flags,
                          const S0Lanes8 *lanes) {
    for (int k = 0; k < count; k++) {
        s0_store8(strips->y + (size_t)k * strips->y_pitch_bytes + i,
                  apply(s0_load8(strips->x + (size_t)k * strips->x_pitch_bytes + i), lanes, flags));
    }
}

/* `count`, a constant, strips of 32 codes or more. */
S0_INLINE void s0_strips8(const S0Strips8 *given, int count, const S0Arrays8 *given_arrays, S0Load8 *load,
                          S0Apply8 *apply, int flags) {
    const S0Strips8 strips = *given;
    const S0Arrays8 arrays = *given_arrays;
    const size_t tail = strips.bytes - S0_VECTOR_BYTES;
    size_t channel = strips.first, i;
    S0Lanes8 lanes;
    __m256i last[S0_STRIPS];
    s0_share8(&lanes, arrays.codes);
    for (int k = 0; k < count; k++) {
        last[k] = s0_load8(strips.x + (size_t)k * strips.x_pitch_bytes + tail);
    }
    for (i = 0; i < tail; i += S0_VECTOR_BYTES) {
        load(&lanes, &arrays, channel, flags);
        s0_across8(&strips, count, i, apply, flags, &lanes);
        channel = s0_next8(channel, arrays.channels);
    }
    for (i -= tail; channel < i;
         channel += arrays.channels) { /* i: how far the last vector begins before where we are */
    }
    load(&lanes, &arrays, channel - i, flags);
    for (int k = 0; k < count; k++) {
        s0_store8(strips.y + (size_t)k * strips.y_pitch_bytes + tail, apply(last[k], &lanes, flags));
    }
}

/* S0_STREAM_STRIPS strips of whole lines: a line that is written in pieces, others between them, goes to memory in
 * pieces. */
S0_INLINE void s0_lines8(const S0Strips8 *given, const S0Arrays8 *given_arrays, S0Load8 *load, S0Apply8 *apply,
                         int flags) {
    const S0Strips8 strips = *given;
    const S0Arrays8 arrays = *given_arrays;
    size_t channel = strips.first;
    S0Lanes8 lanes;
    s0_share8(&lanes, arrays.codes);
    for (size_t i = 0; i < strips.bytes; i += S0_LINE_BYTES) {
        __m256i line[2][S0_STREAM_STRIPS];
        for (size_t half = 0; half < 2; half++) {
            load(&lanes, &arrays, channel, flags);
            for (size_t k = 0; k < S0_STREAM_STRIPS; k++) {
                const uint8_t *x = strips.x + k * strips.x_pitch_bytes + i + half * S0_VECTOR_BYTES;
                line[half][k] = apply(s0_load8(x), &lanes, flags);
            }
            channel = s0_next8(channel, arrays.channels);
        }
        for (size_t k = 0; k < S0_STREAM_STRIPS; k++) {
            __m256i *y = (__m256i *)(void *)(strips.y + k * strips.y_pitch_bytes + i);
            _mm256_stream_si256(y, line[0][k]);
            _mm256_stream_si256(y + 1, line[1][k]);
        }
    }
}

/* What an S0Walk8 does. */
S0_INLINE void s0_walk_strips8(const S0Strips8 *strips, int count, const S0Arrays8 *arrays, S0Load8 *load,
                               S0Apply8 *apply, int flags) {
    if ((flags & S0_STREAMS) != 0) {
        s0_lines8(strips, arrays, load, apply, flags);
    } else if (strips->bytes < S0_VECTOR_BYTES) {
        S0Lanes8 lanes;
        s0_share8(&lanes, arrays->codes);
        load(&lanes, arrays, strips->first, flags);
        for (int k = 0; k < count; k++) {
            s0_few8(strips->x + (size_t)k * strips->x_pitch_bytes, strips->y + (size_t)k * strips->y_pitch_bytes,
                    strips->bytes, apply, flags, &lanes);
        }
    } else if (count == S0_STRIPS) {
        s0_strips8(strips, S0_STRIPS, arrays, load, apply, flags);
    } else {
        s0_strips8(strips, 1, arrays, load, apply, flags);
    }
}

/* The parameters of array `k` from channel number `channel` on. */
S0_INLINE const uint8_t *s0_at8(const S0Arrays8 *arrays, int k, size_t channel, size_t size) {
    return channel < arrays->seam_begins ? arrays->whole[k] + channel * size
                                         : arrays->seams[k].bytes + (channel - arrays->seam_begins) * size;
}

#endif
#endif
