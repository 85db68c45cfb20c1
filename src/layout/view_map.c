/* Do two tensors with the same elements in the same order have the same address map?
 *
 * The address of the k-th element is written as a mixed radix number: digits of k, innermost first, each with an extent
 * and what one step of it adds to address and bank. Two neighbours that continue each other are joined, which makes the
 * list unique: the first digit ends at the first k where the address stops being linear, and so on. So two maps with
 * such lists are equal exactly where the lists are. Partial blocks (C = 20 in C/16 … C%16) have none: they are
 * equal where both sides ask one address function the same questions, else they are walked. */
#include "base/checked.h"
#include "layout/view.h"

typedef struct {
    uint64_t bank, bits;
} Place;

static uint64_t shape_elements(const LayoutShape *shape, bool *fits) {
    uint64_t elements = 1;
    *fits = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (shape->extent[d] == 0) {
            return 0;
        }
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        *fits = *fits && checked_mul(elements, shape->extent[d], &elements);
    }
    return elements;
}

/* Do the axes multiply to the view's extents? */
static bool axes_match(const ViewOrder *side) {
    uint64_t extent[DIM_COUNT] = {1, 1, 1, 1, 1, 1};
    for (uint32_t k = 0; k < side->rank; k++) {
        if (!checked_mul(extent[side->axes[k].dim], side->axes[k].extent, &extent[side->axes[k].dim])) {
            return false;
        }
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        if (extent[d] != side->view->shape.extent[d]) {
            return false;
        }
    }
    return true;
}

static Place place_at(const View *view, const uint64_t index[DIM_COUNT]) {
    return (Place){view_address(view, index).bank, view_address_bits(view, index)};
}

static bool same_place(Place a, Place b) {
    return a.bank == b.bank && a.bits == b.bits;
}

/* ---- By radix */

static void push_digit(ViewRadix *radix, uint64_t extent, Place step) {
    if (radix->count > 0) {
        ViewDigit *inner = &radix->digit[radix->count - 1];
        if (step.bits == inner->step_bits * inner->extent && step.bank == inner->step_banks * inner->extent) {
            inner->extent *= extent;
            return;
        }
    }
    radix->digit[radix->count++] = (ViewDigit){extent, step.bits, step.bank};
}

/* Where a step of `position` in the index of `dim` leads, and where the digit that it belongs to `end`s (0: nowhere).
 */
typedef struct {
    Place step;
    uint64_t end;
} Stride;

static bool holds_position(const ViewLevel *term, Dim dim, uint64_t position) {
    return term->dim == dim && term->div <= position && (term->mod == 0 || position / term->div < term->mod);
}

static Stride find_stride(const View *view, Dim dim, uint64_t position) {
    const ViewLevel *found = NULL;
    uint64_t bank_unit = 1;
    Stride stride = {{0, 0}, 0};
    for (uint32_t k = view->bank_term_count; k-- > 0 && found == NULL;) {
        if (holds_position(&view->bank_term[k], dim, position)) {
            found = &view->bank_term[k];
            stride.step.bank = view->repeats[dim] ? 0 : bank_unit * (position / found->div);
        }
        bank_unit *= view->bank_term[k].extent;
    }
    for (uint32_t k = 0; k < view->level_count && found == NULL; k++) {
        if (holds_position(&view->level[k], dim, position)) {
            found = &view->level[k];
            stride.step.bits = found->stride_bits * (position / found->div);
        }
    }
    stride.end = found == NULL || found->mod == 0 ? 0 : found->div * found->mod;
    return stride;
}

/* The digits of one axis: steps of [begin, begin * extent) in the index of its dimension. Each begin is a multiple of
 * the one before it, so also of the div of the digit it belongs to. */
static bool push_axis(ViewRadix *radix, const View *view, const ViewAxis *axis, uint64_t begin) {
    uint64_t end = begin * axis->extent;
    while (begin < end) {
        Stride stride = find_stride(view, axis->dim, begin);
        uint64_t next = stride.end == 0 || stride.end > end ? end : stride.end;
        if (next % begin != 0) {
            return false;
        }
        push_digit(radix, next / begin, stride.step);
        begin = next;
    }
    return true;
}

/* What one step of axis `k` is in the index of its dimension: later axes of the dimension vary faster. */
static uint64_t begin_of(const ViewOrder *side, uint32_t k) {
    uint64_t begin = 1;
    for (uint32_t later = k + 1; later < side->rank; later++) {
        begin *= side->axes[later].dim == side->axes[k].dim ? side->axes[later].extent : 1; /* axes_match: fits */
    }
    return begin;
}

static bool find_radix(const ViewOrder *side, const uint32_t *perm, ViewRadix *radix) {
    radix->count = 0;
    for (uint32_t k = side->rank; k-- > 0;) {
        uint32_t axis = perm == NULL ? k : perm[k];
        if (!push_axis(radix, side->view, &side->axes[axis], begin_of(side, axis))) {
            return false;
        }
    }
    return true;
}

bool view_radix(const ViewOrder *order, const uint32_t *perm, ViewRadix *radix) {
    bool fits;
    return shape_elements(&order->view->shape, &fits) > 0 && fits && axes_match(order) &&
           find_radix(order, perm, radix);
}

static bool same_radix(const ViewRadix *a, const ViewRadix *b) {
    bool same = a->count == b->count;
    for (uint32_t k = 0; same && k < a->count; k++) {
        const ViewDigit *x = &a->digit[k], *y = &b->digit[k];
        same = x->extent == y->extent && x->step_bits == y->step_bits && x->step_banks == y->step_banks;
    }
    return same;
}

/* ---- By walking */

static Place place_of_element(const ViewOrder *side, uint64_t k) {
    uint64_t index[DIM_COUNT] = {0};
    uint64_t inner[DIM_COUNT] = {1, 1, 1, 1, 1, 1};
    for (uint32_t a = side->rank; a-- > 0;) {
        const ViewAxis *axis = &side->axes[a];
        index[axis->dim] += k % axis->extent * inner[axis->dim];
        inner[axis->dim] *= axis->extent;
        k /= axis->extent;
    }
    return place_at(side->view, index);
}

static bool same_walk(const ViewOrder *a, const ViewOrder *b, uint64_t elements) {
    for (uint64_t k = 0; k < elements; k++) {
        if (!same_place(place_of_element(a, k), place_of_element(b, k))) {
            return false;
        }
    }
    return true;
}

/* ---- The same tensor under another rank: Squeeze, Unsqueeze, Identity */

static bool same_level(const ViewLevel *a, const ViewLevel *b) {
    return a->dim == b->dim && a->div == b->div && a->mod == b->mod && a->extent == b->extent &&
           a->stride_bits == b->stride_bits && a->head_bits == b->head_bits;
}

static bool same_levels(const View *a, const View *b) {
    bool same = a->level_count == b->level_count && a->bank_term_count == b->bank_term_count;
    for (uint32_t k = 0; same && k < a->level_count; k++) {
        same = same_level(&a->level[k], &b->level[k]);
    }
    for (uint32_t k = 0; same && k < a->bank_term_count; k++) {
        same = same_level(&a->bank_term[k], &b->bank_term[k]);
    }
    return same;
}

/* The first axis from `at` on that has more than one element; `rank` where there is none. */
static uint32_t next_axis(const ViewOrder *side, uint32_t at) {
    while (at < side->rank && side->axes[at].extent == 1) {
        at++;
    }
    return at;
}

/* One address function asked with one index for every k: no matter whether blocks are whole. */
static bool same_question(const ViewOrder *left, const ViewOrder *right) {
    uint32_t i = next_axis(left, 0);
    uint32_t j = next_axis(right, 0);
    for (; i < left->rank && j < right->rank; i = next_axis(left, i + 1), j = next_axis(right, j + 1)) {
        if (left->axes[i].dim != right->axes[j].dim || left->axes[i].extent != right->axes[j].extent) {
            return false;
        }
    }
    return i == left->rank && j == right->rank && same_levels(left->view, right->view);
}

bool view_same_map(const ViewOrder *a, const ViewOrder *b, uint64_t walk_limit) {
    const uint64_t origin[DIM_COUNT] = {0};
    ViewRadix a_radix, b_radix;
    bool fits;
    uint64_t elements = shape_elements(&a->view->shape, &fits);
    bool b_fits;
    if (elements != shape_elements(&b->view->shape, &b_fits) || !fits || !b_fits ||
        a->view->shape.bits != b->view->shape.bits || !axes_match(a) || !axes_match(b)) {
        return false;
    }
    if (elements == 0) {
        return true;
    }
    if (!same_place(place_at(a->view, origin), place_at(b->view, origin))) {
        return false;
    }
    if (same_question(a, b)) {
        return true;
    }
    if (find_radix(a, NULL, &a_radix) && find_radix(b, NULL, &b_radix)) {
        return same_radix(&a_radix, &b_radix);
    }
    return elements <= walk_limit && same_walk(a, b, elements);
}
