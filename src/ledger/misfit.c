/* What a misfit is made of beside the peak: other steps that are too large, and the largest of flash or far memory. */
#include "ledger/misfit.h"

#include "base/fault.h"
#include "ledger/ranking.h"
#include "ledger/waiting.h"

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

static void gather_backing(Facts *facts, Arena *keep) {
    enum { MOST = 10 };
    const Plan *plan = facts->plan;
    Ranking ranking = ranking_new(plan, keep);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer->memory == plan->device->backing) {
            uint64_t bytes;
            CHECK(view_all_banks_bytes(buffer->physical_bytes, buffer->banks_used, &bytes)); /* the planner laid them */
            ranking_add(&ranking, (BufferId){i}, bytes);
        }
    }
    ranking_finish(&ranking, MOST);
    facts->misfit.backing = ranking;
}

void misfit_gather(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    bool local_fits = plan_local_fits(plan);
    bool backing_fits = plan_backing_fits(plan);
    facts->spare_bytes = local_fits ? plan->capacity_bytes - plan->placed_bytes : 0;
    facts->excess_bytes = local_fits ? 0 : plan->placed_bytes - plan->capacity_bytes;
    facts->misfit.backing_excess_bytes = backing_fits ? 0 : plan->backing_bytes - plan->backing_capacity_bytes;
    if (!local_fits) {
        gather_crowded(facts, keep);
        waiting_gather(facts, keep);
    }
    if (!backing_fits) {
        gather_backing(facts, keep);
    }
}
