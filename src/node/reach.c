/* Reach, by operator: the table. Its rules stand by family in reach_*.c. */
#include "node/reach_rules.h"

/* Operators that have a rule of their own. */
static const ReachRule rule_of_op[OP_COUNT] = {
    [OP_CONV] = reach_windows,
    [OP_DEPTHWISE_CONV] = reach_windows,
    [OP_CONV_3D] = reach_windows,
    [OP_CONV_INTEGER] = reach_windows,
    [OP_QLINEAR_CONV] = reach_windows,
    [OP_AVERAGE_POOL] = reach_windows,
    [OP_MAX_POOL] = reach_windows,
    [OP_LP_POOL] = reach_windows,
    [OP_QLINEAR_AVERAGE_POOL] = reach_windows,
    [OP_CONV_TRANSPOSE] = reach_transposed_windows,
    [OP_TRANSPOSE_CONV] = reach_transposed_windows,
    [OP_CONV_3D_TRANSPOSE] = reach_transposed_windows,
    [OP_GLOBAL_AVERAGE_POOL] = reach_global_pool,
    [OP_GLOBAL_MAX_POOL] = reach_global_pool,
    [OP_GLOBAL_LP_POOL] = reach_global_pool,
    [OP_QLINEAR_GLOBAL_AVERAGE_POOL] = reach_global_pool,
    [OP_INSTANCE_NORM] = reach_channels,
    [OP_RESIZE] = reach_channels,
    [OP_UPSAMPLE] = reach_channels,
    [OP_RESIZE_BILINEAR] = reach_channels,
    [OP_RESIZE_NEAREST] = reach_channels,
    [OP_MATMUL] = reach_product,
    [OP_GEMM] = reach_product,
    [OP_MATMUL_INTEGER] = reach_product,
    [OP_QLINEAR_MATMUL] = reach_product,
    [OP_MATMUL_INTEGER_TO_FLOAT] = reach_product,
    [OP_BATCH_MATMUL] = reach_product,
    [OP_FULLY_CONNECTED] = reach_fully_connected,
    [OP_SEQUENCE_LSTM] = reach_cell,
    [OP_SOFTMAX] = reach_softmax,
    [OP_LOG_SOFTMAX] = reach_softmax,
    [OP_HARDMAX] = reach_softmax,
    [OP_LAYER_NORM] = reach_layer_norm,
    [OP_SIMPLIFIED_LAYER_NORM] = reach_layer_norm,
    [OP_LP_NORM] = reach_norm_along_axis,
    [OP_LRN] = reach_norm_of_channels,
    [OP_REDUCE_MEAN] = reach_reduction,
    [OP_REDUCE_SUM] = reach_reduction,
    [OP_REDUCE_PROD] = reach_reduction,
    [OP_REDUCE_MAX] = reach_reduction,
    [OP_REDUCE_MIN] = reach_reduction,
    [OP_REDUCE_L1] = reach_reduction,
    [OP_REDUCE_L2] = reach_reduction,
    [OP_PAD] = reach_pad,
    [OP_MIRROR_PAD] = reach_pad,
    [OP_DEPTH_TO_SPACE] = reach_images,
    [OP_SPACE_TO_DEPTH] = reach_images,
    [OP_BROADCAST_IN_DIM] = reach_spread,
};

/* All others go by their kind. */
static const ReachRule rule_of_kind[] = {
    [KIND_UNARY] = reach_elements,
    [KIND_BROADCAST] = reach_elements,
    [KIND_NORM] = reach_elements,
    [KIND_QUANTIZE] = reach_elements,
    [KIND_DEQUANTIZE] = reach_elements,
    [KIND_EXPAND] = reach_elements,
    [KIND_TRANSPOSE] = reach_transpose,
    [KIND_SLICE] = reach_slice,
    [KIND_CONCAT] = reach_concat,
    [KIND_RESHAPE] = reach_reshape,
    [KIND_OPAQUE] = NULL, /* the last */
};

static void find_reach(const ReachFinding *f) {
    ReachRule rule = rule_of_op[f->node->op];
    rule = rule != NULL ? rule : rule_of_kind[op_info(f->node->op)->kind];
    if (rule != NULL) {
        f->reach->is_known = true;
        rule(f);
    }
}

NodeReach node_reach(const Graph *graph, const Node *node, Arena *arena) {
    NodeReach reach = {.passes = 1};
    ReachFinding f = {
        .graph = graph, .node = node, .arena = arena, .out = node_output(graph, node, 0), .reach = &reach};
    reach.input = arena_alloc(arena, node->input_count, sizeof *reach.input);
    for (uint32_t k = 0; k < node->input_count; k++) {
        for (uint32_t axis = 0; axis < SHAPE_MAX_RANK; axis++) {
            reach.input[k][axis] = (AxisReach){.axis = REACH_NO_AXIS};
        }
    }
    if (node->output_count == 1 && f.out != NULL && f.out->has_shape) {
        find_reach(&f);
    }
    return reach;
}
