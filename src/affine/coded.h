/* Runs between integer codes: what the rules about them share. See affine.h for what a run is. */
#ifndef S0_AFFINE_CODED_H
#define S0_AFFINE_CODED_H

#include "affine/affine.h"

/* Does the operator give codes, so that a run could end with it? */
bool coded_may_end(const Rewriter *rw, const Node *node);

/* One claim a channel: the run's stages on every code of its type. What is to stand in their place is not set. */
Claim *coded_claims(const Rewriter *rw, const Affine *run);

/* Work has a limit, by count: one evaluation is one stage of either side on one code under one reference. Each run of
 * operators has as many, whatever else the model holds, so that what is done with a run depends on the run alone. */
enum { CODED_MOST_EVALUATIONS = 1 << 26 };

/* Evaluations that claims of `channels` take, equal channels once; `first` as distinct_claims gives it. */
uint64_t coded_cost(const Rewriter *rw, const Claim *claims, const uint32_t *first, uint32_t channels);

/* The reason where they are more than are left. */
const char *coded_too_many(Rewriter *rw, uint64_t cost);

/* Takes what it costs from rw->evaluations_left; refused, with the reason, where that is not enough. */
Certificate coded_prove(Rewriter *rw, Claim *claims, const Affine *run, const char *rule, uint64_t tolerance);

/* Logs a rewrite of the run, checked by brute force where that is asked for. */
void coded_log(Rewriter *rw, const Affine *run, const Claim *claims, Rewrite rewrite);

/* Calls `visit` with each run, the longest that ends at its node. */
void coded_each_run(Rewriter *rw, void (*visit)(Rewriter *, const Affine *));

/* Parts of rule_codes: what codes stand for is made true again; codes in the middle of runs go; the Dequantize at the
 * start of the run takes what lies behind it, or the end of a sentence that tells why not. */
void meaning_refresh(Rewriter *rw);
void rule_requantize(Rewriter *rw);
void rescale_run(Rewriter *rw, const Affine *run);
const char *rescale_why_not(Rewriter *rw, const Affine *run);

#endif
