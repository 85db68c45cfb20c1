/* The bytes that commands touch of a buffer: those that the views it is used with address. Of what lies in far memory
 * windows that stride may leave out indices; the boxes of one sweep are a grid, so these are left out dimension by
 * dimension.
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

static bool is_whole(const Use *use) {
    bool is = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        is = is && use->is_used[d] == NULL;
    }
    return is;
}

static Use *append(Uses *uses, const View *view, Arena *arena) {
    uses->use = arena_grow(arena, uses->use, uses->count, &uses->capacity, sizeof *uses->use);
    uses->use[uses->count] = (Use){.view = *view};
    return &uses->use[uses->count++];
}

static bool is_known(const Uses *uses, const View *view) {
    bool is = false;
    for (uint32_t k = 0; k < uses->count && !is; k++) {
        is = is_whole(&uses->use[k]) && is_inside(view, &uses->use[k].view);
    }
    return is;
}

void uses_add(Uses *uses, const View *view, Arena *arena) {
    uses_reserve(uses, view);
    if (is_known(uses, view)) {
        return;
    }
    for (uint32_t k = uses->count; k-- > 0;) {
        if (is_inside(&uses->use[k].view, view)) {
            uses->use[k] = uses->use[--uses->count];
        }
    }
    append(uses, view, arena);
}

static bool is_all(const View *view, const ViewBox *box) {
    return memcmp(box->extent, view->shape.extent, sizeof box->extent) == 0;
}

static Use *find_use(const Uses *uses, const View *view, uint32_t sweep) {
    for (uint32_t k = 0; k < uses->count; k++) {
        Use *use = &uses->use[k];
        if (use->sweep == sweep && !is_whole(use) && is_inside(view, &use->view) && is_inside(&use->view, view)) {
            return use;
        }
    }
    return NULL;
}

/* What the sweep uses of the view, to be added to; null where all of it is used anyway. */
static Use *open_use(Uses *uses, const View *view, uint32_t sweep, Arena *arena) {
    uses_reserve(uses, view);
    Use *use = is_known(uses, view) ? NULL : find_use(uses, view, sweep);
    if (use != NULL || is_known(uses, view)) {
        return use;
    }
    use = append(uses, view, arena);
    use->sweep = sweep;
    for (int d = 0; d < DIM_COUNT; d++) {
        use->is_used[d] = arena_array(arena, bool, view->shape.extent[d]);
    }
    return use;
}

void uses_add_box(Uses *uses, const View *view, const ViewBox *box, uint32_t sweep, Arena *arena) {
    if (is_all(view, box)) {
        uses_add(uses, view, arena);
        return;
    }
    Use *use = open_use(uses, view, sweep, arena);
    for (int d = 0; use != NULL && d < DIM_COUNT; d++) {
        memset(use->is_used[d] + box->first[d], true, (size_t)box->extent[d] * sizeof(bool));
    }
}

void uses_add_windows(Uses *uses, const View *view, const UseWindows along[DIM_COUNT], uint32_t sweep, Arena *arena) {
    Use *use = open_use(uses, view, sweep, arena);
    for (int d = 0; use != NULL && d < DIM_COUNT; d++) {
        const UseWindows *windows = &along[d];
        for (uint64_t k = 0; k < windows->count * windows->taps; k++) { /* no more than the map's products */
            int64_t at = windows->first + (int64_t)(k / windows->taps * windows->stride) +
                         (int64_t)(k % windows->taps * windows->dilation);
            if (at >= windows->low && at < windows->high) {
                use->is_used[d][at] = true;
            }
        }
    }
}

/* Dimensions that miss no index are whole; what then lies in another view is left out. */
static void settle(Uses *uses, Arena *arena) {
    const Uses all = *uses;
    uses->use = NULL;
    uses->count = 0;
    uses->capacity = 0;
    for (uint32_t k = 0; k < all.count; k++) {
        for (int d = 0; d < DIM_COUNT; d++) {
            bool *is_used = all.use[k].is_used[d];
            bool has_all = is_used != NULL && memchr(is_used, 0, (size_t)all.use[k].view.shape.extent[d]) == NULL;
            all.use[k].is_used[d] = has_all ? NULL : is_used;
        }
        if (is_whole(&all.use[k])) {
            uses_add(uses, &all.use[k].view, arena);
        }
    }
    for (uint32_t k = 0; k < all.count; k++) {
        if (!is_whole(&all.use[k]) && !is_known(uses, &all.use[k].view)) {
            *append(uses, &all.use[k].view, arena) = all.use[k];
        }
    }
}

/* ---- What they touch together */

static bool goes_through_lanes(const View *view, int d) {
    bool goes = false;
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        goes = goes || (view->bank_term[k].dim == (Dim)d && !view->repeats[d]);
    }
    return goes;
}

static bool uses_along(const Use *use, int d, uint64_t index) {
    return use->is_used[d] == NULL || use->is_used[d][index];
}

static bool has_index(const Use *use, int d) {
    bool has = use->is_used[d] == NULL;
    for (uint64_t index = 0; !has && index < use->view.shape.extent[d]; index++) {
        has = use->is_used[d][index];
    }
    return has;
}

/* Windows may lie in padding, all of them: then some dimension has no index. */
static bool has_elements(const Use *use) {
    bool has = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        has = has && has_index(use, d);
    }
    return has;
}

/* Up to the last one that an element lies in: dimensions add to its number each for itself. */
static uint64_t lanes_of(const Use *use) {
    const View *view = &use->view;
    uint64_t lanes = 1;
    if (!has_elements(use)) {
        return lanes;
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t index[DIM_COUNT] = {0}, most = 0;
        for (; goes_through_lanes(view, d) && index[d] < view->shape.extent[d]; index[d]++) {
            uint64_t lane = uses_along(use, d, index[d]) ? view_address(view, index).bank : 0;
            most = lane > most ? lane : most;
        }
        lanes += most;
    }
    return lanes;
}

uint64_t uses_lanes(const Uses *uses) {
    uint64_t most = 1;
    for (uint32_t k = 0; k < uses->count; k++) {
        uint64_t lanes = lanes_of(&uses->use[k]);
        most = lanes > most ? lanes : most;
    }
    return most;
}

static bool uses_index(const Use *use, const uint64_t index[DIM_COUNT]) {
    bool uses = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        uses = uses && uses_along(use, d, index[d]);
    }
    return uses;
}

static void mark(const Use *use, uint8_t *is_touched, uint64_t lane_bytes) {
    const View *view = &use->view;
    uint64_t index[DIM_COUNT] = {0};
    do {
        if (!uses_index(use, index)) {
            continue;
        }
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
        uint64_t bytes = view_extent_bytes(&uses->use[k].view);
        lane_bytes = bytes > lane_bytes ? bytes : lane_bytes;
    }
    uint8_t *is_touched = arena_alloc(scratch, (size_t)lanes, (size_t)lane_bytes);
    for (uint32_t k = 0; k < uses->count; k++) {
        mark(&uses->use[k], is_touched, lane_bytes);
    }
    for (uint64_t byte = 0; byte < lanes * lane_bytes; byte++) {
        count += is_touched[byte];
    }
    return count;
}

uint64_t uses_touched_bytes(Uses *uses, Arena *scratch) {
    settle(uses, scratch);
    if (uses->count == 1 && is_whole(&uses->use[0])) {
        return view_touched_bytes(&uses->use[0].view);
    }
    return uses->count == 0 ? 0 : walk_bytes(uses, scratch);
}
