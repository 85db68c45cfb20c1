/* What stays without a rule having said why: each per-channel affine, and what blocks it. Equal reasons are equal
 * texts, so that they can be told together. */
#include "affine/convolution.h"
#include "affine/known.h"
#include "graph/fold.h"

#include <inttypes.h>

/* ---- Affines */

static bool is_affine(const Rewriter *rw, NodeId id) {
    if (!is_node(id) || !convolution_takes(rw, id) || graph_node(rw->graph, id)->is_constant) {
        return false;
    }
    const Node *node = graph_node(rw->graph, id);
    ValueId data = affine_data(rw, node);
    if (!is_value(data) || node->op == OP_BATCH_NORM || node->input_count != 2) {
        return is_value(data) && node->op == OP_BATCH_NORM;
    }
    const Value *other = node_input(rw->graph, node, node->inputs[0].index == data.index ? 1 : 0);
    uint32_t axes = 0;
    for (uint32_t k = 0; other != NULL && k < other->shape.rank; k++) {
        axes += other->shape.dim[k] != 1;
    }
    return other != NULL && other->constant != NULL && axes <= 1;
}

static bool is_limit(const Rewriter *rw, NodeId id) {
    if (!is_node(id)) {
        return false;
    }
    OpId op = graph_node(rw->graph, id)->op;
    return op == OP_RELU || op == OP_RELU6 || op == OP_CLIP;
}

static bool is_convolution(const Rewriter *rw, NodeId id) {
    if (!is_node(id)) {
        return false;
    }
    OpId op = graph_node(rw->graph, id)->op;
    return op == OP_CONV || op == OP_DEPTHWISE_CONV || op == OP_CONV_TRANSPOSE;
}

static bool is_coder(const Rewriter *rw, NodeId id, OpId op) {
    return is_node(id) && graph_node(rw->graph, id)->op == op;
}

/* ---- Neighbours */

static NodeId maker_of(const Rewriter *rw, NodeId id) {
    ValueId data = affine_data(rw, graph_node(rw->graph, id));
    return is_value(data) ? graph_value(rw->graph, data)->producer : NO_NODE;
}

static NodeId reader_of(const Rewriter *rw, NodeId id) {
    const Node *node = graph_node(rw->graph, id);
    if (node->output_count == 0 || !is_value(node->outputs[0])) {
        return NO_NODE;
    }
    uint32_t at = node->outputs[0].index;
    return rw->uses.first[at] < rw->uses.first[at + 1] ? rw->uses.use[rw->uses.first[at]] : NO_NODE;
}

/* The first in that direction that is no affine, as far as a run can go; nor a limit, with `passes_limits`. */
static NodeId neighbour(const Rewriter *rw, NodeId id, NodeId (*next)(const Rewriter *, NodeId), bool passes_limits) {
    for (uint32_t steps = 0; steps < AFFINE_MOST_STAGES; steps++) {
        id = next(rw, id);
        if (!is_affine(rw, id) && !(passes_limits && is_limit(rw, id))) {
            return id;
        }
    }
    return NO_NODE;
}

/* ---- Blockers */

/* More numbers than a constant may have that is decoded; null where they are not. */
static const char *why_too_many(const Rewriter *rw, NodeId id, const char *what) {
    const Node *node = graph_node(rw->graph, id);
    ValueId data = affine_data(rw, node);
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(rw->graph, node, k);
        uint64_t count;
        if (value != NULL && node->inputs[k].index != data.index && value->constant != NULL &&
            shape_elements(&value->constant->stored, &count) && count > FOLD_MAX_ELEMS) {
            return arena_text(&rw->work->keep, "%s are %" PRIu64 " numbers, more than the %d that are read", what,
                              count, FOLD_MAX_ELEMS);
        }
    }
    return NULL;
}

/* Why a constant is none that a rule may compute with; null where it is one. */
static const char *why_unknown(const Rewriter *rw, ValueId id, const char *what, bool needs_stored) {
    Arena *keep = &rw->work->keep;
    const Value *value = graph_value(rw->graph, id);
    if (rewrite_is_callers(rw, id)) {
        return arena_text(keep, "%s are inputs of the model too, a caller may set them: remove those inputs", what);
    }
    if (needs_stored ? rewrite_constant(rw, id) != NULL && !is_node(value->producer) : affine_knows(rw, id)) {
        return NULL;
    }
    if (value->constant == NULL) {
        return arena_text(keep, "%s are no constants", what);
    }
    if (is_node(value->producer)) {
        Str op = graph_node(rw->graph, value->producer)->op_name;
        return arena_text(keep, "%s are not stored, " STR_FMT " makes them", what, STR_ARG(op));
    }
    return rewrite_constant(rw, id) == NULL ? arena_text(keep, "%s follow from a free dimension", what)
                                            : arena_text(keep, "%s are no numbers that are read", what);
}

static const char *why_unread(const Rewriter *rw, NodeId id) {
    const Node *node = graph_node(rw->graph, id);
    ValueId data = affine_data(rw, node);
    const char *why = known_why_not(rw->graph, node, &rw->work->keep);
    for (uint32_t k = 0; k < node->input_count && why == NULL; k++) {
        if (is_value(node->inputs[k]) && node->inputs[k].index != data.index) {
            why = why_unknown(rw, node->inputs[k], "its parameters", false);
        }
    }
    const char *many = why_too_many(rw, id, "its parameters");
    if (many != NULL) {
        return many;
    }
    if (why == NULL && node->op == OP_BATCH_NORM && rewrite_is_training(node)) {
        return "it takes mean and variance from its input";
    }
    return why == NULL && node_attr(node, "activation") != NULL ? "an activation is fused to it" : why;
}

static const char *why_weights(const Rewriter *rw, NodeId id) {
    const Node *conv = graph_node(rw->graph, id);
    ConvWeights weights;
    const char *why = known_why_not(rw->graph, conv, &rw->work->scratch);
    if (why != NULL) {
        return arena_text(&rw->work->keep, "of the convolution beside it: %s", why);
    }
    for (uint32_t k = 1; k < conv->input_count && k < 3 && why == NULL; k++) {
        if (is_value(conv->inputs[k])) {
            why = why_unknown(rw, conv->inputs[k], k == 1 ? "the convolution's weights" : "the convolution's biases",
                              true);
        }
    }
    return why == NULL && !convolution_read(rw, id, &weights)
               ? "the convolution's weights are no float32 numbers in full, or its groups are not known"
               : why;
}

static const char *why_beside(const Rewriter *rw, NodeId id, NodeId conv, bool is_behind) {
    const Node *node = graph_node(rw->graph, id);
    ValueId between = is_behind ? affine_data(rw, node) : node->outputs[0];
    NodeId next = is_behind ? maker_of(rw, id) : reader_of(rw, id);
    const char *why = why_unread(rw, id);
    why = why == NULL ? why_weights(rw, conv) : why;
    if (why != NULL) {
        return why;
    }
    if (is_behind && node_attr(graph_node(rw->graph, conv), "activation") != NULL) {
        return "an activation is fused to the convolution in front of it";
    }
    if (next.index != conv.index) {
        return "what is between it and the convolution stays";
    }
    return !is_node(rewrite_sole_reader(rw, between))
               ? "what is between it and the convolution is an output, or read by others too"
               : "its parameters do not lie along the convolution's channels";
}

static bool is_between_codes(const Rewriter *rw, NodeId id) {
    const Value *out = node_output(rw->graph, graph_node(rw->graph, id), 0);
    if (out->quant != NULL && !value_is_float(out)) {
        return rw->graph->format == FORMAT_TFLITE;
    }
    return is_coder(rw, neighbour(rw, id, maker_of, true), OP_DEQUANTIZE) &&
           is_coder(rw, neighbour(rw, id, reader_of, true), OP_QUANTIZE);
}

/* Scales of the coders around a run; of a Quantize itself where nothing lies between. */
static const char *why_coders(const Rewriter *rw, NodeId id) {
    bool is_quantize = is_coder(rw, id, OP_QUANTIZE);
    NodeId front = is_quantize ? maker_of(rw, id) : neighbour(rw, id, maker_of, true);
    NodeId behind = is_quantize ? id : neighbour(rw, id, reader_of, true);
    if (!is_coder(rw, front, OP_DEQUANTIZE) || !is_coder(rw, behind, OP_QUANTIZE)) {
        return NULL;
    }
    const char *why = why_too_many(rw, front, "the scales in front of it");
    return why != NULL ? why : why_too_many(rw, behind, is_quantize ? "its scales" : "the scales behind it");
}

static const char *why_between_codes(const Rewriter *rw, NodeId id) {
    const char *why = why_unread(rw, id);
    why = why == NULL ? why_coders(rw, id) : why;
    return why != NULL
               ? why
               : "it is between codes, but no function of a code and a channel: something else reads there, its "
                 "parameters go along two axes, or an operator beside it stays";
}

/* One operator, such as Relu or Concat, between it and a convolution. */
static const char *why_apart(const Rewriter *rw, NodeId behind, NodeId front) {
    bool is_behind = is_node(behind) && is_convolution(rw, maker_of(rw, behind));
    if (!is_behind && (!is_node(front) || !is_convolution(rw, reader_of(rw, front)))) {
        return NULL;
    }
    Str op = graph_node(rw->graph, is_behind ? behind : front)->op_name;
    return arena_text(&rw->work->keep, STR_FMT " is between it and the convolution %s it", STR_ARG(op),
                      is_behind ? "in front of" : "behind");
}

static const char *why_stays(const Rewriter *rw, NodeId id) {
    NodeId behind = neighbour(rw, id, maker_of, false), front = neighbour(rw, id, reader_of, false);
    const char *zero = identities_why_not(rw, id);
    if (zero != NULL) {
        return zero;
    }
    if (is_convolution(rw, behind)) {
        return why_beside(rw, id, behind, true);
    }
    if (is_convolution(rw, front)) {
        return why_beside(rw, id, front, false);
    }
    if (is_between_codes(rw, id)) {
        return why_between_codes(rw, id);
    }
    const char *why = why_apart(rw, behind, front);
    return why != NULL ? why : "no convolution is beside it";
}

void report_affines(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        bool is_open = !rw->is_gone[id.index] && !rw->is_told[id.index];
        const char *why = !is_open                        ? NULL
                          : is_affine(rw, id)             ? why_stays(rw, id)
                          : is_coder(rw, id, OP_QUANTIZE) ? why_coders(rw, id)
                                                          : NULL;
        if (why != NULL) {
            rewrite_refuse(rw, id, (Str){0}, why);
        }
    }
}
