/* Boxes of a view: where they may begin, how far a view reaches, and its lanes laid end to end. */
#include "base/checked.h"
#include "layout/runs.h"
#include "layout/terms.h"

/* ---- Terms */

bool terms_lay_lanes(const View *view, uint64_t lane_bits, Terms *terms) {
    uint64_t stride_bits = lane_bits;
    terms->count = view->bank_term_count + view->level_count;
    for (uint32_t k = view->bank_term_count; k-- > 0;) {
        ViewLevel *term = &terms->item[k];
        *term = view->bank_term[k];
        term->stride_bits = view->repeats[term->dim] ? 0 : stride_bits;
        term->head_bits = 0;
        if (!checked_mul(stride_bits, term->extent, &stride_bits)) {
            return false;
        }
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        terms->item[view->bank_term_count + k] = view->level[k];
    }
    return true;
}

uint64_t terms_bits_at(const ViewLevel *term, uint32_t count, Dim dim, uint64_t index) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (term[k].dim == dim) {
            uint64_t quotient = index / term[k].div;
            bits += (term[k].mod == 0 ? quotient : quotient % term[k].mod) * term[k].stride_bits;
        }
    }
    return bits;
}

/* ---- The largest address */

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* What the terms add at the largest index below `last` whose digits of a smaller div are as large as they get. */
static uint64_t bits_below(const ViewLevel *term, uint32_t count, Dim dim, uint64_t last, uint64_t div) {
    uint64_t whole = last - last % div;
    return whole == 0 ? 0 : terms_bits_at(term, count, dim, whole - 1);
}

/* The most that they add at any index of the shape. In each dimension that is at the last index; or where the
 * digits from some div on are one less than the last index's, and those below it as large as they get. */
static uint64_t largest_bits(const ViewLevel *term, uint32_t count, const LayoutShape *shape) {
    uint64_t most[DIM_COUNT], sum = 0;
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        most[d] = terms_bits_at(term, count, (Dim)d, shape->extent[d] - 1);
    }
    for (uint32_t k = 0; k < count; k++) {
        Dim dim = term[k].dim;
        uint64_t last = shape->extent[dim] - 1, div = term[k].div;
        most[dim] = larger(most[dim], bits_below(term, count, dim, last, div));
        if (term[k].mod != 0) {
            most[dim] = larger(most[dim], bits_below(term, count, dim, last, div * term[k].mod));
        }
    }
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        sum += most[d];
    }
    return sum;
}

/* ---- Boxes */

ViewBox view_whole_box(const LayoutShape *shape) {
    ViewBox box = {{0}, {0}};
    for (int d = 0; d < DIM_COUNT; d++) {
        box.extent[d] = shape->extent[d];
    }
    return box;
}

static uint64_t largest_div(const ViewLevel *term, uint32_t count, Dim dim) {
    uint64_t div = 1;
    for (uint32_t k = 0; k < count; k++) {
        div = term[k].dim == dim ? larger(div, term[k].div) : div;
    }
    return div;
}

uint64_t view_grain(const View *view, Dim dim) {
    uint64_t of_levels = largest_div(view->level, view->level_count, dim);
    uint64_t of_lanes = largest_div(view->bank_term, view->bank_term_count, dim);
    if (view->repeats[dim]) {
        return 1;
    }
    return larger(of_lanes, of_levels);
}

bool view_narrow(View *view, const ViewBox *box) {
    const uint64_t zero[DIM_COUNT] = {0};
    for (int d = 0; d < DIM_COUNT; d++) {
        if (box->first[d] % view_grain(view, (Dim)d) != 0) {
            return false;
        }
    }
    ViewAddress first = view_address(view, box->first);
    if (first.bank != view_address(view, zero).bank) {
        return false;
    }
    view->offset_bits += first.byte * 8 + first.bit - view_address_bits(view, zero);
    view->logical_bits = view->shape.bits * layout_elements(box->extent);
    for (int d = 0; d < DIM_COUNT; d++) {
        view->shape.extent[d] = box->extent[d];
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        ViewLevel *level = &view->level[k];
        level->extent = level->mod == 0 ? ceil_div(view->shape.extent[level->dim], level->div) : level->extent;
    }
    return true;
}

bool view_flatten(View *view) {
    Terms terms;
    uint64_t bytes = 0;
    if (view->bank_term_count == 0) {
        return true;
    }
    if (!terms_lay_lanes(view, view->bank_bytes * 8, &terms) || terms.count > VIEW_MAX_LEVELS) {
        return false;
    }
    if (view->banks_used > 0) {
        uint64_t last_lane_bits = largest_bits(terms.item, view->bank_term_count, &view->shape);
        uint64_t bits;
        if (!checked_add(last_lane_bits, view->bank_bytes * 8, &bits)) {
            return false;
        }
        bytes = bits / 8;
        view->banks_used = 1;
    }
    for (uint32_t k = 0; k < terms.count; k++) {
        view->level[k] = terms.item[k];
    }
    view->level_count = terms.count;
    view->bank_term_count = 0;
    view->bank_bytes = bytes;
    return true;
}

uint64_t view_extent_bytes(const View *view) {
    uint64_t bits = view->offset_bits + view->shape.bits;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (view->shape.extent[d] == 0) {
            return 0;
        }
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        bits += view->level[k].head_bits;
    }
    return bytes_from_bits(bits + largest_bits(view->level, view->level_count, &view->shape));
}

/* Levels outside a line begin where a line, or several, end: they step by whole bytes if lines do. */
bool view_lines_share_bytes(const View *view) {
    for (uint32_t k = 0; k < view->level_count; k++) {
        const ViewLevel *level = &view->level[k];
        bool steps = level->dim == DIM_N || level->dim == DIM_H;
        if (steps && view->shape.extent[level->dim] > level->div && level->stride_bits % 8 != 0) {
            return true;
        }
    }
    return false;
}
