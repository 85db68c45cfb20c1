/* A concat as one sweep for each of its inputs, which copies it into its box of the output: so a tile has a part of one
 * input only, and there may be any number of them.
 *
 * The output's view begins anew at the first index of each box. Where that is inside a block of the layout, the concat
 * is one sweep over all of its inputs. */
#include "plan/making.h"

#include "graph/box.h"
#include "node/input.h"
#include "plan/declared.h"

/* The box of input `k` by dimension. False where the axis is one of several that make one. */
static bool part_of_whole(const Graph *graph, const Node *node, uint32_t k, const LayoutShape *whole, ViewBox *part) {
    const Tensor map = tensor_of_value(node_output(graph, node, 0), ROLE_ACTIVATION);
    Box box;
    *part = view_whole_box(whole);
    bool is_part = node_concat_box(graph, node, k, &box);
    for (uint32_t axis = 0; is_part && axis < map.shape->rank; axis++) {
        Dim d = tensor_dim(&map, axis);
        if (box.extent.dim[axis] != map.shape->dim[axis]) {
            is_part = whole->extent[d] == (uint64_t)map.shape->dim[axis];
            part->first[d] = (uint64_t)box.begin[axis];
            part->extent[d] = (uint64_t)box.extent.dim[axis];
        }
    }
    return is_part;
}

/* From the first index of its box on: index for index. */
static void reach_input(Making *making, uint32_t k) {
    PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    const Node *node = graph_node(graph, planned->nodes[0]);
    const Tensor tensor = tensor_of_value(node_input(graph, node, k), ROLE_ACTIVATION);
    NodeReach reach = node_reach(graph, node, &making->builder->work->scratch);
    for (uint32_t axis = 0; axis < tensor.shape->rank; axis++) {
        reach.input[k][axis].before = 0;
    }
    sweep_follow(&planned->sweep.out, &planned->sweep.out.shape);
    reach_operand(making, reach.input[k], &tensor, &planned->sweep.in);
    describe_operator(making, &reach);
}

/* The sweep of input `k`, and how it goes. False where it can't be, or with a diagnostic. */
static bool make_part(Making *making, NodeId id, uint32_t k) {
    Builder *builder = making->builder;
    PlannedSweep *planned = making->planned;
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, id);
    ValueId in = node->inputs[k], out = node->outputs[0];
    ViewBox part;
    init_planned(builder, &id, 1, planned);
    init_params(making, 1);
    if (!make_map(making, in, sweep_loads(builder, in), &planned->in_far, &planned->in_local[0], &planned->sweep.in) ||
        !make_map(making, out, sweep_stores(builder, out), &planned->out_far, &planned->out_local[0],
                  &planned->sweep.out)) {
        return false;
    }
    making->is_too_deep = !part_of_whole(graph, node, k, &planned->sweep.out.shape, &part) ||
                          !view_narrow(&planned->sweep.out.whole, &part);
    if (!making->is_too_deep) {
        planned->sweep.out.shape = planned->sweep.out.whole.shape;
        reach_input(making, k);
        making->is_too_deep = !choose_sweep(making);
    }
    return !making->is_too_deep;
}

/* Are all of them maps of which nobody goes on, and does no device file say how the operator goes? */
static bool copies_maps(const Builder *builder, const Node *node) {
    const Graph *graph = builder->plan->graph;
    bool are_maps = declared_operator(builder->plan, node) == NULL;
    for (uint32_t k = 0; k < node->input_count; k++) {
        are_maps = are_maps && value_is_map(node_input(graph, node, k));
    }
    return are_maps;
}

bool build_concat(Builder *builder, NodeId id, bool *is_sweep) {
    const Node *node = graph_node(builder->plan->graph, id);
    Arena *scratch = &builder->work->scratch;
    PlannedSweep *planned = arena_array(scratch, PlannedSweep, node->input_count);
    Making *making = arena_array(scratch, Making, node->input_count);
    *is_sweep = copies_maps(builder, node);
    for (uint32_t k = 0; *is_sweep && k < node->input_count; k++) {
        making[k] = (Making){.builder = builder, .planned = &planned[k]};
        *is_sweep = make_part(&making[k], id, k);
        if (!*is_sweep && !making[k].is_too_deep) {
            return false;
        }
    }
    bool done = true;
    for (uint32_t k = 0; *is_sweep && done && k < node->input_count; k++) {
        done = add_sweep(&making[k], k + 1 == node->input_count ? node->outputs[0] : NO_VALUE);
    }
    return done;
}
