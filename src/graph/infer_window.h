/* Windows that slide: kernel, strides, dilations and pads of convolutions and pooling. */
#ifndef S0_GRAPH_INFER_WINDOW_H
#define S0_GRAPH_INFER_WINDOW_H

#include "graph/infer.h"

typedef enum { PAD_EXPLICIT, PAD_SAME_UPPER, PAD_SAME_LOWER, PAD_VALID } PadMode;

/* Everything is between 0 and ATTR_MAX; strides, dilations and kernel extents are at least 1. */
typedef struct {
    uint32_t rank; /* spatial axes */
    PadMode mode;
    bool ceil; /* a last window that starts inside the input and runs over its end counts */
    int64_t kernel[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK], dilation[SHAPE_MAX_RANK];
    int64_t pad[2 * SHAPE_MAX_RANK]; /* begins, then ends */
} Window;

/* From the attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode. `kernel`: what the weights say,
 * or null where only the attribute does. */
bool window_read(Infer *in, uint32_t rank, const int64_t *kernel, Window *window);

/* Windows along spatial axis `k` of an input of `extent` elements. */
bool window_count(Infer *in, const Window *window, uint32_t k, int64_t extent, int64_t *count);

/* First spatial axis of activations: 2 where channels stand second, 1 where they stand last. */
static inline uint32_t infer_first_spatial(const Infer *in) {
    return in->graph->channels_last ? 1 : 2;
}

/* `x` with at least one spatial axis; false with a diagnostic. */
bool infer_need_spatial(Infer *in, const Value *x, uint32_t k);

#endif
