/* TFLite: the model, its subgraphs and their order. Tensors, operators, options and variables have files of their own.
 */
#include "import/tflite.h"

#include "base/fault.h"
#include "import/import.h"

#include <inttypes.h>

enum { SCHEMA_VERSION = 3 };

/* ---- Subgraphs */

static bool read_tensors(Tflite *model, TfliteSubgraph *subgraph, const FlatTable *table) {
    FlatVector tensors = flat_tables(&model->flat, table, SUBGRAPH_TENSORS);
    bool sound = true;
    subgraph->first_value = model->graph->value_count;
    subgraph->value_count = tensors.count;
    for (uint32_t k = 0; k < tensors.count; k++) {
        FlatTable tensor = flat_table_at(&model->flat, &tensors, k);
        sound = tflite_read_tensor(model, &tensor, k) && sound;
        if (model->flat.fault != NULL) {
            return tflite_is_sound(model);
        }
    }
    return sound;
}

static bool read_operators(Tflite *model, const TfliteSubgraph *subgraph, const FlatTable *table, Block *block) {
    FlatVector operators = flat_tables(&model->flat, table, SUBGRAPH_OPERATORS);
    bool sound = true;
    block->node_count = operators.count;
    block->nodes = arena_array(&model->work->keep, NodeId, operators.count);
    for (uint32_t k = 0; k < operators.count; k++) {
        FlatTable operator_ = flat_table_at(&model->flat, &operators, k);
        sound = tflite_read_operator(model, subgraph, &operator_, k, &block->nodes[k]) && sound;
        if (model->flat.fault != NULL) {
            return tflite_is_sound(model);
        }
    }
    return sound;
}

static bool read_ends(Tflite *model, const TfliteSubgraph *subgraph, const FlatTable *table, Block *block) {
    FlatVector inputs = flat_vector(&model->flat, table, SUBGRAPH_INPUTS, 4);
    FlatVector outputs = flat_vector(&model->flat, table, SUBGRAPH_OUTPUTS, 4);
    block->input_count = inputs.count;
    block->output_count = outputs.count;
    block->inputs = arena_array(&model->work->keep, ValueId, inputs.count);
    block->outputs = arena_array(&model->work->keep, ValueId, outputs.count);
    if (!tflite_read_ids(model, subgraph, &inputs, false, block->name, block->inputs) ||
        !tflite_read_ids(model, subgraph, &outputs, false, block->name, block->outputs)) {
        return false;
    }
    for (uint32_t k = 0; k < inputs.count && subgraph->index == 0; k++) {
        Value *input = graph_value(model->graph, block->inputs[k]);
        input->is_input = true;
        input->has_shape = input->has_shape || !model->states_ranks;
    }
    for (uint32_t k = 0; k < outputs.count && subgraph->index == 0; k++) {
        graph_value(model->graph, block->outputs[k])->is_output = true;
    }
    return true;
}

/* The file's name, else the key of a signature that is this subgraph, else its number. */
static Str subgraph_name(Tflite *model, const FlatTable *root, const FlatTable *table, uint32_t index) {
    Str name = flat_str(&model->flat, table, SUBGRAPH_NAME);
    if (name.len > 0) {
        return name;
    }
    FlatVector signatures = flat_tables(&model->flat, root, MODEL_SIGNATURES);
    for (uint32_t k = 0; k < signatures.count; k++) {
        FlatTable signature = flat_table_at(&model->flat, &signatures, k);
        Str key = flat_str(&model->flat, &signature, SIGNATURE_KEY);
        if (key.len > 0 && flat_int(&model->flat, &signature, SIGNATURE_SUBGRAPH, FLAT_U32, 0) == index) {
            return key;
        }
    }
    return arena_format(&model->work->keep, "subgraph %" PRIu32, index);
}

static bool read_subgraph(Tflite *model, const FlatTable *root, const FlatTable *table, uint32_t index) {
    TfliteSubgraph subgraph = {.index = index, .name = subgraph_name(model, root, table, index)};
    Block block = {.name = subgraph.name};
    if (!read_tensors(model, &subgraph, table) || !read_ends(model, &subgraph, table, &block) ||
        !read_operators(model, &subgraph, table, &block)) {
        return false;
    }
    BlockId id = graph_add_block(model->graph, &model->work->keep, block);
    CHECK(id.index == index);
    return tflite_is_sound(model);
}

/* ---- The model */

/* Files from before has_rank leave it out everywhere. */
static bool find_ranks(Tflite *model, const FlatVector *subgraphs) {
    for (uint32_t s = 0; s < subgraphs->count; s++) {
        FlatTable subgraph = flat_table_at(&model->flat, subgraphs, s);
        FlatVector tensors = flat_tables(&model->flat, &subgraph, SUBGRAPH_TENSORS);
        for (uint32_t k = 0; k < tensors.count; k++) {
            FlatTable tensor = flat_table_at(&model->flat, &tensors, k);
            if (flat_int(&model->flat, &tensor, TENSOR_HAS_RANK, FLAT_BOOL, 0) != 0) {
                return true;
            }
        }
    }
    return false;
}

static bool check_version(Tflite *model, const FlatTable *root) {
    int64_t version = flat_int(&model->flat, root, MODEL_VERSION, FLAT_U32, 0);
    if (version == SCHEMA_VERSION) {
        return true;
    }
    return diag_refuse(&model->work->diags,
                       (DiagText){.what = "the schema version of the TFLite file is not known",
                                  .got = arena_text(tflite_texts(model), "version %" PRId64, version),
                                  .expected = "version 3",
                                  .hint = "convert the model again with a newer converter"});
}

/* Data of constants that ended up empty though nothing else fills them: a shape [0] is a constant of no bytes. */
static void settle_empty_constants(Graph *graph, Arena *keep) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        Value *value = &graph->values[v];
        uint64_t elements;
        bool is_filled = value->constant != NULL || value->is_input || value->is_state || is_node(value->producer);
        if (!is_filled && value->has_shape && shape_elements(&value->shape, &elements) && elements == 0) {
            Const *constant = arena_new(keep, Const);
            *constant = (Const){.stored = value->shape, .is_known = true};
            value->constant = constant;
        }
    }
}

static bool read_model(Tflite *model, const FlatTable *root) {
    Flatbuf *flat = &model->flat;
    uint32_t tensor_count = 0; /* of the main subgraph */
    FlatVector subgraphs = flat_tables(flat, root, MODEL_SUBGRAPHS);
    model->buffers = flat_tables(flat, root, MODEL_BUFFERS);
    model->subgraph_count = subgraphs.count;
    model->states_ranks = find_ranks(model, &subgraphs);
    tflite_note_metadata(model, root);
    if (!tflite_is_sound(model) || !check_version(model, root) || !tflite_read_codes(model, root)) {
        return false;
    }
    if (subgraphs.count == 0) {
        return diag_error(&model->work->diags, (DiagText){.what = "the model has no subgraph"});
    }
    for (uint32_t s = 0; s < subgraphs.count; s++) {
        FlatTable table = flat_table_at(flat, &subgraphs, s);
        if (!read_subgraph(model, root, &table, s)) {
            return false;
        }
        tensor_count = s == 0 ? model->graph->value_count : tensor_count;
    }
    if (!tflite_read_signatures(model, root, tensor_count)) {
        return false;
    }
    settle_empty_constants(model->graph, &model->work->keep);
    return tflite_add_variables(model);
}

static Str file_name(const char *path) {
    Str rest = str_from(path);
    Str name = {0};
    while (rest.ptr != NULL) {
        name = str_cut(&rest, '/');
    }
    return name;
}

Graph *import_tflite(Work *work, Span bytes, const char *path, ModelFiles *files) {
    (void)files; /* external buffers are refused by name */
    Tflite model = {.work = work, .graph = graph_new(&work->keep, file_name(path), FORMAT_TFLITE)};
    FlatTable root;
    if (!flat_open(&model.flat, bytes, "TFL3", &root)) {
        tflite_is_sound(&model);
        return NULL;
    }
    return read_model(&model, &root) ? model.graph : NULL;
}
