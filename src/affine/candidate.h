/* Candidates: single stages that may do what a whole chain does. Nothing is proven here; form.c does that. */
#ifndef S0_AFFINE_CANDIDATE_H
#define S0_AFFINE_CANDIDATE_H

#include "affine/real.h"

/* The least and the greatest code that comes out. */
typedef struct {
    int32_t lo, hi;
} CodeRange;

enum { CANDIDATE_MOST = 8 };

/* A stage, and the reference it is bound to: S0_SEM_COUNT means each reference that is to be met. */
typedef struct {
    Stage stage;
    Semantics kernel;
} Candidate;

/* code -> code + shift */
Candidate candidate_translation(int32_t shift, CodeRange range);

/* The first stage of the chain with its codes moved. False where it is none of codes to codes. */
bool candidate_head(const Stage *stage, uint32_t count, int64_t moved, CodeRange range, Candidate *candidate);

/* (code - zero) * weight + bias, requantised, in several ways. `reach` is the largest |code - in.zero_point|;
 * `own_limit` is what the references' own accumulator stays below. Returns how many there are, at most CANDIDATE_MOST.
 */
uint32_t candidate_scales(const RealForm *real, double reach, double own_limit, CodeRange range, Candidate *candidate);

/* The constants of MUL and of what is added, in one accumulator: the usual fusion. False where the chain does not start
 * with a multiplication of codes. */
bool candidate_fused(const Stage *stage, const RealForm *real, CodeRange range, Candidate *candidate);

#endif
