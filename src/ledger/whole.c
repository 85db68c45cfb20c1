/* Operators that work on whole maps: why, and what they take so.
 *
 * What a step takes are the storages of local memory that it reads or writes, each once. */
#include "ledger/whole.h"

/* `seen` is the last step that took a storage, counted from 1. */
static uint64_t take(const Plan *plan, const BufferId *ids, uint32_t count, uint32_t step, uint32_t *seen) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        BufferId storage = plan_buffer(plan, ids[i])->storage;
        if (buffer_is_local_storage(plan, storage) && seen[storage.index] != step + 1) {
            seen[storage.index] = step + 1;
            bytes += plan_buffer(plan, storage)->physical_bytes; /* alive at the step, whose sum fits 64 bits */
        }
    }
    return bytes;
}

/* Of the peak's operator, which is more steps than the one that computes. */
static WholeReason peak_reason(const Facts *facts) {
    const Plan *plan = facts->plan;
    WholeReason reason = WHOLE_NONE;
    for (uint32_t s = 0; s < plan->step_count && reason == WHOLE_NONE; s++) {
        reason =
            plan->steps[s].node.index == plan->steps[plan->peak_step].node.index ? facts->whole[s].reason : WHOLE_NONE;
    }
    return reason;
}

static void gather_needed(Facts *facts, Arena *keep) {
    const Plan *plan = facts->plan;
    Misfit *misfit = &facts->misfit;
    if (misfit->whole != WHOLE_GAIN || plan->whole_for == NULL) {
        return;
    }
    NodeId id = plan->steps[plan->peak_step].node;
    const Node *node = graph_node(plan->graph, id);
    misfit->needed = arena_array(keep, NeededWhole, node->input_count + node->output_count);
    for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
        ValueId value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
        NodeId by = is_value(value) ? plan->whole_for[value.index] : NO_NODE;
        if (is_node(by) && by.index != id.index) {
            misfit->needed[misfit->needed_count++] = (NeededWhole){value, by};
        }
    }
}

void whole_gather(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    uint32_t *seen = arena_array(&work->scratch, uint32_t, plan->buffer_count);
    facts->whole = arena_array(&work->keep, WholeStep, plan->step_count);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        facts->whole[s] = (WholeStep){.reason = plan_whole_reason(plan, step, &work->scratch),
                                      .own_bytes = take(plan, step->reads, step->read_count, s, seen)};
        facts->whole[s].own_bytes += take(plan, step->writes, step->write_count, s, seen);
    }
    facts->misfit.whole = plan_local_fits(plan) ? WHOLE_NONE : peak_reason(facts);
    gather_needed(facts, &work->keep);
}
