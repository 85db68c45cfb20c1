/* TFLite: what the file names beside its subgraphs. Signatures name tensors, which callers then read and write by these
 * names; metadata names buffers. */
#include "import/tflite.h"

#include <inttypes.h>

/* ---- Metadata */

static void note_buffer(Tflite *model, int64_t buffer) {
    if (buffer >= 0 && buffer < model->buffers.count) {
        model->is_metadata[buffer] = true;
    }
}

void tflite_note_metadata(Tflite *model, const FlatTable *root) {
    Flatbuf *flat = &model->flat;
    FlatVector metadata = flat_tables(flat, root, MODEL_METADATA);
    FlatVector list = flat_vector(flat, root, MODEL_METADATA_BUFFER, 4);
    model->is_metadata = arena_array(&model->work->keep, bool, model->buffers.count);
    for (uint32_t k = 0; k < metadata.count; k++) {
        FlatTable entry = flat_table_at(flat, &metadata, k);
        note_buffer(model, flat_int(flat, &entry, METADATA_BUFFER, FLAT_U32, 0));
    }
    for (uint32_t k = 0; k < list.count; k++) {
        note_buffer(model, flat_int_at(flat, &list, k));
    }
}

/* ---- Signatures */

typedef struct {
    Tflite *model;
    uint32_t tensor_count;  /* of the main subgraph */
    size_t output_capacity; /* of its list, once that has grown */
} Signatures;

/* A constant that a caller may replace is no constant; any other value stays where callers look for it. */
static void name_input(Signatures *s, ValueId id) {
    Value *value = graph_value(s->model->graph, id);
    value->is_annotation = true;
    value->is_default = value->constant != NULL;
}

static void name_output(Signatures *s, ValueId id) {
    Value *value = graph_value(s->model->graph, id);
    Block *main = graph_main(s->model->graph);
    if (value->is_output) {
        return;
    }
    main->outputs = arena_grow(&s->model->work->keep, main->outputs, main->output_count, &s->output_capacity,
                               sizeof *main->outputs);
    main->outputs[main->output_count++] = id;
    value->is_output = true;
}

static bool read_map(Signatures *s, const FlatTable *signature, uint32_t slot, void (*name)(Signatures *, ValueId)) {
    Tflite *model = s->model;
    FlatVector maps = flat_tables(&model->flat, signature, slot);
    for (uint32_t k = 0; k < maps.count; k++) {
        FlatTable map = flat_table_at(&model->flat, &maps, k);
        int64_t tensor = flat_int(&model->flat, &map, MAP_TENSOR, FLAT_U32, 0);
        if (tensor >= s->tensor_count) {
            return diag_error(
                &model->work->diags,
                (DiagText){.place = tflite_place(model, map.at).ptr,
                           .what = "a signature names a tensor that the subgraph does not have",
                           .got = arena_text(tflite_texts(model), "tensor %" PRId64, tensor),
                           .expected = arena_text(tflite_texts(model), "one of %" PRIu32 " tensors", s->tensor_count)});
        }
        name(s, (ValueId){(uint32_t)tensor});
    }
    return true;
}

bool tflite_read_signatures(Tflite *model, const FlatTable *root, uint32_t tensor_count) {
    Signatures s = {.model = model, .tensor_count = tensor_count};
    FlatVector signatures = flat_tables(&model->flat, root, MODEL_SIGNATURES);
    s.output_capacity = graph_main(model->graph)->output_count;
    for (uint32_t k = 0; k < signatures.count; k++) {
        FlatTable signature = flat_table_at(&model->flat, &signatures, k);
        if (flat_int(&model->flat, &signature, SIGNATURE_SUBGRAPH, FLAT_U32, 0) == 0 &&
            (!read_map(&s, &signature, SIGNATURE_INPUTS, name_input) ||
             !read_map(&s, &signature, SIGNATURE_OUTPUTS, name_output))) {
            return false;
        }
    }
    return tflite_is_sound(model);
}
