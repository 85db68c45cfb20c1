/* The packer's one page: canonical order, bound, greedy orders, repair of the best, outward; it ends when one reaches
 * the bound. First fit is the order that is finished whatever the input. Work is counted in items visited, so that the
 * answer is the same on every machine. */
#include "place/strip.h"

#include "base/fault.h"

#include <string.h>

/* Items visited after which an order is given up and no further one begun, but for first fit, which visits none. */
static const uint64_t MOST_WORK = 10000000;
static const uint64_t MOST_WORK_A_BUFFER = 50;

/* Items visited in repair after which greedy does not run again, milliseconds; its last run may visit as many more and
 * some a buffer, so that a long chain is placed once. */
static const uint64_t REPAIR_WORK = 200000;
static const uint64_t REPAIR_WORK_A_BUFFER = 16;

/* The lowest placement so far. */
typedef struct {
    Greedy *greedy;
    uint64_t bound, height;
    const char *method; /* null: none yet */
} Best;

static void keep(Best *best, const uint64_t *offset, uint64_t height, const char *method) {
    const Pack *pack = best->greedy->pack;
    for (size_t i = 0; i < pack->count; i++) {
        pack->item[i].source->offset = offset[i];
    }
    best->height = height;
    best->method = method;
}

static void keep_greedy(Best *best, const char *method) {
    keep(best, best->greedy->offset, best->greedy->height, method);
}

/* The height that a placement must not exceed to be lower than all before. */
static uint64_t highest_of_use(const Best *best) {
    return best->method == NULL ? UINT64_MAX : best->height - 1;
}

static bool is_optimal(const Best *best) {
    return best->method != NULL && best->height == best->bound;
}

/* Moves what stands at `from` forward to `to`. */
static void promote(size_t *order, size_t from, size_t to) {
    size_t item = order[from];
    memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
    order[to] = item;
}

/* A fixed sequence of numbers without pattern (a linear congruential generator, its upper half). */
static size_t draw_below(uint64_t *state, size_t limit) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)((*state >> 32) % limit);
}

/* Repair: the item that ends too high goes somewhere into the front half of those before it, and greedy runs again.
 * The place is drawn, as any fixed rule falls into a cycle. It is never the first item: alone, none is too high.
 * source  squeaky wheel optimisation, Joslin & Clements 1999 (JAIR 10) */
static void repair(Best *best, size_t *order) {
    Greedy *greedy = best->greedy;
    uint64_t enough = greedy->work + REPAIR_WORK;
    greedy->most_work = enough + REPAIR_WORK + greedy->pack->count * REPAIR_WORK_A_BUFFER;
    uint64_t state = 0;
    while (!is_optimal(best) && greedy->work < enough) {
        if (greedy_place(greedy, order, highest_of_use(best))) {
            keep_greedy(best, "repair");
        } else {
            promote(order, greedy->stuck, draw_below(&state, greedy->stuck / 2 + 1));
        }
    }
}

/* Places by the cheapest way there is for the order. */
static bool place_by(const Best *best, const size_t *order, OrderKind kind, Arena *scratch) {
    Greedy *greedy = best->greedy;
    uint64_t highest = highest_of_use(best);
    if (kind == ORDER_FIRST) {
        return first_fit(greedy->pack, order, scratch, greedy->offset, &greedy->height) && greedy->height <= highest;
    }
    return greedy_stack(greedy, order, best->bound) || greedy_place(greedy, order, highest);
}

/* True if the order led to a placement lower than all before. */
static bool try_order(Best *best, const size_t *order, OrderKind kind, Arena *scratch) {
    if (!place_by(best, order, kind, scratch)) {
        return false;
    }
    keep_greedy(best, order_name(kind));
    return true;
}

static void try_outward(Best *best, Arena *scratch) {
    const Pack *pack = best->greedy->pack;
    uint64_t *offset = arena_array(scratch, uint64_t, pack->count);
    uint64_t height;
    if (strip_place(pack, highest_of_use(best), scratch, offset, &height)) {
        keep(best, offset, height, "outward");
    }
}

bool place_solve(PlaceProblem *problem, Arena *scratch) {
    CHECK(problem->align_bytes > 0);
    Pack pack;
    uint64_t bound;
    if (!pack_init(&pack, problem, scratch) || !place_bound(problem, scratch, &bound, NULL)) {
        return false;
    }
    Greedy greedy;
    greedy_init(&greedy, &pack, scratch);
    greedy.most_work = MOST_WORK + pack.count * MOST_WORK_A_BUFFER;
    Best best = {.greedy = &greedy, .bound = bound};
    size_t *best_order = NULL;
    for (OrderKind kind = 0; kind < ORDER_COUNT && !is_optimal(&best); kind++) {
        if (kind != ORDER_FIRST && greedy.work >= greedy.most_work) {
            continue;
        }
        size_t *order = order_items(&pack, kind, scratch);
        best_order = try_order(&best, order, kind, scratch) ? order : best_order;
    }
    if (best_order == NULL) {
        return false;
    }
    repair(&best, best_order);
    if (!is_optimal(&best)) {
        try_outward(&best, scratch);
    }
    problem->height = best.height;
    problem->bound = bound;
    problem->method = best.method;
    return true;
}
