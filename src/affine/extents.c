/* One pass from the inputs on: ids of extents, and constants that rest on a free one. */
#include "affine/extents.h"

#include "graph/box.h"
#include "graph/fold.h"

#include <string.h>

typedef struct {
    const Graph *graph;
    Arena *arena;
    Extents extents;
    uint32_t last_id;
} Finder;

static uint32_t *ids_of(const Finder *f, ValueId id) {
    return f->extents.ids[id.index];
}

static void set_unknown(Finder *f, ValueId id) {
    for (uint32_t axis = 0; axis < SHAPE_MAX_RANK; axis++) {
        ids_of(f, id)[axis] = ++f->last_id;
    }
}

static bool is_fixed(const Finder *f, ValueId id) {
    const Value *value = graph_value(f->graph, id);
    bool fixed = value->has_shape;
    for (uint32_t axis = 0; fixed && axis < value->shape.rank; axis++) {
        fixed = ids_of(f, id)[axis] == 0;
    }
    return fixed;
}

/* ---- Inputs */

static Str name_of(const Value *value, uint32_t axis) {
    const Str none = {0};
    return value->dim_name == NULL ? none : value->dim_name[axis];
}

/* Axes of one name are one dimension. */
static uint32_t named_id(const Finder *f, Str name, uint32_t input, uint32_t axis) {
    const Block *main = graph_main(f->graph);
    for (uint32_t k = 0; name.len > 0 && k <= input; k++) {
        const Value *value = graph_value(f->graph, main->inputs[k]);
        for (uint32_t a = 0; a < value->shape.rank && (k < input || a < axis); a++) {
            if (str_eq(name_of(value, a), name) && ids_of(f, main->inputs[k])[a] != 0) {
                return ids_of(f, main->inputs[k])[a];
            }
        }
    }
    return 0;
}

static void find_inputs(Finder *f, const Graph *other) {
    const Block *main = graph_main(f->graph);
    for (uint32_t k = 0; k < main->input_count; k++) {
        ValueId id = main->inputs[k];
        const Value *value = graph_value(f->graph, id);
        const Shape *second = &other->values[id.index].shape;
        for (uint32_t axis = 0; axis < value->shape.rank; axis++) {
            bool is_free = axis >= second->rank || value->shape.dim[axis] != second->dim[axis];
            uint32_t same = is_free ? named_id(f, name_of(value, axis), k, axis) : 0;
            ids_of(f, id)[axis] = !is_free ? 0 : same != 0 ? same : ++f->last_id;
        }
    }
}

/* ---- Constants that rest on an extent */

/* Does the node read shapes, and of an axis that is not fixed? */
static bool reads_free_shape(const Finder *f, const Node *node) {
    int64_t first = 0, last;
    if (node->op == OP_RANK || node->input_count == 0 || !is_value(node->inputs[0])) {
        return false;
    }
    const Value *value = graph_value(f->graph, node->inputs[0]);
    if (value->constant != NULL && !f->extents.is_bound[node->inputs[0].index]) {
        return false;
    }
    shape_window(node, value->shape.rank, &first, &last);
    bool is_whole = node->op != OP_SHAPE;
    for (int64_t axis = is_whole ? 0 : first; axis < (is_whole ? (int64_t)value->shape.rank : last); axis++) {
        if (ids_of(f, node->inputs[0])[axis] != 0) {
            return true;
        }
    }
    return !value->has_shape;
}

/* One fixed extent out of a shape, as exporters write it: Gather(Shape(x), 1). */
static bool picks_fixed_extent(const Finder *f, const Node *node) {
    const Value *from = node->op == OP_GATHER ? node_input(f->graph, node, 0) : NULL;
    const Node *shape = from == NULL || !is_node(from->producer) ? NULL : graph_node(f->graph, from->producer);
    Ints index;
    if (shape == NULL || shape->op != OP_SHAPE || shape->attr_count > 0 || !is_value(node->inputs[1]) ||
        f->extents.is_bound[node->inputs[1].index] ||
        !const_ints(graph_value(f->graph, node->inputs[1]), f->arena, &index)) {
        return false;
    }
    const Value *map = node_input(f->graph, shape, 0);
    for (uint32_t k = 0; k < index.count; k++) {
        int64_t axis = index.at[k] + (index.at[k] < 0 ? (int64_t)map->shape.rank : 0);
        if (axis < 0 || axis >= (int64_t)map->shape.rank || ids_of(f, shape->inputs[0])[axis] != 0) {
            return false;
        }
    }
    return map->has_shape;
}

/* What an Expand or a ConstantOfShape repeats does not depend on how often. */
static bool is_bound(const Finder *f, const Node *node) {
    if (node->op == OP_CONSTANT_OF_SHAPE || node->op == OP_CONSTANT_FILL) {
        return false;
    }
    if (op_info(node->op)->kind == KIND_EXPAND) {
        ValueId data = node->inputs[node_data_input(node)];
        return is_value(data) && f->extents.is_bound[data.index];
    }
    bool bound = reads_free_shape(f, node);
    for (uint32_t k = 0; k < node->input_count; k++) {
        bound = bound || (is_value(node->inputs[k]) && f->extents.is_bound[node->inputs[k].index]);
    }
    return bound && !picks_fixed_extent(f, node);
}

/* ---- Nodes */

static void copy_ids(Finder *f, ValueId from, ValueId to) {
    const Value *in = graph_value(f->graph, from);
    const Value *out = graph_value(f->graph, to);
    if (in->has_shape && out->has_shape && in->shape.rank == out->shape.rank) {
        memcpy(ids_of(f, to), ids_of(f, from), sizeof f->extents.ids[0]);
    }
}

/* The extent that inputs give axis `axis` of the output: an extent that is fixed and not 1 is what all must have. */
static uint32_t broadcast_id(Finder *f, const Node *node, const Shape *out, uint32_t axis) {
    uint32_t found = 0;
    bool is_found = false;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        if (value == NULL || axis + value->shape.rank < out->rank) {
            continue;
        }
        uint32_t own = axis + value->shape.rank - out->rank;
        uint32_t id = ids_of(f, node->inputs[k])[own];
        if (!value->has_shape || (id == 0 && value->shape.dim[own] != 1)) {
            return value->has_shape ? 0 : ++f->last_id;
        }
        if (id != 0 && is_found && id != found) {
            return ++f->last_id;
        }
        found = id != 0 ? id : found;
        is_found = is_found || id != 0;
    }
    return found;
}

static void broadcast_ids(Finder *f, const Node *node, ValueId to) {
    const Shape *out = &graph_value(f->graph, to)->shape;
    bool is_aligned = f->graph->format == FORMAT_TFLITE || node->version >= 7 || node->version == 0;
    for (uint32_t axis = 0; is_aligned && axis < out->rank; axis++) {
        ids_of(f, to)[axis] = broadcast_id(f, node, out, axis);
    }
}

static void permute_ids(Finder *f, const Node *node, ValueId to) {
    uint32_t perm[SHAPE_MAX_RANK];
    if (node_permutation(f->graph, node, f->arena, perm)) {
        for (uint32_t axis = 0; axis < graph_value(f->graph, to)->shape.rank; axis++) {
            ids_of(f, to)[axis] = ids_of(f, node->inputs[0])[perm[axis]];
        }
    }
}

/* A list that the file fixes; false where it is computed. */
static bool read_list(const Finder *f, const Node *node, const char *name, uint32_t k, Ints *list) {
    bool bound = k < node->input_count && is_value(node->inputs[k]) && f->extents.is_bound[node->inputs[k].index];
    return !bound && node_ints(f->graph, node, name, k, f->arena, list);
}

static bool is_absent(const Node *node, const char *name, uint32_t k) {
    return node_attr(node, name) == NULL && (k >= node->input_count || !is_value(node->inputs[k]));
}

/* Axes that a Slice of ONNX does not name keep their extents, and those it takes from 0 to beyond any end. */
static void slice_ids(Finder *f, const Node *node, ValueId to) {
    Ints starts, ends, axes, steps;
    uint32_t rank = graph_value(f->graph, to)->shape.rank;
    bool has_axes = read_list(f, node, "axes", 3, &axes);
    if (node->op != OP_SLICE || !read_list(f, node, "starts", 1, &starts) || !read_list(f, node, "ends", 2, &ends) ||
        (!has_axes && !is_absent(node, "axes", 3)) || (has_axes && axes.count != starts.count) ||
        starts.count != ends.count) {
        return;
    }
    bool has_steps = read_list(f, node, "steps", 4, &steps);
    bool is_stepped = has_steps ? steps.count != starts.count : !is_absent(node, "steps", 4);
    uint32_t named = 0; /* a bit an axis */
    for (uint32_t k = 0; k < starts.count; k++) {
        int64_t axis = has_axes ? axes.at[k] : k;
        axis += axis < 0 ? (int64_t)rank : 0;
        bool is_whole = !is_stepped && (!has_steps || steps.at[k] == 1) && starts.at[k] == 0 && ends.at[k] >= INT32_MAX;
        named |= !is_whole && axis >= 0 && axis < (int64_t)rank ? 1u << axis : 0;
    }
    for (uint32_t axis = 0; axis < rank; axis++) {
        uint32_t from = ids_of(f, node->inputs[0])[axis];
        if ((named >> axis & 1) == 0 || from == 0) { /* of a fixed extent, fixed numbers take a fixed part */
            ids_of(f, to)[axis] = from;
        }
    }
}

/* Made to the shape that a Shape tells: of that value's extents. */
static void like_ids(Finder *f, const Node *node, uint32_t k, ValueId to) {
    const Value *list = node_input(f->graph, node, k);
    const Node *shape = list == NULL || !is_node(list->producer) ? NULL : graph_node(f->graph, list->producer);
    if (shape != NULL && shape->op == OP_SHAPE && shape->attr_count == 0) {
        copy_ids(f, shape->inputs[0], to);
    }
}

static bool is_convolution(OpId op) {
    return op == OP_CONV || op == OP_CONV_TRANSPOSE || op == OP_DEPTHWISE_CONV || op == OP_CONV_INTEGER ||
           op == OP_QLINEAR_CONV;
}

static bool is_pool(OpId op) {
    return op == OP_AVERAGE_POOL || op == OP_MAX_POOL || op == OP_LP_POOL || op == OP_GLOBAL_AVERAGE_POOL ||
           op == OP_GLOBAL_MAX_POOL || op == OP_GLOBAL_LP_POOL;
}

/* N comes from the data, C from the data or from fixed weights; a spatial axis is fixed where that of the data is. */
static void window_ids(Finder *f, const Node *node, ValueId to) {
    const Value *in = graph_value(f->graph, node->inputs[0]);
    const Value *out = graph_value(f->graph, to);
    uint32_t channel = f->graph->channels_last ? out->shape.rank - 1 : 1;
    bool has_weights = is_convolution(node->op);
    uint32_t weights = node->op == OP_QLINEAR_CONV ? 3 : 1;
    bool is_told = !has_weights || (weights < node->input_count && is_value(node->inputs[weights]) &&
                                    is_fixed(f, node->inputs[weights]));
    if (!is_told || out->shape.rank < 3 || in->shape.rank != out->shape.rank) {
        return;
    }
    for (uint32_t axis = 0; axis < out->shape.rank; axis++) {
        uint32_t from = ids_of(f, node->inputs[0])[axis];
        if (axis == channel && has_weights) {
            ids_of(f, to)[axis] = 0;
        } else if (axis == 0 || axis == channel || from == 0) {
            ids_of(f, to)[axis] = from;
        }
    }
}

static void output_ids(Finder *f, const Node *node, ValueId to) {
    set_unknown(f, to);
    if (node->input_count == 0 || !is_value(node->inputs[0]) || !graph_value(f->graph, to)->has_shape) {
        return;
    }
    switch (op_info(node->op)->kind) {
    case KIND_UNARY:
    case KIND_NORM:
    case KIND_QUANTIZE:
    case KIND_DEQUANTIZE:
        copy_ids(f, node->inputs[0], to);
        break;
    case KIND_BROADCAST:
        broadcast_ids(f, node, to);
        break;
    case KIND_TRANSPOSE:
        permute_ids(f, node, to);
        break;
    case KIND_SLICE:
        slice_ids(f, node, to);
        break;
    default:
        if (node->op == OP_IDENTITY || node->op == OP_DROPOUT) {
            copy_ids(f, node->inputs[0], to);
        } else if (node->op == OP_RESHAPE || node->op == OP_CONSTANT_OF_SHAPE) {
            like_ids(f, node, node->op == OP_RESHAPE ? 1 : 0, to);
        } else if (node->op == OP_SHAPE) {
            ids_of(f, to)[0] = 0;
        } else if (is_convolution(node->op) || is_pool(node->op)) {
            window_ids(f, node, to);
        }
        break;
    }
}

/* Nothing that the node reads rests on a free dimension: what it writes does not either. */
static bool is_static(const Finder *f, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        ValueId id = node->inputs[k];
        if (is_value(id) && (!is_fixed(f, id) || f->extents.is_bound[id.index])) {
            return false;
        }
    }
    return true;
}

static void find_node(Finder *f, const Node *node) {
    bool is_known = is_static(f, node);
    bool bound = !is_known && node->is_constant && is_bound(f, node);
    for (uint32_t o = 0; o < node->output_count; o++) {
        if (!is_value(node->outputs[o])) {
            continue;
        }
        if (!is_known) {
            output_ids(f, node, node->outputs[o]);
        }
        f->extents.is_bound[node->outputs[o].index] = bound;
    }
}

Extents extents_find(const Graph *graph, const Graph *other, Arena *arena) {
    Finder f = {.graph = graph, .arena = arena, .extents = {.value_count = graph->value_count}};
    f.extents.ids = arena_alloc(arena, graph->value_count, sizeof *f.extents.ids);
    f.extents.is_bound = arena_array(arena, bool, graph->value_count);
    find_inputs(&f, other);
    const Block *main = graph_main(graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        find_node(&f, graph_node(graph, main->nodes[at]));
    }
    return f.extents;
}
