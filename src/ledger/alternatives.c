/* What was not chosen, and what it would have cost.
 *
 * A sweep's other schedules, and parameters that stay or not: the best of each that the choice has looked at; of a
 * schedule that was not looked at, or did not fit, the same tile. And the parameters in other forms, under the same
 * schedule: the tile is chosen anew, with all of local memory for the sweep. All cycles are those of the sweep alone.
 */
#include "ledger/alternatives.h"

#include "base/checked.h"
#include "sweep/kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- Schedules */

/* One tile has no other in flight, one operator nothing to split, and parameters that no tile cuts stay all the same:
 * it is another name of FUSED, or of parameters that stay. */
static bool is_other_name(const Sweep *sweep, const SweepOption *option) {
    const SweepChoice *choice = &option->choice;
    return (choice->schedule == SCHEDULE_PIPELINED && option->cost.tiles == 1) ||
           (choice->schedule == SCHEDULE_SPLIT && sweep->node_count == 1) ||
           (!choice->is_resident && !sweep_reloads(choice, sweep));
}

static SweepOther *find_other(const SweepFacts *facts, const SweepChoice *like) {
    for (uint32_t i = 0; i < facts->other_count; i++) {
        SweepOther *other = &facts->others[i];
        if (other->choice.schedule == like->schedule && other->choice.is_resident == like->is_resident) {
            return other;
        }
    }
    return NULL;
}

/* Of each schedule, and each way of the parameters, the cheaper of those that fit. */
static void add_option(SweepFacts *facts, const SweepOption *option) {
    const SweepChosen *chosen = &facts->planned->chosen;
    bool fits = option->need_bytes <= facts->planned->budget_bytes;
    SweepOther *known = find_other(facts, &option->choice);
    if (sweep_same_choice(&option->choice, &chosen->best.choice) || is_other_name(&facts->planned->sweep, option) ||
        (known != NULL && (known->fits > fits || (known->fits == fits && known->cycles <= option->cost.cycles)))) {
        return;
    }
    known = known != NULL ? known : &facts->others[facts->other_count++];
    *known = (SweepOther){option->choice, option->need_bytes, option->cost.cycles, fits, false};
}

static void add_looked_at(SweepFacts *facts) {
    const SweepChosen *chosen = &facts->planned->chosen;
    for (uint32_t i = 0; i < chosen->other_count; i++) {
        add_option(facts, &chosen->other[i]);
    }
}

static bool has_schedule(const SweepFacts *facts, Schedule schedule) {
    bool has = facts->planned->chosen.best.choice.schedule == schedule;
    for (uint32_t i = 0; i < facts->other_count; i++) {
        has = has || facts->others[i].choice.schedule == schedule;
    }
    return has;
}

/* With the chosen tile: of all ways to carry, the one that needs the fewest bytes. */
static void add_schedule(SweepFacts *facts, Schedule schedule, const Plan *plan) {
    const Sweep *sweep = &facts->planned->sweep;
    SweepOption best = {.need_bytes = UINT64_MAX}, option = {.choice = facts->planned->chosen.best.choice};
    option.choice.schedule = schedule;
    for (int k = 0; k < 2 * (CARRY_WORKSPACE + 1); k++) {
        option.choice.carry = (Carry)(k / 2);
        option.choice.over_input = k % 2 == 1 && plan->options.in_place && schedule != SCHEDULE_SPLIT;
        if (kernel_need(sweep, &option.choice, &option.need_bytes) && option.need_bytes < best.need_bytes) {
            best = option;
        }
    }
    SweepMoves moves = {0};
    Timeline timeline = {0};
    uint32_t before = facts->other_count;
    if (best.need_bytes != UINT64_MAX && sweep_cost(sweep, &best.choice, &moves, &timeline, &best.cost)) {
        add_option(facts, &best);
    }
    for (uint32_t i = before; i < facts->other_count; i++) {
        facts->others[i].has_chosen_tile = true;
    }
}

/* Those that fit first, by what they cost; then by what they need. */
static int by_cost(const void *left, const void *right) {
    const SweepOther *a = left;
    const SweepOther *b = right;
    uint64_t cost_a = a->fits ? a->cycles : a->need_bytes, cost_b = b->fits ? b->cycles : b->need_bytes;
    if (a->fits != b->fits) {
        return a->fits ? -1 : 1;
    }
    if (cost_a != cost_b) {
        return cost_a < cost_b ? -1 : 1;
    }
    return a->choice.schedule < b->choice.schedule   ? -1
           : a->choice.schedule > b->choice.schedule ? 1
                                                     : (int)b->choice.is_resident - (int)a->choice.is_resident;
}

static void gather_others(SweepFacts *facts, const Plan *plan, Arena *keep) {
    facts->others = arena_array(keep, SweepOther, SWEEP_MOST_OPTIONS + SCHEDULE_COUNT);
    add_looked_at(facts);
    for (Schedule schedule = SCHEDULE_FUSED; schedule < SCHEDULE_COUNT; schedule++) {
        if (!has_schedule(facts, schedule)) {
            add_schedule(facts, schedule, plan);
        }
    }
    if (facts->other_count > 0) {
        qsort(facts->others, facts->other_count, sizeof *facts->others, by_cost);
    }
}

/* ---- Forms */

/* Has the form numbers of their own along the dimension? */
static bool form_varies(Form form, int d) {
    return form == FORM_FULL || (form == FORM_ROW && (d == DIM_C || d == DIM_W)) ||
           (form == FORM_CHANNEL && d == DIM_C);
}

static bool same_extents(const LayoutShape *a, const LayoutShape *b) {
    return memcmp(a->extent, b->extent, sizeof a->extent) == 0;
}

/* A form as far memory holds it, once it is expanded there. */
static bool lay_out_far(const Device *device, SweepOperand *read) {
    Dim unnamed;
    return view_resolve(device->contract[read->role], &read->shape, &read->whole, &unnamed) == VIEW_DONE &&
           view_flatten(&read->whole);
}

/* False where the form has no place for each of its numbers. What is stored so needs none made of it. */
static bool expand(const Sweep *sweep, Form form, bool is_before, SweepOperand *param, SweepOperand *read) {
    const LayoutShape *map = &sweep->out.shape;
    *read = *param;
    read->form = NULL;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (!form_varies(form, d) && param->shape.extent[d] > 1) {
            return false;
        }
        read->shape.extent[d] = form_varies(form, d) ? map->extent[d] : 1;
    }
    read->shape.rank = map->rank;
    read->role = form == FORM_CHANNEL ? ROLE_PARAMETER : ROLE_ACTIVATION;
    read->grain_bytes = sweep->device->form[form].grain_bytes;
    read->is_form = !same_extents(&read->shape, &param->shape);
    bool is_laid_out = is_before && read->is_form;
    bool has_view = is_laid_out ? lay_out_far(sweep->device, read) : view_broadcast(&read->whole, &read->shape);
    read->is_form = read->is_form && !is_before;
    read->is_number = read->is_number && !is_laid_out;
    sweep_follow(read, map);
    if (read->is_form) {
        param->form = read;
        param->grain_bytes = 0;
    } else {
        *param = *read;
    }
    return has_view;
}

static bool is_broadcast(const Plan *plan, const SweepParam *param) {
    BufferId read = is_buffer(param->form) ? param->form : param->local[0];
    return is_buffer(read) && plan_buffer(plan, read)->broadcast != BROADCAST_NONE;
}

typedef struct {
    Form form;
    bool is_before; /* --expand before */
} FormWay;

/* The sweep with its parameters in that form; false where they are so already, or can't be. */
static bool expand_all(const Plan *plan, const PlannedSweep *planned, FormWay way, Sweep *sweep, Arena *scratch) {
    SweepOperand *params = arena_array(scratch, SweepOperand, planned->sweep.param_count);
    SweepOperand *reads = arena_array(scratch, SweepOperand, planned->sweep.param_count);
    bool is_other = false;
    *sweep = planned->sweep;
    sweep->params = params;
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        params[i] = planned->sweep.params[i];
        if (is_broadcast(plan, &planned->params[i])) {
            if (!expand(sweep, way.form, way.is_before && !params[i].is_map, &params[i], &reads[i])) {
                return false;
            }
            is_other = is_other ||
                       !same_extents(&sweep_read(&params[i])->shape, &sweep_read(&planned->sweep.params[i])->shape);
        }
    }
    return is_other;
}

static bool price_way(const SweepFacts *facts, const Plan *plan, FormWay way, ParamPrice *price, Arena *scratch) {
    SweepTerms terms = plan_sweep_terms(&plan->options, plan->capacity_bytes);
    terms.schedule = facts->planned->chosen.best.choice.schedule;
    Sweep sweep;
    SweepChosen chosen;
    if (!expand_all(plan, facts->planned, way, &sweep, scratch) || !sweep_choose(&sweep, &terms, &chosen)) {
        return false;
    }
    const SweepOption *best = &chosen.best;
    *price = (ParamPrice){.choice = best->choice,
                          .param_bytes = best->cost.column[SWEEP_LOAD_PARAM].bytes,
                          .need_bytes = best->need_bytes,
                          .cycles = best->cost.cycles,
                          .fits = chosen.fits};
    return true;
}

static void price_form(SweepFacts *facts, const Plan *plan, Form form, Arena *scratch) {
    FormPrice price = {.form = form};
    bool has_forms = facts->planned->stages != NULL && plan->device->form[form].readable;
    if (!has_forms || !price_way(facts, plan, (FormWay){form, false}, &price.made, scratch)) {
        return;
    }
    price.has_before = price_way(facts, plan, (FormWay){form, true}, &price.before, scratch);
    facts->form[facts->form_count++] = price;
}

/* ---- Steps */

bool facts_reloads_none(const Plan *plan, const PlannedSweep *planned) {
    bool has_constant = false, all_stay = true;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const SweepOperand *param = &planned->sweep.params[i];
        bool is_constant = !param->is_map && sweep_is_loaded(param);
        has_constant = has_constant || is_constant;
        all_stay = all_stay && (!is_constant || sweep_stays(&planned->chosen.best.choice, &planned->sweep, param));
    }
    return plan->options.parameters == PARAMETERS_RELOADED && has_constant && all_stay;
}

SweepRow facts_sweep_row(const Plan *plan, const PlannedSweep *planned, Column column) {
    SweepRow row = {.fullest = NO_STEP};
    for (uint32_t s = planned->first_step; s < planned->last_step; s++) {
        const Step *step = &plan->steps[s];
        if (step->column != column) {
            continue;
        }
        row.repeat += step->repeat;
        row.moved_bytes += step->moved_bytes;
        if (row.fullest == NO_STEP || step->live_bytes > row.live_bytes) {
            row.fullest = s;
            row.live_bytes = step->live_bytes;
        }
    }
    return row;
}

/* ---- All sweeps */

typedef struct {
    uint64_t cycles;
    uint32_t sweep;
} Costly;

static int by_cycles(const void *left, const void *right) {
    const Costly *a = left;
    const Costly *b = right;
    if (a->cycles != b->cycles) {
        return a->cycles > b->cycles ? -1 : 1;
    }
    return a->sweep < b->sweep ? -1 : a->sweep > b->sweep;
}

static void rank_sweeps(Facts *facts, Work *work) {
    uint32_t count = facts->plan->sweep_count;
    Costly *costly = arena_array(&work->scratch, Costly, count);
    facts->costliest = arena_array(&work->keep, uint32_t, count);
    for (uint32_t s = 0; s < count; s++) {
        costly[s] = (Costly){facts->plan->sweeps[s].chosen.best.cost.cycles, s};
    }
    if (count > 0) {
        qsort(costly, count, sizeof *costly, by_cycles);
    }
    for (uint32_t s = 0; s < count; s++) {
        facts->costliest[s] = costly[s].sweep;
    }
}

void alternatives_gather(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    facts->sweeps = arena_array(&work->keep, SweepFacts, plan->sweep_count);
    rank_sweeps(facts, work);
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        SweepFacts *sweep = &facts->sweeps[s];
        sweep->planned = &plan->sweeps[s];
        sweep->has_cost = plan_cost_of_sweep(plan, sweep->planned, &sweep->cost);
        gather_others(sweep, plan, &work->keep);
        for (Form form = FORM_CHANNEL; form < FORM_COUNT; form++) {
            price_form(sweep, plan, form, &work->scratch);
        }
    }
}
