/* Why a plan does not fit, in its JSON. */
#include "report/json_misfit.h"

#include "report/json_parts.h"
#include "report/page.h"

static void write_crowded(Json *json, const Facts *facts) {
    enum { MOST = 10 };
    const Misfit *misfit = &facts->misfit;
    json_member_u64(json, "other_step_count", misfit->crowded_count);
    json_key(json, "other_steps");
    json_array(json);
    for (uint32_t i = 0; i < misfit->crowded_count && i < MOST; i++) {
        json_object_inline(json);
        json_member_u64(json, "step", misfit->crowded[i].step);
        json_node(json, facts, facts->plan->steps[misfit->crowded[i].step].node);
        json_member_u64(json, "live_bytes", misfit->crowded[i].live_bytes);
        json_end(json);
    }
    json_end(json);
}

/* Which memory would have to be larger. */
static void write_larger(Json *json, const Plan *plan, const Remedy *remedy) {
    json_key(json, "memory");
    if (words_is_lack(remedy->kind)) {
        json_str(json, plan->device->memory[remedy->memory].name);
    } else {
        json_null(json);
    }
}

static void write_remedies(Json *json, const Plan *plan) {
    json_key(json, "remedies");
    json_array(json);
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        json_object_inline(json);
        json_member_text(json, "kind", plan->remedies[i].kind);
        json_member_u64(json, "saves_bytes", plan->remedies[i].saves_bytes);
        json_member_bool(json, "fits", plan->remedies[i].fits);
        write_larger(json, plan, &plan->remedies[i]);
        json_end(json);
    }
    json_end(json);
}

static void write_blame(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_key(json, "blame");
    json_array(json);
    for (uint32_t i = 0; i < misfit->blame_count; i++) {
        const Blame *blame = &misfit->blame[i];
        json_object_inline(json);
        json_member_text(json, "kind", blame_name(blame->kind));
        json_node(json, facts, blame->node);
        json_member_known(json, "buffer", is_buffer(blame->buffer) ? blame->buffer.index : UINT64_MAX);
        json_member_u64(json, "bytes", blame->bytes);
        json_member_u64(json, "instead_bytes", blame->instead_bytes);
        json_member_text(json, "hint", blame->hint);
        json_end(json);
    }
    json_end(json);
}

/* Which maps of the peak's operator another one can't do with parts of. */
static void write_needed_whole(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_key(json, "needed_whole");
    json_array(json);
    for (uint32_t i = 0; i < misfit->needed_count; i++) {
        json_object_inline(json);
        json_member_str(json, "tensor", graph_value(facts->graph, misfit->needed[i].value)->name);
        json_node(json, facts, misfit->needed[i].by);
        json_end(json);
    }
    json_end(json);
}

/* Of local memory: what the peak's node takes itself, why it is not cut, and what is there for other steps. */
static void write_peak_node(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_member_u64(json, "own_bytes", misfit->own_bytes);
    json_member_text(json, "whole_reason", whole_reason_name(misfit->whole));
    write_needed_whole(json, facts);
    json_member_u64(json, "waiting_bytes", misfit->waiting_bytes);
    json_ids(json, "waiting", misfit->waiting, misfit->waiting_count);
}

/* What does not fit in one memory, at the step at which most is alive there. */
typedef struct {
    Str memory;
    uint32_t step; /* NO_STEP */
    uint64_t need_bytes, capacity_bytes, excess_bytes, lack_bytes, live_bytes;
    const Ranking *buffers;
} Excess;

static void write_excess(Json *json, const Facts *facts, const Excess *excess) {
    bool has_step = excess->step < facts->plan->step_count;
    json_member_known(json, "step", excess->step == NO_STEP ? UINT64_MAX : excess->step);
    json_node(json, facts, has_step ? facts->plan->steps[excess->step].node : NO_NODE);
    json_member_str(json, "memory", excess->memory);
    json_member_u64(json, "need_bytes", excess->need_bytes);
    json_member_u64(json, "capacity_bytes", excess->capacity_bytes);
    json_member_u64(json, "excess_bytes", excess->excess_bytes);
    json_member_u64(json, "lack_bytes", excess->lack_bytes);
    json_member_u64(json, "live_bytes", excess->live_bytes);
    json_ranked_ids(json, excess->buffers);
}

static Excess local_excess(const Facts *facts) {
    const Plan *plan = facts->plan;
    return (Excess){STR("local"),        plan->peak_step,  plan->placed_bytes,    plan->capacity_bytes,
                    facts->excess_bytes, plan->lack_bytes, plan->peak_live_bytes, &facts->at_peak};
}

static Excess backing_excess(const Facts *facts) {
    const Plan *plan = facts->plan;
    const Misfit *misfit = &facts->misfit;
    return (Excess){facts->device->memory[facts->device->backing].name,
                    misfit->backing_step,
                    plan->backing_bytes,
                    plan->backing_capacity_bytes,
                    misfit->backing_excess_bytes,
                    plan->backing_lack_bytes,
                    misfit->backing_live_bytes,
                    &misfit->backing};
}

static void write_backing(Json *json, const Facts *facts) {
    const Excess backing = backing_excess(facts);
    json_key(json, "backing");
    if (plan_backing_fits(facts->plan)) {
        json_null(json);
        return;
    }
    json_object(json);
    write_excess(json, facts, &backing);
    json_member_u64(json, "stay_bytes", facts->misfit.backing_stay_bytes);
    json_end(json);
}

static void write_unused(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_key(json, "unused_memory");
    if (misfit->unused == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_str(json, "name", misfit->unused->name);
    json_member_known(json, "bytes", misfit->unused->bytes);
    json_member_u64(json, "lanes", misfit->unused->lanes);
    json_member_str(json, "instead_of", misfit->unused_for->name);
    json_end(json);
}

void json_misfit(Json *json, const Facts *facts) {
    json_key(json, "misfit");
    if (plan_fits(facts->plan)) {
        json_null(json);
        return;
    }
    const Excess excess = plan_local_fits(facts->plan) ? backing_excess(facts) : local_excess(facts);
    json_object(json);
    write_excess(json, facts, &excess);
    write_peak_node(json, facts);
    write_crowded(json, facts);
    write_blame(json, facts);
    write_backing(json, facts);
    write_unused(json, facts);
    write_remedies(json, facts->plan);
    json_end(json);
}
