/* What of the peak is the node's own, and what only waits there.
 *
 * A node's own are the storages that some step of it reads or writes: on a scratchpad a node is several steps. Own and
 * waiting bytes sum to the peak. */
#include "ledger/waiting.h"

static void mark(const Plan *plan, const BufferId *ids, uint32_t count, bool *is_own) {
    for (uint32_t i = 0; i < count; i++) {
        is_own[plan_buffer(plan, ids[i])->storage.index] = true;
    }
}

static void mark_own(const Plan *plan, bool *is_own) {
    const Step *peak = &plan->steps[plan->peak_step];
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        if (s == plan->peak_step || (is_node(peak->node) && step->node.index == peak->node.index)) {
            mark(plan, step->reads, step->read_count, is_own);
            mark(plan, step->writes, step->write_count, is_own);
        }
    }
}

void waiting_gather(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    Misfit *misfit = &facts->misfit;
    if (plan->step_count == 0) {
        return;
    }
    bool *is_own = arena_array(keep, bool, plan->buffer_count);
    mark_own(plan, is_own);
    misfit->waiting = arena_array(keep, BufferId, facts->at_peak.count);
    for (uint32_t i = 0; i < facts->at_peak.count; i++) {
        Ranked ranked = facts->at_peak.top[i];
        if (is_own[ranked.buffer.index]) {
            misfit->own_bytes += ranked.bytes;
        } else {
            misfit->waiting[misfit->waiting_count++] = ranked.buffer;
            misfit->waiting_bytes += ranked.bytes;
        }
    }
}
