/* Do pins share bytes? A sweep over the steps, with the live pins in a tree over all pins by offset.
 *
 * A node of the tree has the highest end of the live pins below it; it is implicit in an array, the children of node v
 * are 2v and 2v+1. What begins to live at [offset, end) meets something where, of the live pins that begin below `end`,
 * the highest end is above `offset`. */
#include "solver/solver_pins.h"

#include "base/checked.h"
#include "solver/spans.h"

#include <stdlib.h>

typedef struct {
    uint64_t offset, end;
    uint32_t apart;
    size_t buffer;
} Pin;

typedef struct {
    const SolverBuffer *buffer;
    Pin *pin; /* by offset */
    size_t count;
    size_t leaves;     /* a power of two, more than count */
    uint64_t *highest; /* of each node; 0 where none below lives */
} Pins;

static int compare_offsets(const void *left, const void *right) {
    const Pin *a = left;
    const Pin *b = right;
    int order = (a->offset > b->offset) - (a->offset < b->offset);
    return order != 0 ? order : (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static int compare_groups(const void *left, const void *right) {
    const Pin *a = left;
    const Pin *b = right;
    int order = (a->apart > b->apart) - (a->apart < b->apart);
    return order != 0 ? order : compare_offsets(left, right);
}

/* One that can't be where it is, whatever the others do. */
static PinClash list_pins(Pins *pins, size_t count, uint64_t align_bytes) {
    for (size_t i = 0; i < count; i++) {
        const SolverBuffer *buffer = &pins->buffer[i];
        if (!buffer->is_pinned) {
            continue;
        }
        Pin *pin = &pins->pin[pins->count++];
        *pin = (Pin){.offset = buffer->offset, .apart = buffer->apart, .buffer = i};
        if (buffer->offset % align_bytes != 0 || buffer->offset % buffer->align != 0 ||
            !checked_add(buffer->offset, buffer->size, &pin->end) ||
            !checked_round_up(pin->end, align_bytes, &pin->end)) {
            return (PinClash){true, i, i};
        }
    }
    return (PinClash){0};
}

/* ---- Apart: whenever they live */

static PinClash find_in_groups(const Pins *pins) {
    const Pin *highest = NULL;
    for (size_t k = 0; k < pins->count; k++) {
        const Pin *pin = &pins->pin[k];
        bool is_same = highest != NULL && pin->apart != 0 && pin->apart == highest->apart;
        if (is_same && highest->end > pin->offset) {
            return (PinClash){true, highest->buffer, pin->buffer};
        }
        highest = is_same && highest->end > pin->end ? highest : pin;
    }
    return (PinClash){0};
}

/* ---- As they live */

static void set_end(Pins *pins, size_t rank, uint64_t end) {
    size_t v = pins->leaves + rank;
    pins->highest[v] = end;
    for (v /= 2; v > 0; v /= 2) {
        const uint64_t a = pins->highest[2 * v], b = pins->highest[2 * v + 1];
        pins->highest[v] = a > b ? a : b;
    }
}

/* How many begin below `offset`. */
static size_t count_below(const Pins *pins, uint64_t offset) {
    size_t low = 0, high = pins->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pins->pin[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t highest_of(const Pins *pins, size_t count) {
    uint64_t highest = 0;
    for (size_t v = pins->leaves + count; v > 1; v /= 2) {
        const uint64_t left = v % 2 == 1 ? pins->highest[v - 1] : 0;
        highest = left > highest ? left : highest;
    }
    return highest;
}

/* The live pin that shares a byte with this one: there is one. */
static size_t find_other(const Pins *pins, const Pin *pin) {
    size_t rank = 0;
    while (pins->highest[pins->leaves + rank] <= pin->offset || pins->pin[rank].offset >= pin->end) {
        rank++;
    }
    return pins->pin[rank].buffer;
}

static PinClash sweep(Pins *pins, Arena *scratch) {
    size_t most = 0, count = 0;
    for (size_t k = 0; k < pins->count; k++) {
        most += life_most_edges(&pins->buffer[pins->pin[k].buffer]);
    }
    LifeEdge *edge = arena_array(scratch, LifeEdge, most);
    for (size_t k = 0; k < pins->count; k++) {
        count += life_edges(&pins->buffer[pins->pin[k].buffer], k, edge + count);
    }
    life_sort_edges(edge, count);
    for (size_t k = 0; k < count; k++) {
        const Pin *pin = &pins->pin[edge[k].buffer];
        if (edge[k].is_begin && highest_of(pins, count_below(pins, pin->end)) > pin->offset) {
            return (PinClash){true, pin->buffer, find_other(pins, pin)};
        }
        set_end(pins, edge[k].buffer, edge[k].is_begin ? pin->end : 0);
    }
    return (PinClash){0};
}

static PinClash find_clash(Pins *pins, Arena *scratch) {
    qsort(pins->pin, pins->count, sizeof *pins->pin, compare_groups);
    PinClash clash = find_in_groups(pins);
    if (clash.is_found) {
        return clash;
    }
    qsort(pins->pin, pins->count, sizeof *pins->pin, compare_offsets);
    for (pins->leaves = 1; pins->leaves <= pins->count; pins->leaves *= 2) {
    }
    pins->highest = arena_array(scratch, uint64_t, 2 * pins->leaves);
    return sweep(pins, scratch);
}

PinClash solver_pins_clash(const SolverBuffer *buffer, size_t count, uint64_t align_bytes, Arena *scratch) {
    const ArenaMark mark = arena_mark(scratch);
    Pins pins = {.buffer = buffer, .pin = arena_array(scratch, Pin, count)};
    PinClash clash = list_pins(&pins, count, align_bytes);
    clash = clash.is_found || pins.count == 0 ? clash : find_clash(&pins, scratch);
    arena_back(scratch, mark);
    return clash;
}
