/* The per-channel form of a run of operators: DESIGN section 6's one record.
 *
 * A run starts and ends with integer codes and goes through operators that treat each channel alike:
 *
 *     q ─Dequantize─ Mul ─ Add ─ Relu ─Quantize─ o        (ONNX, TFLite)
 *     q ─MUL─ o      q ─MUL─ ADD─ o      q ─QUANTIZE─ o   (TFLite, on codes)
 * Coders are read as they are given scales, not as other operators read the same codes.
 * Between two operators nobody else reads. The stages are the model's own arithmetic, in order: they stay the reference
 * whatever is rewritten. The axis is the one that each constant is aligned with, or that its operator defines. */
#ifndef S0_AFFINE_AFFINE_H
#define S0_AFFINE_AFFINE_H

#include "affine/rewrite.h"

enum { AFFINE_MOST_STAGES = 16 };

typedef struct {
    uint32_t node_count;
    NodeId nodes[AFFINE_MOST_STAGES]; /* in the order they run; one stage each */
    ValueId in, out;                  /* the codes that go in and come out */
    int32_t axis;                     /* of `out`, the channels' axis; -1 where all parameters are one number */
    uint32_t channels;                /* 1 where there is no axis */
    const Stage *stages;              /* channel-major: node_count a channel */
    Domain domain;                    /* codes that can arrive */
} Affine;

/* The input that a run comes from: the one that is no constant. */
ValueId affine_data(const Rewriter *rw, const Node *node);

/* Are the numbers of the parameter known: a constant that every caller gets, or what a Dequantize makes of one? */
bool affine_knows(const Rewriter *rw, ValueId id);

/* The longest run that ends with node `last`. False where there is none that can be read: a constant that is not known,
 * two axes, a reader between. */
bool affine_collect(const Rewriter *rw, NodeId last, Affine *affine);

/* The same past codes in the middle: Dequantize - operators - Quantize more than once in a row. */
bool affine_collect_past(const Rewriter *rw, NodeId last, Affine *affine);

/* The stages of these `count` nodes, each the only reader of the one before; they may start and end with floats.
 * `domain` is not set. False where a node can't be read. */
bool affine_read(const Rewriter *rw, const NodeId *nodes, uint32_t count, Affine *affine);

/* The float stages of one channel, folded in double: y = a * x + b. Null, or why there is no such pair: a parameter
 * that is not finite, variance + epsilon <= 0. Limits and coders count as x. */
StageFault affine_fold(const Stage *stages, uint32_t count, double *a, double *b);

static inline const Stage *affine_stages(const Affine *affine, uint32_t channel) {
    return affine->stages + (size_t)channel * affine->node_count;
}

/* Least and greatest code of an integer type of at most 32 bits. */
Domain affine_codes_of(DType dtype);

#endif
