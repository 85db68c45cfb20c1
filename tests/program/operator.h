/* One operator, drawn with its map: as a graph, and as what comes out of each input by loops over the file's order. The
 * references know nothing of plans, layouts and commands. */
#ifndef S0_TESTS_PROGRAM_OPERATOR_H
#define S0_TESTS_PROGRAM_OPERATOR_H

#include "support/random.h"
#include "support/work.h"

#include <math.h>
#include <stdarg.h>

enum { OPERATOR_RANK = 4, OPERATOR_MOST = 4096 };
enum { MOVED_RANK = 6 }; /* of what moves and what is reduced: several axes are one dimension */

typedef struct {
    uint64_t *seed;
    Work *work;
    const char *graph; /* behind the first line */
    bool is_onnx;
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
static inline void draw_input(Operator *o, const uint32_t *dim, uint32_t rank, const char *quant) {
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
    uint32_t from[MOVED_RANK] = {1, 1, 1, 1, 1, 1}, to[MOVED_RANK] = {1, 1, 1, 1, 1, 1};
    uint32_t rank = 1 + (uint32_t)below(o, MOVED_RANK), other = 1 + (uint32_t)below(o, MOVED_RANK);
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

/* Extents of a map of few elements, whatever its rank. */
static inline void draw_extents(Operator *o, uint32_t *dim, uint32_t rank, uint32_t most) {
    for (uint32_t k = 0; k < rank; k++) {
        dim[k] = 1 + (uint32_t)below(o, k == 0 ? 2 : rank > OPERATOR_RANK ? 4 : most);
    }
}

/* Elements and extents in a drawn order of the axes, which is told as constant `name`. */
static inline void draw_order(Operator *o, const char *name, uint32_t *dim, uint32_t rank, int8_t *codes) {
    uint32_t perm[MOVED_RANK] = {0}, to[MOVED_RANK], at[MOVED_RANK], from[MOVED_RANK], count = product(dim, rank);
    int8_t before[OPERATOR_MOST];
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t place = (uint32_t)below(o, k + 1);
        perm[k] = perm[place];
        perm[place] = k;
    }
    tell(o, "const %s int32[%u] = ", name, rank);
    tell_list(o, perm, rank, " ");
    for (uint32_t k = 0; k < rank; k++) {
        to[k] = dim[perm[k]];
    }
    memcpy(before, codes, count);
    for (uint32_t k = 0; k < count; k++) {
        index_of(k, to, rank, at);
        for (uint32_t axis = 0; axis < rank; axis++) {
            from[perm[axis]] = at[axis];
        }
        codes[k] = before[flat_index(from, dim, rank)];
    }
    memcpy(dim, to, rank * sizeof *dim);
}

/* An input of which all that follows is a move; its rank. */
static inline uint32_t draw_moved(Operator *o, uint32_t dim[MOVED_RANK]) {
    uint32_t rank = 1 + (uint32_t)below(o, MOVED_RANK);
    draw_extents(o, dim, rank, 12);
    draw_input(o, dim, rank, SAME_CODES);
    o->out_count = o->in_count;
    memcpy(o->out, o->in, o->in_count);
    return rank;
}

static inline void draw_transpose(Operator *o) {
    uint32_t dim[MOVED_RANK], rank = draw_moved(o, dim);
    draw_order(o, "p", dim, rank, o->out);
    tell(o, "\nvalue y int8 " SAME_CODES "\nnode Transpose t: x p -> y\noutput y\n");
}

/* What is between them may stay in local memory. */
static inline void draw_transposes(Operator *o) {
    uint32_t dim[MOVED_RANK], rank = draw_moved(o, dim);
    draw_order(o, "p", dim, rank, o->out);
    tell(o, "\nvalue z int8 " SAME_CODES "\nnode Transpose t: x p -> z\n");
    draw_order(o, "q", dim, rank, o->out);
    tell(o, "\nvalue y int8 " SAME_CODES "\nnode Transpose u: z q -> y\noutput y\n");
}

/* ---- PAD */

/* Of rows and columns; images may be several axes. */
static inline void draw_pad(Operator *o) {
    uint32_t dim[MOVED_RANK], before[MOVED_RANK] = {0}, to[MOVED_RANK], at[MOVED_RANK];
    uint32_t rank = OPERATOR_RANK + (uint32_t)below(o, MOVED_RANK - OPERATOR_RANK + 1);
    bool has_value = one_in(o, 2);
    for (uint32_t k = 0; k < rank; k++) {
        dim[k] = 1 + (uint32_t)below(o, k + 3 < rank ? 2 : rank > OPERATOR_RANK ? 3 : k + 1 < rank ? 7 : 12);
    }
    draw_input(o, dim, rank, SAME_CODES);
    tell(o, "const p int32[%u,2] =", rank);
    for (uint32_t k = 0; k < rank; k++) {
        bool is_padded = k + 3 == rank || k + 2 == rank;
        uint32_t behind = is_padded ? (uint32_t)below(o, 3) : 0;
        before[k] = is_padded ? (uint32_t)below(o, 3) : 0;
        to[k] = before[k] + dim[k] + behind;
        tell(o, " %u %u", before[k], behind);
    }
    tell(o, "%s\nvalue y int8 " SAME_CODES "\nnode Pad d: x p%s -> y\noutput y\n",
         has_value ? "\nconst v int8[] = -100" : "", has_value ? " v" : "");
    o->out_count = product(to, rank);
    assert_true(o->out_count <= OPERATOR_MOST);
    for (uint32_t k = 0; k < o->out_count; k++) {
        bool is_inside = true;
        index_of(k, to, rank, at);
        for (uint32_t axis = 0; axis < rank; axis++) {
            is_inside = is_inside && at[axis] >= before[axis] && at[axis] < before[axis] + dim[axis];
            at[axis] -= before[axis];
        }
        o->out[k] = is_inside ? o->in[flat_index(at, dim, rank)] : has_value ? -100 : 3;
    }
}

/* ---- Reductions: scales 1/2 and 1/4, so that a code counts twice: the factor is a power of two, and the mean of
 * `count` is floor(2^31 * 2^bits / count) / 2^(31 + bits) times the sum, ties up at 2^31, then away from zero
 * (docs/semantics.md) */

enum { REDUCED_IN_ZERO = -7, REDUCED_OUT_ZERO = 5 };

static inline int64_t rounded_away(int64_t value, uint32_t shift) {
    int64_t half = shift == 0 ? 0 : (int64_t)1 << (shift - 1);
    return value < 0 ? -((-value + half) >> shift) : (value + half) >> shift;
}

/* 2 is 2^30 * 2^(2 - 31). */
static inline int64_t twice_over(int64_t sum, uint32_t count) {
    int32_t shift = 2;
    int64_t multiplier = (int64_t)1 << 30;
    while (count >> 1 >> (2 - shift) != 0) {
        shift--;
    }
    multiplier = (multiplier << (2 - shift)) / count;
    sum *= (int64_t)1 << (shift > 0 ? shift : 0);
    int64_t product = sum * multiplier + ((int64_t)1 << 30);
    int64_t high = product >= 0 ? product >> 31 : -((-product + ((int64_t)1 << 31) - 1) >> 31);
    return rounded_away(high, shift < 0 ? (uint32_t)-shift : 0);
}

static inline int8_t limited(int64_t code) {
    return (int8_t)(code < -128 ? -128 : code > 127 ? 127 : code);
}

typedef enum { REDUCES_MEAN, REDUCES_SUM, REDUCES_MAX } Reduces;

/* All that goes into each output. */
static inline void reduce(Operator *o, const uint32_t *dim, uint32_t rank, uint32_t mask, Reduces reduces) {
    static int64_t sum[OPERATOR_MOST], most[OPERATOR_MOST];
    uint32_t to[MOVED_RANK], at[MOVED_RANK];
    for (uint32_t k = 0; k < rank; k++) {
        to[k] = (mask >> k & 1) != 0 ? 1 : dim[k];
    }
    o->out_count = product(to, rank);
    for (uint32_t k = 0; k < o->out_count; k++) {
        sum[k] = 0;
        most[k] = -128;
    }
    for (uint32_t k = 0; k < o->in_count; k++) {
        index_of(k, dim, rank, at);
        for (uint32_t axis = 0; axis < rank; axis++) {
            at[axis] = (mask >> axis & 1) != 0 ? 0 : at[axis];
        }
        uint32_t place = flat_index(at, to, rank);
        sum[place] += o->in[k] - REDUCED_IN_ZERO;
        most[place] = o->in[k] > most[place] ? o->in[k] : most[place];
    }
    uint32_t count = reduces == REDUCES_MEAN ? o->in_count / o->out_count : 1;
    for (uint32_t k = 0; k < o->out_count; k++) {
        o->out[k] = reduces == REDUCES_MAX ? (int8_t)most[k] : limited(twice_over(sum[k], count) + REDUCED_OUT_ZERO);
    }
}

static inline void draw_reduction(Operator *o, Reduces reduces) {
    static const char *const ops[] = {"ReduceMean", "ReduceSum", "ReduceMax"};
    uint32_t dim[MOVED_RANK], rank = 2 + (uint32_t)below(o, MOVED_RANK - 1), mask = 0;
    draw_extents(o, dim, rank, 9);
    for (uint32_t k = 0; k < rank; k++) {
        mask |= (uint32_t)(k > 0 && one_in(o, 2)) << k;
    }
    draw_input(o, dim, rank, "scale=0.5 zero=-7");
    uint32_t count = 0, axes[MOVED_RANK];
    for (uint32_t k = 0; k < rank; k++) {
        if ((mask >> k & 1) != 0) {
            axes[count++] = k;
        }
    }
    tell(o, "const a int32[%u] = ", count);
    tell_list(o, axes, count, " ");
    tell(o, "\nvalue y int8 %s\nnode %s r: x a -> y keepdims=%u\noutput y\n",
         reduces == REDUCES_MAX ? "scale=0.5 zero=-7" : "scale=0.25 zero=5", ops[reduces], (unsigned)below(o, 2));
    reduce(o, dim, rank, mask, reduces);
}

static inline void draw_mean(Operator *o) {
    draw_reduction(o, REDUCES_MEAN);
}

static inline void draw_sum(Operator *o) {
    draw_reduction(o, REDUCES_SUM);
}

static inline void draw_max(Operator *o) {
    draw_reduction(o, REDUCES_MAX);
}

/* ---- A fully connected layer of a whole image: scales of 1, so that the sum is the code */

static inline void draw_flat(Operator *o) {
    uint32_t dim[OPERATOR_RANK] = {1, 1 + (uint32_t)below(o, 5), 1 + (uint32_t)below(o, 5), 1 + (uint32_t)below(o, 8)};
    uint32_t rows = 1 + (uint32_t)below(o, 20), inputs = product(dim, OPERATOR_RANK);
    int64_t sum[20] = {0};
    draw_input(o, dim, OPERATOR_RANK, "scale=1 zero=2");
    tell(o, "const w int8[%u,%u] scale=1 zero=0 =", rows, inputs);
    for (uint32_t k = 0; k < rows * inputs; k++) {
        int32_t weight = one_in(o, 4) ? (int32_t)below(o, 3) - 1 : 0;
        sum[k / inputs] += weight * (o->in[k % inputs] - 2);
        tell(o, " %d", weight);
    }
    tell(o, "\nvalue y int8 scale=1 zero=-3\nnode tflite.FULLY_CONNECTED f: x w -> y\noutput y\n");
    o->out_count = rows;
    for (uint32_t k = 0; k < rows; k++) {
        o->out[k] = limited(sum[k] - 3);
    }
}

/* ---- ONNX: between Dequantize and Quantize. All scales are powers of two, so that float32 has every number: what
 * comes out is the real one, rounded to even. */

static inline int8_t rounded_even(int64_t sum, int64_t divisor, int32_t zero, bool is_relu) {
    int64_t floor = sum >= 0 ? sum / divisor : -((-sum + divisor - 1) / divisor), rest = 2 * (sum - floor * divisor);
    int64_t code = floor + (rest > divisor || (rest == divisor && floor % 2 != 0)) + zero;
    return limited(is_relu && code < zero ? zero : code);
}

/* As the rule for TFLite's maps, whose text begins with another line. */
static inline void draw_onnx_input(Operator *o, const uint32_t dim[OPERATOR_RANK], uint32_t rank) {
    o->is_onnx = true;
    o->in_count = product(dim, rank);
    assert_true(o->in_count <= OPERATOR_MOST);
    for (uint32_t k = 0; k < o->in_count; k++) {
        o->in[k] = (int8_t)(below(o, 256) - 128);
    }
    tell(o, "input x int8[");
    tell_list(o, dim, rank, ",");
    tell(o, "] scale=0.5 zero=-7\n");
}

typedef struct {
    uint32_t in[OPERATOR_RANK], out[OPERATOR_RANK], kernel[2], stride[2], pad[2], group, inputs;
    int8_t weight[OPERATOR_MOST];
    int32_t bias[64];
} Convolution;

static inline int64_t convolved(const Operator *o, const Convolution *c, const uint32_t at[OPERATOR_RANK]) {
    uint32_t first = at[1] / (c->out[1] / c->group) * c->inputs, from[OPERATOR_RANK] = {at[0], 0, 0, 0};
    int64_t sum = c->bias[at[1]];
    for (uint32_t k = 0; k < c->inputs * c->kernel[0] * c->kernel[1]; k++) {
        uint32_t tap[3], shape[] = {c->inputs, c->kernel[0], c->kernel[1]};
        index_of(k, shape, 3, tap);
        from[1] = first + tap[0];
        from[2] = at[2] * c->stride[0] + tap[1] - c->pad[0]; /* wraps around where it is padding */
        from[3] = at[3] * c->stride[1] + tap[2] - c->pad[1];
        if (from[2] < c->in[2] && from[3] < c->in[3]) {
            uint32_t weight = at[1] * c->inputs * c->kernel[0] * c->kernel[1] + k;
            sum += (int64_t)c->weight[weight] * (o->in[flat_index(from, c->in, OPERATOR_RANK)] + 7);
        }
    }
    return sum;
}

static inline void tell_conv(Operator *o, Convolution *c, bool is_relu) {
    tell(o, "const w int8[%u,%u,%u,%u] scale=0.5 zero=0 =", c->out[1], c->inputs, c->kernel[0], c->kernel[1]);
    for (uint32_t k = 0; k < c->out[1] * c->inputs * c->kernel[0] * c->kernel[1]; k++) {
        c->weight[k] = (int8_t)((int32_t)below(o, 21) - 10);
        tell(o, " %d", c->weight[k]);
    }
    tell(o, "\nconst b int32[%u] scale=0.25 zero=0 =", c->out[1]);
    for (uint32_t k = 0; k < c->out[1]; k++) {
        c->bias[k] = (int32_t)below(o, 401) - 200;
        tell(o, " %d", c->bias[k]);
    }
    tell(o, "\nvalue y int8 scale=4 zero=5\nnode Conv c: x w b -> y reals=\"float32\"%s group=%u",
         is_relu ? " activation=\"RELU\"" : "", c->group);
    tell(o, " kernel_shape=[%u,%u] strides=[%u,%u] pads=[%u,%u,%u,%u]\noutput y\n", c->kernel[0], c->kernel[1],
         c->stride[0], c->stride[1], c->pad[0], c->pad[1], c->pad[0], c->pad[1]);
}

static inline void draw_qdq_conv(Operator *o) {
    Convolution *c = arena_new(&o->work->keep, Convolution);
    bool is_relu = one_in(o, 2);
    c->group = 1 + (uint32_t)below(o, 3);
    c->inputs = 1 + (uint32_t)below(o, 3);
    c->in[0] = c->out[0] = 1 + (uint32_t)below(o, 2);
    c->in[1] = c->group * c->inputs;
    c->out[1] = c->group * (1 + (uint32_t)below(o, 4));
    for (uint32_t k = 0; k < 2; k++) {
        c->kernel[k] = 1 + (uint32_t)below(o, 3);
        c->stride[k] = 1 + (uint32_t)below(o, 2);
        c->pad[k] = (uint32_t)below(o, c->kernel[k]);
        c->in[2 + k] = c->kernel[k] + (uint32_t)below(o, 7);
        c->out[2 + k] = (c->in[2 + k] + 2 * c->pad[k] - c->kernel[k]) / c->stride[k] + 1;
    }
    draw_onnx_input(o, c->in, OPERATOR_RANK);
    tell_conv(o, c, is_relu);
    o->out_count = product(c->out, OPERATOR_RANK);
    for (uint32_t k = 0; k < o->out_count; k++) {
        uint32_t at[OPERATOR_RANK];
        index_of(k, c->out, OPERATOR_RANK, at);
        o->out[k] = rounded_even(convolved(o, c, at), 16, 5, is_relu); /* 0.5 * 0.5 / 4 */
    }
}

static inline void draw_qdq_gemm(Operator *o) {
    uint32_t dim[OPERATOR_RANK] = {1 + (uint32_t)below(o, 4), 1 + (uint32_t)below(o, 40)};
    uint32_t columns = 1 + (uint32_t)below(o, 30), inputs = dim[1];
    int64_t sum[4 * 30] = {0};
    bool is_transposed = one_in(o, 2);
    draw_onnx_input(o, dim, 2);
    tell(o, "const w int8[%u,%u] scale=0.5 zero=0 =", is_transposed ? columns : inputs,
         is_transposed ? inputs : columns);
    for (uint32_t k = 0; k < columns * inputs; k++) {
        int32_t weight = (int32_t)below(o, 21) - 10;
        uint32_t column = is_transposed ? k / inputs : k % columns, input = is_transposed ? k % inputs : k / columns;
        for (uint32_t row = 0; row < dim[0]; row++) {
            sum[row * columns + column] += (int64_t)weight * (o->in[row * inputs + input] + 7);
        }
        tell(o, " %d", weight);
    }
    tell(o, "\nvalue y int8 scale=4 zero=5\nnode Gemm g: x w -> y reals=\"float32\" transB=%d\noutput y\n",
         is_transposed);
    o->out_count = dim[0] * columns;
    for (uint32_t k = 0; k < o->out_count; k++) {
        o->out[k] = rounded_even(sum[k], 16, 5, false);
    }
}

/* Windows that follow one another, of a power of two elements. */
static inline void draw_qdq_mean(Operator *o) {
    uint32_t height = 1u << below(o, 3), width = 1u << below(o, 3), sum_at[OPERATOR_RANK];
    uint32_t out[OPERATOR_RANK] = {1 + (uint32_t)below(o, 2), 1 + (uint32_t)below(o, 10), 1 + (uint32_t)below(o, 3),
                                   1 + (uint32_t)below(o, 3)};
    uint32_t in[OPERATOR_RANK] = {out[0], out[1], out[2] * height, out[3] * width};
    int64_t *sum = arena_array(&o->work->keep, int64_t, product(out, OPERATOR_RANK));
    draw_onnx_input(o, in, OPERATOR_RANK);
    tell(o, "value y int8 scale=0.25 zero=5\nnode AveragePool p: x -> y reals=\"float32\" kernel_shape=[%u,%u] ",
         height, width);
    tell(o, "strides=[%u,%u]\noutput y\n", height, width);
    for (uint32_t k = 0; k < o->in_count; k++) {
        index_of(k, in, OPERATOR_RANK, sum_at);
        sum_at[2] /= height;
        sum_at[3] /= width;
        sum[flat_index(sum_at, out, OPERATOR_RANK)] += o->in[k] + 7;
    }
    o->out_count = product(out, OPERATOR_RANK);
    for (uint32_t k = 0; k < o->out_count; k++) {
        o->out[k] = rounded_even(2 * sum[k], (int64_t)height * width, 5, false);
    }
}

/* The codes of a map, with the record that Dequantize and Quantize leave, or without one. */
static inline void draw_qdq_max(Operator *o) {
    uint32_t in[OPERATOR_RANK], to[OPERATOR_RANK], at[OPERATOR_RANK], kernel[2], stride[2], pad[2], step[2];
    bool has_record = one_in(o, 2), is_global = one_in(o, 4);
    in[0] = to[0] = 1 + (uint32_t)below(o, 2);
    in[1] = to[1] = 1 + (uint32_t)below(o, 10);
    for (uint32_t k = 0; k < 2; k++) {
        step[k] = is_global ? 1 : 1 + (uint32_t)below(o, 2);
        kernel[k] = 1 + (uint32_t)below(o, 3);
        stride[k] = 1 + (uint32_t)below(o, 2);
        pad[k] = is_global || step[k] > 1 ? 0 : (uint32_t)below(o, kernel[k]);
        in[2 + k] = (kernel[k] - 1) * step[k] + 1 + (uint32_t)below(o, 7);
        kernel[k] = is_global ? in[2 + k] : kernel[k];
        to[2 + k] = (in[2 + k] + 2 * pad[k] - (kernel[k] - 1) * step[k] - 1) / stride[k] + 1;
    }
    o->is_onnx = true;
    o->in_count = product(in, OPERATOR_RANK);
    o->out_count = product(to, OPERATOR_RANK);
    for (uint32_t k = 0; k < o->in_count; k++) {
        o->in[k] = (int8_t)(below(o, 256) - 128);
    }
    const char *record = has_record ? " scale=0.5 zero=-7" : "";
    tell(o, "input x int8[");
    tell_list(o, in, OPERATOR_RANK, ",");
    tell(o, "]%s\nvalue y int8%s\n", record, record);
    if (is_global) {
        tell(o, "node GlobalMaxPool p: x -> y\noutput y\n");
    } else {
        tell(o, "node MaxPool p: x -> y kernel_shape=[%u,%u] strides=[%u,%u] dilations=[%u,%u] pads=[%u,%u,%u,%u]\n",
             kernel[0], kernel[1], stride[0], stride[1], step[0], step[1], pad[0], pad[1], pad[0], pad[1]);
        tell(o, "output y\n");
    }
    for (uint32_t k = 0; k < o->out_count; k++) {
        index_of(k, to, OPERATOR_RANK, at);
        o->out[k] = -128;
        for (uint32_t tap = 0; tap < kernel[0] * kernel[1]; tap++) {
            uint32_t y = at[2] * stride[0] + tap / kernel[1] * step[0] - pad[0]; /* wraps where it is padding */
            uint32_t x = at[3] * stride[1] + tap % kernel[1] * step[1] - pad[1];
            const uint32_t from[] = {at[0], at[1], y, x};
            int8_t code = y < in[2] && x < in[3] ? o->in[flat_index(from, in, OPERATOR_RANK)] : -128;
            o->out[k] = code > o->out[k] ? code : o->out[k];
        }
    }
}

/* In long double, far from the middle of two codes. */
static inline void draw_qdq_softmax(Operator *o) {
    uint32_t dim[OPERATOR_RANK] = {1 + (uint32_t)below(o, 4), 1 + (uint32_t)below(o, 60)};
    draw_onnx_input(o, dim, 2);
    tell(o, "value y int8 scale=0.00390625 zero=-128\nnode Softmax@13 s: x -> y reals=\"float32\"\noutput y\n");
    o->out_count = o->in_count;
    for (uint32_t row = 0; row < dim[0]; row++) {
        const int8_t *in = o->in + row * dim[1];
        long double sum = 0;
        for (uint32_t k = 0; k < dim[1]; k++) {
            sum += expl(0.5L * in[k]);
        }
        for (uint32_t k = 0; k < dim[1]; k++) {
            o->out[row * dim[1] + k] = limited((int64_t)rintl(256 * expl(0.5L * in[k]) / sum) - 128);
        }
    }
}

#endif
