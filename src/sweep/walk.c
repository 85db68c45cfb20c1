/* The events of a sweep, in the order they are handed to the queues.
 *
 *     load(0)   parameters that stay   compute(0)   store(0)   { load(t)   compute(t)   store(t) }
 * and with two tiles in flight
 *     load(0)   parameters that stay   { load(t + 1)   compute(t)   store(t) }
 * Where parameters take a larger form, the engine makes it before it computes, as often as the form changes: in the
 * first tile before the input is loaded, so that what it was made of may have left the input's place.
 * Tiles go through channels, then planes, rows and columns, the last fastest: what a parameter gives to a block of
 * channels is loaded once for all of it. */
#include "sweep/sweep.h"

#include "base/checked.h"
#include "sweep/cycles.h"

#include <string.h>

const Dim sweep_order[SWEEP_ORDER_COUNT] = {DIM_O, DIM_I, DIM_C, DIM_N, DIM_H, DIM_W};

/* What local memory holds of an operand. */
typedef struct {
    bool is_there;
    ViewBox box;
} Held;

typedef struct {
    Held part[2]; /* in each slot */
    Held form;    /* one for all slots: the engine makes and reads it in turns */
} HeldParam;

typedef struct {
    const Sweep *sweep;
    const SweepChoice *choice;
    SweepListener listener;
    uint32_t slots;
    bool has_loaded[2]; /* slot -> something since its last compute */
    Held in[2];
    bool has_forms, is_single; /* of any parameter; one tile */
    HeldParam *param;          /* sweep->param_count */
} Walk;

static void tell(Walk *walk, SweepKind kind, uint32_t which, uint32_t slot, const ViewBox *box, uint32_t tails) {
    const Device *device = walk->sweep->device;
    SweepEvent event = {.kind = kind, .which = which, .slot = slot, .box = *box, .tails = tails};
    bool shares_queue = cycles_store_queue(device) == 1;
    bool out_may_lie_there = walk->choice->over_input || walk->choice->schedule == SCHEDULE_SPLIT;
    switch (kind) {
    case SWEEP_COMPUTE:
        event.key = (uint32_t)WAIT_COMPUTE_0 << slot;
        event.waits = (walk->has_loaded[slot] ? (uint32_t)WAIT_LOAD_0 << slot : 0) |
                      (walk->choice->over_input || !walk->sweep->out.is_far ? 0 : (uint32_t)WAIT_STORE_0 << slot);
        walk->has_loaded[slot] = false;
        break;
    case SWEEP_COPY:
        event.waits = walk->has_loaded[slot] ? (uint32_t)WAIT_LOAD_0 << slot : 0;
        event.key = walk->is_single ? WAIT_COMPUTE_0 : 0;
        walk->has_loaded[slot] = false;
        break;
    case SWEEP_FILL:
        break;
    case SWEEP_STORE:
        event.key = (uint32_t)WAIT_STORE_0 << slot;
        event.queue = cycles_store_queue(device);
        event.waits = (uint32_t)WAIT_COMPUTE_0 << slot;
        break;
    default:
        event.key = (uint32_t)WAIT_LOAD_0 << slot;
        event.queue = 1;
        event.waits =
            ((uint32_t)WAIT_COMPUTE_0 << slot) |
            (kind == SWEEP_LOAD_INPUT && out_may_lie_there && !shares_queue ? (uint32_t)WAIT_STORE_0 << slot : 0);
        walk->has_loaded[slot] = true;
    }
    walk->listener.hear(walk->listener.context, &event);
}

/* Is something else there? From now on it is this. */
static bool hold(Held *held, const ViewBox *box) {
    bool was_there = held->is_there && memcmp(&held->box, box, sizeof *box) == 0;
    *held = (Held){true, *box};
    return !was_there;
}

/* Parameters that stay, once; the others where the slot holds another part. */
static void load_params(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot, bool stays) {
    for (uint32_t i = 0; i < walk->sweep->param_count; i++) {
        const SweepOperand *param = &walk->sweep->params[i];
        ViewBox part = stays ? view_whole_box(&param->shape) : sweep_box(param, box);
        if (sweep_is_loaded(param) && sweep_stays(walk->choice, walk->sweep, param) == stays &&
            hold(&walk->param[i].part[slot], &part)) {
            tell(walk, SWEEP_LOAD_PARAM, i, slot, &part, tails);
        }
    }
}

/* The window of one tile may be that of the next. */
static void load_input(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot) {
    ViewBox part = sweep_box(&walk->sweep->in, box);
    if (walk->sweep->in.is_far && hold(&walk->in[slot], &part)) {
        tell(walk, SWEEP_LOAD_INPUT, 0, slot, &part, tails);
    }
}

/* Forms that hold another part than the tile takes. */
static void make_forms(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot) {
    for (uint32_t i = 0; i < walk->sweep->param_count; i++) {
        const SweepOperand *param = &walk->sweep->params[i];
        if (param->form == NULL) {
            continue;
        }
        ViewBox form = sweep_form_box(param, box);
        if (hold(&walk->param[i].form, &form)) {
            tell(walk, param->is_number ? SWEEP_FILL : SWEEP_COPY, i, slot, &form, tails);
        }
    }
}

static void load_tile(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot) {
    load_input(walk, box, tails, slot);
    load_params(walk, box, tails, slot, false);
}

static void load_first(Walk *walk, const ViewBox *box, uint32_t tails) {
    if (!walk->has_forms) {
        load_input(walk, box, tails, 0);
    }
    load_params(walk, box, tails, 0, false);
    load_params(walk, box, 0, 0, true);
    if (walk->has_forms) {
        make_forms(walk, box, tails, 0);
        load_input(walk, box, tails, 0);
    }
}

static void run_tile(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot) {
    bool is_split = walk->choice->schedule == SCHEDULE_SPLIT;
    make_forms(walk, box, tails, slot);
    for (uint32_t k = 0; is_split && k < walk->sweep->node_count; k++) {
        tell(walk, SWEEP_COMPUTE, k, slot, box, tails);
    }
    if (!is_split) {
        tell(walk, SWEEP_COMPUTE, SWEEP_ALL_NODES, slot, box, tails);
    }
    if (walk->sweep->out.is_far) {
        tell(walk, SWEEP_STORE, 0, slot, box, tails);
    }
}

/* ---- Tiles */

static uint32_t cut_box(const Sweep *sweep, const SweepChoice *choice, ViewBox *box) {
    uint32_t tails = 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t rest = sweep->out.shape.extent[d] - box->first[d];
        box->extent[d] = rest < choice->tile[d] ? rest : choice->tile[d];
        tails |= box->extent[d] < choice->tile[d] ? 1u << d : 0;
    }
    return tails;
}

/* Moves on, and tells which dimension of the order went on; those that are faster begin again. False at the end. */
static bool next_tile(const Sweep *sweep, const SweepChoice *choice, ViewBox *box, uint32_t *level) {
    for (uint32_t k = SWEEP_ORDER_COUNT; k-- > 0;) {
        Dim d = sweep_order[k];
        if (sweep->out.shape.extent[d] - box->first[d] > choice->tile[d]) {
            box->first[d] += choice->tile[d];
            *level = k;
            return true;
        }
        box->first[d] = 0;
    }
    return false;
}

static bool is_whole(const Sweep *sweep, const SweepChoice *choice) {
    bool is_whole = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        is_whole = is_whole && choice->tile[d] >= sweep->out.shape.extent[d];
    }
    return is_whole;
}

static bool has_elements(const Sweep *sweep) {
    bool some = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        some = some && sweep->out.shape.extent[d] > 0;
    }
    return some;
}

/* ---- Rounds that are all alike */

/* Along one dimension tiles first … last are full, and no window ends early there. A round is `indices` of them. */
typedef struct {
    bool is_known;
    uint64_t first, last;
    uint64_t indices, tiles;
} Alike;

static void narrow(const SweepChoice *choice, const SweepOperand *operand, Dim d, Alike *alike) {
    for (int k = 0; operand->is_far && k < DIM_COUNT; k++) {
        const Reach *reach = &operand->reach[k];
        uint64_t step = choice->tile[d] * reach->stride, before = reach->before > 0 ? (uint64_t)reach->before : 0;
        if (reach->of != (uint32_t)d) {
            continue;
        }
        int64_t room = (int64_t)(operand->shape.extent[k] + reach->stride) + reach->before - (int64_t)reach->window;
        uint64_t first = ceil_div(before, step), tiles = room < 0 ? 0 : (uint64_t)room / step;
        alike->is_known = alike->is_known && step % reach->grain == 0 && tiles > 0;
        alike->first = first > alike->first ? first : alike->first;
        alike->last = alike->is_known && tiles - 1 < alike->last ? tiles - 1 : alike->last;
    }
}

/* With two tiles in flight, rounds of an odd number of tiles are taken in pairs. */
static void find_alike(const Sweep *sweep, const SweepChoice *choice, Alike alike[SWEEP_ORDER_COUNT]) {
    uint64_t tiles = 1, slots = sweep_slots(choice);
    for (uint32_t k = SWEEP_ORDER_COUNT; k-- > 0;) {
        Dim d = sweep_order[k];
        uint64_t extent = sweep->out.shape.extent[d], indices = tiles % slots == 0 ? 1 : slots;
        alike[k] = (Alike){.is_known = choice->tile[d] < extent, .indices = indices, .tiles = tiles * indices};
        alike[k].last = extent / choice->tile[d] - 1;
        narrow(choice, &sweep->in, d, &alike[k]);
        narrow(choice, &sweep->out, d, &alike[k]);
        for (uint32_t i = 0; i < sweep->param_count; i++) {
            narrow(choice, &sweep->params[i], d, &alike[k]);
        }
        tiles *= ceil_div(extent, choice->tile[d]);
    }
}

/* What the slot holds is that of the tile at `box`. */
static void move_parts(Walk *walk, const ViewBox *box, uint32_t slot) {
    walk->in[slot].box = sweep_box(&walk->sweep->in, box);
    for (uint32_t i = 0; i < walk->sweep->param_count; i++) {
        Held *part = &walk->param[i].part[slot];
        if (part->is_there && !sweep_stays(walk->choice, walk->sweep, &walk->sweep->params[i])) {
            part->box = sweep_box(&walk->sweep->params[i], box);
        }
    }
}

/* Before the tile at `box`, at which `level` has just gone on: moves it on where rounds are left out. One index is
 * left, and with two tiles in flight the one that is loaded before it. */
static bool skip_alike(const Walk *walk, const Alike *alike, uint32_t level, ViewBox *box) {
    Dim d = sweep_order[level];
    uint64_t at = box->first[d] / walk->choice->tile[d];
    if (!alike->is_known || at <= alike->first || at + walk->slots >= alike->last + 1 || at % alike->indices != 0) {
        return false;
    }
    SweepRounds rounds = {
        .level = level, .tiles = alike->tiles, .count = (alike->last + 1 - walk->slots - at) / alike->indices};
    bool skips = rounds.count > 0 && walk->listener.skip(walk->listener.context, &rounds);
    box->first[d] += skips ? rounds.count * alike->indices * walk->choice->tile[d] : 0;
    return skips;
}

void sweep_walk(const Sweep *sweep, const SweepChoice *choice, SweepListener listener) {
    HeldParam param[SWEEP_MOST_PARAMS];
    Walk walk = {.sweep = sweep, .choice = choice, .listener = listener, .slots = sweep_slots(choice), .param = param};
    Alike alike[SWEEP_ORDER_COUNT];
    ViewBox box = {0}, next;
    bool is_ahead = walk.slots > 1, more = has_elements(sweep);
    if (!more) {
        return;
    }
    find_alike(sweep, choice, alike);
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        param[i] = (HeldParam){.form = {.is_there = false}};
        walk.has_forms = walk.has_forms || sweep->params[i].form != NULL;
    }
    walk.is_single = is_whole(sweep, choice);
    uint32_t tails = cut_box(sweep, choice, &box), next_tails, level = 0;
    load_first(&walk, &box, tails);
    for (uint32_t slot = 0; more; slot = (slot + 1) % walk.slots) {
        next = box;
        more = next_tile(sweep, choice, &next, &level);
        next_tails = cut_box(sweep, choice, &next);
        if (more && is_ahead) {
            load_tile(&walk, &next, next_tails, 1 - slot);
        }
        run_tile(&walk, &box, tails, slot);
        if (more && listener.skip != NULL && skip_alike(&walk, &alike[level], level, &next) && is_ahead) {
            move_parts(&walk, &next, 1 - slot);
        }
        if (more && !is_ahead) {
            load_tile(&walk, &next, next_tails, slot);
        }
        box = next;
        tails = next_tails;
    }
}
