/* The stages, in the order in which data goes through them, and nothing else.
 *
 *   model --import--> graph --inline, bind, infer--> shapes --names--> axes --simplify--> fewer nodes and constants
 *         --qdq--> integer operators --tables--> constants of operators on 8 bits
 *         --plan: steps, ranges, aliases, offsets--> plan --gather--> facts
 *         --program--> commands --sim--> outputs and an audit
 *         --emit--> a smaller model
 *
 * `work->scratch` is what a stage needs for itself: it is emptied between any two. */
#include "stages.h"

#include "feed.h"
#include "node/table.h"
#include "request.h"
#include "stages_prepare.h"

#include <inttypes.h>

static bool complete(Graph *graph, const Request *request, Work *work) {
    return stages_next(work, graph_inline(graph, work)) &&
           stages_next(work, graph_bind_dims(graph, request->dims, request->dim_count, work)) &&
           stages_next(work, graph_infer(graph, work)) &&
           stages_next(work, graph_assign_names(graph, request->layouts, request->layout_count, work));
}

Graph *stages_understand(const Request *request, ModelFiles *files, Work *work) {
    Graph *graph = import_model(work, request->model, files);
    return stages_next(work, graph != NULL) && complete(graph, request, work) ? graph : NULL;
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

Semantics stages_default_semantics(const Graph *graph) {
    S0Format format = graph->format == FORMAT_TFLITE ? S0_FORMAT_TFLITE : S0_FORMAT_ONNX;
    int id = 0;
    while (s0_semantics_format((Semantics)id) != format) {
        id++;
    }
    return (Semantics)id;
}

Plan *stages_make_plan(Graph *graph, const Device *device, const PlanOptions *options, Semantics semantics,
                       Work *work) {
    if (device->kind == DEVICE_SCRATCHPAD) {
        node_add_tables(graph, semantics, &work->keep);
    }
    Plan *plan = plan_make(graph, device, options, work);
    stages_next(work, true);
    return plan;
}

/* One reading of Quantize and Dequantize. That the reading nobody asked for can't be planned is worth a warning only.
 */
static Plan *plan_reading(Graph *graph, const Device *device, const Request *request, bool is_asked, Work *work) {
    Diags before = work->diags;
    Plan *plan = stages_make_plan(graph, device, &request->plan, stages_default_semantics(graph), work);
    if (plan != NULL || is_asked) {
        return plan;
    }
    const char *reason = work->diags.last == NULL ? "" : work->diags.last->text.what;
    diags_rewind(&work->diags, before);
    diag_warn(&work->diags, (DiagText){.what = arena_text(&work->keep, "with --qdq %s the network can't be planned: %s",
                                                          request->qdq_float ? "int" : "float", reason)});
    return NULL;
}

/* One reading or both, and the facts of the one that was asked for. */
static Facts *plan_graph(Graph *graph, const Device *device, const Request *request, Work *work) {
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
        bool folded = stages_next(work, graph_fold_qdq(graph, work));
        as_integer = folded ? plan_reading(graph, device, request, !request->qdq_float, work) : NULL;
    }
    const Plan *plan = request->qdq_float ? as_written : as_integer;
    const Plan *other = request->qdq_float ? as_integer : as_written;
    return plan == NULL ? NULL : facts_gather(request->model, plan, other, request->qdq_float, work);
}

Graph *stages_prepare(const Request *request, const RunOptions *options, ModelFiles *files, Simplified *simplified,
                      Work *work) {
    Graph *graph = import_model(work, request->model, files);
    if (!stages_next(work, graph != NULL) || (options != NULL && !feed_replace(graph, options, files, work))) {
        return NULL;
    }
    FileNote note = simplify_note(graph, &work->keep);
    if (!complete(graph, request, work)) {
        return NULL;
    }
    if (!request->as_filed) {
        simplify_graph(graph, NULL, &note, &request->simplify, work, simplified);
        stages_next(work, true);
    }
    return graph;
}

const Facts *stages_finish(Facts *facts, const Graph *graph, const Request *request, const Simplified *simplified,
                           Work *work) {
    if (facts == NULL || !plan_check_axes(graph, &request->plan, &work->diags)) {
        return NULL;
    }
    facts->simplified = simplified;
    facts->request_device = request->device;
    facts->options = request_texts(request, &work->keep);
    plan_warn_of_forms(facts->plan, work);
    plan_warn_of_custom(facts->plan, work);
    return facts;
}

const Facts *stages_plan_on(const Request *request, const Device *device, ModelFiles *files, Work *work) {
    Simplified *simplified = arena_new(&work->keep, Simplified);
    Graph *graph = stages_prepare(request, NULL, files, simplified, work);
    Facts *facts = graph == NULL ? NULL : plan_graph(graph, device, request, work);
    return stages_finish(facts, graph, request, simplified, work);
}

const Facts *stages_plan(const Request *request, ModelFiles *files, Work *work) {
    const Device *device = device_load(work, str_from(request->device));
    return device == NULL ? NULL : stages_plan_on(request, device, files, work);
}

/* A model under one binding of its free dimensions. */
typedef struct {
    Graph *graph; /* null where its shapes contradict each other */
    Span file;    /* that the graph's names and constants point into */
    FileNote note;
    size_t free_dims;
    const DimBinding *dims; /* the free ones */
} Bound;

/* Free dimension k has extent first + k * step. `forgives`: where that contradicts the file, shapes are unknown. */
typedef struct {
    int64_t first, step;
    bool forgives;
} Extents;

static Bound bind_all(const Request *request, Extents extents, ModelFiles *files, Work *work) {
    size_t own_file = files->count;
    Bound bound = {.graph = import_model(work, request->model, files)};
    if (!stages_next(work, bound.graph != NULL)) {
        return bound;
    }
    bound.file = files->map[own_file].bytes;
    if (!stages_next(work, graph_check_dims(bound.graph, request->dims, request->dim_count, work))) {
        bound.graph = NULL;
        return bound;
    }
    DimBinding *dims = graph_free_dims(bound.graph, &work->keep, &bound.free_dims);
    for (size_t k = 0; k < bound.free_dims; k++) {
        dims[k].value = extents.first + (int64_t)k * extents.step;
    }
    bound.dims = dims;
    bound.note = simplify_note(bound.graph, &work->keep);
    bool is_known = stages_next(work, graph_bind_dims(bound.graph, dims, bound.free_dims, work)) &&
                    stages_next(work, graph_infer_known(bound.graph, extents.forgives, work)) &&
                    stages_next(work, graph_assign_names(bound.graph, request->layouts, request->layout_count, work));
    bound.graph = is_known ? bound.graph : NULL;
    return bound;
}

/* A model with free dimensions is understood at two extents each: what is not the same in both is not known of it. The
 * first pair at which its shapes agree; networks that halve their maps want powers of 2. The second time no two
 * dimensions are equal, or one would be taken for the other, unless no pair of that kind fits; and where none fits at
 * all, what contradicts itself is unknown. */
static Bound understand_twice(const Request *request, ModelFiles *files, const Graph **other, Work *work) {
    static const int64_t extents[][2] = {{1, 2}, {2, 3}, {32, 64}, {16, 24}, {128, 256}};
    enum { PAIRS = sizeof extents / sizeof extents[0], TRIES = 2 * PAIRS + 1 };
    Diags before = work->diags;
    Bound bound = {0};
    *other = NULL;
    for (size_t k = 0; k < TRIES; k++) {
        const int64_t *pair = extents[k % PAIRS];
        bool forgives = k + 1 == TRIES;
        int64_t step = k < PAIRS || forgives ? pair[1] : 0;
        diags_rewind(&work->diags, before);
        bound = bind_all(request, (Extents){pair[0], 0, forgives}, files, work);
        if (bound.free_dims == 0) {
            return bound;
        }
        Diags known = work->diags;
        *other = bound.graph == NULL ? NULL : bind_all(request, (Extents){pair[1], step, forgives}, files, work).graph;
        if (*other != NULL) {
            diags_rewind(&work->diags, known);
            return bound;
        }
    }
    bound.graph = NULL;
    return bound;
}

/* The plan of the model in `bytes` as it is; null without a diagnostic where it can't be planned. */
static const Plan *plan_of(const Request *request, const Device *device, Span bytes, ModelFiles *files, Work *work) {
    Diags before = work->diags;
    Graph *graph = import_span(work, bytes, request->model, files);
    Facts *facts = NULL;
    if (stages_next(work, graph != NULL) && complete(graph, request, work)) {
        facts = plan_graph(graph, device, request, work);
    }
    diags_rewind(&work->diags, before);
    return facts == NULL ? NULL : facts->plan;
}

static Peak peak_of(const Plan *plan) {
    return (Peak){plan->peak_live_bytes, plan->placed_bytes, plan_placed_further(plan)};
}

static bool is_bound(const Request *request, const DimBinding *dim) {
    for (size_t k = 0; k < request->dim_count; k++) {
        if (str_eq(request->dims[k].name, dim->name) && request->dims[k].axis == dim->axis) {
            return true;
        }
    }
    return false;
}

/* Why a model can't be planned as it is: mostly dimensions that nothing binds, "--dim N=VALUE --dim x:0=VALUE". */
static const char *why_no_peaks(const Request *request, const Bound *bound, Arena *keep) {
    const char *free = "";
    for (size_t k = 0; k < bound->free_dims; k++) {
        const DimBinding *dim = &bound->dims[k];
        const char *axis = dim->axis < 0 ? "" : arena_text(keep, ":%" PRId32, dim->axis);
        if (!is_bound(request, dim)) {
            free = arena_text(keep, "%s --dim " STR_FMT "%s=VALUE", free, STR_ARG(dim->name), axis);
        }
    }
    return free[0] == '\0' ? "the model can't be planned as it is: stride0 plan tells why"
                           : arena_text(keep, "dimensions are free, bind them with%s", free);
}

/* Before, after with the choices that were made before, and after with its own. */
static void find_peaks(const Request *request, const Device *device, ModelFiles *files, Span out, Simplification *facts,
                       Work *work) {
    Request held = *request;
    const Plan *before = plan_of(request, device, files->map[0].bytes, files, work);
    held.plan.held = before == NULL ? NULL : &before->choice;
    const Plan *after_held = before == NULL ? NULL : plan_of(&held, device, out, files, work);
    const Plan *after = after_held == NULL ? NULL : plan_of(request, device, out, files, work);
    facts->device = request->device;
    facts->is_peak_of_maps = device->kind == DEVICE_ARENA;
    if (after == NULL) {
        return;
    }
    facts->no_peaks = NULL;
    facts->before = peak_of(before);
    facts->after_held = peak_of(after_held);
    facts->after = peak_of(after);
}

/* The model rewritten by the rules of one extent, and its file. */
typedef struct {
    Bound bound;
    Simplification *facts;
    Span out;
} Attempt;

static bool attempt(const Request *request, SimplifyExtent extent, ModelFiles *files, Work *work, Attempt *made) {
    const Graph *other = NULL;
    SimplifyOptions options = request->simplify;
    options.extent = extent;
    const Bound bound = understand_twice(request, files, &other, work);
    Graph *graph = bound.graph;
    if (graph == NULL || !simplify_check(graph, &options, work)) {
        return false;
    }
    Simplification *facts = arena_new(&work->keep, Simplification);
    Simplified *simplified = arena_new(&work->keep, Simplified);
    facts->output_count = graph_main(graph)->output_count;
    OutputRange *ranges = arena_array(&work->keep, OutputRange, facts->output_count);
    simplification_ranges(graph, false, ranges);
    simplify_graph(graph, other, &bound.note, &options, work, simplified);
    simplification_ranges(graph, true, ranges);
    *made = (Attempt){.bound = bound, .facts = facts};
    if (!stages_next(work, emit_model(&simplified->edit, bound.file, work, &made->out))) {
        return false;
    }
    facts->file = request->model;
    facts->graph = graph;
    facts->simplified = simplified;
    facts->outputs = ranges;
    facts->file_bytes_before = bound.file.len;
    facts->file_bytes_after = made->out.len;
    simplification_count(facts, &work->keep);
    facts->no_peaks = why_no_peaks(request, &bound, &work->keep);
    return true;
}

/* Is the file worth writing? It is never larger, and where no operator went it is smaller, or the old one. */
static bool is_gain(const Attempt *made) {
    const Simplification *facts = made->facts;
    bool is_leaner = facts->nodes_after < facts->nodes_before;
    return made->out.ptr == made->bound.file.ptr || (is_leaner ? facts->file_bytes_after <= facts->file_bytes_before
                                                               : facts->file_bytes_after < facts->file_bytes_before);
}

/* Rules reckon what a file holds at least for what goes; what it really holds, the emitted file shows. Where that has
 * grown, or can't be edited so, the rules that gain bytes only don't run, and where it still grows none does. */
const Simplification *stages_simplify(const Request *request, ModelFiles *files, Work *work, Span *out) {
    const Device *device = device_load(work, str_from(request->device));
    const Diags before = work->diags;
    Attempt made = {0};
    if (device == NULL) {
        return NULL;
    }
    for (SimplifyExtent extent = SIMPLIFY_ALL; extent <= SIMPLIFY_NOTHING; extent++) {
        diags_rewind(&work->diags, before);
        made = (Attempt){0};
        bool is_made = attempt(request, extent, files, work, &made);
        bool may_be_fewer = made.facts != NULL && extent == SIMPLIFY_ALL; /* the file may take a smaller edit */
        if (!is_made && !may_be_fewer) {
            return NULL;
        }
        made.facts->extent = extent;
        if (is_made && is_gain(&made)) {
            break;
        }
    }
    *out = made.out;
    find_peaks(request, device, files, *out, made.facts, work);
    return made.facts;
}
