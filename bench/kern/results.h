/* What was measured, and the three ways to write it. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "candidate.h"
#include "stride0/stride0.h"

#include <stdio.h>

enum { FAMILIES_MOST = 8 };

typedef struct {
    Row row;
    char name[NAME_TEXT];
    bool is_library;
    double ns; /* a call */
    double gb_per_s;
    double ratio; /* to memcpy of the same bytes */
    double share; /* to the faster of memcpy and copy */
} Result;

typedef struct {
    Result at[ROWS_MOST * CANDIDATES_MOST];
    size_t count;
    double prepare_us[ELEMS][LAYOUTS];     /* a channel */
    s0_affine_facts facts[ELEMS][LAYOUTS]; /* channels by their way, of all rows together */
    Family family[FAMILIES_MOST];
    size_t family_count;
} Results;

/* Adds a row's candidates with their times; those that failed are left out. */
void results_add(Results *results, const Row *row, const Candidates *list, const double *ns);

void results_add_facts(Results *results, const Row *row, const s0_affine_facts *facts);

/* Null where there is none. */
const Result *results_find(const Results *results, const Row *row, const char *name);

/* The fastest complete library of the row whose name begins so ("" for any); null where there is none. */
const Result *results_library(const Results *results, const Row *row, const char *prefix);

/* The faster of two candidates, either of which may be absent. */
const Result *results_faster(const Result *a, const Result *b);

void results_print_row(const Results *results, const Row *row, FILE *out);
void results_write_json(const Results *results, FILE *out);

/* docs/performance.md. */
void results_write_page(const Results *results, FILE *out);
void machine_write(const Results *results, FILE *out);
void gates_write(const Results *results, FILE *out);

#endif
