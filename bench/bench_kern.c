/* How fast the kernels are, beside copies, plain loops and libraries.
 *
 *     bench_kern [--json FILE] [--markdown FILE] [--only TEXT]
 *
 * TEXT is part of a row's name, "[1,64,56,56] NHWC int8". A candidate that computes something else ends the program. */
#include "kern/ours.h"
#include "kern/results.h"
#include "kern/timing.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *json, *markdown, *only;
} Options;

static Options read_options(int argc, char **argv) {
    Options options = {0};
    for (int k = 1; k < argc; k += 2) {
        const char **to = strcmp(argv[k], "--json") == 0       ? &options.json
                          : strcmp(argv[k], "--markdown") == 0 ? &options.markdown
                          : strcmp(argv[k], "--only") == 0     ? &options.only
                                                               : NULL;
        if (to == NULL || k + 1 == argc) {
            fputs("usage: bench_kern [--json FILE] [--markdown FILE] [--only TEXT]\n", stderr);
            exit(EXIT_FAILURE);
        }
        *to = argv[k + 1];
    }
    return options;
}

static void list_families(Results *results) {
    Family all[] = {family_copies,  family_ours,     family_naive_gcc, family_naive_clang,
                    family_eigen(), family_onednn(), family_xnnpack(), family_ort()};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (all[k].missing != NULL) {
            fprintf(stderr, "skipped: %s, needs %s\n", all[k].name, all[k].missing);
        }
        results->family[results->family_count++] = all[k];
    }
}

/* Each writes y anew. `first`: nanoseconds of that call, 0 where there is none. */
static void check(const Problem *problem, const Candidates *list, double first[CANDIDATES_MOST]) {
    for (size_t k = 0; k < list->count; k++) {
        const Candidate *candidate = &list->at[k];
        first[k] = 0;
        if (candidate->run == NULL || candidate->slack < 0) {
            continue;
        }
        memset(problem->y, 0x55, problem->bytes);
        double begin = timing_now_ns();
        candidate->run(candidate->self);
        first[k] = timing_now_ns() - begin;
        double off = problem_difference(problem);
        if (!(off <= candidate->slack)) {
            char text[SHAPE_TEXT];
            fprintf(stderr, "bench_kern: %s, %s %s %s: wrong by %g, %g at most\n", candidate->name,
                    shape_text(problem->row.shape, text), layout_name(problem->row.layout),
                    elem_name(problem->row.elem), off, candidate->slack);
            exit(EXIT_FAILURE);
        }
    }
}

static void measure(const Row *row, Results *results) {
    static Candidates list;
    double first[CANDIDATES_MOST], ns[CANDIDATES_MOST];
    Problem problem;
    problem_make(row, &problem);
    for (size_t k = 0; k < results->family_count; k++) {
        if (results->family[k].add != NULL) {
            results->family[k].add(&problem, &list);
        }
    }
    check(&problem, &list, first);
    timing_compare(&list, first, ns);
    results_add(results, row, &list, ns);
    s0_affine_facts facts = ours_facts(&problem);
    results_add_facts(results, row, &facts);
    if (row_is_pixel(row)) {
        results->prepare_us[row->elem][row->layout] = ours_prepare_us(&problem);
    }
    candidates_drop(&list);
    problem_free(&problem);
}

static bool is_wanted(const Row *row, const char *only) {
    char shape[SHAPE_TEXT], text[2 * SHAPE_TEXT];
    snprintf(text, sizeof text, "%s %s %s", shape_text(row->shape, shape), layout_name(row->layout),
             elem_name(row->elem));
    return only == NULL || strstr(text, only) != NULL;
}

static bool write_to(const char *path, const Results *results, void (*write)(const Results *, FILE *)) {
    FILE *out = path == NULL ? NULL : fopen(path, "w");
    if (out != NULL) {
        write(results, out);
    }
    bool is_written = path == NULL || (out != NULL && fclose(out) == 0);
    if (!is_written) {
        fprintf(stderr, "bench_kern: %s can't be written\n", path);
    }
    return is_written;
}

int main(int argc, char **argv) {
    static Results results;
    Row rows[ROWS_MOST];
    Options options = read_options(argc, argv);
    size_t count = rows_list(rows);
    list_families(&results);
    for (size_t k = 0; k < count; k++) {
        if (is_wanted(&rows[k], options.only)) {
            measure(&rows[k], &results);
            results_print_row(&results, &rows[k], stdout);
            fflush(stdout);
        }
    }
    bool is_written = write_to(options.json, &results, results_write_json);
    is_written &= write_to(options.markdown, &results, results_write_page);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
