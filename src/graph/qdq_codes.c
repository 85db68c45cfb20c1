/* What qdq.c and qdq_move.c ask of coders, codes and operators. */
#include "graph/fold.h"
#include "graph/qdq.h"

bool qdq_same_codes(const Value *a, const Value *b) {
    return a->dtype == b->dtype && a->quant != NULL && quant_eq(a->quant, b->quant);
}

static bool zero_is_its_own(const Graph *graph, const Node *coder, const Value *coded, Arena *scratch) {
    Ints zero = {0, NULL};
    const Value *given = node_input(graph, coder, 2);
    const Quant *quant = coded->quant;
    if (given != NULL && (!const_ints(given, scratch, &zero) || zero.count != quant->count)) {
        return value_is_float(coded); /* of 8 bits: there is no zero point but 0 */
    }
    for (uint32_t k = 0; k < quant->count; k++) {
        if ((given == NULL ? 0 : zero.at[k]) != quant_zero(quant, k)) {
            return false;
        }
    }
    return true;
}

/* Since opset 23 reals, scale and the division can each have a type of their own; one operator on codes has one. */
static bool has_one_type(const Graph *graph, const Node *coder, const Value *scale) {
    bool is_quantize = op_info(coder->op)->kind == KIND_QUANTIZE;
    const Value *reals = is_quantize ? node_input(graph, coder, 0) : node_output(graph, coder, 0);
    int64_t precision = node_int(coder, "precision", 0);
    return reals != NULL && reals->dtype == scale->dtype &&
           (precision == 0 || dtype_from_onnx(precision) == scale->dtype);
}

/* A value may be read with another scale or zero point than it was written with: then its codes do not mean what its
 * quantisation says, and the node that says so must stay. */
bool qdq_coding_is_its_own(const Graph *graph, const Node *coder, const Value *coded, Arena *scratch) {
    Floats scale;
    const Value *given = node_input(graph, coder, 1);
    if (coded->quant == NULL || coded->quant->block != 0) {
        return false;
    }
    if (given == NULL) {
        return true; /* TFLite: the codes carry the only scale there is */
    }
    if (!has_one_type(graph, coder, given) || !const_floats(given, scratch, &scale) ||
        scale.count != coded->quant->count) {
        return false;
    }
    for (uint32_t k = 0; k < scale.count; k++) {
        if ((float)scale.at[k] != coded->quant->scale[k]) {
            return false;
        }
    }
    return zero_is_its_own(graph, coder, coded, scratch);
}

bool qdq_is_operand(const Node *node, uint32_t k) {
    char role = op_input_role(node->op, k);
    return role == 'x' || role == 'w' || role == 'p';
}

bool qdq_only_moves(OpId op) {
    switch (op_info(op)->kind) {
    case KIND_RESHAPE:
    case KIND_TRANSPOSE:
    case KIND_SLICE:
    case KIND_EXPAND:
        return true;
    default:
        return op == OP_MAX_POOL || op == OP_GLOBAL_MAX_POOL || op == OP_DEPTH_TO_SPACE || op == OP_SPACE_TO_DEPTH ||
               op == OP_SPACE_TO_BATCH || op == OP_BATCH_TO_SPACE || op == OP_GATHER || op == OP_PACK ||
               op == OP_UNPACK || op == OP_PAD || op == OP_MIRROR_PAD;
    }
}
