/* NodeProto: an operator with its inputs, outputs and attributes. Constant nodes become constant values, and no node.
 *
 * needs   the order of onnx_order.c: whatever a node reads is defined when the node's turn comes, or not at all */
#include "import/onnx.h"

#include "base/fault.h"
#include "base/nearest.h"
#include "layout/packed.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Onnx *onnx;
    OnnxScope *scope;
    Span message;
    const uint8_t *at;
    Str op_type, domain;
    Node node;
} NodeReader;

static bool node_error(const NodeReader *r, Str tensor, DiagText text) {
    text.node = r->node.name;
    text.tensor = tensor;
    return onnx_error(r->onnx, r->at, text);
}

/* ---- Names, counts, operator */

Str onnx_numbered(Arena *keep, Str op_type, uint32_t index) {
    return arena_format(keep, STR_FMT "#%" PRIu32, STR_ARG(op_type), index);
}

static bool read_header(NodeReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_NODE, r->message);
    Field field;
    while (wire_next(&wire, &field)) {
        switch (field.number) {
        case ONNX_NODE_INPUT:
            r->node.input_count++;
            break;
        case ONNX_NODE_OUTPUT:
            r->node.output_count++;
            break;
        case ONNX_NODE_ATTRIBUTE:
            r->node.attr_count++;
            break;
        case ONNX_NODE_NAME:
            r->node.name = field_str(&field);
            break;
        case ONNX_NODE_OP_TYPE:
            r->op_type = field_str(&field);
            break;
        default:
            r->domain = field_str(&field);
        }
    }
    if (str_eq(r->domain, STR("ai.onnx"))) {
        r->domain = STR("");
    }
    return wire_done(&wire);
}

static bool refuse_function(const NodeReader *r) {
    return onnx_refuse(r->onnx, r->at,
                       (DiagText){.node = r->node.name,
                                  .what = arena_text(&r->onnx->work->keep, "'" STR_FMT "' is a function of the model",
                                                     STR_ARG(r->node.op_name)),
                                  .expected = "operators only",
                                  .hint = "inline the functions first: onnx.inliner.inline_local_functions(model)"});
}

/* A slip of the hand, or an operator that has no place in ai.onnx. */
static const char *operator_hint(const NodeReader *r) {
    Arena *keep = &r->onnx->work->keep;
    Nearest nearest = {.typed = r->op_type};
    for (int op = 0; op < OP_COUNT; op++) {
        const OpInfo *info = op_info((OpId)op);
        if (info->domain[0] == '\0') {
            nearest_offer(&nearest, str_from(info->name));
        }
    }
    const char *custom =
        "a custom operator: state its domain in NodeProto.domain and opset_import, and the shapes of its "
        "outputs in value_info";
    if (nearest.name.len > 0) {
        return arena_text(keep, "did you mean '" STR_FMT "'? Or %s", STR_ARG(nearest.name), custom);
    }
    return r->node.version > OPSET_KNOWN
               ? arena_text(keep, "export for version %d or older; or %s", OPSET_KNOWN, custom)
               : custom;
}

/* Once an operator. */
static bool refuse_operator(const NodeReader *r) {
    NameMap *reported = &r->onnx->unknown_ops;
    size_t count = reported->count;
    name_map_add(reported, r->op_type, 0);
    if (reported->count == count) {
        return false;
    }
    Arena *keep = &r->onnx->work->keep;
    return onnx_refuse(
        r->onnx, r->at,
        (DiagText){.node = r->node.name,
                   .what = arena_text(keep, "operator '" STR_FMT "' is not known", STR_ARG(r->op_type)),
                   .got = arena_text(keep, "no domain, which means ai.onnx, version %" PRId32, r->node.version),
                   .expected = "an operator of ai.onnx that stride0 knows, or a domain of its own",
                   .hint = operator_hint(r)});
}

static bool find_operator(NodeReader *r) {
    Arena *keep = &r->onnx->work->keep;
    Node *node = &r->node;
    if (node->name.len == 0) {
        node->name = onnx_numbered(keep, r->op_type, node->source_index);
    }
    if (r->op_type.len == 0) {
        return node_error(r, (Str){0}, (DiagText){.what = "the node states no operator", .expected = "an op_type"});
    }
    bool is_standard = r->domain.len == 0;
    node->op_name =
        is_standard ? r->op_type : arena_format(keep, STR_FMT "." STR_FMT, STR_ARG(r->domain), STR_ARG(r->op_type));
    if (name_map_find(&r->onnx->functions, node->op_name) != NULL) {
        return refuse_function(r);
    }
    const uint32_t *version = name_map_find(&r->onnx->opsets, r->domain);
    if (version == NULL && is_standard) {
        return node_error(r, (Str){0},
                          (DiagText){.what = "the model states no version of the operators it uses",
                                     .expected = "an opset_import of domain ai.onnx"});
    }
    node->version = version == NULL ? 0 : (int32_t)*version;
    node->op = op_find(r->domain, r->op_type);
    if (node->op == OP_NONE && is_standard) {
        return refuse_operator(r);
    }
    node->op = node->op == OP_NONE ? OP_CUSTOM : node->op;
    return true;
}

/* ---- Inputs */

static bool undefined_input(const NodeReader *r, Str name) {
    Arena *keep = &r->onnx->work->keep;
    return node_error(
        r, name,
        (DiagText){.what = arena_text(keep, "an input of " STR_FMT " is not defined", STR_ARG(r->op_type)),
                   .expected = "a graph input, a constant or the output of an earlier node",
                   .hint = "the file is incomplete: export it again"});
}

static bool read_inputs(NodeReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_NODE, r->message);
    Field field;
    uint32_t at = 0;
    bool sound = true;
    r->node.inputs = arena_array(&r->onnx->work->keep, ValueId, r->node.input_count);
    while (wire_next(&wire, &field)) {
        if (field.number != ONNX_NODE_INPUT) {
            continue;
        }
        ValueId id = NO_VALUE;
        if (field.bytes.len > 0) {
            id = onnx_find_value(r->scope, field_str(&field));
            sound = (is_value(id) || undefined_input(r, field_str(&field))) && sound;
        }
        r->node.inputs[at++] = id;
    }
    return wire_done(&wire) && sound;
}

/* ---- Attributes */

/* Few attributes, or a hostile file: past this many, names are not compared with one another. */
enum { MOST_COMPARED = 64 };

static bool is_stated_before(const NodeReader *r, uint32_t count, Str name) {
    for (uint32_t k = 0; k < count && k < MOST_COMPARED; k++) {
        if (str_eq(r->node.attrs[k].name, name)) {
            return true;
        }
    }
    return false;
}

static bool read_attrs(NodeReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_NODE, r->message);
    Field field;
    uint32_t at = 0;
    if (r->node.attr_count == 0) {
        return true;
    }
    r->node.attrs = arena_array(&r->onnx->work->keep, Attr, r->node.attr_count);
    while (wire_next(&wire, &field)) {
        if (field.number != ONNX_NODE_ATTRIBUTE) {
            continue;
        }
        Attr *attr = &r->node.attrs[at];
        if (!onnx_read_attr(r->onnx, r->scope, r->node.name, &field, attr)) {
            return false;
        }
        if (is_stated_before(r, at++, attr->name)) {
            return node_error(
                r, (Str){0},
                (DiagText){.what = arena_text(&r->onnx->work->keep, "attribute '" STR_FMT "' stands twice",
                                              STR_ARG(attr->name))});
        }
    }
    return wire_done(&wire);
}

/* ---- Outputs */

static bool written_twice(const NodeReader *r, Str name) {
    const Value *earlier = graph_value(r->onnx->graph, onnx_find_value(r->scope, name));
    const Node *writer = is_node(earlier->producer) ? graph_node(r->onnx->graph, earlier->producer) : NULL;
    Arena *keep = &r->onnx->work->keep;
    return node_error(
        r, name,
        (DiagText){.what = "the node writes a tensor that exists already",
                   .got = writer == NULL ? "a graph input, a constant or an output of the same node"
                                         : arena_text(keep, "an output of node '" STR_FMT "'", STR_ARG(writer->name)),
                   .expected = "a name that nothing before it has",
                   .hint = "give each tensor a name of its own"});
}

/* What the file states about a name, or a value of which only the name is known. */
static bool stated_value(const NodeReader *r, Str name, Value *value) {
    const uint32_t *declared = name_map_find(&r->scope->declared, name);
    if (declared != NULL && !onnx_read_value_info(r->onnx, &r->scope->fields[*declared], value)) {
        return false;
    }
    if (declared == NULL) {
        *value = (Value){.name = name, .producer = NO_NODE};
    }
    value->source = wire_place(&r->onnx->file, r->at);
    return true;
}

static bool add_output(const NodeReader *r, Str name, ValueId *id) {
    Value value;
    if (!stated_value(r, name, &value)) {
        return false;
    }
    *id = graph_add_value(r->onnx->graph, &r->onnx->work->keep, value);
    return onnx_define(r->scope, name, *id) || written_twice(r, name);
}

static bool read_outputs(NodeReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_NODE, r->message);
    Field field;
    uint32_t at = 0;
    bool sound = true;
    r->node.outputs = arena_array(&r->onnx->work->keep, ValueId, r->node.output_count);
    while (wire_next(&wire, &field)) {
        if (field.number != ONNX_NODE_OUTPUT) {
            continue;
        }
        Str name = field_str(&field);
        ValueId id = NO_VALUE;
        if (name.len > 0) {
            sound = add_output(r, name, &id) && sound;
        }
        r->node.outputs[at++] = id;
    }
    return wire_done(&wire) && sound;
}

/* ---- Constant */

static Value number_list(Arena *keep, DType dtype, const Attr *attr) {
    bool is_list = attr->kind == ATTR_INTS || attr->kind == ATTR_FLOATS || attr->kind == ATTR_STRS;
    uint32_t count = is_list ? attr->count : 1;
    uint32_t bits = dtype_bits(dtype);
    uint64_t size_bytes = 0;
    CHECK(packed_bytes(count, bits, &size_bytes)); /* `count` has 32 bits */
    uint8_t *to = arena_array(keep, uint8_t, (size_t)size_bytes);
    for (uint32_t k = 0; k < count && bits > 0; k++) {
        uint64_t code = 0;
        if (dtype == DTYPE_I64) {
            int64_t number = is_list ? attr->ints[k] : attr->i;
            memcpy(&code, &number, sizeof code);
        } else {
            float number = is_list ? attr->floats[k] : (float)attr->f;
            uint32_t low;
            memcpy(&low, &number, sizeof low);
            code = low;
        }
        packed_write(to, k, bits, code);
    }
    Shape shape = {.rank = is_list ? 1 : 0, .dim = {is_list ? (int64_t)count : 0}};
    Const *constant = arena_new(keep, Const);
    *constant = (Const){.stored = shape, .is_known = bits > 0};
    constant->bytes = size_bytes == 0 ? (Span){NULL, 0} : (Span){to, (size_t)size_bytes};
    return (Value){.dtype = dtype, .has_shape = true, .shape = shape, .constant = constant, .producer = NO_NODE};
}

static bool constant_of_attr(const NodeReader *r, const Attr *attr, ValueId *id) {
    DType dtype = DTYPE_STRING;
    switch (attr->kind) {
    case ATTR_TENSOR:
        *id = attr->tensor;
        return true;
    case ATTR_BLOCK:
        return node_error(r, (Str){0}, (DiagText){.what = "a Constant holds a graph", .expected = "a value"});
    case ATTR_INT:
    case ATTR_INTS:
        dtype = DTYPE_I64;
        break;
    case ATTR_FLOAT:
    case ATTR_FLOATS:
        dtype = DTYPE_F32;
        break;
    case ATTR_STR:
    case ATTR_STRS:
        break;
    }
    Arena *keep = &r->onnx->work->keep;
    *id = graph_add_value(r->onnx->graph, keep, number_list(keep, dtype, attr));
    return true;
}

static Str only_output(const NodeReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_NODE, r->message);
    Field field;
    Str name = {0};
    while (wire_next(&wire, &field)) {
        name = field.number == ONNX_NODE_OUTPUT ? field_str(&field) : name;
    }
    return name;
}

/* The value of the one attribute that starts with "value" or "sparse_value". */
static bool read_constant(NodeReader *r) {
    const Attr *found = NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < r->node.attr_count; k++) {
        const Attr *attr = &r->node.attrs[k];
        if (str_starts(attr->name, STR("value")) || str_eq(attr->name, STR("sparse_value"))) {
            found = attr;
            count++;
        }
    }
    Str name = only_output(r);
    if (count != 1 || r->node.output_count != 1 || name.len == 0) {
        return node_error(r, name,
                          (DiagText){.what = "a Constant needs one value and one output",
                                     .got = arena_text(&r->onnx->work->keep, "%" PRIu32 " values, %" PRIu32 " outputs",
                                                       count, r->node.output_count)});
    }
    ValueId id = NO_VALUE;
    if (!constant_of_attr(r, found, &id)) {
        return false;
    }
    Value *value = graph_value(r->onnx->graph, id);
    value->name = name;
    value->source = wire_place(&r->onnx->file, r->at);
    return onnx_define(r->scope, name, id) || written_twice(r, name);
}

/* ---- The node */

/* Outputs come last: a node's subgraphs do not see them. */
bool onnx_read_node(Onnx *onnx, OnnxScope *scope, uint32_t index) {
    NodeReader r = {.onnx = onnx, .scope = scope, .message = scope->nodes[index], .at = scope->nodes[index].ptr};
    r.node.source_index = index;
    if (!read_header(&r)) {
        return false;
    }
    bool sound = find_operator(&r);
    sound = read_inputs(&r) && sound;
    sound = read_attrs(&r) && sound;
    if (r.node.op == OP_CONSTANT) {
        return sound && read_constant(&r);
    }
    sound = read_outputs(&r) && sound;
    NodeId id = graph_add_node(onnx->graph, &onnx->work->keep, r.node);
    scope->block.nodes[scope->block.node_count++] = id;
    return sound;
}
