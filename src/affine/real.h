/* The real function of a channel, folded in double: what its stages would compute without rounding and limits. */
#ifndef S0_AFFINE_REAL_H
#define S0_AFFINE_REAL_H

#include "affine/chain.h"

/* y = a * x + b, where x = (code - in.zero_point) * in.scale and y the same of the code that comes out. */
typedef struct {
    double a, b;
    StageCode in, out; /* scale 1, zero point 0 where no stage tells: the codes are the reals */
} RealForm;

/* Null, or why there are no such numbers. */
StageFault real_fold(const Stage *stage, uint32_t count, RealForm *real);

/* What code - in.zero_point is multiplied with. */
double real_code_factor(const RealForm *real);

#endif
