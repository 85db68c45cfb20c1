/* Cuts: operations that are ordered with every other one.
 *
 * In an allowed order, all that come earlier lead to operation i if each of them leads at once to one that comes no
 * later than i: from there on it goes forward, and can't pass i. All that come later follow from i if each follows at
 * once from one that comes no earlier. So two passes over the edges find all cuts (a shortcut past i does not matter:
 * a map that is read again later only stays alive). What touches nothing costs nothing wherever it stands: edges are
 * followed through it. */
#include "order/part.h"

static bool is_idle(const OrderOp *op) {
    return op->touch_count == 0 && op->own_bytes == 0;
}

/* The earliest operation, but idle ones, that each leads to at once. */
static uint32_t *find_next(const OrderProblem *problem, Arena *arena) {
    uint32_t *next = arena_array(arena, uint32_t, problem->op_count);
    for (uint32_t i = problem->op_count; i-- > 0;) {
        const OrderOp *op = &problem->ops[i];
        next[i] = next[i] == 0 ? ORDER_NONE : next[i]; /* none leads to the first */
        uint32_t reached = is_idle(op) ? next[i] : i;
        for (uint32_t k = 0; k < op->before_count; k++) {
            uint32_t from = op->before[k];
            next[from] = next[from] == 0 || reached < next[from] ? reached : next[from];
        }
    }
    return next;
}

/* One more than the latest operation, but idle ones, that each follows from at once; 0: from none. */
static uint32_t *find_last(const OrderProblem *problem, Arena *arena) {
    uint32_t *last = arena_array(arena, uint32_t, problem->op_count);
    for (uint32_t i = 0; i < problem->op_count; i++) {
        const OrderOp *op = &problem->ops[i];
        for (uint32_t k = 0; k < op->before_count; k++) {
            uint32_t from = op->before[k];
            uint32_t reached = is_idle(&problem->ops[from]) ? last[from] : from + 1;
            last[i] = reached > last[i] ? reached : last[i];
        }
    }
    return last;
}

bool *order_cuts(const OrderProblem *problem, Arena *arena) {
    bool *is_cut = arena_array(arena, bool, problem->op_count);
    const uint32_t *next = find_next(problem, arena);
    const uint32_t *last = find_last(problem, arena);
    uint32_t latest_next = 0; /* of all earlier ones */
    for (uint32_t i = 0; i < problem->op_count; i++) {
        if (!is_idle(&problem->ops[i])) {
            is_cut[i] = latest_next <= i;
            latest_next = next[i] > latest_next ? next[i] : latest_next;
        }
    }
    uint32_t earliest_last = ORDER_NONE; /* of all later ones */
    for (uint32_t i = problem->op_count; i-- > 0;) {
        if (!is_idle(&problem->ops[i])) {
            is_cut[i] = is_cut[i] && earliest_last >= i + 1;
            earliest_last = last[i] < earliest_last ? last[i] : earliest_last;
        }
    }
    return is_cut;
}
