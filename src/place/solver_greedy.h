/* Inside the solver: a placement of any problem, quickly, however high. */
#ifndef S0_PLACE_SOLVER_GREEDY_H
#define S0_PLACE_SOLVER_GREEDY_H

#include "place/solver.h"

typedef struct {
    uint64_t *offset; /* room for all; bytes, of each buffer */
    uint64_t height;  /* bytes */
    const char *method;
} GreedyAnswer;

/* The lowest of several greedy placements of the buffers. False where pins can't all be kept. Sizes and what alignment
 * may add fit 64 bits. */
bool solver_greedy(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch,
                   GreedyAnswer *answer);

/* Can all pins be kept, however much room there is? */
bool solver_pins_hold(const SolverBuffer *buffer, size_t count, uint64_t align_bytes);

/* Do two share a step, or must they lie apart? */
bool solver_meet(const SolverBuffer *a, const SolverBuffer *b);

#endif
