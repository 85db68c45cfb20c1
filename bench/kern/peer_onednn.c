/* Candidates: oneDNN (libdnnl-dev), batch normalisation for inference, and a binary product with a sum behind it. */
#include "candidate.h"

#ifdef BENCH_ONEDNN
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARGS = 6, PARAMS = 4 };

typedef struct {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[ARGS];
    dnnl_exec_arg_t arg[ARGS];
    int args;
    float *mean, *variance;
} Dnnl;

static void run_dnnl(void *self) {
    const Dnnl *dnnl = self;
    dnnl_primitive_execute(dnnl->primitive, dnnl->stream, dnnl->args, dnnl->arg);
    dnnl_stream_wait(dnnl->stream);
}

static void drop_dnnl(void *self) {
    Dnnl *dnnl = self;
    for (int k = 0; k < dnnl->args; k++) {
        dnnl_memory_destroy(dnnl->memory[k]);
    }
    if (dnnl->primitive != NULL) {
        dnnl_primitive_destroy(dnnl->primitive);
    }
    dnnl_stream_destroy(dnnl->stream);
    dnnl_engine_destroy(dnnl->engine);
    free(dnnl->mean);
    free(dnnl->variance);
    free(dnnl);
}

static Dnnl *new_dnnl(void) {
    Dnnl *dnnl = calloc(1, sizeof *dnnl);
    if (dnnl == NULL || dnnl_engine_create(&dnnl->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&dnnl->stream, dnnl->engine, dnnl_stream_default_flags) != dnnl_success) {
        fputs("bench_kern: oneDNN has no engine\n", stderr);
        exit(EXIT_FAILURE);
    }
    return dnnl;
}

static void add_arg(Dnnl *dnnl, int role, const dnnl_memory_desc_t *desc, const void *bytes) {
    dnnl_memory_create(&dnnl->memory[dnnl->args], desc, dnnl->engine, (void *)bytes);
    dnnl->arg[dnnl->args] = (dnnl_exec_arg_t){role, dnnl->memory[dnnl->args]};
    dnnl->args++;
}

static dnnl_memory_desc_t map_desc(const Problem *problem) {
    Shape shape = problem->row.shape;
    dnnl_dims_t dims = {(int64_t)shape.n, (int64_t)shape.c, (int64_t)shape.h, (int64_t)shape.w};
    dnnl_memory_desc_t desc;
    dnnl_memory_desc_init_by_tag(&desc, 4, dims, problem->row.elem == INT8 ? dnnl_s8 : dnnl_f32,
                                 problem->row.layout == NHWC ? dnnl_nhwc : dnnl_nchw);
    return desc;
}

/* Of batch normalisation a vector, of binary operators a map of one pixel. */
static dnnl_memory_desc_t param_desc(const Problem *problem, int ndims) {
    int64_t c = (int64_t)problem->row.shape.c;
    dnnl_dims_t vector = {c}, pixel = {1, c, 1, 1};
    dnnl_memory_desc_t desc;
    dnnl_memory_desc_init_by_tag(&desc, ndims, ndims == 1 ? vector : pixel, dnnl_f32, ndims == 1 ? dnnl_a : dnnl_nchw);
    return desc;
}

static void add_if_made(Dnnl *dnnl, dnnl_primitive_desc_t desc, const Problem *problem, Candidates *list,
                        const char *name) {
    bool is_made = desc != NULL && dnnl_primitive_create(&dnnl->primitive, desc) == dnnl_success;
    if (desc != NULL) {
        dnnl_primitive_desc_destroy(desc);
    }
    if (!is_made) {
        drop_dnnl(dnnl);
        return;
    }
    Candidate candidate = {
        .self = dnnl, .run = run_dnnl, .drop = drop_dnnl, .slack = slack_of_peer(problem, 1), .is_library = true};
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    candidates_add(list, candidate);
}

static void add_bnorm(const Problem *problem, Candidates *list) {
    Dnnl *dnnl = new_dnnl();
    size_t c = (size_t)problem->row.shape.c;
    dnnl->mean = bench_alloc(c * sizeof(float));
    dnnl->variance = bench_alloc(c * sizeof(float));
    for (size_t k = 0; k < c; k++) {
        dnnl->mean[k] = 0;
        dnnl->variance[k] = 1;
    }
    dnnl_memory_desc_t map = map_desc(problem), param = param_desc(problem, 1);
    dnnl_batch_normalization_desc_t op;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_batch_normalization_forward_desc_init(&op, dnnl_forward_inference, &map, 0,
                                               dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);
    if (dnnl_primitive_desc_create(&desc, &op, NULL, dnnl->engine, NULL) != dnnl_success) {
        desc = NULL;
    }
    add_arg(dnnl, DNNL_ARG_SRC, &map, problem->x);
    add_arg(dnnl, DNNL_ARG_DST, &map, problem->y);
    add_arg(dnnl, DNNL_ARG_MEAN, &param, dnnl->mean);
    add_arg(dnnl, DNNL_ARG_VARIANCE, &param, dnnl->variance);
    add_arg(dnnl, DNNL_ARG_SCALE, &param, problem->code_scale);
    add_arg(dnnl, DNNL_ARG_SHIFT, &param, problem->code_bias);
    add_if_made(dnnl, desc, problem, list, "onednn-bnorm");
}

static void add_binary(const Problem *problem, Candidates *list) {
    Dnnl *dnnl = new_dnnl();
    dnnl_memory_desc_t map = map_desc(problem), param = param_desc(problem, 4);
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t sum;
    dnnl_binary_desc_t op;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_attr_create(&attr);
    dnnl_post_ops_create(&sum);
    dnnl_post_ops_append_binary(sum, dnnl_binary_add, &param);
    dnnl_primitive_attr_set_post_ops(attr, sum);
    dnnl_binary_desc_init(&op, dnnl_binary_mul, &map, &param, &map);
    if (dnnl_primitive_desc_create(&desc, &op, attr, dnnl->engine, NULL) != dnnl_success) {
        desc = NULL;
    }
    dnnl_post_ops_destroy(sum);
    dnnl_primitive_attr_destroy(attr);
    add_arg(dnnl, DNNL_ARG_SRC_0, &map, problem->x);
    add_arg(dnnl, DNNL_ARG_SRC_1, &param, problem->code_scale);
    add_arg(dnnl, DNNL_ARG_DST, &map, problem->y);
    add_arg(dnnl, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, &param, problem->code_bias);
    add_if_made(dnnl, desc, problem, list, "onednn-binary");
}

static void add_onednn(const Problem *problem, Candidates *list) {
    if (problem->row.elem != INT16) {
        add_bnorm(problem, list);
        add_binary(problem, list);
    }
}

Family family_onednn(void) {
    static char version[32];
    const dnnl_version_t *is = dnnl_version();
    snprintf(version, sizeof version, "%d.%d.%d", is->major, is->minor, is->patch);
    void (*set_threads)(int);
    *(void **)&set_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads"); /* its threads are OpenMP's */
    if (set_threads != NULL) {
        set_threads(1);
    }
    return (Family){"oneDNN", NULL, version, add_onednn};
}
#else
Family family_onednn(void) {
    return (Family){"oneDNN", "libdnnl-dev", NULL, NULL};
}
#endif
