/* Reach of matrix products, and of cells made of them. Definitions: onnx/docs/Operators.md (onnx 1.17); the reference
 * kernels of TFLite. */
#include "node/reach_rules.h"

static bool is_transposed(const ReachFinding *f, uint32_t side) {
    static const char *const names[][2] = {{"transA", "transB"}, {"adj_x", "adj_y"}};
    return node_int(f->node, names[f->node->op == OP_BATCH_MATMUL][side], 0) != 0;
}

/* The last but one axis of the left side gives rows, the last of the right side columns; those before are in common. */
static void follow_factor(const ReachFinding *f, uint32_t k, uint32_t side) {
    const Value *in = reach_input(f, k);
    uint32_t rank = in->shape.rank, out = f->out->shape.rank;
    uint32_t kept = (side == 0) != is_transposed(f, side) ? rank - 2 : rank - 1;
    reach_follow_right(f, k, reach_all_axes(f->out) & ~(reach_axis_bit(out - 1) | reach_axis_bit(out - 2)));
    reach_follow(f, k, kept, side == 0 ? out - 2 : out - 1);
}

void reach_product(const ReachFinding *f) {
    uint32_t right = f->node->op == OP_QLINEAR_MATMUL ? 3 : 1;
    const Value *a = reach_input(f, 0), *b = reach_input(f, right);
    if (a == NULL || b == NULL || a->shape.rank < 2 || b->shape.rank < 2 || f->out->shape.rank < 2) {
        return;
    }
    follow_factor(f, 0, 0);
    follow_factor(f, right, 1);
    for (uint32_t k = right + 1; k < f->node->input_count; k++) {
        if (op_input_role(f->node->op, k) == 'p') {
            reach_follow_right(f, k, reach_all_axes(f->out));
        }
    }
    for (uint32_t k = 1; k < f->node->input_count; k++) {
        const Value *in = reach_input(f, k);
        if (in != NULL && op_input_role(f->node->op, k) == 'c' && in->shape.rank == 1 &&
            in->shape.dim[0] == f->out->shape.dim[f->out->shape.rank - 1]) {
            reach_follow(f, k, 0, f->out->shape.rank - 1);
        }
    }
    f->reach->cut = reach_all_axes(f->out);
    f->reach->macs = (uint64_t)a->shape.dim[is_transposed(f, 0) ? a->shape.rank - 2 : a->shape.rank - 1];
}

void reach_fully_connected(const ReachFinding *f) {
    const Value *in = reach_input(f, 0), *weights = reach_input(f, 1);
    uint32_t last = f->out->shape.rank - 1;
    if (in == NULL || weights == NULL || weights->shape.rank != 2 || f->out->shape.rank == 0) {
        return;
    }
    if (in->shape.rank == f->out->shape.rank) {
        reach_follow_right(f, 0, reach_all_axes(f->out) & ~reach_axis_bit(last));
    }
    reach_follow_outputs(f, last);
    f->reach->cut = reach_all_axes(f->out);
    f->reach->macs = (uint64_t)weights->shape.dim[1];
}

/* A step of a cell needs all that the step before has made: it is cut by units where it goes one step. */
void reach_cell(const ReachFinding *f) {
    enum { PROJECTION = 16, NORM_OF_INPUT_GATE = 20, NORM_OF_OUTPUT_GATE = 23 };
    uint32_t last = f->out->shape.rank - 1;
    const Value *in = reach_input(f, 0);
    bool mixes_units = reach_input(f, PROJECTION) != NULL;
    for (uint32_t k = NORM_OF_INPUT_GATE; k <= NORM_OF_OUTPUT_GATE; k++) {
        mixes_units = mixes_units || reach_input(f, k) != NULL;
    }
    for (uint32_t axis = 0; axis + 1 < f->out->shape.rank; axis++) {
        if (f->out->shape.dim[axis] != 1) {
            return;
        }
    }
    if (in == NULL || in->shape.rank == 0 || f->out->shape.rank == 0 || mixes_units) {
        return;
    }
    reach_follow_outputs(f, last);
    f->reach->cut = reach_axis_bit(last);
    f->reach->macs = 4 * ((uint64_t)in->shape.dim[in->shape.rank - 1] + (uint64_t)f->out->shape.dim[last]);
}
