/* The list of candidates of a row, and the two that copy: the measure of all others. */
#include "candidate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

void candidates_add(Candidates *list, Candidate candidate) {
    if (list->count == CANDIDATES_MOST) {
        fputs("bench_kern: more candidates than there is room for\n", stderr);
        exit(EXIT_FAILURE);
    }
    list->at[list->count++] = candidate;
}

void candidates_drop(Candidates *list) {
    for (size_t k = 0; k < list->count; k++) {
        if (list->at[k].drop != NULL) {
            list->at[k].drop(list->at[k].self);
        }
    }
    list->count = 0;
}

double slack_of_peer(const Problem *problem, double codes) {
    return problem->row.elem == FLOAT32 ? 1e-5 : codes;
}

static void run_memcpy(void *self) {
    const Problem *problem = self;
    memcpy(problem->y, problem->x, problem->bytes);
}

#if defined(__x86_64__)
/* Four vectors a turn; the barrier keeps a compiler from calling memcpy. */
__attribute__((target("avx2"))) static void run_copy(void *self) {
    enum { VECTOR = 32, TURN = 4 * VECTOR };
    const Problem *problem = self;
    const uint8_t *x = problem->x;
    uint8_t *y = problem->y;
    size_t k = 0;
    for (; k + TURN <= problem->bytes; k += TURN) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(x + k));
        __m256i b = _mm256_loadu_si256((const __m256i *)(x + k + VECTOR));
        __m256i c = _mm256_loadu_si256((const __m256i *)(x + k + 2 * VECTOR));
        __m256i d = _mm256_loadu_si256((const __m256i *)(x + k + 3 * VECTOR));
        _mm256_storeu_si256((__m256i *)(y + k), a);
        _mm256_storeu_si256((__m256i *)(y + k + VECTOR), b);
        _mm256_storeu_si256((__m256i *)(y + k + 2 * VECTOR), c);
        _mm256_storeu_si256((__m256i *)(y + k + 3 * VECTOR), d);
        __asm__ volatile("" ::: "memory");
    }
    for (; k < problem->bytes; k++) {
        y[k] = x[k];
        __asm__ volatile("" ::: "memory");
    }
}

static bool can_copy(void) {
    return __builtin_cpu_supports("avx2");
}
#else
static void run_copy(void *self) {
    run_memcpy(self);
}

static bool can_copy(void) {
    return false;
}
#endif

static void add_copies(const Problem *problem, Candidates *list) {
    candidates_add(list, (Candidate){"memcpy", (void *)problem, run_memcpy, NULL, NULL, -1, false, 0});
    if (can_copy()) {
        candidates_add(list, (Candidate){"copy", (void *)problem, run_copy, NULL, NULL, -1, false, 0});
    }
}

const Family family_copies = {"copies", NULL, NULL, add_copies};
