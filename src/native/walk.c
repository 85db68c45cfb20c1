/* The levels of a view, sorted into columns, rows and loops.
 *
 * Invariant: an index is the sum of its digits times what a step of each is. */
#include "native/walk.h"

#include "base/checked.h"

enum { BITS_A_BYTE = 8 };

/* What a loop without a level is: once, nowhere. */
static const WalkLevel ONCE = {.dim = DIM_N, .extent = 1, .div = 1};

/* A level with its stride in bits. */
typedef struct {
    WalkLevel level;
    uint64_t stride_bits;
} Run;

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
static bool continues(const View *view, const Run *outer, const Run *inner) {
    uint64_t bits;
    return is_free(view, outer->level.dim) && is_free(view, inner->level.dim) &&
           checked_mul(inner->stride_bits, inner->level.extent, &bits) && bits == outer->stride_bits;
}

/* The levels of more than one value, outer to inner; those that continue each other are one. */
static uint32_t collect(const View *view, Run run[VIEW_MAX_LEVELS]) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const ViewLevel *level = &view->level[k];
        if (level->extent <= 1) {
            continue;
        }
        run[count++] =
            (Run){{.dim = level->dim, .extent = level->extent, .div = level->div, .is_cut = is_cut(view, level)},
                  level->stride_bits};
        if (count > 1 && continues(view, &run[count - 2], &run[count - 1])) {
            run[count - 1].level.extent *= run[count - 2].level.extent;
            run[count - 2] = run[count - 1];
            count--;
        }
    }
    return count;
}

/* False where one begins inside a byte, or at no multiple. `neighbours`: the one whose values lie side by side, of
 * channels only where they follow one another; `count` where none does. */
static bool take_runs(Walk *walk, const Run *run, uint32_t count, uint32_t bits, uint64_t align_bytes,
                      uint32_t *neighbours) {
    *neighbours = count;
    for (uint32_t k = 0; k < count; k++) {
        if (run[k].stride_bits == bits && (run[k].level.dim != DIM_C || run[k].level.div == 1)) {
            *neighbours = k;
        } else if (run[k].stride_bits % (BITS_A_BYTE * align_bytes) != 0) {
            return false;
        }
        walk->loop[k] = run[k].level;
        walk->loop[k].stride_bytes = run[k].stride_bits / BITS_A_BYTE;
    }
    walk->loop_count = count;
    return true;
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

static bool count_stacks(const View *view, Walk *walk) {
    walk->stack_count = layout_elements(view->shape.extent) > 0 ? 1 : 0;
    for (uint32_t k = 0; k < walk->loop_count; k++) {
        if (!checked_mul(walk->stack_count, walk->loop[k].extent, &walk->stack_count)) {
            return false;
        }
    }
    return true;
}

/* Where index 0 lies; false where that is no multiple. */
static bool find_offset(const View *view, uint64_t align_bytes, Walk *walk) {
    const uint64_t zero[DIM_COUNT] = {0};
    uint64_t bits = layout_elements(view->shape.extent) > 0 ? view_address_bits(view, zero) : 0;
    walk->offset_bytes = bits / BITS_A_BYTE;
    return bits % (BITS_A_BYTE * align_bytes) == 0;
}

static void reset(const View *view, Walk *walk) {
    *walk = (Walk){.column = ONCE, .row = ONCE, .plane = ONCE};
    for (int dim = 0; dim < DIM_COUNT; dim++) {
        walk->extent[dim] = view->shape.extent[dim];
    }
}

bool walk_init(const View *view, uint64_t align_bytes, Walk *walk) {
    Run run[VIEW_MAX_LEVELS];
    uint32_t count = collect(view, run);
    uint32_t neighbours;
    reset(view, walk);
    if (!find_offset(view, align_bytes, walk) ||
        !take_runs(walk, run, count, view->shape.bits, align_bytes, &neighbours)) {
        reset(view, walk);
        return false;
    }
    if (neighbours < count) {
        walk->column = take_loop(walk, neighbours);
        walk->is_channel_last = walk->column.dim == DIM_C;
    }
    take_rows(walk);
    take_planes(walk);
    return count_stacks(view, walk);
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
    *place = (WalkPlace){.stack = {.offset_bytes = walk->offset_bytes}};
    for (uint32_t k = walk->loop_count; k-- > 0;) {
        const WalkLevel *loop = &walk->loop[k];
        place->digit[k] = stack % loop->extent;
        stack /= loop->extent;
        place->index[loop->dim] += place->digit[k] * loop->div;
        place->stack.offset_bytes += place->digit[k] * loop->stride_bytes;
    }
    look(walk, place);
}

void walk_next(const Walk *walk, WalkPlace *place) {
    for (uint32_t k = walk->loop_count; k-- > 0;) {
        const WalkLevel *loop = &walk->loop[k];
        place->index[loop->dim] += loop->div;
        place->stack.offset_bytes += loop->stride_bytes;
        if (++place->digit[k] < loop->extent) {
            break;
        }
        place->digit[k] = 0;
        place->index[loop->dim] -= loop->div * loop->extent;
        place->stack.offset_bytes -= loop->stride_bytes * loop->extent;
    }
    look(walk, place);
}
