/* Another order of the operators, with less alive at once: what the room `order` is asked, and the graph of its answer.
 *
 * An operation is what a group of nodes does: an operator of an arena, a sweep of a scratchpad. A storage is what the
 * draft, a plan in the order of the file, has in local memory, with all views of it; what only one group touches counts
 * as that group's own. Writing in place is no alias here but a saving at the operation, where it is the last to need
 * what it writes over: that depends on the order.
 *
 * Operators keep their order where more than their tensors depends on it: those with state, with effects, and custom
 * ones among each other; and all of them up to the last Loop or If, whose bodies stand among them. */
#include "plan/reorder.h"

#include "base/checked.h"
#include "node/input.h"
#include "order/order.h"

#include <string.h>

/* Of a buffer of local memory that no view leads to. */
typedef struct {
    uint64_t bytes;
    uint32_t first, last;   /* steps, over all its views; last 0: none */
    uint32_t unit;          /* that touches it; NO_UNIT, SEVERAL */
    bool is_first, is_last; /* held by the caller, or state */
    bool is_state, is_output;
    uint32_t number; /* of the problem's storages; ORDER_NONE where it is one unit's own */
    uint32_t stamp;  /* unit that has listed it last, and one */
} Root;

#define NO_UNIT UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

typedef struct {
    const Plan *draft;
    Arena *scratch;
    uint32_t unit_count;
    uint32_t *root_of;         /* buffer -> buffer; NO_UNIT: not in local memory */
    Root *roots;               /* buffer -> of a root */
    uint32_t *unit_of_storage; /* buffer -> of a storage of the draft: as Root.unit */
    OrderOp *ops;
    OrderStorage *storages;
    uint32_t storage_count;
    uint32_t fixed; /* the last unit with control flow; NO_UNIT where there is none */
    bool is_exact;  /* no order has less alive in a plan than is said here */
} Telling;

/* ---- Storages */

static bool is_shape_of_other(const Buffer *buffer) {
    return buffer->alias_reason == ALIAS_VIEW || buffer->alias_reason == ALIAS_SPLIT ||
           buffer->alias_reason == ALIAS_CONCAT;
}

/* The ways of views to their roots, each walked once. */
static void find_roots(Telling *t) {
    const Plan *draft = t->draft;
    uint32_t *way = arena_array(t->scratch, uint32_t, draft->buffer_count);
    t->root_of = arena_array(t->scratch, uint32_t, draft->buffer_count);
    memset(t->root_of, 0xff, draft->buffer_count * sizeof *t->root_of);
    for (uint32_t i = 0; i < draft->buffer_count; i++) {
        uint32_t count = 0, at = i;
        if (draft->buffers[i].memory != draft->device->local) {
            continue;
        }
        for (; t->root_of[at] == NO_UNIT && is_shape_of_other(&draft->buffers[at]);
             at = draft->buffers[at].alias_of.index) {
            way[count++] = at;
        }
        uint32_t root = t->root_of[at] == NO_UNIT ? at : t->root_of[at];
        t->root_of[at] = root;
        while (count > 0) {
            t->root_of[way[--count]] = root;
        }
    }
}

/* What the caller or the next run holds: as plan/live.c extends ranges. */
static void hold(const Plan *draft, const Buffer *buffer, Root *root) {
    const Value *value = is_value(buffer->value) ? graph_value(draft->graph, buffer->value) : NULL;
    bool is_state = buffer->kind == BUFFER_STATE;
    bool is_callers = draft->device->kind == DEVICE_ARENA && value != NULL && value->constant == NULL;
    bool is_input = is_callers && value->is_input;
    bool is_output = draft->device->kind == DEVICE_ARENA && value != NULL && value->is_output;
    root->is_state = root->is_state || is_state;
    root->is_output = root->is_output || is_output;
    root->is_first = root->is_first || is_state || is_input || (is_output && draft->options.pin_outputs);
    root->is_last = root->is_last || is_state || is_output || (is_input && draft->options.pin_inputs);
}

static void gather_roots(Telling *t) {
    const Plan *draft = t->draft;
    t->roots = arena_array(t->scratch, Root, draft->buffer_count);
    t->unit_of_storage = arena_array(t->scratch, uint32_t, draft->buffer_count);
    for (uint32_t i = 0; i < draft->buffer_count; i++) {
        t->roots[i] = (Root){.bytes = draft->buffers[i].physical_bytes, .first = UINT32_MAX, .unit = NO_UNIT};
        t->unit_of_storage[i] = NO_UNIT;
    }
    for (uint32_t i = 0; i < draft->buffer_count; i++) {
        const Buffer *buffer = &draft->buffers[i];
        if (t->root_of[i] != NO_UNIT) {
            Root *root = &t->roots[t->root_of[i]];
            root->first = buffer->first < root->first ? buffer->first : root->first;
            root->last = buffer->last > root->last ? buffer->last : root->last;
            hold(draft, buffer, root);
        }
    }
}

/* Of a step that an operator takes; an output that is a constant is copied by none. */
static uint32_t unit_of(const Telling *t, const Step *step) {
    bool is_own = is_node(step->node) && !graph_node(t->draft->graph, step->node)->is_constant;
    return is_own ? t->draft->group[step->node.index] : NO_UNIT;
}

static void join_unit(uint32_t *unit, uint32_t own) {
    *unit = *unit == NO_UNIT || *unit == own ? own : SEVERAL;
}

static void touch(Telling *t, const BufferId *ids, uint32_t count, uint32_t unit) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t root = t->root_of[ids[i].index];
        if (root != NO_UNIT) {
            join_unit(&t->roots[root].unit, unit);
            join_unit(&t->unit_of_storage[t->draft->buffers[root].storage.index], unit);
        }
    }
}

static void find_units(Telling *t) {
    for (uint32_t s = 0; s < t->draft->step_count; s++) {
        const Step *step = &t->draft->steps[s];
        uint32_t unit = unit_of(t, step);
        if (unit != NO_UNIT) {
            touch(t, step->reads, step->read_count, unit);
            touch(t, step->writes, step->write_count, unit);
        }
    }
}

/* Roots that several units touch, or that are held beyond one, are the problem's; of an arena all tensors, for what one
 * operator makes, and none reads, may be written in place. */
static void number_storages(Telling *t) {
    const Plan *draft = t->draft;
    t->storages = arena_array(t->scratch, OrderStorage, draft->buffer_count);
    for (uint32_t i = 0; i < draft->buffer_count; i++) {
        Root *root = &t->roots[i];
        bool is_tensor = draft->device->kind == DEVICE_ARENA && is_value(draft->buffers[i].value);
        bool is_held = root->is_first || root->is_last || is_tensor;
        bool is_shared = t->root_of[i] == i && root->unit != NO_UNIT && (root->unit == SEVERAL || is_held);
        bool is_resident = t->root_of[i] == i && root->unit == NO_UNIT && root->is_first && root->is_last;
        root->number = is_shared || is_resident ? t->storage_count : ORDER_NONE;
        if (is_shared || is_resident) {
            t->storages[t->storage_count++] = (OrderStorage){root->bytes, root->is_first, root->is_last};
            join_unit(&t->unit_of_storage[draft->buffers[i].storage.index], SEVERAL);
        }
    }
}

/* ---- What a unit has of its own */

static void add_range(uint64_t *begin, uint64_t *end, const Root *root, uint64_t bytes) {
    begin[root->first] += bytes;
    end[root->last] += bytes;
}

/* The most that is alive at a step of it. Where a storage of the draft is the unit's as a whole, it counts once. */
static void find_own(Telling *t) {
    const Plan *draft = t->draft;
    uint64_t *begin = arena_array(t->scratch, uint64_t, (size_t)draft->step_count + 2);
    uint64_t *end = arena_array(t->scratch, uint64_t, (size_t)draft->step_count + 2);
    uint64_t live = 0;
    for (uint32_t i = 0; i < draft->buffer_count; i++) {
        const Buffer *buffer = &draft->buffers[i];
        const Root *root = &t->roots[i];
        bool is_own = t->root_of[i] == i && root->number == ORDER_NONE && root->unit != NO_UNIT;
        bool is_whole = t->unit_of_storage[buffer->storage.index] != SEVERAL;
        if (is_own && !is_whole) {
            add_range(begin, end, root, root->bytes);
        } else if (is_own && buffer->storage.index == i) {
            const Root hull = {.first = buffer->storage_first, .last = buffer->storage_last};
            add_range(begin, end, &hull, root->bytes);
        }
    }
    for (uint32_t s = 0; s < draft->step_count; s++) {
        uint32_t unit = unit_of(t, &draft->steps[s]);
        live = live + begin[s] - end[s];
        if (unit != NO_UNIT && live > t->ops[unit].own_bytes) {
            t->ops[unit].own_bytes = live;
        }
    }
}

/* ---- What a unit touches */

typedef struct {
    size_t count, capacity;
    OrderTouch *touches;
} Touches;

static void list_touches(Telling *t, Touches *list, const BufferId *ids, uint32_t count, uint32_t unit) {
    for (uint32_t i = 0; i < count; i++) {
        Root *root = t->root_of[ids[i].index] == NO_UNIT ? NULL : &t->roots[t->root_of[ids[i].index]];
        if (root == NULL || root->number == ORDER_NONE || root->stamp == unit + 1) {
            continue;
        }
        root->stamp = unit + 1;
        list->touches = arena_grow(t->scratch, list->touches, list->count, &list->capacity, sizeof *list->touches);
        list->touches[list->count++] = (OrderTouch){.storage = root->number};
    }
}

/* May what the step writes lie in the root that it reads of? */
static bool may_hold(Telling *t, uint32_t step, BufferId output, BufferId input) {
    const Plan *draft = t->draft;
    uint32_t from = t->root_of[input.index], to = t->root_of[output.index];
    if (from == NO_UNIT || from == to || !may_overwrite(draft, step, input)) {
        return false;
    }
    const Root *root = &t->roots[from];
    bool is_held = root->is_state || root->is_output || root->is_last;
    bool is_pinned = t->roots[to].is_first; /* an output with bytes from the start */
    bool is_alike = root->bytes == t->roots[to].bytes && !is_shape_of_other(plan_buffer(draft, output));
    bool is_told = is_alike && root->number != ORDER_NONE && t->roots[to].number != ORDER_NONE;
    t->is_exact = t->is_exact && (is_told || is_held || is_pinned);
    return is_told && !is_held && !is_pinned;
}

static void find_overwrites(Telling *t, uint32_t index, OrderOp *op, OrderTouch *touches) {
    const Step *step = &t->draft->steps[index];
    BufferId output = overwriting_output(t->draft, index);
    const BufferId *inputs = step->sweep == NOT_IN_SWEEP ? step->reads : t->draft->sweeps[step->sweep].in_local;
    uint32_t count = step->sweep == NOT_IN_SWEEP ? step->read_count : 1;
    for (uint32_t i = 0; i < count && is_buffer(output) && is_buffer(inputs[i]); i++) {
        if (!may_hold(t, index, output, inputs[i])) {
            continue;
        }
        op->result = t->roots[t->root_of[output.index]].number;
        for (uint32_t k = 0; k < op->touch_count; k++) {
            uint32_t root = t->root_of[inputs[i].index];
            touches[k].may_hold = touches[k].may_hold || touches[k].storage == t->roots[root].number;
        }
    }
}

/* Steps of a unit stand side by side. */
static void find_touches(Telling *t) {
    const Plan *draft = t->draft;
    for (uint32_t first = 0, last; first < draft->step_count; first = last) {
        const uint32_t unit = unit_of(t, &draft->steps[first]);
        Touches list = {0};
        for (last = first; last < draft->step_count && unit_of(t, &draft->steps[last]) == unit; last++) {
            const Step *step = &draft->steps[last];
            if (unit != NO_UNIT) {
                list_touches(t, &list, step->reads, step->read_count, unit);
                list_touches(t, &list, step->writes, step->write_count, unit);
            }
        }
        if (unit == NO_UNIT) {
            continue;
        }
        OrderOp *op = &t->ops[unit];
        op->touches = list.touches;
        op->touch_count = (uint32_t)list.count;
        t->is_exact = t->is_exact && last - first == 1;
        for (uint32_t s = first; s < last && draft->choice.in_place; s++) {
            find_overwrites(t, s, op, list.touches);
        }
    }
}

/* ---- What comes before what */

static bool has_effect(const Graph *graph, const Node *node) {
    const OpInfo *info = op_info(node->op);
    bool has = (info->flags & OP_IMPURE) != 0 || info->kind == KIND_STATE || info->kind == KIND_OPAQUE ||
               info->kind == KIND_CONTROL;
    for (uint32_t k = 0; k < node->input_count && !has; k++) {
        const Value *value = node_input(graph, node, k);
        has = value != NULL && value->is_state;
    }
    return has;
}

typedef struct {
    size_t count, capacity;
    uint32_t *units;
    uint32_t *stamp; /* unit -> unit that has listed it last, and one */
} Edges;

static void add_edge(Telling *t, Edges *edges, uint32_t from, uint32_t unit) {
    if (from == NO_UNIT || from == unit || edges->stamp[from] == unit + 1) {
        return;
    }
    edges->stamp[from] = unit + 1;
    edges->units = arena_grow(t->scratch, edges->units, edges->count, &edges->capacity, sizeof *edges->units);
    edges->units[edges->count++] = from;
}

static void add_inputs(Telling *t, Edges *edges, const Node *node, uint32_t unit) {
    const Graph *graph = t->draft->graph;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        if (value != NULL && is_node(value->producer)) {
            add_edge(t, edges, t->draft->group[value->producer.index], unit);
        }
    }
}

static uint32_t find_fixed(const Telling *t) {
    const Block *block = graph_main(t->draft->graph);
    uint32_t fixed = NO_UNIT;
    for (uint32_t at = 0; at < block->node_count; at++) {
        const Node *node = graph_node(t->draft->graph, block->nodes[at]);
        bool is_control = op_info(node->op)->kind == KIND_CONTROL;
        fixed = is_control ? t->draft->group[block->nodes[at].index] : fixed;
    }
    return fixed;
}

static void find_edges(Telling *t) {
    const Graph *graph = t->draft->graph;
    const Block *block = graph_main(graph);
    const uint32_t fixed = t->fixed;
    uint32_t *stamp = arena_array(t->scratch, uint32_t, t->unit_count);
    uint32_t last_effect = NO_UNIT;
    uint32_t at = 0;
    for (uint32_t unit = 0; unit < t->unit_count; unit++) {
        Edges edges = {.stamp = stamp};
        bool is_effect = false;
        for (; at < block->node_count && t->draft->group[block->nodes[at].index] == unit; at++) {
            const Node *node = graph_node(graph, block->nodes[at]);
            add_inputs(t, &edges, node, unit);
            is_effect = is_effect || (!node->is_constant && has_effect(graph, node));
        }
        if (is_effect) {
            add_edge(t, &edges, last_effect, unit);
            last_effect = unit;
        }
        if (fixed != NO_UNIT) {
            add_edge(t, &edges, unit == 0 ? NO_UNIT : unit <= fixed ? unit - 1 : fixed, unit);
        }
        t->ops[unit].before = edges.units;
        t->ops[unit].before_count = (uint32_t)edges.count;
    }
}

/* ---- The answer */

static NodeId *nodes_in_order(const Telling *t, const uint32_t *order, Arena *keep) {
    const Block *block = graph_main(t->draft->graph);
    NodeId *nodes = arena_array(keep, NodeId, block->node_count);
    uint32_t *first = arena_array(t->scratch, uint32_t, (size_t)t->unit_count + 1);
    uint32_t count = 0;
    for (uint32_t at = block->node_count; at-- > 0;) {
        first[t->draft->group[block->nodes[at].index]] = at;
    }
    first[t->unit_count] = block->node_count;
    for (uint32_t k = 0; k < t->unit_count; k++) {
        for (uint32_t at = first[order[k]]; at < first[order[k] + 1]; at++) {
            nodes[count++] = block->nodes[at];
        }
    }
    return nodes;
}

/* The same values and nodes; the main block has them in the order of the answer. */
static const Graph *graph_in_order(const Telling *t, const uint32_t *order, Arena *keep) {
    Graph *graph = arena_new(keep, Graph);
    *graph = *t->draft->graph;
    graph->blocks = arena_array(keep, Block, graph->block_count);
    memcpy(graph->blocks, t->draft->graph->blocks, graph->block_count * sizeof *graph->blocks);
    graph->block_capacity = graph->block_count;
    graph->blocks[0].nodes = nodes_in_order(t, order, keep);
    return graph;
}

static uint32_t count_moved(const Telling *t, const uint32_t *order) {
    uint32_t moved = 0;
    for (uint32_t k = 0; k < t->unit_count; k++) {
        bool has_work = t->ops[k].touch_count > 0 || t->ops[k].own_bytes > 0;
        moved += has_work && order[k] != k;
    }
    return moved;
}

Reordering reorder(const Plan *draft, Work *work) {
    Telling t = {.draft = draft, .scratch = &work->scratch, .unit_count = draft->group_count};
    OrderAnswer answer;
    t.is_exact = draft->device->kind == DEVICE_ARENA;
    t.ops = arena_array(t.scratch, OrderOp, t.unit_count);
    for (uint32_t k = 0; k < t.unit_count; k++) {
        t.ops[k].result = ORDER_NONE;
    }
    find_roots(&t);
    gather_roots(&t);
    find_units(&t);
    number_storages(&t);
    find_own(&t);
    find_touches(&t);
    t.fixed = find_fixed(&t);
    find_edges(&t);
    const OrderProblem problem = {t.unit_count, t.storage_count, t.ops, t.storages};
    if (!order_sum_fits(&problem)) {
        return (Reordering){.graph = NULL};
    }
    order_solve(&problem, &order_limits, t.scratch, &answer);
    return (Reordering){.graph = graph_in_order(&t, answer.order, &work->keep),
                        .moved = count_moved(&t, answer.order),
                        .has_choice = answer.part_count > 0 || t.fixed != NO_UNIT,
                        .is_bound =
                            t.is_exact && t.fixed == NO_UNIT && answer.given_peak_bytes <= draft->peak_live_bytes,
                        .bound_bytes = answer.bound_bytes,
                        .peak_bytes = answer.peak_bytes,
                        .given_peak_bytes = answer.given_peak_bytes};
}
