/* "Why is this here": all that is known of one tensor's buffers, or of one node's steps. */
#include "ledger/simplification.h"
#include "report/page.h"

#include <inttypes.h>
#include <stdarg.h>

enum { LABEL_WIDTH = 14 };

/* "  label         text" */
static void line(const Page *page, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void line(const Page *page, const char *label, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(page->out, "  %-*s", LABEL_WIDTH, label);
    fputs(arena_vtext(page->scratch, format, args), page->out);
    fputc('\n', page->out);
    va_end(args);
}

static Page plain_page(const Facts *facts, Arena *scratch, FILE *out) {
    return (Page){.facts = facts, .style = {.has_color = false, .columns = UINT32_MAX}, .scratch = scratch, .out = out};
}

/* "'scaled' (Mul) is gone: …" */
static void print_gone(const Page *page, Str title, const Rewrite *rewrite) {
    Str what = clean_text(page->scratch, title), at = clean_text(page->scratch, rewrite->node);
    fprintf(page->out, STR_FMT " is gone: the rewrite %s at '" STR_FMT "' took it away before planning\n",
            STR_ARG(what), rewrite->certificate.rule, STR_ARG(at));
    line(page, "as filed", "stride0 plan --simplify none plans it");
}

/* ---- One buffer */

static void print_shape(const Page *page, const Buffer *buffer) {
    if (!is_value(buffer->value)) {
        line(page, "workspace", "scratch of one step");
        return;
    }
    const Value *value = graph_value(page->facts->graph, buffer->value);
    char *letters = arena_alloc(page->scratch, value->shape.rank + 1, 1);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        letters[k] = dim_letter((Dim)value->dims[k]);
    }
    line(page, "tensor", "%s " STR_FMT ", axes %s", dtype_name(buffer->dtype),
         STR_ARG(shape_text(page->scratch, &value->shape)), value->shape.rank == 0 ? "none" : letters);
    line(page, "stored", STR_FMT, STR_ARG(shape_text(page->scratch, &buffer->stored)));
}

static void print_layout(const Page *page, BufferId id) {
    const Buffer *buffer = plan_buffer(page->facts->plan, id);
    Str contract = clean_text(page->scratch, contract_text(page->facts->device->contract[buffer->role]));
    uint32_t which;
    if (facts_layout_case(page->facts, id, &which)) {
        line(page, "layout", STR_FMT "  (%s contract, case %" PRIu32 ")", STR_ARG(contract), role_name(buffer->role),
             which + 1);
    } else {
        line(page, "layout", STR_FMT "  (%s contract)", STR_ARG(contract), role_name(buffer->role));
    }
}

static void print_sizes(const Page *page, BufferId id) {
    const Buffer *buffer = plan_buffer(page->facts->plan, id);
    line(page, "bytes", STR_FMT " logical, " STR_FMT " physical%s, %.2f times; aligned to " STR_FMT,
         STR_ARG(page_number(page, buffer->logical_bytes)), STR_ARG(page_number(page, buffer->physical_bytes)),
         buffer->banks_used > 1 ? arena_text(page->scratch, " in each of %" PRIu64 " banks", buffer->banks_used) : "",
         facts_padding_ratio(buffer), STR_ARG(page_number(page, buffer_start_bytes(page->facts->plan, buffer))));
}

/* How the axis of a parameter is known: by one of the rules of promise 2 in README.md. */
static const char *axis_rule(const Page *page, const Buffer *buffer) {
    const PlanOptions *options = &page->facts->plan->options;
    const Node *node = graph_node(page->facts->graph, buffer->node);
    for (size_t i = 0; i < options->axis_count; i++) {
        if (str_eq(options->axes[i].tensor, graph_value(page->facts->graph, buffer->value)->name)) {
            return "as --axis states";
        }
    }
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (node->inputs[k].index != buffer->value.index) {
            continue;
        }
        char role = op_input_role(node->op, k);
        if (role == 'c') {
            return "by the operator's definition";
        }
        if (role == 'p') {
            return "by its aligned position";
        }
    }
    return "by --axis-heuristic";
}

static void print_parameter(const Page *page, const Buffer *buffer) {
    if (buffer->broadcast == BROADCAST_NONE) {
        return;
    }
    if (buffer->axis >= 0) {
        line(page, "broadcast", "%s, along axis %" PRId32 " of the map, %s", broadcast_name(buffer->broadcast),
             buffer->axis, axis_rule(page, buffer));
    } else {
        line(page, "broadcast", "%s", broadcast_name(buffer->broadcast));
    }
    if (buffer->costs != NULL) {
        bool has_lanes = page->facts->device->memory[page->facts->device->local].lanes > 1;
        line(page, "as forms", "compact " STR_FMT ", row " STR_FMT ", full " STR_FMT " bytes%s",
             STR_ARG(page_number(page, buffer->costs->compact_bytes)),
             STR_ARG(page_number(page, buffer->costs->row_bytes)),
             STR_ARG(page_number(page, buffer->costs->full_bytes)), has_lanes ? " of one lane" : "");
    }
    if (buffer->materialised_reason != NULL) {
        line(page, "expanded", "%s", buffer->materialised_reason);
    }
}

static Str step_at(const Page *page, uint32_t index) {
    return index < page->facts->plan->step_count ? page_step(page, index) : STR("(the model has no step)");
}

static void print_range(const Page *page, const Buffer *buffer) {
    const Plan *plan = page->facts->plan;
    const Value *value = is_value(buffer->value) ? graph_value(page->facts->graph, buffer->value) : NULL;
    bool is_local = buffer_is_worked_on(plan, buffer);
    line(page, "alive", "steps " STR_FMT, STR_ARG(text_steps(page->scratch, buffer->first, buffer->last)));
    if (buffer_is_far_map(plan, buffer)) {
        line(page, "", "in far memory, for local memory has no room for all of it: loaded and stored in parts");
        return;
    }
    if (!is_local || buffer->kind == BUFFER_STATE) {
        line(page, "", "%s", is_local ? "state: for the whole run" : "for the whole run");
        return;
    }
    bool is_given = plan->device->kind == DEVICE_ARENA && value != NULL && value->is_input;
    bool is_taken = plan->device->kind == DEVICE_ARENA && value != NULL && value->is_output;
    if (is_given) {
        line(page, "from", "the caller, before step 0");
    } else {
        line(page, "from", STR_FMT, STR_ARG(step_at(page, buffer->first)));
    }
    if (is_taken) {
        line(page, "to", "the caller, after the last step");
    } else {
        line(page, "to", STR_FMT, STR_ARG(step_at(page, buffer->last - 1)));
    }
}

static void print_place(const Page *page, BufferId id) {
    const Plan *plan = page->facts->plan;
    const Buffer *buffer = plan_buffer(plan, id);
    const Buffer *root = plan_buffer(plan, buffer->storage);
    Str memory = clean_text(page->scratch, plan->device->memory[buffer->memory].name);
    line(page, "offset", STR_FMT " of " STR_FMT " memory", STR_ARG(page_number(page, buffer->offset)), STR_ARG(memory));
    if (buffer->storage.index == id.index) {
        line(page, "storage", "its own, alive in steps " STR_FMT,
             STR_ARG(text_steps(page->scratch, root->storage_first, root->storage_last)));
    } else {
        line(page, "storage", "of '" STR_FMT "', alive in steps " STR_FMT, STR_ARG(page_name(page, buffer->storage)),
             STR_ARG(text_steps(page->scratch, root->storage_first, root->storage_last)));
    }
}

/* "at 'conv' (Conv), compute, 40,960 bytes would have been alive, where there is room for 16,384" */
static void print_why_far(const Page *page, BufferId id) {
    const FarReason *why = facts_why_far(page->facts->plan, id);
    if (why != NULL) {
        const Step step = {.node = why->node};
        Str title = clean_text(page->scratch, facts_step_title(page->facts, &step, page->scratch));
        line(page, "far because",
             "with it in local memory " STR_FMT " bytes were alive at " STR_FMT ", %s, where there is room for " STR_FMT
             "; %s",
             STR_ARG(page_number(page, why->live_bytes)), STR_ARG(title), column_name(why->column),
             STR_ARG(page_number(page, why->room_bytes)),
             why->is_waiting ? "it only waited there" : "it is what the operator reads or makes");
    }
}

/* What else lies in these bytes, one line each. */
static void print_sharers(const Page *page, BufferId id) {
    const Plan *plan = page->facts->plan;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (plan->buffers[i].alias_of.index == id.index) {
            line(page, "shared with", "'" STR_FMT "', %s", STR_ARG(page_name(page, (BufferId){i})),
                 words_alias(plan, &plan->buffers[i]));
        }
    }
}

/* Why it has bytes of its own: a slice and a concatenation may have them because that needs less in all. */
static void print_no_alias(const Page *page, const Buffer *buffer) {
    bool is_own = !is_buffer(buffer->alias_of) && buffer_is_worked_on(page->facts->plan, buffer);
    bool says_nothing = buffer->refused_alias == REFUSED_NONE || buffer->refused_alias == REFUSED_OPERATOR;
    Str no_view = is_own && says_nothing ? words_no_view(page, buffer->node) : (Str){0};
    if (no_view.len > 0) {
        line(page, "no alias", STR_FMT, STR_ARG(no_view));
    } else if (buffer->refused_alias != REFUSED_NONE) {
        line(page, "no alias", "%s: " STR_FMT, alias_refusal_name(buffer->refused_alias),
             STR_ARG(words_refusal(page, buffer)));
    }
}

static void print_alias(const Page *page, BufferId id) {
    const Buffer *buffer = plan_buffer(page->facts->plan, id);
    if (is_buffer(buffer->alias_of)) {
        line(page, "alias of", "'" STR_FMT "' (buffer %" PRIu32 "), %s", STR_ARG(page_name(page, buffer->alias_of)),
             buffer->alias_of.index, alias_reason_name(buffer->alias_reason));
        line(page, "legal", "%s", words_alias(page->facts->plan, buffer));
    }
    print_sharers(page, id);
    print_no_alias(page, buffer);
}

static void print_buffer(const Page *page, BufferId id) {
    const Buffer *buffer = plan_buffer(page->facts->plan, id);
    Str name = page_name(page, id);
    Str memory = clean_text(page->scratch, page->facts->device->memory[buffer->memory].name);
    fprintf(page->out, "buffer %" PRIu32 ": '" STR_FMT "', %s in " STR_FMT " memory\n", id.index, STR_ARG(name),
            buffer_kind_name(buffer->kind), STR_ARG(memory));
    print_shape(page, buffer);
    print_layout(page, id);
    print_sizes(page, id);
    print_parameter(page, buffer);
    print_range(page, buffer);
    print_place(page, id);
    print_why_far(page, id);
    print_alias(page, id);
}

bool report_why_buffer(const Facts *facts, Str name, Arena *scratch, FILE *out, Str *nearest) {
    const Page page = plain_page(facts, scratch, out);
    bool has_one = false;
    if (!facts_find_buffer(facts, name, nearest)) {
        return false;
    }
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        const Buffer *buffer = &facts->plan->buffers[i];
        if (!is_value(buffer->value) || !str_eq(graph_value(facts->graph, buffer->value)->name, name)) {
            continue;
        }
        fputs(has_one ? "\n" : "", out);
        print_buffer(&page, (BufferId){i});
        has_one = true;
    }
    if (!has_one) {
        print_gone(&page, arena_format(scratch, "'" STR_FMT "'", STR_ARG(name)), facts_find_gone(facts, name));
    }
    return true;
}

/* ---- One node */

static void print_touched(const Page *page, const char *label, const BufferId *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = plan_buffer(page->facts->plan, ids[i]);
        Str memory = clean_text(page->scratch, page->facts->device->memory[buffer->memory].name);
        line(page, i == 0 ? label : "",
             "'" STR_FMT "' %s " STR_FMT ", " STR_FMT " bytes, " STR_FMT " memory at " STR_FMT "%s%s",
             STR_ARG(page_name(page, ids[i])), dtype_name(buffer->dtype),
             STR_ARG(shape_text(page->scratch, &buffer->stored)), STR_ARG(page_number(page, buffer->physical_bytes)),
             STR_ARG(memory), STR_ARG(page_number(page, buffer->offset)),
             buffer->alias_reason == ALIAS_NONE ? "" : ", ",
             buffer->alias_reason == ALIAS_NONE ? "" : alias_reason_name(buffer->alias_reason));
    }
}

/* What the device file says of a custom operator, and where. */
static void print_declared(const Page *page, const Step *step) {
    const Device *device = page->facts->device;
    const Node *node = is_node(step->node) ? graph_node(page->facts->graph, step->node) : NULL;
    bool is_custom = step->column == COLUMN_COMPUTE && node != NULL && op_info(node->op)->kind == KIND_OPAQUE;
    const DeviceOperator *declared = is_custom ? device_find_operator(device, node->op_name) : NULL;
    for (size_t i = 0; declared != NULL && i < device->fact_count; i++) {
        const DeviceFact *fact = &device->fact[i];
        if (str_eq(fact->section, declared->section)) {
            Str of = clean_text(page->scratch, fact->section), file = clean_text(page->scratch, device->file);
            line(page, "declared", "[" STR_FMT "] " STR_FMT " = " STR_FMT " (" STR_FMT ":%" PRIu32 "; %s" STR_FMT ")",
                 STR_ARG(of), STR_ARG(fact->key), STR_ARG(fact->value), STR_ARG(file), fact->line,
                 fact->is_assumed ? "assumed: " : "", STR_ARG(clean_text(page->scratch, fact->source)));
        }
    }
}

static void print_step(const Page *page, uint32_t index) {
    const Plan *plan = page->facts->plan;
    const Step *step = &plan->steps[index];
    Moved moved = facts_step_moves(plan, step);
    fprintf(page->out, STR_FMT "\n", STR_ARG(page_step(page, index)));
    print_touched(page, "reads", step->reads, step->read_count);
    print_touched(page, "writes", step->writes, step->write_count);
    print_declared(page, step);
    if (page->facts->whole[index].reason != WHOLE_NONE) {
        line(page, "not cut", STR_FMT "; it takes " STR_FMT " bytes whole",
             STR_ARG(words_whole(page, page->facts->whole[index].reason, step->node)),
             STR_ARG(page_number(page, page->facts->whole[index].own_bytes)));
    }
    if (step->repeat > 1) {
        line(page, "repeats", STR_FMT " times, once a tile; traffic is of all of them",
             STR_ARG(page_number(page, step->repeat)));
    }
    if (moved.transfers > 0) {
        line(page, "traffic", STR_FMT " bytes read, " STR_FMT " written", STR_ARG(page_number(page, moved.read_bytes)),
             STR_ARG(page_number(page, moved.written_bytes)));
    }
    line(page, "alive here", STR_FMT " bytes%s", STR_ARG(page_number(page, step->live_bytes)),
         index == plan->peak_step ? ", the peak" : "");
}

static bool is_in_main(const Graph *graph, NodeId id) {
    const Block *block = graph_main(graph);
    for (uint32_t at = 0; at < block->node_count; at++) {
        if (block->nodes[at].index == id.index) {
            return true;
        }
    }
    return false;
}

/* A node without a step: why. */
static void print_no_step(const Page *page, NodeId id) {
    const Node *node = graph_node(page->facts->graph, id);
    const char *why = node->is_constant ? "all its outputs are constants"
                      : !is_in_main(page->facts->graph, id)
                          ? "it is part of an operator that is read as one with it, or of a block that is not run"
                          : "its outputs lie in its inputs' bytes, or its inputs in its output's: it is only a rule";
    Str title = clean_text(page->scratch, node_title(page->scratch, node));
    fprintf(page->out, STR_FMT " makes no step: %s\n", STR_ARG(title), why);
    for (uint32_t k = 0; k < node->output_count; k++) {
        BufferId output = is_value(node->outputs[k]) ? page->facts->plan->of_value[node->outputs[k].index] : NO_BUFFER;
        if (is_buffer(output)) {
            print_buffer(page, output);
        }
    }
}

/* The sweeps that it is in: for people, as wide as the ledger in a file. */
static void print_sweeps(const Page *page, NodeId id) {
    Page wide = *page;
    wide.style.columns = 200;
    for (uint32_t s = 0; s < page->facts->plan->sweep_count; s++) {
        const PlannedSweep *planned = &page->facts->plan->sweeps[s];
        for (uint32_t n = 0; n < planned->node_count; n++) {
            if (planned->nodes[n].index == id.index) {
                page_sweep(&wide, s);
            }
        }
    }
}

bool report_why_node(const Facts *facts, Str name, Arena *scratch, FILE *out, Str *nearest) {
    const Page page = plain_page(facts, scratch, out);
    NodeId id = facts_find_node(facts, name, nearest);
    bool has_step = false;
    if (!is_node(id)) {
        return false;
    }
    const Rewrite *rewrite = simplification_of_node(facts->simplified, id);
    if (rewrite != NULL) {
        print_gone(&page, node_title(scratch, graph_node(facts->graph, id)), rewrite);
        return true;
    }
    for (uint32_t s = 0; s < facts->plan->step_count; s++) {
        if (facts->plan->steps[s].node.index == id.index) {
            print_step(&page, s);
            has_step = true;
        }
    }
    if (!has_step) {
        print_no_step(&page, id);
    }
    print_sweeps(&page, id);
    return true;
}
