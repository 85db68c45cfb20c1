/* Which axes of a node's inputs and outputs are the same dimension. Positions only: no extent is ever compared. */
#include "graph/box.h"
#include "graph/fold.h"
#include "graph/names.h"

typedef enum {
    ALIGN_NONE,
    ALIGN_RIGHT,     /* broadcasting: counted from the last axis */
    ALIGN_SAME,      /* axis k is axis k; ranks must agree */
    ALIGN_PERMUTED,  /* Transpose */
    ALIGN_SQUEEZED,  /* the input has unit axes more */
    ALIGN_UNSQUEEZED /* the output has */
} Alignment;

/* Operators of KIND_COMPUTE that leave each axis where it is. */
static bool keeps_axes(OpId op) {
    switch (op) {
    case OP_PAD:
    case OP_MIRROR_PAD:
    case OP_SOFTMAX:
    case OP_LOG_SOFTMAX:
    case OP_HARDMAX:
    case OP_CUM_SUM:
    case OP_LP_NORM:
    case OP_LAYER_NORM:
    case OP_SIMPLIFIED_LAYER_NORM:
    case OP_MEAN_VARIANCE_NORM:
    case OP_REVERSE:
    case OP_TRILU:
    case OP_CLAMP:
    case OP_LOOP_ENTER:
    case OP_REDUCE_MEAN:
    case OP_REDUCE_SUM:
    case OP_REDUCE_PROD:
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
    case OP_REDUCE_L1:
    case OP_REDUCE_L2:
    case OP_REDUCE_LOG_SUM:
    case OP_REDUCE_LOG_SUM_EXP:
    case OP_REDUCE_SUM_SQUARE:
        return true;
    default:
        return false;
    }
}

static Alignment reshape_alignment(OpId op) {
    if (op == OP_SQUEEZE) {
        return ALIGN_SQUEEZED;
    }
    if (op == OP_UNSQUEEZE) {
        return ALIGN_UNSQUEEZED;
    }
    /* A Reshape to the shape it had is one by size only: it stops names like any other. */
    return op == OP_IDENTITY || op == OP_DROPOUT ? ALIGN_SAME : ALIGN_NONE;
}

static Alignment alignment(const Node *node, uint32_t k) {
    char role = op_input_role(node->op, k);
    if (role != 'x' && role != 'p') {
        return ALIGN_NONE;
    }
    switch (op_info(node->op)->kind) {
    case KIND_BROADCAST:
    case KIND_EXPAND:
        return ALIGN_RIGHT;
    case KIND_UNARY:
    case KIND_QUANTIZE:
    case KIND_DEQUANTIZE:
    case KIND_CONCAT:
    case KIND_SLICE:
    case KIND_CONTROL:
        return ALIGN_SAME;
    case KIND_NORM:
        return role == 'p' ? ALIGN_RIGHT : ALIGN_SAME;
    case KIND_TRANSPOSE:
        return ALIGN_PERMUTED;
    case KIND_RESHAPE:
        return reshape_alignment(node->op);
    default:
        return role == 'p' ? ALIGN_RIGHT : keeps_axes(node->op) ? ALIGN_SAME : ALIGN_NONE;
    }
}

/* ---- Axes that operators name in an attribute or a constant input */

static bool align_permuted(const Graph *graph, const Node *node, uint32_t rank, Arena *scratch,
                           int to[SHAPE_MAX_RANK]) {
    uint32_t perm[SHAPE_MAX_RANK];
    if (!node_permutation(graph, node, scratch, perm)) {
        return false;
    }
    for (uint32_t k = 0; k < rank; k++) {
        to[perm[k]] = (int)k;
    }
    return true;
}

/* Which axes of the longer shape are put in or taken out. */
static bool unit_axes(const Graph *graph, const Node *node, const Shape *longer, Arena *scratch,
                      bool is_unit[SHAPE_MAX_RANK]) {
    Ints axes;
    bool is_stated = node_ints(graph, node, "axes", 1, scratch, &axes);
    for (uint32_t k = 0; k < longer->rank; k++) {
        is_unit[k] = (!is_stated || axes.count == 0) && longer->dim[k] == 1;
    }
    for (uint32_t k = 0; is_stated && k < axes.count; k++) {
        int64_t axis = axes.at[k] < 0 ? axes.at[k] + (int64_t)longer->rank : axes.at[k];
        if (axis < 0 || axis >= (int64_t)longer->rank) {
            return false;
        }
        is_unit[axis] = true;
    }
    return true;
}

static bool align_squeezed(const Graph *graph, const Node *node, bool is_squeeze, Arena *scratch,
                           int to[SHAPE_MAX_RANK]) {
    const Shape *in = &node_input(graph, node, 0)->shape;
    const Shape *out = &node_output(graph, node, 0)->shape;
    const Shape *longer = is_squeeze ? in : out;
    const Shape *shorter = is_squeeze ? out : in;
    bool is_unit[SHAPE_MAX_RANK];
    if (!unit_axes(graph, node, longer, scratch, is_unit)) {
        return false;
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < longer->rank; k++) {
        if (is_unit[k]) {
            continue;
        }
        if (at == shorter->rank) {
            return false;
        }
        to[is_squeeze ? k : at] = (int)(is_squeeze ? at : k);
        at++;
    }
    return at == shorter->rank;
}

/* ---- Broadcasting */

/* Operators before opset 7 line the second input up with `axis` of the first, not with its last axis. */
static int64_t first_axis(const Node *node, uint32_t k, uint32_t in_rank, uint32_t out_rank) {
    int64_t axis = node_int(node, "axis", INT64_MIN);
    bool is_legacy = k == 1 && node_int(node, "broadcast", 0) != 0 && axis != INT64_MIN;
    if (!is_legacy || axis > (int64_t)out_rank || axis < -(int64_t)out_rank) {
        return (int64_t)out_rank - (int64_t)in_rank;
    }
    return axis < 0 ? axis + (int64_t)out_rank : axis;
}

static void align_right(const Node *node, uint32_t k, uint32_t in_rank, uint32_t out_rank, int to[SHAPE_MAX_RANK]) {
    int64_t first = first_axis(node, k, in_rank, out_rank);
    for (uint32_t axis = 0; axis < in_rank; axis++) {
        int64_t at = first + (int64_t)axis;
        to[axis] = at >= 0 && at < (int64_t)out_rank ? (int)at : AXIS_NONE;
    }
}

/* ---- */

void names_outputs_of(const Node *node, uint32_t k, uint32_t *first, uint32_t *last) {
    *first = 0;
    *last = node->output_count;
    if (op_info(node->op)->kind != KIND_CONTROL || node->output_count == 0) {
        return;
    }
    uint32_t skipped = node->op == OP_IF || node->op == OP_STABLEHLO_CASE ? 1 : 0;
    uint64_t related = skipped == 1 ? node->input_count : 2 * (uint64_t)node_int(node, "carried", 0);
    bool is_related = k >= skipped && k < related;
    *first = is_related ? (k - skipped) % node->output_count : 0;
    *last = is_related ? *first + 1 : 0;
}

bool names_align(const Graph *graph, const Node *node, uint32_t k, uint32_t o, Arena *scratch, int to[SHAPE_MAX_RANK]) {
    const Value *in = node_input(graph, node, k);
    const Value *out = node_output(graph, node, o);
    if (in == NULL || out == NULL || !in->has_shape || !out->has_shape) {
        return false;
    }
    for (uint32_t axis = 0; axis < SHAPE_MAX_RANK; axis++) {
        to[axis] = AXIS_NONE;
    }
    switch (alignment(node, k)) {
    case ALIGN_RIGHT:
        align_right(node, k, in->shape.rank, out->shape.rank, to);
        return true;
    case ALIGN_SAME:
        for (uint32_t axis = 0; axis < in->shape.rank; axis++) {
            to[axis] = (int)axis;
        }
        return in->shape.rank == out->shape.rank;
    case ALIGN_PERMUTED:
        return in->shape.rank == out->shape.rank && align_permuted(graph, node, in->shape.rank, scratch, to);
    case ALIGN_SQUEEZED:
    case ALIGN_UNSQUEEZED:
        return k == 0 && o == 0 && align_squeezed(graph, node, node->op == OP_SQUEEZE, scratch, to);
    case ALIGN_NONE:
        break;
    }
    return false;
}
