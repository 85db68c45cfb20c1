/* Which value a name of the file's main graph stands for.
 *
 * A subgraph may use a name for a value of its own, so names of values do not tell whose they are; their places do:
 * import takes the name of each value from one place of the file and copies none. So the names that stand in fields
 * of the main graph are looked up by where they stand. */
#include "emit/onnx.h"

#include "base/fault.h"

#include <string.h>

/* ---- Strings of a message */

bool onnx_find_bytes(const OnnxEdit *e, OnnxMessage message, Span bytes, uint32_t number, Span *found) {
    Wire wire = wire_open(&e->reader.file, message, bytes);
    Field field;
    *found = (Span){0};
    while (wire_next(&wire, &field)) {
        if (field.number == number) {
            *found = field.bytes;
        }
    }
    return wire_done(&wire);
}

bool onnx_find_name(const OnnxEdit *e, OnnxMessage message, Span bytes, uint32_t number, Str *name) {
    Span found;
    bool sound = onnx_find_bytes(e, message, bytes, number, &found);
    *name = (Str){(const char *)found.ptr, found.len};
    return sound;
}

bool onnx_sparse_name(const OnnxEdit *e, Span bytes, Str *name) {
    Span values;
    return onnx_find_bytes(e, ONNX_SPARSE, bytes, ONNX_SPARSE_VALUES, &values) &&
           onnx_find_name(e, ONNX_TENSOR, values, ONNX_TENSOR_NAME, name);
}

/* ---- Places */

/* Values by where in the file their name stands; the key is that offset. */
typedef struct {
    OnnxEdit *e;
    NameMap values;
} Places;

static Str place_key(const size_t *offset) {
    return (Str){(const char *)offset, sizeof *offset};
}

static bool offset_of(const OnnxEdit *e, Str name, size_t *offset) {
    Span file = e->reader.file.file;
    uintptr_t at = (uintptr_t)name.ptr;
    uintptr_t start = (uintptr_t)file.ptr;
    if (name.len == 0 || at < start || at - start >= file.len) {
        return false;
    }
    *offset = at - start;
    return true;
}

/* A copy that inlining made has its original's name; the original is the earlier value. */
static Places find_places(OnnxEdit *e) {
    Arena *scratch = &e->reader.work->scratch;
    uint32_t count = e->edit->file_value_count;
    Places places = {.e = e, .values = name_map(scratch)};
    size_t *offsets = arena_array(scratch, size_t, count);
    for (uint32_t v = 0; v < count; v++) {
        if (offset_of(e, e->edit->graph->values[v].name, &offsets[v])) {
            name_map_add(&places.values, place_key(&offsets[v]), v);
        }
    }
    return places;
}

static void note_name(const Places *places, Str name) {
    size_t offset;
    const uint32_t *value =
        offset_of(places->e, name, &offset) ? name_map_find(&places->values, place_key(&offset)) : NULL;
    if (value != NULL) {
        name_map_add(&places->e->names, name, *value);
    }
}

static bool note_outputs(const Places *places, Span node) {
    Wire wire = wire_open(&places->e->reader.file, ONNX_NODE, node);
    Field field;
    while (wire_next(&wire, &field)) {
        if (field.number == ONNX_NODE_OUTPUT) {
            note_name(places, field_str(&field));
        }
    }
    return wire_done(&wire);
}

static bool note_field(const Places *places, const Field *field) {
    Str name = {0};
    bool sound = true;
    switch (field->number) {
    case ONNX_GRAPH_NODE:
        return note_outputs(places, field->bytes);
    case ONNX_GRAPH_INITIALIZER:
        sound = onnx_find_name(places->e, ONNX_TENSOR, field->bytes, ONNX_TENSOR_NAME, &name);
        break;
    case ONNX_GRAPH_SPARSE_INITIALIZER:
        sound = onnx_sparse_name(places->e, field->bytes, &name);
        break;
    case ONNX_GRAPH_INPUT:
    case ONNX_GRAPH_OUTPUT:
    case ONNX_GRAPH_VALUE_INFO:
        sound = onnx_find_name(places->e, ONNX_VALUE_INFO, field->bytes, ONNX_VALUE_INFO_NAME, &name);
        break;
    default:
        break;
    }
    note_name(places, name);
    return sound;
}

static bool note_file_names(OnnxEdit *e, Span graph) {
    Places places = find_places(e);
    Wire wire = wire_open(&e->reader.file, ONNX_GRAPH, graph);
    Field field;
    bool sound = true;
    while (wire_next(&wire, &field)) {
        sound = note_field(&places, &field) && sound;
    }
    return wire_done(&wire) && sound;
}

/* ---- What the edit says of values */

static void note_remade(OnnxEdit *e, NodeId id) {
    const Node *node = graph_node(e->edit->graph, id);
    for (uint32_t k = 0; k < node->output_count; k++) {
        if (is_value(node->outputs[k])) {
            e->is_remade[node->outputs[k].index] = true;
        }
    }
}

static void note_edit(OnnxEdit *e) {
    const ModelEdit *edit = e->edit;
    for (uint32_t n = 0; n < edit->file_node_count; n++) {
        if (edit->fates[n] == NODE_REWIRED) {
            note_remade(e, edit->file_nodes[n]);
        }
    }
    for (uint32_t k = 0; k < edit->added_node_count; k++) {
        CHECK(edit->added_nodes[k].before <= edit->file_node_count);
        CHECK(k == 0 || edit->added_nodes[k - 1].before <= edit->added_nodes[k].before);
        note_remade(e, edit->added_nodes[k].id);
    }
    for (uint32_t k = 0; k < edit->added_value_count; k++) {
        ValueId id = edit->added_values[k];
        e->is_remade[id.index] = true;
        name_map_add(&e->names, graph_value(edit->graph, id)->name, id.index);
    }
    for (uint32_t v = 0; v < edit->file_value_count; v++) {
        const Value *value = &edit->graph->values[v];
        CHECK(!edit->is_dropped[v] || (!value->is_input && !value->is_output));
        e->drops_values = e->drops_values || edit->is_dropped[v];
    }
}

bool onnx_note_names(OnnxEdit *e, Span graph) {
    Arena *scratch = &e->reader.work->scratch;
    e->names = name_map(scratch);
    e->is_remade = arena_array(scratch, bool, e->edit->graph->value_count);
    bool sound = note_file_names(e, graph);
    note_edit(e);
    return sound;
}

const uint32_t *onnx_named(const OnnxEdit *e, Str name) {
    return name_map_find(&e->names, name);
}

bool onnx_is_dropped(const OnnxEdit *e, Str name) {
    const uint32_t *value = onnx_named(e, name);
    return value != NULL && *value < e->edit->file_value_count && e->edit->is_dropped[*value];
}
