/* Operators that move elements: copies in another order, and maps with a margin. */
#include "node/command.h"

#include "graph/box.h"
#include "graph/fold.h"
#include "node/reach.h"

static bool fail(const char **why, const char *text) {
    *why = text;
    return false;
}

/* A copy, element by element, in another order or under another shape. */
bool node_move(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why) {
    const Value *in = node_input(graph, node, node_data_input(node)), *out = node_output(graph, node, 0);
    bool is_permuted = op_info(node->op)->kind == KIND_TRANSPOSE;
    uint64_t from, to;
    if (in == NULL || out == NULL || node->output_count != 1 || !in->has_shape || !out->has_shape) {
        return fail(why, "its shapes are not known");
    }
    if (dtype_bits(in->dtype) != dtype_bits(out->dtype) || !shape_elements(&in->shape, &from) ||
        !shape_elements(&out->shape, &to) || from != to) {
        return fail(why, "its elements before and after are not the same ones");
    }
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(graph, node, k);
        if (k != node_data_input(node) && value != NULL && value->constant == NULL) {
            return fail(why, "how it moves its elements is told when it runs");
        }
    }
    *command = (NodeCommand){.op = CMD_COPY};
    for (uint32_t k = 0; k < SHAPE_MAX_RANK; k++) {
        command->perm[k] = k;
    }
    return !is_permuted || node_permutation(graph, node, arena, command->perm) ||
           fail(why, "the order of its axes is not known");
}

/* ---- PAD */

/* The code of 0, or the constant that is stated. */
static bool pad_code(const Graph *graph, const Node *node, Arena *arena, uint64_t *code) {
    enum { PADS, PAD_VALUE = 2 };
    const Value *in = node_input(graph, node, 0), *given = node_input(graph, node, PAD_VALUE);
    *code = (uint64_t)quant_zero(in->quant, 0);
    if (given != NULL) {
        Floats number;
        if (given->dtype != in->dtype || !const_numbers(given, arena, &number) || number.count != 1) {
            return false;
        }
        *code = (uint64_t)(int64_t)number.at[0];
    }
    *code &= ~UINT64_C(0) >> (64 - dtype_bits(in->dtype));
    return true;
}

/* Only along rows and columns, each the only axis of its dimension. */
static bool pad_slides(const Value *in, const Value *out, const NodeReach *reach, CmdWindow *window) {
    bool ok = in->shape.rank == out->shape.rank;
    *window = (CmdWindow){.group_src = 1, .group_dst = 1};
    window->h = window->w = (CmdSlide){.taps = 1, .stride = 1, .dilation = 1, .extent = 1};
    for (uint32_t k = 0; ok && k < in->shape.rank; k++) {
        uint8_t d = in->dims[k];
        const AxisReach *axis = &reach->input[0][k];
        bool is_spatial = d == DIM_H || d == DIM_W, is_same = in->shape.dim[k] == out->shape.dim[k];
        CmdSlide *slide = d == DIM_H ? &window->h : &window->w;
        ok = d == out->dims[k] && axis->axis == (int32_t)k &&
             (is_spatial ? slide->extent == 1 : is_same && axis->before == 0);
        if (ok && is_spatial) {
            slide->extent = (uint64_t)in->shape.dim[k];
            slide->before = axis->before;
        }
    }
    return ok;
}

bool node_pad(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why) {
    const Value *in = node_input(graph, node, 0), *out = node_output(graph, node, 0);
    *command = (NodeCommand){.op = CMD_PAD};
    bool is_coded = graph->format == FORMAT_TFLITE && in != NULL && out != NULL && in->quant != NULL &&
                    in->quant->count == 1 && in->has_shape && out->has_shape && in->dtype == out->dtype &&
                    dtype_bits(in->dtype) <= 16;
    if (!is_coded || !pad_code(graph, node, arena, &command->code)) {
        return fail(
            why,
            "padding is executed only in TFLite models, of integers of 8 or 16 bits with one scale for the whole map");
    }
    const NodeReach reach = node_reach(graph, node, arena);
    return pad_slides(in, out, &reach, &command->window) ||
           fail(why, "it pads other axes than the rows and columns of a map, or not with a constant");
}
