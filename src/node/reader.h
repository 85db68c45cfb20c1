/* A node that is being read as stages: what stages.c, codes.c and integers.c share. Private to the room. */
#ifndef S0_NODE_READER_H
#define S0_NODE_READER_H

#include "node/stages.h"

typedef struct {
    const Graph *graph;
    const Node *node;
    const Value *data, *out; /* the map, before and after */
    DType reals;             /* what the node computes in; DTYPE_NONE where it is codes */
    bool is_folded;          /* it computes in reals, and the codes of its map stand for them */
    NodeStages *stages;
    const char *why;
} NodeReader;

/* False: the node is not known, because of `why`. */
bool reader_fail(NodeReader *r, const char *why);

NodeStage *reader_add(NodeReader *r, StageKind kind, DType from, DType to);

/* The one scale and zero point that a value's codes carry. */
bool reader_own_code(NodeReader *r, const Value *coded, StageCode *code);

/* What a Relu limits reals to; false for other operators. */
bool reader_relu(OpId op, float limit[2]);

/* What the node's fused activation limits reals to, if it has one. False, and why, where that is no limit. */
bool reader_activation(const Node *node, float limit[2], bool *is_there, const char **why);

/* The one number of a constant that no caller may replace. */
bool reader_number(const Value *value, double *number);

/* Input 1 or 2 of a Clip: an immediate, if there is one, or a parameter of `clip`. */
bool reader_limit(NodeReader *r, NodeStage *clip, Gives gives, double *number, bool *is_given);

/* Integers of 2 to 16 bits. */
bool reader_is_code(DType dtype);

/* ---- codes.c: Quantize and Dequantize; operators that compute on codes, as TFLite does. */
bool reader_coder(NodeReader *r);
bool reader_code_operator(NodeReader *r);

/* ---- integers.c: ONNX's operators on integers, and QLinearAdd and QLinearMul. */
bool reader_integers(NodeReader *r);

#endif
