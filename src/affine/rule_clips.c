/* Clips: an activation that limits what is limited already.
 *
 *     inside   the limits of the second hold those of the first: the second changes nothing
 *     hidden   the limits of the first hold those of the second, and nobody else reads between: the first is not needed
 *     met      they overlap, and nobody else reads between: one operator takes the nearer limit at either end
 * Equal limits at 0 are told apart from wider ones: which zero max(-0, 0) is, the formats do not say, so only the same
 * operator with the same zero twice, or a limit that is strictly wider, is exact. For the same reason limits meet only
 * in Clip, and in no single number. TFLite's RELUs that overlap meet at the zero of one and the other end of another.
 * What becomes of a NaN the formats do not say either; that it is the same at both is taken for granted. */
#include "affine/known.h"
#include "affine/rewrite.h"
#include "graph/fold.h"

#include <float.h>
#include <math.h>

typedef struct {
    OpId op;
    double at[2]; /* lo, hi */
} Limits;

/* The largest finite number: what Clip limits to where it names no limit, in every opset. Integers go no further. */
static double largest(DType dtype) {
    switch (dtype) {
    case DTYPE_F32:
        return (double)FLT_MAX;
    case DTYPE_F64:
        return DBL_MAX;
    case DTYPE_F16:
        return 65504;
    case DTYPE_BF16:
        return 0x1.FEp127;
    default:
        return INFINITY;
    }
}

static bool clip_limit(const Rewriter *rw, const Node *node, uint32_t k, const char *name, double absent,
                       double *limit) {
    *limit = node_float(node, name, absent);
    if (node->input_count <= k || !is_value(node->inputs[k])) {
        return true;
    }
    Floats number;
    const Value *value = graph_value(rw->graph, node->inputs[k]);
    if (rewrite_constant(rw, node->inputs[k]) == NULL || !const_numbers(value, &rw->work->scratch, &number) ||
        number.count != 1) {
        return false;
    }
    *limit = number.at[0];
    bool is_itself = value_is_float(value) || fabs(*limit) < 0x1p53; /* of int64 */
    return is_itself && !isnan(*limit);
}

/* What two zeros make of each other, nobody says either. */
static bool is_range(const double limit[2]) {
    return limit[0] < limit[1] || (limit[0] == limit[1] && limit[0] != 0);
}

static bool clip_limits(const Rewriter *rw, const Node *node, double limit[2]) {
    double most = largest(graph_value(rw->graph, node->outputs[0])->dtype);
    return clip_limit(rw, node, 1, "min", -most, &limit[0]) && clip_limit(rw, node, 2, "max", most, &limit[1]) &&
           is_range(limit);
}

bool rewrite_limits(const Rewriter *rw, const Node *node, double limit[2]) {
    limit[0] = 0;
    limit[1] = INFINITY;
    if (!known_is(rw->graph, node, &rw->work->scratch)) {
        return false;
    }
    switch (node->op) {
    case OP_RELU:
        return true;
    case OP_RELU6:
        limit[1] = 6;
        return true;
    case OP_RELU_N1_TO_1:
        limit[0] = -1;
        limit[1] = 1;
        return true;
    case OP_RELU_0_TO_1:
        limit[1] = 1;
        return true;
    case OP_CLIP:
        return clip_limits(rw, node, limit);
    default:
        return false;
    }
}

static bool limits_of(const Rewriter *rw, const Node *node, Limits *limits) {
    limits->op = node->op;
    return node->input_count > 0 && is_value(node->inputs[0]) && rewrite_limits(rw, node, limits->at);
}

/* Is the limit `k` of `wide` no nearer than that of `narrow`? */
static bool end_holds(const Limits *wide, const Limits *narrow, uint32_t k) {
    bool is_wider = k == 0 ? wide->at[0] < narrow->at[0] : wide->at[1] > narrow->at[1];
    bool is_same_zero = wide->op == narrow->op && signbit(wide->at[k]) == signbit(narrow->at[k]);
    return is_wider || (wide->at[k] == narrow->at[k] && (wide->at[k] != 0 || is_same_zero));
}

static bool holds(const Limits *wide, const Limits *narrow) {
    return end_holds(wide, narrow, 0) && end_holds(wide, narrow, 1);
}

static void log_clip(Rewriter *rw, const Node *node, const char *rule) {
    rewrite_log(rw, (Rewrite){.node = node->name,
                              .op = node->op_name,
                              .form = AFFINE_REMOVE,
                              .certificate = rewrite_lemma(rw, rule, "every number", 1),
                              .nodes = 1});
}

/* The input that is the nearer limit `k`; of equal ones, the second's. */
static ValueId nearer(const Node *nodes[2], const Limits *limits[2], uint32_t k) {
    bool is_first = k == 0 ? limits[0]->at[0] > limits[1]->at[0] : limits[0]->at[1] < limits[1]->at[1];
    const Node *node = nodes[is_first ? 0 : 1];
    return k + 1 < node->input_count ? node->inputs[k + 1] : NO_VALUE;
}

static double nearest(const Limits *limits[2], uint32_t k) {
    return k == 0 ? fmax(limits[0]->at[0], limits[1]->at[0]) : fmin(limits[0]->at[1], limits[1]->at[1]);
}

/* Limits are inputs since opset 11. Ends of different zeros do not meet, and an empty range is left as it is. */
static bool may_meet(const Node *nodes[2], const Limits *limits[2]) {
    bool have_inputs =
        nodes[0]->op == OP_CLIP && nodes[1]->op == OP_CLIP && nodes[0]->version >= 11 && nodes[1]->version >= 11;
    for (uint32_t k = 0; k < 2; k++) {
        have_inputs = have_inputs && (end_holds(limits[0], limits[1], k) || end_holds(limits[1], limits[0], k));
    }
    return have_inputs && nearest(limits, 0) < nearest(limits, 1);
}

/* The second takes the place of both: its limits are inputs of one or the other, so no byte is added. */
static bool join_clips(Rewriter *rw, NodeId ids[2], const Node *nodes[2], const Limits *limits[2]) {
    if (!may_meet(nodes, limits)) {
        return false;
    }
    const ValueId inputs[] = {nodes[0]->inputs[0], nearer(nodes, limits, 0), nearer(nodes, limits, 1)};
    rewrite_set_inputs(rw, ids[1], inputs, is_value(inputs[2]) ? 3 : is_value(inputs[1]) ? 2 : 1);
    rewrite_drop_node(rw, ids[0]);
    return true;
}

void rule_clips(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        const Node second = *graph_node(rw->graph, id);
        Limits outer, inner;
        if (!rewrite_may_change(rw, id) || second.is_constant || !limits_of(rw, &second, &outer)) {
            continue;
        }
        ValueId between = second.inputs[0];
        NodeId first_id = graph_value(rw->graph, between)->producer;
        if (!rewrite_may_change(rw, first_id)) {
            continue;
        }
        const Node first = *graph_node(rw->graph, first_id);
        if (!limits_of(rw, &first, &inner) || !rewrite_same_codes(rw, between, second.outputs[0]) ||
            !rewrite_same_codes(rw, first.inputs[0], between) || graph_value(rw->graph, first.inputs[0])->is_state) {
            continue;
        }
        if (holds(&outer, &inner) && rewrite_bypass(rw, id, between, second.outputs[0])) {
            log_clip(rw, &second, "clip_inside_clip");
        } else if (rewrite_sole_reader(rw, between).index != id.index) {
            continue;
        } else if (holds(&inner, &outer)) {
            rewrite_read(rw, id, 0, first.inputs[0]);
            rewrite_drop_node(rw, first_id);
            log_clip(rw, &first, "clip_behind_clip");
        } else if (join_clips(rw, (NodeId[]){first_id, id}, (const Node *[]){&first, &second},
                              (const Limits *[]){&inner, &outer})) {
            log_clip(rw, &first, "clip_meets_clip");
        }
    }
}
