/* Residents: the items placed so far that something still to be placed may meet, sorted by offset.
 *
 *     address
 *      ceiling ----------------------      time runs away from one step, the fullest: in either direction
 *      |   |___b___|   hole              an arrival sees the residents it shares a step with as one stack of
 *      |  |____a______|____|             blocks, and the holes between them
 *      +--0-------------------> time */
#ifndef S0_PLACE_RESIDENTS_H
#define S0_PLACE_RESIDENTS_H

#include "place/pack.h"

typedef struct {
    uint64_t offset, end; /* bytes */
    uint64_t from, until; /* steps away, half-open */
} Resident;

typedef struct {
    Resident *resident;
    size_t count, capacity;
} Residents;

/* What is to be placed next. */
typedef struct {
    uint64_t from, until; /* steps away, half-open */
    uint64_t size, align; /* bytes */
    size_t item;
    double turn; /* arrivals are placed by it, lowest first */
    unsigned failures;
} Arrival;

/* Finds a hole below `ceiling` whose neighbours leave when the arrival leaves, and of which little is left over. False
 * where none holds it, with the ceiling that would in `needed`, UINT64_MAX where none does. */
bool residents_find(const Residents *residents, const Arrival *arrival, uint64_t ceiling, uint64_t *offset,
                    uint64_t *needed);

void residents_add(Residents *residents, const Resident *resident, Arena *arena);

/* Forgets who is gone at `step`, where all further arrivals come at that step or later. */
void residents_forget(Residents *residents, uint64_t step);

void residents_copy(Residents *to, const Residents *from, Arena *arena);

#endif
