/* Passes that complete a graph, in the order they run.
 *
 *     graph_inline        blocks called by If, Loop, While, CallOnce become steps of the caller
 *     graph_bind_dims     free dimensions of the inputs get the user's values
 *     graph_infer         shapes and dtypes of every value; constants are folded on the way
 *     graph_assign_names  each axis of each value gets its dimension: N C H W O I
 *     graph_fold_qdq      Dequantize - operator - Quantize read as one integer operator
 * Each says what it needs and what it breaks. False: diagnostics tell why, the graph is not to be used. */
#ifndef S0_GRAPH_PASSES_H
#define S0_GRAPH_PASSES_H

#include "graph/graph.h"

/* needs   graph_check
 * breaks  node order numbers of the main block (nodes are added); called blocks are empty afterwards
 * Refuses recursion, control flow deeper than 16, and sequences, by name. What it makes of each caller: graph/inline.c
 * and graph/inline_loop.c. */
bool graph_inline(Graph *graph, Work *work);

/* One --dim: NAME=VALUE (a free dimension's name) or INPUT:AXIS=VALUE. */
typedef struct {
    Str name;     /* of the dimension or of the input */
    int32_t axis; /* -1 where `name` is a dimension's */
    int64_t value;
    bool was_used; /* out */
} DimBinding;

/* Parses the text behind --dim. False with a diagnostic. */
bool dim_binding_parse(Str text, DimBinding *binding, Diags *diags);

/* needs   graph_check       breaks nothing
 * An input dimension that stays free is refused by name and axis, with the --dim that would bind it; a binding that
 * names nothing, or contradicts the file or another binding, is an error. INPUT:AXIS of a dimension that has a name
 * binds it wherever the name stands. TFLite: `shape` is the file's own binding; --dim may replace it
 * where shape_signature is free. */
bool graph_bind_dims(Graph *graph, DimBinding *bindings, size_t count, Work *work);

/* Only that each binding names something. */
bool graph_check_dims(Graph *graph, DimBinding *bindings, size_t count, Work *work);

/* The free dimensions of the main graph's inputs, each once, as bindings that lack their value; before it is bound. */
DimBinding *graph_free_dims(const Graph *graph, Arena *arena, size_t *count);

/* needs   inlined, bound    breaks nothing
 * Fills shape and dtype of every value of the main block; folds nodes whose inputs are all constant (is_constant), with
 * their bytes where small integers are concerned (shapes, axes), as a rule where they repeat. Extents in the file
 * that contradict the inferred ones are a warning, and the operator is followed; an ONNX output of another rank is an
 * error with both. An operator without a rule takes the file's shapes, and where it has none either, is refused by
 * name. */
bool graph_infer(Graph *graph, Work *work);

/* The same for a graph that is to be rewritten and not planned: what calls blocks is left as it is, and a node that
 * would be refused leaves its outputs without a shape, as does what reads them. `forgives`: so does one with an error,
 * where extents stand in for free dimensions and may contradict the file. */
bool graph_infer_known(Graph *graph, bool forgives, Work *work);

/* One --layout TENSOR=NCHW|NHWC. */
typedef struct {
    Str tensor;
    bool is_channel_second;
    bool was_used; /* out */
} LayoutBinding;

/* needs   shapes            breaks nothing
 * docs/contracts.md, rule 7. ONNX values at operators with OP_CHANNEL_SECOND are N, C, spatial
 * right-aligned to H W, further ones folded into H; names travel through element-wise operators (aligned from the
 * right) and through Transpose, both ways, and a `--layout` is an anchor like an operator; what no anchor reaches, and
 * all of TFLite, is right-aligned to N H W C with leading axes folded into N. Rank 1 is C unless an anchor says
 * otherwise; weights are O I H W by their operator's definition. Two anchors that disagree are refused with both
 * readings; a Transpose, Squeeze or Unsqueeze between them is a copy then, and at a normalisation --layout overrules
 * what its definition assumes. */
bool graph_assign_names(Graph *graph, LayoutBinding *bindings, size_t count, Work *work);

/* Operators that may move elements: where their two sides have names that differ, they are a copy and carry none. */
bool graph_may_copy(const Node *node);

/* One value is to take the place of the other: their axes are the same dimensions from now on, and whatever shares one
 * with either has its name, once graph_rename_axes has written it. False, with nothing done, where an axis would have
 * two names: then neither takes the other's place. Values of unlike rank share no axis. */
bool graph_join_axes(const Graph *graph, ValueId a, ValueId b);

/* needs   graph_assign_names, or nothing is done      breaks nothing
 * After rewriting: values that were joined have one set of names, constants those of who reads them now. What named an
 * axis before still does, even where that operator went. */
void graph_rename_axes(Graph *graph, Work *work);

/* needs   shapes            breaks node count and order of the main block
 * An operator with OP_INTEGER_FORM whose data inputs are Dequantize outputs (or constants behind one) and whose outputs
 * are read by one Quantize only (an activation between may be part: attribute `activation` with TFLite's word, or CLIP
 * with `activation_min` and `activation_max`) becomes one node on integer codes: inputs and outputs are the quantised
 * values, the values between disappear, and attribute `reals` names the type that it still computes in. Dequantize
 * nodes that still have readers stay. Operators that only move elements are moved out of the way first, which is exact:
 * Dequantize goes below, Quantize above them. Quantize right behind Dequantize reads the codes; to the same codes it
 * becomes an Identity. */
bool graph_fold_qdq(Graph *graph, Work *work);

#endif
