/* Inside the search: where it stands, and what follows from that. Every change is written down in order, and taken back
 * in the reverse order. */
#ifndef S0_SOLVER_SEARCH_STATE_H
#define S0_SOLVER_SEARCH_STATE_H

#include "solver/search.h"

/* Rectangles that nothing left to place ties to others. */
typedef struct {
    uint32_t begin, end; /* active[begin, end) */
    uint32_t lo, hi;     /* their sections lie within */
    int32_t owner;       /* the frame whose decision left it, -1: none */
} Part;

/* How much has been written down. */
typedef struct {
    uint32_t changed, waiting, choices;
} Mark;

typedef struct {
    Part part;
    uint32_t section;          /* about whose floor is decided */
    uint32_t next, choice_end; /* choice[next, choice_end) are untried */
    bool is_wasted;            /* that nothing rests on it was tried too */
    Mark mark;
} Frame;

/* What a section or a rectangle was before it was changed. */
typedef struct {
    enum { CHANGE_SECTION, CHANGE_RECT, CHANGE_PLACED } kind;
    uint32_t index;
    Level first, second; /* floor and top; low and rest */
    uint32_t answers;
} Change;

/* Sections lo to hi, half-open; none where hi is 0. */
typedef struct {
    uint32_t lo, hi;
} Hull;

struct Search {
    const Model *model;
    SearchTask task;
    bool is_off[INFER_COUNT];
    uint64_t nodes;
    uint64_t next_look; /* the nodes after which it is asked whether the search is over */
    bool is_full;       /* something was cut short for want of room */

    /* Of a section. */
    Level *floor;      /* nothing more is placed below */
    Level *top;        /* of what is placed: what rests there is supported */
    Level *left;       /* the sum of what is not placed */
    uint32_t *count;   /* of what is not placed */
    uint32_t *answers; /* of what is not placed: how many have `low` at the floor */
    uint32_t *cross;   /* of what is not placed: how many live both here and in the section before */

    /* Of a rectangle. */
    Level *low;      /* where it is not placed: no offset is lower; LEVEL_NONE where it is */
    Level *rest;     /* the aligned top of what is placed below it */
    Level *offset;   /* where it is placed */
    uint32_t *where; /* active[where[r]] = r */

    uint32_t *active;
    uint32_t *choice, choice_count, most_choices;
    Change *change;
    uint32_t change_count, most_changes;
    Part *waiting;
    uint32_t waiting_count;
    Frame *frame;
    uint32_t frame_count, most_frames;
    Hull hull; /* of the sections whose answers have changed since the floors were raised */
};

/* Everything at the start. False where nothing fits. */
bool state_reset(Search *search);

/* Is there room for one more frame? */
bool state_has_room(const Search *search);

/* Places a rectangle on the floors of its sections, all of which are at `offset`. False where something does not fit
 * any more; so the next. */
bool state_place(Search *search, uint32_t rect, Level offset);

/* Nothing rests on the floor of `section`: it goes up to `level`. */
bool state_waste(Search *search, uint32_t section, Level level);

/* Raises floors as long as all that is left in a section must lie higher. */
bool state_raise_floors(Search *search);

/* Could something that is left go where nothing will be? Then this is no placement in which all rest. Asked of what has
 * changed since `from`. */
bool state_is_dominated(Search *search, uint32_t from);

/* The section to decide about. */
uint32_t state_pick(const Search *search, const Part *part);

/* May a rectangle whose floors are level be placed on them? */
bool state_may_rest(const Search *search, uint32_t rect);

/* The lowest floor above that of `section` if nothing rests on it; LEVEL_NONE where that is too high. */
Level state_next_level(const Search *search, uint32_t section);

Mark state_mark(const Search *search);
void state_undo(Search *search, const Mark *mark);

#endif
