/* What a sweep costs: its events on the clocks of the queues. The rules are those of docs/simulator.md. */
#include "plan/sweep.h"

#include "base/checked.h"

/* What one event costs depends on what is moved and on which dimensions are at their end, not on where. */
enum { KNOWN = 64 };

typedef struct {
    uint64_t key; /* kind, which and tails; 0: empty */
    bool ok;
    uint64_t bytes;
    RunCost runs;
} Known;

typedef struct {
    const Sweep *sweep;
    const SweepChoice *choice;
    Timeline *timeline;
    SweepCost *cost;
    Known known[KNOWN];
    bool ok;
} Costing;

static uint64_t elements_of(const ViewBox *box) {
    uint64_t elements = 1;
    for (int d = 0; d < DIM_COUNT; d++) {
        elements *= box->extent[d]; /* of a view, whose bits fit 64 bits */
    }
    return elements;
}

static uint64_t divide_up(uint64_t value, uint64_t by) {
    return by == 0 ? 0 : ceil_div(value, by);
}

/* ---- Transfers */

static const SweepOperand *operand_of(const Sweep *sweep, const SweepEvent *event) {
    return event->kind == SWEEP_LOAD_INPUT ? &sweep->in
           : event->kind == SWEEP_STORE    ? &sweep->out
                                           : &sweep->params[event->which];
}

static bool find_runs(const Costing *costing, const SweepEvent *event, RunCost *runs) {
    const Sweep *sweep = costing->sweep;
    const Device *device = sweep->device;
    const SweepOperand *operand = operand_of(sweep, event);
    const RunRule rule = {.align_bytes = device->dma_align_bytes.value > 0 ? device->dma_align_bytes.value : 1,
                          .min_bytes = device->dma_min_bytes.value > 0 ? device->dma_min_bytes.value : 1,
                          .burst_bytes = device->dma_burst_bytes.value};
    ViewBox far_box = sweep_box(operand, &event->box), local_box = far_box;
    View local;
    for (int d = 0; d < DIM_COUNT; d++) {
        local_box.first[d] = 0;
    }
    return sweep_local_view(sweep, operand, far_box.extent, &local) &&
           (event->kind == SWEEP_STORE ? view_run_cost(&operand->whole, &far_box, &local, &local_box, &rule, runs)
                                       : view_run_cost(&local, &local_box, &operand->whole, &far_box, &rule, runs));
}

static Known *known_of(Costing *costing, const SweepEvent *event) {
    uint64_t key = ((uint64_t)event->kind + 1) << 48 | (uint64_t)event->which << 8 | event->tails;
    Known *known = &costing->known[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
    if (known->key != key) {
        known->key = key;
        known->bytes = sweep_box_bytes(operand_of(costing->sweep, event), &event->box);
        known->ok = find_runs(costing, event, &known->runs);
    }
    return known;
}

static uint64_t move(Costing *costing, const SweepEvent *event) {
    const Device *device = costing->sweep->device;
    const Known *known = known_of(costing, event);
    ColumnCost *column = &costing->cost->column[event->kind];
    uint64_t descriptors;
    costing->ok =
        costing->ok && known->ok && checked_mul(known->runs.descriptors, device->descriptor_cycles.value, &descriptors);
    if (!costing->ok) {
        return 0;
    }
    column->bytes += known->bytes;
    column->descriptors += known->runs.descriptors;
    column->bursts += known->runs.bursts;
    return device->dma_setup_cycles.value + descriptors +
           divide_up(known->runs.burst_bytes_moved, device->dma_bytes_cycle.value);
}

/* ---- The engine */

static uint64_t compute(const Costing *costing, const SweepEvent *event) {
    const Sweep *sweep = costing->sweep;
    uint64_t elements = elements_of(&event->box), cycles = sweep->device->issue_cycles.value;
    uint32_t at = 0;
    for (uint32_t k = 0; k < sweep->node_count; k++) {
        for (uint32_t s = 0; s < sweep->stage_count[k]; s++, at++) {
            if (event->which == SWEEP_ALL_NODES || event->which == k) {
                uint64_t bytes = bytes_from_bits(elements * sweep->stage_bits[at]);
                cycles += divide_up(bytes, sweep->device->vector_bytes_cycle.value);
            }
        }
    }
    return cycles;
}

/* ---- All events */

static void hear(void *context, const SweepEvent *event) {
    Costing *costing = context;
    SweepCost *cost = costing->cost;
    uint64_t own = event->kind == SWEEP_COMPUTE ? compute(costing, event) : move(costing, event);
    TimelineEvent timed = {.queue = event->queue, .waits = event->waits, .key = event->key, .cycles = own};
    cost->syncs += timeline_add(costing->timeline, &timed, costing->sweep->device->sync_cycles.value, &costing->ok);
    cost->column[event->kind].commands++;
    cost->column[event->kind].cycles += own;
    cost->tiles += event->kind == SWEEP_COMPUTE && (event->which == 0 || event->which == SWEEP_ALL_NODES);
}

bool sweep_cost(const Sweep *sweep, const SweepChoice *choice, Timeline *timeline, SweepCost *cost) {
    Costing costing = {.sweep = sweep, .choice = choice, .timeline = timeline, .cost = cost, .ok = true};
    uint64_t before = timeline_end(timeline);
    *cost = (SweepCost){0};
    timeline_begin(timeline);
    sweep_walk(sweep, choice, (SweepListener){hear, &costing});
    cost->cycles = timeline_end(timeline) - before;
    return costing.ok;
}
