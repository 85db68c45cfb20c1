/* Counting the bytes that a view's elements touch. */
#include "base/checked.h"
#include "layout/view.h"

/* Once a level's stride is whole bytes, so is every stride outside it: the levels with other strides are the innermost
 * ones, and the blocks they make up share no byte. A dimension without such a level therefore multiplies; the others
 * are walked in the order of addresses. */
typedef struct {
    const View *view;
    uint64_t extent[DIM_COUNT]; /* of the walk: 1 where the dimension repeats or multiplies */
    uint64_t index[DIM_COUNT];
    uint64_t next_byte; /* the first byte of this bank that is not counted yet */
    uint64_t count;
} Walk;

static bool steps_by_bytes(const View *view, uint32_t dim) {
    for (uint32_t k = 0; k < view->level_count; k++) {
        const ViewLevel *level = &view->level[k];
        if (level->dim == dim && level->stride_bits % 8 != 0) {
            return false;
        }
    }
    return true;
}

/* Returns the product of the dimensions that multiply. */
static uint64_t start_walk(Walk *walk, const View *view) {
    uint64_t factor = 1;
    *walk = (Walk){.view = view};
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        walk->extent[d] = 1;
        if (view->repeats[d]) {
            continue;
        }
        if (steps_by_bytes(view, d)) {
            factor *= view->shape.extent[d];
        } else {
            walk->extent[d] = view->shape.extent[d];
        }
    }
    return factor;
}

static void count_element(Walk *walk, uint64_t address) {
    uint64_t begin = address / 8;
    uint64_t end = bytes_from_bits(address + walk->view->shape.bits);
    begin = begin < walk->next_byte ? walk->next_byte : begin;
    walk->count += end - begin;
    walk->next_byte = end;
}

/* Levels count behind the bank terms. Digits only add to an index, so a level ends at the first that leads too far. */
static void walk_level(Walk *walk, uint32_t depth, uint64_t address) {
    const View *view = walk->view;
    bool is_bank = depth < view->bank_term_count;
    if (depth == view->bank_term_count + view->level_count) {
        count_element(walk, address);
        return;
    }
    const ViewLevel *level = is_bank ? &view->bank_term[depth] : &view->level[depth - view->bank_term_count];
    uint64_t outer = walk->index[level->dim];
    for (uint64_t digit = 0; digit < level->extent; digit++) {
        uint64_t index = outer + digit * level->div;
        if (index >= walk->extent[level->dim]) {
            break;
        }
        walk->index[level->dim] = index;
        walk->next_byte = is_bank ? 0 : walk->next_byte;
        walk_level(walk, depth + 1, is_bank ? address : address + digit * level->stride_bits + level->head_bits);
    }
    walk->index[level->dim] = outer;
}

uint64_t view_touched_bytes(const View *view) {
    Walk walk;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (view->shape.extent[d] == 0) {
            return 0;
        }
    }
    uint64_t factor = start_walk(&walk, view);
    walk_level(&walk, 0, view->offset_bits);
    return factor * walk.count;
}
