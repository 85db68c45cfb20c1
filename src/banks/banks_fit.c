/* Whether buffers fit into one bank, and what they cost there. */
#include "banks/banks_inner.h"

#include "base/checked.h"
#include "solver/race.h"

/* Nodes of a search that only has to say whether it fits. */
enum { FIT_NODES = 20000 };

bool banks_allow(const Banks *banks, uint32_t bank, const SolverBuffer *buffer) {
    const Bank *into = &banks->problem->bank[bank];
    uint64_t offset = buffer->is_pinned ? buffer->offset : 0, end;
    return offset % into->align_bytes == 0 && checked_add(offset, buffer->size, &end) &&
           checked_round_up(end, into->align_bytes, &end) && end <= into->capacity;
}

uint64_t banks_ms_left(const Banks *banks) {
    if (banks->deadline_ms == 0) {
        return 0;
    }
    const uint64_t now = race_clock_ms();
    return now < banks->deadline_ms ? banks->deadline_ms - now : 1;
}

uint64_t banks_nodes_left(const Banks *banks) {
    const uint64_t most = banks->problem->options.most_nodes;
    if (most == 0) {
        return UINT64_MAX;
    }
    return banks->nodes < most / 2 ? most / 2 - banks->nodes : 0;
}

static SolverBuffer *copy_members(const Banks *banks, const size_t *member, size_t count) {
    SolverBuffer *copy = arena_array(banks->scratch, SolverBuffer, count);
    for (size_t k = 0; k < count; k++) {
        copy[k] = banks->problem->buffer[member[k]];
    }
    return copy;
}

static Fit fit_of(const SolverResult *solved, const size_t *member, uint64_t *culprits) {
    for (size_t k = 0; k < solved->culprit_count && culprits != NULL; k++) {
        *culprits |= (uint64_t)1 << member[solved->culprit[k]];
    }
    return solved->outcome == SOLVER_FOUND ? FIT_YES : solved->outcome == SOLVER_INFEASIBLE ? FIT_NO : FIT_UNKNOWN;
}

Fit banks_fit(Banks *banks, uint32_t bank, const size_t *member, size_t count, uint64_t *culprits) {
    const Bank *into = &banks->problem->bank[bank];
    SolverOptions options = banks->problem->options;
    SolverResult solved;
    if (count == 0) {
        return FIT_YES;
    }
    options.capacity = into->capacity;
    options.align_bytes = into->align_bytes;
    options.is_minimised = false;
    options.is_mere_decision = culprits == NULL;
    const uint64_t left = banks_nodes_left(banks);
    options.most_nodes = left == 0 ? 1 : left < FIT_NODES ? left : FIT_NODES;
    options.most_ms = banks_ms_left(banks);
    options.tell = NULL;
    const ArenaMark mark = arena_mark(banks->scratch);
    SolverBuffer *copy = copy_members(banks, member, count);
    Fit fit = FIT_UNKNOWN;
    if (solver_run(copy, count, &options, banks->scratch, banks->scratch, &solved)) {
        banks->nodes += solved.nodes;
        fit = fit_of(&solved, member, culprits);
    } else {
        banks->has_overflowed = true;
    }
    arena_back(banks->scratch, mark);
    return fit;
}

bool banks_cost(const Banks *banks, const uint32_t *where, uint64_t *cost) {
    *cost = 0;
    for (size_t i = 0; i < banks->problem->count; i++) {
        uint64_t of_one;
        if (!checked_mul(banks->problem->buffer[i].size, banks->problem->bank[where[i]].price, &of_one) ||
            !checked_add(*cost, of_one, cost)) {
            return false;
        }
    }
    return true;
}
