/* One side of a peak: arrivals placed in turn, away from the peak, among what was placed before.
 *
 * Arrivals are placed by the step they come at, large ones earlier. One that finds no hole goes back in time: it is
 * placed before those that took its room. Where that does not help, the ceiling rises a little. */
#ifndef S0_PLACE_SIDE_H
#define S0_PLACE_SIDE_H

#include "place/residents.h"

/* A side can go back to so many moments. */
enum { SIDE_MOMENTS = 16 };

typedef struct {
    size_t next;
    Residents residents;
} Moment;

typedef struct {
    Arena *arena;
    Arrival *arrival; /* in: count of them */
    size_t count, next;
    Resident *known; /* in: known_count of them, which live at the peak */
    size_t known_count;
    uint64_t *earliest; /* count + 1: the least step at which an arrival or one after it comes */
    uint64_t *offset;   /* out: of each item that arrives */
    Residents residents;
    Moment moment[SIDE_MOMENTS]; /* a ring; `moments` of them from `oldest` on */
    size_t oldest, moments;
    uint64_t anew;      /* how often arrivals may still be placed anew */
    size_t farthest;    /* the largest `next` */
    uint64_t ceiling;   /* in, out: bytes */
    uint64_t work;      /* residents visited since side_begin */
    uint64_t most_work; /* given up there, tired after half of it */
    uint64_t smallest;  /* bytes, of all items */
    double doublings;   /* from the smallest to the largest */
    double mean_steps;  /* of all lives */
} Side;

typedef struct {
    double lookahead;  /* the largest come so many mean lifetimes early */
    uint64_t patience; /* so often are residents placed anew before the ceiling rises again */
} SideTaste;

/* Room for all items. */
void side_init(Side *side, const Pack *pack, Arena *scratch);

/* Both sides of one peak are placed with this work. */
void side_begin(Side *side, uint64_t most_work);

/* Places the arrivals. False where the ceiling would rise above `highest` or beyond 64 bits, or where the work is
 * spent. */
bool side_place(Side *side, SideTaste taste, uint64_t highest);

#endif
