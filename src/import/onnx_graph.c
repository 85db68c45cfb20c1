/* GraphProto: its names, constants, inputs and outputs, and its nodes in file order.
 *
 * The file has nodes before what they read, so its fields are collected first and then read kind by kind: types stated
 * by value_info and outputs, then initializers, inputs, nodes, and at last the outputs by name. */
#include "import/onnx.h"

#include <inttypes.h>

typedef bool FieldReader(Onnx *onnx, OnnxScope *scope, const Field *field);

static bool each(Onnx *onnx, OnnxScope *scope, uint32_t number, FieldReader *read) {
    bool sound = true;
    for (size_t k = 0; k < scope->field_count; k++) {
        if (scope->fields[k].number == number) {
            sound = read(onnx, scope, &scope->fields[k]) && sound;
        }
    }
    return sound;
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

/* Only under which name it stands, the last one where it has several: most are read when a node writes that name. The
 * first statement counts. */
static bool note_declared(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Wire wire = wire_open(&onnx->file, ONNX_VALUE_INFO, field->bytes);
    Field part;
    Str name = {0};
    while (wire_next(&wire, &part)) {
        name = part.number == ONNX_VALUE_INFO_NAME ? field_str(&part) : name;
    }
    name_map_add(&scope->declared, name, (uint32_t)(field - scope->fields));
    return wire_done(&wire);
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

static void note_default(Onnx *onnx, Str name) {
    enum { NAMED = 3 };
    Arena *keep = &onnx->work->keep;
    if (onnx->default_count < NAMED) {
        onnx->defaults = arena_text(keep, "%s%s'" STR_FMT "'", onnx->default_count == 0 ? "" : onnx->defaults,
                                    onnx->default_count == 0 ? "" : ", ", STR_ARG(name));
    } else if (onnx->default_count == NAMED) {
        onnx->defaults = arena_text(keep, "%s, ...", onnx->defaults);
    }
    onnx->default_count++;
}

/* An input that is an initializer too: before IR 4 that is how constants are written, since then it is a default that
 * a caller may replace. Either way it is planned as a constant. */
static bool read_default(Onnx *onnx, const OnnxScope *scope, const Field *field, Value *value) {
    if (scope->depth > 0) {
        return onnx_refuse(onnx, field->at,
                           (DiagText){.tensor = value->name,
                                      .what = "the input of a subgraph has a default value",
                                      .hint = "pass the value through the node's inputs"});
    }
    value->is_default = onnx->ir_version >= ONNX_FIRST_IR_WITH_DEFAULTS;
    if (value->is_default) {
        note_default(onnx, value->name);
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
        return read_default(onnx, scope, field, &onnx->graph->values[*known]);
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

/* File order is kept as long as it is in order, and left behind for good where it is not. */
static bool read_nodes(Onnx *onnx, OnnxScope *scope) {
    bool is_ordered = false;
    bool sound = true;
    for (uint32_t n = 0; n < scope->node_count; n++) {
        if (!is_ordered && !onnx_is_ready(onnx, scope, n)) {
            is_ordered = true;
            if (!onnx_order_nodes(onnx, scope)) {
                return false;
            }
        }
        sound = onnx_read_node(onnx, scope, scope->order[n]) && sound;
    }
    return sound;
}

static bool note_node(Onnx *onnx, OnnxScope *scope, const Field *field) {
    (void)onnx;
    scope->order[scope->node_count] = scope->node_count;
    scope->nodes[scope->node_count++] = field->bytes;
    return true;
}

static ValueId named(const OnnxScope *scope, const Field *field) {
    const uint32_t *known = name_map_find(&scope->values, field_str(field));
    return known == NULL ? NO_VALUE : (ValueId){*known};
}

static bool read_annotated(Onnx *onnx, const OnnxScope *scope, const Field *field, size_t *count) {
    Graph *graph = onnx->graph;
    Wire wire = wire_open(&onnx->file, ONNX_ENTRY, field->bytes);
    Field entry;
    while (wire_next(&wire, &entry)) {
        ValueId parameter = entry.number == ONNX_ENTRY_VALUE ? named(scope, &entry) : NO_VALUE;
        if (is_value(parameter)) {
            graph_value(graph, parameter)->is_annotation = true;
            graph->annotations = arena_grow(&onnx->work->keep, graph->annotations, graph->annotation_count,
                                            &graph->annotation_capacity, sizeof *graph->annotations);
            graph->annotations[graph->annotation_count++] = (Annotation){NO_VALUE, parameter};
            ++*count;
        }
    }
    return wire_done(&wire);
}

/* Scales and zero points that no node reads, but quantization_annotation names. The tensor's name may stand behind. */
static bool read_annotation(Onnx *onnx, OnnxScope *scope, const Field *field) {
    Graph *graph = onnx->graph;
    Wire wire = wire_open(&onnx->file, ONNX_ANNOTATION, field->bytes);
    ValueId tensor = NO_VALUE;
    size_t count = 0;
    Field part;
    while (wire_next(&wire, &part)) {
        tensor = part.number == ONNX_ANNOTATION_TENSOR ? named(scope, &part) : tensor;
        if (part.number == ONNX_ANNOTATION_PARAMETERS && !read_annotated(onnx, scope, &part, &count)) {
            return false;
        }
    }
    for (size_t k = graph->annotation_count - count; k < graph->annotation_count; k++) {
        graph->annotations[k].tensor = tensor;
    }
    return wire_done(&wire);
}

/* ---- The graph */

typedef struct {
    size_t nodes, inputs, outputs;
} GraphSize;

static bool collect(const Onnx *onnx, OnnxScope *scope, Span message, GraphSize *size) {
    Wire wire = wire_open(&onnx->file, ONNX_GRAPH, message);
    Field field;
    size_t capacity = 0;
    while (wire_next(&wire, &field)) {
        size->nodes += field.number == ONNX_GRAPH_NODE;
        size->inputs += field.number == ONNX_GRAPH_INPUT;
        size->outputs += field.number == ONNX_GRAPH_OUTPUT;
        if (field.number == ONNX_GRAPH_NAME) {
            scope->block.name = field_str(&field);
            continue;
        }
        scope->fields =
            arena_grow(&onnx->work->scratch, scope->fields, scope->field_count, &capacity, sizeof *scope->fields);
        scope->fields[scope->field_count++] = field;
    }
    return wire_done(&wire);
}

bool onnx_read_graph(Onnx *onnx, Span message, const OnnxScope *outer, BlockId *block) {
    Arena *keep = &onnx->work->keep;
    Arena *scratch = &onnx->work->scratch;
    OnnxScope scope = {.outer = outer,
                       .depth = outer == NULL ? 0 : outer->depth + 1,
                       .values = name_map(scratch),
                       .declared = name_map(scratch)};
    GraphSize size = {0};
    if (!collect(onnx, &scope, message, &size)) {
        return false;
    }
    scope.block.inputs = arena_array(keep, ValueId, size.inputs);
    scope.block.outputs = arena_array(keep, ValueId, size.outputs);
    scope.block.nodes = arena_array(keep, NodeId, size.nodes);
    scope.nodes = arena_array(scratch, Span, size.nodes);
    scope.order = arena_array(scratch, uint32_t, size.nodes);
    *block = graph_add_block(onnx->graph, keep, scope.block); /* its number first: the main graph is block 0 */

    bool sound = each(onnx, &scope, ONNX_GRAPH_OUTPUT, note_declared);
    sound = each(onnx, &scope, ONNX_GRAPH_VALUE_INFO, note_declared) && sound;
    sound = each(onnx, &scope, ONNX_GRAPH_INITIALIZER, read_initializer) && sound;
    sound = each(onnx, &scope, ONNX_GRAPH_SPARSE_INITIALIZER, read_sparse_initializer) && sound;
    sound = each(onnx, &scope, ONNX_GRAPH_INPUT, read_input) && sound;
    sound = sound && each(onnx, &scope, ONNX_GRAPH_NODE, note_node) && read_nodes(onnx, &scope);
    sound = sound && each(onnx, &scope, ONNX_GRAPH_ANNOTATION, read_annotation);
    sound = sound && each(onnx, &scope, ONNX_GRAPH_OUTPUT, read_output);
    onnx->graph->blocks[block->index] = scope.block;
    return sound;
}
