/* Boxes of Slice, Split and Concat, and the permutation of Transpose. */
#include "graph/box.h"

#include <string.h>

uint32_t node_data_input(const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        char role = op_input_role(node->op, k);
        if (role == 'x' || role == 'p') {
            return k;
        }
    }
    return 0;
}

/* Up to SHAPE_MAX_RANK small integers of a constant of rank 0 or 1. */
typedef struct {
    uint32_t count;
    int64_t at[SHAPE_MAX_RANK];
} SmallInts;

static int64_t int_at(const Value *value, uint64_t index) {
    const uint8_t *bytes = value->constant->bytes.ptr;
    if (value->dtype == DTYPE_I64) {
        int64_t wide;
        memcpy(&wide, bytes + index * sizeof wide, sizeof wide);
        return wide;
    }
    int32_t narrow;
    memcpy(&narrow, bytes + index * sizeof narrow, sizeof narrow);
    return narrow;
}

static bool constant_ints(const Value *value, SmallInts *ints) {
    uint64_t elements;
    *ints = (SmallInts){0};
    bool is_integer = value != NULL && (value->dtype == DTYPE_I64 || value->dtype == DTYPE_I32);
    if (!is_integer || value->constant == NULL || !value->constant->is_known ||
        !shape_elements(&value->shape, &elements) || elements > SHAPE_MAX_RANK) {
        return false;
    }
    uint64_t stored;
    bool is_splat = shape_elements(&value->constant->stored, &stored) && stored < elements;
    ints->count = (uint32_t)elements;
    for (uint64_t i = 0; i < elements; i++) {
        ints->at[i] = int_at(value, is_splat ? 0 : i);
    }
    return true;
}

/* The integers of attribute `name`, or else of constant input `k`. */
static bool node_ints(const Graph *graph, const Node *node, const char *name, uint32_t k, SmallInts *ints) {
    const Attr *attr = node_attr(node, name);
    if (attr == NULL || attr->kind != ATTR_INTS) {
        return constant_ints(node_input(graph, node, k), ints);
    }
    *ints = (SmallInts){.count = attr->count};
    if (attr->count > SHAPE_MAX_RANK) {
        return false;
    }
    for (uint32_t i = 0; i < attr->count; i++) {
        ints->at[i] = attr->ints[i];
    }
    return true;
}

static bool normal_axis(int64_t axis, uint32_t rank, uint32_t *result) {
    int64_t wrapped = axis < 0 ? axis + rank : axis;
    *result = (uint32_t)wrapped;
    return wrapped >= 0 && wrapped < rank;
}

/* Where a slice that starts at `start` begins: negative counts from the end, past the end is the end. */
static int64_t clamp_start(int64_t start, int64_t extent) {
    start = start < 0 ? start + extent : start;
    return start < 0 ? 0 : start > extent ? extent : start;
}

static bool all_one(const SmallInts *steps) {
    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->at[i] != 1) {
            return false;
        }
    }
    return true;
}

/* ONNX Slice: starts (1), ends (2), axes (3), steps (4); attributes before opset 10. */
static bool onnx_slice_begin(const Graph *graph, const Node *node, const Shape *whole, Box *box) {
    SmallInts starts;
    SmallInts axes = {0};
    SmallInts steps = {0};
    bool has_axes = node_attr(node, "axes") != NULL || node_input(graph, node, 3) != NULL;
    bool has_steps = node_input(graph, node, 4) != NULL;
    if (!node_ints(graph, node, "starts", 1, &starts) || (has_axes && !node_ints(graph, node, "axes", 3, &axes)) ||
        (has_steps && !constant_ints(node_input(graph, node, 4), &steps)) || !all_one(&steps) ||
        (has_axes && axes.count != starts.count)) {
        return false;
    }
    for (uint32_t i = 0; i < starts.count; i++) {
        uint32_t axis;
        if (!normal_axis(has_axes ? axes.at[i] : i, whole->rank, &axis)) {
            return false;
        }
        box->begin[axis] = clamp_start(starts.at[i], whole->dim[axis]);
    }
    return true;
}

/* TFLite StridedSlice: begin (1), end (2), strides (3). New axes and ellipses make a copy. */
static bool strided_slice_begin(const Graph *graph, const Node *node, const Shape *whole, Box *box) {
    SmallInts begin;
    SmallInts strides;
    if (!constant_ints(node_input(graph, node, 1), &begin) || !constant_ints(node_input(graph, node, 3), &strides) ||
        !all_one(&strides) || begin.count > whole->rank || node_int(node, "ellipsis_mask", 0) != 0 ||
        node_int(node, "new_axis_mask", 0) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < begin.count; i++) {
        bool is_masked = (node_int(node, "begin_mask", 0) >> i & 1) != 0;
        box->begin[i] = is_masked ? 0 : clamp_start(begin.at[i], whole->dim[i]);
        if ((node_int(node, "shrink_axis_mask", 0) >> i & 1) != 0) {
            box->extent.dim[i] = 1;
        }
    }
    return true;
}

static bool size_slice_begin(const Graph *graph, const Node *node, const Shape *whole, Box *box) {
    SmallInts begin;
    if (!constant_ints(node_input(graph, node, 1), &begin) || begin.count != whole->rank) {
        return false;
    }
    memcpy(box->begin, begin.at, sizeof box->begin);
    return true;
}

static bool split_begin(const Graph *graph, const Node *node, uint32_t k, const Shape *whole, Box *box) {
    SmallInts ints;
    int64_t given = node_int(node, "axis", 0);
    if (node->op != OP_SPLIT) {
        if (!constant_ints(node_input(graph, node, node->op == OP_SPLIT_V ? 2 : 0), &ints) || ints.count != 1) {
            return false;
        }
        given = ints.at[0];
    }
    uint32_t axis;
    if (!normal_axis(given, whole->rank, &axis)) {
        return false;
    }
    for (uint32_t before = 0; before < k; before++) {
        const Value *part = node_output(graph, node, before);
        if (part == NULL || part->shape.rank != whole->rank) {
            return false;
        }
        box->begin[axis] += part->shape.dim[axis];
    }
    return true;
}

static bool begin_of(const Graph *graph, const Node *node, uint32_t k, const Shape *whole, Box *box) {
    switch (node->op) {
    case OP_SLICE:
        return onnx_slice_begin(graph, node, whole, box);
    case OP_SLICE_SIZE:
        return size_slice_begin(graph, node, whole, box);
    case OP_STRIDED_SLICE:
        return strided_slice_begin(graph, node, whole, box);
    case OP_SPLIT:
    case OP_SPLIT_TFLITE:
    case OP_SPLIT_V:
        return split_begin(graph, node, k, whole, box);
    default:
        return false;
    }
}

static bool box_is_inside(const Box *box, const Shape *whole) {
    for (uint32_t k = 0; k < whole->rank; k++) {
        if (box->begin[k] < 0 || box->extent.dim[k] < 0 || box->begin[k] > whole->dim[k] - box->extent.dim[k]) {
            return false;
        }
    }
    return true;
}

bool node_slice_box(const Graph *graph, const Node *node, uint32_t k, Box *box) {
    const Value *whole = node_input(graph, node, node_data_input(node));
    const Value *part = node_output(graph, node, k);
    if (whole == NULL || part == NULL) {
        return false;
    }
    *box = (Box){.extent = whole->shape};
    if (part->shape.rank == whole->shape.rank) {
        box->extent = part->shape;
    } else if (node->op != OP_STRIDED_SLICE) {
        return false;
    }
    uint64_t in_box;
    uint64_t in_part;
    return begin_of(graph, node, k, &whole->shape, box) && box_is_inside(box, &whole->shape) &&
           shape_elements(&box->extent, &in_box) && shape_elements(&part->shape, &in_part) && in_box == in_part;
}

bool node_concat_box(const Graph *graph, const Node *node, uint32_t k, Box *box) {
    const Value *whole = node_output(graph, node, 0);
    const Value *part = node_input(graph, node, k);
    uint32_t axis;
    if (whole == NULL || part == NULL || node->op != OP_CONCAT || part->shape.rank != whole->shape.rank ||
        !normal_axis(node_int(node, "axis", 1), whole->shape.rank, &axis)) {
        return false;
    }
    *box = (Box){.extent = part->shape};
    for (uint32_t before = 0; before < k; before++) {
        const Value *other = node_input(graph, node, before);
        if (other == NULL || other->shape.rank != whole->shape.rank) {
            return false;
        }
        box->begin[axis] += other->shape.dim[axis];
    }
    return box_is_inside(box, &whole->shape);
}

bool node_permutation(const Graph *graph, const Node *node, uint32_t perm[SHAPE_MAX_RANK]) {
    const Value *input = node_input(graph, node, 0);
    SmallInts given = {0};
    bool is_given = node_attr(node, "perm") != NULL || node_input(graph, node, 1) != NULL;
    if (input == NULL || (is_given && !node_ints(graph, node, "perm", 1, &given)) ||
        (is_given && given.count != input->shape.rank)) {
        return false;
    }
    for (uint32_t k = 0; k < input->shape.rank; k++) {
        if (!normal_axis(is_given ? given.at[k] : (int64_t)(input->shape.rank - 1 - k), input->shape.rank, &perm[k])) {
            return false;
        }
    }
    return true;
}
