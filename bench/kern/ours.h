/* What the benchmark asks of stride0 beyond its candidates. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "problem.h"
#include "stride0/stride0.h"

/* A prepared handle of the problem; the program ends where it is refused. */
s0_affine *ours_prepare(const Problem *problem, uint32_t threads);

s0_affine_facts ours_facts(const Problem *problem);

/* Microseconds a channel to prepare it and to free it again. */
double ours_prepare_us(const Problem *problem);

#endif
