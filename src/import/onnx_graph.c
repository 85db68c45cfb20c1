/* GraphProto: its names, constants, inputs and outputs, and its nodes in file order.
 *
 * The file has nodes before what they read, so the message is walked once a kind of field: types stated by value_info
 * and outputs, then initializers, inputs, nodes, and at last the outputs by name. */
#include "import/onnx.h"

#include <inttypes.h>

typedef bool FieldReader(Onnx *onnx, OnnxScope *scope, const Field *field);

static bool each(Onnx *onnx, OnnxScope *scope, uint32_t number, FieldReader *read) {
    Wire wire = wire_open(&onnx->file, ONNX_GRAPH, scope->message);
    Field field;
    bool sound = true;
    while (wire_next(&wire, &field)) {
        if (field.number == number) {
            sound = read(onnx, scope, &field) && sound;
        }
    }
    return wire_done(&wire) && sound;
}

/* ---- Names */

ValueId onnx_find_value(const OnnxScope *scope, Str name) {
    for (; scope != NULL; scope = scope->outer) {
        const uint32_t *found = name_map_find(&scope->values, name);
        if (found != NULL) {
            return (ValueId){*found};
        }
    }
    return NO_VALUE;
}

bool onnx_define(OnnxScope *scope, Str name, ValueId id) {
    return *name_map_add(&scope->values, name, id.index) == id.index;
}

static bool twice(const Onnx *onnx, const Value *value, const uint8_t *at) {
    return onnx_error(onnx, at,
                      (DiagText){.tensor = value->name,
                                 .what = "two inputs or constants of one graph have the same name",
                                 .hint = "give each tensor a name of its own"});
}

/* ---- Fields of the graph */

static bool read_declared(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Value type;
    if (!onnx_read_value_info(onnx, field, &type)) {
        return false;
    }
    uint32_t known = *name_map_add(&scope->declared, type.name, scope->type_count);
    if (known < scope->type_count) {
        Value *earlier = &scope->types[known]; /* stated twice: what says more counts */
        *earlier = earlier->has_shape ? *earlier : type;
        return true;
    }
    scope->types =
        arena_grow(&onnx->work->scratch, scope->types, scope->type_count, &scope->type_capacity, sizeof *scope->types);
    scope->types[scope->type_count++] = type;
    return true;
}

static bool add_constant(Onnx *onnx, OnnxScope *scope, const Field *field, Value value) {
    if (value.name.len == 0) {
        return onnx_error(onnx, field->at, (DiagText){.what = "an initializer has no name", .expected = "a name"});
    }
    ValueId id = graph_add_value(onnx->graph, &onnx->work->keep, value);
    return onnx_define(scope, value.name, id) || twice(onnx, &value, field->at);
}

static bool read_initializer(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Value value;
    return onnx_read_tensor(onnx, STR(""), field, &value) && add_constant(onnx, scope, field, value);
}

static bool read_sparse_initializer(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Value value;
    return onnx_read_sparse(onnx, STR(""), field, &value) && add_constant(onnx, scope, field, value);
}

/* An input that is an initializer too: before IR 4 that is how constants are written, since then it is a default that
 * a caller may replace. Either way it is planned as a constant. */
static bool read_default(Onnx *onnx, const OnnxScope *scope, const Field *field, Str name) {
    if (scope->depth > 0) {
        return onnx_refuse(onnx, field->at,
                           (DiagText){.tensor = name,
                                      .what = "the input of a subgraph has a default value",
                                      .hint = "pass the value through the node's inputs"});
    }
    if (onnx->ir_version >= ONNX_FIRST_IR_WITH_DEFAULTS) {
        diag_warn(&onnx->work->diags, (DiagText){.tensor = name,
                                                 .what = "the input has a default value and is taken as a constant",
                                                 .hint = "remove the initializer if callers set this input"});
    }
    return true;
}

static bool read_input(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Value value;
    if (!onnx_read_value_info(onnx, field, &value)) {
        return false;
    }
    const uint32_t *known = name_map_find(&scope->values, value.name);
    if (known != NULL && onnx->graph->values[*known].constant != NULL) {
        return read_default(onnx, scope, field, value.name);
    }
    if (value.name.len == 0) {
        return onnx_error(onnx, field->at, (DiagText){.what = "an input has no name", .expected = "a name"});
    }
    value.is_input = scope->depth == 0;
    ValueId id = graph_add_value(onnx->graph, &onnx->work->keep, value);
    scope->block.inputs[scope->block.input_count++] = id;
    return onnx_define(scope, value.name, id) || twice(onnx, &value, field->at);
}

static bool read_output(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Value stated;
    if (!onnx_read_value_info(onnx, field, &stated)) {
        return false;
    }
    ValueId id = onnx_find_value(scope, stated.name);
    if (!is_value(id)) {
        return onnx_error(onnx, field->at,
                          (DiagText){.tensor = stated.name,
                                     .what = "nothing produces this output of the graph",
                                     .expected = "the name of an input, a constant or a node's output",
                                     .hint = "the file is damaged or incomplete: export it again"});
    }
    if (scope->depth == 0) {
        graph_value(onnx->graph, id)->is_output = true;
    }
    scope->block.outputs[scope->block.output_count++] = id;
    return true;
}

static bool read_nodes(Onnx *onnx, OnnxScope *scope) {
    if (!onnx_order_nodes(onnx, scope)) {
        return false;
    }
    bool sound = true;
    for (uint32_t n = 0; n < scope->node_count; n++) {
        sound = onnx_read_node(onnx, scope, scope->order[n]) && sound;
    }
    return sound;
}

static bool note_node(Onnx *onnx, OnnxScope *scope, const Field *field) {
    (void)onnx;
    scope->nodes[scope->node_count++] = field->bytes;
    return true;
}

/* ---- The graph */

typedef struct {
    size_t nodes, inputs, outputs;
} GraphSize;

static bool measure(const Onnx *onnx, OnnxScope *scope, GraphSize *size) {
    Wire wire = wire_open(&onnx->file, ONNX_GRAPH, scope->message);
    Field field;
    while (wire_next(&wire, &field)) {
        size->nodes += field.number == ONNX_GRAPH_NODE;
        size->inputs += field.number == ONNX_GRAPH_INPUT;
        size->outputs += field.number == ONNX_GRAPH_OUTPUT;
        if (field.number == ONNX_GRAPH_NAME) {
            scope->block.name = field_str(&field);
        }
    }
    return wire_done(&wire);
}

bool onnx_read_graph(Onnx *onnx, Span message, const OnnxScope *outer, BlockId *block) {
    Arena *keep = &onnx->work->keep;
    Arena *scratch = &onnx->work->scratch;
    OnnxScope scope = {.outer = outer,
                       .depth = outer == NULL ? 0 : outer->depth + 1,
                       .message = message,
                       .values = name_map(scratch),
                       .declared = name_map(scratch)};
    GraphSize size = {0};
    if (!measure(onnx, &scope, &size)) {
        return false;
    }
    scope.block.inputs = arena_array(keep, ValueId, size.inputs);
    scope.block.outputs = arena_array(keep, ValueId, size.outputs);
    scope.block.nodes = arena_array(keep, NodeId, size.nodes);
    scope.nodes = arena_array(scratch, Span, size.nodes);
    scope.order = arena_array(scratch, uint32_t, size.nodes);
    *block = graph_add_block(onnx->graph, keep, scope.block); /* its number first: the main graph is block 0 */

    bool sound = each(onnx, &scope, ONNX_GRAPH_VALUE_INFO, read_declared);
    sound = each(onnx, &scope, ONNX_GRAPH_OUTPUT, read_declared) && sound;
    sound = each(onnx, &scope, ONNX_GRAPH_INITIALIZER, read_initializer) && sound;
    sound = each(onnx, &scope, ONNX_GRAPH_SPARSE_INITIALIZER, read_sparse_initializer) && sound;
    sound = each(onnx, &scope, ONNX_GRAPH_INPUT, read_input) && sound;
    sound = sound && each(onnx, &scope, ONNX_GRAPH_NODE, note_node) && read_nodes(onnx, &scope);
    sound = sound && each(onnx, &scope, ONNX_GRAPH_OUTPUT, read_output);
    onnx->graph->blocks[block->index] = scope.block;
    return sound;
}
