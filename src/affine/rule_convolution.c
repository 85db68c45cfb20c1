/* Convolution: the per-channel affine behind a convolution of floats goes into its weights and its bias; then one in
 * front (rule_before_convolution.c). One between two convolutions goes into the first where it can: nothing is padded
 * behind a convolution.
 *
 * Behind, it is legal where the weights are known, nobody else reads what lies between, no activation stands between,
 * no factor is 0 (0 * inf is NaN), and the model does not grow. The axis is the one by definition: O of the weights. */
#include "affine/convolution.h"

/* The run behind a convolution, as far as it goes. */
static bool find_run(const Rewriter *rw, NodeId conv, const ConvWeights *weights, Affine *run) {
    ValueId first = graph_node(rw->graph, conv)->outputs[0], at = first;
    uint32_t count = 0;
    NodeId nodes[AFFINE_MOST_STAGES];
    while (count < AFFINE_MOST_STAGES) {
        NodeId next = rewrite_sole_reader(rw, at);
        if (!is_node(next) || !convolution_takes(rw, next) ||
            !rewrite_same_shape(rw, at, graph_node(rw->graph, next)->outputs[0])) {
            break;
        }
        nodes[count++] = next;
        at = graph_node(rw->graph, next)->outputs[0];
    }
    for (; count > 0; count--) {
        if (affine_read(rw, nodes, count, run) && convolution_fits(rw, run, first, weights->outs)) {
            return true;
        }
    }
    return false;
}

static void take_behind(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        ConvWeights weights;
        ConvFold fold = {.is_before = false};
        if (!rw->is_gone[id.index] && convolution_read(rw, id, &weights) &&
            node_attr(graph_node(rw->graph, id), "activation") == NULL && find_run(rw, id, &weights, &fold.run) &&
            convolution_fold(rw, weights.outs, &fold)) {
            convolution_apply(rw, id, &weights, &fold);
        }
    }
}

void rule_convolution(Rewriter *rw) {
    take_behind(rw);
    rewrite_refresh(rw);
    convolution_take_before(rw);
}
