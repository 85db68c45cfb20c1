/* The levels of a view, sorted into columns, rows and loops.
 *
 * Invariant: an index is the sum of its digits times what a step of each is. */
#include "native/walk.h"

#include "base/checked.h"
#include "base/fault.h"

enum { BITS_A_BYTE = 8 };

/* What a loop without a level is: once, nowhere. */
static const WalkLevel ONCE = {.dim = DIM_N, .extent = 1, .div = 1};

/* Does the dimension end inside one of the digit's blocks, so that some of its values stand for padding there? */
static bool is_cut(const View *view, const ViewLevel *level) {
    uint64_t extent = view->shape.extent[level->dim];
    return extent % level->div != 0 || (level->mod != 0 && extent / level->div % level->mod != 0);
}

/* May values of the level be counted with those of another dimension? Not those of channels, nor of a dimension of
 * which another digit is cut: how many values that one has follows from all the digits. */
static bool is_free(const View *view, Dim dim) {
    bool is_whole = dim != DIM_C;
    for (uint32_t k = 0; k < view->level_count; k++) {
        is_whole = is_whole && !(view->level[k].dim == dim && is_cut(view, &view->level[k]));
    }
    return is_whole;
}

/* Does the outer one go on where the inner one ends? */
static bool continues(const View *view, const WalkLevel *outer, const WalkLevel *inner) {
    uint64_t bits;
    return is_free(view, outer->dim) && is_free(view, inner->dim) &&
           checked_mul(inner->stride_bits, inner->extent, &bits) && bits == outer->stride_bits;
}

/* The levels of more than one value, outer to inner; those that continue each other are one. */
static void collect(const View *view, Walk *walk) {
    WalkLevel *loop = walk->loop;
    uint32_t count = 0;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const ViewLevel *level = &view->level[k];
        if (level->extent <= 1) {
            continue;
        }
        loop[count++] = (WalkLevel){.dim = level->dim,
                                    .extent = level->extent,
                                    .stride_bits = level->stride_bits,
                                    .div = level->div,
                                    .is_cut = is_cut(view, level)};
        if (count > 1 && continues(view, &loop[count - 2], &loop[count - 1])) {
            loop[count - 1].extent *= loop[count - 2].extent;
            loop[count - 2] = loop[count - 1];
            count--;
        }
    }
    walk->loop_count = count;
}

static WalkLevel take_loop(Walk *walk, uint32_t k) {
    WalkLevel level = walk->loop[k];
    walk->loop_count--;
    for (; k < walk->loop_count; k++) {
        walk->loop[k] = walk->loop[k + 1];
    }
    return level;
}

/* May rows be along this loop? All elements of a column have one channel, and a cut row does not depend on its column.
 */
static bool is_row(const Walk *walk, const WalkLevel *loop) {
    return loop->dim != DIM_C && !(loop->is_cut && loop->dim == walk->column.dim);
}

/* Rows are the innermost loop or none: a map is gone through in the order of its addresses. */
static void take_rows(Walk *walk) {
    uint32_t last = walk->loop_count - 1;
    if (walk->loop_count > 0 && is_row(walk, &walk->loop[last])) {
        walk->row = take_loop(walk, last);
    }
}

/* Channels that follow one another, each of one matrix like the others. */
static void take_planes(Walk *walk) {
    uint32_t last = walk->loop_count - 1;
    if (walk->loop_count > 0 && walk->loop[last].dim == DIM_C && walk->loop[last].div == 1 &&
        !walk->loop[last].is_cut && !walk->row.is_cut && !walk->column.is_cut) {
        walk->plane = take_loop(walk, last);
    }
}

/* The columns are what lies side by side: of channels only where they follow one another. */
static void take_columns(Walk *walk, uint32_t bits) {
    for (uint32_t k = walk->loop_count; k-- > 0;) {
        const WalkLevel *loop = &walk->loop[k];
        if (loop->stride_bits == bits && (loop->dim != DIM_C || loop->div == 1)) {
            walk->column = take_loop(walk, k);
            walk->is_channel_last = walk->column.dim == DIM_C;
            return;
        }
    }
}

/* Where index 0 lies. */
static uint64_t first_bit(const View *view) {
    const uint64_t zero[DIM_COUNT] = {0};
    return layout_elements(view->shape.extent) > 0 ? view_address_bits(view, zero) : 0;
}

/* Do rows begin at multiples of so many bits? */
static bool is_aligned(const Walk *walk, uint64_t bits) {
    bool is = walk->offset_bits % bits == 0 && walk->row.stride_bits % bits == 0 && walk->plane.stride_bits % bits == 0;
    for (uint32_t k = 0; k < walk->loop_count; k++) {
        is = is && walk->loop[k].stride_bits % bits == 0;
    }
    return is;
}

/* No more than there are bits. */
static uint64_t count_stacks(const View *view, const Walk *walk) {
    uint64_t count = layout_elements(view->shape.extent) > 0 ? 1 : 0;
    for (uint32_t k = 0; k < walk->loop_count; k++) {
        CHECK(checked_mul(count, walk->loop[k].extent, &count));
    }
    return count;
}

void walk_init(const View *view, uint64_t align_bytes, Walk *walk) {
    *walk = (Walk){.column = ONCE, .row = ONCE, .plane = ONCE, .offset_bits = first_bit(view)};
    for (int dim = 0; dim < DIM_COUNT; dim++) {
        walk->extent[dim] = view->shape.extent[dim];
    }
    collect(view, walk);
    take_columns(walk, view->shape.bits);
    take_rows(walk);
    take_planes(walk);
    walk->is_aligned = is_aligned(walk, BITS_A_BYTE * align_bytes);
    walk->stack_count = count_stacks(view, walk);
}

/* ---- Places */

/* How many values of the level stand for elements, the other digits of its dimension being what they are. */
static uint64_t count_values(const Walk *walk, const WalkPlace *place, const WalkLevel *level) {
    if (!level->is_cut) {
        return level->extent;
    }
    uint64_t extent = walk->extent[level->dim];
    uint64_t index = place->index[level->dim];
    uint64_t left = index < extent ? (extent - index + level->div - 1) / level->div : 0;
    return left < level->extent ? left : level->extent;
}

static void look(const Walk *walk, WalkPlace *place) {
    place->stack.channel = place->index[DIM_C];
    place->stack.rows = count_values(walk, place, &walk->row);
    place->stack.columns = count_values(walk, place, &walk->column);
    for (uint32_t k = 0; k < walk->loop_count; k++) {
        if (walk->loop[k].is_cut && place->index[walk->loop[k].dim] >= walk->extent[walk->loop[k].dim]) {
            place->stack.rows = 0;
        }
    }
}

void walk_begin(const Walk *walk, uint64_t stack, WalkPlace *place) {
    *place = (WalkPlace){.stack = {.offset_bits = walk->offset_bits}};
    for (uint32_t k = walk->loop_count; k-- > 0;) {
        const WalkLevel *loop = &walk->loop[k];
        place->digit[k] = stack % loop->extent;
        stack /= loop->extent;
        place->index[loop->dim] += place->digit[k] * loop->div;
        place->stack.offset_bits += place->digit[k] * loop->stride_bits;
    }
    look(walk, place);
}

void walk_next(const Walk *walk, WalkPlace *place) {
    for (uint32_t k = walk->loop_count; k-- > 0;) {
        const WalkLevel *loop = &walk->loop[k];
        place->index[loop->dim] += loop->div;
        place->stack.offset_bits += loop->stride_bits;
        if (++place->digit[k] < loop->extent) {
            break;
        }
        place->digit[k] = 0;
        place->index[loop->dim] -= loop->div * loop->extent;
        place->stack.offset_bits -= loop->stride_bits * loop->extent;
    }
    look(walk, place);
}
