/* Ways to compute a row, each behind one call. */
#ifndef BENCH_CANDIDATE_H
#define BENCH_CANDIDATE_H

#include "problem.h"

enum { NAME_TEXT = 32, CANDIDATES_MOST = 32 };

typedef struct {
    char name[NAME_TEXT];
    void *self;
    void (*run)(void *self); /* once; null where `elapsed_ns` is not */
    /* Of so many calls, as something else measures them; negative where that failed. Null: the clock around `run`. */
    double (*elapsed_ns)(void *self, uint64_t calls);
    void (*drop)(void *self);
    double slack;    /* how far y may be from what it has to be; negative: y is not looked at */
    bool is_library; /* a complete one that others wrote */
    int warm_calls;  /* before each batch, beyond one */
} Candidate;

typedef struct {
    Candidate at[CANDIDATES_MOST];
    size_t count;
} Candidates;

void candidates_add(Candidates *list, Candidate candidate);
void candidates_drop(Candidates *list);

/* Of floats what other orders of rounding make; of codes what operators between codes do. */
double slack_of_peer(const Problem *problem, double codes);

/* Who adds candidates for a problem; nothing where it does not compute such maps. */
typedef struct {
    const char *name;
    const char *missing; /* what to install, null where it is there */
    const char *version; /* null: none to tell */
    void (*add)(const Problem *problem, Candidates *list);
} Family;

extern const Family family_copies, family_ours, family_naive_gcc, family_naive_clang;
Family family_eigen(void), family_onednn(void), family_xnnpack(void), family_ort(void);

#endif
