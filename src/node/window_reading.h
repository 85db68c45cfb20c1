/* Reading a node as a command over windows: what window.c and reduction.c share. Private to them. */
#ifndef S0_NODE_WINDOW_READING_H
#define S0_NODE_WINDOW_READING_H

#include "node/command.h"

typedef struct {
    const Graph *graph;
    const Node *node;
    Arena *arena;
    const Value *in, *out, *weights; /* weights: null of a pool */
    uint8_t weight_dims[SHAPE_MAX_RANK];
    NodeCommand *made;
    const char *why;
} WindowReading;

static inline bool window_fail(WindowReading *r, const char *why) {
    r->why = why;
    return false;
}

static inline bool window_is_tflite(const WindowReading *r) {
    return r->graph->format == FORMAT_TFLITE;
}

/* Codes without a record stand for themselves. */
static inline StageCode window_code(const Value *value) {
    if (value->quant == NULL) {
        return (StageCode){1, 0};
    }
    return (StageCode){value->quant->scale[0], (int32_t)quant_zero(value->quant, 0)};
}

/* Do codes mean the same before and after? */
static inline bool window_keeps_codes(const WindowReading *r) {
    const StageCode in = window_code(r->in), out = window_code(r->out);
    return in.scale == out.scale && in.zero_point == out.zero_point && r->in->dtype == r->out->dtype;
}

/* The stage behind the window makes the mean of `count` elements, or their sum. False where they are too many. */
static inline bool window_sums(WindowReading *r, uint64_t count, bool is_mean) {
    if (count > INT32_MAX) {
        return window_fail(r, "it has more elements than 31 bits count");
    }
    r->made->window.src_zero = quant_zero(r->in->quant, 0);
    r->made->stage.integer.constant.scale = 1;
    r->made->stage.integer.value = is_mean ? (int32_t)count : 0;
    return true;
}

/* Mean, sum and greatest over axes. */
bool window_is_reduction(OpId op);
bool window_read_reduction(WindowReading *r);

#endif
