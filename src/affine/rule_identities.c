/* Identities: operators that give back, bit for bit, what they are given.
 *
 * Exact for every input: x * 1, x / 1, x - (+0), x + (-0); for integers also x + 0. x + (+0) turns -0 into +0, so it
 * goes only where its input is never -0. (x * 1 makes a signalling NaN quiet, which no operator of either format
 * distinguishes.) Operators that only move elements are identities where each element stays at its place. Whatever
 * changes shape, dtype, codes or limits stays. */
#include "affine/known.h"
#include "affine/rewrite.h"
#include "graph/box.h"
#include "graph/fold.h"
#include "graph/qdq.h"
#include "layout/packed.h"

#include <math.h>

typedef struct {
    const char *rule, *domain;
    ValueId in;
} Identity;

/* ---- Constants that are one number */

static uint64_t one_of(DType dtype) {
    switch (dtype) {
    case DTYPE_F32:
        return 0x3F800000;
    case DTYPE_F64:
        return 0x3FF0000000000000;
    case DTYPE_F16:
        return 0x3C00;
    case DTYPE_BF16:
        return 0x3F80;
    default:
        return 1;
    }
}

static bool is_float(DType dtype) {
    return dtype == DTYPE_F32 || dtype == DTYPE_F64 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

static bool is_number(DType dtype) {
    DTypeKind kind = dtype_kind(dtype);
    bool is_integer = (kind == DTYPE_KIND_SIGNED || kind == DTYPE_KIND_UNSIGNED) && dtype_bits(dtype) >= 8;
    return is_integer || is_float(dtype);
}

/* The constant is there, has elements, and the bits of each are `bits`. */
static bool is_all(const Rewriter *rw, ValueId id, uint64_t bits) {
    const Const *constant = rewrite_pattern(rw, id);
    if (constant == NULL || constant->bytes.len == 0) {
        return false;
    }
    uint32_t width = dtype_bits(graph_value(rw->graph, id)->dtype);
    uint64_t elements = 0;
    bool is_sized = shape_elements(&constant->stored, &elements);
    for (uint64_t i = 0; i < elements; i++) {
        if (packed_read(constant->bytes.ptr, i, width) != bits) {
            return false;
        }
    }
    return is_sized && elements > 0;
}

static uint64_t minus_zero(DType dtype) {
    return (uint64_t)1 << (dtype_bits(dtype) - 1);
}

/* ---- Is a value never -0? */

/* Integer codes, read with the scale that they carry, which is no negative one. */
static bool has_positive_scales(const Rewriter *rw, const Node *coder) {
    const Value *coded = node_input(rw->graph, coder, 0);
    bool is_known = coded != NULL && !is_float(coded->dtype) && is_number(coded->dtype) &&
                    (coder->input_count < 2 || rewrite_constant(rw, coder->inputs[1]) != NULL) &&
                    qdq_coding_is_its_own(rw->graph, coder, coded, &rw->work->scratch);
    for (uint32_t k = 0; is_known && k < coded->quant->count; k++) {
        is_known = coded->quant->scale[k] > 0;
    }
    return is_known;
}

/* Of a known constant of floats: not zero, whatever the sign? */
static bool has_no_zero(const Rewriter *rw, ValueId id) {
    Floats number;
    const Value *value = graph_value(rw->graph, id);
    if (rewrite_constant(rw, id) == NULL || !const_floats(value, &rw->work->scratch, &number)) {
        return false;
    }
    for (uint32_t k = 0; k < number.count; k++) {
        if (number.at[k] == 0 || isnan(number.at[k])) {
            return false;
        }
    }
    return true;
}

/* A sum that is zero is +0, unless both addends are -0; a code less its zero point is an integer and has no -0. */
static bool is_never_minus_zero(const Rewriter *rw, ValueId id) {
    const Value *value = graph_value(rw->graph, id);
    if (!is_node(value->producer)) {
        return false;
    }
    const Node *node = graph_node(rw->graph, value->producer);
    if (!known_is(rw->graph, node, &rw->work->scratch)) {
        return false;
    }
    switch (node->op) {
    case OP_EXP:
    case OP_SIGMOID:
    case OP_SOFTMAX:
    case OP_ABS:
        return true;
    case OP_DEQUANTIZE:
        return has_positive_scales(rw, node);
    case OP_ADD:
        return node->input_count == 2 && (has_no_zero(rw, node->inputs[0]) || has_no_zero(rw, node->inputs[1]));
    default:
        return false;
    }
}

/* ---- Arithmetic */

static bool adds_nothing(const Rewriter *rw, ValueId in, ValueId constant, bool is_minus) {
    DType dtype = graph_value(rw->graph, in)->dtype;
    if (!is_float(dtype)) {
        return is_all(rw, constant, 0);
    }
    uint64_t exact = is_minus ? 0 : minus_zero(dtype);
    uint64_t other = is_minus ? minus_zero(dtype) : 0;
    return is_all(rw, constant, exact) || (is_never_minus_zero(rw, in) && is_all(rw, constant, other));
}

/* Which input comes out again: by a constant at the other place. */
static bool find_unit(const Rewriter *rw, const Node *node, Identity *identity) {
    DType dtype = graph_value(rw->graph, node->outputs[0])->dtype;
    uint64_t one = one_of(dtype);
    for (uint32_t k = 0; k < 2; k++) {
        ValueId in = node->inputs[k];
        ValueId constant = node->inputs[1 - k];
        bool is_unit = false;
        switch (node->op) {
        case OP_MUL:
            is_unit = is_all(rw, constant, one);
            break;
        case OP_DIV:
            is_unit = k == 0 && is_all(rw, constant, one);
            break;
        case OP_ADD:
            is_unit = adds_nothing(rw, in, constant, false);
            break;
        default:
            is_unit = k == 0 && adds_nothing(rw, in, constant, true);
            break;
        }
        if (is_unit) {
            identity->in = in;
            identity->rule = node->op == OP_MUL || node->op == OP_DIV ? "unit_scale" : "zero_bias";
            identity->domain = "every number";
            return true;
        }
    }
    return false;
}

static bool is_unit_arithmetic(const Rewriter *rw, const Node *node, Identity *identity) {
    bool is_one = node->op == OP_MUL || node->op == OP_DIV || node->op == OP_ADD || node->op == OP_SUB;
    if (!is_one || node->input_count != 2 || !is_value(node->inputs[0]) || !is_value(node->inputs[1]) ||
        node_attr(node, "activation") != NULL) {
        return false;
    }
    const Value *out = graph_value(rw->graph, node->outputs[0]);
    bool is_coded = rw->graph->format == FORMAT_TFLITE && out->quant != NULL;
    return is_number(out->dtype) && !is_coded && find_unit(rw, node, identity);
}

static bool read_all(const Rewriter *rw, const Node *node, uint32_t k, Floats *numbers) {
    return k < node->input_count && rewrite_constant(rw, node->inputs[k]) != NULL &&
           const_floats(graph_value(rw->graph, node->inputs[k]), &rw->work->scratch, numbers);
}

/* Most norms are told by this, without decoding anything. */
static bool has_unit_gamma(const Rewriter *rw, const Node *node) {
    return node->input_count > 1 && is_value(node->inputs[1]) &&
           is_all(rw, node->inputs[1], one_of(graph_value(rw->graph, node->inputs[1])->dtype));
}

/* gamma 1, beta 0, mean 0 and sqrt(variance + epsilon) 1, in float32: whatever the order, x * 1 + 0. */
static bool is_unit_norm(const Rewriter *rw, const Node *node, Identity *identity) {
    Floats gamma, beta, mean, variance;
    if (node->op != OP_BATCH_NORM || rewrite_is_training(node) ||
        graph_value(rw->graph, node->outputs[0])->dtype != DTYPE_F32 || !has_unit_gamma(rw, node) ||
        !read_all(rw, node, 1, &gamma) || !read_all(rw, node, 2, &beta) || !read_all(rw, node, 3, &mean) ||
        !read_all(rw, node, 4, &variance) || !is_never_minus_zero(rw, node->inputs[0])) {
        return false;
    }
    float epsilon = (float)node_float(node, "epsilon", 1e-5);
    for (uint32_t c = 0; c < gamma.count; c++) {
        float sum = (float)variance.at[c] + epsilon;
        if (beta.at[c] != 0 || mean.at[c] != 0 || sqrtf(sum) != 1) {
            return false;
        }
    }
    *identity = (Identity){"unit_norm", "every float32 but -0, which can't arrive", node->inputs[0]};
    return gamma.count > 0;
}

/* ---- Operators that move elements */

static bool keeps_order(const Rewriter *rw, const Node *node) {
    uint32_t perm[SHAPE_MAX_RANK];
    const Value *in = graph_value(rw->graph, node->inputs[0]);
    if (!node_permutation(rw->graph, node, &rw->work->scratch, perm)) {
        return false;
    }
    for (uint32_t k = 0; k < in->shape.rank; k++) {
        if (perm[k] != k) {
            return false;
        }
    }
    return true;
}

static bool takes_all(const Rewriter *rw, const Node *node, ValueId in) {
    Box box;
    return node_slice_box(rw->graph, node, 0, &rw->work->scratch, &box) &&
           shape_eq(&box.extent, &graph_value(rw->graph, in)->shape);
}

/* Inputs that hold something, of an operator that joins or adds up what it is given. */
static bool has_one_input(const Node *node) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < node->input_count; k++) {
        count += is_value(node->inputs[k]);
    }
    return count == 1;
}

/* Shapes, perms and the like that callers may replace; an activation that comes after. */
static bool does_more(const Rewriter *rw, const Node *node) {
    bool is_training = node->op == OP_DROPOUT && node->version < 7 && node_int(node, "is_test", 0) == 0;
    bool does = is_training || node_attr(node, "activation") != NULL;
    for (uint32_t k = 0; k < node->input_count; k++) {
        does = does ||
               (k != node_data_input(node) && is_value(node->inputs[k]) && rewrite_is_callers(rw, node->inputs[k]));
    }
    return does;
}

static bool only_moves(const Rewriter *rw, const Node *node, Identity *identity) {
    ValueId in = node->input_count == 0 ? NO_VALUE : node->inputs[node_data_input(node)];
    if (!is_value(in) || does_more(rw, node)) {
        return false;
    }
    *identity = (Identity){"same_elements", "every value", in};
    switch (op_info(node->op)->kind) {
    case KIND_RESHAPE:
        return true; /* elements keep their order: where the shape stays, so does each of them */
    case KIND_TRANSPOSE:
        return keeps_order(rw, node);
    case KIND_SLICE:
        return node->output_count == 1 && takes_all(rw, node, in);
    case KIND_EXPAND:
        return node->op != OP_FILL;
    case KIND_CONCAT:
        return has_one_input(node);
    default:
        return node->op == OP_CAST ||
               ((node->op == OP_MAX || node->op == OP_MIN || node->op == OP_SUM) && has_one_input(node));
    }
}

/* ---- Reshapes in front of what flattens its input anyway */

/* TFLite: without keep_num_dims a FULLY_CONNECTED takes its input as rows of as many elements as a filter has. */
static bool flattens(const Rewriter *rw, NodeId reader, ValueId id) {
    const Node *node = graph_node(rw->graph, reader);
    return rewrite_may_change(rw, reader) && node->op == OP_FULLY_CONNECTED && node->inputs[0].index == id.index &&
           node_int(node, "keep_num_dims", 0) == 0;
}

static bool all_flatten(const Rewriter *rw, ValueId id) {
    uint32_t first = rw->uses.first[id.index], last = rw->uses.first[id.index + 1];
    for (uint32_t u = first; u < last; u++) {
        if (!flattens(rw, rw->uses.use[u], id)) {
            return false;
        }
    }
    return first < last;
}

static bool is_flattened(const Rewriter *rw, const Node *node, Identity *identity) {
    bool is_reshape = rw->graph->format == FORMAT_TFLITE && op_info(node->op)->kind == KIND_RESHAPE;
    if (!is_reshape || node->output_count != 1 || !is_value(node->outputs[0]) || !is_value(node->inputs[0]) ||
        node->outputs[0].index >= rw->use_values) {
        return false;
    }
    *identity = (Identity){"flattened_anyway", "every value", node->inputs[0]};
    return rewrite_same_codes(rw, node->inputs[0], node->outputs[0]) && all_flatten(rw, node->outputs[0]);
}

/* ---- The rule */

static bool reads_unused_outputs(const Rewriter *rw, const Node *node) {
    for (uint32_t k = 1; k < node->output_count; k++) {
        ValueId id = node->outputs[k];
        if (is_value(id) && (!rewrite_is_internal(rw, id) || rw->reader_count[id.index] > 0)) {
            return true;
        }
    }
    return false;
}

static bool gives_back(const Rewriter *rw, const Node *node, Identity *identity) {
    bool is_one =
        is_unit_arithmetic(rw, node, identity) || is_unit_norm(rw, node, identity) || only_moves(rw, node, identity);
    return is_one && rewrite_same_shape(rw, identity->in, node->outputs[0]) &&
           rewrite_same_codes(rw, identity->in, node->outputs[0]);
}

static bool find_identity(const Rewriter *rw, const Node *node, Identity *identity) {
    bool has_output = node->output_count > 0 && is_value(node->outputs[0]) && !node->is_constant;
    if (!has_output || !known_is(rw->graph, node, &rw->work->scratch) || (op_info(node->op)->flags & OP_IMPURE) != 0 ||
        reads_unused_outputs(rw, node)) {
        return false;
    }
    return gives_back(rw, node, identity) || is_flattened(rw, node, identity);
}

const char *identities_why_not(const Rewriter *rw, NodeId id) {
    const Node *node = graph_node(rw->graph, id);
    bool is_sum = (node->op == OP_ADD || node->op == OP_SUB) && node->input_count == 2 && node->output_count > 0 &&
                  is_value(node->outputs[0]) && node_attr(node, "activation") == NULL;
    for (uint32_t k = 0; is_sum && k < (node->op == OP_ADD ? 2u : 1u); k++) {
        ValueId in = node->inputs[k], constant = node->inputs[1 - k];
        if (!is_value(in) || !is_value(constant) || !is_float(graph_value(rw->graph, in)->dtype)) {
            continue;
        }
        uint64_t zero = node->op == OP_ADD ? 0 : minus_zero(graph_value(rw->graph, in)->dtype);
        if (is_all(rw, constant, zero) && !is_never_minus_zero(rw, in) &&
            rewrite_same_shape(rw, in, node->outputs[0])) {
            return node->op == OP_ADD ? "its input may be -0, which + (+0) makes +0: other bits"
                                      : "its input may be -0, which - (-0) makes +0: other bits";
        }
    }
    return NULL;
}

void rule_identities(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        Identity identity;
        const Node node = *graph_node(rw->graph, id);
        if (rw->is_gone[id.index] || !find_identity(rw, &node, &identity) ||
            !rewrite_bypass(rw, id, identity.in, node.outputs[0])) {
            continue;
        }
        rewrite_log(rw, (Rewrite){.node = node.name,
                                  .op = node.op_name,
                                  .form = AFFINE_REMOVE,
                                  .certificate = rewrite_lemma(rw, identity.rule, identity.domain, 1),
                                  .nodes = 1});
    }
}
