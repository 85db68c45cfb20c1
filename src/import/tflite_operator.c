/* TFLite: operator codes and operators. */
#include "import/tflite.h"

#include <inttypes.h>

enum { BUILTIN_CUSTOM = 32 };

/* ---- Operator codes */

typedef struct {
    const char *name; /* null where the number is nobody's */
    int32_t version;
} Builtin;

static Builtin find_builtin(int64_t number) {
    static const Builtin builtins[] = {
#define BUILTIN(number, text, last) [number] = {text, last},
#include "import/tflite_builtin.def"
#undef BUILTIN
    };
    bool is_known = number >= 0 && (uint64_t)number < sizeof builtins / sizeof builtins[0];
    return is_known ? builtins[number] : (Builtin){0};
}

static bool code_error(Tflite *model, const FlatTable *table, const char *what, const char *got) {
    return diag_error(&model->work->diags,
                      (DiagText){.place = tflite_place(model, table->at).ptr, .what = what, .got = got});
}

static bool read_custom_code(Tflite *model, const FlatTable *table, TfliteCode *code) {
    Str name = flat_str(&model->flat, table, CODE_CUSTOM);
    if (name.len == 0) {
        return code_error(model, table, "a custom operator has no name", NULL);
    }
    code->op = OP_CUSTOM;
    code->name = arena_format(&model->work->keep, "CUSTOM:" STR_FMT, STR_ARG(name));
    return true;
}

/* Files from before operator 127 have only the old field of one byte; newer ones have both, the old one capped at 127.
 */
static bool read_code(Tflite *model, const FlatTable *table, TfliteCode *code) {
    int64_t old = flat_int(&model->flat, table, CODE_DEPRECATED_BUILTIN, FLAT_I8, 0);
    int64_t builtin = flat_int(&model->flat, table, CODE_BUILTIN, FLAT_I32, 0);
    builtin = old > builtin ? old : builtin;
    code->version = (int32_t)flat_int(&model->flat, table, CODE_VERSION, FLAT_I32, 1);
    code->is_opaque = tflite_has_unknown(model, table, 'c', 0);
    if (builtin == BUILTIN_CUSTOM) {
        return read_custom_code(model, table, code);
    }
    code->op = op_find_tflite(builtin);
    code->name = str_from(find_builtin(builtin).name);
    code->is_opaque = code->is_opaque || code->version > find_builtin(builtin).version;
    if (code->op != OP_NONE && code->name.len > 0) {
        return true;
    }
    return diag_refuse(&model->work->diags,
                       (DiagText){.place = tflite_place(model, table->at).ptr,
                                  .what = "the builtin operator is not known",
                                  .got = arena_text(tflite_texts(model), "BuiltinOperator %" PRId64, builtin),
                                  .expected = "an operator of TFLite schema version 3, 0 to 209",
                                  .hint = "convert the model for an older runtime"});
}

bool tflite_read_codes(Tflite *model, const FlatTable *root) {
    FlatVector codes = flat_tables(&model->flat, root, MODEL_OPERATOR_CODES);
    bool sound = true;
    model->code_count = codes.count;
    model->codes = arena_array(&model->work->keep, TfliteCode, codes.count);
    for (uint32_t k = 0; k < codes.count && model->flat.fault == NULL; k++) {
        FlatTable table = flat_table_at(&model->flat, &codes, k);
        sound = read_code(model, &table, &model->codes[k]) && sound;
    }
    return tflite_is_sound(model) && sound;
}

/* ---- Operators */

bool tflite_read_ids(Tflite *model, const TfliteSubgraph *subgraph, const FlatVector *list, bool may_be_absent,
                     Str node, ValueId *ids) {
    for (uint32_t k = 0; k < list->count; k++) {
        int64_t index = flat_int_at(&model->flat, list, k);
        if (index == -1 && may_be_absent) {
            ids[k] = NO_VALUE;
            continue;
        }
        if (index < 0 || index >= subgraph->value_count) {
            return diag_error(&model->work->diags,
                              (DiagText){.place = tflite_place(model, list->at).ptr,
                                         .node = node,
                                         .what = "names a tensor that the subgraph does not have",
                                         .got = arena_text(tflite_texts(model), "tensor %" PRId64, index),
                                         .expected = arena_text(tflite_texts(model), "one of %" PRIu32 " tensors",
                                                                subgraph->value_count)});
        }
        ids[k] = (ValueId){subgraph->first_value + (uint32_t)index};
    }
    return true;
}

static Str operator_name(Tflite *model, const TfliteSubgraph *subgraph, Str op_name, uint32_t index) {
    Arena *keep = &model->work->keep;
    return subgraph->index == 0
               ? arena_format(keep, STR_FMT "#%" PRIu32, STR_ARG(op_name), index)
               : arena_format(keep, STR_FMT "/" STR_FMT "#%" PRIu32, STR_ARG(subgraph->name), STR_ARG(op_name), index);
}

static bool read_ends(Tflite *model, const TfliteSubgraph *subgraph, const FlatTable *operator_, Node *node) {
    FlatVector inputs = flat_vector(&model->flat, operator_, OPERATOR_INPUTS, 4);
    FlatVector outputs = flat_vector(&model->flat, operator_, OPERATOR_OUTPUTS, 4);
    node->input_count = inputs.count;
    node->output_count = outputs.count;
    node->inputs = arena_array(&model->work->keep, ValueId, inputs.count);
    node->outputs = arena_array(&model->work->keep, ValueId, outputs.count);
    return tflite_read_ids(model, subgraph, &inputs, true, node->name, node->inputs) &&
           tflite_read_ids(model, subgraph, &outputs, true, node->name, node->outputs);
}

/* Which operators see the old state and which the new one, the order of the file alone would tell. */
static bool refuse_written_state(Tflite *model, const Node *node, const Value *output) {
    return diag_refuse(&model->work->diags,
                       (DiagText){.place = output->source.ptr,
                                  .node = node->name,
                                  .tensor = output->name,
                                  .what = "an operator that writes a variable tensor as its output is not supported",
                                  .expected =
                                      "variable tensors that are only inputs of the operators that update them, "
                                      "as of LSTM and SVDF",
                                  .hint = "convert the model with its state as inputs and outputs, or as resource "
                                          "variables (VAR_HANDLE, ASSIGN_VARIABLE)"});
}

/* An operator may write only what nothing else fills; inputs are looked at by graph_check. */
static bool check_output(Tflite *model, const Node *node, const Value *output) {
    if (!is_node(output->producer) && output->constant == NULL) {
        return !output->is_state || refuse_written_state(model, node, output);
    }
    bool has_producer = is_node(output->producer);
    return diag_error(
        &model->work->diags,
        (DiagText){.place = output->source.ptr,
                   .node = node->name,
                   .tensor = output->name,
                   .what = has_producer ? "two operators produce one tensor" : "an operator's output is filled already",
                   .got = has_producer ? graph_node(model->graph, output->producer)->name.ptr : "a constant",
                   .expected = has_producer ? "one producer" : "a tensor without data of its own",
                   .hint = "the file is damaged or its converter has a fault: convert it again"});
}

static bool check_outputs(Tflite *model, const Node *node) {
    for (uint32_t k = 0; k < node->output_count; k++) {
        if (is_value(node->outputs[k]) && !check_output(model, node, graph_value(model->graph, node->outputs[k]))) {
            return false;
        }
    }
    return true;
}

static bool names_opaque(const Tflite *model, const ValueId *ids, uint32_t count) {
    bool is = false;
    for (uint32_t k = 0; k < count && !is; k++) {
        is = is_value(ids[k]) && graph_value(model->graph, ids[k])->is_opaque;
    }
    return is;
}

bool tflite_read_operator(Tflite *model, const TfliteSubgraph *subgraph, const FlatTable *operator_, uint32_t index,
                          NodeId *id) {
    int64_t row = flat_int(&model->flat, operator_, OPERATOR_CODE, FLAT_U32, 0);
    if (row >= model->code_count) {
        return diag_error(
            &model->work->diags,
            (DiagText){.place = tflite_place(model, operator_->at).ptr,
                       .node = operator_name(model, subgraph, STR("operator"), index),
                       .what = "names an operator code that the model does not have",
                       .got = arena_text(tflite_texts(model), "code %" PRId64, row),
                       .expected = arena_text(tflite_texts(model), "one of %" PRIu32, model->code_count)});
    }
    const TfliteCode *code = &model->codes[row];
    Node node = {.name = operator_name(model, subgraph, code->name, index),
                 .op = code->op,
                 .op_name = code->name,
                 .version = code->version,
                 .source_index = index};
    if (!read_ends(model, subgraph, operator_, &node) || !check_outputs(model, &node) ||
        !tflite_read_options(model, operator_, &node)) {
        return false;
    }
    node.is_opaque = code->is_opaque || tflite_is_opaque_operator(model, operator_) ||
                     names_opaque(model, node.inputs, node.input_count) ||
                     names_opaque(model, node.outputs, node.output_count);
    *id = graph_add_node(model->graph, &model->work->keep, node);
    return true;
}
