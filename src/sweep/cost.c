/* What a sweep costs: its events on the clocks of the queues. The rules are those of docs/simulator.md. */
#include "sweep/sweep.h"

#include "base/checked.h"
#include "sweep/cycles.h"

#include <string.h>

/* Where the clocks and the sums stood. */
typedef struct {
    Timeline timeline;
    SweepCost cost;
} Round;

typedef struct {
    const Sweep *sweep;
    const SweepChoice *choice;
    Timeline *timeline;
    SweepCost *cost;
    SweepMoves *moves;
    Round last[SWEEP_ORDER_COUNT][2]; /* of each level: at the end of the last two rounds */
    bool ok;
} Costing;

static bool is_making(const SweepEvent *event) {
    return event->kind == SWEEP_COPY || event->kind == SWEEP_FILL;
}

/* ---- Transfers */

static const SweepOperand *operand_of(const Sweep *sweep, const SweepEvent *event) {
    return event->kind == SWEEP_LOAD_INPUT ? &sweep->in
           : event->kind == SWEEP_STORE    ? &sweep->out
                                           : &sweep->params[event->which];
}

/* A further map counts as input. */
static SweepKind column_of(const Sweep *sweep, const SweepEvent *event) {
    bool is_map = event->kind == SWEEP_LOAD_PARAM && sweep->params[event->which].is_map;
    return is_map ? SWEEP_LOAD_INPUT : event->kind;
}

static bool find_runs(const Costing *costing, const SweepEvent *event, RunCost *runs) {
    const Sweep *sweep = costing->sweep;
    const Device *device = sweep->device;
    const SweepOperand *operand = operand_of(sweep, event);
    const RunRule rule = cycles_run_rule(device);
    ViewBox far_box = event->box, local_box = far_box;
    View local;
    for (int d = 0; d < DIM_COUNT; d++) {
        local_box.first[d] = 0;
    }
    return sweep_local_view(sweep, operand, far_box.extent, &local) &&
           (event->kind == SWEEP_STORE ? view_run_cost(&operand->whole, &far_box, &local, &local_box, &rule, runs)
                                       : view_run_cost(&local, &local_box, &operand->whole, &far_box, &rule, runs));
}

static bool is_known(const SweepMove *known, const SweepEvent *event) {
    return known->is_used && known->kind == event->kind && known->which == event->which &&
           memcmp(known->extent, event->box.extent, sizeof known->extent) == 0;
}

static uint32_t slot_of(const SweepEvent *event) {
    uint64_t hash = (uint64_t)event->kind << 32 | event->which;
    for (int d = 0; d < DIM_COUNT; d++) {
        hash = (hash ^ event->box.extent[d]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(hash >> 32) % SWEEP_MOVES;
}

static const SweepMove *known_of(Costing *costing, const SweepEvent *event) {
    SweepMove *known = &costing->moves->known[slot_of(event)];
    if (!is_known(known, event)) {
        *known = (SweepMove){.is_used = true, .kind = event->kind, .which = event->which};
        memcpy(known->extent, event->box.extent, sizeof known->extent);
        known->bytes = sweep_box_bytes(operand_of(costing->sweep, event), &event->box);
        known->ok = find_runs(costing, event, &known->runs);
    }
    return known;
}

static uint64_t move(Costing *costing, const SweepEvent *event) {
    const SweepMove *known = known_of(costing, event);
    ColumnCost *column = &costing->cost->column[column_of(costing->sweep, event)];
    uint64_t cycles = 0;
    costing->ok = costing->ok && known->ok && cycles_of_transfer(costing->sweep->device, &known->runs, &cycles);
    if (!costing->ok) {
        return 0;
    }
    column->bytes += known->bytes;
    column->descriptors += known->runs.descriptors;
    column->bursts += known->runs.bursts;
    return cycles;
}

/* ---- The engine */

uint64_t sweep_node_cycles(const Sweep *sweep, uint32_t node, uint64_t elements) {
    const uint32_t *bits = sweep->stage_bits;
    uint64_t cycles = 0;
    for (uint32_t k = 0; k < node; k++) {
        bits += sweep->stage_count[k];
    }
    for (uint32_t s = 0; s < sweep->stage_count[node]; s++) {
        cycles += cycles_of_pass(sweep->device, bytes_from_bits(elements * bits[s]));
    }
    return cycles;
}

static uint64_t run_stages(const Sweep *sweep, const SweepEvent *event, uint64_t elements) {
    uint64_t cycles = 0;
    for (uint32_t k = 0; k < sweep->node_count; k++) {
        bool runs = event->which == SWEEP_ALL_NODES || event->which == k;
        cycles += runs ? sweep_node_cycles(sweep, k, elements) : 0;
    }
    return cycles;
}

static uint64_t compute(Costing *costing, const SweepEvent *event) {
    const Sweep *sweep = costing->sweep;
    uint64_t elements = layout_elements(event->box.extent), work = 0, cycles = sweep->device->issue_cycles.value;
    if (sweep->is_copy) {
        costing->cost->column[event->kind].bytes += sweep_box_bytes(&sweep->out, &event->box);
    }
    if (sweep->macs > 0) {
        costing->ok = costing->ok && cycles_of_products(sweep->device, elements, sweep->macs, &work);
        return cycles + work;
    }
    if (sweep->passes > 0) {
        costing->ok = costing->ok && checked_mul(run_stages(sweep, event, elements), sweep->passes, &work);
        return cycles + work;
    }
    return cycles + run_stages(sweep, event, elements);
}

/* One stage of the form's width. */
static uint64_t make_form(Costing *costing, const SweepEvent *event) {
    const Device *device = costing->sweep->device;
    uint64_t bytes = sweep_box_bytes(costing->sweep->params[event->which].form, &event->box);
    costing->cost->column[event->kind].bytes += bytes;
    return device->issue_cycles.value + cycles_of_pass(device, bytes);
}

/* ---- A bound */

static uint64_t tiles_along(const Sweep *sweep, const SweepChoice *choice, Dim d) {
    return ceil_div(sweep->out.shape.extent[d], choice->tile[d]);
}

/* The last of the window's indices, or the first, as if the operand went on for ever. */
static int64_t window_end(const Reach *reach, uint64_t index) {
    return (int64_t)(index * reach->stride + reach->window - 1) - reach->before;
}

static int64_t window_begin(const Reach *reach, uint64_t index) {
    return (int64_t)(index * reach->stride) - reach->before;
}

/* Do the windows along dimension `k` of the operand cover it? */
static bool is_covered(const Sweep *sweep, const SweepOperand *operand, int k) {
    const Reach *reach = &operand->reach[k];
    return reach->of == REACH_ALL ||
           (reach->stride <= reach->window && reach->before >= 0 &&
            window_end(reach, sweep->out.shape.extent[reach->of] - 1) + 1 >= (int64_t)operand->shape.extent[k]);
}

/* Has no tile the window of the next one? Where windows lie beyond an end, or cover all, they may be the same. */
static bool moves_on(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, int k) {
    const Reach *reach = &operand->reach[k];
    int64_t whole = (int64_t)operand->shape.extent[k];
    uint64_t tile = choice->tile[reach->of], tiles = tiles_along(sweep, choice, (Dim)reach->of);
    bool begins_move = window_begin(reach, tile) >= (int64_t)reach->grain && tile * reach->stride >= reach->grain &&
                       window_begin(reach, (tiles - 1) * tile) < whole;
    bool ends_move = window_end(reach, tile - 1) >= 0 && window_end(reach, (tiles - 1) * tile - 1) < whole - 1;
    return begins_move || ends_move;
}

static bool goes_along(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, Dim d) {
    bool along = false;
    for (int k = 0; k < DIM_COUNT; k++) {
        along = along || (operand->reach[k].of == (uint32_t)d && moves_on(sweep, choice, operand, k));
    }
    return along;
}

/* How often a part of the operand is loaded at least: with every tile along the fastest dimension that it goes along,
 * and for all that are slower. Two slots hold the two tiles of a dimension for good. */
static uint64_t loads_of(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand) {
    uint64_t tiles[SWEEP_ORDER_COUNT], faster = 1, loads = 1;
    uint32_t k = SWEEP_ORDER_COUNT;
    for (uint32_t i = 0; i < SWEEP_ORDER_COUNT; i++) {
        tiles[i] = tiles_along(sweep, choice, sweep_order[i]);
    }
    for (bool found = false; !found && k > 0; k -= !found) {
        bool stay = faster == 1 && tiles[k - 1] == 2 && sweep_slots(choice) == 2;
        found = tiles[k - 1] > 1 && !stay && goes_along(sweep, choice, operand, sweep_order[k - 1]);
        faster *= found ? 1 : tiles[k - 1];
    }
    for (; k > 0; k--) {
        loads *= tiles[k - 1]; /* no more than the map has elements */
    }
    return loads;
}

/* Which dimension of the operand goes along dimension `d` of the map; DIM_COUNT: none or several. */
static int only_along(const SweepOperand *operand, Dim d) {
    int found = DIM_COUNT, count = 0;
    for (int k = 0; k < DIM_COUNT; k++) {
        bool is_along = operand->reach[k].of == (uint32_t)d;
        found = is_along ? k : found;
        count += is_along;
    }
    return count == 1 ? found : DIM_COUNT;
}

/* Where the parts cover the operand, and each moves as often as the others; else 0, which is always true. */
static uint64_t least_bytes(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand,
                            uint64_t moves) {
    uint64_t parts = 1, bytes;
    const ViewBox whole = view_whole_box(&operand->shape);
    bool ok = true;
    for (int k = 0; ok && k < DIM_COUNT; k++) {
        uint32_t of = operand->reach[k].of;
        uint64_t tiles = of == REACH_ALL ? 1 : tiles_along(sweep, choice, (Dim)of);
        ok = of == REACH_ALL || (only_along(operand, (Dim)of) == k && is_covered(sweep, operand, k) &&
                                 (tiles == 1 || moves_on(sweep, choice, operand, k)));
        parts *= tiles;
    }
    ok = ok && moves >= parts && checked_mul(moves, sweep_box_bytes(operand, &whole) / parts, &bytes);
    return ok ? bytes : 0;
}

/* Set-up, a descriptor, and the bytes of each move; 0 where that does not fit. */
static uint64_t least_moving(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand,
                             uint64_t moves) {
    const Device *device = sweep->device;
    uint64_t bytes = least_bytes(sweep, choice, operand, moves), cycles, rate = device->dma_bytes_cycle.value;
    bool ok = sweep_is_loaded(operand) &&
              checked_mul(moves, device->dma_setup_cycles.value + device->descriptor_cycles.value, &cycles) &&
              checked_add(cycles, rate == 0 ? 0 : bytes / rate, &cycles);
    return ok ? cycles : 0;
}

static uint64_t least_loading(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand) {
    return least_moving(sweep, choice, operand, loads_of(sweep, choice, operand));
}

uint64_t sweep_least_cycles(const Sweep *sweep, const SweepChoice *choice) {
    const Device *device = sweep->device;
    uint64_t tiles = 1, engine;
    for (int d = 0; d < DIM_COUNT; d++) {
        tiles *= tiles_along(sweep, choice, (Dim)d);
    }
    uint64_t loads = least_loading(sweep, choice, &sweep->in), stores = least_moving(sweep, choice, &sweep->out, tiles);
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        bool moves = !sweep_stays(choice, sweep, &sweep->params[i]);
        loads += moves ? least_loading(sweep, choice, &sweep->params[i]) : 0;
    }
    engine = checked_mul(tiles, device->issue_cycles.value, &engine) ? engine : 0;
    uint64_t dma = cycles_store_queue(device) == 1 ? loads + stores : loads > stores ? loads : stores;
    return dma > engine ? dma : engine;
}

/* ---- All events */

static void hear(void *context, const SweepEvent *event) {
    Costing *costing = context;
    SweepCost *cost = costing->cost;
    uint64_t own = event->kind == SWEEP_COMPUTE ? compute(costing, event)
                   : is_making(event)           ? make_form(costing, event)
                                                : move(costing, event);
    TimelineEvent timed = {.queue = event->queue, .waits = event->waits, .key = event->key, .cycles = own};
    cost->syncs += timeline_add(costing->timeline, &timed, costing->sweep->device->sync_cycles.value, &costing->ok);
    ColumnCost *column = &cost->column[column_of(costing->sweep, event)];
    column->commands++;
    column->cycles += own;
    cost->tiles += event->kind == SWEEP_COMPUTE && (event->which == 0 || event->which == SWEEP_ALL_NODES);
}

/* ---- Rounds that are all alike */

/* By how much a clock has gone on: the same for all that went on, 0 where none did; false where they differ. */
static bool took(uint64_t from, uint64_t to, uint64_t *cycles) {
    bool same = to == from || *cycles == 0 || *cycles == to - from;
    *cycles = to == from ? *cycles : to - from;
    return same;
}

/* Have all clocks that went on gone on by as much? Then nothing waited for one that stood still. */
static bool same_pace(const Timeline *from, const Timeline *to, uint64_t *cycles) {
    bool same = from->known == to->known && from->has_begun == to->has_begun;
    *cycles = 0;
    for (int k = 0; k < TIMELINE_QUEUES; k++) {
        same = same && took(from->queue_end[k], to->queue_end[k], cycles);
    }
    for (int k = 0; k < TIMELINE_KEYS; k++) {
        same = same && took(from->key_end[k], to->key_end[k], cycles);
    }
    return same;
}

static bool go_on(uint64_t *at, uint64_t by, uint64_t times) {
    uint64_t sum;
    return checked_mul(by, times, &sum) && checked_add(*at, sum, at);
}

/* `times` more of what came between `from` and `to`. */
static bool repeat_cost(SweepCost *cost, const SweepCost *from, const SweepCost *to, uint64_t times) {
    bool ok =
        go_on(&cost->tiles, to->tiles - from->tiles, times) && go_on(&cost->syncs, to->syncs - from->syncs, times);
    for (int k = 0; k < SWEEP_KINDS; k++) {
        const ColumnCost *a = &from->column[k], *b = &to->column[k];
        ColumnCost *sum = &cost->column[k];
        ok = ok && go_on(&sum->bytes, b->bytes - a->bytes, times) &&
             go_on(&sum->commands, b->commands - a->commands, times) &&
             go_on(&sum->descriptors, b->descriptors - a->descriptors, times) &&
             go_on(&sum->bursts, b->bursts - a->bursts, times) && go_on(&sum->cycles, b->cycles - a->cycles, times);
    }
    return ok;
}

static void pass_time(Timeline *timeline, const Timeline *before, uint64_t cycles) {
    for (int k = 0; k < TIMELINE_QUEUES; k++) {
        timeline->queue_end[k] += timeline->queue_end[k] == before->queue_end[k] ? 0 : cycles;
    }
    for (int k = 0; k < TIMELINE_KEYS; k++) {
        timeline->key_end[k] += timeline->key_end[k] == before->key_end[k] ? 0 : cycles;
    }
}

/* Where two rounds took as long, and nothing but time came between them, all that are alike do. */
static bool skip(void *context, const SweepRounds *rounds) {
    Costing *costing = context;
    Round *last = costing->last[rounds->level];
    const Round before = last[0], between = last[1], now = {*costing->timeline, *costing->cost};
    uint64_t cycles, cycles_before, all;
    last[0] = between;
    last[1] = now;
    if (!costing->ok || now.cost.tiles - between.cost.tiles != rounds->tiles ||
        between.cost.tiles - before.cost.tiles != rounds->tiles ||
        !same_pace(&between.timeline, &now.timeline, &cycles) ||
        !same_pace(&before.timeline, &between.timeline, &cycles_before) || cycles != cycles_before) {
        return false;
    }
    costing->ok = checked_mul(cycles, rounds->count, &all) && all <= UINT64_MAX - timeline_end(&now.timeline) &&
                  repeat_cost(costing->cost, &between.cost, &now.cost, rounds->count);
    if (costing->ok) {
        pass_time(costing->timeline, &between.timeline, all);
    }
    return true;
}

bool sweep_cost(const Sweep *sweep, const SweepChoice *choice, SweepMoves *moves, Timeline *timeline, SweepCost *cost) {
    Costing costing = {
        .sweep = sweep, .choice = choice, .moves = moves, .timeline = timeline, .cost = cost, .ok = true};
    uint64_t before = timeline_end(timeline);
    *cost = (SweepCost){0};
    timeline_begin(timeline);
    sweep_walk(sweep, choice, (SweepListener){hear, skip, &costing});
    cost->cycles = timeline_end(timeline) - before;
    return costing.ok;
}
