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

const Facts *stages_plan(const Request *request, ModelFiles *files, Work *work) {
    const Device *device = device_load(work, str_from(request->device));
    Graph *graph = device == NULL ? NULL : stages_understand(request, files, work);
    if (graph == NULL) {
        return NULL;
    }
    Plan *as_written = NULL; /* planned first: the next pass changes the graph's order of nodes */
    Plan *as_integer = NULL;
    bool two_readings = has_two_readings(graph);
    bool ok = true;
    if (two_readings || request->qdq_float) {
        as_written = plan_make(graph, device, &request->plan, work);
        ok = next(work, as_written != NULL);
    }
    if (ok && (two_readings || !request->qdq_float)) {
        ok = next(work, graph_fold_qdq(graph, work));
        as_integer = ok ? plan_make(graph, device, &request->plan, work) : NULL;
        ok = next(work, as_integer != NULL);
    }
    if (!ok) {
        return NULL;
    }
    const Plan *plan = request->qdq_float ? as_written : as_integer;
    const Plan *other = request->qdq_float ? as_integer : as_written;
    return facts_gather(request->model, plan, other, request->qdq_float, work);
}
