/* TFLite: carries out an edit on a file whose lists have room: rewrites lists and indices in place, and constants in
 * the place of larger ones, appends what else is new. What is replaced stays behind as dead bytes. */
#include "emit/tflite.h"

#include "base/fault.h"
#include "import/tflite.h"

#include <string.h>

typedef struct {
    FlatImage *image;
    const FlatWalk *walk;
    const TflitePlan *plan;
    FlatTable root, main;
    const char *trouble; /* why the file can't be edited, the first reason only */
} Editor;

static void give_up(Editor *e, const char *trouble) {
    e->trouble = e->trouble == NULL ? trouble : e->trouble;
}

/* Only what one place names may be changed for it. */
static void own(Editor *e, size_t at) {
    if (emit_is_shared(e->walk, at)) {
        give_up(e, "two parts of the file share an object that would have to differ");
    }
}

/* ---- Lists */

static bool is_same(const Editor *e, const FlatVector *vector, const int32_t *ints, uint32_t count) {
    bool same = vector->count == count;
    for (uint32_t k = 0; same && k < count; k++) {
        same = flat_int_at(&e->image->flat, vector, k) == ints[k];
    }
    return same;
}

/* In place where it fits and nobody else names it, else appended. */
static void set_list(Editor *e, const FlatTable *table, uint32_t slot, const int32_t *ints, uint32_t count) {
    FlatVector old = flat_vector(&e->image->flat, table, slot, 4);
    size_t cell, at = old.at;
    own(e, table->at);
    if (is_same(e, &old, ints, count)) {
        return;
    }
    if (!flat_cell(&e->image->flat, table, slot, FLAT_REF_BYTES, &cell)) {
        give_up(e, "a list of tensors is not in the file, and there is no room for it");
        return;
    }
    if (count <= old.count && !emit_is_shared(e->walk, at - FLAT_REF_BYTES)) {
        emit_set(e->image, at - FLAT_REF_BYTES, count, FLAT_REF_BYTES);
        memset(e->image->bytes + at, 0, (size_t)old.count * 4);
    } else {
        at = emit_add_vector(e->image, cell, count, 4, 4);
    }
    for (uint32_t k = 0; k < count; k++) {
        emit_set(e->image, at + (size_t)k * 4, (uint32_t)ints[k], 4);
    }
}

/* A list of tables, in place: behind it is room for what it has more now. */
static void set_tables(Editor *e, const FlatTable *table, uint32_t slot, const size_t *targets, uint32_t count) {
    FlatVector old = flat_tables(&e->image->flat, table, slot);
    own(e, table->at);
    if (old.at == 0) {
        CHECK(count == 0); /* emit_tflite refused to open room */
        return;
    }
    own(e, old.at - FLAT_REF_BYTES);
    emit_set(e->image, old.at - FLAT_REF_BYTES, count, FLAT_REF_BYTES);
    for (uint32_t k = 0; k < count; k++) {
        emit_set_ref(e->image, old.at + (size_t)k * FLAT_REF_BYTES, targets[k]);
    }
    for (uint32_t k = count; k < old.count; k++) {
        emit_set(e->image, old.at + (size_t)k * FLAT_REF_BYTES, 0, FLAT_REF_BYTES);
    }
}

/* Where the elements are, with room for `more`. */
static size_t *targets_of(Editor *e, const FlatVector *tables, uint32_t more) {
    size_t *targets = arena_array(&e->image->work->scratch, size_t, (size_t)tables->count + more);
    for (uint32_t k = 0; k < tables->count; k++) {
        targets[k] = flat_table_at(&e->image->flat, tables, k).at;
    }
    return targets;
}

/* ---- Tensor numbers */

static int32_t renumber(const Editor *e, int64_t tensor) {
    bool is_tensor = tensor >= 0 && tensor < e->plan->tensor_count;
    return is_tensor ? e->plan->tensor_of[tensor] : (int32_t)tensor;
}

static void renumber_list(Editor *e, const FlatTable *table, uint32_t slot) {
    FlatVector list = flat_vector(&e->image->flat, table, slot, 4);
    int32_t *tensors = arena_array(&e->image->work->scratch, int32_t, list.count);
    for (uint32_t k = 0; k < list.count; k++) {
        tensors[k] = renumber(e, flat_int_at(&e->image->flat, &list, k));
    }
    set_list(e, table, slot, tensors, list.count);
}

static void rewire_list(Editor *e, const FlatTable *table, uint32_t slot, const ValueId *values, uint32_t count) {
    int32_t *tensors = arena_array(&e->image->work->scratch, int32_t, count);
    set_list(e, table, slot, tensors, emit_tensors_of(e->plan, values, count, tensors));
}

static void edit_operator(Editor *e, const FlatTable *operator_, uint32_t position) {
    const ModelEdit *edit = e->plan->edit;
    if (edit->fates[position] == NODE_DROPPED) {
        return;
    }
    renumber_list(e, operator_, OPERATOR_INTERMEDIATES);
    if (edit->fates[position] == NODE_REWIRED) {
        const Node *node = graph_node(edit->graph, edit->file_nodes[position]);
        rewire_list(e, operator_, OPERATOR_INPUTS, node->inputs, node->input_count);
        rewire_list(e, operator_, OPERATOR_OUTPUTS, node->outputs, node->output_count);
    } else {
        renumber_list(e, operator_, OPERATOR_INPUTS);
        renumber_list(e, operator_, OPERATOR_OUTPUTS);
    }
}

static void renumber_map(Editor *e, const FlatTable *signature, uint32_t slot) {
    FlatVector maps = flat_tables(&e->image->flat, signature, slot);
    for (uint32_t k = 0; k < maps.count; k++) {
        FlatTable map = flat_table_at(&e->image->flat, &maps, k);
        int64_t old = flat_int(&e->image->flat, &map, MAP_TENSOR, FLAT_U32, 0);
        size_t cell;
        if (old < e->plan->tensor_count && renumber(e, old) != old &&
            flat_cell(&e->image->flat, &map, MAP_TENSOR, 4, &cell)) {
            own(e, signature->at);
            own(e, maps.at - FLAT_REF_BYTES);
            own(e, map.at);
            emit_set(e->image, cell, (uint32_t)renumber(e, old), 4);
        }
    }
}

static void renumber_signatures(Editor *e) {
    FlatVector signatures = flat_tables(&e->image->flat, &e->root, MODEL_SIGNATURES);
    for (uint32_t k = 0; k < signatures.count; k++) {
        FlatTable signature = flat_table_at(&e->image->flat, &signatures, k);
        if (flat_int(&e->image->flat, &signature, SIGNATURE_SUBGRAPH, FLAT_U32, 0) == 0) {
            renumber_map(e, &signature, SIGNATURE_INPUTS);
            renumber_map(e, &signature, SIGNATURE_OUTPUTS);
        }
    }
}

/* ---- The lists of the main subgraph and of the model */

static void edit_operators(Editor *e) {
    const ModelEdit *edit = e->plan->edit;
    FlatVector operators = flat_tables(&e->image->flat, &e->main, SUBGRAPH_OPERATORS);
    size_t *targets = arena_array(&e->image->work->scratch, size_t, e->plan->operator_count);
    uint32_t count = 0, added = 0;
    for (uint32_t k = 0; k <= operators.count; k++) {
        for (; added < edit->added_node_count && edit->added_nodes[added].before <= k; added++) {
            targets[count++] = emit_add_operator(e->image, e->plan, added);
        }
        if (k == operators.count) {
            break;
        }
        FlatTable operator_ = flat_table_at(&e->image->flat, &operators, k);
        edit_operator(e, &operator_, k);
        if (edit->fates[k] != NODE_DROPPED) {
            targets[count++] = operator_.at;
        }
    }
    CHECK(count == e->plan->operator_count);
    set_tables(e, &e->main, SUBGRAPH_OPERATORS, targets, count);
}

static void requantise(Editor *e, const FlatTable *tensor, const Value *value) {
    size_t cell;
    own(e, tensor->at);
    if (flat_cell(&e->image->flat, tensor, TENSOR_QUANTIZATION, FLAT_REF_BYTES, &cell)) {
        size_t quant = emit_add_quant(e->image, value->quant);
        emit_set_ref(e->image, cell, quant);
    } else if (value->quant != NULL) {
        give_up(e, "a tensor has no quantisation in the file, and there is no room for one");
    }
}

/* The table of a tensor that goes, for the constant that takes its place; 0 where it can't be had. */
static size_t reuse_tensor(Editor *e, const FlatTable *tensor, const Value *value, uint32_t buffer) {
    static const uint32_t others[] = {TENSOR_IS_VARIABLE, TENSOR_SPARSITY, TENSOR_SHAPE_SIGNATURE,
                                      TENSOR_EXTERNAL_BUFFER};
    Flatbuf *flat = &e->image->flat;
    int32_t dims[SHAPE_MAX_RANK];
    size_t cell;
    bool is_plain = !emit_is_shared(e->walk, tensor->at) && flat_has(flat, tensor, TENSOR_SHAPE);
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        is_plain = is_plain && !flat_has(flat, tensor, others[k]);
    }
    if (!is_plain || !flat_cell(flat, tensor, TENSOR_BUFFER, 4, &cell)) {
        return 0;
    }
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        CHECK(value->shape.dim[k] <= INT32_MAX);
        dims[k] = (int32_t)value->shape.dim[k];
    }
    emit_set(e->image, cell, buffer, 4);
    set_list(e, tensor, TENSOR_SHAPE, dims, value->shape.rank);
    return tensor->at;
}

static size_t put_tensor(Editor *e, const FlatVector *tensors, uint32_t added) {
    const TflitePlan *plan = e->plan;
    const Value *value = graph_value(plan->edit->graph, plan->edit->added_values[added]);
    size_t at = 0;
    if (plan->place_of[added] != NO_TENSOR) {
        FlatTable tensor = flat_table_at(&e->image->flat, tensors, (uint32_t)plan->place_of[added]);
        at = reuse_tensor(e, &tensor, value, plan->buffer_of[added]);
    }
    return at > 0 ? at : emit_add_tensor(e->image, value, plan->buffer_of[added]);
}

static void edit_tensors(Editor *e) {
    const ModelEdit *edit = e->plan->edit;
    FlatVector tensors = flat_tables(&e->image->flat, &e->main, SUBGRAPH_TENSORS);
    size_t *targets = arena_array(&e->image->work->scratch, size_t, e->plan->kept_tensors + edit->added_value_count);
    uint32_t count = 0;
    for (uint32_t k = 0; k < tensors.count; k++) {
        FlatTable tensor = flat_table_at(&e->image->flat, &tensors, k);
        if (e->plan->tensor_of[k] == NO_TENSOR) {
            continue;
        }
        targets[count++] = tensor.at;
        if (edit->is_requantised[k]) {
            requantise(e, &tensor, graph_value(edit->graph, (ValueId){k}));
        }
    }
    for (uint32_t k = 0; k < edit->added_value_count; k++) {
        targets[count++] = put_tensor(e, &tensors, k);
    }
    set_tables(e, &e->main, SUBGRAPH_TENSORS, targets, count);
}

/* In the place of the data that goes, where it fits and nobody else names that; else appended. What takes the place of
 * its like needs no other alignment than that had. */
static size_t put_buffer(Editor *e, const FlatVector *buffers, uint32_t added) {
    const TflitePlan *plan = e->plan;
    FlatImage *image = e->image;
    uint32_t k = plan->buffer_of[added];
    Span data = graph_value(plan->edit->graph, plan->edit->added_values[added])->constant->bytes;
    FlatTable buffer = k < buffers->count ? flat_table_at(&image->flat, buffers, k) : (FlatTable){0};
    FlatVector old = k < buffers->count ? flat_vector(&image->flat, &buffer, BUFFER_DATA, 1) : (FlatVector){0};
    bool is_aligned = plan->is_own_buffer[added] || old.at % EMIT_ALIGN_BYTES == 0;
    if (old.count < data.len || !is_aligned || emit_is_shared(e->walk, buffer.at) ||
        emit_is_shared(e->walk, old.at - FLAT_REF_BYTES)) {
        return emit_add_buffer(image, data);
    }
    emit_set(image, old.at - FLAT_REF_BYTES, data.len, FLAT_REF_BYTES);
    memcpy(image->bytes + old.at, data.ptr, data.len);
    memset(image->bytes + old.at + data.len, 0, old.count - data.len);
    return buffer.at;
}

/* Buffer 0 is the empty one, in most files; else one is added. */
static size_t empty_buffer(Editor *e, const FlatVector *buffers) {
    FlatTable first = flat_table_at(&e->image->flat, buffers, 0);
    bool is_empty =
        !flat_has(&e->image->flat, &first, BUFFER_DATA) && !flat_has(&e->image->flat, &first, BUFFER_OFFSET);
    return is_empty ? first.at : emit_add_buffer(e->image, (Span){0});
}

/* Buffers that lost their data take that of new constants; those left over are one empty buffer. */
static void edit_buffers(Editor *e) {
    const TflitePlan *plan = e->plan;
    FlatVector buffers = flat_tables(&e->image->flat, &e->root, MODEL_BUFFERS);
    size_t *targets = targets_of(e, &buffers, plan->new_buffers);
    size_t empty = 0;
    bool changes = plan->new_buffers > 0;
    for (uint32_t k = 0; k < buffers.count; k++) {
        targets[k] = plan->is_freed[k] ? 0 : targets[k];
        changes = changes || plan->is_freed[k];
    }
    for (uint32_t k = 0; k < plan->edit->added_value_count; k++) {
        if (plan->buffer_of[k] > 0) {
            targets[plan->buffer_of[k]] = put_buffer(e, &buffers, k);
        }
    }
    for (uint32_t k = 0; k < buffers.count; k++) {
        if (targets[k] == 0) {
            empty = empty > 0 ? empty : empty_buffer(e, &buffers);
            targets[k] = empty;
        }
    }
    if (changes) {
        set_tables(e, &e->root, MODEL_BUFFERS, targets, buffers.count + plan->new_buffers);
    }
}

static void edit_codes(Editor *e) {
    const TflitePlan *plan = e->plan;
    FlatVector codes = flat_tables(&e->image->flat, &e->root, MODEL_OPERATOR_CODES);
    if (plan->new_code_count == 0) {
        return;
    }
    size_t *targets = targets_of(e, &codes, plan->new_code_count);
    for (uint32_t k = 0; k < plan->new_code_count; k++) {
        targets[codes.count + k] = emit_add_code(e->image, &plan->new_codes[k]);
    }
    set_tables(e, &e->root, MODEL_OPERATOR_CODES, targets, codes.count + plan->new_code_count);
}

bool emit_apply_tflite(FlatImage *image, const FlatWalk *walk, const TflitePlan *plan) {
    Editor e = {.image = image, .walk = walk, .plan = plan, .root = emit_image_root(image)};
    FlatVector subgraphs = flat_tables(&image->flat, &e.root, MODEL_SUBGRAPHS);
    e.main = flat_table_at(&image->flat, &subgraphs, 0);
    renumber_list(&e, &e.main, SUBGRAPH_INPUTS);
    renumber_list(&e, &e.main, SUBGRAPH_OUTPUTS);
    renumber_signatures(&e);
    edit_operators(&e);
    edit_tensors(&e);
    edit_buffers(&e);
    edit_codes(&e);
    if (e.trouble != NULL) {
        return emit_refuse_tflite(image->work, e.trouble, "convert the model again");
    }
    return emit_is_sound(image->work, &image->flat);
}
