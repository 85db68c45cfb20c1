/* Names of axes by definition: of maps by their rank, of weights by their operator. */
#include "graph/names.h"

void names_channel_second(uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]) {
    for (uint32_t k = 0; k < rank; k++) {
        dims[k] = k == 0 ? DIM_N : k == 1 ? DIM_C : k + 1 == rank ? DIM_W : DIM_H;
    }
    if (rank == 1) {
        dims[0] = DIM_C;
    }
}

/* The axis that a normalisation states, counted from 0. False where it states none. */
static bool stated_channel(const Node *node, uint32_t rank, uint32_t *axis) {
    const Attr *attr = op_info(node->op)->kind == KIND_NORM ? node_attr(node, "axis") : NULL;
    bool is_list = attr != NULL && attr->kind == ATTR_INTS && attr->count == 1;
    if (attr == NULL || (!is_list && attr->kind != ATTR_INT)) {
        return false;
    }
    int64_t stated = is_list ? attr->ints[0] : attr->i;
    stated += stated < 0 ? (int64_t)rank : 0;
    *axis = (uint32_t)stated;
    return stated >= 0 && stated < (int64_t)rank;
}

void names_of_map(const Node *node, uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]) {
    uint32_t axis;
    names_channel_second(rank, dims);
    if (rank < 2 || !stated_channel(node, rank, &axis)) {
        return;
    }
    uint8_t order[SHAPE_MAX_RANK] = {0}; /* N, then spatial */
    uint32_t next = 0;
    for (uint32_t k = 0; k < rank; k++) {
        if (dims[k] != DIM_C) {
            order[next++] = dims[k];
        }
    }
    next = 0;
    for (uint32_t k = 0; k < rank; k++) {
        dims[k] = k == axis ? DIM_C : order[next++];
    }
}

void names_right_aligned(uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]) {
    static const uint8_t from_right[] = {DIM_C, DIM_W, DIM_H};
    for (uint32_t k = 0; k < rank; k++) {
        dims[rank - 1 - k] = k < 3 ? from_right[k] : DIM_N;
    }
}

/* first, second, then spatial axes right-aligned to H W. */
static void spatial_last(uint32_t rank, Dim first, Dim second, uint8_t dims[SHAPE_MAX_RANK]) {
    names_channel_second(rank, dims);
    for (uint32_t k = 0; k < rank; k++) {
        dims[k] = (uint8_t)(dims[k] == DIM_N ? first : dims[k] == DIM_C ? second : (Dim)dims[k]);
    }
    if (rank == 1) {
        dims[0] = (uint8_t)first;
    }
}

/* …, H, H, then the names given, outermost first. */
static void last_axes(uint32_t rank, const Dim *named, uint32_t count, uint8_t dims[SHAPE_MAX_RANK]) {
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t from_right = rank - 1 - k;
        dims[k] = (uint8_t)(from_right < count ? named[count - 1 - from_right] : DIM_H);
    }
}

static void spatial_first(uint32_t rank, Dim last_but_one, Dim last, uint8_t dims[SHAPE_MAX_RANK]) {
    last_axes(rank, (const Dim[]){DIM_H, DIM_W, last_but_one, last}, 4, dims);
}

static void matrix(uint32_t rank, Dim last_but_one, Dim last, uint8_t dims[SHAPE_MAX_RANK]) {
    last_axes(rank, (const Dim[]){last_but_one, last}, 2, dims);
    if (rank == 1) {
        dims[0] = DIM_I;
    }
}

/* One matrix that nobody defines further: an output a row, as Gemm with transB has it. */
static void rows_are_outputs(uint32_t rank, uint8_t dims[SHAPE_MAX_RANK]) {
    for (uint32_t k = 0; k < rank; k++) {
        dims[k] = k + 1 == rank && rank > 1 ? DIM_I : DIM_O;
    }
}

/* Sources: onnx/docs/Operators.md (onnx 1.17); tensorflow/lite/c/builtin_op_data and the reference kernels of TFLite.
 */
void names_of_weights(const Graph *graph, const Node *node, uint32_t k, uint8_t dims[SHAPE_MAX_RANK]) {
    uint32_t rank = node_input(graph, node, k)->shape.rank;
    switch (node->op) {
    case OP_CONV:
    case OP_TRANSPOSE_CONV:
        if (graph->channels_last) {
            last_axes(rank, (const Dim[]){DIM_O, DIM_H, DIM_W, DIM_I}, 4, dims);
        } else {
            spatial_last(rank, DIM_O, DIM_I, dims);
        }
        break;
    case OP_CONV_INTEGER:
    case OP_QLINEAR_CONV:
    case OP_DEFORM_CONV:
        spatial_last(rank, DIM_O, DIM_I, dims);
        break;
    case OP_CONV_TRANSPOSE:
        spatial_last(rank, DIM_I, DIM_O, dims);
        break;
    case OP_DEPTHWISE_CONV:
        last_axes(rank, (const Dim[]){DIM_I, DIM_H, DIM_W, DIM_O}, 4, dims);
        break;
    case OP_CONV_3D:
        spatial_first(rank, DIM_I, DIM_O, dims);
        break;
    case OP_CONV_3D_TRANSPOSE:
        spatial_first(rank, DIM_O, DIM_I, dims);
        break;
    case OP_GEMM:
        matrix(rank, node_int(node, "transB", 0) != 0 ? DIM_O : DIM_I, node_int(node, "transB", 0) != 0 ? DIM_I : DIM_O,
               dims);
        break;
    case OP_MATMUL:
    case OP_MATMUL_INTEGER:
    case OP_MATMUL_INTEGER_TO_FLOAT:
    case OP_QLINEAR_MATMUL:
        matrix(rank, DIM_I, DIM_O, dims);
        break;
    case OP_BATCH_MATMUL:
        matrix(rank, node_int(node, "adj_y", 0) != 0 ? DIM_O : DIM_I, node_int(node, "adj_y", 0) != 0 ? DIM_I : DIM_O,
               dims);
        break;
    default:
        rows_are_outputs(rank, dims);
        break;
    }
}

int32_t names_channel_axis(const Graph *graph, const Value *map) {
    int32_t found = -1;
    uint32_t count = 0;
    for (uint32_t k = 0; k < map->shape.rank; k++) {
        if (map->dims[k] == DIM_C) {
            found = (int32_t)k;
            count++;
        }
    }
    if (count == 1) {
        return found;
    }
    return graph->channels_last || map->shape.rank < 2 ? (int32_t)map->shape.rank - 1 : 1;
}
