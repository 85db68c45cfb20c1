/* Rules of thumb: of the operations that are ready, always the one that comes first by a rule.
 *
 * What an operation would begin and end changes only when a storage of it is begun, or when it is the last one left to
 * touch it: then it is weighed anew. The queue holds every weighing; all but an operation's newest are passed over. Of
 * equals the one that was weighed last goes first, so a branch is followed before the next is begun. */
#include "order/part.h"

typedef struct {
    int64_t first, second; /* the rule's figures: the least goes first */
    uint64_t number;       /* of the weighing */
    uint32_t op;
} Weighed;

typedef struct {
    const Part *part;
    GreedyRule rule;
    Arena *arena;
    uint32_t *waits;  /* operation -> others that come before it and are not done */
    uint64_t *newest; /* operation -> number of its newest weighing; 0: it is not ready, or done */
    uint32_t *left;   /* storage -> operations that are to touch it */
    bool *is_begun;   /* storage -> */
    uint64_t weighings, live_bytes;
    size_t count, capacity;
    Weighed *heap;
} Greedy;

/* ---- The queue */

static bool goes_first(const Weighed *a, const Weighed *b) {
    if (a->first != b->first) {
        return a->first < b->first;
    }
    return a->second != b->second ? a->second < b->second : a->number > b->number;
}

static void push(Greedy *g, Weighed weighed) {
    g->heap = arena_grow(g->arena, g->heap, g->count, &g->capacity, sizeof *g->heap);
    size_t at = g->count++;
    for (; at > 0 && goes_first(&weighed, &g->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        g->heap[at] = g->heap[(at - 1) / 2];
    }
    g->heap[at] = weighed;
}

static Weighed pop(Greedy *g) {
    const Weighed top = g->heap[0], moved = g->heap[--g->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        child += child + 1 < g->count && goes_first(&g->heap[child + 1], &g->heap[child]);
        if (child >= g->count || !goes_first(&g->heap[child], &moved)) {
            break;
        }
        g->heap[at] = g->heap[child];
        at = child;
    }
    g->heap[at] = moved;
    return top;
}

/* ---- Weighing */

typedef struct {
    uint64_t begun, ended, spared; /* spared: of what is begun, what lies in what ends */
} Change;

static Change change_of(const Greedy *g, uint32_t k) {
    const OrderOp *op = &g->part->ops[k].op;
    Change change = {0};
    bool can_hold = false;
    for (uint32_t t = 0; t < op->touch_count; t++) {
        uint32_t s = op->touches[t].storage;
        const PartStorage *storage = &g->part->storages[s];
        bool ends = !storage->stays && g->left[s] == 1;
        change.begun += g->is_begun[s] ? 0 : storage->bytes;
        change.ended += ends ? storage->bytes : 0;
        can_hold = can_hold || (ends && g->is_begun[s] && op->touches[t].may_hold);
    }
    bool is_spared = can_hold && op->result != ORDER_NONE && !g->is_begun[op->result];
    change.spared = is_spared ? g->part->storages[op->result].bytes : 0;
    return change;
}

static void weigh(Greedy *g, uint32_t k) {
    const Change change = change_of(g, k);
    int64_t after = (int64_t)change.begun - (int64_t)change.ended;
    int64_t during = (int64_t)(change.begun - change.spared + g->part->ops[k].op.own_bytes);
    bool is_after = g->rule == GREEDY_AFTER;
    g->newest[k] = ++g->weighings;
    push(g, (Weighed){is_after ? after : during, is_after ? during : after, g->weighings, k});
}

static void weigh_ready(Greedy *g, uint32_t k) {
    if (g->newest[k] != 0) {
        weigh(g, k);
    }
}

/* The one operation that is left to touch the storage. */
static void weigh_last(Greedy *g, const PartStorage *storage, const bool *is_done) {
    for (uint32_t i = 0; i < storage->toucher_count; i++) {
        if (!is_done[storage->touchers[i]]) {
            weigh_ready(g, storage->touchers[i]);
        }
    }
}

static uint64_t do_op(Greedy *g, uint32_t k, bool *is_done) {
    const PartOp *op = &g->part->ops[k];
    const Change change = change_of(g, k);
    uint64_t cost = g->live_bytes + change.begun - change.spared + op->op.own_bytes;
    g->live_bytes = g->live_bytes + change.begun - change.ended;
    is_done[k] = true;
    g->newest[k] = 0;
    for (uint32_t t = 0; t < op->op.touch_count; t++) {
        uint32_t s = op->op.touches[t].storage;
        const PartStorage *storage = &g->part->storages[s];
        bool begins = !g->is_begun[s];
        g->is_begun[s] = true;
        g->left[s]--;
        for (uint32_t i = 0; begins && i < storage->toucher_count; i++) {
            weigh_ready(g, storage->touchers[i]);
        }
        if (g->left[s] == 1 && !begins && !storage->stays) {
            weigh_last(g, storage, is_done);
        }
    }
    for (uint32_t i = 0; i < op->after_count; i++) {
        if (--g->waits[op->after[i]] == 0) {
            weigh(g, op->after[i]);
        }
    }
    return cost;
}

uint64_t greedy_order(const Part *part, GreedyRule rule, Arena *arena, uint32_t *order) {
    Greedy g = {.part = part, .rule = rule, .arena = arena, .live_bytes = part->live_bytes};
    bool *is_done = arena_array(arena, bool, part->op_count);
    g.waits = arena_array(arena, uint32_t, part->op_count);
    g.newest = arena_array(arena, uint64_t, part->op_count);
    g.left = arena_array(arena, uint32_t, part->storage_count);
    g.is_begun = arena_array(arena, bool, part->storage_count);
    for (uint32_t s = 0; s < part->storage_count; s++) {
        g.left[s] = part->storages[s].toucher_count;
        g.is_begun[s] = part->storages[s].is_begun;
    }
    for (uint32_t k = part->op_count; k-- > 0;) { /* the first of the given order is weighed last */
        g.waits[k] = part->ops[k].op.before_count;
        if (g.waits[k] == 0) {
            weigh(&g, k);
        }
    }
    uint64_t peak = 0;
    for (uint32_t at = 0; at < part->op_count;) {
        const Weighed next = pop(&g);
        if (g.newest[next.op] != next.number) {
            continue;
        }
        uint64_t cost = do_op(&g, next.op, is_done);
        peak = cost > peak ? cost : peak;
        order[at++] = next.op;
    }
    return peak;
}
