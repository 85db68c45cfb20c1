/* Sets of operations that are done, while orders of a part are searched. Private to the room.
 *
 * `walk` is one set, to which operations are added one by one; `states` are sets that were kept, each with the choice
 * that led there. Behind a choice come all free operations (states.c says why that loses nothing), so a set is told by
 * its choices. */
#ifndef S0_ORDER_STATES_H
#define S0_ORDER_STATES_H

#include "order/part.h"

typedef struct {
    uint64_t peak_bytes, live_bytes, hash;
    uint32_t parent, op; /* the set before, and the choice that was made there; free operations follow it */
    uint32_t done_count, next;
    bool is_taken;
} State;

/* A set while operations are added: a bit each. */
typedef struct {
    uint64_t *done, *ready;
    uint64_t peak_bytes, live_bytes;
    uint32_t done_count;
} Walk;

typedef struct {
    const Part *part;
    const OrderLimits *limits;
    Arena *arena;
    PartSearch *result;
    uint32_t words; /* of a set */
    uint64_t work;
    Walk walk;
    size_t state_count, state_capacity, set_capacity;
    State *states;
    uint64_t *sets;   /* of each state: done, then ready */
    uint32_t *replay; /* an order, while a state's is told */
} States;

#define NO_STATE UINT32_MAX

typedef struct {
    uint64_t cost_bytes, after_bytes; /* alive while it runs, and then */
} Weight;

States states_new(const Part *part, const OrderLimits *limits, Arena *arena, PartSearch *result);

/* The next operation of a set, from `from` on; op_count where there is none. */
uint32_t states_next(const States *states, const uint64_t *set, uint32_t from);

/* Of a state: which are done, and behind `words` of that, which are ready. */
uint64_t *states_set(const States *states, uint32_t state);

/* What the walk would come to with operation `k`, which is ready; and to add it. */
Weight states_weigh(States *states, uint32_t k);
void states_step(States *states, uint32_t k, Weight weight);

/* Adds free operations as long as there are some; writes them where `order` is not null. */
void states_settle(States *states, uint32_t *order);

/* The walk begins anew: with nothing done, or with what is in a state. */
void states_begin(States *states);
void states_enter(States *states, uint32_t state);

uint64_t states_hash(const States *states);

/* The walk's set as a new state. */
uint32_t states_keep(States *states, uint32_t parent, uint32_t op, uint64_t hash);

/* The state has all operations: is it a better order than the result's? Then it is the result. */
void states_take(States *states, uint32_t state);

/* ---- beam.c */

/* Of each number of choices goes on with the best sets. */
void beam_search(States *states);

#endif
