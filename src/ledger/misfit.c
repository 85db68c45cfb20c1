/* What a misfit is made of beside the peak: other steps that are too large, and the largest of flash or far memory. */
#include "ledger/misfit.h"

#include "base/checked.h"
#include "base/fault.h"
#include "ledger/ranking.h"
#include "ledger/waiting.h"
#include "plan/tensor.h"

#include <stdlib.h>

static int by_live(const void *left, const void *right) {
    const Crowded *a = left;
    const Crowded *b = right;
    if (a->live_bytes != b->live_bytes) {
        return a->live_bytes > b->live_bytes ? -1 : 1;
    }
    return a->step < b->step ? -1 : a->step > b->step;
}

/* Whoever shrinks the peak meets these next. */
static void gather_crowded(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    Misfit *misfit = &facts->misfit;
    misfit->crowded = arena_array(keep, Crowded, plan->step_count);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        if (s != plan->peak_step && plan->steps[s].live_bytes > plan->capacity_bytes) {
            misfit->crowded[misfit->crowded_count++] = (Crowded){s, plan->steps[s].live_bytes};
        }
    }
    if (misfit->crowded_count > 0) {
        qsort(misfit->crowded, misfit->crowded_count, sizeof *misfit->crowded, by_live);
    }
}

/* Bytes that a storage takes in flash or far memory; 0 of all else. The planner has laid them there. */
static uint64_t backing_bytes(const Plan *plan, uint32_t i) {
    const Buffer *buffer = &plan->buffers[i];
    uint64_t bytes = 0;
    bool is_storage = buffer->memory == plan->device->backing && !is_buffer(buffer->alias_of);
    CHECK(!is_storage || buffer_backing_bytes(plan, buffer, &bytes));
    return bytes;
}

/* Maps that local memory had no room for come and go; all else stays. */
static void find_backing_peak(const Plan *plan, Misfit *misfit, Arena *scratch) {
    uint64_t *begins = arena_array(scratch, uint64_t, plan->step_count + 1);
    uint64_t *ends = arena_array(scratch, uint64_t, plan->step_count + 1);
    uint64_t alive = 0, most = 0;
    misfit->backing_step = NO_STEP;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_far_map(plan, buffer)) {
            begins[buffer->storage_first] += backing_bytes(plan, i);
            ends[buffer->storage_last] += backing_bytes(plan, i);
        } else {
            misfit->backing_stay_bytes += backing_bytes(plan, i);
        }
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        alive = alive + begins[s] - ends[s];
        misfit->backing_step = alive > most ? s : misfit->backing_step;
        most = alive > most ? alive : most;
    }
    misfit->backing_live_bytes = misfit->backing_stay_bytes + most;
}

static void gather_backing(Facts *facts, Work *work) {
    enum { MOST = 10 };
    const Plan *plan = facts->plan;
    Misfit *misfit = &facts->misfit;
    misfit->backing = ranking_new(plan, &work->keep);
    find_backing_peak(plan, misfit, &work->scratch);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        bool is_there =
            !buffer_is_far_map(plan, &plan->buffers[i]) || storage_is_live(&plan->buffers[i], misfit->backing_step);
        if (is_there && backing_bytes(plan, i) > 0) {
            ranking_add(&misfit->backing, (BufferId){i}, backing_bytes(plan, i));
        }
    }
    CHECK(misfit->backing.all_bytes == misfit->backing_live_bytes);
    ranking_finish(&misfit->backing, MOST);
}

static bool holds(const DeviceMemory *memory, uint64_t need_bytes) {
    uint64_t bytes;
    return memory->bytes == UINT64_MAX || !checked_mul(memory->bytes, memory->lanes, &bytes) || bytes >= need_bytes;
}

/* Chips with a memory for weights keep them there; plans place them in local memory. */
static bool is_for_weights(const Facts *facts, const DeviceMemory *memory) {
    uint64_t at_peak = facts->plan->by_kind[BUFFER_WEIGHT].at_peak_bytes, all;
    return str_eq(memory->name, STR("weights")) && facts->excess_bytes > 0 && facts->excess_bytes <= at_peak &&
           checked_mul(at_peak, facts->device->memory[facts->device->local].lanes, &all) && holds(memory, all);
}

/* Only the local memory of an arena overflows. */
static bool takes_overflow(const Plan *plan, uint32_t first, uint32_t memory, Work *work) {
    const Device *device = plan->device;
    bool is_local = first == device->local;
    bool may = is_local ? device->kind == DEVICE_ARENA && !plan_local_fits(plan) : !plan_backing_fits(plan);
    return may && device_first(device, memory) != first && plan_fits_with_overflow(plan, first, memory, work);
}

static void find_unused(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    const Device *device = facts->device;
    Misfit *misfit = &facts->misfit;
    for (uint32_t k = 0; misfit->unused == NULL && k < device->memory_count; k++) {
        const DeviceMemory *memory = &device->memory[k];
        bool is_free = k != device->local && k != device->backing && plan->overflow[k].storage_count == 0;
        bool is_behind = is_free && takes_overflow(plan, device->backing, k, work);
        bool is_for_local = is_free && !is_behind && takes_overflow(plan, device->local, k, work);
        misfit->unused_is_for_weights = is_free && !is_behind && !is_for_local && is_for_weights(facts, memory);
        if (is_behind || is_for_local || misfit->unused_is_for_weights) {
            misfit->unused = memory;
            misfit->unused_for = &device->memory[is_behind ? device->backing : device->local];
        }
    }
}

void misfit_gather(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    bool local_fits = plan_local_fits(plan);
    bool backing_fits = plan_backing_fits(plan);
    facts->spare_bytes = local_fits ? plan->capacity_bytes - plan->placed_bytes : 0;
    facts->excess_bytes = local_fits ? 0 : plan->placed_bytes - plan->capacity_bytes;
    facts->misfit.backing_excess_bytes = backing_fits ? 0 : plan->backing_bytes - plan->backing_capacity_bytes;
    if (!local_fits) {
        gather_crowded(facts, &work->keep);
        waiting_gather(facts, &work->keep);
    }
    if (!backing_fits) {
        gather_backing(facts, work);
    }
    find_unused(facts, work);
}
