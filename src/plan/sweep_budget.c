/* What is left for each sweep: local memory, less what waits there for other steps while it goes. */
#include "plan/builder.h"

static uint64_t own_bytes(const Plan *plan, BufferId id, uint32_t step) {
    if (!is_buffer(id) || !buffer_is_local_storage(plan, id)) {
        return 0;
    }
    const Buffer *buffer = plan_buffer(plan, id);
    return storage_is_live(buffer, step) ? buffer->physical_bytes : 0;
}

/* Bytes at the step that the sweep has made itself. What is whole in local memory was there before. */
static uint64_t made_bytes(const Plan *plan, const PlannedSweep *planned, uint32_t step) {
    uint64_t made = 0;
    for (uint32_t slot = 0; slot < 2; slot++) {
        made += planned->sweep.in.is_far ? own_bytes(plan, planned->in_local[slot], step) : 0;
        made += planned->sweep.out.is_far ? own_bytes(plan, planned->out_local[slot], step) : 0;
        made += own_bytes(plan, planned->workspace[slot], step);
        for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
            bool is_far = planned->sweep.params[i].is_far;
            made += is_far ? own_bytes(plan, planned->params[i].local[slot], step) : 0;
            made += slot == 0 ? own_bytes(plan, planned->params[i].form, step) : 0;
        }
    }
    bool is_split = planned->chosen.best.choice.schedule == SCHEDULE_SPLIT;
    for (uint32_t n = 0; is_split && n + 1 < planned->node_count; n++) {
        made += own_bytes(plan, planned->handed[2 * n], step);
    }
    return made;
}

static uint64_t waiting_bytes(const Plan *plan, const PlannedSweep *planned) {
    uint64_t most = 0;
    for (uint32_t s = planned->first_step; s < planned->last_step; s++) {
        uint64_t waiting = plan->steps[s].live_bytes - made_bytes(plan, planned, s);
        most = waiting > most ? waiting : most;
    }
    return most;
}

bool tighten_sweeps(const Plan *plan, uint64_t *budgets) {
    bool is_tighter = false;
    for (uint32_t i = 0; i < plan->sweep_count; i++) {
        const PlannedSweep *planned = &plan->sweeps[i];
        if (planned->sweep.cut == 0) {
            continue;
        }
        uint64_t waiting = waiting_bytes(plan, planned), need = planned->chosen.best.need_bytes;
        uint64_t left = plan->capacity_bytes > waiting ? plan->capacity_bytes - waiting : 0;
        if (left >= need && plan->peak_live_bytes <= plan->capacity_bytes) {
            left = need - need / 4; /* it would fit, but for gaps between buffers */
        }
        is_tighter = is_tighter || (planned->chosen.fits && left < need);
        uint64_t *budget = &budgets[planned->nodes[0].index];
        *budget = left < *budget ? left : *budget;
    }
    return is_tighter;
}
