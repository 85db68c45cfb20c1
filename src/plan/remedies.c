/* Remedies of a plan that does not fit: each is tried alone, by planning again with it. */
#include "plan/builder.h"

static void add_remedy(Plan *plan, const char *kind, uint64_t saves_bytes) {
    if (saves_bytes > 0) {
        plan->remedies[plan->remedy_count++] = (Remedy){kind, saves_bytes};
    }
}

static void try_remedy(Plan *plan, const char *kind, PlanOptions options, Work *work) {
    const PlanTask task = {plan->graph, plan->device, &options, plan->command};
    Plan *other = plan_best(&task, work);
    if (other != NULL && other->placed_bytes < plan->placed_bytes) {
        add_remedy(plan, kind, plan->placed_bytes - other->placed_bytes);
    }
}

/* What is planned already is not planned again. */
static void try_order(Plan *plan, Work *work) {
    PlanOptions options = plan->options;
    options.order_memory = true;
    const PlanTask task = {plan->graph, plan->device, &options, plan->command};
    const Plan *other = plan_in_best_order(&task, plan, work);
    plan->order = NULL; /* nobody has asked */
    if (other->placed_bytes < plan->placed_bytes) {
        add_remedy(plan, "order", plan->placed_bytes - other->placed_bytes);
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
    add_remedy(plan, "larger_memory", plan->placed_bytes - plan->capacity_bytes);
}

void find_remedies(Plan *plan, Work *work) {
    enum { MOST_REMEDIES = 8 };
    plan->remedies = arena_array(&work->keep, Remedy, MOST_REMEDIES);
    if (!plan_local_fits(plan)) {
        find_local_remedies(plan, work);
    }
    if (!plan_backing_fits(plan)) {
        bool is_arena = plan->device->kind == DEVICE_ARENA;
        add_remedy(plan, is_arena ? "larger_flash" : "larger_far", plan->backing_bytes - plan->backing_capacity_bytes);
    }
}
