/* The solver: an exact search for a placement within a capacity, and for the lowest one.
 *
 * A problem has rectangles that may have gaps in time, fixed offsets, and buffers that must lie apart whether or not
 * they live at once. "Optimal" and "infeasible" are told only where a bound or an exhausted search proves it; a search
 * that was stopped says so. The answer repeats for any number of threads and any order of the buffers, unless the clock
 * or the caller stops the search. The judge (place/judge.h) shares no code with this. */
#ifndef S0_SOLVER_SOLVER_H
#define S0_SOLVER_SOLVER_H

#include "place/place.h"

typedef struct {
    uint64_t size;        /* bytes, at least 1 */
    uint64_t align;       /* bytes, at least 1, any integer */
    uint64_t first, last; /* steps, half-open, first < last */
    const PlaceSpan *gap; /* where it is not live: gap_count, sorted, disjoint, inside [first, last) */
    size_t gap_count;
    uint32_t apart;  /* buffers with the same number share no byte, live at once or not; 0: as they live */
    bool is_pinned;  /* `offset` is given */
    bool has_hint;   /* `hint` is proposed: where all that are free have one, theirs is the first placement looked at */
    uint64_t offset; /* bytes; in where pinned, out otherwise */
    uint64_t hint;   /* bytes */
} SolverBuffer;

/* Inferences that can be switched off, to measure what each is worth. */
typedef enum {
    INFER_SECTIONS,  /* parts of time that no buffer crosses are solved apart, also during the search */
    INFER_CANONICAL, /* each buffer rests on another, on the floor, or at a pin's side */
    INFER_DOMINANCE, /* a buffer that would fit below where the search stands was to be placed there */
    INFER_SYMMETRY,  /* buffers that are alike go in one order */
    INFER_FLOORS,    /* what is left in a section must fit above its floor */
    INFER_BOUNDS,    /* bounds stronger than the largest live sum */
    INFER_RESTARTS,  /* searches begin anew with other preferences, more often with those that have found something */
    INFER_COUNT,
} Inference;

const char *inference_name(Inference inference);

enum { SOLVER_MOST_THREADS = 64 };

typedef struct {
    uint64_t height, bound, nodes; /* best so far */
} SolverProgress;

typedef struct {
    uint64_t capacity;     /* bytes; UINT64_MAX where there is none */
    bool is_minimised;     /* the lowest height is sought, otherwise any within the capacity */
    uint64_t align_bytes;  /* at least 1: offsets are multiples of it, ends round up */
    uint64_t most_nodes;   /* 0: no limit */
    uint64_t most_ms;      /* 0: no limit */
    uint32_t threads;      /* at least 1; no more than SOLVER_MOST_THREADS run */
    uint32_t switched_off; /* a set of Inference, bits */
    bool is_mere_decision; /* of an infeasible problem neither offsets nor culprits are asked for */
    void (*tell)(void *context, const SolverProgress *progress); /* may be null; told now and then, by one thread */
    void *context;
    const volatile int *stop; /* may be null; the search ends where it is not 0 */
} SolverOptions;

typedef enum {
    SOLVER_FOUND,
    SOLVER_INFEASIBLE, /* proven: no placement is within the capacity */
    SOLVER_STOPPED,    /* by nodes, clock or caller, with nothing found within the capacity */
} SolverOutcome;

typedef struct {
    SolverOutcome outcome;
    uint64_t height,
        bound; /* bytes; the offsets of a stopped search are the best there are, and may be over the capacity */
    uint64_t nodes;
    bool is_placed;     /* there are offsets, within the capacity or not; else `height` means nothing */
    bool is_optimal;    /* no placement is lower: the height is the bound, which an exhausted search may have raised */
    const char *method; /* what found it; what proved it where that was a search */
    const char *proof;
    size_t *culprit; /* of an infeasible problem: buffers that do not fit together */
    size_t culprit_count;
    bool is_least; /* and each of them left out, the others do: proven */
} SolverResult;

/* Writes the offset of each buffer but the pinned ones. False, with nothing written, where a sum of sizes does not fit
 * 64 bits. */
bool solver_run(SolverBuffer *buffer, size_t count, const SolverOptions *options, Arena *keep, Arena *scratch,
                SolverResult *result);

/* needs   place_solve
 * Of a placement above its bound: a lower one, or a higher bound, as far as `most_nodes` go. The height is the lower of
 * both; where the search was exhausted it is the bound. */
void solver_tighten(PlaceProblem *problem, uint64_t most_nodes, Arena *scratch);

#endif
