/* Sets of operations: what one more costs, which are free, which were kept.
 *
 * Free operations. In a set whose peak is P, let v be ready, cost at most P, and leave no more alive than before it.
 * Then some best way on begins with v, and no other need be tried. For take a best way and move v to its front. v costs
 * at most P there. Let w have come before v, with D done: now D and v are. What v begins is begun already when D is
 * done, or v begins it there too; what it ends it still ends, for more is done: so what is alive before w is not more.
 * w begins nothing that it did not begin. Where its result was written over what ended with w, that still ends with w;
 * or v has begun the result, and w begins nothing. So w costs no more, and behind v all is as it was. */
#include "order/states.h"

#include "base/fault.h"

#include <string.h>

static bool has_bit(const uint64_t *set, uint32_t bit) {
    return (set[bit / 64] >> (bit % 64) & 1) != 0;
}

static void flip_bit(uint64_t *set, uint32_t bit) {
    set[bit / 64] ^= (uint64_t)1 << (bit % 64);
}

/* The next operation from `from` on; op_count where there is none. */
uint32_t states_next(const States *states, const uint64_t *set, uint32_t from) {
    uint32_t word = from / 64;
    if (from >= states->part->op_count) {
        return states->part->op_count;
    }
    uint64_t bits = set[word] >> (from % 64) << (from % 64);
    while (bits == 0 && word + 1 < states->words) {
        bits = set[++word];
    }
    return bits == 0 ? states->part->op_count : word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* ---- One operation more */

typedef struct {
    bool begins, ends;
} Touched;

static Touched touched_by(States *states, const PartStorage *storage, uint32_t op) {
    bool is_begun = storage->is_begun, is_last = !storage->stays;
    for (uint32_t i = 0; i < storage->toucher_count && !(is_begun && !is_last); i++) {
        uint32_t other = storage->touchers[i];
        bool is_done = has_bit(states->walk.done, other);
        is_begun = is_begun || is_done;
        is_last = is_last && (is_done || other == op);
        states->work++;
    }
    return (Touched){!is_begun, is_last};
}

Weight states_weigh(States *states, uint32_t k) {
    const OrderOp *op = &states->part->ops[k].op;
    uint64_t begun = 0, ended = 0, result_bytes = 0;
    bool can_hold = false;
    for (uint32_t t = 0; t < op->touch_count; t++) {
        const PartStorage *storage = &states->part->storages[op->touches[t].storage];
        const Touched touched = touched_by(states, storage, k);
        begun += touched.begins ? storage->bytes : 0;
        ended += touched.ends ? storage->bytes : 0;
        result_bytes = touched.begins && op->touches[t].storage == op->result ? storage->bytes : result_bytes;
        can_hold = can_hold || (op->touches[t].may_hold && touched.ends && !touched.begins);
    }
    states->work++;
    return (Weight){states->walk.live_bytes + begun + op->own_bytes - (can_hold ? result_bytes : 0),
                    states->walk.live_bytes + begun - ended};
}

void states_step(States *states, uint32_t k, Weight weight) {
    Walk *walk = &states->walk;
    const PartOp *op = &states->part->ops[k];
    flip_bit(walk->done, k);
    flip_bit(walk->ready, k);
    walk->done_count++;
    walk->live_bytes = weight.after_bytes;
    walk->peak_bytes = weight.cost_bytes > walk->peak_bytes ? weight.cost_bytes : walk->peak_bytes;
    for (uint32_t i = 0; i < op->after_count; i++) {
        const OrderOp *next = &states->part->ops[op->after[i]].op;
        bool is_ready = true;
        for (uint32_t b = 0; b < next->before_count && is_ready; b++) {
            is_ready = has_bit(walk->done, next->before[b]);
        }
        if (is_ready && !has_bit(walk->ready, op->after[i])) {
            flip_bit(walk->ready, op->after[i]);
        }
        states->work++;
    }
}

static bool is_free(const States *states, Weight weight) {
    return weight.cost_bytes <= states->walk.peak_bytes && weight.after_bytes <= states->walk.live_bytes;
}

/* Looks at each operation that is ready, once. Has it added some? */
static bool add_free(States *states, uint32_t *order) {
    const uint32_t before = states->walk.done_count;
    for (uint32_t k = states_next(states, states->walk.ready, 0); k < states->part->op_count;
         k = states_next(states, states->walk.ready, k + 1)) {
        const Weight weight = states_weigh(states, k);
        if (!is_free(states, weight)) {
            continue;
        }
        if (order != NULL) {
            order[states->walk.done_count] = k;
        }
        states_step(states, k, weight);
    }
    return states->walk.done_count > before;
}

/* Adds free operations as long as there are some; writes them where `order` is not null. */
void states_settle(States *states, uint32_t *order) {
    while (add_free(states, order)) {
    }
}

/* ---- Sets that were met */

uint64_t *states_set(const States *states, uint32_t state) {
    return &states->sets[(size_t)state * 2 * states->words];
}

void states_enter(States *states, uint32_t state) {
    const size_t bytes = states->words * sizeof(uint64_t);
    const State *from = &states->states[state];
    memcpy(states->walk.done, states_set(states, state), bytes);
    memcpy(states->walk.ready, states_set(states, state) + states->words, bytes);
    states->walk.peak_bytes = from->peak_bytes;
    states->walk.live_bytes = from->live_bytes;
    states->walk.done_count = from->done_count;
}

void states_begin(States *states) {
    const Part *part = states->part;
    memset(states->walk.done, 0, states->words * sizeof(uint64_t));
    memset(states->walk.ready, 0, states->words * sizeof(uint64_t));
    for (uint32_t k = 0; k < part->op_count; k++) {
        if (part->ops[k].op.before_count == 0) {
            flip_bit(states->walk.ready, k);
        }
    }
    states->walk.peak_bytes = states->result->floor_bytes;
    states->walk.live_bytes = part->live_bytes;
    states->walk.done_count = 0;
}

uint64_t states_hash(const States *states) {
    uint64_t hash = 0;
    for (uint32_t w = 0; w < states->words; w++) {
        hash = (hash ^ states->walk.done[w]) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio */
        hash ^= hash >> 32;
    }
    return hash;
}

/* Keeps the walk's set as a new state. */
uint32_t states_keep(States *states, uint32_t parent, uint32_t op, uint64_t hash) {
    const size_t set_words = 2 * (size_t)states->words;
    states->states =
        arena_grow(states->arena, states->states, states->state_count, &states->state_capacity, sizeof *states->states);
    states->sets = arena_grow(states->arena, states->sets, states->state_count, &states->set_capacity,
                              set_words * sizeof(uint64_t));
    uint32_t state = (uint32_t)states->state_count++;
    states->states[state] = (State){.peak_bytes = states->walk.peak_bytes,
                                    .live_bytes = states->walk.live_bytes,
                                    .hash = hash,
                                    .parent = parent,
                                    .op = op,
                                    .done_count = states->walk.done_count,
                                    .next = NO_STATE};
    memcpy(states_set(states, state), states->walk.done, states->words * sizeof(uint64_t));
    memcpy(states_set(states, state) + states->words, states->walk.ready, states->words * sizeof(uint64_t));
    return state;
}

/* ---- The best order */

/* Walks the way to the state once more. */
static void tell(States *states, uint32_t state) {
    uint32_t count = 0;
    uint32_t *way = arena_array(states->arena, uint32_t, states->part->op_count);
    for (; states->states[state].parent != NO_STATE; state = states->states[state].parent) {
        way[count++] = states->states[state].op;
    }
    states_begin(states);
    states_settle(states, states->replay);
    while (count-- > 0) {
        states->replay[states->walk.done_count] = way[count];
        states_step(states, way[count], states_weigh(states, way[count]));
        states_settle(states, states->replay);
    }
    CHECK(states->walk.done_count == states->part->op_count);
}

void states_take(States *states, uint32_t state) {
    PartSearch *result = states->result;
    if (states->states[state].peak_bytes < result->peak_bytes) {
        tell(states, state);
        CHECK(states->walk.peak_bytes <= states->states[state].peak_bytes);
        memcpy(result->order, states->replay, states->part->op_count * sizeof *result->order);
        result->peak_bytes = states->walk.peak_bytes;
    }
}

States states_new(const Part *part, const OrderLimits *limits, Arena *arena, PartSearch *result) {
    States states = {.part = part, .limits = limits, .arena = arena, .result = result};
    states.words = (part->op_count + 63) / 64;
    states.walk.done = arena_array(arena, uint64_t, states.words);
    states.walk.ready = arena_array(arena, uint64_t, states.words);
    states.replay = arena_array(arena, uint32_t, part->op_count);
    return states;
}
