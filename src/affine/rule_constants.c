/* Constants: each stored once, as small as its readers can take it.
 *
 *     merged     two of one dtype, shape, quantisation and bytes are one; so are two nodes that make the same constant
 *     collapsed  what repeats along axes is stored once, where each reader broadcasts it back to the same elements
 *     folded     what a node makes of constants is stored, and the node goes
 * All are exact by construction: bytes are compared as bytes, so -0 is not 0 and a NaN equals itself. A constant is
 * collapsed or folded only where the file does not grow: bytes that come, with the names they come under, less bytes
 * that go. */
#include "affine/growth.h"
#include "affine/known.h"
#include "base/fault.h"
#include "graph/collapse.h"
#include "graph/fold_tensor.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

static uint64_t bytes_of(const Value *value) {
    return value->constant == NULL ? 0 : value->constant->bytes.len;
}

/* A constant of the file, or one that took its place; the tensor of an attribute has no name. */
static bool is_stored(const Rewriter *rw, ValueId id) {
    const Value *value = graph_value(rw->graph, id);
    bool has_own_bytes = value->name.len > 0 && !is_node(value->producer);
    return has_own_bytes && value->constant != NULL && rewrite_is_internal(rw, id);
}

static void log_constant(Rewriter *rw, const char *rule, Str name, int64_t change_bytes) {
    rewrite_log(rw, (Rewrite){.node = name,
                              .op = STR("constant"),
                              .form = AFFINE_REMOVE,
                              .certificate = rewrite_lemma(rw, rule, "every bit of its bytes", 0),
                              .constant_bytes = change_bytes});
}

/* ---- Merged: stored constants */

typedef struct {
    const Value *value;
    ValueId id;
} Candidate;

static int compare_spans(Span a, Span b) {
    if (a.len != b.len) {
        return a.len < b.len ? -1 : 1;
    }
    return a.len == 0 ? 0 : memcmp(a.ptr, b.ptr, a.len);
}

static int compare_shapes(const Shape *a, const Shape *b) {
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    for (uint32_t k = 0; k < a->rank; k++) {
        if (a->dim[k] != b->dim[k]) {
            return a->dim[k] < b->dim[k] ? -1 : 1;
        }
    }
    return 0;
}

/* Equal ones stand together, the first of the file first. */
static int compare_candidates(const void *left, const void *right) {
    const Candidate *a = left, *b = right;
    int order = a->value->dtype == b->value->dtype ? 0 : a->value->dtype < b->value->dtype ? -1 : 1;
    order = order != 0 ? order : compare_shapes(&a->value->shape, &b->value->shape);
    order = order != 0 ? order : compare_shapes(&a->value->constant->stored, &b->value->constant->stored);
    order = order != 0 ? order : compare_spans(a->value->constant->bytes, b->value->constant->bytes);
    return order != 0 ? order : a->id.index < b->id.index ? -1 : 1;
}

static bool is_equal_constant(const Value *a, const Value *b) {
    return a->dtype == b->dtype && shape_eq(&a->shape, &b->shape) &&
           shape_eq(&a->constant->stored, &b->constant->stored) && quant_eq(a->quant, b->quant) &&
           compare_spans(a->constant->bytes, b->constant->bytes) == 0;
}

/* ONNX nodes name what they read: a longer name may cost more than the second copy did. */
static bool saves_bytes(const Rewriter *rw, const Candidate *kept, const Candidate *merged) {
    uint64_t freed = growth_tensor_bytes(rw, growth_stored_bytes(merged->value), merged->value->name);
    uint64_t readers = rw->reader_count[merged->id.index];
    uint64_t longer =
        kept->value->name.len > merged->value->name.len ? kept->value->name.len - merged->value->name.len : 0;
    return rw->graph->format != FORMAT_ONNX || readers * longer <= freed;
}

static void merge_stored(Rewriter *rw) {
    Candidate *candidates = arena_array(&rw->work->scratch, Candidate, rw->use_values);
    size_t count = 0;
    for (uint32_t v = 0; v < rw->use_values; v++) {
        ValueId id = {v};
        if (is_stored(rw, id) && rewrite_constant(rw, id) != NULL && rw->reader_count[v] > 0) {
            candidates[count++] = (Candidate){graph_value(rw->graph, id), id};
        }
    }
    if (count > 1) {
        qsort(candidates, count, sizeof *candidates, compare_candidates);
    }
    for (size_t first = 0, i = 1; i < count; i++) {
        bool is_same = is_equal_constant(candidates[first].value, candidates[i].value);
        if (!is_same || !saves_bytes(rw, &candidates[first], &candidates[i]) ||
            !rewrite_redirect(rw, candidates[i].id, candidates[first].id)) {
            first = is_same ? first : i;
            continue;
        }
        log_constant(rw, "merged", candidates[i].value->name, -(int64_t)growth_data_bytes(rw, candidates[i].id));
    }
}

/* ---- Merged: nodes that make constants */

/* Bit for bit: a NaN is itself, 0 is not -0. */
static bool same_double(double a, double b) {
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

static bool same_attr(const Graph *graph, const Attr *a, const Attr *b) {
    if (!str_eq(a->name, b->name) || a->kind != b->kind || a->count != b->count) {
        return false;
    }
    switch (a->kind) {
    case ATTR_INT:
        return a->i == b->i;
    case ATTR_FLOAT:
        return same_double(a->f, b->f);
    case ATTR_STR:
        return str_eq(a->s, b->s);
    case ATTR_INTS:
        return a->count == 0 || memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0;
    case ATTR_FLOATS:
        return a->count == 0 || memcmp(a->floats, b->floats, a->count * sizeof *a->floats) == 0;
    case ATTR_TENSOR: {
        const Value *x = graph_value(graph, a->tensor);
        const Value *y = graph_value(graph, b->tensor);
        return x->constant != NULL && y->constant != NULL && is_equal_constant(x, y);
    }
    default:
        return false;
    }
}

static bool makes_the_same(const Graph *graph, const Node *a, const Node *b) {
    if (a->op != b->op || a->version != b->version || a->attr_count != b->attr_count ||
        a->input_count != b->input_count || !str_eq(a->op_name, b->op_name)) {
        return false;
    }
    for (uint32_t k = 0; k < a->input_count; k++) {
        if (a->inputs[k].index != b->inputs[k].index) {
            return false;
        }
    }
    for (uint32_t k = 0; k < a->attr_count; k++) {
        if (!same_attr(graph, &a->attrs[k], &b->attrs[k])) {
            return false;
        }
    }
    const Value *x = graph_value(graph, a->outputs[0]);
    const Value *y = graph_value(graph, b->outputs[0]);
    return x->dtype == y->dtype && x->has_shape && y->has_shape && shape_eq(&x->shape, &y->shape) &&
           quant_eq(x->quant, y->quant);
}

/* A number that equal makers share; unequal ones may. */
static uint64_t maker_hash(const Node *node) {
    uint64_t hash = (uint64_t)node->op * 0x9E3779B97F4A7C15u;
    for (uint32_t k = 0; k < node->input_count; k++) {
        hash = (hash ^ node->inputs[k].index) * 0x100000001B3u;
    }
    return hash;
}

typedef struct {
    uint64_t hash;
    uint32_t at; /* in the main block */
} Maker;

static int compare_makers(const void *left, const void *right) {
    const Maker *a = left, *b = right;
    return a->hash != b->hash ? (a->hash < b->hash ? -1 : 1) : a->at < b->at ? -1 : 1;
}

static bool is_maker(const Rewriter *rw, NodeId id) {
    const Node *node = graph_node(rw->graph, id);
    return node->is_constant && rewrite_may_change(rw, id) && node->output_count == 1 && is_value(node->outputs[0]) &&
           (op_info(node->op)->flags & OP_IMPURE) == 0 && rw->reader_count[node->outputs[0].index] > 0;
}

/* Few makers share a hash but are not the same, so only the first MOST_COMPARED of a run are compared with. */
static void merge_makers(Rewriter *rw) {
    enum { MOST_COMPARED = 32 };
    const Block *main = graph_main(rw->graph);
    Maker *makers = arena_array(&rw->work->scratch, Maker, main->node_count);
    size_t count = 0;
    for (uint32_t at = 0; at < main->node_count; at++) {
        if (is_maker(rw, main->nodes[at])) {
            makers[count++] = (Maker){maker_hash(graph_node(rw->graph, main->nodes[at])), at};
        }
    }
    if (count > 1) {
        qsort(makers, count, sizeof *makers, compare_makers);
    }
    NodeId kept[MOST_COMPARED];
    uint32_t kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        kept_count = i > 0 && makers[i].hash != makers[i - 1].hash ? 0 : kept_count;
        NodeId id = main->nodes[makers[i].at];
        const Node *node = graph_node(rw->graph, id);
        uint32_t k = 0;
        while (k < kept_count && !makes_the_same(rw->graph, graph_node(rw->graph, kept[k]), node)) {
            k++;
        }
        if (k < kept_count && rewrite_redirect(rw, node->outputs[0], graph_node(rw->graph, kept[k])->outputs[0])) {
            rewrite_drop_node(rw, id);
            log_constant(rw, "merged", node->name, -(int64_t)rewrite_node_bytes(rw, id));
            rw->log[rw->log_count - 1].nodes = 1;
        } else if (k == kept_count && kept_count < MOST_COMPARED) {
            kept[kept_count++] = id;
        }
    }
}

/* ---- Collapsed */

/* Operators that align what they are given from the right. ONNX: since opset 7, those of any number of operands since
 * 8. TFLite: what its kernels do (ADD_N, ATAN2 and STABLEHLO want equal shapes). */
static bool aligns(const Rewriter *rw, const Node *node) {
    if (op_info(node->op)->kind != KIND_BROADCAST) {
        return false;
    }
    bool is_list = node->op == OP_MAX || node->op == OP_MIN || node->op == OP_SUM || node->op == OP_MEAN;
    if (rw->graph->format == FORMAT_TFLITE) {
        return node->op != OP_SUM && node->op != OP_ATAN2 && !str_starts(node->op_name, STR("STABLEHLO_"));
    }
    return node->version >= (is_list ? 8 : 7);
}

/* Does the reader broadcast what it is given, and would its output keep its shape? */
static bool broadcasts(const Rewriter *rw, NodeId reader, ValueId id) {
    const Node *node = graph_node(rw->graph, reader);
    bool is_aligned = known_is(rw->graph, node, &rw->work->scratch) && aligns(rw, node);
    bool keeps_shape = false;
    for (uint32_t k = 0; is_aligned && k < node->input_count; k++) {
        ValueId input = node->inputs[k];
        bool is_it = is_value(input) && input.index == id.index;
        is_aligned = !is_it || op_input_role(node->op, k) == 'p';
        keeps_shape = keeps_shape || (is_value(input) && !is_it && rewrite_same_shape(rw, input, node->outputs[0]));
    }
    return is_aligned && keeps_shape && rewrite_may_change(rw, reader);
}

static bool all_broadcast(const Rewriter *rw, ValueId id) {
    uint32_t first = rw->uses.first[id.index], last = rw->uses.first[id.index + 1];
    for (uint32_t u = first; u < last; u++) {
        NodeId reader = rw->uses.use[u];
        if (!rw->is_gone[reader.index] && !broadcasts(rw, reader, id)) {
            return false;
        }
    }
    return first < last;
}

static bool is_smaller(const Shape *a, const Shape *b) {
    for (uint32_t k = 0; k < a->rank; k++) {
        if (a->dim[k] < b->dim[k]) {
            return true;
        }
    }
    return false;
}

/* TFLite's kernels broadcast up to four axes. */
static bool may_broadcast(const Rewriter *rw, const Shape *shape) {
    enum { TFLITE_BROADCAST_RANK = 4 };
    return rw->graph->format != FORMAT_TFLITE || shape->rank <= TFLITE_BROADCAST_RANK;
}

/* May every reader be given the smallest shape that broadcasts back? */
static bool may_collapse(const Rewriter *rw, ValueId id, Shape *smallest) {
    const Value *value = graph_value(rw->graph, id);
    bool has_slices = value->quant != NULL && value->quant->count > 1; /* equal codes, but of other scales */
    *smallest = const_smallest(value);
    return !has_slices && is_smaller(smallest, &value->shape) && may_broadcast(rw, smallest) && all_broadcast(rw, id) &&
           rewrite_may_redirect(rw, id);
}

/* Bytes that go with the constant. Of several in the same bytes that may all be collapsed, each has its share. */
static uint64_t freed_by_collapse(const Rewriter *rw, ValueId id) {
    enum { MOST_SHARED = 32 };
    const Value *value = graph_value(rw->graph, id);
    uint64_t count = 1;
    if (id.index >= rw->note->value_count || rw->note->next[id.index] == id.index || value->is_kept_data) {
        return growth_freed_with(rw, id);
    }
    for (uint32_t v = rw->note->next[id.index]; v != id.index; v = rw->note->next[v], count++) {
        ValueId other = {v};
        Shape smallest;
        bool goes = rewrite_is_unread(rw, other) ||
                    (is_stored(rw, other) && rewrite_pattern(rw, other) != NULL && may_collapse(rw, other, &smallest));
        if (!goes || count == MOST_SHARED || graph_value(rw->graph, other)->is_kept_data) {
            return growth_freed_with(rw, id);
        }
    }
    return growth_tensor_bytes(rw, bytes_of(value) / count, value->name);
}

static bool collapse(Rewriter *rw, ValueId id) {
    const Value *value = graph_value(rw->graph, id);
    Shape smallest;
    if (!may_collapse(rw, id, &smallest)) {
        return false;
    }
    Const *stored = arena_new(&rw->work->keep, Const);
    *stored = (Const){.stored = smallest, .bytes = const_collapse(value, &smallest, &rw->work->keep), .is_known = true};
    int64_t growth =
        (int64_t)growth_tensor_bytes(rw, stored->bytes.len, value->name) - (int64_t)freed_by_collapse(rw, id);
    if (stored->bytes.len == 0 || growth > 0) {
        return false;
    }
    Value added = {.dtype = value->dtype,
                   .has_shape = true,
                   .shape = smallest,
                   .quant = value->quant,
                   .constant = stored,
                   .producer = NO_NODE};
    memcpy(added.dims, value->dims, sizeof added.dims);
    Str name = value->name;
    uint64_t before = 0;
    (void)shape_packed_bytes(&value->shape, value->dtype, &before);
    uint64_t goes = is_stored(rw, id) ? growth_data_bytes(rw, id) : 0;
    ValueId compact = rewrite_add_instead(rw, added, id, true);
    CHECK(rewrite_redirect(rw, id, compact));
    log_constant(rw, "collapsed", name, (int64_t)stored->bytes.len - (int64_t)goes);
    rw->log[rw->log_count - 1].bytes_before = before;
    rw->log[rw->log_count - 1].bytes_after = stored->bytes.len;
    return true;
}

/* ---- Folded */

static bool is_root(const Rewriter *rw, ValueId id) {
    for (uint32_t u = rw->uses.first[id.index]; u < rw->uses.first[id.index + 1]; u++) {
        NodeId reader = rw->uses.use[u];
        if (!rw->is_gone[reader.index] && !graph_node(rw->graph, reader)->is_constant) {
            return true;
        }
    }
    return false;
}

/* Are the elements those that the file states, only moved? */
static bool is_stated(const Rewriter *rw, ValueId id, uint32_t depth) {
    const Value *value = graph_value(rw->graph, id);
    if (!is_node(value->producer)) {
        return true;
    }
    const Node *node = graph_node(rw->graph, value->producer);
    OpKind kind = op_info(node->op)->kind;
    bool moves = kind == KIND_RESHAPE || kind == KIND_TRANSPOSE || kind == KIND_SLICE || kind == KIND_EXPAND ||
                 kind == KIND_CONCAT || kind == KIND_CONSTANT;
    for (uint32_t k = 0; moves && k < node->input_count; k++) {
        moves = depth < MOST_DEPTH && (!is_value(node->inputs[k]) || is_stated(rw, node->inputs[k], depth + 1));
    }
    return moves;
}

/* Which zero Relu, Max and the like make of zeros of unlike sign, kernels tell. */
static bool has_computed_zero(const Rewriter *rw, ValueId id, const Tensor *whole) {
    bool is_open = dtype_is_float(whole->dtype) && !is_stated(rw, id, 0);
    for (uint32_t k = 0; is_open && k < whole->count; k++) {
        if (whole->cell[k].f == 0) {
            return true;
        }
    }
    return false;
}

static bool fold(Rewriter *rw, ValueId id) {
    const Value *value = graph_value(rw->graph, id);
    Tensor whole;
    bool is_open = value->quant == NULL && rewrite_constant(rw, id) != NULL && is_root(rw, id) &&
                   rewrite_may_redirect(rw, id) && graph_node(rw->graph, value->producer)->op != OP_CONSTANT;
    uint64_t bytes;
    if (!is_open || !shape_packed_bytes(&value->shape, value->dtype, &bytes) ||
        growth_tensor_bytes(rw, bytes, value->name) > growth_freed_with(rw, id)) {
        return false;
    }
    if (!tensor_load(value, &rw->work->scratch, &whole) || has_computed_zero(rw, id, &whole)) {
        return false;
    }
    const Const *stored = tensor_store(&whole, &rw->work->keep);
    Value added = {
        .dtype = value->dtype, .has_shape = true, .shape = value->shape, .constant = stored, .producer = NO_NODE};
    memcpy(added.dims, value->dims, sizeof added.dims);
    Str node = graph_node(rw->graph, value->producer)->name;
    ValueId folded = rewrite_add_instead(rw, added, id, true);
    CHECK(rewrite_redirect(rw, id, folded));
    log_constant(rw, "folded", node, (int64_t)stored->bytes.len);
    return true;
}

void rule_constants(Rewriter *rw) {
    merge_stored(rw);
    merge_makers(rw);
    rewrite_refresh(rw);
    uint32_t count = rw->use_values;
    for (uint32_t v = 0; v < count; v++) {
        ValueId id = {v};
        bool is_made = is_node(graph_value(rw->graph, id)->producer);
        if (rw->reader_count[v] == 0 || !rewrite_is_internal(rw, id) || rewrite_pattern(rw, id) == NULL ||
            (!is_made && !is_stored(rw, id))) {
            continue;
        }
        if (!collapse(rw, id) && is_made) {
            (void)fold(rw, id);
        }
    }
}
