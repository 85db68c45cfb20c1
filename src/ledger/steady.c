/* The steady state: constants that stay in local memory from one run to the next.
 *
 * A constant may stay where its buffer has the bytes for itself and is loaded whole, once a run; so may a form that is
 * made once, and then what it is made of is not loaded again either. It does stay where the
 * peak, with the buffer alive at all steps, is not lifted above what local memory holds; each size counts rounded up to
 * the memory's alignment. Those that save most bytes for a byte that they hold come first, of equals the earlier in
 * the plan. No other buffer moves: what is held is added to the plan, not planned anew. */
#include "ledger/steady.h"

#include <stdlib.h>

/* Bytes that are alive at each step, as a tree over the steps, so that a candidate costs the logarithm of their number:
 * `most` of a node is the most of any step below it, less what was taken from it (`taken`) and not yet from those
 * above. Leaf of step s: leaves + s; the one behind the last step is 0. */
typedef struct {
    uint32_t leaves; /* a power of two above the number of steps */
    uint64_t *most, *taken;
} Alive;

/* A constant that may stay. */
typedef struct {
    BufferId buffer, made_of; /* made_of: of a form, what is not loaded again either; NO_BUFFER */
    Moved saved;              /* by its load; of a form, by what makes it, and the load of what it is made of */
    uint64_t loads_bytes;     /* of that, loaded */
    uint64_t size;            /* rounded up */
} Candidate;

typedef struct {
    const Plan *plan;
    Steady *steady;
    Alive alive;     /* bytes of storages that are not held, rounded up */
    bool *is_held;   /* it stays */
    bool *is_spared; /* nothing writes it again: it stays, or what is made of it does */
} Search;

static uint64_t rounded_size(const Plan *plan, const Buffer *buffer) {
    uint64_t align = plan->device->memory[plan->device->local].align_bytes;
    return (buffer->physical_bytes + align - 1) / align * align; /* a bound of the plan's, which fits 64 bits */
}

/* ---- Who may stay */

typedef struct {
    uint64_t times; /* that something is written into the storage, in a run */
    uint32_t step;  /* the last that writes; its place among the writes */
    uint32_t which;
} Written;

static const Written *count_writes(const Plan *plan, Arena *scratch) {
    Written *written = arena_array(scratch, Written, plan->buffer_count);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        for (uint32_t k = 0; k < step->write_count; k++) {
            Written *into = &written[plan_buffer(plan, step->writes[k])->storage.index];
            *into = (Written){into->times + step->repeat, s, k};
        }
    }
    return written;
}

/* Of each buffer that is a form: what the engine makes it of, a number where that is no buffer. */
typedef struct {
    bool is_form;
    BufferId of;
} MadeOf;

typedef struct {
    MadeOf *form;
    bool *is_part; /* one of two parts of a constant; or what a form is made of, which stays or goes with the form */
} Kinds;

/* Two tiles in flight have a part each. */
static void mark_parts(const SweepParam *param, bool *is_part) {
    for (uint32_t slot = 0; is_buffer(param->local[1]) && slot < 2; slot++) {
        is_part[param->local[slot].index] = true;
    }
}

static Kinds find_kinds(const Plan *plan, Arena *scratch) {
    Kinds kinds = {arena_array(scratch, MadeOf, plan->buffer_count), arena_array(scratch, bool, plan->buffer_count)};
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        for (uint32_t i = 0; i < plan->sweeps[s].sweep.param_count; i++) {
            mark_parts(&plan->sweeps[s].params[i], kinds.is_part);
        }
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        if (step_makes_form(plan, step)) {
            BufferId of = step->read_count > 0 ? step->reads[0] : NO_BUFFER;
            kinds.form[step->writes[0].index] = (MadeOf){true, of};
            if (is_buffer(of)) {
                kinds.is_part[of.index] = true;
            }
        }
    }
    return kinds;
}

static bool may_stay(const Plan *plan, BufferId id, const Written *written, bool is_form) {
    const Buffer *buffer = plan_buffer(plan, id);
    bool is_constant = is_value(buffer->value) && graph_value(plan->graph, buffer->value)->constant != NULL;
    if (!is_constant || !buffer_is_local_storage(plan, id) || buffer->physical_bytes == 0 || written->times != 1) {
        return false;
    }
    const Step *step = &plan->steps[written->step];
    return (is_form || step->column == COLUMN_LOAD_PARAM) && step->writes[written->which].index == id.index;
}

/* One that COPY makes is read as often as it is written; a number is not read. */
static Candidate form_candidate(const Plan *plan, BufferId id, BufferId of) {
    const Buffer *buffer = plan_buffer(plan, id);
    bool is_copied = is_buffer(of);
    uint64_t loaded = is_copied ? plan_buffer(plan, of)->logical_bytes : 0;
    Moved saved = {.read_bytes = is_copied ? loaded + buffer->logical_bytes : 0,
                   .written_bytes = loaded + buffer->logical_bytes,
                   .transfers = is_copied ? 2 : 1};
    return (Candidate){id, of, saved, loaded, rounded_size(plan, buffer)};
}

static Candidate candidate_of(const Plan *plan, BufferId id, const Written *written) {
    const Buffer *buffer = plan_buffer(plan, id);
    const Step *step = &plan->steps[written->step];
    uint64_t read_bytes = buffer->logical_bytes;
    if (step->sweep == NOT_IN_SWEEP && written->which < step->read_count) {
        uint64_t far_bytes = plan_buffer(plan, step->reads[written->which])->logical_bytes;
        read_bytes = far_bytes < read_bytes ? far_bytes : read_bytes;
    }
    Moved saved = {.read_bytes = read_bytes, .written_bytes = buffer->logical_bytes, .transfers = 1};
    return (Candidate){id, NO_BUFFER, saved, buffer->logical_bytes, rounded_size(plan, buffer)};
}

static int by_gain(const void *left, const void *right) {
    const Candidate *a = left;
    const Candidate *b = right;
    double gain_a = (double)a->saved.written_bytes / (double)a->size,
           gain_b = (double)b->saved.written_bytes / (double)b->size;
    if (gain_a < gain_b || gain_a > gain_b) {
        return gain_a > gain_b ? -1 : 1;
    }
    return a->buffer.index < b->buffer.index ? -1 : a->buffer.index > b->buffer.index;
}

/* ---- Who does */

static void refresh(Alive *alive, uint32_t node) {
    uint64_t left = alive->most[2 * node], right = alive->most[2 * node + 1];
    alive->most[node] = (left > right ? left : right) - alive->taken[node];
}

static Alive count_alive(const Plan *plan, Arena *scratch) {
    Alive alive = {.leaves = 1};
    while (alive.leaves <= plan->step_count) {
        alive.leaves *= 2;
    }
    uint64_t *change = arena_array(scratch, uint64_t, (size_t)plan->step_count + 2); /* modulo 2^64 */
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_local_storage(plan, (BufferId){i})) {
            change[buffer->storage_first] += rounded_size(plan, buffer);
            change[buffer->storage_last] -= rounded_size(plan, buffer);
        }
    }
    alive.most = arena_array(scratch, uint64_t, 2 * (size_t)alive.leaves);
    alive.taken = arena_array(scratch, uint64_t, alive.leaves);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        alive.most[alive.leaves + s] = change[s] + (s > 0 ? alive.most[alive.leaves + s - 1] : 0);
    }
    for (uint32_t node = alive.leaves - 1; node > 0; node--) {
        refresh(&alive, node);
    }
    return alive;
}

/* The most that is alive at any step before `step`, or, where `is_behind`, at `step` or behind it. */
static uint64_t most_alive(const Alive *alive, uint32_t step, bool is_behind) {
    uint64_t best = 0, taken = 0;
    uint32_t node = 1;
    for (uint32_t half = alive->leaves / 2; half > 0; half /= 2) {
        taken += alive->taken[node];
        bool goes_right = (step & half) != 0;
        if (goes_right != is_behind) {
            uint64_t other = alive->most[2 * node + !goes_right] - taken;
            best = other > best ? other : best;
        }
        node = 2 * node + goes_right;
    }
    uint64_t own = is_behind ? alive->most[node] - taken : 0;
    return own > best ? own : best;
}

static void take_node(Alive *alive, uint32_t node, uint64_t size) {
    alive->most[node] -= size;
    if (node < alive->leaves) {
        alive->taken[node] += size;
    }
}

/* `size` bytes less in the steps of [first, last), which all have them. */
static void take(Alive *alive, uint32_t first, uint32_t last, uint64_t size) {
    uint32_t left = alive->leaves + first, right = alive->leaves + last;
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2 == 1) {
            take_node(alive, left++, size);
        }
        if (right % 2 == 1) {
            take_node(alive, --right, size);
        }
    }
    for (left = (alive->leaves + first) / 2, right = (alive->leaves + last - 1) / 2; left > 0; left /= 2, right /= 2) {
        refresh(alive, left);
        refresh(alive, right);
    }
}

/* At its own steps there is what there was; at all others it is added to what is alive and what is held. */
static bool fits(const Search *search, const Candidate *candidate) {
    const Buffer *buffer = plan_buffer(search->plan, candidate->buffer);
    const uint64_t before = most_alive(&search->alive, buffer->storage_first, false);
    const uint64_t behind = most_alive(&search->alive, buffer->storage_last, true);
    const uint64_t left = search->plan->capacity_bytes - search->steady->held_bytes; /* what is held fits */
    const uint64_t others = before > behind ? before : behind;
    return search->alive.most[1] <= left && candidate->size <= left && others <= left - candidate->size;
}

static void hold(Search *search, const Candidate *candidate) {
    const Buffer *buffer = plan_buffer(search->plan, candidate->buffer);
    Steady *steady = search->steady;
    take(&search->alive, buffer->storage_first, buffer->storage_last, candidate->size);
    search->is_held[candidate->buffer.index] = search->is_spared[candidate->buffer.index] = true;
    if (is_buffer(candidate->made_of)) {
        search->is_spared[candidate->made_of.index] = true;
    }
    steady->held_count++;
    steady->held_bytes += candidate->size;
    steady->saved.read_bytes += candidate->saved.read_bytes;
    steady->saved.written_bytes += candidate->saved.written_bytes;
    steady->saved.transfers += candidate->saved.transfers;
    steady->saved_param_bytes += candidate->loads_bytes;
}

static void list_held(const Search *search, Arena *keep) {
    Steady *steady = search->steady;
    uint32_t count = 0;
    steady->held = arena_array(keep, BufferId, steady->held_count);
    for (uint32_t i = 0; i < search->plan->buffer_count; i++) {
        if (search->is_held[i]) {
            steady->held[count++] = (BufferId){i};
        }
    }
    steady->alive_bytes = search->plan->step_count > 0 ? search->alive.most[1] + steady->held_bytes : 0;
}

const bool *steady_find(const Plan *plan, Steady *steady, Arena *keep, Arena *scratch) {
    Search search = {.plan = plan, .steady = steady};
    const Written *written = count_writes(plan, scratch);
    const Kinds kinds = find_kinds(plan, scratch);
    Candidate *candidates = arena_array(scratch, Candidate, plan->buffer_count);
    uint32_t count = 0;
    search.alive = count_alive(plan, scratch);
    search.is_held = arena_array(scratch, bool, plan->buffer_count);
    search.is_spared = arena_array(scratch, bool, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const MadeOf *form = &kinds.form[i];
        if (!kinds.is_part[i] && may_stay(plan, (BufferId){i}, &written[i], form->is_form)) {
            candidates[count++] = form->is_form ? form_candidate(plan, (BufferId){i}, form->of)
                                                : candidate_of(plan, (BufferId){i}, &written[i]);
        }
    }
    if (count > 0) {
        qsort(candidates, count, sizeof *candidates, by_gain);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (fits(&search, &candidates[i])) {
            hold(&search, &candidates[i]);
        }
    }
    list_held(&search, keep);
    return search.is_spared;
}
