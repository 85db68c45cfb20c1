/* What the drawn graphs of windows that passed were. */
#ifndef S0_TESTS_PROGRAM_WINDOW_COVERAGE_H
#define S0_TESTS_PROGRAM_WINDOW_COVERAGE_H

#include "program/drawn_windows.h"

/* AXIS(id, what it is, names of its values) */
#define COVERAGE_AXES(AXIS)                                                                                            \
    AXIS(OP, "operator", "conv", "depthwise", "fully connected", "average pool", "max pool", "softmax")                \
    AXIS(AFTER, "reads what is given by", "the caller", "conv", "depthwise", "fully connected", "average pool",        \
         "max pool", "softmax")                                                                                        \
    AXIS(CODES, "codes", "int8", "uint8")                                                                              \
    AXIS(RANK, "rank", "2", "4")                                                                                       \
    AXIS(NODES, "nodes", "1", "2", "3")                                                                                \
    AXIS(OUTPUTS, "outputs", "1", "2", "3")                                                                            \
    AXIS(KERNEL, "kernel", "one tap", "square", "oblong", "larger than the map")                                       \
    AXIS(STRIDE, "stride", "1", "2", "3", "h is not w", "larger than the kernel")                                      \
    AXIS(DILATION, "dilation", "1", "2", "3")                                                                          \
    AXIS(PADDING, "padding", "valid", "same", "same, nothing in front", "same, odd")                                   \
    AXIS(GROUPS, "groups", "of a conv", "of two outputs, depthwise")                                                   \
    AXIS(WEIGHTS, "weights", "int8", "int4", "uint8 with a zero point")                                                \
    AXIS(SCALES, "scales", "one", "one a channel", "a dead channel", "a factor above 1", "of ties")                    \
    AXIS(BIAS, "bias", "none", "int32")                                                                                \
    AXIS(LIMIT, "activation", "none", "RELU", "RELU6", "RELU_N1_TO_1")                                                 \
    AXIS(SEMANTICS, "reference", "double", "single", "cmsis", "double-f32")                                            \
    AXIS(LAYOUT, "contract of maps", "a device's", "random")                                                           \
    AXIS(WEIGHT_LAYOUT, "contract of weights", "plain", "I last", "blocks of O", "blocks of O I", "lanes of O",        \
         "aligned", "guard", "lanes of I")                                                                             \
    AXIS(SCHEDULE, "schedule", "fused", "pipelined")                                                                   \
    AXIS(CUT, "tiles", "whole", "of N", "of C", "of H", "of W", "with tails")                                          \
    AXIS(HALO, "tiles whose windows overlap", "rows", "columns", "both")                                               \
    AXIS(BLOCKS, "blocks of channels", "of a conv", "of a depthwise", "of a product", "of a pool", "inside a group")   \
    AXIS(STAYS, "weights", "reloaded", "resident")                                                                     \
    AXIS(WHOLE, "maps", "from far memory", "to far memory", "whole in local memory", "between, in far memory")         \
    AXIS(MEMORY, "memory", "the device's", "a budget", "just what is needed")                                          \
    AXIS(CHANNELS, "DMA channels", "1", "2", "3")

#include "program/cover.h"

/* ---- What was drawn */

static inline void cover_slides(Coverage *coverage, const DrawnWindow *node, const WindowMap *from) {
    const WindowSlide *h = &node->slide[0], *w = &node->slide[1];
    bool is_odd = false, is_larger = false;
    for (uint32_t k = 0; k < 2; k++) {
        const WindowSlide *slide = &node->slide[k];
        uint64_t covered = (slide->taps - 1) * slide->dilation + 1, extent = from->extent[MAP_H + k];
        uint64_t outputs = (extent + slide->stride - 1) / slide->stride, all = (outputs - 1) * slide->stride + covered;
        cover(coverage, COVER_STRIDE, (uint32_t)slide->stride - 1);
        cover(coverage, COVER_DILATION, (uint32_t)slide->dilation - 1);
        is_odd = is_odd || (all > extent && (all - extent) % 2 == 1);
        is_larger = is_larger || covered > extent;
    }
    cover(coverage, COVER_KERNEL, h->taps * w->taps == 1 ? 0 : h->taps == w->taps ? 1 : 2);
    cover_if(coverage, COVER_KERNEL, 3, is_larger);
    cover_if(coverage, COVER_STRIDE, 3, h->stride != w->stride);
    cover_if(coverage, COVER_STRIDE, 4, h->stride > h->taps || w->stride > w->taps);
    cover(coverage, COVER_PADDING, node->is_same);
    cover_if(coverage, COVER_PADDING, 2, node->is_same && h->before + w->before == 0);
    cover_if(coverage, COVER_PADDING, 3, node->is_same && is_odd);
}

static inline void cover_factors(Coverage *coverage, const DrawnWindow *node, const WindowMap *from,
                                 const WindowMap *to) {
    bool is_dead = false, is_large = false;
    for (uint32_t k = 0; k < node->scale_count; k++) {
        is_dead = is_dead || node->scales[k] < 0x1p-90f;
        is_large = is_large || node->scales[k] * from->scale > to->scale;
    }
    cover(coverage, COVER_WEIGHTS, node->weight_type == DTYPE_I8 ? 0 : node->weight_type == DTYPE_I4 ? 1 : 2);
    cover(coverage, COVER_SCALES, node->scale_count > 1);
    cover_if(coverage, COVER_SCALES, 2, is_dead);
    cover_if(coverage, COVER_SCALES, 3, is_large);
    cover_if(coverage, COVER_SCALES, 4, node->scales[0] == below_one / 32 && from->scale == above_one / 16);
    cover(coverage, COVER_BIAS, node->bias != NULL);
}

static inline void cover_nodes(Coverage *coverage, const Drawn *drawn) {
    const DrawnWindows *windows = drawn->windows;
    uint32_t outputs = 0;
    for (uint32_t k = 0; k < windows->count; k++) {
        const DrawnWindow *node = &windows->node[k];
        const WindowMap *from = &windows->map[node->from], *to = &windows->map[k + 1];
        cover(coverage, COVER_OP, node->op);
        cover(coverage, COVER_AFTER, node->from == 0 ? 0 : 1 + windows->node[node->from - 1].op);
        cover(coverage, COVER_LIMIT, node->limit);
        cover_if(coverage, COVER_GROUPS, 0, node->op == WINDOW_CONV && node->group_src < from->extent[MAP_C]);
        cover_if(coverage, COVER_GROUPS, 1, node->op == WINDOW_DEPTHWISE && node->group_dst > 1);
        if (node->op != WINDOW_FULLY_CONNECTED && node->op != WINDOW_SOFTMAX) {
            cover_slides(coverage, node, from);
        }
        if (has_weights(node)) {
            cover_factors(coverage, node, from, to);
        }
        outputs += window_is_output(drawn, k);
    }
    cover(coverage, COVER_OUTPUTS, outputs - 1);
}

/* ---- What was planned */

static inline void cover_tiles(Coverage *coverage, const Drawn *drawn, const PlannedSweep *planned, uint32_t number) {
    static const Dim dims[] = {DIM_N, DIM_C, DIM_H, DIM_W};
    static const uint8_t blocks[WINDOW_OPS] = {0, 1, 2, 3, 3, 3};
    const Sweep *sweep = &planned->sweep;
    const DrawnWindow *node = &drawn->windows->node[number];
    bool is_cut[4], has_tails = false, overlaps[2];
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t whole = sweep->out.shape.extent[dims[k]], tile = planned->chosen.best.choice.tile[dims[k]];
        is_cut[k] = tile < whole;
        has_tails = has_tails || (tile > 0 && whole % tile != 0);
        cover_if(coverage, COVER_CUT, 1 + k, is_cut[k]);
    }
    for (uint32_t k = 0; k < 2; k++) {
        overlaps[k] = is_cut[2 + k] && (node->slide[k].taps - 1) * node->slide[k].dilation + 1 > node->slide[k].stride;
        cover_if(coverage, COVER_HALO, k, overlaps[k]);
    }
    cover_if(coverage, COVER_HALO, 2, overlaps[0] && overlaps[1]);
    cover_if(coverage, COVER_CUT, 0, planned->chosen.best.cost.tiles == 1);
    cover_if(coverage, COVER_CUT, 5, has_tails);
    cover_if(coverage, COVER_BLOCKS, blocks[node->op], is_cut[1]);
    cover_if(coverage, COVER_BLOCKS, 4,
             is_cut[1] && node->op == WINDOW_CONV && planned->chosen.best.choice.tile[DIM_C] % node->group_dst != 0);
}

static inline void cover_plan(Coverage *coverage, const Drawn *drawn, const Plan *plan) {
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        const PlannedSweep *planned = &plan->sweeps[s];
        const SweepChoice *choice = &planned->chosen.best.choice;
        cover_tiles(coverage, drawn, planned, s);
        cover(coverage, COVER_SCHEDULE, choice->schedule == SCHEDULE_PIPELINED);
        cover_if(coverage, COVER_STAYS, choice->is_resident, planned->sweep.param_count > 0);
        cover_if(coverage, COVER_WHOLE, 0, planned->sweep.in.is_far);
        cover_if(coverage, COVER_WHOLE, 1, planned->sweep.out.is_far);
        cover_if(coverage, COVER_WHOLE, 2, !planned->sweep.in.is_far || !planned->sweep.out.is_far);
        bool is_between = is_buffer(planned->in_far) && buffer_is_far_map(plan, plan_buffer(plan, planned->in_far));
        cover_if(coverage, COVER_WHOLE, 3, is_between);
    }
}

static inline void cover_case(Coverage *coverage, const Drawn *drawn, const Plan *plan) {
    const DrawnWindows *windows = drawn->windows;
    cover(coverage, COVER_CODES, windows->dtype == DTYPE_U8);
    cover(coverage, COVER_RANK, windows->rank == MAP_AXES);
    cover(coverage, COVER_NODES, windows->count - 1);
    cover(coverage, COVER_SEMANTICS, drawn->genes->gene[GENE_SALT] % 4);
    cover(coverage, COVER_LAYOUT, drawn->is_random_layout[0]);
    cover(coverage, COVER_WEIGHT_LAYOUT, gene(drawn, GENE_WEIGHT_LAYOUT, 8));
    cover(coverage, COVER_MEMORY, drawn->has_just_enough ? 2 : drawn->options.budget_bytes > 0);
    cover(coverage, COVER_CHANNELS, gene(drawn, GENE_CHANNELS, 3));
    cover_nodes(coverage, drawn);
    cover_plan(coverage, drawn, plan);
}

#endif
