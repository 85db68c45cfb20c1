/* `stride0 inspect`: the view for people. */
#include "cli/inspect.h"

#include "base/clean.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static const char *quant_text(Arena *arena, const Quant *quant) {
    if (quant == NULL) {
        return "";
    }
    if (quant->count == 1) {
        int64_t zero_point = quant_zero(quant, 0);
        return arena_text(arena, "scale %.9g, zero point %" PRId64, (double)quant->scale[0], zero_point);
    }
    return arena_text(arena, "%" PRIu32 " scales along axis %" PRId32, quant->count, quant->axis);
}

const char *cli_inspect_shape(Arena *arena, const Value *value) {
    if (!value->has_shape) {
        return "unknown shape";
    }
    const char *text = "[";
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        Str name = value->dim_name == NULL ? (Str){NULL, 0} : value->dim_name[k];
        const char *comma = k == 0 ? "" : ",";
        if (value->shape.dim[k] != DIM_FREE) {
            text = arena_text(arena, "%s%s%" PRId64, text, comma, value->shape.dim[k]);
        } else if (name.len > 0) {
            text = arena_text(arena, "%s%s" STR_FMT, text, comma, STR_ARG(clean_text(arena, name)));
        } else {
            text = arena_text(arena, "%s%s?", text, comma);
        }
    }
    return arena_text(arena, "%s]", text);
}

static void print_values(const InspectFacts *facts, FILE *out, const char *title, const ValueId *ids, uint32_t count) {
    fprintf(out, "\n%s\n", title);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_value(ids[i])) {
            continue;
        }
        const Value *value = cli_inspect_value(facts, ids[i]);
        const char *axes = cli_inspect_axes(facts, ids[i]);
        const char *quant = quant_text(facts->arena, value->quant);
        fprintf(out, "  " STR_FMT "  %s %s", STR_ARG(clean_text(facts->arena, value->name)), dtype_name(value->dtype),
                cli_inspect_shape(facts->arena, value));
        fprintf(out, "%s%s%s%s\n", axes[0] == '\0' ? "" : " ", axes, quant[0] == '\0' ? "" : "  ", quant);
    }
}

static void print_operators(const InspectFacts *facts, FILE *out) {
    fputs("\noperators\n", out);
    for (uint32_t i = 0; i < facts->operator_count; i++) {
        const OperatorCount *row = &facts->operators[i];
        const char *note = !row->is_known     ? "  opaque: only the file's shapes are known"
                           : !row->has_layout ? "  has no byte layout: refused when planned"
                                              : "";
        fprintf(out, "  %6" PRIu64 "  " STR_FMT "%s\n", row->count, STR_ARG(clean_text(facts->arena, row->op)), note);
    }
}

/* A list that may be as long as the model: its title stands before the first row, rows past the most are counted only.
 */
typedef struct {
    const char *title;
    uint64_t rows;
} List;

enum { MOST_ROWS = 12 };

/* True where the next row is to be printed. */
static bool list_next(List *list, FILE *out) {
    if (list->rows == 0) {
        fprintf(out, "\n%s\n", list->title);
    }
    return list->rows++ < MOST_ROWS;
}

static void list_end(const List *list, FILE *out) {
    if (list->rows > MOST_ROWS) {
        fprintf(out, "  and %" PRIu64 " more: --json - or --names lists all\n", list->rows - MOST_ROWS);
    }
}

static void print_channel_quant(const InspectFacts *facts, FILE *out) {
    List list = {.title = "quantised per channel"};
    for (uint32_t i = 0; i < facts->graph->value_count; i++) {
        const Value *value = &facts->graph->values[i];
        if (value->quant == NULL || value->quant->count <= 1 || value->quant->axis < 0 || !list_next(&list, out)) {
            continue;
        }
        const char *axes = cli_inspect_axes(facts, (ValueId){i});
        fprintf(out, "  " STR_FMT "  %s, %" PRIu32 " scales along axis %" PRId32,
                STR_ARG(clean_text(facts->arena, value->name)), cli_inspect_shape(facts->arena, value),
                value->quant->count, value->quant->axis);
        if ((size_t)value->quant->axis < strlen(axes)) {
            fprintf(out, " (%c of %s)", axes[value->quant->axis], axes);
        }
        fputc('\n', out);
    }
    list_end(&list, out);
}

/* A parameter of rank 0 is one number for the whole tensor. */
static bool is_channel_parameter(const InspectFacts *facts, const Node *node, uint32_t input) {
    if (op_input_role(node->op, input) != 'c' || !is_value(node->inputs[input])) {
        return false;
    }
    const Value *value = cli_inspect_value(facts, node->inputs[input]);
    return !value->has_shape || value->shape.rank > 0;
}

static void print_channel_parameters(const InspectFacts *facts, FILE *out) {
    List list = {.title = "one number a channel, by the operator's definition"};
    for (uint32_t n = 0; n < facts->graph->node_count; n++) {
        const Node *node = &facts->graph->nodes[n];
        for (uint32_t k = 0; k < node->input_count; k++) {
            if (!is_channel_parameter(facts, node, k) || !list_next(&list, out)) {
                continue;
            }
            const Value *value = cli_inspect_value(facts, node->inputs[k]);
            fprintf(out, "  " STR_FMT "  %s, input %" PRIu32 " of " STR_FMT "\n",
                    STR_ARG(clean_text(facts->arena, value->name)), cli_inspect_shape(facts->arena, value), k,
                    STR_ARG(clean_text(facts->arena, node_title(facts->arena, node))));
        }
    }
    list_end(&list, out);
}

void cli_inspect_print_model(FILE *out, const InspectFacts *facts) {
    const Graph *graph = facts->graph;
    const char *const format[] = {[FORMAT_ONNX] = "ONNX", [FORMAT_TFLITE] = "TFLite", [FORMAT_TEXT] = "text form"};
    clean_print(str_from(facts->file), out);
    fprintf(out, ": %s", format[graph->format]);
    if (graph->format == FORMAT_ONNX) {
        fprintf(out, ", opset %" PRId32, graph->opset);
    }
    fprintf(out, ", %s bytes\n", cli_number(facts->arena, facts->file_bytes));
    fprintf(out, "%" PRIu32 " operators in %" PRIu32 " subgraph%s, %" PRIu32 " tensors, %s constants of %s bytes",
            graph->node_count, graph->block_count, graph->block_count == 1 ? "" : "s", graph->value_count,
            cli_number(facts->arena, facts->constant_count), cli_number(facts->arena, facts->constant_bytes));
    if (facts->state_count > 0) {
        fprintf(out, ", %" PRIu64 " state tensor%s", facts->state_count, facts->state_count == 1 ? "" : "s");
    }
    fputc('\n', out);
    if (facts->complete == NULL && facts->free_dim_count > 0) {
        fputs("dimensions are free: their sizes, and the shapes that follow, are known with --dim NAME=VALUE\n", out);
    }
}

static void print_subgraphs(const InspectFacts *facts, FILE *out) {
    if (facts->graph->block_count < 2) {
        return;
    }
    fputs("\nsubgraphs\n", out);
    for (uint32_t b = 0; b < facts->graph->block_count; b++) {
        const Block *block = &facts->graph->blocks[b];
        fprintf(out, "  %" PRIu32 "  " STR_FMT "  %" PRIu32 " operators, %" PRIu32 " inputs, %" PRIu32 " outputs\n", b,
                STR_ARG(clean_text(facts->arena, block->name)), block->node_count, block->input_count,
                block->output_count);
    }
}

void cli_inspect_print(FILE *out, const InspectFacts *facts) {
    const Block *main_block = graph_main(facts->graph);
    cli_inspect_print_model(out, facts);
    print_values(facts, out, "inputs", main_block->inputs, main_block->input_count);
    print_values(facts, out, "outputs", main_block->outputs, main_block->output_count);
    print_operators(facts, out);
    print_subgraphs(facts, out);
    print_channel_quant(facts, out);
    print_channel_parameters(facts, out);
}
