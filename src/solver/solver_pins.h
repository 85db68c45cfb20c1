/* Inside the solver: buffers whose offsets are given, among themselves. */
#ifndef S0_SOLVER_SOLVER_PINS_H
#define S0_SOLVER_SOLVER_PINS_H

#include "solver/solver.h"

typedef struct {
    bool is_found;
    size_t a, b; /* these can't both be where they are; one alone: it is not aligned, or ends beyond 64 bits */
} PinClash;

/* Pins that can't all be kept, however much room there is. cost  O(n log n), n the pieces of their lives */
PinClash solver_pins_clash(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch);

#endif
