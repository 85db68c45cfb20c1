/* One way for a sweep to go, judged; private to choose.c and look.c. What was asked before is remembered: many ways of
 * cutting come to the same tile. */
#ifndef S0_SWEEP_LOOK_H
#define S0_SWEEP_LOOK_H

#include "sweep/kernel.h"

enum { LOOK_SEEN = 512, LOOK_COSTS = 128, LOOK_NEEDS = 256 };

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
    uint64_t grain[DIM_COUNT]; /* extents of tiles are multiples of it, or the whole */
    bool has_any;
    uint32_t seen_count, cost_count;
    SweepChoice seen[LOOK_SEEN];
    KnownCost costs[LOOK_COSTS];
    SweepMoves moves;
    KnownNeed needs[LOOK_NEEDS];
} Search;

/* What fits is compared by what it costs; as long as nothing does, by what it needs. */
void look_at(Search *search, const SweepChoice *choice);

/* By cycles, then by bytes. */
bool look_is_better(const SweepOption *a, const SweepOption *b);

bool look_fits(Search *search, const SweepChoice *choice);

/* Does it cost more than the best that is like it, however it goes? */
bool look_is_hopeless(const Search *search, const SweepChoice *choice);

/* The best of its schedule and way of the parameters; null where there is none yet. */
SweepOption *look_best_like(SweepChosen *chosen, const SweepChoice *choice);

#endif
