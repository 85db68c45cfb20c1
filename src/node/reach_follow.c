/* What rules of reach say it with: which axes of an input follow those of the output. */
#include "node/reach_rules.h"

#include "node/input.h"

uint32_t reach_all_axes(const Value *value) {
    return reach_axis_bit(value->shape.rank) - 1;
}

const Value *reach_input(const ReachFinding *f, uint32_t k) {
    const Value *value = node_input(f->graph, f->node, k);
    return value != NULL && value->has_shape ? value : NULL;
}

uint32_t reach_weight_input(const ReachFinding *f) {
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        if (op_input_role(f->node->op, k) == 'w') {
            return k;
        }
    }
    return UINT32_MAX;
}

uint32_t reach_channel_axis(const ReachFinding *f) {
    return !f->graph->channels_last ? 1 : f->out->shape.rank == 0 ? 0 : f->out->shape.rank - 1;
}

uint32_t reach_stated_axis(const ReachFinding *f, int64_t absent) {
    int64_t rank = f->out->shape.rank, axis = node_int(f->node, "axis", absent);
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank ? (uint32_t)axis : 0;
}

void reach_follow(const ReachFinding *f, uint32_t k, uint32_t axis, uint32_t of) {
    f->reach->input[k][axis] = (AxisReach){.axis = (int32_t)of, .stride = 1, .window = 1};
}

void reach_follow_right(const ReachFinding *f, uint32_t k, uint32_t of) {
    const Value *in = reach_input(f, k);
    for (uint32_t axis = 0; in != NULL && axis < in->shape.rank && axis < f->out->shape.rank; axis++) {
        uint32_t from = in->shape.rank - 1 - axis, to = f->out->shape.rank - 1 - axis;
        if (in->shape.dim[from] == f->out->shape.dim[to] && (of & reach_axis_bit(to)) != 0) {
            reach_follow(f, k, from, to);
        }
    }
}

void reach_follow_outputs(const ReachFinding *f, uint32_t of) {
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        const Value *in = reach_input(f, k);
        uint8_t dims[SHAPE_MAX_RANK];
        char role = op_input_role(f->node->op, k);
        if (in == NULL || (role != 'w' && role != 'c')) {
            continue;
        }
        node_input_names(f->graph, f->node, k, dims);
        for (uint32_t axis = 0; axis < in->shape.rank; axis++) {
            bool is_along = role == 'w' ? dims[axis] == DIM_O : in->shape.rank == 1;
            if (is_along && in->shape.dim[axis] == f->out->shape.dim[of]) {
                reach_follow(f, k, axis, of);
            }
        }
    }
}

/* Before opset 7 the second input begins at a stated axis of the first one, not at the right: all of it is read. */
static bool is_stated(const ReachFinding *f, uint32_t k) {
    return k == 1 && node_int(f->node, "broadcast", 0) != 0 && node_attr(f->node, "axis") != NULL;
}

void reach_along(const ReachFinding *f, uint32_t of) {
    f->reach->cut = of;
    for (uint32_t k = 0; k < f->node->input_count; k++) {
        char role = op_input_role(f->node->op, k);
        if ((role == 'x' || role == 'p') && !is_stated(f, k)) {
            reach_follow_right(f, k, of);
        }
    }
}
