/* What is asked of the problem as a whole, and a part of it with numbers of its own. */
#include "order/part.h"

/* ---- The whole */

static void index_touchers(OrderIndex *index, Arena *arena) {
    const OrderProblem *problem = index->problem;
    index->toucher_first = arena_array(arena, uint32_t, (size_t)problem->storage_count + 1);
    size_t total = 0;
    for (uint32_t i = 0; i < problem->op_count; i++) {
        for (uint32_t k = 0; k < problem->ops[i].touch_count; k++) {
            index->toucher_first[problem->ops[i].touches[k].storage + 1]++;
            total++;
        }
    }
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        index->toucher_first[s + 1] += index->toucher_first[s];
    }
    index->toucher = arena_array(arena, uint32_t, total);
    uint32_t *count = arena_array(arena, uint32_t, problem->storage_count);
    for (uint32_t i = 0; i < problem->op_count; i++) {
        for (uint32_t k = 0; k < problem->ops[i].touch_count; k++) {
            uint32_t s = problem->ops[i].touches[k].storage;
            index->toucher[index->toucher_first[s] + count[s]++] = i;
        }
    }
}

static bool begins_at(const OrderIndex *index, uint32_t s, uint32_t op) {
    return !index->problem->storages[s].is_first && index->toucher[index->toucher_first[s]] == op;
}

static bool ends_at(const OrderIndex *index, uint32_t s, uint32_t op) {
    return !index->problem->storages[s].is_last && index->toucher[index->toucher_first[s + 1] - 1] == op;
}

static uint64_t live_at_start(const OrderProblem *problem) {
    uint64_t live = 0;
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        live += problem->storages[s].is_first ? problem->storages[s].bytes : 0;
    }
    return live;
}

/* What is there from the start, and nothing touches, counts to the end: no order changes it. */
static void index_costs(OrderIndex *index, Arena *arena) {
    const OrderProblem *problem = index->problem;
    index->cost_bytes = arena_array(arena, uint64_t, problem->op_count);
    index->live_bytes = arena_array(arena, uint64_t, (size_t)problem->op_count + 1);
    uint64_t live = live_at_start(problem);
    for (uint32_t i = 0; i < problem->op_count; i++) {
        const OrderOp *op = &problem->ops[i];
        uint64_t ended = 0;
        bool is_held = false;
        index->live_bytes[i] = live;
        for (uint32_t k = 0; k < op->touch_count; k++) {
            uint32_t s = op->touches[k].storage;
            bool begins = begins_at(index, s, i), ends = ends_at(index, s, i);
            live += begins ? problem->storages[s].bytes : 0;
            ended += ends ? problem->storages[s].bytes : 0;
            is_held = is_held || (op->touches[k].may_hold && ends && !begins);
        }
        is_held = is_held && op->result != ORDER_NONE && begins_at(index, op->result, i);
        index->cost_bytes[i] = live + op->own_bytes - (is_held ? problem->storages[op->result].bytes : 0);
        live -= ended;
    }
    index->live_bytes[problem->op_count] = live;
}

OrderIndex order_index(const OrderProblem *problem, Arena *arena) {
    OrderIndex index = {.problem = problem, .local = arena_array(arena, uint32_t, problem->storage_count)};
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        index.local[s] = ORDER_NONE;
    }
    index_touchers(&index, arena);
    index_costs(&index, arena);
    return index;
}

/* ---- A part */

/* Where the touchers of a storage stand that are `op` or later. */
static uint32_t first_from(const OrderIndex *index, uint32_t s, uint32_t op) {
    uint32_t low = index->toucher_first[s], high = index->toucher_first[s + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool is_earlier = index->toucher[middle] < op;
        low = is_earlier ? middle + 1 : low;
        high = is_earlier ? high : middle;
    }
    return low;
}

/* The storage by its number in the part, which it gets when it is met first. */
static uint32_t local_storage(const OrderIndex *index, Part *part, uint32_t s, Arena *arena) {
    if (index->local[s] != ORDER_NONE) {
        return index->local[s];
    }
    const OrderStorage *storage = &index->problem->storages[s];
    uint32_t begin = index->toucher_first[s], end = index->toucher_first[s + 1];
    uint32_t first = first_from(index, s, part->first), last = first_from(index, s, part->first + part->op_count);
    uint32_t *touchers = arena_array(arena, uint32_t, last - first);
    for (uint32_t k = first; k < last; k++) {
        touchers[k - first] = index->toucher[k] - part->first;
    }
    index->local[s] = part->storage_count;
    part->storages[part->storage_count] = (PartStorage){.bytes = storage->bytes,
                                                        .is_begun = storage->is_first || first > begin,
                                                        .stays = storage->is_last || last < end,
                                                        .toucher_count = last - first,
                                                        .touchers = touchers};
    return part->storage_count++;
}

static void make_touches(const OrderIndex *index, Part *part, uint32_t k, Arena *arena) {
    const OrderOp *whole = &index->problem->ops[part->first + k];
    OrderOp *op = &part->ops[k].op;
    OrderTouch *touches = arena_array(arena, OrderTouch, whole->touch_count);
    for (uint32_t t = 0; t < whole->touch_count; t++) {
        touches[t] =
            (OrderTouch){local_storage(index, part, whole->touches[t].storage, arena), whole->touches[t].may_hold};
    }
    op->touches = touches;
    op->result = whole->result == ORDER_NONE ? ORDER_NONE : local_storage(index, part, whole->result, arena);
}

static void make_edges(const OrderIndex *index, Part *part, Arena *arena) {
    for (uint32_t k = 0; k < part->op_count; k++) {
        const OrderOp *whole = &index->problem->ops[part->first + k];
        OrderOp *op = &part->ops[k].op;
        uint32_t *before = arena_array(arena, uint32_t, whole->before_count);
        op->before_count = 0;
        for (uint32_t b = 0; b < whole->before_count; b++) {
            if (whole->before[b] >= part->first) {
                before[op->before_count++] = whole->before[b] - part->first;
                part->ops[whole->before[b] - part->first].after_count++;
            }
        }
        op->before = before;
    }
    uint32_t **after = arena_array(arena, uint32_t *, part->op_count);
    for (uint32_t k = 0; k < part->op_count; k++) {
        after[k] = arena_array(arena, uint32_t, part->ops[k].after_count);
        part->ops[k].after = after[k];
        part->ops[k].after_count = 0;
    }
    for (uint32_t k = 0; k < part->op_count; k++) {
        for (uint32_t b = 0; b < part->ops[k].op.before_count; b++) {
            uint32_t from = part->ops[k].op.before[b];
            after[from][part->ops[from].after_count++] = k;
        }
    }
}

/* Of one operation, at the least: what passes the part by, or stays there all along, and what it touches. */
static uint64_t least_of(const Part *part, const OrderOp *op, uint64_t always_bytes) {
    uint64_t bytes = always_bytes + op->own_bytes;
    bool can_hold = false;
    for (uint32_t t = 0; t < op->touch_count; t++) {
        const PartStorage *storage = &part->storages[op->touches[t].storage];
        bool is_always = storage->is_begun && storage->stays;
        bytes += is_always ? 0 : storage->bytes;
        can_hold = can_hold || op->touches[t].may_hold;
    }
    bool is_free = can_hold && op->result != ORDER_NONE && !part->storages[op->result].is_begun;
    return bytes - (is_free ? part->storages[op->result].bytes : 0);
}

static void find_bound(Part *part) {
    uint64_t always_bytes = part->live_bytes;
    for (uint32_t s = 0; s < part->storage_count; s++) {
        const PartStorage *storage = &part->storages[s];
        always_bytes -= storage->is_begun && !storage->stays ? storage->bytes : 0;
    }
    part->bound_bytes = 0;
    for (uint32_t k = 0; k < part->op_count; k++) {
        uint64_t least = least_of(part, &part->ops[k].op, always_bytes);
        part->bound_bytes = least > part->bound_bytes ? least : part->bound_bytes;
    }
}

void part_make(const OrderIndex *index, uint32_t first, uint32_t last, Arena *arena, Part *part) {
    size_t touches = 0;
    *part = (Part){.first = first, .op_count = last - first, .live_bytes = index->live_bytes[first]};
    for (uint32_t i = first; i < last; i++) {
        touches += index->problem->ops[i].touch_count;
    }
    part->ops = arena_array(arena, PartOp, part->op_count);
    part->storages = arena_array(arena, PartStorage, touches);
    for (uint32_t k = 0; k < part->op_count; k++) {
        part->ops[k].op = index->problem->ops[first + k];
        make_touches(index, part, k, arena);
    }
    make_edges(index, part, arena);
    find_bound(part);
    for (uint32_t i = first; i < last; i++) {
        for (uint32_t t = 0; t < index->problem->ops[i].touch_count; t++) {
            index->local[index->problem->ops[i].touches[t].storage] = ORDER_NONE;
        }
    }
}
