/* Residents: which hole an arrival takes.
 *
 * Invariant: sorted by offset; residents that share a step share no byte, the others may. */
#include "place/residents.h"

#include "base/checked.h"

#include <string.h>

/* Holes that are compared: whatever is small finds many, and the best of these is good enough. */
enum { MOST_HOLES = 64 };

/* What it counts that a neighbour leaves sooner or later, beside the share of the hole that is left over. */
static const double WEIGHT_OF_MISMATCH = 12;
static const double PART_OF_STAY = 0.2;

/* Floor and ceiling outlive everything. */
static const uint64_t FOREVER = UINT64_MAX;

/* The room between two neighbours, of which each is known by when it leaves. */
typedef struct {
    uint64_t low, high;                /* bytes */
    uint64_t until_below, until_above; /* steps away */
} Hole;

typedef struct {
    uint64_t offset;
    double cost;
    unsigned holes; /* that were compared */
} Choice;

/* From 0, where both leave at once, to 1: how much longer one stays than the other, against a part of the arrival's
 * stay. */
static double mismatch(const Arrival *arrival, uint64_t until) {
    if (until == FOREVER) {
        return 0;
    }
    double apart = until > arrival->until ? (double)(until - arrival->until) : (double)(arrival->until - until);
    return apart / (apart + PART_OF_STAY * (double)(arrival->until - arrival->from));
}

static void choose(Choice *choice, uint64_t offset, double cost) {
    if (cost < choice->cost) {
        choice->cost = cost;
        choice->offset = offset;
    }
}

/* Takes the hole into the choice, at its lower and at its upper end, where the arrival fits. */
static void consider(Choice *choice, const Hole *hole, const Arrival *arrival) {
    uint64_t low;
    if (!checked_round_up(hole->low, arrival->align, &low) || low > hole->high || hole->high - low < arrival->size) {
        return;
    }
    uint64_t high = hole->high - arrival->size;
    high -= high % arrival->align;
    double left = (double)(hole->high - hole->low - arrival->size);
    double cost = left / (left + (double)arrival->size);
    double below = WEIGHT_OF_MISMATCH * mismatch(arrival, hole->until_below);
    double above = WEIGHT_OF_MISMATCH * mismatch(arrival, hole->until_above);
    if (left == 0) {
        choose(choice, low, cost + (below + above) / 2);
    } else {
        choose(choice, low, cost + below);
        choose(choice, high, cost + above);
    }
    choice->holes++;
}

/* One pass without a branch that depends on who meets whom: it is where the time of a large problem goes. A resident
 * that the arrival does not meet counts as one of no bytes at offset 0. */
bool residents_find(const Residents *residents, const Arrival *arrival, uint64_t ceiling, uint64_t *offset,
                    uint64_t *needed) {
    static const Resident GROUND = {.until = FOREVER};
    Choice choice = {.cost = (double)FOREVER};
    const Resident *below = &GROUND;
    uint64_t from = arrival->from;
    uint64_t until = arrival->until;
    uint64_t size = arrival->size;
    const Resident *end = residents->resident + residents->count;
    uint64_t low = 0;
    for (const Resident *resident = residents->resident; resident < end && choice.holes < MOST_HOLES; resident++) {
        uint64_t meets = (uint64_t)0 - (uint64_t)((resident->from < until) & (from < resident->until));
        uint64_t high = resident->offset & meets;
        uint64_t top = resident->end & meets;
        if ((high > low) & (high - low >= size)) {
            consider(&choice, &(Hole){low, high, below->until, resident->until}, arrival);
        }
        below = top > low ? resident : below;
        low = top > low ? top : low;
    }
    if (choice.holes < MOST_HOLES && low < ceiling) {
        consider(&choice, &(Hole){low, ceiling, below->until, FOREVER}, arrival);
    }
    *offset = choice.offset;
    if (choice.holes == 0) {
        bool is_told = checked_round_up(low, arrival->align, &low) && checked_add(low, arrival->size, needed);
        *needed = is_told ? *needed : UINT64_MAX;
    }
    return choice.holes > 0;
}

/* The first resident above `offset`. */
static size_t first_above(const Residents *residents, uint64_t offset) {
    size_t low = 0;
    size_t high = residents->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (residents->resident[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void residents_add(Residents *residents, const Resident *resident, Arena *arena) {
    residents->resident =
        arena_grow(arena, residents->resident, residents->count, &residents->capacity, sizeof *residents->resident);
    size_t at = first_above(residents, resident->offset);
    Resident *place = &residents->resident[at];
    memmove(place + 1, place, (residents->count - at) * sizeof *place);
    *place = *resident;
    residents->count++;
}

void residents_forget(Residents *residents, uint64_t step) {
    size_t kept = 0;
    for (size_t i = 0; i < residents->count; i++) {
        if (residents->resident[i].until > step) {
            residents->resident[kept++] = residents->resident[i];
        }
    }
    residents->count = kept;
}

void residents_copy(Residents *to, const Residents *from, Arena *arena) {
    if (to->capacity < from->count) {
        to->capacity = from->capacity;
        to->resident = arena_array(arena, Resident, to->capacity);
    }
    if (from->count > 0) {
        memcpy(to->resident, from->resident, from->count * sizeof *from->resident);
    }
    to->count = from->count;
}
