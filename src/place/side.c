/* A side's loop, and its way back.
 *
 * Invariant: the arrivals before `next` are placed, each in its turn; the residents are those of them and of the known
 * that an arrival still to come may meet. */
#include "place/side.h"

#include <stdlib.h>
#include <string.h>

/* Moments lie a part of the residents apart; an arrival goes back so often, each time twice as far. */
enum { MOMENTS_A_TURNOVER = 8, MOST_FAILURES = 4 };

/* The ceiling rises by this part of itself. */
enum { PART_A_RISE = 512 };

enum { ARRIVALS_UNTIL_FORGOTTEN = 64 };

/* The base 2 logarithm, straight between powers of 2. */
static double doublings(uint64_t size) {
    unsigned whole = 0;
    while (size >> whole > 1) {
        whole++;
    }
    double power = (double)((uint64_t)1 << whole);
    return whole + ((double)size - power) / power;
}

void side_init(Side *side, const Pack *pack, Arena *scratch) {
    *side = (Side){.arena = scratch,
                   .arrival = arena_array(scratch, Arrival, pack->count),
                   .known = arena_array(scratch, Resident, pack->count),
                   .earliest = arena_array(scratch, uint64_t, pack->count + 1),
                   .offset = arena_array(scratch, uint64_t, pack->count),
                   .smallest = UINT64_MAX};
    uint64_t largest = 0;
    for (size_t i = 0; i < pack->count; i++) {
        const PackItem *item = &pack->item[i];
        side->smallest = item->size < side->smallest ? item->size : side->smallest;
        largest = item->size > largest ? item->size : largest;
        side->mean_steps += (double)(item->last - item->first) / (double)pack->count;
    }
    side->doublings = doublings(largest) - doublings(side->smallest);
}

void side_begin(Side *side, uint64_t most_work) {
    side->work = 0;
    side->most_work = most_work;
}

/* Then nothing goes back any more, and the ceiling rises to what is needed. */
static bool is_tired(const Side *side) {
    return side->work >= side->most_work / 2;
}

static int compare_arrivals(const void *left, const void *right) {
    const Arrival *a = left;
    const Arrival *b = right;
    if (a->turn != b->turn) {
        return a->turn < b->turn ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->item < b->item ? -1 : a->item > b->item;
}

/* Of the arrivals from `begin` to `end`, those after them told already. */
static void find_earliest(Side *side, size_t begin, size_t end) {
    for (size_t k = end; k-- > begin;) {
        uint64_t from = side->arrival[k].from;
        side->earliest[k] = from < side->earliest[k + 1] ? from : side->earliest[k + 1];
    }
}

/* Sorted by the step they come at, less what they come early by. */
static void sort_arrivals(Side *side, double lookahead) {
    double steps_a_doubling = side->doublings > 0 ? lookahead * side->mean_steps / side->doublings : 0;
    for (size_t k = 0; k < side->count; k++) {
        Arrival *arrival = &side->arrival[k];
        double early = steps_a_doubling * (doublings(arrival->size) - doublings(side->smallest));
        arrival->turn = (double)arrival->from - early;
        arrival->failures = 0;
    }
    if (side->count > 0) {
        qsort(side->arrival, side->count, sizeof *side->arrival, compare_arrivals);
    }
}

static void begin_side(Side *side, double lookahead) {
    sort_arrivals(side, lookahead);
    side->earliest[side->count] = UINT64_MAX;
    find_earliest(side, 0, side->count);
    side->next = side->farthest = side->oldest = side->moments = 0;
    side->residents.count = 0;
    for (size_t k = 0; k < side->known_count; k++) {
        residents_add(&side->residents, &side->known[k], side->arena);
    }
    side->anew = side->known_count;
}

static Moment *newest(Side *side) {
    return &side->moment[(side->oldest + side->moments - 1) % SIDE_MOMENTS];
}

/* Moments lie far enough apart that to remember them costs less than to place. */
static void remember(Side *side) {
    if (side->moments > 0 && side->next <= newest(side)->next + side->residents.count / MOMENTS_A_TURNOVER) {
        return;
    }
    if (side->moments == SIDE_MOMENTS) {
        side->oldest = (side->oldest + 1) % SIDE_MOMENTS;
    } else {
        side->moments++;
    }
    newest(side)->next = side->next;
    residents_copy(&newest(side)->residents, &side->residents, side->arena);
}

/* The next arrival goes back in time, before all that were placed since. False where it has been there too often. */
static bool go_back(Side *side) {
    Arrival arrival = side->arrival[side->next];
    size_t way_back = (side->residents.count / MOMENTS_A_TURNOVER + 1) << arrival.failures;
    while (side->moments > 1 && newest(side)->next + way_back > side->next) {
        side->moments--;
    }
    size_t to = newest(side)->next;
    size_t passed = side->next - to;
    if (passed == 0 || passed > side->anew || arrival.failures == MOST_FAILURES) {
        return false;
    }
    arrival.failures++;
    side->anew -= passed;
    memmove(&side->arrival[to + 1], &side->arrival[to], passed * sizeof arrival);
    side->arrival[to] = arrival;
    find_earliest(side, to, side->next + 1);
    side->next = to;
    residents_copy(&side->residents, &newest(side)->residents, side->arena);
    return true;
}

/* False where the ceiling would be above `highest`. */
static bool raise_ceiling(Side *side, uint64_t needed, uint64_t highest, uint64_t patience) {
    uint64_t rise = is_tired(side) ? UINT64_MAX : side->ceiling / PART_A_RISE + 1;
    uint64_t ceiling = needed - side->ceiling < rise ? needed : side->ceiling + rise;
    if (needed == UINT64_MAX || ceiling > highest) {
        return false;
    }
    side->ceiling = ceiling;
    side->anew += patience * side->residents.count;
    side->arrival[side->next].failures = 0;
    return true;
}

static void settle(Side *side, uint64_t offset) {
    const Arrival *arrival = &side->arrival[side->next];
    side->offset[arrival->item] = offset;
    Resident resident = {offset, offset + arrival->size, arrival->from, arrival->until};
    residents_add(&side->residents, &resident, side->arena);
    side->next++;
    if (side->next > side->farthest) {
        side->farthest = side->next;
        side->anew++;
    }
}

bool side_place(Side *side, SideTaste taste, uint64_t highest) {
    begin_side(side, taste.lookahead);
    while (side->next < side->count) {
        const Arrival *arrival = &side->arrival[side->next];
        if (side->next % ARRIVALS_UNTIL_FORGOTTEN == 0) {
            residents_forget(&side->residents, side->earliest[side->next]);
        }
        remember(side);
        side->work += side->residents.count + 1;
        if (side->work > side->most_work) {
            return false;
        }
        uint64_t offset;
        uint64_t needed;
        if (residents_find(&side->residents, arrival, side->ceiling, &offset, &needed)) {
            settle(side, offset);
        } else if ((is_tired(side) || !go_back(side)) && !raise_ceiling(side, needed, highest, taste.patience)) {
            return false;
        }
    }
    return true;
}
