/* Windows: where a part is too large to be searched whole, a stretch of the best order around its peak is.
 *
 * What is done before the stretch stays done before it, so the stretch is a part of its own, and an order of it with a
 * lower peak is one of the whole. Stretches end where none around the first step of the peak gains, or after a number
 * of rounds. */
#include "order/part.h"

#include <string.h>

enum { WINDOW = 128, MOST_ROUNDS = 64, MOST_OPS = 500000 /* laid out anew, over all rounds */ };

/* The operations in an order, as a problem of their own. */
typedef struct {
    const Part *part;
    Arena *arena;
    OrderProblem problem;
    OrderOp *ops;
    uint32_t **before; /* of each operation of the part, as many as it has */
    uint32_t *place;   /* of each */
} Arranged;

/* One storage more stands for what passes the part by. */
static Arranged arranged_new(const Part *part, Arena *arena) {
    Arranged arranged = {.part = part, .arena = arena, .ops = arena_array(arena, OrderOp, part->op_count)};
    OrderStorage *storages = arena_array(arena, OrderStorage, (size_t)part->storage_count + 1);
    uint64_t passing_bytes = part->live_bytes;
    for (uint32_t s = 0; s < part->storage_count; s++) {
        const PartStorage *storage = &part->storages[s];
        storages[s] = (OrderStorage){storage->bytes, storage->is_begun, storage->stays};
        passing_bytes -= storage->is_begun ? storage->bytes : 0;
    }
    storages[part->storage_count] = (OrderStorage){passing_bytes, true, true};
    arranged.before = arena_array(arena, uint32_t *, part->op_count);
    for (uint32_t k = 0; k < part->op_count; k++) {
        arranged.before[k] = arena_array(arena, uint32_t, part->ops[k].op.before_count);
    }
    arranged.place = arena_array(arena, uint32_t, part->op_count);
    arranged.problem = (OrderProblem){part->op_count, part->storage_count + 1, arranged.ops, storages};
    return arranged;
}

static void arrange(Arranged *arranged, const uint32_t *order) {
    const Part *part = arranged->part;
    for (uint32_t at = 0; at < part->op_count; at++) {
        arranged->place[order[at]] = at;
    }
    for (uint32_t k = 0; k < part->op_count; k++) {
        OrderOp *op = &arranged->ops[arranged->place[k]];
        *op = part->ops[k].op;
        for (uint32_t b = 0; b < op->before_count; b++) {
            arranged->before[k][b] = arranged->place[op->before[b]];
        }
        op->before = arranged->before[k];
    }
}

static uint32_t find_peak(const OrderIndex *index) {
    uint32_t peak = 0;
    for (uint32_t at = 1; at < index->problem->op_count; at++) {
        peak = index->cost_bytes[at] > index->cost_bytes[peak] ? at : peak;
    }
    return peak;
}

/* Searches places [first, last); where that gains, `order` has its places changed. */
static bool search_window(const OrderIndex *index, uint32_t first, const OrderLimits *limits, Arena *arena,
                          PartSearch *whole) {
    Part part;
    uint32_t own[WINDOW] = {0}, moved[WINDOW] = {0};
    uint32_t last = index->problem->op_count - first < WINDOW ? index->problem->op_count : first + WINDOW;
    PartSearch search = {.floor_bytes = whole->floor_bytes, .order = own};
    for (uint32_t at = first; at < last; at++) {
        own[at - first] = at - first;
        uint64_t cost = index->cost_bytes[at];
        search.peak_bytes = cost > search.peak_bytes ? cost : search.peak_bytes;
    }
    const uint64_t before_bytes = search.peak_bytes;
    part_make(index, first, last, arena, &part);
    search_part(&part, limits, arena, &search);
    whole->state_count += search.state_count;
    for (uint32_t k = 0; k < last - first; k++) {
        moved[k] = whole->order[first + own[k]];
    }
    memcpy(&whole->order[first], moved, (last - first) * sizeof *moved);
    return search.peak_bytes < before_bytes;
}

/* Around the place of the peak, then before it, then behind it. */
static bool gain(const OrderIndex *index, const OrderLimits *limits, Arena *arena, PartSearch *whole) {
    static const uint32_t leads[] = {WINDOW / 2, WINDOW - 1, 0};
    const uint32_t peak = find_peak(index);
    bool has_gained = false;
    for (size_t i = 0; i < sizeof leads / sizeof *leads && !has_gained; i++) {
        has_gained = search_window(index, peak < leads[i] ? 0 : peak - leads[i], limits, arena, whole);
    }
    return has_gained;
}

void improve_windows(const Part *part, const OrderLimits *limits, Arena *arena, PartSearch *search) {
    OrderLimits each = *limits;
    each.most_work = limits->most_work / MOST_ROUNDS;
    Arranged arranged = arranged_new(part, arena);
    const uint32_t rounds = MOST_OPS / part->op_count < MOST_ROUNDS ? MOST_OPS / part->op_count : MOST_ROUNDS;
    for (uint32_t round = 0; round <= rounds; round++) {
        arrange(&arranged, search->order);
        const OrderIndex index = order_index(&arranged.problem, arena);
        const uint64_t peak_bytes = index.cost_bytes[find_peak(&index)];
        search->peak_bytes = peak_bytes > search->floor_bytes ? peak_bytes : search->floor_bytes;
        if (round == rounds || peak_bytes <= search->floor_bytes || !gain(&index, &each, arena, search)) {
            break;
        }
    }
}
