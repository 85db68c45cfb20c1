/* A part of the problem between two cuts, with numbers of its own. Private to the room. */
#ifndef S0_ORDER_PART_H
#define S0_ORDER_PART_H

#include "order/order.h"

typedef struct {
    uint64_t bytes;
    bool is_begun; /* alive before the part */
    bool stays;    /* alive behind it */
    uint32_t toucher_count;
    const uint32_t *touchers; /* operations of the part, ascending */
} PartStorage;

/* `ops[k]` is operation `first + k` of the problem; touches, `result`, `before` and `after` count inside the part. */
typedef struct {
    OrderOp op;
    uint32_t after_count;
    const uint32_t *after;
} PartOp;

typedef struct {
    uint32_t first, op_count, storage_count;
    PartOp *ops;
    PartStorage *storages;
    uint64_t live_bytes;  /* alive before it */
    uint64_t bound_bytes; /* whatever the order, one operation of it has as much */
} Part;

/* What the problem says of each storage and operation as a whole. */
typedef struct {
    const OrderProblem *problem;
    uint32_t *toucher_first; /* storage_count + 1: where its operations stand in `toucher`, ascending */
    uint32_t *toucher;
    uint32_t *local;      /* storage -> its number in the part that is made; ORDER_NONE between parts */
    uint64_t *cost_bytes; /* operation -> alive while it runs, in the given order */
    uint64_t *live_bytes; /* operation -> alive before it, in the given order; op_count + 1 */
} OrderIndex;

/* ---- part.c */

OrderIndex order_index(const OrderProblem *problem, Arena *arena);
void part_make(const OrderIndex *index, uint32_t first, uint32_t last, Arena *arena, Part *part);

/* ---- cuts.c */

/* Operation -> every other one comes before it or behind it, whatever the order. One that touches nothing is none, and
 * is not asked. */
bool *order_cuts(const OrderProblem *problem, Arena *arena);

/* ---- greedy.c: rules of thumb, in time nearly linear */

typedef enum {
    GREEDY_AFTER,  /* what leaves the fewest bytes alive */
    GREEDY_DURING, /* what has the fewest alive while it runs */
    GREEDY_COUNT
} GreedyRule;

/* Writes an order of the part's operations; its peak, of the part alone. */
uint64_t greedy_order(const Part *part, GreedyRule rule, Arena *arena, uint32_t *order);

/* ---- search.c */

typedef struct {
    uint64_t floor_bytes; /* a lower peak is worth no more */
    uint32_t *order;      /* in: the best known, of the part; out: the best */
    uint64_t peak_bytes;  /* of it, and at least the floor */
    uint64_t bound_bytes; /* out: no order of the part has a lower peak, but for the floor */
    uint64_t state_count; /* looked at */
} PartSearch;

void search_part(const Part *part, const OrderLimits *limits, Arena *arena, PartSearch *search);

/* ---- windows.c */

/* Of a part that is not searched whole: lowers the peak of the best order where a stretch of it can be bettered. */
void improve_windows(const Part *part, const OrderLimits *limits, Arena *arena, PartSearch *search);

#endif
