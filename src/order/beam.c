/* A beam: where a part has too many sets for all of them, of each number of choices the best few go on.
 *
 * Of sets that were met by as many choices the lowest peak goes first, then what has the fewest bytes alive, then what
 * has the most done. When the work is spent, only the best one of each goes on. */
#include "order/states.h"

#include <stdlib.h>

typedef struct {
    uint64_t peak_bytes, live_bytes, hash;
    uint32_t done_count, parent, op, number;
} Child;

typedef struct {
    States *states;
    uint32_t count, *at; /* states of this number of choices */
    size_t child_count, child_capacity;
    Child *children;
} Beam;

static int compare(const void *left, const void *right) {
    const Child *a = left, *b = right;
    if (a->peak_bytes != b->peak_bytes) {
        return a->peak_bytes < b->peak_bytes ? -1 : 1;
    }
    if (a->live_bytes != b->live_bytes) {
        return a->live_bytes < b->live_bytes ? -1 : 1;
    }
    if (a->done_count != b->done_count) {
        return a->done_count > b->done_count ? -1 : 1;
    }
    return a->number < b->number ? -1 : 1;
}

/* The walk goes from the state by one choice and what is free behind it. False where that is no better than what is
 * known. */
static bool choose(States *states, uint32_t state, uint32_t op) {
    states_enter(states, state);
    const Weight weight = states_weigh(states, op);
    if (weight.cost_bytes >= states->result->peak_bytes) {
        return false;
    }
    states_step(states, op, weight);
    states_settle(states, NULL);
    return true;
}

static void add_child(Beam *beam, uint32_t parent, uint32_t op) {
    const States *states = beam->states;
    beam->children =
        arena_grow(states->arena, beam->children, beam->child_count, &beam->child_capacity, sizeof *beam->children);
    beam->children[beam->child_count] = (Child){.peak_bytes = states->walk.peak_bytes,
                                                .live_bytes = states->walk.live_bytes,
                                                .hash = states_hash(states),
                                                .done_count = states->walk.done_count,
                                                .parent = parent,
                                                .op = op,
                                                .number = (uint32_t)beam->child_count};
    beam->child_count++;
}

static void find_children(Beam *beam) {
    States *states = beam->states;
    const uint32_t all = states->part->op_count;
    beam->child_count = 0;
    for (uint32_t i = 0; i < beam->count; i++) {
        uint32_t state = beam->at[i];
        for (uint32_t k = states_next(states, states_set(states, state) + states->words, 0); k < all;
             k = states_next(states, states_set(states, state) + states->words, k + 1)) {
            if (choose(states, state, k)) {
                add_child(beam, state, k);
            }
        }
    }
}

/* Sets that were met twice count once. Two sets of one hash would be taken for one: then one is not tried. */
static bool is_met(const Beam *beam, uint32_t taken, const Child *child) {
    for (uint32_t i = 0; i < taken; i++) {
        const State *other = &beam->states->states[beam->at[i]];
        if (other->hash == child->hash && other->done_count == child->done_count) {
            return true;
        }
    }
    return false;
}

static void take_best(Beam *beam, uint32_t width) {
    States *states = beam->states;
    uint32_t taken = 0;
    for (size_t i = 0; i < beam->child_count && taken < width; i++) {
        const Child *child = &beam->children[i];
        if (is_met(beam, taken, child) || !choose(states, child->parent, child->op)) {
            continue;
        }
        uint32_t state = states_keep(states, child->parent, child->op, child->hash);
        if (child->done_count == states->part->op_count) {
            states_take(states, state);
        } else {
            beam->at[taken++] = state;
        }
    }
    beam->count = taken;
}

void beam_search(States *states) {
    const OrderLimits *limits = states->limits;
    Beam beam = {.states = states, .at = arena_array(states->arena, uint32_t, limits->width)};
    if (limits->width == 0) {
        return;
    }
    states->work = 0;
    states_begin(states);
    states_settle(states, NULL);
    beam.at[beam.count++] = states_keep(states, NO_STATE, NO_STATE, states_hash(states));
    while (beam.count > 0) {
        find_children(&beam);
        if (beam.child_count > 1) {
            qsort(beam.children, beam.child_count, sizeof *beam.children, compare);
        }
        take_best(&beam, states->work < limits->most_work ? limits->width : 1);
    }
}
