/* TFLite: what an edit means for the lists of the file: which tensors stay and under which number, which buffers lose
 * their data, which rows of operator codes and buffers are new. Reads the file, changes nothing. */
#include "emit/tflite.h"

#include "base/fault.h"
#include "import/tflite.h"

#include <inttypes.h>

bool emit_refuse_tflite(Work *work, const char *what, const char *hint) {
    return diag_refuse(&work->diags,
                       (DiagText){.what = what, .expected = "a TFLite file that can be edited", .hint = hint});
}

/* The file's tables that the stages below read. */
typedef struct {
    TflitePlan *plan;
    Flatbuf *flat;
    const FlatTable *root;
    FlatTable main;
    FlatVector tensors, operators, subgraphs;
    bool *is_named; /* by tensor: something that stays names it */
} Planner;

/* ---- Tensors */

static void name_tensor(Planner *p, int64_t tensor) {
    if (tensor >= 0 && tensor < p->tensors.count) {
        p->is_named[tensor] = true;
    }
}

static void name_list(Planner *p, const FlatTable *table, uint32_t slot) {
    FlatVector list = flat_vector(p->flat, table, slot, 4);
    for (uint32_t k = 0; k < list.count; k++) {
        name_tensor(p, flat_int_at(p->flat, &list, k));
    }
}

static void name_values(Planner *p, NodeId id) {
    const Node *node = graph_node(p->plan->edit->graph, id);
    for (uint32_t k = 0; k < node->input_count; k++) {
        name_tensor(p, node->inputs[k].index);
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        name_tensor(p, node->outputs[k].index);
    }
}

/* Intermediates are named in the file only: the importer does not read them. */
static void name_by_operators(Planner *p) {
    const ModelEdit *edit = p->plan->edit;
    for (uint32_t k = 0; k < p->operators.count; k++) {
        FlatTable operator_ = flat_table_at(p->flat, &p->operators, k);
        if (edit->fates[k] == NODE_DROPPED) {
            continue;
        }
        p->plan->operator_count++;
        name_list(p, &operator_, OPERATOR_INTERMEDIATES);
        if (edit->fates[k] == NODE_REWIRED) {
            name_values(p, edit->file_nodes[k]);
        } else {
            name_list(p, &operator_, OPERATOR_INPUTS);
            name_list(p, &operator_, OPERATOR_OUTPUTS);
        }
    }
    for (uint32_t k = 0; k < edit->added_node_count; k++) {
        p->plan->operator_count++;
        name_values(p, edit->added_nodes[k].id);
    }
}

static void name_mapped(Planner *p, const FlatTable *signature, uint32_t slot) {
    FlatVector maps = flat_tables(p->flat, signature, slot);
    for (uint32_t k = 0; k < maps.count; k++) {
        FlatTable map = flat_table_at(p->flat, &maps, k);
        name_tensor(p, flat_int(p->flat, &map, MAP_TENSOR, FLAT_U32, 0));
    }
}

static void name_by_signatures(Planner *p) {
    FlatVector signatures = flat_tables(p->flat, p->root, MODEL_SIGNATURES);
    for (uint32_t k = 0; k < signatures.count; k++) {
        FlatTable signature = flat_table_at(p->flat, &signatures, k);
        if (flat_int(p->flat, &signature, SIGNATURE_SUBGRAPH, FLAT_U32, 0) == 0) {
            name_mapped(p, &signature, SIGNATURE_INPUTS);
            name_mapped(p, &signature, SIGNATURE_OUTPUTS);
        }
    }
}

static void number_tensors(Planner *p) {
    TflitePlan *plan = p->plan;
    const ModelEdit *edit = plan->edit;
    uint32_t values = edit->graph->value_count;
    plan->tensor_of = arena_array(&plan->work->scratch, int32_t, values);
    int32_t number = 0;
    for (uint32_t v = 0; v < values; v++) {
        bool stays = v < plan->tensor_count && (!edit->is_dropped[v] || p->is_named[v]);
        plan->tensor_of[v] = stays ? number++ : NO_TENSOR;
        CHECK(v < plan->tensor_count || v >= edit->file_value_count || !edit->is_requantised[v]);
    }
    plan->kept_tensors = (uint32_t)number;
    for (uint32_t k = 0; k < edit->added_value_count; k++) {
        plan->tensor_of[edit->added_values[k].index] = number++;
    }
}

uint32_t emit_tensors_of(const TflitePlan *plan, const ValueId *values, uint32_t count, int32_t *tensors) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (!is_value(values[k])) {
            tensors[found++] = NO_TENSOR;
            continue;
        }
        int32_t tensor = plan->tensor_of[values[k].index];
        if (tensor != NO_TENSOR) {
            tensors[found++] = tensor;
        } else {
            CHECK(values[k].index >= plan->tensor_count && graph_value(plan->edit->graph, values[k])->is_state);
        }
    }
    return found;
}

/* A constant differs from the tensor whose place it takes in shape and data only. */
static bool may_take_place(const Value *old, const Value *new) {
    return old->constant != NULL && new->constant != NULL &&
           old->dtype == new->dtype &&quant_eq(old->quant, new->quant) && new->shape.rank <= old->shape.rank;
}

static void plan_places(Planner *p) {
    TflitePlan *plan = p->plan;
    const Graph *graph = plan->edit->graph;
    NameMap dropped = name_map(&plan->work->scratch);
    plan->place_of = arena_array(&plan->work->scratch, int32_t, plan->edit->added_value_count);
    for (uint32_t v = 0; v < plan->tensor_count; v++) {
        if (plan->tensor_of[v] == NO_TENSOR) {
            name_map_add(&dropped, graph->values[v].name, v);
        }
    }
    for (uint32_t k = 0; k < plan->edit->added_value_count; k++) {
        const Value *value = graph_value(graph, plan->edit->added_values[k]);
        const uint32_t *old = name_map_find(&dropped, value->name);
        plan->place_of[k] = old != NULL && may_take_place(&graph->values[*old], value) ? (int32_t)*old : NO_TENSOR;
    }
}

/* ---- Buffers */

static void use_buffer(Planner *p, bool *is_used, int64_t buffer) {
    if (buffer >= 0 && buffer < p->plan->buffer_count) {
        is_used[buffer] = true;
    }
}

static void use_by_tensors(Planner *p, bool *by_kept, bool *by_dropped) {
    for (uint32_t s = 0; s < p->subgraphs.count; s++) {
        FlatTable subgraph = flat_table_at(p->flat, &p->subgraphs, s);
        FlatVector tensors = flat_tables(p->flat, &subgraph, SUBGRAPH_TENSORS);
        for (uint32_t k = 0; k < tensors.count; k++) {
            FlatTable tensor = flat_table_at(p->flat, &tensors, k);
            bool stays = s > 0 || p->plan->tensor_of[k] != NO_TENSOR;
            use_buffer(p, stays ? by_kept : by_dropped, flat_int(p->flat, &tensor, TENSOR_BUFFER, FLAT_U32, 0));
        }
    }
}

static void use_by_metadata(Planner *p, bool *is_used) {
    FlatVector metadata = flat_tables(p->flat, p->root, MODEL_METADATA);
    for (uint32_t k = 0; k < metadata.count; k++) {
        FlatTable entry = flat_table_at(p->flat, &metadata, k);
        use_buffer(p, is_used, flat_int(p->flat, &entry, METADATA_BUFFER, FLAT_U32, 0));
    }
    FlatVector list = flat_vector(p->flat, p->root, MODEL_METADATA_BUFFER, 4);
    for (uint32_t k = 0; k < list.count; k++) {
        use_buffer(p, is_used, flat_int_at(p->flat, &list, k));
    }
}

static bool has_data(const TflitePlan *plan, uint32_t added) {
    const Value *value = graph_value(plan->edit->graph, plan->edit->added_values[added]);
    const Const *constant = value->constant;
    CHECK(constant == NULL || (constant->is_known && shape_eq(&constant->stored, &value->shape)));
    return constant != NULL && constant->bytes.len > 0;
}

static void find_freed(Planner *p) {
    TflitePlan *plan = p->plan;
    Arena *scratch = &plan->work->scratch;
    bool *by_kept = arena_array(scratch, bool, plan->buffer_count);
    plan->is_freed = arena_array(scratch, bool, plan->buffer_count);
    use_by_tensors(p, by_kept, plan->is_freed);
    use_by_metadata(p, by_kept);
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        plan->is_freed[k] = plan->is_freed[k] && !by_kept[k] && k > 0;
    }
}

/* The buffer of the tensor whose place it takes. */
static void keep_buffer(Planner *p, uint32_t added, bool *is_taken) {
    TflitePlan *plan = p->plan;
    if (plan->place_of[added] == NO_TENSOR || !has_data(plan, added)) {
        return;
    }
    FlatTable tensor = flat_table_at(p->flat, &p->tensors, (uint32_t)plan->place_of[added]);
    int64_t buffer = flat_int(p->flat, &tensor, TENSOR_BUFFER, FLAT_U32, 0);
    if (buffer < plan->buffer_count && plan->is_freed[buffer] && !is_taken[buffer]) {
        plan->buffer_of[added] = (uint32_t)buffer;
        plan->is_own_buffer[added] = true;
        is_taken[buffer] = true;
    }
}

/* New constants take the buffers that lost their data, their own first, then new ones. Buffer 0 is always the empty
 * one. */
static void plan_buffers(Planner *p) {
    TflitePlan *plan = p->plan;
    uint32_t added = plan->edit->added_value_count, next = 0;
    plan->buffer_count = flat_tables(p->flat, p->root, MODEL_BUFFERS).count;
    plan->buffer_of = arena_array(&plan->work->scratch, uint32_t, added);
    plan->is_own_buffer = arena_array(&plan->work->scratch, bool, added);
    bool *is_taken = arena_array(&plan->work->scratch, bool, plan->buffer_count);
    find_freed(p);
    for (uint32_t k = 0; k < added; k++) {
        keep_buffer(p, k, is_taken);
    }
    for (uint32_t k = 0; k < added; k++) {
        while (next < plan->buffer_count && (!plan->is_freed[next] || is_taken[next])) {
            next++;
        }
        if (plan->buffer_of[k] == 0 && has_data(plan, k)) {
            plan->buffer_of[k] = next < plan->buffer_count ? next++ : plan->buffer_count + plan->new_buffers++;
        }
    }
}

/* ---- Operator codes */

/* The old field of one byte and the new one: the larger counts; see the importer. */
static bool is_code(Planner *p, const FlatTable *code, int32_t builtin, int32_t version) {
    int64_t old = flat_int(p->flat, code, CODE_DEPRECATED_BUILTIN, FLAT_I8, 0);
    int64_t new = flat_int(p->flat, code, CODE_BUILTIN, FLAT_I32, 0);
    return (old > new ? old : new) == builtin && flat_int(p->flat, code, CODE_VERSION, FLAT_I32, 1) == version;
}

static uint32_t find_code(Planner *p, const FlatVector *codes, EmitCode wanted) {
    TflitePlan *plan = p->plan;
    for (uint32_t k = 0; k < codes->count; k++) {
        FlatTable code = flat_table_at(p->flat, codes, k);
        if (is_code(p, &code, wanted.builtin, wanted.version)) {
            return k;
        }
    }
    uint32_t k = 0;
    while (k < plan->new_code_count &&
           (plan->new_codes[k].builtin != wanted.builtin || plan->new_codes[k].version != wanted.version)) {
        k++;
    }
    if (k == plan->new_code_count) {
        plan->new_codes[plan->new_code_count++] = wanted;
    }
    return codes->count + k;
}

/* The builtin operator that the node is in TFLite. */
static int32_t builtin_of(const Node *node) {
    int32_t builtin = op_info(node->op)->tflite;
    CHECK(builtin >= 0);
    return builtin;
}

static void plan_codes(Planner *p) {
    TflitePlan *plan = p->plan;
    uint32_t added = plan->edit->added_node_count;
    FlatVector codes = flat_tables(p->flat, p->root, MODEL_OPERATOR_CODES);
    plan->code_count = codes.count;
    plan->code_of = arena_array(&plan->work->scratch, uint32_t, added);
    plan->new_codes = arena_array(&plan->work->scratch, EmitCode, added);
    for (uint32_t k = 0; k < added; k++) {
        const Node *node = graph_node(plan->edit->graph, plan->edit->added_nodes[k].id);
        EmitCode wanted = {builtin_of(node), node->version > 0 ? node->version : 1};
        plan->code_of[k] = find_code(p, &codes, wanted);
    }
}

/* ---- What can't be edited */

/* Data behind the FlatBuffer is named by its place in the file, which an edit would change. */
static bool has_data_behind(Planner *p) {
    FlatVector buffers = flat_tables(p->flat, p->root, MODEL_BUFFERS);
    for (uint32_t k = 0; k < buffers.count; k++) {
        FlatTable buffer = flat_table_at(p->flat, &buffers, k);
        if (flat_int(p->flat, &buffer, BUFFER_OFFSET, FLAT_U64, 0) > 1) {
            return true;
        }
    }
    for (uint32_t s = 0; s < p->subgraphs.count; s++) {
        FlatTable subgraph = flat_table_at(p->flat, &p->subgraphs, s);
        FlatVector operators = flat_tables(p->flat, &subgraph, SUBGRAPH_OPERATORS);
        for (uint32_t k = 0; k < operators.count; k++) {
            FlatTable operator_ = flat_table_at(p->flat, &operators, k);
            if (flat_int(p->flat, &operator_, OPERATOR_LARGE_CUSTOM_OFFSET, FLAT_U64, 0) > 1) {
                return true;
            }
        }
    }
    return false;
}

/* TFLite Micro's plan of memory made in advance: one offset a tensor, by number. */
static bool has_memory_plan(Planner *p) {
    FlatVector metadata = flat_tables(p->flat, p->root, MODEL_METADATA);
    for (uint32_t k = 0; k < metadata.count; k++) {
        FlatTable entry = flat_table_at(p->flat, &metadata, k);
        if (str_eq(flat_str(p->flat, &entry, METADATA_NAME), STR("OfflineMemoryAllocation"))) {
            return true;
        }
    }
    return false;
}

static bool can_be_edited(Planner *p) {
    const TflitePlan *plan = p->plan;
    bool renumbers = plan->kept_tensors != plan->tensor_count || plan->edit->added_value_count > 0;
    if (has_data_behind(p)) {
        return emit_refuse_tflite(plan->work, "the file keeps data behind its FlatBuffer, where an edit can't move it",
                                  "write the model as one FlatBuffer of less than 2 GiB");
    }
    if (renumbers && has_memory_plan(p)) {
        return emit_refuse_tflite(
            plan->work, "the file holds a plan of memory (OfflineMemoryAllocation) that names tensors by number",
            "simplify the model before memory is planned for it");
    }
    return true;
}

bool emit_plan_tflite(Work *work, const ModelEdit *edit, Flatbuf *flat, const FlatTable *root, TflitePlan *plan) {
    *plan = (TflitePlan){.work = work, .edit = edit};
    Planner p = {.plan = plan, .flat = flat, .root = root};
    p.subgraphs = flat_tables(flat, root, MODEL_SUBGRAPHS);
    p.main = p.subgraphs.count > 0 ? flat_table_at(flat, &p.subgraphs, 0) : (FlatTable){0};
    p.tensors = flat_tables(flat, &p.main, SUBGRAPH_TENSORS);
    p.operators = flat_tables(flat, &p.main, SUBGRAPH_OPERATORS);
    CHECK(p.operators.count == edit->file_node_count && p.tensors.count <= edit->file_value_count);
    plan->tensor_count = p.tensors.count;
    p.is_named = arena_array(&work->scratch, bool, p.tensors.count);
    name_list(&p, &p.main, SUBGRAPH_INPUTS);
    name_list(&p, &p.main, SUBGRAPH_OUTPUTS);
    name_by_signatures(&p);
    name_by_operators(&p);
    number_tensors(&p);
    plan_places(&p);
    plan_buffers(&p);
    plan_codes(&p);
    return can_be_edited(&p) && emit_is_sound(work, flat);
}
