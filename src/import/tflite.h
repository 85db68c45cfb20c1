/* What the files of the TFLite importer share: the model being read, and the slots of its tables.
 *
 * How a TFLite model looks as a graph:
 *   - subgraph k is block k; its tensors are values in the file's order, and the values of one block stand together;
 *     the nodes have no names in the file and are called OPERATOR#INDEX, outside the main subgraph
 * SUBGRAPH/OPERATOR#INDEX;
 *   - a called subgraph is an attribute of kind ATTR_BLOCK (cond, body, then_branch, else_branch, init, …);
 *   - options are attributes, see tflite_options.def;
 *   - `shape` holds the file's numbers; an axis that shape_signature leaves free has a dim_name "TENSOR:AXIS";
 *   - what a signature of the main subgraph names is the callers' too: its outputs are outputs of block 0, behind those
 * of the file's list, and its inputs are not given up, nor are constants among them taken for what callers will give;
 *   - what has fields that the schema does not have is opaque (tflite_schema.def), and so is an operator of a later
 * version than tflite_builtin.def has, and one that names an opaque tensor;
 *   - a variable tensor (is_variable) is a value with is_state;
 *   - a resource variable is one value with is_state for each pair of container and shared_name, called as the pair is
 * and shaped as what is read and assigned. It is the last input of every READ_VARIABLE and ASSIGN_VARIABLE, whose first
 *     input is still the handle. Handles are values of DTYPE_RESOURCE and have no bytes.
 * Source: schema.fbs of TFLite, schema version 3. */
#ifndef S0_IMPORT_TFLITE_H
#define S0_IMPORT_TFLITE_H

#include "graph/graph.h"
#include "import/flatbuf.h"

enum {
    MODEL_VERSION = 0,
    MODEL_OPERATOR_CODES = 1,
    MODEL_SUBGRAPHS = 2,
    MODEL_BUFFERS = 4,
    MODEL_METADATA_BUFFER = 5,
    MODEL_METADATA = 6,
    MODEL_SIGNATURES = 7,

    METADATA_BUFFER = 1,

    SIGNATURE_INPUTS = 0,
    SIGNATURE_OUTPUTS = 1,
    SIGNATURE_KEY = 2,
    SIGNATURE_SUBGRAPH = 4,

    MAP_TENSOR = 1,

    SUBGRAPH_TENSORS = 0,
    SUBGRAPH_INPUTS = 1,
    SUBGRAPH_OUTPUTS = 2,
    SUBGRAPH_OPERATORS = 3,
    SUBGRAPH_NAME = 4,

    TENSOR_SHAPE = 0,
    TENSOR_TYPE = 1,
    TENSOR_BUFFER = 2,
    TENSOR_NAME = 3,
    TENSOR_QUANTIZATION = 4,
    TENSOR_IS_VARIABLE = 5,
    TENSOR_SPARSITY = 6,
    TENSOR_SHAPE_SIGNATURE = 7,
    TENSOR_HAS_RANK = 8,
    TENSOR_EXTERNAL_BUFFER = 10,

    QUANTIZATION_SCALE = 2,
    QUANTIZATION_ZERO_POINT = 3,
    QUANTIZATION_DETAILS_TYPE = 4,
    QUANTIZATION_DIMENSION = 6,

    BUFFER_DATA = 0,
    BUFFER_OFFSET = 1,
    BUFFER_SIZE = 2,

    CODE_DEPRECATED_BUILTIN = 0,
    CODE_CUSTOM = 1,
    CODE_VERSION = 2,
    CODE_BUILTIN = 3,

    OPERATOR_CODE = 0,
    OPERATOR_INPUTS = 1,
    OPERATOR_OUTPUTS = 2,
    OPERATOR_OPTIONS_TYPE = 3,
    OPERATOR_OPTIONS = 4,
    OPERATOR_CUSTOM_OPTIONS = 5,
    OPERATOR_LARGE_CUSTOM_OFFSET = 9,
    OPERATOR_LARGE_CUSTOM_SIZE = 10,
    OPERATOR_OPTIONS_2_TYPE = 11,
    OPERATOR_OPTIONS_2 = 12,
};

/* One row of the model's operator codes. */
typedef struct {
    OpId op;
    Str name; /* "CONV_2D", "CUSTOM:SignalFft" */
    int32_t version;
    bool is_opaque; /* of a later version, or with fields that are not known */
} TfliteCode;

typedef struct {
    Work *work;
    Graph *graph;
    Flatbuf flat;
    FlatVector buffers;
    bool *is_metadata; /* by buffer: metadata names it */
    TfliteCode *codes;
    uint32_t code_count;
    uint32_t subgraph_count;
    bool states_ranks; /* some tensor has has_rank: an input without it is not a scalar */
} Tflite;

/* The subgraph being read: its values are [first_value, first_value + value_count). */
typedef struct {
    uint32_t index;
    Str name;
    uint32_t first_value, value_count;
} TfliteSubgraph;

/* False with a diagnostic where the reader met something that is not a FlatBuffer. */
bool tflite_is_sound(Tflite *model);

/* Where texts of diagnostics live. */
static inline Arena *tflite_texts(const Tflite *model) {
    return model->work->diags.arena;
}

/* What is wrong with a tensor, for diag_error and diag_refuse. */
static inline DiagText tflite_fault(const Value *value, const char *what, const char *got, const char *expected) {
    return (DiagText){
        .place = value->source.ptr, .tensor = value->name, .what = what, .got = got, .expected = expected};
}

/* "byte 1234" */
Str tflite_place(Tflite *model, size_t at);

/* Bytes [offset, offset + bytes) of the file, which stand behind the FlatBuffer in files past 2 GiB. */
bool tflite_span(const Tflite *model, int64_t offset, int64_t bytes, Span *span);

/* Adds the value of tensor `index` of its subgraph. False with diagnostics. */
bool tflite_read_tensor(Tflite *model, const FlatTable *tensor, uint32_t index);

/* The quantisation of a tensor whose dtype and shape are read. False with diagnostics. */
bool tflite_read_quant(Tflite *model, const FlatTable *tensor, Value *value);

/* Does the table have fields that the schema does not have? See tflite_schema.def for letter and number. */
bool tflite_has_unknown(Tflite *model, const FlatTable *table, char letter, int64_t number);

/* The same of a tensor and what it consists of, and of an operator and its options. */
bool tflite_is_opaque_tensor(Tflite *model, const FlatTable *tensor);
bool tflite_is_opaque_operator(Tflite *model, const FlatTable *operator_);

/* What the file names beside its subgraphs: buffers that metadata names, and tensors of the main subgraph that
 * signatures name. False with diagnostics. */
void tflite_note_metadata(Tflite *model, const FlatTable *root);
bool tflite_read_signatures(Tflite *model, const FlatTable *root, uint32_t tensor_count);

bool tflite_read_codes(Tflite *model, const FlatTable *root);

/* Values of a list of tensor indices; -1 is NO_VALUE where `may_be_absent`. `node` is for messages. */
bool tflite_read_ids(Tflite *model, const TfliteSubgraph *subgraph, const FlatVector *list, bool may_be_absent,
                     Str node, ValueId *ids);

/* Adds the node of one operator. False with diagnostics. */
bool tflite_read_operator(Tflite *model, const TfliteSubgraph *subgraph, const FlatTable *operator_, uint32_t index,
                          NodeId *id);

/* Sets the attributes of `node` from its options. False with diagnostics. */
bool tflite_read_options(Tflite *model, const FlatTable *operator_, Node *node);

/* Adds the values of resource variables; see above. False with diagnostics. */
bool tflite_add_variables(Tflite *model);

#endif
