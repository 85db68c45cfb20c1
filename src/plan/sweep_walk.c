/* The events of a sweep, in the order they are handed to the queues.
 *
 *     load(0)   parameters that stay   compute(0)   store(0)   { load(t)   compute(t)   store(t) }
 * and with two tiles in flight
 *     load(0)   parameters that stay   { load(t + 1)   compute(t)   store(t) }
 * Tiles go through channels, then planes, rows and columns, the last fastest: what a parameter gives to a block of
 * channels is loaded once for all of it. */
#include "plan/sweep.h"

#include <string.h>

enum { MOST_PARAMS = 64 };

/* In which order dimensions are gone through, outermost first. */
static const Dim order[] = {DIM_O, DIM_I, DIM_C, DIM_N, DIM_H, DIM_W};

typedef struct {
    const Sweep *sweep;
    const SweepChoice *choice;
    SweepListener listener;
    uint32_t slots;
    bool has_loaded[2];            /* slot -> something since its last compute */
    bool has_part[MOST_PARAMS][2]; /* parameter, slot -> `part` is there */
    ViewBox part[MOST_PARAMS][2];
} Walk;

static uint32_t store_queue(const Device *device) {
    return device->dma_channels.value >= 2 ? 2 : 1;
}

static void tell(Walk *walk, SweepKind kind, uint32_t which, uint32_t slot, const ViewBox *box, uint32_t tails) {
    const Device *device = walk->sweep->device;
    SweepEvent event = {.kind = kind, .which = which, .slot = slot, .box = *box, .tails = tails};
    bool shares_queue = store_queue(device) == 1;
    bool out_may_lie_there = walk->choice->over_input || walk->choice->schedule == SCHEDULE_SPLIT;
    switch (kind) {
    case SWEEP_COMPUTE:
        event.key = (uint32_t)WAIT_COMPUTE_0 << slot;
        event.waits = (walk->has_loaded[slot] ? (uint32_t)WAIT_LOAD_0 << slot : 0) |
                      (walk->choice->over_input || !walk->sweep->out.is_far ? 0 : (uint32_t)WAIT_STORE_0 << slot);
        walk->has_loaded[slot] = false;
        break;
    case SWEEP_STORE:
        event.key = (uint32_t)WAIT_STORE_0 << slot;
        event.queue = store_queue(device);
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

static bool same_box(const ViewBox *a, const ViewBox *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* Parameters that stay, once; the others where the slot holds another part. */
static void load_params(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot, bool stays) {
    for (uint32_t i = 0; i < walk->sweep->param_count; i++) {
        const SweepOperand *param = &walk->sweep->params[i];
        ViewBox part = stays ? view_whole_box(&param->shape) : sweep_box(param, box);
        if (sweep_stays(walk->choice, walk->sweep, param) != stays ||
            (walk->has_part[i][slot] && same_box(&walk->part[i][slot], &part))) {
            continue;
        }
        walk->has_part[i][slot] = true;
        walk->part[i][slot] = part;
        tell(walk, SWEEP_LOAD_PARAM, i, slot, &part, tails);
    }
}

static void load_tile(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot, bool is_first) {
    if (walk->sweep->in.is_far) {
        tell(walk, SWEEP_LOAD_INPUT, 0, slot, box, tails);
    }
    load_params(walk, box, tails, slot, false);
    if (is_first) {
        load_params(walk, box, 0, slot, true);
    }
}

static void run_tile(Walk *walk, const ViewBox *box, uint32_t tails, uint32_t slot) {
    bool is_split = walk->choice->schedule == SCHEDULE_SPLIT;
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
        uint64_t rest = sweep->in.shape.extent[d] - box->first[d];
        box->extent[d] = rest < choice->tile[d] ? rest : choice->tile[d];
        tails |= box->extent[d] < choice->tile[d] ? 1u << d : 0;
    }
    return tails;
}

static bool next_tile(const Sweep *sweep, const SweepChoice *choice, ViewBox *box) {
    for (size_t k = sizeof order / sizeof order[0]; k-- > 0;) {
        Dim d = order[k];
        if (sweep->in.shape.extent[d] - box->first[d] > choice->tile[d]) {
            box->first[d] += choice->tile[d];
            return true;
        }
        box->first[d] = 0;
    }
    return false;
}

static bool has_elements(const Sweep *sweep) {
    bool some = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        some = some && sweep->in.shape.extent[d] > 0;
    }
    return some;
}

void sweep_walk(const Sweep *sweep, const SweepChoice *choice, SweepListener listener) {
    Walk walk = {.sweep = sweep, .choice = choice, .listener = listener, .slots = sweep_slots(choice)};
    ViewBox box = {0}, next;
    bool is_ahead = walk.slots > 1, more = has_elements(sweep);
    if (!more) {
        return;
    }
    uint32_t tails = cut_box(sweep, choice, &box), next_tails;
    load_tile(&walk, &box, tails, 0, true);
    for (uint32_t slot = 0; more; slot = (slot + 1) % walk.slots) {
        next = box;
        more = next_tile(sweep, choice, &next);
        next_tails = cut_box(sweep, choice, &next);
        if (more && is_ahead) {
            load_tile(&walk, &next, next_tails, 1 - slot, false);
        }
        run_tile(&walk, &box, tails, slot);
        if (more && !is_ahead) {
            load_tile(&walk, &next, next_tails, slot, false);
        }
        box = next;
        tails = next_tails;
    }
}
