/* NodeProto: a node of the file with other inputs and outputs, and nodes the file does not have. */
#include "emit/onnx.h"

#include "base/fault.h"

static void put_ends(const OnnxEdit *e, const Node *node, uint32_t field, Pieces *out) {
    bool is_input = field == ONNX_NODE_INPUT;
    const ValueId *ends = is_input ? node->inputs : node->outputs;
    uint32_t count = is_input ? node->input_count : node->output_count;
    for (uint32_t k = 0; k < count; k++) {
        bool is_absent = !is_value(ends[k]);
        CHECK(is_absent || ends[k].index >= e->edit->file_value_count || !e->edit->is_dropped[ends[k].index]);
        pieces_put_str(out, field, is_absent ? STR("") : graph_value(e->edit->graph, ends[k])->name);
    }
}

/* All inputs stand where the file has the first one, or last where it has none; the same for outputs. */
bool onnx_put_rewired(const OnnxEdit *e, const Node *node, Span message, Pieces *out) {
    CHECK(op_info(node->op)->kind != KIND_CONTROL); /* its inputs are not the file's once its blocks are inlined */
    Splice splice = splice_open(&e->reader.file, ONNX_NODE, message, out->arena);
    bool has_put[] = {[ONNX_NODE_INPUT] = false, [ONNX_NODE_OUTPUT] = false};
    Field field;
    while (splice_next(&splice, &field)) {
        if (field.number != ONNX_NODE_INPUT && field.number != ONNX_NODE_OUTPUT) {
            continue;
        }
        Pieces *to = splice_replace(&splice, &field);
        if (!has_put[field.number]) {
            has_put[field.number] = true;
            put_ends(e, node, field.number, to);
        }
    }
    bool sound = splice_close(&splice);
    for (uint32_t number = ONNX_NODE_INPUT; number <= ONNX_NODE_OUTPUT; number++) {
        if (!has_put[number]) {
            put_ends(e, node, number, &splice.out);
        }
    }
    pieces_put_message(out, ONNX_GRAPH_NODE, &splice.out);
    return sound;
}

/* ---- Added nodes */

/* AttributeProto.AttributeType */
static const uint8_t type_codes[] = {
    [ATTR_FLOAT] = 1,  [ATTR_INT] = 2,  [ATTR_STR] = 3,  [ATTR_TENSOR] = 4,
    [ATTR_FLOATS] = 6, [ATTR_INTS] = 7, [ATTR_STRS] = 8,
};

static void put_list(const Attr *attr, Pieces *to) {
    for (uint32_t k = 0; k < attr->count; k++) {
        if (attr->kind == ATTR_INTS) {
            pieces_put_int(to, ONNX_ATTRIBUTE_INTS, attr->ints[k]);
        } else if (attr->kind == ATTR_FLOATS) {
            pieces_put_float(to, ONNX_ATTRIBUTE_FLOATS, attr->floats[k]);
        } else {
            pieces_put_str(to, ONNX_ATTRIBUTE_STRINGS, attr->strs[k]);
        }
    }
}

static void put_attr_value(const OnnxEdit *e, const Attr *attr, Pieces *to) {
    switch (attr->kind) {
    case ATTR_INT:
        pieces_put_int(to, ONNX_ATTRIBUTE_I, attr->i);
        break;
    case ATTR_FLOAT:
        pieces_put_float(to, ONNX_ATTRIBUTE_F, (float)attr->f);
        break;
    case ATTR_STR:
        pieces_put_str(to, ONNX_ATTRIBUTE_S, attr->s);
        break;
    case ATTR_INTS:
    case ATTR_FLOATS:
    case ATTR_STRS:
        put_list(attr, to);
        break;
    case ATTR_TENSOR:
        onnx_put_tensor(to, ONNX_ATTRIBUTE_T, graph_value(e->edit->graph, attr->tensor));
        break;
    case ATTR_BLOCK:
        CHECK(attr->kind != ATTR_BLOCK); /* no rewrite makes a node that calls */
    }
}

static void put_attr(const OnnxEdit *e, const Attr *attr, Pieces *to) {
    Pieces message = pieces(to->arena);
    pieces_put_str(&message, ONNX_ATTRIBUTE_NAME, attr->name);
    put_attr_value(e, attr, &message);
    pieces_put_varint(&message, ONNX_ATTRIBUTE_TYPE, type_codes[attr->kind]);
    pieces_put_message(to, ONNX_NODE_ATTRIBUTE, &message);
}

/* "com.microsoft.Gelu" is Gelu of com.microsoft: an operator's own name has no dot. */
static Str split_domain(Str *op_type) {
    size_t len = op_type->len;
    while (len > 0 && op_type->ptr[len - 1] != '.') {
        len--;
    }
    Str domain = {op_type->ptr, len == 0 ? 0 : len - 1};
    *op_type = (Str){op_type->ptr + len, op_type->len - len};
    return domain;
}

void onnx_put_added_node(const OnnxEdit *e, const Node *node, Pieces *out) {
    Pieces message = pieces(out->arena);
    Str op_type = node->op_name;
    Str domain = split_domain(&op_type);
    put_ends(e, node, ONNX_NODE_INPUT, &message);
    put_ends(e, node, ONNX_NODE_OUTPUT, &message);
    if (node->name.len > 0) {
        pieces_put_str(&message, ONNX_NODE_NAME, node->name);
    }
    pieces_put_str(&message, ONNX_NODE_OP_TYPE, op_type);
    for (uint32_t k = 0; k < node->attr_count; k++) {
        put_attr(e, &node->attrs[k], &message);
    }
    if (domain.len > 0) {
        pieces_put_str(&message, ONNX_NODE_DOMAIN, domain);
    }
    pieces_put_message(out, ONNX_GRAPH_NODE, &message);
}
