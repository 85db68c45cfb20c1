/* The costs of the first run and of all later ones. */
#include "ledger/costs.h"

#include "base/checked.h"
#include "ledger/steady.h"

#include <math.h>

/* Small transfers show: a run of 12 bytes in bursts of 64 moves 64. */
static bool sum_run(const Device *device, RunTotals *run) {
    uint64_t burst_bytes = device->dma_burst_bytes.value;
    run->burst_bytes = UINT64_MAX;
    run->efficiency = NAN;
    for (int k = 0; k < COLUMN_COUNT; k++) {
        if (column_is_transfer((Column)k) && !column_cost_add(&run->moves, &run->cost.column[k])) {
            return false;
        }
    }
    if (burst_bytes == 0) {
        return true;
    }
    if (!checked_mul(run->moves.bursts, burst_bytes, &run->burst_bytes)) {
        return false;
    }
    if (run->burst_bytes > 0) {
        run->efficiency = (double)run->moves.bytes / (double)run->burst_bytes;
    }
    return true;
}

static uint64_t less_known(uint64_t sum, uint64_t part) {
    return sum == UINT64_MAX ? sum : sum - part;
}

/* The first run's moves without those that fall away. */
static void move_less(const Facts *facts, Steady *steady) {
    const Traffic *traffic = &facts->traffic;
    steady->run.moved = (Moved){.read_bytes = less_known(traffic->all.read_bytes, steady->saved.read_bytes),
                                .written_bytes = less_known(traffic->all.written_bytes, steady->saved.written_bytes),
                                .transfers = traffic->all.transfers - steady->saved.transfers};
    steady->run.param_bytes = less_known(traffic->param_bytes, steady->saved_param_bytes);
}

static bool is_told(const Device *device, const char *key) {
    for (size_t i = 0; i < device->fact_count; i++) {
        if (str_eq(device->fact[i].key, str_from(key))) {
            return true;
        }
    }
    return false;
}

static void find_untold(Facts *facts, Arena *keep) {
    static const char *const keys[] = {"vector_bytes_cycle", "mac_cycle",   "issue_cycles", "descriptor_cycles",
                                       "sync_cycles",        "bytes_cycle", "setup_cycles"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    facts->untold = arena_array(keep, const char *, KEYS);
    for (size_t k = 0; k < KEYS; k++) {
        if (!is_told(facts->device, keys[k])) {
            facts->untold[facts->untold_count++] = keys[k];
        }
    }
}

/* UINT64_MAX where the sum does not fit 64 bits. */
static uint64_t sweeps_alone(const Plan *plan) {
    uint64_t cycles = 0;
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        if (!checked_add(cycles, plan->sweeps[s].chosen.best.cost.cycles, &cycles)) {
            return UINT64_MAX;
        }
    }
    return cycles;
}

/* Of another order of the operators: what the order of the file would have cost. */
static uint64_t cycles_in_order_of_file(const Plan *plan, Arena *scratch) {
    PlanCost cost;
    bool is_known = plan->order != NULL && plan_cost(plan->order->of_file, NULL, scratch, &cost);
    return is_known ? cost.cycles : UINT64_MAX;
}

void costs_gather(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    facts->first_run.moved = facts->traffic.all;
    facts->first_run.param_bytes = facts->traffic.param_bytes;
    if (plan->device->kind != DEVICE_SCRATCHPAD) {
        return;
    }
    find_untold(facts, &work->keep);
    facts->file_order_cycles = cycles_in_order_of_file(plan, &work->scratch);
    facts->sweeps_alone_cycles = sweeps_alone(plan);
    const bool *is_held = steady_find(plan, &facts->steady, &work->keep, &work->scratch);
    move_less(facts, &facts->steady);
    facts->has_costs =
        plan_cost(plan, NULL, &work->scratch, &facts->first_run.cost) && sum_run(plan->device, &facts->first_run) &&
        plan_cost(plan, is_held, &work->scratch, &facts->steady.run.cost) && sum_run(plan->device, &facts->steady.run);
}
