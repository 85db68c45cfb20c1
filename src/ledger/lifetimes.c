/* Constants in local memory that wait: alive at a step that neither loads nor reads them.
 *
 * The operators of a sweep that goes line by line run as one: each of them uses what any of them reads. */
#include "ledger/lifetimes.h"

#include "ledger/ranking.h"

typedef struct {
    const Plan *plan;
    uint32_t *used;  /* steps that use each buffer */
    uint32_t *stamp; /* of each buffer: the last unit that used it, counted from 1 */
    bool *at_peak;   /* it is used at a step at which as much is alive as anywhere */
} Uses;

static bool is_engine(Column column) {
    return column == COLUMN_MULTIPLY || column == COLUMN_ADD || column == COLUMN_REQUANTIZE || column == COLUMN_COMPUTE;
}

/* Behind the last step that runs at once with `first`. */
static uint32_t end_of_unit(const Plan *plan, uint32_t first) {
    const Step *step = &plan->steps[first];
    uint32_t last = first + 1;
    if (step->sweep == NOT_IN_SWEEP || !is_engine(step->column) ||
        plan->sweeps[step->sweep].chosen.best.choice.schedule == SCHEDULE_SPLIT) {
        return last;
    }
    while (last < plan->step_count && plan->steps[last].sweep == step->sweep && is_engine(plan->steps[last].column)) {
        last++;
    }
    return last;
}

static void use(Uses *uses, const BufferId *ids, uint32_t count, uint32_t first, uint32_t last) {
    bool is_peak = false;
    for (uint32_t s = first; s < last; s++) {
        is_peak = is_peak || uses->plan->steps[s].live_bytes == uses->plan->peak_live_bytes;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = ids[i].index;
        if (uses->stamp[id] != first + 1) {
            uses->stamp[id] = first + 1;
            uses->used[id] += last - first;
            uses->at_peak[id] = uses->at_peak[id] || is_peak;
        }
    }
}

static void find_uses(Uses *uses) {
    const Plan *plan = uses->plan;
    for (uint32_t first = 0, last; first < plan->step_count; first = last) {
        last = end_of_unit(plan, first);
        for (uint32_t s = first; s < last; s++) {
            use(uses, plan->steps[s].reads, plan->steps[s].read_count, first, last);
            use(uses, plan->steps[s].writes, plan->steps[s].write_count, first, last);
        }
    }
}

static bool is_constant(const Plan *plan, BufferId id) {
    const Buffer *buffer = plan_buffer(plan, id);
    return (buffer->kind == BUFFER_PARAMETER || buffer->kind == BUFFER_WEIGHT) && buffer_is_local_storage(plan, id);
}

void lifetimes_gather(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    Uses uses = {.plan = plan};
    uses.used = arena_array(&work->scratch, uint32_t, plan->buffer_count);
    uses.stamp = arena_array(&work->scratch, uint32_t, plan->buffer_count);
    uses.at_peak = arena_array(&work->scratch, bool, plan->buffer_count);
    facts->idle_steps = arena_array(&work->keep, uint32_t, plan->buffer_count);
    facts->idle_at_peak = ranking_new(plan, &work->keep);
    find_uses(&uses);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (!is_constant(plan, (BufferId){i})) {
            continue;
        }
        uint32_t alive = buffer->last - buffer->first;
        facts->idle_steps[i] = alive > uses.used[i] ? alive - uses.used[i] : 0;
        if (storage_is_live(buffer, plan->peak_step) && !uses.at_peak[i] && buffer->physical_bytes > 0) {
            ranking_add(&facts->idle_at_peak, (BufferId){i}, buffer->physical_bytes);
        }
    }
    ranking_finish(&facts->idle_at_peak, UINT32_MAX);
}
