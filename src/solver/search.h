/* Inside the solver: one exact search for a placement within a capacity.
 *
 * A section has a floor: below it nothing more will be placed. A decision says what lies directly on the floor of one
 * section: one of the rectangles that can rest there, or nothing, which raises the floor to the next level anything
 * can have. A rectangle is placed only where all its sections have one floor, so nothing is left below it.
 *
 *     height
 *      ^        +-----+
 *      |  +-----+     |         the floor of section s is the lowest of its neighbours': what rests on it lies
 *      |  |     |     +---+     between them, or the section stays empty up to the next level
 *      +--+-----+--s--+---+--> section
 *
 * Which section is asked next is free, and where one has no slack few answers are left: that is what makes it fast. */
#ifndef S0_SOLVER_SEARCH_H
#define S0_SOLVER_SEARCH_H

#include "solver/model.h"

/* Which section is asked next: the one with */
typedef enum {
    PICK_LOWEST, /* the lowest floor, then the fewest answers */
    PICK_FEWEST, /* the fewest answers, then the least slack */
    PICK_MIDDLE, /* a low floor and few answers, then the least slack */
    PICK_COUNT,
} PickKind;

typedef enum {
    SEARCH_FOUND,
    SEARCH_EXHAUSTED, /* there is no placement within the capacity */
    SEARCH_SPENT,     /* the nodes are spent, or it is over */
} SearchEnd;

typedef struct Search Search;

/* More changes than are ever undone of problems that a search gets through; 20 bytes each. */
enum { SEARCH_MOST_CHANGES = 1 << 23 };

/* How many changes a search of `model` may need to undo. */
uint32_t search_most_changes(const Model *model);

/* Room for searches of `model`, one after another; for so many changes. */
Search *search_new(const Model *model, uint32_t switched_off, uint32_t most_changes, Arena *arena);

typedef struct {
    Level capacity;
    PickKind pick;
    const uint32_t *rank; /* of each rectangle: lower ones are tried first */
    uint64_t most_nodes;
    bool (*is_over)(void *context); /* asked now and then: shall the search end? */
    void *context;
} SearchTask;

SearchEnd search_run(Search *search, const SearchTask *task);

/* Of the last run. */
uint64_t search_nodes(const Search *search);
const Level *search_offsets(const Search *search);

#endif
