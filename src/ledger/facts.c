/* The facts: gathered from a finished plan. */
#include "ledger/facts.h"

#include "base/checked.h"
#include "base/fault.h"
#include "ledger/alternatives.h"
#include "ledger/blame.h"
#include "ledger/costs.h"
#include "ledger/lifetimes.h"
#include "ledger/misfit.h"
#include "ledger/overwrites.h"
#include "ledger/ranking.h"
#include "ledger/traffic.h"
#include "ledger/whole.h"
#include "plan/operand.h"
#include "plan/tensor.h"

#include <inttypes.h>
#include <stdlib.h>

static Ranking rank_at_peak(const Plan *plan, Arena *keep) {
    Ranking ranking = ranking_new(plan, keep);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_local_storage(plan, (BufferId){i}) && storage_is_live(buffer, plan->peak_step) &&
            buffer->physical_bytes > 0) {
            ranking_add(&ranking, (BufferId){i}, buffer->physical_bytes);
        }
    }
    ranking_finish(&ranking, UINT32_MAX);
    return ranking;
}

static uint64_t padding_bytes(const Buffer *buffer) {
    uint64_t all_banks;
    bool fits = view_all_banks_bytes(buffer->physical_bytes, buffer->banks_used, &all_banks);
    return fits && all_banks > buffer->logical_bytes ? all_banks - buffer->logical_bytes : 0;
}

/* A quarter of the bytes or less is data, and the rest is worth a line. */
static bool is_swollen(const Buffer *buffer, uint64_t padding) {
    enum { MOST_TIMES = 4, LEAST_BYTES = 1024 };
    return padding >= LEAST_BYTES && padding / (MOST_TIMES - 1) >= buffer->logical_bytes;
}

double facts_padding_ratio(const Buffer *buffer) {
    double all_banks = (double)buffer->physical_bytes * (double)buffer->banks_used;
    return buffer->logical_bytes == 0 ? 1.0 : all_banks / (double)buffer->logical_bytes;
}

static void gather_swollen(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    Swollen *swollen = &facts->swollen;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        uint64_t padding = padding_bytes(buffer);
        if (!buffer_is_local_storage(plan, (BufferId){i}) || !is_swollen(buffer, padding)) {
            continue;
        }
        swollen->count++;
        swollen->padding_bytes += padding;
        if (padding > swollen->worst.bytes) {
            swollen->worst = (Ranked){{i}, padding};
        }
    }
    if (swollen->count == 0) {
        return;
    }
    const Buffer *worst = plan_buffer(plan, swollen->worst.buffer);
    Arena *arena = &work->keep;
    const char *others =
        swollen->count == 1
            ? ""
            : arena_text(arena, "; most padding of %" PRIu32 " buffers of 4 times their data or more", swollen->count);
    const char *each = worst->banks_used == 1 ? ""
                                              : arena_text(arena, " in each of " STR_FMT " banks",
                                                           STR_ARG(arena_number(arena, worst->banks_used)));
    diag_warn(&work->diags,
              (DiagText){.tensor = facts_buffer_name(facts, swollen->worst.buffer, arena),
                         .what = arena_text(arena, STR_FMT " bytes of data occupy " STR_FMT "%s, %.1f times as much%s",
                                            STR_ARG(arena_number(arena, worst->logical_bytes)),
                                            STR_ARG(arena_number(arena, worst->physical_bytes)), each,
                                            facts_padding_ratio(worst), others),
                         .hint = arena_text(arena,
                                            "the device's %s contract pads this shape; a device file of your own "
                                            "can state another",
                                            role_name(worst->role))});
}

static Ranking rank_paddings(const Plan *plan, Arena *keep) {
    enum { MOST = 10 };
    Ranking ranking = ranking_new(plan, keep);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        uint64_t padding = padding_bytes(&plan->buffers[i]);
        if (buffer_is_local_storage(plan, (BufferId){i}) && padding > 0) {
            ranking_add(&ranking, (BufferId){i}, padding);
        }
    }
    ranking_finish(&ranking, MOST);
    return ranking;
}

static Ranking rank_far_maps(const Plan *plan, Arena *keep) {
    Ranking ranking = ranking_new(plan, keep);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        uint64_t bytes;
        if (buffer_is_far_map(plan, buffer) && !is_buffer(buffer->alias_of)) {
            CHECK(buffer_backing_bytes(plan, buffer, &bytes)); /* the planner laid them */
            ranking_add(&ranking, (BufferId){i}, bytes);
        }
    }
    ranking_finish(&ranking, UINT32_MAX);
    return ranking;
}

static Ranking rank_overflow(const Plan *plan, Arena *keep) {
    Ranking ranking = ranking_new(plan, keep);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        uint64_t bytes = buffer->physical_bytes;
        if (plan->device->memory[buffer->memory].overflow == OVERFLOW_NONE || is_buffer(buffer->alias_of)) {
            continue;
        }
        CHECK(buffer_is_worked_on(plan, buffer) || buffer_backing_bytes(plan, buffer, &bytes)); /* they were laid out */
        ranking_add(&ranking, (BufferId){i}, bytes);
    }
    ranking_finish(&ranking, UINT32_MAX);
    return ranking;
}

static Ranking rank_refused(const Plan *plan, Arena *keep) {
    enum { MOST = 6 };
    Ranking ranking = ranking_new(plan, keep);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        bool is_choice = buffer->refused_alias != REFUSED_NONE && buffer->refused_alias != REFUSED_OPERATOR;
        if (buffer_is_local_storage(plan, (BufferId){i}) && is_choice) {
            ranking_add(&ranking, (BufferId){i}, buffer->physical_bytes);
        }
    }
    ranking_finish(&ranking, MOST);
    return ranking;
}

/* ---- Parameters */

static bool is_compact(const Buffer *buffer) {
    return buffer->costs != NULL && buffer->materialised_reason == NULL &&
           (buffer->broadcast == BROADCAST_SCALAR || buffer->broadcast == BROADCAST_CHANNEL ||
            buffer->broadcast == BROADCAST_ROW || buffer->broadcast == BROADCAST_PARTIAL);
}

static int by_full_cost(const void *left, const void *right) {
    const CompactCost *a = left;
    const CompactCost *b = right;
    if (a->full_bytes != b->full_bytes) {
        return a->full_bytes > b->full_bytes ? -1 : 1;
    }
    return a->buffer.index < b->buffer.index ? -1 : a->buffer.index > b->buffer.index;
}

static uint64_t map_logical_bytes(const Plan *plan, const Buffer *buffer) {
    const Node *reader = graph_node(plan->graph, buffer->node);
    const Value *map = node_output(plan->graph, reader, 0);
    uint64_t bytes;
    return map != NULL && shape_packed_bytes(&map->shape, buffer->dtype, &bytes) ? bytes : UINT64_MAX;
}

static CompactCost compact_cost(const Plan *plan, BufferId id) {
    const Buffer *buffer = plan_buffer(plan, id);
    CompactCost cost = {.buffer = id,
                        .row_bytes = buffer->costs->all_row_bytes,
                        .full_bytes = buffer->costs->all_full_bytes,
                        .full_logical_bytes = map_logical_bytes(plan, buffer)};
    if (!view_all_banks_bytes(buffer->physical_bytes, buffer->banks_used, &cost.compact_bytes)) {
        cost.compact_bytes = UINT64_MAX;
    }
    return cost;
}

/* Which constants have an expanded copy somewhere: the buffer it was expanded from is not kept compact. */
static bool *expanded_values(const Plan *plan, Arena *scratch) {
    bool *is_expanded = arena_array(scratch, bool, plan->graph->value_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (plan->buffers[i].materialised_reason != NULL) {
            is_expanded[plan->buffers[i].value.index] = true;
        }
    }
    return is_expanded;
}

/* Sums of what is known; what no row holds is a whole map. A sum that does not fit stays unknown. */
static void add_compact(Facts *facts, const CompactCost *cost) {
    if (cost->compact_bytes == UINT64_MAX || cost->full_bytes == UINT64_MAX) {
        return;
    }
    uint64_t row_bytes = cost->row_bytes == UINT64_MAX ? cost->full_bytes : cost->row_bytes;
    uint64_t *sum[] = {&facts->compact_bytes, &facts->compact_as_row_bytes, &facts->compact_as_full_bytes};
    const uint64_t bytes[] = {cost->compact_bytes, row_bytes, cost->full_bytes};
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++) {
        if (*sum[i] == UINT64_MAX || !checked_add(*sum[i], bytes[i], sum[i])) {
            *sum[i] = UINT64_MAX;
        }
    }
}

/* An arena reads a compact parameter in flash; elsewhere each local copy stands for itself. */
static void gather_compact(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    const bool *is_expanded = expanded_values(plan, &work->scratch);
    facts->kept_compact = arena_array(&work->keep, CompactCost, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        bool stands = plan->device->kind == DEVICE_ARENA || buffer->memory == plan->device->local;
        bool is_source = !buffer_is_worked_on(plan, buffer) && is_compact(buffer) && is_expanded[buffer->value.index];
        if (is_compact(buffer) && stands && !is_source) {
            CompactCost cost = compact_cost(plan, (BufferId){i});
            facts->kept_compact[facts->compact_count++] = cost;
            add_compact(facts, &cost);
        }
    }
    if (facts->compact_count > 0) {
        qsort(facts->kept_compact, facts->compact_count, sizeof *facts->kept_compact, by_full_cost);
    }
}

static void gather_materialised(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    facts->materialised = arena_array(keep, BufferId, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (plan->buffers[i].materialised_reason != NULL) {
            facts->materialised[facts->materialised_count++] = (BufferId){i};
        }
    }
}

static void gather_collapsibles(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    facts->collapsibles = arena_array(keep, Collapsible, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        const Value *value = is_value(buffer->value) ? graph_value(plan->graph, buffer->value) : NULL;
        if (value == NULL || value->constant == NULL || buffer_is_worked_on(plan, buffer) ||
            !value->constant->is_known || buffer->role != ROLE_PARAMETER) {
            continue;
        }
        if (value->constant->bytes.len > buffer->logical_bytes && shape_eq(&value->constant->stored, &value->shape)) {
            Collapsible one = {buffer->value, value->constant->bytes.len, buffer->logical_bytes, 0};
            CHECK(buffer_backing_bytes(plan, buffer, &one.planned_bytes)); /* the planner laid it */
            facts->expanded_file_bytes += one.file_bytes;                  /* at most the file */
            facts->expanded_planned_bytes += one.planned_bytes;
            facts->collapsibles[facts->collapsible_count++] = one;
        }
    }
}

/* What it costs to keep the inputs that are overwritten: planned again, as --pin-inputs would. */
static void gather_pinned(Facts *facts, Work *work) {
    if (facts->overwrite_count == 0) {
        return;
    }
    PlanOptions options = facts->plan->options;
    options.pin_inputs = true;
    facts->pinned = plan_with(facts->plan, &options, work);
}

static void gather_anywhere(Facts *facts) {
    const Plan *plan = facts->plan;
    uint64_t align = facts->device->memory[facts->device->local].align_bytes;
    uint64_t slack = plan->placed_bytes == 0 ? 0 : align - 1;
    if (!checked_add(plan->placed_bytes, slack, &facts->anywhere_bytes)) {
        facts->anywhere_bytes = UINT64_MAX;
    }
}

static void gather_outputs(Facts *facts, Arena *keep) {
    OutputRange *ranges = arena_array(keep, OutputRange, graph_main(facts->graph)->output_count);
    simplification_ranges(facts->graph, false, ranges);
    facts->outputs = ranges;
}

Facts *facts_gather(const char *file, const Plan *plan, const Plan *other, bool reads_qdq_as_float, Work *work) {
    Arena *keep = &work->keep;
    Facts *facts = arena_new(keep, Facts);
    *facts = (Facts){.file = file, .plan = plan, .graph = plan->graph, .device = plan->device, .diags = &work->diags};
    facts->other = other;
    facts->reads_qdq_as_float = reads_qdq_as_float;
    facts->at_peak = rank_at_peak(plan, keep);
    facts->paddings = rank_paddings(plan, keep);
    facts->refused = rank_refused(plan, keep);
    gather_compact(facts, work);
    gather_materialised(facts, keep);
    gather_collapsibles(facts, keep);
    overwrites_gather(facts, work);
    gather_pinned(facts, work);
    gather_anywhere(facts);
    misfit_gather(facts, work);
    gather_swollen(facts, work);
    whole_gather(facts, work);
    facts->commands = plan_fits(plan) ? program_step_commands(plan, work) : NULL;
    facts->far_maps = rank_far_maps(plan, keep);
    facts->overflow = rank_overflow(plan, keep);
    facts->backing_stay_bytes = plan->backing_bytes - plan->far_maps_bytes;
    traffic_gather(facts, keep);
    costs_gather(facts, work);
    alternatives_gather(facts, work);
    lifetimes_gather(facts, work);
    blame_gather(facts, keep);
    gather_outputs(facts, keep);
    return facts;
}

const FarReason *facts_why_far(const Plan *plan, BufferId id) {
    const Buffer *buffer = plan_buffer(plan, id);
    bool is_sent = plan->why_far != NULL && is_value(buffer->value) && buffer_is_far_map(plan, buffer);
    const FarReason *why = is_sent ? &plan->why_far[buffer->value.index] : NULL;
    return why != NULL && why->live_bytes > 0 ? why : NULL;
}

BufferId facts_reads_whole(const PlannedSweep *planned, uint32_t k) {
    const SweepOperand *operand = k == 0 ? &planned->sweep.in : &planned->sweep.params[k - 1];
    BufferId far = k == 0 ? planned->in_far : planned->params[k - 1].far;
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        if (operand->reach[d].of != REACH_ALL && operand->shape.extent[d] > 1) {
            return NO_BUFFER;
        }
    }
    BufferId local = k == 0 ? planned->in_local[0] : planned->params[k - 1].local[0];
    return layout_elements(operand->shape.extent) <= 1 ? NO_BUFFER : is_buffer(far) ? far : local;
}

uint32_t facts_uncut_dims(const Sweep *sweep) {
    uint32_t uncut = 0;
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        bool may_cut = (sweep->cut >> d & 1) != 0 || sweep->out.shape.extent[d] <= 1;
        uncut |= may_cut ? 0 : 1u << d;
    }
    return uncut;
}

KindTotals facts_totals(const Facts *facts) {
    const Plan *plan = facts->plan;
    return (KindTotals){plan->logical_bytes, plan->physical_bytes, plan->peak_live_bytes};
}

bool facts_layout_case(const Facts *facts, BufferId id, uint32_t *which) {
    const Buffer *buffer = plan_buffer(facts->plan, id);
    if (!is_value(buffer->value)) {
        return false;
    }
    Tensor tensor = tensor_of_buffer(facts->graph, buffer);
    View view;
    if (!tensor_find_view(facts->device, &tensor, &view) || view.bank_bytes != buffer->physical_bytes) {
        return false;
    }
    *which = view.which_case;
    return true;
}

const char *facts_form_name(const Buffer *buffer) {
    return !buffer->is_form                      ? NULL
           : buffer->broadcast == BROADCAST_NONE ? form_name(FORM_FULL)
                                                 : broadcast_name(buffer->broadcast);
}

Str facts_buffer_name(const Facts *facts, BufferId id, Arena *arena) {
    const Plan *plan = facts->plan;
    const Buffer *buffer = plan_buffer(plan, id);
    if (!is_value(buffer->value)) {
        return STR("(workspace)");
    }
    const Value *value = graph_value(plan->graph, buffer->value);
    bool is_copy = buffer->memory == plan->device->local && plan->device->kind == DEVICE_SCRATCHPAD &&
                   (value->constant != NULL || value->is_input);
    if (buffer->is_form) {
        return arena_format(arena, STR_FMT " (%s form)", STR_ARG(value->name), facts_form_name(buffer));
    }
    return is_copy ? arena_format(arena, STR_FMT " (local copy)", STR_ARG(value->name)) : value->name;
}

Str facts_step_title(const Facts *facts, const Step *step, Arena *arena) {
    if (!is_node(step->node)) {
        return STR("(model output)");
    }
    return node_title(arena, graph_node(facts->graph, step->node));
}
