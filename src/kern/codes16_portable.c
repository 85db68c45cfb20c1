/* Codes of 16 bits in C99: chunks of a row are widened, computed as fixed.h does it, and narrowed. */
#include "kern/codes16.h"
#include "kern/subnormal.h"

S0_SUBNORMAL_BEGIN

enum { CHUNK = 256 };

/* A chunk of a row, and the number of the parameters that its first element takes. */
typedef struct {
    const unsigned char *x;
    unsigned char *y;
    size_t column, count;
} Chunk;

/* Codes may lie at odd addresses. */
static void read_codes(const unsigned char *x, int16_t *code, size_t count) {
    unsigned char *bytes = (unsigned char *)code;
    size_t i;
    for (i = 0; i < count * sizeof *code; i++) {
        bytes[i] = x[i];
    }
}

static void write_codes(unsigned char *y, const int32_t *code, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        const int16_t narrow = (int16_t)code[i];
        const unsigned char *bytes = (const unsigned char *)&narrow;
        y[i * sizeof narrow] = bytes[0];
        y[i * sizeof narrow + 1] = bytes[1];
    }
}

/* The chunk of row `row` that begins with element `column`. */
static Chunk chunk_of(const S0Rows *rows, size_t row, size_t column) {
    const size_t left = rows->columns - column, at = column * sizeof(int16_t);
    Chunk chunk;
    chunk.x = (const unsigned char *)rows->x + row * rows->x_pitch_bytes + at;
    chunk.y = (unsigned char *)rows->y + row * rows->y_pitch_bytes + at;
    chunk.column = column;
    chunk.count = left < CHUNK ? left : CHUNK;
    return chunk;
}

/* From one element to the next, the number of its parameters grows by 0 or 1. */
static size_t step_of(size_t channels) {
    return channels == 1 ? 0 : 1;
}

static void reals_of_chunk(Chunk chunk, const S0Reals16 *reals, float *value) {
    const size_t step = step_of(reals->channels), first = step * chunk.column;
    int16_t x[CHUNK];
    size_t i;
    read_codes(chunk.x, x, chunk.count);
    for (i = 0; i < chunk.count; i++) {
        const size_t c = first + step * i;
        value[i] = ((float)x[i] * reals->weight[c] + reals->offset[c]) * reals->scale[c] + reals->bias[c];
    }
}

static void round_chunk(Chunk chunk, float *value, S0Codes codes) {
    int32_t code[CHUNK];
    s0_requantise_real_all(value, code, (uint32_t)chunk.count, S0_ROUND_HALF_EVEN, codes);
    write_codes(chunk.y, code, chunk.count);
}

static void real_chunk(Chunk chunk, const S0Reals16 *reals) {
    float value[CHUNK];
    reals_of_chunk(chunk, reals, value);
    round_chunk(chunk, value, reals->codes);
}

static void quotient_chunk(Chunk chunk, const S0Quotients16 *quotients) {
    const size_t step = step_of(quotients->reals.channels), first = step * chunk.column;
    float value[CHUNK];
    size_t i;
    reals_of_chunk(chunk, &quotients->reals, value);
    for (i = 0; i < chunk.count; i++) {
        value[i] /= quotients->divisor[first + step * i];
    }
    round_chunk(chunk, value, quotients->reals.codes);
}

void s0_real16_portable(const S0Rows *rows, const S0Reals16 *reals) {
    size_t row, column;
    for (row = 0; row < rows->rows; row++) {
        for (column = 0; column < rows->columns; column += CHUNK) {
            real_chunk(chunk_of(rows, row, column), reals);
        }
    }
}

void s0_real16_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    s0_each_plane16(first, plane_bytes, reals, s0_real16_portable);
}

void s0_quotient16_portable(const S0Rows *rows, const S0Quotients16 *quotients) {
    size_t row, column;
    for (row = 0; row < rows->rows; row++) {
        for (column = 0; column < rows->columns; column += CHUNK) {
            quotient_chunk(chunk_of(rows, row, column), quotients);
        }
    }
}

/* The accumulator fits 32 bits; x * weight alone may not. */
static int32_t accumulate(int16_t x, int32_t weight, int32_t offset) {
    return (int32_t)((int64_t)x * weight + offset);
}

static void fixed_chunk(Chunk chunk, const S0Fixed16 *fixed) {
    int16_t x[CHUNK];
    int32_t code[CHUNK];
    size_t i;
    read_codes(chunk.x, x, chunk.count);
    if (fixed->channels == 1) {
        for (i = 0; i < chunk.count; i++) {
            code[i] = accumulate(x[i], fixed->weight[0], fixed->offset[0]);
        }
        s0_requantise_all(code, (uint32_t)chunk.count, fixed->factor[0], fixed->rounding, fixed->codes);
    } else {
        for (i = 0; i < chunk.count; i++) {
            const size_t c = chunk.column + i;
            code[i] = s0_requantise(accumulate(x[i], fixed->weight[c], fixed->offset[c]), fixed->factor[c],
                                    fixed->rounding, fixed->codes);
        }
    }
    write_codes(chunk.y, code, chunk.count);
}

void s0_fixed16_portable(const S0Rows *rows, const S0Fixed16 *fixed) {
    size_t row, column;
    for (row = 0; row < rows->rows; row++) {
        for (column = 0; column < rows->columns; column += CHUNK) {
            fixed_chunk(chunk_of(rows, row, column), fixed);
        }
    }
}

S0_SUBNORMAL_END
