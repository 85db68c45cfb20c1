/* Candidate: Eigen (libeigen3-dev), compiled from peer_eigen.cc by g++. */
#include "candidate.h"

#ifdef BENCH_EIGEN
void bench_eigen(int elem, const void *x, void *y, const float *scale, const float *bias, const size_t *nch,
                 int is_pixels);
const char *bench_eigen_version(void);

static void run_eigen(void *self) {
    const Problem *problem = self;
    Shape shape = problem->row.shape;
    size_t nch[3] = {(size_t)shape.n, (size_t)shape.c, (size_t)(shape.h * shape.w)};
    bench_eigen((int)problem->row.elem, problem->x, problem->y, problem->code_scale, problem->code_bias, nch,
                problem->row.layout == NHWC);
}

static void add_eigen(const Problem *problem, Candidates *list) {
    candidates_add(list,
                   (Candidate){"eigen", (void *)problem, run_eigen, NULL, NULL, slack_of_peer(problem, 1), true, 0});
}

Family family_eigen(void) {
    return (Family){"Eigen", NULL, bench_eigen_version(), add_eigen};
}
#else
Family family_eigen(void) {
    return (Family){"Eigen", "libeigen3-dev and g++", NULL, NULL};
}
#endif
