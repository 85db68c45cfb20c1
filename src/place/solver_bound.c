/* The largest sum of live sizes where lives have gaps. */
#include "place/solver_bound.h"

#include "base/checked.h"
#include "base/fault.h"
#include "place/spans.h"

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

uint64_t solver_bound(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch, uint64_t *step) {
    uint64_t most = 0, live = 0;
    size_t edges;
    const LifeEdge *edge = list_edges(buffer, count, scratch, &edges);
    *step = UINT64_MAX;
    for (size_t k = 0; k < edges; k++) {
        uint64_t size = size_of(&buffer[edge[k].buffer], align_bytes);
        live = edge[k].is_begin ? live + size : live - size;
        if (live > most) {
            most = live;
            *step = edge[k].step;
        }
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t end = end_of(&buffer[i], align_bytes);
        if (end > most) {
            most = end;
            *step = UINT64_MAX;
        }
    }
    return most;
}

bool solver_lives_at(const SolverBuffer *buffer, uint64_t step) {
    bool lives = buffer->first <= step && step < buffer->last;
    for (size_t k = 0; k < buffer->gap_count; k++) {
        lives = lives && (step < buffer->gap[k].first || step >= buffer->gap[k].last);
    }
    return lives;
}
