/* Shape rules of control flow after graph_inline: If, loops, and the copies that enter them. */
#include "graph/infer.h"

/* The file's shape stands where both readings leave it open; a shape that depends on the branch is refused. */
static bool state_common(Infer *in, uint32_t out, const Value *a, const Value *b) {
    if (a == NULL || b == NULL || !a->has_shape || !b->has_shape) {
        return infer_from_file(in, "export the model with the shapes of its subgraphs");
    }
    if (!shape_eq(&a->shape, &b->shape)) {
        Arena *keep = &in->work->keep;
        return diag_refuse(&in->work->diags, (DiagText){.node = node_title(keep, in->node),
                                                        .what = "a shape depends on which path is taken",
                                                        .got = infer_shape_text(in, &b->shape),
                                                        .expected = infer_shape_text(in, &a->shape),
                                                        .hint = "make both paths give the same shape"});
    }
    return infer_out(in, out, a->dtype, &a->shape);
}

/* Inputs: condition, then the results of each branch. */
bool infer_branches(Infer *in) {
    uint32_t outputs = in->node->output_count;
    for (uint32_t k = 0; k < outputs; k++) {
        const Value *first = node_input(in->graph, in->node, 1 + k);
        for (uint32_t at = 1 + k; at < in->node->input_count; at += outputs) {
            if (!state_common(in, k, first, node_input(in->graph, in->node, at))) {
                return false;
            }
        }
    }
    return true;
}

/* A scan output that the file states no shape of: the scan input tells how many iterations there are. */
static bool state_scan_output(Infer *in, Value *out, const Value *piece, const Value *sliced) {
    if (out == NULL || out->has_shape || piece == NULL || !piece->has_shape) {
        return true;
    }
    if (sliced == NULL || !sliced->has_shape || sliced->shape.rank == 0) {
        return true; /* whoever reads it says that its shape is not known */
    }
    out->dtype = piece->dtype;
    out->has_shape = true;
    out->shape = (Shape){.rank = 0};
    return infer_push(in, &out->shape, sliced->shape.dim[0]) &&
           infer_push_all(in, &out->shape, &piece->shape, 0, piece->shape.rank);
}

/* Inputs: carried results, their parameters, scan results, scan outputs, scan inputs, and what is kept alive. */
bool infer_loop(Infer *in) {
    uint32_t carried = (uint32_t)node_int(in->node, "carried", 0);
    uint32_t scanned = (uint32_t)node_int(in->node, "scanned", 0);
    for (uint32_t k = 0; k < carried && k < in->node->output_count; k++) {
        if (!state_common(in, k, node_input(in->graph, in->node, carried + k), node_input(in->graph, in->node, k))) {
            return false;
        }
    }
    for (uint32_t k = 0; k < scanned; k++) {
        uint32_t piece = 2 * carried + k;
        if (!state_scan_output(in, node_input(in->graph, in->node, piece + scanned),
                               node_input(in->graph, in->node, piece),
                               node_input(in->graph, in->node, 2 * carried + 2 * scanned))) {
            return false;
        }
    }
    return true;
}

/* A copy of the argument; without one, what the file states. */
bool infer_loop_enter(Infer *in) {
    const Value *argument = infer_optional(in, 0);
    return argument == NULL || infer_out(in, 0, argument->dtype, &argument->shape);
}

/* The argument without its first axis: graph_inline refuses Scan along another. */
bool infer_loop_slice(Infer *in) {
    const Value *argument = infer_optional(in, 0);
    const Value *out = node_output(in->graph, in->node, 0);
    if (argument == NULL || argument->shape.rank == 0 || (out != NULL && out->has_shape)) {
        return true;
    }
    Shape shape = {.rank = 0};
    return infer_push_all(in, &shape, &argument->shape, 1, argument->shape.rank) &&
           infer_out(in, 0, argument->dtype, &shape);
}
