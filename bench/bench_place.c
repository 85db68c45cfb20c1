/* How long placement takes: bench_place [COUNT LIVE [SEED]] packs COUNT buffers of which about LIVE live at once.
 *
 * Starts come at a steady rate, lifetimes are exponential, sizes log-uniform from 64 bytes to 1 MiB. Without arguments
 * the table that the README quotes is printed. */
#include "base/work.h"
#include "place/judge.h"
#include "place/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double STEPS_A_BUFFER = 64; /* so that lifetimes keep their shape in whole steps */

static double uniform(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static void generate(PlaceProblem *problem, double live, uint64_t seed) {
    uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
    for (size_t i = 0; i < problem->count; i++) {
        double lifetime = -log(uniform(&state)) * live * STEPS_A_BUFFER;
        uint64_t first = (uint64_t)((double)i * STEPS_A_BUFFER);
        problem->buffer[i] = (PlaceBuffer){.size = (uint64_t)exp2(6 + 14 * uniform(&state)),
                                           .align = 16,
                                           .first = first,
                                           .last = first + 1 + (uint64_t)lifetime};
    }
}

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int run(size_t count, double live, uint64_t seed) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        work_free(&work);
        fprintf(stderr, "bench_place: out of memory\n");
        return EXIT_FAILURE;
    }
    PlaceProblem problem = {arena_array(&work.keep, PlaceBuffer, count), count, .align_bytes = 16};
    generate(&problem, live, seed);
    double begin = now_ms();
    bool solved = place_solve(&problem, &work.scratch);
    double solved_at = now_ms();
    Judgement judgement = place_judge(&problem, &work.scratch);
    double judged_at = now_ms();
    printf("%8zu %6.0f %10.1f ms %10.1f ms %12llu %12llu %+8.2f %%  %s\n", count, live, solved_at - begin,
           judged_at - solved_at, (unsigned long long)problem.height, (unsigned long long)problem.bound,
           100 * ((double)problem.height / (double)problem.bound - 1), problem.method);
    bool right = solved && judgement.verdict == JUDGE_RIGHT;
    if (!right) {
        fprintf(stderr, "bench_place: %s\n", solved ? judge_text(judgement.verdict) : "not solved");
    }
    work_free(&work);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    if (argc == 2 || argc > 4) {
        fprintf(stderr, "usage: bench_place [COUNT LIVE [SEED]]\n");
        return EXIT_FAILURE;
    }
    printf("%8s %6s %13s %13s %12s %12s %10s  %s\n", "buffers", "live", "solve", "judge", "height", "bound", "gap",
           "order");
    if (argc > 2) {
        return run(strtoull(argv[1], NULL, 10), strtod(argv[2], NULL), argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    }
    static const struct {
        size_t count;
        double live;
    } ROW[] = {{10000, 3}, {100000, 3}, {1000000, 3}, {10000, 100}, {100000, 100}, {10000, 1000}, {100000, 1000}};
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++) {
        if (run(ROW[i].count, ROW[i].live, 1) != EXIT_SUCCESS) {
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
