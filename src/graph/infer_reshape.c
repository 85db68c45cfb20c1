/* Shape rules of operators that keep every element: under another shape, in another order, in other blocks. */
#include "graph/infer.h"

static bool bad_count(Infer *in, const Value *x, const Shape *out) {
    return infer_error(in, 0, "the elements do not fit the new shape", infer_shape_text(in, &x->shape),
                       infer_shape_text(in, out));
}

/* Fills the one extent that is -1. */
static bool fill_free(Infer *in, const Value *x, Shape *out) {
    int64_t elements, known;
    uint32_t free_axis = out->rank;
    for (uint32_t axis = 0; axis < out->rank; axis++) {
        if (out->dim[axis] < -1 || (out->dim[axis] == -1 && free_axis != out->rank)) {
            return bad_count(in, x, out);
        }
        free_axis = out->dim[axis] == -1 ? axis : free_axis;
    }
    Shape rest = *out;
    if (free_axis != out->rank) {
        rest.dim[free_axis] = 1;
    }
    if (!infer_product(in, &x->shape, 0, x->shape.rank, &elements) || !infer_product(in, &rest, 0, rest.rank, &known)) {
        return false;
    }
    if (free_axis == out->rank) {
        return known == elements || bad_count(in, x, out);
    }
    if (known == 0 ? elements != 0 : elements % known != 0) {
        return bad_count(in, x, out);
    }
    out->dim[free_axis] = known == 0 ? 0 : elements / known;
    return true;
}

/* The wanted shape: attribute `shape` (opset 1) or `new_shape` (TFLite), or input 1, which wins where both are given.
 */
static IntsState wanted_shape(Infer *in, Ints *wanted) {
    IntsState state = infer_input_ints(in, 1, wanted);
    if (state != INTS_KNOWN && infer_attr_ints(in, infer_is_tflite(in) ? "new_shape" : "shape", wanted) == INTS_KNOWN) {
        return INTS_KNOWN;
    }
    return state;
}

bool infer_reshape(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints wanted;
    if (x == NULL) {
        return false;
    }
    if (wanted_shape(in, &wanted) != INTS_KNOWN) {
        return infer_from_file(in, "make the new shape a constant");
    }
    bool copies_zero = !infer_is_tflite(in) && node_int(in->node, "allowzero", 0) == 0;
    Shape out = {.rank = 0};
    for (uint32_t axis = 0; axis < wanted.count; axis++) {
        int64_t extent = wanted.at[axis];
        if (extent == 0 && copies_zero) {
            if (axis >= x->shape.rank) {
                return infer_error(in, 1, "the new shape copies an axis that the input lacks",
                                   arena_text(&in->work->keep, "axis %u", axis), infer_shape_text(in, &x->shape));
            }
            extent = x->shape.dim[axis];
        }
        if (!infer_push(in, &out, extent)) {
            return false;
        }
    }
    return fill_free(in, x, &out) && infer_out(in, 0, x->dtype, &out);
}

bool infer_flatten(Infer *in) {
    const Value *x = infer_need(in, 0);
    int64_t axis = node_int(in->node, "axis", 1);
    if (x == NULL) {
        return false;
    }
    int64_t rank = (int64_t)x->shape.rank;
    if (axis < -rank || axis > rank) {
        return infer_error(in, 0, "the axis is outside the tensor",
                           arena_text(&in->work->keep, "axis %lld", (long long)axis),
                           arena_text(&in->work->keep, "0 to %lld", (long long)rank));
    }
    uint32_t split = (uint32_t)(axis < 0 ? axis + rank : axis);
    Shape out = {.rank = 2};
    return infer_product(in, &x->shape, 0, split, &out.dim[0]) &&
           infer_product(in, &x->shape, split, x->shape.rank, &out.dim[1]) && infer_out(in, 0, x->dtype, &out);
}

bool infer_squeeze(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints axes;
    uint32_t mask;
    if (x == NULL) {
        return false;
    }
    if (infer_ints(in, "axes", 1, &axes) == INTS_UNKNOWN) {
        return infer_from_file(in, "make the axes a constant");
    }
    if (!infer_axes(in, axes, x->shape.rank, &mask)) {
        return false;
    }
    Shape out = {.rank = 0};
    for (uint32_t axis = 0; axis < x->shape.rank; axis++) {
        bool is_named = (mask >> axis & 1) != 0;
        bool is_one = x->shape.dim[axis] == 1;
        if (is_named && !is_one) {
            return infer_error(in, 0, "an axis that is not 1 can't be squeezed",
                               arena_text(&in->work->keep, "axis %u of %s", axis, infer_shape_text(in, &x->shape)),
                               "1");
        }
        if (axes.count == 0 ? !is_one : !is_named) {
            out.dim[out.rank++] = x->shape.dim[axis];
        }
    }
    return infer_out(in, 0, x->dtype, &out);
}

bool infer_unsqueeze(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints axes;
    uint32_t mask;
    if (x == NULL) {
        return false;
    }
    if (infer_ints(in, "axes", 1, &axes) != INTS_KNOWN) {
        return infer_from_file(in, "make the axes a constant");
    }
    if (axes.count > SHAPE_MAX_RANK || x->shape.rank + axes.count > SHAPE_MAX_RANK) {
        return infer_refuse(in, 0, arena_text(&in->work->keep, "the output has more than %d axes", SHAPE_MAX_RANK),
                            "merge axes with a Reshape");
    }
    if (!infer_axes(in, axes, x->shape.rank + axes.count, &mask)) {
        return false;
    }
    Shape out = {.rank = x->shape.rank + axes.count};
    for (uint32_t axis = 0, from = 0; axis < out.rank; axis++) {
        out.dim[axis] = (mask >> axis & 1) != 0 ? 1 : x->shape.dim[from++];
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* perm: an attribute, or input 1 (TFLite); reversed by default. */
bool infer_transpose(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints perm;
    uint32_t mask;
    if (x == NULL) {
        return false;
    }
    IntsState state = infer_ints(in, "perm", 1, &perm);
    if (state == INTS_UNKNOWN) {
        return infer_from_file(in, "make the permutation a constant");
    }
    uint32_t rank = x->shape.rank;
    if (state == INTS_KNOWN && perm.count != rank) {
        return infer_error(in, 0, "the permutation does not fit the input",
                           arena_text(&in->work->keep, "%u axes", perm.count),
                           arena_text(&in->work->keep, "%u: %s", rank, infer_shape_text(in, &x->shape)));
    }
    if (!infer_axes(in, perm, rank, &mask)) {
        return false;
    }
    Shape out = {.rank = rank};
    for (uint32_t axis = 0; axis < rank; axis++) {
        int64_t from = state == INTS_KNOWN ? perm.at[axis] : (int64_t)(rank - 1 - axis);
        out.dim[axis] = x->shape.dim[from < 0 ? from + rank : from];
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* Axes of channels, height and width of a map of rank 4. */
typedef struct {
    uint32_t c, h, w;
} MapAxes;

static bool read_block(Infer *in, const Value *x, int64_t *block, MapAxes *axes) {
    *block = node_int(in->node, "blocksize", node_int(in->node, "block_size", 0));
    *axes = in->graph->channels_last ? (MapAxes){3, 1, 2} : (MapAxes){1, 2, 3};
    if (x->shape.rank != 4 || *block < 1 || *block > (1 << 20)) {
        return infer_error(
            in, 0, "the input does not fit the block",
            arena_text(&in->work->keep, "%s, block %lld", infer_shape_text(in, &x->shape), (long long)*block),
            "rank 4 and a block from 1 to 2^20");
    }
    return true;
}

static bool bad_block(Infer *in, const Value *x, int64_t block) {
    return infer_error(in, 0, "the extents are not multiples of the block", infer_shape_text(in, &x->shape),
                       arena_text(&in->work->keep, "multiples of %lld", (long long)block));
}

bool infer_depth_to_space(Infer *in) {
    const Value *x = infer_need(in, 0);
    int64_t block;
    MapAxes axes;
    if (x == NULL || !read_block(in, x, &block, &axes)) {
        return false;
    }
    Shape out = x->shape;
    if (out.dim[axes.c] % (block * block) != 0 || out.dim[axes.h] > EXTENT_MAX / block ||
        out.dim[axes.w] > EXTENT_MAX / block) {
        return bad_block(in, x, block * block);
    }
    out.dim[axes.c] /= block * block;
    out.dim[axes.h] *= block;
    out.dim[axes.w] *= block;
    return infer_out(in, 0, x->dtype, &out);
}

bool infer_space_to_depth(Infer *in) {
    const Value *x = infer_need(in, 0);
    int64_t block;
    MapAxes axes;
    if (x == NULL || !read_block(in, x, &block, &axes)) {
        return false;
    }
    Shape out = x->shape;
    if (out.dim[axes.h] % block != 0 || out.dim[axes.w] % block != 0 ||
        out.dim[axes.c] > EXTENT_MAX / (block * block)) {
        return bad_block(in, x, block);
    }
    out.dim[axes.c] *= block * block;
    out.dim[axes.h] /= block;
    out.dim[axes.w] /= block;
    return infer_out(in, 0, x->dtype, &out);
}

/* Blocks that move between the batch and the spatial axes. TFLite: input 1 the block of each spatial axis, input 2
 * [axes, 2] pads or crops. */
typedef struct {
    Ints block, edge;
    int64_t product; /* of the blocks: what the batch takes or gives; 0 where blocks or edges are no sound numbers */
} BatchBlocks;

/* False where they are not constants. */
static bool read_blocks(Infer *in, const Value *x, BatchBlocks *blocks) {
    Ints *block = &blocks->block, *edge = &blocks->edge;
    if (infer_input_ints(in, 1, block) != INTS_KNOWN || infer_input_ints(in, 2, edge) != INTS_KNOWN) {
        return false;
    }
    blocks->product = 1;
    bool fits = block->count < x->shape.rank && edge->count == 2 * block->count;
    for (uint32_t k = 0; fits && k < block->count; k++) {
        fits = block->at[k] >= 1 && block->at[k] <= 1 << 20 && edge->at[2 * k] >= 0 && edge->at[2 * k + 1] >= 0 &&
               edge->at[2 * k] <= ATTR_MAX && edge->at[2 * k + 1] <= ATTR_MAX &&
               blocks->product <= EXTENT_MAX / block->at[k];
        blocks->product *= fits ? block->at[k] : 1;
    }
    blocks->product = fits ? blocks->product : 0;
    return true;
}

/* Moves blocks into the batch or out of it; false where the extents do not take it. */
typedef bool (*MoveBlocks)(const BatchBlocks *blocks, Shape *shape);

static bool space_to_batch(const BatchBlocks *blocks, Shape *shape) {
    const int64_t *block = blocks->block.at, *pad = blocks->edge.at;
    bool fits = shape->dim[0] <= EXTENT_MAX / blocks->product;
    for (uint32_t k = 0; fits && k < blocks->block.count; k++) {
        int64_t padded = shape->dim[1 + k] + pad[2 * k] + pad[2 * k + 1];
        fits = padded % block[k] == 0;
        shape->dim[1 + k] = padded / block[k];
    }
    shape->dim[0] *= fits ? blocks->product : 1;
    return fits;
}

static bool batch_to_space(const BatchBlocks *blocks, Shape *shape) {
    const int64_t *block = blocks->block.at, *crop = blocks->edge.at;
    bool fits = shape->dim[0] % blocks->product == 0;
    for (uint32_t k = 0; fits && k < blocks->block.count; k++) {
        fits = shape->dim[1 + k] <= EXTENT_MAX / block[k];
        shape->dim[1 + k] = fits ? shape->dim[1 + k] * block[k] - crop[2 * k] - crop[2 * k + 1] : 0;
        fits = fits && shape->dim[1 + k] >= 0;
    }
    shape->dim[0] /= blocks->product;
    return fits;
}

/* What an operator on blocks does, and what is said where it can't. */
typedef struct {
    MoveBlocks move;
    const char *hint, *what, *expected;
} BlockRule;

static bool infer_blocks(Infer *in, const BlockRule *rule) {
    const Value *x = infer_need(in, 0);
    BatchBlocks blocks;
    if (x == NULL) {
        return false;
    }
    if (!read_blocks(in, x, &blocks)) {
        return infer_from_file(in, rule->hint);
    }
    Shape out = x->shape;
    return blocks.product > 0 && rule->move(&blocks, &out)
               ? infer_out(in, 0, x->dtype, &out)
               : infer_error(in, 1, rule->what, infer_shape_text(in, &x->shape), rule->expected);
}

bool infer_space_to_batch(Infer *in) {
    const BlockRule rule = {space_to_batch, "make block and pads constants", "the input does not divide into blocks",
                            "padded spatial extents that are multiples of the block"};
    return infer_blocks(in, &rule);
}

bool infer_batch_to_space(Infer *in) {
    const BlockRule rule = {batch_to_space, "make block and crops constants", "the batch does not divide into blocks",
                            "a batch that is a multiple of the blocks' product"};
    return infer_blocks(in, &rule);
}
