/* Boxes of Slice, Split and Concat, and the permutation of Transpose. */
#include "graph/box.h"

#include "graph/fold.h"

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

/* What a rule reads, so that its parts take one argument. */
typedef struct {
    const Graph *graph;
    const Node *node;
    Arena *scratch;
} Reader;

/* The integers of constant input `k`; at most one an axis. */
static bool input_ints(const Reader *reader, uint32_t k, Ints *ints) {
    const Value *value = node_input(reader->graph, reader->node, k);
    *ints = (Ints){0, NULL};
    return value != NULL && const_ints(value, reader->scratch, ints) && ints->count <= SHAPE_MAX_RANK;
}

/* The integers of attribute `name`, or else of constant input `k`; at most one an axis. */
static bool named_ints(const Reader *reader, const char *name, uint32_t k, Ints *ints) {
    return node_ints(reader->graph, reader->node, name, k, reader->scratch, ints) && ints->count <= SHAPE_MAX_RANK;
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

static bool all_one(const Ints *steps) {
    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->at[i] != 1) {
            return false;
        }
    }
    return true;
}

/* ONNX Slice: starts (1), ends (2), axes (3), steps (4); attributes before opset 10. */
static bool onnx_slice_begin(const Reader *reader, const Shape *whole, Box *box) {
    Ints starts;
    Ints axes = {0, NULL};
    Ints steps = {0, NULL};
    bool has_axes = node_attr(reader->node, "axes") != NULL || node_input(reader->graph, reader->node, 3) != NULL;
    bool has_steps = node_input(reader->graph, reader->node, 4) != NULL;
    if (!named_ints(reader, "starts", 1, &starts) || (has_axes && !named_ints(reader, "axes", 3, &axes)) ||
        (has_steps && !input_ints(reader, 4, &steps)) || !all_one(&steps) || (has_axes && axes.count != starts.count)) {
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
static bool strided_slice_begin(const Reader *reader, const Shape *whole, Box *box) {
    const Node *node = reader->node;
    Ints begin;
    Ints strides;
    if (!input_ints(reader, 1, &begin) || !input_ints(reader, 3, &strides) || !all_one(&strides) ||
        begin.count > whole->rank || node_int(node, "ellipsis_mask", 0) != 0 ||
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

static bool size_slice_begin(const Reader *reader, const Shape *whole, Box *box) {
    Ints begin;
    if (!input_ints(reader, 1, &begin) || begin.count != whole->rank) {
        return false;
    }
    memcpy(box->begin, begin.at, begin.count * sizeof *begin.at);
    return true;
}

static bool split_begin(const Reader *reader, uint32_t k, const Shape *whole, Box *box) {
    const Node *node = reader->node;
    Ints ints;
    int64_t given = node_int(node, "axis", 0);
    if (node->op != OP_SPLIT) {
        if (!input_ints(reader, node->op == OP_SPLIT_V ? 2 : 0, &ints) || ints.count != 1) {
            return false;
        }
        given = ints.at[0];
    }
    uint32_t axis;
    if (!normal_axis(given, whole->rank, &axis)) {
        return false;
    }
    for (uint32_t before = 0; before < k; before++) {
        const Value *part = node_output(reader->graph, node, before);
        if (part == NULL || part->shape.rank != whole->rank) {
            return false;
        }
        box->begin[axis] += part->shape.dim[axis];
    }
    return true;
}

static bool begin_of(const Reader *reader, uint32_t k, const Shape *whole, Box *box) {
    switch (reader->node->op) {
    case OP_SLICE:
        return onnx_slice_begin(reader, whole, box);
    case OP_SLICE_SIZE:
        return size_slice_begin(reader, whole, box);
    case OP_STRIDED_SLICE:
        return strided_slice_begin(reader, whole, box);
    case OP_SPLIT:
    case OP_SPLIT_TFLITE:
    case OP_SPLIT_V:
        return split_begin(reader, k, whole, box);
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

bool node_slice_box(const Graph *graph, const Node *node, uint32_t k, Arena *scratch, Box *box) {
    const Reader reader = {graph, node, scratch};
    const Value *whole = node_input(graph, node, node_data_input(node));
    const Value *part = node_output(graph, node, k);
    if (whole == NULL || part == NULL || k >= BOX_MOST_PARTS) {
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
    return begin_of(&reader, k, &whole->shape, box) && box_is_inside(box, &whole->shape) &&
           shape_elements(&box->extent, &in_box) && shape_elements(&part->shape, &in_part) && in_box == in_part;
}

int64_t concat_axis_absent(const Graph *graph, const Node *node) {
    return graph->format == FORMAT_ONNX && node->version < 4 ? 1 : 0;
}

bool node_concat_box(const Graph *graph, const Node *node, uint32_t k, Box *box) {
    const Value *whole = node_output(graph, node, 0);
    const Value *part = node_input(graph, node, k);
    uint32_t axis;
    if (whole == NULL || part == NULL || k >= BOX_MOST_PARTS || node->op != OP_CONCAT ||
        part->shape.rank != whole->shape.rank ||
        !normal_axis(node_int(node, "axis", concat_axis_absent(graph, node)), whole->shape.rank, &axis)) {
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

bool node_permutation(const Graph *graph, const Node *node, Arena *scratch, uint32_t perm[SHAPE_MAX_RANK]) {
    const Reader reader = {graph, node, scratch};
    const Value *input = node_input(graph, node, 0);
    Ints given = {0, NULL};
    bool is_given = node_attr(node, "perm") != NULL || node_input(graph, node, 1) != NULL;
    if (input == NULL || (is_given && !named_ints(&reader, "perm", 1, &given)) ||
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
