/* The cost of a plan: sweeps as sweep_cost counts them, and between them whole tensors that are moved or worked on. */
#include "plan/plan_cost.h"

#include "base/checked.h"
#include "base/fault.h"
#include "plan/builder.h"
#include "plan/whole_cost.h"
#include "sweep/cycles.h"
#include "sweep/parts.h"

#include <string.h>

/* ---- Whole tensors */

typedef struct {
    const Device *device;
    const View *from, *to;
} Move;

/* Cycles of one part, which counts into the column. */
static bool cost_of_part(const Move *move, const ViewBox *box, ColumnCost *column, uint64_t *cycles) {
    const Device *device = move->device;
    const RunRule rule = cycles_run_rule(device);
    uint64_t bits = move->to->shape.bits * layout_elements(box->extent);
    RunCost runs;
    *cycles = 0;
    column->commands++;
    if (bits == 0) {
        return true;
    }
    if (!view_run_cost(move->to, box, move->from, box, &rule, &runs) || !cycles_of_transfer(device, &runs, cycles)) {
        return false;
    }
    column->bytes += bytes_from_bits(bits);
    column->descriptors += runs.descriptors;
    column->bursts += runs.bursts;
    column->cycles += *cycles;
    return true;
}

static bool add_times(ColumnCost *sum, const ColumnCost *one, uint64_t times) {
    ColumnCost all = {0};
    return checked_mul(one->bytes, times, &all.bytes) && checked_mul(one->commands, times, &all.commands) &&
           checked_mul(one->descriptors, times, &all.descriptors) && checked_mul(one->bursts, times, &all.bursts) &&
           checked_mul(one->cycles, times, &all.cycles) && column_cost_add(sum, &all);
}

/* Parts go one after another on one queue, and only the first waits: what the equal ones cost is a product. */
static bool add_move(const Move *move, Column column, Timeline *timeline, PlanCost *cost) {
    const Device *device = move->device;
    MoveParts parts = move_parts(device, move->from, move->to);
    ColumnCost all = {0};
    bool ok = true;
    for (uint32_t tails = 0; ok && tails < 1u << DIM_COUNT; tails++) {
        ColumnCost one = {0};
        ViewBox box;
        uint64_t times, cycles;
        if (move_kind(&parts, tails, &box, &times)) {
            ok = cost_of_part(move, &box, &one, &cycles) && add_times(&all, &one, times);
        }
    }
    const TimelineEvent event = {.queue = column == COLUMN_STORE ? cycles_store_queue(device) : 1,
                                 .cycles = all.cycles};
    ok = ok && column_cost_add(&cost->column[column], &all);
    cost->syncs += timeline_add(timeline, &event, device->sync_cycles.value, &ok);
    return ok;
}

/* A plan as its costs are summed. */
typedef struct {
    const Plan *plan;
    const bool *is_held; /* null: no buffer */
    Arena *scratch;
    Timeline timeline;
    PlanCost *cost;
} Booking;

static bool is_held(const Booking *booking, BufferId id) {
    return booking->is_held != NULL && is_buffer(id) && booking->is_held[id.index];
}

/* What lies there is what the view shows: not of an engine's records, nor of elements in blocks of their own. */
static bool shows_all(const Plan *plan, BufferId id, const View *view) {
    return view_logical_bytes(view) == plan_buffer(plan, id)->logical_bytes;
}

/* Index for index, or each of `from` repeated. A constant may lie there under the names that another reader gives its
 * axes: then it is not known what stands behind what. */
static bool meet(View *from, const View *to) {
    return memcmp(from->shape.extent, to->shape.extent, sizeof to->shape.extent) == 0 ||
           view_broadcast(from, &to->shape);
}

static bool add_moves(Booking *booking, const Step *step) {
    const Plan *plan = booking->plan;
    bool is_booked = true;
    timeline_begin(&booking->timeline);
    for (uint32_t k = 0; k < step->read_count && k < step->write_count; k++) {
        View from, to;
        Move move = {plan->device, &from, &to};
        if (is_held(booking, step->writes[k])) {
            continue;
        }
        bool is_known = buffer_find_view(plan, plan_buffer(plan, step->reads[k]), &from) &&
                        buffer_find_view(plan, plan_buffer(plan, step->writes[k]), &to) &&
                        shows_all(plan, step->writes[k], &to) && meet(&from, &to);
        if (is_known && !add_move(&move, step->column, &booking->timeline, booking->cost)) {
            return false;
        }
        is_booked = is_booked && is_known;
    }
    booking->cost->unbooked_steps += !is_booked;
    return true;
}

/* ---- Sweeps */

bool column_cost_add(ColumnCost *sum, const ColumnCost *column) {
    return checked_add(sum->bytes, column->bytes, &sum->bytes) &&
           checked_add(sum->commands, column->commands, &sum->commands) &&
           checked_add(sum->descriptors, column->descriptors, &sum->descriptors) &&
           checked_add(sum->bursts, column->bursts, &sum->bursts) &&
           checked_add(sum->cycles, column->cycles, &sum->cycles);
}

/* The engine's cycles by the columns of the operators. */
typedef struct {
    const Graph *graph;
    const PlannedSweep *planned;
    ColumnCost column[COLUMN_COUNT];
} Shares;

static Column column_of_node(const Shares *shares, uint32_t k) {
    return column_of(graph_node(shares->graph, shares->planned->nodes[k]));
}

static void hear_share(void *context, const SweepEvent *event) {
    Shares *shares = context;
    const Sweep *sweep = &shares->planned->sweep;
    if (event->kind != SWEEP_COMPUTE) {
        return;
    }
    ColumnCost *first = &shares->column[column_of_node(shares, event->which == SWEEP_ALL_NODES ? 0 : event->which)];
    first->commands++;
    first->cycles += sweep->device->issue_cycles.value;
    for (uint32_t k = 0; k < sweep->node_count; k++) {
        bool runs = event->which == SWEEP_ALL_NODES || event->which == k;
        uint64_t cycles = runs ? sweep_node_cycles(sweep, k, layout_elements(event->box.extent)) : 0;
        shares->column[column_of_node(shares, k)].cycles += cycles;
    }
}

static bool has_one_column(const Shares *shares) {
    for (uint32_t k = 1; k < shares->planned->node_count; k++) {
        if (column_of_node(shares, k) != column_of_node(shares, 0)) {
            return false;
        }
    }
    return true;
}

static bool add_engine(const Booking *booking, const PlannedSweep *planned, const ColumnCost *all) {
    Shares shares = {.graph = booking->plan->graph, .planned = planned};
    ColumnCost *column = booking->cost->column, sum = {0};
    if (has_one_column(&shares)) {
        return column_cost_add(&column[column_of_node(&shares, 0)], all);
    }
    sweep_walk(&planned->sweep, &planned->chosen.best.choice, (SweepListener){.hear = hear_share, .context = &shares});
    for (int k = 0; k < COLUMN_COUNT; k++) {
        if (!column_cost_add(&sum, &shares.column[k]) || !column_cost_add(&column[k], &shares.column[k])) {
            return false;
        }
    }
    CHECK(sum.cycles == all->cycles && sum.commands == all->commands);
    return true;
}

/* The sweep without the parameters that are held: nothing depends on them but that they are loaded, or made. */
static Sweep without_held(const Booking *booking, const PlannedSweep *planned) {
    Sweep sweep = planned->sweep;
    if (booking->is_held == NULL || sweep.param_count == 0) {
        return sweep;
    }
    SweepOperand *params = arena_array(booking->scratch, SweepOperand, sweep.param_count);
    sweep.params = params;
    sweep.param_count = 0;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const SweepParam *param = &planned->params[i];
        if (!is_held(booking, is_buffer(param->form) ? param->form : param->local[0])) {
            params[sweep.param_count++] = planned->sweep.params[i];
        }
    }
    return sweep;
}

static bool add_sweep(Booking *booking, const PlannedSweep *planned) {
    ColumnCost *column = booking->cost->column;
    Sweep sweep = without_held(booking, planned);
    SweepMoves moves = {0};
    SweepCost own;
    bool ok = sweep_cost(&sweep, &planned->chosen.best.choice, &moves, &booking->timeline, &own);
    booking->cost->syncs += own.syncs;
    return ok && column_cost_add(&column[COLUMN_LOAD_INPUT], &own.column[SWEEP_LOAD_INPUT]) &&
           column_cost_add(&column[COLUMN_LOAD_PARAM], &own.column[SWEEP_LOAD_PARAM]) &&
           column_cost_add(&column[COLUMN_COPY], &own.column[SWEEP_COPY]) &&
           column_cost_add(&column[COLUMN_FILL], &own.column[SWEEP_FILL]) &&
           column_cost_add(&column[COLUMN_STORE], &own.column[SWEEP_STORE]) &&
           add_engine(booking, planned, &own.column[SWEEP_COMPUTE]);
}

bool plan_cost_of_sweep(const Plan *plan, const PlannedSweep *planned, PlanCost *cost) {
    Booking booking = {.plan = plan, .cost = cost};
    *cost = (PlanCost){0};
    bool ok = add_sweep(&booking, planned);
    cost->cycles = timeline_end(&booking.timeline);
    return ok;
}

/* ---- The engine, outside of sweeps */

static bool add_command(Booking *booking, Column column, const ColumnCost *command) {
    const Device *device = booking->plan->device;
    ColumnCost own = *command;
    bool ok = checked_add(own.cycles, device->issue_cycles.value, &own.cycles);
    const TimelineEvent event = {.queue = 0, .cycles = own.cycles};
    own.commands = 1;
    booking->cost->syncs += timeline_add(&booking->timeline, &event, device->sync_cycles.value, &ok);
    return ok && column_cost_add(&booking->cost->column[column], &own);
}

/* Each buffer that is written is a copy or a fill of its own, of one stage. */
static bool add_making(Booking *booking, const Step *step) {
    bool ok = true;
    timeline_begin(&booking->timeline);
    for (uint32_t k = 0; ok && k < step->write_count; k++) {
        uint64_t bytes = plan_buffer(booking->plan, step->writes[k])->logical_bytes;
        const ColumnCost made = {.bytes = bytes, .cycles = cycles_of_pass(booking->plan->device, bytes)};
        ok = is_held(booking, step->writes[k]) || add_command(booking, step->column, &made);
    }
    return ok;
}

static bool add_operator(Booking *booking, const Step *step) {
    const Plan *plan = booking->plan;
    ColumnCost work = {0};
    bool is_assumed;
    if (!whole_work(plan, graph_node(plan->graph, step->node), booking->scratch, &work.cycles, &is_assumed)) {
        return false;
    }
    booking->cost->assumed_steps += is_assumed;
    timeline_begin(&booking->timeline);
    return add_command(booking, step->column, &work);
}

/* ---- All steps */

static bool book_sweep(Booking *booking, const PlannedSweep *planned) {
    const Graph *graph = booking->plan->graph;
    bool is_assumed =
        planned->stages == NULL && whole_work_is_assumed(graph, graph_node(graph, planned->nodes[0]), booking->scratch);
    booking->cost->assumed_steps += is_assumed;
    return add_sweep(booking, planned);
}

static bool book_step(Booking *booking, const Step *step) {
    if (step->sweep != NOT_IN_SWEEP) {
        return book_sweep(booking, &booking->plan->sweeps[step->sweep]);
    }
    bool is_making = step->column == COLUMN_COPY || step->column == COLUMN_FILL;
    return column_is_transfer(step->column) ? add_moves(booking, step)
           : is_making                      ? add_making(booking, step)
                                            : add_operator(booking, step);
}

bool plan_cost(const Plan *plan, const bool *is_held, Arena *scratch, PlanCost *cost) {
    Booking booking = {.plan = plan, .is_held = is_held, .scratch = scratch, .cost = cost};
    bool ok = true;
    *cost = (PlanCost){0};
    for (uint32_t s = 0; ok && s < plan->step_count;) {
        const Step *step = &plan->steps[s];
        ok = book_step(&booking, step);
        s = step->sweep != NOT_IN_SWEEP ? plan->sweeps[step->sweep].last_step : s + 1;
    }
    cost->cycles = timeline_end(&booking.timeline);
    return ok;
}
