/* Live ranges: when each buffer is read and written, and when each storage is alive. */
#include "plan/builder.h"

#include "base/checked.h"
#include "base/fault.h"

#include <string.h>

static void touch(Buffer *buffer, uint32_t step) {
    buffer->first = step < buffer->first ? step : buffer->first;
    buffer->last = step + 1 > buffer->last ? step + 1 : buffer->last;
}

static void touch_all(Plan *plan, const BufferId *ids, uint32_t count, uint32_t step) {
    for (uint32_t i = 0; i < count; i++) {
        touch(plan_buffer(plan, ids[i]), step);
    }
}

/* Of local memory: the far side of a tile is a part of a whole. */
static void count_repeats(Plan *plan, const Step *step) {
    for (uint32_t i = 0; i < step->write_count; i++) {
        Buffer *buffer = plan_buffer(plan, step->writes[i]);
        bool is_tile = buffer->memory == plan->device->local && step->repeat > buffer->repeat;
        buffer->repeat = is_tile ? step->repeat : buffer->repeat;
    }
}

/* A plan without steps still has its inputs and outputs in memory, at step 0. */
static uint32_t step_end(const Plan *plan) {
    return plan->step_count == 0 ? 1 : plan->step_count;
}

/* The ends that the steps do not tell: what the caller or the next run holds. */
static void extend_held(Plan *plan, Buffer *buffer) {
    const Value *value = is_value(buffer->value) ? graph_value(plan->graph, buffer->value) : NULL;
    uint32_t end = step_end(plan);
    bool is_callers = plan->device->kind == DEVICE_ARENA && value != NULL && buffer->memory == plan->device->local;
    bool is_far = buffer->memory != plan->device->local && !buffer_is_far_map(plan, buffer);
    bool is_held = is_far || buffer->kind == BUFFER_STATE ||
                   (is_callers && value->is_input && plan->options.pin_inputs) ||
                   (is_callers && value->is_output && plan->options.pin_outputs);
    if (is_held) {
        buffer->first = 0;
        buffer->last = end;
    }
    if (is_callers && value->is_input && value->constant == NULL) {
        buffer->first = 0;
        buffer->last = buffer->last == 0 ? 1 : buffer->last;
    }
    if (is_callers && value->is_output) {
        buffer->first = buffer->first == UINT32_MAX ? end - 1 : buffer->first;
        buffer->last = end;
    }
}

/* What no step writes begins with what it lies in, or with the first of what lies in it; what is pinned is there
 * before.
 */
static void begin_with_alias(Plan *plan, ValueId id) {
    BufferId of_value = is_value(id) ? plan->of_value[id.index] : NO_BUFFER;
    if (!is_buffer(of_value)) {
        return;
    }
    Buffer *buffer = plan_buffer(plan, of_value);
    if (is_buffer(buffer->alias_of) && buffer->alias_reason != ALIAS_CONCAT) {
        const Buffer *source = plan_buffer(plan, buffer->alias_of);
        buffer->first = source->first < buffer->first ? source->first : buffer->first;
        buffer->last = buffer->last <= buffer->first ? buffer->first + 1 : buffer->last;
    }
}

static void begin_with_parts(Plan *plan, const Node *node) {
    BufferId whole_id =
        node->output_count == 1 && is_value(node->outputs[0]) ? plan->of_value[node->outputs[0].index] : NO_BUFFER;
    for (uint32_t k = 0; is_buffer(whole_id) && k < node->input_count; k++) {
        BufferId part_id = is_value(node->inputs[k]) ? plan->of_value[node->inputs[k].index] : NO_BUFFER;
        Buffer *whole = plan_buffer(plan, whole_id);
        if (is_buffer(part_id) && plan_buffer(plan, part_id)->alias_of.index == whole_id.index) {
            const Buffer *part = plan_buffer(plan, part_id);
            whole->first = part->first < whole->first ? part->first : whole->first;
            whole->last = part->last > whole->last ? part->last : whole->last;
        }
    }
}

/* Another shape of a map in far memory, of which other shapes only are read, lives with the map. */
static void begin_far_views(Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Buffer *buffer = &plan->buffers[i];
        BufferId of = buffer->alias_of;
        if (buffer->last > 0 || !is_buffer(of) || !buffer_is_far_map(plan, buffer)) {
            continue;
        }
        while (plan_buffer(plan, of)->last == 0) {
            of = plan_buffer(plan, of)->alias_of;
        }
        buffer->first = plan_buffer(plan, of)->first;
        buffer->last = buffer->first + 1;
    }
}

void build_ranges(Builder *builder) {
    Plan *plan = builder->plan;
    const Block *block = graph_main(plan->graph);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        plan->buffers[i].first = UINT32_MAX;
        plan->buffers[i].last = 0;
        plan->buffers[i].repeat = 1;
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        count_repeats(plan, &plan->steps[s]);
        touch_all(plan, plan->steps[s].reads, plan->steps[s].read_count, s);
        touch_all(plan, plan->steps[s].writes, plan->steps[s].write_count, s);
    }
    extend_sweeps(plan);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        extend_held(plan, &plan->buffers[i]);
    }
    for (uint32_t at = 0; at < block->node_count; at++) {
        const Node *node = graph_node(plan->graph, block->nodes[at]);
        begin_with_parts(plan, node);
        for (uint32_t k = 0; k < node->output_count; k++) {
            begin_with_alias(plan, node->outputs[k]);
        }
    }
    begin_far_views(plan);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        CHECK(plan->buffers[i].first < plan->buffers[i].last);
    }
}

/* ---- Storages */

BufferId find_storage(Plan *plan, BufferId id) {
    BufferId root = id;
    while (is_buffer(plan_buffer(plan, root)->alias_of)) {
        root = plan_buffer(plan, root)->storage.index == root.index ? plan_buffer(plan, root)->alias_of
                                                                    : plan_buffer(plan, root)->storage;
    }
    while (id.index != root.index) { /* point all on the way at the root */
        Buffer *buffer = plan_buffer(plan, id);
        BufferId next = buffer->storage.index == id.index ? buffer->alias_of : buffer->storage;
        buffer->storage = root;
        id = next;
    }
    return root;
}

/* On a scratchpad the store step is what reads an output. */
static bool is_callers_output(const Plan *plan, const Buffer *buffer) {
    return plan->device->kind == DEVICE_ARENA && buffer->memory == plan->device->local && is_value(buffer->value) &&
           graph_value(plan->graph, buffer->value)->is_output;
}

void build_storages(Builder *builder) {
    Plan *plan = builder->plan;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        plan->buffers[i].storage_first = plan->buffers[i].first;
        plan->buffers[i].storage_last = plan->buffers[i].last;
        plan->buffers[i].holds_output = is_callers_output(plan, &plan->buffers[i]);
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        Buffer *root = plan_buffer(plan, find_storage(plan, (BufferId){i}));
        root->storage_first = buffer->first < root->storage_first ? buffer->first : root->storage_first;
        root->storage_last = buffer->last > root->storage_last ? buffer->last : root->storage_last;
        root->holds_output = root->holds_output || buffer->holds_output;
        CHECK(root->align_bytes > 0 && buffer->align_bytes > 0 &&
              checked_common_multiple(root->align_bytes, buffer->align_bytes, &root->align_bytes)); /* of any device */
    }
}

/* ---- Totals */

/* Live bytes of every step, from what begins and ends there. The sum of all sizes fits 64 bits, so no step overflows.
 */
static void sum_steps(Plan *plan, Arena *scratch) {
    uint64_t *begin = arena_array(scratch, uint64_t, (size_t)step_end(plan) + 1);
    uint64_t *end = arena_array(scratch, uint64_t, (size_t)step_end(plan) + 1);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_local_storage(plan, (BufferId){i})) {
            begin[buffer->storage_first] += buffer->physical_bytes;
            end[buffer->storage_last] += buffer->physical_bytes;
        }
    }
    uint64_t live = 0;
    for (uint32_t s = 0; s < step_end(plan); s++) {
        live += begin[s];
        live -= end[s];
        if (s < plan->step_count) {
            plan->steps[s].live_bytes = live;
        }
        if (live > plan->peak_live_bytes) {
            plan->peak_live_bytes = live;
            plan->peak_step = s;
        }
    }
}

static void sum_kinds(Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        KindTotals *kind = &plan->by_kind[buffer->kind];
        if (buffer_is_local_storage(plan, (BufferId){i})) {
            bool is_at_peak = storage_is_live(buffer, plan->peak_step);
            kind->logical_bytes += buffer->logical_bytes;
            kind->physical_bytes += buffer->physical_bytes;
            kind->at_peak_bytes += is_at_peak ? buffer->physical_bytes : 0;
            plan->logical_bytes += buffer->logical_bytes;
            plan->physical_bytes += buffer->physical_bytes;
        }
    }
}

void plan_sum(Plan *plan, Arena *scratch) {
    memset(plan->by_kind, 0, sizeof plan->by_kind);
    plan->logical_bytes = 0;
    plan->physical_bytes = 0;
    plan->peak_live_bytes = 0;
    plan->peak_step = 0;
    sum_steps(plan, scratch);
    sum_kinds(plan);
}

bool build_totals(Builder *builder) {
    const Plan *plan = builder->plan;
    uint64_t logical = 0, physical = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_local_storage(plan, (BufferId){i}) &&
            (!checked_add(logical, buffer->logical_bytes, &logical) ||
             !checked_add(physical, buffer->physical_bytes, &physical))) {
            return diag_refuse(&builder->work->diags,
                               (DiagText){.what = "the sum of all buffers does not fit 64 bits"});
        }
    }
    plan_sum(builder->plan, &builder->work->scratch);
    return true;
}
