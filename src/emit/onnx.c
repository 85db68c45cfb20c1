/* ModelProto and GraphProto: every field of the file stays as it is, unless the edit says otherwise.
 *
 * Nodes keep their order; an added node stands before the node that the edit names. What else is added stands at the
 * end of the graph: fields of different numbers have no order among them. */
#include "emit/onnx.h"

#include <inttypes.h>

enum { MOST_BYTES = INT32_MAX }; /* of a message, and so of a file: protobuf's own limit */

/* ---- Fields of the graph that name values */

static bool drop_if(Splice *splice, const Field *field, bool is_dropped) {
    if (is_dropped) {
        splice_replace(splice, field);
    }
    return true;
}

/* A file of IR 3 has an input for each initializer; they go together. */
static bool edit_input(const OnnxEdit *e, Splice *splice, const Field *field) {
    Str name;
    return onnx_find_name(e, ONNX_VALUE_INFO, field->bytes, ONNX_VALUE_INFO_NAME, &name) &&
           drop_if(splice, field, onnx_is_dropped(e, name));
}

static bool edit_initializer(const OnnxEdit *e, Splice *splice, const Field *field) {
    Str name;
    return onnx_find_name(e, ONNX_TENSOR, field->bytes, ONNX_TENSOR_NAME, &name) &&
           drop_if(splice, field, onnx_is_dropped(e, name));
}

static bool edit_sparse_initializer(const OnnxEdit *e, Splice *splice, const Field *field) {
    Str name;
    return onnx_sparse_name(e, field->bytes, &name) && drop_if(splice, field, onnx_is_dropped(e, name));
}

/* Free dimensions agree with any: the graph may have them bound, and the file keeps them free. */
static bool agrees(const Value *stated, const Value *now) {
    if (stated->is_sequence != now->is_sequence || (stated->dtype != DTYPE_NONE && stated->dtype != now->dtype)) {
        return false;
    }
    if (!stated->has_shape || !now->has_shape) {
        return true;
    }
    bool same = stated->shape.rank == now->shape.rank;
    for (uint32_t k = 0; same && k < now->shape.rank; k++) {
        int64_t dim = stated->shape.dim[k];
        same = dim == DIM_FREE || now->shape.dim[k] == DIM_FREE || dim == now->shape.dim[k];
    }
    return same;
}

static bool edit_value_info(const OnnxEdit *e, Splice *splice, const Field *field) {
    Str name;
    if (!onnx_find_name(e, ONNX_VALUE_INFO, field->bytes, ONNX_VALUE_INFO_NAME, &name)) {
        return false;
    }
    const uint32_t *value = onnx_named(e, name);
    if (value == NULL || !e->is_remade[*value]) {
        return drop_if(splice, field, onnx_is_dropped(e, name));
    }
    Value stated;
    return onnx_read_value_info(&e->reader, field, &stated) &&
           drop_if(splice, field, !agrees(&stated, &e->edit->graph->values[*value]));
}

/* Goes where the tensor or one of its parameters goes. */
static bool edit_annotation(const OnnxEdit *e, Splice *splice, const Field *field) {
    Wire wire = wire_open(&e->reader.file, ONNX_ANNOTATION, field->bytes);
    Field part;
    bool is_dropped = false;
    bool sound = true;
    while (sound && wire_next(&wire, &part)) {
        Str name = field_str(&part);
        if (part.number == ONNX_ANNOTATION_PARAMETERS) {
            sound = onnx_find_name(e, ONNX_ENTRY, part.bytes, ONNX_ENTRY_VALUE, &name);
        }
        is_dropped = is_dropped || onnx_is_dropped(e, name);
    }
    return wire_done(&wire) && sound && drop_if(splice, field, is_dropped);
}

/* ---- Nodes */

static void put_added_nodes(OnnxEdit *e, uint32_t end, Pieces *out) {
    const ModelEdit *edit = e->edit;
    while (e->added < edit->added_node_count && edit->added_nodes[e->added].before < end) {
        onnx_put_added_node(e, graph_node(edit->graph, edit->added_nodes[e->added++].id), out);
    }
}

/* A Constant is no node of the graph: it goes with its value. */
static bool fate_of(const OnnxEdit *e, uint32_t position, Span message, NodeFate *fate) {
    const ModelEdit *edit = e->edit;
    bool is_known = position < edit->file_node_count;
    *fate = is_known ? edit->fates[position] : NODE_AS_FILED;
    if (is_known && is_node(edit->file_nodes[position])) {
        return true;
    }
    Str name;
    bool sound = onnx_find_name(e, ONNX_NODE, message, ONNX_NODE_OUTPUT, &name);
    *fate = onnx_is_dropped(e, name) ? NODE_DROPPED : *fate;
    return sound;
}

static bool edit_node(OnnxEdit *e, Splice *splice, const Field *field) {
    uint32_t position = e->node++;
    NodeFate fate;
    if (!fate_of(e, position, field->bytes, &fate)) {
        return false;
    }
    if (position < e->edit->file_node_count) {
        put_added_nodes(e, position + 1, splice_insert(splice, field));
    }
    if (fate == NODE_AS_FILED) {
        return onnx_check_reads(e, field->bytes);
    }
    Pieces *out = splice_replace(splice, field);
    return fate == NODE_DROPPED ||
           onnx_put_rewired(e, graph_node(e->edit->graph, e->edit->file_nodes[position]), field->bytes, out);
}

/* ---- The graph */

static void put_constants(const OnnxEdit *e, Pieces *out) {
    const ModelEdit *edit = e->edit;
    for (uint32_t k = 0; k < edit->added_value_count; k++) {
        const Value *value = graph_value(edit->graph, edit->added_values[k]);
        if (value->constant == NULL) {
            continue;
        }
        onnx_put_tensor(out, ONNX_GRAPH_INITIALIZER, value);
        if (e->reader.ir_version < ONNX_FIRST_IR_WITH_DEFAULTS) {
            onnx_put_value_info(out, ONNX_GRAPH_INPUT, value);
        }
    }
}

static bool edit_graph_field(OnnxEdit *e, Splice *splice, const Field *field) {
    switch (field->number) {
    case ONNX_GRAPH_NODE:
        return edit_node(e, splice, field);
    case ONNX_GRAPH_INITIALIZER:
        return edit_initializer(e, splice, field);
    case ONNX_GRAPH_SPARSE_INITIALIZER:
        return edit_sparse_initializer(e, splice, field);
    case ONNX_GRAPH_INPUT:
        return edit_input(e, splice, field);
    case ONNX_GRAPH_VALUE_INFO:
        return edit_value_info(e, splice, field);
    case ONNX_GRAPH_ANNOTATION:
        return !e->drops_values || edit_annotation(e, splice, field);
    default:
        return true;
    }
}

static bool edit_graph(OnnxEdit *e, Span graph, Pieces *out) {
    if (!onnx_note_names(e, graph)) {
        return false;
    }
    Splice splice = splice_open(&e->reader.file, ONNX_GRAPH, graph, out->arena);
    Field field;
    bool sound = true;
    while (splice_next(&splice, &field)) {
        sound = edit_graph_field(e, &splice, &field) && sound;
    }
    sound = splice_close(&splice) && sound;
    put_added_nodes(e, UINT32_MAX, &splice.out);
    put_constants(e, &splice.out);
    *out = splice.out;
    return sound;
}

/* ---- The model */

static bool read_ir_version(OnnxEdit *e) {
    Wire wire = wire_open(&e->reader.file, ONNX_MODEL, e->reader.file.file);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_MODEL_IR_VERSION) {
            e->reader.ir_version = field.scalar > INT32_MAX ? INT32_MAX : (int64_t)field.scalar;
        }
    }
    return wire_done(&wire);
}

/* A graph that did not change keeps the encoding of its length, too. */
static bool edit_model(OnnxEdit *e, Splice *splice) {
    Field field;
    bool sound = true;
    while (splice_next(splice, &field)) {
        if (field.number != ONNX_MODEL_GRAPH) {
            continue;
        }
        Pieces graph = pieces(splice->out.arena);
        sound = edit_graph(e, field.bytes, &graph) && sound;
        if (!pieces_are(&graph, field.bytes)) {
            pieces_put_message(splice_replace(splice, &field), ONNX_MODEL_GRAPH, &graph);
        }
    }
    return splice_close(splice) && sound;
}

static bool too_large(Work *work, uint64_t bytes) {
    return diag_error(&work->diags,
                      (DiagText){.what = "the edited model is larger than an ONNX file can be",
                                 .got = arena_text(&work->keep, "%" PRIu64 " bytes", bytes),
                                 .expected = arena_text(&work->keep, "%d bytes at most, protobuf's limit", MOST_BYTES),
                                 .hint = "store the model's constants as external data"});
}

bool emit_onnx(const ModelEdit *edit, Span file, Work *work, Span *out) {
    OnnxEdit e = {.edit = edit, .reader = {.file = {.file = file, .work = work}, .work = work}};
    Splice model = splice_open(&e.reader.file, ONNX_MODEL, file, &work->scratch);
    if (!read_ir_version(&e) || !edit_model(&e, &model)) {
        return false;
    }
    if (pieces_are(&model.out, file)) {
        *out = file;
        return true;
    }
    if (model.out.bytes > MOST_BYTES) {
        return too_large(work, model.out.bytes);
    }
    *out = pieces_join(&model.out, &work->keep);
    return true;
}
