/* Attributes of the operators whose meaning rules use. See known.h. */
#include "affine/known.h"

#include <inttypes.h>
#include <string.h>

/* All that opsets 1 to OPSET_KNOWN define, between blanks. Of an operator without a row any attribute is unknown.
 * Source: onnx/docs/Operators.md and Changelog.md. */
static const struct {
    OpId op;
    const char *names;
} attributes[] = {
    {OP_ABS, "consumed_inputs"},
    {OP_ADD, "axis broadcast consumed_inputs"},
    {OP_AND, "axis broadcast"},
    {OP_BATCH_NORM, "consumed_inputs epsilon is_test momentum spatial training_mode"},
    {OP_BIT_SHIFT, "direction"},
    {OP_CAST, "round_mode saturate to"},
    {OP_CAST_LIKE, "round_mode saturate"},
    {OP_CEIL, "consumed_inputs"},
    {OP_CLIP, "consumed_inputs max min"},
    {OP_CONCAT, "axis"},
    {OP_CONSTANT, "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {OP_CONSTANT_FILL, "dtype extra_shape input_as_shape shape value"},
    {OP_CONSTANT_OF_SHAPE, "value"},
    {OP_CONV, "activation activation_params auto_pad dilations group kernel_shape pads strides"},
    {OP_CONV_TRANSPOSE, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {OP_DEQUANTIZE, "axis block_size output_dtype"},
    {OP_DIV, "axis broadcast consumed_inputs"},
    {OP_DROPOUT, "consumed_inputs is_test ratio seed"},
    {OP_EQUAL, "axis broadcast"},
    {OP_EXP, "consumed_inputs"},
    {OP_FLATTEN, "axis"},
    {OP_FLOOR, "consumed_inputs"},
    {OP_GATHER, "axis"},
    {OP_GREATER, "axis broadcast"},
    {OP_LESS, "axis broadcast"},
    {OP_LOG, "consumed_inputs"},
    {OP_MAX, "consumed_inputs"},
    {OP_MEAN, "consumed_inputs"},
    {OP_MIN, "consumed_inputs"},
    {OP_MOD, "fmod"},
    {OP_MUL, "axis broadcast consumed_inputs"},
    {OP_NEG, "consumed_inputs"},
    {OP_OR, "axis broadcast"},
    {OP_POW, "axis broadcast"},
    {OP_QUANTIZE, "axis block_size output_dtype precision saturate"},
    {OP_RECIPROCAL, "consumed_inputs"},
    {OP_RELU, "consumed_inputs"},
    {OP_RESHAPE, "allowzero consumed_inputs shape"},
    {OP_SHAPE, "end start"},
    {OP_SIGMOID, "consumed_inputs"},
    {OP_SLICE, "axes ends starts"},
    {OP_SOFTMAX, "axis"},
    {OP_SPLIT, "axis num_outputs split"},
    {OP_SQRT, "consumed_inputs"},
    {OP_SQUEEZE, "axes"},
    {OP_SUB, "axis broadcast consumed_inputs"},
    {OP_SUM, "consumed_inputs"},
    {OP_TANH, "consumed_inputs"},
    {OP_TRANSPOSE, "perm"},
    {OP_UNSQUEEZE, "axes"},
    {OP_XOR, "axis broadcast"},
};

static const char *names_of(OpId op) {
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++) {
        if (attributes[k].op == op) {
            return attributes[k].names;
        }
    }
    return "";
}

static bool is_among(const char *names, Str name) {
    while (*names != '\0') {
        size_t len = strcspn(names, " ");
        if (len == name.len && memcmp(names, name.ptr, len) == 0) {
            return true;
        }
        names += len + (names[len] == ' ');
    }
    return false;
}

const char *known_why_not(const Graph *graph, const Node *node, Arena *arena) {
    bool is_standard = op_info(node->op)->domain[0] == '\0';
    if (graph->format != FORMAT_ONNX) {
        return NULL;
    }
    if (is_standard && node->version > OPSET_KNOWN) {
        return arena_text(arena, "it is of opset %" PRId32 ", and what %d changed in operators is not known",
                          node->version, OPSET_KNOWN + 1);
    }
    const char *names = names_of(node->op);
    for (uint32_t k = 0; k < node->attr_count; k++) {
        Str name = node->attrs[k].name;
        if (!is_among(names, name)) {
            return arena_text(arena, "what its attribute '" STR_FMT "' means is not known", STR_ARG(name));
        }
    }
    return NULL;
}
