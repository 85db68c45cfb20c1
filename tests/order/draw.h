/* Problems by chance, and what a definition says of them: what is alive is asked of sets of operations, bit by bit. */
#ifndef S0_TESTS_ORDER_DRAW_H
#define S0_TESTS_ORDER_DRAW_H

#include "order/order.h"
#include "support/random.h"
#include "support/work.h"

#include <string.h>

enum { DRAW_MOST_OPS = 10, DRAW_MOST_STORAGES = 12 };

typedef struct {
    OrderProblem problem;
    OrderOp ops[DRAW_MOST_OPS];
    OrderStorage storages[DRAW_MOST_STORAGES];
    OrderTouch touches[DRAW_MOST_OPS][DRAW_MOST_STORAGES];
    uint32_t before[DRAW_MOST_OPS][DRAW_MOST_OPS];
    uint32_t touchers[DRAW_MOST_STORAGES]; /* storage -> set of the operations that touch it */
} Drawn;

static inline void draw_touches(uint64_t *state, Drawn *drawn, uint32_t op, uint64_t density) {
    OrderOp *at = &drawn->ops[op];
    for (uint32_t s = 0; s < drawn->problem.storage_count; s++) {
        if (random_below(state, 100) < density) {
            drawn->touches[op][at->touch_count++] = (OrderTouch){s, false};
        }
    }
    at->touches = drawn->touches[op];
    at->result = ORDER_NONE;
    if (at->touch_count == 0 || random_below(state, 3) == 0) {
        return;
    }
    at->result = drawn->touches[op][random_below(state, at->touch_count)].storage;
    for (uint32_t t = 0; t < at->touch_count; t++) {
        OrderTouch *touch = &drawn->touches[op][t];
        bool is_alike = drawn->storages[touch->storage].bytes == drawn->storages[at->result].bytes;
        touch->may_hold = is_alike && touch->storage != at->result && random_below(state, 2) == 0;
    }
}

/* Operations read what earlier ones have made, or any storages at all; some touch nothing. */
static inline void draw_problem(uint64_t *state, uint32_t op_count, Drawn *drawn) {
    *drawn = (Drawn){.problem = {.op_count = op_count}};
    drawn->problem.ops = drawn->ops;
    drawn->problem.storages = drawn->storages;
    drawn->problem.storage_count = 1 + (uint32_t)random_below(state, DRAW_MOST_STORAGES);
    const uint64_t most_bytes = random_below(state, 2) == 0 ? 4 : 1000;
    const uint64_t edges = random_below(state, 70), touches = 5 + random_below(state, 40);
    for (uint32_t s = 0; s < drawn->problem.storage_count; s++) {
        drawn->storages[s] = (OrderStorage){.bytes = random_below(state, most_bytes),
                                            .is_first = random_below(state, 5) == 0,
                                            .is_last = random_below(state, 5) == 0};
    }
    for (uint32_t i = 0; i < op_count; i++) {
        OrderOp *op = &drawn->ops[i];
        op->before = drawn->before[i];
        for (uint32_t from = 0; from < i; from++) {
            if (random_below(state, 100) < edges) {
                drawn->before[i][op->before_count++] = from;
            }
        }
        op->own_bytes = random_below(state, 4) == 0 ? random_below(state, most_bytes) : 0;
        draw_touches(state, drawn, i, random_below(state, 8) == 0 ? 0 : touches);
        for (uint32_t t = 0; t < op->touch_count; t++) {
            drawn->touchers[op->touches[t].storage] |= (uint32_t)1 << i;
        }
    }
}

/* Alive while `op` runs, with the set `done` behind it. */
static inline uint64_t cost_by_definition(const Drawn *drawn, uint32_t done, uint32_t op) {
    const OrderProblem *problem = &drawn->problem;
    uint64_t bytes = problem->ops[op].own_bytes, result_bytes = 0;
    bool can_hold = false;
    uint32_t with = done | (uint32_t)1 << op;
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        const OrderStorage *storage = &problem->storages[s];
        uint32_t touchers = drawn->touchers[s];
        bool was_there = storage->is_first || (done & touchers) != 0;
        bool is_there = storage->is_first || (with & touchers) != 0;
        bool is_gone = touchers != 0 && (touchers & ~done) == 0 && !storage->is_last;
        bool ends = touchers != 0 && (touchers & ~with) == 0 && !storage->is_last && !is_gone;
        bytes += is_there && !is_gone ? storage->bytes : 0;
        result_bytes = s == problem->ops[op].result && !was_there ? storage->bytes : result_bytes;
        for (uint32_t t = 0; t < problem->ops[op].touch_count; t++) {
            const OrderTouch *touch = &problem->ops[op].touches[t];
            can_hold = can_hold || (touch->storage == s && touch->may_hold && was_there && ends);
        }
    }
    return bytes - (can_hold ? result_bytes : 0);
}

static inline bool is_ready(const OrderProblem *problem, uint32_t done, uint32_t op) {
    bool ready = (done >> op & 1) == 0;
    for (uint32_t k = 0; k < problem->ops[op].before_count; k++) {
        ready = ready && (done >> problem->ops[op].before[k] & 1) != 0;
    }
    return ready;
}

/* The lowest peak over all orders, one after the other. */
static inline uint64_t lowest_peak(const Drawn *drawn, uint32_t done, uint64_t peak, uint64_t best) {
    const OrderProblem *problem = &drawn->problem;
    if (peak >= best) {
        return best;
    }
    if (done == ((uint32_t)1 << problem->op_count) - 1) {
        return peak;
    }
    for (uint32_t k = 0; k < problem->op_count; k++) {
        if (is_ready(problem, done, k)) {
            uint64_t cost = cost_by_definition(drawn, done, k);
            best = lowest_peak(drawn, done | (uint32_t)1 << k, cost > peak ? cost : peak, best);
        }
    }
    return best;
}

#endif
