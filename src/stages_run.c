/* The stages of a run: those of a plan, then program, simulated device, audit. */
#include "stages.h"

#include "base/fault.h"
#include "base/nearest.h"
#include "feed.h"
#include "plan/cut.h"
#include "stages_prepare.h"

#include <string.h>

/* ---- Which reference */

static bool choose_semantics(const Graph *graph, const char *name, Semantics *id, Work *work) {
    S0Format format = graph->format == FORMAT_TFLITE ? S0_FORMAT_TFLITE : S0_FORMAT_ONNX;
    const char *list = "";
    bool is_found = false;
    if (name == NULL) {
        *id = stages_default_semantics(graph);
        return true;
    }
    for (int k = S0_SEM_COUNT; k-- > 0;) {
        const char *own = s0_semantics_name((Semantics)k);
        if (s0_semantics_format((Semantics)k) != format) {
            continue;
        }
        list = arena_text(&work->keep, "%s%s%s", own, list[0] == '\0' ? "" : ", ", list);
        if (strcmp(name, own) == 0) {
            *id = (Semantics)k;
            is_found = true;
        }
    }
    return is_found || diag_error(&work->diags, (DiagText){.place = "option --semantics",
                                                           .what = "no reference of the model's format has this name",
                                                           .got = name,
                                                           .expected = list});
}

/* ---- One chain */

/* "run one chain with --node: 'a', 'b'"; but for the node that was refused, whose title is given. */
static const char *chains_hint(const Graph *graph, Str refused, Work *work) {
    enum { MOST = 5 };
    NodeId first[MOST];
    uint32_t count = plan_find_chains(graph, first, MOST, &work->scratch);
    const char *list = "";
    for (uint32_t k = 0; k < count; k++) {
        const Node *node = graph_node(graph, first[k]);
        bool is_refused = str_eq(node_title(&work->scratch, node), refused) || str_eq(node->name, refused);
        list = is_refused ? list
                          : arena_text(&work->keep, "%s%s'" STR_FMT "'", list, list[0] == '\0' ? "" : ", ",
                                       STR_ARG(node->name));
    }
    return list[0] == '\0'
               ? count == 0 ? "the model has no per-channel operator that can run alone"
                            : "the model has no other per-channel operator that can run alone"
               : arena_text(&work->keep, "run one chain of per-channel operators with --node, such as %s", list);
}

static NodeId find_node(const Graph *graph, Str name, bool *is_gone, Nearest *nearest) {
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->node_count; k++) {
        if (str_eq(graph_node(graph, block->nodes[k])->name, name)) {
            return block->nodes[k];
        }
        nearest_offer(nearest, graph_node(graph, block->nodes[k])->name);
    }
    for (uint32_t k = 0; k < graph->node_count; k++) {
        *is_gone = *is_gone || str_eq(graph->nodes[k].name, name);
    }
    return NO_NODE;
}

static bool cut(Graph *graph, const char *name, Work *work) {
    Nearest nearest = {.typed = str_from(name)};
    bool is_gone = false;
    const char *why;
    NodeId id = find_node(graph, nearest.typed, &is_gone, &nearest);
    DiagText text = {.place = "option --node", .got = name};
    if (is_gone) {
        text.what = "the operator was rewritten away or is part of another before anything is planned";
        text.hint = "--simplify none and --qdq float run the file as it is written";
        return diag_error(&work->diags, text);
    }
    if (!is_node(id)) {
        text.what = "no operator has this name";
        text.hint = nearest_hint(&work->keep, &nearest, chains_hint(graph, STR(""), work));
        return diag_error(&work->diags, text);
    }
    const char *hint = chains_hint(graph, node_title(&work->keep, graph_node(graph, id)), work);
    if (plan_cut_chain(graph, id, work, &why)) {
        return true;
    }
    text = (DiagText){.node = node_title(&work->keep, graph_node(graph, id)), .hint = hint};
    text.what = arena_text(&work->keep, "no command runs this operator: %s", why);
    return diag_refuse(&work->diags, text);
}

/* ---- The run */

/* Lists, optionals, strings and handles have no elements that a device holds. */
static bool check_ends(const Graph *graph, Work *work) {
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->input_count + block->output_count; k++) {
        bool is_input = k < block->input_count;
        const Value *value = graph_value(graph, is_input ? block->inputs[k] : block->outputs[k - block->input_count]);
        if (value->is_sequence || dtype_bits(value->dtype) == 0) {
            return diag_refuse(
                &work->diags,
                (DiagText){.tensor = value->name,
                           .what = is_input ? "no device can be given this input: it has no elements"
                                            : "no device gives this output: it has no elements",
                           .got = value->is_sequence ? "a list, map or optional" : dtype_name(value->dtype),
                           .hint = chains_hint(graph, STR(""), work)});
        }
    }
    return true;
}

static Facts *plan_to_run(Graph *graph, const Device *device, const Request *request, const Audit *audit, Work *work) {
    if ((!request->qdq_float && !stages_next(work, graph_fold_qdq(graph, work))) ||
        (audit->node != NULL && !stages_next(work, cut(graph, audit->node, work)))) {
        return NULL;
    }
    const Plan *plan = stages_make_plan(graph, device, &request->plan, audit->semantics, work);
    return plan == NULL ? NULL : facts_gather(request->model, plan, NULL, request->qdq_float, work);
}

static const char *run_hint(const Plan *plan, Str refused, Work *work) {
    const char *chains = chains_hint(plan->graph, refused, work);
    return plan->device->record_bits == 0
               ? chains
               : arena_text(&work->keep,
                            "a copy of the device file (stride0 devices NAME --ini) with record_bits = 0 runs "
                            "convolutions, with plain vectors in place of records; or %s",
                            chains);
}

/* What can't run is refused with the chains that can, unless it is one of them, or would not run there either. */
static const BuiltProgram *build(const Plan *plan, const Audit *audit, Work *work) {
    const BuiltProgram *built = program_build(plan, audit->semantics, work);
    Diag *last = work->diags.last;
    bool names_node = built == NULL && last != NULL && last->kind == DIAG_REFUSED && last->text.node.len > 0;
    if (names_node && last->text.hint != NULL && strstr(last->text.hint, "--node") != NULL) {
        last->text.hint = audit->node != NULL ? NULL : run_hint(plan, last->text.node, work);
    }
    CHECK(built == NULL || cmd_check_extents(built->program, work->diags.arena) == NULL);
    stages_next(work, true);
    return built;
}

/* The device that was planned for: with --budget it has that much local memory. */
static const Device *planned_device(const Plan *plan, Work *work) {
    Device *device = arena_new(&work->keep, Device);
    *device = *plan->device;
    device->memory[device->local].bytes = plan->capacity_bytes;
    return device;
}

static bool run_program(const BuiltProgram *built, const Plan *plan, Work *work, Audit *audit) {
    Sim *sim = sim_new(built->program, planned_device(plan, work), work);
    if (sim == NULL) {
        return false;
    }
    feed_draw(audit, &work->keep);
    feed_write(built, plan->graph, audit, sim);
    audit->program = built->program;
    audit->footprint_bytes = built->footprint_bytes;
    audit->result = sim_run(sim);
    if (!feed_read(built, plan->graph, sim, work, audit)) {
        return false;
    }
    audit_gather(audit, plan, &work->keep);
    return stages_next(work, true);
}

const Run *stages_run(const Request *request, const RunOptions *options, ModelFiles *files, Work *work) {
    const Device *device = device_load(work, str_from(request->device));
    Simplified *simplified = arena_new(&work->keep, Simplified);
    Graph *graph = device == NULL ? NULL : stages_prepare(request, options, files, simplified, work);
    Audit *audit = arena_new(&work->keep, Audit);
    *audit = (Audit){.node = options->node, .seed = options->seed, .tolerance = options->tolerance};
    if (graph == NULL || !choose_semantics(graph, options->semantics, &audit->semantics, work)) {
        return NULL;
    }
    Facts *facts = plan_to_run(graph, device, request, audit, work);
    Run *run = arena_new(&work->keep, Run);
    run->facts = stages_finish(facts, graph, request, simplified, work);
    if (run->facts == NULL || !check_ends(graph, work) || !feed_find(graph, options, files, work, audit) ||
        !feed_expect(graph, options, files, work, audit)) {
        return NULL;
    }
    if (!plan_fits(facts->plan) && program_is_possible(facts->plan)) {
        return run; /* an operator without a command is told before what does not fit */
    }
    work->diags.file = request->model;
    const BuiltProgram *built = build(facts->plan, audit, work);
    if (built == NULL || !run_program(built, facts->plan, work, audit)) {
        return NULL;
    }
    run->audit = audit;
    return run;
}
