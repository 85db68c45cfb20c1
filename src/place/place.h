/* Placement: live ranges packed into one memory.
 *
 *     address
 *      ^    +-------+
 *      |    |   b   +----+         a buffer is a rectangle: [first, last) steps wide, size bytes high;
 *      |  +-+-------+  c |         two that share a step must not share a byte
 *      |  |  a   |  +----+
 *      +--+------+--------------> step
 *
 * Heuristics are deterministic, and their height is the same for every order of the input. The judge is in
 * place/judge.h and shares no code with this. */
#ifndef S0_PLACE_PLACE_H
#define S0_PLACE_PLACE_H

#include "base/arena.h"

/* Half-open, first < last. */
typedef struct {
    uint64_t first, last; /* steps */
} PlaceSpan;

typedef struct {
    uint64_t size;        /* bytes, at least 1 */
    uint64_t align;       /* bytes, at least 1, any integer */
    uint64_t first, last; /* steps, half-open, first < last */
    uint64_t offset;      /* out: bytes from the start of the memory */
} PlaceBuffer;

typedef struct {
    PlaceBuffer *buffer; /* count of them */
    size_t count;
    uint64_t align_bytes; /* at least 1, the memory's allocation unit: offsets are multiples of it, ends round up */
    uint64_t height;      /* out: max of roundup(offset + size, align_bytes) */
    uint64_t bound;       /* out: no placement is lower */
    const char *method; /* out: the order that won: size, area, lifetime, first, conflict, pressure, repair, outward */
} PlaceProblem;

/* Offsets for all buffers: the lowest of several greedy orders, a short repair, and a placement outward from the
 * fullest step. Writes offset of each buffer, height, bound, method. Ends where the bound is reached or an amount of
 * work is done that grows with count only: seconds for 100 000 buffers, whatever they are; the order by first step is
 * always finished. False with nothing written where a height, or an alignment in whole units, does not fit 64 bits.
 * cost    O(n sqrt n) and, within that work, O(n k) where k live at once
 * source  Pisarchyk & Lee 2020 (arXiv 2001.03288), greedy by size */
bool place_solve(PlaceProblem *problem, Arena *scratch);

/* The largest sum of live sizes, each rounded up to `align_bytes`: a lower bound of every height. `step` is the first
 * step that has it; may be null. False on overflow. */
bool place_bound(const PlaceProblem *problem, Arena *scratch, uint64_t *bound_bytes, uint64_t *step);

#endif
