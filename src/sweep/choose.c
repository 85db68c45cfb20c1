/* Chooses how a sweep goes: of what fits, what takes the fewest cycles; of equals, the fewest bytes.
 *
 * A tile is the map, cut along one dimension after another until it fits; which dimension first is tried in three ways.
 * Two tiles in flight may gain by smaller ones, so parts of the largest are tried too. Nothing depends on clocks or
 * chance. */
#include "sweep/kernel.h"

#include "base/checked.h"

#include <string.h>

enum { MOST_SEEN = 128, MOST_COSTS = 64, NEEDS = 256, MOST_TILES = 1 << 16 };

/* Where a product is carried costs no cycles. */
typedef struct {
    SweepChoice choice; /* `carry` is of the first that was looked at */
    SweepCost cost;
} KnownCost;

/* The same choice is asked for again while a map is cut; a later one may take its place. */
typedef struct {
    bool is_known, is_possible;
    SweepChoice choice;
    uint64_t bytes;
} KnownNeed;

typedef struct {
    const Sweep *sweep;
    const SweepTerms *terms;
    SweepChosen *chosen;
    uint64_t grain[DIM_COUNT];
    bool has_any;
    uint32_t seen_count, cost_count;
    SweepChoice seen[MOST_SEEN];
    KnownCost costs[MOST_COSTS];
    SweepMoves moves;
    KnownNeed needs[NEEDS];
} Search;

/* ---- Grains */

static uint64_t common_multiple(uint64_t a, uint64_t b, uint64_t limit) {
    uint64_t multiple = a;
    while (multiple < limit && multiple % b != 0) {
        multiple += a;
    }
    return multiple;
}

/* Indices of the map whose windows, one behind the other, are whole blocks of `grain`. */
static uint64_t windows_of(uint64_t grain, uint64_t stride) {
    uint64_t indices = 1;
    while (indices * (stride % grain) % grain != 0) {
        indices++;
    }
    return indices;
}

/* A tile begins where the address maps of all that it is a part of begin a block: also those of a parameter's whole
 * local copy, which may be larger than what far memory holds. What is moved has no padding that makes up for it. */
static void take_grain(Search *search, const SweepOperand *operand) {
    const Sweep *sweep = search->sweep;
    View local;
    bool has_local = sweep_local_view(sweep, operand, operand->shape.extent, &local);
    for (int d = 0; d < DIM_COUNT; d++) {
        const Reach *reach = &operand->reach[d];
        bool is_block = sweep->is_copy && reach->of != REACH_ALL && reach->before == 0 &&
                        reach->window == reach->stride && reach->stride > 1;
        if (reach_is_same(reach) || is_block) {
            uint64_t extent = sweep->out.shape.extent[reach->of], own = has_local ? view_grain(&local, (Dim)d) : 1;
            uint64_t *grain = &search->grain[reach->of];
            *grain = common_multiple(*grain, windows_of(reach->grain, reach->stride), extent);
            *grain = common_multiple(*grain, windows_of(own, reach->stride), extent);
        }
    }
}

static void find_grains(Search *search) {
    for (int d = 0; d < DIM_COUNT; d++) {
        search->grain[d] = 1;
    }
    take_grain(search, &search->sweep->in);
    take_grain(search, &search->sweep->out);
    for (uint32_t i = 0; i < search->sweep->param_count; i++) {
        take_grain(search, &search->sweep->params[i]);
    }
}

/* ---- Looking at one choice */

static bool is_better(const SweepOption *a, const SweepOption *b) {
    return a->cost.cycles != b->cost.cycles ? a->cost.cycles < b->cost.cycles : a->need_bytes < b->need_bytes;
}

/* Of each schedule, and of each way of the parameters, the best is kept to be told of: null where there is none yet. */
static SweepOption *best_like(SweepChosen *chosen, const SweepChoice *choice) {
    for (uint32_t i = 0; i < chosen->other_count; i++) {
        SweepOption *other = &chosen->other[i];
        if (other->choice.schedule == choice->schedule && other->choice.is_resident == choice->is_resident) {
            return other;
        }
    }
    return NULL;
}

static void keep_other(SweepChosen *chosen, const SweepOption *option) {
    SweepOption *other = best_like(chosen, &option->choice);
    if (other == NULL && chosen->other_count < SWEEP_MOST_OPTIONS) {
        chosen->other[chosen->other_count++] = *option;
    } else if (other != NULL && is_better(option, other)) {
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
    return &search->needs[(hash >> 32) % NEEDS];
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
    if (search->seen_count < MOST_SEEN) {
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
    if (ok && search->cost_count < MOST_COSTS) {
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

/* Does it cost more than one that is known, however it goes? */
static bool is_hopeless(const Search *search, const SweepChoice *choice) {
    const SweepOption *known = best_like(search->chosen, choice);
    return known != NULL && sweep_least_cycles(search->sweep, choice) > known->cost.cycles;
}

/* What fits is compared by what it costs; as long as nothing does, by what it needs. */
static void look_at(Search *search, const SweepChoice *choice) {
    SweepChosen *chosen = search->chosen;
    SweepOption option = {.choice = *choice};
    option.choice.is_resident = !sweep_reloads(choice, search->sweep); /* what no cut divides stays all the same */
    choice = &option.choice;
    if (was_seen(search, choice) || !need_of(search, choice, &option.need_bytes) || !has_few_tiles(search, choice)) {
        return;
    }
    bool fits = option.need_bytes <= search->terms->budget_bytes;
    bool is_smaller = !search->has_any || option.need_bytes < chosen->best.need_bytes;
    if (fits && is_hopeless(search, choice)) {
        return;
    }
    if (fits ? !cost_of(search, choice, &option.cost) : chosen->fits || !is_smaller) {
        return;
    }
    if (fits) {
        keep_other(chosen, &option);
    }
    if (!search->has_any || (fits && !chosen->fits) || (fits ? is_better(&option, &chosen->best) : is_smaller)) {
        chosen->best = option;
        chosen->fits = fits;
        search->has_any = true;
    }
}

/* ---- Cutting */

static bool may_cut(const Search *search, int d) {
    return (search->sweep->cut >> d & 1) != 0;
}

/* What --tile says of dimension `d`; 0: nothing. */
static uint64_t asked_extent(const Search *search, int d) {
    return d == DIM_H ? search->terms->rows : d == DIM_C ? search->terms->channels : 0;
}

/* May its extent be chosen? */
static bool is_open(const Search *search, int d) {
    return may_cut(search, d) && asked_extent(search, d) == 0;
}

static uint64_t largest_extent(const Search *search, int d) {
    uint64_t whole = search->sweep->out.shape.extent[d], asked = asked_extent(search, d);
    bool is_asked = asked > 0 && asked < whole && may_cut(search, d);
    uint64_t extent = is_asked ? ceil_div(asked, search->grain[d]) * search->grain[d] : whole;
    return extent < whole ? extent : whole;
}

/* The largest extent of dimension `d`, in grains, with which the choice fits; at least one grain. */
static void shrink(Search *search, SweepChoice *choice, int d) {
    uint64_t least = 1, most = ceil_div(choice->tile[d], search->grain[d]), whole = choice->tile[d];
    while (least < most) {
        uint64_t middle = most - (most - least) / 2, bytes;
        choice->tile[d] = middle * search->grain[d] < whole ? middle * search->grain[d] : whole;
        bool fits = need_of(search, choice, &bytes) && bytes <= search->terms->budget_bytes;
        least = fits ? middle : least;
        most = fits ? most : middle - 1;
    }
    choice->tile[d] = least * search->grain[d] < whole ? least * search->grain[d] : whole;
}

static bool fits(Search *search, const SweepChoice *choice) {
    uint64_t bytes;
    return need_of(search, choice, &bytes) && bytes <= search->terms->budget_bytes;
}

/* What was cut before the dimension with which it fits, perhaps in vain: as much of it as there is room for. */
static void grow_back(Search *search, SweepChoice *choice, const Dim *order, size_t last) {
    for (size_t k = last; k-- > 0;) {
        if (is_open(search, (int)order[k])) {
            choice->tile[order[k]] = largest_extent(search, (int)order[k]);
            shrink(search, choice, (int)order[k]);
        }
    }
}

/* Smaller parts of the largest tile: the same number of tiles or more, in flight together. */
static void look_at_parts(Search *search, SweepChoice choice, int d) {
    enum { MOST_PARTS = 16 };
    uint64_t whole = choice.tile[d];
    for (uint64_t parts = 1; parts <= MOST_PARTS; parts *= 2) {
        uint64_t grains = ceil_div(ceil_div(whole, parts), search->grain[d]);
        uint64_t extent = grains * search->grain[d];
        choice.tile[d] = extent < whole ? extent : whole;
        look_at(search, &choice);
        if (grains <= 1) {
            return;
        }
    }
}

static void cut(Search *search, SweepChoice choice, const Dim *order, size_t count) {
    size_t last = 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        choice.tile[d] = largest_extent(search, d);
    }
    bool is_free = search->sweep->cut != 0 && !search->terms->is_whole;
    for (size_t k = 0; is_free && k < count && !fits(search, &choice); k++) {
        if (is_open(search, (int)order[k])) {
            shrink(search, &choice, (int)order[k]);
            last = k;
        }
    }
    if (is_free && fits(search, &choice)) {
        grow_back(search, &choice, order, last);
    }
    if (!is_free || search->terms->rows > 0 || search->terms->channels > 0) {
        look_at(search, &choice);
        return;
    }
    while (last + 1 < count &&
           (!may_cut(search, (int)order[last]) || choice.tile[order[last]] <= search->grain[order[last]])) {
        last++;
    }
    if (may_cut(search, (int)order[last])) {
        look_at_parts(search, choice, (int)order[last]);
    } else {
        look_at(search, &choice);
    }
}

static void look_at_cuts(Search *search, const SweepChoice *choice) {
    static const Dim rows[] = {DIM_N, DIM_H, DIM_C, DIM_W}, planes[] = {DIM_N, DIM_C, DIM_H, DIM_W},
                     channels[] = {DIM_C, DIM_N, DIM_H, DIM_W};
    cut(search, *choice, rows, 4);
    cut(search, *choice, planes, 4);
    cut(search, *choice, channels, 4);
}

/* ---- All choices */

static void look_at_carries(Search *search, SweepChoice choice) {
    const Sweep *sweep = search->sweep;
    bool has_product = kernel_carried_bits(sweep, choice.schedule) > 0;
    for (Carry carry = CARRY_NONE; carry <= CARRY_WORKSPACE; carry++) {
        choice.carry = carry;
        if ((carry == CARRY_NONE) != has_product) {
            look_at_cuts(search, &choice);
        }
    }
}

static void look_at_schedule(Search *search, Schedule schedule) {
    const SweepTerms *terms = search->terms;
    SweepChoice choice = {.schedule = schedule};
    bool is_asked = terms->schedule == SCHEDULE_AUTO || terms->schedule == schedule;
    for (int k = 0; is_asked && k < 4; k++) {
        choice.is_resident = (k & 1) == 0;
        choice.over_input = (k & 2) != 0;
        if (terms->parameters == (choice.is_resident ? PARAMETERS_RELOADED : PARAMETERS_RESIDENT)) {
            continue;
        }
        if ((!choice.over_input || (terms->may_write_over && schedule != SCHEDULE_SPLIT)) &&
            (choice.is_resident || search->sweep->param_count > 0 || terms->parameters == PARAMETERS_RELOADED)) {
            look_at_carries(search, choice);
        }
    }
}

bool sweep_choose(const Sweep *sweep, const SweepTerms *terms, SweepChosen *chosen) {
    Search search = {.sweep = sweep, .terms = terms, .chosen = chosen};
    *chosen = (SweepChosen){0};
    find_grains(&search);
    look_at_schedule(&search, SCHEDULE_FUSED);
    look_at_schedule(&search, SCHEDULE_SPLIT);
    look_at_schedule(&search, SCHEDULE_PIPELINED);
    Timeline timeline = {0};
    bool done = search.has_any;
    if (done && !chosen->fits) {
        done = sweep_cost(sweep, &chosen->best.choice, &search.moves, &timeline, &chosen->best.cost);
    }
    return done;
}
