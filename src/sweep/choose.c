/* Chooses how a sweep goes: of what fits, what takes the fewest cycles; of equals, the fewest bytes.
 *
 * A tile is the map, cut along one dimension after another until it fits: rows first, channels first, or evenly. From
 * the best of each schedule the way goes on downhill: less of one dimension, and more of another, as long as it gains.
 * Nothing depends on clocks or chance. */
#include "sweep/look.h"

#include "base/checked.h"

#include <string.h>

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
        uint64_t middle = most - (most - least) / 2;
        choice->tile[d] = middle * search->grain[d] < whole ? middle * search->grain[d] : whole;
        bool fits = look_fits(search, choice);
        least = fits ? middle : least;
        most = fits ? most : middle - 1;
    }
    choice->tile[d] = least * search->grain[d] < whole ? least * search->grain[d] : whole;
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

static void cut(Search *search, SweepChoice choice, const Dim *order, size_t count) {
    size_t last = 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        choice.tile[d] = largest_extent(search, d);
    }
    bool is_free = search->sweep->cut != 0 && !search->terms->is_whole;
    for (size_t k = 0; is_free && k < count && !look_fits(search, &choice); k++) {
        if (is_open(search, (int)order[k])) {
            shrink(search, &choice, (int)order[k]);
            last = k;
        }
    }
    if (is_free && look_fits(search, &choice)) {
        grow_back(search, &choice, order, last);
    }
    look_at(search, &choice);
}

static int longest(Search *search, const SweepChoice *choice) {
    uint64_t most = 1;
    int found = -1;
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t grains = ceil_div(choice->tile[d], search->grain[d]);
        if (is_open(search, d) && grains > most) {
            most = grains;
            found = d;
        }
    }
    return found;
}

/* The longest dimension is halved, again and again. */
static void cut_evenly(Search *search, SweepChoice choice) {
    for (int d = 0; d < DIM_COUNT; d++) {
        choice.tile[d] = largest_extent(search, d);
    }
    while (!look_fits(search, &choice)) {
        int d = longest(search, &choice);
        if (d < 0) {
            return;
        }
        choice.tile[d] = ceil_div(ceil_div(choice.tile[d], search->grain[d]), 2) * search->grain[d];
    }
    look_at(search, &choice);
}

static void look_at_cuts(Search *search, const SweepChoice *choice) {
    static const Dim rows[] = {DIM_N, DIM_H, DIM_C, DIM_W}, channels[] = {DIM_C, DIM_N, DIM_H, DIM_W};
    cut(search, *choice, rows, 4);
    cut(search, *choice, channels, 4);
    if (!search->terms->is_whole) {
        cut_evenly(search, *choice);
    }
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

/* ---- Downhill */

/* Less along `d`, and with it more along `other`: twice as much, and as much as there is room for. */
static void look_at_trade(Search *search, SweepChoice choice, int other) {
    uint64_t whole = largest_extent(search, other), twice = 2 * choice.tile[other];
    choice.tile[other] = whole;
    if (look_is_hopeless(search, &choice)) {
        return; /* then smaller tiles are, too */
    }
    choice.tile[other] = twice < whole ? twice : whole;
    if (look_fits(search, &choice)) {
        look_at(search, &choice);
        choice.tile[other] = whole;
        shrink(search, &choice, other);
        look_at(search, &choice);
    }
}

static void look_around(Search *search, SweepChoice choice, int d) {
    uint64_t grains = ceil_div(choice.tile[d], search->grain[d]);
    if (!is_open(search, d) || grains <= 1) {
        return;
    }
    choice.tile[d] = ceil_div(grains, 2) * search->grain[d];
    look_at(search, &choice);
    for (int other = 0; other < DIM_COUNT; other++) {
        if (other != d && is_open(search, other) && choice.tile[other] < largest_extent(search, other)) {
            look_at_trade(search, choice, other);
        }
    }
}

/* Parameters may stay, or not, where a smaller tile reads a part of them. */
static void look_around_both(Search *search, SweepChoice choice, int d) {
    Parameters asked = search->terms->parameters;
    bool may_reload = asked != PARAMETERS_RESIDENT && search->sweep->param_count > 0;
    if (asked != PARAMETERS_RELOADED) {
        choice.is_resident = true;
        look_around(search, choice, d);
    }
    if (may_reload) {
        choice.is_resident = false;
        look_around(search, choice, d);
    }
}

/* Without costs, bytes alone would lead to a tile for each element. */
static void go_downhill(Search *search, const SweepChoice *start) {
    enum { MOST_ROUNDS = 16, MOST_WITHOUT_COSTS = 4 };
    const SweepOption *best = look_best_like(search->chosen, start);
    int rounds = best->cost.cycles == 0 ? MOST_WITHOUT_COSTS : MOST_ROUNDS;
    bool is_better = true;
    for (int round = 0; round < rounds && is_better; round++) {
        SweepOption before = *best;
        for (int d = 0; d < DIM_COUNT; d++) {
            look_around_both(search, before.choice, d);
        }
        is_better = look_is_better(best, &before);
    }
}

/* From the best of each schedule and way of the parameters that costs no more than twice the best of all;
 * such that are met on the way are gone on from too. */
static void improve(Search *search) {
    const SweepTerms *terms = search->terms;
    SweepChosen *chosen = search->chosen;
    bool is_asked = terms->is_whole || terms->rows > 0 || terms->channels > 0;
    for (uint32_t i = 0; !is_asked && chosen->fits && i < chosen->other_count; i++) {
        SweepChoice start = chosen->other[i].choice;
        if (chosen->other[i].cost.cycles - chosen->best.cost.cycles <= chosen->best.cost.cycles) {
            go_downhill(search, &start);
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
    improve(&search);
    Timeline timeline = {0};
    bool done = search.has_any;
    if (done && !chosen->fits) {
        done = sweep_cost(sweep, &chosen->best.choice, &search.moves, &timeline, &chosen->best.cost);
    }
    return done;
}
