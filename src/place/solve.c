/* The packer's one page: canonical order, bound, greedy orders, repair of the best; it ends when one reaches the
 * bound. First fit is the order that is finished whatever the input. Work is counted in items visited, so that the
 * answer is the same on every machine. */
#include "place/pack.h"

#include "base/checked.h"
#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

/* Items visited after which an order is given up and no further one begun, but for first fit, which visits none. */
static const uint64_t MOST_WORK = 10000000;
static const uint64_t MOST_WORK_A_BUFFER = 50;

/* Items visited in repair after which greedy does not run again, milliseconds; its last run may visit as many more and
 * some a buffer, so that a long chain is placed once. */
static const uint64_t REPAIR_WORK = 200000;
static const uint64_t REPAIR_WORK_A_BUFFER = 16;

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int compare_items(const void *left, const void *right) {
    const PackItem *a = left;
    const PackItem *b = right;
    int order = compare_u64(a->first, b->first);
    order = order != 0 ? order : compare_u64(a->last, b->last);
    order = order != 0 ? order : compare_u64(a->size, b->size);
    order = order != 0 ? order : compare_u64(a->align, b->align);
    order = order != 0 ? order : compare_u64(a->source->size, b->source->size);
    order = order != 0 ? order : compare_u64(a->source->align, b->source->align);
    return order != 0 ? order : (a->source > b->source) - (a->source < b->source);
}

static bool common_multiple(uint64_t a, uint64_t b, uint64_t *multiple) {
    uint64_t divisor = a;
    for (uint64_t rest = b; rest != 0;) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return checked_mul(a / divisor, b, multiple);
}

/* False where a size or an alignment in whole units does not fit 64 bits. */
static bool pack_init(Pack *pack, const PlaceProblem *problem, Arena *scratch) {
    *pack = (Pack){arena_array(scratch, PackItem, problem->count), problem->count};
    for (size_t i = 0; i < pack->count; i++) {
        PlaceBuffer *buffer = &problem->buffer[i];
        CHECK(buffer->size > 0 && buffer->align > 0 && buffer->first < buffer->last);
        PackItem *item = &pack->item[i];
        *item = (PackItem){.first = buffer->first, .last = buffer->last, .source = buffer};
        if (!checked_round_up(buffer->size, problem->align_bytes, &item->size) ||
            !common_multiple(buffer->align, problem->align_bytes, &item->align)) {
            return false;
        }
    }
    if (pack->count > 0) {
        qsort(pack->item, pack->count, sizeof *pack->item, compare_items);
    }
    return true;
}

/* The lowest placement so far. */
typedef struct {
    Greedy *greedy;
    uint64_t bound, height;
    const char *method; /* null: none yet */
} Best;

/* Keeps the placement that stands in the greedy. */
static void keep(Best *best, const char *method) {
    Greedy *greedy = best->greedy;
    for (size_t i = 0; i < greedy->pack->count; i++) {
        greedy->pack->item[i].source->offset = greedy->offset[i];
    }
    best->height = greedy->height;
    best->method = method;
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
            keep(best, "repair");
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
    keep(best, order_name(kind));
    return true;
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
    problem->height = best.height;
    problem->bound = bound;
    problem->method = best.method;
    return true;
}
