/* The steps of a sweep. They are slots, not tiles: a prologue (parameters that stay, and the first tile's load where
 * two are in flight), one tile or two in turns with `repeat`, and the last tile where the turns end one ahead. */
#include "plan/making.h"

/* Moves of one kind and slot, counted by walking. */
typedef struct {
    uint64_t times, bytes;
} Tally;

typedef struct {
    Builder *builder;
    PlannedSweep *planned;
    uint32_t index;                                              /* of the sweep in the plan */
    Tally in[2], out[2], made[2], first_in, last_out, last_made; /* made: parts of the map */
    Tally *params, *forms;                                       /* parameter, slot */
} Listing;

static void list_step(const Listing *listing, uint32_t node, Column column, const IdList *reads, const IdList *writes,
                      Tally tally) {
    Step *step = emit_step(listing->builder, listing->planned->nodes[node], column, reads, writes);
    step->repeat = tally.times;
    step->moved_bytes = tally.bytes;
    step->sweep = listing->index;
}

static void list_move(const Listing *listing, uint32_t node, Column column, BufferId from, BufferId to, Tally tally) {
    Arena *keep = &listing->builder->work->keep;
    IdList reads = {0}, writes = {0};
    list_add(&reads, from, keep);
    list_add(&writes, to, keep);
    list_step(listing, node, column, &reads, &writes, tally);
}

static const Tally no_move = {0, 0};

static Tally less(Tally all, Tally part) {
    return (Tally){all.times - part.times, all.bytes - part.bytes};
}

static bool stays(const PlannedSweep *planned, uint32_t param) {
    return sweep_stays(&planned->chosen.best.choice, &planned->sweep, &planned->sweep.params[param]);
}

/* ---- What a tile reads and writes */

static BufferId out_of(const PlannedSweep *planned, uint32_t slot) {
    return planned->out_local[planned->sweep.out.is_far ? slot : 0];
}

/* As it was loaded. */
static BufferId param_of(const PlannedSweep *planned, uint32_t i, uint32_t slot) {
    bool has_two = is_buffer(planned->params[i].local[1]);
    return planned->params[i].local[has_two ? slot : 0];
}

/* As the engine reads it. */
static BufferId read_of(const PlannedSweep *planned, uint32_t i, uint32_t slot) {
    return is_buffer(planned->params[i].form) ? planned->params[i].form : param_of(planned, i, slot);
}

static BufferId in_of(const PlannedSweep *planned, uint32_t slot) {
    return planned->in_param != NO_PARAM ? read_of(planned, planned->in_param, slot)
                                         : planned->in_local[planned->sweep.in.is_far ? slot : 0];
}

/* Of a stage's parameter. */
static BufferId use_of(const PlannedSweep *planned, const SweepUse *use, uint32_t slot) {
    return use->param == MAP_AS_PARAM ? in_of(planned, slot) : read_of(planned, use->param, slot);
}

/* What node `n` leaves its result in. */
static BufferId target_of(const PlannedSweep *planned, uint32_t n, uint32_t slot) {
    return n + 1 == planned->node_count ? out_of(planned, slot) : planned->handed[2 * n + slot];
}

/* ---- Moves */

static void list_load(const Listing *listing, uint32_t slot, Tally tally) {
    const PlannedSweep *planned = listing->planned;
    if (tally.times > 0) {
        list_move(listing, 0, COLUMN_LOAD_INPUT, planned->in_far, planned->in_local[slot], tally);
    }
}

/* The parameters, or further maps, that are loaded `repeat` times into the slot, in one step. */
static void list_equal_params(const Listing *listing, uint32_t slot, bool staying, uint64_t repeat, bool are_maps) {
    const PlannedSweep *planned = listing->planned;
    Arena *keep = &listing->builder->work->keep;
    IdList from = {0}, to = {0};
    Tally all = {.times = repeat};
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const Tally *tally = &listing->params[2 * i + slot];
        if (stays(planned, i) == staying && tally->times == repeat && planned->sweep.params[i].is_map == are_maps) {
            list_append(&from, planned->params[i].far, keep);
            list_append(&to, param_of(planned, i, slot), keep);
            all.bytes += tally->bytes;
        }
    }
    if (to.count > 0) {
        list_step(listing, 0, are_maps ? COLUMN_LOAD_INPUT : COLUMN_LOAD_PARAM, &from, &to, all);
    }
}

/* Those that stay, or the others: a step for each number of loads, the smallest first. */
static void list_params(const Listing *listing, uint32_t slot, bool staying) {
    const PlannedSweep *planned = listing->planned;
    uint64_t next = 0;
    for (uint64_t listed = 0; next != UINT64_MAX; listed = next) {
        next = UINT64_MAX;
        for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
            uint64_t loads = listing->params[2 * i + slot].times;
            next = stays(planned, i) == staying && loads > listed && loads < next ? loads : next;
        }
        if (next != UINT64_MAX) {
            list_equal_params(listing, slot, staying, next, true);
            list_equal_params(listing, slot, staying, next, false);
        }
    }
}

/* The forms that the engine makes of what is in the slot: a step for each, of its first reader. */
static void list_forms(const Listing *listing, uint32_t slot) {
    const PlannedSweep *planned = listing->planned;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const SweepParam *param = &planned->params[i];
        Tally tally = listing->forms[2 * i + slot];
        if (tally.times > 0) {
            bool is_fill = planned->sweep.params[i].is_number;
            list_move(listing, param->node, is_fill ? COLUMN_FILL : COLUMN_COPY, param_of(planned, i, slot),
                      param->form, tally);
        }
    }
}

/* ---- Operators */

/* What an operator that moves only has moved, is told. */
static void list_operator(const Listing *listing, uint32_t n, uint32_t slot, Tally made) {
    const PlannedSweep *planned = listing->planned;
    Arena *keep = &listing->builder->work->keep;
    const Node *node = graph_node(listing->builder->plan->graph, planned->nodes[n]);
    IdList reads = {0}, writes = {0};
    list_add(&reads, n == 0 ? in_of(planned, slot) : target_of(planned, n - 1, slot), keep);
    for (uint32_t i = 0; i < planned->use_count; i++) {
        if (planned->uses[i].node == n) {
            list_add(&reads, use_of(planned, &planned->uses[i], slot), keep);
        }
    }
    list_add(&writes, target_of(planned, n, slot), keep);
    for (uint32_t i = 0; i < planned->state_count; i++) {
        list_add(&reads, planned->states[i], keep);
        list_add(&writes, planned->states[i], keep);
    }
    made.bytes = column_of(node) == COLUMN_COPY ? made.bytes : 0;
    list_step(listing, n, column_of(node), &reads, &writes, made);
}

static void hold(PlannedSweep *planned, BufferId id, uint32_t first, uint32_t last) {
    if (is_buffer(id)) {
        planned->holds[planned->hold_count++] = (Hold){id, first, last};
    }
}

/* FUSED and PIPELINED go line by line: all that they touch is there from the first operator to the last. */
static void hold_lines(const Listing *listing, uint32_t slot, uint32_t first, uint32_t last) {
    PlannedSweep *planned = listing->planned;
    hold(planned, in_of(planned, slot), first, last);
    hold(planned, out_of(planned, slot), first, last);
    hold(planned, planned->workspace[slot], first, last);
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        hold(planned, read_of(planned, i, slot), first, last);
    }
}

/* Operators as often as there are tiles; `made` counts what they make, `stores` what then leaves. */
static void list_tile(const Listing *listing, uint32_t slot, uint64_t repeat, Tally made, Tally stores) {
    const PlannedSweep *planned = listing->planned;
    const Plan *plan = listing->builder->plan;
    uint32_t first = plan->step_count;
    if (repeat == 0) {
        return;
    }
    for (uint32_t n = 0; n < planned->node_count; n++) {
        list_operator(listing, n, slot, (Tally){repeat, made.bytes});
    }
    if (planned->chosen.best.choice.schedule != SCHEDULE_SPLIT) {
        hold_lines(listing, slot, first, plan->step_count);
    } else {
        hold(listing->planned, planned->workspace[slot], first, plan->step_count);
    }
    if (stores.times > 0) {
        list_move(listing, planned->node_count - 1, COLUMN_STORE, planned->out_local[slot], planned->out_far, stores);
    }
}

/* ---- All of them */

/* While parts of one map are loaded, parts of another are stored. */
static void hold_far(PlannedSweep *planned) {
    uint32_t first = planned->first_step, last = planned->last_step;
    hold(planned, planned->in_far, first, last);
    hold(planned, planned->out_far, first, last);
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        hold(planned, planned->params[i].far, first, last);
    }
}

/* What stays from one tile to the next. */
static void hold_tiles(const Listing *listing) {
    PlannedSweep *planned = listing->planned;
    bool is_ahead = sweep_slots(&planned->chosen.best.choice) > 1;
    uint32_t first = planned->first_step, last = planned->last_step;
    if (planned->chosen.best.cost.tiles > 1) {
        hold_far(planned);
    }
    for (uint32_t i = 0; i < planned->sweep.param_count && planned->chosen.best.cost.tiles > 1; i++) {
        hold(planned, planned->params[i].form, first, last);
    }
    for (uint32_t slot = 0; slot < 2 && planned->chosen.best.cost.tiles > 1; slot++) {
        for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
            hold(planned, planned->params[i].local[slot], first, last);
        }
        if (is_ahead || !planned->sweep.in.is_far) {
            hold(planned, planned->in_local[slot], first, last);
        }
        if (is_ahead || !planned->sweep.out.is_far) {
            hold(planned, planned->out_local[slot], first, last);
        }
        if (is_ahead) {
            hold(planned, planned->workspace[slot], first, last);
        }
    }
}

static void list_in_turns(const Listing *listing, uint64_t tiles) {
    bool is_odd = tiles % 2 == 1;
    Tally last = is_odd ? listing->last_out : no_move, last_made = is_odd ? listing->last_made : no_move;
    list_load(listing, 0, listing->first_in);
    list_params(listing, 0, false);
    list_forms(listing, 0);
    list_load(listing, 1, listing->in[1]);
    list_params(listing, 1, false);
    list_forms(listing, 1);
    list_tile(listing, 0, tiles / 2, less(listing->made[0], last_made), less(listing->out[0], last));
    list_load(listing, 0, less(listing->in[0], listing->first_in));
    list_tile(listing, 1, tiles / 2, listing->made[1], listing->out[1]);
    list_tile(listing, 0, tiles % 2, last_made, last);
}

static void count(Tally *tally, uint64_t bytes) {
    tally->times++;
    tally->bytes += bytes;
}

static void count_move(void *context, const SweepEvent *event) {
    Listing *listing = context;
    const Sweep *sweep = &listing->planned->sweep;
    switch (event->kind) {
    case SWEEP_LOAD_INPUT: {
        uint64_t bytes = sweep_box_bytes(&sweep->in, &event->box);
        if (listing->first_in.times == 0) {
            count(&listing->first_in, bytes);
        }
        count(&listing->in[event->slot], bytes);
        break;
    }
    case SWEEP_LOAD_PARAM:
        count(&listing->params[2 * event->which + event->slot],
              sweep_box_bytes(&sweep->params[event->which], &event->box));
        break;
    case SWEEP_COMPUTE:
        listing->last_made = (Tally){1, sweep_box_bytes(&sweep->out, &event->box)};
        count(&listing->made[event->slot], listing->last_made.bytes);
        break;
    case SWEEP_COPY:
    case SWEEP_FILL:
        count(&listing->forms[2 * event->which + event->slot],
              sweep_box_bytes(sweep->params[event->which].form, &event->box));
        break;
    case SWEEP_STORE:
        listing->last_out = (Tally){1, sweep_box_bytes(&sweep->out, &event->box)};
        count(&listing->out[event->slot], listing->last_out.bytes);
        break;
    default:
        break;
    }
}

static bool has_forms(const PlannedSweep *planned) {
    bool has = false;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        has = has || planned->sweep.params[i].form != NULL;
    }
    return has;
}

void list_sweep(Builder *builder, PlannedSweep *planned) {
    enum { BLOCKS = 5 }; /* of operators at most three, all tiles, and what lies in far memory */
    const SweepChoice *choice = &planned->chosen.best.choice;
    size_t params = planned->sweep.param_count;
    uint64_t tiles = planned->chosen.best.cost.tiles;
    Listing listing = {.builder = builder, .planned = planned, .index = builder->plan->sweep_count};
    listing.params = arena_array(&builder->work->scratch, Tally, 2 * params);
    listing.forms = arena_array(&builder->work->scratch, Tally, 2 * params);
    planned->holds = arena_array(&builder->work->keep, Hold, BLOCKS * (2 * params + 6) + params);
    planned->first_step = builder->plan->step_count;
    sweep_walk(&planned->sweep, choice, (SweepListener){.hear = count_move, .context = &listing});
    bool is_early = tiles == 1 && !has_forms(planned);
    if (is_early) {
        list_load(&listing, 0, listing.in[0]);
    }
    list_params(&listing, 0, true);
    if (tiles > 1 && sweep_slots(choice) > 1) {
        list_in_turns(&listing, tiles);
    } else {
        list_params(&listing, 0, false);
        list_forms(&listing, 0);
        list_load(&listing, 0, is_early ? no_move : listing.in[0]);
        list_tile(&listing, 0, tiles, listing.made[0], listing.out[0]);
    }
    planned->last_step = builder->plan->step_count;
    hold_tiles(&listing);
}

void extend_sweeps(Plan *plan) {
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        for (uint32_t i = 0; i < plan->sweeps[s].hold_count; i++) {
            const Hold *held = &plan->sweeps[s].holds[i];
            Buffer *buffer = plan_buffer(plan, held->buffer);
            buffer->first = held->first < buffer->first ? held->first : buffer->first;
            buffer->last = held->last > buffer->last ? held->last : buffer->last;
        }
    }
}
