/* The clock, and candidates of a row against one another. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "candidate.h"

enum { TIMING_ROUNDS = 11 };

double timing_now_ns(void);

/* Sorts them. */
double timing_median(double *values, size_t count);

/* Nanoseconds a call of each candidate, 0 where it failed: the median of TIMING_ROUNDS batches, taken by turns; fewer
 * of what is slow, but 3; and of what took FIRST_NS or more in its first call, that call alone. `first` is 0 where
 * there was none. */
#define FIRST_NS 0.3e9
void timing_compare(const Candidates *list, const double first[CANDIDATES_MOST], double ns[CANDIDATES_MOST]);

#endif
