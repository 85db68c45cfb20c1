/* From nodes to windows: mean, sum and greatest code over whole axes, one window over all that is reduced. */
#include "node/window_reading.h"

#include "node/input.h"

/* The next axis of the output that has more than one index; its rank where there is none. */
static uint32_t next_kept(const Shape *out, uint32_t next) {
    while (next < out->rank && out->dim[next] == 1) {
        next++;
    }
    return next;
}

/* A dimension for an axis that is reduced: its own, or else a free one; DIM_N where there is none. */
static Dim free_dim(const WindowReading *r, Dim own, const bool used[DIM_COUNT]) {
    static const Dim order[] = {DIM_H, DIM_W, DIM_C};
    uint32_t count = r->made->op == CMD_MAXPOOL ? 2 : 3;
    Dim found = DIM_N;
    for (uint32_t k = count; k-- > 0;) {
        bool is_better = !used[order[k]] && (found != own || found == DIM_N);
        found = is_better ? order[k] : found;
    }
    return found;
}

/* Axes that stay are read as the dimensions that they are in the output, in order; what is reduced as others. */
static bool name_axes(const WindowReading *r, uint32_t reduced, uint8_t dims[SHAPE_MAX_RANK]) {
    const Shape *in = &r->in->shape, *out = &r->out->shape;
    bool used[DIM_COUNT] = {false};
    uint32_t next = 0;
    for (uint32_t k = 0; k < in->rank; k++) {
        dims[k] = r->in->dims[k];
        if (in->dim[k] == 1 || (reduced >> k & 1) != 0) {
            continue;
        }
        next = next_kept(out, next);
        if (next == out->rank || out->dim[next] != in->dim[k]) {
            return false;
        }
        dims[k] = r->out->dims[next++];
        used[dims[k]] = true;
    }
    for (uint32_t k = 0; k < in->rank; k++) {
        if (in->dim[k] != 1 && (reduced >> k & 1) != 0) {
            dims[k] = (uint8_t)free_dim(r, (Dim)dims[k], used);
            if (dims[k] == DIM_N) {
                return false;
            }
            used[dims[k]] = true;
        }
    }
    return true;
}

/* One window over all that is reduced: rows, columns and channels. `count` elements of a window. */
static bool set_reduced(WindowReading *r, uint32_t reduced, uint64_t *count) {
    NodeCommand *made = r->made;
    uint64_t extent[DIM_COUNT] = {1, 1, 1, 1, 1, 1}, taps[DIM_COUNT] = {1, 1, 1, 1, 1, 1};
    bool ok = name_axes(r, reduced, made->src_dims);
    *count = 1;
    for (uint32_t k = 0; ok && k < r->in->shape.rank; k++) {
        uint64_t axis = (uint64_t)r->in->shape.dim[k];
        bool is_reduced = (reduced >> k & 1) != 0;
        extent[made->src_dims[k]] *= axis;
        taps[made->src_dims[k]] *= is_reduced ? axis : 1;
        *count *= is_reduced ? axis : 1;
        made->is_renamed = made->is_renamed || (axis != 1 && made->src_dims[k] != r->in->dims[k]);
    }
    made->window.h = (CmdSlide){.taps = taps[DIM_H], .stride = 1, .dilation = 1, .extent = extent[DIM_H]};
    made->window.w = (CmdSlide){.taps = taps[DIM_W], .stride = 1, .dilation = 1, .extent = extent[DIM_W]};
    made->window.group_src = taps[DIM_C];
    made->window.group_dst = 1;
    return ok;
}

bool window_read_reduction(WindowReading *r) {
    uint32_t reduced;
    uint64_t count;
    if (!node_reduced_axes(r->graph, r->node, r->arena, &reduced) || !set_reduced(r, reduced, &count)) {
        return window_fail(r, "it does not reduce whole rows, columns or channels of one map");
    }
    if (r->made->op == CMD_MAXPOOL) {
        return (window_keeps_codes(r) && r->made->window.group_src == 1) ||
               window_fail(r, "its codes before and after stand for other reals, or it goes over channels");
    }
    return window_sums(r, count, r->node->op == OP_REDUCE_MEAN);
}

bool window_is_reduction(OpId op) {
    return op == OP_REDUCE_MEAN || op == OP_REDUCE_SUM || op == OP_REDUCE_MAX;
}
