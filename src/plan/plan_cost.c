/* The cost of a plan: sweeps as sweep_cost counts them, and between them whole tensors that are moved. */
#include "plan/plan_cost.h"

#include "base/checked.h"
#include "plan/parts.h"
#include "plan/tensor.h"

/* ---- Whole tensors */

static bool find_view(const Plan *plan, BufferId id, View *view) {
    const Buffer *buffer = plan_buffer(plan, id);
    Tensor tensor = tensor_of_buffer(plan->graph, buffer);
    return tensor_find_view(plan->device, &tensor, view) &&
           (buffer->memory == plan->device->local || view_flatten(view));
}

static uint64_t divide_up(uint64_t value, uint64_t by) {
    return by == 0 ? 0 : ceil_div(value, by);
}

typedef struct {
    const Device *device;
    const View *from, *to;
} Move;

/* Cycles of one part, which counts into the column. */
static bool cost_of_part(const Move *move, const ViewBox *box, ColumnCost *column, uint64_t *cycles) {
    const Device *device = move->device;
    const RunRule rule = {.align_bytes = device->dma_align_bytes.value > 0 ? device->dma_align_bytes.value : 1,
                          .min_bytes = device->dma_min_bytes.value > 0 ? device->dma_min_bytes.value : 1,
                          .burst_bytes = device->dma_burst_bytes.value};
    uint64_t descriptors, bits = move->to->shape.bits;
    RunCost runs;
    for (int d = 0; d < DIM_COUNT; d++) {
        bits *= box->extent[d]; /* of a view, whose bits fit 64 bits */
    }
    *cycles = 0;
    column->commands++;
    if (bits == 0) {
        return true;
    }
    if (!view_run_cost(move->to, box, move->from, box, &rule, &runs) ||
        !checked_mul(runs.descriptors, device->descriptor_cycles.value, &descriptors)) {
        return false;
    }
    *cycles =
        device->dma_setup_cycles.value + descriptors + divide_up(runs.burst_bytes_moved, device->dma_bytes_cycle.value);
    column->bytes += bytes_from_bits(bits);
    column->descriptors += runs.descriptors;
    column->bursts += runs.bursts;
    column->cycles += *cycles;
    return true;
}

static SweepKind kind_of(Column column) {
    return column == COLUMN_LOAD_INPUT ? SWEEP_LOAD_INPUT : column == COLUMN_STORE ? SWEEP_STORE : SWEEP_LOAD_PARAM;
}

static bool add_move(const Move *move, Column kind, Timeline *timeline, PlanCost *cost) {
    const Device *device = move->device;
    MoveParts parts = move_parts(device, move->from, move->to);
    ViewBox box = move_first(&parts);
    bool ok = true, more = true;
    TimelineEvent event = {.queue = kind == COLUMN_STORE && device->dma_channels.value >= 2 ? 2 : 1};
    for (; ok && more; more = move_next(&parts, &box)) {
        ok = cost_of_part(move, &box, &cost->column[kind_of(kind)], &event.cycles);
        cost->syncs += timeline_add(timeline, &event, device->sync_cycles.value, &ok);
    }
    return ok;
}

static bool add_moves(const Plan *plan, const Step *step, Timeline *timeline, PlanCost *cost) {
    timeline_begin(timeline);
    for (uint32_t k = 0; k < step->read_count && k < step->write_count; k++) {
        View from, to;
        Move move = {plan->device, &from, &to};
        if (!find_view(plan, step->reads[k], &from) || !find_view(plan, step->writes[k], &to) ||
            !add_move(&move, step->column, timeline, cost)) {
            return false;
        }
    }
    return true;
}

/* ---- All steps */

static bool add_column(ColumnCost *sum, const ColumnCost *column) {
    return checked_add(sum->bytes, column->bytes, &sum->bytes) &&
           checked_add(sum->commands, column->commands, &sum->commands) &&
           checked_add(sum->descriptors, column->descriptors, &sum->descriptors) &&
           checked_add(sum->bursts, column->bursts, &sum->bursts) &&
           checked_add(sum->cycles, column->cycles, &sum->cycles);
}

static bool add_sweep(const PlannedSweep *planned, Timeline *timeline, PlanCost *cost) {
    SweepCost own;
    bool ok = sweep_cost(&planned->sweep, &planned->chosen.best.choice, timeline, &own);
    for (int kind = 0; ok && kind < SWEEP_KINDS; kind++) {
        ok = add_column(&cost->column[kind], &own.column[kind]);
    }
    cost->syncs += own.syncs;
    return ok;
}

static bool is_move(Column column) {
    return column == COLUMN_LOAD_INPUT || column == COLUMN_LOAD_PARAM || column == COLUMN_STORE;
}

bool plan_cost(const Plan *plan, PlanCost *cost) {
    Timeline timeline = {0};
    *cost = (PlanCost){.is_complete = true};
    for (uint32_t s = 0; s < plan->step_count;) {
        const Step *step = &plan->steps[s];
        bool is_in_sweep = step->sweep != NOT_IN_SWEEP;
        cost->is_complete = cost->is_complete && (is_in_sweep || is_move(step->column));
        if ((is_in_sweep && !add_sweep(&plan->sweeps[step->sweep], &timeline, cost)) ||
            (!is_in_sweep && is_move(step->column) && !add_moves(plan, step, &timeline, cost))) {
            return false;
        }
        s = is_in_sweep ? plan->sweeps[step->sweep].last_step : s + 1;
    }
    cost->cycles = timeline_end(&timeline);
    return true;
}
