/* Takes the time of all candidates by turns, so that what else the machine does hits them alike. */
#include "timing.h"

#include <stdlib.h>
#include <time.h>

/* A batch is long enough for the clock. What takes long is not called once more before it to have its bytes at hand: it
 * is larger than the caches, or so slow that this makes no difference. All batches of a candidate take no longer than
 * SLOW_NS together. */
#define BATCH_NS 60e3
#define TEAM_NS  2e6 /* of several threads, which the system may have put on one processor at first */
#define WARM_NS  20e6
#define LONG_NS  5e6
#define SLOW_NS  0.5e9

enum { FEWEST_ROUNDS = 3, MOST_CALLS_ELSEWHERE = 50 };

typedef struct {
    uint64_t calls; /* a batch */
    size_t rounds;
    bool is_long;
    double took[TIMING_ROUNDS];
} Clocked;

double timing_now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double timing_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static double batch_ns(const Candidate *candidate, uint64_t calls) {
    if (candidate->elapsed_ns != NULL) {
        return candidate->elapsed_ns(candidate->self, calls);
    }
    double begin = timing_now_ns();
    for (uint64_t k = 0; k < calls; k++) {
        candidate->run(candidate->self);
    }
    return timing_now_ns() - begin;
}

/* So that its bytes are at hand, and its threads awake. */
static void warm_up(const Candidate *candidate) {
    double end = timing_now_ns() + WARM_NS;
    int calls = 0;
    do {
        candidate->run(candidate->self);
    } while (calls++ < candidate->warm_calls && timing_now_ns() < end);
}

/* The fastest of some calls: what disturbs one must not decide how many are a batch. */
static double one_call_ns(const Candidate *candidate) {
    enum { TRIES = 3 };
    double one = batch_ns(candidate, 1);
    for (int k = 1; k < TRIES && one < LONG_NS; k++) {
        double other = batch_ns(candidate, 1);
        one = other < one ? other : one;
    }
    return one > 1 ? one : 1;
}

/* How much of it is a batch. */
static void calibrate(const Candidate *candidate, double first, Clocked *clocked) {
    *clocked = (Clocked){.calls = 1};
    if (first >= FIRST_NS) {
        return;
    }
    if (candidate->elapsed_ns == NULL) {
        warm_up(candidate);
    } else {
        batch_ns(candidate, 1);
    }
    double one = one_call_ns(candidate);
    *clocked = (Clocked){.calls = 1, .rounds = TIMING_ROUNDS, .is_long = one > LONG_NS};
    double batch = candidate->warm_calls > 0 ? TEAM_NS : BATCH_NS;
    if (one < batch) {
        clocked->calls = (uint64_t)(batch / one) + 1;
    }
    if (candidate->elapsed_ns != NULL && clocked->calls > MOST_CALLS_ELSEWHERE) {
        clocked->calls = MOST_CALLS_ELSEWHERE; /* a call costs more than it tells */
    }
    while (clocked->rounds > FEWEST_ROUNDS && one * (double)clocked->rounds > SLOW_NS) {
        clocked->rounds -= 2;
    }
}

static void sample(const Candidate *candidate, Clocked *clocked, size_t round) {
    if (round >= clocked->rounds) {
        return;
    }
    if (!clocked->is_long && candidate->elapsed_ns == NULL) {
        warm_up(candidate);
    }
    clocked->took[round] = batch_ns(candidate, clocked->calls) / (double)clocked->calls;
}

void timing_compare(const Candidates *list, const double first[CANDIDATES_MOST], double ns[CANDIDATES_MOST]) {
    static Clocked clocked[CANDIDATES_MOST];
    for (size_t k = 0; k < list->count; k++) {
        calibrate(&list->at[k], first[k], &clocked[k]);
    }
    for (size_t round = 0; round < TIMING_ROUNDS; round++) {
        for (size_t k = 0; k < list->count; k++) {
            sample(&list->at[k], &clocked[k], round);
        }
    }
    for (size_t k = 0; k < list->count; k++) {
        double median = clocked[k].rounds == 0 ? first[k] : timing_median(clocked[k].took, clocked[k].rounds);
        ns[k] = median > 0 ? median : 0;
    }
}
