/* How fast the solver decides and minimises: bench_solver FOLDER [options] solves each FOLDER/NAME.CAPACITY.csv
 * (columns id, lower, upper, size; half-open) and prints time, nodes, height, bound and what proves it.
 *
 *     --minimise           the lowest height instead of any within the capacity
 *     --capacity BYTES     instead of the one in the file's name
 *     --align BYTES        the memory's unit
 *     --threads N          default 2
 *     --time-limit MS      for each file, default none
 *     --nodes N            for each file, default none
 *     --without INFERENCE  switched off; may be repeated
 *     --only NAME          the files whose name starts so */
#include "base/work.h"
#include "place/judge.h"
#include "solver/solver.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct {
    const char *folder, *only;
    SolverOptions options;
    double wall, user; /* the sums, seconds */
    int failed;
} Bench;

static double wall_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double user_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

static SolverBuffer *read_rows(FILE *file, Arena *arena, size_t *count) {
    char line[256];
    size_t capacity = 0;
    SolverBuffer *buffer = NULL;
    *count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long first, last, size;
        if (sscanf(line, "%*[^,],%llu,%llu,%llu", &first, &last, &size) == 3) {
            buffer = arena_grow(arena, buffer, *count, &capacity, sizeof *buffer);
            buffer[(*count)++] = (SolverBuffer){.size = size, .align = 1, .first = first, .last = last};
        }
    }
    return buffer;
}

static bool is_right(const SolverBuffer *buffer, size_t count, const SolverResult *result, uint64_t align_bytes,
                     Arena *arena) {
    PlaceProblem problem = {arena_array(arena, PlaceBuffer, count), count, .align_bytes = align_bytes};
    for (size_t i = 0; i < count; i++) {
        problem.buffer[i] = (PlaceBuffer){.size = buffer[i].size,
                                          .align = buffer[i].align,
                                          .first = buffer[i].first,
                                          .last = buffer[i].last,
                                          .offset = buffer[i].offset};
    }
    problem.height = result->height;
    return place_bound(&problem, arena, &problem.bound, NULL) && place_judge(&problem, arena).verdict == JUDGE_RIGHT;
}

static void solve_file(Bench *bench, const char *name, FILE *file, Work *work) {
    size_t count;
    SolverBuffer *buffer = read_rows(file, &work->keep, &count);
    SolverOptions options = bench->options;
    const char *dot = strchr(name, '.');
    if (options.capacity == 0) {
        options.capacity = dot != NULL ? strtoull(dot + 1, NULL, 10) : 0;
        options.capacity = options.capacity != 0 ? options.capacity : UINT64_MAX;
    }
    SolverResult result = {0};
    double wall = wall_s(), user = user_s();
    bool is_solved = solver_run(buffer, count, &options, &work->keep, &work->scratch, &result);
    wall = wall_s() - wall;
    user = user_s() - user;
    static const char *const OUTCOME[] = {"found", "infeasible", "stopped"};
    bool right = is_solved && is_right(buffer, count, &result, options.align_bytes, &work->scratch);
    printf("%-28.28s %5zu %9.4f %9.4f %10llu %10llu %10llu %-10s %-8s %s, %s%s\n", name, count, wall, user,
           (unsigned long long)result.nodes, (unsigned long long)result.height, (unsigned long long)result.bound,
           OUTCOME[result.outcome], result.is_optimal ? "optimal" : "", result.method, result.proof,
           right ? "" : "  THE JUDGE SAYS NO");
    fflush(stdout);
    bench->wall += wall;
    bench->user += user;
    bench->failed += !right || result.outcome != SOLVER_FOUND;
}

static void run_file(Bench *bench, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    FILE *file = fopen(path, "r");
    Work work;
    work_init(&work, &system_allocator);
    if (file == NULL || setjmp(work.escape) != 0) {
        fprintf(stderr, "bench_solver: %s: no file or no memory\n", path);
        exit(EXIT_FAILURE);
    }
    solve_file(bench, name, file, &work);
    fclose(file);
    work_free(&work);
}

static int is_table(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0;
}

static Inference find_inference(const char *name) {
    Inference k = 0;
    while (k < INFER_COUNT && strcmp(inference_name(k), name) != 0) {
        k++;
    }
    if (k == INFER_COUNT) {
        fprintf(stderr, "bench_solver: there is no inference %s\n", name);
        exit(EXIT_FAILURE);
    }
    return k;
}

static void read_option(Bench *bench, const char *option, const char *value) {
    SolverOptions *options = &bench->options;
    uint64_t number = strtoull(value, NULL, 10);
    if (strcmp(option, "--capacity") == 0) {
        options->capacity = number;
    } else if (strcmp(option, "--align") == 0) {
        options->align_bytes = number;
    } else if (strcmp(option, "--threads") == 0) {
        options->threads = (uint32_t)number;
    } else if (strcmp(option, "--time-limit") == 0) {
        options->most_ms = number;
    } else if (strcmp(option, "--nodes") == 0) {
        options->most_nodes = number;
    } else if (strcmp(option, "--without") == 0) {
        options->switched_off |= 1U << find_inference(value);
    } else if (strcmp(option, "--only") == 0) {
        bench->only = value;
    } else {
        fprintf(stderr, "bench_solver: there is no option %s\n", option);
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv) {
    Bench bench = {.folder = argc > 1 ? argv[1] : S0_SHARED_DIR "/place/minimalloc",
                   .only = "",
                   .options = {.align_bytes = 1, .threads = 2}};
    for (int k = 2; k < argc; k++) {
        if (strcmp(argv[k], "--minimise") == 0) {
            bench.options.is_minimised = true;
        } else if (k + 1 < argc) {
            read_option(&bench, argv[k], argv[k + 1]);
            k++;
        }
    }
    struct dirent **entry = NULL;
    int count = scandir(bench.folder, &entry, is_table, alphasort);
    printf("%-28s %5s %9s %9s %10s %10s %10s %-10s %-8s %s\n", "file", "n", "wall s", "user s", "nodes", "height",
           "bound", "outcome", "", "method, proof");
    for (int k = 0; k < count; k++) {
        if (strncmp(entry[k]->d_name, bench.only, strlen(bench.only)) == 0) {
            run_file(&bench, entry[k]->d_name);
        }
        free(entry[k]);
    }
    free(entry);
    printf("%-28s %5s %9.4f %9.4f\n", "sum", "", bench.wall, bench.user);
    return bench.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
