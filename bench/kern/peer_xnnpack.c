/* Candidates: XNNPACK (libxnnpack-dev). A product and a sum that broadcast, and, channel last, the convolution of one
 * element a channel, which is an affine (of float32 its kernel `vmulcaddc`). */
#include "candidate.h"

#ifdef BENCH_XNNPACK
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xnnpack.h>

enum { DIMS = 4, PADDING = XNN_EXTRA_BYTES };

typedef struct {
    xnn_operator_t first, second; /* second may be null */
    void *between;                /* what the first gives to the second */
    void *scale, *bias;           /* codes, or a copy of the numbers */
} Xnn;

static void run_xnn(void *self) {
    const Xnn *xnn = self;
    xnn_run_operator(xnn->first, NULL);
    if (xnn->second != NULL) {
        xnn_run_operator(xnn->second, NULL);
    }
}

static void drop_xnn(void *self) {
    Xnn *xnn = self;
    xnn_delete_operator(xnn->first);
    xnn_delete_operator(xnn->second);
    free(xnn->between);
    free(xnn->scale);
    free(xnn->bias);
    free(xnn);
}

static Xnn *new_xnn(const Problem *problem, size_t param_bytes) {
    Xnn *xnn = bench_alloc(sizeof *xnn);
    size_t c = (size_t)problem->row.shape.c;
    *xnn = (Xnn){.scale = bench_alloc(c * param_bytes + PADDING), .bias = bench_alloc(c * param_bytes + PADDING)};
    return xnn;
}

static void add_if(bool is_made, Xnn *xnn, const Problem *problem, Candidates *list, const char *name) {
    if (!is_made) {
        drop_xnn(xnn);
        return;
    }
    Candidate candidate = {
        .self = xnn, .run = run_xnn, .drop = drop_xnn, .slack = slack_of_peer(problem, 3), .is_library = true};
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    candidates_add(list, candidate);
}

typedef struct {
    size_t map[DIMS], param[DIMS];
} Dims;

static Dims dims_of(const Problem *problem) {
    Shape s = problem->row.shape;
    size_t n = (size_t)s.n, c = (size_t)s.c, h = (size_t)s.h, w = (size_t)s.w;
    return problem->row.layout == NHWC ? (Dims){{n, h, w, c}, {1, 1, 1, c}} : (Dims){{n, c, h, w}, {1, c, 1, 1}};
}

static void add_f32_pair(const Problem *problem, Candidates *list) {
    Xnn *xnn = new_xnn(problem, sizeof(float));
    Dims dims = dims_of(problem);
    for (size_t c = 0; c < (size_t)problem->row.shape.c; c++) {
        ((float *)xnn->scale)[c] = problem->scale[c];
        ((float *)xnn->bias)[c] = problem->bias[c];
    }
    bool is_made = xnn_create_multiply_nd_f32(-INFINITY, INFINITY, 0, &xnn->first) == xnn_status_success &&
                   xnn_create_add_nd_f32(-INFINITY, INFINITY, 0, &xnn->second) == xnn_status_success &&
                   xnn_setup_multiply_nd_f32(xnn->first, DIMS, dims.map, DIMS, dims.param, problem->x, xnn->scale,
                                             problem->y, NULL) == xnn_status_success &&
                   xnn_setup_add_nd_f32(xnn->second, DIMS, dims.map, DIMS, dims.param, problem->y, xnn->bias,
                                        problem->y, NULL) == xnn_status_success;
    add_if(is_made, xnn, problem, list, "xnnpack-mul-add");
}

static void add_f32_conv(const Problem *problem, Candidates *list) {
    Xnn *xnn = new_xnn(problem, sizeof(float));
    Shape s = problem->row.shape;
    size_t c = (size_t)s.c;
    bool is_made =
        xnn_create_convolution2d_nhwc_f32(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, (uint32_t)c, 1, 1, c, c, problem->scale,
                                          problem->bias, -INFINITY, INFINITY, 0, &xnn->first) == xnn_status_success &&
        xnn_setup_convolution2d_nhwc_f32(xnn->first, (size_t)s.n, (size_t)s.h, (size_t)s.w, problem->x, problem->y,
                                         NULL) == xnn_status_success;
    add_if(is_made, xnn, problem, list, "xnnpack-vmulcaddc");
}

static float largest(const float *values, uint64_t count) {
    float most = 1e-6f;
    for (uint64_t c = 0; c < count; c++) {
        most = fmaxf(most, fabsf(values[c]));
    }
    return most;
}

/* Codes of values in units of scale, and what is left of int8's range unused. */
static void quantise(const float *values, uint64_t count, float scale, int8_t *codes) {
    for (uint64_t c = 0; c < count; c++) {
        codes[c] = (int8_t)rintf(fminf(fmaxf(values[c] / scale, INT8_MIN), INT8_MAX));
    }
}

static void add_s8_pair(const Problem *problem, Candidates *list) {
    Xnn *xnn = new_xnn(problem, sizeof(int8_t));
    Dims dims = dims_of(problem);
    uint64_t c = problem->row.shape.c;
    float scale = largest(problem->scale, c) / INT8_MAX, bias = largest(problem->bias, c) / INT8_MAX;
    float between = problem->x_scale * 136 * largest(problem->scale, c) / INT8_MAX;
    quantise(problem->scale, c, scale, xnn->scale);
    quantise(problem->bias, c, bias, xnn->bias);
    xnn->between = bench_alloc(problem->bytes + PADDING);
    bool is_made = xnn_create_multiply_nd_qs8((int8_t)problem->x_zero, problem->x_scale, 0, scale, 0, between, INT8_MIN,
                                              INT8_MAX, 0, &xnn->first) == xnn_status_success &&
                   xnn_create_add_nd_qs8(0, between, 0, bias, (int8_t)problem->y_zero, problem->y_scale, INT8_MIN,
                                         INT8_MAX, 0, &xnn->second) == xnn_status_success &&
                   xnn_setup_multiply_nd_qs8(xnn->first, DIMS, dims.map, DIMS, dims.param, problem->x, xnn->scale,
                                             xnn->between, NULL) == xnn_status_success &&
                   xnn_setup_add_nd_qs8(xnn->second, DIMS, dims.map, DIMS, dims.param, xnn->between, xnn->bias,
                                        problem->y, NULL) == xnn_status_success;
    add_if(is_made, xnn, problem, list, "xnnpack-mul-add");
}

/* A weight of 127 a channel, or -127, whose scale is the channel's: no precision is lost. */
static void add_s8_conv(const Problem *problem, Candidates *list) {
    Xnn *xnn = new_xnn(problem, sizeof(float));
    Shape s = problem->row.shape;
    size_t c = (size_t)s.c;
    int8_t *weight = bench_alloc(c);
    int32_t *addend = xnn->bias;
    for (size_t k = 0; k < c; k++) {
        ((float *)xnn->scale)[k] = fabsf(problem->scale[k]) / INT8_MAX;
        weight[k] = problem->scale[k] < 0 ? -INT8_MAX : INT8_MAX;
        addend[k] = (int32_t)lrintf(problem->bias[k] / (problem->x_scale * ((float *)xnn->scale)[k]));
    }
    bool is_made = xnn_create_convolution2d_nhwc_qc8(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, (uint32_t)c, 1, 1, c, c,
                                                     (int8_t)problem->x_zero, problem->x_scale, xnn->scale, weight,
                                                     addend, (int8_t)problem->y_zero, problem->y_scale, INT8_MIN,
                                                     INT8_MAX, 0, &xnn->first) == xnn_status_success &&
                   xnn_setup_convolution2d_nhwc_qc8(xnn->first, (size_t)s.n, (size_t)s.h, (size_t)s.w, problem->x,
                                                    problem->y, NULL) == xnn_status_success;
    free(weight);
    add_if(is_made, xnn, problem, list, "xnnpack-dwconv");
}

static void add_xnnpack(const Problem *problem, Candidates *list) {
    if (problem->row.elem == FLOAT32) {
        add_f32_pair(problem, list);
    } else if (problem->row.elem == INT8) {
        add_s8_pair(problem, list);
    }
    if (problem->row.layout == NHWC && problem->row.elem == FLOAT32) {
        add_f32_conv(problem, list);
    } else if (problem->row.layout == NHWC && problem->row.elem == INT8) {
        add_s8_conv(problem, list);
    }
}

Family family_xnnpack(void) {
    if (xnn_initialize(NULL) != xnn_status_success) {
        return (Family){"XNNPACK", "a processor that it knows", NULL, NULL};
    }
    return (Family){"XNNPACK", NULL, BENCH_XNNPACK, add_xnnpack};
}
#else
Family family_xnnpack(void) {
    return (Family){"XNNPACK", "libxnnpack-dev", NULL, NULL};
}
#endif
