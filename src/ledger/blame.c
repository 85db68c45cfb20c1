/* Who is to blame for a peak: forms that are larger than the engine needs, a schedule that keeps more than one line of
 * what it makes, workspace, and constants that wait. */
#include "ledger/blame.h"

#include "sweep/kernel.h"

#include <stdlib.h>

static uint64_t less_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void blame(Facts *facts, Blame found) {
    facts->misfit.blame[facts->misfit.blame_count++] = found;
}

static const PlannedSweep *peak_sweep(const Plan *plan) {
    uint32_t sweep = plan->step_count == 0 ? NOT_IN_SWEEP : plan->steps[plan->peak_step].sweep;
    return sweep == NOT_IN_SWEEP ? NULL : &plan->sweeps[sweep];
}

/* ---- Forms */

static bool reads_all(const Device *device) {
    bool all = true;
    for (Form form = FORM_SCALAR; form < FORM_COUNT; form++) {
        all = all && device->form[form].readable;
    }
    return all;
}

/* Of the whole parameter, in the smallest form that the engine is known to read. */
static uint64_t smallest_bytes(const Device *device, const FormCosts *costs) {
    const uint64_t bytes[] = {[FORM_SCALAR] = UINT64_MAX,
                              [FORM_CHANNEL] = costs->channel_bytes,
                              [FORM_ROW] = costs->row_bytes,
                              [FORM_FULL] = costs->full_bytes};
    uint64_t smallest = reads_all(device) ? costs->compact_bytes : UINT64_MAX;
    for (Form form = FORM_CHANNEL; form < FORM_COUNT; form++) {
        smallest = device->form[form].readable ? less_of(smallest, bytes[form]) : smallest;
    }
    return smallest;
}

static void blame_form(Facts *facts, Ranked at_peak) {
    const Buffer *buffer = plan_buffer(facts->plan, at_peak.buffer);
    if (buffer->materialised_reason == NULL || buffer->costs == NULL ||
        facts->plan->options.strategy == STRATEGY_AUTO) {
        return;
    }
    uint64_t smallest = smallest_bytes(facts->device, buffer->costs);
    if (smallest < at_peak.bytes) {
        blame(facts, (Blame){BLAME_BROADCAST_FORM, buffer->node, at_peak.buffer, at_peak.bytes, smallest,
                             "the engine reads a smaller form: --strategy auto"});
    }
}

/* ---- The schedule and its workspace */

/* FUSED, where it needs less than what was chosen; else null. */
static const SweepOther *find_leaner(const Facts *facts) {
    const PlannedSweep *planned = peak_sweep(facts->plan);
    if (planned == NULL) {
        return NULL;
    }
    const SweepFacts *sweep = &facts->sweeps[planned - facts->plan->sweeps];
    for (uint32_t i = 0; i < sweep->other_count; i++) {
        const SweepOther *other = &sweep->others[i];
        if (other->choice.schedule == SCHEDULE_FUSED && other->need_bytes < planned->chosen.best.need_bytes) {
            return other;
        }
    }
    return NULL;
}

static void blame_schedule(Facts *facts) {
    const PlannedSweep *planned = peak_sweep(facts->plan);
    const SweepOther *fused = find_leaner(facts);
    if (fused != NULL && planned->chosen.best.choice.schedule != SCHEDULE_FUSED) {
        blame(facts,
              (Blame){BLAME_SCHEDULE, planned->nodes[0], NO_BUFFER, planned->chosen.best.need_bytes, fused->need_bytes,
                      planned->chosen.best.choice.schedule == SCHEDULE_SPLIT
                          ? "a map lies between two operators: --schedule fused"
                          : "two tiles are in flight: --schedule fused"});
    }
}

/* Going line by line, what operators hand on has a place in a map, or a line of its own. */
static uint64_t line_bytes(const PlannedSweep *planned, const SweepOther *fused) {
    uint64_t bytes = 0;
    View view;
    const KernelContract contract = kernel_contract(&planned->sweep, &fused->choice);
    bool has_line = contract.has_line && kernel_workspace(&contract, KERNEL_LINE, fused->choice.tile, &view, &bytes);
    return has_line ? bytes : 0;
}

static void blame_workspace(Facts *facts, Ranked at_peak) {
    const Buffer *buffer = plan_buffer(facts->plan, at_peak.buffer);
    const PlannedSweep *planned = peak_sweep(facts->plan);
    const SweepOther *fused = find_leaner(facts);
    if (buffer->kind != BUFFER_WORKSPACE) {
        return;
    }
    bool is_map = fused != NULL && planned->chosen.best.choice.schedule == SCHEDULE_SPLIT;
    uint64_t instead = is_map ? less_of(line_bytes(planned, fused), at_peak.bytes) : at_peak.bytes;
    blame(facts, (Blame){BLAME_WORKSPACE, buffer->node, at_peak.buffer, at_peak.bytes, instead,
                         is_map ? "what an operator hands to the next, as a map: --schedule fused hands on lines"
                                : "what an operator hands on; no option of stride0 needs less"});
}

/* ---- Lifetimes */

static void blame_idle(Facts *facts) {
    for (uint32_t i = 0; i < facts->idle_at_peak.count; i++) {
        Ranked idle = facts->idle_at_peak.top[i];
        blame(facts,
              (Blame){BLAME_PARAMETER_LIFETIME, plan_buffer(facts->plan, idle.buffer)->node, idle.buffer, idle.bytes, 0,
                      "this step does not use it: loaded again for its reader, it would not be there"});
    }
}

/* ---- All of it */

static int by_saving(const void *left, const void *right) {
    const Blame *a = left;
    const Blame *b = right;
    uint64_t saves_a = a->bytes - a->instead_bytes, saves_b = b->bytes - b->instead_bytes;
    if (saves_a != saves_b) {
        return saves_a > saves_b ? -1 : 1;
    }
    return a->kind != b->kind ? (int)a->kind - (int)b->kind
                              : (a->buffer.index > b->buffer.index) - (a->buffer.index < b->buffer.index);
}

const char *blame_name(BlameKind kind) {
    static const char *const name[] = {"broadcast_form", "schedule", "workspace", "parameter_lifetime"};
    return name[kind];
}

void blame_gather(Facts *facts, Arena *keep) {
    Misfit *misfit = &facts->misfit;
    enum { KINDS = 3 }; /* of blame that a buffer may get */
    if (plan_local_fits(facts->plan)) {
        return;
    }
    misfit->blame = arena_array(keep, Blame, KINDS * (size_t)facts->at_peak.count + 1);
    blame_schedule(facts);
    for (uint32_t i = 0; i < facts->at_peak.count; i++) {
        blame_form(facts, facts->at_peak.top[i]);
        blame_workspace(facts, facts->at_peak.top[i]);
    }
    blame_idle(facts);
    if (misfit->blame_count > 0) {
        qsort(misfit->blame, misfit->blame_count, sizeof *misfit->blame, by_saving);
    }
}
