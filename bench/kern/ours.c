/* Candidates: stride0 as it prepares itself, in portable C, in its general exact form, and on two threads. */
#include "ours.h"

#include "candidate.h"
#include "native/variant.h"
#include "native/wide.h"
#include "prepare/form8.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A thread that has slept since the last batch is not at once there. */
enum { TWO = 2, TWO_THREADS_BYTES = 1 << 20, WAKE_CALLS = 100000 };

typedef struct {
    s0_affine *affine;
    const Problem *problem;
    uint32_t threads;
} Ours;

s0_affine *ours_prepare(const Problem *problem, uint32_t threads) {
    Shape shape = problem->row.shape;
    s0_affine_options options = {.dtype = elem_name(problem->row.elem),
                                 .layout = problem->row.layout == NHWC ? "N H W C" : "N C H W",
                                 .n = shape.n,
                                 .c = shape.c,
                                 .h = shape.h,
                                 .w = shape.w,
                                 .scale = problem->scale,
                                 .bias = problem->bias,
                                 .x_scale = problem->x_scale,
                                 .y_scale = problem->y_scale,
                                 .x_zero_point = problem->x_zero,
                                 .y_zero_point = problem->y_zero,
                                 .semantics = "onnx",
                                 .threads = threads};
    if (problem->row.elem == FLOAT32) {
        options.x_scale = options.y_scale = 0;
    }
    s0_affine *affine;
    if (s0_affine_new(&options, NULL, &affine) != S0_DONE) {
        s0_affine_print_messages(affine, stderr);
        exit(EXIT_FAILURE);
    }
    return affine;
}

s0_affine_facts ours_facts(const Problem *problem) {
    s0_affine_facts facts = {0};
    s0_affine *affine = ours_prepare(problem, 1);
    s0_affine_facts_of(affine, &facts);
    s0_affine_free(affine);
    return facts;
}

double ours_prepare_us(const Problem *problem) {
    enum { RUNS = 11 };
    double took[RUNS];
    for (int k = 0; k < RUNS; k++) {
        double begin = timing_now_ns();
        s0_affine_free(ours_prepare(problem, 1));
        took[k] = timing_now_ns() - begin;
    }
    return timing_median(took, RUNS) / 1e3 / (double)problem->row.shape.c;
}

static void run_ours(void *self) {
    const Ours *ours = self;
    s0_affine_run(ours->affine, ours->problem->x, ours->problem->y, ours->threads);
}

static void drop_ours(void *self) {
    Ours *ours = self;
    s0_affine_free(ours->affine);
    free(ours);
}

static void add_prepared(const Problem *problem, Candidates *list, const char *name, uint32_t threads) {
    Ours *ours = bench_alloc(sizeof *ours);
    *ours = (Ours){.affine = ours_prepare(problem, threads), .problem = problem, .threads = threads};
    Candidate candidate = {
        .self = ours, .run = run_ours, .drop = drop_ours, .warm_calls = threads > 1 ? WAKE_CALLS : 0};
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    candidates_add(list, candidate);
}

/* ---- the general form of codes, with no product of 16 bits: by table where one channel's is fast, else by float32,
 * which is right for nearly all parameters */

static const S0Bytes NO_LIMITS = {0, 0, INT8_MIN, INT8_MAX};

typedef struct {
    const Problem *problem;
    const S0Kernels *kernels;
    Wide wide;
    float *scale, *bias; /* repeated as often as a row has pixels */
    uint8_t *table;
    bool streams;
} Exact;

static void run_exact_plane(const Exact *exact, const S0Rows *rows, size_t channel) {
    if (exact->kernels->table8_is_fast) {
        exact->kernels->table8(rows, &(S0Tables8){1, exact->table + channel * FORM8_CODES});
    } else {
        exact->kernels->round8(rows, &(S0Rounds8){1, exact->scale + channel, exact->bias + channel, NO_LIMITS});
    }
}

/* Rows of several pixels, then what is left of them. */
static void run_exact_pixels(const Exact *exact, S0Rows rows) {
    const size_t pixels = exact->wide.pixels, channels = exact->wide.channels, all = rows.rows;
    S0Rounds8 rounds = {pixels * channels, exact->scale, exact->bias, NO_LIMITS};
    rows.rows = all / pixels;
    rows.columns = rows.x_pitch_bytes = rows.y_pitch_bytes = rounds.channels;
    exact->kernels->round8(&rows, &rounds);
    rows.x = (const int8_t *)rows.x + rows.rows * rows.columns;
    rows.y = (int8_t *)rows.y + rows.rows * rows.columns;
    rows.rows = all % pixels > 0;
    rows.columns = rounds.channels = all % pixels * channels;
    exact->kernels->round8(&rows, &rounds);
}

static void run_exact(void *self) {
    const Exact *exact = self;
    Shape shape = exact->problem->row.shape;
    size_t plane = (size_t)(shape.h * shape.w), c = (size_t)shape.c;
    S0Rows rows = {
        .x = exact->problem->x, .y = exact->problem->y, .rows = 1, .columns = plane, .streams = exact->streams};
    if (exact->problem->row.layout == NHWC || row_is_pixel(&exact->problem->row)) {
        rows.rows = (size_t)shape.n * plane;
        run_exact_pixels(exact, rows);
        return;
    }
    for (size_t k = 0; k < (size_t)shape.n * c; k++) {
        rows.x = (const int8_t *)exact->problem->x + k * plane;
        rows.y = (int8_t *)exact->problem->y + k * plane;
        run_exact_plane(exact, &rows, k % c);
    }
}

static void drop_exact(void *self) {
    Exact *exact = self;
    free(exact->scale);
    free(exact->bias);
    free(exact->table);
    free(exact);
}

static void fill_table(const Problem *problem, uint64_t channel, uint8_t table[FORM8_CODES]) {
    for (int code = INT8_MIN; code <= INT8_MAX; code++) {
        table[(uint8_t)code] = (uint8_t)problem_reference(problem, code, channel);
    }
}

static bool find_rounds(const Problem *problem, Exact *exact) {
    size_t channels = (size_t)problem->row.shape.c;
    for (size_t c = 0; c < channels; c++) {
        uint8_t *table = exact->table + c * FORM8_CODES;
        Form8 form;
        fill_table(problem, c, table);
        if (!form8_find_round(table, NO_LIMITS, &form)) {
            return false;
        }
        for (size_t k = 0; k < exact->wide.pixels; k++) {
            exact->scale[k * channels + c] = form.scale;
            exact->bias[k * channels + c] = form.bias;
        }
    }
    return true;
}

static void add_exact(const Problem *problem, Candidates *list) {
    Shape shape = problem->row.shape;
    size_t c = (size_t)shape.c;
    Exact *exact = bench_alloc(sizeof *exact);
    *exact = (Exact){.problem = problem,
                     .kernels = variant_choose(),
                     .wide = {.pixel_bytes = c, .block = c, .channels = c},
                     .table = bench_alloc(c * FORM8_CODES),
                     .streams = 2 * problem->bytes > variant_cache_bytes()};
    exact->wide.pixels = wide_pixels(&exact->wide, shape.n * shape.h * shape.w, exact->kernels->vector_bytes);
    exact->scale = bench_alloc(exact->wide.pixels * c * sizeof(float));
    exact->bias = bench_alloc(exact->wide.pixels * c * sizeof(float));
    if (!find_rounds(problem, exact)) {
        fprintf(stderr, "skipped: stride0-exact, a channel has no rounded product of float32\n");
        drop_exact(exact);
        return;
    }
    candidates_add(list, (Candidate){"stride0-exact", exact, run_exact, NULL, drop_exact, 0, false, 0});
}

/* The environment is left as it was: it tells which kernels the other rows are computed by. */
static void add_portable(const Problem *problem, Candidates *list) {
    static const char NAME[] = "STRIDE0_CPU";
    const char *given = getenv(NAME);
    char kept[64];
    snprintf(kept, sizeof kept, "%s", given == NULL ? "" : given);
    setenv(NAME, "portable", 1);
    add_prepared(problem, list, "stride0-portable", 1);
    if (given == NULL) {
        unsetenv(NAME);
    } else {
        setenv(NAME, kept, 1);
    }
}

static void add_ours(const Problem *problem, Candidates *list) {
    add_prepared(problem, list, "stride0", 1);
    if (problem->bytes >= TWO_THREADS_BYTES) {
        add_prepared(problem, list, "stride0-2threads", TWO);
    }
    if (problem->row.elem == INT8) {
        add_exact(problem, list);
    }
    add_portable(problem, list);
}

const Family family_ours = {"stride0", NULL, S0_VERSION, add_ours};
