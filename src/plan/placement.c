/* Where every storage lies: in local memory and in flash or far memory, packed by live ranges, and judged. */
#include "plan/builder.h"

#include "base/checked.h"
#include "base/fault.h"
#include "place/judge.h"
#include "solver/solver.h"

/* False where a height does not fit 64 bits. A bound that a search has proven is above what the judge can count. */
static bool place(PlaceProblem *problem, Arena *scratch) {
    if (!place_solve(problem, scratch)) {
        return false;
    }
    uint64_t counted = problem->bound;
    solver_tighten(problem, PLACE_MOST_NODES, scratch);
    PlaceProblem judged = *problem;
    judged.bound = counted;
    CHECK(place_judge(&judged, scratch).verdict == JUDGE_RIGHT);
    return true;
}

/* ---- Local memory */

static bool is_placed(const Plan *plan, uint32_t i) {
    return buffer_is_local_storage(plan, (BufferId){i}) && plan->buffers[i].physical_bytes > 0;
}

static void collect(const Plan *plan, PlaceProblem *problem, Arena *scratch) {
    problem->buffer = arena_array(scratch, PlaceBuffer, plan->buffer_count);
    problem->align_bytes = plan->device->memory[plan->device->local].align_bytes;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (is_placed(plan, i)) {
            problem->buffer[problem->count++] = (PlaceBuffer){.size = buffer->physical_bytes,
                                                              .align = buffer->align_bytes,
                                                              .first = buffer->storage_first,
                                                              .last = buffer->storage_last};
        }
    }
}

/* Aliases lie where their storage lies. A child's parent may come later in the list, so the way up is walked, and a
 * second time with the sum, which leaves each on it its offset: what has one ends a way, so all ways together are as
 * long as the list, however long one is. */
static void place_alias(Plan *plan, bool *has_offset, BufferId id) {
    uint64_t offset = 0;
    BufferId at = id;
    for (; !has_offset[at.index]; at = plan_buffer(plan, at)->alias_of) {
        offset += plan_buffer(plan, at)->alias_offset_bytes;
    }
    offset += plan_buffer(plan, at)->offset;
    for (at = id; !has_offset[at.index]; at = plan_buffer(plan, at)->alias_of) {
        has_offset[at.index] = true;
        plan_buffer(plan, at)->offset = offset;
        offset -= plan_buffer(plan, at)->alias_offset_bytes;
    }
}

void place_aliases(Plan *plan, Arena *scratch) {
    bool *has_offset = arena_array(scratch, bool, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        has_offset[i] = !is_buffer(plan->buffers[i].alias_of);
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        place_alias(plan, has_offset, (BufferId){i});
    }
}

bool place_local(Plan *plan, Work *work) {
    PlaceProblem problem = {0};
    collect(plan, &problem, &work->scratch);
    if (!place(&problem, &work->scratch)) {
        return diag_refuse(&work->diags, (DiagText){.what = "the placement does not fit 64 bits"});
    }
    size_t next = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (is_placed(plan, i)) {
            plan->buffers[i].offset = problem.buffer[next++].offset;
        }
    }
    place_aliases(plan, &work->scratch);
    plan->placed_bytes = problem.height;
    plan->lower_bound_bytes = problem.bound;
    CHECK(plan->peak_live_bytes <= plan->lower_bound_bytes && plan->lower_bound_bytes <= plan->placed_bytes);
    return true;
}

/* ---- Flash or far memory */

static bool refuse_backing(Diags *diags) {
    return diag_refuse(diags, (DiagText){.what = "the sum of what lies in flash or far memory does not fit 64 bits"});
}

static bool is_far_storage(const Plan *plan, const Buffer *buffer) {
    return buffer->memory != plan->device->local && !is_buffer(buffer->alias_of);
}

/* Maps that were sent there are gone when their last reader has them. */
static bool place_far_maps(Plan *plan, Work *work) {
    const DeviceMemory *memory = &plan->device->memory[plan->device->backing];
    PlaceProblem problem = {.align_bytes = memory->align_bytes > 0 ? memory->align_bytes : 1};
    problem.buffer = arena_array(&work->scratch, PlaceBuffer, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        PlaceBuffer *placed = &problem.buffer[problem.count];
        if (!is_far_storage(plan, buffer) || !buffer_is_far_map(plan, buffer)) {
            continue;
        }
        *placed =
            (PlaceBuffer){.align = buffer->align_bytes, .first = buffer->storage_first, .last = buffer->storage_last};
        if (!buffer_backing_bytes(plan, buffer, &placed->size)) {
            return refuse_backing(&work->diags);
        }
        problem.count += placed->size > 0;
    }
    if (problem.count > 0 && !place(&problem, &work->scratch)) {
        return refuse_backing(&work->diags);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Buffer *buffer = &plan->buffers[i];
        if (is_far_storage(plan, buffer) && buffer_is_far_map(plan, buffer) && buffer->physical_bytes > 0) {
            buffer->offset = problem.buffer[next++].offset;
        }
    }
    plan->far_maps_bytes = problem.count > 0 ? problem.height : 0;
    plan->backing_bytes = plan->far_maps_bytes;
    return true;
}

/* Constants and what is the caller's stay for the whole run: one after the other. A banked layout lies there bank by
 * bank, for that memory is one address space. */
bool place_backing(Plan *plan, Work *work) {
    if (!place_far_maps(plan, work)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Buffer *buffer = &plan->buffers[i];
        uint64_t bytes;
        if (!is_far_storage(plan, buffer) || buffer_is_far_map(plan, buffer)) {
            continue;
        }
        if (!buffer_backing_bytes(plan, buffer, &bytes) ||
            !checked_round_up(plan->backing_bytes, buffer_start_bytes(plan, buffer), &buffer->offset) ||
            !checked_add(buffer->offset, bytes, &plan->backing_bytes)) {
            return refuse_backing(&work->diags);
        }
    }
    place_aliases(plan, &work->scratch);
    return true;
}
