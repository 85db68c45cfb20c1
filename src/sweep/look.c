/* Judges one way for a sweep to go. */
#include "sweep/look.h"

#include "base/checked.h"

#include <string.h>

enum { MOST_TILES = 1 << 16 };

bool look_is_better(const SweepOption *a, const SweepOption *b) {
    return a->cost.cycles != b->cost.cycles ? a->cost.cycles < b->cost.cycles : a->need_bytes < b->need_bytes;
}

SweepOption *look_best_like(SweepChosen *chosen, const SweepChoice *choice) {
    for (uint32_t i = 0; i < chosen->other_count; i++) {
        SweepOption *other = &chosen->other[i];
        if (other->choice.schedule == choice->schedule && other->choice.is_resident == choice->is_resident) {
            return other;
        }
    }
    return NULL;
}

static void keep_other(SweepChosen *chosen, const SweepOption *option) {
    SweepOption *other = look_best_like(chosen, &option->choice);
    if (other == NULL && chosen->other_count < SWEEP_MOST_OPTIONS) {
        chosen->other[chosen->other_count++] = *option;
    } else if (other != NULL && look_is_better(option, other)) {
        *other = *option;
    }
}

bool sweep_same_choice(const SweepChoice *a, const SweepChoice *b) {
    return a->schedule == b->schedule && a->carry == b->carry && a->over_input == b->over_input &&
           a->is_resident == b->is_resident && memcmp(a->tile, b->tile, sizeof a->tile) == 0;
}

static bool same_but_carry(const SweepChoice *a, const SweepChoice *b) {
    SweepChoice as_b = *a;
    as_b.carry = b->carry;
    return sweep_same_choice(&as_b, b);
}

static KnownNeed *slot_of_need(Search *search, const SweepChoice *choice) {
    uint64_t hash = (uint64_t)choice->schedule << 4 | (uint64_t)choice->carry << 2 | (uint64_t)choice->over_input << 1 |
                    choice->is_resident;
    for (int d = 0; d < DIM_COUNT; d++) {
        hash = (hash ^ choice->tile[d]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return &search->needs[(hash >> 32) % LOOK_NEEDS];
}

static bool need_of(Search *search, const SweepChoice *choice, uint64_t *bytes) {
    KnownNeed *need = slot_of_need(search, choice);
    bool is_same = need->is_known && sweep_same_choice(&need->choice, choice);
    if (!is_same) {
        *need = (KnownNeed){.is_known = true, .choice = *choice};
        need->is_possible = kernel_need(search->sweep, choice, &need->bytes);
    }
    *bytes = need->bytes;
    return need->is_possible;
}

/* The ways of cutting and of keeping parameters often come to the same. */
static bool was_seen(Search *search, const SweepChoice *choice) {
    for (uint32_t i = 0; i < search->seen_count; i++) {
        if (sweep_same_choice(&search->seen[i], choice)) {
            return true;
        }
    }
    if (search->seen_count < LOOK_SEEN) {
        search->seen[search->seen_count++] = *choice;
    }
    return false;
}

static bool cost_of(Search *search, const SweepChoice *choice, SweepCost *cost) {
    Timeline timeline = {0};
    for (uint32_t i = 0; i < search->cost_count; i++) {
        if (same_but_carry(&search->costs[i].choice, choice)) {
            *cost = search->costs[i].cost;
            return true;
        }
    }
    bool ok = sweep_cost(search->sweep, choice, &search->moves, &timeline, cost);
    if (ok && search->cost_count < LOOK_COSTS) {
        search->costs[search->cost_count++] = (KnownCost){*choice, *cost};
    }
    return ok;
}

static bool has_few_tiles(const Search *search, const SweepChoice *choice) {
    uint64_t tiles = 1;
    bool few = true;
    for (int d = 0; few && d < DIM_COUNT; d++) {
        uint64_t extent = search->sweep->out.shape.extent[d];
        few = extent == 0 || (checked_mul(tiles, ceil_div(extent, choice->tile[d]), &tiles) && tiles <= MOST_TILES);
    }
    return few;
}

bool look_is_hopeless(const Search *search, const SweepChoice *choice) {
    const SweepOption *known = look_best_like(search->chosen, choice);
    return known != NULL && sweep_least_cycles(search->sweep, choice) > known->cost.cycles;
}

void look_at(Search *search, const SweepChoice *choice) {
    SweepChosen *chosen = search->chosen;
    SweepOption option = {.choice = *choice};
    option.choice.is_resident = !sweep_reloads(choice, search->sweep); /* what no cut divides stays all the same */
    choice = &option.choice;
    if (was_seen(search, choice) || !need_of(search, choice, &option.need_bytes) || !has_few_tiles(search, choice)) {
        return;
    }
    bool fits = option.need_bytes <= search->terms->budget_bytes;
    bool is_smaller = !search->has_any || option.need_bytes < chosen->best.need_bytes;
    if (fits && look_is_hopeless(search, choice)) {
        return;
    }
    if (fits ? !cost_of(search, choice, &option.cost) : chosen->fits || !is_smaller) {
        return;
    }
    if (fits) {
        keep_other(chosen, &option);
    }
    if (!search->has_any || (fits && !chosen->fits) || (fits ? look_is_better(&option, &chosen->best) : is_smaller)) {
        chosen->best = option;
        chosen->fits = fits;
        search->has_any = true;
    }
}

bool look_fits(Search *search, const SweepChoice *choice) {
    uint64_t bytes;
    return need_of(search, choice, &bytes) && bytes <= search->terms->budget_bytes;
}
