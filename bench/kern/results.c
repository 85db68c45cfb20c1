/* Keeps what was measured; writes it as text and as JSON. */
#include "results.h"

#include <string.h>

static double per_s(const Row *row, double ns) {
    return 2 * (double)row_bytes(row) / ns;
}

static double best_copy_ns(const Candidates *list, const double *ns) {
    double best = 0;
    for (size_t k = 0; k < list->count; k++) {
        bool is_copy = strcmp(list->at[k].name, "memcpy") == 0 || strcmp(list->at[k].name, "copy") == 0;
        best = is_copy && (best == 0 || ns[k] < best) ? ns[k] : best;
    }
    return best;
}

/* memcpy stands first. */
void results_add(Results *results, const Row *row, const Candidates *list, const double *ns) {
    double best = best_copy_ns(list, ns);
    for (size_t k = 0; k < list->count; k++) {
        if (ns[k] <= 0) {
            continue;
        }
        Result *result = &results->at[results->count++];
        *result =
            (Result){.row = *row, .is_library = list->at[k].is_library, .ns = ns[k], .gb_per_s = per_s(row, ns[k])};
        memcpy(result->name, list->at[k].name, sizeof result->name);
        result->ratio = ns[0] / ns[k];
        result->share = best / ns[k];
    }
}

void results_add_facts(Results *results, const Row *row, const s0_affine_facts *facts) {
    s0_affine_facts *sum = &results->facts[row->elem][row->layout];
    sum->floats += facts->floats;
    sum->products += facts->products;
    sum->odd_products += facts->odd_products;
    sum->rounds += facts->rounds;
    sum->fixed += facts->fixed;
    sum->tables += facts->tables;
    sum->chains += facts->chains;
}

static bool is_same_row(const Row *a, const Row *b) {
    return a->layout == b->layout && a->elem == b->elem && a->shape.n == b->shape.n && a->shape.c == b->shape.c &&
           a->shape.h == b->shape.h && a->shape.w == b->shape.w;
}

const Result *results_find(const Results *results, const Row *row, const char *name) {
    for (size_t k = 0; k < results->count; k++) {
        if (is_same_row(&results->at[k].row, row) && strcmp(results->at[k].name, name) == 0) {
            return &results->at[k];
        }
    }
    return NULL;
}

const Result *results_faster(const Result *a, const Result *b) {
    return a == NULL || (b != NULL && b->ns < a->ns) ? b : a;
}

const Result *results_library(const Results *results, const Row *row, const char *prefix) {
    const Result *best = NULL;
    for (size_t k = 0; k < results->count; k++) {
        const Result *result = &results->at[k];
        bool is_of = result->is_library && strncmp(result->name, prefix, strlen(prefix)) == 0;
        best = is_of && is_same_row(&result->row, row) ? results_faster(best, result) : best;
    }
    return best;
}

void results_print_row(const Results *results, const Row *row, FILE *out) {
    char text[SHAPE_TEXT];
    fprintf(out, "\n%s %s %s, %zu bytes, %s\n", shape_text(row->shape, text), layout_name(row->layout),
            elem_name(row->elem), row_bytes(row), level_name(row_level(row)));
    fprintf(out, "    %-22s %9s %8s %16s\n", "", "GB/s", "/ memcpy", "/ faster copy");
    for (size_t k = 0; k < results->count; k++) {
        const Result *result = &results->at[k];
        if (is_same_row(&result->row, row)) {
            fprintf(out, "    %-22s %9.2f %8.2f %16.2f %12.2f us\n", result->name, result->gb_per_s, result->ratio,
                    result->share, result->ns / 1e3);
        }
    }
}

void results_write_json(const Results *results, FILE *out) {
    char text[SHAPE_TEXT];
    fputs("[\n", out);
    for (size_t k = 0; k < results->count; k++) {
        const Result *result = &results->at[k];
        fprintf(
            out,
            "  {\"shape\": \"%s\", \"layout\": \"%s\", \"dtype\": \"%s\", \"candidate\": \"%s\", \"gb_per_s\": %.4f, "
            "\"ratio\": %.4f}%s\n",
            shape_text(result->row.shape, text), layout_name(result->row.layout), elem_name(result->row.elem),
            result->name, result->gb_per_s, result->ratio, k + 1 < results->count ? "," : "");
    }
    fputs("]\n", out);
}
