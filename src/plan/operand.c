/* Operands: axis and smallest form of the constants that nodes read. */
#include "plan/operand.h"

#include "base/fault.h"
#include "graph/collapse.h"
#include "graph/names.h"
#include "node/input.h"

#include <string.h>

/* ---- Smallest bit-identical form */

/* A constant may have many readers and many bytes: it is looked through once. What a caller gives is what it is. */
static Shape smallest_form(const Plan *plan, const Value *value, Work *work) {
    if (value->constant == NULL) {
        return value->shape;
    }
    const Shape **known = &plan->smallest[value - plan->graph->values];
    if (*known == NULL) {
        Shape *shape = arena_new(&work->keep, Shape);
        *shape = const_smallest(value);
        *known = shape;
    }
    return **known;
}

/* ---- Axis */

static const AxisBinding *bound_axis(const Plan *plan, Str tensor) {
    for (size_t i = 0; i < plan->options.axis_count; i++) {
        AxisBinding *binding = &plan->options.axes[i];
        if (str_eq(binding->tensor, tensor)) {
            binding->was_used = true;
            return binding;
        }
    }
    return NULL;
}

/* The axes of the map that have as many elements as the operand: the readings that are possible. */
static const char *const *possible_readings(const Value *map, uint64_t elements, Arena *arena) {
    const char **readings = arena_array(arena, const char *, SHAPE_MAX_RANK + 1);
    uint32_t count = 0;
    for (uint32_t k = 0; k < map->shape.rank; k++) {
        if ((uint64_t)map->shape.dim[k] == elements) {
            readings[count++] = arena_text(arena, "axis %u, called %c, has %llu elements", (unsigned)k,
                                           dim_letter((Dim)map->dims[k]), (unsigned long long)elements);
        }
    }
    return readings;
}

/* Only of an unknown operator the user may say which axis it is; of others, what the map's axes are called. */
static const char *axis_hint(const Node *node, const Value *value, const Value *map, Arena *arena) {
    if (op_info(node->op)->kind == KIND_OPAQUE) {
        return arena_text(arena, "state the axis with --axis '" STR_FMT "'=K", STR_ARG(value->name));
    }
    return arena_text(arena, "state the layout of the map with --layout '" STR_FMT "'=NCHW or NHWC",
                      STR_ARG(map->name));
}

static bool refuse_axis(const Node *node, const Value *value, const Value *map, int32_t axis, Work *work) {
    Arena *arena = &work->keep;
    uint64_t elements = 0;
    (void)shape_elements(&value->shape, &elements);
    Str map_shape = shape_text(arena, &map->shape);
    return diag_refuse(
        &work->diags,
        (DiagText){.node = node->name,
                   .tensor = value->name,
                   .what = "the number of parameters contradicts the axis they go along",
                   .got = arena_text(arena, "params %llu, axis %d has %lld, of tensor '" STR_FMT "' " STR_FMT,
                                     (unsigned long long)elements, (int)axis, (long long)map->shape.dim[axis],
                                     STR_ARG(map->name), STR_ARG(map_shape)),
                   .expected = arena_text(arena, "%lld parameters", (long long)map->shape.dim[axis]),
                   .hint = axis_hint(node, value, map, arena),
                   .readings = possible_readings(map, elements, arena)});
}

/* An axis the user gave must be one of the map, and hold as many elements. */
static bool check_bound_axis(const Node *node, const Value *value, const Value *map, int32_t axis, Work *work) {
    uint64_t elements = 0;
    (void)shape_elements(&value->shape, &elements);
    if (axis < 0 || axis >= (int32_t)map->shape.rank) {
        return diag_refuse(&work->diags,
                           (DiagText){.node = node->name,
                                      .tensor = value->name,
                                      .what = "--axis names an axis that the map does not have",
                                      .got = arena_text(&work->keep, "axis %d", (int)axis),
                                      .expected = arena_text(&work->keep, "0 to %u", (unsigned)map->shape.rank - 1),
                                      .readings = possible_readings(map, elements, &work->keep)});
    }
    return (uint64_t)map->shape.dim[axis] == elements || refuse_axis(node, value, map, axis, work);
}

/* What the operator defines the user can't state otherwise. */
static bool check_defined_axis(const Plan *plan, const Node *node, const Value *value, int32_t axis,
                               bool is_by_position, Work *work) {
    const AxisBinding *bound = bound_axis(plan, value->name);
    if (bound == NULL || bound->axis == axis) {
        return true;
    }
    return diag_refuse(
        &work->diags,
        (DiagText){.node = node->name,
                   .tensor = value->name,
                   .what = is_by_position ? "--axis contradicts the aligned position that the operator defines"
                                          : "--axis contradicts the axis that the operator defines",
                   .got = arena_text(&work->keep, "axis %d", (int)bound->axis),
                   .expected = axis < 0 ? "no axis: the parameter goes along none, or along several"
                                        : arena_text(&work->keep, "axis %d", (int)axis),
                   .hint = is_by_position
                               ? "leave the option out, or give the constant the shape that lies along the axis"
                               : "leave the option out, or state with --layout which axis of the map is C"});
}

/* ---- By definition: role c */

static uint32_t axis_set(int32_t axis) {
    return UINT32_C(1) << axis;
}

static bool operand_by_definition(const Plan *plan, const Node *node, uint32_t k, Work *work, Operand *operand) {
    const Graph *graph = plan->graph;
    const Value *value = node_input(graph, node, k);
    const Value *map = operand->map;
    OpKind kind = op_info(node->op)->kind;
    uint64_t elements = 0;
    (void)shape_elements(&value->shape, &elements);
    bool is_coding = kind == KIND_QUANTIZE || kind == KIND_DEQUANTIZE;
    operand->axis = node_defined_axis(graph, node, k);
    bool is_there = node_has_axis(map, operand->axis);
    bool agrees = is_there && (uint64_t)map->shape.dim[operand->axis] == elements;
    if (is_there && !agrees && kind == KIND_NORM && map->shape.rank > 1) {
        return refuse_axis(node, value, map, operand->axis, work);
    }
    if (!check_defined_axis(plan, node, value, operand->axis, false, work)) {
        return false;
    }
    /* A kernel with a bias reads one number for each channel, equal or not; what works element by element broadcasts.
     */
    bool is_vector = !is_coding && kind != KIND_NORM;
    operand->stored = is_vector ? value->shape : smallest_form(plan, value, work);
    bool is_one = shape_elements(&operand->stored, &elements) && elements == 1;
    bool is_blocked = is_coding && value->shape.rank > 1;
    operand->broadcast = is_one                  ? BROADCAST_SCALAR  /* for the whole tensor, whatever the axis */
                         : is_blocked || !agrees ? BROADCAST_PARTIAL /* one a block or a group: compact as it is */
                                                 : BROADCAST_CHANNEL;
    operand->axis = operand->broadcast == BROADCAST_CHANNEL ? operand->axis : -1;
    operand->varies = is_one ? 0 : operand->axis >= 0 ? axis_set(operand->axis) : UINT32_MAX;
    operand->start = is_one ? 0 : operand->axis;
    return true;
}

/* ---- By aligned position: role p */

static Broadcast classify(Operand *operand, int32_t start) {
    const Value *map = operand->map;
    uint32_t own = 0;
    uint32_t whole = 0;
    int32_t first = -1;
    int32_t last = -1;
    for (int32_t k = 0; k < (int32_t)map->shape.rank; k++) {
        int32_t inner = k - start;
        bool repeats = inner < 0 || inner >= (int32_t)operand->stored.rank || operand->stored.dim[inner] == 1;
        whole += map->shape.dim[k] != 1;
        if (!repeats) {
            operand->varies |= axis_set(k);
            own++;
            first = first < 0 ? k : first;
            last = k;
        }
    }
    operand->axis = -1;
    if (own == 0) {
        return BROADCAST_SCALAR;
    }
    if (own == 1) {
        operand->axis = first;
        return BROADCAST_CHANNEL;
    }
    bool is_row = own == 2 && (map->dims[first] == DIM_C) != (map->dims[last] == DIM_C) &&
                  (map->dims[first] == DIM_W || map->dims[last] == DIM_W);
    if (is_row && own < whole) {
        operand->axis = map->dims[first] == DIM_C ? first : last;
        return BROADCAST_ROW;
    }
    return own == whole ? BROADCAST_FULL : BROADCAST_PARTIAL;
}

static bool operand_by_position(const Plan *plan, const Node *node, const Value *value, Work *work, Operand *operand) {
    operand->stored = smallest_form(plan, value, work);
    operand->start = node_aligned_start(node, operand->map, &operand->stored);
    operand->broadcast = classify(operand, operand->start);
    return check_defined_axis(plan, node, value, operand->axis, true, work);
}

/* ---- Unknown operators */

/* Only the user can say along which axis a custom operator reads a vector; nothing but the size is at hand otherwise.
 */
static bool operand_of_opaque(const Plan *plan, const Node *node, const Value *value, Work *work, Operand *operand) {
    const AxisBinding *bound = bound_axis(plan, value->name);
    if (bound != NULL) {
        operand->axis = bound->axis;
        operand->broadcast = BROADCAST_CHANNEL;
        return check_bound_axis(node, value, operand->map, bound->axis, work);
    }
    if (!plan->options.axis_by_size || value->shape.rank != 1) {
        return true;
    }
    uint32_t matches = 0;
    for (uint32_t k = 0; k < operand->map->shape.rank; k++) {
        if (operand->map->shape.dim[k] == value->shape.dim[0]) {
            operand->axis = (int32_t)k;
            matches++;
        }
    }
    operand->broadcast = matches == 1 ? BROADCAST_CHANNEL : BROADCAST_NONE;
    return matches < 2 || refuse_axis(node, value, operand->map, operand->axis, work);
}

/* One number that a caller gives, such as a limit: the graph itself has no use for it. */
static bool operand_of_number(const Value *value, Operand *operand) {
    uint64_t elements;
    bool is_one = value->constant == NULL && shape_elements(&value->shape, &elements) && elements == 1;
    operand->broadcast = is_one ? BROADCAST_SCALAR : operand->broadcast;
    return true;
}

static bool operand_by_role(const Plan *plan, const Node *node, uint32_t k, Work *work, Operand *operand) {
    const Value *value = node_input(plan->graph, node, k);
    if (op_info(node->op)->kind == KIND_OPAQUE) {
        return operand_of_opaque(plan, node, value, work, operand);
    }
    switch (op_input_role(node->op, k)) {
    case 'c':
        return operand_by_definition(plan, node, k, work, operand);
    case 'p':
        return operand_by_position(plan, node, value, work, operand);
    default:
        return operand_of_number(value, operand);
    }
}

/* Is the axis all that the map calls C? A table of channels has a place for each. */
static bool is_all_channels(const Value *map, int32_t axis) {
    for (uint32_t k = 0; k < map->shape.rank; k++) {
        if ((int32_t)k != axis && map->dims[k] == DIM_C && map->shape.dim[k] != 1) {
            return false;
        }
    }
    return map->dims[axis] == DIM_C;
}

/* A map of one row, say, is all of one axis. */
static bool is_whole_map(const Operand *operand) {
    const Shape *map = &operand->map->shape;
    for (uint32_t k = 0; k < map->rank; k++) {
        if (map->dim[k] != 1 && (operand->varies & axis_set((int32_t)k)) == 0) {
            return false;
        }
    }
    return true;
}

static Form form_of_vector(const Node *node, const Operand *operand) {
    bool is_defined = op_input_role(node->op, 1) == 'c' && op_info(node->op)->kind == KIND_NORM;
    if (is_defined || is_all_channels(operand->map, operand->axis)) {
        return FORM_CHANNEL;
    }
    return is_whole_map(operand) ? FORM_FULL : FORM_COUNT;
}

static Form form_of(const Node *node, const Operand *operand) {
    switch (operand->broadcast) {
    case BROADCAST_SCALAR:
        return FORM_SCALAR;
    case BROADCAST_CHANNEL:
        return form_of_vector(node, operand);
    case BROADCAST_ROW:
        return FORM_ROW;
    case BROADCAST_FULL:
        return FORM_FULL;
    default:
        return FORM_COUNT;
    }
}

bool operand_of(const Plan *plan, const Node *node, uint32_t k, Work *work, Operand *operand) {
    const Value *value = node_input(plan->graph, node, k);
    const Value *map = node_output(plan->graph, node, 0);
    CHECK(value != NULL && (value->constant != NULL || value->has_shape));
    const Shape *stored = value->constant != NULL ? &value->constant->stored : &value->shape;
    *operand = (Operand){.map = map, .stored = *stored, .axis = -1, .start = -1, .spread_axis = -1, .form = FORM_COUNT};
    memcpy(operand->dims, value->dims, sizeof operand->dims);
    if (map == NULL || !map->has_shape) {
        return true;
    }
    node_input_names(plan->graph, node, k, operand->dims);
    bool is_known = operand_by_role(plan, node, k, work, operand);
    operand->form = is_known ? form_of(node, operand) : FORM_COUNT;
    bool is_along_channels = operand->axis >= 0 && operand->form != FORM_COUNT;
    operand->spread_axis = is_along_channels ? operand->axis : names_channel_axis(plan->graph, map);
    return is_known;
}

/* ---- Forms */

static bool is_innermost_spatial(const Value *map, uint32_t axis) {
    if (map->dims[axis] == DIM_W) {
        return true;
    }
    for (uint32_t k = 0; k < map->shape.rank; k++) {
        if (map->dims[k] == DIM_W) {
            return false;
        }
    }
    return axis + 1 == map->shape.rank;
}

Shape operand_form_shape(const Operand *operand, Form form) {
    Shape shape = operand->map->shape;
    for (uint32_t k = 0; k < shape.rank && form != FORM_FULL; k++) {
        bool is_kept =
            (int32_t)k == operand->spread_axis || (form == FORM_ROW && is_innermost_spatial(operand->map, k));
        shape.dim[k] = is_kept && form != FORM_SCALAR ? shape.dim[k] : 1;
    }
    return shape;
}

bool operand_fits_form(const Operand *operand, Form form) {
    Shape shape = operand_form_shape(operand, form);
    for (uint32_t k = 0; k < shape.rank; k++) {
        if ((operand->varies & axis_set((int32_t)k)) != 0 && shape.dim[k] != operand->map->shape.dim[k]) {
            return false;
        }
    }
    return true;
}
