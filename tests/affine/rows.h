/* Rows of a rule: a model, the nodes that are left of it, constants, and the reason of a refusal. */
#ifndef TESTS_AFFINE_ROWS_H
#define TESTS_AFFINE_ROWS_H

#include "affine/simplified.h"

#include "layout/packed.h"

typedef struct {
    Model model;
    const char *expected; /* nodes that are left; null: all as they were, and nothing is logged */
    struct {
        const char *name;
        uint32_t count;
        double at[8];
    } constant[2];       /* with these numbers, where named */
    const char *refusal; /* a reason that is told, where not null */
} Row;

static inline double stored_number(const Value *value, uint32_t k) {
    uint64_t bits = packed_read(value->constant->bytes.ptr, k, dtype_bits(value->dtype));
    if (value->dtype == DTYPE_F32) {
        uint32_t low = (uint32_t)bits;
        float number;
        memcpy(&number, &low, sizeof number);
        return (double)number;
    }
    return dtype_kind(value->dtype) == DTYPE_KIND_SIGNED && bits >= 128 ? (double)bits - 256 : (double)bits;
}

/* A constant that took the place of one of the same name comes behind it. */
static inline const Value *last_of(const Graph *graph, const char *name) {
    for (uint32_t v = graph->value_count; v-- > 0;) {
        if (str_eq(graph->values[v].name, str_from(name))) {
            return &graph->values[v];
        }
    }
    fail_msg("no constant %s", name);
    return NULL;
}

static inline bool has_constants(const Graph *graph, const Row *row) {
    for (size_t k = 0; k < 2 && row->constant[k].name != NULL; k++) {
        const Value *value = last_of(graph, row->constant[k].name);
        uint32_t bits = dtype_bits(value->dtype);
        if (value->constant->bytes.len * 8 != (size_t)row->constant[k].count * bits) {
            return false;
        }
        for (uint32_t i = 0; i < row->constant[k].count; i++) {
            double expected = (double)(float)row->constant[k].at[i];
            if (stored_number(value, i) != expected) {
                print_error("%s of %s: %.9g, not %.9g\n", row->constant[k].name, row->model.what,
                            stored_number(value, i), expected);
                return false;
            }
        }
    }
    return true;
}

static inline bool is_refused(const Simplified *out, const char *reason) {
    for (size_t k = 0; reason != NULL && k < out->refusal_count; k++) {
        if (strstr(out->refusals[k].reason, reason) != NULL) {
            return true;
        }
    }
    return reason == NULL;
}

/* No operator stays for two reasons. */
static inline bool has_one_reason_each(const Simplified *out) {
    for (size_t k = 0; k < out->refusal_count; k++) {
        for (size_t j = 0; j < k; j++) {
            if (str_eq(out->refusals[j].node, out->refusals[k].node)) {
                return false;
            }
        }
    }
    return true;
}

static inline bool check_simplified(Work *work, const void *argument) {
    const Row *row = argument;
    Simplified out;
    const char *before;
    Graph *graph = simplify_model(work, &row->model, &out, &before);
    const char *got = list_nodes(work, graph);
    const char *expected = row->expected == NULL ? before : row->expected;
    bool is_right = strcmp(got, expected) == 0 && (out.rewrite_count == 0) == (row->expected == NULL);
    is_right = is_right && has_constants(graph, row) && is_refused(&out, row->refusal) &&
               (row->refusal == NULL || has_one_reason_each(&out));
    if (!is_right) {
        print_error("%s: %zu rewrites, got\n%sexpected\n%s", row->model.what, out.rewrite_count, got, expected);
        for (size_t k = 0; k < out.refusal_count; k++) {
            print_error("refused: %s\n", out.refusals[k].reason);
        }
    }
    return is_right;
}

#endif
