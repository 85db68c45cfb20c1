/* The largest sum of what lives at one step, or must lie apart; the highest end of what is alone. */
#include "solver/solver_bound.h"

#include "base/checked.h"
#include "base/fault.h"
#include "solver/spans.h"

static uint64_t size_of(const SolverBuffer *buffer, uint64_t align_bytes) {
    uint64_t size = 0;
    CHECK(checked_round_up(buffer->size, align_bytes, &size));
    return size;
}

static LifeEdge *list_edges(const SolverBuffer *buffer, size_t count, Arena *scratch, size_t *edge_count) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        most += life_most_edges(&buffer[i]);
    }
    LifeEdge *edge = arena_array(scratch, LifeEdge, most);
    *edge_count = 0;
    for (size_t i = 0; i < count; i++) {
        *edge_count += life_edges(&buffer[i], i, edge + *edge_count);
    }
    life_sort_edges(edge, *edge_count);
    return edge;
}

/* A pin's end, or a size alone. */
static uint64_t end_of(const SolverBuffer *buffer, uint64_t align_bytes) {
    return size_of(buffer, align_bytes) + (buffer->is_pinned ? buffer->offset : 0);
}

static SolverBound largest_group(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch) {
    GroupMember *member = arena_array(scratch, GroupMember, count);
    const size_t members = group_members(buffer, count, member);
    SolverBound bound = {.kind = BOUND_GROUP};
    uint64_t sum = 0;
    for (size_t k = 0; k < members; k++) {
        sum = k > 0 && member[k].apart == member[k - 1].apart ? sum : 0;
        sum += size_of(&buffer[member[k].buffer], align_bytes);
        if (sum > bound.bytes) {
            bound.bytes = sum;
            bound.apart = member[k].apart;
        }
    }
    return bound;
}

SolverBound solver_bound(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch) {
    const ArenaMark mark = arena_mark(scratch);
    SolverBound bound = {0};
    uint64_t live = 0;
    size_t edges;
    const LifeEdge *edge = list_edges(buffer, count, scratch, &edges);
    for (size_t k = 0; k < edges; k++) {
        const uint64_t size = size_of(&buffer[edge[k].buffer], align_bytes);
        live = edge[k].is_begin ? live + size : live - size;
        if (live > bound.bytes) {
            bound = (SolverBound){.bytes = live, .step = edge[k].step};
        }
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = end_of(&buffer[i], align_bytes);
        if (end > bound.bytes) {
            bound = (SolverBound){.bytes = end, .kind = BOUND_ALONE, .buffer = i};
        }
    }
    const SolverBound of_group = largest_group(buffer, count, align_bytes, scratch);
    bound = of_group.bytes > bound.bytes ? of_group : bound;
    arena_back(scratch, mark);
    return bound;
}
