/* When buffers live: sets of steps as spans, the steps at which a life begins, pauses and ends. */
#ifndef S0_SOLVER_SPANS_H
#define S0_SOLVER_SPANS_H

#include "solver/solver.h"

static inline int compare_numbers(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

/* Sorts spans and joins those that overlap or meet; returns how many are left. */
size_t spans_join(PlaceSpan *span, size_t count);

/* Does the buffer live at that step? */
bool life_has(const SolverBuffer *buffer, uint64_t step);

/* A piece of a buffer's life begins or ends. */
typedef struct {
    uint64_t step;
    size_t buffer; /* a number that the caller gives */
    bool is_begin;
} LifeEdge;

/* How many edges there are at most. */
size_t life_most_edges(const SolverBuffer *buffer);

/* Writes the edges of the buffer, called `number`, to edge[]; returns how many. A piece of no steps has none. */
size_t life_edges(const SolverBuffer *buffer, size_t number, LifeEdge *edge);

/* By steps, ends before begins: lives are half-open; then by number. */
void life_sort_edges(LifeEdge *edge, size_t count);

/* A buffer that must lie apart from others, wherever in time. */
typedef struct {
    uint32_t apart;
    size_t buffer;
} GroupMember;

/* Lists those that are in a group in member[], by group and then by number; returns how many. */
size_t group_members(const SolverBuffer *buffer, size_t count, GroupMember *member);

#endif
