/* The lowest peak of one part: a search over the sets of operations that are done.
 *
 * What is alive follows from the set, so of all ways to a set only the one with the lowest peak matters (dynamic
 * programming over down-sets, as for networks in Ahn et al. 2020, SERENITY, arXiv 2003.02369). Sets are taken by the
 * lowest peak, of equals the largest first: when the full set is taken, no order has less; when the search is stopped,
 * none has less than the least peak among the sets that are left. There a beam goes on. */
#include "order/states.h"

#include <string.h>

typedef struct {
    uint64_t peak_bytes;
    uint32_t done_count, state;
} Entry;

enum { SLOTS = 1 << 14 };

typedef struct {
    States states;
    uint32_t *table; /* hash -> newest state of it */
    size_t entry_count, entry_capacity;
    Entry *entries; /* a heap; what is worse than its state, or of one that was taken, is passed over */
} Search;

static uint32_t *slot_of(const Search *search, uint64_t hash) {
    return &search->table[hash % SLOTS];
}

static uint32_t find(const Search *search, uint64_t hash) {
    uint32_t at = *slot_of(search, hash);
    while (at != NO_STATE &&
           (search->states.states[at].hash != hash || memcmp(states_set(&search->states, at), search->states.walk.done,
                                                             search->states.words * sizeof(uint64_t)) != 0)) {
        at = search->states.states[at].next;
    }
    return at;
}

/* ---- By the lowest peak */

static bool goes_first(const Entry *a, const Entry *b) {
    if (a->peak_bytes != b->peak_bytes) {
        return a->peak_bytes < b->peak_bytes;
    }
    return a->done_count != b->done_count ? a->done_count > b->done_count : a->state < b->state;
}

static void push(Search *search, uint32_t state) {
    const Entry entry = {search->states.states[state].peak_bytes, search->states.states[state].done_count, state};
    search->entries = arena_grow(search->states.arena, search->entries, search->entry_count, &search->entry_capacity,
                                 sizeof *search->entries);
    size_t at = search->entry_count++;
    for (; at > 0 && goes_first(&entry, &search->entries[(at - 1) / 2]); at = (at - 1) / 2) {
        search->entries[at] = search->entries[(at - 1) / 2];
    }
    search->entries[at] = entry;
}

static Entry pop(Search *search) {
    Entry *entries = search->entries;
    const Entry top = entries[0], moved = entries[--search->entry_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        child += child + 1 < search->entry_count && goes_first(&entries[child + 1], &entries[child]);
        if (child >= search->entry_count || !goes_first(&entries[child], &moved)) {
            break;
        }
        entries[at] = entries[child];
        at = child;
    }
    entries[at] = moved;
    return top;
}

/* The walk's set was reached from `parent`: kept where it is new, or on a better way than before. */
static void meet(Search *search, uint32_t parent, uint32_t op) {
    uint64_t hash = states_hash(&search->states);
    uint32_t state = find(search, hash);
    if (search->states.walk.peak_bytes >= search->states.result->peak_bytes) {
        return;
    }
    if (state == NO_STATE) {
        state = states_keep(&search->states, parent, op, hash);
        search->states.states[state].next = *slot_of(search, hash);
        *slot_of(search, hash) = state;
        push(search, state);
    } else if (search->states.walk.peak_bytes < search->states.states[state].peak_bytes) {
        search->states.states[state].peak_bytes = search->states.walk.peak_bytes;
        search->states.states[state].parent = parent;
        search->states.states[state].op = op;
        push(search, state);
    }
}

static void expand(Search *search, uint32_t state) {
    const uint32_t all = search->states.part->op_count;
    for (uint32_t k = states_next(&search->states, states_set(&search->states, state) + search->states.words, 0);
         k < all; k = states_next(&search->states, states_set(&search->states, state) + search->states.words, k + 1)) {
        states_enter(&search->states, state);
        const Weight weight = states_weigh(&search->states, k);
        if (weight.cost_bytes < search->states.result->peak_bytes) {
            states_step(&search->states, k, weight);
            states_settle(&search->states, NULL);
            meet(search, state, k);
        }
    }
}

static bool may_go_on(const Search *search) {
    return search->states.work < search->states.limits->most_work &&
           search->states.state_count < search->states.limits->most_states;
}

/* True where the order that is known then is the lowest, but for the floor. */
static bool search_all(Search *search) {
    PartSearch *result = search->states.result;
    states_begin(&search->states);
    states_settle(&search->states, NULL);
    meet(search, NO_STATE, NO_STATE);
    while (search->entry_count > 0) {
        const Entry entry = search->entries[0];
        State *state = &search->states.states[entry.state];
        if (entry.peak_bytes >= result->peak_bytes || !may_go_on(search)) {
            break;
        }
        pop(search);
        if (state->is_taken || entry.peak_bytes > state->peak_bytes) {
            continue;
        }
        state->is_taken = true;
        if (state->done_count == search->states.part->op_count) {
            states_take(&search->states, entry.state);
            break;
        }
        expand(search, entry.state);
    }
    bool is_done = search->entry_count == 0 || search->entries[0].peak_bytes >= result->peak_bytes;
    result->bound_bytes = is_done ? result->peak_bytes : search->entries[0].peak_bytes;
    return is_done;
}

void search_part(const Part *part, const OrderLimits *limits, Arena *arena, PartSearch *result) {
    Search search = {.states = states_new(part, limits, arena, result), .table = arena_array(arena, uint32_t, SLOTS)};
    for (uint32_t i = 0; i < SLOTS; i++) {
        search.table[i] = NO_STATE;
    }
    if (!search_all(&search)) {
        beam_search(&search.states);
    }
    result->state_count += search.states.state_count;
}
