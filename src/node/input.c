/* Along which axes of a node's map its inputs lie. */
#include "node/input.h"

#include "graph/fold.h"
#include "graph/names.h"

#include <string.h>

int32_t node_first_map(const Graph *graph, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (value_is_map(node_input(graph, node, k))) {
            return (int32_t)k;
        }
    }
    return NO_INPUT;
}

bool node_has_state(const Graph *graph, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        if (value != NULL && value->is_state) {
            return true;
        }
    }
    return false;
}

bool value_has_elements(const Value *value) {
    uint64_t elements;
    bool has_bytes = value != NULL && !value->is_sequence && value->has_shape && dtype_bits(value->dtype) > 0;
    return has_bytes && shape_elements(&value->shape, &elements) && elements > 0;
}

bool node_is_elementwise(const Node *node) {
    switch (op_info(node->op)->kind) {
    case KIND_UNARY:
    case KIND_BROADCAST:
    case KIND_NORM:
    case KIND_QUANTIZE:
    case KIND_DEQUANTIZE:
        return true;
    default:
        return false;
    }
}

/* ---- Axes */

/* Of the coded tensor; where that has no record of several scales, the attribute that the operator defines. A Quantize
 * that took a Dequantize along reads that one's scale and zero point behind its own: see graph_fold_qdq. */
static int32_t quant_axis(const Graph *graph, const Node *node, uint32_t k) {
    enum { OWN_INPUTS = 3 };
    bool is_quantize = op_info(node->op)->kind == KIND_QUANTIZE, is_taken = is_quantize && k >= OWN_INPUTS;
    const Value *coded = is_quantize && !is_taken ? node_output(graph, node, 0) : node_input(graph, node, 0);
    if (coded == NULL || (coded->quant != NULL && coded->quant->count > 1)) {
        return coded == NULL ? -1 : coded->quant->axis;
    }
    int64_t axis = node_int(node, is_taken ? "taken_axis" : "axis", 1);
    axis += axis < 0 ? (int64_t)coded->shape.rank : 0;
    return axis >= 0 && axis < (int64_t)coded->shape.rank ? (int32_t)axis : -1;
}

int32_t node_defined_axis(const Graph *graph, const Node *node, uint32_t k) {
    OpKind kind = op_info(node->op)->kind;
    bool is_coding = kind == KIND_QUANTIZE || kind == KIND_DEQUANTIZE;
    return is_coding ? quant_axis(graph, node, k) : names_channel_axis(graph, node_output(graph, node, 0));
}

/* The axis of the map that axis 0 of the operand is aligned with. From the right; before opset 7 an attribute says. */
int32_t node_aligned_start(const Node *node, const Value *map, const Shape *shape) {
    bool is_legacy = node->version > 0 && node->version < 7 && node_int(node, "broadcast", 0) != 0;
    int64_t axis = is_legacy ? node_int(node, "axis", -1) : -1;
    return axis >= 0 ? (int32_t)axis : (int32_t)map->shape.rank - (int32_t)shape->rank;
}

static bool is_named_as_weights(const Value *value) {
    for (uint32_t axis = 0; axis < value->shape.rank; axis++) {
        if (value->dims[axis] == DIM_O || value->dims[axis] == DIM_I) {
            return true;
        }
    }
    return false;
}

/* The names of a constant are its first reader's. Another may read the same bytes along other axes: a matrix as weights
 * and as an addend, a vector along C and along W. */
void node_input_names(const Graph *graph, const Node *node, uint32_t k, uint8_t dims[SHAPE_MAX_RANK]) {
    const Value *value = node_input(graph, node, k), *map = node_output(graph, node, 0);
    char role = op_input_role(node->op, k);
    memcpy(dims, value->dims, SHAPE_MAX_RANK);
    if (role == 'w') {
        names_of_weights(graph, node, k, dims);
        return;
    }
    for (uint32_t own = 0; is_named_as_weights(value) && own < value->shape.rank; own++) {
        dims[own] = (uint8_t)DIM_C;
    }
    int32_t axis = role == 'p' ? node_aligned_start(node, map, &value->shape) : node_defined_axis(graph, node, k);
    if (role == 'c' && value->shape.rank == 1 && node_has_axis(map, axis) &&
        map->shape.dim[axis] == value->shape.dim[0]) {
        dims[0] = map->dims[axis];
    }
    for (uint32_t own = 0; role == 'p' && own < value->shape.rank; own++, axis++) {
        dims[own] = node_has_axis(map, axis) ? map->dims[axis] : dims[own];
    }
}

/* No axes are all of them in ONNX, unless an attribute says none. */
bool node_reduced_axes(const Graph *graph, const Node *node, Arena *arena, uint32_t *reduced) {
    const Value *in = node_input(graph, node, 0);
    bool is_listed = node_attr(node, "axes") != NULL || node_input(graph, node, 1) != NULL;
    Ints axes = {0, NULL};
    *reduced = 0;
    if (in == NULL || !in->has_shape || (is_listed && !node_ints(graph, node, "axes", 1, arena, &axes))) {
        return false;
    }
    if (axes.count == 0 && graph->format != FORMAT_TFLITE && node_int(node, "noop_with_empty_axes", 0) == 0) {
        *reduced = (UINT32_C(1) << in->shape.rank) - 1;
    }
    for (uint32_t k = 0; k < axes.count; k++) {
        int64_t axis = axes.at[k] + (axes.at[k] < 0 ? (int64_t)in->shape.rank : 0);
        *reduced |= axis >= 0 && axis < (int64_t)in->shape.rank ? UINT32_C(1) << axis : 0;
    }
    return true;
}
