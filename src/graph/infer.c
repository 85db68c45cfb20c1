/* Shape inference: walks the nodes of the main block in order and runs the rule of each, then folds it.
 *
 * The scratch arena is this pass's own, and is reset after each node. Every value has a whole shape and a dtype once
 * its producer has been passed, sequences excepted. The walk ends at the first node that fails: what follows would only
 * repeat the complaint. */
#include "graph/infer.h"

#include "graph/passes.h"

typedef bool InferRule(Infer *in);

static InferRule *const rules[OP_COUNT] = {
    [OP_NONE] = infer_file,
#define OP(id, name, domain, tflite, kind, inputs, infer, flags) [OP_##id] = infer_##infer,
#include "graph/ops.def"
#undef OP
};

const char *infer_shape_text(Infer *in, const Shape *shape) {
    return shape_text(&in->work->keep, shape).ptr;
}

/* Where the file has a value; null where that is unknown. */
static const char *value_place(Infer *in, const Value *value) {
    return value == NULL || value->source.len == 0 ? NULL : arena_str(&in->work->keep, value->source).ptr;
}

bool infer_error(Infer *in, uint32_t k, const char *what, const char *got, const char *expected) {
    const Value *value = node_input(in->graph, in->node, k);
    return diag_error(&in->work->diags, (DiagText){.node = node_title(&in->work->keep, in->node),
                                                   .tensor = value == NULL ? STR("") : value->name,
                                                   .place = value_place(in, value),
                                                   .what = what,
                                                   .got = got,
                                                   .expected = expected});
}

bool infer_no_broadcast(Infer *in, uint32_t k, const char *got, const char *expected) {
    const Value *value = node_input(in->graph, in->node, k);
    return diag_error(&in->work->diags, (DiagText){.node = node_title(&in->work->keep, in->node),
                                                   .tensor = value == NULL ? STR("") : value->name,
                                                   .place = value_place(in, value),
                                                   .what = "shapes do not broadcast",
                                                   .got = got,
                                                   .expected = expected,
                                                   .hint = "give one of them the other's shape with Reshape, or export "
                                                           "the model again"});
}

bool infer_refuse(Infer *in, uint32_t k, const char *what, const char *hint) {
    const Value *value = node_input(in->graph, in->node, k);
    return diag_refuse(&in->work->diags, (DiagText){.node = node_title(&in->work->keep, in->node),
                                                    .tensor = value == NULL ? STR("") : value->name,
                                                    .what = what,
                                                    .hint = hint});
}

const Value *infer_optional(const Infer *in, uint32_t k) {
    const Value *value = node_input(in->graph, in->node, k);
    return value == NULL || !value->has_shape ? NULL : value;
}

const Value *infer_need(Infer *in, uint32_t k) {
    const Value *value = node_input(in->graph, in->node, k);
    if (value == NULL) {
        infer_error(in, k, "a required input is missing",
                    arena_text(&in->work->keep, "%u inputs, number %u absent", in->node->input_count, k),
                    "an input of that number");
        return NULL;
    }
    if (!value->has_shape) {
        infer_refuse(in, k,
                     value->is_sequence ? "a sequence or optional has no shape to compute with"
                                        : "the input has no shape",
                     "give the tensor a shape in the model");
        return NULL;
    }
    return value;
}

bool infer_push(Infer *in, Shape *shape, int64_t extent) {
    if (shape->rank == SHAPE_MAX_RANK) {
        return infer_refuse(in, 0, arena_text(&in->work->keep, "the output has more than %d axes", SHAPE_MAX_RANK),
                            "merge axes with a Reshape");
    }
    shape->dim[shape->rank++] = extent;
    return true;
}

bool infer_push_all(Infer *in, Shape *shape, const Shape *more, uint32_t first, uint32_t last) {
    for (uint32_t axis = first; axis < last; axis++) {
        if (!infer_push(in, shape, more->dim[axis])) {
            return false;
        }
    }
    return true;
}

bool infer_axis(Infer *in, int64_t axis, uint32_t rank, uint32_t *counted) {
    int64_t extent = (int64_t)rank;
    if (axis < -extent || axis >= extent) {
        return infer_error(
            in, 0, "the axis is outside the tensor", arena_text(&in->work->keep, "axis %lld", (long long)axis),
            rank == 0 ? "no axis: the tensor is a scalar" : arena_text(&in->work->keep, "-%u to %u", rank, rank - 1));
    }
    *counted = (uint32_t)(axis < 0 ? axis + extent : axis);
    return true;
}

bool infer_axes(Infer *in, Ints ints, uint32_t rank, uint32_t *mask) {
    *mask = 0;
    for (uint32_t k = 0; k < ints.count; k++) {
        uint32_t axis = 0;
        if (!infer_axis(in, ints.at[k], rank, &axis)) {
            return false;
        }
        if ((*mask >> axis & 1) != 0) {
            return infer_error(in, 0, "an axis is named twice", arena_text(&in->work->keep, "axis %u", axis), NULL);
        }
        *mask |= (uint32_t)1 << axis;
    }
    return true;
}

IntsState infer_attr_ints(Infer *in, const char *name, Ints *ints) {
    const Attr *attr = node_attr(in->node, name);
    *ints = (Ints){0, NULL};
    if (attr == NULL || (attr->kind != ATTR_INT && attr->kind != ATTR_INTS)) {
        return INTS_ABSENT;
    }
    *ints = attr->kind == ATTR_INT ? (Ints){1, &attr->i} : (Ints){attr->count, attr->ints};
    return INTS_KNOWN;
}

IntsState infer_input_ints(Infer *in, uint32_t k, Ints *ints) {
    const Value *value = node_input(in->graph, in->node, k);
    *ints = (Ints){0, NULL};
    if (value == NULL) {
        return INTS_ABSENT;
    }
    return const_ints(value, &in->work->scratch, ints) ? INTS_KNOWN : INTS_UNKNOWN;
}

IntsState infer_ints(Infer *in, const char *name, uint32_t k, Ints *ints) {
    IntsState state = infer_attr_ints(in, name, ints);
    return state == INTS_ABSENT ? infer_input_ints(in, k, ints) : state;
}

bool infer_product(Infer *in, const Shape *shape, uint32_t first, uint32_t last, int64_t *product) {
    Shape part = {.rank = 0};
    uint64_t elements;
    for (uint32_t axis = first; axis < last; axis++) {
        part.dim[part.rank++] = shape->dim[axis];
    }
    if (!shape_elements(&part, &elements) || elements > (uint64_t)INT64_MAX) {
        return infer_error(in, 0, "the tensor has more elements than 64 bits count", infer_shape_text(in, shape), NULL);
    }
    *product = (int64_t)elements;
    return true;
}

bool shape_broadcast(Shape *shape, const Shape *more) {
    Shape out = shape->rank >= more->rank ? *shape : *more;
    const Shape *low = shape->rank >= more->rank ? more : shape;
    uint32_t lead = out.rank - low->rank;
    for (uint32_t axis = 0; axis < low->rank; axis++) {
        int64_t *extent = &out.dim[lead + axis];
        if (*extent == 1) {
            *extent = low->dim[axis];
        } else if (low->dim[axis] != 1 && low->dim[axis] != *extent) {
            return false;
        }
    }
    *shape = out;
    return true;
}

bool infer_broadcast_inputs(Infer *in, uint32_t first, uint32_t last, Shape *shape) {
    const Value *before = NULL;
    *shape = (Shape){.rank = 0};
    for (uint32_t k = first; k < last; k++) {
        if (node_input(in->graph, in->node, k) == NULL) {
            continue;
        }
        const Value *value = infer_need(in, k);
        if (value == NULL) {
            return false;
        }
        if (!shape_broadcast(shape, &value->shape)) {
            Arena *keep = &in->work->keep;
            return infer_no_broadcast(
                in, k,
                arena_text(keep, "%s of '" STR_FMT "'", infer_shape_text(in, &value->shape), STR_ARG(value->name)),
                arena_text(keep, "extents that equal those of %s, or 1, from the right ('" STR_FMT "')",
                           infer_shape_text(in, shape), STR_ARG(before == NULL ? value->name : before->name)));
        }
        before = value;
    }
    return true;
}

/* The first axis whose extent is out of range; the rank where there is none. */
static uint32_t bad_axis(const Shape *shape) {
    uint32_t axis = 0;
    while (axis < shape->rank && shape->dim[axis] >= 0 && shape->dim[axis] <= EXTENT_MAX) {
        axis++;
    }
    return axis;
}

/* Are the extents and the size of a shape such that arithmetic on them is safe? */
static bool check_shape(Infer *in, const Value *value, const Shape *shape) {
    uint64_t bytes;
    uint32_t bad = bad_axis(shape);
    if (bad == shape->rank && shape_packed_bytes(shape, value->dtype, &bytes)) {
        return true;
    }
    DiagText text = {.node = in->node == NULL ? STR("") : node_title(&in->work->keep, in->node),
                     .tensor = value->name,
                     .place = value_place(in, value),
                     .what = "the tensor's size does not fit 64 bits",
                     .got = infer_shape_text(in, shape)};
    if (bad == shape->rank) {
        return diag_refuse(&in->work->diags, text);
    }
    text.what = arena_text(&in->work->keep, "the extent of axis %u is out of range", bad);
    text.got = arena_text(&in->work->keep, "%lld elements", (long long)shape->dim[bad]);
    text.expected = "0 to 2^48 elements";
    return diag_error(&in->work->diags, text);
}

static bool same_but_free(const Shape *file, const Shape *inferred) {
    if (file->rank != inferred->rank) {
        return false;
    }
    for (uint32_t axis = 0; axis < file->rank; axis++) {
        if (file->dim[axis] != DIM_FREE && file->dim[axis] != inferred->dim[axis]) {
            return false;
        }
    }
    return true;
}

static DiagText contradiction(Infer *in, const Value *out, const char *what, const char *got, const char *expected) {
    return (DiagText){.node = node_title(&in->work->keep, in->node),
                      .tensor = out->name,
                      .place = value_place(in, out),
                      .what = what,
                      .got = got,
                      .expected = expected};
}

/* The file's shape of `out` is not the one that its operator gives. Such shapes are notes that grow stale (weights were
 * exchanged, a batch was fixed, an axis of 1 came or went; published networks have them, at outputs too): runtimes
 * compute them anew, and so do we, and say so. */
static void note_stale(Infer *in, const Value *out, const Shape *shape) {
    if (in->stale_count++ == 0) {
        in->first_stale = contradiction(in, out, NULL, infer_shape_text(in, &out->shape), infer_shape_text(in, shape));
    }
}

static void warn_of_stale(Infer *in) {
    if (in->stale_count > 0) {
        DiagText text = in->first_stale;
        text.what =
            arena_text(&in->work->keep,
                       "the file's shapes of %u tensors contradict their operators, which are followed; this is "
                       "the first",
                       in->stale_count);
        text.hint = in->graph->format == FORMAT_TFLITE ? "convert the model again"
                                                       : "run shape inference on the model anew and store it";
        diag_warn(&in->work->diags, text);
    }
}

bool infer_out(Infer *in, uint32_t k, DType dtype, const Shape *shape) {
    Value *out = node_output(in->graph, in->node, k);
    in->stated_count = k + 1;
    if (out == NULL) {
        return true;
    }
    if (out->dtype == DTYPE_NONE) {
        out->dtype = dtype;
    } else if (dtype != DTYPE_NONE && dtype != out->dtype && !infer_is_tflite(in)) {
        return diag_error(&in->work->diags, contradiction(in, out, "the file's element type contradicts the operator",
                                                          dtype_name(out->dtype), dtype_name(dtype)));
    }
    if (!check_shape(in, out, shape)) {
        return false;
    }
    if (out->has_shape && !same_but_free(&out->shape, shape)) {
        note_stale(in, out, shape);
    }
    out->has_shape = true;
    out->shape = *shape;
    return true;
}

bool infer_fits(Infer *in, const Value *value) {
    return check_shape(in, value, &value->shape);
}

bool infer_from_file(Infer *in, const char *hint) {
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        const Value *out = node_output(in->graph, in->node, k);
        if (out == NULL || out->is_sequence) {
            continue;
        }
        if (!out->has_shape || !shape_is_whole(&out->shape)) {
            return diag_refuse(&in->work->diags,
                               (DiagText){.node = node_title(&in->work->keep, in->node),
                                          .tensor = out->name,
                                          .what = arena_text(&in->work->keep,
                                                             "the output's shape is neither in the file nor follows "
                                                             "from the operator " STR_FMT,
                                                             STR_ARG(in->node->op_name)),
                                          .got = out->has_shape ? infer_shape_text(in, &out->shape) : "no shape",
                                          .hint = hint});
        }
        if (!check_shape(in, out, &out->shape)) {
            return false;
        }
    }
    return true;
}

/* One scale a slice: as many as the axis has elements. graph_check saw to the values whose shape the file states. */
static bool check_quant(Infer *in, const Value *value) {
    const Quant *quant = value->quant;
    if (quant == NULL || quant->count <= 1 || !value->has_shape || quant->axis < 0 || quant->block != 0) {
        return true;
    }
    Arena *keep = &in->work->keep;
    DiagText text = {.node = in->node == NULL ? STR("") : node_title(keep, in->node),
                     .tensor = value->name,
                     .place = value_place(in, value),
                     .what = "the scales do not fit the axis they are for",
                     .got = arena_text(keep, "%u scales along axis %d of %s", quant->count, quant->axis,
                                       infer_shape_text(in, &value->shape)),
                     .hint = "name the axis that the scales are for"};
    if ((uint32_t)quant->axis >= value->shape.rank) {
        text.expected = arena_text(keep, "an axis below %u", value->shape.rank);
        return diag_refuse(&in->work->diags, text);
    }
    int64_t extent = value->shape.dim[quant->axis];
    if (extent != (int64_t)quant->count) {
        text.expected = arena_text(keep, "%lld scales, or 1", (long long)extent);
        return diag_refuse(&in->work->diags, text);
    }
    return true;
}

/* Outputs that the rule knows nothing of keep what the file says, where a tensor can have that shape. */
static bool check_unstated(Infer *in) {
    for (uint32_t k = in->stated_count; k < in->node->output_count; k++) {
        const Value *out = node_output(in->graph, in->node, k);
        if (out != NULL && out->has_shape && shape_is_whole(&out->shape) && !check_shape(in, out, &out->shape)) {
            return false;
        }
    }
    return true;
}

/* What the rule left open: outputs take the dtype of input 0. */
static void default_dtypes(Infer *in) {
    const Value *first = node_input(in->graph, in->node, 0);
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        Value *out = node_output(in->graph, in->node, k);
        if (out != NULL && out->dtype == DTYPE_NONE && first != NULL) {
            out->dtype = first->dtype;
        }
    }
}

static bool infer_node(Infer *in) {
    in->stated_count = 0;
    if (!rules[in->node->op](in) || !check_unstated(in)) {
        return false;
    }
    default_dtypes(in);
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        const Value *out = node_output(in->graph, in->node, k);
        if (out != NULL && (!check_quant(in, out) || !graph_check_codes(out, in->work))) {
            return false;
        }
    }
    fold_node(in->graph, in->work, in->node, in->stated_count, &in->fold_budget_elems);
    return true;
}

static bool has_unknown_input(const Infer *in) {
    for (uint32_t k = 0; k < in->node->input_count; k++) {
        const Value *value = node_input(in->graph, in->node, k);
        if (value != NULL && !value->has_shape) {
            return true;
        }
    }
    return false;
}

static void forget_outputs(Infer *in) {
    for (uint32_t k = 0; k < in->node->output_count; k++) {
        Value *out = node_output(in->graph, in->node, k);
        if (out != NULL) {
            out->has_shape = false;
            out->shape = (Shape){0};
        }
    }
}

/* A node whose outputs can't be told leaves them unknown. */
static bool infer_if_known(Infer *in) {
    Diags *diags = &in->work->diags;
    const Diags before = *diags;
    bool is_open = op_info(in->node->op)->kind == KIND_CONTROL || has_unknown_input(in);
    if (!is_open && infer_node(in)) {
        return true;
    }
    if (diags->count[DIAG_ERROR] > before.count[DIAG_ERROR] && !in->forgives) {
        return false;
    }
    diags_rewind(diags, before);
    forget_outputs(in);
    return true;
}

static bool check_given(Infer *in) {
    for (uint32_t k = 0; k < in->graph->value_count; k++) {
        const Value *value = &in->graph->values[k];
        bool is_given = value->is_input || value->is_state || value->constant != NULL;
        if (is_given && value->has_shape && !check_shape(in, value, &value->shape)) {
            return false;
        }
    }
    return true;
}

static bool infer_block(Graph *graph, bool (*infer_one)(Infer *), bool forgives, Work *work) {
    Infer in = {.graph = graph, .work = work, .fold_budget_elems = FOLD_BUDGET_ELEMS, .forgives = forgives};
    if (!check_given(&in)) {
        return false;
    }
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->node_count; k++) {
        in.node = graph_node(graph, block->nodes[k]);
        bool is_done = infer_one(&in);
        arena_reset(&work->scratch); /* lists of one node; 100 000 nodes would add up */
        if (!is_done) {
            return false;
        }
    }
    warn_of_stale(&in);
    return true;
}

bool graph_infer(Graph *graph, Work *work) {
    return infer_block(graph, infer_node, false, work);
}

bool graph_infer_known(Graph *graph, bool forgives, Work *work) {
    return infer_block(graph, infer_if_known, forgives, work);
}
