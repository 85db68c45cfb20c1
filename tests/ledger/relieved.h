/* What holds of every plan whose operators go by parts and whose maps lie in far memory, whether it fits or not.
 *
 * Sums and ranges are counted anew; which bytes of far memory are needed when, and what is stored and loaded there, is
 * read from the steps alone; local memory is replayed (replay.h). */
#ifndef S0_TESTS_LEDGER_RELIEVED_H
#define S0_TESTS_LEDGER_RELIEVED_H

#include "ledger/replay.h"

static inline Str far_name(const Plan *plan, BufferId id) {
    ValueId value = plan_buffer(plan, id)->value;
    return is_value(value) ? graph_value(plan->graph, value)->name : STR("");
}

static inline bool is_named(const Plan *plan, BufferId id, const char *name) {
    return str_eq(far_name(plan, id), str_from(name));
}

static inline bool is_far(const Plan *plan, BufferId id) {
    return plan_buffer(plan, id)->memory != plan->device->local;
}

/* Sums of what is alive; each step finds what it names. */
static inline void check_sums(const Plan *plan) {
    uint64_t peak = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        uint64_t live = 0;
        for (uint32_t i = 0; i < plan->buffer_count; i++) {
            bool counts = buffer_is_local_storage(plan, (BufferId){i}) && storage_is_live(&plan->buffers[i], s);
            live += counts ? plan->buffers[i].physical_bytes : 0;
        }
        assert_int_equal(plan->steps[s].live_bytes, live);
        peak = live > peak ? live : peak;
    }
    assert_int_equal(plan->peak_live_bytes, peak);
    assert_true(peak <= plan->placed_bytes);
    assert_int_equal(plan_local_fits(plan), plan->placed_bytes <= plan->capacity_bytes);
}

static inline bool has(const BufferId *ids, uint32_t count, uint32_t id) {
    bool found = false;
    for (uint32_t k = 0; k < count; k++) {
        found = found || ids[k].index == id;
    }
    return found;
}

/* Is the buffer read more often than it is written, from one tile to the next? */
static inline bool is_kept(const Plan *plan, const PlannedSweep *sweep, uint32_t buffer) {
    uint64_t reads = 0, writes = 0;
    for (uint32_t s = sweep->first_step; s < sweep->last_step; s++) {
        const Step *step = &plan->steps[s];
        reads += step->column != COLUMN_STORE && has(step->reads, step->read_count, buffer) ? step->repeat : 0;
        writes += has(step->writes, step->write_count, buffer) ? step->repeat : 0;
    }
    return reads > writes;
}

static inline void check_spared(const Plan *plan, const PlannedSweep *sweep, uint32_t kept) {
    const Buffer *spared = &plan->buffers[kept];
    for (uint32_t s = sweep->first_step; s < sweep->last_step; s++) {
        for (uint32_t k = 0; k < plan->steps[s].write_count; k++) {
            const Buffer *written = plan_buffer(plan, plan->steps[s].writes[k]);
            bool overlap = written->offset < spared->offset + spared->physical_bytes &&
                           spared->offset < written->offset + written->physical_bytes;
            if (written != spared && written->memory == spared->memory && overlap) {
                fail_msg("'" STR_FMT "' is written over from tile to tile", STR_ARG(far_name(plan, (BufferId){kept})));
            }
        }
    }
}

/* What stays from tile to tile is written over by no step of the sweep, for the first comes again behind the last. */
static inline void check_kept(const Plan *plan) {
    for (uint32_t k = 0; k < plan->sweep_count; k++) {
        const PlannedSweep *sweep = &plan->sweeps[k];
        for (uint32_t i = 0; i < plan->buffer_count; i++) {
            if (!is_far(plan, (BufferId){i}) && sweep->chosen.best.cost.tiles > 1 && is_kept(plan, sweep, i)) {
                check_spared(plan, sweep, i);
            }
        }
    }
}

static inline BufferId far_root(const Plan *plan, BufferId id) {
    while (is_buffer(plan_buffer(plan, id)->alias_of)) {
        id = plan_buffer(plan, id)->alias_of;
    }
    return id;
}

static inline bool lists(const Plan *plan, const BufferId *ids, uint32_t count, uint32_t root) {
    for (uint32_t k = 0; k < count; k++) {
        if (is_far(plan, ids[k]) && far_root(plan, ids[k]).index == root) {
            return true;
        }
    }
    return false;
}

/* When a storage of far memory is stored and loaded. */
typedef struct {
    uint64_t stored_bytes;
    uint32_t first, last; /* steps that it is needed for, half-open */
    uint32_t last_store, first_load;
} FarUse;

static inline FarUse use_of(const Plan *plan, uint32_t root) {
    FarUse use = {.first = UINT32_MAX, .first_load = UINT32_MAX};
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        bool is_loaded = lists(plan, step->reads, step->read_count, root);
        bool is_stored = lists(plan, step->writes, step->write_count, root);
        bool in_sweep = step->sweep != NOT_IN_SWEEP;
        if (!is_loaded && !is_stored) {
            continue;
        }
        assert_true(is_loaded || step->column == COLUMN_STORE);
        uint32_t first = in_sweep ? plan->sweeps[step->sweep].first_step : s;
        uint32_t last = in_sweep ? plan->sweeps[step->sweep].last_step : s + 1;
        bool in_turns = in_sweep && plan->sweeps[step->sweep].chosen.best.cost.tiles > 1;
        first = in_turns ? first : s;
        last = in_turns ? last : s + 1;
        use.first = first < use.first ? first : use.first;
        use.last = last > use.last ? last : use.last;
        use.first_load = is_loaded && use.first_load == UINT32_MAX ? s : use.first_load;
        use.last_store = is_stored ? s : use.last_store;
        use.stored_bytes += is_stored ? (in_sweep ? step->moved_bytes : plan->buffers[root].logical_bytes) : 0;
    }
    return use;
}

static inline bool is_made(const Plan *plan, uint32_t i) {
    BufferKind kind = plan->buffers[i].kind;
    return is_far(plan, (BufferId){i}) && !is_buffer(plan->buffers[i].alias_of) &&
           (kind == BUFFER_ACTIVATION || kind == BUFFER_OUTPUT);
}

/* Constants, inputs and outputs have their place for the whole run. */
static inline FarUse time_of(const Plan *plan, uint32_t i) {
    bool is_map = plan->buffers[i].kind == BUFFER_ACTIVATION;
    return is_map ? use_of(plan, i) : (FarUse){.first = 0, .last = UINT32_MAX};
}

static inline void check_apart(const Plan *plan, uint32_t a, uint32_t b) {
    const Buffer *left = &plan->buffers[a], *right = &plan->buffers[b];
    FarUse of_left = time_of(plan, a), of_right = time_of(plan, b);
    bool meet = of_left.first < of_right.last && of_right.first < of_left.last;
    bool overlap =
        left->offset < right->offset + right->logical_bytes && right->offset < left->offset + left->logical_bytes;
    if (meet && overlap) {
        fail_msg("'" STR_FMT "' and '" STR_FMT "' share bytes of far memory", STR_ARG(far_name(plan, (BufferId){a})),
                 STR_ARG(far_name(plan, (BufferId){b})));
    }
}

static inline void check_far(const Plan *plan) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (!is_far(plan, (BufferId){i}) || is_buffer(buffer->alias_of)) {
            continue;
        }
        FarUse use = use_of(plan, i);
        if (is_made(plan, i) && (use.stored_bytes != buffer->logical_bytes || use.last_store >= use.first_load)) {
            fail_msg("'" STR_FMT "': %llu bytes are stored, the last at step %u; the first load is step %u",
                     STR_ARG(far_name(plan, (BufferId){i})), (unsigned long long)use.stored_bytes, use.last_store,
                     use.first_load);
        }
        end = buffer->offset + buffer->logical_bytes > end ? buffer->offset + buffer->logical_bytes : end;
        for (uint32_t k = 0; k < i; k++) {
            if (is_far(plan, (BufferId){k}) && !is_buffer(plan->buffers[k].alias_of)) {
                check_apart(plan, i, k);
            }
        }
    }
    assert_int_equal(plan->backing_bytes, end);
}

static inline void check_same(const Plan *a, const Plan *b) {
    assert_int_equal(a->buffer_count, b->buffer_count);
    assert_int_equal(a->step_count, b->step_count);
    for (uint32_t i = 0; i < a->buffer_count; i++) {
        const Buffer *left = &a->buffers[i], *right = &b->buffers[i];
        assert_true(left->value.index == right->value.index && left->memory == right->memory &&
                    left->offset == right->offset && left->physical_bytes == right->physical_bytes &&
                    left->alias_of.index == right->alias_of.index);
    }
    for (uint32_t s = 0; s < a->step_count; s++) {
        const Step *left = &a->steps[s], *right = &b->steps[s];
        assert_true(left->node.index == right->node.index && left->column == right->column &&
                    left->repeat == right->repeat && left->moved_bytes == right->moved_bytes &&
                    left->live_bytes == right->live_bytes);
    }
}

/* Of a node with states: does the step that makes its output go on from each, or leave it? */
static inline void check_states(const Plan *plan) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        bool is_move = step->column == COLUMN_LOAD_INPUT || step->column == COLUMN_LOAD_PARAM ||
                       step->column == COLUMN_STORE || step->column == COLUMN_FILL;
        if (is_move || !is_node(step->node)) {
            continue;
        }
        const Node *node = graph_node(plan->graph, step->node);
        for (uint32_t k = 0; k < node->input_count; k++) {
            const Value *value = node_input(plan->graph, node, k);
            uint32_t state =
                value != NULL && value->is_state ? plan->of_value[node->inputs[k].index].index : UINT32_MAX;
            assert_true(state == UINT32_MAX || has(step->reads, step->read_count, state) ||
                        has(step->writes, step->write_count, state));
        }
    }
}

static inline void check_plan(const char *what, const Plan *plan, Work *work) {
    check_sums(plan);
    check_states(plan);
    check_kept(plan);
    check_far(plan);
    Replay replay = replay_of(plan, work);
    assert_int_equal(replay_placed(&replay), plan->placed_bytes);
    replay_must_run(what, &replay, work);
}

#endif
