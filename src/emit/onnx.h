/* What the files that edit an ONNX model share.
 *
 *     onnx.c          ModelProto and GraphProto: which field stays
 *     onnx_names.c    which value a name of the file's main graph stands for
 *     onnx_node.c     nodes with other ends, and nodes the file does not have
 *     onnx_reads.c    what nodes that stay read, in their subgraphs too
 *     onnx_tensor.c   constants the file does not have
 * Functions that return a bool return false after a diagnostic. */
#ifndef S0_EMIT_ONNX_H
#define S0_EMIT_ONNX_H

#include "emit/emit.h"
#include "emit/splice.h"
#include "import/onnx.h"

typedef struct {
    const ModelEdit *edit;
    Onnx reader;     /* file, work and ir_version; what is read again is read with it */
    NameMap names;   /* of the main graph and of added values -> ValueId.index */
    bool *is_remade; /* by value: a rewired or added node makes it, or it is new */
    bool drops_values;
    uint32_t node;  /* position of the next NodeProto */
    uint32_t added; /* the next added node */
} OnnxEdit;

/* Fills `names` and `is_remade`; `graph` is the bytes of the main graph. */
bool onnx_note_names(OnnxEdit *e, Span graph);

/* The value of a name of the main graph, null where it has none. */
const uint32_t *onnx_named(const OnnxEdit *e, Str name);
bool onnx_is_dropped(const OnnxEdit *e, Str name);

/* The last string or message `number` of a message, empty where it has none. */
bool onnx_find_bytes(const OnnxEdit *e, OnnxMessage message, Span bytes, uint32_t number, Span *found);
bool onnx_find_name(const OnnxEdit *e, OnnxMessage message, Span bytes, uint32_t number, Str *name);
bool onnx_sparse_name(const OnnxEdit *e, Span bytes, Str *name);

/* Refuses the edit where a node that stays reads a value that is dropped. */
bool onnx_check_reads(const OnnxEdit *e, Span node);

/* The node of `message` with the inputs and outputs that it has now. */
bool onnx_put_rewired(const OnnxEdit *e, const Node *node, Span message, Pieces *out);
void onnx_put_added_node(const OnnxEdit *e, const Node *node, Pieces *out);

/* TensorProto and ValueInfoProto of a constant. */
void onnx_put_tensor(Pieces *out, uint32_t field, const Value *value);
void onnx_put_value_info(Pieces *out, uint32_t field, const Value *value);

#endif
