/* What the ONNX importer's files share: the model being read, and one function a message.
 *
 *     onnx.c         ModelProto: versions, operator sets, functions
 *     onnx_graph.c   GraphProto: scopes, inputs, outputs, initializers
 *     onnx_order.c   the order in which its nodes are read
 *     onnx_node.c    NodeProto and Constant nodes
 *     onnx_attr.c    AttributeProto
 *     onnx_type.c    ValueInfoProto, TypeProto
 *     onnx_tensor.c  TensorProto; onnx_data.c its elements
 *     onnx_quant.c   scales of quantise operators become Value.quant
 * Every reader returns false after a diagnostic; callers go on with the next message, so that several are collected. */
#ifndef S0_IMPORT_ONNX_H
#define S0_IMPORT_ONNX_H

#include "base/name_map.h"
#include "import/import.h"
#include "import/onnx_wire.h"

enum { ONNX_MAX_DEPTH = 16, ONNX_FIRST_IR_WITH_OPSETS = 3, ONNX_FIRST_IR_WITH_DEFAULTS = 4 };

typedef struct {
    WireFile file;
    Work *work;
    Graph *graph;
    const char *path;
    ModelFiles *files;
    int64_t ir_version;
    NameMap opsets;         /* domain -> version; "ai.onnx" is "" */
    NameMap functions;      /* "domain.name" of the model's own functions */
    NameMap unknown_ops;    /* already refused */
    uint32_t default_count; /* inputs that are initializers too */
    const char *defaults;   /* the first of their names */
} Onnx;

/* Names that a graph's nodes see: its own first, then those of the graphs around it. */
typedef struct OnnxScope OnnxScope;
struct OnnxScope {
    const OnnxScope *outer;
    uint32_t depth;     /* 0 is the main graph */
    size_t field_count; /* of the GraphProto */
    Field *fields;
    NameMap values;   /* name -> ValueId.index */
    NameMap declared; /* name -> index of `fields`: the ValueInfoProto that states its type */
    Block block;
    uint32_t node_count; /* NodeProto messages, as the file has them */
    Span *nodes;
    uint32_t *order; /* their numbers as they are read */
};

/* Adds place (the byte of `at`) to a diagnostic. Both return false. */
bool onnx_error(const Onnx *onnx, const uint8_t *at, DiagText text);
bool onnx_refuse(const Onnx *onnx, const uint8_t *at, DiagText text);

bool onnx_read_graph(Onnx *onnx, Span message, const OnnxScope *outer, BlockId *block);
bool onnx_read_node(Onnx *onnx, OnnxScope *scope, uint32_t index);

/* Is all defined that this node reads? A node with subgraphs is not asked what those read, and never is. */
bool onnx_is_ready(const Onnx *onnx, const OnnxScope *scope, uint32_t index);

/* Fills scope->order, keeping file order as far as nodes are ready in it; false with a diagnostic where they form a
 * cycle. */
bool onnx_order_nodes(Onnx *onnx, OnnxScope *scope);

/* "Conv#12": what a node without a name is called. */
Str onnx_numbered(Arena *keep, Str op_type, uint32_t index);
bool onnx_read_attr(Onnx *onnx, OnnxScope *scope, Str node, const Field *field, Attr *attr);

/* A value as ValueInfoProto states it; its name's bytes stay in the file. */
bool onnx_read_value_info(const Onnx *onnx, const Field *field, Value *value);

/* A constant value; its bytes are spans of the file wherever they stand there as they are wanted. `node` is for
 * messages, and empty for initializers. */
bool onnx_read_tensor(Onnx *onnx, Str node, const Field *field, Value *value);

/* Refused or read as a constant whose bytes are not known: a sparse tensor is stored dense when the model runs. */
bool onnx_read_sparse(Onnx *onnx, Str node, const Field *field, Value *value);

/* Appends an extent; refused where the rank would pass SHAPE_MAX_RANK. */
bool onnx_push_dim(const Onnx *onnx, const uint8_t *at, Str tensor, Shape *shape, int64_t extent);

/* The dtype of a TensorProto.DataType; 0 is DTYPE_NONE, an unknown code is refused. */
bool onnx_dtype(const Onnx *onnx, const uint8_t *at, Str tensor, uint64_t code, DType *dtype);

/* The value of a name in this scope or one around it; NO_VALUE where there is none. */
ValueId onnx_find_value(const OnnxScope *scope, Str name);

/* Defines a name in `scope`. False where it is defined there already. */
bool onnx_define(OnnxScope *scope, Str name, ValueId id);

/* Sets Value.quant from the constant scales of quantise, dequantise and QLinear operators. */
bool onnx_set_quant(Onnx *onnx);

#endif
