/* An order of operations with as few bytes alive at once as can be found.
 *
 * Operations touch storages. A storage is alive from the first operation that touches it, or from the start, to the
 * last, or to the end. While an operation runs, what it touches is alive, what is between its first and its last touch,
 * and the bytes of its own. So what is alive between two operations follows from which are done, not from their order:
 * the lowest peak is a search over sets of operations (order/search.c), cut where one operation is ordered with all
 * others (order/cuts.c).
 *
 * Needs: operations stand in an allowed order, the given one; all bytes together fit 63 bits (order_sum_fits). Stops by
 * work done, never by the clock. */
#ifndef S0_ORDER_ORDER_H
#define S0_ORDER_ORDER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define ORDER_NONE UINT32_MAX

typedef struct {
    uint64_t bytes;
    bool is_first; /* alive from the start */
    bool is_last;  /* alive to the end */
} OrderStorage;

typedef struct {
    uint32_t storage;
    bool may_hold; /* the operation's result may be written over it, where no other operation touches it later; it has
                      as many bytes */
} OrderTouch;

typedef struct {
    uint32_t touch_count, before_count;
    const OrderTouch *touches; /* each storage once */
    const uint32_t *before;    /* operations that come earlier, in the given order too */
    uint64_t own_bytes;        /* alive while it runs only */
    uint32_t result;           /* storage that may lie in one that `may_hold` it; ORDER_NONE */
} OrderOp;

typedef struct {
    uint32_t op_count, storage_count;
    const OrderOp *ops;
    const OrderStorage *storages;
} OrderProblem;

/* How much is searched. */
typedef struct {
    uint64_t most_work;   /* looks at an operation that is ready, for each part that cuts leave */
    uint32_t most_states; /* sets of operations kept of such a part */
    uint32_t most_ops;    /* of such a part: a larger one is searched in stretches */
    uint32_t width;       /* of the beam that goes on where the search is stopped; 0: none */
} OrderLimits;

extern const OrderLimits order_limits;

typedef struct {
    uint32_t *order;           /* the operation at each place */
    uint64_t peak_bytes;       /* of this order: never more than */
    uint64_t given_peak_bytes; /* of the given one */
    uint64_t bound_bytes;      /* no order has less: the peak where it is the lowest */
    uint32_t part_count;       /* parts between cuts, of which the order is free */
    uint32_t largest_part;     /* operations of it */
    uint64_t state_count;      /* sets of operations that were looked at */
} OrderAnswer;

bool order_sum_fits(const OrderProblem *problem);

/* The answer lives in `arena`. Parts whose peak in the given order is no more than the answer's keep that order. */
void order_solve(const OrderProblem *problem, const OrderLimits *limits, Arena *arena, OrderAnswer *answer);

/* The peak of one order, by the ranges of the storages: it shares no code with the search. */
uint64_t order_peak(const OrderProblem *problem, const uint32_t *order, Arena *arena);

/* Is it a permutation in which every operation comes behind those that it comes behind? */
bool order_is_allowed(const OrderProblem *problem, const uint32_t *order, Arena *arena);

#endif
