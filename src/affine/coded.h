/* Runs between integer codes: what the rules about them share. See affine.h for what a run is. */
#ifndef S0_AFFINE_CODED_H
#define S0_AFFINE_CODED_H

#include "affine/affine.h"

/* Does the operator give codes, so that a run could end with it? */
bool coded_may_end(const Rewriter *rw, const Node *node);

/* One claim a channel: the run's stages on every code of its type. What is to stand in their place is not set. */
Claim *coded_claims(const Rewriter *rw, const Affine *run);

Certificate coded_prove(Rewriter *rw, const Claim *claims, const Affine *run, const char *rule, uint64_t tolerance);

/* Logs a rewrite of the run, checked by brute force where that is asked for. */
void coded_log(Rewriter *rw, const Affine *run, const Claim *claims, Rewrite rewrite);

/* Codes in the middle of runs go; a part of rule_codes. */
void rule_requantize(Rewriter *rw);

#endif
