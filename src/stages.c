/* The stages, in the order in which data goes through them, and nothing else.
 *
 *   model --import--> graph --inline, bind, infer--> shapes --names--> axes --qdq--> integer operators
 *         --plan: steps, ranges, aliases, offsets--> plan --gather--> facts
 *
 * `work->scratch` is what a stage needs for itself: it is emptied between any two. */
#include "stages.h"

static bool next(Work *work, bool ok) {
    arena_reset(&work->scratch);
    return ok;
}

Graph *stages_understand(const Request *request, ModelFiles *files, Work *work) {
    Graph *graph = import_model(work, request->model, files);
    bool ok = next(work, graph != NULL) && next(work, graph_inline(graph, work)) &&
              next(work, graph_bind_dims(graph, request->dims, request->dim_count, work)) &&
              next(work, graph_infer(graph, work)) &&
              next(work, graph_assign_names(graph, request->layouts, request->layout_count, work));
    return ok ? graph : NULL;
}

/* TFLite states integer operators as such; only ONNX wraps float operators in codes. */
static bool has_two_readings(const Graph *graph) {
    for (uint32_t i = 0; graph->format != FORMAT_TFLITE && i < graph->node_count; i++) {
        if (op_info(graph->nodes[i].op)->kind == KIND_DEQUANTIZE && !graph->nodes[i].is_constant) {
            return true;
        }
    }
    return false;
}

/* One reading of Quantize and Dequantize. That the reading nobody asked for can't be planned is worth a warning only.
 */
static Plan *plan_reading(Graph *graph, const Device *device, const Request *request, bool is_asked, Work *work) {
    Diags before = work->diags;
    Plan *plan = plan_make(graph, device, &request->plan, work);
    arena_reset(&work->scratch);
    if (plan != NULL || is_asked) {
        return plan;
    }
    const char *reason = work->diags.last == NULL ? "" : work->diags.last->text.what;
    diags_rewind(&work->diags, before);
    diag_warn(&work->diags, (DiagText){.what = arena_text(&work->keep, "with --qdq %s the network can't be planned: %s",
                                                          request->qdq_float ? "int" : "float", reason)});
    return NULL;
}

const Facts *stages_plan(const Request *request, ModelFiles *files, Work *work) {
    const Device *device = device_load(work, str_from(request->device));
    Graph *graph = device == NULL ? NULL : stages_understand(request, files, work);
    if (graph == NULL) {
        return NULL;
    }
    Plan *as_written = NULL; /* planned first: the next pass changes the graph's order of nodes */
    Plan *as_integer = NULL;
    bool two_readings = has_two_readings(graph);
    if (two_readings || request->qdq_float) {
        as_written = plan_reading(graph, device, request, request->qdq_float, work);
    }
    if (request->qdq_float && as_written == NULL) {
        return NULL;
    }
    if (two_readings || !request->qdq_float) {
        bool folded = next(work, graph_fold_qdq(graph, work));
        as_integer = folded ? plan_reading(graph, device, request, !request->qdq_float, work) : NULL;
    }
    const Plan *plan = request->qdq_float ? as_written : as_integer;
    const Plan *other = request->qdq_float ? as_integer : as_written;
    if (plan == NULL || !plan_check_axes(graph, &request->plan, &work->diags)) {
        return NULL;
    }
    plan_warn_of_forms(plan, work);
    return facts_gather(request->model, plan, other, request->qdq_float, work);
}
