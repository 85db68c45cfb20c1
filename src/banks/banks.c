/* Banks, on one page: who has no choice, spilling, the search over assignments, then each bank by itself. */
#include "banks/banks.h"

#include "banks/banks_inner.h"
#include "base/checked.h"
#include "solver/race.h"
#include "solver/solver_bound.h"

#include <string.h>

/* ---- Assignment */

static uint32_t *order_by_price(const BanksProblem *problem, Arena *scratch) {
    uint32_t *order = arena_array(scratch, uint32_t, problem->bank_count);
    for (uint32_t b = 0; b < problem->bank_count; b++) {
        uint32_t at = b;
        while (at > 0 && problem->bank[b].price < problem->bank[order[at - 1]].price) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = b;
    }
    return order;
}

static uint32_t *copy_where(const BanksProblem *problem, Arena *scratch) {
    uint32_t *where = arena_array(scratch, uint32_t, problem->count);
    if (problem->count > 0) {
        memcpy(where, problem->where, problem->count * sizeof *where);
    }
    return where;
}

/* With one bank there is no choice at all. */
static bool has_choice(const BanksProblem *problem) {
    for (size_t i = 0; i < problem->count && problem->bank_count > 1; i++) {
        if (problem->where[i] == BANK_ANY) {
            return true;
        }
    }
    return false;
}

/* What could not be assigned goes where the most room is to be expected, so that there is an answer to be told. */
static void assign_rest(const Banks *banks, uint32_t *where) {
    for (size_t i = 0; i < banks->problem->count; i++) {
        where[i] = where[i] == BANK_ANY ? banks->order[banks->problem->bank_count - 1] : where[i];
    }
}

typedef struct {
    uint32_t *where;
    bool is_cheapest, is_infeasible;
    const char *how;
} Assignment;

/* Is more alive at one step than all banks hold together? */
static bool is_beyond_all(const Banks *banks) {
    const BanksProblem *problem = banks->problem;
    uint64_t room = 0, sum = 0, end;
    bool is_bounded = true;
    for (uint32_t b = 0; b < problem->bank_count && is_bounded; b++) {
        is_bounded = checked_add(room, problem->bank[b].capacity, &room);
    }
    for (size_t i = 0; i < problem->count && is_bounded; i++) {
        const SolverBuffer *buffer = &problem->buffer[i];
        is_bounded = checked_add(sum, buffer->size, &sum) &&
                     (!buffer->is_pinned || checked_add(buffer->offset, buffer->size, &end));
    }
    return is_bounded && solver_bound(problem->buffer, problem->count, 1, banks->scratch).bytes > room;
}

static Assignment assign(Banks *banks) {
    const BanksProblem *problem = banks->problem;
    Assignment assignment = {.where = copy_where(problem, banks->scratch), .is_cheapest = true, .how = "given"};
    if (!has_choice(problem)) {
        assign_rest(banks, assignment.where);
        return assignment;
    }
    bool fits = banks_spill(banks, assignment.where);
    assignment.how = "spill";
    assignment.is_cheapest = false;
    assign_rest(banks, assignment.where);
    if (problem->count > BANKS_MOST_SEARCHED || banks->has_overflowed) {
        assignment.is_infeasible = !fits && is_beyond_all(banks);
        return assignment;
    }
    BanksSearch search = {.is_found = fits, .where = assignment.where};
    banks->has_overflowed = fits && !banks_cost(banks, assignment.where, &search.cost);
    const uint64_t spilled = search.cost;
    if (!banks->has_overflowed) {
        banks_search(banks, &search);
    }
    assignment.is_cheapest = search.is_exhausted;
    assignment.is_infeasible = search.is_exhausted && !search.is_found;
    bool is_better = search.is_found && (!fits || search.cost < spilled);
    assignment.how = search.is_exhausted || is_better ? "search" : "spill";
    return assignment;
}

/* ---- Why nothing fits */

/* Leaves out one buffer after the other as long as what is left does not fit either. Where that can't be told of one
 * of them, it is not told which can be spared. */
static void explain(Banks *banks, Arena *keep, BanksResult *result) {
    const size_t count = banks->problem->count;
    if (count > BANKS_MOST_SEARCHED) {
        return;
    }
    uint64_t skipped = 0;
    bool is_told = true;
    for (size_t i = 0; i < count && !banks->has_overflowed && is_told; i++) {
        const ArenaMark mark = arena_mark(banks->scratch);
        BanksSearch search = {.skipped = skipped | (uint64_t)1 << i,
                              .where = copy_where(banks->problem, banks->scratch)};
        banks_search(banks, &search);
        is_told = search.is_exhausted || search.is_found;
        skipped = search.is_found ? skipped : search.skipped;
        arena_back(banks->scratch, mark);
    }
    result->is_least = is_told;
    result->culprit = arena_array(keep, size_t, count);
    for (size_t i = 0; i < count && is_told; i++) {
        if ((skipped >> i & 1) == 0) {
            result->culprit[result->culprit_count++] = i;
        }
    }
}

/* ---- Each bank */

typedef struct {
    SolverBuffer *buffer; /* of one bank */
    size_t *from;         /* their numbers in the problem; null: they are its own */
    size_t count;
} Share;

static Share share_of(const BanksProblem *problem, const uint32_t *where, uint32_t bank, Arena *scratch) {
    if (problem->bank_count == 1) {
        return (Share){problem->buffer, NULL, problem->count};
    }
    Share share = {.buffer = arena_array(scratch, SolverBuffer, problem->count),
                   .from = arena_array(scratch, size_t, problem->count)};
    for (size_t i = 0; i < problem->count; i++) {
        if (where[i] == bank) {
            share.buffer[share.count] = problem->buffer[i];
            share.from[share.count++] = i;
        }
    }
    return share;
}

static size_t number_in(const Share *share, size_t k) {
    return share->from == NULL ? k : share->from[k];
}

static uint32_t count_used(const BanksProblem *problem, const uint32_t *where, Arena *scratch) {
    bool *is_used = arena_array(scratch, bool, problem->bank_count);
    uint32_t used = 0;
    for (size_t i = 0; i < problem->count; i++) {
        used += !is_used[where[i]];
        is_used[where[i]] = true;
    }
    return used > 0 ? used : 1;
}

/* The part of one bank of what all may spend, at least 1; 0 is no limit. */
static uint64_t part(uint64_t all, uint32_t parts) {
    return all == 0 ? 0 : ceil_div(all, parts);
}

/* Buffers that are where they have to be, and do not fit there. */
static bool is_proof(const BanksProblem *problem, const Share *share, const SolverResult *solved) {
    for (size_t k = 0; k < solved->culprit_count; k++) {
        if (problem->bank_count > 1 && problem->where[number_in(share, solved->culprit[k])] == BANK_ANY) {
            return false;
        }
    }
    return true;
}

static void take_verdict(const BanksProblem *problem, const Share *share, const SolverResult *solved, Arena *keep,
                         BanksResult *result) {
    result->nodes += solved->nodes;
    result->is_placed = result->is_placed && solved->is_placed;
    if (solved->outcome == SOLVER_FOUND || result->outcome == SOLVER_INFEASIBLE) {
        return;
    }
    result->outcome = SOLVER_STOPPED;
    if (solved->outcome == SOLVER_INFEASIBLE && is_proof(problem, share, solved)) {
        result->outcome = SOLVER_INFEASIBLE;
        result->culprit = arena_array(keep, size_t, solved->culprit_count);
        result->culprit_count = solved->culprit_count;
        result->is_least = solved->is_least;
        for (size_t k = 0; k < solved->culprit_count; k++) {
            result->culprit[k] = number_in(share, solved->culprit[k]);
        }
    }
}

static bool solve_bank(const Banks *banks, const Share *share, uint32_t bank, uint32_t parts, Arena *keep,
                       BanksResult *result) {
    const BanksProblem *problem = banks->problem;
    SolverResult *solved = &result->bank[bank];
    SolverOptions options = problem->options;
    options.capacity = problem->bank[bank].capacity;
    options.align_bytes = problem->bank[bank].align_bytes;
    if (options.most_nodes > 0) {
        const uint64_t most = options.most_nodes;
        const uint64_t spent = banks->nodes + result->nodes;
        options.most_nodes = part(spent < most ? most - spent : 1, parts);
    }
    options.most_ms = part(banks_ms_left(banks), parts);
    if (!solver_run(share->buffer, share->count, &options, keep, banks->scratch, solved)) {
        return false;
    }
    for (size_t k = 0; k < share->count && share->from != NULL; k++) {
        problem->buffer[share->from[k]].offset = share->buffer[k].offset;
    }
    take_verdict(problem, share, solved, keep, result);
    return true;
}

/* Of nodes and of the clock each takes its part of what those before have left. */
static bool solve_banks(const Banks *banks, const Assignment *assignment, Arena *keep, BanksResult *result) {
    uint32_t left = count_used(banks->problem, assignment->where, banks->scratch);
    bool good = true;
    for (uint32_t b = 0; b < banks->problem->bank_count && good; b++) {
        const ArenaMark mark = arena_mark(banks->scratch);
        const Share share = share_of(banks->problem, assignment->where, b, banks->scratch);
        result->bank[b] = (SolverResult){
            .outcome = SOLVER_FOUND, .is_placed = true, .is_optimal = true, .method = "none", .proof = "empty"};
        good = share.count == 0 || solve_bank(banks, &share, b, left--, keep, result);
        arena_back(banks->scratch, mark);
    }
    return good;
}

bool banks_run(const BanksProblem *problem, Arena *keep, Arena *scratch, BanksResult *result) {
    Banks banks = {.problem = problem,
                   .order = order_by_price(problem, scratch),
                   .scratch = scratch,
                   .deadline_ms = race_deadline_ms(problem->options.most_ms)};
    Assignment assignment = assign(&banks);
    *result = (BanksResult){.outcome = SOLVER_FOUND,
                            .is_placed = true,
                            .bank = arena_array(keep, SolverResult, problem->bank_count),
                            .is_cheapest = assignment.is_cheapest,
                            .how = assignment.how};
    if (banks.has_overflowed || !banks_cost(&banks, assignment.where, &result->cost)) {
        return false;
    }
    if (assignment.is_infeasible) {
        result->outcome = SOLVER_INFEASIBLE;
        explain(&banks, keep, result);
    } else if (!solve_banks(&banks, &assignment, keep, result)) {
        return false;
    }
    result->nodes += banks.nodes;
    if (problem->count > 0) {
        memcpy(problem->where, assignment.where, problem->count * sizeof *problem->where);
    }
    result->is_placed = result->is_placed && result->outcome != SOLVER_INFEASIBLE;
    return !banks.has_overflowed;
}
