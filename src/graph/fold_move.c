/* Operators that move, join, repeat or reduce small constants, and those that generate them.
 *
 * The shape of the output is the one that the rule of the operator gave, from the same inputs and attributes, so axes
 * are known to be sound; element types, and indices inside data, are not, and are checked. */
#include "graph/fold_move.h"

#include "graph/box.h"

/* Input `k`, whose elements are of type `dtype`. */
static bool load(const Fold *fold, uint32_t k, DType dtype, Tensor *tensor) {
    const Value *value = node_input(fold->graph, fold->node, k);
    return value != NULL && value->dtype == dtype && tensor_load(value, fold->scratch, tensor);
}

/* A constant input. */
static bool input_ints(const Fold *fold, uint32_t k, Ints *ints) {
    const Value *value = node_input(fold->graph, fold->node, k);
    return value != NULL && const_ints(value, fold->scratch, ints);
}

/* An attribute, or a constant input; the empty list where neither is there. */
static bool named_ints(const Fold *fold, const char *name, uint32_t k, Ints *ints) {
    return node_ints(fold->graph, fold->node, name, k, fold->scratch, ints) ||
           node_input(fold->graph, fold->node, k) == NULL;
}

static int64_t counted(int64_t axis, uint32_t rank) {
    return axis < 0 ? axis + rank : axis;
}

/* The axis of attribute `axis`, or `absent`; of a tensor of `rank` axes. False where there is none. */
static bool axis_of(const Fold *fold, int64_t absent, uint32_t rank, uint32_t *axis) {
    int64_t k = counted(node_int(fold->node, "axis", absent), rank);
    *axis = (uint32_t)k;
    return k >= 0 && k < rank;
}

/* The same elements in the same order. */
static bool fold_reshape(const Fold *fold, Tensor *out) {
    Tensor x;
    if (!load(fold, 0, out->dtype, &x) || x.count != out->count) {
        return false;
    }
    out->cell = x.cell;
    return true;
}

static bool fold_transpose(const Fold *fold, Tensor *out) {
    Tensor x;
    uint32_t perm[SHAPE_MAX_RANK];
    int64_t from[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
    if (!load(fold, 0, out->dtype, &x) || !node_permutation(fold->graph, fold->node, fold->scratch, perm)) {
        return false;
    }
    shape_strides(&x.shape, from);
    for (uint32_t axis = 0; axis < x.shape.rank; axis++) {
        stride[axis] = from[perm[axis]];
    }
    return tensor_gather(out, &x, 0, stride);
}

/* Start of a range as NumPy clamps it; the extent of the output is known. */
static int64_t clamped_start(int64_t start, int64_t extent, int64_t step) {
    int64_t high = step > 0 ? extent : extent - 1;
    start = start < -extent ? -extent : start;
    start = start < 0 ? start + extent : start;
    return start > high ? high : start;
}

static bool fold_slice(const Fold *fold, Tensor *out) {
    Tensor x;
    Ints starts, ends, axes, steps;
    int64_t stride[SHAPE_MAX_RANK], base = 0;
    if (!load(fold, 0, out->dtype, &x) || !named_ints(fold, "starts", 1, &starts) ||
        !named_ints(fold, "ends", 2, &ends) || !named_ints(fold, "axes", 3, &axes) ||
        !named_ints(fold, "steps", 4, &steps) || starts.count == 0 || ends.count != starts.count) {
        return false;
    }
    shape_strides(&x.shape, stride);
    for (uint32_t k = 0; k < starts.count; k++) {
        int64_t axis = axes.count == 0 ? k : counted(axes.at[k], x.shape.rank);
        int64_t step = steps.count == 0 ? 1 : steps.at[k];
        if (out->shape.dim[axis] > 0) {
            base += clamped_start(starts.at[k], x.shape.dim[axis], step) * stride[axis];
        }
        stride[axis] *= out->shape.dim[axis] > 1 ? step : 0;
    }
    return tensor_gather(out, &x, base, stride);
}

static bool fold_slice_size(const Fold *fold, Tensor *out) {
    Tensor x;
    Ints begin, size;
    int64_t stride[SHAPE_MAX_RANK], base = 0;
    if (!load(fold, 0, out->dtype, &x) || !input_ints(fold, 1, &begin) || !input_ints(fold, 2, &size) ||
        begin.count != x.shape.rank || size.count != x.shape.rank) {
        return false;
    }
    shape_strides(&x.shape, stride);
    for (uint32_t axis = 0; axis < x.shape.rank; axis++) {
        base += begin.at[axis] * stride[axis];
    }
    return tensor_gather(out, &x, base, stride);
}

/* STRIDED_SLICE without ellipsis: walks the entries as the shape rule did. */
static bool fold_strided_slice(const Fold *fold, Tensor *out) {
    Tensor x;
    Ints begin, end, steps;
    int64_t from[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK], base = 0;
    int64_t new_axis = node_int(fold->node, "new_axis_mask", 0), shrink = node_int(fold->node, "shrink_axis_mask", 0);
    int64_t begin_mask = node_int(fold->node, "begin_mask", 0);
    uint32_t axis = 0, to = 0;
    if (node_int(fold->node, "ellipsis_mask", 0) != 0 || !load(fold, 0, out->dtype, &x) ||
        !input_ints(fold, 1, &begin) || !input_ints(fold, 2, &end) || !input_ints(fold, 3, &steps) ||
        begin.count == 0 || end.count != begin.count || steps.count != begin.count) {
        return false;
    }
    shape_strides(&x.shape, from);
    for (uint32_t k = 0; k < begin.count; k++) {
        if ((new_axis >> k & 1) != 0) {
            stride[to++] = 0;
            continue;
        }
        int64_t extent = x.shape.dim[axis], step = steps.at[k];
        int64_t start =
            (begin_mask >> k & 1) != 0 ? (step > 0 ? 0 : extent - 1) : clamped_start(begin.at[k], extent, step);
        base += out->count > 0 ? start * from[axis] : 0;
        if ((shrink >> k & 1) == 0) {
            stride[to] = out->shape.dim[to] > 1 ? from[axis] * step : 0;
            to++;
        }
        axis++;
    }
    while (axis < x.shape.rank) {
        stride[to++] = from[axis++];
    }
    return tensor_gather(out, &x, base, stride);
}

/* Along the axis, of the outputs in front of `k`. False where one is absent, and from BOX_MOST_PARTS on. */
static bool elements_before(const Fold *fold, uint32_t k, uint32_t axis, int64_t *before) {
    *before = 0;
    for (uint32_t i = 0; i < k && k < BOX_MOST_PARTS; i++) {
        const Value *earlier = node_output(fold->graph, fold->node, i);
        if (earlier == NULL) {
            return false;
        }
        *before += earlier->shape.dim[axis];
    }
    return k < BOX_MOST_PARTS;
}

/* Output `k` of Split or UNPACK: what stands before it along the axis is skipped. */
static bool fold_split(const Fold *fold, uint32_t k, Tensor *out) {
    Tensor x;
    Ints stated;
    uint32_t axis, data = fold->node->op == OP_SPLIT_TFLITE ? 1 : 0;
    int64_t from[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK], before;
    if (!load(fold, data, out->dtype, &x) || !axis_of(fold, 0, x.shape.rank, &axis)) {
        return false;
    }
    if (fold->node->op == OP_SPLIT_TFLITE || fold->node->op == OP_SPLIT_V) {
        if (!input_ints(fold, fold->node->op == OP_SPLIT_V ? 2 : 0, &stated) || stated.count != 1) {
            return false;
        }
        axis = (uint32_t)counted(stated.at[0], x.shape.rank);
    }
    bool drops_axis = fold->node->op == OP_UNPACK;
    if (drops_axis) {
        before = k;
    } else if (!elements_before(fold, k, axis, &before)) {
        return false;
    }
    shape_strides(&x.shape, from);
    for (uint32_t i = 0, to = 0; i < x.shape.rank; i++) {
        if (!(drops_axis && i == axis)) {
            stride[to++] = from[i];
        }
    }
    return tensor_gather(out, &x, before * from[axis], stride);
}

/* Concat, and PACK, where each input has one element along the new axis. */
static bool fold_join(const Fold *fold, Tensor *out) {
    uint32_t axis;
    int64_t stride[SHAPE_MAX_RANK], place = 0;
    bool is_new = fold->node->op == OP_PACK;
    if (!axis_of(fold, is_new ? 0 : concat_axis_absent(fold->graph, fold->node), out->shape.rank, &axis)) {
        return false;
    }
    shape_strides(&out->shape, stride);
    for (uint32_t k = 0; k < fold->node->input_count; k++) {
        Tensor x;
        if (!load(fold, k, out->dtype, &x)) {
            return false;
        }
        Shape part = out->shape;
        part.dim[axis] = is_new ? 1 : x.shape.dim[axis];
        int64_t index[SHAPE_MAX_RANK] = {0};
        for (uint32_t i = 0; i < x.count; i++) {
            int64_t at = place * stride[axis];
            for (uint32_t d = 0; d < part.rank; d++) {
                at += index[d] * stride[d];
            }
            out->cell[at] = x.cell[i];
            shape_step(&part, index);
        }
        place += part.dim[axis];
    }
    return true;
}

static bool fold_gather(const Fold *fold, Tensor *out) {
    Tensor x, indices;
    uint32_t axis;
    int64_t inner = 1;
    const Value *at = node_input(fold->graph, fold->node, 1);
    if (node_int(fold->node, "batch_dims", 0) != 0 || !load(fold, 0, out->dtype, &x) || at == NULL ||
        dtype_is_float(at->dtype) || !tensor_load(at, fold->scratch, &indices) ||
        !axis_of(fold, 0, x.shape.rank, &axis)) {
        return false;
    }
    for (uint32_t d = axis + 1; d < x.shape.rank; d++) {
        inner *= x.shape.dim[d];
    }
    int64_t extent = x.shape.dim[axis], rows = (int64_t)indices.count;
    for (int64_t k = 0; k < (int64_t)out->count; k++) {
        int64_t index = indices.cell[k / inner % rows].i;
        index += index < 0 ? extent : 0;
        if (index < 0 || index >= extent) {
            return false;
        }
        out->cell[k] = x.cell[(k / inner / rows * extent + index) * inner + k % inner];
    }
    return true;
}

static bool fold_tile(const Fold *fold, Tensor *out) {
    Tensor x;
    int64_t stride[SHAPE_MAX_RANK], index[SHAPE_MAX_RANK] = {0};
    if (!load(fold, 0, out->dtype, &x)) {
        return false;
    }
    shape_strides(&x.shape, stride);
    for (uint32_t k = 0; k < out->count; k++) {
        int64_t at = 0;
        for (uint32_t d = 0; d < out->shape.rank; d++) {
            at += index[d] % x.shape.dim[d] * stride[d];
        }
        out->cell[k] = x.cell[at];
        shape_step(&out->shape, index);
    }
    return true;
}

static bool fold_range(const Fold *fold, Tensor *out) {
    Tensor start, delta;
    if (dtype_is_float(out->dtype) || !load(fold, 0, out->dtype, &start) || !load(fold, 2, out->dtype, &delta)) {
        return false;
    }
    int64_t next = start.cell[0].i;
    for (uint32_t k = 0; k < out->count; k++) {
        out->cell[k].i = next;
        if (__builtin_add_overflow(next, delta.cell[0].i, &next) && k + 1 < out->count) {
            return false;
        }
    }
    return true;
}

static bool reduce_step(OpId op, int64_t x, int64_t *sum) {
    switch (op) {
    case OP_REDUCE_SUM:
        return !__builtin_add_overflow(*sum, x, sum);
    case OP_REDUCE_PROD:
        return !__builtin_mul_overflow(*sum, x, sum);
    case OP_REDUCE_MAX:
        *sum = x > *sum ? x : *sum;
        return true;
    case OP_REDUCE_MIN:
        *sum = x < *sum ? x : *sum;
        return true;
    default:
        return false;
    }
}

/* Integers only, and all axes or the axis of a vector: what computations on shapes use. */
static bool fold_reduce(const Fold *fold, Tensor *out) {
    Tensor x;
    if (dtype_is_float(out->dtype) || out->count != 1 || !load(fold, 0, out->dtype, &x)) {
        return false;
    }
    bool is_sum = fold->node->op == OP_REDUCE_SUM || fold->node->op == OP_REDUCE_PROD;
    if (x.count == 0 && !is_sum) {
        return false;
    }
    int64_t sum = is_sum ? fold->node->op == OP_REDUCE_PROD : x.cell[0].i;
    for (uint32_t k = 0; k < x.count; k++) {
        if (!reduce_step(fold->node->op, x.cell[k].i, &sum)) {
            return false;
        }
    }
    out->cell[0].i = sum;
    return true;
}

bool fold_move(const Fold *fold, uint32_t k, Tensor *out) {
    switch (fold->node->op) {
    case OP_RESHAPE:
    case OP_FLATTEN:
    case OP_SQUEEZE:
    case OP_UNSQUEEZE:
        return fold_reshape(fold, out);
    case OP_TRANSPOSE:
        return fold_transpose(fold, out);
    case OP_SLICE:
        return fold_slice(fold, out);
    case OP_SLICE_SIZE:
        return fold_slice_size(fold, out);
    case OP_STRIDED_SLICE:
        return fold_strided_slice(fold, out);
    case OP_SPLIT:
    case OP_SPLIT_TFLITE:
    case OP_SPLIT_V:
    case OP_UNPACK:
        return fold_split(fold, k, out);
    case OP_CONCAT:
    case OP_PACK:
        return fold_join(fold, out);
    case OP_GATHER:
        return fold_gather(fold, out);
    case OP_TILE:
        return fold_tile(fold, out);
    case OP_RANGE:
        return fold_range(fold, out);
    case OP_REDUCE_SUM:
    case OP_REDUCE_PROD:
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
        return fold_reduce(fold, out);
    default:
        return false;
    }
}
