/* Shape rules of look-ups by index, scatters and samplers. */
#include "graph/infer.h"

/* Indices that the file fixes; ONNX counts negative ones from the end. */
static bool check_index(Infer *in, uint32_t k, int64_t index, int64_t extent) {
    int64_t least = infer_is_tflite(in) ? 0 : -extent;
    return (index >= least && index < extent) ||
           infer_error(in, k, "an index lies outside the axis", arena_text(&in->work->keep, "%lld", (long long)index),
                       extent == 0
                           ? "none: the axis has no elements"
                           : arena_text(&in->work->keep, "%lld to %lld", (long long)least, (long long)extent - 1));
}

static bool check_indices(Infer *in, uint32_t k, int64_t extent) {
    Ints index;
    bool is_known = infer_input_ints(in, k, &index) == INTS_KNOWN;
    for (uint32_t i = 0; is_known && i < index.count; i++) {
        if (!check_index(in, k, index.at[i], extent)) {
            return false;
        }
    }
    return true;
}

/* Data outside the axis, with the indices' shape in its place; TFLite's leading batch axes stand once. */
bool infer_gather(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *indices = infer_need(in, 1);
    uint32_t axis, batch = 0;
    if (x == NULL || indices == NULL || !infer_axis(in, node_int(in->node, "axis", 0), x->shape.rank, &axis)) {
        return false;
    }
    int64_t batch_dims = node_int(in->node, "batch_dims", 0);
    if (batch_dims != 0 && !infer_axis(in, batch_dims, indices->shape.rank + 1, &batch)) {
        return false;
    }
    if (batch > axis) {
        return infer_error(in, 0, "more batch axes than stand before the axis",
                           arena_text(&in->work->keep, "%u", batch), arena_text(&in->work->keep, "at most %u", axis));
    }
    Shape out = {.rank = 0};
    return check_indices(in, 1, x->shape.dim[axis]) && infer_push_all(in, &out, &x->shape, 0, axis) &&
           infer_push_all(in, &out, &indices->shape, batch, indices->shape.rank) &&
           infer_push_all(in, &out, &x->shape, axis + 1, x->shape.rank) && infer_out(in, 0, x->dtype, &out);
}

bool infer_gather_elements(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *indices = infer_need(in, 1);
    uint32_t axis;
    return x != NULL && indices != NULL && infer_axis(in, node_int(in->node, "axis", 0), x->shape.rank, &axis) &&
           check_indices(in, 1, x->shape.dim[axis]) && infer_out(in, 0, x->dtype, &indices->shape);
}

/* The last axis of `indices` holds one index for each of `depth` axes behind the batch. */
static bool check_tuples(Infer *in, const Shape *x, uint32_t batch, uint32_t depth) {
    Ints index;
    bool is_known = infer_input_ints(in, 1, &index) == INTS_KNOWN;
    for (uint32_t i = 0; is_known && i < index.count; i++) {
        if (!check_index(in, 1, index.at[i], x->dim[batch + i % depth])) {
            return false;
        }
    }
    return true;
}

bool infer_gather_nd(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *indices = infer_need(in, 1);
    int64_t batch = node_int(in->node, "batch_dims", 0);
    if (x == NULL || indices == NULL) {
        return false;
    }
    uint32_t rank = indices->shape.rank;
    int64_t depth = rank == 0 ? -1 : indices->shape.dim[rank - 1];
    if (depth < 0 || batch < 0 || batch >= rank || depth > (int64_t)x->shape.rank - batch) {
        return infer_error(in, 1, "the indices are longer than the data has axes",
                           infer_shape_text(in, &indices->shape),
                           arena_text(&in->work->keep, "at most %u in the last axis", x->shape.rank));
    }
    Shape out = {.rank = 0};
    return check_tuples(in, &x->shape, (uint32_t)batch, (uint32_t)depth) &&
           infer_push_all(in, &out, &indices->shape, 0, rank - 1) &&
           infer_push_all(in, &out, &x->shape, (uint32_t)(batch + depth), x->shape.rank) &&
           infer_out(in, 0, x->dtype, &out);
}

static bool shape_from(Infer *in, uint32_t k, DType dtype) {
    Ints wanted;
    Shape out = {.rank = 0};
    if (infer_input_ints(in, k, &wanted) != INTS_KNOWN) {
        return infer_from_file(in, "make the shape a constant");
    }
    for (uint32_t axis = 0; axis < wanted.count; axis++) {
        if (!infer_push(in, &out, wanted.at[axis])) {
            return false;
        }
    }
    return infer_out(in, 0, dtype, &out);
}

/* Indices, updates, shape. */
bool infer_scatter_nd_shape(Infer *in) {
    return shape_from(in, 2, DTYPE_NONE);
}

/* Indices, shape, values, default. */
bool infer_sparse_to_dense(Infer *in) {
    return shape_from(in, 1, DTYPE_NONE);
}

/* A new axis of `depth` elements, the last by default. */
bool infer_one_hot(Infer *in) {
    const Value *indices = infer_need(in, 0);
    const Value *values = node_input(in->graph, in->node, 2);
    Ints depth;
    Floats real;
    uint32_t axis;
    if (indices == NULL || !infer_axis(in, node_int(in->node, "axis", -1), indices->shape.rank + 1, &axis)) {
        return false;
    }
    const Value *stated = node_input(in->graph, in->node, 1);
    int64_t count = -1;
    if (infer_input_ints(in, 1, &depth) == INTS_KNOWN && depth.count == 1) {
        count = depth.at[0];
    } else if (stated != NULL && const_floats(stated, &in->work->scratch, &real) && real.count == 1 &&
               real.at[0] >= 0 && real.at[0] < (double)EXTENT_MAX) {
        count = (int64_t)real.at[0]; /* the depth may be a float */
    } else {
        return infer_from_file(in, "make the depth a constant");
    }
    Shape out = {.rank = 0};
    return infer_push_all(in, &out, &indices->shape, 0, axis) && infer_push(in, &out, count) &&
           infer_push_all(in, &out, &indices->shape, axis, indices->shape.rank) &&
           infer_out(in, 0, values == NULL ? DTYPE_NONE : values->dtype, &out);
}

/* Rows of the table, one an index. */
bool infer_embedding_lookup(Infer *in) {
    const Value *indices = infer_need(in, 0);
    const Value *table = infer_need(in, 1);
    if (indices == NULL || table == NULL) {
        return false;
    }
    Shape out = indices->shape;
    if (table->shape.rank > 0 && !check_indices(in, 0, table->shape.dim[0])) {
        return false;
    }
    return (table->shape.rank == 0 || infer_push_all(in, &out, &table->shape, 1, table->shape.rank)) &&
           infer_out(in, 0, DTYPE_NONE, &out);
}

/* As many elements as the condition has ones, which is known for a constant only. */
bool infer_compress(Infer *in) {
    const Value *x = infer_need(in, 0);
    Ints condition;
    if (x == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &condition) != INTS_KNOWN) {
        return infer_data_dependent(in);
    }
    int64_t kept = 0;
    for (uint32_t k = 0; k < condition.count; k++) {
        kept += condition.at[k] != 0;
    }
    Shape out = {.rank = 1, .dim = {kept}};
    if (node_attr(in->node, "axis") != NULL) {
        uint32_t axis;
        if (!infer_axis(in, node_int(in->node, "axis", 0), x->shape.rank, &axis)) {
            return false;
        }
        out = x->shape;
        out.dim[axis] = kept;
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* [N, C, D…] at [N, d…, axes] gives [N, C, d…]. */
bool infer_grid_sample(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *grid = infer_need(in, 1);
    if (x == NULL || grid == NULL) {
        return false;
    }
    if (x->shape.rank < 3 || grid->shape.rank != x->shape.rank) {
        return infer_error(in, 1, "the grid does not fit the input", infer_shape_text(in, &grid->shape),
                           arena_text(&in->work->keep, "the rank of %s", infer_shape_text(in, &x->shape)));
    }
    Shape out = x->shape;
    for (uint32_t axis = 2; axis < out.rank; axis++) {
        out.dim[axis] = grid->shape.dim[axis - 1];
    }
    return infer_out(in, 0, x->dtype, &out);
}

/* `size` N C H W (or N C D H W) gives the grid N H W 2 (N D H W 3). */
bool infer_affine_grid(Infer *in) {
    const Value *theta = infer_need(in, 0);
    Ints size;
    if (theta == NULL) {
        return false;
    }
    if (infer_input_ints(in, 1, &size) != INTS_KNOWN) {
        return infer_from_file(in, "make the size a constant");
    }
    if (size.count != 4 && size.count != 5) {
        return infer_error(in, 1, "the size does not fit the operator",
                           arena_text(&in->work->keep, "%u numbers", size.count), "4 or 5");
    }
    Shape out = {.rank = size.count, .dim = {size.at[0]}};
    for (uint32_t axis = 1; axis + 1 < size.count; axis++) {
        out.dim[axis] = size.at[axis + 1];
    }
    out.dim[size.count - 1] = (int64_t)size.count - 2;
    return infer_out(in, 0, theta->dtype, &out);
}
