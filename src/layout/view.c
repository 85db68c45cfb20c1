/* Resolving a contract for a shape, and addresses: rules 1 to 4 of the layout contract. */
#include "layout/view.h"

#include "base/checked.h"
#include "base/fault.h"
#include "layout/contract_case.h"

/* ---- Sizes */

static const ContractCase *find_case(const Contract *contract, const LayoutShape *shape, uint32_t *which) {
    for (size_t k = 0; k < contract->count; k++) {
        if (guard_holds(&contract->item[k].guard, shape)) {
            *which = (uint32_t)k;
            return &contract->item[k];
        }
    }
    return NULL;
}

static bool names_all(const ContractCase *item, const LayoutShape *shape, Dim *dim) {
    for (int d = 0; d < DIM_COUNT; d++) {
        if (!item->names[d] && shape->extent[d] != 1) {
            if (dim != NULL) {
                *dim = (Dim)d;
            }
            return false;
        }
    }
    return true;
}

/* No element makes it 0, however large the other extents. */
static bool find_logical_bits(const LayoutShape *shape, uint64_t *bits) {
    *bits = 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (shape->extent[d] == 0) {
            return true;
        }
    }
    uint64_t product = shape->bits;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (!checked_mul(product, shape->extent[d], &product)) {
            return false;
        }
    }
    *bits = product;
    return true;
}

static ViewLevel level_of_term(const ContractTerm *term, const LayoutShape *shape) {
    return (ViewLevel){.dim = term->dim,
                       .div = term->div,
                       .mod = term->mod,
                       .extent = term->mod != 0 ? term->mod : ceil_div(shape->extent[term->dim], term->div)};
}

static void set_levels(View *view, const ContractCase *item) {
    view->level_count = item->level_count;
    for (uint32_t k = 0; k < item->level_count; k++) {
        view->level[k] = level_of_term(&item->level[k], &view->shape);
    }
    view->bank_term_count = item->bank_term_count;
    for (uint32_t k = 0; k < item->bank_term_count; k++) {
        view->bank_term[k] = level_of_term(&item->bank_term[k], &view->shape);
    }
}

/* Rule 1 for one level: `size_bits` of what lies inside it becomes that of the level. */
static bool set_stride(ViewLevel *level, const ContractTerm *term, uint64_t *size_bits) {
    uint64_t count = level->extent > term->min ? level->extent : term->min;
    uint64_t align_bits;
    return checked_mul(term->head_bytes, 8, &level->head_bits) &&
           checked_add(*size_bits, level->head_bits, &level->stride_bits) &&
           checked_mul(level->stride_bits, count, size_bits) && checked_mul(term->align_bytes, 8, &align_bits) &&
           checked_round_up(*size_bits, align_bits == 0 ? 1 : align_bits, size_bits);
}

/* Rules 1 and 2. */
static bool set_sizes(View *view, const ContractCase *item) {
    uint64_t size_bits = view->shape.bits;
    uint64_t bank_bits;
    for (uint32_t k = view->level_count; k-- > 0;) {
        if (!set_stride(&view->level[k], &item->level[k], &size_bits)) {
            return false;
        }
    }
    return checked_round_up(bytes_from_bits(size_bits), item->total_bytes, &view->bank_bytes) &&
           checked_add(view->bank_bytes, item->tail_bytes, &view->bank_bytes) &&
           checked_mul(view->bank_bytes, 8, &bank_bits);
}

/* ---- Banks */

/* How many different tuples the bank terms of one dimension take over its indices; `chain` are its terms by rising div.
 *
 * A tuple is taken where the smallest index that has it, all other digits 0, is at most the last index: so count the
 * tuples that are not above the last index, digit by digit from the innermost. `below` counts those of the digits seen
 * that are not above the last index's, `all` those without that bound. */
static uint64_t count_tuples(const ContractTerm *const *chain, size_t count, uint64_t last) {
    uint64_t below = 1, all = 1;
    for (size_t k = 0; k < count; k++) {
        const ContractTerm *term = chain[k];
        uint64_t digit = last / term->div;
        digit = term->mod == 0 ? digit : digit % term->mod;
        if (term->is_bank) {
            below += digit * all;
            all *= term->mod == 0 ? 1 : term->mod; /* at most the div of the next term */
        } else if (digit > 0) {
            below = all;
        }
    }
    return below;
}

static bool set_banks(View *view, const ContractCase *item) {
    uint64_t bank_count = 1; /* of which view_address numbers some */
    view->banks_used = 1;
    if (item->bank_term_count == 0) {
        return true;
    }
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        if (!checked_mul(bank_count, view->bank_term[k].extent, &bank_count)) {
            return false;
        }
    }
    size_t total = (size_t)item->bank_term_count + item->level_count;
    for (size_t begin = 0, end = 0; begin < total; begin = end) {
        Dim dim = item->chain[begin]->dim;
        while (end < total && item->chain[end]->dim == dim) {
            end++;
        }
        view->banks_used *= count_tuples(&item->chain[begin], end - begin, view->shape.extent[dim] - 1);
    }
    return true;
}

ViewStatus view_resolve(const Contract *contract, const LayoutShape *shape, View *view, Dim *dim) {
    uint32_t which = 0;
    const ContractCase *item = find_case(contract, shape, &which);
    if (item == NULL) {
        return VIEW_NO_CASE;
    }
    if (!names_all(item, shape, dim)) {
        return VIEW_UNNAMED;
    }
    *view = (View){.shape = *shape, .base_bytes = item->base_bytes, .which_case = which};
    set_levels(view, item);
    if (!find_logical_bits(shape, &view->logical_bits)) {
        return VIEW_OVERFLOW;
    }
    if (view->logical_bits == 0) {
        return VIEW_DONE;
    }
    return set_sizes(view, item) && set_banks(view, item) ? VIEW_DONE : VIEW_OVERFLOW;
}

const char *view_status_text(ViewStatus status) {
    switch (status) {
    case VIEW_DONE:
        return "the contract holds for this shape";
    case VIEW_NO_CASE:
        return "no case of the contract holds for this shape";
    case VIEW_UNNAMED:
        return "the contract names no level for a dimension of this shape";
    case VIEW_OVERFLOW:
        return "the size does not fit 64 bits";
    }
    return "unknown status";
}

uint64_t view_logical_bytes(const View *view) {
    return bytes_from_bits(view->logical_bits);
}

bool view_all_banks_bytes(uint64_t bank_bytes, uint64_t banks_used, uint64_t *bytes) {
    return checked_mul(bank_bytes, banks_used, bytes);
}

/* ---- Blocks */

/* Levels of a row-major list; their sizes fit, for that of the whole does. */
static void set_list(View *view, uint64_t element_bits) {
    uint64_t stride_bits = element_bits;
    view->bank_term_count = 0;
    view->level_count = DIM_COUNT;
    for (int d = DIM_COUNT; d-- > 0;) {
        uint64_t extent = view->shape.extent[d];
        view->level[d] = (ViewLevel){.dim = (Dim)d, .div = 1, .extent = extent, .stride_bits = stride_bits};
        stride_bits *= extent;
    }
    view->bank_bytes = stride_bits / 8;
    view->banks_used = 1;
}

bool view_widen(View *view, uint64_t grain_bytes) {
    uint64_t grain_bits, all_bits;
    if (grain_bytes <= 1 || view->logical_bits == 0) {
        return true;
    }
    uint64_t elements = view->logical_bits / view->shape.bits;
    if (!checked_mul(grain_bytes, 8, &grain_bits) || !checked_mul(elements, grain_bits, &all_bits)) {
        return false;
    }
    if (grain_bits > view->shape.bits && all_bits / 8 > view->bank_bytes) {
        set_list(view, grain_bits);
    }
    return true;
}

/* ---- Broadcast */

bool view_broadcast(View *view, const LayoutShape *shape) {
    for (int d = 0; d < DIM_COUNT; d++) {
        if (view->shape.extent[d] != shape->extent[d] && view->shape.extent[d] != 1) {
            return false;
        }
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        view->repeats[d] = view->repeats[d] || view->shape.extent[d] != shape->extent[d];
        view->shape.extent[d] = shape->extent[d];
    }
    view->shape.rank = shape->rank;
    for (uint32_t k = 0; k < view->level_count; k++) {
        ViewLevel *level = &view->level[k];
        if (view->repeats[level->dim]) {
            level->stride_bits = 0;
            level->extent = level->mod != 0 ? level->mod : ceil_div(shape->extent[level->dim], level->div);
        }
    }
    return true;
}

/* ---- Addresses */

static uint64_t digit_of(const ViewLevel *level, uint64_t index) {
    uint64_t quotient = level->div == 1 ? index : index / level->div;
    return level->mod == 0 ? quotient : quotient % level->mod;
}

uint64_t view_address_bits(const View *view, const uint64_t index[DIM_COUNT]) {
    uint64_t address = view->offset_bits;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const ViewLevel *level = &view->level[k];
        address += digit_of(level, index[level->dim]) * level->stride_bits + level->head_bits;
    }
    return address;
}

static uint64_t bank_of(const View *view, const uint64_t index[DIM_COUNT]) {
    uint64_t bank = 0;
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        const ViewLevel *term = &view->bank_term[k];
        uint64_t value = view->repeats[term->dim] ? 0 : digit_of(term, index[term->dim]);
        bank = bank * term->extent + value;
    }
    return bank;
}

ViewAddress view_address(const View *view, const uint64_t index[DIM_COUNT]) {
    for (int d = 0; d < DIM_COUNT; d++) {
        CHECK(index[d] < view->shape.extent[d]);
    }
    uint64_t bits = view_address_bits(view, index);
    return (ViewAddress){.bank = bank_of(view, index), .byte = bits / 8, .bit = (uint32_t)(bits % 8)};
}

/* Takes the digit of a level out of `rest`, what remains of an address inside it. */
static bool take_digit(const ViewLevel *level, uint64_t *rest, uint64_t index[DIM_COUNT]) {
    uint64_t digit = 0;
    if (level->stride_bits != 0) {
        digit = *rest / level->stride_bits;
        *rest %= level->stride_bits;
    }
    if (digit >= level->extent || *rest < level->head_bits) {
        return false;
    }
    *rest -= level->head_bits;
    index[level->dim] += digit * level->div; /* below the extent of the contract's blocks: fits */
    return true;
}

bool view_find_index(const View *view, uint64_t bank, uint64_t bit, uint64_t index[DIM_COUNT]) {
    uint64_t rest = bit - view->offset_bits;
    for (int d = 0; d < DIM_COUNT; d++) {
        index[d] = 0;
    }
    if (view->banks_used == 0 || bit < view->offset_bits) {
        return false;
    }
    for (uint32_t k = view->bank_term_count; k-- > 0;) {
        const ViewLevel *term = &view->bank_term[k];
        uint64_t digit = bank % term->extent;
        bank /= term->extent;
        index[term->dim] += view->repeats[term->dim] ? 0 : digit * term->div;
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        if (!take_digit(&view->level[k], &rest, index)) {
            return false;
        }
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        if (index[d] >= view->shape.extent[d]) {
            return false;
        }
    }
    return bank == 0 && rest < view->shape.bits;
}

bool view_next_index(const LayoutShape *shape, uint64_t index[DIM_COUNT]) {
    for (int d = DIM_COUNT; d-- > 0;) {
        index[d]++;
        if (index[d] < shape->extent[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}
