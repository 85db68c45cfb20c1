/* The bytes that commands touch of a buffer: those that the views it is used with address.
 *
 * Parts of a tensor that lie at the same place, a full tile and a smaller one at the end, mostly have the same strides:
 * then the smaller one adds nothing. Where they have not, their elements are walked. */
#include "program/builder.h"

#include <string.h>

/* ---- Which views there are */

static bool same_term(const ViewLevel *a, const ViewLevel *b) {
    return a->dim == b->dim && a->div == b->div && a->mod == b->mod && a->stride_bits == b->stride_bits &&
           a->head_bits == b->head_bits;
}

/* Do both add the same to an address, for each value of the digit? Of a digit that is always 0 only the head counts. */
static bool same_terms(const ViewLevel *a, const ViewLevel *b, uint32_t count, bool is_bank) {
    bool same = true;
    for (uint32_t k = 0; same && k < count; k++) {
        bool is_zero = a[k].extent <= 1 && b[k].extent <= 1;
        same = is_zero && !is_bank ? a[k].head_bits == b[k].head_bits : same_term(&a[k], &b[k]);
        same = same && (!is_bank || k == 0 || a[k].extent == b[k].extent); /* the lane's number is of mixed radix */
    }
    return same;
}

/* Is each element of `a` one of `b`, at the same address? */
static bool is_inside(const View *a, const View *b) {
    bool inside = a->offset_bits == b->offset_bits && a->shape.bits <= b->shape.bits &&
                  a->level_count == b->level_count && a->bank_term_count == b->bank_term_count;
    for (int d = 0; d < DIM_COUNT; d++) {
        inside = inside && a->shape.extent[d] <= b->shape.extent[d] && a->repeats[d] == b->repeats[d];
    }
    return inside && same_terms(a->level, b->level, a->level_count, false) &&
           same_terms(a->bank_term, b->bank_term, a->bank_term_count, true);
}

void uses_reserve(Uses *uses, const View *view) {
    uses->reserved_bytes = view->bank_bytes > uses->reserved_bytes ? view->bank_bytes : uses->reserved_bytes;
}

void uses_add(Uses *uses, const View *view, Arena *arena) {
    uses_reserve(uses, view);
    for (uint32_t k = 0; k < uses->count; k++) {
        if (is_inside(view, &uses->views[k])) {
            return;
        }
    }
    for (uint32_t k = uses->count; k-- > 0;) {
        if (is_inside(&uses->views[k], view)) {
            uses->views[k] = uses->views[--uses->count];
        }
    }
    uses->views = arena_grow(arena, uses->views, uses->count, &uses->capacity, sizeof *uses->views);
    uses->views[uses->count++] = *view;
}

/* ---- What they touch together */

static bool goes_through_lanes(const View *view, int d) {
    bool goes = false;
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        goes = goes || (view->bank_term[k].dim == (Dim)d && !view->repeats[d]);
    }
    return goes;
}

/* Up to the last one that an element lies in: dimensions add to its number each for itself. */
static uint64_t lanes_of(const View *view) {
    uint64_t lanes = 1;
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t index[DIM_COUNT] = {0}, most = 0;
        for (; goes_through_lanes(view, d) && index[d] < view->shape.extent[d]; index[d]++) {
            uint64_t lane = view_address(view, index).bank;
            most = lane > most ? lane : most;
        }
        lanes += most;
    }
    return lanes;
}

uint64_t uses_lanes(const Uses *uses) {
    uint64_t most = 1;
    for (uint32_t k = 0; k < uses->count; k++) {
        uint64_t lanes = lanes_of(&uses->views[k]);
        most = lanes > most ? lanes : most;
    }
    return most;
}

static void mark(const View *view, uint8_t *is_touched, uint64_t lane_bytes) {
    uint64_t index[DIM_COUNT] = {0};
    do {
        ViewAddress at = view_address(view, index);
        uint64_t last = at.byte + (at.bit + view->shape.bits - 1) / 8;
        for (uint64_t byte = at.byte; byte <= last; byte++) {
            is_touched[at.bank * lane_bytes + byte] = 1;
        }
    } while (view_next_index(&view->shape, index));
}

static uint64_t walk_bytes(const Uses *uses, Arena *scratch) {
    uint64_t lane_bytes = 0, count = 0, lanes = uses_lanes(uses);
    for (uint32_t k = 0; k < uses->count; k++) {
        uint64_t bytes = view_extent_bytes(&uses->views[k]);
        lane_bytes = bytes > lane_bytes ? bytes : lane_bytes;
    }
    uint8_t *is_touched = arena_alloc(scratch, (size_t)lanes, (size_t)lane_bytes);
    for (uint32_t k = 0; k < uses->count; k++) {
        mark(&uses->views[k], is_touched, lane_bytes);
    }
    for (uint64_t byte = 0; byte < lanes * lane_bytes; byte++) {
        count += is_touched[byte];
    }
    return count;
}

uint64_t uses_touched_bytes(const Uses *uses, Arena *scratch) {
    return uses->count == 0 ? 0 : uses->count == 1 ? view_touched_bytes(&uses->views[0]) : walk_bytes(uses, scratch);
}
