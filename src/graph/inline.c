/* Called blocks become steps of the caller.
 *
 *     CALL        parameters and results are other names of arguments and outputs (Identity)
 *     If          the nodes of every branch, then the If itself, which reads the condition and all results
 *     Loop        LoopEnter copies each argument to the parameter that iterations overwrite; the nodes of condition and
 *                 body stand once; then the loop itself, which reads whatever must outlive an iteration: see
 *                 inline_loop.c
 *     CALL_ONCE   the nodes of the initialiser, in place
 *
 * Invariant: `map` leads from a value of the file to the value that stands for it where we are. The first call of a
 * block takes its nodes and values and may change them; a further one takes copies of what the file said (`said`), and
 * `map` leads to the copies while it lasts. A block is never open twice, so one map does for all. The C stack holds at
 * most MOST_DEPTH calls. */
#include "graph/inline.h"

#include "base/fault.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_DEPTH = 16, MOST_WORK = 1 << 21, NAME_BYTES_A_NODE = 64 };

ValueId inline_mapped(const Inliner *in, ValueId id) {
    return is_value(id) ? in->map[id.index] : id;
}

bool inline_refuse(const Inliner *in, const Node *node, const char *what) {
    return diag_refuse(&in->work->diags, (DiagText){.node = node_title(in->work->diags.arena, node), .what = what});
}

bool inline_error(const Inliner *in, const Node *node, const char *what) {
    return diag_error(&in->work->diags, (DiagText){.node = node_title(in->work->diags.arena, node), .what = what});
}

/* The main graph may be larger than what calls may add to it. */
static bool check_spent(const Inliner *in, const Node *node) {
    return in->spent <= MOST_WORK + (uint64_t)in->said_count ||
           inline_refuse(in, node, "the called subgraphs unfold to more than 2 million nodes and tensors");
}

/* A name is as long as the file likes, and each copy has one. */
static Str charge_name(Inliner *in, Str name) {
    in->spent += name.len / NAME_BYTES_A_NODE;
    return name;
}

static void emit(Inliner *in, NodeId id) {
    Arena *keep = &in->work->keep;
    in->order = arena_grow(keep, in->order, in->order_count, &in->order_capacity, sizeof *in->order);
    in->order[in->order_count++] = id;
    in->spent++;
}

void inline_emit_copy(Inliner *in, const Node *caller, OpId op, ValueId from, ValueId to) {
    Arena *keep = &in->work->keep;
    ValueId *ends = arena_array(keep, ValueId, 2);
    ends[0] = from;
    ends[1] = to;
    Str op_name = str_from(op_info(op)->name);
    Str name =
        arena_format(keep, STR_FMT "/" STR_FMT, STR_ARG(caller->name), STR_ARG(graph_value(in->graph, to)->name));
    Node node = {.name = charge_name(in, name),
                 .op = op,
                 .op_name = op_name,
                 .version = caller->version,
                 .inputs = ends,
                 .input_count = is_value(from) ? 1 : 0,
                 .outputs = ends + 1,
                 .output_count = 1,
                 .source_index = caller->source_index};
    emit(in, graph_add_node(in->graph, keep, node));
}

void inline_finish(Inliner *in, NodeId id, ValueList inputs, uint32_t output_count) {
    Node *node = graph_node(in->graph, id);
    uint32_t kept = 0;
    Attr *attrs = arena_array(&in->work->keep, Attr, node->attr_count);
    for (uint32_t k = 0; k < node->attr_count; k++) {
        if (node->attrs[k].kind != ATTR_BLOCK) {
            attrs[kept++] = node->attrs[k];
        }
    }
    node->attrs = attrs;
    node->attr_count = kept;
    node->inputs = inputs.id;
    node->input_count = (uint32_t)inputs.count;
    node->output_count = output_count;
    emit(in, id);
}

void inline_push(Inliner *in, ValueList *list, ValueId id) {
    list->id = arena_grow(&in->work->keep, list->id, list->count, &list->capacity, sizeof *list->id);
    list->id[list->count++] = id;
}

/* ---- Entering a block */

static void map_to_copy(Inliner *in, ValueId id, uint32_t call) {
    if (!is_value(id)) {
        return;
    }
    Arena *keep = &in->work->keep;
    Value copy = *graph_value(in->graph, id);
    copy.name = charge_name(in, arena_format(keep, STR_FMT "@%" PRIu32, STR_ARG(copy.name), call));
    copy.producer = NO_NODE;
    in->map[id.index] = graph_add_value(in->graph, keep, copy);
    in->spent++;
}

static void map_to_copies(Inliner *in, const Block *block, uint32_t call) {
    for (uint32_t k = 0; k < block->input_count; k++) {
        map_to_copy(in, block->inputs[k], call);
    }
    for (uint32_t n = 0; n < block->node_count; n++) {
        const Node *node = &in->said[block->nodes[n].index];
        for (uint32_t k = 0; k < node->output_count; k++) {
            map_to_copy(in, node->outputs[k], call);
        }
    }
}

bool inline_open(Inliner *in, const Node *caller, BlockId id, uint32_t input_count) {
    const Block *block = &in->graph->blocks[id.index];
    if (in->is_open[id.index]) {
        return inline_refuse(in, caller, "calls itself: recursion has no plan");
    }
    if (in->depth == MOST_DEPTH) {
        return inline_refuse(in, caller, "control flow is nested more than 16 deep");
    }
    in->spent++;
    if (!check_spent(in, caller)) {
        return false;
    }
    if (block->input_count != input_count) {
        return inline_error(in, caller, "the called subgraph takes another number of inputs");
    }
    for (uint32_t k = 0; k < block->input_count; k++) {
        if (!is_value(block->inputs[k]) || graph_value(in->graph, block->inputs[k])->is_sequence) {
            return inline_refuse(in, caller, "a subgraph takes a sequence, which has no byte layout");
        }
    }
    in->is_open[id.index] = true;
    in->depth++;
    if (++in->call_count[id.index] > 1) {
        map_to_copies(in, block, in->call_count[id.index]);
    }
    return true;
}

/* ---- The nodes of a block */

static ValueId *mapped_ids(const Inliner *in, const ValueId *ids, uint32_t count) {
    ValueId *mapped = arena_array(&in->work->keep, ValueId, count);
    for (uint32_t k = 0; k < count; k++) {
        mapped[k] = inline_mapped(in, ids[k]);
    }
    return mapped;
}

static NodeId copy_of(Inliner *in, NodeId id, uint32_t call) {
    Arena *keep = &in->work->keep;
    Node copy = in->said[id.index];
    in->spent += (uint64_t)copy.input_count + copy.output_count + copy.attr_count;
    copy.name = charge_name(in, arena_format(keep, STR_FMT "@%" PRIu32, STR_ARG(copy.name), call));
    copy.inputs = mapped_ids(in, copy.inputs, copy.input_count);
    copy.outputs = mapped_ids(in, copy.outputs, copy.output_count);
    return graph_add_node(in->graph, keep, copy);
}

static bool inline_node(Inliner *in, NodeId id) {
    switch (graph_node(in->graph, id)->op) {
    case OP_IF:
    case OP_STABLEHLO_CASE:
        return inline_branches(in, id);
    case OP_CALL:
    case OP_STABLEHLO_COMPOSITE:
        return inline_call(in, id);
    case OP_CALL_ONCE:
        return inline_once(in, id);
    case OP_LOOP:
    case OP_SCAN:
    case OP_WHILE:
    case OP_STABLEHLO_WHILE:
        return inline_loop(in, id);
    case OP_SEQUENCE_MAP:
        return inline_refuse(in, graph_node(in->graph, id), "works on sequences, which have no byte layout");
    default:
        emit(in, id);
        return true;
    }
}

bool inline_nodes(Inliner *in, BlockId id) {
    const Block block = in->graph->blocks[id.index];
    uint32_t call = in->call_count[id.index];
    for (uint32_t n = 0; n < block.node_count; n++) {
        NodeId node = block.nodes[n];
        if (!check_spent(in, &in->said[node.index]) || !inline_node(in, call > 1 ? copy_of(in, node, call) : node)) {
            return false;
        }
    }
    return true;
}

void inline_close(Inliner *in, BlockId id) {
    in->is_open[id.index] = false;
    in->depth--;
}

/* ---- Calls and branches */

static BlockId first_block(const Node *node) {
    for (uint32_t k = 0; k < node->attr_count; k++) {
        if (node->attrs[k].kind == ATTR_BLOCK) {
            return node->attrs[k].block;
        }
    }
    return NO_BLOCK;
}

/* Opens the block, names its parameters after inputs `first` … of the node, and places its nodes. The caller closes it
 * when it has read the results. */
static bool place_block(Inliner *in, const Node *node, BlockId id, uint32_t first) {
    uint32_t given = node->input_count < first ? 0 : node->input_count - first;
    if (!inline_open(in, node, id, given)) {
        return false;
    }
    for (uint32_t k = 0; k < given; k++) {
        inline_emit_copy(in, node, OP_IDENTITY, node->inputs[first + k],
                         inline_mapped(in, in->graph->blocks[id.index].inputs[k]));
    }
    return inline_nodes(in, id);
}

bool inline_call(Inliner *in, NodeId id) {
    const Node node = *graph_node(in->graph, id);
    BlockId called = first_block(&node);
    if (called.index == NO_BLOCK.index) {
        return inline_error(in, &node, "calls no subgraph");
    }
    if (in->graph->blocks[called.index].output_count != node.output_count) {
        return inline_error(in, &node, "the called subgraph has another number of outputs");
    }
    if (!place_block(in, &node, called, 0)) {
        return false;
    }
    for (uint32_t k = 0; k < node.output_count; k++) {
        ValueId result = inline_mapped(in, in->graph->blocks[called.index].outputs[k]);
        if (is_value(node.outputs[k]) && is_value(result)) {
            inline_emit_copy(in, &node, OP_IDENTITY, result, node.outputs[k]);
        }
    }
    inline_close(in, called);
    return true;
}

bool inline_once(Inliner *in, NodeId id) {
    const Node node = *graph_node(in->graph, id);
    BlockId called = first_block(&node);
    if (called.index == NO_BLOCK.index) {
        return inline_error(in, &node, "calls no subgraph");
    }
    if (!place_block(in, &node, called, node.input_count)) {
        return false;
    }
    inline_close(in, called);
    return true;
}

bool inline_branches(Inliner *in, NodeId id) {
    const Node node = *graph_node(in->graph, id);
    ValueList inputs = {0};
    if (node.input_count == 0 || first_block(&node).index == NO_BLOCK.index) {
        return inline_error(in, &node, "has no condition or no branch");
    }
    inline_push(in, &inputs, node.inputs[0]);
    for (uint32_t a = 0; a < node.attr_count; a++) {
        if (node.attrs[a].kind != ATTR_BLOCK) {
            continue;
        }
        BlockId branch = node.attrs[a].block;
        if (in->graph->blocks[branch.index].output_count != node.output_count) {
            return inline_error(in, &node, "a branch has another number of outputs");
        }
        if (!place_block(in, &node, branch, 1)) {
            return false;
        }
        for (uint32_t k = 0; k < node.output_count; k++) {
            inline_push(in, &inputs, inline_mapped(in, in->graph->blocks[branch.index].outputs[k]));
        }
        inline_close(in, branch);
    }
    inline_finish(in, id, inputs, node.output_count);
    return true;
}

/* ---- The pass */

static bool has_calls(const Graph *graph) {
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (op_info(graph->nodes[n].op)->kind == KIND_CONTROL) {
            return true;
        }
    }
    return false;
}

/* A shallow copy does: what is changed of a node is its arrays' place and length, never what stands in them. */
static const Node *said_nodes(const Graph *graph, Arena *scratch) {
    Node *said = arena_array(scratch, Node, graph->node_count);
    memcpy(said, graph->nodes, graph->node_count * sizeof *said);
    return said;
}

/* A block whose nodes now belong to the main graph is left without any. */
static void empty_inlined_blocks(Inliner *in) {
    for (uint32_t b = 1; b < in->graph->block_count; b++) {
        if (in->call_count[b] > 0) {
            Block *block = &in->graph->blocks[b];
            block->input_count = block->output_count = block->node_count = 0;
        }
    }
}

bool graph_inline(Graph *graph, Work *work) {
    if (!has_calls(graph)) {
        return true;
    }
    Inliner in = {.graph = graph,
                  .work = work,
                  .said_count = graph->node_count,
                  .said = said_nodes(graph, &work->scratch),
                  .map = arena_array(&work->scratch, ValueId, graph->value_count),
                  .call_count = arena_array(&work->scratch, uint32_t, graph->block_count),
                  .is_open = arena_array(&work->scratch, bool, graph->block_count)};
    for (uint32_t v = 0; v < graph->value_count; v++) {
        in.map[v] = (ValueId){v};
    }
    in.is_open[0] = true;
    if (!inline_nodes(&in, (BlockId){0})) {
        return false;
    }
    Block *main = graph_main(graph);
    CHECK(in.order_count <= UINT32_MAX);
    main->nodes = in.order;
    main->node_count = (uint32_t)in.order_count;
    empty_inlined_blocks(&in);
    return true;
}
