/* A matrix of 8-bit codes, channel last, as strips that begin with the same channel. See codes8_avx2.h. */
#include "kern/codes8_avx2.h"

#if defined(__x86_64__)

void s0_copy_few8(uint8_t *to, const uint8_t *from, size_t bytes) {
    size_t at = 0;
    if ((bytes & 16) != 0) {
        _mm_storeu_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
        at = 16;
    }
    if ((bytes & 8) != 0) {
        _mm_storeu_si64(to + at, _mm_loadu_si64(from + at));
        at += 8;
    }
    if ((bytes & 4) != 0) {
        _mm_storeu_si32(to + at, _mm_loadu_si32(from + at));
        at += 4;
    }
    for (; at < bytes; at++) {
        to[at] = from[at];
    }
}

/* repeat() of 16 bytes or fewer, by a look-up: lane number k takes byte k % bytes. */
static void repeat_few(uint8_t *to, const uint8_t *from, uint8_t bytes, size_t most) {
    const __m128i count = _mm_set1_epi8((char)bytes), last = _mm_set1_epi8((char)(bytes - 1));
    const __m128i step = _mm_set1_epi8((char)(16 % bytes));
    uint8_t period[16] = {0}, number[16];
    for (uint8_t k = 0, of = 0; k < 16; k++, of = (uint8_t)(of + 1 < bytes ? of + 1 : 0)) {
        number[k] = of;
    }
    s0_copy_few8(period, from, bytes);
    __m128i numbers = _mm_loadu_si128((const __m128i *)(const void *)number);
    __m128i pattern = _mm_loadu_si128((const __m128i *)(const void *)period);
    for (size_t done = 0; done < most; done += 16) {
        _mm_storeu_si128((__m128i *)(void *)(to + done), _mm_shuffle_epi8(pattern, numbers));
        numbers = _mm_add_epi8(numbers, step);
        numbers = _mm_sub_epi8(numbers, _mm_and_si128(_mm_cmpgt_epi8(numbers, last), count));
    }
}

/* Fills `most` bytes at `to`, and up to 124 more, with `bytes` that are at `from`, again and again; always from there:
 * what was just written in pieces is slow to read. */
static void repeat(uint8_t *to, const uint8_t *from, size_t bytes, size_t most) {
    size_t whole = bytes / S0_VECTOR_BYTES * S0_VECTOR_BYTES;
    if (bytes <= 16) {
        repeat_few(to, from, (uint8_t)bytes, most);
        return;
    }
    for (size_t done = 0; done < most; done += bytes) {
        for (size_t i = 0; i < whole; i += S0_VECTOR_BYTES) {
            s0_store8(to + done + i, s0_load8(from + i));
        }
        s0_copy_few8(to + done + whole, from + whole, bytes - whole);
    }
}

void s0_array8(S0Arrays8 *arrays, int k, const void *whole, size_t size) {
    const uint8_t *from = (const uint8_t *)whole;
    uint8_t *seam = arrays->seams[k].bytes;
    size_t all = arrays->channels * size, at = arrays->seam_begins * size;
    arrays->whole[k] = from;
    if (arrays->seam_begins == arrays->channels) {
        return;
    }
    if (arrays->channels >= S0_VECTOR_BYTES) { /* the seam: the last 32 and the first 32 */
        for (size_t i = 0; i < S0_VECTOR_BYTES * size; i += S0_VECTOR_BYTES) {
            s0_store8(seam + i, s0_load8(from + at + i));
            s0_store8(seam + S0_VECTOR_BYTES * size + i, s0_load8(from + i));
        }
        return;
    }
    repeat(seam, from, all, S0_SEAM * size);
}

void s0_arrays8(S0Arrays8 *arrays, const S0Rows *rows, size_t channels, const S0Bytes *codes) {
    int whole = channels % S0_VECTOR_BYTES == 0 && !rows->streams;
    arrays->channels = channels;
    arrays->codes = codes;
    arrays->seam_begins = whole ? channels : channels < S0_VECTOR_BYTES ? 0 : channels - S0_VECTOR_BYTES;
}

/* How many rows that touch make a strip. */
typedef struct {
    size_t step;   /* rows of a multiple of 32 bytes; a power of 2 */
    size_t wanted; /* so many that a strip's ends are cheap, and so few that all strips stay near */
} StripRows;

/* A multiple of 32 bytes, so that strips begin as x and y do, which may be aligned. Of rows that are one by themselves
 * an odd number, so that strips of rows of 2^k bytes do not meet on the same lines of the cache. */
static StripRows strip_rows(size_t channels) {
    enum { ENOUGH = 2048 };
    size_t lowest_bit = channels & (~channels + 1), wanted = ENOUGH / channels;
    StripRows rows = {.step = lowest_bit < S0_VECTOR_BYTES ? S0_VECTOR_BYTES / lowest_bit : 1};
    rows.wanted = rows.step == 1 ? wanted | 1 : (wanted & ~(rows.step - 1)) + rows.step;
    return rows;
}

/* Where the strips share `most` rows each at most. */
static size_t strip_rows_of(const StripRows *rows, size_t most) {
    if (most >= rows->wanted) {
        return rows->wanted;
    }
    return most >= rows->step ? most & ~(rows->step - 1) : most;
}

/* Rows that touch, all of them one strip. */
static void walk_touching(const S0Strips8 *all, size_t rows, const S0Arrays8 *arrays, S0Walk8 *walk) {
    const size_t channels = arrays->channels;
    S0Strips8 strips = *all;
    if (rows >= S0_STRIPS) {
        StripRows many = strip_rows(channels);
        size_t of_one;
        while ((of_one = strip_rows_of(&many, rows / S0_STRIPS)) * channels >= S0_VECTOR_BYTES) {
            strips.bytes = strips.x_pitch_bytes = strips.y_pitch_bytes = of_one * channels;
            walk(&strips, S0_STRIPS, arrays);
            strips.x += S0_STRIPS * strips.bytes;
            strips.y += S0_STRIPS * strips.bytes;
            rows -= S0_STRIPS * of_one;
        }
    }
    if (rows > 0) {
        strips.bytes = rows * channels;
        walk(&strips, 1, arrays);
    }
}

/* The next `bytes` of one strip in the usual way. */
static void walk_some(S0Strips8 *left, size_t bytes, const S0Arrays8 *arrays, S0Walk8 *walk) {
    S0Strips8 some = *left;
    some.bytes = bytes;
    if (bytes > 0) {
        walk(&some, 1, arrays);
    }
    left->x += bytes;
    left->y += bytes;
    left->bytes -= bytes;
    left->first = (left->first + bytes) % arrays->channels;
}

/* The same past the caches: strips of whole lines, what comes before and after them in the usual way. */
static void walk_stream(const S0Strips8 *all, const S0Arrays8 *arrays, S0Walk8 *walk, S0Walk8 *streams) {
    size_t lead = (size_t)(-(uintptr_t)all->y % S0_LINE_BYTES), lines = arrays->channels * S0_LINE_BYTES;
    S0Strips8 left = *all;
    walk_some(&left, lead, arrays, walk);
    S0Strips8 strips = left;
    strips.bytes = left.bytes / (S0_STREAM_STRIPS * lines) * lines;
    strips.x_pitch_bytes = strips.y_pitch_bytes = strips.bytes;
    streams(&strips, S0_STREAM_STRIPS, arrays);
    left.x += S0_STREAM_STRIPS * strips.bytes;
    left.y += S0_STREAM_STRIPS * strips.bytes;
    walk_some(&left, left.bytes - S0_STREAM_STRIPS * strips.bytes, arrays, walk);
    _mm_sfence();
}

static void walk_apart(S0Strips8 strips, size_t rows, const S0Arrays8 *arrays, S0Walk8 *walk) {
    while (rows > 0) {
        size_t count = rows < S0_STRIPS ? 1 : S0_STRIPS;
        walk(&strips, (int)count, arrays);
        strips.x += count * strips.x_pitch_bytes;
        strips.y += count * strips.y_pitch_bytes;
        rows -= count;
    }
}

void s0_walk8(const S0Rows *rows, const S0Arrays8 *arrays, S0Walk8 *walk, S0Walk8 *streams) {
    S0Strips8 strips = {
        .x = (const uint8_t *)rows->x,
        .y = (uint8_t *)rows->y,
        .x_pitch_bytes = rows->x_pitch_bytes,
        .y_pitch_bytes = rows->y_pitch_bytes,
        .bytes = arrays->channels,
    };
    if (!s0_rows_touch(rows, arrays->channels)) {
        walk_apart(strips, rows->rows, arrays, walk);
        return;
    }
    strips.bytes *= rows->rows;
    if (rows->streams && strips.bytes >= S0_LINE_BYTES) {
        walk_stream(&strips, arrays, walk, streams);
    } else {
        walk_touching(&strips, rows->rows, arrays, walk);
    }
}
#endif
