/* Inside the solver: many searches of one problem, each with its own preferences and a share of nodes, until one ends.
 *
 * Searches are numbered, and which of them ends the race does not depend on how many run at a time: it is the lowest
 * number that ends within its share. */
#ifndef S0_SOLVER_RACE_H
#define S0_SOLVER_RACE_H

#include "solver/search.h"

typedef struct {
    SearchEnd end;   /* SEARCH_SPENT: all shares are spent, or it was stopped */
    bool is_stopped; /* by the clock or the caller */
    uint64_t nodes;
    const char *method; /* which preferences ended it */
} RaceResult;

typedef struct Race Race;

/* Races of `model`; each takes the room that its threads need from `arena`. `deadline_ms` is a reading of
 * race_clock_ms; 0: none. */
Race *race_new(const Model *model, const SolverOptions *options, uint64_t deadline_ms, Arena *arena);

uint64_t race_clock_ms(void);

/* What the clock will show when so many milliseconds have passed; 0 where that is no limit. */
uint64_t race_deadline_ms(uint64_t most_ms);

/* The nodes that let one search begin, and every one once. */
uint64_t race_first_nodes(const Race *race);
uint64_t race_round_nodes(const Race *race);

/* Searches go on where the race before left off if that was for the same capacity. `progress` is what to tell. Writes
 * offset[] where a placement is found. */
RaceResult race_run(Race *race, Level capacity, uint64_t most_nodes, const SolverProgress *progress, Level *offset);

#endif
