/* Draws the maps and parameters of a row, and computes what comes out of them. */
#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, PAGE = 4096, WINDOW = 1 << 20 };

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

static float between(uint64_t *state, float lo, float hi) {
    return lo + (hi - lo) * (float)(next(state) % (1 << 20)) / (float)(1 << 20);
}

void *bench_alloc(size_t bytes) {
    void *block = malloc(bytes > 0 ? bytes : 1);
    if (block == NULL) {
        fprintf(stderr, "bench_kern: no memory for %zu bytes\n", bytes);
        exit(EXIT_FAILURE);
    }
    return block;
}

/* Loads from x and stores to y a multiple of 4 KiB apart wait for one another: y begins elsewhere in its page. */
static void place(Problem *problem) {
    size_t pages = (problem->bytes / PAGE + 2) * PAGE;
    problem->block = bench_alloc(2 * pages + PAGE);
    uintptr_t begin = ((uintptr_t)problem->block + PAGE - 1) / PAGE * PAGE;
    problem->x = (void *)begin;
    problem->y = (void *)(begin + pages + (size_t)LINE * 29);
    memset(problem->y, 0, problem->bytes);
}

static void draw_map(Problem *problem, uint64_t *state) {
    for (size_t k = 0; k < problem->elems; k++) {
        uint64_t chance = next(state);
        switch (problem->row.elem) {
        case FLOAT32:
            ((float *)problem->x)[k] = (float)(chance % 65536) / 16384 - 2;
            break;
        case INT8:
            ((int8_t *)problem->x)[k] = (int8_t)(chance % 256 - 128);
            break;
        default:
            ((int16_t *)problem->x)[k] = (int16_t)(chance % 65536 - 32768);
        }
    }
}

/* A channel of a batch normalisation keeps the size of what it gets or makes it smaller; one of eight turns the sign.
 */
static void draw_parameters(Problem *problem, uint64_t *state) {
    size_t bytes = problem->row.shape.c * sizeof(float);
    problem->scale = bench_alloc(bytes);
    problem->bias = bench_alloc(bytes);
    problem->code_scale = bench_alloc(bytes);
    problem->code_bias = bench_alloc(bytes);
    for (uint64_t c = 0; c < problem->row.shape.c; c++) {
        float slope = expf(between(state, logf(0.05f), 0)) * (next(state) % 8 == 0 ? -1.0f : 1.0f);
        float shift = between(state, -0.3f, 0.3f) * (float)problem->hi;
        problem->scale[c] = slope * problem->y_scale / problem->x_scale;
        problem->bias[c] = shift * problem->y_scale;
        problem->code_scale[c] = problem->x_scale * problem->scale[c] / problem->y_scale;
        problem->code_bias[c] = problem->bias[c] / problem->y_scale + (float)problem->y_zero -
                                (float)problem->x_zero * problem->code_scale[c];
    }
}

int32_t problem_reference(const Problem *problem, int32_t code, uint64_t channel) {
    float x = (float)(code - problem->x_zero) * problem->x_scale;
    float product = x * problem->scale[channel];
    float y = (product + problem->bias[channel]) / problem->y_scale;
    float whole = rintf(y) + (float)problem->y_zero;
    return (int32_t)fminf(fmaxf(whole, (float)problem->lo), (float)problem->hi);
}

static float expected_at(const Problem *problem, size_t k) {
    uint64_t c = row_channel(&problem->row, k);
    switch (problem->row.elem) {
    case FLOAT32: {
        float product = ((const float *)problem->x)[k] * problem->scale[c];
        return product + problem->bias[c];
    }
    case INT8:
        return (float)problem_reference(problem, ((const int8_t *)problem->x)[k], c);
    default:
        return (float)problem_reference(problem, ((const int16_t *)problem->x)[k], c);
    }
}

/* The element that stands for number k of the windows. */
static size_t window_elem(const Problem *problem, size_t k) {
    return k < problem->window ? k : problem->elems - 2 * problem->window + k;
}

static void expect(Problem *problem) {
    problem->window =
        problem->elems / 2 + problem->elems % 2 < WINDOW ? problem->elems / 2 + problem->elems % 2 : WINDOW;
    if (2 * problem->window > problem->elems) {
        problem->window = problem->elems / 2;
    }
    problem->expected = bench_alloc((2 * problem->window) * sizeof(float));
    for (size_t k = 0; k < 2 * problem->window; k++) {
        problem->expected[k] = expected_at(problem, window_elem(problem, k));
    }
}

void problem_make(const Row *row, Problem *problem) {
    uint64_t state = 7;
    *problem = (Problem){.row = *row, .elems = row_elems(row), .bytes = row_bytes(row)};
    problem->x_scale = problem->y_scale = 1;
    problem->hi = 1;
    if (row->elem == INT8) {
        problem->x_scale = 0.04f;
        problem->y_scale = 0.05f;
        problem->x_zero = -7;
        problem->y_zero = 12;
        problem->lo = INT8_MIN;
        problem->hi = INT8_MAX;
    } else if (row->elem == INT16) {
        problem->x_scale = 1.5e-4f;
        problem->y_scale = 0x1p-12f; /* what is divided by another scale has a rounding more, and no fast form */
        problem->lo = INT16_MIN;
        problem->hi = INT16_MAX;
    }
    place(problem);
    draw_map(problem, &state);
    draw_parameters(problem, &state);
    expect(problem);
}

void problem_free(Problem *problem) {
    free(problem->block);
    free(problem->scale);
    free(problem->bias);
    free(problem->code_scale);
    free(problem->code_bias);
    free(problem->expected);
}

static float y_at(const Problem *problem, size_t k) {
    switch (problem->row.elem) {
    case FLOAT32:
        return ((const float *)problem->y)[k];
    case INT8:
        return ((const int8_t *)problem->y)[k];
    default:
        return ((const int16_t *)problem->y)[k];
    }
}

double problem_difference(const Problem *problem) {
    double most = 0;
    for (size_t k = 0; k < 2 * problem->window; k++) {
        double expected = problem->expected[k];
        double off = fabs(y_at(problem, window_elem(problem, k)) - expected);
        off = problem->row.elem == FLOAT32 ? off / (1 + fabs(expected)) : off;
        if (!(off <= most)) {
            most = isnan(off) ? INFINITY : off;
        }
    }
    return most;
}
