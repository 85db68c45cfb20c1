/* Folding: outputs of nodes with constant inputs become constants.
 *
 * In this order a constant is looked for: what the shape alone decides (Shape, Size, ZerosLike); a rule over the bytes
 * of an input (reshape, expand, a transpose that keeps the order of what is stored); element-wise evaluation of the
 * stored elements; evaluation of small data; and at last a constant of unknown bytes, which keeps its logical size. */
#include "graph/fold.h"

#include "graph/box.h"
#include "graph/fold_element.h"
#include "graph/fold_move.h"

void shape_window(const Node *node, uint32_t rank, int64_t *first, int64_t *last) {
    int64_t extent = (int64_t)rank;
    int64_t bound[2] = {node_int(node, "start", 0), node_int(node, "end", extent)};
    for (uint32_t k = 0; k < 2; k++) {
        bound[k] = bound[k] < -extent ? 0 : bound[k] < 0 ? bound[k] + extent : bound[k];
        bound[k] = bound[k] > extent ? extent : bound[k];
    }
    *first = bound[0];
    *last = bound[1] < bound[0] ? bound[0] : bound[1];
}

static const Const *new_const(Arena *keep, const Shape *stored, Span bytes, bool is_known) {
    Const *constant = arena_new(keep, Const);
    *constant = (Const){.stored = *stored, .bytes = is_known ? bytes : (Span){0}, .is_known = is_known};
    return constant;
}

/* One element that repeats along every axis; null bytes are zeros. */
static const Const *splat(Arena *keep, const Value *out, Span bytes) {
    Shape ones = {.rank = out->shape.rank};
    for (uint32_t axis = 0; axis < ones.rank; axis++) {
        ones.dim[axis] = 1;
    }
    uint64_t len = 0;
    bool fits = shape_packed_bytes(&ones, out->dtype, &len);
    if (bytes.ptr == NULL) {
        bytes = (Span){arena_array(keep, uint8_t, (size_t)len), (size_t)len};
    }
    return new_const(keep, &ones, bytes, fits && bytes.len == len);
}

/* Shape, Size, RANK, ZEROS_LIKE: null where the node is none of them, or its input has no shape. */
static const Const *fold_from_shape(const Fold *fold, Arena *keep, const Value *out) {
    const Value *x = node_input(fold->graph, fold->node, 0);
    Tensor tensor;
    uint64_t elements = 0;
    if (x == NULL || !x->has_shape || !shape_is_whole(&x->shape)) {
        return NULL;
    }
    if (fold->node->op == OP_ZEROS_LIKE) {
        return x->quant == NULL ? splat(keep, out, (Span){0}) : NULL;
    }
    if (dtype_is_float(out->dtype) || !shape_elements(&x->shape, &elements) ||
        !tensor_new(out->dtype, &out->shape, fold->scratch, &tensor)) {
        return NULL;
    }
    int64_t first = 0, last;
    shape_window(fold->node, x->shape.rank, &first, &last);
    for (uint32_t k = 0; k < tensor.count; k++) {
        tensor.cell[k].i = fold->node->op == OP_SHAPE  ? x->shape.dim[(uint32_t)first + k]
                           : fold->node->op == OP_SIZE ? (int64_t)elements
                                                       : (int64_t)x->shape.rank;
    }
    return tensor_store(&tensor, keep);
}

static bool depends_on_shape_only(OpId op) {
    return op == OP_SHAPE || op == OP_SIZE || op == OP_RANK || op == OP_ZEROS_LIKE;
}

static Cell attr_cell(const Attr *attr, uint32_t i) {
    switch (attr->kind) {
    case ATTR_INT:
        return (Cell){.i = attr->i};
    case ATTR_INTS:
        return (Cell){.i = attr->ints[i]};
    case ATTR_FLOATS:
        return (Cell){.f = (double)attr->floats[i]};
    default:
        return (Cell){.f = attr->f};
    }
}

/* Constant's attribute: a tensor, or numbers, of which the rule took the first that is there. */
static const Const *fold_constant(const Fold *fold, Arena *keep, const Value *out) {
    static const struct {
        const char *name;
        AttrKind kind;
        DType dtype;
    } numbers[] = {{"value_float", ATTR_FLOAT, DTYPE_F32},
                   {"value_floats", ATTR_FLOATS, DTYPE_F32},
                   {"value_int", ATTR_INT, DTYPE_I64},
                   {"value_ints", ATTR_INTS, DTYPE_I64}};
    const Attr *attr = node_attr(fold->node, "value");
    if (attr != NULL && attr->kind == ATTR_TENSOR) {
        const Value *value = graph_value(fold->graph, attr->tensor);
        return value->dtype == out->dtype ? value->constant : NULL;
    }
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        Tensor tensor;
        attr = node_attr(fold->node, numbers[k].name);
        if (attr == NULL) {
            continue;
        }
        if (attr->kind != numbers[k].kind || out->dtype != numbers[k].dtype ||
            !tensor_new(out->dtype, &out->shape, fold->scratch, &tensor)) {
            return NULL;
        }
        for (uint32_t i = 0; i < tensor.count; i++) {
            tensor.cell[i] = attr_cell(attr, i);
        }
        return tensor_store(&tensor, keep);
    }
    return NULL;
}

/* ConstantOfShape and its kin: one element, of attribute `value`; zero without it. */
static const Const *fold_filled(const Fold *fold, Arena *keep, const Value *out) {
    const Attr *attr = node_attr(fold->node, "value");
    if (attr == NULL) {
        return splat(keep, out, (Span){0});
    }
    if (attr->kind == ATTR_TENSOR) {
        const Value *value = graph_value(fold->graph, attr->tensor);
        bool is_known = value->constant != NULL && value->constant->is_known && value->dtype == out->dtype;
        return is_known ? splat(keep, out, value->constant->bytes) : NULL;
    }
    Tensor tensor;
    Shape one = {.rank = out->shape.rank};
    for (uint32_t axis = 0; axis < one.rank; axis++) {
        one.dim[axis] = 1;
    }
    bool is_number = attr->kind == ATTR_INT || attr->kind == ATTR_FLOAT;
    return is_number && tensor_new(out->dtype, &one, fold->scratch, &tensor) &&
                   fold_cast(attr->kind == ATTR_INT ? DTYPE_I64 : DTYPE_F64, out->dtype, attr_cell(attr, 0),
                             &tensor.cell[0])
               ? tensor_store(&tensor, keep)
               : NULL;
}

static bool is_splat(const Const *constant) {
    uint64_t elements;
    return shape_elements(&constant->stored, &elements) && elements == 1;
}

/* What is stored of `x`, seen under the shape `to`: the extents other than 1 must be the same in the same order. */
static bool restate(const Value *x, const Shape *to, Shape *stored) {
    const Shape *from = &x->shape;
    bool is_dense = shape_eq(&x->constant->stored, from);
    bool is_one = is_splat(x->constant);
    uint32_t axis = 0;
    *stored = *to;
    for (uint32_t k = 0; k < to->rank && !is_dense; k++) {
        if (is_one || to->dim[k] == 1) {
            stored->dim[k] = 1;
            continue;
        }
        while (axis < from->rank && from->dim[axis] == 1) {
            axis++;
        }
        if (axis == from->rank || from->dim[axis] != to->dim[k]) {
            return false;
        }
        stored->dim[k] = x->constant->stored.dim[axis++];
    }
    return true;
}

/* Permutes what is stored; *keeps_order where its bytes stay in order. */
static bool permute(const Fold *fold, const Value *x, Shape *stored, bool *keeps_order) {
    uint32_t perm[SHAPE_MAX_RANK];
    int64_t before = -1;
    if (!node_permutation(fold->graph, fold->node, fold->scratch, perm)) {
        return false;
    }
    *keeps_order = true;
    *stored = (Shape){.rank = x->shape.rank};
    for (uint32_t k = 0; k < x->shape.rank; k++) {
        stored->dim[k] = x->constant->stored.dim[perm[k]];
        if (stored->dim[k] != 1) {
            *keeps_order = *keeps_order && (int64_t)perm[k] > before;
            before = (int64_t)perm[k];
        }
    }
    return true;
}

/* Repeats `x` to the shape of `out`, aligned from the right: what grows must be stored once. */
static bool repeat(const Value *x, const Shape *out, Shape *stored) {
    uint32_t lead = out->rank - x->shape.rank;
    *stored = (Shape){.rank = out->rank};
    for (uint32_t k = 0; k < out->rank; k++) {
        stored->dim[k] = k < lead ? 1 : x->constant->stored.dim[k - lead];
        if (k >= lead && out->dim[k] != x->shape.dim[k - lead] && stored->dim[k] != 1) {
            return false;
        }
    }
    return true;
}

/* A rule over the bytes of a constant input; null where there is none. */
static const Const *fold_rule(const Fold *fold, Arena *keep, const Value *out) {
    OpId op = fold->node->op;
    const Value *x = node_input(fold->graph, fold->node, op == OP_FILL ? 1 : 0);
    Shape stored;
    bool keeps_bytes = true, found = false;
    if (x == NULL || x->constant == NULL || x->dtype != out->dtype || !x->has_shape) {
        return NULL;
    }
    switch (op_info(op)->kind) {
    case KIND_RESHAPE:
        found = restate(x, &out->shape, &stored);
        break;
    case KIND_TRANSPOSE:
        found = permute(fold, x, &stored, &keeps_bytes);
        break;
    case KIND_EXPAND:
        found = out->shape.rank >= x->shape.rank && repeat(x, &out->shape, &stored);
        break;
    default:
        break;
    }
    bool is_known = x->constant->is_known && keeps_bytes;
    uint64_t elements;
    if (!found || (!keeps_bytes && shape_elements(&stored, &elements) && elements <= FOLD_MAX_ELEMS)) {
        return NULL; /* small enough to be moved */
    }
    return new_const(keep, &stored, x->constant->bytes, is_known);
}

/* What is stored of the result, of shape `whole`, of the first `count` inputs, element by element. False where one is
 * not a constant that repeats to that shape. */
static bool stored_together(const Fold *fold, uint32_t count, const Shape *whole, Shape *stored) {
    *stored = (Shape){.rank = whole->rank};
    for (uint32_t axis = 0; axis < whole->rank; axis++) {
        stored->dim[axis] = 1;
    }
    for (uint32_t k = 0; k < count; k++) {
        const Value *x = node_input(fold->graph, fold->node, k);
        if (x == NULL || x->constant == NULL || x->shape.rank > whole->rank) {
            return false;
        }
        uint32_t lead = whole->rank - x->shape.rank;
        for (uint32_t axis = 0; axis < x->shape.rank; axis++) {
            int64_t extent = x->constant->stored.dim[axis];
            if (extent != 1 && extent != whole->dim[lead + axis]) {
                return false;
            }
            stored->dim[lead + axis] = extent == 1 ? stored->dim[lead + axis] : extent;
        }
    }
    return true;
}

/* The cell of `x` at `index` of an output of `rank`. */
static Cell cell_at(const Tensor *x, const int64_t *index, uint32_t rank) {
    int64_t at = 0;
    for (uint32_t axis = 0; axis < x->shape.rank; axis++) {
        at = at * x->shape.dim[axis] + (x->shape.dim[axis] == 1 ? 0 : index[rank - x->shape.rank + axis]);
    }
    return x->cell[at];
}

static bool evaluate(const Fold *fold, const Tensor *x, const Cell *cell, Tensor *out, uint32_t k) {
    uint32_t count = fold->node->input_count;
    switch (fold->node->op) {
    case OP_CAST:
        return fold_cast(x[0].dtype, out->dtype, cell[0], &out->cell[k]);
    case OP_WHERE:
        out->cell[k] = cell[0].i != 0 ? cell[1] : cell[2];
        return true;
    default:
        break;
    }
    if (count <= 2) {
        return fold_element(fold->node, x[0].dtype, cell, count, &out->cell[k]);
    }
    Cell pair[2] = {cell[0], cell[1]}; /* Sum, Max, Min of many */
    for (uint32_t i = 1; i < count; i++) {
        pair[1] = cell[i];
        if (!fold_element(fold->node, x[0].dtype, pair, 2, &pair[0])) {
            return false;
        }
    }
    out->cell[k] = pair[0];
    return true;
}

/* Takes the elements that an evaluation reads and writes from the budget. False where they are more than is left. */
static bool spend(const Fold *fold, uint32_t written) {
    uint64_t cost = written;
    for (uint32_t k = 0; k < fold->node->input_count; k++) {
        const Value *x = node_input(fold->graph, fold->node, k);
        uint64_t elements;
        bool is_small = x != NULL && x->constant != NULL && shape_elements(&x->constant->stored, &elements) &&
                        elements < FOLD_MAX_ELEMS;
        cost += is_small ? elements : FOLD_MAX_ELEMS;
    }
    bool fits = cost <= *fold->budget_elems;
    *fold->budget_elems -= fits ? cost : *fold->budget_elems;
    return fits;
}

/* Evaluates an element-wise operator on what is stored; null where it is not evaluated. */
static const Const *fold_elements(const Fold *fold, Arena *keep, const Value *out) {
    enum { MANY = 8 };
    OpKind kind = op_info(fold->node->op)->kind;
    uint32_t count = fold->node->input_count;
    Tensor x[MANY], result;
    Shape stored;
    int64_t index[SHAPE_MAX_RANK] = {0};
    bool is_legacy = node_attr(fold->node, "axis") != NULL;
    if ((kind != KIND_UNARY && kind != KIND_BROADCAST) || count == 0 || count > MANY || is_legacy ||
        out->quant != NULL || !stored_together(fold, count, &out->shape, &stored) ||
        !tensor_new(out->dtype, &stored, fold->scratch, &result) || !spend(fold, result.count)) {
        return NULL;
    }
    for (uint32_t k = 0; k < count; k++) {
        const Value *value = node_input(fold->graph, fold->node, k);
        if (value->quant != NULL || !tensor_load_stored(value, fold->scratch, &x[k])) {
            return NULL;
        }
    }
    if (!fold_element_fits(fold->node, x, count, out->dtype)) {
        return NULL;
    }
    for (uint32_t k = 0; k < result.count; k++) {
        Cell cell[MANY];
        for (uint32_t i = 0; i < count; i++) {
            cell[i] = cell_at(&x[i], index, stored.rank);
        }
        if (!evaluate(fold, x, cell, &result, k)) {
            return NULL;
        }
        shape_step(&stored, index);
    }
    return tensor_store(&result, keep);
}

static const Const *fold_small(const Fold *fold, Arena *keep, uint32_t k, const Value *out) {
    Tensor result;
    return tensor_new(out->dtype, &out->shape, fold->scratch, &result) && spend(fold, result.count) &&
                   fold_move(fold, k, &result)
               ? tensor_store(&result, keep)
               : NULL;
}

/* A constant whose bytes are not computed. What an element-wise operator repeats is stored once all the same. */
static const Const *fold_unknown(const Fold *fold, Arena *keep, const Value *out) {
    OpKind kind = op_info(fold->node->op)->kind;
    bool is_element = kind == KIND_UNARY || kind == KIND_BROADCAST;
    bool is_per_tensor =
        (kind == KIND_QUANTIZE || kind == KIND_DEQUANTIZE) && (out->quant == NULL || out->quant->count <= 1);
    Shape stored = out->shape, together;
    for (uint32_t k = 1; is_per_tensor && k < fold->node->input_count; k++) {
        const Value *scale = node_input(fold->graph, fold->node, k);
        uint64_t elements;
        is_per_tensor = scale == NULL || (shape_elements(&scale->shape, &elements) && elements == 1);
    }
    uint32_t last = is_element ? fold->node->input_count : 1;
    if ((is_element || is_per_tensor) && node_attr(fold->node, "broadcast") == NULL &&
        stored_together(fold, last, &out->shape, &together)) {
        stored = together;
    }
    return new_const(keep, &stored, (Span){0}, false);
}

/* The bytes of output `k`; null where they are not computed. */
static const Const *fold_known(const Fold *fold, Arena *keep, uint32_t k, const Value *out) {
    const Const *found = NULL;
    switch (fold->node->op) {
    case OP_SHAPE:
    case OP_SIZE:
    case OP_RANK:
    case OP_ZEROS_LIKE:
        return fold_from_shape(fold, keep, out);
    case OP_CONSTANT:
        return fold_constant(fold, keep, out);
    case OP_CONSTANT_OF_SHAPE:
    case OP_CONSTANT_FILL:
        return fold_filled(fold, keep, out);
    default:
        found = k == 0 ? fold_rule(fold, keep, out) : NULL;
        found = found == NULL && k == 0 ? fold_elements(fold, keep, out) : found;
        return found == NULL ? fold_small(fold, keep, k, out) : found;
    }
}

/* All inputs constant, and the operator a function of them? */
static bool is_foldable(const Graph *graph, const Node *node) {
    const OpInfo *info = op_info(node->op);
    if (depends_on_shape_only(node->op) && node->output_count != 1) {
        return false;
    }
    if ((info->flags & (OP_IMPURE | OP_NO_LAYOUT)) != 0 || info->kind == KIND_OPAQUE || info->kind == KIND_CONTROL ||
        info->kind == KIND_STATE || node->op == OP_NONE || node->is_opaque) {
        return false;
    }
    for (uint32_t k = 0; k < node->input_count && !depends_on_shape_only(node->op); k++) {
        const Value *x = node_input(graph, node, k);
        if (x != NULL && (x->constant == NULL || x->is_state)) {
            return false;
        }
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        const Value *out = node_output(graph, node, k);
        if (out != NULL && (!out->has_shape || out->is_sequence || !shape_is_whole(&out->shape))) {
            return false;
        }
    }
    return true;
}

void fold_node(Graph *graph, Work *work, Node *node, uint32_t stated_count, uint64_t *budget_elems) {
    Fold fold = {graph, &work->scratch, node, budget_elems};
    if (!is_foldable(graph, node)) {
        return;
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        Value *out = node_output(graph, node, k);
        if (out == NULL) {
            continue;
        }
        const Const *known = k < stated_count ? fold_known(&fold, &work->keep, k, out) : NULL;
        if (known == NULL && depends_on_shape_only(node->op)) {
            return;
        }
        out->constant = known == NULL ? fold_unknown(&fold, &work->keep, out) : known;
    }
    node->is_constant = true;
}
