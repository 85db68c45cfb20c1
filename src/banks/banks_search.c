/* The cheapest assignment of few buffers to banks, by branch and bound.
 *
 * Buffers are taken in one fixed order, largest first, and go into each bank in turn, the cheapest first. A branch ends
 * where its price can't be lower than the best, where too much is live in a bank, or where a bank holds a set that is
 * known not to fit. Only when all buffers have a bank is each bank asked whether it can hold them; of one that can't,
 * the culprits are such a set.
 *
 * Invariant: set[b] are the buffers that are in bank b, load[b] their sizes at each step. */
#include "banks/banks_inner.h"

#include "base/checked.h"
#include "solver/spans.h"

enum { MOST_NODES = 1000000, MOST_FITS = 400, MOST_FIT_NODES = 1000000, MOST = BANKS_MOST_SEARCHED };

/* Buffers that do not fit together into a bank, or, where it is not proven, did not in the time there was. */
typedef struct {
    uint32_t bank;
    uint64_t set;
} Misfit;

typedef struct {
    Banks *banks;
    BanksSearch *out;
    size_t count, bank_count;
    size_t step_count;
    uint64_t *live; /* of each step, who lives there: a set */
    uint64_t *size; /* of each bank and buffer, rounded up to the bank's unit; 0 where the buffer may not be there */
    uint64_t *price;
    size_t order[MOST];
    size_t order_count;
    uint64_t least_price[MOST + 1]; /* of all from this one on */
    uint32_t rank[MOST];            /* of each buffer, where in the order of banks it is */
    uint64_t *set;
    uint64_t *load;
    uint64_t cost, nodes, fits;
    uint64_t nodes_before; /* of fits, when the search began */
    Misfit *misfit;
    size_t misfit_count, misfit_capacity;
    bool is_proven; /* nothing was left out but what can't be */
} Search;

/* ---- Tables */

static void add_step(Search *search, uint64_t step) {
    const SolverBuffer *buffer = search->banks->problem->buffer;
    uint64_t live = 0;
    for (size_t i = 0; i < search->count; i++) {
        live |= (uint64_t)life_has(&buffer[i], step) << i;
    }
    search->live[search->step_count++] = live;
}

/* A sum of live sizes is largest where a buffer begins to live. */
static void find_steps(Search *search) {
    const SolverBuffer *buffer = search->banks->problem->buffer;
    size_t count = search->count;
    for (size_t i = 0; i < search->count; i++) {
        count += buffer[i].gap_count;
    }
    search->live = arena_array(search->banks->scratch, uint64_t, count);
    for (size_t i = 0; i < search->count; i++) {
        add_step(search, buffer[i].first);
        for (size_t k = 0; k < buffer[i].gap_count; k++) {
            add_step(search, buffer[i].gap[k].last);
        }
    }
}

static bool find_sizes(Search *search) {
    const BanksProblem *problem = search->banks->problem;
    search->size = arena_array(search->banks->scratch, uint64_t, search->bank_count * search->count);
    search->price = arena_array(search->banks->scratch, uint64_t, search->bank_count * search->count);
    for (uint32_t b = 0; b < search->bank_count; b++) {
        for (size_t i = 0; i < search->count; i++) {
            const size_t at = b * search->count + i;
            const SolverBuffer *buffer = &problem->buffer[i];
            bool may =
                (problem->where[i] == BANK_ANY || problem->where[i] == b) && banks_allow(search->banks, b, buffer);
            if (may && (!checked_round_up(buffer->size, problem->bank[b].align_bytes, &search->size[at]) ||
                        !checked_mul(buffer->size, problem->bank[b].price, &search->price[at]))) {
                return false;
            }
        }
    }
    return true;
}

/* ---- Order */

/* By all that does not depend on the order of the caller's. */
static int compare_buffers(const SolverBuffer *a, const SolverBuffer *b) {
    int order = compare_numbers(b->size, a->size);
    order = order != 0 ? order : compare_numbers(a->first, b->first);
    order = order != 0 ? order : compare_numbers(a->last, b->last);
    order = order != 0 ? order : compare_numbers(a->align, b->align);
    order = order != 0 ? order : compare_numbers(a->gap_count, b->gap_count);
    order = order != 0 ? order : (int)a->is_pinned - (int)b->is_pinned;
    order = order != 0 || !a->is_pinned ? order : compare_numbers(a->offset, b->offset);
    return order != 0 ? order : (int)(a->apart > 0) - (int)(b->apart > 0);
}

/* Few enough for the simplest sort. */
static void find_order(Search *search) {
    const BanksProblem *problem = search->banks->problem;
    for (size_t i = 0; i < search->count; i++) {
        if ((search->out->skipped >> i & 1) != 0) {
            continue;
        }
        size_t at = search->order_count++;
        while (at > 0 && compare_buffers(&problem->buffer[i], &problem->buffer[search->order[at - 1]]) < 0) {
            search->order[at] = search->order[at - 1];
            at--;
        }
        search->order[at] = i;
    }
}

static bool find_least_prices(Search *search) {
    for (size_t k = search->order_count; k > 0; k--) {
        const size_t i = search->order[k - 1];
        uint64_t least = UINT64_MAX;
        for (size_t b = 0; b < search->bank_count; b++) {
            const size_t at = b * search->count + i;
            least = search->size[at] > 0 && search->price[at] < least ? search->price[at] : least;
        }
        if (!checked_add(search->least_price[k], least == UINT64_MAX ? 0 : least, &search->least_price[k - 1])) {
            return false;
        }
    }
    return true;
}

/* ---- Search */

static void add_misfit(Search *search, uint32_t bank, uint64_t set) {
    search->misfit = arena_grow(search->banks->scratch, search->misfit, search->misfit_count, &search->misfit_capacity,
                                sizeof *search->misfit);
    search->misfit[search->misfit_count++] = (Misfit){bank, set};
}

static bool is_misfit(const Search *search, uint32_t bank, uint64_t set) {
    for (size_t k = 0; k < search->misfit_count; k++) {
        if (search->misfit[k].bank == bank && (search->misfit[k].set & ~set) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_room(const Search *search, uint32_t bank, size_t i) {
    const uint64_t size = search->size[bank * search->count + i];
    const uint64_t capacity = search->banks->problem->bank[bank].capacity;
    const uint64_t *load = &search->load[bank * search->step_count];
    bool has = size > 0;
    for (size_t s = 0; s < search->step_count && has; s++) {
        has = (search->live[s] >> i & 1) == 0 || load[s] <= capacity - size;
    }
    return has && !is_misfit(search, bank, search->set[bank] | (uint64_t)1 << i);
}

static void put_in(Search *search, uint32_t bank, size_t i) {
    uint64_t *load = &search->load[bank * search->step_count];
    search->set[bank] |= (uint64_t)1 << i;
    search->cost += search->price[bank * search->count + i];
    for (size_t s = 0; s < search->step_count; s++) {
        load[s] += (search->live[s] >> i & 1) != 0 ? search->size[bank * search->count + i] : 0;
    }
}

static void take_out(Search *search, uint32_t bank, size_t i) {
    uint64_t *load = &search->load[bank * search->step_count];
    search->set[bank] &= ~((uint64_t)1 << i);
    search->cost -= search->price[bank * search->count + i];
    for (size_t s = 0; s < search->step_count; s++) {
        load[s] -= (search->live[s] >> i & 1) != 0 ? search->size[bank * search->count + i] : 0;
    }
}

static bool can_hold(Search *search, uint32_t bank) {
    size_t member[MOST];
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++) {
        if ((search->set[bank] >> i & 1) != 0) {
            member[count++] = i;
        }
    }
    uint64_t culprits = 0;
    const Fit fit = banks_fit(search->banks, bank, member, count, &culprits);
    search->fits++;
    if (fit == FIT_YES) {
        return true;
    }
    add_misfit(search, bank, fit == FIT_NO ? culprits : search->set[bank]);
    search->is_proven = search->is_proven && fit == FIT_NO;
    return false;
}

static void keep_if_it_fits(Search *search) {
    BanksSearch *out = search->out;
    for (uint32_t b = 0; b < search->bank_count; b++) {
        if (!can_hold(search, search->banks->order[b])) {
            return;
        }
    }
    out->is_found = true;
    out->cost = search->cost;
    for (size_t k = 0; k < search->order_count; k++) {
        const size_t i = search->order[k];
        out->where[i] = search->banks->order[search->rank[i]];
    }
}

/* Two that are alike may change places: the second goes no further up than the first. */
static uint32_t first_rank(const Search *search, size_t depth) {
    const BanksProblem *problem = search->banks->problem;
    if (depth == 0) {
        return 0;
    }
    const size_t i = search->order[depth], before = search->order[depth - 1];
    const SolverBuffer *buffer = &problem->buffer[i];
    bool is_alike = compare_buffers(buffer, &problem->buffer[before]) == 0 && buffer->gap_count == 0 &&
                    !buffer->is_pinned && buffer->apart == 0 && problem->where[i] == problem->where[before];
    return is_alike ? search->rank[before] : 0;
}

static bool is_spent(const Search *search) {
    const SolverOptions *options = &search->banks->problem->options;
    return search->nodes >= MOST_NODES || search->nodes >= banks_nodes_left(search->banks) ||
           search->fits >= MOST_FITS || search->banks->nodes - search->nodes_before >= MOST_FIT_NODES ||
           search->banks->has_overflowed || banks_ms_left(search->banks) == 1 ||
           (options->stop != NULL && *options->stop != 0);
}

static void branch(Search *search, size_t depth) {
    if (is_spent(search)) {
        search->is_proven = false;
        return;
    }
    search->nodes++;
    if (search->out->is_found && search->cost + search->least_price[depth] >= search->out->cost) {
        return;
    }
    if (depth == search->order_count) {
        keep_if_it_fits(search);
        return;
    }
    const size_t i = search->order[depth];
    for (uint32_t rank = first_rank(search, depth); rank < search->bank_count; rank++) {
        const uint32_t bank = search->banks->order[rank];
        if (has_room(search, bank, i)) {
            search->rank[i] = rank;
            put_in(search, bank, i);
            branch(search, depth + 1);
            take_out(search, bank, i);
        }
    }
}

/* The dearest assignment of all has a price of 64 bits. */
static bool has_price(const Search *search) {
    uint64_t sum = 0;
    for (size_t i = 0; i < search->count; i++) {
        uint64_t most = 0;
        for (size_t b = 0; b < search->bank_count; b++) {
            const uint64_t price = search->price[b * search->count + i];
            most = price > most ? price : most;
        }
        if (!checked_add(sum, most, &sum)) {
            return false;
        }
    }
    return true;
}

void banks_search(Banks *banks, BanksSearch *out) {
    Search search = {.banks = banks,
                     .out = out,
                     .count = banks->problem->count,
                     .bank_count = banks->problem->bank_count,
                     .nodes_before = banks->nodes,
                     .is_proven = true};
    find_steps(&search);
    find_order(&search);
    search.set = arena_array(banks->scratch, uint64_t, search.bank_count);
    search.load = arena_array(banks->scratch, uint64_t, search.bank_count * search.step_count);
    if (!find_sizes(&search) || !has_price(&search) || !find_least_prices(&search)) {
        banks->has_overflowed = true;
        return;
    }
    branch(&search, 0);
    banks->nodes += search.nodes;
    out->is_exhausted = search.is_proven && !banks->has_overflowed;
}
