/* Inside the search: where it stands, and what follows from that. Every change is written down, so that it can be taken
 * back. */
#ifndef S0_PLACE_SEARCH_STATE_H
#define S0_PLACE_SEARCH_STATE_H

#include "place/search.h"

typedef struct {
    uint32_t begin, end; /* active[begin, end) */
    uint32_t lo, hi;     /* hull of their sections */
    int32_t owner;       /* the frame whose decision left it, -1: none */
} Part;

/* How much has been written down. */
typedef struct {
    uint32_t raised, placed, waiting, choices;
} Mark;

typedef struct {
    Part part;
    uint32_t section;                        /* about whose floor is decided */
    uint32_t choice_begin, choice_end, next; /* choice[begin, end), `next` the first untried */
    Level waste; /* where the floor goes if nothing rests on it; LEVEL_NONE: tried, or can't be */
    Mark mark;
} Frame;

/* What a section was before it was changed. */
typedef struct {
    uint32_t section;
    Level floor, top;
} Raised;

struct Search {
    const Model *model;
    SearchTask task;
    bool is_off[INFER_COUNT];
    uint64_t nodes, step;

    /* Of a section. */
    Level *floor;        /* nothing more is placed below */
    Level *top;          /* of what is placed: what rests there is supported */
    Level *left;         /* the sum of what is not placed */
    uint32_t *count;     /* of what is not placed */
    uint64_t *raised_in; /* the step in which its floor was last written down */
    Level *lowest;       /* scratch: the lowest `low` of what is not placed */
    uint32_t *answers;
    uint32_t *reach;
    bool *is_open;

    /* Of a rectangle. */
    Level *low;    /* where it is not placed: no offset is lower */
    Level *offset; /* where it is placed */
    bool *is_placed;

    uint32_t *active;
    uint32_t *choice, choice_count, most_choices;
    Raised *raised;
    uint32_t raised_count, most_raised;
    uint32_t *placed, placed_count;
    Part *waiting;
    uint32_t waiting_count;
    Frame *frame;
    uint32_t frame_count, most_frames;
    uint32_t culprit; /* the section that failed last */
};

/* Everything at the start. False where a section holds more than the capacity. */
bool state_reset(Search *search);

/* Is there room for one more frame, whatever it needs? */
bool state_has_room(const Search *search);

Part state_part(const Search *search, uint32_t begin, uint32_t end, int32_t owner);

/* Raises floors as long as all that is left in a section must lie higher. False where something is too high then. */
bool state_raise_floors(Search *search, const Part *part);

/* Could something that is left go where nothing will be? Then this is no placement in which all rest. */
bool state_is_dominated(Search *search, const Part *part);

/* The section to decide about. */
uint32_t state_pick(Search *search, const Part *part);

bool state_covers(const Search *search, uint32_t rect, uint32_t section);

/* May a rectangle whose floors are level be placed on them? */
bool state_may_rest(const Search *search, uint32_t rect);

/* The lowest floor above that of `section` if nothing rests on it; LEVEL_NONE where that is too high. */
Level state_next_level(const Search *search, const Part *part, uint32_t section);

void state_set_floor(Search *search, uint32_t section, Level level);
void state_place(Search *search, uint32_t rect, Level offset);

/* The end of a step. */
Mark state_mark(Search *search);
void state_undo(Search *search, const Mark *mark);

/* The section that failed is hard. */
void state_blame(Search *search);

#endif
