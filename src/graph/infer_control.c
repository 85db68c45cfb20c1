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

/* How many iterations there are: as many as a scan input has slices, or as the file fixes. -1 where neither tells. */
static int64_t count_iterations(const Infer *in, const Value *sliced) {
    bool has_slices =
        node_int(in->node, "sliced", 0) > 0 && sliced != NULL && sliced->has_shape && sliced->shape.rank > 0;
    return has_slices ? sliced->shape.dim[0] : node_int(in->node, "trips", -1);
}

static bool refuse_scan_output(Infer *in, const Value *out) {
    const char *hint = "make the trip count a constant and the condition true, or give the output its largest shape in "
                       "the model (value_info)";
    return diag_refuse(
        &in->work->diags,
        (DiagText){.node = node_title(&in->work->keep, in->node),
                   .tensor = out->name,
                   .what = "how often the loop runs, and so the output's extent, is known only when it runs",
                   .got = out->has_shape ? infer_shape_text(in, &out->shape) : "no shape",
                   .hint = hint});
}

/* A scan output that the file states no shape of: a piece an iteration. */
static bool state_scan_output(Infer *in, Value *out, const Value *piece, int64_t iterations) {
    bool is_stated = out == NULL || (out->has_shape && shape_is_whole(&out->shape));
    Shape shape = {.rank = 0};
    if (is_stated || piece == NULL || !piece->has_shape) {
        return true;
    }
    if (iterations < 0) {
        return refuse_scan_output(in, out);
    }
    if (!infer_push(in, &shape, iterations) || !infer_push_all(in, &shape, &piece->shape, 0, piece->shape.rank)) {
        return false;
    }
    out->dtype = piece->dtype;
    out->has_shape = true;
    out->shape = shape;
    return infer_fits(in, out);
}

/* Inputs: carried results, their parameters, scan results, scan outputs, scan inputs, and what is kept alive. */
bool infer_loop(Infer *in) {
    uint32_t carried = (uint32_t)node_int(in->node, "carried", 0);
    uint32_t scanned = (uint32_t)node_int(in->node, "scanned", 0);
    int64_t iterations = count_iterations(in, node_input(in->graph, in->node, 2 * carried + 2 * scanned));
    for (uint32_t k = 0; k < carried && k < in->node->output_count; k++) {
        if (!state_common(in, k, node_input(in->graph, in->node, carried + k), node_input(in->graph, in->node, k))) {
            return false;
        }
    }
    for (uint32_t k = 0; k < scanned && k < in->node->input_count; k++) {
        uint32_t piece = 2 * carried + k;
        if (!state_scan_output(in, node_input(in->graph, in->node, piece + scanned),
                               node_input(in->graph, in->node, piece), iterations)) {
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
