/* The invariants of graph.h, checked over what an importer made.
 *
 * Scopes are walked with a stack of our own: a node that calls a block is followed into it the first time, and what
 * the block defined goes out of sight at its end. Each block is walked once, so the cost is linear and a cycle of calls
 * ends (graph_inline refuses it). */
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
    BlockId block;
    uint32_t next;       /* position of the node to check */
    size_t defined_from; /* length of `defined` when the block was entered */
} Frame;

typedef struct {
    const Graph *graph;
    Work *work;
    bool *is_visible;  /* value -> defined where we stand */
    bool *was_walked;  /* block -> entered */
    bool *was_written; /* value -> some node has it as an output */
    uint32_t *defined; /* values to hide again when their block ends */
    size_t defined_count, defined_capacity;
    Frame *stack;
    size_t depth, stack_capacity;
} Checker;

static bool node_error(const Checker *c, const Node *node, Str tensor, const char *what) {
    Arena *arena = c->work->diags.arena;
    return diag_error(&c->work->diags, (DiagText){.node = node_title(arena, node), .tensor = tensor, .what = what});
}

static bool fault_of(Work *work, const Value *value, const char *what, const char *got, const char *expected) {
    const char *place = value->source.len > 0 ? arena_text(work->diags.arena, STR_FMT, STR_ARG(value->source)) : NULL;
    return diag_error(
        &work->diags,
        (DiagText){.place = place, .tensor = value->name, .what = what, .got = got, .expected = expected});
}

static bool value_error(const Checker *c, const Value *value, const char *what, const char *got, const char *expected) {
    return fault_of(c->work, value, what, got, expected);
}

/* ---- Ids */

static bool ids_in_range(const ValueId *ids, uint32_t count, uint32_t limit) {
    for (uint32_t k = 0; k < count; k++) {
        if (is_value(ids[k]) && ids[k].index >= limit) {
            return false;
        }
    }
    return true;
}

static bool attrs_in_range(const Graph *graph, const Node *node) {
    for (uint32_t k = 0; k < node->attr_count; k++) {
        const Attr *attr = &node->attrs[k];
        if ((attr->kind == ATTR_TENSOR && attr->tensor.index >= graph->value_count) ||
            (attr->kind == ATTR_BLOCK && attr->block.index >= graph->block_count)) {
            return false;
        }
    }
    return true;
}

static bool check_node_ids(const Checker *c) {
    const Graph *graph = c->graph;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        const Node *node = &graph->nodes[n];
        if (!ids_in_range(node->inputs, node->input_count, graph->value_count) ||
            !ids_in_range(node->outputs, node->output_count, graph->value_count) || !attrs_in_range(graph, node)) {
            return node_error(c, node, (Str){0}, "names a tensor or subgraph that the model does not have");
        }
    }
    return true;
}

static bool check_block_ids(const Checker *c) {
    const Graph *graph = c->graph;
    if (graph->block_count == 0) {
        return diag_error(&c->work->diags, (DiagText){.what = "the model has no graph"});
    }
    for (uint32_t b = 0; b < graph->block_count; b++) {
        const Block *block = &graph->blocks[b];
        bool sound = ids_in_range(block->inputs, block->input_count, graph->value_count) &&
                     ids_in_range(block->outputs, block->output_count, graph->value_count);
        for (uint32_t n = 0; n < block->node_count; n++) {
            sound = sound && block->nodes[n].index < graph->node_count;
        }
        if (!sound) {
            return diag_error(&c->work->diags, (DiagText){.node = block->name,
                                                          .what = "the graph names a tensor the model does not have"});
        }
    }
    return true;
}

/* ---- Values */

static bool check_stored_shape(const Checker *c, const Value *value) {
    const Shape *stored = &value->constant->stored;
    bool sound = value->has_shape && stored->rank == value->shape.rank;
    for (uint32_t k = 0; sound && k < stored->rank; k++) {
        sound = stored->dim[k] >= 0 && (stored->dim[k] == value->shape.dim[k] || stored->dim[k] == 1);
    }
    if (sound) {
        return true;
    }
    Arena *arena = c->work->diags.arena;
    const char *expected = value->has_shape ? shape_text(arena, &value->shape).ptr : "a shape";
    return value_error(c, value, "the constant's stored shape does not repeat to the tensor's",
                       shape_text(arena, stored).ptr, expected);
}

static bool check_constant(const Checker *c, const Value *value) {
    const Const *constant = value->constant;
    if (!check_stored_shape(c, value)) {
        return false;
    }
    if (!constant->is_known) {
        return constant->bytes.len == 0 || value_error(c, value, "an unknown constant has bytes", NULL, NULL);
    }
    uint64_t bytes;
    Arena *arena = c->work->diags.arena;
    if (!shape_packed_bytes(&constant->stored, value->dtype, &bytes)) {
        return value_error(c, value, "the constant's size does not fit 64 bits",
                           shape_text(arena, &constant->stored).ptr, NULL);
    }
    if (bytes != constant->bytes.len) {
        return value_error(c, value, "the constant's data does not have the size of its shape",
                           arena_text(arena, "%zu bytes", constant->bytes.len),
                           arena_text(arena, "%" PRIu64 " bytes for %s %s", bytes, dtype_name(value->dtype),
                                      shape_text(arena, &constant->stored).ptr));
    }
    return true;
}

/* ---- Quantisation */

/* Scales that the axis asks for: one a slice, or one a block of each row along it. False where an extent is not known.
 */
static bool count_scales(const Value *value, uint64_t *count) {
    const Quant *quant = value->quant;
    Shape shape = value->shape;
    int64_t *extent = &shape.dim[quant->axis];
    if (quant->block == 0) {
        *count = (uint64_t)*extent;
        return *extent >= 0;
    }
    *extent = *extent < 0 ? *extent : *extent / quant->block + (*extent % quant->block != 0);
    return shape_elements(&shape, count);
}

/* 0 is a scale: converters write it for channels whose weights are all 0, and TFLite's and ONNX Runtime's own kernels
 * compute with it (XNNPACK and TensorRT refuse such a model). */
static bool check_scales(const Value *value, Work *work) {
    Arena *arena = work->diags.arena;
    for (uint32_t k = 0; k < value->quant->count; k++) {
        float scale = value->quant->scale[k];
        if (!isfinite(scale) || scale < 0) {
            return fault_of(work, value, arena_text(arena, "its scale [%" PRIu32 "] is not a scale", k),
                            arena_text(arena, "%g", (double)scale), "a finite number, 0 or more");
        }
    }
    return true;
}

/* What an integer dtype can hold, as far as a zero point can say it. False for other dtypes. */
static bool code_range(DType dtype, int64_t *low, int64_t *high) {
    DTypeKind kind = dtype_kind(dtype);
    uint32_t magnitude_bits = dtype_bits(dtype) - (kind == DTYPE_KIND_SIGNED ? 1 : 0);
    if (kind != DTYPE_KIND_SIGNED && kind != DTYPE_KIND_UNSIGNED) {
        return false;
    }
    *high = magnitude_bits < 63 ? ((int64_t)1 << magnitude_bits) - 1 : INT64_MAX;
    *low = kind == DTYPE_KIND_SIGNED ? -*high - 1 : 0;
    return true;
}

static bool check_zero_points(const Value *value, Work *work) {
    Arena *arena = work->diags.arena;
    int64_t low, high;
    if (value->quant->zero_point == NULL || !code_range(value->dtype, &low, &high)) {
        return true;
    }
    for (uint32_t k = 0; k < value->quant->count; k++) {
        int64_t zero_point = value->quant->zero_point[k];
        if (zero_point < low || zero_point > high) {
            return fault_of(
                work, value, arena_text(arena, "its zero point [%" PRIu32 "] is no code of the type", k),
                arena_text(arena, "%" PRId64, zero_point),
                arena_text(arena, "%" PRId64 " to %" PRId64 ", a value of %s", low, high, dtype_name(value->dtype)));
        }
    }
    return true;
}

bool graph_check_codes(const Value *value, Work *work) {
    return value->quant == NULL || (check_scales(value, work) && check_zero_points(value, work));
}

/* A scale a slice: as many as the axis is long, or as it has blocks. The axis is the file's word, never guessed. */
static bool check_quant(const Checker *c, const Value *value) {
    const Quant *quant = value->quant;
    Arena *arena = c->work->diags.arena;
    if (quant->axis < 0) {
        return quant->count == 1 || value_error(c, value, "several scales, but no axis they go along",
                                                arena_text(arena, "%" PRIu32 " scales", quant->count), "1");
    }
    if (!value->has_shape) {
        return true;
    }
    if ((uint32_t)quant->axis >= value->shape.rank) {
        return value_error(c, value, "the quantisation axis lies outside the tensor",
                           arena_text(arena, "axis %" PRId32, quant->axis),
                           arena_text(arena, "0 to %" PRId64, (int64_t)value->shape.rank - 1));
    }
    uint64_t count;
    if (!count_scales(value, &count) || quant->count == 1 || count == quant->count) {
        return true;
    }
    return diag_refuse(&c->work->diags,
                       (DiagText){.tensor = value->name,
                                  .what = quant->block > 0
                                              ? "the number of scales is not the number of blocks along the axis"
                                              : "the number of scales is not the length of the quantisation axis",
                                  .got = arena_text(arena, "%" PRIu32 " scales on axis %" PRId32 " of %s", quant->count,
                                                    quant->axis, shape_text(arena, &value->shape).ptr),
                                  .expected = arena_text(arena, "%" PRIu64 " scales", count),
                                  .hint = "write the model again with the axis the scales belong to"});
}

static bool check_values(const Checker *c) {
    bool sound = true;
    for (uint32_t v = 0; v < c->graph->value_count; v++) {
        const Value *value = &c->graph->values[v];
        if (value->has_shape && value->shape.rank > SHAPE_MAX_RANK) {
            sound = value_error(c, value, "the tensor has too many dimensions", NULL, "8 at most");
            continue;
        }
        if (value->constant != NULL) {
            sound = check_constant(c, value) && sound;
        }
        if (value->quant != NULL) {
            sound = graph_check_codes(value, c->work) && check_quant(c, value) && sound;
        }
    }
    return sound;
}

/* ---- Order and scopes */

static void define(Checker *c, ValueId id) {
    if (!is_value(id) || c->is_visible[id.index]) {
        return;
    }
    c->is_visible[id.index] = true;
    c->defined = arena_grow(&c->work->scratch, c->defined, c->defined_count, &c->defined_capacity, sizeof *c->defined);
    c->defined[c->defined_count++] = id.index;
}

static void enter_block(Checker *c, BlockId id) {
    c->was_walked[id.index] = true;
    c->stack = arena_grow(&c->work->scratch, c->stack, c->depth, &c->stack_capacity, sizeof *c->stack);
    c->stack[c->depth++] = (Frame){.block = id, .defined_from = c->defined_count};
    const Block *block = &c->graph->blocks[id.index];
    for (uint32_t k = 0; k < block->input_count; k++) {
        define(c, block->inputs[k]);
    }
}

static bool leave_block(Checker *c) {
    Frame frame = c->stack[--c->depth];
    const Block *block = &c->graph->blocks[frame.block.index];
    bool sound = true;
    for (uint32_t k = 0; k < block->output_count; k++) {
        ValueId id = block->outputs[k];
        if (is_value(id) && !c->is_visible[id.index]) {
            sound = value_error(c, graph_value(c->graph, id), "an output that no node produces", NULL, NULL);
        }
    }
    while (c->defined_count > frame.defined_from) {
        c->is_visible[c->defined[--c->defined_count]] = false;
    }
    return sound;
}

static bool check_reads(const Checker *c, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        ValueId id = node->inputs[k];
        if (is_value(id) && !c->is_visible[id.index]) {
            const Value *value = graph_value(c->graph, id);
            return node_error(c, node, value->name,
                              is_node(value->producer)
                                  ? "reads a tensor that nothing before it produces: nodes must be in topological order"
                                  : "reads a tensor that has no data, that no node writes and that is no input");
        }
    }
    return true;
}

static bool check_writes(Checker *c, const Node *node) {
    for (uint32_t k = 0; k < node->output_count; k++) {
        ValueId id = node->outputs[k];
        if (!is_value(id)) {
            continue;
        }
        bool has_data = graph_value(c->graph, id)->constant != NULL && !node->is_constant;
        if (c->was_written[id.index] || c->is_visible[id.index] || has_data) {
            return node_error(c, node, graph_value(c->graph, id)->name,
                              "writes a tensor that is already an input, a constant or another node's output");
        }
        c->was_written[id.index] = true;
        define(c, id);
    }
    return true;
}

/* Blocks are entered before the caller's outputs are defined: they can't see them. */
static bool enter_called(Checker *c, const Node *node) {
    bool entered = false;
    for (uint32_t k = 0; k < node->attr_count && !entered; k++) {
        if (node->attrs[k].kind == ATTR_BLOCK && !c->was_walked[node->attrs[k].block.index]) {
            enter_block(c, node->attrs[k].block);
            entered = true;
        }
    }
    return entered;
}

static bool walk_block(Checker *c, BlockId root) {
    bool sound = true;
    enter_block(c, root);
    while (c->depth > 0) {
        Frame *frame = &c->stack[c->depth - 1];
        const Block *block = &c->graph->blocks[frame->block.index];
        if (frame->next == block->node_count) {
            sound = leave_block(c) && sound;
            continue;
        }
        const Node *node = graph_node(c->graph, block->nodes[frame->next]);
        if (enter_called(c, node)) {
            continue; /* the node's turn comes again when its blocks are done */
        }
        frame->next++;
        sound = check_reads(c, node) && sound;
        sound = check_writes(c, node) && sound;
    }
    return sound;
}

/* Folded constants keep the node that made them, so only constants nobody writes are visible everywhere. */
static void show_globals(Checker *c) {
    for (uint32_t v = 0; v < c->graph->value_count; v++) {
        const Value *value = &c->graph->values[v];
        c->is_visible[v] = !is_node(value->producer) && (value->constant != NULL || value->is_state);
    }
}

bool graph_check(const Graph *graph, Work *work) {
    Arena *scratch = &work->scratch;
    Checker c = {.graph = graph,
                 .work = work,
                 .is_visible = arena_array(scratch, bool, graph->value_count),
                 .was_written = arena_array(scratch, bool, graph->value_count),
                 .was_walked = arena_array(scratch, bool, graph->block_count)};
    if (!check_node_ids(&c) || !check_block_ids(&c)) {
        return false;
    }
    bool sound = check_values(&c);
    show_globals(&c);
    for (uint32_t b = 0; b < graph->block_count; b++) {
        if (!c.was_walked[b]) {
            sound = walk_block(&c, (BlockId){b}) && sound;
        }
    }
    return sound;
}
