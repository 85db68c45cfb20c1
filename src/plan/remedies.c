/* Remedies of a plan that does not fit: each is tried alone, by planning again with it. */
#include "plan/builder.h"

static void add_remedy(Plan *plan, Remedy remedy) {
    if (remedy.saves_bytes > 0 || remedy.fits) {
        plan->remedies[plan->remedy_count++] = remedy;
    }
}

/* Bytes are those of all maps in one memory, so that they can be compared whatever lies in further ones. */
static void compare(Plan *plan, const char *kind, const Plan *other) {
    uint64_t before = plan->unspilled_placed_bytes, after = other->unspilled_placed_bytes;
    add_remedy(
        plan,
        (Remedy){.kind = kind, .saves_bytes = after < before ? before - after : 0, .fits = plan_local_fits(other)});
}

static void try_remedy(Plan *plan, const char *kind, PlanOptions options, Work *work) {
    const Plan *other = plan_with(plan, &options, work);
    if (other != NULL) {
        compare(plan, kind, other);
    }
}

/* What is planned already is not planned again. */
static void try_order(Plan *plan, Work *work) {
    PlanOptions options = plan->options;
    options.order_memory = true;
    const PlanTask task = {plan->graph, plan->device, &options, plan->command};
    const Plan *other = plan_in_best_order(&task, plan, work);
    plan->order = NULL; /* nobody has asked */
    compare(plan, "order", other);
}

/* What the memory itself would have to be larger, or one that takes its overflow. */
static void add_larger(Plan *plan, uint32_t first, const char *kind, uint64_t *lack_bytes, Work *work) {
    uint64_t lack[DEVICE_MAX_MEMORIES];
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        lack[m] = UINT64_MAX;
    }
    if (plan_has_overflow(plan, first)) {
        overflow_lack(plan, first, lack, work);
        *lack_bytes = lack[first] < *lack_bytes ? lack[first] : *lack_bytes;
    }
    add_remedy(plan, (Remedy){.kind = kind, .saves_bytes = *lack_bytes, .memory = first, .fits = true});
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        if (m != first && lack[m] != UINT64_MAX) {
            add_remedy(plan, (Remedy){.kind = "larger_overflow", .saves_bytes = lack[m], .memory = m, .fits = true});
        }
    }
}

/* Only what is not so already. */
static void find_local_remedies(Plan *plan, Work *work) {
    PlanOptions options = plan->options;
    if (options.strategy != STRATEGY_AUTO) {
        options.strategy = STRATEGY_AUTO;
        try_remedy(plan, "compact_parameters", options, work);
    }
    options = plan->options;
    if (!options.in_place) {
        options.in_place = true;
        try_remedy(plan, "in_place", options, work);
    }
    if (!plan->options.order_memory) {
        try_order(plan, work);
    }
    options = plan->options;
    if (options.pin_inputs) {
        options.pin_inputs = false;
        try_remedy(plan, "unpin_inputs", options, work);
    }
    options = plan->options;
    if (options.pin_outputs) {
        options.pin_outputs = false;
        try_remedy(plan, "unpin_outputs", options, work);
    }
    options = plan->options;
    if (options.whole_tiles) {
        options.whole_tiles = false;
        try_remedy(plan, "tiles", options, work);
    }
    add_larger(plan, plan->device->local, "larger_memory", &plan->lack_bytes, work);
}

void find_remedies(Plan *plan, Work *work) {
    enum { MOST_REMEDIES = 8 + DEVICE_MAX_MEMORIES };
    plan->remedies = arena_array(&work->keep, Remedy, MOST_REMEDIES);
    if (!plan_local_fits(plan)) {
        plan->lack_bytes = plan->placed_bytes - plan->capacity_bytes;
        find_local_remedies(plan, work);
    }
    if (!plan_backing_fits(plan)) {
        bool is_arena = plan->device->kind == DEVICE_ARENA;
        plan->backing_lack_bytes = plan->backing_bytes - plan->backing_capacity_bytes;
        add_larger(plan, plan->device->backing, is_arena ? "larger_flash" : "larger_far", &plan->backing_lack_bytes,
                   work);
    }
}
