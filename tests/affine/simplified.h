/* What the tests of the rules share: a text-form graph, completed as src/stages.c does it, then simplified. */
#ifndef TESTS_AFFINE_SIMPLIFIED_H
#define TESTS_AFFINE_SIMPLIFIED_H

#include "support/work.h"

#include "graph/support.h"

#include "affine/simplify.h"
#include "graph/passes.h"

/* A model and what is asked of it. */
typedef struct {
    const char *what, *text;
    const char *callers; /* a constant that callers may replace, which text form has no word for */
    uint64_t tolerance;
    int64_t extents[2]; /* of the free dimensions: the model is known at two of them, the second time at n, 2 n, 3 n */
} Model;

static inline Graph *parse_model(Work *work, const Model *model) {
    bool has_format = strncmp(model->text, "format", 6) == 0;
    Graph *graph =
        parse_sound(work, has_format ? model->text : arena_text(&work->keep, "format onnx 13\n%s", model->text));
    if (model->callers != NULL) {
        value_of(graph, model->callers)->is_default = true;
    }
    return graph;
}

/* Bound, inferred and named. */
static inline void complete_model(Graph *graph, int64_t extent, int64_t step, Work *work) {
    size_t count;
    DimBinding *dims = graph_free_dims(graph, &work->keep, &count);
    for (size_t k = 0; k < count; k++) {
        dims[k].value = extent + (int64_t)k * step;
    }
    if (!graph_bind_dims(graph, dims, count, work) || !graph_infer_known(graph, false, work) ||
        !graph_assign_names(graph, NULL, 0, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("the model of the test can't be completed");
    }
    arena_reset(&work->scratch);
}

/* `before`, if not null, is what list_nodes says of the model as it was. */
static inline Graph *simplify_model(Work *work, const Model *model, Simplified *out, const char **before) {
    Graph *graph = parse_model(work, model);
    FileNote note = simplify_note(graph, &work->keep);
    complete_model(graph, model->extents[0], 0, work);
    Graph *other = NULL;
    if (model->extents[1] != 0) {
        other = parse_model(work, model);
        complete_model(other, model->extents[1], model->extents[1], work);
    }
    if (before != NULL) {
        *before = list_nodes(work, graph);
    }
    const SimplifyOptions options = {.tolerance = model->tolerance, .verify = true};
    simplify_graph(graph, other, &note, &options, work, out);
    if (!graph_check(graph, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s: the simplified graph is not sound", model->what);
    }
    return graph;
}

/* Of one row: is what came right? If not, the check has told what was wrong. */
typedef bool RowCheck(Work *work, const void *row);

typedef struct {
    RowCheck *check;
    const void *row;
    uint32_t *wrong;
} RowRun;

static inline void run_row(Work *work, const void *argument) {
    const RowRun *run = argument;
    *run->wrong += !run->check(work, run->row);
}

/* All rows of a table, so that one run tells every one that is wrong. */
static inline void check_rows(const void *rows, size_t row_bytes, size_t count, RowCheck *check) {
    uint32_t wrong = 0;
    for (size_t k = 0; k < count; k++) {
        with_work(run_row, &(RowRun){check, (const char *)rows + k * row_bytes, &wrong});
    }
    assert_int_equal(wrong, 0);
}

#endif
