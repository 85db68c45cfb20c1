/* Traffic and cycles in the JSON of a plan: columns, the steady state, what was not chosen. */
#include "report/json_traffic.h"

#include <math.h>

static void write_moved(Json *json, const Moved *moved) {
    json_member_known(json, "read_bytes", moved->read_bytes);
    json_member_known(json, "written_bytes", moved->written_bytes);
    json_member_u64(json, "transfers", moved->transfers);
}

/* ---- Columns */

static void write_column(Json *json, const Facts *facts, Column column) {
    const ColumnCost *cost = &facts->first_run.cost.column[column];
    json_key(json, column_name(column));
    json_object_inline(json);
    write_moved(json, &facts->traffic.by_column[column]);
    json_member_known(json, "commands", facts->has_costs ? cost->commands : UINT64_MAX);
    json_member_known(json, "descriptors", facts->has_costs ? cost->descriptors : UINT64_MAX);
    json_member_known(json, "bursts", facts->has_costs ? cost->bursts : UINT64_MAX);
    json_member_known(json, "cycles", facts->has_costs ? cost->cycles : UINT64_MAX);
    json_end(json);
}

static void write_columns(Json *json, const Facts *facts) {
    json_key(json, "by_column");
    json_object(json);
    for (int k = 0; k < COLUMN_COUNT; k++) {
        const ColumnCost *cost = &facts->first_run.cost.column[k];
        bool occurs = facts->has_costs && (cost->commands > 0 || cost->cycles > 0);
        if (column_only_moves((Column)k) || occurs) {
            write_column(json, facts, (Column)k);
        }
    }
    json_end(json);
}

/* ---- Runs */

static void write_run(Json *json, const RunTotals *run, bool is_known) {
    write_moved(json, &run->moved);
    json_member_known(json, "param_bytes", run->param_bytes);
    json_member_known(json, "descriptors", is_known ? run->moves.descriptors : UINT64_MAX);
    json_member_known(json, "bursts", is_known ? run->moves.bursts : UINT64_MAX);
    json_member_known(json, "burst_bytes", is_known ? run->burst_bytes : UINT64_MAX);
    json_key(json, "efficiency");
    json_double(json, is_known ? run->efficiency : (double)NAN);
    json_member_known(json, "synchronisations", is_known ? run->cost.syncs : UINT64_MAX);
    json_member_known(json, "cycles", is_known ? run->cost.cycles : UINT64_MAX);
}

static void write_first(Json *json, const Facts *facts) {
    json_key(json, "first_run");
    json_object(json);
    write_run(json, &facts->first_run, facts->has_costs);
    json_end(json);
}

static void write_steady(Json *json, const Facts *facts) {
    const Steady *steady = &facts->steady;
    json_key(json, "steady_state");
    if (!facts->has_costs) {
        json_null(json);
        return;
    }
    json_object(json);
    write_run(json, &steady->run, true);
    json_member_u64(json, "held_bytes", steady->held_bytes);
    json_member_u64(json, "alive_bytes", steady->alive_bytes);
    json_key(json, "held");
    json_array_inline(json);
    for (uint32_t i = 0; i < steady->held_count; i++) {
        json_u64(json, steady->held[i].index);
    }
    json_end(json);
    json_end(json);
}

static void write_untold(Json *json, const Facts *facts) {
    json_key(json, "untold");
    json_array_inline(json);
    for (uint32_t k = 0; k < facts->untold_count; k++) {
        json_text(json, facts->untold[k]);
    }
    json_end(json);
}

/* ---- What was not chosen */

static const char *carry_name(Carry carry) {
    static const char *const name[] = {NULL, "output", "input", "workspace"};
    return name[carry];
}

static void write_choice(Json *json, const SweepChoice *choice) {
    json_member_text(json, "schedule", schedule_name(choice->schedule));
    json_member_text(json, "carry", carry_name(choice->carry));
    json_member_bool(json, "over_input", choice->over_input);
    json_member_bool(json, "resident", choice->is_resident);
    json_key(json, "tile");
    json_array_inline(json);
    for (int d = DIM_N; d <= DIM_W; d++) {
        json_u64(json, choice->tile[d]);
    }
    json_end(json);
}

static void write_price(Json *json, uint64_t need_bytes, uint64_t cycles, uint64_t chosen_cycles, bool fits) {
    json_member_u64(json, "need_bytes", need_bytes);
    json_member_u64(json, "cycles", cycles);
    json_key(json, "more_cycles");
    json_i64(json, (int64_t)(cycles - chosen_cycles)); /* of counts that a clock has added up */
    json_member_bool(json, "fits", fits);
}

static void write_options(Json *json, const SweepFacts *sweep) {
    const SweepChosen *chosen = &sweep->planned->chosen;
    json_key(json, "chosen");
    json_object_inline(json);
    write_choice(json, &chosen->best.choice);
    json_member_u64(json, "tiles", sweep->planned->chosen.best.cost.tiles);
    write_price(json, chosen->best.need_bytes, chosen->best.cost.cycles, chosen->best.cost.cycles, chosen->fits);
    json_end(json);
    json_key(json, "others");
    json_array(json);
    for (uint32_t i = 0; i < sweep->other_count; i++) {
        const SweepOther *other = &sweep->others[i];
        json_object_inline(json);
        write_choice(json, &other->choice);
        write_price(json, other->need_bytes, other->cycles, chosen->best.cost.cycles, other->fits);
        json_member_bool(json, "chosen_tile", other->has_chosen_tile);
        json_end(json);
    }
    json_end(json);
}

static void write_param_price(Json *json, const ParamPrice *price, uint64_t chosen_cycles) {
    write_choice(json, &price->choice);
    json_member_u64(json, "param_bytes", price->param_bytes);
    write_price(json, price->need_bytes, price->cycles, chosen_cycles, price->fits);
}

static void write_forms(Json *json, const SweepFacts *sweep) {
    const SweepOption *chosen = &sweep->planned->chosen.best;
    json_member_u64(json, "param_bytes", chosen->cost.column[SWEEP_LOAD_PARAM].bytes);
    json_key(json, "forms");
    json_array(json);
    for (uint32_t i = 0; i < sweep->form_count; i++) {
        const FormPrice *price = &sweep->form[i];
        json_object_inline(json);
        json_member_text(json, "form", form_name(price->form));
        write_param_price(json, &price->made, chosen->cost.cycles);
        json_key(json, "before");
        if (price->has_before) {
            json_object_inline(json);
            write_param_price(json, &price->before, chosen->cost.cycles);
            json_end(json);
        } else {
            json_null(json);
        }
        json_end(json);
    }
    json_end(json);
}

/* Along which dimensions it may be cut, and what each tile reads all of. */
static void write_reach(Json *json, const PlannedSweep *planned) {
    uint32_t uncut = facts_uncut_dims(&planned->sweep);
    json_key(json, "cut");
    json_array_inline(json);
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        if ((uncut >> d & 1) == 0 && planned->sweep.out.shape.extent[d] > 1) {
            const char letter[] = {dim_letter((Dim)d), '\0'};
            json_text(json, letter);
        }
    }
    json_end(json);
    json_key(json, "reads_whole");
    json_array_inline(json);
    for (uint32_t k = 0; k <= planned->sweep.param_count; k++) {
        BufferId id = facts_reads_whole(planned, k);
        if (is_buffer(id)) {
            json_u64(json, id.index);
        }
    }
    json_end(json);
}

static void write_rows(Json *json, const Facts *facts, const SweepFacts *sweep) {
    json_key(json, "by_column");
    json_object(json);
    for (int k = 0; k < COLUMN_COUNT; k++) {
        const SweepRow row = facts_sweep_row(facts->plan, sweep->planned, (Column)k);
        if (row.fullest == NO_STEP) {
            continue;
        }
        json_key(json, column_name((Column)k));
        json_object_inline(json);
        json_member_u64(json, "repeat", row.repeat);
        json_member_u64(json, "moved_bytes", row.moved_bytes);
        json_member_known(json, "cycles", sweep->has_cost ? sweep->cost.column[k].cycles : UINT64_MAX);
        json_member_u64(json, "live_bytes", row.live_bytes);
        json_member_u64(json, "fullest_step", row.fullest);
        json_end(json);
    }
    json_end(json);
}

static void write_alternatives(Json *json, const Facts *facts) {
    json_key(json, "alternatives");
    json_array(json);
    for (uint32_t s = 0; s < facts->plan->sweep_count; s++) {
        const SweepFacts *sweep = &facts->sweeps[s];
        const PlannedSweep *planned = sweep->planned;
        json_object(json);
        json_member_str(json, "node", graph_node(facts->graph, planned->nodes[0])->name);
        json_key(json, "nodes");
        json_array_inline(json);
        for (uint32_t n = 0; n < planned->node_count; n++) {
            json_str(json, graph_node(facts->graph, planned->nodes[n])->name);
        }
        json_end(json);
        json_key(json, "steps");
        json_array_inline(json);
        json_u64(json, planned->first_step);
        json_u64(json, planned->last_step);
        json_end(json);
        write_reach(json, planned);
        write_rows(json, facts, sweep);
        write_options(json, sweep);
        write_forms(json, sweep);
        json_end(json);
    }
    json_end(json);
}

void json_traffic(Json *json, const Facts *facts) {
    json_key(json, "traffic");
    json_object(json);
    write_run(json, &facts->first_run, facts->has_costs);
    json_member_known(json, "unbooked_steps", facts->has_costs ? facts->first_run.cost.unbooked_steps : UINT64_MAX);
    json_member_known(json, "assumed_steps", facts->has_costs ? facts->first_run.cost.assumed_steps : UINT64_MAX);
    write_untold(json, facts);
    write_columns(json, facts);
    write_first(json, facts);
    write_steady(json, facts);
    write_alternatives(json, facts);
    json_end(json);
}
