/* A plan as it is compared with another. */
#include "ledger/side.h"

#include "base/checked.h"
#include "ledger/simplification.h"

#include <math.h>

static Str node_name(const Graph *graph, NodeId id) {
    return is_node(id) ? graph_node(graph, id)->name : (Str){0};
}

static SideBuffer buffer_of(const Plan *plan, const Buffer *buffer) {
    SideBuffer made = {.node = node_name(plan->graph, buffer->node),
                       .dtype = str_from(dtype_name(buffer->dtype)),
                       .kind = buffer->kind,
                       .is_local = buffer->memory == plan->device->local,
                       .is_form = buffer->is_form,
                       .shape = buffer->stored,
                       .logical_bytes = buffer->logical_bytes,
                       .physical_bytes = buffer->physical_bytes,
                       .first = buffer->first,
                       .last = buffer->last,
                       .storage = buffer->storage.index};
    if (is_value(buffer->value)) {
        const Value *value = graph_value(plan->graph, buffer->value);
        made.name = value->name;
        made.shape = value->shape;
    }
    return made;
}

static SideOutput output_of(const Value *value, const OutputRange *range) {
    bool has_one = value->quant != NULL && value->quant->count == 1;
    return (SideOutput){.name = value->name,
                        .dtype = str_from(dtype_name(value->dtype)),
                        .shape = value->shape,
                        .is_ranged = true,
                        .lo = range->before[0],
                        .hi = range->before[1],
                        .scale = has_one ? (double)value->quant->scale[0] : NAN,
                        .zero_point = has_one && value->quant->zero_point != NULL ? value->quant->zero_point[0] : 0};
}

static bool check_sums(const Side *side, Work *work) {
    uint64_t sum = side->placed_bytes;
    for (uint32_t i = 0; i < side->buffer_count; i++) {
        if (!checked_add(sum, side->buffers[i].physical_bytes, &sum)) {
            sum = UINT64_MAX;
        }
    }
    for (uint32_t k = 0; k < side->further_count; k++) {
        sum = checked_add(sum, side->further[k].placed_bytes, &sum) ? sum : UINT64_MAX;
    }
    return (sum | side->backing_bytes) >> 62 == 0 ||
           diag_refuse(&work->diags, (DiagText){.what = "the plan's bytes are too many to be compared",
                                                .expected = "less than 2^62 in all"});
}

static void list_further(const Plan *plan, Side *side) {
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        const DeviceMemory *memory = &plan->device->memory[m];
        if (memory->overflow != OVERFLOW_NONE) {
            side->further[side->further_count++] =
                (SideFurther){memory->name, plan->overflow[m].placed_bytes, memory->bytes};
        }
    }
}

const Side *side_of_facts(const Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    const Block *main = graph_main(facts->graph);
    Side *side = arena_new(&work->keep, Side);
    *side = (Side){.file = facts->file,
                   .device = facts->device->name,
                   .step_count = plan->step_count,
                   .buffer_count = plan->buffer_count,
                   .output_count = main->output_count,
                   .buffers = arena_array(&work->keep, SideBuffer, plan->buffer_count),
                   .outputs = arena_array(&work->keep, SideOutput, main->output_count),
                   .nodes = plan->node_count,
                   .peak_live_bytes = plan->peak_live_bytes,
                   .placed_bytes = plan->placed_bytes,
                   .capacity_bytes = plan->capacity_bytes,
                   .backing = facts->device->memory[facts->device->backing].name,
                   .backing_bytes = plan->backing_bytes,
                   .backing_capacity_bytes = plan->backing_capacity_bytes,
                   .request_device = facts->request_device,
                   .options = facts->options};
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        side->buffers[i] = buffer_of(plan, &plan->buffers[i]);
    }
    list_further(plan, side);
    for (uint32_t k = 0; k < main->output_count; k++) {
        side->outputs[k] = output_of(graph_value(facts->graph, main->outputs[k]), &facts->outputs[k]);
    }
    return check_sums(side, work) ? side : NULL;
}

uint64_t side_peak(const Side *side, Arena *scratch) {
    uint32_t count = side->buffer_count;
    uint32_t *first = arena_array(scratch, uint32_t, count), *last = arena_array(scratch, uint32_t, count);
    uint64_t *change = arena_array(scratch, uint64_t, (size_t)side->step_count + 1); /* modulo 2^64 */
    uint64_t live = 0, peak = 0;
    for (uint32_t i = 0; i < count; i++) {
        first[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        const SideBuffer *buffer = &side->buffers[i];
        uint32_t root = buffer->storage;
        first[root] = buffer->first < first[root] ? buffer->first : first[root];
        last[root] = buffer->last > last[root] ? buffer->last : last[root];
    }
    for (uint32_t i = 0; i < count; i++) {
        const SideBuffer *buffer = &side->buffers[i];
        if (buffer->is_local && buffer->storage == i && first[i] < last[i]) {
            change[first[i]] += buffer->physical_bytes;
            change[last[i]] -= buffer->physical_bytes;
        }
    }
    for (uint32_t s = 0; s < side->step_count; s++) {
        live += change[s];
        peak = live > peak ? live : peak;
    }
    return peak;
}
