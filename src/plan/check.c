/* The invariants of a finished plan, recomputed from its buffers and steps. The judge checks offsets of storages
 * against each other; here it is what lies inside them, and when. */
#include "plan/plan.h"

#include "base/fault.h"

static void check_inside(const Plan *plan, const Buffer *buffer) {
    const Buffer *storage = plan_buffer(plan, buffer->storage);
    CHECK(buffer->offset >= storage->offset);
    CHECK(buffer->offset - storage->offset <= storage->physical_bytes);
    CHECK(buffer->physical_bytes <= storage->physical_bytes - (buffer->offset - storage->offset));
    CHECK(storage->storage_first <= buffer->first && buffer->last <= storage->storage_last);
}

static void check_live(const Plan *plan, const BufferId *ids, uint32_t count, uint32_t step) {
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = plan_buffer(plan, ids[i]);
        CHECK(buffer->first <= step && step < buffer->last);
    }
}

void plan_check(const Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        check_inside(plan, &plan->buffers[i]);
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        check_live(plan, step->reads, step->read_count, s);
        check_live(plan, step->writes, step->write_count, s);
        CHECK(step->live_bytes <= plan->peak_live_bytes);
    }
    CHECK(plan->peak_live_bytes <= plan->lower_bound_bytes && plan->lower_bound_bytes <= plan->placed_bytes);
}
