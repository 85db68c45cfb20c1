/* The graph: values, nodes and blocks of one model, as the file states them and as inference completes them.
 *
 * Invariants, checked by graph_check:
 *   - a value has at most one producer; a node's inputs are produced before it in the order of its block, or are inputs
 *     of the block, constants, or values of an enclosing block;
 *   - ids index the arrays of their graph; NO_VALUE stands for an absent optional input or output;
 *   - the bytes of a constant are spans of the mapped file or of the keep arena, little-endian, sub-byte elements
 *     packed low bits first; elements(stored) * bits, rounded up, equals the span's length;
 *   - a scale is finite and not negative; a zero point is a code of an integer value's dtype;
 *   - block 0 is the model's main graph; after graph_inline it is the only one that is run.
 * Node order is the file's order, which both formats require to be topological. */
#ifndef S0_GRAPH_GRAPH_H
#define S0_GRAPH_GRAPH_H

#include "base/dtype.h"
#include "base/work.h"
#include "graph/op.h"
#include "layout/shape.h"

typedef struct {
    uint32_t index;
} ValueId;
typedef struct {
    uint32_t index;
} NodeId;
typedef struct {
    uint32_t index;
} BlockId;

#define NO_VALUE ((ValueId){UINT32_MAX})
#define NO_NODE  ((NodeId){UINT32_MAX})
#define NO_BLOCK ((BlockId){UINT32_MAX})

static inline bool is_value(ValueId id) {
    return id.index != UINT32_MAX;
}
static inline bool is_node(NodeId id) {
    return id.index != UINT32_MAX;
}

enum { SHAPE_MAX_RANK = 8, DIM_FREE = -1 };

typedef struct {
    uint32_t rank;
    int64_t dim[SHAPE_MAX_RANK]; /* elements, or DIM_FREE */
} Shape;

/* Real value = (code - zero_point) * scale. One pair for the tensor, or one a slice of `axis`, or one a block of
 * `block` elements along `axis`. */
typedef struct {
    uint32_t count; /* of scales; 1 is per tensor */
    const float *scale;
    const int64_t *zero_point; /* count of them; null where all are 0 */
    int32_t axis;              /* of the tensor, counted from 0; -1 per tensor */
    uint32_t block;            /* elements a block, 0 where there are none */
} Quant;

/* A constant: a rule over stored bytes. `stored` has the value's rank; each extent equals the value's or is 1, and
 * then repeats: a splat is all ones, an Expand of a channel vector is [1,C,1,1]. */
typedef struct {
    Shape stored;
    Span bytes;
    bool is_known;    /* false: constant, but its bytes were not computed (Transpose of weights); `bytes` is empty */
    bool is_external; /* the model names another file that holds the bytes */
} Const;

/* What says which axis of a value is C; set by graph_assign_names. */
typedef enum {
    CHANNEL_BY_DEFAULT, /* nothing: names are filled in from the right */
    CHANNEL_BY_LAYOUT,  /* a --layout, of this value or of one whose axes are the same */
    CHANNEL_BY_NODE,    /* the definition of an operator, which need not touch this value */
    CHANNEL_BY_READER,  /* of a constant: its first reader's */
} ChannelSource;

typedef struct {
    Str name;
    DType dtype;
    bool has_shape;     /* false: not even the rank is known */
    bool is_input;      /* of the main block, and not an initializer */
    bool is_output;     /* of the main block */
    bool is_state;      /* keeps its bytes from one run to the next: variable tensors */
    bool is_default;    /* a constant that callers may replace: an initializer that is an input too, since IR 4 */
    bool is_annotation; /* a note of the file names it, so it is there for more than its readers */
    bool is_opaque;     /* the file says more of it than is known, so what is known may not be true */
    bool is_kept_data;  /* of a constant: what is no value holds its bytes too, and they stay when it goes */
    bool is_sequence;   /* a list, map or optional: no byte layout */
    Shape shape;
    const Str *dim_name;   /* rank names of free dimensions, empty where a dimension has none; null where none has */
    const Quant *quant;    /* null where not quantised */
    const Const *constant; /* null where not constant */
    NodeId producer;       /* NO_NODE for inputs, constants and state */
    uint8_t dims[SHAPE_MAX_RANK]; /* Dim of each axis, set by graph_assign_names */
    ChannelSource channel_source;
    NodeId channel_node; /* the operator, where one says it */
    Str source;          /* where the file has it, for messages: "byte 1234" or empty */
} Value;

typedef enum { ATTR_INT, ATTR_FLOAT, ATTR_STR, ATTR_INTS, ATTR_FLOATS, ATTR_STRS, ATTR_TENSOR, ATTR_BLOCK } AttrKind;

typedef struct {
    Str name; /* the ONNX name; TFLite options get the ONNX name of the same thing where there is one */
    AttrKind kind;
    uint32_t count; /* of ints, floats, strs */
    union {
        int64_t i;
        double f;
        Str s;
        const int64_t *ints;
        const float *floats;
        const Str *strs;
        ValueId tensor; /* a constant value */
        BlockId block;
    };
} Attr;

typedef struct {
    Str name;        /* the file's; where it has none, operator and index ("Conv#12") */
    OpId op;         /* OP_CUSTOM for operators without a row */
    Str op_name;     /* as the file states it, with its domain: "com.microsoft.Gelu", "CONV_2D", "CUSTOM:SignalFft" */
    int32_t version; /* the opset of its domain, or the TFLite operator version */
    uint32_t input_count, output_count, attr_count;
    ValueId *inputs, *outputs; /* NO_VALUE where absent */
    Attr *attrs;
    uint32_t source_index; /* position in its block in the file */
    bool is_opaque;        /* the file says more of it, or of what it names, than is known: no rewrite relies on it */
    bool is_constant;      /* all its outputs are constants: it makes no step */
} Node;

typedef struct {
    Str name;
    uint32_t input_count, output_count, node_count;
    ValueId *inputs, *outputs;
    NodeId *nodes;
} Block;

/* A note of the file: `parameter` is a scale or zero point of `tensor`. */
typedef struct {
    ValueId tensor, parameter;
} Annotation;

typedef enum { FORMAT_ONNX, FORMAT_TFLITE, FORMAT_TEXT } Format;

typedef struct AxisClasses AxisClasses; /* which axes are one dimension: graph/names.c */

typedef struct {
    Str name;
    Format format;
    bool channels_last; /* TFLite: convolutions are N H W C */
    int32_t opset;      /* of ai.onnx; 0 for TFLite */
    uint32_t value_count, node_count, block_count;
    size_t value_capacity, node_capacity, block_capacity;
    Value *values;
    Node *nodes;
    Block *blocks;
    size_t annotation_count, annotation_capacity;
    Annotation *annotations;
    AxisClasses *axis_classes; /* set by graph_assign_names */
} Graph;

/* Building. All of it lives in `keep`; pointers into the arrays die at the next add, ids do not. */
Graph *graph_new(Arena *keep, Str name, Format format);
ValueId graph_add_value(Graph *graph, Arena *keep, Value value);
NodeId graph_add_node(Graph *graph, Arena *keep, Node node); /* sets producer of its outputs; does not join a block */
BlockId graph_add_block(Graph *graph, Arena *keep, Block block);

static inline Value *graph_value(const Graph *graph, ValueId id) {
    return &graph->values[id.index];
}
static inline Node *graph_node(const Graph *graph, NodeId id) {
    return &graph->nodes[id.index];
}
static inline Block *graph_main(const Graph *graph) {
    return &graph->blocks[0];
}

/* The value of input or output `k`, null where it is absent or there are fewer. */
Value *node_input(const Graph *graph, const Node *node, uint32_t k);
Value *node_output(const Graph *graph, const Node *node, uint32_t k);

/* Attributes by name; the default where absent or of another kind. */
const Attr *node_attr(const Node *node, const char *name);
int64_t node_int(const Node *node, const char *name, int64_t absent);
double node_float(const Node *node, const char *name, double absent);
Str node_str(const Node *node, const char *name);

/* "node 'x' (Conv)" for messages: name, or operator and number. */
Str node_title(Arena *arena, const Node *node);

/* Shapes. */
bool shape_eq(const Shape *a, const Shape *b);
bool shape_is_whole(const Shape *shape);                     /* no free dimension? */
bool shape_elements(const Shape *shape, uint64_t *elements); /* false where free or past 64 bits */
Str shape_text(Arena *arena, const Shape *shape);            /* "[1,12,20,28]", "?" for a free dimension */

/* Bytes of a constant of this shape and dtype, its elements packed. False as shape_elements. */
bool shape_packed_bytes(const Shape *shape, DType dtype, uint64_t *bytes);

/* The invariants above, for every importer's output. False with diagnostics (the file's fault). */
bool graph_check(const Graph *graph, Work *work);

/* Its rule about scales and zero points, for a value whose dtype becomes known later. */
bool graph_check_codes(const Value *value, Work *work);

/* Zero point `k`. */
static inline int64_t quant_zero(const Quant *quant, uint32_t k) {
    return quant->zero_point == NULL ? 0 : quant->zero_point[k];
}

/* Are its elements floats, not codes of some? Null has none. */
static inline bool value_is_float(const Value *value) {
    return value != NULL && dtype_is_float(value->dtype);
}

/* The same scales and zero points, along the same axis? Null is not quantised. */
bool quant_eq(const Quant *a, const Quant *b);

/* Nodes that read each value, in node order: uses of value v are use[first[v]] … use[first[v+1]-1]. Only nodes of
 * the main block; a node that reads a value twice stands twice. */
typedef struct {
    uint32_t *first; /* value_count + 1 */
    NodeId *use;
} GraphUses;
GraphUses graph_uses(const Graph *graph, Arena *arena);

#endif
