/* Simplify: the rules in their order, until none of them changes anything; then what an emitter needs to know. */
#include "affine/affine.h"
#include "affine/growth.h"
#include "affine/known.h"
#include "graph/passes.h"

#include <stdlib.h>
#include <string.h>

/* ---- The file */

static void hold(FileNote *note, const ValueId *ids, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        if (is_value(ids[k])) {
            note->is_held[ids[k].index] = true;
        }
    }
}

/* All that a called block names, its own values and the caller's. */
static void hold_block(const Graph *graph, FileNote *note, const Block *block) {
    hold(note, block->inputs, block->input_count);
    hold(note, block->outputs, block->output_count);
    for (uint32_t at = 0; at < block->node_count; at++) {
        const Node *node = graph_node(graph, block->nodes[at]);
        hold(note, node->inputs, node->input_count);
        hold(note, node->outputs, node->output_count);
    }
}

static uint64_t bytes_of(const Value *value) {
    return value->constant == NULL ? 0 : value->constant->bytes.len;
}

/* Tensors that attributes hold are the nodes' own, whatever their names. */
static void hold_attributes(const Graph *graph, FileNote *note) {
    for (uint32_t n = 0; n < graph->node_count; n++) {
        for (uint32_t k = 0; k < graph->nodes[n].attr_count; k++) {
            const Attr *attr = &graph->nodes[n].attrs[k];
            if (attr->kind == ATTR_TENSOR) {
                hold(note, &attr->tensor, 1);
                note->bytes[attr->tensor.index] = 0;
                note->node_bytes[n] += bytes_of(graph_value(graph, attr->tensor));
            }
        }
    }
}

/* One more than the last position of a node. */
static uint32_t count_positions(const Graph *graph) {
    const Block *main = graph_main(graph);
    uint32_t count = 0;
    for (uint32_t at = 0; at < main->node_count; at++) {
        uint32_t position = graph_node(graph, main->nodes[at])->source_index;
        count = position >= count ? position + 1 : count;
    }
    return count;
}

typedef struct {
    const uint8_t *at;
    uint32_t value;
} Stored;

static int compare_stored(const void *left, const void *right) {
    const Stored *a = left, *b = right;
    uintptr_t at = (uintptr_t)a->at, other = (uintptr_t)b->at;
    return at != other ? (at < other ? -1 : 1) : a->value < b->value ? -1 : a->value > b->value;
}

/* Rings of values whose bytes begin at one place of the file. */
static void note_shared(const Graph *graph, FileNote *note, Arena *keep) {
    Stored *stored = arena_array(keep, Stored, graph->value_count);
    size_t count = 0;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        note->next[v] = v;
        if (note->bytes[v] > 0) {
            stored[count++] = (Stored){graph->values[v].constant->bytes.ptr, v};
        }
    }
    if (count > 1) {
        qsort(stored, count, sizeof *stored, compare_stored);
    }
    for (size_t first = 0, k = 0; k < count; k++) {
        bool is_last = k + 1 == count || stored[k + 1].at != stored[first].at;
        note->next[stored[k].value] = stored[is_last ? first : k + 1].value;
        first = is_last ? k + 1 : first;
    }
}

static void note_nodes(const Graph *graph, FileNote *note) {
    const Block *main = graph_main(graph);
    for (uint32_t position = 0; position < note->main_count; position++) {
        note->main_nodes[position] = NO_NODE;
    }
    for (uint32_t at = 0; at < main->node_count; at++) {
        const Node *node = graph_node(graph, main->nodes[at]);
        note->main_nodes[node->source_index] = main->nodes[at];
        if (op_info(node->op)->kind == KIND_CONTROL || node->is_opaque) {
            hold(note, node->inputs, node->input_count);
        }
        if (node->is_opaque) {
            hold(note, node->outputs, node->output_count);
        }
    }
}

FileNote simplify_note(const Graph *graph, Arena *keep) {
    FileNote note = {.value_count = graph->value_count, .node_count = graph->node_count};
    note.main_count = count_positions(graph);
    note.main_nodes = arena_array(keep, NodeId, note.main_count);
    note.is_held = arena_array(keep, bool, graph->value_count);
    note.is_annotated = arena_array(keep, bool, graph->value_count);
    note.bytes = arena_array(keep, uint64_t, graph->value_count);
    note.node_bytes = arena_array(keep, uint64_t, graph->node_count);
    note.next = arena_array(keep, uint32_t, graph->value_count);
    note_nodes(graph, &note);
    for (uint32_t b = 1; b < graph->block_count; b++) {
        hold_block(graph, &note, &graph->blocks[b]);
    }
    hold(&note, graph_main(graph)->inputs, graph_main(graph)->input_count); /* a caller may set what has a default */
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const Value *value = &graph->values[v];
        note.is_annotated[v] = value->is_annotation && !value->is_opaque && !note.is_held[v];
        note.is_held[v] = note.is_held[v] || value->is_annotation || value->is_opaque;
        note.bytes[v] = value->name.len > 0 ? bytes_of(value) : 0;
    }
    hold_attributes(graph, &note);
    note_shared(graph, &note, keep);
    return note;
}

/* ---- What nobody names */

/* No node makes it, none reads it, and no caller gives it. */
static bool is_left_over(const Rewriter *rw, ValueId id) {
    const Value *value = graph_value(rw->graph, id);
    return value->name.len > 0 && !is_node(value->producer) && rewrite_is_unread(rw, id);
}

/* Constants that nobody reads in the file: they go. Other values that nobody names stay as they are: a file may name
 * them in ways that no graph shows, as TFLite's LSTM does. Returns these. */
static const bool *drop_unread(Rewriter *rw) {
    bool *stays = arena_array(&rw->work->keep, bool, rw->note->value_count);
    for (uint32_t v = 0; v < rw->note->value_count; v++) {
        uint64_t bytes = rw->note->bytes[v];
        bool is_unread = is_left_over(rw, (ValueId){v});
        stays[v] = is_unread && (bytes == 0 || rw->extent == SIMPLIFY_NOTHING);
        if (is_unread && !stays[v]) {
            bool is_last = rw->note->next[v] <= v; /* of several in the same bytes */
            rewrite_log(rw, (Rewrite){.node = graph_value(rw->graph, (ValueId){v})->name,
                                      .op = STR("constant"),
                                      .form = AFFINE_REMOVE,
                                      .certificate = rewrite_lemma(rw, "unread", "every value", 0),
                                      .constant_bytes = is_last ? -(int64_t)growth_data_bytes(rw, (ValueId){v}) : 0});
        }
    }
    return stays;
}

/* ---- The rounds */

static bool reads_marked(const Node *node, const bool *is_marked) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (is_value(node->inputs[k]) && is_marked[node->inputs[k].index]) {
            return true;
        }
    }
    return false;
}

static void mark_outputs(const Node *node, bool *is_marked) {
    for (uint32_t k = 0; k < node->output_count; k++) {
        if (is_value(node->outputs[k])) {
            is_marked[node->outputs[k].index] = true;
        }
    }
}

/* What callers may replace, and what is made of it. */
static const bool *find_callers(const Graph *graph, Arena *keep) {
    bool *is_callers = arena_array(keep, bool, graph->value_count);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        is_callers[v] = graph->values[v].is_default;
    }
    const Block *main = graph_main(graph);
    for (uint32_t k = 0; k < main->input_count; k++) { /* TFLite: an input may have a buffer */
        is_callers[main->inputs[k].index] = graph_value(graph, main->inputs[k])->constant != NULL;
    }
    for (uint32_t at = 0; at < main->node_count; at++) {
        const Node *node = graph_node(graph, main->nodes[at]);
        if (reads_marked(node, is_callers)) {
            mark_outputs(node, is_callers);
        }
    }
    return is_callers;
}

/* What operators make that are not known, and what is made of it. */
static const bool *find_strange(const Graph *graph, Work *work) {
    bool *is_strange = arena_array(&work->keep, bool, graph->value_count);
    for (uint32_t at = 0; at < graph_main(graph)->node_count; at++) {
        const Node *node = graph_node(graph, graph_main(graph)->nodes[at]);
        if (reads_marked(node, is_strange) || !known_is(graph, node, &work->scratch)) {
            mark_outputs(node, is_strange);
        }
    }
    return is_strange;
}

static void init_rewriter(Rewriter *rw, Graph *graph, const FileNote *note, Work *work) {
    Arena *keep = &work->keep;
    rw->graph = graph;
    rw->note = note;
    rw->work = work;
    rw->position = arena_array(keep, uint32_t, note->node_count);
    rw->fates = arena_array(keep, NodeFate, note->main_count);
    rw->gone_capacity = graph->node_count;
    rw->is_gone = arena_array(keep, bool, graph->node_count);
    rw->is_told = arena_array(keep, bool, graph->node_count);
    rw->gone_by = arena_array(keep, uint32_t, graph->node_count);
    rw->is_requantised = arena_array(keep, bool, note->value_count);
    rw->first_count = graph->value_count;
    rw->first_node_count = graph->node_count;
    rw->is_callers = find_callers(graph, keep);
    rw->is_strange = find_strange(graph, work);
    if (rw->other != NULL) {
        rw->extents = extents_find(graph, rw->other, keep);
    }
    rw->is_stale = true;
    for (uint32_t n = 0; n < note->node_count; n++) {
        rw->position[n] = NOT_IN_FILE;
    }
    for (uint32_t at = 0; at < note->main_count; at++) {
        if (is_node(note->main_nodes[at])) {
            rw->position[note->main_nodes[at].index] = at;
        }
    }
}

/* What an operator does that is not known wholly is not known at all: no rule sees which one it is. */
static void hide_opaque(const Graph *graph, OpId *ops) {
    for (uint32_t n = 0; n < graph->node_count; n++) {
        ops[n] = graph->nodes[n].op;
        graph->nodes[n].op = graph->nodes[n].is_opaque ? OP_CUSTOM : ops[n];
    }
}

static void show_opaque(const Rewriter *rw, const OpId *ops) {
    for (uint32_t n = 0; n < rw->first_node_count; n++) {
        rw->graph->nodes[n].op = ops[n];
    }
}

static void tell_opaque(Rewriter *rw) {
    for (uint32_t at = 0; at < rw->note->main_count; at++) {
        NodeId id = rw->note->main_nodes[at];
        if (is_node(id) && graph_node(rw->graph, id)->is_opaque) {
            rewrite_refuse(
                rw, id, (Str){0},
                "the file says more of it or of its tensors than is known: a later version, or other fields");
        }
    }
}

static void run_rules(Rewriter *rw) {
    static void (*const rules[])(Rewriter *) = {rule_constants, rule_identities,  rule_clips,
                                                rule_codes,     rule_convolution, rule_unread};
    size_t first = rw->extent == SIMPLIFY_ALL ? 0 : 1;
    size_t end = rw->extent == SIMPLIFY_NOTHING ? first : sizeof rules / sizeof rules[0];
    /* A round that changes anything takes a node away, or what a constant repeats. */
    uint64_t most_rounds = (uint64_t)rw->graph->node_count + rw->graph->value_count + 1;
    rw->has_changed = true;
    for (uint64_t round = 0; rw->has_changed && round < most_rounds; round++) {
        rw->has_changed = false;
        rw->refusal_count = 0; /* what the last round could not do */
        memset(rw->is_told, 0, rw->graph->node_count * sizeof *rw->is_told);
        for (size_t r = first; r < end; r++) {
            rewrite_refresh(rw);
            rules[r](rw);
        }
    }
    rewrite_refresh(rw);
}

/* What stays, and why. */
static void report_all(Rewriter *rw) {
    tell_opaque(rw);
    report_codes(rw);
    report_affines(rw);
}

/* ---- What is left of the file */

/* Of what `is_dropped` leaves, or of all where that is null; bytes in one place count once. */
static uint64_t constant_bytes(const Rewriter *rw, const bool *is_dropped) {
    const FileNote *note = rw->note;
    uint64_t bytes = 0;
    for (uint32_t last = 0; last < note->value_count; last++) {
        uint32_t v = note->next[last];
        if (v > last) {
            continue;
        }
        uint64_t most = 0;
        for (bool is_over = false; !is_over; v = note->next[v]) {
            bool stays = is_dropped == NULL || !is_dropped[v] || rw->graph->values[v].is_kept_data;
            most = stays && note->bytes[v] > most ? note->bytes[v] : most;
            is_over = v == last;
        }
        bytes += most; /* spans of one file: the sum fits */
    }
    for (uint32_t n = 0; n < note->node_count; n++) {
        bytes += is_dropped != NULL && rw->is_gone[n] ? 0 : note->node_bytes[n];
    }
    return bytes;
}

/* A constant that only notes of the file name goes with the last tensor that they are about. */
static void drop_annotated(const Rewriter *rw, bool *is_dropped) {
    const Graph *graph = rw->graph;
    bool *stays = arena_array(&rw->work->scratch, bool, rw->note->value_count);
    for (size_t k = 0; k < graph->annotation_count; k++) {
        ValueId tensor = graph->annotations[k].tensor;
        bool is_gone = is_value(tensor) && is_dropped[tensor.index];
        stays[graph->annotations[k].parameter.index] |= !is_gone;
    }
    for (size_t k = 0; k < graph->annotation_count; k++) {
        uint32_t v = graph->annotations[k].parameter.index;
        const Value *value = &graph->values[v];
        bool is_free = rw->note->is_annotated[v] && rw->reader_count[v] == 0 && value->constant != NULL &&
                       !is_node(value->producer) && !value->is_input && !value->is_output && !value->is_default;
        is_dropped[v] = is_dropped[v] || (is_free && !stays[v]);
    }
}

static void drop_values(Rewriter *rw, const bool *stays, bool *is_dropped) {
    for (uint32_t v = 0; v < rw->note->value_count; v++) {
        is_dropped[v] = !stays[v] && is_left_over(rw, (ValueId){v});
    }
    drop_annotated(rw, is_dropped);
}

static int compare_added(const void *left, const void *right) {
    const AddedNode *a = left, *b = right;
    return a->before != b->before ? (a->before < b->before ? -1 : 1) : a->id.index < b->id.index ? -1 : 1;
}

static void keep_added(Rewriter *rw, Simplified *out) {
    size_t nodes = 0, values = 0;
    for (size_t i = 0; i < rw->added_node_count; i++) {
        if (!rw->is_gone[rw->added_nodes[i].id.index]) {
            rw->added_nodes[nodes++] = rw->added_nodes[i];
        }
    }
    for (size_t i = 0; i < rw->added_value_count; i++) {
        ValueId id = rw->added_values[i];
        if (rw->reader_count[id.index] > 0) {
            rw->added_values[values++] = id;
            const Const *constant = graph_value(rw->graph, id)->constant;
            out->constant_bytes_after += constant == NULL ? 0 : constant->bytes.len;
        }
    }
    if (nodes > 1) {
        qsort(rw->added_nodes, nodes, sizeof *rw->added_nodes, compare_added);
    }
    out->edit.added_nodes = rw->added_nodes;
    out->edit.added_node_count = (uint32_t)nodes;
    out->edit.added_values = rw->added_values;
    out->edit.added_value_count = (uint32_t)values;
}

static uint32_t semantics_of(const Graph *graph) {
    return s0_semantics_of(graph->format == FORMAT_TFLITE ? S0_FORMAT_TFLITE : S0_FORMAT_ONNX);
}

bool simplify_check(const Graph *graph, const SimplifyOptions *options, Work *work) {
    if ((options->semantics & ~semantics_of(graph)) == 0) {
        return true;
    }
    const char *names = "";
    for (int id = 0; id < S0_SEM_COUNT; id++) {
        if ((semantics_of(graph) & S0_SEM_BIT(id)) != 0) {
            names = arena_text(&work->keep, "%s%s%s", names, names[0] == '\0' ? "" : ", ",
                               s0_semantics_name((Semantics)id));
        }
    }
    return diag_error(&work->diags, (DiagText){.place = "option --semantics",
                                               .what = "the reference is not one of the model's format",
                                               .expected = names});
}

void simplify_graph(Graph *graph, const Graph *other, const FileNote *note, const SimplifyOptions *options, Work *work,
                    Simplified *out) {
    Rewriter rw = {
        .other = other, .extent = options->extent, .tolerance = options->tolerance, .verify = options->verify};
    OpId *ops = arena_array(&work->keep, OpId, graph->node_count);
    rw.semantics = options->semantics != 0 ? options->semantics : semantics_of(graph);
    hide_opaque(graph, ops);
    init_rewriter(&rw, graph, note, work);
    uint64_t before = constant_bytes(&rw, NULL);
    rewrite_refresh(&rw);
    const bool *stays = drop_unread(&rw);
    run_rules(&rw);
    graph_rename_axes(graph, work);
    if (!options->is_silent) {
        report_all(&rw);
    }
    show_opaque(&rw, ops);
    bool *is_dropped = arena_array(&work->keep, bool, note->value_count);
    *out = (Simplified){.rewrite_count = rw.log_count,
                        .refusal_count = rw.refusal_count,
                        .rewrites = rw.log,
                        .verify = rw.verify,
                        .refusals = rw.refusals,
                        .gone_count = rw.first_node_count,
                        .gone_by = rw.gone_by,
                        .constant_bytes_before = before};
    out->edit = (ModelEdit){.graph = graph,
                            .file_node_count = note->main_count,
                            .file_nodes = note->main_nodes,
                            .fates = rw.fates,
                            .file_value_count = note->value_count,
                            .is_dropped = is_dropped,
                            .is_requantised = rw.is_requantised};
    drop_values(&rw, stays, is_dropped);
    out->constant_bytes_after = constant_bytes(&rw, is_dropped);
    keep_added(&rw, out);
}
