/* What the families of reach_*.c share: a reach while it is found, and the rule of each operator. Private to them. */
#ifndef S0_NODE_REACH_RULES_H
#define S0_NODE_REACH_RULES_H

#include "node/reach.h"

/* Begins with nothing that may be cut and all of every input read. */
typedef struct {
    const Graph *graph;
    const Node *node;
    Arena *arena;
    const Value *out;
    NodeReach *reach;
} ReachFinding;

/* A rule leaves what it can't tell as it begins. */
typedef void (*ReachRule)(const ReachFinding *f);

/* ---- reach_follow.c */

static inline uint32_t reach_axis_bit(uint32_t axis) {
    return (uint32_t)1 << axis;
}

uint32_t reach_all_axes(const Value *value);

/* Null where it has no shape. */
const Value *reach_input(const ReachFinding *f, uint32_t k);

/* Of role w; UINT32_MAX where there is none. */
uint32_t reach_weight_input(const ReachFinding *f);

uint32_t reach_channel_axis(const ReachFinding *f);

/* Attribute `axis`. */
uint32_t reach_stated_axis(const ReachFinding *f, int64_t absent);

/* Index for index: axis `axis` of input `k`, axis `of` of the output. */
void reach_follow(const ReachFinding *f, uint32_t k, uint32_t axis, uint32_t of);

/* Input `k` has the output's axes, from the right; those of another extent repeat. `of` says which may be followed. */
void reach_follow_right(const ReachFinding *f, uint32_t k, uint32_t of);

/* Each operand of weights or of one number a channel that has an index for each of axis `of`. */
void reach_follow_outputs(const ReachFinding *f, uint32_t of);

/* Every axis of `of` is followed by each input that has it, and is where the output may be cut. */
void reach_along(const ReachFinding *f, uint32_t of);

/* ---- Rules: reach_windows.c */

void reach_windows(const ReachFinding *f);            /* convolutions, pools */
void reach_transposed_windows(const ReachFinding *f); /* transposed convolutions */

/* ---- reach_products.c */

void reach_product(const ReachFinding *f); /* of two matrices */
void reach_fully_connected(const ReachFinding *f);
void reach_cell(const ReachFinding *f); /* LSTM */

/* ---- reach_axes.c: what goes over some axes and along the others */

void reach_elements(const ReachFinding *f); /* along all of them, also where it repeats */
void reach_images(const ReachFinding *f);   /* along the first only */
void reach_channels(const ReachFinding *f); /* images and channels: over spatial axes, resize among them */
void reach_global_pool(const ReachFinding *f);
void reach_reduction(const ReachFinding *f);
void reach_softmax(const ReachFinding *f);
void reach_layer_norm(const ReachFinding *f);
void reach_norm_along_axis(const ReachFinding *f);
void reach_norm_of_channels(const ReachFinding *f);

/* ---- reach_moves.c: what moves elements */

void reach_transpose(const ReachFinding *f);
void reach_slice(const ReachFinding *f);
void reach_pad(const ReachFinding *f);
void reach_concat(const ReachFinding *f);
void reach_reshape(const ReachFinding *f);
void reach_spread(const ReachFinding *f); /* BROADCAST_IN_DIM */

#endif
