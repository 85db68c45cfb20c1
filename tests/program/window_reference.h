/* What a drawn graph of windows computes: loops over every element, every tap and every channel, by TFLite's formulas.
 * Fixed point is exact arithmetic of tests/kern/exact.h. It knows nothing of plans, views, tiles, and nothing of
 * src/kern.
 *
 * Sources: tensorflow/lite/kernels/kernel_util.cc, internal/reference/integer_ops/conv.h, depthwise_conv.h,
 * fully_connected.h, pooling.h, internal/reference/softmax.h; gemmlowp fixedpoint/fixedpoint.h */
#ifndef S0_TESTS_PROGRAM_WINDOW_REFERENCE_H
#define S0_TESTS_PROGRAM_WINDOW_REFERENCE_H

#include "kern/exact.h"
#include "program/drawn_windows.h"

#include "kern/semantics.h"

/* Of one operator. */
typedef struct {
    const DrawnWindow *node;
    const WindowMap *from, *to;
    DType dtype;
    Semantics semantics;
    const int32_t *in; /* codes, n h w c */
    int32_t *out;
    int32_t lo, hi;    /* of the result */
    bool has_no_value; /* a sum passes 32 bits */
} Computing;

/* Codes of an index of the result: where, and of which channel. */
typedef struct {
    uint64_t n, y, x, c;
} Place;

static inline int32_t code_at(const Computing *c, uint64_t n, uint64_t y, uint64_t x, uint64_t channel) {
    const uint64_t *extent = c->from->extent;
    return c->in[((n * extent[MAP_H] + y) * extent[MAP_W] + x) * extent[MAP_C] + channel];
}

/* Negative or beyond the map where it is padding. */
static inline int64_t row_of(const WindowSlide *slide, uint64_t index, uint64_t tap) {
    return (int64_t)(index * slide->stride + tap * slide->dilation) - (int64_t)slide->before;
}

static inline bool is_inside(const Computing *c, int64_t y, int64_t x) {
    return y >= 0 && x >= 0 && y < (int64_t)c->from->extent[MAP_H] && x < (int64_t)c->from->extent[MAP_W];
}

/* ---- Sums of products */

static inline int32_t weight_at(const Computing *c, uint64_t o, uint64_t i, uint64_t h, uint64_t w) {
    const DrawnWindow *node = c->node;
    uint64_t taps_w = node->slide[1].taps, spot = h * taps_w + w;
    uint64_t place = node->op == WINDOW_DEPTHWISE ? spot * c->to->extent[MAP_C] + o
                                                  : (o * node->slide[0].taps * taps_w + spot) * node->group_src + i;
    uint32_t bits = dtype_bits(node->weight_type);
    int32_t code = (int32_t)packed_read(node->weights, place, bits);
    bool is_negative = node->weight_type != DTYPE_U8 && code >> (bits - 1) != 0;
    return code - (is_negative ? 1 << bits : 0) - node->weights_zero;
}

static inline int64_t sum_at(const Computing *c, const Place *p) {
    const DrawnWindow *node = c->node;
    int64_t sum = node->bias == NULL ? 0 : node->bias[p->c];
    for (uint64_t h = 0; h < node->slide[0].taps; h++) {
        for (uint64_t w = 0; w < node->slide[1].taps; w++) {
            int64_t y = row_of(&node->slide[0], p->y, h), x = row_of(&node->slide[1], p->x, w);
            for (uint64_t i = 0; is_inside(c, y, x) && i < node->group_src; i++) {
                uint64_t channel = p->c / node->group_dst * node->group_src + i;
                sum += (int64_t)(code_at(c, p->n, (uint64_t)y, (uint64_t)x, channel) - c->from->zero) *
                       weight_at(c, p->c, i, h, w);
            }
        }
    }
    return sum;
}

/* The two scales are multiplied in float32 by kernels of uint8 and of fully connected layers with one scale. */
static inline double factor_of(const Computing *c, uint64_t channel) {
    const DrawnWindow *node = c->node;
    float of_weights = node->scales[node->scale_count == 1 ? 0 : channel];
    bool is_float = node->scale_count == 1 && (c->dtype == DTYPE_U8 || node->op == WINDOW_FULLY_CONNECTED);
    float product = c->from->scale * of_weights;
    return (is_float ? (double)product : (double)c->from->scale * (double)of_weights) / (double)c->to->scale;
}

static inline int64_t requantised(Computing *c, int64_t sum, uint64_t channel) {
    int shift;
    int32_t multiplier = exact_multiplier(factor_of(c, channel), &shift);
    c->has_no_value = c->has_no_value || sum != (int64_t)exact_saturate(sum);
    Wide scaled = c->semantics == S0_SEM_TFLITE_SINGLE ? exact_single(sum, multiplier, shift)
                                                       : exact_double(sum, multiplier, shift);
    return (int64_t)scaled + c->to->zero;
}

/* ---- Pools */

static inline int64_t pooled_at(const Computing *c, const Place *p) {
    const DrawnWindow *node = c->node;
    int64_t sum = 0, count = 0, largest = INT32_MIN;
    for (uint64_t h = 0; h < node->slide[0].taps; h++) {
        for (uint64_t w = 0; w < node->slide[1].taps; w++) {
            int64_t y = row_of(&node->slide[0], p->y, h), x = row_of(&node->slide[1], p->x, w);
            if (is_inside(c, y, x)) {
                int64_t code = code_at(c, p->n, (uint64_t)y, (uint64_t)x, p->c);
                sum += code;
                largest = code > largest ? code : largest;
                count++;
            }
        }
    }
    return node->op == WINDOW_MAX ? largest : (int64_t)exact_half_away(sum, count);
}

/* ---- Softmax: raw numbers of 31 bits, of which `bits` are in front of the point */

static inline Wide raw_of(double x, int bits) {
    return llround(ldexp(x, 31 - bits));
}

static inline Wide raw_product(Wide a, Wide b) {
    return exact_saturate(exact_half_up(a * b, exact_power(31)));
}

/* e^x of x <= 0 with 5 bits in front of the point: a polynomial of what is left of quarters, times e^-2^k of each bit.
 */
static inline Wide raw_exp(Wide x) {
    Wide quarter = exact_power(24), rest = x - exact_floor(x, quarter) * quarter - quarter, whole = rest - x;
    Wide base = raw_of(exp(-0.125), 0), a = rest * 32 + exact_power(28);
    Wide square = raw_product(a, a), cube = raw_product(square, a), fourth = raw_product(square, square);
    Wide sum = raw_product(exact_half_away(fourth, 4) + cube, raw_of(1.0 / 3, 0)) + square;
    Wide result = base + raw_product(base, a + exact_half_away(sum, 2));
    for (int k = 0; k < 7; k++) {
        result = whole / (quarter << k) % 2 != 0 ? raw_product(result, raw_of(exp(-ldexp(1, k - 2)), 0)) : result;
    }
    return x == 0 ? INT32_MAX : result;
}

/* 1 / (1 + x) of 0 <= x < 1: Newton's steps with 2 bits in front of the point. */
static inline Wide raw_reciprocal(Wide x) {
    Wide half = (x + INT32_MAX + 1) / 2;
    Wide y = raw_of(48.0 / 17, 2) + raw_product(half, raw_of(-32.0 / 17, 2));
    for (int step = 0; step < 3; step++) {
        y += exact_saturate(raw_product(y, exact_power(29) - raw_product(half, y)) * 4);
    }
    return exact_saturate(y * 2);
}

static inline Wide share_of(const Computing *c, const Place *p) {
    uint64_t channels = c->from->extent[MAP_C];
    int shift, zeros = 0;
    double scale = (double)c->node->beta * (double)c->from->scale;
    int32_t multiplier = exact_multiplier(scale * 0x1p26, &shift), largest = INT32_MIN;
    int64_t least = -(int64_t)exact_floor(31 * exact_power(26), exact_power(shift));
    for (uint64_t k = 0; k < channels; k++) {
        int32_t code = code_at(c, p->n, p->y, p->x, k);
        largest = code > largest ? code : largest;
    }
    Wide sum = 0;
    for (uint64_t k = 0; k < channels; k++) {
        int32_t below = code_at(c, p->n, p->y, p->x, k) - largest;
        sum += below < least ? 0 : exact_half_away(raw_exp(exact_single(below, multiplier, shift)), 1 << 12);
    }
    while ((sum << zeros) < exact_power(31)) {
        zeros++;
    }
    int32_t own = code_at(c, p->n, p->y, p->x, p->c) - largest;
    Wide share = own < least ? 0
                             : raw_product(raw_reciprocal((sum << zeros) - exact_power(31)),
                                           raw_exp(exact_single(own, multiplier, shift)));
    return exact_half_away(share, exact_power(12 - zeros + 31 - 8)) + least_code(c->dtype);
}

/* ---- A graph */

static inline void find_limits(Computing *c) {
    float scale = c->to->scale;
    int32_t zero = c->to->zero, lo = least_code(c->dtype), hi = lo + 255;
    int64_t six = zero + (int64_t)roundf(6 / scale), one = (int64_t)roundf(1 / scale);
    WindowLimit limit = c->node->limit;
    int64_t below = limit == LIMIT_RELU_N1_TO_1 ? zero - one : limit == LIMIT_NONE ? lo : zero;
    int64_t above = limit == LIMIT_RELU_N1_TO_1 ? zero + one : limit == LIMIT_RELU6 ? six : hi;
    c->lo = below > lo ? (int32_t)below : lo;
    c->hi = above < hi ? (int32_t)above : hi;
}

static inline int64_t result_at(Computing *c, const Place *p) {
    switch (c->node->op) {
    case WINDOW_AVERAGE:
    case WINDOW_MAX:
        return pooled_at(c, p);
    case WINDOW_SOFTMAX:
        return (int64_t)share_of(c, p);
    default:
        return requantised(c, sum_at(c, p), p->c);
    }
}

static inline void compute_window(Computing *c) {
    const uint64_t *extent = c->to->extent;
    find_limits(c);
    for (uint64_t k = 0; k < map_elements(c->to); k++) {
        uint64_t row = k / extent[MAP_C] / extent[MAP_W];
        const Place place = {row / extent[MAP_H], row % extent[MAP_H], k / extent[MAP_C] % extent[MAP_W],
                             k % extent[MAP_C]};
        int64_t code = result_at(c, &place);
        c->out[k] = code < c->lo ? c->lo : code > c->hi ? c->hi : (int32_t)code;
    }
}

/* Of the map before: null where some element has no value. `packed`: the input, as the caller gives it. */
static inline int32_t *codes_of_input(const Drawn *drawn, const uint8_t *packed) {
    const DrawnWindows *windows = drawn->windows;
    int32_t *codes = arena_array(&drawn->work->keep, int32_t, map_elements(&windows->map[0]));
    for (uint64_t k = 0; k < map_elements(&windows->map[0]); k++) {
        codes[k] = windows->dtype == DTYPE_I8 ? (int8_t)packed[k] : packed[k];
    }
    return codes;
}

/* Codes of every map. False where an element has no value. */
static inline bool compute_windows(const Drawn *drawn, const uint8_t *packed, Semantics semantics,
                                   int32_t *codes[MOST_WINDOWS + 1]) {
    const DrawnWindows *windows = drawn->windows;
    bool has_no_value = false;
    codes[0] = codes_of_input(drawn, packed);
    for (uint32_t k = 0; k < windows->count; k++) {
        const DrawnWindow *node = &windows->node[k];
        Computing c = {.node = node,
                       .from = &windows->map[node->from],
                       .to = &windows->map[k + 1],
                       .dtype = windows->dtype,
                       .semantics = semantics,
                       .in = codes[node->from]};
        c.out = codes[k + 1] = arena_array(&drawn->work->keep, int32_t, map_elements(c.to));
        compute_window(&c);
        has_no_value = has_no_value || c.has_no_value;
    }
    return !has_no_value;
}

#endif
