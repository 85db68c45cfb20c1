/* The largest sum of live sizes where lives have gaps. */
#include "place/solver_bound.h"

#include "base/checked.h"
#include "base/fault.h"

#include <stdlib.h>

/* A piece of a life begins or ends. */
typedef struct {
    uint64_t step, size;
    bool is_begin;
} Edge;

static int compare_edges(const void *left, const void *right) {
    const Edge *a = left;
    const Edge *b = right;
    int order = (a->step > b->step) - (a->step < b->step);
    return order != 0 ? order : a->is_begin - b->is_begin;
}

static size_t add_piece(Edge *edge, size_t count, uint64_t first, uint64_t last, uint64_t size) {
    if (first == last) {
        return count;
    }
    edge[count++] = (Edge){first, size, true};
    edge[count++] = (Edge){last, size, false};
    return count;
}

static uint64_t size_of(const SolverBuffer *buffer, uint64_t align_bytes) {
    uint64_t size = 0;
    CHECK(checked_round_up(buffer->size, align_bytes, &size));
    return size;
}

static size_t list_edges(Edge *edge, const SolverBuffer *buffer, size_t count, uint64_t align_bytes) {
    size_t edges = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = buffer[i].first;
        uint64_t size = size_of(&buffer[i], align_bytes);
        for (size_t k = 0; k < buffer[i].gap_count; k++) {
            edges = add_piece(edge, edges, begin, buffer[i].gap[k].first, size);
            begin = buffer[i].gap[k].last;
        }
        edges = add_piece(edge, edges, begin, buffer[i].last, size);
    }
    return edges;
}

/* A pin's end, or a size alone. */
static uint64_t end_of(const SolverBuffer *buffer, uint64_t align_bytes) {
    return size_of(buffer, align_bytes) + (buffer->is_pinned ? buffer->offset : 0);
}

uint64_t solver_bound(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch, uint64_t *step) {
    size_t most_edges = 0;
    uint64_t most = 0, live = 0;
    for (size_t i = 0; i < count; i++) {
        most_edges += 2 + 2 * buffer[i].gap_count;
    }
    Edge *edge = arena_array(scratch, Edge, most_edges);
    size_t edges = list_edges(edge, buffer, count, align_bytes);
    if (edges > 0) {
        qsort(edge, edges, sizeof *edge, compare_edges);
    }
    *step = UINT64_MAX;
    for (size_t k = 0; k < edges; k++) {
        live = edge[k].is_begin ? live + edge[k].size : live - edge[k].size;
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
