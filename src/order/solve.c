/* The whole: cuts, then the parts, those with the highest peak first.
 *
 * Only the highest peak of all counts. What has to be alive at some operation whatever the order is the floor; a part
 * that does not pass it keeps the given order, and each that was searched may raise it for those that come after. */
#include "order/part.h"

#include "base/checked.h"
#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

const OrderLimits order_limits = {.most_work = 4000000, .most_states = 50000, .most_ops = 1024, .width = 64};

/* Operations [first, last) of the given order, whose order among themselves is free. */
typedef struct {
    uint32_t first, last;
    uint64_t given_peak_bytes;
} Range;

typedef struct {
    const OrderLimits *limits;
    OrderIndex index;
    Arena *arena;
    OrderAnswer *answer;
    uint32_t range_count;
    Range *ranges;
} Solving;

/* ---- One order */

bool order_sum_fits(const OrderProblem *problem) {
    uint64_t sum = 0;
    bool fits = true;
    for (uint32_t s = 0; s < problem->storage_count && fits; s++) {
        fits = checked_add(sum, problem->storages[s].bytes, &sum);
    }
    for (uint32_t i = 0; i < problem->op_count && fits; i++) {
        uint64_t with_own;
        fits = checked_add(sum, problem->ops[i].own_bytes, &with_own) && with_own <= INT64_MAX;
    }
    return fits && sum <= INT64_MAX;
}

bool order_is_allowed(const OrderProblem *problem, const uint32_t *order, Arena *arena) {
    bool *is_done = arena_array(arena, bool, problem->op_count);
    for (uint32_t at = 0; at < problem->op_count; at++) {
        if (order[at] >= problem->op_count || is_done[order[at]]) {
            return false;
        }
        const OrderOp *op = &problem->ops[order[at]];
        for (uint32_t k = 0; k < op->before_count; k++) {
            if (!is_done[op->before[k]]) {
                return false;
            }
        }
        is_done[order[at]] = true;
    }
    return true;
}

typedef struct {
    uint32_t first, last; /* places in the order, half-open */
} Lifetime;

static Lifetime *find_lifetimes(const OrderProblem *problem, const uint32_t *order, Arena *arena) {
    Lifetime *lifetimes = arena_array(arena, Lifetime, problem->storage_count);
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        lifetimes[s] = (Lifetime){problem->storages[s].is_first ? 0 : UINT32_MAX, 0};
    }
    for (uint32_t at = 0; at < problem->op_count; at++) {
        const OrderOp *op = &problem->ops[order[at]];
        for (uint32_t k = 0; k < op->touch_count; k++) {
            Lifetime *lifetime = &lifetimes[op->touches[k].storage];
            lifetime->first = at < lifetime->first ? at : lifetime->first;
            lifetime->last = at + 1;
        }
    }
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        bool is_idle = problem->storages[s].is_first && lifetimes[s].last == 0; /* nothing can end it */
        lifetimes[s].last = problem->storages[s].is_last || is_idle ? problem->op_count : lifetimes[s].last;
    }
    return lifetimes;
}

/* Bytes of the result that lies in what ends at `at`. */
static uint64_t held_bytes(const OrderProblem *problem, const Lifetime *lifetimes, const OrderOp *op, uint32_t at) {
    bool begins =
        op->result != ORDER_NONE && lifetimes[op->result].first == at && !problem->storages[op->result].is_first;
    for (uint32_t k = 0; k < op->touch_count && begins; k++) {
        uint32_t s = op->touches[k].storage;
        bool was_there = lifetimes[s].first < at || problem->storages[s].is_first;
        if (op->touches[k].may_hold && was_there && lifetimes[s].last == at + 1 && !problem->storages[s].is_last) {
            return problem->storages[op->result].bytes;
        }
    }
    return 0;
}

uint64_t order_peak(const OrderProblem *problem, const uint32_t *order, Arena *arena) {
    const Lifetime *lifetimes = find_lifetimes(problem, order, arena);
    uint64_t *begun = arena_array(arena, uint64_t, (size_t)problem->op_count + 1);
    uint64_t *ended = arena_array(arena, uint64_t, (size_t)problem->op_count + 1);
    uint64_t live = 0, peak = 0;
    for (uint32_t s = 0; s < problem->storage_count; s++) {
        if (lifetimes[s].first < lifetimes[s].last) {
            begun[lifetimes[s].first] += problem->storages[s].bytes;
            ended[lifetimes[s].last] += problem->storages[s].bytes;
        }
    }
    for (uint32_t at = 0; at < problem->op_count; at++) {
        const OrderOp *op = &problem->ops[order[at]];
        live = live + begun[at] - ended[at];
        uint64_t cost = live + op->own_bytes - held_bytes(problem, lifetimes, op, at);
        peak = cost > peak ? cost : peak;
    }
    return peak;
}

/* ---- Parts */

static int compare_ranges(const void *left, const void *right) {
    const Range *a = left, *b = right;
    if (a->given_peak_bytes != b->given_peak_bytes) {
        return a->given_peak_bytes > b->given_peak_bytes ? -1 : 1;
    }
    return a->first < b->first ? -1 : 1;
}

static void raise_to(uint64_t *most, uint64_t bytes) {
    *most = bytes > *most ? bytes : *most;
}

/* What no cut is makes ranges; a cut has the same peak in every order. */
static void find_ranges(Solving *solving) {
    const OrderProblem *problem = solving->index.problem;
    const bool *is_cut = order_cuts(problem, solving->arena);
    solving->ranges = arena_array(solving->arena, Range, (size_t)problem->op_count / 2 + 1);
    for (uint32_t first = 0; first < problem->op_count;) {
        uint64_t peak = solving->index.cost_bytes[first];
        uint32_t last = first + 1;
        while (!is_cut[first] && last < problem->op_count && !is_cut[last]) {
            raise_to(&peak, solving->index.cost_bytes[last++]);
        }
        raise_to(&solving->answer->given_peak_bytes, peak);
        if (last - first > 1) {
            solving->ranges[solving->range_count++] = (Range){first, last, peak};
        } else {
            raise_to(&solving->answer->bound_bytes, peak);
        }
        first = last;
    }
    if (solving->range_count > 1) {
        qsort(solving->ranges, solving->range_count, sizeof *solving->ranges, compare_ranges);
    }
}

/* Of what touches nothing the place is no choice. */
static void note_part(OrderAnswer *answer, const Part *part) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < part->op_count; k++) {
        count += part->ops[k].op.touch_count > 0 || part->ops[k].op.own_bytes > 0;
    }
    answer->part_count += count > 1;
    answer->largest_part = count > answer->largest_part && count > 1 ? count : answer->largest_part;
}

/* The rules of thumb, the best of which replaces what is known. */
static void try_rules(const Part *part, PartSearch *search, Arena *arena) {
    uint32_t *order = arena_array(arena, uint32_t, part->op_count);
    for (int rule = 0; rule < GREEDY_COUNT && search->peak_bytes > search->floor_bytes; rule++) {
        uint64_t peak = greedy_order(part, (GreedyRule)rule, arena, order);
        raise_to(&peak, search->floor_bytes);
        if (peak < search->peak_bytes) {
            search->peak_bytes = peak;
            memcpy(search->order, order, part->op_count * sizeof *order);
        }
    }
}

static void solve_range(Solving *solving, const Range *range, const Part *part) {
    OrderAnswer *answer = solving->answer;
    PartSearch search = {.floor_bytes = answer->peak_bytes, .peak_bytes = range->given_peak_bytes};
    search.order = arena_array(solving->arena, uint32_t, part->op_count);
    for (uint32_t k = 0; k < part->op_count; k++) {
        search.order[k] = k;
    }
    try_rules(part, &search, solving->arena);
    search.bound_bytes = search.peak_bytes > search.floor_bytes ? part->bound_bytes : 0;
    if (search.peak_bytes > search.floor_bytes && part->op_count <= solving->limits->most_ops) {
        search_part(part, solving->limits, solving->arena, &search);
    }
    if (search.peak_bytes > search.floor_bytes && search.bound_bytes < search.peak_bytes) {
        improve_windows(part, solving->limits, solving->arena, &search);
    }
    for (uint32_t k = 0; k < part->op_count; k++) {
        answer->order[part->first + k] = part->first + search.order[k];
    }
    answer->state_count += search.state_count;
    raise_to(&answer->peak_bytes, search.peak_bytes);
    /* what a part was searched above is no bound of its own, unless something else is as high */
    raise_to(&answer->bound_bytes, search.bound_bytes > search.floor_bytes ? search.bound_bytes : 0);
}

void order_solve(const OrderProblem *problem, const OrderLimits *limits, Arena *arena, OrderAnswer *answer) {
    CHECK(order_sum_fits(problem));
    *answer = (OrderAnswer){.order = arena_array(arena, uint32_t, problem->op_count)};
    Solving solving = {.limits = limits, .index = order_index(problem, arena), .arena = arena, .answer = answer};
    for (uint32_t i = 0; i < problem->op_count; i++) {
        answer->order[i] = i;
    }
    CHECK(order_is_allowed(problem, answer->order, arena));
    find_ranges(&solving);
    Part *parts = arena_array(arena, Part, solving.range_count);
    for (uint32_t r = 0; r < solving.range_count; r++) {
        part_make(&solving.index, solving.ranges[r].first, solving.ranges[r].last, arena, &parts[r]);
        note_part(answer, &parts[r]);
        raise_to(&answer->bound_bytes, parts[r].bound_bytes);
    }
    answer->peak_bytes = answer->bound_bytes;
    for (uint32_t r = 0; r < solving.range_count; r++) {
        if (solving.ranges[r].given_peak_bytes > answer->peak_bytes) {
            solve_range(&solving, &solving.ranges[r], &parts[r]);
        }
    }
    CHECK(order_is_allowed(problem, answer->order, arena));
    CHECK(order_peak(problem, answer->order, arena) == answer->peak_bytes);
    CHECK(answer->bound_bytes <= answer->peak_bytes && answer->peak_bytes <= answer->given_peak_bytes);
}
