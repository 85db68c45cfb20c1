/* Steps at which buffers live, begin and end. */
#include "solver/spans.h"

#include <stdlib.h>

static int compare_spans(const void *left, const void *right) {
    const PlaceSpan *a = left;
    const PlaceSpan *b = right;
    if (a->first != b->first) {
        return a->first < b->first ? -1 : 1;
    }
    return a->last < b->last ? -1 : a->last > b->last;
}

size_t spans_join(PlaceSpan *span, size_t count) {
    size_t joined = 0;
    if (count > 0) {
        qsort(span, count, sizeof *span, compare_spans);
    }
    for (size_t k = 0; k < count; k++) {
        if (joined == 0 || span[k].first > span[joined - 1].last) {
            span[joined++] = span[k];
        } else if (span[k].last > span[joined - 1].last) {
            span[joined - 1].last = span[k].last;
        }
    }
    return joined;
}

bool life_has(const SolverBuffer *buffer, uint64_t step) {
    bool lives = buffer->first <= step && step < buffer->last;
    for (size_t k = 0; k < buffer->gap_count; k++) {
        lives = lives && (step < buffer->gap[k].first || step >= buffer->gap[k].last);
    }
    return lives;
}

size_t life_most_edges(const SolverBuffer *buffer) {
    return 2 + 2 * buffer->gap_count;
}

static size_t add_piece(LifeEdge *edge, size_t number, uint64_t first, uint64_t last) {
    if (first == last) {
        return 0;
    }
    edge[0] = (LifeEdge){first, number, true};
    edge[1] = (LifeEdge){last, number, false};
    return 2;
}

size_t life_edges(const SolverBuffer *buffer, size_t number, LifeEdge *edge) {
    uint64_t begin = buffer->first;
    size_t count = 0;
    for (size_t k = 0; k < buffer->gap_count; k++) {
        count += add_piece(edge + count, number, begin, buffer->gap[k].first);
        begin = buffer->gap[k].last;
    }
    return count + add_piece(edge + count, number, begin, buffer->last);
}

static int compare_edges(const void *left, const void *right) {
    const LifeEdge *a = left;
    const LifeEdge *b = right;
    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    int order = a->is_begin - b->is_begin;
    return order != 0 ? order : (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

void life_sort_edges(LifeEdge *edge, size_t count) {
    if (count > 0) {
        qsort(edge, count, sizeof *edge, compare_edges);
    }
}

static int compare_members(const void *left, const void *right) {
    const GroupMember *a = left;
    const GroupMember *b = right;
    int order = compare_numbers(a->apart, b->apart);
    return order != 0 ? order : compare_numbers(a->buffer, b->buffer);
}

size_t group_members(const SolverBuffer *buffer, size_t count, GroupMember *member) {
    size_t members = 0;
    for (size_t i = 0; i < count; i++) {
        if (buffer[i].apart != 0) {
            member[members++] = (GroupMember){buffer[i].apart, i};
        }
    }
    if (members > 0) {
        qsort(member, members, sizeof *member, compare_members);
    }
    return members;
}
