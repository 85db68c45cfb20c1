/* AttributeProto: one attribute of a node.
 *
 * Its type says which field counts; the first versions of ONNX have no type, there the field that is present does. A
 * number that is 0 may not be written at all. */
#include "import/onnx.h"

#include <inttypes.h>
#include <string.h>

/* AttributeProto.AttributeType, with the field that each fills. */
enum {
    TYPE_UNDEFINED,
    TYPE_FLOAT,
    TYPE_INT,
    TYPE_STRING,
    TYPE_TENSOR,
    TYPE_GRAPH,
    TYPE_FLOATS,
    TYPE_INTS,
    TYPE_STRINGS,
    TYPE_TENSORS,
    TYPE_GRAPHS,
    TYPE_SPARSE_TENSOR,
    TYPE_SPARSE_TENSORS,
    TYPE_TYPE_PROTO,
    TYPE_TYPE_PROTOS,
    TYPE_COUNT
};

static const uint32_t field_of_type[TYPE_COUNT] = {
    [TYPE_FLOAT] = ONNX_ATTRIBUTE_F,
    [TYPE_INT] = ONNX_ATTRIBUTE_I,
    [TYPE_STRING] = ONNX_ATTRIBUTE_S,
    [TYPE_TENSOR] = ONNX_ATTRIBUTE_T,
    [TYPE_GRAPH] = ONNX_ATTRIBUTE_G,
    [TYPE_FLOATS] = ONNX_ATTRIBUTE_FLOATS,
    [TYPE_INTS] = ONNX_ATTRIBUTE_INTS,
    [TYPE_STRINGS] = ONNX_ATTRIBUTE_STRINGS,
    [TYPE_TENSORS] = ONNX_ATTRIBUTE_TENSORS,
    [TYPE_GRAPHS] = ONNX_ATTRIBUTE_GRAPHS,
    [TYPE_SPARSE_TENSOR] = ONNX_ATTRIBUTE_SPARSE_TENSOR,
    [TYPE_SPARSE_TENSORS] = ONNX_ATTRIBUTE_SPARSE_TENSORS,
    [TYPE_TYPE_PROTO] = ONNX_ATTRIBUTE_TP,
    [TYPE_TYPE_PROTOS] = ONNX_ATTRIBUTE_TYPE_PROTOS,
};

typedef struct {
    Onnx *onnx;
    OnnxScope *scope;
    Str node;
    Span message;
    const uint8_t *at;
    Str name;
    uint64_t type;
    uint32_t field; /* the one that counts */
    uint64_t count; /* its elements */
    Field first;    /* the field of a single value; number 0 where it is absent */
    bool is_reference;
} AttrReader;

static bool attr_error(const AttrReader *r, const char *what, const char *got, const char *expected) {
    Arena *arena = &r->onnx->work->keep;
    return onnx_error(r->onnx, r->at,
                      (DiagText){.node = r->node,
                                 .what = arena_text(arena, "attribute '" STR_FMT "' %s", STR_ARG(r->name), what),
                                 .got = got,
                                 .expected = expected});
}

static bool attr_refuse(const AttrReader *r, const char *what, const char *hint) {
    Arena *arena = &r->onnx->work->keep;
    return onnx_refuse(r->onnx, r->at,
                       (DiagText){.node = r->node,
                                  .what = arena_text(arena, "attribute '" STR_FMT "' %s", STR_ARG(r->name), what),
                                  .hint = hint});
}

/* Name, type, and the field that is there: what the second pass needs. */
static bool read_header(AttrReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_ATTRIBUTE, r->message);
    Field field;
    while (wire_next(&wire, &field)) {
        switch (field.number) {
        case ONNX_ATTRIBUTE_NAME:
            r->name = field_str(&field);
            break;
        case ONNX_ATTRIBUTE_TYPE:
            r->type = field.scalar;
            break;
        case ONNX_ATTRIBUTE_REF_ATTR_NAME:
            r->is_reference = field.bytes.len > 0;
            break;
        default:
            r->field = field.number;
        }
    }
    if (!wire_done(&wire)) {
        return false;
    }
    if (r->type >= TYPE_COUNT) {
        return attr_error(r, "has an unknown type", arena_text(&r->onnx->work->keep, "%" PRIu64, r->type),
                          "an AttributeType from 1 to 14");
    }
    if (r->type != TYPE_UNDEFINED) {
        r->field = field_of_type[r->type];
    }
    return true;
}

static bool is_numbers(uint32_t field) {
    return field == ONNX_ATTRIBUTE_INTS || field == ONNX_ATTRIBUTE_FLOATS;
}

static bool count_elements(AttrReader *r) {
    Wire wire = wire_open(&r->onnx->file, ONNX_ATTRIBUTE, r->message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == r->field) {
            r->first = field;
            r->count += is_numbers(r->field) ? numbers_count(&wire, &field) : 1;
        }
    }
    return wire_done(&wire) && (r->count <= UINT32_MAX || attr_error(r, "has too many elements", NULL, NULL));
}

static int64_t int_of(uint64_t bits) {
    int64_t number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* ---- Lists */

typedef struct {
    int64_t *ints;
    float *floats;
    Str *strs;
    uint32_t at;
} ListWriter;

/* Never more than were counted: see numbers_count. */
static void read_list_field(Wire *wire, const Field *field, ListWriter *list) {
    if (list->strs != NULL) {
        list->strs[list->at++] = field_str(field);
        return;
    }
    Numbers numbers = numbers_open(wire, field);
    uint64_t bits;
    while (numbers_next(&numbers, &bits)) {
        if (list->ints != NULL) {
            list->ints[list->at++] = int_of(bits);
        } else {
            list->floats[list->at++] = (float)dtype_float(DTYPE_F32, bits);
        }
    }
}

static bool read_list(AttrReader *r, ListWriter list) {
    Wire wire = wire_open(&r->onnx->file, ONNX_ATTRIBUTE, r->message);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == r->field) {
            read_list_field(&wire, &field, &list);
        }
    }
    return wire_done(&wire);
}

static bool read_ints(AttrReader *r, Attr *attr) {
    int64_t *ints = arena_array(&r->onnx->work->keep, int64_t, (size_t)r->count);
    attr->kind = ATTR_INTS;
    attr->ints = ints;
    return read_list(r, (ListWriter){.ints = ints});
}

static bool read_floats(AttrReader *r, Attr *attr) {
    float *floats = arena_array(&r->onnx->work->keep, float, (size_t)r->count);
    attr->kind = ATTR_FLOATS;
    attr->floats = floats;
    return read_list(r, (ListWriter){.floats = floats});
}

static bool read_strs(AttrReader *r, Attr *attr) {
    Str *strs = arena_array(&r->onnx->work->keep, Str, (size_t)r->count);
    attr->kind = ATTR_STRS;
    attr->strs = strs;
    return read_list(r, (ListWriter){.strs = strs});
}

/* ---- Tensors and graphs */

static bool read_tensor(AttrReader *r, Attr *attr, bool is_sparse) {
    if (r->first.number == 0) {
        return attr_error(r, "is a tensor, but holds none", NULL, NULL);
    }
    Value value = {0};
    attr->kind = ATTR_TENSOR;
    if (!(is_sparse ? onnx_read_sparse : onnx_read_tensor)(r->onnx, r->node, &r->first, &value)) {
        return false;
    }
    attr->tensor = graph_add_value(r->onnx->graph, &r->onnx->work->keep, value);
    return true;
}

static bool read_graph(AttrReader *r, Attr *attr) {
    if (r->first.number == 0) {
        return attr_error(r, "is a graph, but holds none", NULL, NULL);
    }
    if (r->scope->depth == ONNX_MAX_DEPTH) {
        return attr_refuse(r, "nests subgraphs too deeply", "flatten the model's control flow to 16 levels at most");
    }
    attr->kind = ATTR_BLOCK;
    return onnx_read_graph(r->onnx, r->first.bytes, r->scope, &attr->block);
}

static bool read_value(AttrReader *r, Attr *attr) {
    switch (r->field) {
    case ONNX_ATTRIBUTE_F:
        attr->kind = ATTR_FLOAT;
        attr->f = dtype_float(DTYPE_F32, r->first.scalar);
        return true;
    case ONNX_ATTRIBUTE_I:
        attr->kind = ATTR_INT;
        attr->i = int_of(r->first.scalar);
        return true;
    case ONNX_ATTRIBUTE_S:
        attr->kind = ATTR_STR;
        attr->s = field_str(&r->first);
        return true;
    case ONNX_ATTRIBUTE_INTS:
        return read_ints(r, attr);
    case ONNX_ATTRIBUTE_FLOATS:
        return read_floats(r, attr);
    case ONNX_ATTRIBUTE_STRINGS:
        return read_strs(r, attr);
    case ONNX_ATTRIBUTE_T:
        return read_tensor(r, attr, false);
    case ONNX_ATTRIBUTE_SPARSE_TENSOR:
        return read_tensor(r, attr, true);
    case ONNX_ATTRIBUTE_G:
        return read_graph(r, attr);
    case ONNX_ATTRIBUTE_TP:
    case ONNX_ATTRIBUTE_TYPE_PROTOS:
        attr->kind = ATTR_STR; /* only types of sequences and optionals are stated so, which have no layout */
        attr->s = STR("type");
        return true;
    case 0:
        return attr_error(r, "has neither type nor value", NULL, "one of f, i, s, t, g, floats, ints, strings");
    default:
        return attr_refuse(r, "is a list of tensors or graphs, which no operator of ONNX takes", NULL);
    }
}

bool onnx_read_attr(Onnx *onnx, OnnxScope *scope, Str node, const Field *field, Attr *attr) {
    AttrReader reader = {.onnx = onnx, .scope = scope, .node = node, .message = field->bytes, .at = field->at};
    if (!read_header(&reader)) {
        return false;
    }
    if (reader.is_reference) {
        return attr_error(&reader, "refers to an attribute of a function, but stands outside of one", NULL, "a value");
    }
    if (!count_elements(&reader)) {
        return false;
    }
    bool is_list = reader.field == ONNX_ATTRIBUTE_STRINGS || is_numbers(reader.field);
    *attr = (Attr){.name = reader.name, .count = is_list ? (uint32_t)reader.count : 0};
    return read_value(&reader, attr);
}
