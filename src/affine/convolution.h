/* Convolutions of floats that take a per-channel affine into their weights and bias: what the rules for an affine
 * behind one and in front of one share.
 *
 *     behind   y = a[o] * (sum w x + bias[o]) + b[o]     w' = a[o] * w    bias'[o] = a[o] * bias[o] + b[o]
 *     before   y = sum w (a[i] * x + b[i]) + bias[o]     w' = a[i] * w    bias'[o] = bias[o] + sum w b[i]
 * Computed in double and rounded once, so it is not what the model says bit for bit: it is made only with a tolerance.
 * The bound counts what the rewrite changes: one rounding of each parameter, and the roundings of the operators that
 * go, each at most one ulp of the sum of magnitudes (docs/rewrites.md). How a convolution rounds while it adds up is no
 * part of either format and is not counted; nor is what leaves the range of float32 on the way. */
#ifndef S0_AFFINE_CONVOLUTION_H
#define S0_AFFINE_CONVOLUTION_H

#include "affine/affine.h"

/* Where the channels of output and input lie in the weights, by definition of the operator. One of the two axes counts
 * the channels of all groups, the other those of one. */
typedef struct {
    uint64_t elements, outs, ins, groups;
    uint64_t out_step, in_step; /* elements from one channel to the next */
    bool is_whole_in;           /* the axis of input channels is that of all groups: ConvTranspose */
    uint32_t first_spatial;     /* axis of the weights */
} ConvWeights;

/* A run of operators beside a convolution, folded. */
typedef struct {
    bool is_before; /* the run is in front */
    Affine run;
    const double *a, *b; /* of each channel: of the input where the run is in front, else of the output */
    uint32_t channels;
    uint64_t bound_ulp;
} ConvFold;

/* A convolution whose weights and bias are floats that the file stores, and that may be changed. */
bool convolution_read(const Rewriter *rw, NodeId id, ConvWeights *weights);

/* Mul, Add, Sub, Div or BatchNormalization with one output: what a run may be of. */
bool convolution_takes(const Rewriter *rw, NodeId id);

/* Are the parameters of the run one number, or do they lie along the channels of `map`, which has `channels`? */
bool convolution_fits(const Rewriter *rw, const Affine *run, ValueId map, uint64_t channels);

/* Folds `fold->run` channel by channel. False, with the reason told, where a channel has no affine or the factor 0. */
bool convolution_fold(Rewriter *rw, uint64_t channels, ConvFold *fold);

/* Puts the fold into weights and bias, and the run goes; or tells why not. */
void convolution_apply(Rewriter *rw, NodeId id, const ConvWeights *weights, const ConvFold *fold);

/* Tells of the run's last operator why it stays; the first reason in a round is the one that is told. */
void convolution_refuse(Rewriter *rw, const ConvFold *fold, const char *reason);

/* The rule for an affine in front; rule_convolution has the other. */
void convolution_take_before(Rewriter *rw);

#endif
