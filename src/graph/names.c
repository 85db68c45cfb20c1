/* Names of axes: by identity, never by size.
 *
 * Every axis of every value is a member of a class; axes that a node's definition makes the same dimension are put in
 * one class (union by size: a look takes O(log n)). Anchors give a class its name: operators whose data is N, C, then
 * spatial, weights, and --layout. A class with two names is a contradiction and is refused with both; only a Transpose,
 * Squeeze or Unsqueeze between two named sides unites nothing, for it moves elements. Constants carry nothing from one
 * reader to another, for one [C] may serve two maps that have different axes there: they are named at last, from their
 * first reader. */
#include "graph/names.h"

#include "base/fault.h"
#include "base/nearest.h"
#include "graph/box.h"

#include <string.h>

enum { UNNAMED = DIM_COUNT };

/* Who named a class: a node, or a --layout where that is NO_NODE; and at which value. */
typedef struct {
    NodeId node;
    ValueId value;
    uint32_t axis;
} Anchor;

typedef struct {
    uint32_t parent, size;
    uint8_t name; /* UNNAMED, or the class's Dim; of a root only */
    Anchor by;
} Axis;

struct AxisClasses {
    uint32_t value_count; /* values that were added since have no axes here */
    uint32_t *first_axis; /* value -> its first entry of `axes` */
    Axis *axes;
};

typedef struct {
    Graph *graph;
    Work *work;
    AxisClasses *classes;
} Names;

/* ---- Classes */

static uint32_t axis_count(const Value *value) {
    return value->has_shape ? value->shape.rank : 0;
}

static AxisClasses *make_classes(const Graph *graph, Arena *keep) {
    AxisClasses *classes = arena_new(keep, AxisClasses);
    uint64_t total = 0;
    classes->value_count = graph->value_count;
    classes->first_axis = arena_array(keep, uint32_t, graph->value_count);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        classes->first_axis[v] = (uint32_t)total;
        total += axis_count(&graph->values[v]);
    }
    CHECK(total < UINT32_MAX);
    classes->axes = arena_array(keep, Axis, (size_t)total);
    for (uint32_t k = 0; k < total; k++) {
        classes->axes[k] = (Axis){.parent = k, .size = 1, .name = UNNAMED};
    }
    return classes;
}

static Axis *class_of(const AxisClasses *classes, ValueId value, uint32_t axis) {
    uint32_t at = classes->first_axis[value.index] + axis;
    while (classes->axes[at].parent != at) {
        at = classes->axes[at].parent;
    }
    return &classes->axes[at];
}

static Axis *root_of(const Names *n, ValueId value, uint32_t axis) {
    return class_of(n->classes, value, axis);
}

static const char *reading(const Names *n, uint8_t name, Anchor by) {
    Arena *arena = n->work->diags.arena;
    const Value *value = graph_value(n->graph, by.value);
    const char *who =
        is_node(by.node) ? arena_text(arena, "node " STR_FMT, STR_ARG(node_title(arena, graph_node(n->graph, by.node))))
                         : "--layout";
    return arena_text(arena, "%c: axis %u of '" STR_FMT "' %s, by %s", "NCHWOI"[name], by.axis, STR_ARG(value->name),
                      shape_text(arena, &value->shape).ptr, who);
}

static bool contradiction(const Names *n, const Axis *a, uint8_t name, Anchor by) {
    const char **readings = arena_array(n->work->diags.arena, const char *, 3);
    readings[0] = reading(n, a->name, a->by);
    readings[1] = reading(n, name, by);
    return diag_refuse(&n->work->diags,
                       (DiagText){.node = is_node(by.node) ? graph_node(n->graph, by.node)->name : STR(""),
                                  .tensor = graph_value(n->graph, by.value)->name,
                                  .what = "one axis has two meanings",
                                  .readings = readings,
                                  .hint = "say which holds with --layout TENSOR=NCHW or NHWC, or put a "
                                          "Transpose between the two in the model"});
}

static bool name_axis(const Names *n, Anchor by, uint8_t name) {
    Axis *root = root_of(n, by.value, by.axis);
    if (root->name == UNNAMED) {
        root->name = name;
        root->by = by;
    }
    return root->name == name || contradiction(n, root, name, by);
}

/* May one class be the other, as far as both have names? */
static bool may_be_one(const Axis *x, const Axis *y) {
    return x->name == UNNAMED || y->name == UNNAMED || x->name == y->name;
}

/* Roots of two classes become one. */
static void merge(const AxisClasses *classes, Axis *x, Axis *y) {
    Axis *large = x->size >= y->size ? x : y;
    Axis *small = large == x ? y : x;
    if (large->name == UNNAMED) {
        large->name = small->name;
        large->by = small->by;
    }
    small->parent = (uint32_t)(large - classes->axes);
    large->size += small->size;
}

static bool unite(const Names *n, ValueId a, uint32_t a_axis, ValueId b, uint32_t b_axis) {
    Axis *x = root_of(n, a, a_axis);
    Axis *y = root_of(n, b, b_axis);
    if (!may_be_one(x, y)) {
        return contradiction(n, x, y->name, y->by);
    }
    if (x != y) {
        merge(n->classes, x, y);
    }
    return true;
}

/* ---- Anchors */

static bool name_value(const Names *n, NodeId node, ValueId value, const uint8_t dims[SHAPE_MAX_RANK]) {
    for (uint32_t axis = 0; axis < axis_count(graph_value(n->graph, value)); axis++) {
        if (!name_axis(n, (Anchor){node, value, axis}, dims[axis])) {
            return false;
        }
    }
    return true;
}

static bool anchor_map(const Names *n, NodeId node, ValueId id) {
    uint8_t dims[SHAPE_MAX_RANK];
    const Value *value = is_value(id) ? graph_value(n->graph, id) : NULL;
    if (value == NULL || value->constant != NULL || axis_count(value) < 2) {
        return true;
    }
    if (n->graph->channels_last) {
        names_right_aligned(value->shape.rank, dims);
    } else {
        names_of_map(graph_node(n->graph, node), value->shape.rank, dims);
    }
    return name_value(n, node, id, dims);
}

/* A constant, or what Dequantize makes of one: its axes are the operator's, not those of a map. */
static bool is_fixed(const Graph *graph, const Value *value) {
    if (value->constant != NULL || !is_node(value->producer)) {
        return value->constant != NULL;
    }
    const Node *producer = graph_node(graph, value->producer);
    const Value *source = node_input(graph, producer, 0);
    return op_info(producer->op)->kind == KIND_DEQUANTIZE && source != NULL && source->constant != NULL;
}

static bool anchor_weights(const Names *n, NodeId id, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(n->graph, node, k);
        if (value == NULL || op_input_role(node->op, k) != 'w' || value->constant != NULL || !value->has_shape ||
            !is_fixed(n->graph, value)) {
            continue;
        }
        uint8_t dims[SHAPE_MAX_RANK];
        names_of_weights(n->graph, node, k, dims);
        if (!name_value(n, id, node->inputs[k], dims)) {
            return false;
        }
    }
    return true;
}

/* Did the user say what the axes of this value are? */
static bool is_stated(const Names *n, ValueId id) {
    for (uint32_t axis = 0; is_value(id) && axis < axis_count(graph_value(n->graph, id)); axis++) {
        const Axis *root = root_of(n, id, axis);
        if (root->name != UNNAMED && !is_node(root->by.node)) {
            return true;
        }
    }
    return false;
}

/* Does the operator's definition say which axes its data has? ONNX: those of OP_CHANNEL_SECOND. TFLite has channels
 * last everywhere; it matters, and a --layout may not say otherwise, where weights are laid along them or windows
 * slide. */
static bool defines_axes(const Names *n, const Node *node) {
    const OpInfo *info = op_info(node->op);
    bool is_windowed = (info->flags & OP_CHANNEL_SECOND) != 0;
    for (uint32_t k = 0; n->graph->channels_last && !is_windowed && k < node->input_count; k++) {
        is_windowed = info->kind == KIND_COMPUTE && op_input_role(node->op, k) == 'w';
    }
    return is_windowed;
}

/* A normalisation works along whatever axis is C: there --layout overrules what the operator's definition assumes, but
 * not what the file states. */
static bool anchors_map(const Names *n, const Node *node, uint32_t data) {
    bool may_yield = op_info(node->op)->kind == KIND_NORM && node_attr(node, "axis") == NULL;
    return data < node->input_count && defines_axes(n, node) && !(may_yield && is_stated(n, node->inputs[data]));
}

static bool anchor_node(const Names *n, NodeId id) {
    const Node *node = graph_node(n->graph, id);
    uint32_t data = node_data_input(node);
    if (anchors_map(n, node, data) &&
        (!anchor_map(n, id, node->inputs[data]) || (node->output_count > 0 && !anchor_map(n, id, node->outputs[0])))) {
        return false;
    }
    return anchor_weights(n, id, node);
}

static bool may_unite(const Names *n, ValueId a, uint32_t a_axis, ValueId b, uint32_t b_axis) {
    return may_be_one(root_of(n, a, a_axis), root_of(n, b, b_axis));
}

/* Could every axis of input `k` be the axis of output `o` that it becomes? */
static bool agrees(const Names *n, const Node *node, uint32_t k, uint32_t o, const int to[SHAPE_MAX_RANK]) {
    for (uint32_t axis = 0; axis < node_input(n->graph, node, k)->shape.rank; axis++) {
        if (to[axis] != AXIS_NONE && !may_unite(n, node->inputs[k], axis, node->outputs[o], (uint32_t)to[axis])) {
            return false;
        }
    }
    return true;
}

bool graph_may_copy(const Node *node) {
    OpKind kind = op_info(node->op)->kind;
    return kind == KIND_TRANSPOSE || kind == KIND_RESHAPE;
}

static bool relate(const Names *n, const Node *node, uint32_t k, uint32_t o) {
    int to[SHAPE_MAX_RANK];
    if (!names_align(n->graph, node, k, o, &n->work->scratch, to) ||
        (graph_may_copy(node) && !agrees(n, node, k, o, to))) {
        return true;
    }
    for (uint32_t axis = 0; axis < node_input(n->graph, node, k)->shape.rank; axis++) {
        /* uniting one axis may name another: what then disagrees stays apart, and the operator is a copy */
        bool is_apart =
            to[axis] == AXIS_NONE ||
            (graph_may_copy(node) && !may_unite(n, node->inputs[k], axis, node->outputs[o], (uint32_t)to[axis]));
        if (!is_apart && !unite(n, node->inputs[k], axis, node->outputs[o], (uint32_t)to[axis])) {
            return false;
        }
    }
    return true;
}

static bool relate_node(const Names *n, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *input = node_input(n->graph, node, k);
        uint32_t first, last;
        names_outputs_of(node, k, &first, &last);
        for (uint32_t o = first; input != NULL && input->constant == NULL && o < last; o++) {
            const Value *output = node_output(n->graph, node, o);
            if (output != NULL && output->constant == NULL && !relate(n, node, k, o)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- --layout */

static void dims_of_binding(const LayoutBinding *binding, const Value *value, uint8_t dims[SHAPE_MAX_RANK]) {
    if (binding->is_channel_second) {
        names_channel_second(value->shape.rank, dims);
    } else {
        names_right_aligned(value->shape.rank, dims);
    }
}

static bool unknown_tensor(const Names *n, Str name) {
    Nearest nearest = {.typed = name};
    for (uint32_t v = 0; v < n->graph->value_count; v++) {
        nearest_offer(&nearest, n->graph->values[v].name);
    }
    return diag_error(&n->work->diags,
                      (DiagText){.place = "--layout",
                                 .tensor = name,
                                 .what = "the model has no tensor of this name",
                                 .hint = nearest_hint(n->work->diags.arena, &nearest,
                                                      "stride0 inspect MODEL --names lists the names")});
}

static bool anchor_binding(const Names *n, LayoutBinding *binding) {
    for (uint32_t v = 0; v < n->graph->value_count; v++) {
        Value *value = &n->graph->values[v];
        if (!str_eq(value->name, binding->tensor) || !value->has_shape) {
            continue;
        }
        uint8_t dims[SHAPE_MAX_RANK];
        dims_of_binding(binding, value, dims);
        binding->was_used = true;
        if (value->constant != NULL) {
            memcpy(value->dims, dims, sizeof dims);
            value->channel_source = CHANNEL_BY_LAYOUT;
        } else if (!name_value(n, NO_NODE, (ValueId){v}, dims)) {
            return false;
        }
    }
    return binding->was_used || unknown_tensor(n, binding->tensor);
}

/* ---- Writing the names */

/* What named the class of an axis called C names that axis. */
static void keep_source(Value *value, const Axis *root) {
    if (root->name == DIM_C) {
        value->channel_source = is_node(root->by.node) ? CHANNEL_BY_NODE : CHANNEL_BY_LAYOUT;
        value->channel_node = root->by.node;
    }
}

/* A constant that --layout speaks of: it has those names, whoever reads it. */
static bool is_stated_constant(const Value *value) {
    return value->constant != NULL && value->channel_source == CHANNEL_BY_LAYOUT;
}

/* Axes that no anchor reaches take, from the right, the names C W H that the value does not have yet, then N. */
static void fill_value(const Names *n, ValueId id) {
    static const uint8_t order[] = {DIM_C, DIM_W, DIM_H};
    Value *value = graph_value(n->graph, id);
    bool is_taken[DIM_COUNT + 1] = {false};
    for (uint32_t axis = 0; axis < axis_count(value) && !is_stated_constant(value); axis++) {
        const Axis *root = root_of(n, id, axis);
        value->dims[axis] = root->name;
        keep_source(value, root);
        is_taken[value->dims[axis]] = true;
    }
    uint32_t next = 0;
    for (uint32_t axis = axis_count(value); axis-- > 0;) {
        if (value->dims[axis] != UNNAMED) {
            continue;
        }
        while (next < 3 && is_taken[order[next]]) {
            next++;
        }
        value->dims[axis] = next < 3 ? order[next++] : DIM_N;
    }
}

/* The names a constant takes from a node that reads it. */
static void name_constant(const Names *n, NodeId reader, uint32_t k) {
    const Node *node = graph_node(n->graph, reader);
    Value *value = node_input(n->graph, node, k);
    uint32_t first, last;
    value->channel_source = CHANNEL_BY_READER;
    value->channel_node = reader;
    names_right_aligned(value->shape.rank, value->dims);
    if (op_input_role(node->op, k) == 'w') {
        names_of_weights(n->graph, node, k, value->dims);
        return;
    }
    names_outputs_of(node, k, &first, &last);
    int to[SHAPE_MAX_RANK];
    if (first == last || !names_align(n->graph, node, k, first, &n->work->scratch, to)) {
        return;
    }
    const Value *output = node_output(n->graph, node, first);
    for (uint32_t axis = 0; axis < value->shape.rank; axis++) {
        if (to[axis] != AXIS_NONE) {
            value->dims[axis] = output->dims[to[axis]];
        }
    }
}

/* From the last node to the first: a constant's reader has its names before the node that made it, and of several
 * readers the first has the last word. */
static void name_constants(const Names *n) {
    const Block *main = graph_main(n->graph);
    for (uint32_t at = main->node_count; at-- > 0;) {
        const Node *node = graph_node(n->graph, main->nodes[at]);
        for (uint32_t k = 0; k < node->input_count; k++) {
            const Value *value = node_input(n->graph, node, k);
            if (value != NULL && value->constant != NULL && value->has_shape && !is_stated_constant(value)) {
                name_constant(n, main->nodes[at], k);
            }
        }
    }
}

static void write_names(const Names *n) {
    for (uint32_t v = 0; v < n->classes->value_count; v++) {
        fill_value(n, (ValueId){v});
    }
    name_constants(n);
}

/* Names that nothing fixes are a default, not a fact: whoever plans an image network without a convolution must know.
 */
static void warn_of_default(const Names *n) {
    const Block *main = graph_main(n->graph);
    for (uint32_t k = 0; n->graph->format == FORMAT_ONNX && k < main->input_count; k++) {
        const Value *value = graph_value(n->graph, main->inputs[k]);
        bool is_open = axis_count(value) == 4 && value->constant == NULL;
        for (uint32_t axis = 0; is_open && axis < 4; axis++) {
            is_open = root_of(n, main->inputs[k], axis)->name == UNNAMED;
        }
        if (is_open) {
            Arena *arena = n->work->diags.arena;
            diag_warn(&n->work->diags,
                      (DiagText){.tensor = value->name,
                                 .what = "no operator says which axis is the channel; read as N H W C",
                                 .got = shape_text(arena, &value->shape).ptr,
                                 .hint = arena_text(arena, "state it with --layout '" STR_FMT "'=NCHW or NHWC",
                                                    STR_ARG(value->name))});
            return;
        }
    }
}

/* A normalisation that goes along another axis than its definition says: --layout is taken at its word, and told. */
static void warn_of_overruled(const Names *n) {
    const Block *main = graph_main(n->graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        const Node *node = graph_node(n->graph, main->nodes[at]);
        uint32_t data = node_data_input(node);
        bool is_norm = op_info(node->op)->kind == KIND_NORM && data < node->input_count && defines_axes(n, node);
        const Value *map = is_norm ? node_input(n->graph, node, data) : NULL;
        if (map == NULL || map->channel_source != CHANNEL_BY_LAYOUT || axis_count(map) < 2 || map->dims[1] == DIM_C) {
            continue;
        }
        diag_warn(&n->work->diags,
                  (DiagText){.node = node_title(n->work->diags.arena, node),
                             .tensor = map->name,
                             .what = "--layout puts the channels elsewhere than the operator's definition",
                             .expected = "axis 1, as ONNX defines it",
                             .hint = "leave --layout out, unless the model means it so"});
    }
}

bool graph_assign_names(Graph *graph, LayoutBinding *bindings, size_t count, Work *work) {
    Names n = {.graph = graph, .work = work, .classes = make_classes(graph, &work->keep)};
    for (size_t k = 0; k < count; k++) {
        if (!anchor_binding(&n, &bindings[k])) {
            return false;
        }
    }
    const Block *main = graph_main(graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        const Node *node = graph_node(graph, main->nodes[at]);
        if (!anchor_node(&n, main->nodes[at]) || (!graph_may_copy(node) && !relate_node(&n, node))) {
            return false;
        }
    }
    for (uint32_t at = 0; at < main->node_count; at++) {
        const Node *node = graph_node(graph, main->nodes[at]);
        if (graph_may_copy(node) && !relate_node(&n, node)) {
            return false;
        }
    }
    warn_of_default(&n);
    write_names(&n);
    warn_of_overruled(&n);
    graph->axis_classes = n.classes;
    return true;
}

/* ---- Rewriting */

/* Two roots as they were before they became one. */
typedef struct {
    Axis *root[2];
    Axis was[2];
} Merged;

bool graph_join_axes(const Graph *graph, ValueId a, ValueId b) {
    const AxisClasses *classes = graph->axis_classes;
    uint32_t rank = axis_count(graph_value(graph, a));
    bool are_known = classes != NULL && a.index < classes->value_count && b.index < classes->value_count;
    if (!are_known || rank != axis_count(graph_value(graph, b))) {
        return true; /* a constant that came since is named from its reader */
    }
    Merged merged[SHAPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t axis = 0; axis < rank; axis++) {
        Axis *x = class_of(classes, a, axis), *y = class_of(classes, b, axis);
        if (!may_be_one(x, y)) {
            while (count-- > 0) {
                *merged[count].root[0] = merged[count].was[0];
                *merged[count].root[1] = merged[count].was[1];
            }
            return false;
        }
        if (x != y) {
            merged[count++] = (Merged){{x, y}, {*x, *y}};
            merge(classes, x, y);
        }
    }
    return true;
}

void graph_rename_axes(Graph *graph, Work *work) {
    if (graph->axis_classes != NULL) {
        write_names(&(Names){.graph = graph, .work = work, .classes = graph->axis_classes});
    }
}
