/* Loops in place: Loop, Scan and WHILE.
 *
 *     LoopEnter   argument -> parameter, for each carried value; nothing -> iteration number, condition
 *     LoopEnter   nothing -> each scan output, which is written piece by piece from the first iteration on
 *     LoopSlice   scan input -> the slice the body reads
 *     …           nodes of the condition (WHILE) and of the body, once
 *     Loop        reads, in this order, n carried results, their n parameters, m scan results, m scan outputs, s scan
 *                 inputs, then every other value that must keep its bytes from one iteration to the next: the
 *                 conditions and what the body took from outside. Writes the n carried outputs.
 * So liveness, which knows no loops, keeps alive over all iterations exactly what a later iteration reads again. n, m
 * and s stand in the attributes `carried`, `scanned` and `sliced`; `trips` is the number of iterations, -1 where the
 * file does not fix it. */
#include "graph/fold.h"
#include "graph/inline.h"

typedef struct {
    Inliner *in;
    NodeId id;
    Node node; /* a copy: adding nodes moves the array */
    BlockId condition, body;
    uint32_t first_carried; /* of the node's inputs */
    uint32_t lead_params;   /* iteration number and condition of Loop */
    uint32_t lead_results;  /* condition of Loop */
    uint32_t carried, scanned, sliced;
    size_t first_placed; /* of the order: nodes that run in every iteration */
    ValueId goes_on;     /* what the condition says, NO_VALUE where it says nothing */
} Loop;

static BlockId block_named(const Node *node, const char *name) {
    const Attr *attr = node_attr(node, name);
    return attr != NULL && attr->kind == ATTR_BLOCK ? attr->block : NO_BLOCK;
}

/* ---- What the loop carries */

static bool count_while(Loop *loop) {
    loop->condition = block_named(&loop->node, "cond");
    loop->carried = loop->node.input_count;
    return loop->condition.index != NO_BLOCK.index && loop->node.output_count == loop->carried;
}

static bool count_loop(Loop *loop, uint32_t results) {
    if (loop->node.input_count < 2 || results < 1) {
        return false;
    }
    loop->first_carried = loop->lead_params = 2;
    loop->lead_results = 1;
    loop->carried = loop->node.input_count - 2;
    return results - 1 >= loop->carried;
}

static bool is_first_axes(const Attr *axes) {
    for (uint32_t k = 0; axes != NULL && axes->kind == ATTR_INTS && k < axes->count; k++) {
        if (axes->ints[k] != 0) {
            return false;
        }
    }
    return true;
}

static bool count_scan(Loop *loop) {
    int64_t slices = node_int(&loop->node, "num_scan_inputs", -1);
    if (slices < 0 || slices > (int64_t)loop->node.input_count) {
        return false;
    }
    loop->sliced = (uint32_t)slices;
    loop->carried = loop->node.input_count - loop->sliced;
    return true;
}

static bool count_parts(Loop *loop) {
    loop->body = block_named(&loop->node, "body");
    loop->condition = NO_BLOCK;
    if (loop->body.index == NO_BLOCK.index) {
        return false;
    }
    uint32_t results = loop->in->graph->blocks[loop->body.index].output_count;
    bool sound = loop->node.op == OP_LOOP   ? count_loop(loop, results)
                 : loop->node.op == OP_SCAN ? count_scan(loop)
                                            : count_while(loop);
    if (!sound || results < loop->lead_results + loop->carried) {
        return false;
    }
    loop->scanned = results - loop->lead_results - loop->carried;
    return loop->node.output_count <= loop->carried + loop->scanned;
}

/* ---- Entering */

static ValueId node_value(const ValueId *ids, uint32_t count, uint32_t k) {
    return k < count ? ids[k] : NO_VALUE;
}

static ValueId param(const Loop *loop, BlockId block, uint32_t k) {
    return inline_mapped(loop->in, loop->in->graph->blocks[block.index].inputs[k]);
}

static ValueId result(const Loop *loop, BlockId block, uint32_t k) {
    return inline_mapped(loop->in, loop->in->graph->blocks[block.index].outputs[k]);
}

/* Iteration number and condition are scalars whatever the file says. */
static void state_scalar(const Loop *loop, ValueId id, DType dtype) {
    Value *value = graph_value(loop->in->graph, id);
    if (!value->has_shape) {
        value->has_shape = true;
        value->shape = (Shape){0};
    }
    if (value->dtype == DTYPE_NONE) {
        value->dtype = dtype;
    }
}

static void enter_params(Loop *loop) {
    const Node *node = &loop->node;
    for (uint32_t k = 0; k < loop->lead_params; k++) {
        state_scalar(loop, param(loop, loop->body, k), k == 0 ? DTYPE_I64 : DTYPE_BOOL);
        inline_emit_copy(loop->in, node, OP_LOOP_ENTER, NO_VALUE, param(loop, loop->body, k));
    }
    for (uint32_t k = 0; k < loop->carried; k++) {
        inline_emit_copy(loop->in, node, OP_LOOP_ENTER, node->inputs[loop->first_carried + k],
                         param(loop, loop->body, loop->lead_params + k));
    }
    for (uint32_t k = loop->carried; k < node->output_count; k++) {
        if (is_value(node->outputs[k])) {
            inline_emit_copy(loop->in, node, OP_LOOP_ENTER, NO_VALUE, node->outputs[k]);
        }
    }
}

/* Every iteration fills its slices again. */
static void place_slices(Loop *loop) {
    for (uint32_t k = 0; k < loop->sliced; k++) {
        inline_emit_copy(loop->in, &loop->node, OP_LOOP_SLICE, loop->node.inputs[loop->carried + k],
                         param(loop, loop->body, loop->carried + k));
    }
}

/* Closed before the body is placed, which may use the same subgraph for a loop of its own. */
static bool place_condition(Loop *loop) {
    BlockId condition = loop->condition;
    loop->goes_on = NO_VALUE;
    if (condition.index == NO_BLOCK.index) {
        return true;
    }
    if (condition.index == loop->body.index) {
        return inline_refuse(loop->in, &loop->node, "one subgraph is both the condition and the body of the loop");
    }
    if (!inline_open(loop->in, &loop->node, condition, loop->carried)) {
        return false;
    }
    for (uint32_t k = 0; k < loop->carried; k++) {
        inline_emit_copy(loop->in, &loop->node, OP_IDENTITY, param(loop, loop->body, k), param(loop, condition, k));
    }
    if (!inline_nodes(loop->in, condition)) {
        return false;
    }
    if (loop->in->graph->blocks[condition.index].output_count > 0) {
        loop->goes_on = result(loop, condition, 0);
    }
    inline_close(loop->in, condition);
    return true;
}

/* ---- What must outlive an iteration */

/* True the first time a loop marks a value. */
static bool mark(Inliner *in, ValueId id) {
    while (in->mark_count <= id.index) {
        in->mark = arena_grow(&in->work->scratch, in->mark, in->mark_count, &in->mark_capacity, sizeof *in->mark);
        in->mark[in->mark_count++] = 0;
    }
    bool is_first = in->mark[id.index] != in->mark_serial;
    in->mark[id.index] = in->mark_serial;
    return is_first;
}

static void push_marked(Inliner *in, ValueList *list, ValueId id) {
    inline_push(in, list, id);
    if (is_value(id)) {
        mark(in, id);
    }
}

static void push_captured(const Loop *loop, ValueList *inputs) {
    Inliner *in = loop->in;
    for (size_t n = loop->first_placed; n < in->order_count; n++) {
        const Node *node = graph_node(in->graph, in->order[n]);
        for (uint32_t k = 0; k < node->output_count; k++) {
            if (is_value(node->outputs[k])) {
                mark(in, node->outputs[k]);
            }
        }
    }
    for (size_t n = loop->first_placed; n < in->order_count; n++) {
        const Node *node = graph_node(in->graph, in->order[n]);
        for (uint32_t k = 0; k < node->input_count; k++) {
            const Value *value = node_input(in->graph, node, k);
            bool keeps_itself = value == NULL || value->constant != NULL || value->is_state;
            if (!keeps_itself && mark(in, node->inputs[k])) {
                inline_push(in, inputs, node->inputs[k]);
            }
        }
    }
}

static ValueList kept_values(const Loop *loop) {
    Inliner *in = loop->in;
    const Node *node = &loop->node;
    ValueList inputs = {0};
    in->mark_serial++;
    for (uint32_t k = 0; k < loop->carried; k++) {
        push_marked(in, &inputs, result(loop, loop->body, loop->lead_results + k));
    }
    for (uint32_t k = 0; k < loop->carried; k++) {
        push_marked(in, &inputs, param(loop, loop->body, loop->lead_params + k));
    }
    for (uint32_t k = 0; k < loop->scanned; k++) {
        push_marked(in, &inputs, result(loop, loop->body, loop->lead_results + loop->carried + k));
    }
    for (uint32_t k = 0; k < loop->scanned; k++) {
        push_marked(in, &inputs, node_value(node->outputs, node->output_count, loop->carried + k));
    }
    for (uint32_t k = 0; k < loop->sliced; k++) {
        push_marked(in, &inputs, node->inputs[loop->carried + k]);
    }
    for (uint32_t k = 0; k < loop->lead_params; k++) {
        push_marked(in, &inputs, param(loop, loop->body, k));
    }
    if (is_value(loop->goes_on)) {
        push_marked(in, &inputs, loop->goes_on);
    } else if (loop->lead_results > 0) {
        push_marked(in, &inputs, result(loop, loop->body, 0));
    }
    for (uint32_t k = 0; k < loop->first_carried;
         k++) { /* trip count and first condition: asked before each iteration */
        ValueId id = node->inputs[k];
        bool moves = is_value(id) && graph_value(in->graph, id)->constant == NULL;
        if (moves && mark(in, id)) {
            inline_push(in, &inputs, id);
        }
    }
    push_captured(loop, &inputs);
    return inputs;
}

/* ---- How often */

/* The only element of a constant; false where it is none. */
static bool constant_scalar(const Loop *loop, ValueId id, int64_t *number) {
    Ints ints;
    bool is_one = is_value(id) && const_ints(graph_value(loop->in->graph, id), &loop->in->work->scratch, &ints) &&
                  ints.count == 1;
    *number = is_one ? ints.at[0] : 0;
    return is_one;
}

/* The value that `id` is another name of. */
static ValueId behind_copies(const Graph *graph, ValueId id) {
    while (is_value(id) && is_node(graph_value(graph, id)->producer)) {
        const Node *node = graph_node(graph, graph_value(graph, id)->producer);
        if (node->op != OP_IDENTITY || node->input_count != 1) {
            break;
        }
        id = node->inputs[0];
    }
    return id;
}

/* A Loop ends early where its condition says so: is it true at first, and in each iteration passed on or true? */
static bool goes_on_always(const Loop *loop) {
    int64_t first, again;
    ValueId asked = behind_copies(loop->in->graph, result(loop, loop->body, 0));
    bool is_passed_on = asked.index == param(loop, loop->body, 1).index;
    bool starts =
        !is_value(loop->node.inputs[1]) || (constant_scalar(loop, loop->node.inputs[1], &first) && first != 0);
    return starts && (is_passed_on || (constant_scalar(loop, asked, &again) && again != 0));
}

static bool count_trips(const Loop *loop, int64_t *trips) {
    return loop->node.op == OP_LOOP && constant_scalar(loop, loop->node.inputs[0], trips) && goes_on_always(loop);
}

/* ---- The loop */

/* In front of what the file says under these names: the first is found. */
static void add_counts(const Loop *loop) {
    int64_t trips;
    Arena *keep = &loop->in->work->keep;
    Node *node = graph_node(loop->in->graph, loop->id);
    uint32_t count = 0;
    Attr *attrs = arena_array(keep, Attr, (size_t)node->attr_count + 4);
    attrs[count++] = (Attr){.name = STR("carried"), .kind = ATTR_INT, .i = loop->carried};
    attrs[count++] = (Attr){.name = STR("scanned"), .kind = ATTR_INT, .i = loop->scanned};
    attrs[count++] = (Attr){.name = STR("sliced"), .kind = ATTR_INT, .i = loop->sliced};
    bool is_counted = count_trips(loop, &trips);
    attrs[count++] = (Attr){.name = STR("trips"), .kind = ATTR_INT, .i = !is_counted ? -1 : trips < 0 ? 0 : trips};
    for (uint32_t k = 0; k < node->attr_count; k++) {
        attrs[count++] = node->attrs[k];
    }
    node->attrs = attrs;
    node->attr_count = count;
}

bool inline_loop(Inliner *in, NodeId id) {
    Loop loop = {.in = in, .id = id, .node = *graph_node(in->graph, id)};
    if (!count_parts(&loop)) {
        return inline_error(in, &loop.node, "the inputs and outputs of the loop and of its subgraphs do not match");
    }
    if (loop.node.op == OP_SCAN && loop.node.version < 9) {
        return inline_refuse(in, &loop.node,
                             "Scan of opset 8 runs over batches: export the model with opset 9 or later");
    }
    if (!is_first_axes(node_attr(&loop.node, "scan_input_axes")) ||
        !is_first_axes(node_attr(&loop.node, "scan_output_axes"))) {
        return inline_refuse(in, &loop.node, "Scan along another axis than the first");
    }
    if (!inline_open(in, &loop.node, loop.body, loop.lead_params + loop.carried + loop.sliced)) {
        return false;
    }
    enter_params(&loop);
    loop.first_placed = in->order_count;
    place_slices(&loop);
    if (!place_condition(&loop) || !inline_nodes(in, loop.body)) {
        return false;
    }
    uint32_t written = loop.node.output_count < loop.carried ? loop.node.output_count : loop.carried;
    inline_finish(in, id, kept_values(&loop), written);
    add_counts(&loop);
    inline_close(in, loop.body);
    return true;
}
