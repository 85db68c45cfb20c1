/* Operators: one table, graph/ops.def, that importers, shape inference, planner and `inspect` share.
 *
 * ONNX and TFLite operators with one meaning are one row; where the formats state a thing differently (an attribute
 * here, an input there), the shape rule reads both. Further names of a row (another domain, a TFLite builtin with the
 * same meaning) stand in graph/op_alias.def, which op_find and op_find_tflite read after the table: rows are
 * ALIAS(domain, name, id) and TFLITE_ALIAS(builtin, id). */
#ifndef S0_GRAPH_OP_H
#define S0_GRAPH_OP_H

#include "base/str.h"

#include <stdbool.h>

typedef enum {
    OP_NONE, /* no such operator */
#define OP(id, name, domain, tflite, kind, inputs, infer, flags) OP_##id,
#include "graph/ops.def"
#undef OP
    OP_COUNT
} OpId;

/* What an operator is to the planner. */
typedef enum {
    KIND_COMPUTE,    /* reads whole inputs, writes whole outputs */
    KIND_UNARY,      /* element by element, output shaped as input 0 (Relu, Cast, Quantize, Clip) */
    KIND_BROADCAST,  /* element by element over inputs broadcast by aligned position (Add, Where) */
    KIND_NORM,       /* element by element over input 0 with per-channel parameters (BatchNormalization, PRelu) */
    KIND_RESHAPE,    /* the same elements in the same row-major order under another shape */
    KIND_TRANSPOSE,  /* the same elements in another order */
    KIND_SLICE,      /* a box of the input (Slice, StridedSlice, Split): a view where strides allow */
    KIND_CONCAT,     /* inputs side by side along one axis */
    KIND_EXPAND,     /* the input repeated (Expand, Tile, BroadcastTo) */
    KIND_CONSTANT,   /* makes a constant from attributes or shapes (Constant, ConstantOfShape, Shape, Range) */
    KIND_QUANTIZE,   /* float or integer to integer codes */
    KIND_DEQUANTIZE, /* integer codes to float */
    KIND_STATE,      /* names, reads or writes a variable (VarHandle, ReadVariable, AssignVariable) */
    KIND_CONTROL,    /* calls blocks (If, Loop, While, CallOnce) */
    KIND_OPAQUE,     /* a custom operator: the file's shapes are all that is known */
} OpKind;

/* Flags of a row. */
enum {
    OP_INTEGER_FORM = 1 << 0, /* Dequantize around its inputs and Quantize behind it read as one integer operator */
    OP_CHANNEL_SECOND =
        1 << 1,            /* ONNX: input 0 and output 0 are N, C, then spatial axes: fixes the names of the axes */
    OP_IMPURE = 1 << 2,    /* random, stateful: never folded into a constant */
    OP_NO_LAYOUT = 1 << 3, /* makes or takes a sequence, an optional or a string: refused by name when planned */
};

typedef struct {
    const char *name;   /* the ONNX name, or the TFLite name where ONNX has none */
    const char *domain; /* "" is ai.onnx; "tflite"; "com.microsoft"; … */
    int32_t tflite;     /* BuiltinOperator, -1 where TFLite has none */
    OpKind kind;
    /* A letter an input; the last repeats where there are more:
     *   x data · w weights · c one number a channel of the output, by definition · p operand of aligned broadcasting
     *   k configuration (shape, axes, pads): read when planning · s state */
    const char *inputs;
    uint32_t flags;
} OpInfo;

/* The newest opset of ai.onnx that was read: to operators of 21 and before, 22 to 24 add types, and the attributes
 * output_dtype, precision and round_mode. */
enum { OPSET_KNOWN = 24 };

const OpInfo *op_info(OpId op);
OpId op_find(Str domain, Str name);          /* ONNX; OP_NONE where unknown */
OpId op_find_tflite(int64_t builtin);        /* OP_NONE where unknown */
char op_input_role(OpId op, uint32_t input); /* the letter above */

#endif
