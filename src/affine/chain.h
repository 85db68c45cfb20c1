/* Chains: the operators of a per-channel run as the model states them, one channel at a time.
 *
 * A chain of one channel is an array of stages: what goes into stage k + 1 is what came out of stage k. chain_bind
 * fixes the reference (its multipliers and shifts are computed once), chain_code and chain_real then evaluate, bit for
 * bit as that reference does. */
#ifndef S0_AFFINE_CHAIN_H
#define S0_AFFINE_CHAIN_H

#include "base/work.h"
#include "stage/bound.h"

/* A chain of one channel under one reference. */
typedef struct {
    Semantics semantics;
    uint32_t count;
    const BoundStage *stage; /* in the arena it was bound in */
} Chain;

/* Null where the reference defines the chain for every code of the first stage's type; else why not: a parameter that
 * is not finite, a variance with variance + epsilon <= 0, a scale out of the kernel's range, an accumulator that could
 * pass 32 bits. Types of 32 bits, and reals, are not checked as inputs: ask chain_check for the codes that can reach
 * the chain. No stage at all is the identity. */
StageFault chain_bind(const Stage *stage, uint32_t count, Semantics semantics, Arena *arena, Chain *chain);

/* Null where the reference defines the chain for every code of [lo, hi]: no integer passes 32 bits, no real is
 * infinite. Such a chain is monotone there, see chain_direction. */
StageFault chain_check(const Chain *chain, int64_t lo, int64_t hi);

/* 1: no larger code gives a smaller result; -1: no larger code gives a larger one. On a domain that chain_check
 * accepts. */
int chain_direction(const Chain *chain);

/* Code in, code out: the chain starts and ends with integers. Any int32 input is defined: where the reference is not,
 * integers saturate and a NaN is quantised to the zero point. */
int32_t chain_code(const Chain *chain, int32_t code);

/* The same in place for many codes, stage by stage: several times faster. */
void chain_codes(const Chain *chain, int32_t *codes, uint32_t count);

/* Reals in and out; between them the chain may go through codes. */
float chain_real(const Chain *chain, float x);

/* True only where both compute the same of every input and have the same faults, whatever their references are called:
 * a proof for one is a proof for the other. References often agree on a chain: `cmsis` is `tflite-double` but for one
 * product. */
bool chain_eq(const Chain *a, const Chain *b);

#endif
