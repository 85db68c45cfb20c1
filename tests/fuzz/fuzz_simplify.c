/* Whatever the bytes: a model that is understood is simplified, and what is written of it is a model again whose
 * outputs have the shapes they had; every certificate is checked by brute force on the way. */
#include "affine/simplify.h"
#include "base/fault.h"
#include "emit/emit.h"
#include "graph/passes.h"
#include "target.h"

enum { FREE_EXTENT = 2 };

static bool complete(Graph *graph, Work *work) {
    size_t count = 0;
    DimBinding *dims = graph_free_dims(graph, &work->keep, &count);
    for (size_t k = 0; k < count; k++) {
        dims[k].value = FREE_EXTENT;
    }
    return graph_bind_dims(graph, dims, count, work) && graph_infer_known(graph, false, work) &&
           graph_assign_names(graph, NULL, 0, work);
}

static Graph *understand(Work *work, Span bytes, ModelFiles *files, FileNote *note) {
    Graph *graph = import_span(work, bytes, "/nonexistent/model", files);
    if (graph == NULL) {
        return NULL;
    }
    *note = simplify_note(graph, &work->keep);
    return complete(graph, work) ? graph : NULL;
}

/* Both bind what is free to the same extents, so every output must come out alike. */
static void compare_outputs(const Graph *before, const Graph *after) {
    const Block *left = graph_main(before), *right = graph_main(after);
    CHECK(left->output_count == right->output_count && left->input_count == right->input_count);
    for (uint32_t k = 0; k < left->output_count; k++) {
        const Value *x = graph_value(before, left->outputs[k]);
        const Value *y = graph_value(after, right->outputs[k]);
        CHECK(str_eq(x->name, y->name) && x->dtype == y->dtype && shape_eq(&x->shape, &y->shape));
    }
}

static void simplify_and_check(Work *work, Span bytes, ModelFiles *files) {
    FileNote note, again;
    Simplified done;
    Span out;
    Graph *graph = understand(work, bytes, files, &note);
    if (graph == NULL) {
        return;
    }
    const SimplifyOptions options = {.tolerance = 8, .verify = true};
    simplify_graph(graph, NULL, &note, &options, work, &done);
    if (!emit_model(&done.edit, bytes, work, &out)) {
        CHECK(diags_failed(&work->diags));
        return;
    }
    Graph *written = understand(work, out, files, &again);
    CHECK(written != NULL);
    compare_outputs(graph, written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_model((Span){data, size}, simplify_and_check);
}
