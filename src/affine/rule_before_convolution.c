/* Before a convolution: the per-channel affine in front of a convolution of floats goes into its weights and its bias.
 *
 * Legal where the weights are known, the convolution alone reads what the affine writes, no factor is 0 (0 * inf is
 * NaN), and the model does not grow. The axis is the one by definition: I of the weights, group by group. Zeros that
 * the convolution pads with are not shifted, so addends go only where every output sums over whole kernels; factors go
 * anywhere: a * 0 = 0. */
#include "affine/convolution.h"

/* ---- Whole kernels */

static int64_t number_at(const Node *node, const char *name, uint32_t k, int64_t absent) {
    const Attr *attr = node_attr(node, name);
    return attr != NULL && attr->kind == ATTR_INTS && k < attr->count ? attr->ints[k] : absent;
}

static bool has_other(const Node *node, const char *name, int64_t number) {
    for (uint32_t k = 0; k < 2 * SHAPE_MAX_RANK; k++) {
        if (number_at(node, name, k, number) != number) {
            return true;
        }
    }
    return false;
}

static bool is_kernel_of_one(const Shape *weights, const ConvWeights *axes, uint32_t spatial) {
    for (uint32_t k = 0; k < spatial; k++) {
        if (weights->dim[axes->first_spatial + k] != 1) {
            return false;
        }
    }
    return true;
}

/* SAME along one axis: does the last of ceil(n / stride) windows end inside? One element always does. */
static bool ends_inside(const Rewriter *rw, const Node *conv, uint32_t axis, int64_t kernel, uint32_t k) {
    int64_t stride = number_at(conv, "strides", k, 1), dilation = number_at(conv, "dilations", k, 1);
    int64_t extent = graph_value(rw->graph, conv->inputs[0])->shape.dim[axis], end;
    if (kernel == 1) {
        return true;
    }
    return rewrite_is_fixed(rw, conv->inputs[0], axis) && extent > 0 && stride > 0 &&
           !__builtin_mul_overflow(kernel - 1, dilation, &end) &&
           !__builtin_add_overflow(end, (extent - 1) / stride * stride + 1, &end) && end <= extent;
}

/* Is every output a sum over the whole kernel? A transposed convolution's is only where each input makes one output. */
static bool sums_whole_kernels(const Rewriter *rw, const Node *conv, const ConvWeights *weights) {
    const Shape *shape = &node_input(rw->graph, conv, 1)->shape;
    uint32_t spatial = shape->rank - 2;
    Str word = node_str(conv, "auto_pad");
    bool is_same = str_starts(word, STR("SAME")) || (rw->graph->channels_last && word.len == 0);
    if (has_other(conv, "pads", 0)) {
        return false;
    }
    if (conv->op == OP_CONV_TRANSPOSE) {
        return !is_same && is_kernel_of_one(shape, weights, spatial) && !has_other(conv, "strides", 1) &&
               !has_other(conv, "output_padding", 0) && node_attr(conv, "output_shape") == NULL;
    }
    for (uint32_t k = 0; k < spatial && is_same; k++) {
        int64_t kernel = shape->dim[weights->first_spatial + k];
        if (!ends_inside(rw, conv, (rw->graph->channels_last ? 1 : 2) + k, kernel, k)) {
            return false;
        }
    }
    return true;
}

static bool has_addend(const ConvFold *fold) {
    for (uint32_t c = 0; c < fold->channels; c++) {
        if (fold->b[c] != 0) {
            return true;
        }
    }
    return false;
}

/* ---- The run */

/* The run that ends at the convolution's input, from as far as it goes. Who else reads its end is not asked yet. */
static bool find_run(const Rewriter *rw, NodeId conv, const ConvWeights *weights, Affine *run) {
    NodeId nodes[AFFINE_MOST_STAGES] = {{0}};
    ValueId end = graph_node(rw->graph, conv)->inputs[0], at = end;
    uint32_t first = AFFINE_MOST_STAGES;
    while (first > 0) {
        NodeId maker = graph_value(rw->graph, at)->producer;
        bool is_alone = first == AFFINE_MOST_STAGES || rewrite_sole_reader(rw, at).index == nodes[first].index;
        Affine longer;
        if (!is_alone || !is_node(maker) || !convolution_takes(rw, maker)) {
            break;
        }
        nodes[first - 1] = maker;
        if (!affine_read(rw, nodes + first - 1, AFFINE_MOST_STAGES - first + 1, &longer) ||
            !convolution_fits(rw, &longer, end, weights->ins) || !rewrite_same_shape(rw, longer.in, at)) {
            break;
        }
        *run = longer;
        at = run->in;
        first--;
    }
    return first < AFFINE_MOST_STAGES;
}

/* Folds the run; where the convolution pads, as much of its end as adds nothing. */
static bool fold_run(Rewriter *rw, const Node *conv, const ConvWeights *weights, ConvFold *fold) {
    bool is_whole = sums_whole_kernels(rw, conv, weights);
    while (convolution_fold(rw, weights->ins, fold)) {
        if (is_whole || !has_addend(fold)) {
            return true;
        }
        Affine shorter;
        if (fold->run.node_count == 1 || !affine_read(rw, fold->run.nodes + 1, fold->run.node_count - 1, &shorter)) {
            convolution_refuse(rw, fold,
                               conv->op == OP_CONV_TRANSPOSE
                                   ? "it adds to the input of a transposed convolution whose outputs are not all sums "
                                     "over the whole kernel"
                                   : "it adds to the input of a convolution that pads: padding would be shifted too");
            return false;
        }
        fold->run = shorter;
    }
    return false;
}

static void try_convolution(Rewriter *rw, NodeId id) {
    const Node *conv = graph_node(rw->graph, id);
    ConvWeights weights;
    ConvFold fold = {.is_before = true};
    if (!convolution_read(rw, id, &weights) || !find_run(rw, id, &weights, &fold.run)) {
        return;
    }
    if (rewrite_sole_reader(rw, conv->inputs[0]).index != id.index) {
        convolution_refuse(rw, &fold, "the convolution behind it is not the only reader of what it writes");
        return;
    }
    if (fold_run(rw, conv, &weights, &fold)) {
        if (graph_value(rw->graph, fold.run.in)->is_state) { /* may be written before the convolution runs */
            convolution_refuse(rw, &fold, "it reads the model's state, which the convolution would read later");
            return;
        }
        convolution_apply(rw, id, &weights, &fold);
    }
}

void convolution_take_before(Rewriter *rw) {
    const Block *main = graph_main(rw->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        if (!rw->is_gone[main->nodes[at].index]) {
            try_convolution(rw, main->nodes[at]);
        }
    }
}
