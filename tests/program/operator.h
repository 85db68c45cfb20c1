/* One operator, drawn with its map: as a graph, and as what comes out of each input by loops over the file's order. The
 * references know nothing of plans, layouts and commands. */
#ifndef S0_TESTS_PROGRAM_OPERATOR_H
#define S0_TESTS_PROGRAM_OPERATOR_H

#include "support/random.h"
#include "support/work.h"

#include <stdarg.h>

enum { OPERATOR_RANK = 4, OPERATOR_MOST = 4096 };

typedef struct {
    uint64_t *seed;
    Work *work;
    const char *graph; /* behind the first line */
    uint32_t in_count, out_count;
    int8_t in[OPERATOR_MOST];
    int8_t out[OPERATOR_MOST]; /* what is expected */
} Operator;

static inline uint64_t below(Operator *o, uint64_t limit) {
    return random_below(o->seed, limit);
}

static inline bool one_in(Operator *o, uint64_t count) {
    return below(o, count) == 0;
}

/* Adds a line, or a part of one. */
static inline void tell(Operator *o, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    o->graph = arena_text(&o->work->keep, "%s%s", o->graph == NULL ? "" : o->graph, text);
}

static inline void tell_list(Operator *o, const uint32_t *numbers, uint32_t count, const char *between) {
    for (uint32_t k = 0; k < count; k++) {
        tell(o, "%s%u", k == 0 ? "" : between, numbers[k]);
    }
}

static inline uint32_t product(const uint32_t *dim, uint32_t rank) {
    uint32_t count = 1;
    for (uint32_t k = 0; k < rank; k++) {
        count *= dim[k];
    }
    return count;
}

/* Row-major index of an element, and back. */
static inline uint32_t flat_index(const uint32_t *index, const uint32_t *dim, uint32_t rank) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < rank; k++) {
        at = at * dim[k] + index[k];
    }
    return at;
}

static inline void index_of(uint32_t at, const uint32_t *dim, uint32_t rank, uint32_t *index) {
    for (uint32_t k = rank; k-- > 0;) {
        index[k] = at % dim[k];
        at /= dim[k];
    }
}

/* A map of at most `most` elements, drawn, as input x. */
static inline void draw_input(Operator *o, uint32_t dim[OPERATOR_RANK], uint32_t rank, const char *quant) {
    o->in_count = product(dim, rank);
    assert_true(o->in_count <= OPERATOR_MOST);
    for (uint32_t k = 0; k < o->in_count; k++) {
        o->in[k] = (int8_t)(below(o, 256) - 128);
    }
    tell(o, "format tflite\ninput x int8[");
    tell_list(o, dim, rank, ",");
    tell(o, "] %s\n", quant);
}

/* ---- What moves */

#define SAME_CODES "scale=0.25 zero=3"

/* The factors of a map, shared out anew. */
static inline void draw_reshape(Operator *o) {
    static const uint32_t factors[] = {2, 2, 3, 5, 2, 3};
    uint32_t from[OPERATOR_RANK] = {1, 1, 1, 1}, to[OPERATOR_RANK] = {1, 1, 1, 1};
    uint32_t rank = 1 + (uint32_t)below(o, OPERATOR_RANK), other = 1 + (uint32_t)below(o, OPERATOR_RANK);
    for (uint32_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        from[below(o, rank)] *= factors[k];
        to[below(o, other)] *= factors[k];
    }
    draw_input(o, from, rank, SAME_CODES);
    tell(o, "const s int32[%u] = ", other);
    tell_list(o, to, other, " ");
    tell(o, "\nvalue y int8 " SAME_CODES "\nnode Reshape r: x s -> y\noutput y\n");
    o->out_count = o->in_count;
    memcpy(o->out, o->in, o->in_count);
}

static inline void draw_transpose(Operator *o) {
    uint32_t dim[OPERATOR_RANK], to[OPERATOR_RANK], perm[OPERATOR_RANK] = {0}, at[OPERATOR_RANK], from[OPERATOR_RANK];
    uint32_t rank = 2 + (uint32_t)below(o, 3);
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t place = (uint32_t)below(o, k + 1);
        dim[k] = 1 + (uint32_t)below(o, k == 0 ? 2 : 12);
        perm[k] = perm[place];
        perm[place] = k;
    }
    draw_input(o, dim, rank, SAME_CODES);
    tell(o, "const p int32[%u] = ", rank);
    tell_list(o, perm, rank, " ");
    tell(o, "\nvalue y int8 " SAME_CODES "\nnode Transpose t: x p -> y\noutput y\n");
    for (uint32_t k = 0; k < rank; k++) {
        to[k] = dim[perm[k]];
    }
    o->out_count = o->in_count;
    for (uint32_t k = 0; k < o->out_count; k++) {
        index_of(k, to, rank, at);
        for (uint32_t axis = 0; axis < rank; axis++) {
            from[perm[axis]] = at[axis];
        }
        o->out[k] = o->in[flat_index(from, dim, rank)];
    }
}

#endif
