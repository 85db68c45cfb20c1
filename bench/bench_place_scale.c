/* How placement grows: CPU time, height, bound and memory of 1 000 to 1 000 000 buffers, about 1 000 live at once, by
 * family (tests/support/buffers.h).
 *
 * bench_place_scale [COUNT [SEED [LIVE]]] places that many. The exponent is of the time between a row and the one
 * before: 1 where ten times the buffers take ten times as long. */
#include "base/work.h"
#include "place/judge.h"
#include "support/buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* An allocator that knows how much is out. */
typedef struct {
    size_t bytes, most_bytes;
} Meter;

static void *meter_resize(void *context, void *memory, size_t old_bytes, size_t new_bytes) {
    Meter *meter = context;
    meter->bytes += new_bytes - old_bytes;
    meter->most_bytes = meter->bytes > meter->most_bytes ? meter->bytes : meter->most_bytes;
    if (new_bytes == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, new_bytes);
}

/* Seconds; 0 where a placement is wrong. `before` is of a tenth of the buffers, or 0. */
static double run(BuffersFamily family, size_t count, double live, uint64_t seed, double before) {
    Meter meter = {0};
    s0_allocator allocator = {meter_resize, &meter};
    Work work;
    work_init(&work, &allocator);
    if (setjmp(work.escape)) {
        work_free(&work);
        fprintf(stderr, "bench_place_scale: out of memory\n");
        return 0;
    }
    PlaceProblem problem = {arena_array(&work.keep, PlaceBuffer, count), count, .align_bytes = 16};
    buffers_draw(problem.buffer, count, live, family, seed);
    double begin = now_s();
    bool solved = place_solve(&problem, &work.scratch);
    double seconds = now_s() - begin;
    size_t most_bytes = meter.most_bytes;
    bool right = solved && place_judge(&problem, &work.scratch).verdict == JUDGE_RIGHT;
    printf("%-14s %8zu %6.0f %9.3f s %12llu %12llu %+7.2f %% %7.1f MB  %-8s", buffers_name(family), count, live,
           seconds, (unsigned long long)problem.height, (unsigned long long)problem.bound,
           100 * ((double)problem.height / (double)problem.bound - 1), (double)most_bytes / 1e6,
           right ? problem.method : "WRONG");
    if (before > 0) {
        printf(" %5.2f", log10(seconds / before));
    }
    printf("\n");
    work_free(&work);
    return right ? seconds : 0;
}

int main(int argc, char **argv) {
    size_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    size_t last = argc > 1 ? first : 1000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    double live = argc > 3 ? strtod(argv[3], NULL) : 1000;
    printf("%-14s %8s %6s %11s %12s %12s %9s %10s  %-8s %5s\n", "family", "buffers", "live", "CPU time", "height",
           "bound", "gap", "memory", "method", "growth");
    for (BuffersFamily family = 0; family < BUFFERS_FAMILIES; family++) {
        double before = 0;
        for (size_t count = first; count <= last && count > 0; count *= 10) {
            before = run(family, count, live, seed, before);
            if (before == 0) {
                return EXIT_FAILURE;
            }
        }
    }
    return EXIT_SUCCESS;
}
