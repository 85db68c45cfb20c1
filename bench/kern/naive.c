/* Candidates: plain loops of both compilers, with parameters compact, expanded to a row and to an image. */
#include "candidate.h"
#include "naive_loops.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(BENCH_GCC) || defined(BENCH_CLANG)
typedef struct {
    NaiveCall call;
    NaiveLoop loop;
    float *scale, *bias; /* expanded */
} Naive;

static void run_naive(void *self) {
    const Naive *naive = self;
    naive->loop(&naive->call);
}

static void drop_naive(void *self) {
    Naive *naive = self;
    free(naive->scale);
    free(naive->bias);
    free(naive);
}

/* Parameters that a form has: all of them channel after channel, or of a row of pixels. */
static size_t form_elems(const Problem *problem, int form) {
    Shape shape = problem->row.shape;
    uint64_t expanded[NAIVE_FORMS] = {1, shape.w, shape.h * shape.w};
    return (size_t)(shape.c * expanded[form]);
}

static void expand(Naive *naive, const Problem *problem, int form) {
    size_t count = form_elems(problem, form), repeats = count / (size_t)problem->row.shape.c;
    naive->scale = bench_alloc(count * sizeof(float));
    naive->bias = bench_alloc(count * sizeof(float));
    for (size_t k = 0; k < count; k++) {
        size_t c = problem->row.layout == NHWC ? k % (size_t)problem->row.shape.c : k / repeats;
        naive->scale[k] = problem->code_scale[c];
        naive->bias[k] = problem->code_bias[c];
    }
    naive->call.scale = naive->scale;
    naive->call.bias = naive->bias;
}

static void add_naive(const Problem *problem, Candidates *list, const char *compiler, const NaiveLoops *loops) {
    static const char *const forms[NAIVE_FORMS] = {"compact", "row", "full"};
    Shape shape = problem->row.shape;
    for (int form = 0; form < NAIVE_FORMS; form++) {
        Naive *naive = bench_alloc(sizeof *naive);
        *naive =
            (Naive){.call = {.x = problem->x, .y = problem->y, .n = shape.n, .c = shape.c, .h = shape.h, .w = shape.w},
                    .loop = (*loops)[problem->row.elem][problem->row.layout][form]};
        expand(naive, problem, form);
        Candidate candidate = {.self = naive, .run = run_naive, .drop = drop_naive, .slack = 1};
        candidate.slack = problem->row.elem == FLOAT32 ? 0 : 1;
        snprintf(candidate.name, sizeof candidate.name, "naive-%s-%s", compiler, forms[form]);
        candidates_add(list, candidate);
    }
}
#endif

#ifdef BENCH_GCC
static void add_gcc(const Problem *problem, Candidates *list) {
    add_naive(problem, list, "gcc", &naive_loops_gcc);
}
const Family family_naive_gcc = {"naive loops of gcc", NULL, BENCH_GCC, add_gcc};
#else
const Family family_naive_gcc = {"naive loops of gcc", "gcc", NULL, NULL};
#endif

#ifdef BENCH_CLANG
static void add_clang(const Problem *problem, Candidates *list) {
    add_naive(problem, list, "clang", &naive_loops_clang);
}
const Family family_naive_clang = {"naive loops of clang", NULL, BENCH_CLANG, add_clang};
#else
const Family family_naive_clang = {"naive loops of clang", "clang", NULL, NULL};
#endif
